import { isNodeError, type NodeError, toError } from '../core/errors';
import { joinSentences } from '../core/text';
import { quoteField } from '../fields/field';
import { createStoppedError, type ServiceTexts } from './attempt';
import type { Gate } from './gate';
import { isRateLimited } from './networkErrors';

export interface RetryPolicy {
	readonly texts: ServiceTexts;
	/** The limit for the sum of all pauses of a request, whatever their reason. If it is 0, there is only one attempt. */
	readonly maxRetryWaitMilliseconds: number;
	/** Is aborted when the execution is stopped. */
	readonly signal: AbortSignal | undefined;
	/** What all requests share that count against the same quota. */
	readonly gate: Gate;
	/** Called with the length of the pause after each refusal because of a quota. */
	readonly onPause?: (milliseconds: number) => void;
}

export interface RepeatEffect {
	/** `always`: a second execution of the request has no further effect, so it may be sent again after an unknown outcome, too. */
	readonly repeat: 'always' | 'ifNotDone' | 'never';
	/** Whether the request may change something that the user sees. If not, the outcome of all attempts is never unknown. */
	readonly mayChange: boolean;
}

/** What has happened to a request so far. */
interface Progress {
	attempts: number;
	pausedMilliseconds: number;
	/** The pauses that neither the service nor the gate asked for. */
	backoffs: number;
	/** Whether one of the attempts may have been carried out. */
	mayBeDone: boolean;
	/** Why the next attempt has to wait. */
	lastFailure?: NodeError;
}

/**
 * Repeats an attempt until it succeeds, a repeat could do harm, or its pauses would be longer than the policy allows.
 * @param attempt throws a NodeError that says what became of the attempt. @throws NodeError
 */
export async function withRetries<T>(
	attempt: () => Promise<T>,
	effect: RepeatEffect,
	policy: RetryPolicy,
): Promise<T> {
	const { gate } = policy;
	const progress: Progress = {
		attempts: 0,
		pausedMilliseconds: 0,
		backoffs: 0,
		mayBeDone: false,
	};
	for (;;) {
		await passGate(progress, policy);
		progress.attempts++;
		const sentAt = gate.now;
		try {
			const result = await attempt();
			gate.recordSuccess();
			return result;
		} catch (error) {
			if (!isNodeError(error)) throw toError(error);
			if (isRateLimited(error)) gate.recordRefusal(error, sentAt);
			progress.lastFailure = error;
			progress.mayBeDone ||= effect.mayChange && error.outcome === 'unknown';
			if (policy.signal?.aborted) throw createStop(progress, policy);
			if (!isRepeatable(error, effect)) throw createFinalError(error, progress);
		} finally {
			gate.leave();
		}
		await pauseAfter(progress.lastFailure, progress, policy);
	}
}

function isRepeatable({ retryable, outcome }: NodeError, { repeat }: RepeatEffect): boolean {
	if (!retryable || repeat === 'never') return false;
	return outcome === 'notDone' || repeat === 'always';
}

/** Waits until the gate is open and has a place. Only the time in which it is closed is a pause. @throws NodeError */
async function passGate(progress: Progress, policy: RetryPolicy): Promise<void> {
	const { gate, signal } = policy;
	for (;;) {
		if (signal?.aborted) throw createStop(progress, policy);
		const { pause, lastRefusal } = gate;
		if (pause > 0 && lastRefusal) {
			await spendPause(pause, progress.lastFailure ?? lastRefusal, progress, policy);
		}
		await gate.enter(signal).catch(() => {
			throw createStop(progress, policy);
		});
		if (gate.pause === 0) return;
		gate.leave();
	}
}

/** Google recommends at most 64 s between two attempts. */
const backoff = { baseMilliseconds: 1000, capMilliseconds: 64_000 };
/** After so many pauses for which nobody asked, a fault is not about to pass. */
const maxBackoffs = 4;
/** Applies even if a service asks for a shorter pause, because "Retry-After: 0" must not cause several attempts at once. */
const minPauseMilliseconds = 200;

