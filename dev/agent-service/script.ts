import type { OutgoingHttpHeaders } from 'node:http';

/**
 * A message to a channel: a text goes out as a text frame, a Buffer as a binary frame, `frame` with its bytes as they are (so that
 * a text frame can hold invalid UTF-8), anything else as its JSON in a text frame.
 */
export type Message = string | Buffer | RawFrame | MessageObject | number | boolean | null;
export interface RawFrame {
	readonly frame: Buffer;
	readonly binary: boolean;
}
export type MessageObject = { readonly [key: string]: unknown } | readonly unknown[];

/** How one execute request is answered. Everything absent is as in an undisturbed answer. */
export interface ExecuteStep {
	readonly status?: number;
	readonly headers?: OutgoingHttpHeaders;
	/** Seconds or a date, as the header `Retry-After`. */
	readonly retryAfter?: number | string;
	/** A text or a Buffer goes out as it is, anything else as JSON; `undefined` is the configured answer. */
	readonly body?: unknown;
	/** Default: `application/json`, for a text `text/plain`, for a Buffer `application/octet-stream`. */
	readonly contentType?: string;
	/** Before the answer; in the place of the service's latency. */
	readonly delayMilliseconds?: number;
	/** Between two bytes of the body. */
	readonly dripMilliseconds?: number;
	/** The body is compressed; `cut`: without its last bytes, though the answer itself is whole. */
	readonly gzip?: 'whole' | 'cut';
	/** Neither a length nor chunks: the body ends with the connection. */
	readonly untilClose?: boolean;
	/** The body is so many spaces, sent as they are taken. */
	readonly bodyBytes?: number;
	readonly fault?: ExecuteFault;
	/** Whether the agent is started all the same, or not; by default the answer tells. */
	readonly carriedOut?: boolean;
	/** Sent on the session's channel after the answer; `undefined` is what is configured. */
	readonly messages?: readonly Message[];
}

/**
 * `resetBeforeRead`: RST before the body of the request is read; `resetAfterRead`: RST instead of an answer; `silence`: never an
 * answer; `cutBody`: the connection ends after half of the announced body; `resetBody`: RST there.
 */
export type ExecuteFault = 'resetBeforeRead' | 'resetAfterRead' | 'silence' | 'cutBody' | 'resetBody';

/** How one upgrade is answered, and what becomes of its channel. */
export interface UpgradeStep {
	/** Refuses the upgrade. */
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	readonly retryAfter?: number | string;
	/** Of a refusal. */
	readonly body?: string;
	readonly delayMilliseconds?: number;
	/**
	 * `silence`: never an answer; `reset`: RST; `wrongAcceptKey`: a 101 that no client believes; `trickle`: one byte of an answer
	 * every 100 ms, forever.
	 */
	readonly fault?: 'silence' | 'reset' | 'wrongAcceptKey' | 'trickle';
	/** Never answers a ping. */
	readonly noPong?: boolean;
	/** Sent as soon as the channel is open. */
	readonly messages?: readonly Message[];
	/** Pings sent at once when the channel is open. */
	readonly pings?: number;
	/** Closes the open channel with this code (1005: without a code), after its messages. */
	readonly closeCode?: number;
	readonly closeReason?: string;
	/** How long the channel is open before `closeCode` or `drop`. Default 0. */
	readonly closeAfterMilliseconds?: number;
	/** Ends the open channel without a close frame: `reset` by RST, `end` by FIN. */
	readonly drop?: 'reset' | 'end';
}
