import type { IncomingHttpHeaders } from 'node:http';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { attempt, type FaultsOfTry, plainRequest, type Send, unlessAborted } from '../../http/attempt';
import { readBody, readErrorBody } from '../../http/body';
import { mayBeJson } from '../../http/jsonCost';
import { withRetries } from '../../http/retry';
import { mostAtOnce, type Room } from '../../http/room';
import { Wire } from '../../http/wire';
import type { Answer } from './response';
import { type CallFacts, retryWords, statusFault, stoppedCall, thrownFault, timedOut } from './errors';

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
	/** Created again for each try, so that the timestamp is fresh. */
	body(): ExecuteBody;
	readonly allowUnauthorizedCerts: boolean;
	/** Of one try: until its answer is read to the end. */
	readonly timeoutSeconds: number;
	readonly maxTries: number;
	/** In total, between tries; 0: none. */
	readonly maxRetryWaitSeconds: number;
	/** Of the answer, unpacked. */
	readonly maxResponseBytes: number;
}

export interface Executed {
	readonly sent: ExecuteBody;
	readonly answer: Answer;
}

/**
 * Sends the execute call. It is sent again only if it was definitely not accepted.
 * @param room what the answer takes, until the caller releases it
 * @throws Failure for anything but a status of 200 to 299
 */
export async function execute(context: IExecuteFunctions, call: ExecuteCall, room: Room): Promise<Executed> {
	const limits = {
		timeoutMilliseconds: call.timeoutSeconds * 1000,
		signal: context.getExecutionCancelSignal(),
	};
	const send: Send = async (request) => (await context.helpers.httpRequest(request)) as unknown;
	const faults: FaultsOfTry = {
		stopped: stoppedCall,
		timedOut: () => timedOut(call),
		thrown: (error) => thrownFault(error, call),
	};
	return await withRetries(
		() => attempt((signal) => once(send, call, room, signal), limits, faults),
		{ harmless: false, possible: true, reading: false },
		{
			words: retryWords,
			maxTries: call.maxTries,
			maxRetryWaitMilliseconds: call.maxRetryWaitSeconds * 1000,
			signal: limits.signal,
		},
	);
}

async function once(send: Send, call: ExecuteCall, room: Room, signal: AbortSignal): Promise<Executed> {
	room.release();
	const sent = call.body();
	const wire = new Wire();
	const response = await unlessAborted(
		wire.watch(() => send(requestOf(call, sent, signal))),
		signal,
	);
	const { statusCode } = response;
	const headers = response.headers as IncomingHttpHeaders;
	if (statusCode < 200 || statusCode > 299) {
		const packed = await readErrorBody(response.body, signal);
		const body = await wire.whole(packed, room).catch(() => Buffer.alloc(0));
		throw statusFault({ statusCode, headers, body }, call);
	}
	const announcedBytes = Number(headers['content-length'] ?? 0);
	const limitBytes = call.maxResponseBytes;
	const packed = await readBody(response.body, { announcedBytes, limitBytes, signal, room });
	const body = await wire.whole(packed, room, limitBytes);
	if (mayBeJson(body)) await room.holdParsed(body, mostAtOnce);
	return { sent, answer: { statusCode, headers, body } };
}

/**
 * Not for the helper that signs by credential: it reads the credential from the database for every request, and sends a call
 * that was answered with 401 a second time.
 */
function requestOf(call: ExecuteCall, body: ExecuteBody, signal: AbortSignal): IHttpRequestOptions {
	return {
		...plainRequest,
		method: 'POST',
		url: call.url,
		headers: { 'Content-Type': 'application/json', 'x-api-key': call.apiKey },
		body: JSON.stringify(body),
		ignoreHttpStatusErrors: true,
		skipSslCertificateValidation: call.allowUnauthorizedCerts,
		timeout: call.timeoutSeconds * 1000,
		abortSignal: signal,
	};
}
