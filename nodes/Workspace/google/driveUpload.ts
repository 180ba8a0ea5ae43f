import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { isNodeError, NodeError } from '../../core/errors';
import {
	chunkBytes,
	readChunks,
	computeMd5,
	type ByteSource,
	createSourceChangedError,
} from '../byteSource';
import {
	type ApiBases,
	googleRetryWords,
	type Transport,
	type TransportOptions,
} from './transport';
import { createIncompleteUploadError, ResumableUpload } from './resumableUpload';

export interface DriveUploadRequest {
	/** With an `id`, the request may be repeated, because Drive answers 409 if a file with the ID exists. */
	readonly metadata: drive_v3.Schema$File;
	/** The MIME type of the bytes. The `mimeType` of the metadata is that of the file after a conversion. */
	readonly mimeType: string;
	readonly source: ByteSource;
	/** The ID of the file whose content is replaced. The file keeps its ID, links and sharing. A repeated request has no further effect. */
	readonly replacedId?: string;
	/** What Drive returns about the file, in the syntax of its parameter `fields`. */
	readonly fields: string;
	/** Called after each chunk. `storedBytes` is how many bytes Drive has. */
	readonly onProgress?: (storedBytes: number, totalBytes: number) => void;
	/** Called before an upload without an `id` restarts, because that could create a second file. Returns the file if it already exists. */
	readonly findCreated?: () => Promise<drive_v3.Schema$File | undefined>;
}

export interface UploadedFile {
	readonly file: drive_v3.Schema$File;
	/** The MD5 of the sent bytes, in lower-case hex. */
	readonly md5: string;
}

/**
 * Sends the request that creates a file or replaces its content or, without bytes, only starts a resumable upload. The transport may repeat
 * this request. To prevent a second file, the caller sends bytes only with an ID or a `replacedId`.
 */
async function sendFileRequest(
	drive: drive_v3.Drive,
	{ metadata, replacedId: fileId, fields }: DriveUploadRequest,
	media: drive_v3.Params$Resource$Files$Create['media'],
	clientOptions: object = {},
) {
	const request = { requestBody: metadata, supportsAllDrives: true, fields, media };
	const options = { ...clientOptions, retryConfig: { httpMethodsToRetry: ['POST', 'PATCH'] } };
	return fileId === undefined
		? await drive.files.create(request, options)
		: await drive.files.update({ ...request, fileId }, options);
}

async function uploadInOneRequest(
	drive: drive_v3.Drive,
	request: DriveUploadRequest,
): Promise<UploadedFile> {
	const { mimeType, source, onProgress } = request;
	const hash = createHash('md5');
	// The whole source is one chunk. One byte more is asked for, to notice a source that has grown. `return` closes the stream.
	const chunks = readChunks(await source.open(), source.size + 1, hash);
	const { value: bytes = Buffer.alloc(0) } = (await chunks.next()) as IteratorResult<
		Buffer,
		undefined
	>;
	await chunks.return(undefined);
	if (bytes.length !== source.size) throw createSourceChangedError(bytes.length, source.size);
	const { data } = await sendFileRequest(drive, request, {
		mimeType,
		body: Readable.from([bytes]),
	});
	onProgress?.(bytes.length, bytes.length);
	return { file: data, md5: hash.digest('hex') };
}

/** In bytes. Drive's documentation recommends a resumable upload for more than 5 MB. */
const maxOneRequestBytes = 5_000_000;

/** Uploads a small file in one request if an ID prevents a second file. Otherwise a resumable upload prevents it. */
export async function uploadToDrive(environment: UploadEnvironment, request: DriveUploadRequest) {
	const { metadata, replacedId, source } = request;
	const { drive, options } = environment;
	const isRepeatable = Boolean(metadata.id) || replacedId !== undefined;
	if (isRepeatable && source.size <= maxOneRequestBytes)
		return await uploadInOneRequest(drive, request);
	let upload = await startResumableUpload(environment, request);
	// Each pass reads the source from its first byte, and sends what Drive lacks.
	for (let pass = 1; ; pass++) {
		const isLastPass = pass >= options.maxAttempts;
		const recoverLostUpload = async (error: unknown) => {
			if (!upload.isLost || !isNodeError(error) || isLastPass) throw error;
			return isRepeatable ? undefined : await findFileOfLostUpload(error, request);
		};
		const uploaded = await sendMissingBytes(upload, request).catch(recoverLostUpload);
		if (uploaded) return uploaded;
		if (upload.isLost) upload = await startResumableUpload(environment, request);
		else if (isLastPass) throw createIncompleteUploadError('notDone');
	}
}

interface UploadEnvironment {
	readonly drive: drive_v3.Drive;
	readonly transport: Transport;
	readonly bases: ApiBases;
	readonly options: TransportOptions;
}

/** Reads and hashes the whole source, and sends what Drive lacks. @returns undefined if Drive has lost bytes that were read before */
async function sendMissingBytes(
	upload: ResumableUpload,
	{ source, onProgress }: DriveUploadRequest,
) {
	const hash = createHash('md5');
	let position = 0;
	for await (const chunk of readChunks(await source.open(), chunkBytes, hash)) {
		const end = position + chunk.length;
		const isLast = chunk.length < chunkBytes;
		if (end > source.size || (isLast && end < source.size)) {
			// If all announced bytes were sent before, Drive has already created the file.
			const outcome = position > 0 && position === source.size ? 'done' : 'notDone';
			throw createSourceChangedError(end, source.size).with({ outcome });
		}
		if (!(await upload.send(chunk, position))) return undefined;
		position = end;
		onProgress?.(upload.storedBytes, source.size);
	}
	if (position !== source.size) throw createSourceChangedError(position, source.size);
	return { file: await upload.finish(), md5: hash.digest('hex') };
}

/** Looks for the file of an upload that Drive no longer knows. The file may exist if the response to the last chunk was lost. */
async function findFileOfLostUpload(uploadError: NodeError, request: DriveUploadRequest) {
	const file = await request.findCreated?.().catch((error: unknown) => {
		throw uploadError.outcome === 'unknown' ? uploadError : error;
	});
	if (file) return { file, md5: await computeMd5(request.source) };
	if (uploadError.outcome === 'unknown') throw uploadError;
	return undefined;
}

/** Starts a resumable upload. @throws NodeError 502 if its address is not on Drive's host, because no other host may get the token */
async function startResumableUpload(environment: UploadEnvironment, request: DriveUploadRequest) {
	const { drive, transport, bases, options } = environment;
	const { mimeType, replacedId, source } = request;
	// This request may be repeated, because an upload without bytes creates no file.
	const { headers } = await sendFileRequest(drive, request, undefined, {
		url: `https://www.googleapis.com/upload/drive/v3/files${replacedId === undefined ? '' : '/{fileId}'}`,
		params: { uploadType: 'resumable' },
		headers: {
			'x-upload-content-type': mimeType,
			'x-upload-content-length': String(source.size),
		},
		responseType: 'arraybuffer',
	});
	const address = String(headers['location']);
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (url?.origin === new URL(bases.drive).origin)
		return new ResumableUpload(transport, address, source.size, {
			...options,
			words: googleRetryWords,
		});
	throw new NodeError({
		code: 502,
		message: `Google Drive returned an upload URL that is not on the host of the Drive API base${url ? ` (${url.host})` : ''}`,
		description:
			'Nothing was sent there. If you use a gateway in front of Google Drive, it must replace the URL in the Location header with its own.',
	});
}
