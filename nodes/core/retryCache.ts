import { createHash } from 'node:crypto';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isTool } from './errors';
import { globalSingleton } from './runtime';

/** A try of a node under n8n's Retry On Fail. */
export type TryOfNode = Partial<ReturnType<typeof tryOfNode>>;

/** Outcomes of a failed try, by item index. */
interface KeptRun {
	readonly outcomes: ReadonlyMap<number, unknown>;
	readonly tries: number;
	/** Deletes the outcomes when it fires. */
	readonly timer: NodeJS.Timeout;
}

/** The current try of a run of the node, or of one call of a tool. */
interface CurrentTry<T> {
	/** Outcomes of the try before, however long this one takes. */
	readonly earlier: KeptRun | undefined;
	readonly outcomes: Map<number, T>;
}

/** n8n waits at most 5 s before the next try, which takes the outcomes over. A stopped execution has no next try. */
const keptMilliseconds = 60_000;

/** Whether n8n treats the try as failed, like one that throws. It looks only at the first returned item. */
export function isFailedTry([first]: readonly INodeExecutionData[]): boolean {
	const error: unknown = first?.json.error;
	return error !== undefined && error !== null && error !== false;
}

/** n8n's Retry On Fail runs the whole node again in the same process. Items that were or may have been sent get their result from here. */
export class RetryCache<T> {
	readonly #attempt: TryOfNode;
	/** One entry, except for a tool, which may be called several times. */
	readonly #current = new Map<string, CurrentTry<T>>();

	constructor(attempt: TryOfNode) {
		this.#attempt = attempt;
		if (!attempt.isTool) this.#currentTry(undefined);
	}

	/** The outcome of an item in an earlier try. @param sent what would be sent, without what differs with every try; for tools only */
	recall(itemIndex: number, sent: unknown): T | undefined {
		if (!this.#attempt.retryOnFail) return undefined;
		const { earlier, outcomes } = this.#currentTry(sent);
		// Only this class writes to the slot, under keys that name the node, so the type is the one that was stored.
		const outcome = earlier?.outcomes.get(itemIndex) as T | undefined;
		if (outcome !== undefined) outcomes.set(itemIndex, outcome);
		return outcome;
	}

	remember(itemIndex: number, sent: unknown, outcome: T): void {
		if (this.#attempt.retryOnFail) this.#currentTry(sent).outcomes.set(itemIndex, outcome);
	}

	/** Ends the try. Its outcomes are kept if n8n treats it as failed and there is a next one, and dropped otherwise. */
	end(failed: boolean): void {
		const { retryOnFail, maxTries } = this.#attempt;
		if (!retryOnFail) return;
		// The limits of n8n: 2 to 5 tries, 3 if unset or 0.
		const most = Math.min(5, Math.max(2, maxTries || 3));
		for (const [key, current] of this.#current) {
			const tries = (current.earlier?.tries ?? 0) + 1;
			if (failed && tries < most) keep(key, current, tries);
			// The outcomes of a parallel call of a tool must not be deleted.
			else if (keptRuns().get(key) === current.earlier) forget(key);
		}
	}

	#currentTry(sent: unknown): CurrentTry<T> {
		const key = this.#keyOf(sent);
		const known = this.#current.get(key);
		if (known) return known;
		const earlier = this.#attempt.retryOnFail ? keptRuns().get(key) : undefined;
		const current = { earlier, outcomes: new Map<number, T>() };
		this.#current.set(key, current);
		return current;
	}

	/** Only a tool's key includes what would be sent: an expression, such as one for the time, may give something else with each try. */
	#keyOf(sent: unknown): string {
		const { executionId, nodeId, runIndex, isTool } = this.#attempt;
		if (!isTool) return JSON.stringify([executionId, nodeId, runIndex]);
		const hash = createHash('sha256').update(JSON.stringify([sent]));
		return JSON.stringify([executionId, nodeId, hash.digest('base64url')]);
	}
}

function keep<T>(key: string, { earlier, outcomes }: CurrentTry<T>, tries: number): void {
	const known = [...(earlier?.outcomes ?? []), ...(keptRuns().get(key)?.outcomes ?? [])];
	forget(key);
	const timer = setTimeout(forget, keptMilliseconds, key).unref();
	keptRuns().set(key, { outcomes: new Map([...known, ...outcomes]), tries, timer });
}

function forget(key: string): void {
	clearTimeout(keptRuns().get(key)?.timer);
	keptRuns().delete(key);
}

/** Counts the results that the process keeps for a next try. */
export const keptOutcomes = () =>
	[...keptRuns().values()].reduce((sum, { outcomes }) => sum + outcomes.size, 0);

const keptRuns = () => globalSingleton('retryCache', () => new Map<string, KeptRun>());

export function tryOfNode(context: IExecuteFunctions) {
	const node = context.getNode();
	return {
		executionId: context.getExecutionId(),
		nodeId: node.id,
		// How often the node ran before in this execution (in loops).
		runIndex: context.getWorkflowDataProxy(0).$runIndex as number,
		// Without it, nothing is kept.
		retryOnFail: node.retryOnFail === true,
		maxTries: node.maxTries,
		// n8n counts each try of a tool as a separate run, so only what would be sent shows which tries belong together.
		isTool: isTool(node),
	};
}
