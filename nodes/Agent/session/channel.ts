import { type Clock, waitAtMost } from '../../core/clock';
import type { Sanitize } from '../../core/sanitizer';
import * as closeReasons from './closeReason';
import type { SocketOpener, ChannelSocket, SocketListener, SocketRequest } from './webSocket';

interface HeartbeatSettings {
	/** The time between two pings. 0 turns the pings off. */
	readonly heartbeatSeconds: number;
	/** If not empty, this text message is sent instead of a WebSocket ping. */
	readonly pingText: string;
}

interface HeartbeatActions {
	sendPing(): void;
	/** Called if the server sent nothing between a ping and its deadline. Not called if the server has never responded to a ping. */
	reportDead(silentMilliseconds: number): void;
	/** Called once if the server has never responded to a ping. Such a server may be alive, although it misses the deadline. */
	reportNoResponse(): void;
}

/** How long the response to a ping may take. With less than 10 s, a busy server or a busy n8n would look dead. */
const pingTimeoutMilliseconds = 20_000;
/** A timer that fires this late shows that this process was stalled. Responses may then have arrived that were not read yet. */
const stallThresholdMilliseconds = 1000;

/** Finds out by pings whether a silent server is dead. Any frame proves that it is not. With a ping every 25 s, this takes at most 45 s. */
export class Heartbeat {
	readonly #intervalMilliseconds: number;
	/** The frame that proves that the server responds to pings. It is a message if the pings are text messages. */
	readonly #responseKind: 'pong' | 'message';
	readonly #actions: HeartbeatActions;
	readonly #clock: Clock;
	#cancelTimer = () => {};
	#lastFrameAt = 0;
	#nextPingAt = Number.POSITIVE_INFINITY;
	/** The ping that awaits a response. Both times are monotonic milliseconds. */
	#awaitedPing: { readonly sentAt: number; readonly deadline: number } | undefined;
	#hasResponded = false;
	#hasReportedNoResponse = false;

	constructor(
		{ heartbeatSeconds, pingText }: HeartbeatSettings,
		actions: HeartbeatActions,
		clock: Clock,
	) {
		this.#intervalMilliseconds = heartbeatSeconds * 1000;
		this.#responseKind = pingText === '' ? 'pong' : 'message';
		this.#actions = actions;
		this.#clock = clock;
	}

	/** Starts the pings, also after `suspend()`. The first WebSocket ping is sent at once. */
	start(): void {
		const now = this.#clock.getMonotonicMilliseconds();
		this.#lastFrameAt = now;
		this.#awaitedPing = undefined;
		if (this.#intervalMilliseconds === 0) return;
		// The first text ping is sent later, because the server may not expect it as the first message.
		const isPingDue = this.#responseKind === 'pong' || this.#hasResponded;
		this.#nextPingAt = isPingDue ? now : now + this.#intervalMilliseconds;
		this.#checkAndPing(now);
	}

	/** Stops the pings, for example because no response can be seen while the socket is not read. */
	suspend(): void {
		this.#cancelTimer();
	}

	recordFrame(kind: 'ping' | 'pong' | 'message'): void {
		this.#lastFrameAt = this.#clock.getMonotonicMilliseconds();
		// Any message that arrives after a text ping counts as its response.
		if (kind === this.#responseKind && this.#awaitedPing !== undefined)
			this.#hasResponded = true;
	}

	/** Checks the awaited ping, sends the next one if it is due, and sets the timer. @param plannedAt the time for which the timer was set */
	#checkAndPing(plannedAt: number): void {
		const now = this.#clock.getMonotonicMilliseconds();
		if (this.#awaitedPing !== undefined && this.#lastFrameAt >= this.#awaitedPing.sentAt)
			this.#awaitedPing = undefined;
		if (this.#awaitedPing !== undefined && now >= this.#awaitedPing.deadline) {
			const isStalled = now - plannedAt > stallThresholdMilliseconds;
			if (this.#hasResponded && !isStalled) {
				this.#actions.reportDead(now - this.#lastFrameAt);
				return;
			}
			this.#awaitedPing = undefined;
			if (isStalled) this.#nextPingAt = now;
			else if (!this.#hasReportedNoResponse) {
				this.#hasReportedNoResponse = true;
				this.#actions.reportNoResponse();
			}
		}
		if (now >= this.#nextPingAt) {
			this.#awaitedPing ??= { sentAt: now, deadline: now + pingTimeoutMilliseconds };
			this.#nextPingAt = now + this.#intervalMilliseconds;
			this.#actions.sendPing();
		}
		const nextCheckAt = Math.min(
			this.#nextPingAt,
			this.#awaitedPing?.deadline ?? Number.POSITIVE_INFINITY,
		);
		this.#cancelTimer = this.#clock.callAfter(Math.max(0, nextCheckAt - now), () => {
			this.#checkAndPing(nextCheckAt);
		});
	}
}

