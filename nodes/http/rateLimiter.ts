import { systemClock } from '../core/clock';
import { toError, isNodeError, type NodeError } from '../core/errors';
import { quoteField } from '../fields/field';
import { createStoppedRequestError } from './retry';

export interface SendOptions {
	/** How long quota errors may delay the request in all. */
	readonly maxRetryWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
	/** Called with the length of the pause after a quota error of this request. */
	readonly onPause?: (milliseconds: number) => void;
	/** False if the caller must look at the service before the request is sent again. Then a quota error is thrown. */
	readonly mayResend?: boolean;
}

interface QueuedRequest {
	readonly queuedAt: number;
	readonly maxRetryWaitMilliseconds: number;
	readonly admit: () => void;
	readonly giveUp: (error: Error) => void;
}

export const defaultRateLimiterSettings = {
	clock: systemClock,
	/** The period over which the service counts requests. */
	periodMilliseconds: 60_000,
	random: Math.random,
};

export type RateLimiterSettings = Readonly<typeof defaultRateLimiterSettings>;

/** How many requests a limiter first sends at once. Gmail, the strictest service, is known to accept 4 to 6, even if its quota allows more. */
export const initialConcurrency = 5;
/** How many requests a limiter sends at once at most. */
export const maxConcurrency = 20;

/**
 * Limits the concurrency: how many requests of one credential to one service the whole process sends at once. The quota is not known, so
 * the concurrency is adapted as in TCP (slow start, then additive increase and multiplicative decrease). Times are monotonic milliseconds.
 * - At first, the concurrency doubles each time that the service has accepted as many requests.
 * - A quota error halves the concurrency, and starts a pause for all requests (exponential backoff).
 * - After the pause, requests are sent one at a time until one succeeds.
 * - From then on, the concurrency grows by one instead of doubling.
 */
