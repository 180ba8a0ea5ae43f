import { Readable } from 'node:stream';

import { refusal } from '../../../core/errors';
import { shortened } from '../../../core/text';
import { named } from '../../../fields/naming';
import { bytesOfBase64 } from '../../source';
import type { Item, Source } from '../../operation';

interface ContentParams {
	readonly contentSource: 'binary' | 'base64' | 'filePath' | 'text';
	readonly binaryPropertyName: string;
	/** The text itself, base64 text or a path. */
	readonly content: string;
}

/**
 * The bytes to upload.
 * @throws NodeError 400 that says what is missing
 */
export async function sourceOf(params: ContentParams, item: Item): Promise<Source> {
	const { contentSource, binaryPropertyName, content } = params;
	if (contentSource === 'text') return bytesSource(Buffer.from(content), item, 'text/plain; charset=utf-8');
	if (contentSource === 'base64') return base64Source(content, item);
	if (contentSource === 'binary') return await item.binary(binaryPropertyName || 'data');
	if (content.trim() !== '') return await item.file(content);
	throw refusal(`${named('content')} is empty`, 'Enter the path of the file to upload.');
}

function base64Source(content: string, item: Item): Source {
	if (/^\s*data:[^,]*,/.test(content)) {
		throw refusal(
			`${named('content')} is a data URL, not base64 text`,
			`Enter only the part after the comma, and the MIME type in ${named('mimeType')}.`,
		);
	}
	const bytes = bytesOfBase64(content);
	if (bytes === undefined) {
		throw refusal(
			`${named('content')} is not base64 text`,
			`To upload the text unchanged, choose Text in ${named('contentSource')}. Base64 text must not contain spaces or any other text.`,
		);
	}
	return bytesSource(bytes, item);
}

function bytesSource(bytes: Buffer, item: Item, mimeType?: string): Source {
	if (bytes.length === 0) item.hint(`${named('content')} was empty, so an empty file was uploaded.`);
	return { mimeType, size: bytes.length, open: () => Promise.resolve(Readable.from([bytes])) };
}

const unknownType = 'application/octet-stream';
/** On one line: a line break would begin another header. */
const mediaType = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+(?:[ \t]*;[\x20-\x7e]*)?$/;

/**
 * The media type of the content: as given, else by the name, else as the source says.
 * @throws NodeError 400 if the given text is not a media type
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
