import { addAbortSignal, type Readable } from 'node:stream';

import { findErrorCode } from './networkErrors';

const mebibyte = 2 ** 20;
/** Larger answers are refused. */
export const maxAnswerBytes = 64 * mebibyte;
/** An error message is small; anything longer is not one. */
const maxErrorBytes = mebibyte / 4;

/** A body that could not be read. After `cutShort` a repeat may help, after `noMemory` waiting for others, after `tooCostly` less data. */
export class BodyError extends Error {
	readonly reason: 'cutShort' | 'tooLarge' | 'tooCostly' | 'noMemory';
	readonly code: string | undefined;

	constructor(reason: BodyError['reason'], code?: string) {
		super(reason);
		this.reason = reason;
		this.code = code;
	}
}

interface ReadLimits {
	readonly maxBytes?: number;
	/** Length according to the answer; if it is too large, nothing is read. */
	readonly announcedBytes?: number;
	/** Ends the reading and destroys the stream. */
	readonly signal?: AbortSignal;
	/** Counts what is read, as `MemoryReservation` does. @throws BodyError `noMemory` */
	readonly memory?: { reserve(bytes: number): void };
}

/** The whole body of an answer, in bytes. @throws BodyError */
export async function readResponseBody(body: Readable | Buffer, limits: ReadLimits = {}): Promise<Buffer> {
	const { maxBytes = maxAnswerBytes, announcedBytes = 0, memory } = limits;
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

/** Parses JSON. Anything else, such as the page of a proxy or an empty body, gives undefined: the HTTP status then tells more. */
export function tryParseJson(bytes: Buffer): unknown {
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		return undefined;
	}
}

/** Whether the body may be more than a JSON number or string, judged by its beginning and not by its media type. */
export function mayBeJson(bytes: Buffer): boolean {
	return /^\uFEFF?\s*(?:[[{]|$)/.test(bytes.toString('utf8', 0, 64));
}

/** The body of an unsuccessful answer, as far as it can be read and up to the length of a message: the status is known anyway. */
export async function readErrorBody(body: Readable | Buffer, signal?: AbortSignal): Promise<Buffer> {
	if (Buffer.isBuffer(body)) return body.subarray(0, maxErrorBytes);
	return (await collectBytes(body, { maxBytes: maxErrorBytes, signal })).bytes;
}

/** @returns what was read, and why the reading ended early */
async function collectBytes(body: Readable, { maxBytes = maxAnswerBytes, signal, memory }: ReadLimits) {
	if (signal) addAbortSignal(signal, body);
	const chunks: Buffer[] = [];
	let size = 0;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			size += chunk.length;
			// Leaving the loop destroys the stream.
			if (size > maxBytes) return { bytes: Buffer.concat(chunks), error: new BodyError('tooLarge') };
			memory?.reserve(chunk.length);
			chunks.push(chunk);
		}
		return { bytes: Buffer.concat(chunks, size) };
	} catch (error) {
		// Only the code is kept, because other properties of the error may name the request.
		const reason = error instanceof BodyError ? error : new BodyError('cutShort', findErrorCode([error]));
		return { bytes: Buffer.concat(chunks), error: reason };
	}
}
