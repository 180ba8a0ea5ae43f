import { once } from 'node:events';
import { read, ReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

import { TimedStream } from '../timedStream';

const readInto = promisify(read);

/**
 * The open file behind a stream that has not been read yet. Reading it into our own memory saves a large
 * upload a gigabyte of short-lived buffers, which would make V8 walk n8n's whole heap again and again. The
 * file still belongs to the stream: it is the one that n8n allowed to be opened, and destroying the stream
 * closes it.
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
