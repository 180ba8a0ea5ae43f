import { Readable } from 'node:stream';

import { NodeError } from '../core/errors';

/** The bytes of a source, each piece of which comes in time, or the stream fails: storage that hangs must not hold an item up forever. */
export class TimedStream extends Readable {
	readonly source: Readable;
	readonly #limit: ReadLimit;
	#pieces: AsyncIterator<Buffer> | undefined;

	constructor(source: Readable, limit: ReadLimit) {
		super();
		this.source = source;
		this.#limit = limit;
	}

	override _read(): void {
		this.#pieces ??= (this.source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
		this.within(this.#pieces.next()).then(
			({ value, done }) => this.push(done === true ? null : value),
			(error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
		);
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		this.source.destroy();
		done(error);
	}

	/** @throws NodeError 504 when the work takes too long */
	async within<T>(work: Promise<T>): Promise<T> {
		return await inTime(work, this.#limit);
	}
}

interface ReadLimit {
	readonly milliseconds: number;
	/** As in "… could not be read". */
	readonly what: string;
}

/** @throws NodeError 504 when the work takes too long; what it gives later is dropped */
export async function inTime<T>(work: Promise<T>, { milliseconds, what }: ReadLimit): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => {
			reject(tooSlow(what, milliseconds));
		}, milliseconds);
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}

function tooSlow(what: string, milliseconds: number): NodeError {
	return new NodeError({
		code: 504,
		message: `${what} could not be read within ${milliseconds / 1000} seconds`,
		description:
			"The storage does not respond. If it is only slow, raise 'Timeout (Seconds)' in the options.",
	});
}

/** Bytes of an input: a binary field, base64 text or a file. */
export interface Source {
	readonly fileName?: string;
	readonly mimeType?: string;
	/** Bytes. */
	readonly size: number;
	/** Opens the bytes again at each call. */
	open(): Promise<Readable>;
}

/**
 * Bytes of base64 or base64url text (RFC 4648), with its padding or without. White space may stand at the ends of lines only, and the
 * text must be what an encoder writes: plain text that happens to use the same letters is mostly told by that.
 * @returns undefined for any other text
 */
export function bytesOfBase64(text: string): Buffer | undefined {
	const digits = text
		.split('\n')
		.map((line) => line.trim())
		.join('');
	if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/.test(digits)) return undefined;
	const bytes = Buffer.from(digits, 'base64');
	const written = bytes.toString(/[_-]/.test(digits) ? 'base64url' : 'base64');
	const bare = written.replace(/={1,2}$/, '');
	return digits === bare || digits === bare.padEnd(Math.ceil(bare.length / 4) * 4, '=') ? bytes : undefined;
}
