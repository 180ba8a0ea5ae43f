import { setTimeout as sleep } from 'node:timers/promises';

import { Failure } from '../../items/failure';
import { fullJitterMilliseconds } from '../../retry/backoff';
import { named } from '../fieldNames';

import { Fault } from './fault';
import { stoppedFault } from './thrown';

export interface RetryPolicy {
	/** Tries in all, at least 1. */
	readonly maxTries: number;
	/** Waits between all tries together. */
	readonly maxRetryWaitMilliseconds: number;
	readonly signal: AbortSignal | undefined;
}

/** Google advises at most 64 s between two tries. */
const backoff = { baseMilliseconds: 1000, capMilliseconds: 64_000 };

export interface Repeating {
	/** Nothing changes when the service carries the request out twice. */
	readonly harmless: boolean;
	/** The body can be sent again. */
	readonly possible: boolean;
	/** A read leaves nothing behind, so no failure of it is ambiguous. */
	readonly reading: boolean;
}

/**
 * Tries until it works, repeating would do harm, or the policy is used up. What the service asks for in Retry-After wins
 * over the backoff; a longer wait than the policy allows ends the tries at once.
 * @param attempt throws a Fault
 * @throws Failure
 */
export async function withRetries<T>(
	attempt: () => Promise<T>,
	{ harmless, possible, reading }: Repeating,
	{ maxTries, maxRetryWaitMilliseconds, signal }: RetryPolicy,
): Promise<T> {
	let waited = 0;
	let maybeDone = false;
	for (let tries = 1; ; tries++) {
		const outcome = await attempt().then(
			(value) => ({ value }),
			(error: unknown) => ({ fault: asFault(error) }),
		);
		if ('value' in outcome) return outcome.value;
		const { kind, failure } = outcome.fault;
		maybeDone ||= !reading && (kind === 'unknown' || failure.ambiguous);
		const repeat = possible && (kind === 'notDone' || (kind === 'unknown' && harmless));
		if (!repeat || tries >= maxTries) throw ended(failure, { maybeDone, tries });

		const wait = failure.retryAfterMilliseconds ?? fullJitterMilliseconds(tries - 1, backoff, Math.random);
		const remaining = maxRetryWaitMilliseconds - waited;
		if (failure.retryAfterMilliseconds !== undefined && wait > remaining) {
			throw ended(failure, { maybeDone, tries, refusedWait: wait, allowed: maxRetryWaitMilliseconds });
		}
		if (wait > 0 && remaining <= 0) throw ended(failure, { maybeDone, tries });
		if (!(await waitedFor(Math.min(wait, remaining), signal))) {
			throw ended(stoppedFault('final').failure, { maybeDone, tries: 1 });
		}
		waited += Math.min(wait, remaining);
	}
}

function asFault(error: unknown): Fault {
	if (error instanceof Fault) return error;
	throw error;
}

/** @returns false when the execution was stopped meanwhile */
async function waitedFor(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
	return await sleep(milliseconds, undefined, { signal }).then(
		() => true,
		() => false,
	);
}

interface End {
	readonly maybeDone: boolean;
	readonly tries: number;
	/** Milliseconds that the service asked for and the policy does not allow. */
	readonly refusedWait?: number;
	readonly allowed?: number;
}

function ended(failure: Failure, { maybeDone, tries, refusedWait, allowed = 0 }: End): Failure {
	const notes = [failure.description];
	if (refusedWait !== undefined) {
		notes.unshift(
			`Google asks to wait ${Math.ceil(refusedWait / 1000)} seconds, and ${named('maxRetryWaitSeconds')} allows ${allowed / 1000}.`,
		);
	} else if (tries > 1) notes.push(`Tried ${tries} times.`);
	return new Failure({
		code: failure.code,
		status: failure.status,
		message: failure.message,
		description: notes.filter(Boolean).join(' '),
		ambiguous: maybeDone,
		retryAfterMilliseconds: failure.retryAfterMilliseconds,
	});
}
