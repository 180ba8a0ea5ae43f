import { systemClock } from '../core/clock';
import { toError, isNodeError, type NodeError } from '../core/errors';
import { quoteField } from '../fields/field';
import { createStoppedRequestError } from './retry';

export interface RateLimitedRequest {
	/** How long refusals may delay it, in milliseconds. */
	readonly maxWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
	/** Called when a refusal delays the request. */
	readonly onWait?: (milliseconds: number) => void;
	/** If false, a refusal is passed to the caller, which must look at the service before it sends again. */
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
	/** Period over which the service counts, in milliseconds. */
	periodMilliseconds: 60_000,
	/** Returns 0 <= x < 1. */
	random: Math.random,
};

export type RateLimiterSettings = Readonly<typeof defaultRateLimiterSettings>;

/** Gmail answers "Too many concurrent requests for user" below its quota; 4 to 6 at once are known to work. */
export const initialConcurrency = 5;
export const maxConcurrency = 20;

/**
 * Limits how many requests of one credential to one service the whole process sends at once. Quotas are not known, so the number begins
 * small and doubles while the service accepts them. After a refusal all requests wait while a single one tries; the number is halved, and
 * grows by one from then on.
 */
export class RateLimiter {
	readonly #settings: RateLimiterSettings;
	#concurrency = initialConcurrency;
	#running = 0;
	#queue: WaitingRequest[] = [];
	#pausedUntil = 0;
	#lastQuotaErrorAt = -Infinity;
	/** Refusals since the last success, and the latest answer. Refusals of requests that were in progress together count as one. */
	#quotaErrorStreak:
		{ readonly since: number; readonly count: number; readonly answer: NodeError } | undefined;
	/** Requests accepted since the concurrency changed. */
	#acceptedCount = 0;
	#wasHalved = false;
	#cancelWakeUp = () => {};

	constructor(settings: RateLimiterSettings = defaultRateLimiterSettings) {
		this.#settings = settings;
	}

	/**
	 * Sends a request as soon as it may go. One refused for a quota was not carried out: it waits with the others and goes again, within
	 * its time limit.
	 * @throws NodeError as `request` does
	 */
	async send<T>(request: () => Promise<T>, limits: RateLimitedRequest): Promise<T> {
		const { maxWaitMilliseconds, signal, onWait, mayResend = true } = limits;
		let firstRefusal: number | undefined;
		let notBefore = -Infinity;
		for (;;) {
			const wait = notBefore - this.#now;
			// The service asked for this wait before the same request.
			if (wait > 0) await waitUnlessStopped(signal, (done) => this.#settings.clock.callAfter(wait, done));
			const startedAt = await this.#waitForAdmission(limits);
			try {
				const value = await request();
				this.#recordSuccess();
				return value;
			} catch (error) {
				if (!isQuotaError(error)) throw toError(error);
				const now = this.#now;
				firstRefusal ??= now;
				this.#recordQuotaError(startedAt, error);
				if (!mayResend) throw toError(error);
				notBefore = now + (error.retryAfterMilliseconds ?? 0);
				const until = Math.max(this.#pausedUntil, notBefore);
				if (until > firstRefusal + maxWaitMilliseconds) {
					throw this.#createWaitError(error, now - firstRefusal, maxWaitMilliseconds);
				}
				onWait?.(until - now);
			} finally {
				this.#running--;
				this.#admitWaitingRequests();
			}
		}
	}

	get #now(): number {
		return this.#settings.clock.getMonotonicMilliseconds();
	}

	/** @returns the time at which the request is sent @throws NodeError */
	async #waitForAdmission({ maxWaitMilliseconds, signal }: RateLimitedRequest): Promise<number> {
		await waitUnlessStopped(signal, (admit, giveUp) => {
			const waiting = { queuedAt: this.#now, maxWaitMilliseconds, admit, giveUp };
			this.#queue.push(waiting);
			this.#failHeldRequests();
			this.#admitWaitingRequests();
			return () => {
				this.#queue = this.#queue.filter((one) => one !== waiting);
			};
		});
		return this.#now;
	}

	#recordSuccess(): void {
		if (!this.#quotaErrorStreak && ++this.#acceptedCount >= this.#concurrency) {
			const more = this.#wasHalved ? this.#concurrency + 1 : this.#concurrency * 2;
			this.#concurrency = Math.min(maxConcurrency, more);
			this.#acceptedCount = 0;
		}
		this.#quotaErrorStreak = undefined;
	}

	/** @param startedAt when the refused request was sent */
	#recordQuotaError(startedAt: number, answer: NodeError): void {
		const asked = answer.retryAfterMilliseconds;
		const { periodMilliseconds, random } = this.#settings;
		const now = this.#now;
		const { since = now, count = 0 } = this.#quotaErrorStreak ?? {};
		const isNew = startedAt > this.#lastQuotaErrorAt;
		this.#quotaErrorStreak = { since, count: isNew ? count + 1 : count, answer };
		if (isNew) {
			// If the answer names no time: a second after the first refusal, and twice as long after each further one.
			const window = Math.min(periodMilliseconds, (periodMilliseconds / 60) * 2 ** count);
			this.#pausedUntil = now + window * (0.5 + random() / 2);
			this.#lastQuotaErrorAt = now;
			this.#concurrency = Math.max(1, Math.floor(this.#concurrency / 2));
			this.#wasHalved = true;
			this.#acceptedCount = 0;
		}
		// A time more than a minute away is not about the shared quota, so it applies to the refused request only.
		if (asked !== undefined && asked <= periodMilliseconds)
			this.#pausedUntil = Math.max(this.#pausedUntil, now + asked);
		this.#failHeldRequests();
	}

	/** Fails the queued requests whose limit ends before the pause does. They were not sent. */
	#failHeldRequests(): void {
		if (!this.#quotaErrorStreak) return;
		const { since, answer } = this.#quotaErrorStreak;
		const isHeld = ({ queuedAt, maxWaitMilliseconds }: WaitingRequest) =>
			Math.max(queuedAt, since) + maxWaitMilliseconds < this.#pausedUntil;
		const held = this.#queue.filter(isHeld);
		this.#queue = this.#queue.filter((waiting) => !isHeld(waiting));
		for (const { giveUp, maxWaitMilliseconds } of held) {
			giveUp(this.#createWaitError(answer, 0, maxWaitMilliseconds));
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
		while (this.#running < concurrency) {
			const next = this.#queue.shift();
			if (!next) return;
			this.#running++;
			next.admit();
		}
	}

	#createWaitError(failure: NodeError, waited: number, maxWaitMilliseconds: number): NodeError {
		const seconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
		const asked = failure.retryAfterMilliseconds;
		const wait = asked === undefined ? 'The next try would have to wait' : 'Google asks n8n to wait';
		const next = seconds(asked ?? Math.max(0, this.#pausedUntil - this.#now));
		const description = [
			`${wait} ${next} seconds, but ${quoteField('maxRetryWaitSeconds')} allows ${maxWaitMilliseconds / 1000}`,
			waited > 0 ? `, of which ${seconds(waited)} have passed.` : '.',
			failure.description ? ` ${failure.description}` : '',
		].join('');
		return failure.with({ description, retryable: false });
	}
}

/** Whether an error is a refusal because of a quota, so that nothing was done. */
function isQuotaError(error: unknown): error is NodeError {
	// For a 403, only the kind tells that it is a rate limit.
	if (!isNodeError(error) || ![403, 429].includes(error.code)) return false;
	return error.retryable && error.outcome === 'notDone';
}

/** Waits until `begin` calls back. @throws NodeError if the execution is stopped before; what `begin` returned is then called */
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
