import { processSlot } from '../../core/globalSingleton';
import { type Clock, systemClock } from './clock';

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

	/** Calls at once, or when it is its turn. @returns gives the place up; harmless afterwards */
	pass(call: () => void): () => void {
		const turn = () => {
			call();
		};
		this.#waiting.add(turn);
		if (this.#cancelTimer === undefined) this.#letThrough();
		return () => {
			this.#waiting.delete(turn);
			if (this.#waiting.size === 0) this.#stop();
		};
	}

	#letThrough(): void {
		this.#stop();
		for (const turn of this.#waiting) {
			const now = this.#clock.monotonicMilliseconds();
			const wholeAt = Math.max(now, this.#wholeAt) + intervalMilliseconds;
			const wait = wholeAt - burst * intervalMilliseconds - now;
			if (wait > 0) {
				this.#cancelTimer = this.#clock.after(wait, () => {
					this.#letThrough();
				});
				return;
			}
			this.#wholeAt = wholeAt;
			this.#waiting.delete(turn);
			turn();
		}
	}

	#stop(): void {
		this.#cancelTimer?.();
		this.#cancelTimer = undefined;
	}
}

/**
 * The limiter of everything in this process that goes to the same service.
 * @param key of the credential that holds its address
 */
export function connectRateLimiterOf(key: string): ConnectRateLimiter {
	const limiters = processSlot('connectRateLimiters', () => new Map<string, ConnectRateLimiter>());
	const rateLimiter = limiters.get(key) ?? new ConnectRateLimiter(systemClock);
	limiters.set(key, rateLimiter);
	return rateLimiter;
}
