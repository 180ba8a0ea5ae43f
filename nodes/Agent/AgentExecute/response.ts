import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { unescape as decodePercents } from 'node:querystring';

import { secretMask } from '../../core/secretSearch';
import { shorten } from '../../core/text';
import type { Sanitize } from '../../core/sanitizer';
import { mayBeJson } from '../../http/body';

/** A complete response of the agent service. */
export interface AgentResponse {
	readonly statusCode: number;
	readonly headers: IncomingHttpHeaders;
	readonly body: Buffer;
}

/** The content of a body. `response` is parsed JSON, a text, or null for an empty body. `bytes` become `binary.data` of the item. */
type ResponseContent =
	| { readonly response: unknown }
	| { readonly bytes: Buffer; readonly mimeType: string; readonly fileName: string | undefined };

/** Secrets are replaced only in shorter texts, such as error pages that repeat the request. A longer text is the agent's work. */
const maxEchoCharacters = 64 * 1024;
/** A shorter secret may be a common word. */
const minSecretCharacters = 8;

/** Parses a body: JSON to its value, text to a string, and other media types to bytes. @param secrets the secrets to replace in the text */
export function parseResponseContent(
	agentResponse: AgentResponse,
	secrets: string[] = [],
): ResponseContent {
	const { body, headers } = agentResponse;
	const longSecrets = secrets.filter(({ length }) => length >= minSecretCharacters);
	const replaceSecrets = (text: string) =>
		longSecrets.reduce(
			(replacedText, secret) => replacedText.replaceAll(secret, secretMask),
			text,
		);
	if (body.length === 0) return { response: null };
	const { mimeType, decoder } = parseContentType(headers);
	const isText = mimeType === '' ? isUtf8(body) : textTypePattern.test(mimeType);
	if (!isText) {
		const fileName = replaceSecrets(parseFileName(headers) ?? '') || undefined;
		return { bytes: body, mimeType: mimeType || 'application/octet-stream', fileName };
	}
	const originalText = decoder.decode(body);
	const text =
		originalText.length <= maxEchoCharacters ? replaceSecrets(originalText) : originalText;
	return { response: isJsonType(mimeType) ? parseJsonOrText(text) : text };
}

/** Parses the media type and the character set. Without a media type, the body is decoded as UTF-8. */
function parseContentType(headers: IncomingHttpHeaders) {
	const contentType = headers['content-type'] ?? '';
	const mimeType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
	const charset = mimeType === '' ? undefined : /charset="?([^";\s]+)/i.exec(contentType)?.[1];
	return { mimeType, decoder: createDecoder(charset) };
}

const textTypePattern =
	/^text\/|\+(?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|(?:nd)?json|jsonl|jsonlines|toml|www-form-urlencoded|xml|yaml)$/;

/** Whether the body may be JSON: it has a media type of JSON, or no media type. */
const isJsonType = (mimeType: string) => /^(?:(?:application|text)\/json)?$|\+json$/.test(mimeType);

/** Finds the JSON of a response, in UTF-8, to estimate the cost of parsing. Returns undefined unless it may be an object or a list. */
export function findJsonBytes({ body, headers }: AgentResponse): Buffer | undefined {
	const { mimeType, decoder } = parseContentType(headers);
	if (!isJsonType(mimeType)) return undefined;
	const json = decoder.encoding === 'utf-8' ? body : Buffer.from(decoder.decode(body));
	return mayBeJson(json) ? json : undefined;
}

function createDecoder(charset = 'utf-8'): InstanceType<typeof TextDecoder> {
	try {
		return new TextDecoder(charset);
	} catch {
		// Node does not know the character set. With UTF-8, at least ASCII characters are readable.
		return new TextDecoder();
	}
}

function parseJsonOrText(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// The service sent text with the media type of JSON.
		return text;
	}
}

/** Parses the file name. In RFC 6266, `filename*` is the full name in UTF-8, and `filename` is a simpler name for old clients. */
function parseFileName(headers: IncomingHttpHeaders): string | undefined {
	const disposition = headers['content-disposition'] ?? '';
	const [, encodedName] = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
	if (encodedName !== undefined) return decodePercents(encodedName);
	const [, quotedName, plainName] =
		/filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]+))/i.exec(disposition) ?? [];
	return quotedName?.replaceAll(/\\(.)/g, '$1') ?? plainName?.trim();
}

/** How much of the decompressed body of an error is parsed. A longer body is not an error message. */
const maxParsedErrorBytes = 1024 * 1024;
/** The excerpt comes from this part of the text. The part is longer than the excerpt, because tags and spaces are removed. */
const maxExcerptSourceCharacters = 64 * 1024;
const maxExcerptCharacters = 300;

/** Builds an excerpt of the response: the beginning of its error message or text, sanitized. */
export function buildExcerpt(agentResponse: AgentResponse, sanitize: Sanitize): string {
	const body = agentResponse.body.subarray(0, maxParsedErrorBytes);
	const content = parseResponseContent({ ...agentResponse, body });
	if (!('response' in content) || content.response === null) return '';
	const { response } = content;
	const text =
		typeof response === 'string'
			? response.slice(0, maxExcerptSourceCharacters).replace(markupPattern, ' ')
			: (findErrorMessage(response) ?? body.toString('utf8'));
	const singleLine = text.slice(0, maxExcerptSourceCharacters).replace(/\s+/g, ' ');
	return shorten(sanitize(singleLine).trim(), maxExcerptCharacters);
}

/** Matches tags, and scripts and styles with their content, in linear time. */
const markupPattern = /<(style|script)\b[^]*?(?:<\/\1[^<>]*>?|$)|<[^<>]*>/gi;

/** Searches the usual fields of a JSON error, such as `error.message`. */
function findErrorMessage(response: unknown, depth = 0): string | undefined {
	if (typeof response !== 'object' || response === null || depth > 4) return undefined;
	if ('message' in response && typeof response.message === 'string') return response.message;
	if (!('error' in response)) return undefined;
	return typeof response.error === 'string'
		? response.error
		: findErrorMessage(response.error, depth + 1);
}
