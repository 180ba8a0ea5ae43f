import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { read, ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { IExecuteFunctions } from 'n8n-workflow';

import { toError, NodeError, createRefusal, toNodeError } from '../core/errors';
import { quoteField } from '../fields/field';

/** A stream that fails if its source does not deliver the next piece in time. An item would otherwise wait forever for storage that hangs. */
export class TimedStream extends Readable {
	readonly source: Readable;
	readonly limit: ReadLimit;
	#pieces: AsyncIterator<Buffer> | undefined;

	constructor(source: Readable, limit: ReadLimit) {
		super();
		this.source = source;
		this.limit = limit;
	}

	override _read(): void {
		this.#pieces ??= (this.source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
		awaitInTime(this.#pieces.next(), this.limit).then(
			({ value, done }) => this.push(done === true ? null : value),
			(error: unknown) => this.destroy(toError(error)),
		);
	}

	override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
		this.source.destroy();
		callback(error);
	}
}

interface ReadLimit {
	readonly seconds: number;
	/** Such as "The binary field 'data'". An error message continues with "could not be read". */
	readonly sourceName: string;
}

/** Waits for work, but no longer than the limit. @throws NodeError 504 if the work takes longer. Its later result is then dropped. */
export async function awaitInTime<T>(
	work: Promise<T>,
	{ seconds, sourceName }: ReadLimit,
): Promise<T> {
	const timer = new AbortController();
	const timeout = sleep(seconds * 1000, undefined, { signal: timer.signal }).then(() => {
		throw new NodeError({
			code: 504,
			message: `${sourceName} could not be read within ${seconds} seconds`,
			description: `The storage does not respond. If it is only slow, raise ${quoteField('timeoutSeconds')} in the options.`,
		});
	});
	try {
		return await Promise.race([work, timeout]);
	} finally {
		timer.abort();
	}
}

/** The bytes of a binary field, an attachment, a text or a file. */
export interface ByteSource {
	readonly fileName?: string;
	readonly mimeType?: string;
	/** In bytes. */
	readonly size: number;
	/** Returns a new stream from the first byte, each time it is called. */
	open(): Promise<Readable>;
}

export const createMemorySource = (
	data: Buffer,
	metadata: Pick<ByteSource, 'fileName' | 'mimeType'> = {},
): ByteSource => ({
	...metadata,
	size: data.length,
	open: () => Promise.resolve(Readable.from([data])),
});

/**
 * Decodes base64 or base64url text (RFC 4648), with or without padding. White space may stand only where a line begins or ends. The
 * text must be exactly what an encoder writes, which rules out most plain text that happens to use the same characters.
 * @returns undefined for any other text
 */
export function decodeBase64(text: string): Buffer | undefined {
	const lines = text.split('\n').map((line) => line.trim());
	const characters = lines.join('');
	if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(characters)) return undefined;
	const bytes = Buffer.from(characters, 'base64');
	const encoded = bytes.toString(/[_-]/.test(characters) ? 'base64url' : 'base64');
	const unpadded = encoded.replace(/={1,2}$/, '');
	const padded = unpadded.padEnd(Math.ceil(unpadded.length / 4) * 4, '=');
	return characters === unpadded || characters === padded ? bytes : undefined;
}

/** How many bytes are read, hashed and copied at a time. More would block the event loop for longer, and delay what is being sent. */
const pieceBytes = 1024 * 1024;

/** Returns a source for the bytes of a binary field. @param seconds the limit for opening it, and again for each read */
export async function getBinarySource(
	context: IExecuteFunctions,
	itemIndex: number,
	field: string,
	seconds: number,
): Promise<ByteSource> {
	const { helpers } = context;
	const binary = helpers.assertBinaryData(itemIndex, field);
	const { fileName, mimeType, id } = binary;
	const limit = { seconds, sourceName: `The binary field '${field}'` };
	if (id === undefined) {
		const data = await awaitInTime(helpers.getBinaryDataBuffer(itemIndex, binary), limit);
		return createMemorySource(data, { fileName, mimeType });
	}
	const { fileSize } = await awaitInTime(helpers.getBinaryMetadata(id), limit).catch(
		(error: unknown) => {
			throw createStorageError(error, limit.sourceName);
		},
	);
	const open = async () =>
		new TimedStream(await awaitInTime(helpers.getBinaryStream(id, pieceBytes), limit), limit);
	return { fileName, mimeType, size: fileSize, open };
}

