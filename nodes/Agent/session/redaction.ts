import type { AgentApiCredential, Identity } from './identity';

/** Takes the place of a secret in a text. */
const mask = '•••';

/** What must never appear in a text. */
export function secretsOf(credential: Pick<AgentApiCredential, 'apiKey'>, identity: Identity): string[] {
	return [credential.apiKey, identity.signature, identity.userPublicKey];
}
