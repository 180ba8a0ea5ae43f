import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { unescape as decodePercents } from 'node:querystring';

import { dots } from '../../core/secretSearch';
import { shorten } from '../../core/text';
import { isRecord } from '../../fields/values';
import { mayBeJson } from '../../http/body';
import type { Sanitize } from '../session/credentials';
import { findText, type SessionMessage } from '../session/messages';
import type { WaitEndReason } from './waitEnd';
import type { ExecuteParams } from './parameters';

/** A complete response of the agent service. */
export interface AgentResponse {
	readonly statusCode: number;
	readonly headers: IncomingHttpHeaders;
	readonly body: Buffer;
}

/** The content of a body for the output item: parsed JSON, text, null if it is empty, or the bytes of `binary.data`. */
type ResponseContent =
	| { readonly response: unknown }
	| { readonly bytes: Buffer; readonly mimeType: string; readonly fileName: string | undefined };

/** In characters. A longer text is not searched for secrets, because it is the agent's work and does not merely repeat the call. */
const maxEchoLength = 64 * 1024;
/** In characters. A shorter secret may be a common word. */
const minSecretLength = 8;

/** Parses JSON, keeps text, and returns anything else as bytes. @param secrets the secrets to replace in the text */
export function parseResponseContent(answer: AgentResponse, secrets: string[] = []): ResponseContent {
	const { body, headers } = answer;
	const replaceable = secrets.filter(({ length }) => length >= minSecretLength);
	const replaceSecrets = (text: string) =>
		replaceable.reduce((rest, secret) => rest.replaceAll(secret, dots), text);
	if (body.length === 0) return { response: null };
	const { mimeType, decoder } = parseContentType(headers);
	const isText = mimeType === '' ? isUtf8(body) : textTypePattern.test(mimeType);
	if (!isText) {
		const fileName = replaceSecrets(parseFileName(headers) ?? '') || undefined;
		return { bytes: body, mimeType: mimeType || 'application/octet-stream', fileName };
	}
	const plain = decoder.decode(body);
	const text = plain.length <= maxEchoLength ? replaceSecrets(plain) : plain;
	return { response: isJsonType(mimeType) ? parseJsonOrText(text) : text };
}

/** A body without a media type is read as UTF-8. */
function parseContentType(headers: IncomingHttpHeaders) {
	const contentType = headers['content-type'] ?? '';
	const mimeType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
	const charset = mimeType === '' ? undefined : /charset="?([^";\s]+)/i.exec(contentType)?.[1];
	return { mimeType, decoder: createDecoder(charset) };
}

const textTypePattern =
	/^text\/|\+(?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|(?:nd)?json|jsonl|jsonlines|toml|www-form-urlencoded|xml|yaml)$/;

/** Whether the body may be JSON, by its media type or because it has none. */
const isJsonType = (mimeType: string) => /^(?:(?:application|text)\/json)?$|\+json$/.test(mimeType);

/** Converts JSON to UTF-8, because other character sets do not show what parsing will cost. Undefined for text and bytes. */
export function getJsonBytes({ body, headers }: AgentResponse): Buffer | undefined {
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

/** RFC 6266: `filename*` has the full name, in UTF-8, and `filename` one for old clients. */
function parseFileName(headers: IncomingHttpHeaders): string | undefined {
	const disposition = headers['content-disposition'] ?? '';
	const [, encoded] = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
	if (encoded !== undefined) return decodePercents(encoded);
	const [, quoted, plain] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]+))/i.exec(disposition) ?? [];
	return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain?.trim();
}

/** The text of the messages; null if none has text. @param endedBy `match` means that the last message ended the wait */
export function joinMessageTexts(
	messages: readonly SessionMessage[],
	textField: string,
	textPieces: ExecuteParams['textPieces'],
	endedBy: WaitEndReason,
): string | null {
	const turn = new TurnText(textPieces);
	let last: string | null = null;
	for (const [index, { message }] of messages.entries()) {
		const text = findText(message, textField);
		if (text === undefined) continue;
		turn.add(text, endedBy === 'match' && index === messages.length - 1);
		last = text;
	}
	return last === null || textPieces === 'last' ? last : turn.text;
}

/** The texts of a turn, joined to one. */
export class TurnText {
	text = '';
	readonly #joinsPieces: boolean;
	#pieceCount = 0;
	/** Total length of the trimmed pieces. A shorter piece cannot be the whole text. */
	#piecesLength = 0;

	constructor(textPieces: ExecuteParams['textPieces']) {
		this.#joinsPieces = textPieces === 'joined';
	}

	/** @param isEnd whether the message ends the wait @returns the added paragraph or piece; empty if the piece repeats the whole text */
	add(text: string, isEnd: boolean): string {
		const piece = text.trim();
		// The second of only two pieces may equal the first: 123123 may arrive as 123 and 123.
		const mayBeWhole = this.#joinsPieces && piece !== '' && (isEnd || this.#pieceCount > 1);
		if (piece !== '') this.#pieceCount++;
		// The lengths are compared first, because comparing the whole text with each piece takes quadratic time.
		if (mayBeWhole && piece.length >= this.#piecesLength && piece === this.text.trim()) return '';
		const separator = this.#joinsPieces || this.text === '' ? '' : '\n\n';
		this.text += separator + text;
		this.#piecesLength += piece.length;
		return separator + text;
	}
}

/** How much of the body of an error is read. A longer body is not an error message. */
const maxErrorBodyBytes = 1024 * 1024;
/** How many characters are searched for the text to show. */
const maxSearchedLength = 64 * 1024;
const maxExcerptLength = 300;

/** The beginning of the response's error message or text, without secrets. */
export function buildExcerpt(answer: AgentResponse, { sanitize }: { readonly sanitize: Sanitize }): string {
	const body = answer.body.subarray(0, maxErrorBodyBytes);
	const content = parseResponseContent({ ...answer, body });
	if (!('response' in content) || content.response === null) return '';
	const { response } = content;
	const text =
		typeof response === 'string'
			? response.slice(0, maxSearchedLength).replace(markupPattern, ' ')
			: (findErrorMessage(response) ?? body.toString('utf8'));
	return shorten(sanitize(text.slice(0, maxSearchedLength).replace(/\s+/g, ' ')).trim(), maxExcerptLength);
}

/** Matches tags, and scripts and styles with their content, in linear time. */
const markupPattern = /<(style|script)\b[^]*?(?:<\/\1[^<>]*>?|$)|<[^<>]*>/gi;

/** Looks in the usual places of a JSON error. */
function findErrorMessage(response: unknown, depth = 0): string | undefined {
	if (typeof response !== 'object' || response === null || depth > 4) return undefined;
	if ('message' in response && typeof response.message === 'string') return response.message;
	if (!('error' in response)) return undefined;
	return typeof response.error === 'string' ? response.error : findErrorMessage(response.error, depth + 1);
}

const maxNamedTexts = 10;
const maxNameLength = 40;

/** The names of the fields of the messages, separated by commas. Empty if they have none. */
export const describeFields = (messages: ReadonlyArray<{ readonly message: unknown }>): string =>
	listDistinct(messages.flatMap(({ message }) => (isRecord(message) ? Object.keys(message) : []))).join(', ');

/** The first different texts, shortened. */
export function listDistinct(texts: ReadonlyArray<string | undefined>): string[] {
	const different = new Set<string>();
	for (const text of texts) {
		if (text !== undefined) different.add(shorten(text, maxNameLength));
		// Stops early, because there may be a million texts.
		if (different.size > maxNamedTexts) return [...[...different].slice(0, maxNamedTexts), '…'];
	}
	return [...different];
}
