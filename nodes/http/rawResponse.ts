import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createInflateRaw, createUnzip } from 'node:zlib';

import { BodyError, maxAnswerBytes, readResponseBody } from './body';
import type { MemoryReservation } from './answerMemory';
import { observeHttpClient } from './httpObserver';

const decompressionOptions = { chunkSize: 256 * 1024 };

const decompressors: Readonly<Record<string, (bytes: Buffer) => Transform>> = {
	gzip: () => createUnzip(decompressionOptions),
	'x-gzip': () => createUnzip(decompressionOptions),
	br: () => createBrotliDecompress(decompressionOptions),
	// Some servers omit the zlib header.
	deflate: ([first = 0]) =>
		(first & 0x0f) === 8 ? createUnzip(decompressionOptions) : createInflateRaw(decompressionOptions),
};

/**
 * An answer with its body as received. Decompresses it, because n8n's HTTP client treats truncated compressed data as complete, and so
 * does Node with a body of unknown length if the connection is reset. The return value of n8n's helper shows neither.
 */
export class RawResponse {
	/** The socket is null once an agent that keeps connections has taken it back. Then the answer is complete. */
	#response: { readonly socket: { readonly errored: Error | null } | null } | undefined;
	#encoding = '';

	/** Sends the request and watches its answer. Returns the body as received, compressed or not. */
	async watch<T>(send: () => Promise<T>): Promise<T> {
		return await observeHttpClient().responses.run(this.#receive, send);
	}

	readonly #receive = (response: IncomingMessage): void => {
		this.#response = response;
		const encoding = (response.headers['content-encoding'] ?? '').toLowerCase();
		if (!Object.hasOwn(decompressors, encoding)) return;
		this.#encoding = encoding;
		delete response.headers['content-encoding'];
	};

	/** Decompresses the body. @throws BodyError if it is incomplete or too large, or if there is no memory for it */
	async decompress(body: Buffer, memory: MemoryReservation, maxBytes = maxAnswerBytes): Promise<Buffer> {
		if (this.#response?.socket?.errored) throw new BodyError('cutShort');
		const buildDecompressor = decompressors[this.#encoding];
		if (buildDecompressor === undefined || body.length === 0) return body;
		const decompressor = buildDecompressor(body);
		decompressor.end(body);
		return await readResponseBody(decompressor, { maxBytes, memory });
	}
}
