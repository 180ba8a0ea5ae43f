import { systemClock } from '../core/clock';
import { toError, isNodeError, type NodeError } from '../core/errors';
import { quoteField } from '../fields/field';
import { createStoppedRequestError } from './retry';

export interface RequestLimits {
	/** How long quota errors may delay the request. */
	readonly maxWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
	/** Called before the request waits after a quota error of its own. */
	readonly onWait?: (milliseconds: number) => void;
	/** If false, a quota error is thrown, because the caller must look at the service before it sends the request again. */
	readonly mayResend?: boolean;
}

interface WaitingRequest {
	readonly queuedAt: number;
	readonly maxWaitMilliseconds: number;
	readonly admit: () => void;
	readonly giveUp: (error: Error) => void;
}

export const defaultRateLimiterSettings = {
	clock: systemClock,
	/** The period over which the service counts requests. */
	periodMilliseconds: 60_000,
	/** Returns 0 <= x < 1. */
	random: Math.random,
};

export type RateLimiterSettings = Readonly<typeof defaultRateLimiterSettings>;

/** How many requests Gmail accepts at once. It responds "Too many concurrent requests for user" even below its quota. 4 to 6 are known to work. */
export const safeConcurrency = 5;
export const maxConcurrency = 20;

/**
 * Limits how many requests of one credential to one service the whole process sends at once. Quotas are not known, so the number begins
 * small and doubles while the service accepts the requests. A quota error halves the number, and all requests wait. Then a single one is
 * sent at a time until one succeeds, and the number grows only by one. Times are monotonic milliseconds.
 */
export class RateLimiter {
	readonly #settings: RateLimiterSettings;
	#concurrency = safeConcurrency;
	#runningCount = 0;
	#queue: WaitingRequest[] = [];
	#pausedUntil = 0;
	#lastQuotaErrorAt = -Infinity;
	/** The quota errors since the last success. Errors of requests that were in progress together count as one. `error` is the latest one. */
	#quotaErrorStreak:
		{ readonly beganAt: number; readonly count: number; readonly error: NodeError } | undefined;
	/** How many requests the service has accepted since the concurrency last changed. */
	#acceptedCount = 0;
	#wasHalved = false;
	#cancelWakeUp = () => {};

	constructor(settings: RateLimiterSettings = defaultRateLimiterSettings) {
		this.#settings = settings;
	}

	/**
	 * Sends a request as soon as the limit allows. After a quota error, which means that nothing was done, sends the request again within
	 * its time limit, unless `mayResend` is false.
	 * @throws NodeError as `request` does
	 */
	async send<T>(request: () => Promise<T>, limits: RequestLimits): Promise<T> {
		const { maxWaitMilliseconds, signal, onWait, mayResend = true } = limits;
		let firstQuotaErrorAt: number | undefined;
		let earliestAt = -Infinity;
		for (;;) {
			const wait = earliestAt - this.#now;
			// The service asked for this wait before the same request is sent again.
			if (wait > 0) await waitUnlessStopped(signal, (done) => this.#settings.clock.callAfter(wait, done));
			const sentAt = await this.#waitForAdmission(limits);
			try {
				const result = await request();
				this.#recordSuccess();
				return result;
			} catch (error) {
				if (!isQuotaError(error)) throw toError(error);
				const now = this.#now;
				firstQuotaErrorAt ??= now;
				this.#recordQuotaError(sentAt, error);
				if (!mayResend) throw toError(error);
				earliestAt = now + (error.retryAfterMilliseconds ?? 0);
				const resumeAt = Math.max(this.#pausedUntil, earliestAt);
				if (resumeAt > firstQuotaErrorAt + maxWaitMilliseconds) {
					throw this.#createWaitError(error, now - firstQuotaErrorAt, maxWaitMilliseconds);
				}
				onWait?.(resumeAt - now);
			} finally {
				this.#runningCount--;
				this.#admitWaitingRequests();
			}
		}
	}

	get #now(): number {
		return this.#settings.clock.getMonotonicMilliseconds();
	}

	/** @returns the time at which the request is sent @throws NodeError */
	async #waitForAdmission({ maxWaitMilliseconds, signal }: RequestLimits): Promise<number> {
		await waitUnlessStopped(signal, (admit, giveUp) => {
			const waiting = { queuedAt: this.#now, maxWaitMilliseconds, admit, giveUp };
			this.#queue.push(waiting);
			this.#failHopelessRequests();
			this.#admitWaitingRequests();
			return () => {
				this.#queue = this.#queue.filter((request) => request !== waiting);
			};
		});
		return this.#now;
	}

	#recordSuccess(): void {
		if (!this.#quotaErrorStreak && ++this.#acceptedCount >= this.#concurrency) {
			const newConcurrency = this.#wasHalved ? this.#concurrency + 1 : this.#concurrency * 2;
			this.#concurrency = Math.min(maxConcurrency, newConcurrency);
			this.#acceptedCount = 0;
		}
		this.#quotaErrorStreak = undefined;
	}

