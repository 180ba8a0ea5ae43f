import { type Clock, systemClock } from '../core/clock';
import type { NodeError } from '../core/errors';
import { isRateLimited } from './networkErrors';

export const defaultGateSettings = {
	clock: systemClock,
	/** The period over which the service counts requests. */
	periodMilliseconds: 60_000,
	random: () => Math.random(),
};

export type GateSettings = Readonly<typeof defaultGateSettings>;

/**
 * How many requests a gate first lets through at once. Gmail, the strictest service, is known to
 * accept 4 to 6, even if its quota allows more.
 */
const initialConcurrency = 5;
/** How many requests a gate lets through at once at most. */
const maxConcurrency = 20;

/**
 * Says when the next request of one credential to one service may go, for the whole process. The
 * quota is not known, so the concurrency is adapted as in TCP (slow start, then additive increase
 * and multiplicative decrease). Times are monotonic milliseconds.
 * - At first, the concurrency doubles each time that the service has accepted as many requests.
 * - A refusal because of a quota halves the concurrency, and closes the gate for a while
 * (exponential backoff).
 * - Then requests go one at a time until one is not refused because of a quota.
 * - From then on, the concurrency grows by one instead of doubling.
 */
export class Gate {
	/** The last refusal because of a quota. */
	lastRefusal: NodeError | undefined;
	readonly #settings: GateSettings;
	#concurrency = initialConcurrency;
	#runningCount = 0;
	#queue: Array<() => void> = [];
	#closedUntil = 0;
	#lastRefusalAt = -Infinity;
	/** How often the gate was closed since a request passed the quota. */
	#closeCount = 0;
	/** How many requests the service has accepted since the concurrency last changed. */
	#acceptedCount = 0;

	constructor(settings: GateSettings = defaultGateSettings) {
		this.#settings = settings;
	}

	get clock(): Clock {
		return this.#settings.clock;
	}

	get now(): number {
		return this.clock.getMonotonicMilliseconds();
	}

	/** Whole milliseconds until the gate opens. 0 if it is open. */
	get pause(): number {
		return Math.max(0, Math.ceil(this.#closedUntil - this.now));
	}

	/**
	 * Waits for a place among the running requests. The caller must give it back with `leave`.
	 * Rejects if the signal aborts or has aborted.
	 */
	async enter(signal: AbortSignal | undefined) {
		signal?.throwIfAborted();
		if (this.#runningCount < this.#places) {
			this.#runningCount++;
			return;
		}
		await new Promise<void>((resolve, reject) => {
			const stop = () => {
				this.#queue = this.#queue.filter((waiting) => waiting !== admit);
				reject(new Error('stopped'));
			};
			const admit = () => {
				signal?.removeEventListener('abort', stop);
				resolve();
			};
			this.#queue.push(admit);
			signal?.addEventListener('abort', stop);
		});
	}

	leave() {
		this.#runningCount--;
		while (this.#runningCount < this.#places) {
			const admit = this.#queue.shift();
			if (!admit) return;
			this.#runningCount++;
			admit();
		}
	}

	get #places(): number {
		return this.#closeCount > 0 ? 1 : this.#concurrency;
	}

	/**
	 * Records how a request ended.
	 * @param sentAt when the request was sent
	 * @param failure undefined if the request succeeded
	 */
	recordEnd(sentAt: number, failure?: NodeError) {
		if (failure && isRateLimited(failure)) this.#close(sentAt, failure);
		// Only a request that was sent after the last refusal shows that the quota allows more.
		else if (this.#closeCount > 0 && sentAt > this.#lastRefusalAt) this.#closeCount = 0;
		else if (this.#closeCount === 0 && !failure) this.#countSuccess();
	}

	#countSuccess() {
		this.#acceptedCount++;
		if (this.#acceptedCount < this.#concurrency) return;
		const grown = this.lastRefusal ? this.#concurrency + 1 : this.#concurrency * 2;
		this.#concurrency = Math.min(maxConcurrency, grown);
		this.#acceptedCount = 0;
	}

	#close(sentAt: number, refusal: NodeError) {
		const { periodMilliseconds, random } = this.#settings;
		const { now } = this;
		this.lastRefusal = refusal;
		// Requests that were in progress together fail together. Only the first of their refusals
		// counts.
		if (sentAt > this.#lastRefusalAt) {
			// Up to a second after the first refusal, and up to twice as long after each further
			// one.
			const longestPause = Math.min(
				periodMilliseconds,
				(periodMilliseconds / 60) * 2 ** this.#closeCount,
			);
			this.#closedUntil = now + longestPause * (0.5 + random() / 2);
			this.#lastRefusalAt = now;
			this.#closeCount++;
			this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
			this.#acceptedCount = 0;
		}
		// A requested pause of more than a minute is not about the shared quota, so it applies only
		// to this request.
		const requestedPause = refusal.retryAfterMilliseconds ?? 0;
		if (requestedPause <= periodMilliseconds)
			this.#closedUntil = Math.max(this.#closedUntil, now + requestedPause);
	}
}
