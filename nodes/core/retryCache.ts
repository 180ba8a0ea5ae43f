import { createHash } from 'node:crypto';
import type { IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import { getOrAdd } from './maps';
import { isTool } from './modelAnswer';
import { getGlobalSingleton } from './globalSingleton';

/** What identifies a run of the node, and the node's settings for n8n's Retry On Fail. */
export type RetryContext = Partial<ReturnType<typeof readRetryContext>>;

/** What a failed try has left for the next one. */
interface FailedTry {
	/** By item index. */
	readonly results: ReadonlyMap<number, unknown>;
	/** The number of failed tries so far. */
	readonly tryCount: number;
}

/** The current try of a run of the node, or of one call of a tool. */
interface CurrentTry<T> {
	readonly previousTry: FailedTry | undefined;
	/** With those of the previous try, which stay here even if they expire during this try. */
	readonly results: Map<number, T>;
}

/**
 * n8n starts the next try after at most 5 s. The results expire because a stopped execution has no
 * next try.
 */
const retentionMilliseconds = 60_000;

/**
 * Returns whether n8n treats a try that returned items as failed. n8n looks only at the first item.
 */
export const isFailedTry = ([first]: readonly INodeExecutionData[]) =>
	(first?.json.error ?? false) !== false;

/**
 * n8n's Retry On Fail runs the whole node again in the same process. If an item was or may have
 * been sent, the cache keeps its result.
 */
export class RetryCache<T> {
	readonly #retryContext: RetryContext;
	/**
	 * The current tries by key. There is one, except for a tool, which may be called several times.
	 */
	readonly #currentTries = new Map<string, CurrentTry<T>>();

	constructor(retryContext: RetryContext) {
		this.#retryContext = retryContext;
		// Starts the try, because `endTry` must know it even if no item asks for a result.
		if (!retryContext.isTool) this.getResults(undefined);
	}

	/**
	 * Returns the results of this try and of the tries before it, by item index. The caller adds to
	 * them.
	 * @param requestIdentity for a tool: what would be sent, which distinguishes its calls
	 */
	getResults(requestIdentity: unknown): Map<number, T> {
		if (!this.#retryContext.retryOnFail) return new Map();
		const key = this.#buildKey(requestIdentity);
		const { results } = getOrAdd(this.#currentTries, key, () => {
			const previousTry = getFailedTries().get(key);
			// The type is right, because only this class keeps results, under keys that name the
			// node.
			return { previousTry, results: new Map(previousTry?.results) as Map<number, T> };
		});
		return results;
	}

	/**
	 * Ends the try. Keeps its results if n8n treats the try as failed and starts another one, and
	 * drops them otherwise.
	 */
	endTry(isFailed: boolean) {
		// n8n's limits: 2 to 5 tries, and 3 if the setting is 0 or not set.
		const tryLimit = Math.min(5, Math.max(2, this.#retryContext.maxTries || 3));
		for (const [key, { previousTry, results }] of this.#currentTries) {
			const tryCount = (previousTry?.tryCount ?? 0) + 1;
			if (isFailed && tryCount < tryLimit) keepTry(key, { results, tryCount });
			else dropTry(key, previousTry);
		}
	}

	/**
	 * Only a tool's key includes what would be sent. In other nodes, that may differ with each try,
	 * for example by the current time.
	 */
	#buildKey(requestIdentity: unknown): string {
		const { executionId, nodeId, runIndex, isTool } = this.#retryContext;
		if (!isTool) return JSON.stringify([executionId, nodeId, runIndex]);
		const hash = createHash('sha256').update(JSON.stringify([requestIdentity]));
		return JSON.stringify([executionId, nodeId, hash.digest('base64url')]);
	}
}

function keepTry(key: string, { results, tryCount }: FailedTry) {
	// A parallel call of a tool may have kept results under the same key.
	const earlierResults = getFailedTries().get(key)?.results ?? [];
	const failedTry = { results: new Map([...earlierResults, ...results]), tryCount };
	getFailedTries().set(key, failedTry);
	setTimeout(dropTry, retentionMilliseconds, key, failedTry).unref();
}

/** Drops a failed try, unless a later try, or a parallel call of a tool, has replaced it. */
function dropTry(key: string, failedTry: FailedTry | undefined) {
	if (getFailedTries().get(key) === failedTry) getFailedTries().delete(key);
}

const getFailedTries = () => getGlobalSingleton('retryCache', () => new Map<string, FailedTry>());

export function readRetryContext(context: IExecuteFunctions, node: INode) {
	const retryOnFail = node.retryOnFail === true;
	return {
		executionId: context.getExecutionId(),
		nodeId: node.id,
		// How often the node ran before in this execution (in loops). To find out takes n8n 0.3 ms.
		runIndex: retryOnFail ? (context.getWorkflowDataProxy(0).$runIndex as number) : 0,
		retryOnFail,
		maxTries: node.maxTries,
		// n8n counts each try of a tool as a separate run, so only what would be sent shows which
		// tries belong together.
		isTool: isTool(node),
	};
}
