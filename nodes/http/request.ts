import { Readable } from 'node:stream';
import type { ICredentialTestFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { NodeError, type Outcome, appendErrorCode } from '../core/errors';
import type { BodyError } from './body';
import { observeHttpClient } from './httpObserver';

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

/** Makes one attempt, to the last byte of its answer. @param limits its time, and the signal of the execution @throws NodeError */
export async function attemptRequest<T>(
	send: (signal: AbortSignal) => Promise<T>,
	limits: { readonly timeoutMilliseconds: number; readonly signal: AbortSignal | undefined },
	errors: RequestErrorFactory,
): Promise<T> {
	const { timeoutMilliseconds, signal: outer } = limits;
	if (outer?.aborted) throw errors.createStoppedError('notDone');
	observeHttpClient();
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

export interface CredentialTestRequest extends Pick<IHttpRequestOptions, 'method' | 'headers' | 'body'> {
	readonly uri: string;
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
	observeHttpClient();
	return (await helpers.request({
		...request,
		simple: false,
		resolveWithFullResponse: true,
		followRedirect: false,
		useStream: true,
		timeout: credentialTestTimeoutSeconds * 1000,
	})) as CredentialTestResponse;
}
