import { isUtf8 } from 'node:buffer';

import { tryParseJson } from '../../http/body';
import { canParse, countJsonParts } from '../../untrusted/jsonParts';

/** The content of a frame. `message` is the value that the item contains under this key. */
export type MessageContent =
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
	/**
	 * How long no channel was open before this frame. Only the first frame after a gap has this
	 * field, among those that are passed on.
	 */
	readonly gapMs?: number;
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
