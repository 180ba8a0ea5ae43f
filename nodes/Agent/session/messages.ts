import { isUtf8 } from 'node:buffer';

import { shorten } from '../../core/text';
import { findValueAtPath } from '../../fields/values';
import { tryParseJson } from '../../http/body';
import { canParse, countJsonParts } from '../../untrusted/jsonParts';

/** The content of a frame. `message` is the value that the item contains under this key. */
type MessageContent =
	| JsonContent
	| { readonly format: 'text'; readonly message: string }
	| { readonly format: 'binary'; readonly message: null; readonly bytes: Buffer };

type JsonContent = { readonly format: 'json'; readonly message: unknown };

interface FrameEnvelope {
	readonly sessionId: string;
	/**
	 * The number of the frame, counted from 1 over all channels of the session until the trigger or
	 * the wait stops.
	 */
	readonly sequence: number;
	/** In ISO 8601, in UTC, with milliseconds. */
	readonly receivedAt: string;
}

/**
 * A frame as it arrived. Messages that wait are kept as frames, because parsed JSON takes many
 * times its length in memory.
 */
export interface SessionFrame extends FrameEnvelope {
	readonly data: Buffer;
	readonly isBinary: boolean;
}

export type SessionMessage = MessageContent &
	FrameEnvelope & {
		/** The memory that the message takes while it is kept. */
		readonly heldBytes: number;
	};

/** The bytes of memory that a part of parsed JSON takes, measured with V8 in Node 24. */
const partBytes = 36;

export function parseFrame({ data, isBinary, ...envelope }: SessionFrame): SessionMessage {
	const content = parseMessageContent(data, isBinary);
	const partsBytes = content.format === 'json' ? countJsonParts(data) * partBytes : 0;
	return { ...envelope, ...content, heldBytes: data.length + partsBytes };
}

/**
 * Copies a frame that is a small part of a larger buffer. Otherwise, the frame would keep the whole
 * buffer in memory.
 */
export const copyFromLargeBuffer = (data: Buffer): Buffer =>
	data.byteLength * 2 < data.buffer.byteLength ? Buffer.from(data) : data;

/**
 * Parses the content of a frame: JSON if it is JSON, otherwise text. A binary frame, and a text
 * that is no UTF-8, stays bytes.
 */
export function parseMessageContent(data: Buffer, isBinary: boolean): MessageContent {
	if (isBinary || !isUtf8(data)) return { format: 'binary', message: null, bytes: data };
	return parseJsonContent(data) ?? { format: 'text', message: data.toString('utf8') };
}

/** @returns undefined if the data is not JSON, or if parsing it would harm n8n's other workflows */
export function parseJsonContent(data: Buffer): JsonContent | undefined {
	if (!isUtf8(data) || !canParse(data)) return undefined;
	const message = tryParseJson(data);
	return message === undefined ? undefined : { format: 'json', message };
}

/**
 * Finds the text of a response or a message: the value itself, or a field of its JSON.
 * @param textPath the dot path of the field
 */
export function findText(value: unknown, textPath: string): string | undefined {
	const found = typeof value === 'object' ? findValueAtPath(value, textPath) : value;
	const isScalar = ['string', 'number', 'boolean'].includes(typeof found);
	return isScalar && found !== '' ? String(found) : undefined;
}

/** A condition on messages: the field has one of the values. */
export interface FieldCondition {
	/**
	 * The dot path of the field. If it is empty, the condition is about the message itself, which
	 * must not be an object.
	 */
	readonly field: string;
	readonly values: readonly string[];
}

/** Finds the field of a `FieldCondition` and returns its value as text. */
export function findFieldText(content: MessageContent, field: string): string | undefined {
	const value = toComparable(content);
	if (field !== '') {
		const fieldValue = findValueAtPath(value, field);
		return fieldValue === undefined ? undefined : stringifyValue(fieldValue);
	}
	if (content.format === 'binary') return undefined;
	const isStructure = typeof value === 'object' && value !== null;
	return isStructure ? undefined : stringifyValue(value).trim();
}

/** @returns false if there is no condition */
export function meetsCondition(
	content: MessageContent,
	condition: FieldCondition | undefined,
): boolean {
	if (condition === undefined) return false;
	const text = findFieldText(content, condition.field);
	return text !== undefined && condition.values.includes(text);
}

/**
 * Finds the ID of a message, which is a text or a number. A message without an ID never counts as
 * repeated.
 */
export function findMessageId(content: MessageContent, dotPath: string): string | undefined {
	if (dotPath === '') return undefined;
	const id = findValueAtPath(toComparable(content), dotPath);
	if (typeof id === 'string' && id !== '') return id;
	// A larger number has lost digits, so that two messages may seem to have the same ID.
	return Number.isSafeInteger(id) ? String(id) : undefined;
}

/** Returns the value that conditions are compared with. The JSON of a binary frame is parsed. */
function toComparable(content: MessageContent): unknown {
	const parsed = content.format === 'binary' ? parseJsonContent(content.bytes) : content;
	return parsed?.message;
}

const stringifyValue = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);

const maxListedTexts = 10;
const maxListedLength = 40;

/** Lists the first distinct texts, shortened. If there are more, the list ends with '…'. */
export function listDistinct(texts: readonly string[]): string[] {
	const distinctTexts = new Set<string>();
	for (const text of texts) {
		distinctTexts.add(shorten(text, maxListedLength));
		// Stops early, because there may be a million texts.
		if (distinctTexts.size > maxListedTexts)
			return [...[...distinctTexts].slice(0, maxListedTexts), '…'];
	}
	return [...distinctTexts];
}
