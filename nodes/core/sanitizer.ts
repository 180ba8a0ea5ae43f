import type { IDataObject, Logger } from 'n8n-workflow';

import { type NodeError, statusName } from './errors';
import { type Range, SecretSearch } from './secretSearch';
import { onOneLine, shortened } from './text';

/** Replaces a secret in a text. */
export const mask = '•••';

/**
 * Masks anything that looks like a secret of any owner: keys in PEM, Google's tokens, client secrets and
 * API keys, JSON web tokens, what follows `Bearer`, user names and passwords in addresses, and values of
 * parameters, keys and headers that carry secrets.
 */
function withoutTokens(text: string): string {
	return text
		.replace(/-----BEGIN [A-Z ]{0,40}-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/g, mask)
		.replace(/\b(?:ya29\.|1\/\/|GOCSPX-|AIza)[\w.\-/]{8,}/g, mask)
		.replace(/\beyJ[\w-]{4,}\.[\w-]*(?:\.[\w-]*)?/g, mask)
		.replace(
			/\b(Bearer|Basic|Digest)(\s+|%20|\+)(?=[^\s"'<>,;]*\d|[^\s"'<>,;]{16})[^\s"'<>,;]+/gi,
			`$1$2${mask}`,
		)
		.replace(/(\/\/)[^\s/@]*@/g, `$1${mask}@`)
		.replace(namedValue, `$1${mask}`);
}

const names =
	'x?[-_]?api[-_]?key|signature|user[-_]?public[-_]?key|client[-_]?secret|private[-_]?key|assertion|(?:access|refresh|id|auth)[-_]?token|password';
const namedValue = new RegExp(
	String.raw`((?:${names})(?:=|%3D|\\?["']\s{0,4}:\s{0,4}\\?["']))[^\s&"'\\]+`,
	'gi',
);

/** Limit for every text shown to people. Untrusted text is truncated before it is searched. */
const maxTextLength = 4000;
const maxMessageLength = 1000;

/**
 * Makes a text safe to show, store and log: truncates it, puts it on one line, and removes known secrets and anything that looks like
 * one. Every text that may contain untrusted content passes through here.
 */
export class Sanitizer {
	readonly #search = new SecretSearch();
	readonly #known = new Set<string>();

	/** @param secrets of the credentials in use */
	constructor(secrets: Iterable<string> = []) {
		this.learn(secrets);
	}

	/** Adds secrets, because a token changes when it is refreshed. */
	learn(secrets: Iterable<string>): void {
		for (const secret of secrets) {
			if (this.#known.has(secret)) continue;
			this.#known.add(secret);
			this.#search.add(secret);
		}
	}

	text(text: string, maxLength = maxTextLength): string {
		return withoutTokens(this.#withoutKnown(onOneLine(shortened(text, maxLength))));
	}

	/** The failure without its cause, which is not sanitized. */
	failure(failure: NodeError): NodeError {
		const { code, status, message, description, details } = failure;
		return failure.with({
			message: this.text(message, maxMessageLength),
			description: description === undefined ? undefined : this.text(description),
			status: /^[A-Z][A-Z0-9_]{0,49}$/.test(status) ? status : statusName(code),
			details: details && (this.#value(details) as IDataObject),
			cause: undefined,
		});
	}

	/** Data keeps its line breaks. */
	#value(value: unknown): unknown {
		if (typeof value === 'string') return withoutTokens(this.#withoutKnown(value));
		if (typeof value !== 'object' || value === null) return value;
		if (Array.isArray(value)) return value.map((entry) => this.#value(entry));
		const entries = Object.entries(value).map(([key, entry]) => [this.#value(key), this.#value(entry)]);
		return Object.fromEntries(entries) as unknown;
	}

	#withoutKnown(text: string): string {
		return masked(text, this.#search.rangesIn(text));
	}
}

function masked(text: string, ranges: Range[]): string {
	const pieces: string[] = [];
	let done = 0;
	for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
		if (end <= done) continue;
		if (start >= done) pieces.push(text.slice(done, start), mask);
		done = end;
	}
	pieces.push(text.slice(done));
	return pieces.join('');
}

type CleanLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** n8n's log, restricted to sanitized texts: none can forge another line or contain a secret. */
export function cleanLog(logger: CleanLog, sanitizer: Sanitizer): CleanLog {
	const clean = (level: keyof CleanLog) => (text: string) => {
		logger[level](sanitizer.text(text));
	};
	return { debug: clean('debug'), info: clean('info'), warn: clean('warn'), error: clean('error') };
}

/** Secret fields of this package's credentials, and of what n8n stores for a sign-in. */
const secretFields = new Set([
	'accessToken',
	'access_token',
	'apiKey',
	'clientSecret',
	'id_token',
	'privateKey',
	'refresh_token',
	'signature',
	'userPublicKey',
]);

/** The secrets in a credential's decrypted data. */
export function secretsIn(credential: object): string[] {
	return Object.entries(credential).flatMap(([name, value]: [string, unknown]) => {
		if (typeof value === 'object' && value !== null) return secretsIn(value);
		return typeof value === 'string' && secretFields.has(name) ? [value] : [];
	});
}
