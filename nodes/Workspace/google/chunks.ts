import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { Failure } from '../../items/failure';
import type { Md5 } from './md5';

/** Drive wants multiples of 256 KiB; 8 MiB is Google's own choice for its clients. */
export const chunkBytes = 8 * 1024 * 1024;

/** Hashed and copied in one go; longer would hold up the sending of the chunk before. */
const sliceBytes = 1024 * 1024;

/**
 * The bytes of a stream in chunks of one size, the last one shorter; the next chunk is read and hashed while one is in use. A
 * chunk is good until the next one is asked for: two pieces of memory serve in turn, however large the stream's pieces are
 * (n8n's database mode gives a file as one).
 */
export function chunksOf(stream: Readable, size: number, hash: Md5): AsyncGenerator<Buffer> {
	return readAhead(filled(stream, size, hash));
}

async function* filled(stream: Readable, size: number, hash: Md5): AsyncGenerator<Buffer> {
	const windows: Array<Buffer | undefined> = [undefined, undefined];
	let turns = 0;
	let used = 0;
	for await (const slice of slicesOf(stream)) {
		hash.update(slice);
		for (let at = 0; at < slice.length;) {
			const window = (windows[turns % 2] ??= Buffer.allocUnsafeSlow(size));
			const copied = slice.copy(window, used, at);
			at += copied;
			used += copied;
			if (used < size) continue;
			yield window;
			turns++;
			used = 0;
		}
	}
	if (used > 0) yield windows[turns % 2]?.subarray(0, used) ?? Buffer.alloc(0);
}

async function* slicesOf(stream: Readable): AsyncGenerator<Buffer> {
	for await (const piece of stream as AsyncIterable<Buffer>) {
		for (let at = 0; at < piece.length; at += sliceBytes) {
			if (at > 0) await turn();
			yield piece.subarray(at, at + sliceBytes);
		}
	}
}

async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
	let next = ask(source);
	try {
		for (;;) {
			const { value, done } = await next;
			if (done) return;
			next = ask(source);
			yield value;
		}
	} finally {
		await next.then(() => source.return(undefined), ignored);
	}
}

function ask<T>(source: AsyncGenerator<T>): Promise<IteratorResult<T, void>> {
	const next = source.next();
	next.catch(ignored);
	return next;
}

/** A failure to read counts when its chunk is asked for, and not at all when nobody asks any more. */
const ignored = () => undefined;

export function sourceChanged(readBytes: number, expectedBytes: number): Failure {
	return new Failure({
		code: 400,
		message: `The content is not the ${expectedBytes} bytes that were announced: ${readBytes} came so far`,
		description:
			'The file changed while it was uploaded. Upload it again when nothing writes to it any more.',
	});
}
