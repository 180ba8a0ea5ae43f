import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseDisposition } from 'content-disposition';

import { secretMask } from '../../core/secretSearch';
import { buildExcerpt } from '../../core/text';
import type { Sanitizer } from '../../core/sanitizer';
import { BodyError, mayBeJson } from '../../http/body';
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

/** Media types of JSON, and a missing media type, because services may leave it out. */
const jsonTypePattern = /^$|\bjson$/;
/** Media types of JSON and other texts. */
const textTypePattern =
	/^$|^text\/|\b(?:json|jsonl|ndjson|xml|yaml|javascript|x-www-form-urlencoded)$/;

/**
 * Parses a body: JSON to its value, another text in UTF-8 to a string, and everything else to
 * bytes. An object or array is JSON whatever its type, because services differ in what they call
 * it.
 * @param secrets the secrets to replace in the text and in the name of a file
 * @throws BodyError if reading the JSON would block n8n, or take more memory than it has
 */
export function parseResponseContent(
	{ body, headers }: RawResponse,
	secrets: readonly string[] = [],
): ResponseContent {
	if (body.length === 0) return { response: null };
	const mediaType = getMediaType(headers);
	const isJsonType = jsonTypePattern.test(mediaType);
	const shownBody = maskEcho(body, secrets);
	const json = isJsonType || mayBeJson(body) ? parseJsonContent(shownBody) : undefined;
	if (json) return { response: json.message };
	if (isJsonType && mayBeJson(body) && !canParse(body)) throw new BodyError('tooCostly');
	if (textTypePattern.test(mediaType) && isUtf8(body))
		return { response: new TextDecoder().decode(shownBody) };
	const { filename } = parseDisposition(headers['content-disposition'] ?? '').parameters;
	return {
		bytes: body,
		mimeType: mediaType || 'application/octet-stream',
		fileName: filename && maskSecrets(filename, secrets),
	};
}

function getMediaType(headers: IncomingHttpHeaders): string {
	const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
	return mediaType.trim().toLowerCase();
}

/** A longer text is the agent's work, and no error page that repeats the request. */
const maxEchoBytes = 64 * 1024;
/** A shorter secret may be a common word. */
const minSecretCharacters = 8;

/** Replaces the secrets in a short text. */
function maskEcho(body: Buffer, secrets: readonly string[]): Buffer {
	if (body.length > maxEchoBytes || !isUtf8(body)) return body;
	return Buffer.from(maskSecrets(body.toString(), secrets));
}

function maskSecrets(text: string, secrets: readonly string[]): string {
	let maskedText = text;
	for (const secret of secrets)
		if (secret.length >= minSecretCharacters)
			maskedText = maskedText.replaceAll(secret, secretMask);
	return maskedText;
}

/** Builds a sanitized excerpt of the response. A web page and a file have none. */
export function quoteResponse({ body, headers }: RawResponse, sanitizer: Sanitizer): string {
	if (!textTypePattern.test(getMediaType(headers))) return '';
	return buildExcerpt(sanitizer.sanitizeText(body.toString()));
}