export interface ChannelSettings extends SocketRequest, HeartbeatSettings {
	readonly sanitize: Sanitize;
	/** If not empty, this text is sent each time the channel opens. */
	readonly initialMessage: string;
}

export type CloseOptions = Readonly<{ takesLastFrames?: boolean }>;

/** What a channel reports. `onClose` is called at most once, and last. After `close()`, only `onFrame` and `onFirstPong` may be called. */
interface ChannelListener {
	readonly onOpen: () => void;
	readonly onFrame: (data: Buffer, isBinary: boolean) => void;
	/** Called once, at the first pong. Everything that the server sent before this pong has arrived. */
	readonly onFirstPong: () => void;
	readonly onClose: (closeReason: closeReasons.CloseReason) => void;
	readonly onNoResponse: () => void;
}

/** The time limit for opening the channel. The limit of the `ws` library is not used, because each byte that arrives restarts that limit. */
const connectTimeoutMilliseconds = 15_000;
/** How long the close handshake may take after the last frame has arrived. */
const closeHandshakeMilliseconds = 200;
/** How long a closed channel may continue to read frames that were still unread. */
const maxLastFramesMilliseconds = 1000;
/** How long a terminated socket may take to report its end. */
const terminateMilliseconds = 50;
const closingState = 2; // WebSocket.CLOSING

/** One WebSocket, from the attempt to connect until it is closed. A channel never reconnects. */
export class Channel {
	readonly #settings: ChannelSettings;
	readonly #listener: ChannelListener;
	readonly #clock: Clock;
	readonly #socket: ChannelSocket;
	readonly #heartbeat: Heartbeat;
	#state: 'connecting' | 'open' | 'closing' | 'closed' = 'connecting';
	#isPaused = false;
	#cancelConnectTimer: () => void;
	/** The error or response because of which the socket will close. Undefined if a close frame is the reason. */
	#closeCause: closeReasons.CloseReason | undefined;
	#hasReceivedPong = false;
	#frameCount = 0;
	/** Whether some of the last frames were left unread, because `pause()` was called or the time limit had passed. */
	#hasUnreadFrames = false;
	#isSocketClosed = false;
	readonly #socketClosed: Promise<void>;
	#resolveSocketClosed = () => {};

