import type { Readable } from 'node:stream';

import { Failure } from '../../items/failure';

/** Drive wants multiples of 256 KiB; 8 MiB is Google's own choice for its clients. */
export const chunkBytes = 8 * 1024 * 1024;

/**
 * The bytes of a stream in chunks of one size, the last one shorter. A chunk is good only until the next one is asked for: all are
 * filled into the same memory, or cut from a larger piece (n8n's database mode gives a file as one).
 */
export async function* chunksOf(stream: Readable, size: number): AsyncGenerator<Buffer> {
	let window: Buffer | undefined;
	let filled = 0;
	for await (const piece of stream) {
		let rest = Buffer.isBuffer(piece) ? piece : Buffer.from(piece as string);
		while (rest.length > 0) {
			if (filled === 0 && rest.length >= size) {
				yield rest.subarray(0, size);
				rest = rest.subarray(size);
				continue;
			}
			window ??= Buffer.allocUnsafeSlow(size);
			const copied = rest.copy(window, filled);
			rest = rest.subarray(copied);
			filled += copied;
			if (filled === size) {
				yield window;
				filled = 0;
			}
		}
	}
	if (window && filled > 0) yield window.subarray(0, filled);
}

export function sourceChanged(readBytes: number, expectedBytes: number): Failure {
	return new Failure({
		code: 400,
		message: `The content is not the ${expectedBytes} bytes that were announced: ${readBytes} came so far`,
		description:
			'The file changed while it was uploaded. Upload it again when nothing writes to it any more.',
	});
}
