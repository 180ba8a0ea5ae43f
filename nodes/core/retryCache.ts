import { createHash } from 'node:crypto';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isTool } from './errors';
import { getGlobalSingleton } from './runtime';

/** A try of a node under n8n's Retry On Fail. */
export type NodeTry = Partial<ReturnType<typeof readNodeTry>>;

/** Results of a failed try, by item index. */
interface FailedTry {
	readonly results: ReadonlyMap<number, unknown>;
	readonly tries: number;
	/** Deletes the results when it fires. */
	readonly expiryTimer: NodeJS.Timeout;
}

/** The current try of a run of the node, or of one call of a tool. */
interface CurrentTry<T> {
	/** Results of the try before, however long this one takes. */
	readonly previousTry: FailedTry | undefined;
	readonly results: Map<number, T>;
}

/** n8n waits at most 5 s before the next try, which takes the results over. A stopped execution has no next try. */
const retentionMilliseconds = 60_000;

/** Whether n8n treats the try as failed, like one that throws. It looks only at the first returned item. */
export function isFailedTry([first]: readonly INodeExecutionData[]): boolean {
	const error: unknown = first?.json.error;
	return error !== undefined && error !== null && error !== false;
}

/** n8n's Retry On Fail runs the whole node again in the same process. Items that were or may have been sent get their result from here. */
export class RetryCache<T> {
	readonly #nodeTry: NodeTry;
	/** One entry, except for a tool, which may be called several times. */
	readonly #currentTries = new Map<string, CurrentTry<T>>();

	constructor(nodeTry: NodeTry) {
		this.#nodeTry = nodeTry;
		if (!nodeTry.isTool) this.#getCurrentTry(undefined);
	}

	/** Finds the result of an earlier try. @param requestIdentity for tools only: what would be sent, without what differs with every try */
	recall(itemIndex: number, requestIdentity: unknown): T | undefined {
		if (!this.#nodeTry.retryOnFail) return undefined;
		const { previousTry, results } = this.#getCurrentTry(requestIdentity);
		// Only this class writes to the slot, under keys that name the node, so the type is the one that was stored.
		const result = previousTry?.results.get(itemIndex) as T | undefined;
		if (result !== undefined) results.set(itemIndex, result);
		return result;
	}

	remember(itemIndex: number, requestIdentity: unknown, result: T): void {
		if (this.#nodeTry.retryOnFail) this.#getCurrentTry(requestIdentity).results.set(itemIndex, result);
	}

	/** Ends the try. Its results are kept if n8n treats it as failed and there is a next one, and dropped otherwise. */
	endTry(isFailed: boolean): void {
		const { retryOnFail, maxTries } = this.#nodeTry;
		if (!retryOnFail) return;
		// The limits of n8n: 2 to 5 tries, 3 if unset or 0.
		const most = Math.min(5, Math.max(2, maxTries || 3));
		for (const [key, current] of this.#currentTries) {
			const tries = (current.previousTry?.tries ?? 0) + 1;
			if (isFailed && tries < most) storeFailedTry(key, current, tries);
			// The results of a parallel call of a tool must not be deleted.
			else if (getFailedTries().get(key) === current.previousTry) deleteFailedTry(key);
		}
	}

	#getCurrentTry(requestIdentity: unknown): CurrentTry<T> {
		const key = this.#buildKey(requestIdentity);
		const known = this.#currentTries.get(key);
		if (known) return known;
		const previousTry = this.#nodeTry.retryOnFail ? getFailedTries().get(key) : undefined;
		const current = { previousTry, results: new Map<number, T>() };
		this.#currentTries.set(key, current);
		return current;
	}

	/** Only a tool's key includes what would be sent: an expression, such as one for the time, may give something else with each try. */
	#buildKey(requestIdentity: unknown): string {
		const { executionId, nodeId, runIndex, isTool } = this.#nodeTry;
		if (!isTool) return JSON.stringify([executionId, nodeId, runIndex]);
		const hash = createHash('sha256').update(JSON.stringify([requestIdentity]));
		return JSON.stringify([executionId, nodeId, hash.digest('base64url')]);
	}
}

function storeFailedTry<T>(key: string, { previousTry, results }: CurrentTry<T>, tries: number): void {
	const known = [...(previousTry?.results ?? []), ...(getFailedTries().get(key)?.results ?? [])];
	deleteFailedTry(key);
	const expiryTimer = setTimeout(deleteFailedTry, retentionMilliseconds, key).unref();
	getFailedTries().set(key, { results: new Map([...known, ...results]), tries, expiryTimer });
}

function deleteFailedTry(key: string): void {
	clearTimeout(getFailedTries().get(key)?.expiryTimer);
	getFailedTries().delete(key);
}

/** Counts the results that the process keeps for a next try. */
export const countStoredResults = () =>
	[...getFailedTries().values()].reduce((sum, { results }) => sum + results.size, 0);

const getFailedTries = () => getGlobalSingleton('retryCache', () => new Map<string, FailedTry>());

export function readNodeTry(context: IExecuteFunctions) {
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
