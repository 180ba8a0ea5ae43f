import type { Readable } from 'node:stream';

import { codeIn } from './networkErrors';

/** Larger answers are refused: 64 MiB. */
export const maxAnswerBytes = 64 * 1024 * 1024;
/** Bytes. An error message is small; anything longer is not one. */
const maxErrorBytes = 256 * 1024;

/**
 * Why a body could not be read. After `cutShort`, repeating the request may help; after `noMemory`, waiting
 * until the other answers are processed; after `tooCostly`, requesting less.
 */
export class BodyError extends Error {
	readonly reason: 'cutShort' | 'tooLarge' | 'tooCostly' | 'noMemory';
	readonly code: string | undefined;

	constructor(reason: BodyError['reason'], code?: string) {
		super(reason);
		this.reason = reason;
		this.code = code;
	}
}

interface ReadingLimits {
	readonly limitBytes?: number;
	readonly announcedBytes?: number;
	readonly signal?: AbortSignal;
	/** Reserves memory for what is read. */
	readonly memory?: MemoryHolder;
}

/** `hold` throws a BodyError if there is no room for that many more bytes. */
export interface MemoryHolder {
	hold(bytes: number): void;
}

/**
 * The whole body of an answer, in bytes.
 * @param announcedBytes length according to the answer; if it is too large, nothing is read
 * @param signal ends the reading and destroys the stream
 * @throws BodyError
 */
export async function readBody(
	body: Readable | Buffer,
	{ limitBytes = maxAnswerBytes, announcedBytes = 0, signal, memory }: ReadingLimits = {},
): Promise<Buffer> {
	if (Buffer.isBuffer(body)) {
		if (body.length > limitBytes) throw new BodyError('tooLarge');
		memory?.hold(body.length);
		return body;
	}
	if (announcedBytes > limitBytes) {
		body.destroy();
		throw new BodyError('tooLarge');
	}
	const { bytes, error } = await collected(body, limitBytes, signal, memory);
	if (error) throw error;
	return bytes;
}

/**
 * The body of an unsuccessful answer, as far as it can be read and up to the length of a message. The rest is
 * left out, because the status is known.
 */
export async function readErrorBody(body: Readable | Buffer, signal?: AbortSignal): Promise<Buffer> {
	if (Buffer.isBuffer(body)) return body.subarray(0, maxErrorBytes);
	return (await collected(body, maxErrorBytes, signal)).bytes;
}

interface Collected {
	readonly bytes: Buffer;
	/** Why the reading ended early. */
	readonly error?: BodyError;
}

async function collected(
	body: Readable,
	limitBytes: number,
	signal?: AbortSignal,
	memory?: MemoryHolder,
): Promise<Collected> {
	const stop = () => body.destroy(new Error('stopped'));
	signal?.addEventListener('abort', stop, { once: true });
	if (signal?.aborted) stop();
	const chunks: Buffer[] = [];
	let size = 0;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			size += chunk.length;
			// Leaving the loop destroys the stream.
			if (size > limitBytes) return { bytes: Buffer.concat(chunks), error: new BodyError('tooLarge') };
			memory?.hold(chunk.length);
			chunks.push(chunk);
		}
		return { bytes: Buffer.concat(chunks, size) };
	} catch (error) {
		return { bytes: Buffer.concat(chunks), error: error instanceof BodyError ? error : cutShort(error) };
	} finally {
		signal?.removeEventListener('abort', stop);
	}
}

/** Keeps only the code, because other properties of the error may name the request. */
function cutShort(error: unknown): BodyError {
	return new BodyError('cutShort', codeIn([error]));
}
