import { toError, type NodeError } from '../../core/errors';
import type { Clock } from '../../core/clock';
import { buildSanitizeFunction } from '../../core/sanitizer';
import { Channel, type ChannelSettings, type CloseOptions } from './channel';
import * as closeReasons from './closeReason';
import type { ConnectRequest, ConnectRequestReader } from './connectRequest';
import { FrameSequence } from './frameSequence';
import type { SessionFrame } from './messages';
import { ConnectRateLimiter, type NextAttempt, ReconnectPlanner } from './reconnect';
import type { SocketOpener } from './webSocket';

export interface ConnectionOptions extends Omit<ChannelSettings, keyof ConnectRequest> {
	readonly sessionId: string;
	/** The limit for the delays between attempts. By default a minute. */
	readonly reconnectMaxDelaySeconds?: number;
}

const defaultMaxDelaySeconds = 60;

/** The JSON of the item that the trigger emits for each event if its option 'Connection Events' is on. */
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

/** A channel that closed, or an attempt that did not open one, with the plan for the next attempt. */
export interface EndedChannel extends NextAttempt {
	readonly closeReason: closeReasons.CloseReason;
	readonly wasOpen: boolean;
	/** The error for the user, without secrets. */
	readonly failure: NodeError;
}

/**
 * What a connection reports. After `close()`, nothing is called, except `onFrame` and `onFirstPong` while it takes the last frames.
 * If a method throws, the connection logs the name of the exception and continues.
 */
export interface ConnectionListener {
	onFrame(frame: SessionFrame): void;
	onEvent?(event: ConnectionEvent): void;
	/** Called at the first pong of each channel. */
	onFirstPong?(): void;
	onChannelEnd?(channel: EndedChannel): void;
}

interface ConnectionEnvironment {
	readonly clock: Clock;
	readonly log: Readonly<Record<'debug' | 'info' | 'warn', (text: string) => void>>;
	readonly random?: () => number;
	readonly loadSocketOpener?: () => Promise<SocketOpener>;
	/** Limits how often channels are opened. Several connections may share one limiter. */
	readonly rateLimiter?: ConnectRateLimiter;
	/** Numbers the frames, and records losses and gaps. The sequence of an earlier connection also reports the gap since then. */
	readonly frameSequence?: FrameSequence;
}

/** `lossReason`: why messages may be missed from now on. The next connection with the same `frameSequence` reports this loss. */
type ConnectionCloseOptions = CloseOptions & { readonly lossReason?: string };
export type Connection = Pick<
	SessionConnection,
	'getStatus' | 'isClosing' | 'pause' | 'resume' | 'close'
>;

/** The time limit for reading the credentials before a channel opens. Without a limit, a database that hangs would stop all attempts. */
const credentialsTimeoutMilliseconds = 20_000;

/** Opens one channel of a session after another. */
class SessionConnection {
	readonly #options: ConnectionOptions;
	readonly #readConnectRequest: ConnectRequestReader;
	readonly #listener: ConnectionListener;
	readonly #environment: Required<ConnectionEnvironment>;
	readonly #reconnectPlanner: ReconnectPlanner;
	/** The state of the current channel. Between two channels, the state is `closed`. */
	#state: 'connecting' | 'open' | 'closed' = 'closed';
	/** Grows whenever an attempt starts or ends, or the connection closes. An attempt ignores its result if the generation has changed. */
	#generation = 0;
	#channel: Channel | undefined;
	/** Cancels the timer of the next attempt, or the time limit for reading the credentials. */
	#cancelTimer = () => {};
	#isPaused = false;
	/** The error of the last channel or attempt that ended. Undefined until a channel or attempt has ended. */
	#lastFailure: NodeError | undefined;
	/** The request of the last attempt whose credentials could be read. */
	#lastRequest: ConnectRequest | undefined;
	#closing: Promise<boolean> | undefined;
	#isMuted = false;

