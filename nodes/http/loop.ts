import { isNodeError, type NodeError, toError } from '../core/errors';
import { joinSentences } from '../core/text';
import { quoteField } from '../fields/field';
import { createStoppedError, type ServiceTexts } from './attempt';
import type { Gate } from './gate';
import { isRateLimited } from './networkErrors';

export interface RetryPolicy {
	readonly texts: ServiceTexts;
	/**
	 * The limit for the sum of all pauses of a request, whatever their reason. If it is 0, there is
	 * only one attempt.
	 */
	readonly maxRetryWaitMilliseconds: number;
	/** Is aborted when the execution is stopped. */
	readonly signal: AbortSignal | undefined;
	/** What all requests share that count against the same quota. */
	readonly gate: Gate;
	/** Called with the length of the pause after each refusal because of a quota. */
	readonly onPause?: (milliseconds: number) => void;
}

export interface RepeatEffect {
	/**
	 * `always`: a second execution of the request has no further effect, so it may be sent again
	 * after an unknown outcome, too.
	 */
	readonly repeat: 'always' | 'ifNotDone' | 'never';
	/**
	 * Whether the request may change something that the user sees. If not, the outcome of all
	 * attempts is never unknown.
	 */
	readonly hasVisibleEffect: boolean;
}

/**
 * Repeats an attempt until it succeeds, a repeat could do harm, or its pauses would be longer than
 * the policy allows.
 * @param attempt throws a NodeError that says what became of the attempt.
 * @throws NodeError
 */
export async function withRetries<T>(
	attempt: () => Promise<T>,
	effect: RepeatEffect,
	policy: RetryPolicy,
): Promise<T> {
	return await new RetryLoop(effect, policy).run(attempt);
}

/** Google recommends at most 64 s between two attempts. */
const maxBackoffMilliseconds = 64_000;
/**
 * Applies even if a service asks for a shorter pause, because "Retry-After: 0" must not cause
 * several attempts at once.
 */
const minPauseMilliseconds = 200;

/** The attempts of one request. */
class RetryLoop {
	readonly #effect: RepeatEffect;
	readonly #policy: RetryPolicy;
	#attempts = 0;
	#pausedMilliseconds = 0;
	/** Whether one of the attempts may have been carried out. */
	#mayBeDone = false;

	constructor(effect: RepeatEffect, policy: RetryPolicy) {
		this.#effect = effect;
		this.#policy = policy;
	}

	async run<T>(attempt: () => Promise<T>): Promise<T> {
		const { gate, onPause } = this.#policy;
		let failure: NodeError | undefined;
		for (;;) {
			await this.#passGate(failure);
			this.#attempts++;
			const sentAt = gate.now;
			try {
				const result = await attempt();
				gate.recordEnd(sentAt);
				return result;
			} catch (error) {
				if (!isNodeError(error)) throw toError(error);
				failure = error;
				gate.recordEnd(sentAt, failure);
			} finally {
				gate.leave();
			}
			this.#checkRepeat(failure);
			const pause = this.#choosePause(failure);
			this.#checkPause(pause, failure);
			if (isRateLimited(failure)) onPause?.(pause);
			await this.#pause(pause);
		}
	}

