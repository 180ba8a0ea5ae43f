import { isUtf8 } from 'node:buffer';

import { storeBinary } from '../../core/binaryStorage';
import { canParse, estimateParsingCost } from '../../http/responseMemory';

/** Matches numbers that may be too long for a JavaScript number, and quotes, so that strings can be skipped. */
const quoteOrLongNumberPattern = /"|[-+.\deE]{16,}/g;
const integerPattern = /^-?\d+$/;

/** Puts integers that a JavaScript number cannot hold into quotes, in linear time. @returns undefined if there are no such integers */
export function quoteUnsafeIntegers(json: string): string | undefined {
	const pieces: string[] = [];
	let copiedLength = 0;
	quoteOrLongNumberPattern.lastIndex = 0;
	for (let match = quoteOrLongNumberPattern.exec(json); match; match = quoteOrLongNumberPattern.exec(json)) {
		const [matchedText] = match;
		if (matchedText === '"') {
			quoteOrLongNumberPattern.lastIndex = findStringEnd(json, match.index);
			continue;
		}
		if (!integerPattern.test(matchedText) || Number.isSafeInteger(Number(matchedText))) continue;
		pieces.push(json.slice(copiedLength, match.index), `"${matchedText}"`);
		copiedLength = match.index + matchedText.length;
	}
	return pieces.length === 0 ? undefined : pieces.join('') + json.slice(copiedLength);
}

function findStringEnd(json: string, openingQuote: number): number {
	for (let quote = json.indexOf('"', openingQuote + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
		let backslashes = 0;
		while (json[quote - 1 - backslashes] === '\\') backslashes++;
		// After an odd number of backslashes, the quote is escaped and belongs to the string.
		if (backslashes % 2 === 0) return quote + 1;
	}
	return json.length;
}

/** How to read frames. `auto` reads a text frame as JSON if it is valid JSON, otherwise as text, and a binary frame as binary. */
export type MessageFormat = 'auto' | 'json' | 'text' | 'binary';

/** The content of a frame. `message` is the value that the item contains under this key. */
type MessageContent =
	/** `exactMessage` is the value with unsafe integers as strings of their digits. It is missing if the value has no such integer. */
	| { readonly format: 'json'; readonly message: unknown; readonly exactMessage?: unknown }
	| { readonly format: 'text'; readonly message: string }
	| { readonly format: 'binary'; readonly message: null; readonly bytes: Buffer };

interface FrameEnvelope {
	readonly sessionId: string;
	/** The number of the frame, counted from 1 over all channels of the session until the trigger or the wait stops. */
	readonly sequence: number;
	/** In ISO 8601, in UTC, with milliseconds. */
	readonly receivedAt: string;
	/** How long no channel was open before this frame. Only the first frame after a gap has this field, among those that are passed on. */
	readonly gapMs?: number;
	readonly byteLength: number;
}

/** A frame as it arrived. Messages that wait are kept as frames, because parsed JSON takes many times its length in memory. */
export interface SessionFrame extends FrameEnvelope {
	readonly data: Buffer;
	readonly isBinary: boolean;
	readonly messageFormat: MessageFormat;
}

export type SessionMessage = MessageContent &
	FrameEnvelope & {
		/** The memory that parsed JSON takes. Missing for texts and bytes, for which `byteLength` counts. */
		readonly memoryBytes?: number;
	};

/** The bytes of memory that a frame takes besides its content, measured with V8 in Node 24. */
const frameOverheadBytes = 600;

/** Returns the bytes of memory that a message takes while it waits. */
export const measureHeldBytes = (held: SessionMessage | SessionFrame): number =>
	'data' in held ? held.byteLength + frameOverheadBytes : (held.memoryBytes ?? held.byteLength);

export function parseFrame({ data, isBinary, messageFormat, ...envelope }: SessionFrame): SessionMessage {
	const content = parseMessageContent(data, isBinary, messageFormat);
	const memoryCost = content.format === 'json' && { memoryBytes: estimateParsingCost(data) };
	return { ...envelope, ...content, ...memoryCost };
}

/** Copies a frame that is a small part of a larger buffer. Otherwise, the frame would keep the whole buffer in memory. */
const copyFromLargeBuffer = (data: Buffer): Buffer =>
	data.byteLength * 2 < data.buffer.byteLength ? Buffer.from(data) : data;

/** Parses the content of a frame, and never throws. Data that cannot be read as `format` stays text or bytes. */
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
		const exactJson = quoteUnsafeIntegers(json);
		if (exactJson === undefined) return { format: 'json', message };
		return { format: 'json', message, exactMessage: JSON.parse(exactJson) as unknown };
	} catch {
		// The caller keeps the message as text or bytes.
		return undefined;
	}
}

function toBinaryContent(data: Buffer): MessageContent {
	return { format: 'binary', message: null, bytes: copyFromLargeBuffer(data) };
}

/**
 * Numbers the frames of a session over all its channels, and marks the first frame after a gap. A trigger that is started again keeps this
 * object. It then reports the time without a channel as a gap, but begins again at number 1. Times are monotonic milliseconds.
 */
