import { createHash } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';

/**
 * n8n's Retry On Fail runs the whole node again. Items that succeeded in an earlier try of the same execution, or whose outcome
 * nobody knows, are answered from here, so that nothing is sent twice.
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
	/** Runs of a tool share execution, run index and item: only what would be sent tells them apart. */
	readonly isTool?: boolean;
}

interface KeptRun {
	readonly outcomes: Map<string, unknown>;
	/** Ends the keeping. */
	readonly timer: NodeJS.Timeout;
	tries: number;
}

/** Outcomes kept over all runs; beyond it the oldest run is forgotten. */
const maxOutcomes = 20_000;
/** n8n waits 5 s at most before the next try, which takes hold of what is kept when it begins. An execution that is stopped has none. */
const keptMilliseconds = 60_000;

/** Whether n8n takes the try for failed, as it does a try that throws: of what a node returns it looks at the first item only. */
export function isFailedTry([first]: readonly INodeExecutionData[]): boolean {
	const error: unknown = first?.json.error;
	return error !== undefined && error !== null && error !== false;
}

export class FinishedItems<T> {
	private readonly attempt: TryOfNode;
	private readonly runKey: string;
	private readonly earlier: KeptRun | undefined;
	private readonly finished = new Map<string, T>();

	constructor(attempt: TryOfNode) {
		this.attempt = attempt;
		this.runKey = JSON.stringify([attempt.executionId, attempt.nodeId, attempt.runIndex]);
		this.earlier = attempt.retryOnFail ? keptRuns().get(this.runKey) : undefined;
	}

	/**
	 * What an item came to in an earlier try.
	 * @param sent what would be sent, without what differs at every try (timestamps, generated ids); counts for tools only
	 */
	recall(itemIndex: number, sent: unknown): T | undefined {
		if (!this.earlier) return undefined;
		const key = this.itemKey(itemIndex, sent);
		// Only this class writes to the slot, under keys that name the node: the type is the one that was put in.
		const outcome = this.earlier.outcomes.get(key) as T | undefined;
		if (outcome !== undefined) this.finished.set(key, outcome);
		return outcome;
	}

	remember(itemIndex: number, sent: unknown, outcome: T): void {
		if (this.attempt.retryOnFail) this.finished.set(this.itemKey(itemIndex, sent), outcome);
	}

	/**
	 * Ends the try: after a failure its outcomes are kept for the next one, if there is a next one; else they are dropped.
	 * @param failed in n8n's eyes
	 */
	end(failed: boolean): void {
		if (!this.attempt.retryOnFail) return;
		const tries = (this.earlier?.tries ?? 0) + 1;
		if (failed && tries < triesOf(this.attempt)) this.keep(tries);
		else this.drop();
	}

	/** Not by what would be sent, but for a tool: an expression may give something else at each try, the time for instance. */
	private itemKey(itemIndex: number, sent: unknown): string {
		if (!this.attempt.isTool) return String(itemIndex);
		const hash = createHash('sha256').update(JSON.stringify([sent]));
		return `${itemIndex}:${hash.digest('base64url')}`;
	}

	private keep(tries: number): void {
		const runs = keptRuns();
		const present = runs.get(this.runKey);
		const known = [...(this.earlier?.outcomes ?? []), ...(present?.outcomes ?? [])];
		const outcomes = new Map<string, unknown>([...known, ...this.finished]);
		forget(this.runKey);
		const timer = setTimeout(forget, keptMilliseconds, this.runKey);
		timer.unref();
		runs.set(this.runKey, { outcomes, tries, timer });
		forgetOldest(runs);
	}

	/** Runs of a tool may share an index: only what this try knows of goes. */
	private drop(): void {
		const kept = keptRuns().get(this.runKey);
		if (!kept) return;
		for (const key of this.finished.keys()) kept.outcomes.delete(key);
		if (kept.outcomes.size === 0 || kept === this.earlier) forget(this.runKey);
	}
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
	for (const [key, { outcomes }] of runs) {
		if (total <= maxOutcomes || runs.size === 1) return;
		total -= outcomes.size;
		forget(key);
	}
}

const slot = Symbol.for('n8n-nodes-agent-workspace.finishedItems');

/** In a global slot, because each node's bundle has its own copy of this module. */
function keptRuns(): Map<string, KeptRun> {
	const holder = globalThis as { [slot]?: Map<string, KeptRun> };
	return (holder[slot] ??= new Map<string, KeptRun>());
}
