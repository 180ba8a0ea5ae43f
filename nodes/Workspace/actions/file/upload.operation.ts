import { createRefusal, isNodeError } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { printChoice, quoteField } from '../../../fields/field';
import { createMemorySource, decodeBase64, computeMd5 } from '../../byteSource';
import type { KeyHashes } from '../../idempotency';
import { defineOperation, type Item, type ByteSource } from '../../operation';
import { googleTypePrefix, hashFileKey, missingFolderAdvice } from '../createdFiles';
import * as uploads from './uploadFile';
import { uploadFields as fields, uploadOptions as options, type UploadParams } from './fields';

type UploadCall = Pick<uploads.PreparedUpload, 'client' | 'params' | 'item'>;

/** The bytes to upload. @throws NodeError 400 that says what is missing */
async function getUploadSource({ client, params, item }: UploadCall, field: string): Promise<ByteSource> {
	const { contentSource, content } = params;
	if (contentSource === 'binary') return await item.getBinary(field);
	if (contentSource === 'mailAttachment')
		return await (await import('./mailAttachment')).getMailAttachment(client, params, item);
	if (contentSource === 'filePath') {
		if (content.trim() !== '') return await item.getFile(content);
		throw createRefusal(`${quoteField('content')} is empty`, 'Enter the path of the file to upload.');
	}
	if (content === '') item.addHint(`${quoteField('content')} was empty, so an empty file was uploaded.`);
	if (contentSource === 'text')
		return createMemorySource(Buffer.from(content), { mimeType: 'text/plain; charset=utf-8' });
	const bytes = decodeBase64(content);
	if (bytes) return createMemorySource(bytes);
	throw createRefusal(
		`${quoteField('content')} is not base64 text`,
		`Enter base64 text without a "data:" prefix, spaces or any other text. To upload the text unchanged, set ${quoteField('contentSource')} to ${printChoice('contentSource', 'text')}.`,
	);
}

/** A MIME type on one line, because a line break would begin another header. */
const mimeTypePattern = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+(?:[ \t]*;[\x20-\x7e]*)?$/;

/** The MIME type of the content: as given, otherwise by the file name, otherwise as the source says. */
async function resolveMimeType(name: string, params: UploadParams, source: ByteSource): Promise<string> {
	const given = readMimeType(params);
	if (given !== '') return given;
	const { findMimeType } = await import('../mimeTypes');
	const known = source.mimeType?.trim() ?? '';
	return findMimeType(name) ?? (mimeTypePattern.test(known) ? known : 'application/octet-stream');
}

/** @throws NodeError 400 if the given text is not a media type */
function readMimeType({ mimeType }: UploadParams): string {
	const given = mimeType.trim();
	if (given.startsWith(googleTypePrefix)) {
		throw createRefusal(
			`${quoteField('mimeType')} is the MIME type of a Google file: ${given}`,
			`Enter the type of the content to upload. To get a Google file, choose it in ${quoteField('convertTo')}.`,
		);
	}
	if (given === '' || mimeTypePattern.test(given)) return given;
	throw createRefusal(
		`${quoteField('mimeType')} is not a MIME type: ${shorten(given)}`,
		'Enter a type such as application/pdf, or leave it empty to detect it from the file name.',
	);
}

