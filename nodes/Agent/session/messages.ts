import { isUtf8 } from 'node:buffer';

import { storeBinary } from '../../core/binaryStorage';
import { canParse, estimateParsingCost } from '../../http/answerMemory';

/** Finds numbers that may be too long for a JavaScript number, and quotes, so that strings can be skipped. */
const quoteOrLongNumber = /"|[-+.\deE]{16,}/g;
const integerPattern = /^-?\d+$/;

/** Puts integers that a JavaScript number cannot hold into quotes, in linear time. @returns undefined if the JSON has none */
export function quoteUnsafeIntegers(json: string): string | undefined {
	const parts: string[] = [];
	let copied = 0;
	quoteOrLongNumber.lastIndex = 0;
	for (let found = quoteOrLongNumber.exec(json); found; found = quoteOrLongNumber.exec(json)) {
		const [token] = found;
		if (token === '"') {
			quoteOrLongNumber.lastIndex = findStringEnd(json, found.index);
			continue;
		}
		if (!integerPattern.test(token) || Number.isSafeInteger(Number(token))) continue;
		parts.push(json.slice(copied, found.index), `"${token}"`);
		copied = found.index + token.length;
	}
	return parts.length === 0 ? undefined : parts.join('') + json.slice(copied);
}

function findStringEnd(json: string, openingQuote: number): number {
	for (let quote = json.indexOf('"', openingQuote + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
		let backslashes = 0;
		while (json[quote - 1 - backslashes] === '\\') backslashes++;
		if (backslashes % 2 === 0) return quote + 1;
	}
	return json.length;
}

/** How to read frames. `auto`: text frames as JSON if they are valid JSON, otherwise as text; binary frames as binary. */
export type MessageFormat = 'auto' | 'json' | 'text' | 'binary';

/** The content of a frame. That of a binary one is in `bytes`, and `message` is null. */
type MessageContent =
	/** `exact`: the message with its unsafe integers as strings of their digits; missing if it has none. */
	| { readonly format: 'json'; readonly message: unknown; readonly exact?: unknown }
	| { readonly format: 'text'; readonly message: string }
	| { readonly format: 'binary'; readonly message: null; readonly bytes: Buffer };

interface FrameEnvelope {
	readonly sessionId: string;
	/** Counts from 1 over all channels of the connection. */
	readonly sequence: number;
	/** ISO 8601, UTC, milliseconds. */
	readonly receivedAt: string;
	/** How long no channel was open before this message. Only the first message after a gap has it. */
	readonly gapMs?: number;
	readonly byteLength: number;
}

/** A message as it arrived. Waiting messages are kept like this, because parsed JSON takes many times its length in memory. */
export interface SessionFrame extends FrameEnvelope {
	readonly data: Buffer;
	readonly isBinary: boolean;
	readonly readAs: MessageFormat;
}

export type SessionMessage = MessageContent &
	FrameEnvelope & {
		/** The memory that the parsed message takes, if that is more than its length. */
		readonly memoryBytes?: number;
	};

/** The memory that a frame takes besides its bytes, measured with V8 in Node 24. */
const frameOverheadBytes = 600;

/** The memory that a message takes while it waits. */
export const measureHeldBytes = (message: SessionMessage | SessionFrame): number =>
	'data' in message ? message.byteLength + frameOverheadBytes : (message.memoryBytes ?? message.byteLength);

export function parseFrame({ data, isBinary, readAs, ...envelope }: SessionFrame): SessionMessage {
	const content = parseMessageContent(data, isBinary, readAs);
	const cost = content.format === 'json' && { memoryBytes: estimateParsingCost(data) };
	return { ...envelope, ...content, ...cost };
}

/** Copies a frame that is a small part of a large read, because the frame would keep the whole read in memory. */
const copyFromLargeBuffer = (data: Buffer): Buffer =>
	data.byteLength * 2 < data.buffer.byteLength ? Buffer.from(data) : data;

/** Never throws. A message that cannot be read as `format` stays as it is: text or bytes. */
export function parseMessageContent(data: Buffer, isBinary: boolean, format: MessageFormat): MessageContent {
	if (format === 'binary' || (format === 'auto' && isBinary) || !isUtf8(data)) return toBinaryContent(data);
	const text = data.toString('utf8');
	if (format === 'text') return { format: 'text', message: text };
	const json = canParse(data) ? parseJsonContent(text) : undefined;
	return json ?? (isBinary ? toBinaryContent(data) : { format: 'text', message: text });
}

function parseJsonContent(text: string): MessageContent | undefined {
	const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
	try {
		const message: unknown = JSON.parse(json);
		const exact = quoteUnsafeIntegers(json);
		return { format: 'json', message, ...(exact !== undefined && { exact: JSON.parse(exact) as unknown }) };
	} catch {
		// The message is not JSON, so it stays a text or bytes.
		return undefined;
	}
}

function toBinaryContent(data: Buffer): MessageContent {
	return { format: 'binary', message: null, bytes: copyFromLargeBuffer(data) };
}

/**
 * Numbers the frames of a session over all its channels, and marks the first frame after a gap. A trigger keeps the sequence from one
 * start to the next. Times are monotonic milliseconds.
 */
export class FrameSequence {
	#lastNumber = 0;
	#loss: { readonly at: number; readonly reason: string } | undefined;
	/** The total length of the gaps that no message has reported yet, in milliseconds. */
	#unreportedGapMs: number | undefined;

	/** Makes the next frame number 1. */
	restart(): void {
		this.#lastNumber = 0;
	}

	/** Notes until when a channel was open. A second loss before another channel opens changes nothing. */
	recordLoss(at: number, reason: string): void {
		this.#loss ??= { at, reason };
	}

	/** @returns the gap that has ended; undefined if no channel was lost before */
	recordOpen(at: number): { readonly gapMs: number; readonly reason: string } | undefined {
		if (this.#loss === undefined) return undefined;
		const gapMs = Math.max(0, Math.round(at - this.#loss.at));
		const { reason } = this.#loss;
		this.reportGapAgain(gapMs);
		this.#loss = undefined;
		return { gapMs, reason };
	}

	/** Makes the next message report this gap, because the message that carried it starts no execution. */
	reportGapAgain(gapMs: number | undefined): void {
		if (gapMs !== undefined) this.#unreportedGapMs = (this.#unreportedGapMs ?? 0) + gapMs;
	}

	assignNumber(): number {
		return ++this.#lastNumber;
	}

	buildFrame({ data, ...frame }: Omit<SessionFrame, 'sequence' | 'byteLength' | 'gapMs'>): SessionFrame {
		const gapMs = this.#unreportedGapMs;
		this.#unreportedGapMs = undefined;
		return {
			...frame,
			sequence: this.assignNumber(),
			data: copyFromLargeBuffer(data),
			byteLength: data.byteLength,
			...(gapMs !== undefined && { gapMs }),
		};
	}
}

/** Stores the bytes of a message in n8n, which detects the media type from the first bytes if it can. */
export async function storeMessageBytes(helpers: Parameters<typeof storeBinary>[0], bytes: Buffer) {
	const data = await storeBinary(helpers, bytes);
	// n8n reports unknown types as text.
	if (data.mimeType !== 'text/plain' || isUtf8(bytes)) return data;
	return { ...data, mimeType: 'application/octet-stream', fileType: undefined, fileExtension: 'bin' };
}

/** Reads the value at a dot path such as `result.items.0.id`. A key that contains the dots itself comes first. */
export function getValueAtPath(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Object.hasOwn(value, path)) return (value as Readonly<Record<string, unknown>>)[path];
	const dot = path.indexOf('.');
	return dot === -1
		? undefined
		: getValueAtPath(getValueAtPath(value, path.slice(0, dot)), path.slice(dot + 1));
}

/** The text of a response or a message: the content itself, or a field of its JSON. @param textField a dot path */
export function findText(content: unknown, textField: string): string | undefined {
	const value = typeof content === 'object' ? getValueAtPath(content, textField) : content;
	if (typeof value === 'string') return value === '' ? undefined : value;
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** A condition on messages: the field has one of the values. */
export interface FieldCondition {
	/** A dot path. Empty means the message itself, if it is not an object. */
	readonly field: string;
	readonly values: readonly string[];
}

/**
 * Reads a field as text, with unsafe integers as the digits that arrived. Undefined if the message does not have the field.
 * @param field a dot path; empty means the message itself, if it is not an object
 */
export function getFieldText(content: MessageContent, field: string): string | undefined {
	const message = toComparable(content);
	if (field !== '') {
		const value = getValueAtPath(message, field);
		return value === undefined ? undefined : stringifyValue(value);
	}
	const isWhole = content.format !== 'binary' && (typeof message !== 'object' || message === null);
	return isWhole ? stringifyValue(message).trim() : undefined;
}

export function meetsCondition(content: MessageContent, { field, values }: FieldCondition): boolean {
	const text = getFieldText(content, field);
	return text !== undefined && values.includes(text);
}

/** Reads the ID, a text or a number. A message without an ID never counts as repeated. */
export function getMessageId(message: MessageContent, dotPath: string): string | undefined {
	if (dotPath === '') return undefined;
	const id = getValueAtPath(toComparable(message), dotPath);
	return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined;
}

/** The message as it is compared: with exact integers, and with the JSON that a binary frame contains. */
function toComparable(content: MessageContent): unknown {
	const read = content.format === 'binary' ? parseMessageContent(content.bytes, true, 'json') : content;
	return read.format === 'json' && read.exact !== undefined ? read.exact : read.message;
}

const stringifyValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);
