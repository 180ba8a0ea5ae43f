import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IExecuteFunctions } from 'n8n-workflow';

import { type NodeParameters } from '../../fields/params';
import { itemLimits, type MemoryBudget, readBody, readErrorBody } from '../../http/body';
import { attempt, type FullResponse, plainRequest, unlessAborted, RawResponse } from '../../http/request';
import { withRetries } from '../../http/retry';
import {
	channelBase,
	checkAllowedHost,
	type Credentials,
	executeUrl,
	type Identity,
	identityOf,
	redactorOf,
	secretsOf,
} from '../session/credentials';
import { callErrors, type CallFacts, errorOfStatus, retryWords } from './errors';
import {
	type ExecuteParams,
	itemParameters,
	type ItemParameters,
	waitSettings,
	type WaitSettings,
} from './parameters';
import { type Answer, jsonIn } from './response';

/** The checked input of one item. Only an expression that is evaluated again when the item is sent can still be refused. */
export interface CheckedItem extends ItemParameters {
	/** Undefined if the item does not wait for messages. */
	readonly wait: WaitSettings | undefined;
	readonly credentials: Credentials;
}

/** @throws NodeError 400 for a wrong parameter or credential */
export function checkedItem(
	parameters: NodeParameters,
	index: number,
	credentials: Credentials,
): CheckedItem {
	const { api, signer } = credentials;
	const given = itemParameters(parameters, index);
	const isVerified = !api.allowUnauthorizedCerts;
	checkAllowedHost(signer, new URL(executeUrl(api)), isVerified);
	identityOf(signer, given.params);
	const wait = waitSettings(given.params);
	if (wait) checkAllowedHost(signer, channelBase(api), isVerified);
	return { ...given, wait, credentials };
}

/** The content of the call without the values that differ with each try. By it, a retry finds out whether an earlier try has sent the item. */
export function meaningOf({ params, initialPayload, credentials: { api, signer } }: CheckedItem): unknown {
	const { sessionId, startStepName } = params;
	const { userId, userPublicKey } = identityOf(signer, params);
	const url = executeUrl(api);
	return { url, sessionId, initialPayload: initialPayload(), startStepName, userId, userPublicKey };
}

export interface PreparedCall extends CallFacts, Pick<CheckedItem, 'wait'> {
	readonly api: Credentials['api'];
	/** The options as evaluated when the item is processed. */
	readonly options: ExecuteParams;
	/** Builds the body of one request, with the time of the request as its timestamp. */
	readonly body: () => ExecuteBody;
	/** The values that no text may contain. */
	readonly secrets: readonly string[];
	/** The secrets that are masked in the response. The user's public key is not, because the agent may work with it. */
	readonly echoed: readonly string[];
	readonly sessionId: string;
	/** A key of the session, its service and its user. */
	readonly conversation: string;
}

/** Prepares the call when the item is processed. @throws NodeError 400 if an expression now returns a wrong value */
export function callOf({ params, credentials, ...item }: CheckedItem): PreparedCall {
	const { api, signer } = credentials;
	const options = item.paramsNow();
	const identity = identityOf(signer, options);
	const secrets = secretsOf(api, identity);
	const sessionId = params.sessionId || randomUUID();
	const { startStepName } = params;
	const initialPayload = item.initialPayload();
	return {
		api,
		options,
		secrets,
		sessionId,
		wait: item.wait,
		url: executeUrl(api),
		body: () => ({ sessionId, initialPayload, startStepName, ...identityOf(signer, options) }),
		conversation: JSON.stringify([api.webSocketUrl, identity.userPublicKey, sessionId]),
		echoed: [api.apiKey, identity.signature],
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

/**
 * Sends the execute call, and sends it again only if it was certainly not accepted.
 * @param hooks for each try: `ready` is called before it and throws if nothing may be sent; `sending` when the request is sent
 * @throws NodeError for anything but a response with a status from 200 to 299
 */
export async function execute(
	context: IExecuteFunctions,
	call: PreparedCall,
	memory: MemoryBudget,
	hooks: { ready(): Promise<void>; sending(body: ExecuteBody): void },
): Promise<Answer> {
	const { timeoutSeconds, maxTries, maxRetryWaitSeconds } = call.options;
	const signal = context.getExecutionCancelSignal();
	const limits = { timeoutMilliseconds: timeoutSeconds * 1000, signal };
	const once = async (stop: AbortSignal) => {
		memory.release();
		const body = call.body();
		const raw = new RawResponse();
		const send = () => {
			hooks.sending(body);
			// Not httpRequestWithAuthentication(), which reads the credential from the database for each request, and sends a call again after
			// a 401.
			return context.helpers.httpRequest({
				...plainRequest,
				method: 'POST',
				url: call.url,
				headers: { 'Content-Type': 'application/json', 'x-api-key': call.api.apiKey },
				body: JSON.stringify(body),
				ignoreHttpStatusErrors: true,
				skipSslCertificateValidation: call.api.allowUnauthorizedCerts,
				timeout: limits.timeoutMilliseconds,
				abortSignal: stop,
			}) as Promise<FullResponse>;
		};
		const response = await unlessAborted(raw.watch(send), stop);
		return await answerOf(response, raw, call, memory, stop);
	};
	return await withRetries(
		async () => {
			await hooks.ready();
			return await attempt(once, limits, callErrors(call));
		},
		{ harmless: false, reading: false },
		{ words: retryWords, maxTries, maxRetryWaitMilliseconds: maxRetryWaitSeconds * 1000, signal },
	);
}

async function answerOf(
	response: FullResponse,
	raw: RawResponse,
	call: PreparedCall,
	memory: MemoryBudget,
	signal: AbortSignal,
): Promise<Answer> {
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
	return answer;
}
