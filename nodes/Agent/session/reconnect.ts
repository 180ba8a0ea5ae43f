import { fullJitterMilliseconds } from '../../retry/backoff';
import { type Ending, isFaultyFrame, signOf, type Verdict, verdictOf } from './failures';

/** A channel that was open for so long was good: everything before it is forgotten. */
export const stableMilliseconds = 30_000;
const baseMilliseconds = 1000;
/**
 * The first window of a node's sessions is at least so long for each, so that they do not come back together: one attempt
 * per 100 ms on average, more than ten in 100 ms less than once in 10,000 restarts.
 */
const spreadMilliseconds = 100;
const longestRetryAfterMilliseconds = 15 * 60_000;
const slowLane = { fromMilliseconds: 5 * 60_000, toMilliseconds: 15 * 60_000 };
/** With credentials read anew. */
const suspectMilliseconds = 1000;

export interface ReconnectPolicy {
	/** Cap of the backoff. */
	readonly maxDelayMilliseconds: number;
	/** Sessions that reconnect beside each other. */
	readonly sessions: number;
	readonly finalCloseCodes: readonly number[];
}

/** What is remembered from one channel to the next. */
export interface Memory {
	/** Waits of the backoff since the last message or stable channel. */
	readonly waits: number;
	/** The refusal that was answered with an immediate attempt. */
	readonly suspected: string | undefined;
	/** Endings in a row by a message that is too large or malformed. */
	readonly faultyFrames: number;
	/** Only the slow lane tries on, until a channel is stable. */
	readonly slow: boolean;
}

export const untroubled: Memory = { waits: 0, suspected: undefined, faultyFrames: 0, slow: false };

export interface Next {
	readonly verdict: Verdict;
	readonly memory: Memory;
	readonly delayMilliseconds: number;
}

/** The first message ends the backoff; a suspicion and the slow lane end with a stable channel only. */
export const afterMessage = (memory: Memory): Memory =>
	memory.waits === 0 ? memory : { ...memory, waits: 0 };

/**
 * Whether and when to try again after a channel ended or did not open.
 * @param retryAfterMilliseconds what the server asked for: a lower bound, up to 15 minutes
 */
export function afterEnding(
	memory: Memory,
	ending: Ending,
	retryAfterMilliseconds: number | undefined,
	policy: ReconnectPolicy,
	random: () => number,
): Next {
	const faultyFrames = isFaultyFrame(ending) ? memory.faultyFrames + 1 : 0;
	const verdict = verdictOf(ending, {
		suspected: memory.suspected,
		faultyFrames,
		finalCloseCodes: policy.finalCloseCodes,
	});
	const slow = memory.slow || verdict === 'final';
	const suspected = verdict === 'retry' ? memory.suspected : signOf(ending);
	const asked = Math.min(retryAfterMilliseconds ?? 0, longestRetryAfterMilliseconds);
	const next = { verdict, memory: { waits: memory.waits, suspected, faultyFrames, slow } };
	if (slow) return { ...next, delayMilliseconds: Math.max(asked, slowDelay(random)) };
	if (verdict === 'suspect') return { ...next, delayMilliseconds: asked + suspectDelay(policy, random) };
	return {
		...next,
		memory: { ...next.memory, waits: memory.waits + 1 },
		// Added, not compared: those who were given the same time must not come back at the same moment.
		delayMilliseconds: asked + backoff(memory.waits, policy, random),
	};
}

/** Before the very first attempt: many sessions of one node do not all connect at once. */
export function firstDelayMilliseconds(policy: ReconnectPolicy, random: () => number): number {
	return policy.sessions > 10 ? Math.floor(random() * spreadOf(policy)) : 0;
}

const spreadOf = (policy: ReconnectPolicy) => policy.sessions * spreadMilliseconds;

function backoff(waits: number, policy: ReconnectPolicy, random: () => number): number {
	const base = Math.max(baseMilliseconds, spreadOf(policy));
	const cap = Math.max(policy.maxDelayMilliseconds, spreadOf(policy));
	return fullJitterMilliseconds(waits, { baseMilliseconds: base, capMilliseconds: cap }, random);
}

function suspectDelay(policy: ReconnectPolicy, random: () => number): number {
	return suspectMilliseconds + Math.floor(random() * Math.max(baseMilliseconds, spreadOf(policy)));
}

function slowDelay(random: () => number): number {
	return (
		slowLane.fromMilliseconds + Math.floor(random() * (slowLane.toMilliseconds - slowLane.fromMilliseconds))
	);
}
