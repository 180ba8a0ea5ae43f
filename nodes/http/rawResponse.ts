import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createInflateRaw, createUnzip } from 'node:zlib';

import { BodyError, defaultMaxBytes, readResponseBody } from './body';
import type { MemoryReservation } from './responseMemory';
import { getHttpObserver } from './httpObserver';

const decompressionOptions = { chunkSize: 256 * 1024 };

const decompressors: Readonly<Record<string, (bytes: Buffer) => Transform>> = {
	gzip: () => createUnzip(decompressionOptions),
	'x-gzip': () => createUnzip(decompressionOptions),
	br: () => createBrotliDecompress(decompressionOptions),
	// Some servers omit the zlib header, whose first byte ends with the method 8.
	deflate: ([first = 0]) =>
		(first & 0x0f) === 8
			? createUnzip(decompressionOptions)
			: createInflateRaw(decompressionOptions),
};

/**
 * A response with its body as received. The body is decompressed here, because n8n's HTTP client takes truncated compressed data for
 * complete data, and Node takes a body of unknown length for complete if the connection is reset. n8n's helper reports neither.
 */
export class RawResponse {
	/** The socket is null once Node's HTTP agent keeps it for another request. Then the response is complete. */
	#response: { readonly socket: { readonly errored: Error | null } | null } | undefined;
	#encoding = '';

	/** Sends the request and watches for its response. n8n's HTTP client does not decompress the body. */
	async watch<T>(send: () => Promise<T>): Promise<T> {
		return await getHttpObserver().responses.run(this.#receive, send);
	}

	readonly #receive = (response: IncomingMessage): void => {
		this.#response = response;
		const encoding = (response.headers['content-encoding'] ?? '').toLowerCase();
		if (!Object.hasOwn(decompressors, encoding)) return;
		this.#encoding = encoding;
		// n8n's HTTP client decompresses by this header.
		delete response.headers['content-encoding'];
	};

	/** Decompresses the body. @throws BodyError if it is incomplete or too large, or if there is no memory for it */
	async decompress(
		body: Buffer,
		memory: MemoryReservation,
		maxBytes = defaultMaxBytes,
	): Promise<Buffer> {
		if (this.#response?.socket?.errored) throw new BodyError('cutShort');
		const createDecompressor = decompressors[this.#encoding];
		if (createDecompressor === undefined || body.length === 0) return body;
		const decompressor = createDecompressor(body);
		decompressor.end(body);
		return await readResponseBody(decompressor, { maxBytes, memory });
	}
}
