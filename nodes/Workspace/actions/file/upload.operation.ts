import { createRefusal, isNodeError } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import { createMemorySource, decodeBase64, computeMd5 } from '../../byteSource';
import { defineOperation, type Item, type ByteSource } from '../../operation';
import { googleTypePrefix, hashFileKey, missingFolderAdvice } from '../createdFiles';
import { createFileNameTest } from '../onlyFiles';
import * as uploads from './uploadFile';
import { uploadFields as fields, uploadOptions as options, type UploadParams } from './fields';

type UploadInput = Pick<uploads.PreparedUpload, 'clients' | 'params' | 'item'>;
type BinaryFields = ReturnType<typeof listBinaryFields>;

/** Returns the bytes to upload: those of a binary field or, without a field, content from elsewhere. @throws NodeError 400 if unusable */
async function getUploadSource(
	{ clients, params, item }: UploadInput,
	field?: string,
): Promise<ByteSource> {
	const { contentSource, content } = params;
	if (field !== undefined) return await item.getBinary(field);
	if (contentSource === 'mailAttachment')
		return await (await import('./mailAttachment')).getMailAttachment(clients, params, item);
	if (contentSource === 'filePath') {
		if (content.trim() !== '') return await item.getFile(content);
		throw createRefusal(
			`${quoteField('content')} is empty`,
			'Enter the path of the file to upload.',
		);
	}
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

/** Returns the MIME type that the user entered, otherwise that of the file name extension, otherwise that of the source. */
async function resolveMimeType(
	name: string,
	params: UploadParams,
	source: ByteSource,
): Promise<string> {
	const enteredType = readMimeType(params);
	if (enteredType !== '') return enteredType;
	const { findMimeType } = await import('../mimeTypes');
	const type = keepUsableType(findMimeType(name)) ?? getSourceType(source);
	// Google makes a spreadsheet of a table, not of plain text.
	if (params.convertTo !== 'spreadsheet' || !type.startsWith('text/plain')) return type;
	return params.content.includes('\t') ? 'text/tab-separated-values' : 'text/csv';
}

const getSourceType = ({ mimeType }: ByteSource) =>
	keepUsableType(mimeType?.trim()) ?? 'application/octet-stream';

/** Returns the type, unless it is no MIME type, or that of a Google file, whose bytes have another one. */
function keepUsableType(type = ''): string | undefined {
	const isUsable = mimeTypePattern.test(type) && !type.startsWith(googleTypePrefix);
	return isUsable ? type : undefined;
}

/** Returns the MIME type that the user entered, or ''. @throws NodeError 400 if it is no MIME type, or that of a Google file */
function readMimeType({ mimeType }: UploadParams): string {
	const enteredType = mimeType.trim();
	if (enteredType.startsWith(googleTypePrefix))
		throw createRefusal(
			`${quoteField('mimeType')} is the MIME type of a Google file: ${enteredType}`,
			`Enter the type of the content to upload. To get a Google file, choose it in ${quoteField('convertTo')}.`,
		);
	if (enteredType === '' || mimeTypePattern.test(enteredType)) return enteredType;
	throw createRefusal(
		`${quoteField('mimeType')} is not a MIME type: ${shorten(enteredType)}`,
		'Enter a type such as application/pdf, or leave it empty to detect it from the file name.',
	);
}

export const upload = defineOperation({
	value: 'upload',
	name: 'Upload',
	action: 'Upload file to Google Drive',
	description:
		'Upload a file to Google Drive, optionally as a Google document, spreadsheet or presentation',
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
	prepare(params, item) {
		readMimeType(params);
		const fileCount = listBinaryFields(params, item).length;
		// Like `readMimeType`, `resolveFileName` is only called for its refusal. The name of a source is not known yet.
		if (!canUseSourceName(params)) resolveFileName(params);
		if (fileCount < 2 || params.name.trim() === '') return params;
		throw createRefusal(
			`${quoteField('name')} is for a single file, but ${fileCount} files would be uploaded`,
			`Leave ${quoteField('name')} empty, so that each file keeps its own name.`,
		);
	},
	async send(clients, params, item): Promise<uploads.FileResult[]> {
		const files: uploads.FileResult[] = [];
		const binaryFields = listBinaryFields(params, item);
		for (const fileIndex of binaryFields.keys()) {
			const prepared = await prepareUpload(
				{ clients, params, item },
				binaryFields,
				fileIndex,
			);
			const uploadFile = async () =>
				await uploads.uploadOnce(prepared, await hashUploadKey(prepared));
			// After an unknown outcome, the file is looked for here, so that the next files are still uploaded. `recover` does this for the last file.
			const isLast = fileIndex === binaryFields.length - 1;
			files.push(
				isLast ? await uploadFile() : await uploadFile().catch(buildRecovery(prepared)),
			);
		}
		return files;
	},
	async recover(clients, params, _failure, item): Promise<uploads.FileResult[] | undefined> {
		const files: uploads.FileResult[] = [];
		const binaryFields = listBinaryFields(params, item);
		for (const fileIndex of binaryFields.keys()) {
			const file = await recoverFile(
				await prepareUpload({ clients, params, item }, binaryFields, fileIndex),
			);
			if (!file) return undefined;
			files.push(file);
		}
		return files;
	},
	toItems: (files) => files.map((file) => ({ json: { ...file } })),
	nameResult: (files) =>
		files.map(({ id, name }) => `file ${name ?? ''} (ID ${id ?? ''})`).join(', '),
	rerunAdvice: `Or set ${quoteField('onExisting')} to ${mentionChoice('onExisting', 'skip')}, which finds files by their names.`,
	adviceByStatus: {
		400: `With ${quoteField('convertTo')}, the content must be of a type that Google can convert.`,
		404: missingFolderAdvice,
	},
});

/** Returns the binary fields to upload. Content from elsewhere has no field: `[undefined]`. @throws NodeError 400 if a field is missing */
function listBinaryFields(params: UploadParams, item: Item) {
	const { contentSource, binaryPropertyName: names, onlyFiles } = params;
	if (contentSource !== 'binary') return [undefined];
	const isWanted = createFileNameTest(onlyFiles);
	return item.findBinaryFields(names.length > 0 ? names : ['*'], 'binaryPropertyName', isWanted);
}

/** Looks for the file of an upload with an unknown outcome. @returns undefined if the file did not arrive */
async function recoverFile(
	prepared: uploads.PreparedUpload,
): Promise<uploads.FileResult | undefined> {
	const file = await uploads.findUploadedFile(prepared);
	if (!file) return undefined;
	const keyHashes = await hashUploadKey(prepared);
	const result = uploads.recordAndVerify(
		{ file, md5: await computeMd5(prepared.source) },
		prepared.item,
	);
	// With a key, the result may be a file of another execution instead. Nothing is sent again.
	return keyHashes ? await uploads.uploadOnce(prepared, keyHashes, file) : result;
}

/** Builds an error handler that returns the file if it arrived after all. Otherwise, throws the upload's error, even if the search fails, too. */
const buildRecovery = (prepared: uploads.PreparedUpload) => async (error: unknown) => {
	const isUnknown = isNodeError(error) && error.outcome === 'unknown';
	const file = isUnknown ? await recoverFile(prepared).catch(() => undefined) : undefined;
	if (!file) throw error;
	return file;
};

async function prepareUpload(input: UploadInput, binaryFields: BinaryFields, fileIndex: number) {
	const { params, item } = input;
	const field = binaryFields[fileIndex];
	const fileCount = binaryFields.length;
	const source = await getUploadSource(input, field);
	const { buildFileName } = await import('../mimeTypes');
	// A file without a name is named after its field.
	const builtName = field === undefined ? undefined : buildFileName(field, getSourceType(source));
	const name = resolveFileName(params, source.fileName || builtName);
	const mimeType = await resolveMimeType(name, params, source);
	const googleType =
		params.convertTo === 'none' ? undefined : `${googleTypePrefix}${params.convertTo}`;
	const markerId = fileIndex === 0 ? item.markerId : `${item.markerId}-${fileIndex}`;
	return { ...input, fileIndex, fileCount, markerId, source, name, googleType, mimeType };
}

const canUseSourceName = ({ contentSource }: UploadParams) =>
	contentSource === 'binary' || contentSource === 'mailAttachment';

/** Returns the name that the user entered, or that of the source. @throws NodeError 400 if there is none */
function resolveFileName(params: UploadParams, sourceName?: string): string {
	if (params.name.trim() !== '') return params.name;
	if (canUseSourceName(params) && sourceName) return sourceName;
	throw createRefusal(
		`${quoteField('name')} is required`,
		'Enter a name. Only a binary file or an attachment can have its own.',
	);
}

async function hashUploadKey({ params, source, fileIndex }: uploads.PreparedUpload) {
	const { idempotencyKey, convertTo } = params;
	if (idempotencyKey === '') return undefined;
	// Without a conversion, Drive's checksum of the file is compared, so the content need not be read here.
	const contentMd5 = convertTo === 'none' ? '' : await computeMd5(source);
	// Each file of an item has a key of its own.
	const key = fileIndex === 0 ? idempotencyKey : `${idempotencyKey} file ${fileIndex + 1}`;
	return hashFileKey('file upload', { ...params, idempotencyKey: key }, [convertTo, contentMd5]);
}
