import { setTimeout as sleep } from 'node:timers/promises';

import { isNodeError, NodeError, toError } from '../core/errors';
import { quoteField } from '../fields/field';

/**
 * Full jitter: whole milliseconds, drawn evenly from 0 to `base * 2^attempt`, at most the cap.
 * @param attempt number of waits so far, from 0
 */
export function drawJitterMilliseconds(
	attempt: number,
	{ baseMilliseconds, capMilliseconds }: Readonly<Record<'baseMilliseconds' | 'capMilliseconds', number>>,
	random: () => number,
): number {
	const window = Math.min(capMilliseconds, baseMilliseconds * 2 ** attempt);
	return Math.floor(random() * window);
}

const deltaSeconds = /^\d{1,12}(\.\d+)?$/;
/** The three forms of an HTTP date start with the name of the day (RFC 9110, section 5.6.7). */
const httpDate = /^(mon|tue|wed|thu|fri|sat|sun)/i;

/** The wait that a `Retry-After` header asks for, in milliseconds from now; 0 for a date in the past, undefined if there is none. */
export function parseRetryAfter(header: string | undefined, nowMilliseconds: number): number | undefined {
	const value = header?.trim();
	if (value === undefined) return undefined;
	if (deltaSeconds.test(value)) return Math.ceil(Number(value) * 1000);
	if (!httpDate.test(value)) return undefined;
	// The form of asctime, the only one without a comma, names no time zone and means UTC, but Date.parse would read it as local time.
	const at = Date.parse(value.includes(',') ? value : `${value} GMT`);
	return Number.isNaN(at) ? undefined : Math.max(0, at - nowMilliseconds);
}

/** What became of one attempt of a request, and whether another one may help. */
export type AttemptResult = Pick<NodeError, 'outcome' | 'retryable'>;

/** What a status outside 200–299 says about the attempt. */
export function classifyStatus(status: number): AttemptResult {
	if (status === 429) return { outcome: 'notDone', retryable: true };
	const isUnknown = status >= 500 || status === 408;
	return isUnknown ? { outcome: 'unknown', retryable: true } : { outcome: 'notDone', retryable: false };
}

/** An attempt that the end of the execution stopped. It counts as retryable, so that `withRetries` says what is known of all attempts. */
export const createStoppedRequestError = (outcome: NodeError['outcome']) =>
	createStoppedError().with({ outcome, retryable: true });

export function createStoppedError(description?: string): NodeError {
	return new NodeError({ code: 499, status: 'CANCELLED', message: 'The execution was stopped', description });
}

export interface RetryPolicy {
	readonly words: {
		/** Name of the service, for the beginning of a sentence. */
		readonly service: string;
		/** Message for a stop between two attempts, if definitely nothing was carried out. */
		readonly nothingDone: string;
	};
	/** Number of attempts including the first, at least 1: the option Max Tries. */
	readonly maxTries: number;
	/** Limit for the sum of all waits between attempts. If 0, nothing that needs a wait is tried again. */
	readonly maxRetryWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
}

/** Google recommends at most 64 s between two attempts. */
const backoff = { baseMilliseconds: 1000, capMilliseconds: 64_000 };
/** Applies even if a service asks for less: "Retry-After: 0" must not cause five calls in a row. */
const minWaitMilliseconds = 200;

interface Repeating {
	/** It makes no difference if the service carries out the request twice. */
	readonly isHarmless: boolean;
	/** Whether this is a read. It leaves nothing behind, so the outcome of none of its failures is unknown. */
	readonly isRead: boolean;
}

/** Outcome of the attempts so far. */
interface Progress {
	readonly attempts: number;
	readonly waitedMilliseconds: number;
	/** Whether one of them may have been carried out. */
	readonly mayBeDone: boolean;
}

/**
 * Tries until it works, a repeat could do harm, or the policy is exhausted. Waits as long as the service asks for in Retry-After, and a
 * little longer. If that is longer than the policy allows, the attempts end at once.
 * @param attempt throws a NodeError that says what became of it
 * @throws NodeError
 */
export async function withRetries<T>(attempt: () => Promise<T>, repeating: Repeating, policy: RetryPolicy) {
	let waitedMilliseconds = 0;
	let mayBeDone = false;
	for (let attempts = 1; ; attempts++) {
		let failure: NodeError;
		try {
			return await attempt();
		} catch (error) {
			if (!isNodeError(error)) throw toError(error);
			failure = error;
		}
		mayBeDone ||= !repeating.isRead && failure.outcome === 'unknown';
		const progress = { attempts, waitedMilliseconds, mayBeDone };
		const isRepeated = failure.retryable && (failure.outcome === 'notDone' || repeating.isHarmless);
		if (!isRepeated) throw createLastFailure(failure, progress);
		const wait = computeWait(failure, progress, policy);
		await sleep(wait, undefined, { signal: policy.signal }).catch(() => {
			throw mayBeDone
				? createStoppedError().with({ outcome: 'unknown' })
				: createStoppedError(policy.words.nothingDone);
		});
		waitedMilliseconds += wait;
	}
}

/** Only this function limits the attempts. @returns milliseconds until the next one @throws NodeError if there is none */
export function computeWait(failure: NodeError, progress: Progress, policy: RetryPolicy): number {
	const { attempts, waitedMilliseconds } = progress;
	if (attempts >= policy.maxTries) throw createLastFailure(failure, progress);
	const left = policy.maxRetryWaitMilliseconds - waitedMilliseconds;
	const asked = failure.retryAfterMilliseconds ?? 0;
	if (asked > left) throw createLastFailure(failure, progress, describeRefusedWait(asked, left, policy));
	if (left <= 0)
		throw createLastFailure(failure, progress, attempts === 1 ? describeMissingWait(policy) : undefined);
	// The jitter is added to the time that was asked for, because clients that got the same time must not come back at the same moment.
	const jitter = drawJitterMilliseconds(attempts - 1, backoff, Math.random);
	return Math.min(left, asked + Math.max(minWaitMilliseconds, jitter));
}

/** The advice if the service asks for a longer wait than allowed. */
function describeRefusedWait(asked: number, left: number, policy: RetryPolicy): string {
	const { words, maxRetryWaitMilliseconds: allowed } = policy;
	const remaining = left < allowed ? `, of which ${Math.floor(left / 100) / 10} are left` : '';
	return `${words.service} asks n8n to wait ${Math.ceil(asked / 1000)} seconds, but ${quoteField('maxRetryWaitSeconds')} allows ${allowed / 1000}${remaining}.`;
}

const describeMissingWait = ({ maxRetryWaitMilliseconds: allowed }: RetryPolicy) =>
	`Another try would need a wait, but ${quoteField('maxRetryWaitSeconds')} allows ${allowed / 1000}.`;

/** The failure that the caller sees, extended with the outcome of the attempts. */
function createLastFailure(failure: NodeError, { attempts, mayBeDone }: Progress, first?: string): NodeError {
	const outcome = failure.outcome === 'unknown' ? 'notDone' : failure.outcome;
	const last = first === undefined && attempts > 1 ? `Tried ${attempts} times.` : undefined;
	return failure.with({
		description: [first, failure.description, last].filter(Boolean).join(' '),
		outcome: mayBeDone ? 'unknown' : outcome,
	});
}
