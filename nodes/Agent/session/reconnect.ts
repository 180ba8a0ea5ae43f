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

/** A channel that was open for this long ends the outage, and earlier failures no longer count. */
const stableMilliseconds = 30_000;
/** A channel that brought a message ends the backoff after this time. Before, the message may be a mere greeting or an error. */
const provenMilliseconds = 5000;
const baseMilliseconds = 1000;
/** Keeps the backoff up to 16 s after a short channel that closed normally, because it may be that of a server that only greets. */
const mostWaitsWhenDone = 4;
/** The long backoff starts with seconds, because a deployment refuses connections for seconds, but a wrong key for days. */
const slowBaseMilliseconds = 10_000;
/** The longest delay of the long backoff, and the longest that a server may ask for. */
const longestMilliseconds = 15 * 60_000;
/** The delay before the single attempt with credentials read again. */
const suspectMilliseconds = 1000;

interface ReconnectPolicy {
	/** The longest delay of the backoff. */
	readonly reconnectMaxDelaySeconds: number;
	readonly finalCloseCodes: readonly number[];
}

const alertMilliseconds = 5 * 60_000;

export interface NextAttempt {
	readonly decision: RetryDecision;
	readonly delayMilliseconds: number;
	/** Whether the delay is one of the long backoff. */
	readonly slowLane: boolean;
	/** Whether the attempt follows the first failure of an outage. */
	readonly isFirst: boolean;
	/** `refused`: the first attempt of the long backoff failed, or credentials are wrong; `outage`: after 5 minutes. Once each per outage. */
	readonly alert: 'refused' | 'outage' | undefined;
}

/** What is known of an outage. A stable channel ends it. */
class Trouble {
	/** When the outage began. */
	since: number | undefined;
	/** Whether its first failure has been reported. */
	isTold = false;
	/** The kinds of alerts that have been raised. */
	readonly alerted = new Set<string>();
	/** Number of waits of the backoff since it last began. */
	waits = 0;
	/** Number of waits of the long backoff; 0 means that it does not apply. */
	slowWaits = 0;
	/** The key of the refusal after which an attempt was made at once. */
	suspected: string | undefined;
	/** How many channels in a row were closed by a message that is too large or malformed. */
	faultyFrames = 0;
}

/** Decides from the history of a session when the next attempt starts and what causes an alert. */
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

	/** Plans the next attempt after a channel closed or did not open. */
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
	 * A channel that brought a message and was open for long enough ends the backoff, but not the long backoff. If it was open for less
	 * time and closed normally, the backoff grows to 16 s at most, because some services send one message per connection.
	 */
	#countLife(now: number, closeReason: CloseReason): void {
		const openedAt = this.#openedAt;
		this.#openedAt = undefined;
		if (openedAt === undefined || !this.#broughtMessage) return;
		const isDone = closeReason.kind === 'closeFrame' && [1000, 1005].includes(closeReason.code);
		if (now - openedAt >= provenMilliseconds) this.#trouble.waits = 0;
		else if (isDone) this.#trouble.waits = Math.min(this.#trouble.waits, mostWaitsWhenDone);
	}

	/** Waits at least as long as the server asked for, up to 15 minutes. */
	#delay(decision: RetryDecision, closeReason: CloseReason): number {
		const retryAfter = retryAfterOf(closeReason, this.#clock.wallMilliseconds()) ?? 0;
		const asked = Math.min(retryAfter, longestMilliseconds);
		const trouble = this.#trouble;
		if (trouble.slowWaits > 0 || decision === 'final') {
			const window = Math.min(longestMilliseconds, slowBaseMilliseconds * 2 ** trouble.slowWaits++);
			// At least half of the delay, so that a deployment of seconds is over after the first one.
			return Math.max(asked, Math.floor((window / 2) * (1 + this.#random())));
		}
		// The jitter is added, so that clients that got the same Retry-After do not come back at the same moment.
		if (decision === 'suspect') {
			return asked + suspectMilliseconds + Math.floor(this.#random() * baseMilliseconds);
		}
		const bounds = { baseMilliseconds, capMilliseconds: this.#policy.reconnectMaxDelaySeconds * 1000 };
		return asked + fullJitterMilliseconds(trouble.waits++, bounds, this.#random);
	}

	/** @returns the kind of alert that is due; each kind once per outage */
	#alertAt(now: number, refused: boolean): NextAttempt['alert'] {
		const { since = now, alerted } = this.#trouble;
		const kind = refused ? 'refused' : now - since >= alertMilliseconds ? 'outage' : undefined;
		if (kind === undefined || alerted.has(kind)) return undefined;
		alerted.add(kind);
		return kind;
	}

	/** Cancels the timer. */
	stop(): void {
		this.#cancelStableTimer();
	}
}

/** How many attempts may start at once after a time without any. */
const burst = 5;
/** The time between attempts after that. */
const intervalMilliseconds = 100;

/** Limits the rate of attempts (a token bucket) and keeps their order. */
export class ConnectRateLimiter {
	readonly #clock: Clock;
	readonly #waiting = new Set<() => void>();
	/** When all attempts of a burst are available again. */
	#wholeAt = 0;
	#cancelTimer: (() => void) | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Calls `call`, which must be a new function each time, at once or later. @returns removes it from the queue, if it still waits there */
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

/** All nodes of this process that connect to the same service share a limiter. @param key ID of the credential with its address */
export function connectRateLimiterOf(key: string): ConnectRateLimiter {
	const limiters = globalSingleton('connectRateLimiters', () => new Map<string, ConnectRateLimiter>());
	const rateLimiter = limiters.get(key) ?? new ConnectRateLimiter(systemClock);
	limiters.set(key, rateLimiter);
	return rateLimiter;
}
