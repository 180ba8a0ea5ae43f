import { systemClock } from '../core/runtime';
import { asError, isNodeError, type NodeError } from '../core/errors';
import { named } from '../fields/field';
import { stoppedRequest } from './retry';

export interface LimitedRequest {
	/** How long refusals may delay it, in milliseconds. */
	readonly maxWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
	/** Called when a refusal delays the request. */
	readonly onWait?: (milliseconds: number) => void;
	/** If false, a refusal is passed to the caller, which must look at the service before it sends again. */
	readonly again?: boolean;
}

interface Waiting {
	readonly enteredAt: number;
	readonly maxWaitMilliseconds: number;
	readonly admit: () => void;
	readonly giveUp: (error: Error) => void;
}

export const defaultSettings = {
	clock: systemClock,
	/** Period over which the service counts, in milliseconds. */
	minute: 60_000,
	/** Returns 0 <= x < 1. */
	random: Math.random,
};

export type RateLimiterSettings = Readonly<typeof defaultSettings>;

/** Gmail answers "Too many concurrent requests for user" below its quota; 4 to 6 at once are known to work. */
export const firstWidth = 5;
export const largestWidth = 20;

/**
 * Limits how many requests of one credential to one service the whole process sends at once. Quotas are not known, so the number begins
 * small and doubles while the service accepts them. After a refusal all requests wait while a single one tries; the number is halved, and
 * grows by one from then on.
 */
export class RateLimiter {
	private readonly settings: RateLimiterSettings;
	private width = firstWidth;
	private running = 0;
	private queue: Waiting[] = [];
	private pausedUntil = 0;
	private lastRefusal = -Infinity;
	/** Refusals without a success in between, and the latest answer. Those of requests that were in progress together count as one. */
	private refusal: { readonly since: number; readonly count: number; readonly answer: NodeError } | undefined;
	/** Requests accepted since the width changed. */
	private taken = 0;
	private halved = false;
	private cancelWake = () => {};

	constructor(settings: RateLimiterSettings = defaultSettings) {
		this.settings = settings;
	}

	/**
	 * Sends a request as soon as it may go. One refused for a quota was not carried out: it waits with the others and goes again, within
	 * its time limit.
	 * @throws NodeError as `request` does
	 */
	async send<T>(request: () => Promise<T>, limits: LimitedRequest): Promise<T> {
		const { maxWaitMilliseconds, signal, onWait, again = true } = limits;
		let firstRefusal: number | undefined;
		let notBefore = -Infinity;
		for (;;) {
			const wait = notBefore - this.now;
			// The service asked for this wait before the same request.
			if (wait > 0) await unlessStopped(signal, (done) => this.settings.clock.after(wait, done));
			const startedAt = await this.entered(limits);
			try {
				const value = await request();
				this.succeeded();
				return value;
			} catch (error) {
				if (!isQuotaRefusal(error)) throw asError(error);
				const { now } = this;
				firstRefusal ??= now;
				this.refused(startedAt, error);
				if (!again) throw asError(error);
				notBefore = now + (error.retryAfterMilliseconds ?? 0);
				const until = Math.max(this.pausedUntil, notBefore);
				if (until > firstRefusal + maxWaitMilliseconds) {
					throw this.waitedOut(error, now - firstRefusal, maxWaitMilliseconds);
				}
				onWait?.(until - now);
			} finally {
				this.running--;
				this.admit();
			}
		}
	}

	private get now(): number {
		return this.settings.clock.monotonicMilliseconds();
	}

	/** @returns the time at which the request is sent @throws NodeError */
	private async entered({ maxWaitMilliseconds, signal }: LimitedRequest): Promise<number> {
		await unlessStopped(signal, (admit, giveUp) => {
			const waiting = { enteredAt: this.now, maxWaitMilliseconds, admit, giveUp };
			this.queue.push(waiting);
			this.giveUp();
			this.admit();
			return () => {
				this.queue = this.queue.filter((one) => one !== waiting);
			};
		});
		return this.now;
	}

