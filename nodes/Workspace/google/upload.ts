import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { isNodeError, NodeError } from '../../core/errors';
import { chunkBytes, readChunks, type ByteSource } from '../byteSource';
import { type ApiBases, googleApiBases } from './endpoints';
import { getUploadBase, isSuccess, type Transport } from './transport';

export interface DriveUploadRequest {
	/**
	 * With an `id`, the request may be repeated, because Drive answers 409 if a file with the ID
	 * exists.
	 */
	readonly metadata: drive_v3.Schema$File;
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
	readonly file: drive_v3.Schema$File;
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
 * prevents it.
 */
export async function uploadToDrive(
	environment: UploadEnvironment,
	request: DriveUploadRequest,
): Promise<UploadedFile> {
	const { metadata, replacedId, source } = request;
	const isRepeatable = Boolean(metadata.id) || replacedId !== undefined;
	const isOneRequest = isRepeatable && source.size <= maxOneRequestBytes;
	const upload = isOneRequest ? uploadInOneRequest : uploadInChunks;
	const hash = createHash('md5');
	const file = await upload(environment, request, hash);
	return { file, md5: hash.digest('hex') };
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

async function uploadInOneRequest(
	{ drive }: UploadEnvironment,
	request: DriveUploadRequest,
	hash: Hash,
) {
	const { mimeType, source } = request;
	// With room for one byte more, a source that has not grown is a single chunk.
	let bytes = Buffer.alloc(0) as Buffer;
	for await (const chunk of readChunks(await source.open(), source.size + 1, hash)) {
		bytes = chunk;
		if (bytes.length > source.size) break;
	}
	if (bytes.length !== source.size) throw createSourceChangedError(bytes.length, source.size);
	const body = Readable.from([bytes]);
	return (await sendFileRequest(drive, request, { mimeType, body })).data;
}

/** Starts a resumable upload. Then reads and hashes the source, and sends it in chunks. */
async function uploadInChunks(
	environment: UploadEnvironment,
	request: DriveUploadRequest,
	hash: Hash,
) {
	const { source } = request;
	const address = await fetchUploadAddress(environment, request);
	const upload = new ResumableUpload(environment.transport, address, source.size);
	let position = 0;
	for await (const chunk of readChunks(await source.open(), chunkBytes, hash)) {
		const end = position + chunk.length;
		const isLast = chunk.length < chunkBytes;
		if (isLast ? end !== source.size : end > source.size) {
			// If all announced bytes were sent before, Drive has already created the file.
			const outcome = position > 0 && position === source.size ? 'done' : 'notDone';
			throw createSourceChangedError(end, source.size).with({ outcome });
		}
		await upload.send(chunk, position);
		position = end;
	}
	return await upload.finish();
}

const createSourceChangedError = (actualBytes: number, expectedBytes: number) =>
	new NodeError({
		code: 400,
		message: `The size of the content has changed: expected ${expectedBytes} bytes, read ${actualBytes}`,
		description:
			'The file changed during the upload. Upload it again when nothing writes to it anymore.',
	});

/**
 * @returns the address of a new upload
 * @throws NodeError 502 if it is not on Drive's host, because no other host may get the token
 */
async function fetchUploadAddress(
	{ drive, bases }: UploadEnvironment,
	request: DriveUploadRequest,
) {
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
	if (URL.canParse(address) && new URL(address).origin === origin) return address;
	throw new NodeError({
		code: 502,
		message:
			'Google Drive returned an upload URL that is not on the host of the Drive API base',
		description:
			'Nothing was sent there. If you use a gateway in front of Google Drive, it must replace the URL in the Location header with its own.',
	});
}

/** In place of the range of sent bytes: nothing is sent, and Drive reports which bytes it has. */
const progressOnly = '*';

/**
 * The resumable upload of one file. Drive gives the upload an address, and reports after each part
 * of the file how many bytes Drive has. If this number is not the expected one, the upload
 * continues from there.
 */
class ResumableUpload {
	/** How many bytes Drive has, as far as it has reported. */
	#storedBytes = 0;
	#file: drive_v3.Schema$File | undefined;
	/** Whether the last request got no response. Drive must then be asked which bytes it has. */
	#mustAskProgress = false;
	/**
	 * Whether the last byte of the file was sent at least once. Drive creates the file when it has
	 * all bytes.
	 */
	#hasSentLastByte = false;
	readonly #transport: Transport;
	readonly #address: string;
	readonly #totalBytes: number;

	constructor(transport: Transport, address: string, totalBytes: number) {
		this.#transport = transport;
		this.#address = address;
		this.#totalBytes = totalBytes;
	}

	/** Sends the chunk at this position of the file. Drive may store it in several parts. */
	async send(chunk: Buffer, position: number): Promise<void> {
		const end = position + chunk.length;
		while (this.#storedBytes < end) {
			// Until the last byte is sent, the user sees no change, so no outcome is unknown.
			const hasVisibleEffect = end === this.#totalBytes;
			const effect = { repeat: 'always', hasVisibleEffect } as const;
			await this.#transport.repeat(() => this.#sendPart(chunk, position), effect);
		}
		// Drive cannot have more than was sent.
		if (this.#storedBytes > end) this.#throwEnded();
	}

	/**
	 * Returns the file after all bytes were sent. Drive completes an empty file when it is asked
	 * for the progress.
	 */
	async finish(): Promise<drive_v3.Schema$File> {
		const effect = { repeat: 'always', hasVisibleEffect: true } as const;
		if (!this.#file) await this.#transport.repeat(() => this.#put(progressOnly), effect);
		return this.#file ?? this.#throwEnded();
	}

	/**
	 * Makes one attempt to send what Drive lacks of the chunk. If the last response was lost, first
	 * asks what Drive has.
	 */
	async #sendPart(chunk: Buffer, position: number): Promise<void> {
		const end = position + chunk.length;
		const knownBytes = this.#storedBytes;
		if (this.#mustAskProgress) await this.#put(progressOnly);
		// Some bytes had arrived. Returning ends this series of attempts, and `send` starts a new
		// one for the other bytes.
		if (this.#storedBytes > knownBytes) return;
		const start = this.#storedBytes;
		// Drive lacks bytes before the chunk, which it had reported.
		if (start < position) this.#throwEnded();
		this.#hasSentLastByte ||= end === this.#totalBytes;
		await this.#put(`${start}-${end - 1}`, chunk.subarray(start - position));
		if (this.#storedBytes <= start)
			throw new NodeError({
				code: 503,
				message: 'Google Drive did not store any of the bytes that were sent',
				description: 'Try again later.',
				retryable: true,
			});
	}

	/**
	 * Sends one request.
	 * @param range the range of the sent bytes, such as 0-41, or `progressOnly`
	 * @throws NodeError
	 */
	async #put(range: string, bytes?: Buffer): Promise<void> {
		this.#mustAskProgress = true;
		const { status, headers, data } = await this.#transport
			.requestOnce({
				url: this.#address,
				method: 'PUT',
				headers: { 'content-range': `bytes ${range}/${this.#totalBytes}` },
				data: bytes,
				// Drive answers 308 as long as it lacks bytes.
				validateStatus: (code) => code === 308 || isSuccess(code),
			})
			.catch((error: unknown) => {
				const isGone = isNodeError(error) && [404, 410].includes(error.code);
				if (isGone) this.#throwEnded();
				throw error;
			});
		this.#mustAskProgress = false;
		if (status !== 308) {
			this.#file = data as drive_v3.Schema$File;
			this.#storedBytes = this.#totalBytes;
			return;
		}
		// `bytes=0-41` means 42 bytes. Without a range, Drive has no bytes.
		const lastPosition = /^bytes=0-(\d+)$/.exec(String(headers['range']))?.[1] ?? -1;
		this.#storedBytes = Number(lastPosition) + 1;
	}

	/**
	 * @throws NodeError, because Drive no longer knows the upload, or reports bytes that cannot be
	 * right
	 */
	#throwEnded(): never {
		const mayExist = this.#hasSentLastByte;
		throw new NodeError({
			code: 503,
			message: `Google Drive ended the upload after ${this.#storedBytes} of ${this.#totalBytes} bytes`,
			description: mayExist
				? 'The file may still exist. Look for it in Google Drive before you upload it again.'
				: 'Try again later.',
			outcome: mayExist ? 'unknown' : 'notDone',
		});
	}
}
