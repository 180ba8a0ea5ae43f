import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IExecuteFunctions } from 'n8n-workflow';

import type { RawParameters } from '../../fields/rawParameters';
import { Sanitizer } from '../../core/sanitizer';
import {
	attemptRequest,
	awaitResponse,
	baseRequestOptions,
	type FullResponse,
} from '../../http/attempt';
import { readBody, readBodyStart } from '../../http/body';
import { Gate } from '../../http/gate';
import { withRetries } from '../../http/loop';
import {
	checkAllowedHost,
	type AgentCredentials,
	buildIdentity,
	listSecrets,
	buildChannelBaseUrl,
	buildExecuteUrl,
} from '../session/credentials';
import { agentTexts, convertFailedResponse, convertThrownError } from './errors';
import { buildPayload, readItemParameters, readWaitSettings } from './parameters';
import { parseResponseContent, type ResponseContent } from './response';
import type { Turn } from './wait/turn';

/** A call, with what was sent and received so far. */
export interface AgentCall extends ReturnType<typeof prepareCall> {
	/** The body of the last request. */
	sentBody?: ReturnType<AgentCall['buildBody']>;
	/** The response, if the call succeeded. */
	response?: { readonly statusCode: number; readonly content: ResponseContent };
	/** What has happened since the last request, if the item waits for messages. */
	turn?: Turn;
}

/**
 * Reads and checks the parameters of one item and the credentials.
 * @throws NodeError 400 if a parameter or credential is wrong
 */
export function prepareCall(
	rawParameters: RawParameters,
	index: number,
	{ api, signatureApi }: AgentCredentials,
) {
	const { params, override } = readItemParameters(rawParameters, index);
	const wait = readWaitSettings(params);
	const url = buildExecuteUrl(api);
	checkAllowedHost(signatureApi, api, new URL(url));
	if (wait) checkAllowedHost(signatureApi, api, buildChannelBaseUrl(api));
	const identity = buildIdentity(signatureApi, override);
	const sessionId = params.sessionId || randomUUID();
	return {
		api,
		params,
		override,
		wait,
		url,
		sessionId,
		/** Identifies the session with its service and user. */
		sessionKey: JSON.stringify([api.webSocketUrl, identity.userPublicKey, sessionId]),
		/** Builds the seven fields of one request. Each request has its own timestamp. */
		buildBody: () => ({
			sessionId,
			initialPayload: buildPayload(params),
			startStepName: params.startStepName,
			...buildIdentity(signatureApi, override),
		}),
		/** Knows the secrets of this call, also those of a signature of its own. */
		sanitizer: new Sanitizer(listSecrets(api, identity)),
		/**
		 * The secrets that are replaced in the response. The user's public key stays, because the
		 * agent may work with it.
		 */
		responseSecrets: [api.apiKey, identity.signature],
	};
}

/**
 * Builds what identifies a call in every try of the node, so that a later try knows whether the
 * item was already sent.
 */
export function getRequestIdentity({ url, params, buildBody }: AgentCall): unknown {
	const { initialPayload, startStepName, userId, userPublicKey } = buildBody();
	const { sessionId } = params;
	return { url, sessionId, initialPayload, startStepName, userId, userPublicKey };
}

/**
 * Sends the execute call, and sends it again only if the service certainly did not accept it.
 * @param prepareAttempt called before each attempt. Throws if nothing may be sent
 * @throws NodeError if there is no response, or its status is not from 200 to 299
 */
export async function sendExecuteCall(
	context: IExecuteFunctions,
	call: AgentCall,
	prepareAttempt?: () => Promise<void>,
): Promise<void> {
	const { params, url } = call;
	const signal = context.getExecutionCancelSignal();
	const attemptSettings = {
		timeoutMilliseconds: params.timeoutSeconds * 1000,
		signal,
		texts: agentTexts,
		toRequestError: (error: unknown) => convertThrownError(error, url),
	};
	call.response = await withRetries(
		async () => {
			await prepareAttempt?.();
			return await attemptRequest(
				(attemptSignal) => sendAttempt(context, call, attemptSignal),
				attemptSettings,
			);
		},
		{ repeat: 'ifNotDone', hasVisibleEffect: true },
		{
			texts: agentTexts,
			maxRetryWaitMilliseconds: params.maxRetryWaitSeconds * 1000,
			signal,
			// It is not known which calls share a quota of the service, so each pauses by itself.
			gate: new Gate(),
		},
	);
}

async function sendAttempt({ helpers }: IExecuteFunctions, call: AgentCall, signal: AbortSignal) {
	const body = call.buildBody();
	call.sentBody = body;
	// httpRequestWithAuthentication() would read the credential from n8n's database for each
	// request, and repeat the call after a 401.
	const send = () =>
		helpers.httpRequest({
			...baseRequestOptions,
			method: 'POST',
			url: call.url,
			headers: {
				'Content-Type': 'application/json',
				// n8n's client takes truncated compressed data for complete data.
				'Accept-Encoding': 'identity',
				'x-api-key': call.api.apiKey,
			},
			body: JSON.stringify(body),
			ignoreHttpStatusErrors: true,
			skipSslCertificateValidation: call.api.allowUnauthorizedCerts,
			timeout: call.params.timeoutSeconds * 1000,
			abortSignal: signal,
		}) as Promise<FullResponse>;
	const response = await awaitResponse(send, call.url, signal);
	return await readResponse(response, call, signal);
}

async function readResponse(
	response: FullResponse,
	{ sanitizer, responseSecrets }: AgentCall,
	signal: AbortSignal,
) {
	const { statusCode } = response;
	const headers = response.headers as IncomingHttpHeaders;
	if (statusCode < 200 || statusCode > 299) {
		const body = await readBodyStart(response.body);
		throw convertFailedResponse({ statusCode, headers, body }, sanitizer);
	}
	const body = await readBody(response, signal);
	const content = parseResponseContent({ statusCode, headers, body }, responseSecrets);
	return { statusCode, content };
}