	private succeeded(): void {
		if (!this.refusal && ++this.taken >= this.width) {
			this.width = Math.min(largestWidth, this.halved ? this.width + 1 : this.width * 2);
			this.taken = 0;
		}
		this.refusal = undefined;
	}

	/** @param startedAt when the refused request was sent */
	private refused(startedAt: number, answer: NodeError): void {
		const asked = answer.retryAfterMilliseconds;
		const { minute, random } = this.settings;
		const { now } = this;
		const { since = now, count = 0 } = this.refusal ?? {};
		const isNew = startedAt > this.lastRefusal;
		this.refusal = { since, count: isNew ? count + 1 : count, answer };
		if (isNew) {
			// If the answer names no time: a second after the first refusal, and twice as long after each further one.
			const window = Math.min(minute, (minute / 60) * 2 ** count);
			this.pausedUntil = now + window * (0.5 + random() / 2);
			this.lastRefusal = now;
			this.width = Math.max(1, Math.floor(this.width / 2));
			this.halved = true;
			this.taken = 0;
		}
		// A time more than a minute away is not about the shared quota, so it applies to the refused request only.
		if (asked !== undefined && asked <= minute) this.pausedUntil = Math.max(this.pausedUntil, now + asked);
		this.giveUp();
	}

	/** Fails the queued requests whose limit ends before the pause does. They were not sent. */
	private giveUp(): void {
		if (!this.refusal) return;
		const { since, answer } = this.refusal;
		const isHeld = ({ enteredAt, maxWaitMilliseconds }: Waiting) =>
			Math.max(enteredAt, since) + maxWaitMilliseconds < this.pausedUntil;
		const held = this.queue.filter(isHeld);
		this.queue = this.queue.filter((waiting) => !isHeld(waiting));
		for (const { giveUp, maxWaitMilliseconds } of held) {
			giveUp(this.waitedOut(answer, 0, maxWaitMilliseconds));
		}
	}

	private admit(): void {
		this.cancelWake();
		if (this.queue.length === 0) return;
		const pause = this.pausedUntil - this.now;
		if (pause > 0) {
			this.cancelWake = this.settings.clock.after(pause, () => {
				this.admit();
			});
			return;
		}
		const width = this.refusal ? 1 : this.width;
		while (this.running < width) {
			const next = this.queue.shift();
			if (!next) return;
			this.running++;
			next.admit();
		}
	}

	private waitedOut(failure: NodeError, waited: number, maxWaitMilliseconds: number): NodeError {
		const seconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
		const asked = failure.retryAfterMilliseconds;
		const wait = asked === undefined ? 'The next try would be in' : 'Google asks n8n to wait';
		const next = seconds(asked ?? Math.max(0, this.pausedUntil - this.now));
		const description = [
			`${wait} ${next} seconds, but ${named('maxRetryWaitSeconds')} allows ${maxWaitMilliseconds / 1000}`,
			waited > 0 ? `, of which ${seconds(waited)} have passed.` : '.',
			failure.description ? ` ${failure.description}` : '',
		].join('');
		return failure.with({ description, retryable: false });
	}
}

/** Whether an error is a refusal because of a quota, so that nothing was done. */
function isQuotaRefusal(error: unknown): error is NodeError {
	// For a 403, only the kind tells that it is a rate limit.
	return (
		isNodeError(error) && error.retryable && error.outcome === 'notDone' && [403, 429].includes(error.code)
	);
}

/** Waits until `begin` calls back. @throws RequestError if the execution is stopped before; what `begin` returned is then called */
async function unlessStopped(
	signal: AbortSignal | undefined,
	begin: (done: () => void, fail: (error: Error) => void) => () => void,
): Promise<void> {
	if (signal?.aborted) throw stoppedRequest('notDone');
	let stop = () => {};
	try {
		await new Promise<void>((resolve, reject) => {
			const cancel = begin(resolve, reject);
			stop = () => {
				cancel();
				reject(stoppedRequest('notDone'));
			};
			signal?.addEventListener('abort', stop);
		});
	} finally {
		signal?.removeEventListener('abort', stop);
	}
}
