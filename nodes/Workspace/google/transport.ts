import { Readable } from 'node:stream';
import type { IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import { getOrAdd } from '../../core/maps';
import { NodeError, createRefusal } from '../../core/errors';
import { canParse } from '../../untrusted/jsonParts';
import { isRecord } from '../../fields/values';
import { attemptRequest, awaitResponse, baseRequestOptions, discardBody } from '../../http/attempt';
import type { FullResponse, RequestSender } from '../../http/attempt';
import {
	BodyError,
	endsLikeJsonObject,
	mayBeJson,
	tryParseJson,
	readBody,
	readBodyStart,
} from '../../http/body';
import { Gate, type GateSettings } from '../../http/gate';
import { type RepeatEffect, withRetries } from '../../http/loop';
import { checkBasesAdvice, type OperationAdvice, type RequestFacts } from './advice';
import { type Api, type ApiBases, apiNames, googleApiBases } from './endpoints';
import { createResponseError, findOwnResponse, googleTexts, toRequestError } from './errors';
import type { SignIn } from './scopes';

/** What the sender of a request expects of the response. */
interface ExpectedResponse {
	readonly responseType?: string;
	/** Whether a status is a success. Without this function, every 2xx is one. */
	readonly validateStatus?: (status: number) => boolean;
}

/**
 * Reads a response for Google's client, which does not check it again.
 * @returns as `data`, the object from Google's JSON. A Buffer if the request asked for
 * `arraybuffer`, or for `text`: this is JSON that the caller has parsed in another thread.
 * Undefined for a 204 or 308.
 * @throws NodeError for any error of Google, BodyError
 */
async function readGoogleResponse(
	response: FullResponse,
	{ validateStatus = isSuccess, responseType }: ExpectedResponse,
	request: RequestFacts,
	signal: AbortSignal,
) {
	const { statusCode: status, headers } = response;
	if (!validateStatus(status))
		throw createResponseError(
			{ statusCode: status, headers, body: await readBodyStart(response.body) },
			request,
		);
	const bytes = await readBody(response, signal);
	// Drive confirms a part of a file by a 308 without a body. A 204 never has a body.
	if (status === 308 || status === 204) return { status, headers, data: undefined };
	if (responseType === 'arraybuffer') return { status, headers, data: bytes };
	const data = responseType === 'text' ? checkEnds(bytes) : parseOrThrow(bytes);
	// All of Google's methods return an object.
	if (isRecord(data)) return { status, headers, data };
	// It was cut off, which n8n's client does not notice in compressed data.
	if (data === undefined && mayBeJson(bytes)) throw new BodyError('cutShort');
	throw new NodeError({
		code: 502,
		message: `${apiNames[request.api]} returned a response that is not JSON`,
		description: checkBasesAdvice,
		outcome: 'unknown',
		retryable: true,
	});
}

export const isSuccess = (statusCode: number) => statusCode >= 200 && statusCode < 300;

/**
 * Of JSON that another thread parses, only the two ends are looked at.
 * @returns undefined if it is no whole object
 */
function checkEnds(bytes: Buffer): Buffer | undefined {
	return mayBeJson(bytes) && endsLikeJsonObject(bytes) ? bytes : undefined;
}

/** @returns undefined for anything but JSON @throws BodyError for JSON that would block n8n */
function parseOrThrow(bytes: Buffer): unknown {
	if (!canParse(bytes)) throw new BodyError('tooCostly');
	return tryParseJson(bytes);
}

/**
 * Returns the address to which a request of Google's client is sent: the base replaces Google's own
 * address at the start of the URL.
 * @throws NodeError 400 for an address outside all bases, because the request would carry the token
 * there
 */
export function resolveApiUrl(
	url: string,
	bases: ApiBases,
): { readonly url: string; readonly api: Api } {
	for (const api of Object.keys(googleApiBases) as Api[]) {
		for (const getBase of [(base: string) => base, getUploadBase]) {
			const googleBase = getBase(googleApiBases[api], api);
			const suffix = url.slice(googleBase.length);
			// Google's own address must end here, or go on with another part: `/v10` is not below
			// `/v1`.
			const isBelowBase = url.startsWith(googleBase) && /^(?:$|[/:?])/.test(suffix);
			if (isBelowBase) return { url: getBase(bases[api], api) + suffix, api };
		}
	}
	// The address of a resumable upload comes from Drive, so it is used unchanged.
	if (new URL(bases.drive).origin === new URL(url).origin) return { url, api: 'drive' };
	throw createRefusal('A request to a URL outside the API bases of the credential was blocked');
}

/**
 * Returns the base for uploads. `/upload` goes before Google's own path if the base ends with that
 * path. Otherwise it goes after the host.
 */
export function getUploadBase(base: string, api: Api): string {
	const path = new URL(googleApiBases[api]).pathname;
	if (base.endsWith(path)) return `${base.slice(0, -path.length)}/upload${path}`;
	const { origin } = new URL(base);
	return `${origin}/upload${base.slice(origin.length)}`;
}

export type GateFinder = ReturnType<typeof createGateFinder>;

/**
 * Creates a function that finds a request's gate: there is one for each credential and each of
 * Google's quotas.
 */
export function createGateFinder(settings?: GateSettings) {
	const gates = new Map<string, Gate>();
	return (credentialKey: string, api: Api, method: string): Gate => {
		// Sheets and Docs count reads and writes separately.
		const hasReadQuota = api === 'sheets' || api === 'docs';
		const isRead = hasReadQuota && method === 'GET';
		const key = JSON.stringify([credentialKey, api, isRead]);
		return getOrAdd(gates, key, () => new Gate(settings));
	};
}

const findSharedGate = createGateFinder();

type QueryValue = string | number | boolean | undefined;

/**
 * The options that Google's client passes to its `auth` object, as far as we use them. Observed
 * with googleapis 188.
 */
interface ClientRequest extends ExpectedResponse {
	/** Google's address, with path parameters expanded and encoded. */
	readonly url?: string | URL;
	readonly method?: IHttpRequestMethods;
	readonly params?: Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
	readonly headers?: Headers | Readonly<Record<string, string>>;
	/** A plain object to send as JSON, a text, a Buffer, or the stream of a multipart upload. */
	readonly data?: unknown;
	readonly retryConfig?: {
		readonly httpMethodsToRetry?: readonly string[];
		/** With 0, the request is not repeated, not even after a rate limit. */
		readonly retry?: 0;
	};
	/** In milliseconds, if shorter than the limit of the transport. */
	readonly timeout?: number;
}

export interface TransportOptions {
	/** The limit for the sum of all pauses of a request. */
	readonly maxRetryWaitMilliseconds: number;
	/** The limit for one attempt, from its start to the last byte of its response. */
	readonly timeoutMilliseconds: number;
	/** Is aborted when the execution is stopped. */
	readonly signal: AbortSignal | undefined;
	/** Identifies the credential. All requests with it share the same gates. */
	readonly credentialKey: string;
	/** If absent, the gates that all executions of the process share are used. */
	readonly findGate?: GateFinder;
	/** Receives a line when a request pauses because of a quota. */
	readonly log?: (text: string) => void;
	readonly signIn: SignIn;
	/** It is appended to the general advice. */
	readonly operationAdvice?: OperationAdvice;
}

export type Transport = ReturnType<typeof createTransport>;

/**
 * @param send n8n's `httpRequestWithAuthentication` for a credential: it adds the token, and
 * refreshes it after a 401
 */
export function createTransport(send: RequestSender, bases: ApiBases, options: TransportOptions) {
	const { credentialKey, findGate = findSharedGate, log } = options;
	const onPause = (milliseconds: number) => {
		const seconds = Math.ceil(milliseconds / 1000);
		log?.(`Google is rate-limiting requests: waiting ${seconds} s before the next request`);
	};
	const prepare = (request: ClientRequest) => prepareRequest(send, bases, options, request);

	/**
	 * Repeats an attempt, by default one to write to Drive, which may consist of several requests.
	 * @throws NodeError
	 */
	async function repeat<T>(
		attempt: () => Promise<T>,
		effect: RepeatEffect,
		api: Api = 'drive',
		method = 'PUT',
	) {
		const gate = findGate(credentialKey, api, method);
		const policy = { ...options, texts: googleTexts, gate, onPause };
		return await withRetries(attempt, effect, policy);
	}
	return {
		repeat,
		/**
		 * Sends a request of Google's client, and repeats it as far as that does no harm.
		 * @throws NodeError
		 */
		request: async (clientRequest: ClientRequest) => {
			const { api, method, attempt } = await prepare(clientRequest);
			return await repeat(attempt, getRepeatEffect(method, clientRequest), api, method);
		},
		/** Sends a request once, as a part of what `repeat` repeats. @throws NodeError */
		async requestOnce(clientRequest: ClientRequest) {
			const { attempt } = await prepare(clientRequest);
			return await attempt();
		},
	};
}

/** Prepares a request of Google's client, so that it can be sent any number of times. */
async function prepareRequest(
	send: RequestSender,
	bases: ApiBases,
	options: TransportOptions,
	clientRequest: ClientRequest,
) {
	const { url, api } = resolveApiUrl(String(clientRequest.url), bases);
	const { method = 'GET', timeout = Infinity } = clientRequest;
	const timeoutMilliseconds = Math.min(options.timeoutMilliseconds, timeout);
	const request = {
		...(await buildGoogleRequest(clientRequest, url)),
		method,
		timeout: timeoutMilliseconds,
	};
	const { signIn, operationAdvice } = options;
	const facts = { api, method, url: request.url, signIn, operationAdvice };
	const sendOnce = async (signal: AbortSignal) => {
		const response = await sendWithToken(send, request, signal).catch((error: unknown) => {
			const thrown = findOwnResponse(error, facts);
			if (thrown) return thrown;
			throw error;
		});
		return await readGoogleResponse(response, clientRequest, facts, signal);
	};
	const settings = {
		timeoutMilliseconds,
		signal: options.signal,
		texts: googleTexts,
		toRequestError: (error: unknown) => toRequestError(error, facts),
	};
	return { api, method, attempt: () => attemptRequest(sendOnce, settings) };
}

async function buildGoogleRequest(
	{ params, headers, data }: ClientRequest,
	url: string,
): Promise<IHttpRequestOptions> {
	const isJson = isRecord(data) && !Buffer.isBuffer(data) && !(data instanceof Readable);
	const sentHeaders: Record<string, string> = Object.fromEntries(new Headers(headers));
	if (isJson) sentHeaders['content-type'] ??= 'application/json';
	return {
		url: addQuery(url, params),
		headers: sentHeaders,
		body: await toBytes(data),
		...baseRequestOptions,
		ignoreHttpStatusErrors: { ignore: true, except: [401] },
		sendCredentialsOnCrossOriginRedirect: false,
	};
}

function getRepeatEffect(
	method: string,
	{ params, retryConfig: { httpMethodsToRetry = [], retry } = {} }: ClientRequest,
): RepeatEffect {
	// The start of a resumable upload has no bytes, and creates no file.
	const hasVisibleEffect = method !== 'GET' && params?.['uploadType'] !== 'resumable';
	if (retry === 0) return { repeat: 'never', hasVisibleEffect };
	const isHarmless = ['GET', 'PUT', ...httpMethodsToRetry].includes(method);
	return { repeat: isHarmless ? 'always' : 'ifNotDone', hasVisibleEffect };
}

/**
 * Converts a body to bytes. A stream could not be sent a second time. A text whose type is JSON
 * would be parsed and trimmed by axios.
 */
async function toBytes(data: unknown): Promise<Buffer | undefined> {
	if (data === undefined || data === null) return undefined;
	// Node's own `buffer` goes through a Blob, which takes ten times as long.
	if (data instanceof Readable) return Buffer.concat((await data.toArray()) as Buffer[]);
	if (Buffer.isBuffer(data)) return data;
	return Buffer.from(typeof data === 'string' ? data : JSON.stringify(data));
}

/**
 * Adds a query. A list becomes one pair per value. The serializer of Google's clients would add a
 * library of thirty packages.
 */
function addQuery(url: string, params: ClientRequest['params'] = {}): string {
	const address = new URL(url);
	for (const [name, value] of Object.entries(params))
		for (const element of [value].flat())
			if (element !== undefined) address.searchParams.append(name, String(element));
	return address.href;
}

/** Sends a request with the token of the credential. n8n refreshes the token after a 401. */
async function sendWithToken(
	send: RequestSender,
	request: IHttpRequestOptions,
	abortSignal: AbortSignal,
) {
	// Each request gets a copy, because n8n's helper modifies the options and headers that it
	// receives.
	const sendCopy = (overrides: Partial<IHttpRequestOptions>) => {
		const copy = { ...request, ...overrides, headers: { ...request.headers }, abortSignal };
		return awaitResponse(() => send(copy), request.url, abortSignal);
	};
	const response = await sendCopy({});
	if (response.statusCode !== 401) return response;
	// n8n before 2.9 ignores `except` and returns a 401. It refreshes the token only if a 401
	// throws, so the second request lets it throw.
	discardBody(response);
	return await sendCopy({ ignoreHttpStatusErrors: false });
}
