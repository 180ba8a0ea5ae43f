import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';

import { type NodeParameters } from '../../fields/params';
import { itemLimits, type MemoryBudget, readBody, readErrorBody } from '../../http/body';
import {
	attempt,
	type FullResponse,
	type RequestErrors,
	plainRequest,
	unlessAborted,
	RawResponse,
} from '../../http/request';
import { withRetries } from '../../http/retry';
import {
	channelUrl,
	checkAllowedHost,
	type Credentials,
	executeUrl,
	type Identity,
	identityOf,
	redactorOf,
	secretsOf,
} from '../session/credentials';
import { type CallFacts, retryWords, errorOfStatus, stoppedCall, errorOfThrown, timedOut } from './errors';
import {
	type ExecuteParams,
	itemParameters,
	type ItemParameters,
	waitSettings,
	type WaitSettings,
} from './parameters';
import { type Answer, jsonIn } from './response';

export interface PreparedCall extends CallFacts {
	readonly apiKey: string;
	readonly allowUnauthorizedCerts: boolean;
	/** As they are when the item's turn comes. */
	readonly options: ExecuteParams;
	/** Created again for each try, so that the timestamp is fresh. */
	body(): ExecuteBody;
	/** Secrets that no text may contain. */
	readonly secrets: readonly string[];
	/** Those that an answer must not repeat: the user's public key may be part of the agent's work. */
	readonly echoed: readonly string[];
	readonly sessionId: string;
	/** The session, with its service and user. */
	readonly conversation: string;
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

/** @throws NodeError 400 for a parameter or credential that cannot be sent */
export function checkedItem(
	parameters: NodeParameters,
	index: number,
	credentials: Credentials,
): CheckedItem {
	const { api, signer } = credentials;
	const given = itemParameters(parameters, index);
	const { params } = given;
	const isVerified = !api.allowUnauthorizedCerts;
	checkAllowedHost(signer, new URL(executeUrl(api)), isVerified);
	const identity = identityOf(signer, params);
	const wait = waitSettings(params);
	if (wait) {
		const channel = new URL(channelUrl(api, params.sessionId || 'new', identity));
		checkAllowedHost(signer, channel, isVerified);
	}
	return { given, wait, credentials };
}

/** The content of the call without the values that differ with every try. Shows whether an earlier try already sent it. */
export function meaningOf({ given, credentials: { api, signer } }: CheckedItem): unknown {
	const { sessionId, startStepName } = given.params;
	const { userId, userPublicKey } = identityOf(signer, given.params);
	const url = executeUrl(api);
	const initialPayload = given.initialPayload();
	return { url, sessionId, initialPayload, startStepName, userId, userPublicKey };
}

/** The execute call of one item, when its turn comes. @throws NodeError 400 for what an expression gives by now */
export function callOf({ given, wait, credentials }: CheckedItem): PreparedCall {
	const { api, signer } = credentials;
	const { apiKey, webSocketUrl, allowUnauthorizedCerts } = api;
	const options = given.paramsNow();
	const identity = identityOf(signer, options);
	const secrets = secretsOf(api, identity);
	const sessionId = given.params.sessionId || randomUUID();
	const { startStepName } = given.params;
	const initialPayload = given.initialPayload();
	return {
		apiKey,
		allowUnauthorizedCerts,
		options,
		secrets,
		sessionId,
		wait,
		url: executeUrl(api),
		body: () => ({ sessionId, initialPayload, startStepName, ...identityOf(signer, options) }),
		conversation: JSON.stringify([webSocketUrl, identity.userPublicKey, sessionId]),
		echoed: [apiKey, identity.signature],
		redact: redactorOf(secrets),
	};
}

/** The seven fields of the execute call. */
export interface ExecuteBody extends Identity {
	readonly sessionId: string;
	/** JSON text. */
	readonly initialPayload: string;
	readonly startStepName: string;
}

export interface Executed {
	readonly sent: ExecuteBody;
	readonly answer: Answer;
}

/**
 * Sends the execute call. It is sent again only if it was definitely not accepted.
 * @param memory what the answer takes, until the caller releases it
 * @param hooks for each try: `ready` before it, which throws if nothing may be sent; `sending` when it goes out
 * @throws NodeError for anything but a status of 200 to 299
 */
export async function execute(
	context: IExecuteFunctions,
	call: PreparedCall,
	memory: MemoryBudget,
	hooks: { ready(): Promise<void>; sending(body: ExecuteBody): void },
): Promise<Executed> {
	const { timeoutSeconds, maxTries, maxRetryWaitSeconds } = call.options;
	const signal = context.getExecutionCancelSignal();
	const limits = { timeoutMilliseconds: timeoutSeconds * 1000, signal };
	const send = (body: ExecuteBody, stop: AbortSignal) => {
		hooks.sending(body);
		return context.helpers.httpRequest(requestOf(call, body, stop)) as Promise<FullResponse>;
	};
	const errors: RequestErrors = {
		stopped: stoppedCall,
		timedOut: () => timedOut(call),
		thrown: (error) => errorOfThrown(error, call),
	};
	return await withRetries(
		async () => {
			await hooks.ready();
			return await attempt((stop) => once(send, call, memory, stop), limits, errors);
		},
		{ harmless: false, reading: false },
		{ words: retryWords, maxTries, maxRetryWaitMilliseconds: maxRetryWaitSeconds * 1000, signal },
	);
}

async function once(
	send: (body: ExecuteBody, signal: AbortSignal) => Promise<FullResponse>,
	call: PreparedCall,
	memory: MemoryBudget,
	signal: AbortSignal,
): Promise<Executed> {
	memory.release();
	const sent = call.body();
	const raw = new RawResponse();
	const response = await unlessAborted(
		raw.watch(() => send(sent, signal)),
		signal,
	);
	const { statusCode } = response;
	const headers = response.headers as IncomingHttpHeaders;
	if (statusCode < 200 || statusCode > 299) {
		const packed = await readErrorBody(response.body, signal);
		const body = await raw.whole(packed, memory).catch(() => Buffer.alloc(0));
		throw errorOfStatus({ statusCode, headers, body }, call);
	}
	const announcedBytes = Number(headers['content-length'] ?? 0);
	const limitBytes = call.options.maxResponseBytes;
	const packed = await readBody(response.body, { announcedBytes, limitBytes, signal, memory });
	const body = await raw.whole(packed, memory, limitBytes);
	const answer = { statusCode, headers, body };
	const json = jsonIn(answer);
	if (json) await memory.holdParsed(json, itemLimits);
	return { sent, answer };
}

/**
 * Not for the helper that signs by credential: it reads the credential from the database for every request, and sends a call
 * that was answered with 401 a second time.
 */
function requestOf(call: PreparedCall, body: ExecuteBody, signal: AbortSignal): IHttpRequestOptions {
	return {
		...plainRequest,
		method: 'POST',
		url: call.url,
		headers: { 'Content-Type': 'application/json', 'x-api-key': call.apiKey },
		body: JSON.stringify(body),
		ignoreHttpStatusErrors: true,
		skipSslCertificateValidation: call.allowUnauthorizedCerts,
		timeout: call.options.timeoutSeconds * 1000,
		abortSignal: signal,
	};
}
