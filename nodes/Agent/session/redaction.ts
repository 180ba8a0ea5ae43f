import type { AgentApiCredential, Identity } from './identity';

/** Takes the place of a secret in a text. */
const mask = '•••';
/** A secret that a server cut off at the end of a text: fewer characters than this do no harm. */
const leastPrefix = 6;

/** What must never appear in a text. */
export function secretsOf(credential: Pick<AgentApiCredential, 'apiKey'>, identity: Identity): string[] {
	return [credential.apiKey, identity.signature, identity.userPublicKey];
}

/**
 * The text without the secrets: as they are, percent-encoded, in another case, cut off at the text's end; without the
 * value of a query parameter that carries one, and without user names and passwords in addresses (proxies).
 */
export function redact(text: string, secrets: readonly string[]): string {
	let result = text
		.replace(/((?:api_?key|signature|userPublicKey)(?:=|"\s*:\s*"))[^\s&"]+/gi, `$1${mask}`)
		.replace(/(\/\/)[^\s/@]*@/g, `$1${mask}@`);
	// Longest first: a value that contains another one must go as a whole.
	for (const secret of [...secrets].filter(Boolean).sort((a, b) => b.length - a.length)) {
		for (const form of new Set([secret, encoded(secret), JSON.stringify(secret).slice(1, -1)])) {
			result = withoutPrefixAtEnd(result.replace(new RegExp(literal(form), 'gi'), mask), form);
		}
	}
	return result;
}

function withoutPrefixAtEnd(text: string, secret: string): string {
	const tail = text.replace(/(…|\.{3})$/, '').toLowerCase();
	for (let length = Math.min(secret.length - 1, tail.length); length >= leastPrefix; length--) {
		if (tail.endsWith(secret.slice(0, length).toLowerCase()))
			return text.slice(0, tail.length - length) + mask;
	}
	return text;
}

/** Encoded as in the channel's address. */
const encoded = (secret: string) =>
	new URLSearchParams([['', secret]]).toString().slice(1).replaceAll('+', '%20');

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
