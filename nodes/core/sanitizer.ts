import type { IDataObject, IExecuteFunctions, Logger } from 'n8n-workflow';

import { getStatusName, type NodeError } from './errors';
import { buildSecretPattern, replaceSecrets, secretMask } from './secretSearch';
import { escapeForEditor, shorten, toSingleLine } from './text';

/**
 * Replaces what looks like anybody's secret: PEM keys, Google's tokens, JSON web tokens, passwords
 * in addresses, values named as secrets.
 */
function replaceLikelySecrets(text: string): string {
	return text
		.replace(
			/-----BEGIN [A-Z ]{0,40}-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/g,
			secretMask,
		)
		.replace(/\b(?:ya29\.|1\/\/|GOCSPX-|AIza)[\w.\-/]{8,}/g, secretMask)
		.replace(/\beyJ[\w-]{4,}\.[\w-]*(?:\.[\w-]*)?/g, secretMask)
		.replace(authorizationPattern, `$1${secretMask}`)
		.replace(/(\/\/)[^\s/@]*@/g, `$1${secretMask}@`)
		.replace(namedSecretPattern, `$1${secretMask}`)
		.replace(quotedSecretPattern, `$1${secretMask}`);
}

/**
 * Matches Bearer, Basic or Digest with what follows. A short word without digits is ordinary
 * language there, as in "basic plan".
 */
const authorizationPattern =
	/\b((?:Bearer|Basic|Digest)(?:\s+|%20|\+))(?=[^\s"'<>,;]*\d|[^\s"'<>,;]{16})[^\s"'<>,;]+/gi;
/**
 * Names under which any service may write a secret, in several spellings, as a part of a pattern.
 */
const secretNameSource =
	'x?[-_]?api[-_]?key|signature|user[-_]?public[-_]?key|client[-_]?secret|private[-_]?key|assertion|(?:access|refresh|id|auth)[-_]?token|password';
/** Matches a value after such a name, in a URL. */
const namedSecretPattern = new RegExp(
	String.raw`((?:${secretNameSource})(?:=|%3D))[^\s&"'\\]+`,
	'gi',
);
/** Matches a value after such a name, in JSON, where it may have spaces. */
const quotedSecretPattern = new RegExp(
	String.raw`((?:${secretNameSource})\\?["']\s{0,4}:\s{0,4}\\?["'])[^"'\\]+`,
	'gi',
);

/** In UTF-16 units. Texts in `details` are not shortened, because `details` are small. */
const maxTextLength = 4000;
const maxMessageLength = 1000;
/**
 * How much more of a text is searched than is shown, so that a secret at the end is searched before
 * it is cut.
 */
const searchedMargin = 4000;

/**
 * Makes any text that may contain untrusted content safe to show, store and log: shortened, on one
 * line, without secrets.
 */
export class Sanitizer {
	readonly #secrets: Set<string>;
	/** Built when a text is searched, because most runs search none. */
	#secretPattern: RegExp | undefined;

	/** @param secrets the secrets of the credentials in use */
	constructor(secrets: Iterable<string> = []) {
		this.#secrets = new Set(secrets);
	}

	addSecrets(secrets: Iterable<string>) {
		const { size } = this.#secrets;
		for (const secret of secrets) this.#secrets.add(secret);
		if (this.#secrets.size > size) this.#secretPattern = undefined;
	}

	sanitizeText(text: string, maxLength = maxTextLength): string {
		const searchedText = toSingleLine(text.slice(0, maxLength + searchedMargin));
		return shorten(this.#replaceSecrets(searchedText), maxLength);
	}

	/**
	 * Returns a copy with sanitized texts and details, and without the cause, which cannot be
	 * sanitized.
	 */
	sanitizeError(failure: NodeError): NodeError {
		const { code, status, message, description, details } = failure;
		return failure.with({
			message: this.sanitizeText(message, maxMessageLength),
			description: description === undefined ? undefined : this.sanitizeText(description),
			status: /^[A-Z][A-Z0-9_]{0,49}$/.test(status) ? status : getStatusName(code),
			details: details && (this.#sanitizeValue(details) as IDataObject),
			cause: undefined,
		});
	}

	/**
	 * Replaces secrets in all keys and texts of the details. Unlike a message, a text there keeps
	 * its line breaks.
	 */
	#sanitizeValue(value: unknown): unknown {
		if (typeof value === 'string') return this.#replaceSecrets(value);
		if (typeof value !== 'object' || value === null) return value;
		if (Array.isArray(value)) return value.map((entry) => this.#sanitizeValue(entry));
		const entries = Object.entries(value).map((pair) =>
			pair.map((part) => this.#sanitizeValue(part)),
		);
		return Object.fromEntries(entries) as unknown;
	}

	#replaceSecrets(text: string): string {
		this.#secretPattern ??= buildSecretPattern(this.#secrets);
		return replaceLikelySecrets(replaceSecrets(text, this.#secretPattern));
	}
}

type LogMethods = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Restricts n8n's log to sanitized texts, which cannot forge another line or contain a secret. */
export function createSanitizedLog(logger: LogMethods, sanitizer: Sanitizer): LogMethods {
	const logAt = (level: keyof LogMethods) => (text: string) => {
		logger[level](sanitizer.sanitizeText(text));
	};
	return {
		debug: logAt('debug'),
		info: logAt('info'),
		warn: logAt('warn'),
		error: logAt('error'),
	};
}

/** Shows hints below the node. */
export function showHints(
	context: IExecuteFunctions,
	hints: Iterable<string>,
	sanitizer: Sanitizer,
) {
	const messages = [...hints].map((hint) => escapeForEditor(sanitizer.sanitizeText(hint)));
	if (messages.length === 0) return;
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}

/**
 * Matches the exact names of secret fields in this package's credentials, and in what n8n stores
 * for a sign-in. Their values are secrets.
 */
const credentialFieldPattern =
	/^(accessToken|access_token|apiKey|clientSecret|id_token|privateKey|refresh_token|signature|userPublicKey)$/;

/** Finds the secrets in a credential's decrypted data. */
export function findSecrets(credential: object): string[] {
	return Object.entries(credential).flatMap(([name, value]: [string, unknown]) => {
		if (typeof value === 'object' && value !== null) return findSecrets(value);
		return typeof value === 'string' && credentialFieldPattern.test(name) ? [value] : [];
	});
}
