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
	buildIdentity,
	buildSanitizeFunction,
	listSecrets,
} from '../session/credentials';
import { buildCallErrors, statusToRequestError, retryWords } from './errors';
import { readItemParameters, readWaitSettings } from './parameters';
import { type AgentResponse, getJsonBytes } from './response';

export type CheckedAgentItem = ReturnType<typeof checkAgentItem>;

/** Checks the input of one item. @throws NodeError 400 for a wrong parameter or credential */
export function checkAgentItem(parameters: NodeParameters, index: number, credentials: AgentCredentials) {
	const { api, signer } = credentials;
	const { params, buildPayload } = readItemParameters(parameters, index);
	const isVerified = !api.allowUnauthorizedCerts;
	checkAllowedHost(signer, new URL(buildExecuteUrl(api)), isVerified);
	buildIdentity(signer, params);
	const wait = readWaitSettings(params);
	if (wait) checkAllowedHost(signer, buildChannelBaseUrl(api), isVerified);
	return { params, buildPayload, wait, credentials };
}

/** Identifies a call by its content, without what differs with each try. With it, a later try knows whether the item was already sent. */
export function buildCallFingerprint({ params, buildPayload, credentials }: CheckedAgentItem): unknown {
	const { sessionId, startStepName } = params;
	const { userId, userPublicKey } = buildIdentity(credentials.signer, params);
	const url = buildExecuteUrl(credentials.api);
	return { url, sessionId, initialPayload: buildPayload(), startStepName, userId, userPublicKey };
}

export type PreparedCall = ReturnType<typeof prepareCall>;

export function prepareCall({ params, wait, buildPayload, credentials }: CheckedAgentItem) {
	const { api, signer } = credentials;
	const identity = buildIdentity(signer, params);
	const secrets = listSecrets(api, identity);
	const sessionId = params.sessionId || randomUUID();
	const { startStepName } = params;
	const initialPayload = buildPayload();
	return {
		api,
		options: params,
		sessionId,
		wait,
		url: buildExecuteUrl(api),
		/** Builds the seven fields of one request, with the time of the request as its timestamp. */
		buildBody: () => ({ sessionId, initialPayload, startStepName, ...buildIdentity(signer, params) }),
		/** A key of the session, its service and its user. */
		conversation: JSON.stringify([api.webSocketUrl, identity.userPublicKey, sessionId]),
		/** The values that no text may contain. */
		secrets,
		/** The secrets that are replaced in the response. The user's public key is not, because the agent may work with it. */
		responseSecrets: [api.apiKey, identity.signature],
		sanitize: buildSanitizeFunction(secrets),
	};
}

/** A call, and what has become of it so far. */
export interface CallProgress {
	readonly call: PreparedCall;
	/** The body of the last request. */
	sent: ReturnType<PreparedCall['buildBody']>;
	answer?: AgentResponse;
}

/**
 * Sends the execute call, and sends it again only if it was certainly not accepted. Puts what was sent and received into `progress`.
 * @param prepareAttempt called before each attempt; throws if nothing may be sent
 * @throws NodeError for anything but a response with a status from 200 to 299
 */
export async function sendExecuteCall(
	context: IExecuteFunctions,
	progress: CallProgress,
	memory: MemoryReservation,
	prepareAttempt: () => Promise<void>,
): Promise<void> {
	const { call } = progress;
	const { timeoutSeconds, maxTries, maxRetryWaitSeconds } = call.options;
	const signal = context.getExecutionCancelSignal();
	const limits = { timeoutMilliseconds: timeoutSeconds * 1000, signal };
	const sendOnce = async (stop: AbortSignal) => {
		memory.release();
		progress.sent = call.buildBody();
		const raw = new RawResponse();
		// Not httpRequestWithAuthentication(), which reads the credential from the database for each request, and sends a call again after
		// a 401.
		const send = () =>
			context.helpers.httpRequest({
				...baseRequestOptions,
				method: 'POST',
				url: call.url,
				headers: { 'Content-Type': 'application/json', 'x-api-key': call.api.apiKey },
				body: JSON.stringify(progress.sent),
				ignoreHttpStatusErrors: true,
				skipSslCertificateValidation: call.api.allowUnauthorizedCerts,
				timeout: limits.timeoutMilliseconds,
				abortSignal: stop,
			}) as Promise<FullResponse>;
		const response = await rejectOnAbort(raw.watch(send), stop);
		return await readAgentResponse(response, raw, call, memory, stop);
	};
	progress.answer = await withRetries(
		async () => {
			await prepareAttempt();
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
	const maxBytes = call.options.maxResponseBytes;
	const packed = await readResponseBody(response.body, { announcedBytes, maxBytes, signal, memory });
	const body = await raw.decompress(packed, memory, maxBytes);
	const answer = { statusCode, headers, body };
	const json = getJsonBytes(answer);
	if (json) await memory.reserveForParsing(json, itemParsingLimits);
	return answer;
}
