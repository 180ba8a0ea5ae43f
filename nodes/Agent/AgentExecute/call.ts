import { randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { executeUrl, channelUrl } from '../session/urls';
import { checkAllowedHost } from '../session/allowedHosts';
import { identityOf } from '../session/identity';
import type { NodeParameters } from '../../fields/nodeParameters';
import type { ReadIdentity } from '../session/connection';
import { type Credentials, identityReader } from '../session/credentials';
import { redact, secretsOf } from '../session/redaction';
import { type ItemParameters, itemParameters } from './parameters';
import type { KeptTexts } from './payload';
import type { ExecuteCall } from './request';
import { type WaitSettings, waitSettings } from './waitSettings';

export interface PreparedCall extends ExecuteCall {
	/** Secrets that no text may contain. */
	readonly secrets: readonly string[];
	readonly includeHeaders: boolean;
	/** Dot path of the text in a JSON answer or message. */
	readonly textField: string;
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
	checkAllowedHost(signer, new URL(executeUrl(api)));
	const identity = identityOf(signer, params);
	const wait = waitSettings(params);
	if (wait) checkAllowedHost(signer, new URL(channelUrl(api, params.sessionId.trim() || 'new', identity)));
	return { given, wait, credentials };
}

/** The content of the call without the values that differ with every try. Shows whether an earlier try already sent it. */
export function meaningOf({ given, credentials: { api, signer } }: CheckedItem): unknown {
	const { sessionId, startStepName } = given.params;
	const { userId, userPublicKey } = identityOf(signer, given.params);
	const url = executeUrl(api);
	const initialPayload = given.initialPayload();
	return { url, sessionId: sessionId.trim(), initialPayload, startStepName, userId, userPublicKey };
}

/** The execute call of one item, when its turn comes. @throws Failure 400 for what an expression gives by now */
export function callOf(context: IExecuteFunctions, { given, wait, credentials }: CheckedItem): PreparedCall {
	const { api, signer } = credentials;
	const { startStepName } = given.params;
	const sessionId = given.params.sessionId.trim();
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
		url,
		apiKey: api.apiKey,
		body: () => ({ ...body, ...identityOf(signer, options) }),
		sessionId: body.sessionId,
		conversation: JSON.stringify([api.webSocketUrl, identity.userPublicKey, body.sessionId]),
		readIdentity: identityReader(context, options),
		wait,
		allowUnauthorizedCerts: api.allowUnauthorizedCerts,
		secrets,
		redact: (text) => redact(text, secrets),
	};
}
