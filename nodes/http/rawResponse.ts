import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createInflateRaw, createUnzip } from 'node:zlib';

import { BodyError, type Holder, maxAnswerBytes, readBody } from './body';

const options = { chunkSize: 256 * 1024 };

const unpackers: Readonly<Record<string, (bytes: Buffer) => Transform>> = {
	gzip: () => createUnzip(options),
	'x-gzip': () => createUnzip(options),
	br: () => createBrotliDecompress(options),
	deflate: (bytes) => (hasZlibHeader(bytes) ? createUnzip(options) : createInflateRaw(options)),
};

/**
 * An answer as received. n8n's HTTP client treats truncated compressed data as complete, and so does Node
 * with a body of unknown length when the connection is reset. The return value of n8n's helper shows neither.
 */
export class Wire {
	#response: IncomingMessage | undefined;
	#encoding = '';

	/** Sends the request and watches its answer. The body is returned as received, compressed or not. */
	async watch<T>(send: () => Promise<T>): Promise<T> {
		return await current.run(this, send);
	}

	take(response: IncomingMessage): void {
		this.#response = response;
		const encoding = (response.headers['content-encoding'] ?? '').toLowerCase();
		if (!Object.hasOwn(unpackers, encoding)) return;
		this.#encoding = encoding;
		delete response.headers['content-encoding'];
	}

	/**
	 * The decompressed body.
	 * @throws BodyError if it is incomplete or too large, or if there is no room for it
	 */
	async whole(body: Buffer, room: Holder, limitBytes = maxAnswerBytes): Promise<Buffer> {
		if (this.#response?.socket.errored) throw new BodyError('cutShort');
		const unpack = unpackers[this.#encoding];
		if (unpack === undefined || body.length === 0) return body;
		const unpacker = unpack(body);
		unpacker.end(body);
		return await readBody(unpacker, { limitBytes, room });
	}
}

const current = new AsyncLocalStorage<Wire>();

subscribe('http.client.request.start', (message) => {
	const { request } = message as { readonly request: ClientRequest };
	const wire = current.getStore();
	// A CONNECT goes to a proxy, to reach the service.
	if (wire === undefined || request.method === 'CONNECT') return;
	request.prependOnceListener('response', (response: IncomingMessage) => {
		wire.take(response);
	});
});

/** Some servers omit the zlib header. */
const hasZlibHeader = (bytes: Buffer) => ((bytes[0] ?? 0) & 0x0f) === 8;
