import { isUtf8 } from 'node:buffer';
import type { BinaryHelperFunctions, IBinaryData } from 'n8n-workflow';

import { storeBinary } from '../../core/errors';
import { canParse, parsingCost } from '../../http/body';

/** A number of so many characters may be more than a JavaScript number holds. Also finds the quotes, to pass over texts. */
const quoteOrLongNumber = /"|[-+.\deE]{16,}/g;
const integer = /^-?\d+$/;

/** A JSON text with integers that a JavaScript number cannot hold as texts; undefined where it has none. In linear time. */
export function withDigitsAsText(json: string): string | undefined {
	const parts: string[] = [];
	let copied = 0;
	quoteOrLongNumber.lastIndex = 0;
	for (let found = quoteOrLongNumber.exec(json); found; found = quoteOrLongNumber.exec(json)) {
		const [token] = found;
		if (token === '"') {
			quoteOrLongNumber.lastIndex = endOfText(json, found.index);
			continue;
		}
		if (!integer.test(token) || Number.isSafeInteger(Number(token))) continue;
		parts.push(json.slice(copied, found.index), `"${token}"`);
		copied = found.index + token.length;
	}
	return parts.length === 0 ? undefined : parts.join('') + json.slice(copied);
}

function endOfText(json: string, openingQuote: number): number {
	for (let quote = json.indexOf('"', openingQuote + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
		let backslashes = 0;
		while (json[quote - 1 - backslashes] === '\\') backslashes++;
		if (backslashes % 2 === 0) return quote + 1;
	}
	return json.length;
}

/** How frames are read: `auto` is JSON, else text, and binary frames as binary. */
export type MessageFormat = 'auto' | 'json' | 'text' | 'binary';

/** What a frame holds. Binary content is in `bytes`, with `message` null. */
type MessageContent =
	/** `exact`: with the integers that a JavaScript number cannot hold as texts of their digits; only where there are any. */
	| { readonly format: 'json'; readonly message: unknown; readonly exact?: unknown }
	| { readonly format: 'text'; readonly message: string }
	| { readonly format: 'binary'; readonly message: null; readonly bytes: Buffer };

interface Envelope {
	readonly sessionId: string;
	/** Counts from 1 for as long as the connection lives, over all its channels. */
	readonly sequence: number;
	/** ISO 8601, UTC, milliseconds. */
	readonly receivedAt: string;
	/** On the first message after a gap: how long no channel was open, in milliseconds. */
	readonly gapMs?: number;
	/** Size of the frame's payload. */
	readonly byteLength: number;
}

/** A message as it came: what waits for long is kept so, because JSON takes many times its length in memory once it is parsed. */
export interface SessionFrame extends Envelope {
	readonly data: Buffer;
	readonly isBinary: boolean;
	readonly readAs: MessageFormat;
}

export type SessionMessage = MessageContent &
	Envelope & {
		/** What it takes in memory, where that is more than its length. */
		readonly memoryBytes?: number;
	};

/** Of a frame, besides its own bytes: measured with V8 in Node 24. */
const frameBytes = 600;

/** Bytes that a message takes while it waits: what holds messages counts them. */
export const heldBytes = (message: SessionMessage | SessionFrame): number =>
	'data' in message ? message.byteLength + frameBytes : (message.memoryBytes ?? message.byteLength);

export function messageOf({ data, isBinary, readAs, ...envelope }: SessionFrame): SessionMessage {
	const content = contentOf(data, isBinary, readAs);
	return { ...envelope, ...content, ...(content.format === 'json' && { memoryBytes: parsingCost(data) }) };
}

/** A copy where the frame is a small part of what the socket read at once: it would keep the whole of it in memory. */
const withoutRest = (data: Buffer): Buffer =>
	data.byteLength * 2 < data.buffer.byteLength ? Buffer.from(data) : data;

/** Never throws: what cannot be read as asked is passed on as it came, a text as text, bytes as bytes. */
export function contentOf(data: Buffer, isBinary: boolean, format: MessageFormat): MessageContent {
	if (format === 'binary' || (format === 'auto' && isBinary) || !isUtf8(data)) return asBytes(data);
	const text = data.toString('utf8');
	if (format === 'text') return { format: 'text', message: text };
	const json = canParse(data) ? asJson(text) : undefined;
	return json ?? (isBinary ? asBytes(data) : { format: 'text', message: text });
}

function asJson(text: string): MessageContent | undefined {
	const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
	try {
		const message: unknown = JSON.parse(json);
		const exact = withDigitsAsText(json);
		return { format: 'json', message, ...(exact !== undefined && { exact: JSON.parse(exact) as unknown }) };
	} catch {
		// Not JSON is no fault here: the message goes on as what it is.
		return undefined;
	}
}

function asBytes(data: Buffer): MessageContent {
	return { format: 'binary', message: null, bytes: withoutRest(data) };
}

/**
 * Numbers the frames of a session, over all its channels, and marks the first one after a gap: a time without a channel, when messages
 * may have been lost. Of a trigger it lives on from one start to the next. Times are monotonic milliseconds.
 */
export class FrameSequence {
	#sequence = 0;
	#lost: { readonly at: number; readonly reason: string } | undefined;
	/** Of the gaps that no message has reported yet. */
	#untoldGap: number | undefined;

	/** Counts from 1 again. */
	restart(): void {
		this.#sequence = 0;
	}

	/** The channel was open until then. A second loss before the channel is open again changes nothing. */
	lost(at: number, reason: string): void {
		this.#lost ??= { at, reason };
	}

	/** @returns the gap that ends now; undefined when the channel opened for the first time */
	opened(at: number): { readonly gapMs: number; readonly reason: string } | undefined {
		if (this.#lost === undefined) return undefined;
		const gapMs = Math.max(0, Math.round(at - this.#lost.at));
		const { reason } = this.#lost;
		this.untold(gapMs);
		this.#lost = undefined;
		return { gapMs, reason };
	}

	/** The next message tells of this gap, too: the one that had it starts nothing. */
	untold(gapMs: number | undefined): void {
		if (gapMs !== undefined) this.#untoldGap = (this.#untoldGap ?? 0) + gapMs;
	}

	next(): number {
		return ++this.#sequence;
	}

	take({ data, ...frame }: Omit<SessionFrame, 'sequence' | 'byteLength' | 'gapMs'>): SessionFrame {
		const gapMs = this.#untoldGap;
		this.#untoldGap = undefined;
		return {
			...frame,
			sequence: this.next(),
			data: withoutRest(data),
			byteLength: data.byteLength,
			...(gapMs !== undefined && { gapMs }),
		};
	}
}

/** The bytes of a message as n8n keeps them. n8n tells the media type from the first bytes where it can. */
export async function binaryOf(
	helpers: Pick<BinaryHelperFunctions, 'prepareBinaryData'>,
	bytes: Buffer,
): Promise<IBinaryData> {
	const data = await storeBinary(helpers, bytes);
	// n8n reports unknown types as text.
	if (data.mimeType !== 'text/plain' || isUtf8(bytes)) return data;
	return { ...data, mimeType: 'application/octet-stream', fileType: undefined, fileExtension: 'bin' };
}

/** The value at a dot path such as `result.items.0.id`; undefined where there is none. An own key that holds the dots wins. */
export function valueAt(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Object.hasOwn(value, path)) return (value as Readonly<Record<string, unknown>>)[path];
	const dot = path.indexOf('.');
	return dot === -1 ? undefined : valueAt(valueAt(value, path.slice(0, dot)), path.slice(dot + 1));
}

/** A field of messages and values of it, in their text form. */
export interface FieldValues {
	/** Dot path; empty: the message itself, where it is a text. */
	readonly field: string;
	readonly values: readonly string[];
}

/**
 * The text form of a field; integers that a JavaScript number cannot hold as the digits that came. Undefined where there is none.
 * @param field dot path; empty: the message itself, where it is no object
 */
export function fieldText(content: MessageContent, field: string): string | undefined {
	const message = comparable(content);
	if (field !== '') {
		const value = valueAt(message, field);
		return value === undefined ? undefined : textForm(value);
	}
	const isWhole = content.format !== 'binary' && (typeof message !== 'object' || message === null);
	return isWhole ? textForm(message).trim() : undefined;
}

/** Whether the field has one of the values. */
export function hasOneOf(content: MessageContent, { field, values }: FieldValues): boolean {
	const text = fieldText(content, field);
	return text !== undefined && values.includes(text);
}

/** The id at the user's dot path: a text or a number, by the digits that came. Without one, a message is never taken for a repetition. */
export function messageId(message: MessageContent, dotPath: string): string | undefined {
	if (dotPath === '') return undefined;
	const id = valueAt(comparable(message), dotPath);
	return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined;
}

/** The message for comparisons: JSON in binary frames is compared like any other, whatever becomes of the bytes. */
function comparable(content: MessageContent): unknown {
	const read = content.format === 'binary' ? contentOf(content.bytes, true, 'json') : content;
	return read.format === 'json' && read.exact !== undefined ? read.exact : read.message;
}

const textForm = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
