import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';

import { addDoneItems, type ItemResult } from './doneItems';
import { createErrorItem, createNodeApiError, type NodeError, toNodeError } from './errors';
import { RetryCache, isFailedTry, readRetryContext } from './retryCache';
import type { Sanitizer } from './sanitizer';
import { KeyedMutex } from './keyedMutex';
import { isTool } from './modelAnswer';
import { refuseUnknownArguments } from './toolArguments';

export interface PerformedItem {
	readonly result: ItemResult;
	/**
	 * Whether the work was done, or possibly done. Then another try of the node must not start it
	 * again, even if the item failed.
	 */
	readonly mustNotRepeat: boolean;
}

/**
 * What the next try learns about an item. `doubt` means that the work was possibly done, and that
 * repeating it is allowed.
 */
type RememberedResult = ItemResult | 'doubt';

export interface CheckedItem<C> {
	readonly index: number;
	/** What `Work.check` returned. */
	readonly value: C;
	/**
	 * For a tool: what would be sent, which distinguishes the calls of the tool. Undefined for
	 * other nodes.
	 */
	readonly requestIdentity: unknown;
}

/** Items that are processed together. */
export interface Batch<C> {
	readonly items: ReadonlyArray<CheckedItem<C>>;
	/**
	 * A batch begins after all batches of earlier phases have ended. Batches without a phase are in
	 * the same one.
	 */
	readonly phase?: number;
	/** Batches with the same key are performed one after another. */
	readonly key?: string;
}

/** What a node does with its items. */
export interface Work<C> {
	/** Checks an item without sending anything. @throws NodeError 400, or n8n's own error */
	check(index: number): C;
	/**
	 * Returns what would be sent, without the parts that differ with every try, such as timestamps
	 * and generated IDs.
	 */
	getRequestIdentity(value: C): unknown;
	/**
	 * Returns whether the output of an item begins with the fields of its input. The value is
	 * undefined if the check refused the item.
	 */
	outputHasInputFields(value: C | undefined): boolean;
	/** Combines items into batches, in the order in which they begin. */
	planBatches(checkedItems: ReadonlyArray<CheckedItem<C>>): ReadonlyArray<Batch<C>>;
	/** Returns how many batches are performed at once. */
	getConcurrency(checkedItems: ReadonlyArray<CheckedItem<C>>): number;
	/**
	 * Returns one result per item of the batch, in the same order. If it throws, all of these items
	 * fail, and the work is not repeated.
	 */
	perform(items: ReadonlyArray<CheckedItem<C>>): Promise<ReadonlyArray<PerformedItem>>;
	/**
	 * Builds the failure for an item that had not started when the user or n8n stopped the
	 * execution.
	 */
	createStoppedError(): NodeError;
	readonly sanitizer: Sanitizer;
}

/**
 * How long items are checked before n8n may do other work. The expressions of thousands of items
 * take seconds.
 */
const sliceMilliseconds = 20;

/** Processes all input items. The output keeps their order. */
export async function runItems<C>(
	context: IExecuteFunctions,
	work: Work<C>,
): Promise<INodeExecutionData[]> {
	const node = context.getNode();
	const retryCache = new RetryCache<RememberedResult>(readRetryContext(context, node));
	const loop = new ItemLoop(context, work, retryCache, isTool(node));
	const results = await loop.run();
	const items: INodeExecutionData[] = [];
	for (const [index, result] of results.entries()) {
		// The item was never started, because an earlier item failed without Continue on Fail.
		if (!result) continue;
		const { failure, output = [] } = result;
		for (const item of output) items.push(loop.addInputFields(item, index));
		if (!failure) continue;
		if (!context.continueOnFail()) {
			retryCache.endTry({ isFailed: true });
			// Of a single item, n8n would name the number, which says nothing.
			const itemIndex = results.length > 1 ? index : undefined;
			const fullFailure = addDoneItems(failure, index, results);
			throw createNodeApiError(node, fullFailure, itemIndex, work.sanitizer);
		}
		const item = createErrorItem(node, failure, index, work.sanitizer);
		// n8n itself adds the input fields at the error output, and sends only items without them
		// there.
		const hasErrorOutput = node.onError === 'continueErrorOutput';
		items.push(hasErrorOutput ? item : loop.addInputFields(item, index));
	}
	retryCache.endTry({ isFailed: isFailedTry(items) });
	return items;
}

class ItemLoop<C> {
	readonly #context: IExecuteFunctions;
	readonly #work: Work<C>;
	readonly #retryCache: RetryCache<RememberedResult>;
	readonly #results: Array<ItemResult | undefined>;
	readonly #isTool: boolean;
	/** Items in doubt: an earlier try possibly did their work, and this try repeats it. */
	readonly #doubtfulItems = new Set<number>();
	/** What the check of each item returned. An item that was refused has none. */
	readonly #values = new Map<number, C>();
	#isEndedByFailure = false;

	constructor(
		context: IExecuteFunctions,
		work: Work<C>,
		retryCache: RetryCache<RememberedResult>,
		isToolNode: boolean,
	) {
		this.#context = context;
		this.#work = work;
		this.#retryCache = retryCache;
		this.#results = context.getInputData().map(() => undefined);
		this.#isTool = isToolNode;
	}

