import { type Clock, settledWithin } from '../../core/runtime';
import { causeOf, type CloseReason, closeReasonOf, refusedBy } from './closeReason';
import type { Redact } from './credentials';
import type { OpenSocket, Socket, SocketListener, SocketRequest } from './webSocket';

interface Pings {
	/** Between pings; 0 = none. */
	readonly heartbeatSeconds: number;
	/** Sent as a text message instead of a protocol ping when not empty. */
	readonly pingText: string;
}

interface HeartbeatListener {
	ping(): void;
	/** Nothing came within the deadline of a ping, from a server that has answered one before. */
	dead(silentMilliseconds: number): void;
	/** Once: the server has never answered a ping, so that the deadline does not count. */
	unanswered(): void;
}

/** After a ping. With less than 10 s, a busy server or a busy n8n would look dead. */
const deadlineMilliseconds = 20_000;
/** If a timer fires this late, this process was stalled: answers may be waiting to be read. */
const stallMilliseconds = 1000;

/** Tells a silent server from a dead one by pings; any frame is a response. A heartbeat of 25 s notices a dead server within 45 s. */
export class Heartbeat {
	readonly #intervalMilliseconds: number;
	/** What proves that the server answers: a pong, or for text pings a message. */
	readonly #answer: 'pong' | 'message';
	readonly #listener: HeartbeatListener;
	readonly #clock: Clock;
	#cancel = () => {};
	#lastSeen = 0;
	#nextPing = Number.POSITIVE_INFINITY;
	/** The ping that waits for a response, and its deadline. */
	#awaited: { readonly since: number; readonly until: number } | undefined;
	#hasAnswered = false;
	#toldUnanswered = false;

	constructor({ heartbeatSeconds, pingText }: Pings, listener: HeartbeatListener, clock: Clock) {
		this.#intervalMilliseconds = heartbeatSeconds * 1000;
		this.#answer = pingText === '' ? 'pong' : 'message';
		this.#listener = listener;
		this.#clock = clock;
	}

	/** Starts, or goes on after `suspend()`: a protocol ping goes out at once, and gets a whole deadline. */
	start(): void {
		const now = this.#clock.monotonicMilliseconds();
		this.#lastSeen = now;
		this.#awaited = undefined;
		if (this.#intervalMilliseconds === 0) return;
		// A text ping is a message that the server may not expect as the first one.
		const isAtOnce = this.#answer === 'pong' || this.#hasAnswered;
		this.#nextPing = isAtOnce ? now : now + this.#intervalMilliseconds;
		this.#turn(now);
	}

	/** While the socket is not read no answer can be seen. */
	suspend(): void {
		this.#cancel();
	}

	seen(kind: 'ping' | 'pong' | 'message'): void {
		this.#lastSeen = this.#clock.monotonicMilliseconds();
		// An answer to a text ping: a message that came while one was awaited.
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
	/** Sent when the channel opens when not empty. */
	readonly initialMessage: string;
}

/** `ended` comes exactly once, as the last; nothing comes after `close()`, but for the last messages where they are wanted. */
interface ChannelListener {
	readonly opened: () => void;
	readonly message: (data: Buffer, isBinary: boolean) => void;
	/** Once: a pong came, and everything before it. */
	readonly answered: () => void;
	readonly ended: (closeReason: CloseReason) => void;
	/** Once: the server does not answer pings. */
	readonly unanswered: () => void;
}

/** From the first byte to the open channel. The handshake's own timeout restarts with every byte that trickles in. */
const connectMilliseconds = 20_000;
/** For the close handshake, after the last message. */
const farewellMilliseconds = 200;
/** For messages that were unread when the channel was closed. */
const lastMessagesMilliseconds = 1000;
/** After the cut, for the socket to be gone. */
const cutMilliseconds = 50;

/** The life of one socket, from connecting to its end. Never reconnects. */
export class Channel {
	readonly #settings: ChannelSettings;
	readonly #listener: ChannelListener;
	readonly #clock: Clock;
	readonly #socket: Socket;
	readonly #heartbeat: Heartbeat;
	#state: 'connecting' | 'open' | 'closing' | 'ended' = 'connecting';
	#isPaused = false;
	#cancelConnectTimer: () => void;
	/** Why the socket is about to close; a close frame is known only when it closes. */
	#cause: CloseReason | undefined;
	#hasAnswered = false;
	#heard = 0;
	/** The last messages were too many to take. */
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

	/** Stops reading, now or once the channel is open. Messages that the socket has read already still come. */
	pause(): void {
		this.#isPaused = true;
		if (this.#state === 'open') {
			this.#heartbeat.suspend();
			this.#socket.pause();
		} else if (this.#state === 'closing') {
			// There is no room for more last messages: they stay unread.
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
	 * Sends a close frame if possible. Done within 300 ms, and within 1.3 s while the last messages come. Never rejects.
	 * @param takesLast whether to still deliver what the server sends until it has seen the close frame
	 * @returns whether all of that was delivered
	 */
	async close(takesLast = false): Promise<boolean> {
		const wasOpen = this.#state === 'open';
		this.#finish();
		if (takesLast && wasOpen) this.#state = 'closing';
		if (this.#isGone) return true;
		let isDone = true;
		if (wasOpen) {
			// While reading is paused, neither the last messages nor the server's answer would be seen.
			this.#socket.resume();
			this.#socket.close(1000);
			isDone = (await this.#farewell()) && !this.#isFull;
		}
		this.#state = 'ended';
		this.#socket.terminate();
		await settledWithin(this.#clock, cutMilliseconds, this.#gone);
		return isDone;
	}

	/** @returns whether nothing more came in the end */
	async #farewell(): Promise<boolean> {
		const end = this.#clock.monotonicMilliseconds() + lastMessagesMilliseconds;
		do {
			const before = this.#heard;
			await settledWithin(this.#clock, farewellMilliseconds, this.#gone);
			if (this.#isGone || this.#heard === before) return true;
		} while (this.#clock.monotonicMilliseconds() < end);
		return false;
	}

	/** Events of a socket that is no longer ours are dropped: a paused one still delivers after it was cut. */
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

	/** Ends the channel at once; whatever the socket still says is dropped. */
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
