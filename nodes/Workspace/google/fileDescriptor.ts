import { once } from 'node:events';
import { read, ReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

import { TimedStream } from '../timedStream';

const readInto = promisify(read);

/**
 * The open file behind a stream that nobody has read from. Reading it into memory of our own spares a large upload a gigabyte of
 * short-lived buffers, for whose sake V8 would walk the whole heap of n8n again and again. It stays the stream's own file: what
 * n8n allowed to be opened, and closed by destroying the stream.
 */
export async function fileDescriptorOf(source: Readable): Promise<number | undefined> {
	const stream = source instanceof TimedStream ? source.source : source;
	if (!(stream instanceof ReadStream) || stream.bytesRead > 0) return undefined;
	if (stream.pending) await once(stream, 'open');
	const { fd, start } = stream as { readonly fd?: unknown; readonly start?: unknown };
	return typeof fd === 'number' && !start ? fd : undefined;
}

/** @returns bytes read; 0 at the end of the file */
export async function readAt(descriptor: number, target: Buffer, position: number): Promise<number> {
	const { bytesRead } = await readInto(descriptor, target, 0, target.length, position);
	return bytesRead;
}
