import type { Readable } from 'node:stream';

/** Answers above it are refused: 64 MiB. */
export const maxAnswerBytes = 64 * 1024 * 1024;

/** Why a body could not be read; `cutShort` may heal when the request is repeated. */
export class BodyError extends Error {
	readonly reason: 'cutShort' | 'tooLarge';
	readonly code: string | undefined;

	constructor(reason: BodyError['reason'], code?: string) {
		super(reason);
		this.reason = reason;
		this.code = code;
	}
}

/**
 * The whole body of an answer, bytes.
 * @param signal ends the reading and destroys the stream
 * @throws BodyError
 */
export async function readBody(
	body: Readable | Buffer,
	{ limitBytes = maxAnswerBytes, signal }: { limitBytes?: number; signal?: AbortSignal } = {},
): Promise<Buffer> {
	if (Buffer.isBuffer(body)) {
		if (body.length > limitBytes) throw new BodyError('tooLarge');
		return body;
	}
	const stop = () => body.destroy(new Error('stopped'));
	signal?.addEventListener('abort', stop, { once: true });
	if (signal?.aborted) stop();
	try {
		return await collect(body, limitBytes);
	} finally {
		signal?.removeEventListener('abort', stop);
	}
}

async function collect(body: Readable, limitBytes: number): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let size = 0;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			size += chunk.length;
			// Leaving the loop destroys the stream.
			if (size > limitBytes) break;
			chunks.push(chunk);
		}
	} catch (error) {
		throw cutShort(error);
	}
	if (size > limitBytes) throw new BodyError('tooLarge');
	return Buffer.concat(chunks, size);
}

/** Only the code: other properties of the error may name the request. */
function cutShort(error: unknown): BodyError {
	return new BodyError(
		'cutShort',
		error instanceof Error && 'code' in error ? String(error.code) : undefined,
	);
}