	constructor(
		settings: ChannelSettings,
		listener: ChannelListener,
		clock: Clock,
		openSocket: SocketOpener,
	) {
		this.#settings = settings;
		this.#listener = listener;
		this.#clock = clock;
		this.#socketClosed = new Promise((resolve) => (this.#resolveSocketClosed = resolve));
		const heartbeatActions = {
			sendPing: () => {
				if (settings.pingText === '') this.#socket.ping();
				else this.#socket.send(settings.pingText);
			},
			reportDead: (milliseconds: number) => {
				this.#terminate({ kind: 'silent', milliseconds });
			},
			reportNoResponse: listener.onNoResponse,
		};
		this.#heartbeat = new Heartbeat(settings, heartbeatActions, clock);
		this.#cancelConnectTimer = clock.callAfter(connectTimeoutMilliseconds, () => {
			this.#terminate({ kind: 'connectTimeout' });
		});
		this.#socket = openSocket(settings, this.#createSocketListener());
	}

	/** Whether the socket is closing, for example after the server's close frame. `onClose` is called later, when it is closed. */
	isClosing(): boolean {
		return this.#state === 'open' && this.#socket.readyState === closingState;
	}

	/** Stops reading, now or as soon as the channel is open. An open channel still delivers the frames that its socket has already read. */
	pause(): void {
		this.#isPaused = true;
		if (this.#state === 'open') {
			this.#heartbeat.suspend();
			this.#socket.pause();
		} else if (this.#state === 'closing') {
			// The listener has no room for the rest of the last frames, so they stay unread.
			this.#state = 'closed';
			this.#hasUnreadFrames = true;
		}
	}

	resume(): void {
		if (!this.#isPaused) return;
		this.#isPaused = false;
		if (this.#state !== 'open') return;
		this.#socket.resume();
		this.#heartbeat.start();
	}

	/**
	 * Closes the channel, with a close frame if it is open. Settles within 300 ms, or 1.3 s while the last frames arrive. Never rejects.
	 * @param options with `takesLastFrames`, frames that the server sends before it sees the close frame are still delivered
	 * @returns false if some of these frames were not delivered
	 */
	async close({ takesLastFrames }: CloseOptions = {}): Promise<boolean> {
		const wasOpen = this.#state === 'open';
		this.#state = takesLastFrames && wasOpen ? 'closing' : 'closed';
		this.#stopTimers();
		if (this.#isSocketClosed) return true;
		if (wasOpen) {
			// A paused socket would see neither the last frames nor the server's close frame.
			this.#socket.resume();
			this.#socket.close(1000);
			await this.#awaitLastFrames();
		}
		this.#state = 'closed';
		this.#socket.terminate();
		await waitAtMost(this.#clock, terminateMilliseconds, this.#socketClosed);
		return !this.#hasUnreadFrames;
	}

	/** Waits until the socket is closed or no more frames arrive. What still arrives at the end of the time limit stays unread. */
	async #awaitLastFrames(): Promise<void> {
		const deadline = this.#clock.getMonotonicMilliseconds() + maxLastFramesMilliseconds;
		do {
			const previousCount = this.#frameCount;
			await waitAtMost(this.#clock, closeHandshakeMilliseconds, this.#socketClosed);
			if (this.#isSocketClosed || this.#frameCount === previousCount) return;
		} while (this.#clock.getMonotonicMilliseconds() < deadline);
		this.#hasUnreadFrames = true;
	}

	/** Creates a listener that ignores the events of a closed channel. A paused socket still delivers events after it was terminated. */
	#createSocketListener(): SocketListener {
		return {
			onOpen: () => {
				if (this.#state !== 'connecting') return;
				this.#state = 'open';
				this.#cancelConnectTimer();
				if (this.#settings.initialMessage !== '')
					this.#socket.send(this.#settings.initialMessage);
				if (this.#isPaused) this.#socket.pause();
				else this.#heartbeat.start();
				this.#listener.onOpen();
			},
			onFrame: (data, isBinary) => {
				if (this.#state === 'closed') return;
				this.#frameCount++;
				this.#heartbeat.recordFrame('message');
				this.#listener.onFrame(data, isBinary);
			},
			onControlFrame: (kind) => {
				this.#heartbeat.recordFrame(kind);
				if (kind !== 'pong' || this.#hasReceivedPong || this.#state === 'closed') return;
				this.#hasReceivedPong = true;
				this.#listener.onFirstPong();
			},
			onUnexpectedResponse: (response) => {
				this.#closeCause = closeReasons.convertUpgradeResponse(
					response,
					this.#settings.sanitize,
				);
			},
			onError: (error) => {
				this.#closeCause ??= closeReasons.convertSocketError(
					error,
					this.#settings.sanitize,
				);
			},
			onClose: (code, reason) => {
				this.#isSocketClosed = true;
				this.#resolveSocketClosed();
				if (this.#state === 'closed' || this.#state === 'closing') return;
				this.#terminate(
					closeReasons.buildCloseReason(
						{ code, reason },
						this.#closeCause,
						this.#settings.sanitize,
					),
				);
			},
		};
	}

	/** Closes the channel at once. Later events of the socket are ignored. */
	#terminate(closeReason: closeReasons.CloseReason): void {
		this.#state = 'closed';
		this.#stopTimers();
		this.#listener.onClose(closeReason);
		this.#socket.terminate();
	}

	#stopTimers(): void {
		this.#cancelConnectTimer();
		this.#heartbeat.suspend();
	}
}
