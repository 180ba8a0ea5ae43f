import { toError, type NodeError } from '../../core/errors';
import type { Clock } from '../../core/clock';
import { Channel, type ChannelSettings } from './channel';
import {
	type CloseReason,
	createChannelError,
	networkErrorToCloseReason,
	describeCloseReason,
	credentialErrorToCloseReason,
} from './closeReason';
import { type ConnectRequest, type ConnectRequestReader, buildSanitizeFunction } from './credentials';
import { FrameSequence, type MessageFormat, type SessionFrame } from './messages';
import { ConnectRateLimiter, type NextAttempt, ReconnectPlanner } from './reconnect';
import type { SocketOpener } from './webSocket';

export interface ConnectionOptions extends Omit<ChannelSettings, keyof ConnectRequest> {
	readonly sessionId: string;
	readonly messageFormat: MessageFormat;
	readonly reconnectMaxDelaySeconds: number;
	/** Close codes after which the long backoff applies, in addition to the built-in ones. */
	readonly finalCloseCodes: readonly number[];
}

/** The JSON of an item that the trigger emits if 'Connection Events' is on. */
export interface ConnectionEvent {
	readonly sessionId: string;
	readonly event: 'connected' | 'disconnected' | 'reconnected';
	/** ISO 8601, UTC, milliseconds. */
	readonly at: string;
	/** For `reconnected`: how long no channel was open. Otherwise null. */
	readonly gapMs: number | null;
	/** For `disconnected` and `reconnected`: why the channel was lost. Otherwise null. */
	readonly reason: string | null;
}

/** A channel that closed, or an attempt that did not open one. */
export interface EndedChannel extends NextAttempt {
	readonly closeReason: CloseReason;
	readonly wasOpen: boolean;
	/** The error for the user, without secrets. */
	readonly failure: NodeError;
}

/**
 * After `close()`, only `onMessage` is called, if the last messages were asked for. If a method throws, the connection logs only
 * the name of the exception, and goes on.
 */
export interface ConnectionListener {
	onMessage(frame: SessionFrame): void;
	onEvent?(event: ConnectionEvent): void;
	/** Called at the first pong of a channel: what the server sent when the channel opened has arrived. */
	onFirstPong?(): void;
	onChannelEnd?(channel: EndedChannel): void;
}

interface ConnectionEnvironment {
	readonly clock: Clock;
	readonly log: Readonly<Record<'debug' | 'info' | 'warn', (text: string) => void>>;
	readonly random?: () => number;
	readonly loadSocket?: () => Promise<SocketOpener>;
	/** Limits how often connections are attempted; may be shared with other connections. */
	readonly rateLimiter?: ConnectRateLimiter;
	/** Continues the numbers of an earlier connection to the session, so that the first message reports the gap since then. */
	readonly frames?: FrameSequence;
}

export type Connection = Pick<SessionConnection, 'status' | 'pause' | 'resume' | 'close'>;

/** How long reading the credentials may take, because n8n's database may hang. */
const credentialsTimeoutMilliseconds = 20_000;

/** Opens one channel of a session after another. Each attempt has a number, so that results of an older one can be ignored. */
class SessionConnection {
	readonly #options: ConnectionOptions;
	readonly #readRequest: ConnectRequestReader;
	readonly #listener: ConnectionListener;
	readonly #environment: Required<ConnectionEnvironment>;
	readonly #reconnectPlanner: ReconnectPlanner;
	/** As of a WebSocket; between two channels it is closed. */
	#state: 'connecting' | 'open' | 'closed' = 'closed';
	#attemptNumber = 0;
	#channel: Channel | undefined;
	/** Cancels the wait for the next attempt, or the time limit for reading the credentials. */
	#cancelTimer = () => {};
	#isPaused = false;
	/** Why the last channel or attempt ended; undefined if none has ended yet. */
	#lastFailure: NodeError | undefined;
	/** The request of the last attempt for which the credentials could be read. */
	#lastRequest: ConnectRequest | undefined;
	#closing: Promise<boolean> | undefined;
	/** Whether the listener gets no more calls. */
	#isMuted = false;

