import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, inflateRaw, unzip } from 'node:zlib';

import { BodyError, maxAnswerBytes } from './body';
import { codeIn } from './causes';

/** @throws BodyError for what is not whole, or larger than the limit */
type Unpacker = (bytes: Buffer, limitBytes: number) => Promise<Buffer>;

const unpackers: Readonly<Record<string, Unpacker>> = {
	gzip: unpackedBy(unzip),
	'x-gzip': unpackedBy(unzip),
	br: unpackedBy(brotliDecompress),
	deflate: (bytes, limitBytes) => unpackedBy(hasZlibHeader(bytes) ? unzip : inflateRaw)(bytes, limitBytes),
};

/**
 * An answer as it came over the wire. n8n's HTTP client takes compressed data that breaks off for whole, and so does Node with a
 * body that has no length when its connection is reset: neither can be seen from what n8n's helper returns.
 */
export class Wire {
	#response: IncomingMessage | undefined;
	#encoding = '';

	/** Sends a request, whose answer this is. Its body comes as it is, packed or not. */
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

	/** The body, unpacked. @throws BodyError when it is not whole, or too large */
	async whole(body: Buffer, limitBytes = maxAnswerBytes): Promise<Buffer> {
		if (this.#response?.socket.errored) throw new BodyError('cutShort');
		const unpack = unpackers[this.#encoding];
		return unpack === undefined || body.length === 0 ? body : await unpack(body, limitBytes);
	}
}

const current = new AsyncLocalStorage<Wire>();

subscribe('http.client.request.start', (message) => {
	const { request } = message as { readonly request: ClientRequest };
	const wire = current.getStore();
	// To a proxy, for the way to the service.
	if (wire === undefined || request.method === 'CONNECT') return;
	request.prependOnceListener('response', (response: IncomingMessage) => {
		wire.take(response);
	});
});

type Unpack = (
	bytes: Buffer,
	options: { readonly maxOutputLength: number },
	done: (error: Error | null, unpacked: Buffer) => void,
) => void;

function unpackedBy(unpack: Unpack): Unpacker {
	const unpacked = promisify(unpack);
	return (bytes, limitBytes) =>
		unpacked(bytes, { maxOutputLength: limitBytes }).catch((error: unknown) => {
			throw new BodyError(codeIn([error]) === 'ERR_BUFFER_TOO_LARGE' ? 'tooLarge' : 'cutShort');
		});
}

/** Some servers leave it out. */
const hasZlibHeader = (bytes: Buffer) => ((bytes[0] ?? 0) & 0x0f) === 8;