	/**
	 * Processes the items. The results are in their order, with undefined for an item that was not
	 * started because another one failed.
	 */
	async run(): Promise<ReadonlyArray<ItemResult | undefined>> {
		const checkedItems = await this.#checkItems();
		if (this.#isEndedByFailure || checkedItems.length === 0) return this.#results;
		const runLimited = pLimit(this.#work.getConcurrency(checkedItems));
		const mutex = new KeyedMutex();
		const startedBatches: Array<Promise<void>> = [];
		let currentPhase: number | undefined;
		for (const { items, phase, key } of this.#work.planBatches(checkedItems)) {
			// Empties the list, because to wait for all earlier batches again in each phase would
			// take quadratic time.
			if (phase !== currentPhase) await Promise.all(startedBatches.splice(0));
			currentPhase = phase;
			const startBatch = () => runLimited(() => this.#performBatch(items));
			startedBatches.push(key === undefined ? startBatch() : mutex.doInTurn(key, startBatch));
		}
		await Promise.all(startedBatches);
		return this.#results;
	}

	/**
	 * Adds the fields of the input except `error`, because n8n takes an item with `error` for a
	 * failed item.
	 */
	addInputFields(item: INodeExecutionData, index: number): INodeExecutionData {
		// The input of a tool consists of the model's arguments.
		if (this.#isTool || !this.#work.outputHasInputFields(this.#values.get(index))) return item;
		const fields = { ...this.#context.getInputData()[index]?.json };
		delete fields['error'];
		return { ...item, json: { ...fields, ...item.json } };
	}

	/**
	 * Checks all items before anything is sent, so that a mistake in the last item does not leave
	 * half of the items sent.
	 */
	async #checkItems(): Promise<Array<CheckedItem<C>>> {
		const checkedItems: Array<CheckedItem<C>> = [];
		let sliceEnd = performance.now() + sliceMilliseconds;
		for (const index of this.#results.keys()) {
			const checkedItem = this.#checkItem(index);
			if (checkedItem) checkedItems.push(checkedItem);
			if (this.#isEndedByFailure) break;
			if (performance.now() < sliceEnd) continue;
			await yieldToEventLoop();
			if (this.#endIfStopped([...this.#results.keys()])) return [];
			sliceEnd = performance.now() + sliceMilliseconds;
		}
		return checkedItems;
	}

	#checkItem(index: number): CheckedItem<C> | undefined {
		try {
			if (this.#isTool) refuseUnknownArguments(this.#context, index);
			const value = this.#work.check(index);
			this.#values.set(index, value);
			const requestIdentity = this.#isTool ? this.#work.getRequestIdentity(value) : undefined;
			const rememberedResult = this.#retryCache.recall(index, requestIdentity);
			if (rememberedResult === 'doubt') this.#doubtfulItems.add(index);
			if (!rememberedResult || rememberedResult === 'doubt')
				return { index, value, requestIdentity };
			this.#recordResult(index, rememberedResult);
		} catch (error) {
			this.#recordResult(index, { failure: toNodeError(error) });
		}
		return undefined;
	}

	async #performBatch(items: ReadonlyArray<CheckedItem<C>>): Promise<void> {
		if (this.#isEndedByFailure) return;
		if (this.#endIfStopped(items.map(({ index }) => index))) return;
		const performedItems = await this.#work
			.perform(items)
			.catch((error: unknown) => items.map(() => toCrashedItem(error)));
		for (const [position, { index, requestIdentity }] of items.entries()) {
			const { result, mustNotRepeat } =
				performedItems[position] ??
				toCrashedItem(new Error('The operation returned no result'));
			const isInDoubt = result.failure?.outcome === 'unknown';
			if (mustNotRepeat || isInDoubt)
				this.#retryCache.remember(index, requestIdentity, mustNotRepeat ? result : 'doubt');
			const wasInDoubt = this.#doubtfulItems.has(index);
			this.#recordResult(index, wasInDoubt ? markDoubtful(result) : result);
		}
	}

	#recordResult(index: number, result: ItemResult): void {
		this.#results[index] = result;
		this.#isEndedByFailure ||= result.failure !== undefined && !this.#context.continueOnFail();
	}

	/** If the execution was stopped, fails the items. @returns whether it was stopped */
	#endIfStopped(indexes: readonly number[]): boolean {
		if (!this.#context.getExecutionCancelSignal()?.aborted) return false;
		for (const index of indexes)
			this.#recordResult(index, { failure: this.#work.createStoppedError() });
		return true;
	}
}

/**
 * Sets the outcome to unknown. Even if this try certainly did nothing, an earlier one may have done
 * the work.
 */
function markDoubtful(result: ItemResult): ItemResult {
	const { failure } = result;
	if (!failure || failure.outcome === 'unknown') return result;
	const message = `An earlier try may have succeeded; the last one failed: ${failure.message}`;
	return { ...result, failure: failure.with({ message, outcome: 'unknown' }) };
}

/**
 * Builds the result for an item if `perform` threw or left it out, a bug of this package. The work
 * had begun, so it was possibly done.
 */
const toCrashedItem = (error: unknown): PerformedItem => ({
	result: { failure: toNodeError(error).with({ outcome: 'unknown' }) },
	mustNotRepeat: true,
});
