import { type Clock, settledWithin } from '../../core/runtime';
import { causeOf, type CloseReason, closeReasonOf, refusedBy } from './closeReason';
import type { Redact } from './credentials';
import type { OpenSocket, Socket, SocketListener, SocketRequest } from './webSocket';

interface Pings {
	/** The time between two pings; 0 turns them off. */
	readonly heartbeatSeconds: number;
	/** If not empty, this text message is sent instead of a WebSocket ping. */
	readonly pingText: string;
}

interface HeartbeatListener {
	ping(): void;
	/** The server has answered pings before, but sent nothing until the deadline of the last one. */
	dead(silentMilliseconds: number): void;
	/** Called once if the server has never answered a ping, so that missing its deadline means nothing. */
	unanswered(): void;
}

/** How long a response to a ping may take. With less than 10 s, a busy server or a busy n8n would look dead. */
const deadlineMilliseconds = 20_000;
/** If a timer fires this late, this process was stalled, and responses may be waiting to be read. */
const stallMilliseconds = 1000;

/** Finds out by pings whether a silent server is dead; any frame is a response. With a ping every 25 s that takes at most 45 s. */
export class Heartbeat {
	readonly #intervalMilliseconds: number;
	/** The frame that proves that the server answers pings: a pong, or a message if the pings are text messages. */
	readonly #answer: 'pong' | 'message';
	readonly #listener: HeartbeatListener;
	readonly #clock: Clock;
	#cancel = () => {};
	#lastSeen = 0;
	#nextPing = Number.POSITIVE_INFINITY;
	/** When the ping that awaits a response was sent, and its deadline. */
	#awaited: { readonly since: number; readonly until: number } | undefined;
	#hasAnswered = false;
	#toldUnanswered = false;

	constructor({ heartbeatSeconds, pingText }: Pings, listener: HeartbeatListener, clock: Clock) {
		this.#intervalMilliseconds = heartbeatSeconds * 1000;
		this.#answer = pingText === '' ? 'pong' : 'message';
		this.#listener = listener;
		this.#clock = clock;
	}

	/** Starts, or continues after `suspend()`. A WebSocket ping is sent at once and has the whole time for its response. */
	start(): void {
		const now = this.#clock.monotonicMilliseconds();
		this.#lastSeen = now;
		this.#awaited = undefined;
		if (this.#intervalMilliseconds === 0) return;
		// A text ping waits, because the server may not expect it as the first message.
		const isAtOnce = this.#answer === 'pong' || this.#hasAnswered;
		this.#nextPing = isAtOnce ? now : now + this.#intervalMilliseconds;
		this.#turn(now);
	}

	/** Stops the pings, because no response is seen while the socket is not read. */
	suspend(): void {
		this.#cancel();
	}

	seen(kind: 'ping' | 'pong' | 'message'): void {
		this.#lastSeen = this.#clock.monotonicMilliseconds();
		// For a text ping, any message that comes while a response is awaited counts as one.
		if (kind === this.#answer && this.#awaited !== undefined) this.#hasAnswered = true;
	}

	#turn(planned: number): void {
		const now = this.#clock.monotonicMilliseconds();
		if (this.#awaited !== undefined && this.#lastSeen >= this.#awaited.since) this.#awaited = undefined;
		if (this.#awaited !== undefined && now >= this.#awaited.until) {
			const isStalled = now - planned > stallMilliseconds;
			if (this.#hasAnswered && !isStalled) {
				this.#listener.dead(now - this.#lastSeen);
				return;
			}
			this.#awaited = undefined;
			if (isStalled) this.#nextPing = now;
			else if (!this.#toldUnanswered) {
				this.#toldUnanswered = true;
				this.#listener.unanswered();
			}
		}
		if (now >= this.#nextPing) {
			this.#awaited ??= { since: now, until: now + deadlineMilliseconds };
			this.#nextPing = now + this.#intervalMilliseconds;
			this.#listener.ping();
		}
		const next = Math.min(this.#nextPing, this.#awaited?.until ?? Number.POSITIVE_INFINITY);
		this.#cancel = this.#clock.after(Math.max(0, next - now), () => {
			this.#turn(next);
		});
	}
}

export interface ChannelSettings extends SocketRequest, Pings {
	readonly redact: Redact;
	/** If not empty, this text is sent each time the channel opens. */
	readonly initialMessage: string;
}

/** The end is reported exactly once and last. After `close()` nothing is called, except for the last messages if they were asked for. */
interface ChannelListener {
	readonly opened: () => void;
	readonly message: (data: Buffer, isBinary: boolean) => void;
	/** Called once, at the first pong: everything that the server sent before it has arrived. */
	readonly answered: () => void;
	readonly ended: (closeReason: CloseReason) => void;
	/** Called once if the server does not answer pings. */
	readonly unanswered: () => void;
}

/** Limit for opening the channel. The handshake's own timeout does not limit it, because every byte that trickles in restarts it. */
const connectMilliseconds = 20_000;
/** How long the close handshake may take after the last message. */
const farewellMilliseconds = 200;
/** How long reading the messages may take that were unread when the channel was closed. */
const lastMessagesMilliseconds = 1000;
/** How long a terminated socket may take to report its end. */
const cutMilliseconds = 50;

/** One socket from connecting to its end. A channel never reconnects. */
export class Channel {
	readonly #settings: ChannelSettings;
	readonly #listener: ChannelListener;
	readonly #clock: Clock;
	readonly #socket: Socket;
	readonly #heartbeat: Heartbeat;
	#state: 'connecting' | 'open' | 'closing' | 'ended' = 'connecting';
	#isPaused = false;
	#cancelConnectTimer: () => void;
	/** Why the socket is about to close, if something other than a close frame is the reason. */
	#cause: CloseReason | undefined;
	#hasAnswered = false;
	#heard = 0;
	/** Whether some of the last messages were left unread because there was no room for them. */
	#isFull = false;
	#isGone = false;
	readonly #gone: Promise<void>;
	#tellGone = () => {};

