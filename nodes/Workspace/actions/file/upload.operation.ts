import { Readable } from 'node:stream';

import { createRefusal, shorten } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { decodeBase64, computeMd5 } from '../../byteSource';
import type { KeyHashes } from '../../idempotency';
import { type Clients, defineOperation, type Item, type ByteSource } from '../../operation';
import { hashFileKey, missingFolderAdvice } from '../createdFiles';
import {
	type FileResult,
	findUploadedFile,
	googleTypePrefix,
	type PreparedUpload,
	uploadNow,
	uploadOnce,
	verifyUpload,
} from './uploadFile';
import { uploadFields as fields, uploadOptions as options, type UploadParams } from './fields';

/** The bytes to upload. @throws NodeError 400 that says what is missing */
async function getUploadSource(params: UploadParams, item: Item): Promise<ByteSource> {
	const { contentSource, binaryPropertyName, content } = params;
	if (contentSource === 'text')
		return createMemorySource(Buffer.from(content), item, 'text/plain; charset=utf-8');
	if (contentSource === 'base64') return createMemorySource(decodeBase64Content(content), item);
	if (contentSource === 'binary') return await item.getBinary(binaryPropertyName || 'data');
	if (content.trim() !== '') return await item.getFile(content);
	throw createRefusal(`${quoteField('content')} is empty`, 'Enter the path of the file to upload.');
}

function decodeBase64Content(content: string): Buffer {
	const bytes = decodeBase64(content);
	if (bytes) return bytes;
	throw createRefusal(
		`${quoteField('content')} is not base64 text`,
		`Enter base64 text without a "data:" prefix, spaces or any other text. To upload the text unchanged, choose Text in ${quoteField('contentSource')}.`,
	);
}

function createMemorySource(bytes: Buffer, item: Item, mimeType?: string): ByteSource {
	if (bytes.length === 0) item.addHint(`${quoteField('content')} was empty, so an empty file was uploaded.`);
	return { mimeType, size: bytes.length, open: () => Promise.resolve(Readable.from([bytes])) };
}

/** A MIME type on one line, because a line break would begin another header. */
const mimeTypePattern = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+(?:[ \t]*;[\x20-\x7e]*)?$/;

/** The MIME type of the content: as given, otherwise by the file name, otherwise as the source says. */
async function resolveMimeType(name: string, params: UploadParams, source: ByteSource): Promise<string> {
	const given = readMimeType(params);
	if (given !== '') return given;
	const { findMimeType: typeOfName } = await import('../mimeTypes');
	const known = source.mimeType?.trim() ?? '';
	return typeOfName(name) ?? (mimeTypePattern.test(known) ? known : 'application/octet-stream');
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
	fields,
	options,
	check(params, item) {
		// So that a mistake in the last item does not leave half of the files uploaded.
		readMimeType(params);
		if (params.contentSource === 'binary') item.requireBinary(params.binaryPropertyName || 'data');
		else resolveFileName(params);
	},
	async execute(client, params, item): Promise<FileResult> {
		const uploading = await prepareUpload(client, params, item);
		const key = await hashUploadKey(params, uploading.source);
		return key ? await uploadOnce(uploading, key) : await uploadNow(uploading);
	},
	async recover(client, params, _error, item): Promise<FileResult | undefined> {
		const uploading = await prepareUpload(client, params, item);
		const file = await findUploadedFile(uploading);
		if (!file) return undefined;
		const key = await hashUploadKey(params, uploading.source);
		const result = verifyUpload({ file, md5: await computeMd5(uploading.source) }, item);
		return key ? await uploadOnce(uploading, key, file) : result;
	},
	left: ({ id, name }) => `file ${name ?? ''} (ID ${id ?? ''})`,
	rerun: `Or set ${quoteField('onExisting')} to Skip the Upload, which finds files by their names.`,
	adviceByStatus: {
		400: `With ${quoteField('convertTo')}, the content must be of a type that Google can convert.`,
		404: missingFolderAdvice,
	},
});

async function prepareUpload(client: Clients, params: UploadParams, item: Item): Promise<PreparedUpload> {
	const source = await getUploadSource(params, item);
	const name = resolveFileName(params, source);
	const mimeType = await resolveMimeType(name, params, source);
	const target = params.convertTo === 'none' ? undefined : `${googleTypePrefix}${params.convertTo}`;
	return { client, params, item, source, name, target, mimeType };
}

/** @throws NodeError 400 */
function resolveFileName({ name, contentSource }: UploadParams, source?: ByteSource): string {
	if (name.trim() !== '') return name;
	if (contentSource === 'binary' && source?.fileName) return source.fileName;
	throw createRefusal(
		`${quoteField('name')} is required`,
		'Enter a name. Only a binary file can have its own.',
	);
}

async function hashUploadKey(params: UploadParams, source: ByteSource): Promise<KeyHashes | undefined> {
	const { idempotencyKey, convertTo } = params;
	if (idempotencyKey === '') return undefined;
	// Drive knows the checksum of a file that is not converted, so a large one need not be read twice.
	const digest = convertTo === 'none' ? '' : await computeMd5(source);
	return hashFileKey('file upload', params, [convertTo, digest]);
}
