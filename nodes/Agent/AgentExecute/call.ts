import { randomUUID } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import {
	type AgentApiCredential,
	agentApiCredential,
	type AgentSignatureCredential,
	agentSignatureCredential,
	executeUrl,
	channelUrl,
	identityOf,
} from '../session/identity';
import type { NodeParameters } from '../../items/nodeParameters';
import type { ReadIdentity } from '../session/connection';
import { identityReader } from '../session/readIdentity';
import { redact, secretsOf } from '../session/redaction';
import { itemParameters } from './parameters';
import type { ExecuteCall } from './request';
import { type WaitSettings, waitSettings } from './waitSettings';

export interface PreparedCall extends ExecuteCall {
	/** What the call means, without what differs at every try: tells whether an earlier try sent it already. */
	readonly meaning: unknown;
	readonly includeHeaders: boolean;
	readonly sessionId: string;
	/** Who calls, for the channel: read and signed in anew at every attempt to open it. */
	readonly readIdentity: ReadIdentity;
	/** Undefined: the messages of the session are not awaited. */
	readonly wait: WaitSettings | undefined;
}

export interface Credentials {
	readonly api: AgentApiCredential;
	readonly signer: AgentSignatureCredential;
}

/** Both credentials, read once per run of the node: n8n's own helper reads them with the first item, too. */
export async function readCredentials(context: IExecuteFunctions): Promise<Credentials> {
	return {
		api: agentApiCredential(await context.getCredentials('agentApi')),
		signer: agentSignatureCredential(await context.getCredentials('agentSignatureApi')),
	};
}

/** The execute call of one item. @throws Failure 400 for a parameter or credential that cannot be sent */
export function callOf(
	context: IExecuteFunctions,
	parameters: NodeParameters,
	index: number,
	{ api, signer }: Credentials,
): PreparedCall {
	const { options, startStepName, initialPayload, sessionId } = itemParameters(parameters, index);
	const url = executeUrl(api);
	const identity = identityOf(signer, options);
	const secrets = secretsOf(api, identity);
	const body = { sessionId: sessionId || randomUUID(), initialPayload, startStepName };
	const wait = waitSettings(parameters, index);
	// A wrong address is refused before anything is sent.
	if (wait) channelUrl(api, body.sessionId, identity);
	const { userId, userPublicKey } = identity;
	return {
		...options,
		url,
		apiKey: api.apiKey,
		body: () => ({ ...body, ...identityOf(signer, options) }),
		meaning: { url, sessionId, initialPayload, startStepName, userId, userPublicKey },
		sessionId: body.sessionId,
		readIdentity: identityReader(context, options),
		wait,
		allowUnauthorizedCerts: api.allowUnauthorizedCerts,
		redact: (text) => redact(text, secrets),
	};
}
