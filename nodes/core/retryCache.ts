import { createHash } from 'node:crypto';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isTool } from './modelAnswer';
import { getGlobalSingleton } from './runtime';

/** What identifies a run of the node, and the node's settings for n8n's Retry On Fail. */
export type RetryContext = Partial<ReturnType<typeof readRetryContext>>;

/** Results of a failed try, by item index. */
interface FailedTry {
	readonly results: ReadonlyMap<number, unknown>;
	/** The number of failed tries so far. */
	readonly tryCount: number;
	/** Deletes the results when it fires. */
	readonly expiryTimer: NodeJS.Timeout;
}

/** The current try of a run of the node, or of one call of a tool. */
interface CurrentTry<T> {
	/** The try before this one. Its results stay here even if they expire during this try. */
	readonly previousTry: FailedTry | undefined;
	readonly results: Map<number, T>;
}

/** n8n starts the next try after at most 5 s. The results expire because a stopped execution has no next try. */
const retentionMilliseconds = 60_000;

/** Returns whether n8n treats a try that returned items as failed. n8n looks only at the first item. */
export const isFailedTry = ([first]: readonly INodeExecutionData[]) =>
	(first?.json.error ?? false) !== false;

/** n8n's Retry On Fail runs the whole node again in the same process. If an item was or may have been sent, the cache keeps its result. */
export class RetryCache<T> {
	readonly #retryContext: RetryContext;
	/** The current tries by key. There is one, except for a tool, which may be called several times. */
	readonly #currentTries = new Map<string, CurrentTry<T>>();

	constructor(retryContext: RetryContext) {
		this.#retryContext = retryContext;
		// Starts the try, because `endTry` must know it even if no item asks for a result.
		if (!retryContext.isTool) this.#ensureTry(undefined);
	}

	/** Finds the result of an earlier try, and keeps it for the next. @param requestIdentity as in `CheckedItem` of the item loop */
	recall(itemIndex: number, requestIdentity: unknown): T | undefined {
		if (!this.#retryContext.retryOnFail) return undefined;
		const { previousTry, results } = this.#ensureTry(requestIdentity);
		// The type is right, because only this class stores results, under keys that name the node.
		const result = previousTry?.results.get(itemIndex) as T | undefined;
		if (result !== undefined) results.set(itemIndex, result);
		return result;
	}

	remember(itemIndex: number, requestIdentity: unknown, result: T): void {
		if (this.#retryContext.retryOnFail)
			this.#ensureTry(requestIdentity).results.set(itemIndex, result);
	}

	/** Ends the try. Keeps its results if n8n treats the try as failed and starts another one, and drops them otherwise. */
	endTry({ isFailed }: { isFailed: boolean }): void {
		const { retryOnFail, maxTries } = this.#retryContext;
		if (!retryOnFail) return;
		// n8n's limits: 2 to 5 tries, and 3 if the setting is 0 or not set.
		const tryLimit = Math.min(5, Math.max(2, maxTries || 3));
		for (const [key, currentTry] of this.#currentTries) {
			const tryCount = (currentTry.previousTry?.tryCount ?? 0) + 1;
			if (isFailed && tryCount < tryLimit) storeFailedTry(key, currentTry, tryCount);
			// The results of a parallel call of a tool must not be deleted.
			else if (getFailedTries().get(key) === currentTry.previousTry) deleteFailedTry(key);
		}
	}

	#ensureTry(requestIdentity: unknown): CurrentTry<T> {
		const key = this.#buildKey(requestIdentity);
		const knownTry = this.#currentTries.get(key);
		if (knownTry) return knownTry;
		const previousTry = this.#retryContext.retryOnFail ? getFailedTries().get(key) : undefined;
		const currentTry = { previousTry, results: new Map<number, T>() };
		this.#currentTries.set(key, currentTry);
		return currentTry;
	}

	/** Only a tool's key includes what would be sent. In other nodes, that may differ with each try, for example by the current time. */
	#buildKey(requestIdentity: unknown): string {
		const { executionId, nodeId, runIndex, isTool } = this.#retryContext;
		if (!isTool) return JSON.stringify([executionId, nodeId, runIndex]);
		const hash = createHash('sha256').update(JSON.stringify([requestIdentity]));
		return JSON.stringify([executionId, nodeId, hash.digest('base64url')]);
	}
}

function storeFailedTry<T>(
	key: string,
	{ previousTry, results }: CurrentTry<T>,
	tryCount: number,
): void {
	// A parallel call of a tool may have stored results under the same key.
	const earlierResults = [
		...(previousTry?.results ?? []),
		...(getFailedTries().get(key)?.results ?? []),
	];
	deleteFailedTry(key);
	const expiryTimer = setTimeout(deleteFailedTry, retentionMilliseconds, key).unref();
	getFailedTries().set(key, {
		results: new Map([...earlierResults, ...results]),
		tryCount,
		expiryTimer,
	});
}

function deleteFailedTry(key: string): void {
	clearTimeout(getFailedTries().get(key)?.expiryTimer);
	getFailedTries().delete(key);
}

const getFailedTries = () => getGlobalSingleton('retryCache', () => new Map<string, FailedTry>());

export function readRetryContext(context: IExecuteFunctions) {
	const node = context.getNode();
	return {
		executionId: context.getExecutionId(),
		nodeId: node.id,
		// How often the node ran before in this execution (in loops).
		runIndex: context.getWorkflowDataProxy(0).$runIndex as number,
		retryOnFail: node.retryOnFail === true,
		maxTries: node.maxTries,
		// n8n counts each try of a tool as a separate run, so only what would be sent shows which tries belong together.
		isTool: isTool(node),
	};
}
