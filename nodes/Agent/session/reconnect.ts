import { type Clock, globalSingleton, systemClock } from '../../core/runtime';
import { fullJitterMilliseconds } from '../../http/retry';
import {
	type CloseReason,
	isFaultyFrame,
	retryAfterOf,
	type RetryDecision,
	retryDecisionOf,
	signOf,
} from './closeReason';

/** A channel that was open this long was stable: everything before it is forgotten. */
const stableMilliseconds = 30_000;
/** With a message a shorter life ends the backoff. Not a message alone: a server may greet, or report an error, and then close. */
const provenMilliseconds = 5000;
const baseMilliseconds = 1000;
/** Doubled so often: up to 16 s. A server that greets and closes looks the same, and is to be asked less and less often. */
const mostWaitsWhenDone = 4;
/** A rolling deployment refuses connections for seconds, a wrong key for days. */
const slowBaseMilliseconds = 10_000;
/** Of the slow lane, and of what a server may ask for. */
const longestMilliseconds = 15 * 60_000;
/** With credentials read again. */
const suspectMilliseconds = 1000;

interface ReconnectPolicy {
	/** Cap of the backoff. */
	readonly reconnectMaxDelaySeconds: number;
	readonly finalCloseCodes: readonly number[];
}

const alertMilliseconds = 5 * 60_000;

export interface NextAttempt {
	readonly decision: RetryDecision;
	readonly delayMilliseconds: number;
	/** Whether it is one of the slow lane. */
	readonly slowLane: boolean;
	/** Whether it follows the first failure of an outage. */
	readonly isFirst: boolean;
	/** Once per outage and kind: `refused` when the slow lane's first attempt failed or credentials are wrong, `outage` after 5 minutes. */
	readonly alert: 'refused' | 'outage' | undefined;
}

/** What a stable channel ends. */
class Trouble {
	/** No good channel since then. */
	since: number | undefined;
	/** Whether its first failure was told. */
	isTold = false;
	/** Kinds of alerts that were given. */
	readonly alerted = new Set<string>();
	/** Waits of the backoff since the last channel that was good. */
	waits = 0;
	/** Waits of the slow lane; 0: it is not in it. */
	slowWaits = 0;
	/** The refusal that was answered with an immediate attempt. */
	suspected: string | undefined;
	/** Endings in a row by a message that is too large or malformed. */
	faultyFrames = 0;
}

/** The history of a session: decides when the next attempt starts and what causes an alert. */
export class Recovery {
	readonly #policy: ReconnectPolicy;
	readonly #clock: Clock;
	readonly #random: () => number;
	#trouble = new Trouble();
	#openedAt: number | undefined;
	#broughtMessage = false;
	#cancelStableTimer = () => {};

	constructor(policy: ReconnectPolicy, clock: Clock, random: () => number) {
		this.#policy = policy;
		this.#clock = clock;
		this.#random = random;
		this.#trouble.since = clock.monotonicMilliseconds();
	}

