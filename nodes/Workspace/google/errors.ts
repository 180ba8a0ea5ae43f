import { Readable } from 'node:stream';

import {
	isNodeError,
	isRedirect,
	NodeError,
	toNodeError,
	appendErrorCode,
} from '../../core/errors';
import { shorten } from '../../core/text';
import { isRecord } from '../../fields/values';
import {
	type BodyErrorAdvice,
	convertBodyError,
	type FullResponse,
	type ServiceTexts,
} from '../../http/attempt';
import { BodyError, tryParseJson } from '../../http/body';
import { parseRetryAfter } from '../../http/loop';
import {
	collectErrorChain,
	findErrorCode,
	classifyNetworkError,
	classifyStatus,
	formatNetworkMessage,
	getProperty,
} from '../../http/networkErrors';
import { checkBasesAdvice, type RequestFacts, findAdvice, getReconnectAdvice } from './advice';
import type { GoogleError } from './advice';
import { type Api, apiNames } from './endpoints';
import type { SignIn } from './scopes';

const maxMessageLength = 500;

/**
 * Parses the body of an error response. The body may also be empty, a page in HTML, or have a text
 * as `error`.
 */
function parseGoogleError({ statusCode, body }: ErrorResponse): GoogleError {
	const responseJson = tryParseJson(body);
	const error = getProperty(responseJson, 'error');
	const message =
		getText(error, 'message') ?? getText(responseJson, 'error_description') ?? trimText(error);
	const details = [getProperty(error, 'errors'), getProperty(error, 'details')].flat();
	const reasons = details.map((detail) => getText(detail, 'reason')).join(' ');
	return {
		message: message && shorten(message, maxMessageLength),
		status: getText(error, 'status'),
		searchText: [reasons, message].join(' '),
		// A 403 means no permission, a disabled API or a rate limit. Only the reason tells which.
		isRateLimit: statusCode === 429 || (statusCode === 403 && rateLimitPattern.test(reasons)),
	};
}

const getText = (value: unknown, key: string) => trimText(getProperty(value, key));

/**
 * Returns a text without white space around it. Returns undefined for an empty text and for any
 * other value.
 */
const trimText = (value: unknown) =>
	typeof value === 'string' ? value.trim() || undefined : undefined;

type ErrorResponse = Pick<FullResponse, 'headers'> & {
	readonly statusCode: number;
	readonly body: Buffer;
};

const rateLimitPattern = /\b(?:rateLimitExceeded|userRateLimitExceeded|RATE_LIMIT_EXCEEDED)\b/;

/**
 * Creates the error for an unsuccessful response: what the user reads, and whether a retry is safe.
 */
export function createResponseError(response: ErrorResponse, request: RequestFacts): NodeError {
	const { statusCode, headers } = response;
	const googleError = parseGoogleError(response);
	const { outcome, retryable } = classifyStatus(googleError.isRateLimit ? 429 : statusCode);
	return new NodeError({
		code: statusCode,
		status: googleError.status ?? (googleError.isRateLimit ? 'RESOURCE_EXHAUSTED' : undefined),
		message: buildMessage(statusCode, googleError, request.api),
		description: findAdvice(statusCode, googleError, request),
		retryAfterMilliseconds: retryable ? findRequestedPause(headers, googleError) : undefined,
		outcome,
		retryable,
	});
}

function buildMessage(statusCode: number, { message }: GoogleError, api: Api): string {
	if (message) return `${apiNames[api]}: ${message}`;
	const what = isRedirect(statusCode) ? `a redirect (HTTP ${statusCode})` : `HTTP ${statusCode}`;
	return `${apiNames[api]} responded with ${what}`;
}

/**
 * Gmail writes into its message when to try again, about 15 minutes later. It sends no Retry-After
 * header: https://github.com/twentyhq/twenty/pull/17850,
 * https://github.com/levz0r/gmail-tester/issues/23
 */
