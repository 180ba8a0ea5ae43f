/** How frames are read: `auto` is JSON, else text, and binary frames as binary. */
export type MessageFormat = 'auto' | 'json' | 'text' | 'binary';

/** What a frame holds. Binary content is in `bytes`, with `message` null. */
export type MessageContent =
	| { readonly format: 'json'; readonly message: unknown }
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
};