	opened(): void {
		this.#openedAt = this.#clock.monotonicMilliseconds();
		this.#broughtMessage = false;
		this.#cancelStableTimer = this.#clock.after(stableMilliseconds, () => {
			this.#trouble = new Trouble();
		});
	}

	received(): void {
		this.#broughtMessage = true;
	}

	/** A channel ended, or did not open. */
	ended(closeReason: CloseReason): NextAttempt {
		const now = this.#clock.monotonicMilliseconds();
		this.stop();
		this.#countLife(now, closeReason);
		const trouble = this.#trouble;
		trouble.since ??= now;
		trouble.faultyFrames = isFaultyFrame(closeReason) ? trouble.faultyFrames + 1 : 0;
		const decision = retryDecisionOf(closeReason, trouble, this.#policy.finalCloseCodes);
		if (decision !== 'retry') trouble.suspected = signOf(closeReason);
		const delayMilliseconds = this.#delay(decision, closeReason);
		const isMistake = closeReason.kind === 'credentials' && closeReason.isMistake;
		const isFirst = !trouble.isTold;
		trouble.isTold = true;
		return {
			decision,
			delayMilliseconds,
			slowLane: trouble.slowWaits > 0,
			isFirst,
			alert: this.#alertAt(now, trouble.slowWaits > 1 || isMistake),
		};
	}

	/**
	 * A channel that lived long enough and brought a message ends the backoff, but neither a suspicion nor the slow lane. If it lived
	 * shorter and was closed as done, the backoff grows to 16 s only: some services send one message per connection.
	 */
	#countLife(now: number, closeReason: CloseReason): void {
		const openedAt = this.#openedAt;
		this.#openedAt = undefined;
		if (openedAt === undefined || !this.#broughtMessage) return;
		const isDone = closeReason.kind === 'closeFrame' && [1000, 1005].includes(closeReason.code);
		if (now - openedAt >= provenMilliseconds) this.#trouble.waits = 0;
		else if (isDone) this.#trouble.waits = Math.min(this.#trouble.waits, mostWaitsWhenDone);
	}

	/** What the server asked for is a lower bound, up to 15 minutes. */
	#delay(decision: RetryDecision, closeReason: CloseReason): number {
		const retryAfter = retryAfterOf(closeReason, this.#clock.wallMilliseconds()) ?? 0;
		const asked = Math.min(retryAfter, longestMilliseconds);
		const trouble = this.#trouble;
		if (trouble.slowWaits > 0 || decision === 'final') {
			const window = Math.min(longestMilliseconds, slowBaseMilliseconds * 2 ** trouble.slowWaits++);
			// Not less than half of it: a deployment of seconds must be over when the first of them ends.
			return Math.max(asked, Math.floor((window / 2) * (1 + this.#random())));
		}
		// Added, not compared: clients that got the same time must not come back at the same moment.
		if (decision === 'suspect') {
			return asked + suspectMilliseconds + Math.floor(this.#random() * baseMilliseconds);
		}
		const bounds = { baseMilliseconds, capMilliseconds: this.#policy.reconnectMaxDelaySeconds * 1000 };
		return asked + fullJitterMilliseconds(trouble.waits++, bounds, this.#random);
	}

	/** @returns the kind of alert that is due: each once per outage */
	#alertAt(now: number, refused: boolean): NextAttempt['alert'] {
		const { since = now, alerted } = this.#trouble;
		const kind = refused ? 'refused' : now - since >= alertMilliseconds ? 'outage' : undefined;
		if (kind === undefined || alerted.has(kind)) return undefined;
		alerted.add(kind);
		return kind;
	}

	/** Leaves no timer. */
	stop(): void {
		this.#cancelStableTimer();
	}
}

/** Attempts at once, after a time without any. */
const burst = 5;
/** From then on one attempt each. */
const intervalMilliseconds = 100;

/** Lets attempts through at a bounded rate, in the order in which they came: one after a while without any does not wait. */
export class ConnectRateLimiter {
	readonly #clock: Clock;
	readonly #waiting = new Set<() => void>();
	/** When the allowance is whole again. */
	#wholeAt = 0;
	#cancelTimer: (() => void) | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Calls at once, or when it is its turn. @param call a new function each time @returns gives the place up; harmless afterwards */
	pass(call: () => void): () => void {
		this.#waiting.add(call);
		if (this.#cancelTimer === undefined) this.#letThrough();
		return () => {
			this.#waiting.delete(call);
			if (this.#waiting.size === 0) this.#stop();
		};
	}

	readonly #letThrough = (): void => {
		this.#stop();
		for (const call of this.#waiting) {
			const now = this.#clock.monotonicMilliseconds();
			const wholeAt = Math.max(now, this.#wholeAt) + intervalMilliseconds;
			const wait = wholeAt - burst * intervalMilliseconds - now;
			if (wait > 0) {
				this.#cancelTimer = this.#clock.after(wait, this.#letThrough);
				return;
			}
			this.#wholeAt = wholeAt;
			this.#waiting.delete(call);
			call();
		}
	};

	#stop(): void {
		this.#cancelTimer?.();
		this.#cancelTimer = undefined;
	}
}

/** The limiter of everything in this process that goes to the same service. @param key of the credential that holds its address */
export function connectRateLimiterOf(key: string): ConnectRateLimiter {
	const limiters = globalSingleton('connectRateLimiters', () => new Map<string, ConnectRateLimiter>());
	const rateLimiter = limiters.get(key) ?? new ConnectRateLimiter(systemClock);
	limiters.set(key, rateLimiter);
	return rateLimiter;
}
