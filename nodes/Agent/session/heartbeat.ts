import type { Clock } from '../../core/runtime';

interface HeartbeatSettings {
	/** Between pings; 0 = none. */
	readonly heartbeatMilliseconds: number;
	/** What proves that the server answers: a pong, or for text pings a message. */
	readonly answer: 'pong' | 'message';
}

interface HeartbeatListener {
	ping(): void;
	/** Nothing came within the deadline of a ping, from a server that has answered one before. */
	dead(): void;
	/** Once: the server has never answered a ping, so that the deadline does not count. */
	unanswered(): void;
}

/** After a ping. With less than 10 s, a busy server or a busy n8n would look dead. */
const deadlineMilliseconds = 20_000;
/** If a timer fires this late, this process was stalled: answers may be waiting to be read. */
const stallMilliseconds = 1000;

/**
 * Tells a silent server from a dead one: sends pings and counts any frame as a response. Uses one timer at a time.
 * With a heartbeat of 25 s a dead server is noticed within 45 s.
 */
export class Heartbeat {
	readonly #settings: HeartbeatSettings;
	readonly #listener: HeartbeatListener;
	readonly #clock: Clock;
	#cancel = () => {};
	#lastSeen: number;
	#nextPing = Number.POSITIVE_INFINITY;
	/** The ping that waits for a response, and its deadline. */
	#awaited: { readonly since: number; readonly until: number } | undefined;
	#hasAnswered = false;
	#toldUnanswered = false;

	constructor(settings: HeartbeatSettings, listener: HeartbeatListener, clock: Clock) {
		this.#settings = settings;
		this.#listener = listener;
		this.#clock = clock;
		this.#lastSeen = clock.monotonicMilliseconds();
	}

	/** Starts, or goes on after `suspend()`: a protocol ping goes out at once, and gets a whole deadline. */
	start(): void {
		const now = this.#clock.monotonicMilliseconds();
		const { heartbeatMilliseconds, answer } = this.#settings;
		this.#lastSeen = now;
		this.#awaited = undefined;
		if (heartbeatMilliseconds <= 0) return;
		// A text ping is a message that the server may not expect as the first one.
		this.#nextPing = answer === 'pong' || this.#hasAnswered ? now : now + heartbeatMilliseconds;
		this.#turn(now);
	}

	/** While the socket is not read no answer can be seen. */
	suspend(): void {
		this.#cancel();
	}

	/** Any frame counts as a response. */
	seen(kind: 'ping' | 'pong' | 'message'): void {
		this.#lastSeen = this.#clock.monotonicMilliseconds();
		// An answer to a text ping: a message that came while one was awaited.
		if (kind === this.#settings.answer && this.#awaited !== undefined) this.#hasAnswered = true;
	}

	/** Since the last response. */
	silentMilliseconds(): number {
		return this.#clock.monotonicMilliseconds() - this.#lastSeen;
	}

	#turn(planned: number): void {
		const now = this.#clock.monotonicMilliseconds();
		if (this.#awaited !== undefined && this.#lastSeen >= this.#awaited.since) this.#awaited = undefined;
		if (this.#awaited !== undefined && now >= this.#awaited.until) {
			if (now - planned > stallMilliseconds) this.#pingAgain(now);
			else if (this.#hasAnswered) {
				this.#listener.dead();
				return;
			} else this.#tellUnanswered();
		}
		if (now >= this.#nextPing) {
			this.#awaited ??= { since: now, until: now + deadlineMilliseconds };
			this.#nextPing = now + this.#settings.heartbeatMilliseconds;
			this.#listener.ping();
		}
		const next = Math.min(this.#nextPing, this.#awaited?.until ?? Number.POSITIVE_INFINITY);
		this.#cancel = this.#clock.after(Math.max(0, next - now), () => {
			this.#turn(next);
		});
	}

	#pingAgain(now: number): void {
		this.#awaited = undefined;
		this.#nextPing = now;
	}

	#tellUnanswered(): void {
		this.#awaited = undefined;
		if (this.#toldUnanswered) return;
		this.#toldUnanswered = true;
		this.#listener.unanswered();
	}
}
