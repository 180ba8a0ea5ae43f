import { createHash } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';

import { processSlot } from './processSlot';

/**
 * n8n's Retry On Fail runs the whole node again. Items that succeeded in an earlier try of the same execution, or whose outcome
 * is unknown, get their earlier outcome from here, so that nothing is sent twice.
 *
 * Outcomes live in the process, and only between a try that failed and the one after it. n8n runs the tries of a node in one
 * process, in queue mode too.
 */
export interface TryOfNode {
	/** n8n's execution id. */
	readonly executionId: string;
	/** Id of the node in its workflow. */
	readonly nodeId: string;
	/** How often the node ran before in this execution (loops). */
	readonly runIndex: number;
	/** The node's Retry On Fail settings; without it nothing is kept. */
	readonly retryOnFail: boolean;
	readonly maxTries?: number;
	/** n8n counts each try of a tool as a run of its own: only what would be sent tells which tries belong together. */
	readonly isTool?: boolean;
}

/** By item. */
type Outcomes<T> = Map<number, T>;

interface KeptRun {
	readonly outcomes: Outcomes<unknown>;
	readonly keptAt: number;
	/** Stops keeping the outcomes. */
	readonly timer: NodeJS.Timeout;
	readonly tries: number;
}

/** A run of the node, or one call of a tool, in its current try. */
interface PresentTry<T> {
	/** Outcomes of the previous try; kept however long this try takes. */
	readonly earlier: KeptRun | undefined;
	readonly outcomes: Outcomes<T>;
}

/** n8n waits 5 s at most before the next try, which takes hold of what is kept when it begins. An execution that is stopped has none. */
const keptMilliseconds = 60_000;
/** Outcomes kept over all runs; beyond it the oldest run is forgotten, but none whose next try may just be about to begin. */
const maxOutcomes = 20_000;
const surelyKeptMilliseconds = 15_000;

/** Whether n8n takes the try for failed, as it does a try that throws: of what a node returns it looks at the first item only. */
export function isFailedTry([first]: readonly INodeExecutionData[]): boolean {
	const error: unknown = first?.json.error;
	return error !== undefined && error !== null && error !== false;
}

export class FinishedItems<T> {
	private readonly attempt: TryOfNode;
	/** One, but for a tool. */
	private readonly present = new Map<string, PresentTry<T>>();

	constructor(attempt: TryOfNode) {
		this.attempt = attempt;
		if (!attempt.isTool) this.presentTry(undefined);
	}

	/**
	 * The outcome of an item in an earlier try.
	 * @param sent what would be sent, without what differs at every try (timestamps, generated ids); counts for tools only
	 */
	recall(itemIndex: number, sent: unknown): T | undefined {
		if (!this.attempt.retryOnFail) return undefined;
		const { earlier, outcomes } = this.presentTry(sent);
		// Only this class writes to the slot, under keys that name the node: the type is the one that was put in.
		const outcome = earlier?.outcomes.get(itemIndex) as T | undefined;
		if (outcome !== undefined) outcomes.set(itemIndex, outcome);
		return outcome;
	}

	remember(itemIndex: number, sent: unknown, outcome: T): void {
		if (this.attempt.retryOnFail) this.presentTry(sent).outcomes.set(itemIndex, outcome);
	}

	/**
	 * Ends the try: after a failure its outcomes are kept for the next one, if there is a next one; else they are dropped.
	 * @param failed in n8n's eyes
	 */
	end(failed: boolean): void {
		if (!this.attempt.retryOnFail) return;
		for (const [key, present] of this.present) {
			const tries = (present.earlier?.tries ?? 0) + 1;
			if (failed && tries < triesOf(this.attempt)) keep(key, present, tries);
			// What a call of a tool has left that goes on at the same time is not ours.
			else if (keptRuns().get(key) === present.earlier) forget(key);
		}
	}

	private presentTry(sent: unknown): PresentTry<T> {
		const key = this.keyOf(sent);
		const known = this.present.get(key);
		if (known) return known;
		const present = {
			earlier: this.attempt.retryOnFail ? keptRuns().get(key) : undefined,
			outcomes: new Map<number, T>(),
		};
		this.present.set(key, present);
		return present;
	}

	/** Not by what would be sent, but for a tool: an expression may give something else at each try, the time for instance. */
	private keyOf(sent: unknown): string {
		const { executionId, nodeId, runIndex, isTool } = this.attempt;
		if (!isTool) return JSON.stringify([executionId, nodeId, runIndex]);
		const hash = createHash('sha256').update(JSON.stringify([sent]));
		return JSON.stringify([executionId, nodeId, hash.digest('base64url')]);
	}
}

function keep<T>(key: string, { earlier, outcomes }: PresentTry<T>, tries: number): void {
	const runs = keptRuns();
	const known = [...(earlier?.outcomes ?? []), ...(runs.get(key)?.outcomes ?? [])];
	forget(key);
	const timer = setTimeout(forget, keptMilliseconds, key);
	timer.unref();
	const all: Outcomes<unknown> = new Map([...known, ...outcomes]);
	runs.set(key, { outcomes: all, keptAt: performance.now(), timer, tries });
	forgetOldest(runs);
}

/** How many outcomes the process keeps at the moment. */
export function keptOutcomes(): number {
	return [...keptRuns().values()].reduce((sum, { outcomes }) => sum + outcomes.size, 0);
}

/** As n8n bounds it: 2 to 5 tries, 3 when unset or 0. */
function triesOf({ maxTries }: TryOfNode): number {
	return Math.min(5, Math.max(2, maxTries || 3));
}

function forget(runKey: string): void {
	const runs = keptRuns();
	clearTimeout(runs.get(runKey)?.timer);
	runs.delete(runKey);
}

function forgetOldest(runs: Map<string, KeptRun>): void {
	let total = keptOutcomes();
	const now = performance.now();
	for (const [key, { outcomes, keptAt }] of runs) {
		if (total <= maxOutcomes || now - keptAt < surelyKeptMilliseconds) return;
		total -= outcomes.size;
		forget(key);
	}
}

const keptRuns = () => processSlot('finishedItems', () => new Map<string, KeptRun>());
