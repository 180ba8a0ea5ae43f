import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import { getOrAdd } from '../../core/boundedMap';
import { NodeError, createRefusal } from '../../core/errors';
import { isRecord } from '../../fields/values';
import { BodyError, tryParseJson, readResponseBody, readErrorBody } from '../../http/body';
import { MemoryReservation } from '../../http/responseMemory';
import { RateLimiter, type RateLimiterSettings } from '../../http/rateLimiter';
import { attemptRequest, discardBody, baseRequestOptions, rejectOnAbort } from '../../http/request';
import type { FullResponse, RequestErrorFactory, RequestSender } from '../../http/request';
import { type RetryPolicy, createStoppedRequestError, withRetries } from '../../http/retry';
import { type Api, apiNames, checkBasesAdvice, type RequestFacts, type SignIn } from './advice';
import { createResponseError, toRequestError, createTimeoutError } from './errors';

interface ClientResponse {
	/** The number of the HTTP status. Google's client reads it under this name. */
	readonly status: number;
	/** Names in lower case. */
	readonly headers: FullResponse['headers'];
	/** The object from Google's JSON, or a Buffer if the request asked for `arraybuffer`. Undefined for a 204 or 308. */
	readonly data: unknown;
}

/** What the sender of a request expects of the response. */
interface ExpectedResponse {
	readonly responseType?: string;
	/** Whether a status is a success. Without this function, every 2xx is one. */
	validateStatus?(status: number): boolean;
}

