import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createInflateRaw, createUnzip } from 'node:zlib';
import type { ICredentialTestFunctions, IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import { NodeError, type Outcome, appendErrorCode } from '../core/errors';
import { BodyError, type MemoryReservation, maxAnswerBytes, readResponseBody } from './body';

/** Sends a request: one of n8n's helpers, bound to its context. */
export type RequestSender = (request: IHttpRequestOptions) => Promise<FullResponse>;

/** n8n's full response, with its body as a stream or as bytes. */
export interface FullResponse {
	readonly statusCode: number;
	readonly headers: Readonly<Record<string, unknown>>;
	readonly body: Readable | Buffer;
}

/** Options that every request passes to n8n's helper. */
export const baseRequestOptions = {
	// A stream, because only then can an answer be refused before all of it is in memory.
	encoding: 'stream',
	returnFullResponse: true,
	disableFollowRedirect: true,
} as const satisfies Partial<IHttpRequestOptions>;

/** Errors in the words of the called service. */
export interface RequestErrorFactory {
	/** @param outcome `notDone` when nothing was sent */
	createStoppedError(outcome: Outcome): NodeError;
	createTimeoutError(): NodeError;
	toRequestError(error: unknown): NodeError | Promise<NodeError>;
}

/** What happened and what to do, by the reason why a body could not be read. */
export type BodyErrorTexts = Readonly<
	Record<BodyError['reason'], readonly [message: string, description: string]>
>;

/** The request was answered, so the service may have done what it asked for. */
export function bodyErrorToRequestError({ reason, code }: BodyError, texts: BodyErrorTexts): NodeError {
	const [message, description] = texts[reason];
	return new NodeError({
		code: reason === 'noMemory' ? 503 : 502,
		message,
		description: appendErrorCode(description, code),
		outcome: 'unknown',
		retryable: reason !== 'tooLarge' && reason !== 'tooCostly',
	});
}

/** Makes one try, to the last byte of its answer. @param limits its time, and the signal of the execution @throws NodeError */
export async function attemptRequest<T>(
	send: (signal: AbortSignal) => Promise<T>,
	limits: { readonly timeoutMilliseconds: number; readonly signal: AbortSignal | undefined },
	errors: RequestErrorFactory,
): Promise<T> {
	const { timeoutMilliseconds, signal: outer } = limits;
	if (outer?.aborted) throw errors.createStoppedError('notDone');
	const stop = new AbortController();
	const abort = () => {
		stop.abort();
	};
	const timer = setTimeout(abort, timeoutMilliseconds);
	outer?.addEventListener('abort', abort);
	try {
		return await send(stop.signal);
	} catch (error) {
		if (outer?.aborted) throw errors.createStoppedError('unknown');
		if (stop.signal.aborted) throw errors.createTimeoutError();
		throw await errors.toRequestError(error);
	} finally {
		clearTimeout(timer);
		outer?.removeEventListener('abort', abort);
	}
}

/** n8n replaces the signal of a request with the execution's, so the deadline is applied here. */
export function rejectOnAbort(sent: Promise<FullResponse>, signal: AbortSignal): Promise<FullResponse> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => {
			reject(new Error('aborted'));
			sent.then(discardBody, () => undefined);
		});
		sent.then(resolve, reject);
	});
}

/** Discards an answer that nobody will read. */
export function discardBody({ body }: Pick<FullResponse, 'body'>): void {
	if (body instanceof Readable) body.destroy();
}

/** How long the service may take to start its answer. */
export const credentialTestTimeoutSeconds = 15;

export interface CredentialTestRequest {
	readonly method: IHttpRequestMethods;
	readonly uri: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
	readonly rejectUnauthorized?: boolean;
}

export interface CredentialTestResponse extends FullResponse {
	readonly headers: Readonly<Record<string, string | undefined>>;
	/** Has to be read or discarded. */
	readonly body: Readable;
}

/** Sends a request of a credential test through n8n, with its proxies and egress policy. The body is a stream, as it may be long. */
export async function sendCredentialTestRequest(
	helpers: ICredentialTestFunctions['helpers'],
	request: CredentialTestRequest,
): Promise<CredentialTestResponse> {
	return (await helpers.request({
		...request,
		simple: false,
		resolveWithFullResponse: true,
		followRedirect: false,
		useStream: true,
		timeout: credentialTestTimeoutSeconds * 1000,
	})) as CredentialTestResponse;
}

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
 * An answer as received. n8n's HTTP client treats truncated compressed data as complete, and so does Node
 * with a body of unknown length when the connection is reset. The return value of n8n's helper shows neither.
 */
export class RawResponse {
	/** Its socket is null as soon as an agent that keeps connections has it back: then the answer is whole. */
	#response: { readonly socket: { readonly errored: Error | null } | null } | undefined;
	#encoding = '';

	/** Sends the request and watches its answer. The body is returned as received, compressed or not. */
	async watch<T>(send: () => Promise<T>): Promise<T> {
		return await currentResponse.run(this, send);
	}

	receive(response: IncomingMessage): void {
		this.#response = response;
		const encoding = (response.headers['content-encoding'] ?? '').toLowerCase();
		if (!Object.hasOwn(decompressors, encoding)) return;
		this.#encoding = encoding;
		delete response.headers['content-encoding'];
	}

	/** The decompressed body. @throws BodyError if it is incomplete or too large, or if there is no room for it */
	async decompress(body: Buffer, memory: MemoryReservation, maxBytes = maxAnswerBytes): Promise<Buffer> {
		if (this.#response?.socket?.errored) throw new BodyError('cutShort');
		const unpack = decompressors[this.#encoding];
		if (unpack === undefined || body.length === 0) return body;
		const unpacker = unpack(body);
		unpacker.end(body);
		return await readResponseBody(unpacker, { maxBytes, memory });
	}
}

const currentResponse = new AsyncLocalStorage<RawResponse>();

subscribe('http.client.request.start', (message) => {
	const { request } = message as { readonly request: ClientRequest };
	const raw = currentResponse.getStore();
	// A CONNECT goes to a proxy, to reach the service.
	if (raw === undefined || request.method === 'CONNECT') return;
	request.prependOnceListener('response', (response: IncomingMessage) => {
		raw.receive(response);
	});
});
