import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { channelBase } from './urls';
import { checkAllowedHost } from './allowedHosts';
import type { ReadIdentity } from './connection';
import { egressFilterOf } from './egress';
import {
	type AgentApiCredential,
	agentApiCredential,
	type AgentSignatureCredential,
	agentSignatureCredential,
	identityOf,
	type IdentityOverrides,
} from './identity';

export interface Credentials {
	readonly api: AgentApiCredential;
	readonly signer: AgentSignatureCredential;
}

interface CredentialReader {
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
}

/** Both credentials as they are now. @throws n8n's error, Failure 400 */
export async function readCredentials(context: CredentialReader): Promise<Credentials> {
	return {
		api: agentApiCredential(await context.getCredentials('agentApi')),
		signer: agentSignatureCredential(await context.getCredentials('agentSignatureApi')),
	};
}

interface IdentityContext extends CredentialReader {
	readonly helpers: Parameters<typeof egressFilterOf>[0];
}

/** Reads both credentials as they are now, and signs in with the time as it is now; n8n's policy goes with them. */
export function identityReader(context: IdentityContext, overrides: IdentityOverrides = {}): ReadIdentity {
	return async () => {
		const { api, signer } = await readCredentials(context);
		checkAllowedHost(signer, channelBase(api));
		return { api, identity: identityOf(signer, overrides), egress: egressFilterOf(context.helpers) };
	};
}
