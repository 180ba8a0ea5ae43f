import { addAbortSignal, type Readable } from 'node:stream';

import { findErrorCode } from './networkErrors';

export const mebibyte = 2 ** 20;
export const defaultMaxBytes = 64 * mebibyte;
/** How much of the body of an unsuccessful response is read, before decompression. An error message is smaller. */
const maxErrorBytes = mebibyte / 4;

/** A body that could not be read. */
export class BodyError extends Error {
	readonly reason:
		| 'cutShort' // The connection or the compressed data ended too early. A repeat may help.
		| 'tooLarge' // There are more bytes than the caller allows. Only less data helps.
		| 'tooCostly' // To parse this would take too much time or memory. Only less data helps.
		| 'noMemory'; // Other responses take the memory at the moment. A pause may help.
	readonly errorCode: string | undefined;

	constructor(reason: BodyError['reason'], errorCode?: string) {
		super(reason);
		this.reason = reason;
		this.errorCode = errorCode;
	}
}

interface ReadLimits {
	readonly maxBytes?: number;
	/** The length according to the response's headers. If it is too large, nothing is read. */
	readonly announcedBytes?: number;
	/** Ends the reading and destroys the stream. */
	readonly signal?: AbortSignal;
	/** Counts the bytes that are read, for example a `MemoryReservation`. @throws BodyError `noMemory` */
	readonly memory?: { reserve(bytes: number): void };
}

/** Reads the whole body of a response. @throws BodyError */
export async function readResponseBody(
	body: Readable | Buffer,
	limits: ReadLimits = {},
): Promise<Buffer> {
	const { maxBytes = defaultMaxBytes, announcedBytes = 0, memory } = limits;
	if (Buffer.isBuffer(body)) {
		if (body.length > maxBytes) throw new BodyError('tooLarge');
		memory?.reserve(body.length);
		return body;
	}
	if (announcedBytes > maxBytes) {
		body.destroy();
		throw new BodyError('tooLarge');
	}
	const { bytes, error } = await collectBytes(body, limits);
	if (error) throw error;
	return bytes;
}

/** Parses JSON. Returns undefined for anything else, such as a proxy's page or an empty body. The HTTP status then says more. */
export function tryParseJson(bytes: Buffer): unknown {
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		return undefined;
	}
}

/** Returns whether the body begins like a JSON object or array, or has nothing but spaces in its first 64 bytes. */
export const mayBeJson = (bytes: Buffer) =>
	/^\uFEFF?\s*(?:[[{]|$)/.test(bytes.toString('utf8', 0, 64));

/** Reads the beginning of an unsuccessful response. If reading fails, returns what was read, because the status is known anyway. */
export async function readErrorBody(
	body: Readable | Buffer,
	signal?: AbortSignal,
): Promise<Buffer> {
	if (Buffer.isBuffer(body)) return body.subarray(0, maxErrorBytes);
	return (await collectBytes(body, { maxBytes: maxErrorBytes, signal })).bytes;
}

/** Reads a stream. @returns the bytes that were read, and the error if the reading ended early */
async function collectBytes(
	body: Readable,
	{ maxBytes = defaultMaxBytes, signal, memory }: ReadLimits,
) {
	if (signal) addAbortSignal(signal, body);
	const chunks: Buffer[] = [];
	let byteCount = 0;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			byteCount += chunk.length;
			// Leaving the loop destroys the stream.
			if (byteCount > maxBytes)
				return { bytes: Buffer.concat(chunks), error: new BodyError('tooLarge') };
			memory?.reserve(chunk.length);
			chunks.push(chunk);
		}
		return { bytes: Buffer.concat(chunks, byteCount) };
	} catch (error) {
		// Only the code is kept, because other properties of the error may name the request.
		const bodyError =
			error instanceof BodyError ? error : new BodyError('cutShort', findErrorCode([error]));
		return { bytes: Buffer.concat(chunks), error: bodyError };
	}
}