	constructor(
		options: ConnectionOptions,
		readConnectRequest: ConnectRequestReader,
		listener: ConnectionListener,
		environment: ConnectionEnvironment,
	) {
		const { clock, random = Math.random } = environment;
		const rateLimiter = new ConnectRateLimiter(clock);
		const frameSequence = new FrameSequence();
		this.#options = options;
		this.#listener = listener;
		this.#environment = {
			random,
			loadSocketOpener,
			rateLimiter,
			frameSequence,
			...environment,
		};
		this.#readConnectRequest = readConnectRequest;
		this.#reconnectPlanner = new ReconnectPlanner(
			options.reconnectMaxDelaySeconds ?? defaultMaxDelaySeconds,
			clock,
			random,
		);
		this.#scheduleAttempt(0);
	}

	getStatus() {
		return { state: this.#state, lastFailure: this.#lastFailure };
	}

	/** Whether the current channel is open for the listener, but has begun to close. */
	isClosing(): boolean {
		return this.#channel?.isClosing() === true;
	}

	/** Stops reading. Frames that the socket has already read are still delivered. All later frames wait in the network. */
	pause(): void {
		this.#isPaused = true;
		this.#channel?.pause();
	}

	resume(): void {
		this.#isPaused = false;
		this.#channel?.resume();
	}

	/** Closes the connection and its channel, as `Channel.close` does. @returns false if some of the last frames were not delivered */
	close(options: ConnectionCloseOptions = {}): Promise<boolean> {
		this.#closing ??= this.#closeConnection(options);
		return this.#closing;
	}

	async #closeConnection(options: ConnectionCloseOptions): Promise<boolean> {
		const { clock, frameSequence } = this.#environment;
		if (this.#state === 'open' && options.lossReason !== undefined)
			frameSequence.recordLoss(clock.getMonotonicMilliseconds(), options.lossReason);
		this.#state = 'closed';
		this.#isMuted = !options.takesLastFrames;
		this.#generation++;
		this.#cancelTimer();
		const hasDeliveredAll = (await this.#channel?.close(options)) ?? true;
		this.#isMuted = true;
		return hasDeliveredAll;
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
		const generation = ++this.#generation;
		this.#state = 'connecting';
		this.#cancelTimer = this.#environment.clock.callAfter(
			credentialsTimeoutMilliseconds,
			() => {
				this.#handleChannelEnd({
					kind: 'credentials',
					message: 'reading them timed out',
					needsUser: false,
				});
			},
		);
		try {
			const openSocket = await this.#environment.loadSocketOpener();
			const request = await this.#readConnectRequest(this.#options.sessionId);
			const policyCloseReason = await findPolicyCloseReason(request);
			if (generation !== this.#generation) return;
			this.#lastRequest = request;
			if (policyCloseReason) this.#handleChannelEnd(policyCloseReason);
			else this.#openChannel(openSocket, request);
		} catch (error) {
			if (generation !== this.#generation) return;
			const sanitize = this.#lastRequest?.sanitize ?? buildSanitizeFunction([]);
			this.#handleChannelEnd(closeReasons.convertCredentialError(error, sanitize));
		}
	}

	#openChannel(openSocket: SocketOpener, request: ConnectRequest): void {
		this.#cancelTimer();
		const channelListener = {
			onOpen: this.#handleOpen,
			onFrame: (data: Buffer, isBinary: boolean) => {
				this.#reconnectPlanner.recordFrame();
				const { sessionId } = this.#options;
				const receivedAt = this.#formatNow();
				const received = { sessionId, receivedAt, data, isBinary };
				const frame = this.#environment.frameSequence.buildFrame(received);
				this.#notify((listener) => {
					listener.onFrame(frame);
				});
			},
			onFirstPong: () => {
				this.#notify((listener) => listener.onFirstPong?.());
			},
			onClose: this.#handleChannelEnd,
			onNoResponse: () => {
				this.#log(
					'info',
					'the server did not respond to pings, so a lost connection may be detected late',
				);
			},
		};
		const settings = { ...this.#options, ...request };
		this.#channel = new Channel(settings, channelListener, this.#environment.clock, openSocket);
		if (this.#isPaused) this.#channel.pause();
	}

	readonly #handleOpen = () => {
		this.#state = 'open';
		if (this.#lastFailure !== undefined) this.#log('info', 'reconnected');
		this.#reconnectPlanner.recordOpen();
		const { clock, frameSequence } = this.#environment;
		const gap = frameSequence.recordOpen(clock.getMonotonicMilliseconds());
		if (gap) this.#notifyEvent('reconnected', gap.gapMs, gap.reason);
		else this.#notifyEvent('connected', null, null);
	};

	readonly #handleChannelEnd = (closeReason: closeReasons.CloseReason) => {
		const { clock, frameSequence } = this.#environment;
		const wasOpen = this.#state === 'open';
		const reason = closeReasons.describeCloseReason(closeReason);
		this.#generation++;
		this.#cancelTimer();
		// A dead channel was lost when it fell silent, and not when the pings showed it.
		const silentMilliseconds = closeReason.kind === 'silent' ? closeReason.milliseconds : 0;
		if (wasOpen)
			frameSequence.recordLoss(clock.getMonotonicMilliseconds() - silentMilliseconds, reason);
		const nextAttempt = this.#reconnectPlanner.planNextAttempt(closeReason);
		const errorContext = { ...this.#options, host: this.#lastRequest?.baseUrl.host, wasOpen };
		const failure = closeReasons.createChannelError(
			closeReason,
			errorContext,
			clock.getWallMilliseconds(),
		);
		this.#lastFailure = failure;
		this.#state = 'closed';
		this.#scheduleAttempt(nextAttempt.delayMilliseconds);
		const seconds = Math.ceil(nextAttempt.delayMilliseconds / 1000);
		this.#log(
			nextAttempt.isFirstOfOutage ? 'warn' : 'debug',
			`${reason}; next attempt in ${seconds} s`,
		);
		// The listener is called last, because it may close this connection.
		if (wasOpen) this.#notifyEvent('disconnected', null, reason);
		this.#notify((listener) =>
			listener.onChannelEnd?.({ ...nextAttempt, closeReason, wasOpen, failure }),
		);
	};

	#notifyEvent(
		event: ConnectionEvent['event'],
		gapMs: number | null,
		reason: string | null,
	): void {
		const { sessionId } = this.#options;
		const at = this.#formatNow();
		this.#notify((listener) => listener.onEvent?.({ sessionId, event, at, gapMs, reason }));
	}

	/** Catches what the listener throws, so that an exception does not end the channel. */
	#notify(callListener: (listener: ConnectionListener) => void): void {
		if (this.#isMuted) return;
		try {
			callListener(this.#listener);
		} catch (error) {
			// The text of the exception is not logged, because it may quote a message.
			this.#log(
				'warn',
				`a listener failed with ${error instanceof Error ? error.name : typeof error}`,
			);
		}
	}

	#log(level: 'debug' | 'info' | 'warn', text: string): void {
		this.#environment.log[level](`Session channel ${this.#options.sessionId}: ${text}`);
	}

	#formatNow(): string {
		return new Date(this.#environment.clock.getWallMilliseconds()).toISOString();
	}
}

/** Asks n8n's egress policy about the address. @returns why it cannot be reached: the policy forbids it, or its name is not found */
export async function findPolicyCloseReason(request: ConnectRequest) {
	try {
		// `baseUrl` is `url` without its query, which holds the secrets.
		const result = await request.egress?.validateUrl(request.baseUrl.href);
		if (result?.ok !== false) return undefined;
		return closeReasons.convertNetworkError(result.error, request.sanitize);
	} catch (error) {
		return closeReasons.convertNetworkError(toError(error), request.sanitize);
	}
}

/** Keeps a channel of one session open until `close()` is called. The first attempt starts after this function has returned. */
export const connect = (
	...parameters: ConstructorParameters<typeof SessionConnection>
): Connection => new SessionConnection(...parameters);

let loadedOpenSocket: SocketOpener | undefined;

/** Keeps the loaded function. An update of the package deletes its file, but published triggers of the old version still need the function. */
async function loadSocketOpener(): Promise<SocketOpener> {
	loadedOpenSocket ??= (await import('./webSocket')).openSocket;
	return loadedOpenSocket;
}
