import type { EgressFilter } from './egress';

/** What a server answered instead of opening the channel. */
export interface UpgradeAnswer {
	readonly statusCode: number;
	readonly retryAfter: string | undefined;
	readonly date: string | undefined;
	/** Of a redirect; may hold a query. */
	readonly location: string | undefined;
	readonly contentType: string | undefined;
	/** At most 2 KiB, decoded as UTF-8; may echo what was sent. */
	readonly body: string;
	/** Whether a proxy answered in the server's place. */
	readonly fromProxy?: boolean;
}

export interface SocketRequest {
	/** Holds secrets: never in a text. */
	readonly url: string;
	/** The socket gives up after this time without an answer to the upgrade; restarts with every byte. */
	readonly handshakeTimeoutMilliseconds: number;
	readonly maxMessageBytes: number;
	readonly allowUnauthorizedCerts: boolean;
	/** What n8n lets sockets reach; undefined: anything. */
	readonly egress?: EgressFilter;
}

/** What one socket reports. `closed` comes exactly once, as the last. */
export interface SocketListener {
	opened(): void;
	message(data: Buffer, isBinary: boolean): void;
	/** A ping or a pong of the server. */
	control(kind: 'ping' | 'pong'): void;
	refused(answer: UpgradeAnswer): void;
	/** Only the cause; `closed` follows. */
	failed(error: Error): void;
	/** 1005: a close frame without a code; 1006: no close frame at all. */
	closed(code: number, reason: string): void;
}

/** One socket, as narrow as the channel needs it. No method throws. */
export interface Socket {
	send(text: string): void;
	ping(): void;
	pause(): void;
	resume(): void;
	/** Starts a close handshake. */
	close(code: number): void;
	/** Ends the connection now, in any state. */
	terminate(): void;
}

export type OpenSocket = (request: SocketRequest, listener: SocketListener) => Socket;
