import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { IExecuteFunctions, IHttpRequestOptions, IN8nHttpFullResponse } from 'n8n-workflow';

import type { Failure } from '../../items/failure';
import { fullJitterMilliseconds, parseRetryAfter } from '../../retry/backoff';
import { longestMilliseconds } from '../session/clock';
import { type Answer, readBody } from './answer';
import {
	callFailure,
	type CallFacts,
	type FailedCall,
	statusFailure,
	stopped,
	stoppedBeforeCall,
	stoppedBetweenTries,
	timedOut,
	waitTooLong,
} from './failures';

/** The seven fields of the execute call. */
export interface ExecuteBody {
	readonly sessionId: string;
	readonly userId: string;
	readonly userPublicKey: string;
	/** JSON text. */
	readonly initialPayload: string;
	readonly startStepName: string;
	readonly signature: string;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

export interface ExecuteCall extends CallFacts {
	readonly url: string;
	readonly apiKey: string;
	/** Made anew for each try, so that the timestamp is fresh. */
	body(): ExecuteBody;
	readonly allowUnauthorizedCerts: boolean;
	/** Of one try: until its answer is read to the end. */
	readonly timeoutSeconds: number;
	readonly maxTries: number;
	/** In total, between tries. */
	readonly maxRetryWaitSeconds: number;
}

export interface Executed {
	readonly sent: ExecuteBody;
	readonly answer: Answer;
}

/** The first wait between tries is somewhere below this; it doubles with each. */
const baseDelayMilliseconds = 1000;

/**
 * Sends the execute call. It is sent again only when it surely was not accepted: connection refused, name not found, 429, and 503
 * with Retry-After.
 * @throws Failure for anything but a status of 200 to 299
 */
export async function execute(context: IExecuteFunctions, call: ExecuteCall): Promise<Executed> {
	const signal = context.getExecutionCancelSignal();
	if (signal?.aborted) throw stoppedBeforeCall();
	let budgetMilliseconds = call.maxRetryWaitSeconds * 1000;
	for (let tries = 1; ; tries++) {
		const outcome = await once(context, call);
		if (!('failure' in outcome)) return outcome;
		const { failure, notAccepted } = outcome;
		if (!notAccepted || tries >= call.maxTries) throw failure;
		const wait = failure.retryAfterMilliseconds ?? ownDelay(tries - 1, budgetMilliseconds);
		if (wait > budgetMilliseconds) throw waitTooLong(failure, wait, budgetMilliseconds, call);
		budgetMilliseconds -= wait;
		await pause(wait, undefined, { signal }).catch(() => {
			throw stoppedBetweenTries();
		});
	}
}

function ownDelay(retries: number, capMilliseconds: number): number {
	return fullJitterMilliseconds(
		retries,
		{ baseMilliseconds: baseDelayMilliseconds, capMilliseconds },
		Math.random,
	);
}

async function once(context: IExecuteFunctions, call: ExecuteCall): Promise<Executed | FailedCall> {
	const sent = call.body();
	const deadline = Date.now() + call.timeoutSeconds * 1000;
	const signal = context.getExecutionCancelSignal();
	let answer: Answer;
	try {
		answer = await read(await post(context, call, sent), deadline, call, signal);
	} catch (error) {
		return signal?.aborted ? { failure: stopped(), notAccepted: false } : callFailure(error, call);
	}
	const { statusCode, headers } = answer;
	if (statusCode >= 200 && statusCode <= 299) return { sent, answer };
	const retryAfterMilliseconds = parseRetryAfter(headers['retry-after'], Date.now());
	const notAccepted = statusCode === 429 || (statusCode === 503 && retryAfterMilliseconds !== undefined);
	return { failure: statusFailure(answer, retryAfterMilliseconds, call), notAccepted };
}

async function post(
	context: IExecuteFunctions,
	call: ExecuteCall,
	body: ExecuteBody,
): Promise<IN8nHttpFullResponse> {
	const request: IHttpRequestOptions = {
		method: 'POST',
		url: call.url,
		headers: { 'Content-Type': 'application/json', 'x-api-key': call.apiKey },
		body: JSON.stringify(body),
		// A stream, so that the size can be bounded while it arrives.
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		skipSslCertificateValidation: call.allowUnauthorizedCerts,
		timeout: Math.min(call.timeoutSeconds * 1000, longestMilliseconds),
		abortSignal: context.getExecutionCancelSignal(),
	};
	// Not the helper that signs by credential: it reads the credential from the database for every request, and sends a call
	// that was answered with 401 a second time.
	return (await context.helpers.httpRequest(request)) as IN8nHttpFullResponse;
}

/** n8n's own timeout ends with the headers: the body gets what is left. */
async function read(
	response: IN8nHttpFullResponse,
	deadline: number,
	call: ExecuteCall,
	signal: AbortSignal | undefined,
): Promise<Answer> {
	const stream = response.body as Readable;
	const headers = response.headers as IncomingHttpHeaders;
	const end = (failure: Failure) => {
		stream.destroy(failure);
	};
	const onAbort = () => {
		end(stopped());
	};
	const timer = setTimeout(
		() => {
			end(timedOut(call));
		},
		Math.min(deadline - Date.now(), longestMilliseconds),
	);
	signal?.addEventListener('abort', onAbort, { once: true });
	try {
		return { statusCode: response.statusCode, headers, body: await readBody(stream, headers) };
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener('abort', onAbort);
	}
}
