import { Readable } from 'node:stream';
import type { IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import { RateLimiter, type RateLimiterSettings } from '../../http/rateLimiter';
import {
	attempt,
	discard,
	type FullResponse,
	plainRequest,
	type Send,
	unlessAborted,
} from '../../http/request';
import { type RetryPolicy, stoppedRequest, withRetries } from '../../http/retry';
import type { FailedCall, Methods, SignIn } from './advice';
import { type Api, type Bases, targetOf } from './baseUrls';
import { errorOfThrown, timeoutError } from './errors';
import { answerOf, type ClientAnswer, type Expected } from './googleResponse';

/** The rate limiters of a process: one for each credential and each quota that Google counts separately. */
export class RateLimiters {
	private readonly limiters = new Map<string, RateLimiter>();
	private readonly settings: RateLimiterSettings | undefined;

	constructor(settings?: RateLimiterSettings) {
		this.settings = settings;
	}

	/** @param credentialKey identifies the credential */
	of(credentialKey: string, api: Api, method: string): RateLimiter {
		const key = `${quotaOf(api, method)} ${credentialKey}`;
		const limiter = this.limiters.get(key) ?? new RateLimiter(this.settings);
		this.limiters.set(key, limiter);
		return limiter;
	}
}

const rateLimiters = new RateLimiters();

/** Sheets and Docs count reads and writes separately. */
function quotaOf(api: Api, method: string): string {
	if (api === 'mail' || api === 'drive') return api;
	return `${api} ${method === 'GET' ? 'reads' : 'writes'}`;
}

/**
 * The part that we use of what a generated client passes to its `auth` object. Observed with googleapis 188.
 */
interface ClientCall extends Expected {
	/** Google's address, with path parameters expanded and encoded. */
	readonly url?: string | URL;
	readonly method?: string;
	/** Absent when there is no query. */
	readonly params?: Readonly<Record<string, unknown>>;
	readonly headers?: Headers | Readonly<Record<string, string>>;
	/** A plain object for JSON (without a content type), text, a Buffer, or a stream of unknown length. */
	readonly data?: unknown;
	readonly retryConfig?: {
		readonly httpMethodsToRetry?: readonly string[];
		/** Retries after the first try, if fewer than the policy allows. */
		readonly retry?: number;
	};
	/** Milliseconds, if less than the policy allows. */
	readonly timeout?: number;
	readonly signal?: AbortSignal | null;
}

export interface TransportOptions extends Omit<RetryPolicy, 'words'> {
	/** For one request, from its start to the last byte of its answer. */
	readonly timeoutMilliseconds: number;
	/** Identifies the credential. All its requests share one rate limiter. */
	readonly credentialKey: string;
	/** Those of the process if absent. */
	readonly rateLimiters?: RateLimiters;
	/** If false, a refusal because of a quota is not retried here. */
	readonly repeatsRefused?: boolean;
	/** Receives what the requests are waiting for. */
	readonly log?: (text: string) => void;
	readonly signIn: SignIn;
	/**
	 * What the user can do in this operation, by HTTP status. It is appended to the general meaning of
	 * Google's answer.
	 */
	readonly advice?: Readonly<Record<number, string>>;
	/** Methods that the operation may call, with their scopes. */
	readonly methods?: Methods;
}

/** @throws NodeError */
export type Transport = (call: ClientCall) => Promise<ClientAnswer>;

interface Prepared {
	readonly request: IHttpRequestOptions;
	readonly call: ClientCall;
	readonly failed: FailedCall;
}

/**
 * @param send signs and sends a request and refreshes the token after a 401: n8n's
 * `httpRequestWithAuthentication`, bound to a credential
 */
export function createTransport(send: Send, bases: Bases, options: TransportOptions): Transport {
	return async (call) => {
		const own = optionsOf(call, options);
		const prepared = prepare(call, bases, own);
		const { method = 'GET' } = prepared.request;
		const repeatable = [...safeMethods, ...(call.retryConfig?.httpMethodsToRetry ?? [])];
		const signal = call.signal ?? own.signal;
		const { log } = options;
		const limiter = (options.rateLimiters ?? rateLimiters).of(own.credentialKey, prepared.failed.api, method);
		const limits = {
			maxWaitMilliseconds: own.maxRetryWaitMilliseconds,
			signal,
			again: own.repeatsRefused,
			onWait: (milliseconds: number) =>
				log?.(
					`Google is rate-limiting requests: waiting ${Math.ceil(milliseconds / 1000)} s before the next request`,
				),
		};
		return await withRetries(
			() => limiter.send(() => tryOnce(send, prepared, own), limits),
			{
				harmless: repeatable.includes(method),
				possible: !(call.data instanceof Readable),
				reading: method === 'GET',
			},
			{ ...own, words: retryWords, signal },
		);
	};
}

export const retryWords = { service: 'Google', nothingDone: 'Nothing was changed.' };

const safeMethods = ['GET', 'PUT'];

/** A call may ask for less than the policy allows. */
function optionsOf(
	{ retryConfig, timeout = Infinity }: ClientCall,
	options: TransportOptions,
): TransportOptions {
	return {
		...options,
		maxTries: Math.min(options.maxTries, (retryConfig?.retry ?? Infinity) + 1),
		...(retryConfig?.retry === 0 && { repeatsRefused: false }),
		timeoutMilliseconds: Math.min(options.timeoutMilliseconds, timeout),
	};
}

function prepare(
	call: ClientCall,
	bases: Bases,
	{ timeoutMilliseconds, signIn, advice, methods = {} }: TransportOptions,
): Prepared {
	const { url, api } = targetOf(String(call.url), bases);
	const query = call.params && queryOf(call.params);
	const method = (call.method ?? 'GET').toUpperCase() as IHttpRequestMethods;
	const request: IHttpRequestOptions = {
		method,
		url: query ? `${url}${url.includes('?') ? '&' : '?'}${query}` : url,
		...content(call),
		timeout: timeoutMilliseconds,
		...plainRequest,
		// A 401 is left to n8n, which refreshes the token and repeats once.
		ignoreHttpStatusErrors: { ignore: true, except: [401] },
		sendCredentialsOnCrossOriginRedirect: false,
	};
	return { request, call, failed: { api, method, url: request.url, signIn, advice, methods } };
}

/**
 * Repeats the name for each value of a list. The clients' own serializer would bring in a library of thirty
 * packages.
 */
function queryOf(params: Readonly<Record<string, unknown>>): string {
	const given = Object.entries(params).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
	return given
		.filter(([, one]) => one !== undefined)
		.map((pair) => pair.map((part) => encodeURIComponent(String(part))).join('='))
		.join('&');
}

function content({ headers, data }: ClientCall): Pick<IHttpRequestOptions, 'headers' | 'body'> {
	const plain: Record<string, string> =
		headers instanceof Headers ? Object.fromEntries(headers.entries()) : { ...headers };
	if (data === undefined || data === null) return { headers: plain };
	if (data instanceof Readable || Buffer.isBuffer(data)) return { headers: plain, body: data };
	if (typeof data === 'string') return { headers: plain, body: Buffer.from(data) };
	plain['content-type'] ??= 'application/json';
	// Bytes, because axios parses and trims text that claims to be JSON.
	return { headers: plain, body: Buffer.from(JSON.stringify(data)) };
}

/** One try. @throws RequestError */
async function tryOnce(
	send: Send,
	{ request, call, failed }: Prepared,
	{ signal, timeoutMilliseconds }: TransportOptions,
): Promise<ClientAnswer> {
	return await attempt(
		async (stop) => await answerOf(await exchange(send, request, stop), call, failed, stop),
		{ timeoutMilliseconds, signal: call.signal ?? signal },
		{
			stopped: stoppedRequest,
			timedOut: () => timeoutError(timeoutMilliseconds / 1000),
			thrown: (error) => errorOfThrown(error, failed),
		},
	);
}

async function exchange(
	send: Send,
	request: IHttpRequestOptions,
	signal: AbortSignal,
): Promise<FullResponse> {
	// A copy, because n8n's helper modifies the options and headers that it receives.
	const sent = () => send({ ...request, headers: { ...request.headers }, abortSignal: signal });
	const response = await unlessAborted(sent(), signal);
	if (response.statusCode !== 401 || request.body instanceof Readable) return response;
	// Before 2.9, n8n hides every status when told to hide some, but it refreshes the token only after a 401
	// is thrown.
	discard(response);
	request.ignoreHttpStatusErrors = false;
	return await unlessAborted(sent(), signal);
}
