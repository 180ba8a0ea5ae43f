import { toError, type NodeError } from '../../core/errors';
import { type Clock, waitAtMost } from '../../core/clock';
import { Sanitizer } from '../../core/sanitizer';
import * as closeReasons from './closeReason';
import type { ConnectRequest, ConnectRequestReader } from './connectRequest';
import { createHeartbeat, type Heartbeat, type HeartbeatSettings } from './heartbeat';
import { copyFromLargeBuffer, type SessionFrame } from './messages';
import {
	ConnectRateLimiter,
	createReconnectPlanner,
	type NextAttempt,
	type ReconnectPlanner,
} from './reconnect';
import { loadSocketOpener } from './socketOpener';
import type { ChannelSocket, SocketListener, SocketOpener } from './webSocket';

export interface ConnectionOptions extends HeartbeatSettings {
	readonly sessionId: string;
	/** If not empty, this text is sent each time the channel opens. */
	readonly initialMessage: string;
	/** The limit for the delays between attempts. By default a minute. */
	readonly reconnectMaxDelaySeconds?: number;
}

const defaultMaxDelaySeconds = 60;

/** The JSON of the item that the trigger emits with the option 'Connection Events'. */
export interface ConnectionEvent {
	readonly sessionId: string;
	readonly event: 'connected' | 'disconnected' | 'reconnected';
	/** ISO 8601, UTC, milliseconds. */
	readonly at: string;
	/** For `reconnected`, how long no channel was open; otherwise null. */
	readonly gapMs: number | null;
	/** For `disconnected` and `reconnected`, why the channel was lost; otherwise null. */
	readonly reason: string | null;
}

/** A channel that closed, or an attempt that opened none, with the plan for the next one. */
export interface EndedChannel extends NextAttempt {
	readonly closeReason: closeReasons.CloseReason;
	readonly wasOpen: boolean;
	/** The error for the user, without secrets. */
	readonly failure: NodeError;
}

/**
 * What a connection reports. After `close()`, nothing is called, except `onFrame` while it takes
 * the last frames. If a method throws, the connection logs the name of the exception and continues.
 */
export interface ConnectionListener {
	onFrame(frame: SessionFrame): void;
	onEvent?(event: ConnectionEvent): void;
	/** Called at each pong. Everything that the server sent before the pong has arrived. */
	onPong?(): void;
	onChannelEnd?(channel: EndedChannel): void;
}

interface ConnectionEnvironment {
	readonly clock: Clock;
	readonly log: Readonly<Record<'debug' | 'info' | 'warn', (text: string) => void>>;
	readonly random?: () => number;
	readonly loadSocketOpener?: () => Promise<SocketOpener>;
	/** Limits how often channels are opened. Several connections may share one limiter. */
	readonly rateLimiter?: ConnectRateLimiter;
	/** With the history of an earlier connection, the gap since then is reported, too. */
	readonly history?: closeReasons.ChannelHistory;
}

export type Connection = Pick<
	SessionConnection,
	'getStatus' | 'isClosing' | 'pause' | 'resume' | 'close'
>;

/**
 * The time limit for one attempt, which reads the credentials and opens the channel. The `ws`
 * library's own limit starts again with each byte.
 */
const attemptTimeoutMilliseconds = 15_000;
/** How long the close handshake may take after the last frame has arrived. */
const closeHandshakeMilliseconds = 200;
/** How long a connection that closes may continue to read frames that were still unread. */
const maxLastFramesMilliseconds = 1000;
/** How long a terminated socket may take to report its end. */
const terminateMilliseconds = 50;
const closingState = 2; // WebSocket.CLOSING