export class FrameSequence {
	#lastNumber = 0;
	#loss: { readonly lostAt: number; readonly reason: string } | undefined;
	/** The total length of the gaps that no message has reported yet, in milliseconds. */
	#unreportedGapMs: number | undefined;

	/** Makes the next frame number 1. */
	restart(): void {
		this.#lastNumber = 0;
	}

	/** Notes when the channel was lost. A second loss before the next channel opens changes nothing. */
	recordLoss(lostAt: number, reason: string): void {
		this.#loss ??= { lostAt, reason };
	}

	/** Ends the gap, if there is one. @returns the gap; undefined if no channel was lost before */
	recordOpen(openedAt: number): { readonly gapMs: number; readonly reason: string } | undefined {
		if (this.#loss === undefined) return undefined;
		const gapMs = Math.max(0, Math.round(openedAt - this.#loss.lostAt));
		const { reason } = this.#loss;
		this.addUnreportedGap(gapMs);
		this.#loss = undefined;
		return { gapMs, reason };
	}

	/** Makes the next frame report this gap. Also called with the gap of a frame that starts no execution, so that the gap is not lost. */
	addUnreportedGap(gapMs: number | undefined): void {
		if (gapMs !== undefined) this.#unreportedGapMs = (this.#unreportedGapMs ?? 0) + gapMs;
	}

	/** Takes the next number: for a new frame, or for a message that an earlier start of the trigger left in its queue. */
	takeNumber(): number {
		return ++this.#lastNumber;
	}

	buildFrame({ data, ...frame }: Omit<SessionFrame, 'sequence' | 'byteLength' | 'gapMs'>): SessionFrame {
		const gapMs = this.#unreportedGapMs;
		this.#unreportedGapMs = undefined;
		return {
			...frame,
			sequence: this.takeNumber(),
			data: copyFromLargeBuffer(data),
			byteLength: data.byteLength,
			...(gapMs !== undefined && { gapMs }),
		};
	}
}

/** Stores the bytes of a message in n8n, which tries to detect the media type from the first bytes. */
export async function storeMessageBytes(helpers: Parameters<typeof storeBinary>[0], bytes: Buffer) {
	const data = await storeBinary(helpers, bytes);
	// n8n reports bytes of an unknown type as text/plain.
	if (data.mimeType !== 'text/plain' || isUtf8(bytes)) return data;
	return { ...data, mimeType: 'application/octet-stream', fileType: undefined, fileExtension: 'bin' };
}

/** Finds the value at a dot path such as `result.items.0.id`. A key that itself contains the dots takes precedence. */
export function findValueAtPath(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Object.hasOwn(value, path)) return (value as Readonly<Record<string, unknown>>)[path];
	const dotPosition = path.indexOf('.');
	if (dotPosition === -1) return undefined;
	const parent = findValueAtPath(value, path.slice(0, dotPosition));
	return findValueAtPath(parent, path.slice(dotPosition + 1));
}

/** Finds the text of a response or a message: the value itself, or a field of its JSON. @param textPath the dot path of the field */
export function findText(value: unknown, textPath: string): string | undefined {
	const found = typeof value === 'object' ? findValueAtPath(value, textPath) : value;
	if (typeof found === 'string') return found === '' ? undefined : found;
	return typeof found === 'number' || typeof found === 'boolean' ? String(found) : undefined;
}

/** A condition on messages: the field has one of the values. */
export interface FieldCondition {
	/** The dot path of the field. If it is empty, the condition is about the message itself, which must not be an object. */
	readonly field: string;
	readonly values: readonly string[];
}

/**
 * Finds a field and returns its value as text, with unsafe integers as the digits that arrived.
 * @param field the dot path of the field; if it is empty, the text of the message itself, which must not be an object
 */
export function findFieldText(content: MessageContent, field: string): string | undefined {
	const value = toComparable(content);
	if (field !== '') {
		const fieldValue = findValueAtPath(value, field);
		return fieldValue === undefined ? undefined : stringifyValue(fieldValue);
	}
	const isPrimitive = content.format !== 'binary' && (typeof value !== 'object' || value === null);
	return isPrimitive ? stringifyValue(value).trim() : undefined;
}

export function meetsCondition(content: MessageContent, { field, values }: FieldCondition): boolean {
	const text = findFieldText(content, field);
	return text !== undefined && values.includes(text);
}

/** Finds the ID of a message, which is a text or a number. A message without an ID never counts as repeated. */
export function findMessageId(content: MessageContent, dotPath: string): string | undefined {
	if (dotPath === '') return undefined;
	const id = findValueAtPath(toComparable(content), dotPath);
	return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : undefined;
}

/** Returns the value that conditions are compared with. It has exact integers, and the JSON of a binary frame is parsed. */
function toComparable(content: MessageContent): unknown {
	const parsed = content.format === 'binary' ? parseMessageContent(content.bytes, true, 'json') : content;
	return parsed.format === 'json' && parsed.exactMessage !== undefined ? parsed.exactMessage : parsed.message;
}

const stringifyValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);