	/** @param sentAt when the request with the error was sent */
	#recordQuotaError(sentAt: number, error: NodeError): void {
		const requestedWait = error.retryAfterMilliseconds;
		const { periodMilliseconds, random } = this.#settings;
		const now = this.#now;
		const { beganAt = now, count = 0 } = this.#quotaErrorStreak ?? {};
		const isNew = sentAt > this.#lastQuotaErrorAt;
		this.#quotaErrorStreak = { beganAt, count: isNew ? count + 1 : count, error };
		if (isNew) {
			// The pause if the response names none: up to a second after the first error, and up to twice as long after each further error.
			const pause = Math.min(periodMilliseconds, (periodMilliseconds / 60) * 2 ** count);
			this.#pausedUntil = now + pause * (0.5 + random() / 2);
			this.#lastQuotaErrorAt = now;
			this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
			this.#wasHalved = true;
			this.#acceptedCount = 0;
		}
		// A wait of more than a minute is not about the shared quota, so it applies only to this request.
		if (requestedWait !== undefined && requestedWait <= periodMilliseconds)
			this.#pausedUntil = Math.max(this.#pausedUntil, now + requestedWait);
		this.#failHopelessRequests();
	}

	/** Fails the queued requests whose time limit ends before the pause does. They were not sent. */
	#failHopelessRequests(): void {
		if (!this.#quotaErrorStreak) return;
		const { beganAt, error } = this.#quotaErrorStreak;
		const isHopeless = ({ queuedAt, maxWaitMilliseconds }: WaitingRequest) =>
			Math.max(queuedAt, beganAt) + maxWaitMilliseconds < this.#pausedUntil;
		const hopelessRequests = this.#queue.filter(isHopeless);
		this.#queue = this.#queue.filter((waiting) => !isHopeless(waiting));
		for (const { giveUp, maxWaitMilliseconds } of hopelessRequests) {
			giveUp(this.#createWaitError(error, 0, maxWaitMilliseconds));
		}
	}

	#admitWaitingRequests(): void {
		this.#cancelWakeUp();
		if (this.#queue.length === 0) return;
		const pause = this.#pausedUntil - this.#now;
		if (pause > 0) {
			this.#cancelWakeUp = this.#settings.clock.callAfter(pause, () => {
				this.#admitWaitingRequests();
			});
			return;
		}
		const concurrency = this.#quotaErrorStreak ? 1 : this.#concurrency;
		while (this.#runningCount < concurrency) {
			const request = this.#queue.shift();
			if (!request) return;
			this.#runningCount++;
			request.admit();
		}
	}

	#createWaitError(failure: NodeError, waitedMilliseconds: number, maxWaitMilliseconds: number): NodeError {
		const toSeconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
		const requestedWait = failure.retryAfterMilliseconds;
		const text = requestedWait === undefined ? 'The next try would have to wait' : 'Google asks n8n to wait';
		const waitSeconds = toSeconds(requestedWait ?? Math.max(0, this.#pausedUntil - this.#now));
		const description = [
			`${text} ${waitSeconds} seconds, but ${quoteField('maxRetryWaitSeconds')} allows ${maxWaitMilliseconds / 1000}`,
			waitedMilliseconds > 0 ? `, of which ${toSeconds(waitedMilliseconds)} have passed.` : '.',
			failure.description ? ` ${failure.description}` : '',
		].join('');
		return failure.with({ description, retryable: false });
	}
}

/** Returns whether the service refused a request because of a quota. Then nothing was done. */
function isQuotaError(error: unknown): error is NodeError {
	// Google also sends 403 for a rate limit. Of all errors with 403, only this one is retryable.
	if (!isNodeError(error) || ![403, 429].includes(error.code)) return false;
	return error.retryable && error.outcome === 'notDone';
}

/** Waits. @param begin calls back when the wait is over, and returns a function that cancels it @throws NodeError if the execution is stopped */
async function waitUnlessStopped(
	signal: AbortSignal | undefined,
	begin: (done: () => void, fail: (error: Error) => void) => () => void,
): Promise<void> {
	if (signal?.aborted) throw createStoppedRequestError('notDone');
	let stop = () => {};
	try {
		await new Promise<void>((resolve, reject) => {
			const cancel = begin(resolve, reject);
			stop = () => {
				cancel();
				reject(createStoppedRequestError('notDone'));
			};
			signal?.addEventListener('abort', stop);
		});
	} finally {
		signal?.removeEventListener('abort', stop);
	}
}
