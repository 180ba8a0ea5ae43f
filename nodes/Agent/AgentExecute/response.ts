import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

import { mask } from '../../core/sanitizer';
import { shortened } from '../../core/errors';
import { isRecord } from '../../fields/values';
import { mayBeJson } from '../../http/body';
import type { Redact } from '../session/credentials';
import { type SessionMessage, valueAt } from '../session/messages';
import type { EndedBy } from './messageCollector';
import type { ExecuteParams } from './parameters';

/** An answer of the agent service, read to its end. */
export interface Answer {
	readonly statusCode: number;
	readonly headers: IncomingHttpHeaders;
	readonly body: Buffer;
}

/** What an output item says of a body: the parsed JSON, the text, null when empty; or the bytes for `binary.data`. */
type Content =
	| { readonly response: unknown }
	| { readonly bytes: Buffer; readonly mimeType: string; readonly fileName: string | undefined };

/** Characters of a text that is searched for secrets. A longer one is the agent's work and no echo of the call. */
const longestEcho = 64 * 1024;
/** Anything shorter may be a word. */
const shortestSecret = 8;

/** JSON is parsed unless it only claims to be, text passed on; anything else is bytes. @param secrets that the service may repeat */
export function contentOf({ body, headers }: Answer, secrets: readonly string[] = []): Content {
	const concealed = (text: string) =>
		secrets
			.filter(({ length }) => length >= shortestSecret)
			.reduce((rest, secret) => rest.replaceAll(secret, mask), text);
	if (body.length === 0) return { response: null };
	const { mimeType, decoder } = typeOf(headers);
	const isText = mimeType === '' ? isUtf8(body) : textType.test(mimeType);
	if (!isText) {
		const fileName = concealed(fileNameOf(headers) ?? '') || undefined;
		return { bytes: body, mimeType: mimeType || 'application/octet-stream', fileName };
	}
	const plain = decoder.decode(body);
	const text = plain.length <= longestEcho ? concealed(plain) : plain;
	return { response: isParsed(mimeType) ? parsedOrText(text) : text };
}

/** What has no media type is UTF-8, if it is text. */
function typeOf(headers: IncomingHttpHeaders) {
	const contentType = headers['content-type'] ?? '';
	const mimeType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
	const charset = mimeType === '' ? undefined : /charset="?([^";\s]+)/i.exec(contentType)?.[1];
	return { mimeType, decoder: decoderOf(charset) };
}

const textType =
	/^text\/|\+(?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|(?:nd)?json|jsonl|jsonlines|toml|www-form-urlencoded|xml|yaml)$/;

/** What has no media type may be JSON, too. */
const isParsed = (mimeType: string) => /^(?:(?:application|text)\/json)?$|\+json$/.test(mimeType);

/** What will be parsed, in UTF-8: in another character set its bytes could hide its cost. Undefined for text and bytes. */
export function jsonIn({ body, headers }: Answer): Buffer | undefined {
	const { mimeType, decoder } = typeOf(headers);
	if (!isParsed(mimeType)) return undefined;
	const json = decoder.encoding === 'utf-8' ? body : Buffer.from(decoder.decode(body));
	return mayBeJson(json) ? json : undefined;
}

function decoderOf(charset = 'utf-8'): InstanceType<typeof TextDecoder> {
	try {
		return new TextDecoder(charset);
	} catch {
		// A label that Node does not know: UTF-8 keeps at least the ASCII part readable.
		return new TextDecoder();
	}
}

function parsedOrText(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// Labelled JSON and is none: the text is what the service said.
		return text;
	}
}

/** RFC 6266: `filename*` has the name with all its characters, `filename` one for old clients. */
function fileNameOf(headers: IncomingHttpHeaders): string | undefined {
	const disposition = headers['content-disposition'] ?? '';
	const [, charset = '', encoded = ''] = /filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
	const bytes = encoded.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
	const name = decoderOf(charset).decode(Buffer.from(bytes, 'latin1'));
	if (name !== '') return name;
	const [, quoted, plain] = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]+))/i.exec(disposition) ?? [];
	return quoted?.replaceAll(/\\(.)/g, '$1') ?? plain?.trim();
}

