import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { type NodeParameters } from '../../fields/nodeParameters';
import { readBody, readErrorBody } from '../../http/body';
import { mayBeJson, mostAtOnce, type Room } from '../../http/memoryBudget';
import { attempt, type FaultsOfTry, plainRequest, type Send, unlessAborted, Wire } from '../../http/request';
import { withRetries } from '../../http/retry';
import { identityReader, type ReadIdentity } from '../session/connectRequest';
import { identityOf, redactorOf, secretsOf, type Credentials } from '../session/credentials';
import { channelUrl, checkAllowedHost, executeUrl } from '../session/urls';
import { type CallFacts, retryWords, statusFault, stoppedCall, thrownFault, timedOut } from './errors';
import {
	itemParameters,
	type ItemParameters,
	type KeptTexts,
	waitSettings,
	type WaitSettings,
} from './parameters';
import type { Answer, TextPieces } from './response';

export interface PreparedCall extends ExecuteCall {
	/** Secrets that no text may contain. */
	readonly secrets: readonly string[];
	/** Those that an answer must not repeat: the user's public key may be part of the agent's work. */
	readonly echoed: readonly string[];
	readonly includeHeaders: boolean;
	/** Dot path of the text in a JSON answer or message. */
	readonly textField: string;
	readonly textPieces: TextPieces;
	/** Whether texts go out as they come, when the execution streams. */
	readonly enableStreaming: boolean;
	readonly sessionId: string;
	/** The session, with its service and user. */
	readonly conversation: string;
	/** Who calls, for the channel: read and signed in again at every attempt to open it. */
	readonly readIdentity: ReadIdentity;
	/** Undefined if the item does not wait for messages. */
	readonly wait: WaitSettings | undefined;
}

/** What the user gave for one item. Only what an expression gives again when it is sent can still be refused. */
export interface CheckedItem {
	readonly given: ItemParameters;
	/** Undefined if the item does not wait for messages. */
	readonly wait: WaitSettings | undefined;
	readonly credentials: Credentials;
}

/** @throws Failure 400 for a parameter or credential that cannot be sent */
export function checkedItem(
	parameters: NodeParameters,
	index: number,
	credentials: Credentials,
	texts: KeptTexts,
): CheckedItem {
	const { api, signer } = credentials;
	const given = itemParameters(parameters, index, texts);
	const { params } = given;
	const isVerified = !api.allowUnauthorizedCerts;
	checkAllowedHost(signer, new URL(executeUrl(api)), isVerified);
	const identity = identityOf(signer, params);
	const wait = waitSettings(params);
	if (wait) {
		const channel = new URL(channelUrl(api, params.sessionId.trim() || 'new', identity));
		checkAllowedHost(signer, channel, isVerified);
	}
	return { given, wait, credentials };
}

/** The content of the call without the values that differ with every try. Shows whether an earlier try already sent it. */
export function meaningOf({ given, credentials: { api, signer } }: CheckedItem): unknown {
	const sessionId = given.params.sessionId.trim();
	const startStepName = given.params.startStepName.trim();
	const { userId, userPublicKey } = identityOf(signer, given.params);
	const url = executeUrl(api);
	const initialPayload = given.initialPayload();
	return { url, sessionId, initialPayload, startStepName, userId, userPublicKey };
}

/** The execute call of one item, when its turn comes. @throws Failure 400 for what an expression gives by now */
export function callOf(context: IExecuteFunctions, { given, wait, credentials }: CheckedItem): PreparedCall {
	const { api, signer } = credentials;
	const sessionId = given.params.sessionId.trim();
	const startStepName = given.params.startStepName.trim();
	const options = given.paramsNow();
	const url = executeUrl(api);
	const identity = identityOf(signer, options);
	const secrets = secretsOf(api, identity);
	const initialPayload = given.initialPayload();
	const body = { sessionId: sessionId || randomUUID(), initialPayload, startStepName };
	const { timeoutSeconds, maxTries, maxRetryWaitSeconds, maxResponseBytes, includeHeaders } = options;
	return {
		timeoutSeconds,
		maxTries,
		maxRetryWaitSeconds,
		maxResponseBytes,
		includeHeaders,
		textField: options.textField.trim(),
		textPieces: options.textPieces,
		enableStreaming: options.enableStreaming,
		url,
		apiKey: api.apiKey,
		body: () => ({ ...body, ...identityOf(signer, options) }),
		sessionId: body.sessionId,
		conversation: JSON.stringify([api.webSocketUrl, identity.userPublicKey, body.sessionId]),
		readIdentity: identityReader(context, options),
		wait,
		allowUnauthorizedCerts: api.allowUnauthorizedCerts,
		secrets,
		echoed: [api.apiKey, identity.signature],
		redact: redactorOf(secrets),
	};
}

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

interface ExecuteCall extends CallFacts {
	readonly url: string;
	readonly apiKey: string;
	/** Settles when a try may begin. @throws Failure if none may */
	ready?(): Promise<void>;
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
		async () => {
			await call.ready?.();
			return await attempt((signal) => once(send, call, room, signal), limits, faults);
		},
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