export class RateLimiter {
	readonly #settings: RateLimiterSettings;
	#concurrency = initialConcurrency;
	#runningCount = 0;
	#queue: QueuedRequest[] = [];
	#pausedUntil = 0;
	#lastQuotaErrorAt = -Infinity;
	/** The quota errors since the last success: how many pauses they started, and the latest of them. */
	#quotaErrorStreak?: {
		readonly beganAt: number;
		readonly count: number;
		readonly error: NodeError;
	};
	/** How many requests the service has accepted since the concurrency last changed. */
	#acceptedCount = 0;
	#wasHalved = false;
	#cancelWakeUp = () => {};

	constructor(settings: RateLimiterSettings = defaultRateLimiterSettings) {
		this.#settings = settings;
	}

	/**
	 * Sends a request as soon as the limit allows. A quota error means that nothing was done. The request is then sent again within its
	 * time limit, unless `mayResend` is false.
	 * @throws Error any other error of `request`; NodeError for a pause that is too long, or if the execution is stopped
	 */
	async send<T>(request: () => Promise<T>, options: SendOptions): Promise<T> {
		const { maxRetryWaitMilliseconds, signal, onPause, mayResend = true } = options;
		let firstQuotaErrorAt: number | undefined;
		let earliestAt = -Infinity;
		for (;;) {
			const pause = earliestAt - this.#now;
			// The service asked for a pause before it gets this request again.
			if (pause > 0)
				await waitUnlessStopped(signal, (done) =>
					this.#settings.clock.callAfter(pause, done),
				);
			const sentAt = await this.#waitForAdmission(options);
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
				if (resumeAt > firstQuotaErrorAt + maxRetryWaitMilliseconds)
					throw this.#createLongPauseError(
						error,
						now - firstQuotaErrorAt,
						maxRetryWaitMilliseconds,
					);
				onPause?.(resumeAt - now);
			} finally {
				this.#runningCount--;
				this.#admitQueuedRequests();
			}
		}
	}

	get #now(): number {
		return this.#settings.clock.getMonotonicMilliseconds();
	}

	/** Waits until the request may be sent. @returns that time @throws NodeError */
	async #waitForAdmission({ maxRetryWaitMilliseconds, signal }: SendOptions): Promise<number> {
		await waitUnlessStopped(signal, (admit, giveUp) => {
			const queued = { queuedAt: this.#now, maxRetryWaitMilliseconds, admit, giveUp };
			this.#queue.push(queued);
			this.#failHopelessRequests();
			this.#admitQueuedRequests();
			return () => {
				this.#queue = this.#queue.filter((request) => request !== queued);
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

	#recordQuotaError(sentAt: number, error: NodeError): void {
		const requestedPause = error.retryAfterMilliseconds;
		const { periodMilliseconds, random } = this.#settings;
		const now = this.#now;
		const { beganAt = now, count = 0 } = this.#quotaErrorStreak ?? {};
		// Requests that were in progress together fail together. Only the first of their errors starts a pause.
		const startsPause = sentAt > this.#lastQuotaErrorAt;
		this.#quotaErrorStreak = { beganAt, count: startsPause ? count + 1 : count, error };
		if (startsPause) {
			// Up to a second after the first error, and up to twice as long after each further error. The service may ask for a longer pause.
			const backoffPause = Math.min(
				periodMilliseconds,
				(periodMilliseconds / 60) * 2 ** count,
			);
			this.#pausedUntil = now + backoffPause * (0.5 + random() / 2);
			this.#lastQuotaErrorAt = now;
			this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
			this.#wasHalved = true;
			this.#acceptedCount = 0;
		}
		// A requested pause of more than a minute is not about the shared quota, so it applies only to this request.
		if (requestedPause !== undefined && requestedPause <= periodMilliseconds)
			this.#pausedUntil = Math.max(this.#pausedUntil, now + requestedPause);
		this.#failHopelessRequests();
	}

	/** Fails the queued requests whose time limit ends before the pause does. They were not sent. */
	#failHopelessRequests(): void {
		if (!this.#quotaErrorStreak) return;
		const { beganAt, error } = this.#quotaErrorStreak;
		const isHopeless = ({ queuedAt, maxRetryWaitMilliseconds }: QueuedRequest) =>
			Math.max(queuedAt, beganAt) + maxRetryWaitMilliseconds < this.#pausedUntil;
		const hopelessRequests = this.#queue.filter(isHopeless);
		this.#queue = this.#queue.filter((queued) => !isHopeless(queued));
		for (const { giveUp, maxRetryWaitMilliseconds } of hopelessRequests)
			giveUp(this.#createLongPauseError(error, 0, maxRetryWaitMilliseconds));
	}

	#admitQueuedRequests(): void {
		this.#cancelWakeUp();
		if (this.#queue.length === 0) return;
		const pause = this.#pausedUntil - this.#now;
		if (pause > 0) {
			this.#cancelWakeUp = this.#settings.clock.callAfter(pause, () => {
				this.#admitQueuedRequests();
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

	#createLongPauseError(
		failure: NodeError,
		passedMilliseconds: number,
		maxMilliseconds: number,
	): NodeError {
		const toSeconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
		const requestedPause = failure.retryAfterMilliseconds;
		const text =
			requestedPause === undefined
				? 'The next try would have to wait'
				: 'Google asks n8n to wait';
		const pauseSeconds = toSeconds(
			requestedPause ?? Math.max(0, this.#pausedUntil - this.#now),
		);
		const description = [
			`${text} ${pauseSeconds} seconds, but ${quoteField('maxRetryWaitSeconds')} allows ${maxMilliseconds / 1000}`,
			passedMilliseconds > 0
				? `, of which ${toSeconds(passedMilliseconds)} have passed.`
				: '.',
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

/**
 * Waits until `done` or `fail` is called. Throws the error from `fail`, or a NodeError if the execution is stopped.
 * @param begin starts what calls them, and returns a function that cancels what was started
 */
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