function createStorageError(error: unknown, sourceName: string): NodeError {
	const failure = toNodeError(error);
	if (failure.code === 504) return failure;
	return createRefusal(
		`${sourceName} is not in n8n's storage`,
		`If n8n runs as several processes (queue mode), all of them must use the same storage for binary data: one shared folder, or S3. n8n says: ${failure.message}`,
	);
}

/** Returns the names of existing binary fields. In `names`, * means all. @throws NodeError 400 if one is missing */
export function findBinaryFields(
	context: IExecuteFunctions,
	itemIndex: number,
	names: readonly string[],
	formField: string,
	isWanted: (fileName: string) => boolean = () => true,
): string[] {
	const binary = context.getInputData()[itemIndex]?.binary ?? {};
	const existingFields = Object.keys(binary);
	const fields = names.flatMap((name) => (name === '*' ? existingFields : [name]));
	const missingField = fields.find((field) => !existingFields.includes(field));
	const hasNoMatch = names.length > 0 && fields.length === 0;
	if (missingField === undefined && !hasNoMatch) {
		const getFileName = (field: string) => binary[field]?.fileName ?? field;
		const wantedFields = fields.filter((field) => isWanted(getFileName(field)));
		if (wantedFields.length > 0 || fields.length === 0) return [...new Set(wantedFields)];
		throw createRefusal(
			`No file of the item has a name that ${quoteField('onlyFiles')} allows`,
			`Its files are: ${fields.map((field) => `'${getFileName(field)}'`).join(', ')}.`,
		);
	}
	const message = hasNoMatch
		? 'The item has no files'
		: `The item has no binary field '${missingField}'`;
	const advice =
		existingFields.length === 0
			? 'It has no binary data. A previous node must provide the file, such as a form trigger, HTTP Request or Read/Write Files from Disk. For the attachments of an email, turn on Download Attachments in List, Search or Read.'
			: `Its binary fields are: ${existingFields.map((name) => `'${name}'`).join(', ')}. Enter one of them in ${quoteField(formField)}, or * for all.`;
	throw createRefusal(message, advice);
}

/** Returns a source for a file on n8n's machine. @param seconds the limit for opening it, and again for each read @throws NodeError 400 if n8n refuses it */
export async function getFileSource(
	{ helpers }: IExecuteFunctions,
	filePath: string,
	seconds: number,
) {
	const limit = { seconds, sourceName: `The file ${filePath}` };
	const openFile = async () => {
		try {
			const resolvedPath = await awaitInTime(resolveAllowedPath(helpers, filePath), limit);
			const stats = await awaitInTime(stat(resolvedPath), limit);
			// A named pipe would block one of the few threads with which all of n8n reads files, until something writes to the pipe.
			if (!stats.isFile())
				throw createRefusal('It is not a file. Enter the path of a file, not of a folder.');
			const stream = await awaitInTime(helpers.createReadStream(resolvedPath), limit);
			return { stream: new TimedStream(stream, limit), size: stats.size };
		} catch (error) {
			const failure = toNodeError(error);
			if (failure.code === 504) throw failure;
			throw createRefusal(`The file ${filePath} cannot be read`, failure.message);
		}
	};
	// Opens the file to learn its size. An unreadable file is then refused before the upload begins.
	const { stream, size } = await openFile();
	stream.destroy();
	return { fileName: path.basename(filePath), size, open: async () => (await openFile()).stream };
}

/** Resolves a path as n8n does. The error for a path that n8n does not allow must not reveal whether the file exists. */
async function resolveAllowedPath(helpers: IExecuteFunctions['helpers'], filePath: string) {
	type ResolvedPath = Awaited<ReturnType<typeof helpers.resolvePath>>;
	// Older versions of n8n check the path only when the file is opened.
	const isBlocked = (resolvedPath: ResolvedPath) =>
		typeof helpers.isFilePathBlocked === 'function' && helpers.isFilePathBlocked(resolvedPath);
	const notAllowedError = createRefusal("n8n's file access rules do not allow this path.");
	try {
		const resolvedPath = await helpers.resolvePath(filePath);
		if (isBlocked(resolvedPath)) throw notAllowedError;
		return resolvedPath;
	} catch (error) {
		// `resolvePath` throws if even the folder does not exist, so the unresolved path is checked.
		if (isBlocked(path.resolve(filePath) as ResolvedPath)) throw notAllowedError;
		throw toNodeError(error);
	}
}

const readInto = promisify(read);

/** How many bytes of an upload are sent at a time. Drive requires multiples of 256 KiB. Google's own clients use 8 MiB. */
export const chunkBytes = 8 * 1024 * 1024;

