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

/** A stream that fails if the next piece does not come in time: storage that hangs must not hold up an item forever. */
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

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		this.source.destroy();
		done(error);
	}
}

interface ReadLimit {
	readonly seconds: number;
	/** As in "… could not be read". */
	readonly what: string;
}

/** @throws NodeError 504 when the work takes too long; its later result is dropped */
export async function awaitInTime<T>(work: Promise<T>, { seconds, what }: ReadLimit): Promise<T> {
	const timer = new AbortController();
	const late = sleep(seconds * 1000, undefined, { signal: timer.signal }).then(() => {
		throw new NodeError({
			code: 504,
			message: `${what} could not be read within ${seconds} seconds`,
			description: `The storage does not respond. If it is only slow, raise ${quoteField('timeoutSeconds')} in the options.`,
		});
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		timer.abort();
	}
}

/** Bytes of an input: a binary field, base64 text or a file. */
export interface ByteSource {
	readonly fileName?: string;
	readonly mimeType?: string;
	/** Bytes. */
	readonly size: number;
	/** Opens the bytes again at each call. */
	open(): Promise<Readable>;
}

export const createMemorySource = (
	data: Buffer,
	about: Pick<ByteSource, 'fileName' | 'mimeType'> = {},
): ByteSource => ({ ...about, size: data.length, open: () => Promise.resolve(Readable.from([data])) });

/**
 * Bytes of base64 or base64url text (RFC 4648), with its padding or without. White space may stand at the ends of lines only, and the
 * text must be what an encoder writes, which rules out most plain text that happens to use the same letters.
 * @returns undefined for any other text
 */
export function decodeBase64(text: string): Buffer | undefined {
	const lines = text.split('\n').map((line) => line.trim());
	const digits = lines.join('');
	if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(digits)) return undefined;
	const bytes = Buffer.from(digits, 'base64');
	const encoded = bytes.toString(/[_-]/.test(digits) ? 'base64url' : 'base64');
	const unpadded = encoded.replace(/={1,2}$/, '');
	return digits === unpadded || digits === unpadded.padEnd(Math.ceil(unpadded.length / 4) * 4, '=')
		? bytes
		: undefined;
}

/** Bytes read, hashed and copied at a time, as far as n8n's storage honors it. A longer piece would delay the sending of a chunk. */
const pieceBytes = 1024 * 1024;

/** @param seconds for opening it, and for each read */
export async function getBinarySource(
	context: IExecuteFunctions,
	itemIndex: number,
	field: string,
	seconds: number,
): Promise<ByteSource> {
	const { helpers } = context;
	const binary = helpers.assertBinaryData(itemIndex, field);
	const { fileName, mimeType, id } = binary;
	const limit = { seconds, what: `The binary field '${field}'` };
	if (id === undefined) {
		const data = await awaitInTime(helpers.getBinaryDataBuffer(itemIndex, binary), limit);
		return createMemorySource(data, { fileName, mimeType });
	}
	const { fileSize } = await awaitInTime(helpers.getBinaryMetadata(id), limit);
	const open = async () =>
		new TimedStream(await awaitInTime(helpers.getBinaryStream(id, pieceBytes), limit), limit);
	return { fileName, mimeType, size: fileSize, open };
}

/** The binary fields that names stand for; * stands for all. @throws NodeError 400 that names the missing field and those that exist */
export function findBinaryFields(
	context: IExecuteFunctions,
	itemIndex: number,
	names: readonly string[],
	parameter: string,
): string[] {
	const existing = Object.keys(context.getInputData()[itemIndex]?.binary ?? {});
	const fields = names.flatMap((name) => (name === '*' ? existing : [name]));
	const missing = fields.find((field) => !existing.includes(field));
	const found = names.length === 0 || fields.length > 0;
	if (missing === undefined && found) return [...new Set(fields)];
	throw createRefusal(
		missing === undefined ? 'The item has no files' : `The item has no binary field '${missing}'`,
		existing.length === 0
			? 'It has no binary data. A previous node must provide the file, such as a form trigger, HTTP Request or Read/Write Files from Disk. For the attachments of an email, turn on Download Attachments in List, Search or Read.'
			: `Its binary fields are: ${existing.map((name) => `'${name}'`).join(', ')}. Enter them in ${quoteField(parameter)}, or * for all.`,
	);
}

/** A file on n8n's machine, if n8n allows it. @param seconds for opening it, and for each read @throws NodeError 400 */
export async function getFileSource({ helpers }: IExecuteFunctions, file: string, seconds: number) {
	const limit = { seconds, what: `The file ${file}` };
	const openFile = async () => {
		try {
			const resolved = await awaitInTime(resolveAllowedPath(helpers, file), limit);
			const stats = await awaitInTime(stat(resolved), limit);
			// Opening a pipe waits for its writer, in one of the few threads that all of n8n reads files with.
			if (!stats.isFile())
				throw createRefusal('It is not a file. Enter the path of a file, not of a folder.');
			const stream = await awaitInTime(helpers.createReadStream(resolved), limit);
			return { stream: new TimedStream(stream, limit), size: stats.size };
		} catch (error) {
			const failure = toNodeError(error);
			throw failure.code === 504
				? failure
				: createRefusal(`The file ${file} cannot be read`, failure.message);
		}
	};
	const { stream, size } = await openFile();
	stream.destroy();
	return { fileName: path.basename(file), size, open: async () => (await openFile()).stream };
}

