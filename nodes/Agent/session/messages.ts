import { isUtf8 } from 'node:buffer';

import { parsingCost } from '../../http/jsonCost';
import { canParse } from '../../http/room';
import { withDigitsAsText } from './digits';

/** How frames are read: `auto` is JSON, else text, and binary frames as binary. */
export type MessageFormat = 'auto' | 'json' | 'text' | 'binary';

/** What a frame holds. Binary content is in `bytes`, with `message` null. */
export type MessageContent =
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

/** One message of a session. */
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
export const withoutRest = (data: Buffer): Buffer =>
	data.byteLength * 2 < data.buffer.byteLength ? Buffer.from(data) : data;

/** Never throws: what cannot be read as asked is passed on as it came, a text as text, bytes as bytes. */
export function contentOf(data: Buffer, isBinary: boolean, format: MessageFormat): MessageContent {
	if (format === 'binary' || (format === 'auto' && isBinary)) return asBytes(data);
	const text = isBinary ? utf8(data) : data.toString('utf8');
	if (text === undefined) return asBytes(data);
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

function utf8(data: Buffer): string | undefined {
	return isUtf8(data) ? data.toString('utf8') : undefined;
}
