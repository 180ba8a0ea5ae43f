import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IExecuteFunctions } from 'n8n-workflow';

import { type NodeParameters } from '../../fields/params';
import { itemParsingLimits, type MemoryReservation } from '../../http/answerMemory';
import { readResponseBody, readErrorBody } from '../../http/body';
import { attemptRequest, type FullResponse, baseRequestOptions, rejectOnAbort } from '../../http/request';
import { RawResponse } from '../../http/rawResponse';
import { withRetries } from '../../http/retry';
import {
	buildChannelBaseUrl,
	checkAllowedHost,
	type AgentCredentials,
	buildExecuteUrl,
	type Identity,
	buildIdentity,
	createRedactor,
	listSecrets,
} from '../session/credentials';
import { buildCallErrors, type CallErrorContext, statusToRequestError, retryWords } from './errors';
import {
	type ExecuteParams,
	readItemParameters,
	type ItemParameters,
	readWaitSettings,
	type WaitSettings,
} from './parameters';
import { type AgentResponse, getJsonBytes } from './response';

/** The checked input of one item. */
export interface CheckedAgentItem extends ItemParameters {
	/** Undefined if the item does not wait for messages. */
	readonly wait: WaitSettings | undefined;
	readonly credentials: AgentCredentials;
}

/** @throws NodeError 400 for a wrong parameter or credential */
export function checkAgentItem(
	parameters: NodeParameters,
	index: number,
	credentials: AgentCredentials,
): CheckedAgentItem {
	const { api, signer } = credentials;
	const given = readItemParameters(parameters, index);
	const isVerified = !api.allowUnauthorizedCerts;
	checkAllowedHost(signer, new URL(buildExecuteUrl(api)), isVerified);
	buildIdentity(signer, given.params);
	const wait = readWaitSettings(given.params);
	if (wait) checkAllowedHost(signer, buildChannelBaseUrl(api), isVerified);
	return { ...given, wait, credentials };
}

/** The content of the call without the values that differ with each try. By it, a later try finds out whether an earlier one sent the item. */
export function buildCallFingerprint({
	params,
	buildPayload: initialPayload,
	credentials: { api, signer },
}: CheckedAgentItem): unknown {
	const { sessionId, startStepName } = params;
	const { userId, userPublicKey } = buildIdentity(signer, params);
	const url = buildExecuteUrl(api);
	return { url, sessionId, initialPayload: initialPayload(), startStepName, userId, userPublicKey };
}

export interface PreparedCall extends CallErrorContext, Pick<CheckedAgentItem, 'wait'> {
	readonly api: AgentCredentials['api'];
	readonly options: ExecuteParams;
	/** Builds the body of one request, with the time of the request as its timestamp. */
	readonly buildBody: () => ExecuteBody;
	/** The values that no text may contain. */
	readonly secrets: readonly string[];
	/** The secrets that are masked in the response. The user's public key is not, because the agent may work with it. */
	readonly maskedSecrets: readonly string[];
	readonly sessionId: string;
	/** A key of the session, its service and its user. */
	readonly conversation: string;
}

export function prepareCall({
	params,
	wait,
	buildPayload,
	credentials: { api, signer },
}: CheckedAgentItem): PreparedCall {
	const identity = buildIdentity(signer, params);
	const secrets = listSecrets(api, identity);
	const sessionId = params.sessionId || randomUUID();
	const { startStepName } = params;
	const initialPayload = buildPayload();
	return {
		api,
		options: params,
		secrets,
		sessionId,
		wait,
		url: buildExecuteUrl(api),
		buildBody: () => ({ sessionId, initialPayload, startStepName, ...buildIdentity(signer, params) }),
		conversation: JSON.stringify([api.webSocketUrl, identity.userPublicKey, sessionId]),
		maskedSecrets: [api.apiKey, identity.signature],
		redact: createRedactor(secrets),
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
 * @param hooks for each attempt: `beforeAttempt` throws if nothing may be sent; `onSend` is called when the request is sent
 * @throws NodeError for anything but a response with a status from 200 to 299
 */
export async function sendExecuteCall(
	context: IExecuteFunctions,
	call: PreparedCall,
	memory: MemoryReservation,
	hooks: { beforeAttempt(): Promise<void>; onSend(body: ExecuteBody): void },
): Promise<AgentResponse> {
	const { timeoutSeconds, maxTries, maxRetryWaitSeconds } = call.options;
	const signal = context.getExecutionCancelSignal();
	const limits = { timeoutMilliseconds: timeoutSeconds * 1000, signal };
	const sendOnce = async (stop: AbortSignal) => {
		memory.release();
		const body = call.buildBody();
		const raw = new RawResponse();
		const send = () => {
			hooks.onSend(body);
			// Not httpRequestWithAuthentication(), which reads the credential from the database for each request, and sends a call again after
			// a 401.
			return context.helpers.httpRequest({
				...baseRequestOptions,
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
		const response = await rejectOnAbort(raw.watch(send), stop);
		return await readAgentResponse(response, raw, call, memory, stop);
	};
	return await withRetries(
		async () => {
			await hooks.beforeAttempt();
			return await attemptRequest(sendOnce, limits, buildCallErrors(call));
		},
		{ isHarmless: false, isRead: false },
		{ words: retryWords, maxTries, maxRetryWaitMilliseconds: maxRetryWaitSeconds * 1000, signal },
	);
}

async function readAgentResponse(
	response: FullResponse,
	raw: RawResponse,
	call: PreparedCall,
	memory: MemoryReservation,
	signal: AbortSignal,
): Promise<AgentResponse> {
	const { statusCode } = response;
	const headers = response.headers as IncomingHttpHeaders;
	if (statusCode < 200 || statusCode > 299) {
		const packed = await readErrorBody(response.body, signal);
		const body = await raw.decompress(packed, memory).catch(() => Buffer.alloc(0));
		throw statusToRequestError({ statusCode, headers, body }, call);
	}
	const announcedBytes = Number(headers['content-length'] ?? 0);
	const limitBytes = call.options.maxResponseBytes;
	const packed = await readResponseBody(response.body, {
		announcedBytes,
		maxBytes: limitBytes,
		signal,
		memory,
	});
	const body = await raw.decompress(packed, memory, limitBytes);
	const answer = { statusCode, headers, body };
	const json = getJsonBytes(answer);
	if (json) await memory.reserveForParsing(json, itemParsingLimits);
	return answer;
}
