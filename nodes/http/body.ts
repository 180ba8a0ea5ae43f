import { addAbortSignal, type Readable } from 'node:stream';

import type { Exchange } from './exchange';
import { findErrorCode } from './networkErrors';

const mebibyte = 2 ** 20;
/** The limit for a response, after decompression. */
export const maxResponseBytes = 64 * mebibyte;
/** How much of the body of an unsuccessful response is read. An error message is smaller. */
const maxErrorBytes = mebibyte / 4;

/** A body that could not be read. */
export class BodyError extends Error {
	readonly reason:
		| 'cutShort' // The connection ended too early. A repeat may help.
		| 'tooLarge' // There are more bytes than the caller allows. Only less data helps.
		| 'tooCostly'; // To parse this would block n8n, or take too much memory. Only less data helps.
	readonly errorCode: string | undefined;

	constructor(reason: BodyError['reason'], errorCode?: string) {
		super(reason);
		this.reason = reason;
		this.errorCode = errorCode;
	}
}

/** Reads the whole body of a response, and closes it if it is too long. @throws BodyError */
export async function readBody(
	{ body, exchange }: { readonly body: Readable | Buffer; readonly exchange?: Exchange },
	signal: AbortSignal,
	maxBytes = maxResponseBytes,
): Promise<Buffer> {
	const { bytes, error } = await collectBytes(body, signal, maxBytes);
	if (error) throw error;
	// Node takes a body without a length for complete if the connection is reset.
	if (exchange?.response?.socket?.errored) throw new BodyError('cutShort');
	return bytes;
}

/** Reads the beginning of an unsuccessful response. If reading fails, returns what was read, because the status is known anyway. */
export async function readErrorBody(
	body: Readable | Buffer,
	signal?: AbortSignal,
): Promise<Buffer> {
	const { bytes } = await collectBytes(body, signal, maxErrorBytes);
	return bytes;
}

/** @returns the bytes that were read, and the error if the reading ended early */
async function collectBytes(
	body: Readable | Buffer,
	signal: AbortSignal | undefined,
	maxBytes: number,
) {
	if (Buffer.isBuffer(body)) {
		const error = body.length > maxBytes ? new BodyError('tooLarge') : undefined;
		return { bytes: body.subarray(0, maxBytes), error };
	}
	if (signal) addAbortSignal(signal, body);
	const chunks: Buffer[] = [];
	let byteCount = 0;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			byteCount += chunk.length;
			// Leaving the loop destroys the stream.
			if (byteCount > maxBytes)
				return { bytes: Buffer.concat(chunks), error: new BodyError('tooLarge') };
			chunks.push(chunk);
		}
	} catch (error) {
		// Only the code is kept, because other properties of the error may name the request.
		const errorCode = findErrorCode([error]);
		return { bytes: Buffer.concat(chunks), error: new BodyError('cutShort', errorCode) };
	}
	return { bytes: Buffer.concat(chunks, byteCount), error: undefined };
}

/** Returns whether the body begins like a JSON object or array, or has nothing but spaces in its first 64 bytes. */
export const mayBeJson = (bytes: Buffer) =>
	/^\uFEFF?\s*(?:[[{]|$)/.test(bytes.toString('utf8', 0, 64));

/** Parses JSON. Returns undefined for anything else, such as a proxy's page or an empty body. A long body needs `canParse` first. */
export function parseJson(bytes: Buffer): unknown {
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		return undefined;
	}
}

/** The limit for levels of objects and lists. n8n copies data by recursion, which overflows the stack at some thousands of levels. */
const maxLevels = 1_000;
/** The limit for keys, entries, and objects and lists, which count twice. With more, parsing would block n8n for over half a second. */
const maxParts = 6_000_000;
const containerParts = 2;
/** V8 stores an object with more keys as a hash table, which is slow: then a key counts as `hashTableKeyParts`. */
const maxFastKeys = 1_000;
const hashTableKeyParts = 20;

/** Returns whether JSON can be parsed, and its value copied, without harm to n8n's other workflows. */
export const canParse = (json: Buffer) => countJsonParts(json) <= maxParts;

const [brace, braceEnd] = [0x7b, 0x7d];
const [bracket, bracketEnd] = [0x5b, 0x5d];
const [comma, colon] = [0x2c, 0x3a];
const [quote, backslash] = [0x22, 0x5c];

/** Counts the parts of JSON outside its texts. @returns Infinity for too many levels; a number above `maxParts` if there are more */
export function countJsonParts(json: Buffer): number {
	/** The number of keys by level. */
	const keyCounts = new Uint32Array(maxLevels + 1);
	let parts = 0;
	let level = 0;
	let isInText = false;
	for (let position = 0; position < json.length && parts <= maxParts; position++) {
		const byte = json[position];
		if (isInText) {
			if (byte === backslash) position++;
			else if (byte === quote) isInText = false;
		} else if (byte === quote) {
			isInText = true;
		} else if (byte === comma) {
			parts++;
		} else if (byte === colon) {
			const count = (keyCounts[level] ?? 0) + 1;
			keyCounts[level] = count;
			parts += count > maxFastKeys ? hashTableKeyParts : 1;
		} else if (byte === brace || byte === bracket) {
			parts += containerParts;
			level++;
			if (level > maxLevels) return Infinity;
			keyCounts[level] = 0;
		} else if (byte === braceEnd || byte === bracketEnd) {
			level = Math.max(0, level - 1);
		}
	}
	return parts;
}
