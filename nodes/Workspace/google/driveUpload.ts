import { createHash, randomUUID } from 'node:crypto';
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

/** Drive's upload address. The transport replaces Google's base with the credential's. */
function getUploadTarget(
	uploadType: 'multipart' | 'resumable',
	{ fields, replacedId }: Pick<DriveUploadRequest, 'fields' | 'replacedId'>,
): { readonly url: string; readonly method: 'POST' | 'PATCH' } {
	const query = new URLSearchParams({ uploadType, supportsAllDrives: 'true', fields });
	const file = replacedId === undefined ? '' : `/${replacedId}`;
	const url = `https://www.googleapis.com/upload/drive/v3/files${file}?${query.toString()}`;
	return { url, method: replacedId === undefined ? 'POST' : 'PATCH' };
}

/**
 * Uploads metadata and bytes in one request. The body is one Buffer, because n8n repeats it after refreshing a token; it could not repeat
 * the stream that googleapis would create. Repeating is harmless, because either the metadata has an `id` or an existing file is replaced.
 */
async function uploadInOneRequest(transport: Transport, request: DriveUploadRequest): Promise<UploadedFile> {
	const { metadata, mimeType, source, onProgress } = request;
	const hash = createHash('md5');
	let bytes = Buffer.alloc(0) as Buffer;
	// With one byte more, a source that has grown is noticed.
	for await (const chunk of readChunks(await source.open(), source.size + 1, hash)) {
		bytes = chunk;
		if (bytes.length > source.size) break;
	}
	if (bytes.length !== source.size) throw createSourceChangedError(bytes.length, source.size);
	const boundary = randomUUID();
	const json = [
		`--${boundary}`,
		'Content-Type: application/json; charset=UTF-8',
		'',
		JSON.stringify(metadata),
	];
	const media = [`--${boundary}`, `Content-Type: ${mimeType}`, '', ''];
	const head = [...json, ...media].join('\r\n');
	const { data } = await transport({
		...getUploadTarget('multipart', request),
		headers: { 'content-type': `multipart/related; boundary=${boundary}` },
		data: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
		retryConfig: { httpMethodsToRetry: ['POST', 'PATCH'] },
	});
	onProgress?.(bytes.length, bytes.length);
	return { file: data as drive_v3.Schema$File, md5: hash.digest('hex') };
}

/** Bytes. Google's limit for an upload in one request. */
const oneRequestBytes = 5_000_000;

/** An upload to Drive: in one request up to 5 MB if an ID makes repeating harmless, otherwise resumable, which creates one file at most. */
export async function uploadToDrive(
	{ transport, bases, options }: UploadEnvironment,
	request: DriveUploadRequest,
): Promise<UploadedFile> {
	const isRepeatable = Boolean(request.metadata.id) || request.replacedId !== undefined;
	if (isRepeatable && request.source.size <= oneRequestBytes) {
		return await uploadInOneRequest(transport, request);
	}
	const startUpload = async () => {
		const address = await startUploadSession(transport, bases, request);
		return new UploadSession(transport, address, request.source.size, { ...options, words: retryWords });
	};
	let session = await startUpload();
	for (let pass = 1; ; pass++) {
		const uploaded = await sendMissingBytes(session, request).catch((error: unknown) => {
			if (!session.isLost || !isNodeError(error) || pass >= options.maxTries) throw error;
			return isRepeatable ? undefined : findFileOfLostSession(error, request);
		});
		if (uploaded) return uploaded;
		if (session.isLost) session = await startUpload();
		else if (pass >= options.maxTries) throw createSessionLostError(false);
	}
}

interface UploadEnvironment {
	readonly transport: Transport;
	readonly bases: ApiBases;
	readonly options: TransportOptions;
}

/**
 * One pass over the source: hashes all of it and sends what Drive lacks.
 * @returns undefined if Drive has less than before: read it again
 */
async function sendMissingBytes(
	session: UploadSession,
	{ source, onProgress }: DriveUploadRequest,
): Promise<UploadedFile | undefined> {
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
async function findFileOfLostSession(
	lost: NodeError,
	request: DriveUploadRequest,
): Promise<UploadedFile | undefined> {
	const { source, findCreated: findExisting } = request;
	if (!findExisting) return undefined;
	const file = await findExisting().catch((error: unknown) => {
		throw lost.outcome === 'unknown' ? lost : error;
	});
	if (file) return { file, md5: await computeMd5(source) };
	if (lost.outcome === 'unknown') throw lost;
	return undefined;
}

/** @returns the session's address, on the host of Drive's base, because requests to it carry the token */
async function startUploadSession(
	transport: Transport,
	bases: ApiBases,
	request: DriveUploadRequest,
): Promise<string> {
	const { metadata, mimeType, source } = request;
	const { headers } = await transport({
		...getUploadTarget('resumable', request),
		headers: { 'x-upload-content-type': mimeType, 'x-upload-content-length': String(source.size) },
		data: metadata,
		responseType: 'arraybuffer',
		// A session without bytes leaves nothing behind.
		retryConfig: { httpMethodsToRetry: ['POST', 'PATCH'] },
	});
	const sessionUrl = String(headers['location']);
	const url = URL.canParse(sessionUrl) ? new URL(sessionUrl) : undefined;
	if (url?.origin === new URL(bases.drive).origin) return sessionUrl;
	const hostText = url ? ` (${url.host})` : '';
	throw new NodeError({
		code: 502,
		message: `Google Drive returned an upload URL that is not on the host of the Drive API base${hostText}`,
		description:
			'Nothing was sent there. If you use a gateway in front of Google Drive, it must replace the URL in the Location header with its own.',
	});
}
