import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

import { secretMask } from '../../core/secretSearch';
import { buildExcerpt } from '../../core/text';
import type { Sanitizer } from '../../core/sanitizer';
import { mayBeJson, tryParseJson } from '../../http/body';
import { canParse } from '../../untrusted/jsonParts';

/** A complete response of the agent service. */
export interface AgentResponse {
	readonly statusCode: number;
	readonly headers: IncomingHttpHeaders;
	readonly body: Buffer;
}

/**
 * The content of a body. `response` is parsed JSON, a text, or null for an empty body. `bytes`
 * become `binary.data` of the item.
 */
type ResponseContent =
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
 * Parses a body: JSON to its value, text in UTF-8 to a string, and everything else to bytes.
 * @param secrets the secrets to replace in the text
 */
export function parseResponseContent(
	{ body, headers }: AgentResponse,
	secrets: string[] = [],
): ResponseContent {
	if (body.length === 0) return { response: null };
	const mimeType = getMediaType(headers);
	if (textTypePattern.test(mimeType) && isUtf8(body)) {
		const text = replaceSecrets(new TextDecoder().decode(body), secrets);
		return { response: jsonTypePattern.test(mimeType) ? parseJsonOrText(text) : text };
	}
	const disposition = headers['content-disposition'] ?? '';
	const [, name = ''] = /filename="?([^";]+)/i.exec(disposition) ?? [];
	const fileName = replaceSecrets(name, secrets) || undefined;
	return { bytes: body, mimeType: mimeType || 'application/octet-stream', fileName };
}

function getMediaType(headers: IncomingHttpHeaders): string {
	const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
	return mediaType.trim().toLowerCase();
}

function replaceSecrets(text: string, secrets: readonly string[]): string {
	if (text.length > maxEchoCharacters) return text;
	let replacedText = text;
	for (const secret of secrets)
		if (secret.length >= minSecretCharacters)
			replacedText = replacedText.replaceAll(secret, secretMask);
	return replacedText;
}

/** Whether reading the body would block n8n, or take more memory than it has. */
export const isTooCostlyJson = ({ body, headers }: AgentResponse): boolean =>
	jsonTypePattern.test(getMediaType(headers)) && mayBeJson(body) && !canParse(body);

/** Parses JSON. Returns a text that is no JSON as it is. */
export function parseJsonOrText(text: string): unknown {
	const value = tryParseJson(text);
	return value === undefined ? text : value;
}

/** Builds a sanitized excerpt of the response. A web page and a file have none. */
export function quoteResponse({ body, headers }: AgentResponse, sanitizer: Sanitizer): string {
	if (!textTypePattern.test(getMediaType(headers))) return '';
	return buildExcerpt(sanitizer.sanitizeText(body.toString()));
}
