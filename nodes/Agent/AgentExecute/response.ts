import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { unescape } from 'node:querystring';

import { secretMask } from '../../core/secretSearch';
import { buildExcerpt } from '../../core/text';
import type { Sanitizer } from '../../core/sanitizer';
import { BodyError, mayBeJson, tryParseJson } from '../../http/body';
import { canParse } from '../../untrusted/jsonParts';
import { parseJsonContent } from '../session/messages';

/** A response of the agent service whose body was read. */
export interface RawResponse {
	readonly statusCode: number;
	readonly headers: IncomingHttpHeaders;
	readonly body: Buffer;
}

/**
 * The content of a body. `response` is parsed JSON, a text, or null for an empty body. `bytes`
 * become `binary.data` of the item.
 */
export type ResponseContent =
	| { readonly response: unknown }
	| { readonly bytes: Buffer; readonly mimeType: string; readonly fileName: string | undefined };

/**
 * Secrets are replaced only in shorter texts, such as error pages that repeat the request. A longer
 * text is the agent's work.
 */
const maxEchoCharacters = 64 * 1024;
/** A shorter secret may be a common word. */
const minSecretCharacters = 8;
const textTypePattern = /^$|^text\/|json|xml|yaml|javascript|x-www-form-urlencoded/;
/** Matches the media types of JSON, and a missing media type. */
const jsonTypePattern = /^(?:(?:application|text)\/json)?$|\+json$/;

/**
 * Parses a body: JSON to its value, text to a string, and everything else to bytes. An object or
 * array is JSON whatever its type, because services differ in what they call it.
 * @param secrets the secrets to replace in the text
 * @throws BodyError if reading the JSON would block n8n, or take more memory than it has
 */
export function parseResponseContent(
	{ body, headers }: RawResponse,
	secrets: string[] = [],
): ResponseContent {
	if (body.length === 0) return { response: null };
	const mimeType = getMediaType(headers);
	const isJson = jsonTypePattern.test(mimeType);
	if (isJson && mayBeJson(body) && !canParse(body)) throw new BodyError('tooCostly');
	const disposition = headers['content-disposition'] ?? '';
	const isText = textTypePattern.test(mimeType);
	const mayBeText = isText || (mayBeJson(body) && !/^\s*attachment\b/i.test(disposition));
	const text = mayBeText ? decodeBody(body, headers) : undefined;
	if (text !== undefined) {
		const shownText = maskSecrets(text, secrets);
		// Only JSON in UTF-8 was checked above.
		const parse = isJson && isUtf8(body) ? parseJsonOrText : parseStructure;
		const response = parse(shownText);
		if (isText || response !== shownText) return { response };
	}
	const fileName = maskSecrets(findFileName(disposition), secrets) || undefined;
	return { bytes: body, mimeType: mimeType || 'application/octet-stream', fileName };
}

/** Returns '' if there is none. A name with other letters than ASCII is encoded (RFC 6266). */
function findFileName(disposition: string): string {
	const [, encoded] = /filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
	if (encoded) return unescape(encoded);
	const [, quoted, name = ''] = /filename=(?:"([^"]*)"|([^";]+))/i.exec(disposition) ?? [];
	return quoted ?? name;
}

function getMediaType(headers: IncomingHttpHeaders): string {
	const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
	return mediaType.trim().toLowerCase();
}

/** Decodes UTF-8, or the character set of the header. @returns undefined if it is neither */
function decodeBody(body: Buffer, headers: IncomingHttpHeaders): string | undefined {
	if (isUtf8(body)) return new TextDecoder().decode(body);
	const [, charset = ''] = /charset="?([^\s";]+)/i.exec(headers['content-type'] ?? '') ?? [];
	try {
		return new TextDecoder(charset, { fatal: true }).decode(body);
	} catch {
		return undefined;
	}
}

/** Parses an object or array, unless that would block n8n. Returns any other text as it is. */
function parseStructure(text: string): unknown {
	const value = parseJsonContent(Buffer.from(text))?.message;
	return Object(value) === value ? value : text;
}

function maskSecrets(text: string, secrets: readonly string[]): string {
	if (text.length > maxEchoCharacters) return text;
	let replacedText = text;
	for (const secret of secrets)
		if (secret.length >= minSecretCharacters)
			replacedText = replacedText.replaceAll(secret, secretMask);
	return replacedText;
}

/** Parses JSON. Returns a text that is no JSON as it is. */
export function parseJsonOrText(text: string): unknown {
	const value = tryParseJson(text);
	return value === undefined ? text : value;
}

/** Builds a sanitized excerpt of the response. A web page and a file have none. */
export function quoteResponse({ body, headers }: RawResponse, sanitizer: Sanitizer): string {
	if (!textTypePattern.test(getMediaType(headers))) return '';
	return buildExcerpt(sanitizer.sanitizeText(body.toString()));
}