	/**
	 * Waits until the gate is open and has a place. Only the time in which it is closed is a pause.
	 * @throws NodeError
	 */
	async #passGate(lastFailure: NodeError | undefined) {
		const { gate, signal } = this.#policy;
		for (;;) {
			this.#throwIfStopped();
			const { pause, lastRefusal } = gate;
			const reason = lastFailure ?? lastRefusal;
			if (pause > 0 && reason) {
				this.#checkPause(pause, reason);
				await this.#pause(pause);
			}
			await gate.enter(signal).catch(() => {
				throw this.#createStop();
			});
			if (gate.pause === 0) return;
			gate.leave();
		}
	}

	/** @throws NodeError if the attempt must not be repeated */
	#checkRepeat(failure: NodeError) {
		const { repeat, hasVisibleEffect } = this.#effect;
		const { outcome, retryable } = failure;
		this.#mayBeDone ||= hasVisibleEffect && outcome === 'unknown';
		this.#throwIfStopped();
		const isHarmless = repeat === 'always' || (repeat === 'ifNotDone' && outcome === 'notDone');
		if (!retryable || !isHarmless) throw this.#conclude(failure);
	}

	/**
	 * Returns the milliseconds before the next attempt.
	 * - After a refusal because of a quota, as long as the gate is closed, or as the service asks
	 * this request alone to pause.
	 * - After anything else, as long as the service asks for and a random time longer, because
	 * clients that were asked for the same pause must not return at the same moment. If that is
	 * longer than the policy still allows, only the random time becomes shorter.
	 * @throws NodeError if no further attempt is worth it
	 */
	#choosePause(failure: NodeError): number {
		const { retryAfterMilliseconds: requestedPause = 0 } = failure;
		if (isRateLimited(failure)) return Math.max(this.#policy.gate.pause, requestedPause);
		if (this.#allowedPause <= 0 && this.#attempts > 1) throw this.#conclude(failure);
		const jitter = drawJitterMilliseconds(
			this.#attempts - 1,
			maxBackoffMilliseconds,
			Math.random,
		);
		const pause = requestedPause + Math.max(minPauseMilliseconds, jitter);
		return Math.max(requestedPause, Math.min(pause, this.#allowedPause));
	}

	/** How long the next pause may be. */
	get #allowedPause(): number {
		return this.#policy.maxRetryWaitMilliseconds - this.#pausedMilliseconds;
	}

	/** @throws NodeError if the policy does not allow the pause, or no pause at all */
	#checkPause(milliseconds: number, failure: NodeError) {
		if (milliseconds <= this.#allowedPause && this.#allowedPause > 0) return;
		const { texts, maxRetryWaitMilliseconds } = this.#policy;
		const { retryAfterMilliseconds: requestedPause = 0 } = failure;
		const isRequested = requestedPause > 0 && requestedPause >= milliseconds;
		const what = isRequested
			? `${texts.service} asks n8n to wait ${Math.ceil(milliseconds / 1000)} seconds`
			: 'Another try would need a longer wait';
		const limit = `${quoteField('maxRetryWaitSeconds')} allows ${maxRetryWaitMilliseconds / 1000}`;
		const pausedSeconds = Math.ceil(this.#pausedMilliseconds / 1000);
		const note = pausedSeconds > 0 ? `, of which ${pausedSeconds} have passed` : '';
		throw this.#conclude(failure, `${what}, but ${limit}${note}.`);
	}

	/** Waits, but no longer than until the execution is stopped. */
	async #pause(milliseconds: number) {
		const { signal, gate } = this.#policy;
		this.#pausedMilliseconds += milliseconds;
		await new Promise<void>((resolve) => {
			const end = () => {
				cancel();
				signal?.removeEventListener('abort', end);
				resolve();
			};
			const cancel = gate.clock.callAfter(milliseconds, end);
			signal?.addEventListener('abort', end);
		});
	}

	#throwIfStopped() {
		if (this.#policy.signal?.aborted) throw this.#createStop();
	}

	#createStop(): NodeError {
		const { texts } = this.#policy;
		if (this.#mayBeDone) return createStoppedError(texts.mayBeDone, 'unknown');
		return createStoppedError(texts.nothingDone);
	}

	/**
	 * Adds the outcome of all attempts to the last failure.
	 * @param advice why there is no other attempt, although it could help
	 */
	#conclude(failure: NodeError, advice?: string): NodeError {
		// An unknown outcome sets `#mayBeDone`, unless the request could change nothing
		// (`hasVisibleEffect: false`).
		const outcome = failure.outcome === 'unknown' ? 'notDone' : failure.outcome;
		const attemptsNote =
			advice === undefined && this.#attempts > 1 && `Tried ${this.#attempts} times.`;
		return failure.with({
			description: joinSentences(advice, failure.description, attemptsNote),
			outcome: this.#mayBeDone ? 'unknown' : outcome,
			retryable: failure.retryable && advice === undefined,
		});
	}
}

/**
 * Draws a random pause ("full jitter"), evenly from 0 to a second. The maximum doubles with each
 * earlier pause, up to the cap.
 */
export function drawJitterMilliseconds(
	pauseCount: number,
	capMilliseconds: number,
	random: () => number,
): number {
	const maxPause = Math.min(capMilliseconds, 1000 * 2 ** pauseCount);
	return Math.floor(random() * maxPause);
}

/**
 * Parses a `Retry-After` header to milliseconds from now. A date in the past gives 0. Returns
 * undefined without a valid header.
 */
export function parseRetryAfter(header: string | undefined): number | undefined {
	const value = header?.trim() ?? '';
	if (/^\d{1,12}(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
	// An HTTP date begins with the name of the day and a comma (RFC 9110, section 5.6.7).
	const time = /^[a-z]+,/i.test(value) ? Date.parse(value) : NaN;
	return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}