/** Pauses as long as the service asks for, and a little longer. The gate has its own pause after a quota error. @throws NodeError */
async function pauseAfter(failure: NodeError, progress: Progress, policy: RetryPolicy) {
	const requestedPause = failure.retryAfterMilliseconds;
	if (isRateLimited(failure)) {
		// The gate demands its pause before the next attempt. A requested pause may be longer, and is then for this request alone.
		const pause = Math.max(policy.gate.pause, requestedPause ?? 0);
		reservePause(pause, failure, progress, policy);
		policy.onPause?.(pause);
		await sleep(pause, policy);
		return;
	}
	if (requestedPause === undefined) progress.backoffs++;
	const remainingPause = policy.maxRetryWaitMilliseconds - progress.pausedMilliseconds;
	const isTimeOver = remainingPause <= 0 && progress.attempts > 1;
	if (progress.backoffs > maxBackoffs || isTimeOver) throw createFinalError(failure, progress);
	// The jitter is added to the requested pause, because clients that were asked for the same pause must not return at the same moment.
	const jitter = drawJitterMilliseconds(progress.attempts - 1, backoff, Math.random);
	const pause = (requestedPause ?? 0) + Math.max(minPauseMilliseconds, jitter);
	const longestPause = Math.max(remainingPause, requestedPause || 1);
	await spendPause(Math.min(pause, longestPause), failure, progress, policy);
}

async function spendPause(
	milliseconds: number,
	failure: NodeError,
	progress: Progress,
	policy: RetryPolicy,
): Promise<void> {
	reservePause(milliseconds, failure, progress, policy);
	await sleep(milliseconds, policy);
}

/** @throws NodeError if the policy does not allow the pause */
function reservePause(
	milliseconds: number,
	failure: NodeError,
	progress: Progress,
	policy: RetryPolicy,
): void {
	if (progress.pausedMilliseconds + milliseconds > policy.maxRetryWaitMilliseconds)
		throw createLongPauseError(milliseconds, failure, progress, policy);
	progress.pausedMilliseconds += milliseconds;
}

/** Waits, but no longer than until the execution is stopped. */
async function sleep(milliseconds: number, { signal, gate }: RetryPolicy): Promise<void> {
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

function createLongPauseError(
	milliseconds: number,
	failure: NodeError,
	progress: Progress,
	{ texts, maxRetryWaitMilliseconds }: RetryPolicy,
): NodeError {
	const isRequested = failure.retryAfterMilliseconds !== undefined;
	const what = isRequested
		? `${texts.service} asks n8n to wait ${Math.ceil(milliseconds / 1000)} seconds`
		: 'Another try would need a longer wait';
	const paused = Math.ceil(progress.pausedMilliseconds / 1000);
	const note = paused > 0 ? `, of which ${paused} have passed` : '';
	const limit = `${quoteField('maxRetryWaitSeconds')} allows ${maxRetryWaitMilliseconds / 1000}`;
	return createFinalError(failure, progress, `${what}, but ${limit}${note}.`).with({
		retryable: false,
	});
}

function createStop({ mayBeDone }: Progress, { texts }: RetryPolicy): NodeError {
	if (mayBeDone) return createStoppedError(texts.mayBeDone).with({ outcome: 'unknown' });
	return createStoppedError(texts.nothingDone);
}

/** Adds the outcome of all attempts to the last failure. */
function createFinalError(failure: NodeError, { attempts, mayBeDone }: Progress, advice?: string) {
	// If nothing may be done although the last outcome is unknown, the request could change nothing (`mayChange: false`).
	const outcome = failure.outcome === 'unknown' ? 'notDone' : failure.outcome;
	const attemptsNote = advice === undefined && attempts > 1 && `Tried ${attempts} times.`;
	return failure.with({
		description: joinSentences(advice, failure.description, attemptsNote),
		outcome: mayBeDone ? 'unknown' : outcome,
	});
}

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
