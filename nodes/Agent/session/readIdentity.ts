import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { ReadIdentity } from './connection';
import { agentApiCredential, agentSignatureCredential, identityOf, type IdentityOverrides } from './identity';

interface CredentialReader {
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
}

/** Reads both credentials as they are now, and signs in with the time as it is now. */
export function identityReader(context: CredentialReader, overrides: IdentityOverrides = {}): ReadIdentity {
	return async () => {
		const api = agentApiCredential(await context.getCredentials('agentApi'));
		const signer = agentSignatureCredential(await context.getCredentials('agentSignatureApi'));
		return { api, identity: identityOf(signer, overrides) };
	};
}
