import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { isNodeError, NodeError } from '../../core/errors';
import { chunkBytes, readChunks, computeMd5, type ByteSource, createSourceChangedError } from '../byteSource';
import { type ApiBases, retryWords, type Transport, type TransportOptions } from './transport';
import { createSessionLostError, UploadSession } from './uploadSession';

export interface DriveUploadRequest {
	/** With an `id`, repeating is harmless: Drive answers 409 once the file exists. */
	readonly metadata: drive_v3.Schema$File;
	/** Media type of the bytes. The metadata's `mimeType` is that of the target. */
	readonly mimeType: string;
	readonly source: ByteSource;
	/** ID of the file whose content is replaced; it keeps its ID, links and sharing. Repeating this changes nothing. */
	readonly replacedId?: string;
	/** Fields of the answer, in the syntax of Drive's `fields`. */
	readonly fields: string;
	/** Called after each chunk with the number of bytes that Drive has. */
	readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
	/** Called before the upload restarts without an `id` that prevents a second file. Returns the file if it exists after all. */
	readonly findCreated?: () => Promise<drive_v3.Schema$File | undefined>;
}

export interface UploadedFile {
	readonly file: drive_v3.Schema$File;
	/** MD5 of the sent bytes, lower-case hex. */
	readonly md5: string;
}

/** Creates the file, or replaces its content. A second request does no harm, unless it has bytes and no ID. */
async function writeFile(
	drive: drive_v3.Drive,
	{ metadata, replacedId: fileId, fields }: DriveUploadRequest,
	media: drive_v3.Params$Resource$Files$Create['media'],
	more: object = {},
) {
	const request = { requestBody: metadata, supportsAllDrives: true, fields, media };
	const options = { ...more, retryConfig: { httpMethodsToRetry: ['POST', 'PATCH'] } };
	return fileId === undefined
		? await drive.files.create(request, options)
		: await drive.files.update({ ...request, fileId }, options);
}

async function uploadInOneRequest(drive: drive_v3.Drive, request: DriveUploadRequest): Promise<UploadedFile> {
	const { mimeType, source, onProgress } = request;
	const hash = createHash('md5');
	let bytes = Buffer.alloc(0) as Buffer;
	// With one byte more, a source that has grown is noticed.
	for await (bytes of readChunks(await source.open(), source.size + 1, hash))
		if (bytes.length > source.size) break;
	if (bytes.length !== source.size) throw createSourceChangedError(bytes.length, source.size);
	const { data } = await writeFile(drive, request, { mimeType, body: Readable.from([bytes]) });
	onProgress?.(bytes.length, bytes.length);
	return { file: data, md5: hash.digest('hex') };
}

/** Bytes. Google's limit for an upload in one request. */
const oneRequestBytes = 5_000_000;

/** Uploads a file: in one request up to 5 MB if an ID makes repeating harmless, otherwise resumable, which creates one file at most. */
export async function uploadToDrive(environment: UploadEnvironment, request: DriveUploadRequest) {
	const { metadata, replacedId, source } = request;
	const { drive, options } = environment;
	const isRepeatable = Boolean(metadata.id) || replacedId !== undefined;
	if (isRepeatable && source.size <= oneRequestBytes) return await uploadInOneRequest(drive, request);
	let session = await openSession(environment, request);
	for (let pass = 1; ; pass++) {
		const uploaded = await sendMissingBytes(session, request).catch((error: unknown) => {
			if (!session.isLost || !isNodeError(error) || pass >= options.maxTries) throw error;
			return isRepeatable ? undefined : findFileOfLostSession(error, request);
		});
		if (uploaded) return uploaded;
		if (session.isLost) session = await openSession(environment, request);
		else if (pass >= options.maxTries) throw createSessionLostError(false);
	}
}

interface UploadEnvironment {
	readonly drive: drive_v3.Drive;
	readonly transport: Transport;
	readonly bases: ApiBases;
	readonly options: TransportOptions;
}

/** Reads the source once: hashes all of it, sends what Drive lacks. @returns undefined if Drive has less than before: read it again */
async function sendMissingBytes(session: UploadSession, { source, onProgress }: DriveUploadRequest) {
	const hash = createHash('md5');
	let from = 0;
	for await (const chunk of readChunks(await source.open(), chunkBytes, hash)) {
		const end = from + chunk.length;
		const isLast = chunk.length < chunkBytes;
		if (end > source.size || (isLast && end < source.size)) {
			// If all of the announced bytes were already sent, the file exists.
			const outcome = from > 0 && from === source.size ? 'done' : 'notDone';
			throw createSourceChangedError(end, source.size).with({ outcome });
		}
		if (!(await session.send(chunk, from))) return undefined;
		from = end;
		onProgress?.(session.storedBytes, source.size);
	}
	if (from !== source.size) throw createSourceChangedError(from, source.size);
	return { file: await session.finish(), md5: hash.digest('hex') };
}

/** A lost session may have created its file if the answer to the last chunk was lost too. */
async function findFileOfLostSession(lost: NodeError, request: DriveUploadRequest) {
	const file = await request.findCreated?.().catch((error: unknown) => {
		throw lost.outcome === 'unknown' ? lost : error;
	});
	if (file) return { file, md5: await computeMd5(request.source) };
	if (lost.outcome === 'unknown') throw lost;
	return undefined;
}

/** The session's address must be on the host of Drive's base, because requests to it carry the token. */
async function openSession(environment: UploadEnvironment, request: DriveUploadRequest) {
	const { drive, transport, bases, options } = environment;
	const { mimeType, replacedId, source } = request;
	// A session without bytes leaves nothing behind.
	const { headers } = await writeFile(drive, request, undefined, {
		url: `https://www.googleapis.com/upload/drive/v3/files${replacedId === undefined ? '' : '/{fileId}'}`,
		params: { uploadType: 'resumable' },
		headers: { 'x-upload-content-type': mimeType, 'x-upload-content-length': String(source.size) },
		responseType: 'arraybuffer',
	});
	const address = String(headers['location']);
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (url?.origin === new URL(bases.drive).origin)
		return new UploadSession(transport, address, source.size, { ...options, words: retryWords });
	throw new NodeError({
		code: 502,
		message: `Google Drive returned an upload URL that is not on the host of the Drive API base${url ? ` (${url.host})` : ''}`,
		description:
			'Nothing was sent there. If you use a gateway in front of Google Drive, it must replace the URL in the Location header with its own.',
	});
}
