import { Readable } from 'node:stream';
import type { IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import { answerOf, isFullResponse, type ClientAnswer, type Expected, type FullResponse } from './answer';
import { targetOf, type Bases } from './bases';
import type { FailedCall, SignIn } from './errors';
import { inFlight } from './inFlight';
import { withRetries, type RetryPolicy } from './retry';
import { faultOfThrown, stoppedFault, timeoutFault } from './thrown';

/** What a generated client hands to its `auth` object, as far as we use it. Observed with googleapis 188. */
export interface ClientCall extends Expected {
	/** Google's address with its path parameters expanded and encoded. */
	readonly url?: string | URL;
	readonly method?: string;
	/** Absent, like its serializer, when there is no query. */
	readonly params?: Readonly<Record<string, unknown>>;
	paramsSerializer?(params: Readonly<Record<string, unknown>>): string;
	readonly headers?: Headers | Readonly<Record<string, string>>;
	/** Plain object for JSON (without a content type), text, Buffer, or a stream of unknown length. */
	readonly data?: unknown;
	readonly retryConfig?: {
		readonly httpMethodsToRetry?: readonly string[];
		/** Tries after the first, where that is fewer than the policy's. */
		readonly retry?: number;
	};
	/** Milliseconds, where that is less than the policy's. */
	readonly timeout?: number;
	readonly signal?: AbortSignal | null;
}

/** Signs and sends a request, refreshes the token after a 401: n8n's `httpRequestWithAuthentication`, bound to a credential. */
export type Send = (request: IHttpRequestOptions) => Promise<unknown>;

export interface TransportOptions extends RetryPolicy {
	/** Of one request, from its start to the last byte of its answer. */
	readonly timeoutMilliseconds: number;
	/** Names the credential: at most 5 requests are in flight for it. Unlimited when absent. */
	readonly credentialKey: string | undefined;
	readonly signIn: SignIn;
	/** What the user can do in the operation at hand, by HTTP status; appended to what Google's answer means in general. */
	readonly advice?: Readonly<Record<number, string>>;
}

/** @throws Failure */
export type Transport = (call: ClientCall) => Promise<ClientAnswer>;

interface Prepared {
	readonly request: IHttpRequestOptions;
	readonly call: ClientCall;
	readonly failed: FailedCall;
}

export function createTransport(send: Send, bases: Bases, options: TransportOptions): Transport {
	return async (call) => {
		const own = optionsOf(call, options);
		const prepared = prepare(call, bases, own);
		const { method = 'GET' } = prepared.request;
		const repeatable = [...safeMethods, ...(call.retryConfig?.httpMethodsToRetry ?? [])];
		return await withRetries(
			() => inFlight(own.credentialKey, () => attempt(send, prepared, own)),
			{
				harmless: repeatable.includes(method),
				possible: !(call.data instanceof Readable),
				reading: method === 'GET',
			},
			{ ...own, signal: call.signal ?? own.signal },
		);
	};
}

const safeMethods = ['GET', 'PUT'];

/** A call may be content with less than the policy allows. */
function optionsOf(
	{ retryConfig, timeout = Infinity }: ClientCall,
	options: TransportOptions,
): TransportOptions {
	return {
		...options,
		maxTries: Math.min(options.maxTries, (retryConfig?.retry ?? Infinity) + 1),
		timeoutMilliseconds: Math.min(options.timeoutMilliseconds, timeout),
	};
}

function prepare(
	call: ClientCall,
	bases: Bases,
	{ timeoutMilliseconds, signIn, advice }: TransportOptions,
): Prepared {
	const { url, api } = targetOf(String(call.url), bases);
	const query = call.params && call.paramsSerializer?.(call.params);
	const method = (call.method ?? 'GET').toUpperCase() as IHttpRequestMethods;
	const request: IHttpRequestOptions = {
		method,
		url: query ? `${url}${url.includes('?') ? '&' : '?'}${query}` : url,
		...content(call),
		timeout: timeoutMilliseconds,
		// As a stream, because only then an answer can be refused before all of it is in memory.
		encoding: 'stream',
		returnFullResponse: true,
		// A 401 is left to n8n, which refreshes the token and repeats once.
		ignoreHttpStatusErrors: { ignore: true, except: [401] },
		disableFollowRedirect: true,
		sendCredentialsOnCrossOriginRedirect: false,
	};
	return { request, call, failed: { api, method, url: request.url, signIn, advice } };
}

function content({ headers, data }: ClientCall): Pick<IHttpRequestOptions, 'headers' | 'body'> {
	const plain: Record<string, string> =
		headers instanceof Headers ? Object.fromEntries(headers.entries()) : { ...headers };
	if (data === undefined || data === null) return { headers: plain };
	if (data instanceof Readable || Buffer.isBuffer(data)) return { headers: plain, body: data };
	if (typeof data === 'string') return { headers: plain, body: Buffer.from(data) };
	plain['content-type'] ??= 'application/json';
	// Bytes, because axios parses and trims a text that claims to be JSON.
	return { headers: plain, body: Buffer.from(JSON.stringify(data)) };
}

/** One try. @throws Fault */
async function attempt(
	send: Send,
	{ request, call, failed }: Prepared,
	options: TransportOptions,
): Promise<ClientAnswer> {
	const outer = call.signal ?? options.signal;
	if (outer?.aborted) throw stoppedFault('notDone');
	const stop = new AbortController();
	const abort = () => {
		stop.abort();
	};
	const timer = setTimeout(abort, options.timeoutMilliseconds);
	outer?.addEventListener('abort', abort, { once: true });
	try {
		return await answerOf(await exchange(send, request, stop.signal), call, failed, stop.signal);
	} catch (error) {
		if (outer?.aborted) throw stoppedFault('unknown');
		if (stop.signal.aborted) throw timeoutFault(options.timeoutMilliseconds / 1000);
		throw await faultOfThrown(error, failed);
	} finally {
		clearTimeout(timer);
		outer?.removeEventListener('abort', abort);
	}
}

async function exchange(
	send: Send,
	request: IHttpRequestOptions,
	signal: AbortSignal,
): Promise<FullResponse> {
	// n8n's helper writes to the options and the headers that it is given.
	const sent = () => send({ ...request, headers: { ...request.headers }, abortSignal: signal });
	const response = await unlessAborted(sent(), signal);
	if (response.statusCode !== 401 || request.body instanceof Readable) return response;
	// Before 2.9, n8n hides every status when it is told to hide some; only a 401 that is thrown makes it refresh the token.
	discard(response);
	request.ignoreHttpStatusErrors = false;
	return await unlessAborted(sent(), signal);
}

/** n8n replaces the signal of a request by the execution's: the deadline acts here. */
function unlessAborted(sent: Promise<unknown>, signal: AbortSignal): Promise<FullResponse> {
	return new Promise((resolve, reject) => {
		const abort = () => {
			reject(new Error('aborted'));
			sent.then(discard, () => undefined);
		};
		signal.addEventListener('abort', abort, { once: true });
		const settle = (response: unknown) => {
			if (isFullResponse(response)) resolve(response);
			else reject(new TypeError('n8n returned no full response'));
		};
		sent.then(settle, reject).finally(() => {
			signal.removeEventListener('abort', abort);
		});
	});
}

function discard(response: unknown): void {
	if (isFullResponse(response) && response.body instanceof Readable) response.body.destroy();
}
