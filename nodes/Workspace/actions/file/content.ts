import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import { createMemorySource, decodeBase64 } from '../../byteSource';
import type { ByteSource, Clients, Item } from '../../operation';
import { googleTypePrefix } from '../createdFiles';
import { createFileNameTest } from '../onlyFiles';
import type { UploadParams } from './fields';

/**
 * The parameters with the binary fields to upload. Content from elsewhere has no field:
 * `[undefined]`.
 */
export interface PreparedUpload extends UploadParams {
	readonly fields: ReadonlyArray<string | undefined>;
}

/** Refuses what can be known before any request. @throws NodeError 400 */
export function prepareUpload(params: UploadParams, item: Item): PreparedUpload {
	const mimeType = params.mimeType.trim();
	if (mimeType !== '' && keepUsableType(mimeType) === undefined)
		throw createRefusal(
			`${quoteField('mimeType')} is not the MIME type of a file's bytes: ${shorten(mimeType)}`,
			`Enter a type such as application/pdf, or leave it empty to detect it from the file name. To get a Google file, choose it in ${quoteField('convertTo')}.`,
		);
	if (params.contentSource === 'filePath' && params.content.trim() === '')
		throw createRefusal(
			`${quoteField('content')} is empty`,
			'Enter the path of the file to upload.',
		);
	const fields = params.contentSource === 'binary' ? findFields(params, item) : [undefined];
	refuseWrongName(params, fields.length);
	return { ...params, mimeType, fields };
}

function findFields({ binaryPropertyName, onlyFiles }: UploadParams, item: Item): string[] {
	const names = binaryPropertyName.length > 0 ? binaryPropertyName : ['*'];
	return item.findBinaryFields(names, 'binaryPropertyName', createFileNameTest(onlyFiles));
}

/** Refuses a missing name, and one name for several files. @throws NodeError 400 */
function refuseWrongName({ name, contentSource }: UploadParams, fileCount: number): void {
	const hasName = name.trim() !== '';
	if (!hasName && contentSource !== 'binary' && contentSource !== 'mailAttachment')
		throw createRefusal(
			`${quoteField('name')} is required`,
			'Enter a name. Only a binary file or an attachment can have its own.',
		);
	if (hasName && fileCount > 1)
		throw createRefusal(
			`${quoteField('name')} is for a single file, but ${fileCount} files would be uploaded`,
			`Leave ${quoteField('name')} empty, so that each file keeps its own name.`,
		);
}

/** The bytes of a file, with the name and the type that it gets in Drive. */
export interface FileContent {
	readonly source: ByteSource;
	readonly name: string;
	readonly mimeType: string;
}

/**
 * Opens the content of a file.
 * @param field its binary field, if it has one
 * @throws NodeError 400 if it is unusable
 */
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
	const sourceName = source.fileName || buildFileName(field ?? '', sourceType);
	const name = params.name.trim() === '' ? sourceName : params.name;
	if (params.mimeType !== '') return { source, name, mimeType: params.mimeType };
	const mimeType = keepUsableType(findMimeType(name)) ?? sourceType;
	return { source, name, mimeType: toTableType(mimeType, params) };
}

/**
 * Google makes a spreadsheet of a table, not of plain text. The bytes of a file are not read, so
 * they count as CSV.
 */
function toTableType(mimeType: string, { convertTo, content }: UploadParams): string {
	if (convertTo !== 'spreadsheet' || !mimeType.startsWith('text/plain')) return mimeType;
	// Below the first line, a tab may stand in a quoted value.
	return /^[\r\n]*.*\t/.test(content) ? 'text/tab-separated-values' : 'text/csv';
}

async function openSource(clients: Clients, params: UploadParams, item: Item) {
	const { contentSource, content } = params;
	if (contentSource === 'mailAttachment')
		return await (await import('./mailAttachment')).fetchMailAttachment(clients, params, item);
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

/**
 * Allows no line break, because a line break in a MIME type would begin another header of the
 * request.
 */
const mimeTypePattern = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+(?:[ \t]*;[\x20-\x7e]*)?$/;

/**
 * Returns the type, unless it is no MIME type, or that of a Google file, whose bytes have another
 * one.
 */
function keepUsableType(type = ''): string | undefined {
	const isUsable = mimeTypePattern.test(type) && !type.startsWith(googleTypePrefix);
	return isUsable ? type : undefined;
}
