import { fullJitterMilliseconds } from '../../http/backoff';
import { type Ending, isFaultyFrame, signOf, type Verdict, verdictOf } from './closeReason';

/** A channel that was open this long was stable: everything before it is forgotten. */
export const stableMilliseconds = 30_000;
/** With a message a shorter life ends the backoff. Not a message alone: a server may greet, or report an error, and then close. */
const provenMilliseconds = 5000;
const baseMilliseconds = 1000;
const longestRetryAfterMilliseconds = 15 * 60_000;
/** A rolling deployment refuses connections for seconds, a wrong key for days. */
const slowLane = { baseMilliseconds: 10_000, capMilliseconds: 15 * 60_000 };
/** With credentials read again. */
const suspectMilliseconds = 1000;

export interface ReconnectPolicy {
	/** Cap of the backoff. */
	readonly maxDelayMilliseconds: number;
	readonly finalCloseCodes: readonly number[];
}

/** What is remembered from one channel to the next. */
export interface Memory {
	/** Waits of the backoff since the last channel that was good. */
	readonly waits: number;
	/** The refusal that was answered with an immediate attempt. */
	readonly suspected: string | undefined;
	/** Endings in a row by a message that is too large or malformed. */
	readonly faultyFrames: number;
	/** Waits of the slow lane, which only a stable channel ends; 0: it is not in it. */
	readonly slowWaits: number;
}

export const untroubled: Memory = { waits: 0, suspected: undefined, faultyFrames: 0, slowWaits: 0 };

export interface Next {
	readonly verdict: Verdict;
	readonly memory: Memory;
	readonly delayMilliseconds: number;
}

/** A channel that lived long enough and brought a message ends the backoff, but neither a suspicion nor the slow lane. */
export function afterLife(memory: Memory, livedMilliseconds: number, broughtMessage: boolean): Memory {
	return broughtMessage && livedMilliseconds >= provenMilliseconds ? { ...memory, waits: 0 } : memory;
}

/**
 * Whether and when to reconnect after a channel ended or did not open.
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
	const suspected = verdict === 'retry' ? memory.suspected : signOf(ending);
	const { waits, slowWaits } = memory;
	const asked = Math.min(retryAfterMilliseconds ?? 0, longestRetryAfterMilliseconds);
	const next = { verdict, memory: { waits, suspected, faultyFrames, slowWaits } };
	if (slowWaits > 0 || verdict === 'final') {
		const slower = { ...next.memory, slowWaits: slowWaits + 1 };
		return { ...next, memory: slower, delayMilliseconds: Math.max(asked, slowDelay(slowWaits, random)) };
	}
	if (verdict === 'suspect') return { ...next, delayMilliseconds: asked + suspectDelay(random) };
	return {
		...next,
		memory: { ...next.memory, waits: waits + 1 },
		// Added, not compared: clients that got the same time must not come back at the same moment.
		delayMilliseconds: asked + backoff(waits, policy, random),
	};
}

function backoff(waits: number, { maxDelayMilliseconds }: ReconnectPolicy, random: () => number): number {
	return fullJitterMilliseconds(waits, { baseMilliseconds, capMilliseconds: maxDelayMilliseconds }, random);
}

const suspectDelay = (random: () => number) => suspectMilliseconds + Math.floor(random() * baseMilliseconds);

/** Not less than half of its window: a deployment of seconds must be over when the first of them ends. */
function slowDelay(slowWaits: number, random: () => number): number {
	const window = Math.min(slowLane.capMilliseconds, slowLane.baseMilliseconds * 2 ** slowWaits);
	return Math.floor((window / 2) * (1 + random()));
}