/** Reads a response for Google's client, which does not check it again. @throws NodeError for any error of Google, BodyError */
export async function readGoogleResponse(
	response: FullResponse,
	expected: ExpectedResponse,
	request: RequestFacts,
	signal: AbortSignal,
): Promise<ClientResponse> {
	const { statusCode, headers, body } = response;
	const isSuccess =
		expected.validateStatus?.(statusCode) ?? (statusCode >= 200 && statusCode < 300);
	if (!isSuccess)
		throw createResponseError(
			{ statusCode, headers, body: await readErrorBody(body, signal) },
			request,
		);
	const announcedBytes = Number(headers['content-length']);
	const memory = new MemoryReservation();
	try {
		const bytes = await readResponseBody(body, { signal, announcedBytes, memory });
		// Drive confirms a part of a file by a 308 without a body. A 204 never has a body.
		if (statusCode === 308 || statusCode === 204)
			return { status: statusCode, headers, data: undefined };
		if (expected.responseType === 'arraybuffer')
			return { status: statusCode, headers, data: bytes };
		await memory.reserveForParsing(bytes);
		const data = tryParseJson(bytes);
		// All of Google's methods return an object.
		if (isRecord(data)) return { status: statusCode, headers, data };
		// A text that is empty or begins like JSON was cut off, which n8n's client does not notice in compressed data.
		if (data === undefined && /^\s*(?:[[{]|$)/.test(bytes.toString('utf8')))
			throw new BodyError('cutShort');
	} finally {
		memory.release();
	}
	throw new NodeError({
		code: 502,
		message: `${apiNames[request.api]} returned a response that is not JSON`,
		description: checkBasesAdvice,
		outcome: 'unknown',
		retryable: true,
	});
}

/** The base address of each API. In a credential, it may be the address of a gateway, with a path. */
export type ApiBases = Readonly<Record<Api, string>>;

export const googleApiBases: ApiBases = {
	mail: 'https://gmail.googleapis.com/gmail/v1',
	sheets: 'https://sheets.googleapis.com/v4/spreadsheets',
	docs: 'https://docs.googleapis.com/v1/documents',
	drive: 'https://www.googleapis.com/drive/v3',
};

/**
 * Returns the address to which a request of Google's client is sent: the base replaces Google's own address at the start of the URL.
 * @throws NodeError 400 for an address outside all bases, because the request would carry the token there
 */
export function resolveApiUrl(
	url: string,
	bases: ApiBases,
): { readonly url: string; readonly api: Api } {
	for (const api of Object.keys(googleApiBases) as Api[]) {
		for (const getBase of [(base: string) => base, getUploadBase]) {
			const googleBase = getBase(googleApiBases[api], api);
			const suffix = url.slice(googleBase.length);
			// Google's own address must end here, or go on with another part: `/v10` is not below `/v1`.
			const isBelowBase = url.startsWith(googleBase) && /^(?:$|[/:?])/.test(suffix);
			if (isBelowBase) return { url: getBase(bases[api], api) + suffix, api };
		}
	}
	// The address of a resumable upload comes from Drive, so it is used unchanged.
	if (new URL(bases.drive).origin === new URL(url).origin) return { url, api: 'drive' };
	throw createRefusal('A request to a URL outside the API bases of the credential was blocked');
}

/** Returns the base for uploads. `/upload` goes before Google's own path if the base ends with that path. Otherwise it goes after the host. */
export function getUploadBase(base: string, api: Api): string {
	const path = new URL(googleApiBases[api]).pathname;
	if (base.endsWith(path)) return `${base.slice(0, -path.length)}/upload${path}`;
	const { origin } = new URL(base);
	return `${origin}/upload${base.slice(origin.length)}`;
}

export type RateLimiterFinder = ReturnType<typeof createRateLimiterFinder>;

/** Creates a function that finds a request's rate limiter: there is one for each credential and each of Google's quotas. */
export function createRateLimiterFinder(settings?: RateLimiterSettings) {
	const limiters = new Map<string, RateLimiter>();
	return (credentialKey: string, api: Api, method: string): RateLimiter => {
		// Sheets and Docs count reads and writes separately.
		const hasReadQuota = api === 'sheets' || api === 'docs';
		const quota = hasReadQuota ? `${api} ${method === 'GET' ? 'reads' : 'writes'}` : api;
		return getOrAdd(limiters, `${quota} ${credentialKey}`, () => new RateLimiter(settings));
	};
}

const findSharedRateLimiter = createRateLimiterFinder();

/** The options that Google's client passes to its `auth` object, as far as we use them. Observed with googleapis 188. */
interface ClientRequest extends ExpectedResponse {
	/** Google's address, with path parameters expanded and encoded. */
	readonly url?: string | URL;
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
	readonly headers?: Headers | Readonly<Record<string, string>>;
	/** A plain object to send as JSON, a text, a Buffer, or the stream of a multipart upload. */
	readonly data?: unknown;
	readonly retryConfig?: {
		readonly httpMethodsToRetry?: readonly string[];
		/** How often the request may be repeated, if less often than the policy allows. With 0, it is not repeated even after a rate limit. */
		readonly retry?: number;
	};
	/** In milliseconds, if shorter than the policy allows. */
	readonly timeout?: number;
}

export interface TransportOptions extends Omit<RetryPolicy, 'words'> {
	/** The limit for one request, from its start to the last byte of its response. */
	readonly timeoutMilliseconds: number;
	/** Identifies the credential. All requests with it share the same rate limiters. */
	readonly credentialKey: string;
	/** If absent, the rate limiters that all executions of the process share are used. */
	readonly findRateLimiter?: RateLimiterFinder;
	/** Receives a line when a request waits for a rate limiter. */
	readonly log?: (text: string) => void;
	readonly signIn: SignIn;
	/** What the user can do in this operation, by HTTP status. It is appended to the general advice. */
	readonly adviceByStatus?: Readonly<Record<number, string>>;
	/** The services that this advice is about. If absent, it is about all services. */
	readonly adviceApis?: readonly Api[];
}

/** Sends a request of Google's client and returns the response. @throws NodeError */
export type Transport = (request: ClientRequest) => Promise<ClientResponse>;

/** @param send n8n's `httpRequestWithAuthentication` for a credential: it adds the token, and refreshes it after a 401 */
export function createTransport(
	send: RequestSender,
	bases: ApiBases,
	options: TransportOptions,
): Transport {
	const { maxRetryWaitMilliseconds, signal, signIn, adviceApis, log } = options;
	const findRateLimiter = options.findRateLimiter ?? findSharedRateLimiter;
	return async (clientRequest) => {
		const { retryConfig = {}, timeout = Infinity } = clientRequest;
		const { httpMethodsToRetry = [], retry: maxRepeats = Infinity } = retryConfig;
		const timeoutMilliseconds = Math.min(options.timeoutMilliseconds, timeout);
		const { url, api } = resolveApiUrl(String(clientRequest.url), bases);
		const method = (clientRequest.method ?? 'GET').toUpperCase() as IHttpRequestMethods;
		const request = await buildGoogleRequest(
			clientRequest,
			{ method, timeout: timeoutMilliseconds },
			url,
		);
		const adviceByStatus =
			adviceApis?.includes(api) === false ? undefined : options.adviceByStatus;
		const facts = { api, method, url: request.url, signIn, adviceByStatus };
		const limiter = findRateLimiter(options.credentialKey, api, method);
		const logPause = (milliseconds: number) => {
			const seconds = Math.ceil(milliseconds / 1000);
			log?.(`Google is rate-limiting requests: waiting ${seconds} s before the next request`);
		};
		const sendOptions = {
			maxRetryWaitMilliseconds,
			signal,
			mayResend: maxRepeats > 0,
			onPause: logPause,
		};
		const fetchResponse = async (attemptSignal: AbortSignal) => {
			const response = await sendWithRetryAfter401(send, request, attemptSignal);
			return await readGoogleResponse(response, clientRequest, facts, attemptSignal);
		};
		const errorFactory: RequestErrorFactory = {
			createStoppedError: createStoppedRequestError,
			createTimeoutError: () => createTimeoutError(timeoutMilliseconds / 1000),
			toRequestError: (error) => toRequestError(error, facts),
		};
		const attempt = () =>
			attemptRequest(fetchResponse, { timeoutMilliseconds, signal }, errorFactory);
		const isRepeatable = ['GET', 'PUT', ...httpMethodsToRetry].includes(method);
		const maxAttempts = Math.min(options.maxAttempts, 1 + maxRepeats);
		return await withRetries(
			() => limiter.send(attempt, sendOptions),
			{ isRepeatable, mayChange: method !== 'GET' },
			{ maxAttempts, maxRetryWaitMilliseconds, signal, words: googleRetryWords },
		);
	};
}

export const googleRetryWords = { service: 'Google', nothingDone: 'Nothing was changed.' };

async function buildGoogleRequest(
	{ params, headers, data }: ClientRequest,
	methodAndTimeout: Pick<IHttpRequestOptions, 'method' | 'timeout'>,
	url: string,
): Promise<IHttpRequestOptions> {
	const query = buildQuery(params);
	const isJson = isRecord(data) && !Buffer.isBuffer(data) && !(data instanceof Readable);
	return {
		...methodAndTimeout,
		url: query ? `${url}${url.includes('?') ? '&' : '?'}${query}` : url,
		headers: {
			...(isJson && { 'content-type': 'application/json' }),
			...Object.fromEntries(new Headers(headers)),
		},
		body: await toBytes(data),
		...baseRequestOptions,
		// After a 401, n8n itself refreshes the token and repeats the request once.
		ignoreHttpStatusErrors: { ignore: true, except: [401] },
		sendCredentialsOnCrossOriginRedirect: false,
	};
}

/** Converts a body to bytes. A stream could not be sent a second time. A text whose type is JSON would be parsed and trimmed by axios. */
async function toBytes(data: unknown): Promise<Buffer | undefined> {
	if (data === undefined || data === null) return undefined;
	if (data instanceof Readable) return await buffer(data);
	if (Buffer.isBuffer(data)) return data;
	return Buffer.from(typeof data === 'string' ? data : JSON.stringify(data));
}

/** Builds the query. A list becomes one pair per value. The serializer of Google's clients would add a library of thirty packages. */
function buildQuery(params: ClientRequest['params'] = {}): string {
	const encode = (part: unknown) => encodeURIComponent(String(part));
	const pairs = Object.entries(params).flatMap(([name, value]) => {
		const elements = [value].flat().filter((element) => element !== undefined);
		return elements.map((element) => `${encode(name)}=${encode(element)}`);
	});
	return pairs.join('&');
}

/** Sends a request. If n8n returns a 401, sends the request again in a way that makes n8n refresh the token. */
async function sendWithRetryAfter401(
	send: RequestSender,
	request: IHttpRequestOptions,
	signal: AbortSignal,
) {
	// Each request gets a copy, because n8n's helper modifies the options and headers that it receives.
	const sendCopy = (overrides: Partial<IHttpRequestOptions> = {}) => {
		const copy = {
			...request,
			...overrides,
			headers: { ...request.headers },
			abortSignal: signal,
		};
		return rejectOnAbort(send(copy), signal);
	};
	const response = await sendCopy();
	if (response.statusCode !== 401) return response;
	// n8n before 2.9 ignores `except` and returns a 401. It refreshes the token only if a 401 throws, so the second request lets it throw.
	discardBody(response);
	return await sendCopy({ ignoreHttpStatusErrors: false });
}
