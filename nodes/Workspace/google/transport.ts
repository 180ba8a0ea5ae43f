import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import { NodeError, refusal } from '../../core/errors';
import { isRecord } from '../../fields/values';
import { BodyError, jsonOf, MemoryBudget, readBody, readErrorBody } from '../../http/body';
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
import { type Api, apiNames, type FailedCall, type SignIn } from './advice';
import { checkBases, errorOfAnswer, errorOfThrown, timeoutError } from './errors';

interface ClientAnswer {
	readonly status: number;
	/** Names in lower case. */
	readonly headers: FullResponse['headers'];
	/** The object that Google's JSON is; a Buffer if the call asked for `arraybuffer`; undefined for a 308. */
	readonly data: unknown;
}

/** The form in which a call wants its answer. */
interface Expected {
	readonly responseType?: string;
	/** Statuses that count as success: 2xx and 304 by default. */
	validateStatus?(status: number): boolean;
}

/** Reads a response for the generated client, which takes whatever is returned for a success. @throws NodeError, BodyError */
export async function answerOf(
	response: FullResponse,
	expected: Expected,
	call: FailedCall,
	signal: AbortSignal,
): Promise<ClientAnswer> {
	const { statusCode: status, headers, body } = response;
	const succeeded = expected.validateStatus?.(status) ?? (status >= 200 && status < 300);
	if (!succeeded) {
		throw errorOfAnswer({ status, headers, body: await readErrorBody(body, signal) }, call);
	}
	const announcedBytes = Number(headers['content-length']);
	const memory = new MemoryBudget();
	try {
		const bytes = await readBody(body, { signal, announcedBytes, memory });
		// Drive answers a part of a file with 308 and no body.
		const data = status === 308 ? undefined : await dataOf(bytes, expected, call, memory);
		return { status, headers, data };
	} finally {
		memory.release();
	}
}