const retryTimePattern = /Retry after (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/i;

/**
 * Finds the pause that Google asks for.
 * @returns milliseconds; undefined if Google names no time
 */
function findRequestedPause(headers: ErrorResponse['headers'], { message = '' }: GoogleError) {
	const header = headers['retry-after'];
	if (typeof header === 'string') return parseRetryAfter(header);
	const time = retryTimePattern.exec(message)?.[1];
	return time === undefined ? undefined : Math.max(0, Date.parse(time) - Date.now());
}

/**
 * Turns any error of n8n's request helper, or of reading a body, into a failure with advice. The
 * response to the request itself is left to `findOwnResponse`.
 */
export function toRequestError(error: unknown, request: RequestFacts): NodeError {
	if (isNodeError(error)) return error;
	if (error instanceof BodyError) return convertBodyError(error, googleTexts, bodyErrorAdvice);
	const chain = collectErrorChain(error);
	// The code of the service account credential throws a NodeError that says why there is no
	// token.
	const credentialFailure = chain.find(isNodeError);
	if (credentialFailure)
		return credentialFailure.with({ retryable: credentialFailure.code >= 500 });
	const response = findThrownResponse(chain);
	if (chain.some((link) => isTokenRequest(link, request))) {
		if (!response) return createTokenError(request.signIn, true, findErrorCode(chain));
		const { statusCode } = response;
		const { retryable } = classifyStatus(statusCode);
		return createTokenError(request.signIn, retryable, `HTTP ${statusCode}`);
	}
	return createNetworkError(error, chain, request);
}

/**
 * Returns the response to a request that n8n threw as an error, because its status is no success to
 * n8n.
 */
export function findOwnResponse(error: unknown, request: RequestFacts): FullResponse | undefined {
	const chain = collectErrorChain(error);
	const isAboutToken = chain.some((link) => isTokenRequest(link, request));
	return isAboutToken ? undefined : findThrownResponse(chain);
}

function findThrownResponse(chain: readonly unknown[]): FullResponse | undefined {
	const responses = chain.map((link) => getProperty(link, 'response'));
	const response = responses.find((one) => typeof getProperty(one, 'status') === 'number');
	if (!response) return undefined;
	const headers = getProperty(response, 'headers');
	const data = getProperty(response, 'data') ?? null;
	return {
		statusCode: Number(getProperty(response, 'status')),
		headers: isRecord(headers) ? (headers as FullResponse['headers']) : {},
		body: data instanceof Readable ? data : Readable.from([toBytes(data)]),
	};
}

const toBytes = (data: unknown) =>
	Buffer.isBuffer(data) ? data : Buffer.from(JSON.stringify(data));

/**
 * Turns any error of an operation into a failure. A TypeError or RangeError means a response of a
 * wrong form, or a mistake in this package.
 * @param log receives where in the code the error occurred, but not its message, which may quote
 * the response
 */
export function toGoogleFailure(error: unknown, log: (text: string) => void): NodeError {
	const failure = toNodeError(error);
	const isProgramError = error instanceof Error && /^(Type|Range)Error$/.test(error.name);
	if (!isProgramError || failure.code !== 500) return failure;
	const { name, message, stack = '' } = error;
	const stackLines = stack.slice(stack.indexOf(message) + message.length).split(/\s*\n\s*/, 4);
	log(`${unreadableLogText}: ${name}${stackLines.join(' ')}`);
	return failure.with({
		code: 502,
		status: undefined,
		message:
			"Google's response does not have the form that Google documents, so it could not be read",
		description: `${checkBasesAdvice} If there is none, please report the line in n8n's log that begins with '${unreadableLogText}'.`,
	});
}

const unreadableLogText = 'A response could not be read';
const requestLessAdvice = 'Request less at once, for example a smaller range or fewer results.';

export const googleTexts: ServiceTexts = { service: 'Google', nothingDone: 'Nothing was changed.' };

const bodyErrorAdvice: BodyErrorAdvice = {
	tooLarge: requestLessAdvice,
	tooCostly: requestLessAdvice,
	cutShort: 'Try again.',
};

function createNetworkError(
	error: unknown,
	chain: readonly unknown[],
	request: RequestFacts,
): NodeError {
	const { url, signIn } = request;
	const networkError = classifyNetworkError(error);
	const {
		category,
		cure = reachAdvice,
		outcome,
		retryable,
		statusCode: code,
		errorCode,
	} = networkError;
	const isNameless = category === 'unknown' && errorCode === undefined;
	if (chain.some(isTokenError)) return createTokenError(signIn, false);
	const message = isNameless ? findMessage(chain) : formatNetworkMessage(networkError, url);
	const description = appendErrorCode(cure, errorCode);
	return new NodeError({ code, message, description, outcome, retryable });
}

const reachAdvice =
	'Check that the machine that n8n runs on can reach the address (network, proxy, API bases in the credential), then try again.';

const findMessage = (chain: readonly unknown[]) =>
	chain.find((link) => link instanceof Error)?.message ?? 'The request could not be completed';

/**
 * Whether n8n reports with this error that it has no token, or cannot refresh it, so that nothing
 * was carried out. The two codes come from its library client-oauth2. n8n-core
 * (request-helpers/oauth.js) throws errors of its own classes, which have no code. Errors of its
 * HTTP client have other classes.
 */
function isTokenError(link: unknown) {
	const code = getProperty(link, 'code');
	if (code === 'EAUTH' || code === 'ESTATUS') return true;
	return link instanceof Error && tokenErrorClassPattern.test(link.constructor.name);
}

const tokenErrorClassPattern = /^(?:Application|NodeOperation|Operational|Unexpected|User)Error$/;

/**
 * Whether an error is about n8n's own request for a new token. The URL of that request is not the
 * URL of ours.
 */
function isTokenRequest(cause: unknown, { url }: RequestFacts) {
	const requestUrl = getProperty(getProperty(cause, 'config'), 'url');
	return typeof requestUrl === 'string' && requestUrl !== url;
}

/**
 * Creates the error for a request without a valid token. n8n asks for one only before a request or
 * after a 401, so nothing was carried out.
 */
export function createTokenError(
	signIn: Pick<SignIn, 'authentication'>,
	retryable: boolean,
	reason?: string,
): NodeError {
	const advice = getReconnectAdvice(signIn);
	const description = retryable ? `Try again later. If the problem persists: ${advice}` : advice;
	return new NodeError({
		code: 401,
		message: 'The credential has no valid token, and a new one could not be obtained',
		description: appendErrorCode(description, reason),
		retryable,
	});
}