/** The text of an answer or a message for people: itself, or the field of its JSON, if there is one. @param textField dot path */
export function textIn(content: unknown, textField: string): string | undefined {
	const value = typeof content === 'object' ? valueAt(content, textField) : content;
	if (typeof value === 'string') return value === '' ? undefined : value;
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The text of the messages; null where none has one. @param endedBy `match`: the last one has ended the wait */
export function textOf(
	messages: readonly SessionMessage[],
	textField: string,
	textPieces: ExecuteParams['textPieces'],
	endedBy: EndedBy,
): string | null {
	const turn = new TurnText(textPieces);
	let last: string | null = null;
	for (const [index, { message }] of messages.entries()) {
		const text = textIn(message, textField);
		if (text === undefined) continue;
		turn.add(text, endedBy === 'match' && index === messages.length - 1);
		last = text;
	}
	return last === null || textPieces === 'last' ? last : turn.text;
}

/** What the texts of a turn are together. */
export class TurnText {
	text = '';
	readonly #isJoined: boolean;
	#pieces = 0;
	/** Characters of them without the white space around each: a shorter piece is not the whole text. */
	#length = 0;

	constructor(textPieces: ExecuteParams['textPieces']) {
		this.#isJoined = textPieces === 'joined';
	}

	/** @param isEnd whether its message ends the wait @returns what is added: a paragraph, or the piece unless it is the whole text again */
	add(text: string, isEnd: boolean): string {
		const piece = text.trim();
		// Two pieces may be equal: 123123 may come as 123 and 123.
		const mayBeWhole = this.#isJoined && piece !== '' && (isEnd || this.#pieces > 1);
		if (piece !== '') this.#pieces++;
		// To compare the whole text with every piece would take a time that grows with the square of their number.
		if (mayBeWhole && piece.length >= this.#length && piece === this.text.trim()) return '';
		const separator = this.#isJoined || this.text === '' ? '' : '\n\n';
		this.text += separator + text;
		this.#length += piece.length;
		return separator + text;
	}
}

/** Bytes of an error's body that are read as JSON. A longer body is not a message for people. */
const maxJsonBytes = 1024 * 1024;
/** Characters that are searched for the text that is shown. */
const maxLookedThrough = 64 * 1024;
const maxShown = 300;

/** The beginning of the service's response, without secrets. */
export function excerpt(answer: Answer, { redact }: { readonly redact: Redact }): string {
	const body = answer.body.subarray(0, maxJsonBytes);
	const content = contentOf({ ...answer, body });
	if (!('response' in content) || content.response === null) return '';
	const { response } = content;
	const text =
		typeof response === 'string'
			? response.slice(0, maxLookedThrough).replace(noText, ' ')
			: (messageIn(response) ?? body.toString('utf8'));
	return shortened(redact(text.slice(0, maxLookedThrough).replace(/\s+/g, ' ')).trim(), maxShown);
}

/** Tags, and whole elements whose content is no text. In time that grows with the length of the page. */
const noText = /<(style|script)\b[^]*?(?:<\/\1[^<>]*>?|$)|<[^<>]*>/gi;

/** The usual places of a message in a JSON error. */
function messageIn(response: unknown, depth = 0): string | undefined {
	if (typeof response !== 'object' || response === null || depth > 4) return undefined;
	if ('message' in response && typeof response.message === 'string') return response.message;
	if (!('error' in response)) return undefined;
	return typeof response.error === 'string' ? response.error : messageIn(response.error, depth + 1);
}

const mostNamed = 10;
const longestName = 40;

/** The names of the fields that they have, separated by commas; empty: they have none. */
export const describeFields = (messages: ReadonlyArray<{ readonly message: unknown }>): string =>
	distinct(messages.flatMap(({ message }) => (isRecord(message) ? Object.keys(message) : []))).join(', ');

/** Each once, the first of them, shortened. */
export function distinct(texts: ReadonlyArray<string | undefined>): string[] {
	const different = new Set<string>();
	for (const text of texts) {
		if (text !== undefined) different.add(shortened(text, longestName));
		// There may be a million of them.
		if (different.size > mostNamed) return [...[...different].slice(0, mostNamed), '…'];
	}
	return [...different];
}
