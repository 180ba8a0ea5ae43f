import { Sanitizer } from '../../core/secrets/sanitizer';
import type { AgentApiCredential, Identity } from './identity';

/** What must never appear in a text. */
export function secretsOf(credential: Pick<AgentApiCredential, 'apiKey'>, identity: Identity): string[] {
	return [credential.apiKey, identity.signature, identity.userPublicKey];
}

/** More than any text is shown of. */
const maxLength = 16_384;

/** For a text that is cut, or a part of another one, later on. */
export function redact(text: string, secrets: readonly string[]): string {
	return new Sanitizer(secrets).text(text, maxLength);
}
