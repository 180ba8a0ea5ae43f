import { asError, type NodeError } from '../../core/errors';
import type { Clock } from '../../core/runtime';
import { Channel, type ChannelSettings } from './channel';
import { type CloseReason, errorOf, notConnected, reasonOf, withoutCredentials } from './closeReason';
import { type ConnectRequest, type ReadRequest, redactorOf } from './credentials';
import { FrameSequence, type MessageFormat, type SessionFrame } from './messages';
import { ConnectRateLimiter, type NextAttempt, Recovery } from './reconnect';
import type { OpenSocket } from './webSocket';

export interface ConnectionOptions extends Omit<ChannelSettings, keyof ConnectRequest> {
	readonly sessionId: string;
	readonly messageFormat: MessageFormat;
	/** Cap of the backoff. */
	readonly reconnectMaxDelaySeconds: number;
	/** Close codes after which only the slow lane tries again, besides the built-in ones. */
	readonly finalCloseCodes: readonly number[];
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
export interface EndedChannel extends NextAttempt {
	readonly closeReason: CloseReason;
	readonly opened: boolean;
	/** For the user, without secrets; `code` as in the public interface. */
	readonly failure: NodeError;
}

/** Nothing is called after `close()`, but for the last messages where they are wanted. An exception thrown here is logged by its name and changes nothing. */
export interface ConnectionListener {
	message(frame: SessionFrame): void;
	event?(event: ConnectionEvent): void;
	/** The server has answered the first ping of a channel: what it sent when the channel opened has come. */
	answered?(): void;
	ended?(channel: EndedChannel): void;
}

interface Environment {
	readonly clock: Clock;
	readonly log: Readonly<Record<'debug' | 'info' | 'warn', (text: string) => void>>;
	/** Gives 0 <= x < 1. */
	readonly random?: () => number;
	readonly loadSocket?: () => Promise<OpenSocket>;
	/** Every attempt goes through it. */
	readonly rateLimiter?: ConnectRateLimiter;
	/** Of an earlier connection to the session: the first message reports the gap since then. */
	readonly frames?: FrameSequence;
}

export interface ConnectionStatus {
	readonly state: 'idle' | 'connecting' | 'open' | 'backoff' | 'slow' | 'closed';
	/** Why the last channel or attempt ended; undefined when none did. */
	readonly lastFailure: NodeError | undefined;
}

export type Connection = Pick<SessionConnection, 'status' | 'pause' | 'resume' | 'close'>;

/** For reading the credentials: n8n's database may hang too. */
const preparationMilliseconds = 20_000;

/** Channel after channel of one session. Each attempt has a number; what belongs to an older one is dropped. */
class SessionConnection {
	readonly #options: ConnectionOptions;
	readonly #readRequest: ReadRequest;
	readonly #listener: ConnectionListener;
	readonly #environment: Required<Environment>;
	readonly #recovery: Recovery;
	#state: ConnectionStatus['state'] = 'idle';
	#attempt = 0;
	#channel: Channel | undefined;
	/** The wait for the next attempt, or the limit of the one that is being prepared. */
	#cancelTimer = () => {};
	#leaveQueue = () => {};
	#isPaused = false;
	#lastFailure: NodeError | undefined;
	/** Of the last attempt for which there was one. */
	#request: ConnectRequest | undefined;
	#closing: Promise<boolean> | undefined;
	/** The listener is told nothing more. */
	#isSilent = false;

	constructor(
		options: ConnectionOptions,
		readRequest: ReadRequest,
		listener: ConnectionListener,
		environment: Environment,
	) {
		const { clock, random = Math.random } = environment;
		const rateLimiter = new ConnectRateLimiter(clock);
		const frames = new FrameSequence();
		this.#options = options;
		this.#listener = listener;
		this.#environment = { random, loadSocket, rateLimiter, frames, ...environment };
		this.#readRequest = readRequest;
		this.#recovery = new Recovery(options, clock, random);
		this.#schedule(0);
	}

