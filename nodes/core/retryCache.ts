import { createHash } from 'node:crypto';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { globalSingleton } from './runtime';
import { isTool } from './errors';

/**
 * n8n's Retry On Fail runs the whole node again. Items that succeeded in an earlier try of the same
 * execution, or whose outcome is unknown, get their earlier outcome from here, so that nothing is sent twice.
 *
 * Outcomes live in the process, and only between a failed try and the next one. n8n runs all tries of a node
 * in one process, also in queue mode.
 */
export interface TryOfNode {
	/** n8n's execution ID. */
	readonly executionId: string;
	/** ID of the node in its workflow. */
	readonly nodeId: string;
	/** How often the node ran before in this execution (in loops). */
	readonly runIndex: number;
	/** The node's Retry On Fail setting. Without it, nothing is kept. */
	readonly retryOnFail: boolean;
	readonly maxTries?: number;
	/**
	 * n8n counts each try of a tool as a separate run, so only the data that would be sent shows which tries
	 * belong together.
	 */
	readonly isTool?: boolean;
}

/** Outcomes by item index. */
type Outcomes<T> = Map<number, T>;

interface KeptRun {
	readonly outcomes: Outcomes<unknown>;
	readonly keptAt: number;
	/** Deletes the outcomes when it fires. */
	readonly timer: NodeJS.Timeout;
	readonly tries: number;
}

/** The current try of a run of the node, or of one call of a tool. */
interface PresentTry<T> {
	/** Outcomes of the previous try. They are kept however long this try takes. */
	readonly earlier: KeptRun | undefined;
	readonly outcomes: Outcomes<T>;
}

/**
 * n8n waits at most 5 s before the next try, which takes over the kept outcomes when it begins. A stopped
 * execution has no next try.
 */
const keptMilliseconds = 60_000;
/**
 * Limit for the outcomes of all runs. Above it, the oldest run is dropped, unless its next try may be about
 * to begin.
 */
const maxOutcomes = 20_000;
const surelyKeptMilliseconds = 15_000;

/**
 * Whether n8n treats the try as failed, just like one that throws. n8n looks only at the first returned item.
 */
export function isFailedTry([first]: readonly INodeExecutionData[]): boolean {
	const error: unknown = first?.json.error;
	return error !== undefined && error !== null && error !== false;
}

export class RetryCache<T> {
	private readonly attempt: TryOfNode;
	/** One entry, except for a tool, which may have several calls. */
	private readonly present = new Map<string, PresentTry<T>>();

	constructor(attempt: TryOfNode) {
		this.attempt = attempt;
		if (!attempt.isTool) this.presentTry(undefined);
	}

	/**
	 * The outcome of an item in an earlier try.
	 * @param sent what would be sent, without what differs with every try (timestamps, generated IDs);
	 * matters for tools only
	 */
	recall(itemIndex: number, sent: unknown): T | undefined {
		if (!this.attempt.retryOnFail) return undefined;
		const { earlier, outcomes } = this.presentTry(sent);
		// Only this class writes to the slot, under keys that name the node, so the type is the one that was
		// stored.
		const outcome = earlier?.outcomes.get(itemIndex) as T | undefined;
		if (outcome !== undefined) outcomes.set(itemIndex, outcome);
		return outcome;
	}

	remember(itemIndex: number, sent: unknown, outcome: T): void {
		if (this.attempt.retryOnFail) this.presentTry(sent).outcomes.set(itemIndex, outcome);
	}

	/**
	 * Ends the try. After a failure, its outcomes are kept if there is a next try; otherwise they are
	 * dropped.
	 * @param failed whether n8n treats the try as failed
	 */
	end(failed: boolean): void {
		if (!this.attempt.retryOnFail) return;
		for (const [key, present] of this.present) {
			const tries = (present.earlier?.tries ?? 0) + 1;
			if (failed && tries < triesOf(this.attempt)) keep(key, present, tries);
			// The outcomes of a parallel call of a tool must not be deleted.
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

	/**
	 * Includes what would be sent only for a tool, because an expression may give something else with each
	 * try, such as the time.
	 */
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

/** The number of outcomes that the process keeps now. */
export function keptOutcomes(): number {
	return [...keptRuns().values()].reduce((sum, { outcomes }) => sum + outcomes.size, 0);
}

/** The limits of n8n: 2 to 5 tries, 3 if unset or 0. */
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

const keptRuns = () => globalSingleton('finishedItems', () => new Map<string, KeptRun>());

/** The identity of the current try of a node, which the memory of finished items needs. */
export function tryOfNode(context: IExecuteFunctions): TryOfNode {
	const node = context.getNode();
	return {
		executionId: context.getExecutionId(),
		nodeId: node.id,
		runIndex: context.getWorkflowDataProxy(0).$runIndex as number,
		retryOnFail: node.retryOnFail === true,
		maxTries: node.maxTries,
		isTool: isTool(node),
	};
}
