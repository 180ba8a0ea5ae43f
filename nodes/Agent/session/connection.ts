import type { NodeError } from '../../core/errors';
import type { ChannelSettings } from './channel';
import type { Clock } from '../../core/runtime';
import type { CloseReason, RetryDecision } from './closeReason';
import type { ConnectRateLimiter, ReconnectPolicy } from './reconnect';
import type { MessageFormat, SessionFrame } from './messages';
import type { OpenSocket } from './webSocket';

export interface ConnectionOptions {
	readonly sessionId: string;
	/** Default `auto`. */
	readonly messageFormat?: MessageFormat;
	/** Between pings; 0 = off. Default 25. */
	readonly heartbeatSeconds?: number;
	/** Sent as a text message instead of a protocol ping when not empty. */
	readonly pingText?: string;
	/** Sent each time the channel opens when not empty. */
	readonly initialMessage?: string;
	/** Cap of the backoff. Default 60. */
	readonly reconnectMaxDelaySeconds?: number;
	/** Close codes after which only the slow lane tries again, besides the built-in ones. */
	readonly finalCloseCodes?: readonly number[];
	/** Default 16 MiB. */
	readonly maxMessageBytes?: number;
	/** What an earlier connection to the session resolved to at its close: the first message reports the gap since then. */
	readonly openUntil?: number;
}

/** Emitted as an item when the user asked for connection events. */
export interface ConnectionEvent {
	readonly sessionId: string;
	readonly event: 'connected' | 'disconnected' | 'reconnected';
	/** ISO 8601, UTC, milliseconds. */
	readonly at: string;
	/** With `reconnected`: how long no channel was open; else null. */
	readonly gapMs: number | null;
	/** With `disconnected` and `reconnected`: why the channel was lost; else null. */
	readonly reason: string | null;
}

/** A channel that ended, or an attempt that came to nothing. */
export interface EndedChannel {
	readonly closeReason: CloseReason;
	/** Whether it had been open. */
	readonly opened: boolean;
	readonly decision: RetryDecision;
	/** For the user, without secrets; `code` as in the public interface. */
	readonly failure: NodeError;
	/** When the next attempt starts. */
	readonly retryInMilliseconds: number;
	/** True when the next attempt is one of the slow lane. */
	readonly slowLane: boolean;
}

/** Nothing is called after `close()`, but for the last messages where they are wanted. An exception thrown here is logged by its name and changes nothing. */
export interface ConnectionListener {
	message(frame: SessionFrame): void;
	event?(event: ConnectionEvent): void;
	/** The server has answered the first ping of a channel: what it sent when the channel opened has come. */
	answered?(): void;
	ended?(channel: EndedChannel): void;
	/**
	 * Once per outage and kind, for a failed execution: `refused` when the first attempt of the slow lane has failed, too, or the
	 * credentials hold a mistake; `outage` after 5 minutes without a channel that stays.
	 */
	alert?(failure: NodeError, kind: 'refused' | 'outage'): void;
}

interface ConnectionLog {
	debug(text: string): void;
	info(text: string): void;
	warn(text: string): void;
}

export interface ConnectionEnvironment {
	readonly clock: Clock;
	/** Gives 0 <= x < 1. */
	readonly random: () => number;
	readonly loadSocket: () => Promise<OpenSocket>;
	/** Every attempt goes through it. */
	readonly rateLimiter: Pick<ConnectRateLimiter, 'pass'>;
	readonly log: ConnectionLog;
}

export type ConnectionState = 'idle' | 'connecting' | 'open' | 'paused' | 'backoff' | 'slow' | 'closed';

export interface ConnectionStatus {
	readonly state: ConnectionState;
	/** Attempts since the channel was last open. */
	readonly attempts: number;
	/** Why the last channel or attempt ended; undefined when none did. */
	readonly lastFailure: NodeError | undefined;
}

export interface ClosedConnection {
	/** False when the server had sent messages that could not be read in time. */
	readonly isRead: boolean;
	/** When the channel was last open, in milliseconds of the clock that does not jump; undefined if it never was. */
	readonly openUntil: number | undefined;
}

export interface Connection {
	status(): ConnectionStatus;
	/** Stops reading: messages already read by the socket still come, everything else waits in the network. */
	pause(): void;
	resume(): void;
	/**
	 * Idempotent, never rejects, leaves no timer and no socket. Within 300 ms, and within 1.3 s while the last messages come.
	 * @param takesLast whether to still deliver messages that the server sends until it has seen the close frame, and until the promise settles
	 */
	close(takesLast?: boolean): Promise<ClosedConnection>;
}

/** What `ConnectionOptions` comes to with the defaults. */
export interface SessionSettings {
	readonly sessionId: string;
	readonly messageFormat: MessageFormat;
	readonly openUntil: number | undefined;
	readonly channel: Pick<
		ChannelSettings,
		'maxMessageBytes' | 'heartbeatMilliseconds' | 'pingText' | 'initialMessage'
	>;
	readonly policy: ReconnectPolicy;
}