async function dataOf(
	bytes: Buffer,
	{ responseType }: Expected,
	{ api }: FailedCall,
	memory: MemoryBudget,
): Promise<unknown> {
	if (responseType === 'arraybuffer') return bytes;
	await memory.holdParsed(bytes);
	const data = jsonOf(bytes);
	// Whatever Google returns is an object.
	if (isRecord(data)) return data;
	// n8n's client takes compressed data that was cut off for complete. A proxy's page does not begin like JSON.
	const isCut = data === undefined && /^\s*(?:[[{]|$)/.test(bytes.toString('utf8'));
	if (isCut) throw new BodyError('cutShort');
	const message = `${apiNames[api]} returned a response that is not JSON`;
	throw new NodeError({ code: 502, message, description: checkBases, outcome: 'unknown', retryable: true });
}

/** The base address of each API. A base comes from the credential and may contain a path prefix. */
export type Bases = Readonly<Record<Api, string>>;

export const googleBases: Bases = {
	mail: 'https://gmail.googleapis.com/gmail/v1',
	sheets: 'https://sheets.googleapis.com/v4/spreadsheets',
	docs: 'https://docs.googleapis.com/v1/documents',
	drive: 'https://www.googleapis.com/drive/v3',
};

/**
 * The address that a call of a generated client actually goes to: Google's prefix, or its upload form, is replaced by the base.
 * @throws NodeError 400 for an address outside all bases, because the request would carry the token there
 */
export function targetOf(url: string, bases: Bases): { readonly url: string; readonly api: Api } {
	for (const api of Object.keys(googleBases) as Api[]) {
		const plain = afterPrefix(url, googleBases[api]);
		if (plain !== undefined) return { url: bases[api] + plain, api };
		const upload = afterPrefix(url, uploadBase(googleBases[api], api));
		if (upload !== undefined) return { url: uploadBase(bases[api], api) + upload, api };
	}
	// Drive itself gives out the address of a resumable upload, so it is used unchanged.
	if (new URL(bases.drive).origin === new URL(url).origin) return { url, api: 'drive' };
	throw refusal('A request to a URL outside the API bases of the credential was blocked');
}

/** `/upload` goes before the service's own path if the base ends with it, otherwise right after the host. */
export function uploadBase(base: string, api: Api): string {
	const path = new URL(googleBases[api]).pathname;
	if (base.endsWith(path)) return `${base.slice(0, -path.length)}/upload${path}`;
	const { origin } = new URL(base);
	return `${origin}/upload${base.slice(origin.length)}`;
}

function afterPrefix(url: string, prefix: string): string | undefined {
	if (!url.startsWith(prefix)) return undefined;
	const rest = url.slice(prefix.length);
	return rest === '' || /^[/:?]/.test(rest) ? rest : undefined;
}

export type RateLimiters = ReturnType<typeof createRateLimiters>;

/** One rate limiter for each credential, by its key, and each quota of Google: Sheets and Docs count reads and writes separately. */
export function createRateLimiters(settings?: RateLimiterSettings) {
	const limiters = new Map<string, RateLimiter>();
	return (credentialKey: string, api: Api, method: string): RateLimiter => {
		const isSplit = api === 'sheets' || api === 'docs';
		const quota = isSplit ? `${api} ${method === 'GET' ? 'reads' : 'writes'}` : api;
		const key = `${quota} ${credentialKey}`;
		const limiter = limiters.get(key) ?? new RateLimiter(settings);
		limiters.set(key, limiter);
		return limiter;
	};
}

/** Shared by all executions of the process. */
const rateLimiters = createRateLimiters();

/** The part that we use of what a generated client passes to its `auth` object. Observed with googleapis 188. */
interface ClientCall extends Expected {
	/** Google's address, with path parameters expanded and encoded. */
	readonly url?: string | URL;
	readonly method?: string;
	/** Absent when there is no query. */
	readonly params?: Readonly<Record<string, unknown>>;
	readonly headers?: Headers | Readonly<Record<string, string>>;
	/** A plain object for JSON (without a content type), text, a Buffer, or the stream of a multipart upload. */
	readonly data?: unknown;
	readonly retryConfig?: {
		readonly httpMethodsToRetry?: readonly string[];
		/** Retries after the first try, if fewer than the policy allows. With 0, a refusal because of a quota is not retried either. */
		readonly retry?: number;
	};
	/** Milliseconds, if less than the policy allows. */
	readonly timeout?: number;
}

export interface TransportOptions extends Omit<RetryPolicy, 'words'> {
	/** For one request, from its start to the last byte of its answer. */
	readonly timeoutMilliseconds: number;
	/** Identifies the credential. All its requests share one rate limiter. */
	readonly credentialKey: string;
	/** The shared ones of the process if absent. */
	readonly rateLimiters?: RateLimiters;
	/** Receives a line when requests wait for a rate limit. */
	readonly log?: (text: string) => void;
	readonly signIn: SignIn;
	/** What the user can do in this operation, by HTTP status; appended to the general meaning of Google's answer. */
	readonly advice?: Readonly<Record<number, string>>;
}

/** @throws NodeError */
export type Transport = (call: ClientCall) => Promise<ClientAnswer>;

/**
 * @param send signs and sends a request and refreshes the token after a 401: n8n's `httpRequestWithAuthentication`, bound to a credential
 */
export function createTransport(send: Send, bases: Bases, options: TransportOptions): Transport {
	const { maxTries, maxRetryWaitMilliseconds, signal, signIn, advice, log } = options;
	return async (call) => {
		const { retryConfig: { httpMethodsToRetry = [], retry = Infinity } = {}, timeout = Infinity } = call;
		// A call may ask for less than the policy allows.
		const timeoutMilliseconds = Math.min(options.timeoutMilliseconds, timeout);
		const { url, api } = targetOf(String(call.url), bases);
		const method = (call.method ?? 'GET').toUpperCase() as IHttpRequestMethods;
		const request = await requestOf(call, method, url, timeoutMilliseconds);
		const failed = { api, method, url: request.url, signIn, advice };
		const limiter = (options.rateLimiters ?? rateLimiters)(options.credentialKey, api, method);
		const limits = {
			maxWaitMilliseconds: maxRetryWaitMilliseconds,
			signal,
			again: retry !== 0,
			onWait(milliseconds: number) {
				const seconds = Math.ceil(milliseconds / 1000);
				log?.(`Google is rate-limiting requests: waiting ${seconds} s before the next request`);
			},
		};
		const tryOnce = () =>
			attempt(
				async (stop) => await answerOf(await exchange(send, request, stop), call, failed, stop),
				{ timeoutMilliseconds, signal },
				{
					stopped: stoppedRequest,
					timedOut: () => timeoutError(timeoutMilliseconds / 1000),
					thrown: (error) => errorOfThrown(error, failed),
				},
			);
		return await withRetries(
			() => limiter.send(tryOnce, limits),
			{ harmless: ['GET', 'PUT', ...httpMethodsToRetry].includes(method), reading: method === 'GET' },
			{ maxTries: Math.min(maxTries, retry + 1), maxRetryWaitMilliseconds, signal, words: retryWords },
		);
	};
}

export const retryWords = { service: 'Google', nothingDone: 'Nothing was changed.' };

async function requestOf(
	call: ClientCall,
	method: IHttpRequestMethods,
	url: string,
	timeout: number,
): Promise<IHttpRequestOptions> {
	const query = queryOf(call.params);
	return {
		method,
		url: query ? `${url}${url.includes('?') ? '&' : '?'}${query}` : url,
		...(await content(call)),
		timeout,
		...plainRequest,
		// A 401 is left to n8n, which refreshes the token and repeats once.
		ignoreHttpStatusErrors: { ignore: true, except: [401] },
		sendCredentialsOnCrossOriginRedirect: false,
	};
}

/** Repeats the name for each value of a list. The clients' own serializer would bring in a library of thirty packages. */
function queryOf(params: ClientCall['params'] = {}): string {
	return Object.entries(params)
		.flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
		.filter(([, one]) => one !== undefined)
		.map((pair) => pair.map((part) => encodeURIComponent(String(part))).join('='))
		.join('&');
}

async function content({
	headers,
	data,
}: ClientCall): Promise<Pick<IHttpRequestOptions, 'headers' | 'body'>> {
	const sent: Record<string, string> = Object.fromEntries(new Headers(headers));
	if (data === undefined || data === null) return { headers: sent };
	// A stream could not be sent again: not after a refusal for the quota, nor with a refreshed token.
	if (data instanceof Readable) return { headers: sent, body: await buffer(data) };
	if (Buffer.isBuffer(data)) return { headers: sent, body: data };
	// Bytes, because axios parses and trims text that claims to be JSON.
	if (typeof data === 'string') return { headers: sent, body: Buffer.from(data) };
	sent['content-type'] ??= 'application/json';
	return { headers: sent, body: Buffer.from(JSON.stringify(data)) };
}

async function exchange(
	send: Send,
	request: IHttpRequestOptions,
	signal: AbortSignal,
): Promise<FullResponse> {
	// A copy, because n8n's helper modifies the options and headers that it receives.
	const sent = (more: Partial<IHttpRequestOptions> = {}) =>
		unlessAborted(
			send({ ...request, ...more, headers: { ...request.headers }, abortSignal: signal }),
			signal,
		);
	const response = await sent();
	if (response.statusCode !== 401) return response;
	// Before 2.9, n8n hides every status when told to hide some, but it refreshes the token only after a 401 is thrown.
	discard(response);
	return await sent({ ignoreHttpStatusErrors: false });
}
