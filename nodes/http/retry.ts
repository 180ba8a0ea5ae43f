import { setTimeout as sleep } from 'node:timers/promises';

import { isNodeError, NodeError, toError } from '../core/errors';
import { quoteField } from '../fields/field';

/** Draws a random pause ("full jitter"), evenly from 0 to a maximum. The maximum doubles with each earlier pause, up to the cap. */
export function drawJitterMilliseconds(
	pauseCount: number,
	{
		baseMilliseconds,
		capMilliseconds,
	}: Readonly<Record<'baseMilliseconds' | 'capMilliseconds', number>>,
	random: () => number,
): number {
	const maxPause = Math.min(capMilliseconds, baseMilliseconds * 2 ** pauseCount);
	return Math.floor(random() * maxPause);
}

const secondsPattern = /^\d{1,12}(\.\d+)?$/;
/** The three forms of an HTTP date start with the name of the day (RFC 9110, section 5.6.7). */
const httpDateStartPattern = /^(mon|tue|wed|thu|fri|sat|sun)/i;

/** Parses a `Retry-After` header to milliseconds from now. A date in the past gives 0. Returns undefined without a valid header. */
export function parseRetryAfter(
	header: string | undefined,
	nowMilliseconds: number,
): number | undefined {
	const value = header?.trim();
	if (value === undefined) return undefined;
	if (secondsPattern.test(value)) return Math.ceil(Number(value) * 1000);
	if (!httpDateStartPattern.test(value)) return undefined;
	// Only the form of asctime has no comma. It means UTC but names no time zone, so Date.parse would read it as local time.
	const time = Date.parse(value.includes(',') ? value : `${value} GMT`);
	return Number.isNaN(time) ? undefined : Math.max(0, time - nowMilliseconds);
}

/** What became of one attempt of a request, and whether another one may help. */
export type AttemptResult = Pick<NodeError, 'outcome' | 'retryable'>;

/** Says what a status outside 200–299 means for the attempt. */
export function classifyStatus(statusCode: number): AttemptResult {
	if (statusCode === 429) return { outcome: 'notDone', retryable: true };
	const isUnknown = statusCode >= 500 || statusCode === 408;
	return isUnknown
		? { outcome: 'unknown', retryable: true }
		: { outcome: 'notDone', retryable: false };
}

/** Creates the error of a stopped attempt. It is retryable, so that `withRetries` begins a pause, whose error covers all attempts. */
export const createStoppedRequestError = (outcome: NodeError['outcome']) =>
	createStoppedError().with({ outcome, retryable: true });

export const createStoppedError = (description?: string) =>
	new NodeError({
		code: 499,
		status: 'CANCELLED',
		message: 'The execution was stopped',
		description,
	});

export interface RetryPolicy {
	readonly words: {
		/** The name of the service, as the first word of the advice that it asks for a longer pause than the policy allows. */
		readonly service: string;
		/** The advice for a stop between two attempts if certainly nothing was carried out. */
		readonly nothingDone: string;
	};
	/** The option Max Tries: the number of attempts including the first, at least 1. */
	readonly maxAttempts: number;
	/** The limit for the sum of all pauses. If it is 0, there is only one attempt, because each further attempt needs a pause. */
	readonly maxRetryWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
}

/** Google recommends at most 64 s between two attempts. */
const backoff = { baseMilliseconds: 1000, capMilliseconds: 64_000 };
/** Applies even if a service asks for a shorter pause, because "Retry-After: 0" must not cause several attempts at once. */
const minPauseMilliseconds = 200;

interface RepeatEffect {
	/** Whether the request may be sent again after an unknown outcome, because a second execution of it has no further effect. */
	readonly isRepeatable: boolean;
	/** Whether the request may change something that the user sees. If not, the outcome of all attempts is never unknown. */
	readonly mayChange: boolean;
}

/** The number and the outcome of the attempts so far. */
interface RetryProgress {
	readonly attempts: number;
	readonly pausedMilliseconds: number;
	/** Whether one of the attempts may have been carried out. */
	readonly mayBeDone: boolean;
}

