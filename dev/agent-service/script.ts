import type { OutgoingHttpHeaders } from 'node:http';

/**
 * A message to a channel. A string is sent as a text frame, a Buffer as a binary frame, and a `frame` with
 * its bytes unchanged, so that a text frame can contain invalid UTF-8. Anything else is sent as JSON in a
 * text frame.
 */
export type Message = string | Buffer | RawFrame | MessageObject | number | boolean | null;
export interface RawFrame {
	readonly frame: Buffer;
	readonly isBinary: boolean;
}
export type MessageObject = { readonly [key: string]: unknown } | readonly unknown[];

/** How one execute request is answered. Without a field, this part of the answer is normal. */
export interface ExecuteStep {
	readonly status?: number;
	readonly headers?: OutgoingHttpHeaders;
	/** The value of the `Retry-After` header: seconds or a date. */
	readonly retryAfter?: number | string;
	/**
	 * A string or a Buffer is sent unchanged, anything else as JSON. `undefined` means the configured answer.
	 */
	readonly body?: unknown;
	/** Default: `application/json`; for a string `text/plain`; for a Buffer `application/octet-stream`. */
	readonly contentType?: string;
	/** The wait before the answer, in place of the service's latency. */
	readonly delayMilliseconds?: number;
	/** The answer waits for this, too. */
	readonly after?: Promise<unknown>;
	/** The wait between two bytes of the body. */
	readonly dripMilliseconds?: number;
	/** Compresses the body. */
	readonly gzip?: true;
	/** Sends neither a length nor chunks, so that the body ends with the connection. */
	readonly untilClose?: boolean;
	/** Makes the body this many spaces, sent as fast as they are read. */
	readonly bodyBytes?: number;
	readonly fault?: ExecuteFault;
	/** Whether the agent is started. By default, it is started if the answer is a success. */
	readonly carriedOut?: boolean;
	/** Sent on the session's channel after the answer. `undefined` means the configured messages. */
	readonly messages?: readonly Message[];
}

/**
 * `resetBeforeRead`: RST before the request body is read; `resetAfterRead`: RST instead of an answer;
 * `silence`: never an answer; `cutBody`: the connection ends after half of the announced body; `resetBody`:
 * RST after that half.
 */
export type ExecuteFault =
	'resetBeforeRead' | 'resetAfterRead' | 'silence' | 'cutBody' | 'resetBody';

/** How one upgrade is answered, and what happens to its channel. */
export interface UpgradeStep {
	/** Refuses the upgrade. */
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	readonly retryAfter?: number | string;
	/** Body of a refusal. */
	readonly body?: string;
	readonly delayMilliseconds?: number;
	/**
	 * `silence`: never an answer; `reset`: RST; `wrongAcceptKey`: a 101 that no client accepts; `extension`:
	 * a 101 with an extension that nobody asked for; `trickle`: one byte of an answer every 100 ms, forever.
	 */
	readonly fault?: 'silence' | 'reset' | 'wrongAcceptKey' | 'extension' | 'trickle';
	/** Never answers a ping. */
	readonly noPong?: boolean;
	/** Sent as soon as the channel is open. */
	readonly messages?: readonly Message[];
	/** Number of pings sent as soon as the channel is open. */
	readonly pings?: number;
	/** Closes the open channel with this code (1005: without a code), after its messages. */
	readonly closeCode?: number;
	readonly closeReason?: string;
	/** How long the channel stays open before `closeCode` or `drop`. Default 0. */
	readonly closeAfterMilliseconds?: number;
	/** With `closeCode`: how long the connection stays after the close frame. Without it, the connection ends with the client's reply. */
	readonly endAfterMilliseconds?: number;
	/** Ends the open channel without a close frame: `reset` by RST, `end` by FIN. */
	readonly drop?: 'reset' | 'end';
}
