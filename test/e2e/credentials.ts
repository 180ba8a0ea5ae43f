// What tests store in n8n, so that a node reaches the stand-ins.
import type { AgentService } from '../../dev/agent-service/server.ts';
import { buildSignedInCredential } from '../../dev/google/credential.ts';
import type { GoogleServer } from '../../dev/google/server.ts';
import type { N8nApi } from '../../dev/n8n/n8nApi.ts';

export interface Credential {
	readonly id: string;
	readonly name: string;
}

/** As a node has them, by type. */
export type Credentials = Readonly<Record<string, Credential>>;

export const secrets = {
	apiKey: 'canary-api-key-b1d7',
	signature: '0xc0ffee0987654321',
	userPublicKey: '0xfeedbeef87654321',
};

/** Stores both credentials of an agent's nodes. */
export async function storeAgent(
	api: N8nApi,
	{ url, webSocketUrl, apiKey }: Pick<AgentService, 'url' | 'webSocketUrl' | 'apiKey'>,
): Promise<Credentials> {
	const { signature, userPublicKey } = secrets;
	const addresses = { deploymentUrl: url, webSocketUrl, apiKey };
	const signer = { userId: '0xa1', userPublicKey, signature };
	return {
		agentApi: await api.createCredential('agentApi', 'Agent', addresses),
		agentSignatureApi: await api.createCredential('agentSignatureApi', 'Signature', signer),
	};
}

/** Stores a sign-in at the stand-in. @param scopes that it has; by default the standard ones */
export async function storeSignIn(
	api: N8nApi,
	{ url, tokens }: GoogleServer,
	scopes?: readonly string[],
): Promise<Credentials> {
	const accessToken = tokens.issue({ scopes });
	const refreshToken = tokens.issueRefresh({ scopes });
	const data = buildSignedInCredential(url, { accessToken, refreshToken });
	return {
		workspaceOAuth2Api: await api.createCredential('workspaceOAuth2Api', 'Workspace', data),
	};
}
