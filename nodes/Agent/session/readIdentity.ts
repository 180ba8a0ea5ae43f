import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { channelBase } from './addresses';
import { checkAllowedHost } from './allowedHosts';
import type { ReadIdentity } from './connection';
import { egressFilterOf } from './egress';
import { agentApiCredential, agentSignatureCredential, identityOf, type IdentityOverrides } from './identity';

interface CredentialReader {
	readonly helpers: Parameters<typeof egressFilterOf>[0];
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
}

/** Reads both credentials as they are now, and signs in with the time as it is now; n8n's policy goes with them. */
export function identityReader(context: CredentialReader, overrides: IdentityOverrides = {}): ReadIdentity {
	return async () => {
		const api = agentApiCredential(await context.getCredentials('agentApi'));
		const signer = agentSignatureCredential(await context.getCredentials('agentSignatureApi'));
		checkAllowedHost(signer, channelBase(api));
		return { api, identity: identityOf(signer, overrides), egress: egressFilterOf(context.helpers) };
	};
}
