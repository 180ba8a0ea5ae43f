import { type Clock, waitAtMost } from '../../core/clock';
import {
	socketErrorToCloseReason,
	type CloseReason,
	buildCloseReason,
	upgradeResponseToCloseReason,
} from './closeReason';
import type { Sanitize } from './credentials';
import type { SocketOpener, ChannelSocket, SocketListener, SocketRequest } from './webSocket';

interface HeartbeatSettings {
	/** The time between two pings; 0 turns them off. */
	readonly heartbeatSeconds: number;
	/** If not empty, this text message is sent instead of a WebSocket ping. */
	readonly pingText: string;
}

interface HeartbeatListener {
	sendPing(): void;
	/** The server has answered pings before, but sent nothing until the deadline of the last one. */
	onDead(silentMilliseconds: number): void;
	/** Called once if the server has never answered a ping: a missed deadline then proves nothing. */
	onUnanswered(): void;
}

/** How long a response to a ping may take. With less than 10 s, a busy server or a busy n8n would look dead. */
const pingTimeoutMilliseconds = 20_000;
/** If a timer fires this late, this process was stalled, and responses may be waiting to be read. */
const stallThresholdMilliseconds = 1000;

/** Finds out by pings whether a silent server is dead; any frame is a response. With a ping every 25 s that takes at most 45 s. */
export class Heartbeat {
	readonly #intervalMilliseconds: number;
	/** The frame that proves that the server answers pings: a pong, or a message if the pings are text messages. */
	readonly #responseKind: 'pong' | 'message';
	readonly #listener: HeartbeatListener;
	readonly #clock: Clock;
	#cancelTimer = () => {};
	#lastFrameAt = 0;
	#nextPingAt = Number.POSITIVE_INFINITY;
	/** When the ping that awaits a response was sent, and its deadline. */
	#awaitedPing: { readonly since: number; readonly until: number } | undefined;
	#hasAnswered = false;
	#hasReportedUnanswered = false;

	constructor({ heartbeatSeconds, pingText }: HeartbeatSettings, listener: HeartbeatListener, clock: Clock) {
		this.#intervalMilliseconds = heartbeatSeconds * 1000;
		this.#responseKind = pingText === '' ? 'pong' : 'message';
		this.#listener = listener;
		this.#clock = clock;
	}

	/** Starts, or continues after `suspend()`. A WebSocket ping is sent at once and has the whole time for its response. */
	start(): void {
		const now = this.#clock.getMonotonicMilliseconds();
		this.#lastFrameAt = now;
		this.#awaitedPing = undefined;
		if (this.#intervalMilliseconds === 0) return;
		// A text ping waits, because the server may not expect it as the first message.
		const isAtOnce = this.#responseKind === 'pong' || this.#hasAnswered;
		this.#nextPingAt = isAtOnce ? now : now + this.#intervalMilliseconds;
		this.#checkAndPing(now);
	}

	/** Stops the pings, because no response is seen while the socket is not read. */
	suspend(): void {
		this.#cancelTimer();
	}

	recordFrame(kind: 'ping' | 'pong' | 'message'): void {
		this.#lastFrameAt = this.#clock.getMonotonicMilliseconds();
		// For a text ping, any message that comes while a response is awaited counts as one.
		if (kind === this.#responseKind && this.#awaitedPing !== undefined) this.#hasAnswered = true;
	}

	#checkAndPing(planned: number): void {
		const now = this.#clock.getMonotonicMilliseconds();
		if (this.#awaitedPing !== undefined && this.#lastFrameAt >= this.#awaitedPing.since)
			this.#awaitedPing = undefined;
		if (this.#awaitedPing !== undefined && now >= this.#awaitedPing.until) {
			const isStalled = now - planned > stallThresholdMilliseconds;
			if (this.#hasAnswered && !isStalled) {
				this.#listener.onDead(now - this.#lastFrameAt);
				return;
			}
			this.#awaitedPing = undefined;
			if (isStalled) this.#nextPingAt = now;
			else if (!this.#hasReportedUnanswered) {
				this.#hasReportedUnanswered = true;
				this.#listener.onUnanswered();
			}
		}
		if (now >= this.#nextPingAt) {
			this.#awaitedPing ??= { since: now, until: now + pingTimeoutMilliseconds };
			this.#nextPingAt = now + this.#intervalMilliseconds;
			this.#listener.sendPing();
		}
		const next = Math.min(this.#nextPingAt, this.#awaitedPing?.until ?? Number.POSITIVE_INFINITY);
		this.#cancelTimer = this.#clock.callAfter(Math.max(0, next - now), () => {
			this.#checkAndPing(next);
		});
	}
}

export interface ChannelSettings extends SocketRequest, HeartbeatSettings {
	readonly sanitize: Sanitize;
	/** If not empty, this text is sent each time the channel opens. */
	readonly initialMessage: string;
}

/** `onClose` is called exactly once, and last. After `close()`, only `onMessage` is called, if the last messages were asked for. */
interface ChannelListener {
	readonly onOpen: () => void;
	readonly onMessage: (data: Buffer, isBinary: boolean) => void;
	/** Called once, at the first pong: everything that the server sent before it has arrived. */
	readonly onFirstPong: () => void;
	readonly onClose: (closeReason: CloseReason) => void;
	/** Called once if the server does not answer pings. */
	readonly onUnanswered: () => void;
}

/** Limit for opening the channel. The library's own limit is not used, because every byte that trickles in restarts it. */
const connectTimeoutMilliseconds = 15_000;
/** How long the close handshake may take after the last message. */
const closeHandshakeMilliseconds = 200;
/** How long a closed channel may go on reading messages that were still unread. */
const maxLastMessagesMilliseconds = 1000;
/** How long a terminated socket may take to report its end. */
const terminateMilliseconds = 50;

/** One socket from connecting to its end. A channel never reconnects. */
export class Channel {
	readonly #settings: ChannelSettings;
	readonly #listener: ChannelListener;
	readonly #clock: Clock;
	readonly #socket: ChannelSocket;
	readonly #heartbeat: Heartbeat;
	#state: 'connecting' | 'open' | 'closing' | 'closed' = 'connecting';
	#isPaused = false;
	#cancelConnectTimer: () => void;
	/** Why the socket is about to close, if something other than a close frame is the reason. */
	#closeCause: CloseReason | undefined;
	#hasReceivedPong = false;
	#messageCount = 0;
	/** Whether some of the last messages were left unread because there was no room for them. */
	#hasUnreadMessages = false;
	#isSocketClosed = false;
	readonly #socketClosed: Promise<void>;
	#resolveSocketClosed = () => {};