	constructor(
		options: ConnectionOptions,
		readRequest: ConnectRequestReader,
		listener: ConnectionListener,
		environment: ConnectionEnvironment,
	) {
		const { clock, random = Math.random } = environment;
		const rateLimiter = new ConnectRateLimiter(clock);
		const frames = new FrameSequence();
		this.#options = options;
		this.#listener = listener;
		this.#environment = { random, loadSocket, rateLimiter, frames, ...environment };
		this.#readRequest = readRequest;
		this.#reconnectPlanner = new ReconnectPlanner(options, clock, random);
		this.#scheduleAttempt(0);
	}

	status() {
		return { state: this.#state, lastFailure: this.#lastFailure };
	}

	/** Stops reading. Messages that the socket has already read are still delivered; all others wait in the network. */
	pause(): void {
		this.#isPaused = true;
		this.#channel?.pause();
	}

	resume(): void {
		this.#isPaused = false;
		this.#channel?.resume();
	}

	/** Closes the connection and its channel. @param takesLast whether to deliver what is unread @returns whether all was read */
	close(takesLast = false): Promise<boolean> {
		this.#closing ??= this.#closeChannel(takesLast);
		return this.#closing;
	}

	async #closeChannel(takesLast: boolean): Promise<boolean> {
		const { clock, frames } = this.#environment;
		if (this.#state === 'open')
			frames.recordLoss(clock.getMonotonicMilliseconds(), 'the trigger was stopped');
		this.#state = 'closed';
		this.#isMuted = !takesLast;
		this.#attemptNumber++;
		this.#cancelTimer();
		const isAllRead = (await this.#channel?.close(takesLast)) ?? true;
		this.#isMuted = true;
		return isAllRead;
	}

	#scheduleAttempt(delayMilliseconds: number): void {
		const { clock, rateLimiter } = this.#environment;
		this.#cancelTimer = clock.callAfter(delayMilliseconds, () => {
			this.#cancelTimer = rateLimiter.schedule(() => {
				void this.#attemptToOpen();
			});
		});
	}

	async #attemptToOpen(): Promise<void> {
		const attempt = ++this.#attemptNumber;
		this.#state = 'connecting';
		this.#cancelTimer = this.#environment.clock.callAfter(credentialsTimeoutMilliseconds, () => {
			this.#handleClose({ kind: 'credentials', message: 'reading them timed out', isMistake: false });
		});
		try {
			const openSocket = await this.#environment.loadSocket();
			const request = await this.#readRequest(this.#options.sessionId);
			const refusal = await findPolicyRefusal(request);
			if (attempt !== this.#attemptNumber) return;
			this.#lastRequest = request;
			if (refusal) this.#handleClose(refusal);
			else this.#openChannel(openSocket, request);
		} catch (error) {
			if (attempt !== this.#attemptNumber) return;
			this.#handleClose(
				credentialErrorToCloseReason(error, this.#lastRequest?.sanitize ?? buildSanitizeFunction([])),
			);
		}
	}

	#openChannel(openSocket: SocketOpener, request: ConnectRequest): void {
		this.#cancelTimer();
		const listener = {
			onOpen: this.#handleOpen,
			onMessage: (data: Buffer, isBinary: boolean) => {
				this.#reconnectPlanner.recordMessage();
				const { sessionId, messageFormat: readAs } = this.#options;
				const received = { sessionId, receivedAt: this.#formatNow(), data, isBinary, readAs };
				const frame = this.#environment.frames.buildFrame(received);
				this.#notify((to) => {
					to.onMessage(frame);
				});
			},
			onFirstPong: () => {
				this.#notify((to) => to.onFirstPong?.());
			},
			onClose: this.#handleClose,
			onUnanswered: () => {
				this.#log('info', 'the server did not respond to pings, so a lost connection may be detected late');
			},
		};
		const settings = { ...this.#options, ...request };
		this.#channel = new Channel(settings, listener, this.#environment.clock, openSocket);
		if (this.#isPaused) this.#channel.pause();
	}

	readonly #handleOpen = () => {
		this.#state = 'open';
		if (this.#lastFailure !== undefined) this.#log('info', 'reconnected');
		this.#reconnectPlanner.recordOpen();
		const { clock, frames } = this.#environment;
		const gap = frames.recordOpen(clock.getMonotonicMilliseconds());
		if (gap) this.#notifyEvent('reconnected', gap.gapMs, gap.reason);
		else this.#notifyEvent('connected', null, null);
	};

	readonly #handleClose = (closeReason: CloseReason) => {
		const { clock, frames } = this.#environment;
		const wasOpen = this.#state === 'open';
		const reason = describeCloseReason(closeReason);
		this.#attemptNumber++;
		this.#cancelTimer();
		const silentMilliseconds = closeReason.kind === 'silent' ? closeReason.milliseconds : 0;
		if (wasOpen) frames.recordLoss(clock.getMonotonicMilliseconds() - silentMilliseconds, reason);
		const next = this.#reconnectPlanner.planNextAttempt(closeReason);
		const channel = { ...this.#options, host: this.#lastRequest?.baseUrl.host, wasOpen };
		const failure = createChannelError(closeReason, channel, clock.getWallMilliseconds());
		this.#lastFailure = failure;
		this.#state = 'closed';
		this.#scheduleAttempt(next.delayMilliseconds);
		const seconds = Math.ceil(next.delayMilliseconds / 1000);
		this.#log(next.isFirst ? 'warn' : 'debug', `${reason}; next attempt in ${seconds} s`);
		// The listener is called last, because it may close this connection.
		if (wasOpen) this.#notifyEvent('disconnected', null, reason);
		this.#notify((to) => to.onChannelEnd?.({ ...next, closeReason, wasOpen, failure }));
	};

	#notifyEvent(event: ConnectionEvent['event'], gapMs: number | null, reason: string | null): void {
		const { sessionId } = this.#options;
		this.#notify((to) => to.onEvent?.({ sessionId, event, at: this.#formatNow(), gapMs, reason }));
	}

	/** Catches what the listener throws, so that it cannot end the channel. */
	#notify(call: (listener: ConnectionListener) => void): void {
		if (this.#isMuted) return;
		try {
			call(this.#listener);
		} catch (error) {
			// Only the name is logged, because the text may quote a message.
			this.#log('warn', `a listener failed with ${error instanceof Error ? error.name : typeof error}`);
		}
	}

	#log(level: 'debug' | 'info' | 'warn', text: string): void {
		this.#environment.log[level](`Session channel ${this.#options.sessionId}: ${text}`);
	}

	#formatNow(): string {
		return new Date(this.#environment.clock.getWallMilliseconds()).toISOString();
	}
}

/** Returns why the address may not be reached: n8n's egress policy forbids it, or its name is not found. */
export async function findPolicyRefusal(request: ConnectRequest): Promise<CloseReason | undefined> {
	try {
		// The query stays out, because it holds the secrets.
		const result = await request.egress?.validateUrl(request.baseUrl.href);
		return result?.ok === false ? networkErrorToCloseReason(result.error, request.sanitize) : undefined;
	} catch (error) {
		return networkErrorToCloseReason(toError(error), request.sanitize);
	}
}

/** Keeps a channel of one session open until `close()`. The first attempt starts after this function has returned. */
export function connect(...parts: ConstructorParameters<typeof SessionConnection>): Connection {
	return new SessionConnection(...parts);
}

let loadedOpenSocket: SocketOpener | undefined;

/** Keeps the loaded code, because an update of the package deletes its file while published triggers still need it. */
async function loadSocket(): Promise<SocketOpener> {
	loadedOpenSocket ??= (await import('./webSocket')).openSocket;
	return loadedOpenSocket;
}