/**
 * Repeats an attempt until it succeeds, a repeat could do harm, or the policy allows no more. Pauses as long as the service asks for in
 * Retry-After, and a little longer. If the policy does not allow this pause, the attempts end at once.
 * @param attempt throws a NodeError that says what became of the attempt. @throws NodeError
 */
export async function withRetries<T>(
	attempt: () => Promise<T>,
	effect: RepeatEffect,
	policy: RetryPolicy,
) {
	let pausedMilliseconds = 0;
	let mayBeDone = false;
	for (let attempts = 1; ; attempts++) {
		let failure: NodeError;
		try {
			return await attempt();
		} catch (error) {
			if (!isNodeError(error)) throw toError(error);
			failure = error;
		}
		mayBeDone ||= effect.mayChange && failure.outcome === 'unknown';
		const progress = { attempts, pausedMilliseconds, mayBeDone };
		const mayRepeat =
			failure.retryable && (failure.outcome === 'notDone' || effect.isRepeatable);
		if (!mayRepeat) throw createFinalError(failure, progress);
		const pause = computePause(failure, progress, policy);
		await sleep(pause, undefined, { signal: policy.signal }).catch(() => {
			throw mayBeDone
				? createStoppedError().with({ outcome: 'unknown' })
				: createStoppedError(policy.words.nothingDone);
		});
		pausedMilliseconds += pause;
	}
}

/** Computes the milliseconds until the next attempt. @throws NodeError if the policy allows no further attempt */
export function computePause(
	failure: NodeError,
	progress: RetryProgress,
	policy: RetryPolicy,
): number {
	const { attempts, pausedMilliseconds } = progress;
	if (attempts >= policy.maxAttempts) throw createFinalError(failure, progress);
	const remainingPause = policy.maxRetryWaitMilliseconds - pausedMilliseconds;
	const requestedPause = failure.retryAfterMilliseconds ?? 0;
	if (requestedPause > remainingPause)
		throw createFinalError(
			failure,
			progress,
			describeLongPause(requestedPause, remainingPause, policy),
		);
	if (remainingPause <= 0)
		throw createFinalError(
			failure,
			progress,
			attempts === 1 ? describeMissingPause(policy) : undefined,
		);
	// The jitter is added to the requested pause, because clients that were asked for the same pause must not return at the same moment.
	const jitter = drawJitterMilliseconds(attempts - 1, backoff, Math.random);
	return Math.min(remainingPause, requestedPause + Math.max(minPauseMilliseconds, jitter));
}

function describeLongPause(
	requestedPause: number,
	remainingPause: number,
	policy: RetryPolicy,
): string {
	const { words, maxRetryWaitMilliseconds: limit } = policy;
	const note =
		remainingPause < limit
			? `, of which ${Math.floor(remainingPause / 100) / 10} are left`
			: '';
	return `${words.service} asks n8n to wait ${Math.ceil(requestedPause / 1000)} seconds, but ${quoteField('maxRetryWaitSeconds')} allows ${limit / 1000}${note}.`;
}

const describeMissingPause = ({ maxRetryWaitMilliseconds: limit }: RetryPolicy) =>
	`Another try would need a wait, but ${quoteField('maxRetryWaitSeconds')} allows ${limit / 1000}.`;

/** Adds the outcome of all attempts to the last failure. */
function createFinalError(
	failure: NodeError,
	{ attempts, mayBeDone }: RetryProgress,
	advice?: string,
) {
	// If nothing may be done although the last outcome is unknown, the request could change nothing (`mayChange: false`).
	const outcome = failure.outcome === 'unknown' ? 'notDone' : failure.outcome;
	const attemptsNote =
		advice === undefined && attempts > 1 ? `Tried ${attempts} times.` : undefined;
	return failure.with({
		description: [advice, failure.description, attemptsNote].filter(Boolean).join(' '),
		outcome: mayBeDone ? 'unknown' : outcome,
	});
}
