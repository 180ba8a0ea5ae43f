import { refusal } from '../../../core/failure';
import { shortened } from '../../../core/shortened';
import { named } from '../../../fields/naming';
import type { Source } from '../../operation';

const unknownType = 'application/octet-stream';
/** On one line: a line break would begin another header. */
const mediaType = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+(?:[ \t]*;[\x20-\x7e]*)?$/;

/**
 * The media type of the content: as given, else by the name, else as the source says.
 * @throws Failure 400 if the given text is not a media type
 */
export async function mediaTypeOf(
	{ name, mimeType }: { readonly name: string; readonly mimeType: string },
	source: Source,
): Promise<string> {
	const given = mimeType.trim();
	if (given !== '') return checked(given);
	const { typeOfName } = await import('../mimeTypes');
	const known = source.mimeType?.trim() ?? '';
	return typeOfName(name) ?? (mediaType.test(known) ? known : unknownType);
}

function checked(given: string): string {
	if (given.startsWith('application/vnd.google-apps.')) {
		throw refusal(
			`${named('mimeType')} is the MIME type of a Google file: ${given}`,
			`Enter the type of the content to upload. To get a Google file, choose it in ${named('convertTo')}.`,
		);
	}
	if (mediaType.test(given)) return given;
	throw refusal(
		`${named('mimeType')} is not a MIME type: ${shortened(given)}`,
		'Enter a type such as application/pdf, or leave it empty to detect it from the file name.',
	);
}
