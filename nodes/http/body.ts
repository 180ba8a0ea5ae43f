import { addAbortSignal, type Readable } from 'node:stream';

import { systemClock, waitAtMost } from '../core/clock';
import type { Exchange } from './exchange';
import { findErrorCode } from './networkErrors';

const mebibyte = 2 ** 20;
/** The limit for a response, after decompression. */
export const maxResponseBytes = 64 * mebibyte;
/** How much `readBodyStart` reads. An error message is smaller. */
const maxStartBytes = mebibyte / 4;

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

/** Returns whether a request failed because to parse its response would block n8n. */
export function isTooCostly(error: unknown) {
	const cause = error instanceof Error ? error.cause : undefined;
	return cause instanceof BodyError && cause.reason === 'tooCostly';
}

/** Reads the whole body of a response, and closes it if it is too long. @throws BodyError */
export async function readBody(
	{ body, exchange }: { readonly body: Readable; readonly exchange?: Exchange },
	signal: AbortSignal,
	maxBytes = maxResponseBytes,
): Promise<Buffer> {
	const chunks: Buffer[] = [];
	const error = await collectChunks(addAbortSignal(signal, body), maxBytes, chunks);
	if (error) throw error;
	// Node takes a body without a length for complete if the connection is reset.
	if (exchange?.response?.socket?.errored) throw new BodyError('cutShort');
	return Buffer.concat(chunks);
}

/**
 * Reads the beginning of a response, such as an error message. If reading fails or takes too long,
 * returns what was read.
 */
export async function readBodyStart(body: Readable, maxMilliseconds = 3000): Promise<Buffer> {
	const chunks: Buffer[] = [];
	await waitAtMost(systemClock, maxMilliseconds, collectChunks(body, maxStartBytes, chunks));
	body.destroy();
	return Buffer.concat(chunks);
}

/** @returns the error if the reading ended early */
async function collectChunks(body: Readable, maxBytes: number, chunks: Buffer[]) {
	let byteCount = 0;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			chunks.push(chunk.subarray(0, maxBytes - byteCount));
			byteCount += chunk.length;
			// Leaving the loop destroys the stream.
			if (byteCount > maxBytes) return new BodyError('tooLarge');
		}
		return undefined;
	} catch (error) {
		// Only the code is kept, because other properties of the error may name the request.
		return new BodyError('cutShort', findErrorCode([error]));
	}
}

/**
 * Returns whether the body begins like a JSON object or array, or has nothing but spaces in its
 * first 64 bytes.
 */
export const mayBeJson = (bytes: Buffer) =>
	/^\uFEFF?\s*(?:[[{]|$)/.test(bytes.toString('utf8', 0, 64));

/** Returns whether the body ends like a JSON object, so that it was not cut off. */
export const endsLikeJsonObject = (bytes: Buffer) =>
	/\}\s*$/.test(bytes.subarray(-64).toString('latin1'));

/**
 * Parses JSON, also behind a byte order mark. Returns undefined for anything else, such as a
 * proxy's page or an empty body. A long body needs `canParse` first.
 */
export function tryParseJson(body: Buffer | string): unknown {
	try {
		return JSON.parse(body.toString().replace(/^\uFEFF/, '')) as unknown;
	} catch {
		return undefined;
	}
}
