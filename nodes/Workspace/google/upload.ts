import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { isNodeError, NodeError } from '../../core/errors';
import { chunkBytes, readChunks, type ByteSource } from '../byteSource';
import { type ApiBases, googleApiBases } from './endpoints';
import { getUploadBase, isSuccess, type Transport } from './transport';

type File = drive_v3.Schema$File;

export interface DriveUploadRequest {
	/**
	 * With an `id`, the request may be repeated, because Drive answers 409 if a file with the ID
	 * exists.
	 */
	readonly metadata: File;
	/**
	 * The MIME type of the bytes. The `mimeType` of the metadata is that of the file after a
	 * conversion.
	 */
	readonly mimeType: string;
	readonly source: ByteSource;
	/**
	 * The ID of the file whose content is replaced. The file keeps its ID, links and sharing. A
	 * repeated request has no further effect.
	 */
	readonly replacedId?: string;
	/** What Drive returns about the file, in the syntax of its parameter `fields`. */
	readonly fields: string;
}

export interface UploadedFile {
	readonly file: File;
	/** The MD5 of the sent bytes, in lower-case hex. */
	readonly md5: string;
}

interface UploadEnvironment {
	readonly drive: drive_v3.Drive;
	readonly transport: Transport;
	readonly bases: ApiBases;
}

/** In bytes. Drive's documentation recommends a resumable upload for more than 5 MB. */
const maxOneRequestBytes = 5_000_000;

/**
 * Uploads a small file in one request if an ID prevents a second file. Otherwise a resumable upload
 * prevents it. Reads and hashes the source meanwhile.
 */
export async function uploadToDrive(
	environment: UploadEnvironment,
	request: DriveUploadRequest,
): Promise<UploadedFile> {
	const { metadata, replacedId, source } = request;
	const isRepeatable = Boolean(metadata.id) || replacedId !== undefined;
	const isOneRequest = isRepeatable && source.size <= maxOneRequestBytes;
	const upload = isOneRequest ? undefined : await startUpload(environment, request);
	// With room for one byte more, a small source that has not grown is a single chunk.
	const chunkSize = Math.min(chunkBytes, source.size + 1);
	const hash = createHash('md5');
	let file: File | undefined;
	let position = 0;
	for await (const chunk of readChunks(await source.open(), chunkSize, hash)) {
		const end = position + chunk.length;
		const isLast = chunk.length < chunkSize;
		if (isLast ? end !== source.size : end > source.size)
			// Drive has created the file when all announced bytes were sent.
			throw createSourceChangedError(end, source.size, file ? 'done' : 'notDone');
		file ??= upload
			? await sendChunk(upload, chunk, position)
			: await sendAtOnce(environment, request, chunk);
		position = end;
	}
	return { file: file ?? {}, md5: hash.digest('hex') };
}

/**
 * Sends the request that creates a file or replaces its content or, without bytes, only starts a
 * resumable upload. The transport may repeat this request. To prevent a second file, the caller
 * sends bytes only with an ID or a `replacedId`.
 */
async function sendFileRequest(
	drive: drive_v3.Drive,
	{ metadata, replacedId: fileId, fields }: DriveUploadRequest,
	media?: drive_v3.Params$Resource$Files$Create['media'],
	clientOptions?: object,
) {
	const request = { requestBody: metadata, supportsAllDrives: true, fields, media };
	const options = { ...clientOptions, retryConfig: { httpMethodsToRetry: ['POST', 'PATCH'] } };
	return fileId === undefined
		? await drive.files.create(request, options)
		: await drive.files.update({ ...request, fileId }, options);
}

async function sendAtOnce(
	{ drive }: UploadEnvironment,
	request: DriveUploadRequest,
	bytes: Buffer,
): Promise<File> {
	const media = { mimeType: request.mimeType, body: Readable.from([bytes]) };
	return (await sendFileRequest(drive, request, media)).data;
}

const createSourceChangedError = (
	actualBytes: number,
	expectedBytes: number,
	outcome: 'done' | 'notDone',
) =>
	new NodeError({
		code: 400,
		message: `The size of the content has changed: expected ${expectedBytes} bytes, read ${actualBytes}`,
		description:
			'The file changed during the upload. Upload it again when nothing writes to it anymore.',
		outcome,
	});

/**
 * A resumable upload. Drive gives it an address, and reports after each part of the file how many
 * bytes Drive has. If this number is not the expected one, the upload continues from there.
 */
interface ResumableUpload {
	readonly transport: Transport;
	readonly address: string;
	readonly totalBytes: number;
}

/**
 * Starts a resumable upload.
 * @throws NodeError 502 if its address is not on Drive's host, because no other host may get the
 * token
 */
