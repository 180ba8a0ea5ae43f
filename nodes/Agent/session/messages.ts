import { isUtf8 } from 'node:buffer';

import { hasRoomToParse, parsingCost } from '../../http/jsonCost';
import { withDigitsAsText } from './digits';

/** How frames are read: `auto` is JSON, else text, and binary frames as binary. */
export type MessageFormat = 'auto' | 'json' | 'text' | 'binary';

/** What a frame holds. Binary content is in `bytes`, with `message` null. */
export type MessageContent =
	/** `exact`: with the integers that a JavaScript number cannot hold as texts of their digits; only where there are any. */
	| { readonly format: 'json'; readonly message: unknown; readonly exact?: unknown }
	| { readonly format: 'text'; readonly message: string }
	| { readonly format: 'binary'; readonly message: null; readonly bytes: Buffer };

/** One message of a session. */
export type SessionMessage = MessageContent & {
	readonly sessionId: string;
	/** Counts from 1 for as long as the connection lives, over all its channels. */
	readonly sequence: number;
	/** ISO 8601, UTC, milliseconds. */
	readonly receivedAt: string;
	/** On the first message after a gap: how long no channel was open, in milliseconds. */
	readonly gapMs?: number;
	/** Size of the frame's payload. */
	readonly byteLength: number;
	/** What it takes in memory, where that is more. */
	readonly memoryBytes?: number;
};

/** Bytes that a message takes while it waits: queues count them. */
export const heldBytes = ({ memoryBytes, byteLength }: SessionMessage): number => memoryBytes ?? byteLength;

/** What is held besides the frame's own bytes. */
export function memoryOf(data: Buffer, { format }: MessageContent): Pick<SessionMessage, 'memoryBytes'> {
	return format === 'json' ? { memoryBytes: parsingCost(data) } : {};
}

/** Never throws: what cannot be read as asked is passed on as it came, a text as text, bytes as bytes. */
export function contentOf(data: Buffer, isBinary: boolean, format: MessageFormat): MessageContent {
	if (format === 'binary' || (format === 'auto' && isBinary)) return asBytes(data);
	const text = isBinary ? utf8(data) : data.toString('utf8');
	if (text === undefined) return asBytes(data);
	if (format === 'text') return { format: 'text', message: text };
	const json = hasRoomToParse(data) ? asJson(text) : undefined;
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

/** A copy where the frame is a small part of what the socket read at once: it would keep the whole of it in memory. */
function asBytes(data: Buffer): MessageContent {
	const bytes = data.byteLength * 2 < data.buffer.byteLength ? Buffer.from(data) : data;
	return { format: 'binary', message: null, bytes };
}

function utf8(data: Buffer): string | undefined {
	return isUtf8(data) ? data.toString('utf8') : undefined;
}