/** Keeps a channel of one session open. There is at most one attempt or one channel at a time. */
class SessionConnection {
	readonly #options: ConnectionOptions;
	readonly #readConnectRequest: ConnectRequestReader;
	readonly #listener: ConnectionListener;
	readonly #environment: Required<ConnectionEnvironment>;
	readonly #reconnectPlanner: ReconnectPlanner;
	readonly #heartbeat: Heartbeat;
	#state: 'waiting' | 'connecting' | 'open' | 'takingLastFrames' | 'closed' = 'waiting';
	/** The current attempt, and the channel that it opened. Events of others are ignored. */
	#attempt = {};
	#socket: ChannelSocket | undefined;
	/** Called when the socket has closed. */
	#resolveClosed = () => {};
	/** Cancels the timer of the next attempt, or the time limit of the current one. */
	#cancelTimer = () => {};
	#isPaused = false;
	#frameCount = 0;
	/** The error of the last channel or attempt that ended, if any. */
	#lastFailure: NodeError | undefined;
	/** The request of the last attempt whose credentials could be read. */
	#lastRequest: ConnectRequest | undefined;
	#closing: Promise<boolean> | undefined;

	constructor(
		options: ConnectionOptions,
		readConnectRequest: ConnectRequestReader,
		listener: ConnectionListener,
		environment: ConnectionEnvironment,
	) {
		const { clock } = environment;
		const { reconnectMaxDelaySeconds = defaultMaxDelaySeconds } = options;
		this.#options = options;
		this.#readConnectRequest = readConnectRequest;
		this.#listener = listener;
		this.#environment = {
			random: Math.random,
			loadSocketOpener,
			rateLimiter: new ConnectRateLimiter(),
			history: {},
			...environment,
		};
		const { random } = this.#environment;
		this.#reconnectPlanner = createReconnectPlanner(reconnectMaxDelaySeconds, clock, random);
		const sendPing = () => {
			if (options.pingText === '') this.#socket?.ping();
			else this.#socket?.send(options.pingText);
		};
		this.#heartbeat = createHeartbeat(options, clock, sendPing, (milliseconds) => {
			this.#handleEnd({ kind: 'silent', milliseconds });
		});
		this.#scheduleAttempt(0);
	}

	getStatus() {
		return { isOpen: this.#state === 'open', lastFailure: this.#lastFailure };
	}

	/**
	 * Whether the current channel is open for the listener, but has begun to close, for example
	 * after the server's close frame.
	 */
	isClosing(): boolean {
		return this.#state === 'open' && this.#socket?.readyState === closingState;
	}

	/** Stops reading. What the socket has read is still delivered. Later frames wait. */
	pause(): void {
		this.#isPaused = true;
		if (this.#state !== 'open') return;
		this.#heartbeat.stop();
		this.#socket?.pause();
	}

	resume(): void {
		if (!this.#isPaused) return;
		this.#isPaused = false;
		if (this.#state !== 'open') return;
		this.#socket?.resume();
		this.#heartbeat.start();
	}

	/**
	 * Closes the connection, with a close frame if its channel is open. Settles within 300 ms, or
	 * 1.3 s while the last frames arrive. Never rejects.
	 * @param lossReason why messages may be missed from now on. If it is given, frames that the
	 * server sends before it sees the close frame are still delivered, and the next connection with
	 * the same history reports the loss
	 * @returns false if some of the last frames were not delivered
	 */
	close(lossReason?: string): Promise<boolean> {
		this.#closing ??= this.#closeOnce(lossReason);
		return this.#closing;
	}

	async #closeOnce(lossReason: string | undefined): Promise<boolean> {
		const socket = this.#socket;
		const socketClosed = new Promise<void>((resolve) => (this.#resolveClosed = resolve));
		const wasOpen = this.#state === 'open';
		this.#state = 'closed';
		this.#stopTimers();
		if (socket === undefined) return true;
		let hasReadAll = true;
		if (wasOpen) {
			if (lossReason !== undefined) {
				this.#state = 'takingLastFrames';
				this.#recordLoss(lossReason);
			}
			// A paused socket would see neither the last frames nor the server's close frame.
			socket.resume();
			socket.close(1000);
			hasReadAll = await this.#awaitLastFrames(socketClosed);
			this.#state = 'closed';
		}
		socket.terminate();
		await waitAtMost(this.#environment.clock, terminateMilliseconds, socketClosed);
		return hasReadAll;
	}

	/**
	 * Waits until the socket is closed or no more frames arrive.
	 * @returns false if frames still arrive at the end of the time limit
	 */
	async #awaitLastFrames(socketClosed: Promise<void>): Promise<boolean> {
		const { clock } = this.#environment;
		const deadline = clock.getMonotonicMilliseconds() + maxLastFramesMilliseconds;
		do {
			const previousCount = this.#frameCount;
			await waitAtMost(clock, closeHandshakeMilliseconds, socketClosed);
			if (this.#socket === undefined || this.#frameCount === previousCount) return true;
		} while (clock.getMonotonicMilliseconds() < deadline);
		return false;
	}

	#scheduleAttempt(delayMilliseconds: number): void {
		const { clock, rateLimiter } = this.#environment;
		this.#cancelTimer = clock.callAfter(delayMilliseconds, () => {
			this.#cancelTimer = clock.callAfter(rateLimiter.takePlace(clock), () => {
				void this.#attemptToOpen();
			});
		});
	}

	async #attemptToOpen(): Promise<void> {
		const attempt = {};
		this.#attempt = attempt;
		this.#state = 'connecting';
		const { clock, loadSocketOpener } = this.#environment;
		this.#cancelTimer = clock.callAfter(attemptTimeoutMilliseconds, () => {
			this.#handleEnd({ kind: 'connectTimeout' });
		});
		let request: ConnectRequest | undefined;
		try {
			request = await this.#readConnectRequest(this.#options.sessionId);
			this.#lastRequest = request;
			// `baseUrl` is `url` without its query, which holds the secrets.
			const permission = await request.egress?.validateUrl(request.baseUrl.href);
			if (permission?.ok === false) throw permission.error;
			const openSocket = await loadSocketOpener();
			if (this.#isCurrent(attempt))
				this.#socket = openSocket(request, this.#createSocketListener(attempt));
		} catch (error) {
			if (!this.#isCurrent(attempt)) return;
			const sanitizer = this.#lastRequest?.sanitizer ?? new Sanitizer();
			// Without a request, the credentials could not be read.
			const convertError = request
				? closeReasons.convertNetworkError
				: closeReasons.convertCredentialError;
			this.#handleEnd(convertError(toError(error), sanitizer));
		}
	}

	#isCurrent(attempt: object): boolean {
		return attempt === this.#attempt && this.#state !== 'closed';
	}

	/**
	 * Creates a listener that ignores the events of an earlier channel. A paused socket still
	 * delivers events after it was terminated.
	 */
	#createSocketListener(attempt: object): SocketListener {
		return {
			onOpen: () => {
				if (this.#isCurrent(attempt)) this.#handleOpen();
			},
			onFrame: (data, isBinary) => {
				if (this.#isCurrent(attempt)) this.#handleFrame(data, isBinary);
			},
			onControlFrame: (kind) => {
				if (!this.#isCurrent(attempt)) return;
				this.#heartbeat.recordFrame(kind);
				if (kind === 'pong') this.#notify((listener) => listener.onPong?.());
			},
			onClose: (closeReason) => {
				if (attempt !== this.#attempt) return;
				this.#socket = undefined;
				this.#resolveClosed();
				if (this.#closing === undefined) this.#handleEnd(closeReason);
			},
		};
	}

	#handleOpen(): void {
		const { clock, history } = this.#environment;
		const { initialMessage } = this.#options;
		this.#state = 'open';
		this.#cancelTimer();
		if (initialMessage !== '') this.#socket?.send(initialMessage);
		if (this.#isPaused) this.#socket?.pause();
		else this.#heartbeat.start();
		if (this.#lastFailure !== undefined) this.#log('info', 'reconnected');
		this.#reconnectPlanner.recordOpen();
		const { loss } = history;
		history.loss = undefined;
		const now = clock.getMonotonicMilliseconds();
		if (loss === undefined) this.#notifyEvent('connected');
		else this.#notifyEvent('reconnected', loss.reason, Math.round(now - loss.lostAt));
	}

	#handleFrame(data: Buffer, isBinary: boolean): void {
		this.#heartbeat.recordFrame('message');
		this.#reconnectPlanner.recordFrame();
		const { sessionId } = this.#options;
		const sequence = ++this.#frameCount;
		const receivedAt = this.#formatNow();
		const frame = {
			sessionId,
			sequence,
			receivedAt,
			data: copyFromLargeBuffer(data),
			isBinary,
		};
		this.#notify((listener) => {
			listener.onFrame(frame);
		});
	}

	/** Ends the channel or the attempt at once, and plans the next attempt. */
	#handleEnd(closeReason: closeReasons.CloseReason): void {
		const wasOpen = this.#state === 'open';
		const { reason } = closeReasons.explainCloseReason(closeReason);
		this.#state = 'waiting';
		this.#attempt = {};
		this.#stopTimers();
		this.#socket?.terminate();
		this.#socket = undefined;
		// A dead channel was lost when it fell silent, and not when the pings showed it.
		const silentMilliseconds = closeReason.kind === 'silent' ? closeReason.milliseconds : 0;
		if (wasOpen) this.#recordLoss(reason, silentMilliseconds);
		const nextAttempt = this.#reconnectPlanner.planNextAttempt(closeReason);
		const { delayMilliseconds, isFirstOfOutage } = nextAttempt;
		const channel = { ...this.#options, host: this.#lastRequest?.baseUrl.host };
		const failure = closeReasons.createChannelError(closeReason, channel);
		this.#lastFailure = failure;
		this.#scheduleAttempt(delayMilliseconds);
		const level = isFirstOfOutage ? 'warn' : 'debug';
		this.#log(level, `${reason}; next attempt in ${Math.ceil(delayMilliseconds / 1000)} s`);
		// The listener is called last, because it may close this connection.
		if (wasOpen) this.#notifyEvent('disconnected', reason);
		this.#notify((listener) =>
			listener.onChannelEnd?.({ ...nextAttempt, closeReason, wasOpen, failure }),
		);
	}

	#recordLoss(reason: string, silentMilliseconds = 0): void {
		const { clock, history } = this.#environment;
		const lostAt = clock.getMonotonicMilliseconds() - silentMilliseconds;
		history.loss = { lostAt, reason };
	}

	#notifyEvent(
		event: ConnectionEvent['event'],
		reason: string | null = null,
		gapMs: number | null = null,
	): void {
		const { sessionId } = this.#options;
		const at = this.#formatNow();
		this.#notify((listener) => listener.onEvent?.({ sessionId, event, at, gapMs, reason }));
	}

	/** Catches what the listener throws, so that an exception does not end the channel. */
	#notify(callListener: (listener: ConnectionListener) => void): void {
		if (this.#state === 'closed') return;
		try {
			callListener(this.#listener);
		} catch (error) {
			// The text of the exception is not logged, because it may quote a message.
			this.#log('warn', `a listener failed with ${toError(error).name}`);
		}
	}

	#stopTimers(): void {
		this.#cancelTimer();
		this.#heartbeat.reset();
	}

	#log(level: 'debug' | 'info' | 'warn', text: string): void {
		this.#environment.log[level](`Session channel ${this.#options.sessionId}: ${text}`);
	}

	#formatNow(): string {
		return new Date(this.#environment.clock.getWallMilliseconds()).toISOString();
	}
}

/** Keeps a channel open until `close()` is called. The first attempt starts after the return. */
export const connect = (
	...parameters: ConstructorParameters<typeof SessionConnection>
): Connection => new SessionConnection(...parameters);
