import { Readable } from 'node:stream';
import type { ICredentialTestFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { NodeError, type Outcome, appendErrorCode } from '../core/errors';
import type { BodyError } from './body';
import { startHttpObserver } from './httpObserver';

/** One of n8n's helpers that send a request, bound to its context. */
export type RequestSender = (request: IHttpRequestOptions) => Promise<FullResponse>;

/** n8n's full response, with its body as a stream or as bytes. */
export interface FullResponse {
	readonly statusCode: number;
	readonly headers: Readonly<Record<string, unknown>>;
	readonly body: Readable | Buffer;
}

export const baseRequestOptions = {
	// Only a stream can be stopped before the whole response is in memory.
	encoding: 'stream',
	returnFullResponse: true,
	disableFollowRedirect: true,
} as const satisfies Partial<IHttpRequestOptions>;

/** Builds the errors of a request in the words of the called service. */
export interface RequestErrorFactory {
	/** @param outcome `notDone` if nothing was sent */
	createStoppedError(outcome: Outcome): NodeError;
	createTimeoutError(): NodeError;
	toRequestError(error: unknown): NodeError | Promise<NodeError>;
}

/** The texts for each reason why a body could not be read. */
export type BodyErrorTexts = Readonly<
	Record<BodyError['reason'], readonly [message: string, description: string]>
>;

/** Converts a BodyError. The outcome is unknown: the service responded, so it may have done what the request asked for. */
export function convertBodyError(
	{ reason, errorCode }: BodyError,
	texts: BodyErrorTexts,
): NodeError {
	const [message, description] = texts[reason];
	return new NodeError({
		code: reason === 'noMemory' ? 503 : 502,
		message,
		description: appendErrorCode(description, errorCode),
		outcome: 'unknown',
		retryable: reason !== 'tooLarge' && reason !== 'tooCostly',
	});
}

/** Makes one attempt, up to the last byte of its response. After an error, the observer knows if TLS was established. @throws NodeError */
export async function attemptRequest<T>(
	send: (signal: AbortSignal) => Promise<T>,
	limits: { readonly timeoutMilliseconds: number; readonly signal: AbortSignal | undefined },
	errorFactory: RequestErrorFactory,
): Promise<T> {
	const { timeoutMilliseconds, signal: executionSignal } = limits;
	if (executionSignal?.aborted) throw errorFactory.createStoppedError('notDone');
	startHttpObserver();
	const attemptController = new AbortController();
	const abort = () => {
		attemptController.abort();
	};
	const timer = setTimeout(abort, timeoutMilliseconds);
	executionSignal?.addEventListener('abort', abort);
	try {
		return await send(attemptController.signal);
	} catch (error) {
		if (executionSignal?.aborted) throw errorFactory.createStoppedError('unknown');
		if (attemptController.signal.aborted) throw errorFactory.createTimeoutError();
		throw await errorFactory.toRequestError(error);
	} finally {
		clearTimeout(timer);
		executionSignal?.removeEventListener('abort', abort);
	}
}

/** Rejects if the signal aborts. n8n's helper cannot do this, because it always uses the signal of the execution. */
export function rejectOnAbort(
	response: Promise<FullResponse>,
	signal: AbortSignal,
): Promise<FullResponse> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => {
			reject(new Error('aborted'));
			response.then(discardBody, () => undefined);
		});
		response.then(resolve, reject);
	});
}

export function discardBody({ body }: Pick<FullResponse, 'body'>): void {
	if (body instanceof Readable) body.destroy();
}

/** The time that a service has to begin its response to a credential test. */
export const credentialTestTimeoutSeconds = 15;

export interface CredentialTestRequest extends Pick<
	IHttpRequestOptions,
	'method' | 'headers' | 'body'
> {
	readonly uri: string;
	readonly rejectUnauthorized?: boolean;
}

export interface CredentialTestResponse extends FullResponse {
	readonly headers: Readonly<Record<string, string | undefined>>;
	/** The caller has to read or discard it. */
	readonly body: Readable;
}

/** Sends a request of a credential test with n8n's helper, so that n8n's proxies and egress policy apply. */
export async function sendCredentialTestRequest(
	helpers: ICredentialTestFunctions['helpers'],
	request: CredentialTestRequest,
): Promise<CredentialTestResponse> {
	startHttpObserver();
	return (await helpers.request({
		...request,
		simple: false,
		resolveWithFullResponse: true,
		followRedirect: false,
		useStream: true,
		timeout: credentialTestTimeoutSeconds * 1000,
	})) as CredentialTestResponse;
}
