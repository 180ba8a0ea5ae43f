import { createRefusal } from '../../../core/errors';
import { replaceHalfCharacters, shorten } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import { missingDataAdvice } from '../../../fields/values';
import { createMemorySource, decodeBase64 } from '../../byteSource';
import type { Clients, Item } from '../../operation';
import { googleTypePrefix } from '../createdFiles';
import { createFileNameTest } from '../onlyFiles';
import type { UploadParams } from './fields';

/** Refuses what can be known before any request. @throws NodeError 400 */
export function prepareUpload(params: UploadParams, item: Item) {
	const mimeType = params.mimeType.trim();
	if (mimeType !== '' && keepUsableType(mimeType) === undefined)
		throw createRefusal(
			`${quoteField('mimeType')} is not the MIME type of a file's bytes: ${shorten(mimeType)}`,
			`Enter a type such as application/pdf, or leave it empty to detect it from the file name. To get a Google file, choose it in ${quoteField('convertTo')}.`,
		);
	if (params.contentSource === 'filePath' && params.content.trim() === '')
		throw createRefusal(
			`${quoteField('content')} is empty`,
			`Enter the path of the file. ${missingDataAdvice}`,
		);
	// One entry for each file to upload: its binary field, or undefined for content from elsewhere.
	let binaryFields: Array<string | undefined> = [undefined];
	if (params.contentSource === 'binary') {
		const names = params.binaryPropertyName.length > 0 ? params.binaryPropertyName : ['*'];
		const isWanted = createFileNameTest(params.onlyFiles);
		binaryFields = item.findBinaryFields(names, 'binaryPropertyName', isWanted);
	}
	refuseWrongName(params, binaryFields.length);
	return { ...params, mimeType, binaryFields };
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

type PreparedUpload = ReturnType<typeof prepareUpload>;

/** A file to upload: its bytes, with the name and the type that it gets in Drive. */
export type Upload = Awaited<ReturnType<typeof openUpload>>;

/**
 * Opens the content of a file.
 * @param fileIndex the position of the file among the item's files, from 0
 * @throws NodeError 400 if it is unusable
 */
export async function openUpload(
	clients: Clients,
	params: PreparedUpload,
	item: Item,
	fileIndex: number,
) {
	const field = params.binaryFields[fileIndex];
	const source =
		field === undefined ? await openSource(clients, params, item) : await item.getBinary(field);
	const sourceType = keepUsableType(source.mimeType?.trim()) ?? 'application/octet-stream';
	const { buildFileName, findMimeType } = await import('../mimeTypes');
	let { name, mimeType } = params;
	// A file without a name is named after its field.
	if (name.trim() === '') name = source.fileName || buildFileName(field ?? '', sourceType);
	// Drive must store the name that a later search for it sends, which replaces them, too.
	name = replaceHalfCharacters(name);
	if (mimeType === '')
		mimeType = toTableType(keepUsableType(findMimeType(name)) ?? sourceType, params);
	return { clients, params, item, fileIndex, source, name, mimeType };
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