export const upload = defineOperation({
	value: 'upload',
	name: 'Upload',
	action: 'Upload file to Google Drive',
	description: 'Upload a file to Google Drive, optionally as a Google document, spreadsheet or presentation',
	modelDescription: 'Save a file in Google Drive. Returns its ID and link.',
	modelCautions: {
		field: 'contentSource',
		byValue: {
			base64: 'Its content is base64 text.',
			mailAttachment: 'Its content is an attachment of an email.',
		},
	},
	fields,
	options,
	check(params, item) {
		// These are checked for all items first, so that a mistake in the last one does not leave half of the files uploaded.
		readMimeType(params);
		const { length } = findFields(params, item);
		if (!bringsName(params)) resolveFileName(params);
		if (length < 2 || params.name.trim() === '') return;
		throw createRefusal(
			`${quoteField('name')} is for a single file, but ${length} files would be uploaded`,
			`Leave ${quoteField('name')} empty, so that each file keeps its own name.`,
		);
	},
	async execute(client, params, item): Promise<uploads.FileResult[]> {
		const files: uploads.FileResult[] = [];
		const fields = findFields(params, item);
		for (const at of fields.keys()) {
			const uploading = await prepareUpload({ client, params, item }, fields, at);
			const uploaded = hashUploadKey(uploading).then((key) => uploads.uploadOnce(uploading, key));
			// Looks here for a file whose outcome is unknown, so that the next ones follow. The runner looks for the last one.
			files.push(await (at === fields.length - 1 ? uploaded : uploaded.catch(recoverBefore(uploading))));
		}
		return files;
	},
	async recover(client, params, _error, item): Promise<uploads.FileResult[] | undefined> {
		const files: uploads.FileResult[] = [];
		const fields = findFields(params, item);
		for (const at of fields.keys()) {
			const file = await findResult(await prepareUpload({ client, params, item }, fields, at));
			if (!file) return undefined;
			files.push(file);
		}
		return files;
	},
	toItems: (files) => files.map((file) => ({ json: { ...file } })),
	nameResult: (files) => files.map(({ id, name }) => `file ${name ?? ''} (ID ${id ?? ''})`).join(', '),
	rerunAdvice: `Or set ${quoteField('onExisting')} to ${printChoice('onExisting', 'skip')}, which finds files by their names.`,
	adviceByStatus: {
		400: `With ${quoteField('convertTo')}, the content must be of a type that Google can convert.`,
		404: missingFolderAdvice,
	},
});

/** The binary fields to upload, or '' for content from elsewhere. @throws NodeError 400 for a missing one */
function findFields({ contentSource, binaryPropertyName: names }: UploadParams, item: Item): string[] {
	if (contentSource !== 'binary') return [''];
	return item.findBinaryFields(names.length > 0 ? names : ['data'], 'binaryPropertyName');
}

/** The file of an upload whose outcome is unknown, if it arrived. */
async function findResult(uploading: uploads.PreparedUpload): Promise<uploads.FileResult | undefined> {
	const { source, item } = uploading;
	const file = await uploads.findUploadedFile(uploading);
	if (!file) return undefined;
	const key = await hashUploadKey(uploading);
	const result = uploads.verifyUpload({ file, md5: await computeMd5(source) }, item);
	return key ? await uploads.uploadOnce(uploading, key, file) : result;
}

const recoverBefore = (uploading: uploads.PreparedUpload) => async (error: unknown) => {
	const isUnknown = isNodeError(error) && error.outcome === 'unknown';
	const found = isUnknown ? await findResult(uploading).catch(() => undefined) : undefined;
	if (!found) throw error;
	return found;
};

async function prepareUpload(
	call: UploadCall,
	fields: readonly string[],
	at: number,
): Promise<uploads.PreparedUpload> {
	const { params, item } = call;
	const field = fields[at] ?? '';
	const count = fields.length;
	const source = await getUploadSource(call, field);
	const { buildFileName } = await import('../mimeTypes');
	const ownName = source.fileName || (count > 1 ? buildFileName(field, source.mimeType) : undefined);
	const name = resolveFileName(params, ownName);
	const mimeType = await resolveMimeType(name, params, source);
	const target = params.convertTo === 'none' ? undefined : `${googleTypePrefix}${params.convertTo}`;
	const token = at === 0 ? item.token : `${item.token}-${at}`;
	return { ...call, at, count, token, source, name, target, mimeType };
}

const bringsName = ({ contentSource }: UploadParams) =>
	contentSource === 'binary' || contentSource === 'mailAttachment';

/** @throws NodeError 400 */
function resolveFileName(params: UploadParams, ownName?: string): string {
	if (params.name.trim() !== '') return params.name;
	if (bringsName(params) && ownName) return ownName;
	throw createRefusal(
		`${quoteField('name')} is required`,
		'Enter a name. Only a binary file or an attachment can have its own.',
	);
}

async function hashUploadKey({ params, source, at }: uploads.PreparedUpload): Promise<KeyHashes | undefined> {
	const { idempotencyKey, convertTo } = params;
	if (idempotencyKey === '') return undefined;
	// Drive knows the checksum of a file that is not converted, so a large one need not be read twice.
	const digest = convertTo === 'none' ? '' : await computeMd5(source);
	// Each file of an item has a key of its own.
	const own = at === 0 ? params : { ...params, idempotencyKey: `${idempotencyKey} file ${at + 1}` };
	return hashFileKey('file upload', own, [convertTo, digest]);
}