async function startUpload(
	{ drive, transport, bases }: UploadEnvironment,
	request: DriveUploadRequest,
): Promise<ResumableUpload> {
	const { mimeType, replacedId, source } = request;
	const idPath = replacedId === undefined ? '' : '/{fileId}';
	// This request may be repeated, because an upload without bytes creates no file.
	const { headers } = await sendFileRequest(drive, request, undefined, {
		url: `${getUploadBase(googleApiBases.drive, 'drive')}/files${idPath}`,
		params: { uploadType: 'resumable' },
		headers: {
			'x-upload-content-type': mimeType,
			'x-upload-content-length': String(source.size),
		},
		responseType: 'arraybuffer',
	});
	const address = String(headers['location']);
	const { origin } = new URL(bases.drive);
	if (URL.canParse(address) && new URL(address).origin === origin)
		return { transport, address, totalBytes: source.size };
	throw new NodeError({
		code: 502,
		message:
			'Google Drive returned an upload URL that is not on the host of the Drive API base',
		description:
			'Nothing was sent there. If you use a gateway in front of Google Drive, it must replace the URL in the Location header with its own.',
	});
}

/** What Drive has of a file: its first bytes, and the file itself once it has all bytes. */
interface Progress {
	readonly storedBytes: number;
	readonly file?: File;
}

/**
 * Sends the chunk at this position of the file. Drive may store it in several parts.
 * @returns the file after its last byte
 */
async function sendChunk(
	upload: ResumableUpload,
	chunk: Buffer,
	position: number,
): Promise<File | undefined> {
	const end = position + chunk.length;
	const isLast = end === upload.totalBytes;
	let progress: Progress = { storedBytes: position };
	/** Whether the last request got no response. Drive must then be asked which bytes it has. */
	let mustAskProgress = false;
	const createEnd = () => createEndedError(upload, progress.storedBytes, isLast);
	/** @returns whether Drive has more than it had reported */
	const putFrom = async (start: number) => {
		const { storedBytes: known } = progress;
		mustAskProgress = true;
		progress = await putBytes(upload, start, chunk.subarray(start - position)).catch(
			(error: unknown) => {
				const isGone = isNodeError(error) && [404, 410].includes(error.code);
				throw isGone ? createEnd() : error;
			},
		);
		mustAskProgress = false;
		// Drive cannot lose bytes that it had reported, or have more than was sent.
		if (progress.storedBytes < position || progress.storedBytes > end) throw createEnd();
		return progress.file !== undefined || progress.storedBytes > known;
	};
	const attempt = async () => {
		// Some bytes had arrived. Returning ends this series of attempts, and a new one sends the
		// other bytes.
		if (mustAskProgress && (await putFrom(end))) return;
		if (await putFrom(progress.storedBytes)) return;
		if (progress.storedBytes === end) throw createEnd();
		throw new NodeError({
			code: 503,
			message: 'Google Drive did not store any of the bytes that were sent',
			description: 'Try again later.',
			retryable: true,
		});
	};
	// Until the last byte is sent, the user sees no change, so no outcome is unknown.
	const effect = { repeat: 'always', hasVisibleEffect: isLast } as const;
	while (isLast ? !progress.file : progress.storedBytes < end)
		await upload.transport.repeat(attempt, effect);
	return progress.file;
}

/**
 * Sends a part of the file. Without bytes, Drive only reports what it has, and completes an empty
 * file.
 * @throws NodeError
 */
async function putBytes(upload: ResumableUpload, start: number, bytes: Buffer): Promise<Progress> {
	const range = bytes.length === 0 ? '*' : `${start}-${start + bytes.length - 1}`;
	const { status, headers, data } = await upload.transport.requestOnce({
		url: upload.address,
		method: 'PUT',
		headers: { 'content-range': `bytes ${range}/${upload.totalBytes}` },
		data: bytes,
		// Drive answers 308 as long as it lacks bytes.
		validateStatus: (code) => code === 308 || isSuccess(code),
	});
	if (status !== 308) return { storedBytes: upload.totalBytes, file: data as File };
	// `bytes=0-41` means 42 bytes. Without a range, Drive has no bytes.
	const lastPosition = /^bytes=0-(\d+)$/.exec(String(headers['range']))?.[1] ?? -1;
	return { storedBytes: Number(lastPosition) + 1 };
}

/**
 * Creates the error for an upload that Drive no longer knows, or of which it reports bytes that
 * cannot be right.
 */
const createEndedError = (
	{ totalBytes }: ResumableUpload,
	storedBytes: number,
	mayExist: boolean,
) =>
	new NodeError({
		code: 503,
		message: `Google Drive ended the upload after ${storedBytes} of ${totalBytes} bytes`,
		description: mayExist
			? 'The file may still exist. Look for it in Google Drive before you upload it again.'
			: 'Try again later.',
		outcome: mayExist ? 'unknown' : 'notDone',
	});
