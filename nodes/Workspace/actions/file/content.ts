import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import { createMemorySource, decodeBase64 } from '../../byteSource';
import type { ByteSource, Clients, Item } from '../../operation';
import { googleTypePrefix } from '../createdFiles';
import { createFileNameTest } from '../onlyFiles';
import type { UploadParams } from './fields';

/** Returns the binary fields to upload. Content from elsewhere has no field: `[undefined]`. @throws NodeError 400 if a field is missing */
export function listBinaryFields(params: UploadParams, item: Item) {
	const { contentSource, binaryPropertyName: names, onlyFiles } = params;
	if (contentSource !== 'binary') return [undefined];
	const isWanted = createFileNameTest(onlyFiles);
	return item.findBinaryFields(names.length > 0 ? names : ['*'], 'binaryPropertyName', isWanted);
}

/** The bytes of a file, with the name and the type that it gets in Drive. */
export interface FileContent {
	readonly source: ByteSource;
	readonly name: string;
	readonly mimeType: string;
}

/** Opens the content of a file. @param field its binary field, if it has one @throws NodeError 400 if it is unusable */
export async function openContent(
	clients: Clients,
	params: UploadParams,
	item: Item,
	field: string | undefined,
): Promise<FileContent> {
	const source =
		field === undefined ? await openSource(clients, params, item) : await item.getBinary(field);
	const sourceType = keepUsableType(source.mimeType?.trim()) ?? 'application/octet-stream';
	const { buildFileName, findMimeType } = await import('../mimeTypes');
	// A file without a name is named after its field.
	const ownName = source.fileName || (field && buildFileName(field, sourceType));
	const name = resolveFileName(params, ownName);
	const enteredType = params.mimeType.trim();
	if (enteredType !== '') return { source, name, mimeType: enteredType };
	const mimeType = keepUsableType(findMimeType(name)) ?? sourceType;
	// Google makes a spreadsheet of a table, not of plain text.
	if (params.convertTo !== 'spreadsheet' || !mimeType.startsWith('text/plain'))
		return { source, name, mimeType };
	const hasTabs = params.content.includes('\t');
	return { source, name, mimeType: hasTabs ? 'text/tab-separated-values' : 'text/csv' };
}

async function openSource(clients: Clients, params: UploadParams, item: Item): Promise<ByteSource> {
	const { contentSource, content } = params;
	if (contentSource === 'mailAttachment')
		return await (await import('./mailAttachment')).getMailAttachment(clients, params, item);
	if (contentSource === 'filePath') return await item.getFile(content);
	if (content === '')
		item.addHint(`${quoteField('content')} was empty, so an empty file was uploaded.`);
	if (contentSource === 'text')
		return createMemorySource(Buffer.from(content), { mimeType: 'text/plain; charset=utf-8' });
	const bytes = decodeBase64(content);
	if (bytes) return createMemorySource(bytes);
	throw createRefusal(
		`${quoteField('content')} is not base64 text`,
		`Enter base64 text without a "data:" prefix, spaces or any other text. To upload the text unchanged, set ${quoteField('contentSource')} to ${mentionChoice('contentSource', 'text')}.`,
	);
}

/** Allows no line break, because a line break in a MIME type would begin another header of the request. */
const mimeTypePattern = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+(?:[ \t]*;[\x20-\x7e]*)?$/;

/** Returns the type, unless it is no MIME type, or that of a Google file, whose bytes have another one. */
function keepUsableType(type = ''): string | undefined {
	const isUsable = mimeTypePattern.test(type) && !type.startsWith(googleTypePrefix);
	return isUsable ? type : undefined;
}

/** Refuses what can be known before any request. @throws NodeError 400 */
export function checkContent(params: UploadParams, item: Item): void {
	const enteredType = params.mimeType.trim();
	if (enteredType !== '' && keepUsableType(enteredType) === undefined)
		throw createRefusal(
			`${quoteField('mimeType')} is not the MIME type of a file's bytes: ${shorten(enteredType)}`,
			`Enter a type such as application/pdf, or leave it empty to detect it from the file name. To get a Google file, choose it in ${quoteField('convertTo')}.`,
		);
	if (params.contentSource === 'filePath' && params.content.trim() === '')
		throw createRefusal(
			`${quoteField('content')} is empty`,
			'Enter the path of the file to upload.',
		);
	const fileCount = listBinaryFields(params, item).length;
	if (!hasSourceName(params)) resolveFileName(params);
	if (fileCount > 1 && params.name.trim() !== '')
		throw createRefusal(
			`${quoteField('name')} is for a single file, but ${fileCount} files would be uploaded`,
			`Leave ${quoteField('name')} empty, so that each file keeps its own name.`,
		);
}

const hasSourceName = ({ contentSource }: UploadParams) =>
	contentSource === 'binary' || contentSource === 'mailAttachment';

/** Returns the name that the user entered, or that of the source. @throws NodeError 400 if there is none */
function resolveFileName(params: UploadParams, sourceName?: string): string {
	if (params.name.trim() !== '') return params.name;
	if (hasSourceName(params) && sourceName) return sourceName;
	throw createRefusal(
		`${quoteField('name')} is required`,
		'Enter a name. Only a binary file or an attachment can have its own.',
	);
}
