import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { read, ReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';

import { NodeError } from '../../../core/errors';
import { TimedStream } from '../../source';

const readInto = promisify(read);

/**
 * The open file behind a stream that has not been read yet. Reading it into our own memory saves a large
 * upload a gigabyte of short-lived buffers, which would make V8 walk n8n's whole heap again and again. The
 * file still belongs to the stream: it is the one that n8n allowed to be opened, and destroying the stream
 * closes it.
 */
async function fileDescriptorOf(source: Readable): Promise<number | undefined> {
	const stream = source instanceof TimedStream ? source.source : source;
	if (!(stream instanceof ReadStream) || stream.bytesRead > 0) return undefined;
	if (stream.pending) await once(stream, 'open');
	const { fd, start } = stream as { readonly fd?: unknown; readonly start?: unknown };
	return typeof fd === 'number' && !start ? fd : undefined;
}

/** @returns bytes read; 0 at the end of the file */
async function readAt(descriptor: number, target: Buffer, position: number): Promise<number> {
	const { bytesRead } = await readInto(descriptor, target, 0, target.length, position);
	return bytesRead;
}

/** Bytes. Drive requires multiples of 256 KiB; Google's own clients use 8 MiB. */
export const chunkBytes = 8 * 1024 * 1024;

/** Bytes hashed and copied at a time. A longer slice would delay the sending of the previous chunk. */
const sliceBytes = 1024 * 1024;

/**
 * Splits a stream into chunks of `size` bytes; the last one is shorter. While one chunk is in use, the next
 * one is read and hashed. A chunk is valid only until the next one is requested: two buffers are used in
 * turn, however large the pieces of the stream are (n8n's database mode delivers a file as one piece).
 */
export function chunksOf(stream: Readable, size: number, hash: Md5): AsyncGenerator<Buffer> {
	return readAhead(filled(stream, size, hash));
}

async function* filled(stream: Readable, size: number, hash: Md5): AsyncGenerator<Buffer> {
	const windows: Array<Buffer | undefined> = [undefined, undefined];
	const read = await readerOf(stream);
	try {
		for (let turns = 0; ; turns++) {
			const window = (windows[turns % 2] ??= Buffer.allocUnsafeSlow(size));
			let used = 0;
			while (used < size) {
				const count = await read(window.subarray(used, used + sliceBytes));
				if (count === 0) break;
				hash.update(window.subarray(used, used + count));
				used += count;
			}
			if (used > 0) yield window.subarray(0, used);
			if (used < size) return;
		}
	} finally {
		stream.destroy();
	}
}

/** Fills the buffer as far as data is available. @returns bytes; 0 at the end */
type Read = (target: Buffer) => Promise<number>;

async function readerOf(stream: Readable): Promise<Read> {
	const descriptor = await fileDescriptorOf(stream);
	if (descriptor === undefined) return pieceReader(stream);
	let position = 0;
	return async (target) => {
		const reading = readAt(descriptor, target, position);
		const count = await (stream instanceof TimedStream ? stream.within(reading) : reading);
		position += count;
		return count;
	};
}

function pieceReader(stream: Readable): Read {
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
		// A piece may be the whole file, and the chunk being sent must make progress meanwhile.
		if (rest.length > 0) await turn();
		return count;
	};
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

/** A read error is reported when its chunk is requested, and never if nobody requests it. */
const ignored = () => undefined;

export function sourceChanged(readBytes: number, expectedBytes: number): NodeError {
	return new NodeError({
		code: 400,
		message: `The size of the content has changed: expected ${expectedBytes} bytes, read ${readBytes}`,
		description: 'The file changed during the upload. Upload it again when nothing writes to it anymore.',
	});
}

/** Running checksum of bytes, in the form of Drive's `md5Checksum`: lower-case hex. */
export class Md5 {
	private readonly hash = createHash('md5');

	update(bytes: Buffer): void {
		this.hash.update(bytes);
	}

	digest(): string {
		return this.hash.digest('hex');
	}
}

export async function md5Of(bytes: Readable): Promise<string> {
	const hash = new Md5();
	for await (const piece of bytes as AsyncIterable<Buffer>) hash.update(piece);
	return hash.digest();
}