	constructor(settings: ChannelSettings, listener: ChannelListener, clock: Clock, openSocket: SocketOpener) {
		this.#settings = settings;
		this.#listener = listener;
		this.#clock = clock;
		this.#socketClosed = new Promise((resolve) => (this.#resolveSocketClosed = resolve));
		const pings = {
			sendPing: () => {
				if (settings.pingText === '') this.#socket.ping();
				else this.#socket.send(settings.pingText);
			},
			onDead: (milliseconds: number) => {
				this.#terminate({ kind: 'silent', milliseconds });
			},
			onUnanswered: listener.onUnanswered,
		};
		this.#heartbeat = new Heartbeat(settings, pings, clock);
		this.#cancelConnectTimer = clock.callAfter(connectTimeoutMilliseconds, () => {
			this.#terminate({ kind: 'connectTimeout' });
		});
		this.#socket = openSocket(settings, this.#createSocketListener());
	}

	/** Stops reading, now or once the channel is open. Messages that the socket has already read are still delivered. */
	pause(): void {
		this.#isPaused = true;
		if (this.#state === 'open') {
			this.#heartbeat.suspend();
			this.#socket.pause();
		} else if (this.#state === 'closing') {
			// There is no room for more of the last messages, so they stay unread.
			this.#state = 'closed';
			this.#hasUnreadMessages = true;
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
	 * Sends a close frame if the channel is open. Settles within 300 ms, or 1.3 s while the last messages arrive, and never rejects.
	 * @param takesLast whether to still deliver the messages that the server sends until it has seen the close frame
	 * @returns false if such messages were left undelivered
	 */
	async close(takesLast = false): Promise<boolean> {
		const wasOpen = this.#state === 'open';
		this.#finish();
		if (takesLast && wasOpen) this.#state = 'closing';
		if (this.#isSocketClosed) return true;
		let isDone = true;
		if (wasOpen) {
			// While reading is paused, neither the last messages nor the server's close frame would be seen.
			this.#socket.resume();
			this.#socket.close(1000);
			isDone = (await this.#awaitLastMessages()) && !this.#hasUnreadMessages;
		}
		this.#state = 'closed';
		this.#socket.terminate();
		await waitAtMost(this.#clock, terminateMilliseconds, this.#socketClosed);
		return isDone;
	}

	/** Waits until the socket is closed or no more messages arrive. @returns false if they still arrived when the time was over */
	async #awaitLastMessages(): Promise<boolean> {
		const end = this.#clock.getMonotonicMilliseconds() + maxLastMessagesMilliseconds;
		do {
			const before = this.#messageCount;
			await waitAtMost(this.#clock, closeHandshakeMilliseconds, this.#socketClosed);
			if (this.#isSocketClosed || this.#messageCount === before) return true;
		} while (this.#clock.getMonotonicMilliseconds() < end);
		return false;
	}

	/** The events of a closed channel are ignored, because a paused socket still delivers some after it was terminated. */
	#createSocketListener(): SocketListener {
		return {
			onOpen: () => {
				if (this.#state !== 'connecting') return;
				this.#state = 'open';
				this.#cancelConnectTimer();
				if (this.#settings.initialMessage !== '') this.#socket.send(this.#settings.initialMessage);
				if (this.#isPaused) this.#socket.pause();
				else this.#heartbeat.start();
				this.#listener.onOpen();
			},
			onMessage: (data, isBinary) => {
				if (this.#state === 'closed') return;
				this.#messageCount++;
				this.#heartbeat.recordFrame('message');
				this.#listener.onMessage(data, isBinary);
			},
			onControlFrame: (kind) => {
				this.#heartbeat.recordFrame(kind);
				if (kind !== 'pong' || this.#hasReceivedPong || this.#state === 'closed') return;
				this.#hasReceivedPong = true;
				this.#listener.onFirstPong();
			},
			onUnexpectedResponse: (answer) => {
				this.#closeCause = upgradeResponseToCloseReason(answer, this.#settings.sanitize);
			},
			onError: (error) => {
				this.#closeCause ??= socketErrorToCloseReason(error, this.#settings);
			},
			onClose: (code, reason) => {
				this.#isSocketClosed = true;
				this.#resolveSocketClosed();
				if (this.#state === 'closed' || this.#state === 'closing') return;
				this.#terminate(buildCloseReason({ code, reason }, this.#closeCause, this.#settings.sanitize));
			},
		};
	}

	/** Closes the channel at once and ignores what the socket reports after that. */
	#terminate(closeReason: CloseReason): void {
		this.#finish();
		this.#listener.onClose(closeReason);
		this.#socket.terminate();
	}

	#finish(): void {
		this.#state = 'closed';
		this.#cancelConnectTimer();
		this.#heartbeat.suspend();
	}
}
