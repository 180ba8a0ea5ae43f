import { Readable } from 'node:stream';

import { refusal, shortened } from '../../../core/errors';
import { named } from '../../../fields/field';
import { bytesOfBase64, md5Of } from '../../source';
import type { KeyMark } from '../../idempotency';
import { type Clients, defineOperation, type Item, type Source } from '../../operation';
import { fileKeyOf, missingFolder } from '../createdFiles';
import {
	type FileResult,
	findUploaded,
	googleTypes,
	type Uploading,
	uploadNow,
	uploadOnce,
	verified,
} from './uploadFile';
import { uploadFields as fields, uploadOptions as options, type UploadParams } from './fields';

/** The bytes to upload. @throws NodeError 400 that says what is missing */
async function sourceOf(params: UploadParams, item: Item): Promise<Source> {
	const { contentSource, binaryPropertyName, content } = params;
	if (contentSource === 'text') return bytesSource(Buffer.from(content), item, 'text/plain; charset=utf-8');
	if (contentSource === 'base64') return bytesSource(base64Bytes(content), item);
	if (contentSource === 'binary') return await item.binary(binaryPropertyName || 'data');
	if (content.trim() !== '') return await item.file(content);
	throw refusal(`${named('content')} is empty`, 'Enter the path of the file to upload.');
}

function base64Bytes(content: string): Buffer {
	const bytes = bytesOfBase64(content);
	if (bytes) return bytes;
	throw refusal(
		`${named('content')} is not base64 text`,
		`Enter base64 text without a "data:" prefix, spaces or any other text. To upload the text unchanged, choose Text in ${named('contentSource')}.`,
	);
}

function bytesSource(bytes: Buffer, item: Item, mimeType?: string): Source {
	if (bytes.length === 0) item.hint(`${named('content')} was empty, so an empty file was uploaded.`);
	return { mimeType, size: bytes.length, open: () => Promise.resolve(Readable.from([bytes])) };
}

/** A MIME type on one line, because a line break would begin another header. */
const mediaType = /^[\w.+!#$&^-]+\/[\w.+!#$&^-]+(?:[ \t]*;[\x20-\x7e]*)?$/;

/** The MIME type of the content: as given, otherwise by the file name, otherwise as the source says. */
async function mediaTypeOf(name: string, params: UploadParams, source: Source): Promise<string> {
	const given = givenType(params);
	if (given !== '') return given;
	const { typeOfName } = await import('../mimeTypes');
	const known = source.mimeType?.trim() ?? '';
	return typeOfName(name) ?? (mediaType.test(known) ? known : 'application/octet-stream');
}

/** @throws NodeError 400 if the given text is not a media type */
function givenType({ mimeType }: UploadParams): string {
	const given = mimeType.trim();
	if (given.startsWith(googleTypes)) {
		throw refusal(
			`${named('mimeType')} is the MIME type of a Google file: ${given}`,
			`Enter the type of the content to upload. To get a Google file, choose it in ${named('convertTo')}.`,
		);
	}
	if (given === '' || mediaType.test(given)) return given;
	throw refusal(
		`${named('mimeType')} is not a MIME type: ${shortened(given)}`,
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
		givenType(params);
		if (params.contentSource === 'binary') item.requireBinary(params.binaryPropertyName || 'data');
		else nameOf(params);
	},
	async execute(client, params, item): Promise<FileResult> {
		const uploading = await prepared(client, params, item);
		const key = await keyOf(params, uploading.source);
		return key ? await uploadOnce(uploading, key) : await uploadNow(uploading);
	},
	async recover(client, params, _error, item): Promise<FileResult | undefined> {
		const uploading = await prepared(client, params, item);
		const file = await findUploaded(uploading);
		if (!file) return undefined;
		const key = await keyOf(params, uploading.source);
		const result = verified({ file, md5: await md5Of(uploading.source) }, item);
		return key ? await uploadOnce(uploading, key, file) : result;
	},
	left: ({ id, name }) => `file ${name ?? ''} (ID ${id ?? ''})`,
	rerun: `Or set ${named('onExisting')} to Skip the Upload, which finds files by their names.`,
	errors: {
		400: `With ${named('convertTo')}, the content must be of a type that Google can convert.`,
		404: missingFolder,
	},
});

async function prepared(client: Clients, params: UploadParams, item: Item): Promise<Uploading> {
	const source = await sourceOf(params, item);
	const name = nameOf(params, source);
	const mimeType = await mediaTypeOf(name, params, source);
	const target = params.convertTo === 'none' ? undefined : `${googleTypes}${params.convertTo}`;
	return { client, params, item, source, name, target, mimeType };
}

/** @throws NodeError 400 */
function nameOf({ name, contentSource }: UploadParams, source?: Source): string {
	if (name.trim() !== '') return name;
	if (contentSource === 'binary' && source?.fileName) return source.fileName;
	throw refusal(`${named('name')} is required`, 'Enter a name. Only a binary file can have its own.');
}

async function keyOf(params: UploadParams, source: Source): Promise<KeyMark | undefined> {
	const { idempotencyKey, convertTo } = params;
	if (idempotencyKey === '') return undefined;
	// Drive knows the checksum of a file that is not converted, so a large one need not be read twice.
	const digest = convertTo === 'none' ? '' : await md5Of(source);
	return fileKeyOf('file upload', params, [convertTo, digest]);
}