/** Resolves a path as n8n does. The error for a path that n8n does not allow must not reveal whether the file exists. */
async function resolveAllowedPath(helpers: IExecuteFunctions['helpers'], file: string) {
	type Resolved = Awaited<ReturnType<typeof helpers.resolvePath>>;
	// Older versions of n8n check the path only when the file is opened.
	const isBlocked = (resolved: Resolved) =>
		typeof helpers.isFilePathBlocked === 'function' && helpers.isFilePathBlocked(resolved);
	const notAllowedError = createRefusal("n8n's file access rules do not allow this path.");
	try {
		const resolved = await helpers.resolvePath(file);
		if (isBlocked(resolved)) throw notAllowedError;
		return resolved;
	} catch (error) {
		// If even the folder does not exist, n8n throws before it can be asked about the path.
		if (isBlocked(path.resolve(file) as Resolved)) throw notAllowedError;
		throw toNodeError(error);
	}
}

const readInto = promisify(read);

/** Bytes. Drive requires multiples of 256 KiB; Google's own clients use 8 MiB. */
export const chunkBytes = 8 * 1024 * 1024;

/**
 * Splits a stream into chunks of `size` bytes; the last one is shorter. While one chunk is in use, the next
 * one is read and hashed. A chunk is valid only until the next one is requested: two buffers are used in
 * turn, however large the pieces of the stream are (n8n's database mode delivers a file as one piece).
 */
export async function* readChunks(stream: Readable, size: number, hash: Hash): AsyncGenerator<Buffer> {
	let read: ByteReader | undefined;
	const buffers: Array<Buffer | undefined> = [];
	const fill = async (at: number): Promise<Buffer> => {
		const window = (buffers[at % 2] ??= Buffer.allocUnsafeSlow(size));
		read ??= await createByteReader(stream);
		let used = 0;
		while (used < size) {
			const count = await read(window.subarray(used, used + pieceBytes));
			if (count === 0) break;
			hash.update(window.subarray(used, used + count));
			used += count;
		}
		return window.subarray(0, used);
	};
	// A read error is reported when its chunk is requested, and never if nobody requests it.
	const ignoreError = () => undefined;
	let next = fill(0);
	try {
		for (let turns = 1; ; turns++) {
			const chunk = await next;
			const isLast = chunk.length < size;
			if (!isLast) {
				next = fill(turns);
				next.catch(ignoreError);
			}
			if (chunk.length > 0) yield chunk;
			if (isLast) return;
		}
	} finally {
		await next.catch(ignoreError);
		stream.destroy();
	}
}

/** Fills the buffer as far as data is available. @returns the number of bytes; 0 at the end */
type ByteReader = (target: Buffer) => Promise<number>;

/**
 * Reads the file behind an unread stream directly into our own memory. The stream only closes the file in the end. This saves V8 a
 * gigabyte of short-lived buffers, for which it would walk n8n's whole heap again and again.
 */
async function createByteReader(stream: Readable): Promise<ByteReader> {
	if (!(stream instanceof TimedStream)) return createPieceReader(stream);
	const { source } = stream;
	if (!(source instanceof ReadStream) || source.bytesRead > 0) return createPieceReader(stream);
	if (source.pending) await awaitInTime(once(source, 'open'), stream.limit);
	const { fd, start } = source as { readonly fd?: unknown; readonly start?: unknown };
	if (typeof fd !== 'number' || start) return createPieceReader(stream);
	let position = 0;
	return async (target) => {
		const reading = readInto(fd, target, 0, target.length, position);
		const { bytesRead } = await awaitInTime(reading, stream.limit);
		position += bytesRead;
		return bytesRead;
	};
}

function createPieceReader(stream: Readable): ByteReader {
	const pieces = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
	let rest = Buffer.alloc(0) as Buffer;
	return async (target) => {
		while (rest.length === 0) {
			const next = await pieces.next();
			if (next.done) return 0;
			rest = next.value;
		}
		const count = rest.copy(target);
		rest = rest.subarray(count);
		// Lets the chunk that is being sent make progress, because a piece may be the whole file.
		if (rest.length > 0) await yieldToEventLoop();
		return count;
	};
}

export function createSourceChangedError(readBytes: number, expectedBytes: number): NodeError {
	return new NodeError({
		code: 400,
		message: `The size of the content has changed: expected ${expectedBytes} bytes, read ${readBytes}`,
		description: 'The file changed during the upload. Upload it again when nothing writes to it anymore.',
	});
}

/** The MD5 in the form of Drive's `md5Checksum`: lower-case hex. */
export async function computeMd5(source: ByteSource): Promise<string> {
	const hash = createHash('md5');
	for await (const piece of (await source.open()) as AsyncIterable<Buffer>) hash.update(piece);
	return hash.digest('hex');
}
