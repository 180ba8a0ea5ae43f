import type { Readable } from 'node:stream';
import type { ICredentialTestFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { appendErrorCode, isNodeError, NodeError, type Outcome } from '../core/errors';
import { joinSentences } from '../core/text';
import { quoteField } from '../fields/field';
import { type BodyError, maxResponseBytes } from './body';
import { type Exchange, recordResponse } from './exchange';
import { classifyStatus } from './networkErrors';

/** One of n8n's helpers that send a request, bound to its context. */
export type RequestSender = (request: IHttpRequestOptions) => Promise<FullResponse>;

/** n8n's full response. Whoever gets it has to read or discard the body. */
export interface FullResponse {
	readonly statusCode: number;
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: Readable;
	readonly exchange?: Exchange;
}

export const baseRequestOptions = {
	// Only a stream can be stopped before the whole response is in memory.
	encoding: 'stream',
	returnFullResponse: true,
	disableFollowRedirect: true,
} as const satisfies Partial<IHttpRequestOptions>;

/** How errors call the service, and what they say about its work. */
export interface ServiceTexts {
	/** The name of the service, as the first word of a sentence. */
	readonly service: string;
	/** The advice if certainly nothing was carried out. */
	readonly nothingDone: string;
	/** The advice if the request may have been carried out. */
	readonly mayBeDone?: string;
}

interface AttemptSettings {
	/** The limit from the start of the request to the last byte of its response. */
	readonly timeoutMilliseconds: number;
	/** Is aborted when the execution is stopped. */
	readonly signal: AbortSignal | undefined;
	readonly texts: ServiceTexts;
	toRequestError(error: unknown): NodeError | Promise<NodeError>;
}

/** Makes one attempt, up to the last byte of its response. @throws NodeError */
export async function attemptRequest<T>(
	send: (signal: AbortSignal) => Promise<T>,
	settings: AttemptSettings,
): Promise<T> {
	const { timeoutMilliseconds, signal: executionSignal, texts } = settings;
	if (executionSignal?.aborted) throw createStoppedError(texts.nothingDone);
	const attemptController = new AbortController();
	const abort = () => {
		attemptController.abort();
	};
	const timer = setTimeout(abort, timeoutMilliseconds);
	executionSignal?.addEventListener('abort', abort);
	try {
		return await send(attemptController.signal);
	} catch (error) {
		const isLate = attemptController.signal.aborted;
		// Closes the connection of a response that was not read to its end.
		abort();
		if (executionSignal?.aborted) throw createStoppedError(texts.mayBeDone, 'unknown');
		// A NodeError is about a response that has come, which says more than that its body was
		// not read in time.
		if (isLate && !isNodeError(error)) throw createTimeoutError(timeoutMilliseconds, texts);
		throw await settings.toRequestError(error);
	} finally {
		clearTimeout(timer);
		executionSignal?.removeEventListener('abort', abort);
	}
}

export const createStoppedError = (description?: string, outcome?: Outcome) =>
	new NodeError({
		code: 499,
		status: 'CANCELLED',
		message: 'The execution was stopped',
		description,
		outcome,
	});

function createTimeoutError(milliseconds: number, { service, mayBeDone }: ServiceTexts): NodeError {
	return new NodeError({
		code: 504,
		message: `${service} did not respond within ${milliseconds / 1000} s`,
		description: joinSentences(
			mayBeDone,
			`To allow more time, raise the option ${quoteField('timeoutSeconds')}.`,
		),
		outcome: 'unknown',
		retryable: true,
	});
}

/**
 * Sends a request and waits for the response. Rejects if the signal aborts, which n8n's helper does
 * not, because it uses the signal of the execution.
 * @throws NodeError if a proxy refused to connect to the service
 */
export async function awaitResponse(
	send: () => Promise<FullResponse>,
	url: string,
	signal: AbortSignal,
): Promise<FullResponse> {
	const exchange: Exchange = {};
	const request = recordResponse(exchange, send).catch((error: unknown) => {
		// The response may be to n8n's own request for a token, which goes to another origin.
		const { response: { statusCode = 0 } = {}, origin = url } = exchange;
		refuseProxyResponse({ statusCode }, exchange, origin);
		throw error;
	});
	const response = await new Promise<FullResponse>((resolve, reject) => {
		signal.addEventListener('abort', () => {
			reject(new Error('aborted'));
			request.then(discardBody, () => undefined);
			// axios's stream does not end by being destroyed, as long as it waits for bytes.
			exchange.response?.destroy();
		});
		request.then(resolve, reject);
	});
	refuseProxyResponse(response, exchange, url);
	return { ...response, exchange };
}

/** @throws NodeError if a proxy refused to connect to the service */
function refuseProxyResponse(
	{ statusCode, body }: Pick<FullResponse, 'statusCode'> & Partial<FullResponse>,
	{ response }: Exchange,
	url: string,
) {
	const socket = response?.socket;
	// n8n's HTTP client passes on a proxy's answer to CONNECT, which comes without the TLS of the
	// service's answer. A proxy that grants CONNECT gives no response of its own, so a success is
	// the service's, however it came.
	const lacksTls = url.startsWith('https:') && socket && !('encrypted' in socket);
	// The status 407 comes from proxies alone.
	if (statusCode !== 407 && !(lacksTls && statusCode >= 300)) return;
	body?.destroy();
	throw new NodeError({
		code: statusCode,
		message: `The proxy did not connect n8n to ${new URL(url).host}: it responded with HTTP ${statusCode}`,
		description:
			'Nothing was sent to the service. Check that the proxy runs, can reach this host and allows it, and that its address in the environment variables of n8n (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY) has its user name and password, if it asks for them.',
		outcome: 'notDone',
		retryable: classifyStatus(statusCode).retryable,
	});
}

export const discardBody = ({ body }: Partial<FullResponse>) => body?.destroy();

/** What the user can do, for each reason why a body could not be read. */
export type BodyErrorAdvice = Readonly<Record<BodyError['reason'], string>>;

const bodyErrorTexts: BodyErrorAdvice = {
	tooLarge: `is larger than ${maxResponseBytes / 2 ** 20} MiB`,
	tooCostly: 'has too many parts to read, or is nested too deeply',
	cutShort: 'was cut off',
};

/**
 * Converts a BodyError. The outcome is unknown: the service responded, so it may have done what the
 * request asked for.
 */
export function convertBodyError(
	error: BodyError,
	{ service }: ServiceTexts,
	advice: BodyErrorAdvice,
): NodeError {
	const { reason, errorCode } = error;
	return new NodeError({
		code: 502,
		message: `${service}'s response ${bodyErrorTexts[reason]}`,
		description: appendErrorCode(advice[reason], errorCode),
		outcome: 'unknown',
		retryable: reason === 'cutShort',
		cause: error,
	});
}

/**
 * Sends a request of a credential test with n8n's helper, so that n8n's proxies and egress policy
 * apply.
 */
export async function sendCredentialTestRequest(
	helpers: ICredentialTestFunctions['helpers'],
	request: Pick<IHttpRequestOptions, 'method' | 'headers' | 'body'> & {
		readonly uri: string;
		readonly rejectUnauthorized?: boolean;
	},
): Promise<FullResponse> {
	const exchange: Exchange = {};
	const send = async () =>
		(await helpers.request({
			...request,
			simple: false,
			resolveWithFullResponse: true,
			followRedirect: false,
			useStream: true,
			// The time that the service has to begin its response.
			timeout: 15_000,
		})) as FullResponse;
	const response = await recordResponse(exchange, send);
	refuseProxyResponse(response, exchange, request.uri);
	return response;
}