	status(): ConnectionStatus {
		return { state: this.#state, lastFailure: this.#lastFailure };
	}

	/** Stops reading: messages already read by the socket still come, everything else waits in the network. */
	pause(): void {
		this.#isPaused = true;
		this.#channel?.pause();
	}

	resume(): void {
		this.#isPaused = false;
		this.#channel?.resume();
	}

	/**
	 * Idempotent, never rejects, leaves no timer and no socket. Within 300 ms, and within 1.3 s while the last messages come.
	 * @param takesLast whether to still deliver messages that the server sends until it has seen the close frame, and until the promise settles
	 * @returns false when the server had sent messages that could not be read in time
	 */
	close(takesLast = false): Promise<boolean> {
		this.#closing ??= this.#shut(takesLast);
		return this.#closing;
	}

	async #shut(takesLast: boolean): Promise<boolean> {
		const { clock, frames } = this.#environment;
		if (this.#state === 'open') frames.lost(clock.monotonicMilliseconds(), 'the trigger was stopped');
		this.#state = 'closed';
		this.#isSilent = !takesLast;
		this.#attempt++;
		this.#cancelTimers();
		const isRead = (await this.#channel?.close(takesLast)) ?? true;
		this.#isSilent = true;
		return isRead;
	}

	#schedule(delayMilliseconds: number): void {
		const { clock, rateLimiter } = this.#environment;
		this.#cancelTimer = clock.after(delayMilliseconds, () => {
			this.#leaveQueue = rateLimiter.pass(() => {
				void this.#try();
			});
		});
	}

	async #try(): Promise<void> {
		const attempt = ++this.#attempt;
		this.#state = 'connecting';
		this.#cancelTimer = this.#environment.clock.after(preparationMilliseconds, () => {
			this.#ended({ kind: 'credentials', message: 'reading them took too long', isMistake: false });
		});
		try {
			const openSocket = await this.#environment.loadSocket();
			const request = await this.#readRequest(this.#options.sessionId);
			const refusal = await refusedByPolicy(request);
			if (attempt !== this.#attempt) return;
			this.#request = request;
			if (refusal) this.#ended(refusal);
			else this.#openChannel(openSocket, request);
		} catch (error) {
			if (attempt !== this.#attempt) return;
			this.#ended(withoutCredentials(error, this.#request?.redact ?? redactorOf([])));
		}
	}

	#openChannel(openSocket: OpenSocket, request: ConnectRequest): void {
		this.#cancelTimer();
		const listener = {
			opened: this.#opened,
			message: (data: Buffer, isBinary: boolean) => {
				this.#recovery.received();
				const { sessionId, messageFormat: readAs } = this.#options;
				const received = { sessionId, receivedAt: this.#now(), data, isBinary, readAs };
				const frame = this.#environment.frames.take(received);
				this.#tell((to) => {
					to.message(frame);
				});
			},
			answered: () => {
				this.#tell((to) => to.answered?.());
			},
			ended: this.#ended,
			unanswered: () => {
				this.#log('info', 'the server does not respond to pings, so a lost connection may be detected late');
			},
		};
		const settings = { ...this.#options, ...request };
		this.#channel = new Channel(settings, listener, this.#environment.clock, openSocket);
		if (this.#isPaused) this.#channel.pause();
	}

	readonly #opened = () => {
		this.#state = 'open';
		if (this.#lastFailure !== undefined) this.#log('info', 'reconnected');
		this.#recovery.opened();
		const { clock, frames } = this.#environment;
		const gap = frames.opened(clock.monotonicMilliseconds());
		this.#tellEvent(gap ? 'reconnected' : 'connected', gap?.gapMs, gap?.reason);
	};

	readonly #ended = (closeReason: CloseReason) => {
		const { clock, frames } = this.#environment;
		const opened = this.#state === 'open';
		const reason = reasonOf(closeReason);
		this.#attempt++;
		this.#cancelTimers();
		const silent = closeReason.kind === 'silent' ? closeReason.milliseconds : 0;
		if (opened) frames.lost(clock.monotonicMilliseconds() - silent, reason);
		const next = this.#recovery.ended(closeReason);
		const channel = { ...this.#options, host: this.#request?.base.host, opened };
		const failure = errorOf(closeReason, channel, clock.wallMilliseconds());
		this.#lastFailure = failure;
		this.#state = next.slowLane ? 'slow' : 'backoff';
		this.#schedule(next.delayMilliseconds);
		const seconds = Math.ceil(next.delayMilliseconds / 1000);
		this.#log(next.isFirst ? 'warn' : 'debug', `${reason}; next attempt in ${seconds} s`);
		// Last of all, because the listener may close this connection.
		if (opened) this.#tellEvent('disconnected', null, reason);
		this.#tell((to) => to.ended?.({ ...next, closeReason, opened, failure }));
	};

	#tellEvent(
		event: ConnectionEvent['event'],
		gapMs: number | null = null,
		reason: string | null = null,
	): void {
		const { sessionId } = this.#options;
		this.#tell((to) => to.event?.({ sessionId, event, at: this.#now(), gapMs, reason }));
	}

	/** Nothing that the listener throws may end the channel. */
	#tell(call: (listener: ConnectionListener) => void): void {
		if (this.#isSilent) return;
		try {
			call(this.#listener);
		} catch (error) {
			// By its name only: the text may quote a message.
			this.#log('warn', `a listener failed with ${error instanceof Error ? error.name : typeof error}`);
		}
	}

	#log(level: 'debug' | 'info' | 'warn', text: string): void {
		this.#environment.log[level](`Session channel ${this.#options.sessionId}: ${text}`);
	}

	/** ISO 8601. */
	#now(): string {
		return new Date(this.#environment.clock.wallMilliseconds()).toISOString();
	}

	#cancelTimers(): void {
		this.#cancelTimer();
		this.#leaveQueue();
		this.#recovery.stop();
	}
}

/** Why the address may not be reached: n8n's policy forbids it or what its name stands for, or the name is not found, as for n8n. */
export async function refusedByPolicy({
	base,
	egress,
	redact,
}: ConnectRequest): Promise<CloseReason | undefined> {
	// Without the query: n8n need not see the secrets.
	const result = await egress
		?.validateUrl(base.href)
		.catch((error: unknown) => ({ ok: false as const, error: asError(error) }));
	return result?.ok === false ? notConnected(result.error, redact) : undefined;
}

/** Keeps a channel of one session open until `close()`. The first attempt starts by itself, after this call has returned. */
export function connect(...parts: ConstructorParameters<typeof SessionConnection>): Connection {
	return new SessionConnection(...parts);
}

let loaded: OpenSocket | undefined;

/** A file of its own, loaded at first use and kept: what is published goes on with it after an update, when the file is gone. */
async function loadSocket(): Promise<OpenSocket> {
	loaded ??= (await import('./webSocket')).openSocket;
	return loaded;
}