/**
 * Splits a stream into chunks of `chunkSize` bytes. The last may be shorter. While a chunk is in use, the next one is read and hashed. A
 * chunk is valid only until the next one is requested, because two buffers take turns. So the chunks need little memory even if the
 * stream delivers the whole file as one piece, as n8n's database mode does.
 */
export async function* readChunks(
	stream: Readable,
	chunkSize: number,
	hash: Hash,
): AsyncGenerator<Buffer> {
	let readBytes: ByteReader | undefined;
	const chunkBuffers: Array<Buffer | undefined> = [];
	const fillBuffer = async (chunkIndex: number): Promise<Buffer> => {
		const chunkBuffer = (chunkBuffers[chunkIndex % 2] ??= Buffer.allocUnsafeSlow(chunkSize));
		readBytes ??= await createByteReader(stream);
		let filledBytes = 0;
		while (filledBytes < chunkSize) {
			const byteCount = await readBytes(
				chunkBuffer.subarray(filledBytes, filledBytes + pieceBytes),
			);
			if (byteCount === 0) break;
			hash.update(chunkBuffer.subarray(filledBytes, filledBytes + byteCount));
			filledBytes += byteCount;
		}
		return chunkBuffer.subarray(0, filledBytes);
	};
	// Node ends the process if nobody handles a rejection. The loop reports a read error when it gets to the chunk.
	const ignoreError = () => undefined;
	let nextChunk = fillBuffer(0);
	try {
		for (let nextIndex = 1; ; nextIndex++) {
			const chunk = await nextChunk;
			const isLast = chunk.length < chunkSize;
			if (!isLast) {
				nextChunk = fillBuffer(nextIndex);
				nextChunk.catch(ignoreError);
			}
			if (chunk.length > 0) yield chunk;
			if (isLast) return;
		}
	} finally {
		// The file must not be closed during a read.
		await nextChunk.catch(ignoreError);
		stream.destroy();
	}
}

/** Reads the next bytes into `target`, but may not fill it. @returns the number of bytes, which is 0 only at the end of the stream */
type ByteReader = (target: Buffer) => Promise<number>;

/**
 * Creates a reader for a stream. If the stream reads a file, the reader reads the file directly into our buffers, and the stream only
 * closes it. Otherwise a file of 1 GB would cause 1 GB of short-lived buffers, and V8 would search n8n's whole heap again and again.
 */
async function createByteReader(stream: Readable): Promise<ByteReader> {
	if (!(stream instanceof TimedStream)) return createPieceReader(stream);
	const { source } = stream;
	// The reader begins at the first byte of the file, so the stream must do so, too.
	if (!(source instanceof ReadStream) || source.bytesRead > 0) return createPieceReader(stream);
	if (source.pending) await awaitInTime(once(source, 'open'), stream.limit);
	// Node's types lack the file descriptor and the position of the first byte.
	const { fd, start } = source as { readonly fd?: unknown; readonly start?: unknown };
	if (typeof fd !== 'number' || start) return createPieceReader(stream);
	let position = 0;
	return async (target) => {
		const { bytesRead } = await awaitInTime(
			readInto(fd, target, 0, target.length, position),
			stream.limit,
		);
		position += bytesRead;
		return bytesRead;
	};
}

function createPieceReader(stream: Readable): ByteReader {
	const pieces = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
	let unreadPart = Buffer.alloc(0) as Buffer;
	return async (target) => {
		while (unreadPart.length === 0) {
			const result = await pieces.next();
			if (result.done) return 0;
			unreadPart = result.value;
		}
		const byteCount = unreadPart.copy(target);
		unreadPart = unreadPart.subarray(byteCount);
		// A piece may be the whole file. Without a pause, nothing would be sent while it is copied and hashed.
		if (unreadPart.length > 0) await yieldToEventLoop();
		return byteCount;
	};
}

export function createSourceChangedError(actualBytes: number, expectedBytes: number): NodeError {
	return new NodeError({
		code: 400,
		message: `The size of the content has changed: expected ${expectedBytes} bytes, read ${actualBytes}`,
		description:
			'The file changed during the upload. Upload it again when nothing writes to it anymore.',
	});
}

/** Computes the MD5 in the form of Drive's `md5Checksum`: lower-case hex. */
export async function computeMd5(source: ByteSource): Promise<string> {
	const hash = createHash('md5');
	for await (const piece of (await source.open()) as AsyncIterable<Buffer>) hash.update(piece);
	return hash.digest('hex');
}
