import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import { NodeError, createRefusal } from '../../core/errors';
import { isRecord } from '../../fields/values';
import { BodyError, tryParseJson, readResponseBody, readErrorBody } from '../../http/body';
import { MemoryReservation } from '../../http/answerMemory';
import { RateLimiter, type RateLimiterSettings } from '../../http/rateLimiter';
import {
	attemptRequest,
	discardBody,
	type FullResponse,
	baseRequestOptions,
	type RequestSender,
	rejectOnAbort,
} from '../../http/request';
import { type RetryPolicy, createStoppedRequestError, withRetries } from '../../http/retry';
import { type Api, apiNames, checkBasesAdvice, type FailedCall, type SignIn } from './advice';
import { createResponseError, toRequestError, createTimeoutError } from './errors';

interface ClientResponse {
	readonly status: number;
	/** Names in lower case. */
	readonly headers: FullResponse['headers'];
	/** The object parsed from Google's JSON; a Buffer if the call asked for `arraybuffer`; undefined for a 204 or 308. */
	readonly data: unknown;
}

/** The form in which a call wants its answer. */
interface ExpectedResponse {
	readonly responseType?: string;
	/** Statuses that count as success: 2xx and 304 by default. */
	validateStatus?(status: number): boolean;
}

/** Reads a response for the generated client, which takes whatever is returned for a success. @throws NodeError, BodyError */
export async function readGoogleResponse(
	response: FullResponse,
	expected: ExpectedResponse,
	call: FailedCall,
	signal: AbortSignal,
): Promise<ClientResponse> {
	const { statusCode: status, headers, body } = response;
	const isSuccess = expected.validateStatus?.(status) ?? (status >= 200 && status < 300);
	if (!isSuccess) {
		throw createResponseError({ status, headers, body: await readErrorBody(body, signal) }, call);
	}
	const announcedBytes = Number(headers['content-length']);
	const memory = new MemoryReservation();
	try {
		const bytes = await readResponseBody(body, { signal, announcedBytes, memory });
		// Drive answers a part of a file with 308 and no body. A 204 never has one.
		if (status === 308 || status === 204) return { status, headers, data: undefined };
		if (expected.responseType === 'arraybuffer') return { status, headers, data: bytes };
		await memory.reserveForParsing(bytes);
		const data = tryParseJson(bytes);
		// Whatever Google returns is an object.
		if (isRecord(data)) return { status, headers, data };
		// Text that begins like JSON was cut off, which n8n's client does not notice in compressed data. A proxy's page begins differently.
		if (data === undefined && /^\s*(?:[[{]|$)/.test(bytes.toString('utf8'))) throw new BodyError('cutShort');
	} finally {
		memory.release();
	}
	throw new NodeError({
		code: 502,
		message: `${apiNames[call.api]} returned a response that is not JSON`,
		description: checkBasesAdvice,
		outcome: 'unknown',
		retryable: true,
	});
}

/** The base address of each API. A base comes from the credential and may contain a path prefix. */
export type ApiBases = Readonly<Record<Api, string>>;

export const googleApiBases: ApiBases = {
	mail: 'https://gmail.googleapis.com/gmail/v1',
	sheets: 'https://sheets.googleapis.com/v4/spreadsheets',
	docs: 'https://docs.googleapis.com/v1/documents',
	drive: 'https://www.googleapis.com/drive/v3',
};

/**
 * The address that a call of a generated client actually goes to: Google's prefix, or its upload form, is replaced by the base.
 * @throws NodeError 400 for an address outside all bases, because the request would carry the token there
 */
export function resolveApiUrl(url: string, bases: ApiBases): { readonly url: string; readonly api: Api } {
	for (const api of Object.keys(googleApiBases) as Api[]) {
		for (const build of [(base: string) => base, getUploadBase]) {
			const prefix = build(googleApiBases[api], api);
			const rest = url.slice(prefix.length);
			if (url.startsWith(prefix) && /^(?:$|[/:?])/.test(rest))
				return { url: build(bases[api], api) + rest, api };
		}
	}
	// Drive itself gives out the address of a resumable upload, so it is used unchanged.
	if (new URL(bases.drive).origin === new URL(url).origin) return { url, api: 'drive' };
	throw createRefusal('A request to a URL outside the API bases of the credential was blocked');
}

/** `/upload` goes before the service's own path if the base ends with it, otherwise right after the host. */
export function getUploadBase(base: string, api: Api): string {
	const path = new URL(googleApiBases[api]).pathname;
	if (base.endsWith(path)) return `${base.slice(0, -path.length)}/upload${path}`;
	const { origin } = new URL(base);
	return `${origin}/upload${base.slice(origin.length)}`;
}

export type RateLimiters = ReturnType<typeof createRateLimiters>;

/** One rate limiter for each credential, by its key, and each quota of Google: Sheets and Docs count reads and writes separately. */
export function createRateLimiters(settings?: RateLimiterSettings) {
	const limiters = new Map<string, RateLimiter>();
	return (credentialKey: string, api: Api, method: string): RateLimiter => {
		const countsReadsApart = api === 'sheets' || api === 'docs';
		const quota = countsReadsApart ? `${api} ${method === 'GET' ? 'reads' : 'writes'}` : api;
		const key = `${quota} ${credentialKey}`;
		const limiter = limiters.get(key) ?? new RateLimiter(settings);
		limiters.set(key, limiter);
		return limiter;
	};
}

/** Shared by all executions of the process. */
const rateLimiters = createRateLimiters();

/** The part that we use of what a generated client passes to its `auth` object. Observed with googleapis 188. */
interface ClientCall extends ExpectedResponse {
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
	/** The services that this advice is about; all if absent. */
	readonly adviceApis?: readonly Api[];
}

/** @throws NodeError */
export type Transport = (call: ClientCall) => Promise<ClientResponse>;

/**
 * @param send signs and sends a request and refreshes the token after a 401: n8n's `httpRequestWithAuthentication`, bound to a credential
 */
export function createTransport(send: RequestSender, bases: ApiBases, options: TransportOptions): Transport {
	const { maxTries, maxRetryWaitMilliseconds, signal, signIn, adviceApis, log } = options;
	return async (call) => {
		const { retryConfig: { httpMethodsToRetry = [], retry = Infinity } = {}, timeout = Infinity } = call;
		// A call may ask for less than the policy allows.
		const timeoutMilliseconds = Math.min(options.timeoutMilliseconds, timeout);
		const { url, api } = resolveApiUrl(String(call.url), bases);
		const method = (call.method ?? 'GET').toUpperCase() as IHttpRequestMethods;
		const request = await buildGoogleRequest(call, { method, timeout: timeoutMilliseconds }, url);
		const advice = adviceApis?.includes(api) === false ? undefined : options.advice;
		const failedCall = { api, method, url: request.url, signIn, advice };
		const limiter = (options.rateLimiters ?? rateLimiters)(options.credentialKey, api, method);
		const limits = {
			maxWaitMilliseconds: maxRetryWaitMilliseconds,
			signal,
			mayResend: retry !== 0,
			onWait: (milliseconds: number) =>
				log?.(
					`Google is rate-limiting requests: waiting ${Math.ceil(milliseconds / 1000)} s before the next request`,
				),
		};
		const attemptOnce = () =>
			attemptRequest(
				async (stop) =>
					await readGoogleResponse(await sendAndRefresh(send, request, stop), call, failedCall, stop),
				{ timeoutMilliseconds, signal },
				{
					createStoppedError: createStoppedRequestError,
					createTimeoutError: () => createTimeoutError(timeoutMilliseconds / 1000),
					toRequestError: (error) => toRequestError(error, failedCall),
				},
			);
		return await withRetries(
			() => limiter.send(attemptOnce, limits),
			{ isHarmless: ['GET', 'PUT', ...httpMethodsToRetry].includes(method), isRead: method === 'GET' },
			{ maxTries: Math.min(maxTries, retry + 1), maxRetryWaitMilliseconds, signal, words: retryWords },
		);
	};
}

export const retryWords = { service: 'Google', nothingDone: 'Nothing was changed.' };

async function buildGoogleRequest(
	{ params, headers, data }: ClientCall,
	about: Pick<IHttpRequestOptions, 'method' | 'timeout'>,
	url: string,
): Promise<IHttpRequestOptions> {
	const query = buildQuery(params);
	const isJson = isRecord(data) && !Buffer.isBuffer(data) && !(data instanceof Readable);
	return {
		...about,
		url: query ? `${url}${url.includes('?') ? '&' : '?'}${query}` : url,
		headers: {
			...(isJson && { 'content-type': 'application/json' }),
			...Object.fromEntries(new Headers(headers)),
		},
		body: await toBytes(data),
		...baseRequestOptions,
		// A 401 is left to n8n, which refreshes the token and repeats once.
		ignoreHttpStatusErrors: { ignore: true, except: [401] },
		sendCredentialsOnCrossOriginRedirect: false,
	};
}

/** Bytes, because a stream could not be sent again, and axios parses and trims text that claims to be JSON. */
async function toBytes(data: unknown): Promise<Buffer | undefined> {
	if (data === undefined || data === null) return undefined;
	if (data instanceof Readable) return await buffer(data);
	if (Buffer.isBuffer(data)) return data;
	return Buffer.from(typeof data === 'string' ? data : JSON.stringify(data));
}

/** Repeats the name for each value of a list. The clients' own serializer would bring in a library of thirty packages. */
function buildQuery(params: ClientCall['params'] = {}): string {
	return Object.entries(params)
		.flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
		.filter(([, one]) => one !== undefined)
		.map((pair) => pair.map((part) => encodeURIComponent(String(part))).join('='))
		.join('&');
}

async function sendAndRefresh(send: RequestSender, request: IHttpRequestOptions, signal: AbortSignal) {
	// A copy, because n8n's helper modifies the options and headers that it receives.
	const sendCopy = (more: Partial<IHttpRequestOptions> = {}) =>
		rejectOnAbort(
			send({ ...request, ...more, headers: { ...request.headers }, abortSignal: signal }),
			signal,
		);
	const response = await sendCopy();
	if (response.statusCode !== 401) return response;
	// Before 2.9, n8n hides every status when told to hide some, but it refreshes the token only after a 401 is thrown.
	discardBody(response);
	return await sendCopy({ ignoreHttpStatusErrors: false });
}