	constructor(settings: ChannelSettings, listener: ChannelListener, clock: Clock, openSocket: OpenSocket) {
		this.#settings = settings;
		this.#listener = listener;
		this.#clock = clock;
		this.#gone = new Promise((resolve) => (this.#tellGone = resolve));
		const pings = {
			ping: () => {
				if (settings.pingText === '') this.#socket.ping();
				else this.#socket.send(settings.pingText);
			},
			dead: (milliseconds: number) => {
				this.#cut({ kind: 'silent', milliseconds });
			},
			unanswered: listener.unanswered,
		};
		this.#heartbeat = new Heartbeat(settings, pings, clock);
		this.#cancelConnectTimer = clock.after(connectMilliseconds, () => {
			this.#cut({ kind: 'connectTimeout' });
		});
		this.#socket = openSocket(settings, this.#socketListener());
	}

	/** Stops reading, now or once the channel is open. Messages that the socket has already read are still delivered. */
	pause(): void {
		this.#isPaused = true;
		if (this.#state === 'open') {
			this.#heartbeat.suspend();
			this.#socket.pause();
		} else if (this.#state === 'closing') {
			// There is no room for more of the last messages, so they stay unread.
			this.#state = 'ended';
			this.#isFull = true;
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
		if (this.#isGone) return true;
		let isDone = true;
		if (wasOpen) {
			// While reading is paused, neither the last messages nor the server's close frame would be seen.
			this.#socket.resume();
			this.#socket.close(1000);
			isDone = (await this.#farewell()) && !this.#isFull;
		}
		this.#state = 'ended';
		this.#socket.terminate();
		await settledWithin(this.#clock, cutMilliseconds, this.#gone);
		return isDone;
	}

	/** Waits until the socket is closed or no more messages arrive. @returns false if they still arrived when the time was over */
	async #farewell(): Promise<boolean> {
		const end = this.#clock.monotonicMilliseconds() + lastMessagesMilliseconds;
		do {
			const before = this.#heard;
			await settledWithin(this.#clock, farewellMilliseconds, this.#gone);
			if (this.#isGone || this.#heard === before) return true;
		} while (this.#clock.monotonicMilliseconds() < end);
		return false;
	}

	/** The events of a closed channel are ignored, because a paused socket still delivers some after it was terminated. */
	#socketListener(): SocketListener {
		return {
			opened: () => {
				if (this.#state === 'connecting') this.#opened();
			},
			message: (data, isBinary) => {
				if (this.#state === 'ended') return;
				this.#heard++;
				this.#heartbeat.seen('message');
				this.#listener.message(data, isBinary);
			},
			control: (kind) => {
				this.#heartbeat.seen(kind);
				if (kind !== 'pong' || this.#hasAnswered || this.#state === 'ended') return;
				this.#hasAnswered = true;
				this.#listener.answered();
			},
			refused: (answer) => {
				this.#cause = refusedBy(answer, this.#settings.redact);
			},
			failed: (error) => {
				this.#cause ??= causeOf(error, this.#settings);
			},
			closed: (code, reason) => {
				this.#isGone = true;
				this.#tellGone();
				if (this.#state === 'ended' || this.#state === 'closing') return;
				this.#end(closeReasonOf({ code, reason }, this.#cause, this.#settings.redact));
			},
		};
	}

	#opened(): void {
		this.#state = 'open';
		this.#cancelConnectTimer();
		if (this.#settings.initialMessage !== '') this.#socket.send(this.#settings.initialMessage);
		if (this.#isPaused) this.#socket.pause();
		else this.#heartbeat.start();
		this.#listener.opened();
	}

	/** Closes the channel at once and ignores what the socket reports after that. */
	#cut(closeReason: CloseReason): void {
		this.#end(closeReason);
		this.#socket.terminate();
	}

	#end(closeReason: CloseReason): void {
		this.#finish();
		this.#listener.ended(closeReason);
	}

	#finish(): void {
		this.#state = 'ended';
		this.#cancelConnectTimer();
		this.#heartbeat.suspend();
	}
}
