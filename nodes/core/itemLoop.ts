import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';

import { addDoneItems, type ItemResult } from './doneItems';
import { createErrorItem, createNodeApiError, type NodeError, toNodeError } from './errors';
import { RetryCache, isFailedTry, readRetryContext } from './retryCache';
import type { Sanitizer } from './sanitizer';
import { KeyedMutex } from './keyedMutex';
import { isTool } from './modelAnswer';

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
}

/** Items that are processed together. */
export interface Batch<C> {
	readonly items: ReadonlyArray<CheckedItem<C>>;
	/** Batches with the same key are performed one after another. */
	readonly key?: string;
}

/** What a node does with its items. */
export interface Work<C> {
	/** Checks an item without sending anything. @throws NodeError 400, or n8n's own error */
	check(index: number): C | Promise<C>;
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
	/**
	 * Combines items into batches, in the order in which they begin. The batches of a phase begin
	 * after those of the phase before it have ended.
	 */
	planPhases(checkedItems: ReadonlyArray<CheckedItem<C>>): ReadonlyArray<ReadonlyArray<Batch<C>>>;
	/** Returns how many batches are performed at once. @param first the value of the first item */
	getConcurrency(first: C): number;
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
	return await new ItemLoop(context, work).run();
}

class ItemLoop<C> {
	readonly #context: IExecuteFunctions;
	readonly #work: Work<C>;
	readonly #node: INode;
	readonly #retryCache: RetryCache<RememberedResult>;
	/** By item index. Undefined for an item that was not started, because another one failed. */
	readonly #results: Array<ItemResult | undefined>;
	/** What the check of each item returned. An item that was refused has none. */
	readonly #values = new Map<number, C>();
	#isEndedByFailure = false;

	constructor(context: IExecuteFunctions, work: Work<C>) {
		this.#context = context;
		this.#work = work;
		this.#node = context.getNode();
		this.#retryCache = new RetryCache(readRetryContext(context, this.#node));
		this.#results = context.getInputData().map(() => undefined);
	}

	async run(): Promise<INodeExecutionData[]> {
		const checkedItems = await this.#checkItems();
		await this.#performItems(checkedItems);
		if (this.#isEndedByFailure) this.#retryCache.endTry(true);
		const items = this.#buildItems();
		this.#retryCache.endTry(isFailedTry(items));
		return items;
	}

	/**
	 * Checks all items before anything is sent, so that a mistake in the last item does not leave
	 * half of the items sent.
	 */
	async #checkItems(): Promise<Array<CheckedItem<C>>> {
		const checkedItems: Array<CheckedItem<C>> = [];
		let sliceEnd = performance.now() + sliceMilliseconds;
		for (const index of this.#results.keys()) {
			const checkedItem = await this.#checkItem(index);
			if (checkedItem) checkedItems.push(checkedItem);
			if (this.#isEndedByFailure) break;
			if (performance.now() < sliceEnd) continue;
			await yieldToEventLoop();
			if (this.#endIfStopped([...this.#results.keys()])) return [];
			sliceEnd = performance.now() + sliceMilliseconds;
		}
		return checkedItems;
	}

	/** @returns undefined if the item was refused, or done by an earlier try */
	async #checkItem(index: number): Promise<CheckedItem<C> | undefined> {
		try {
			const value = await this.#work.check(index);
			this.#values.set(index, value);
			const result = this.#getRememberedResults(value).get(index);
			if (!result || result === 'doubt') return { index, value };
			this.#recordResult(index, result);
		} catch (error) {
			this.#recordResult(index, { failure: toNodeError(error) });
		}
		return undefined;
	}

	/** Returns what earlier tries left, by item index. Each call of a tool has its own. */
	#getRememberedResults(value: C): Map<number, RememberedResult> {
		const identity = isTool(this.#node) ? this.#work.getRequestIdentity(value) : undefined;
		return this.#retryCache.getResults(identity);
	}

	async #performItems(checkedItems: ReadonlyArray<CheckedItem<C>>) {
		const [first] = checkedItems;
		if (!first) return;
		const runLimited = pLimit(this.#work.getConcurrency(first.value));
		const mutex = new KeyedMutex();
		const startBatch = async ({ items, key }: Batch<C>) => {
			const perform = () => runLimited(() => this.#performBatch(items));
			await (key === undefined ? perform() : mutex.doInTurn(key, perform));
		};
		for (const phase of this.#work.planPhases(checkedItems))
			await Promise.all(phase.map(startBatch));
	}

	async #performBatch(items: ReadonlyArray<CheckedItem<C>>) {
		if (this.#isEndedByFailure) return;
		if (this.#endIfStopped(items.map(({ index }) => index))) return;
		const performedItems = await this.#work
			.perform(items)
			.catch((error: unknown) => items.map(() => toCrashedItem(error)));
		for (const [position, item] of items.entries()) {
			const performedItem = performedItems[position];
			this.#finishItem(
				item,
				performedItem ?? toCrashedItem(new Error('The operation returned no result')),
			);
		}
	}

	#finishItem({ index, value }: CheckedItem<C>, { result, mustNotRepeat }: PerformedItem) {
		const rememberedResults = this.#getRememberedResults(value);
		const wasInDoubt = rememberedResults.get(index) === 'doubt';
		if (mustNotRepeat) rememberedResults.set(index, result);
		else if (result.failure?.outcome === 'unknown') rememberedResults.set(index, 'doubt');
		this.#recordResult(index, wasInDoubt ? markDoubtful(result) : result);
	}

	/** @throws the error that stops the node */
	#buildItems(): INodeExecutionData[] {
		// n8n itself adds the input fields at the error output, and sends only items without them
		// there.
		const hasErrorOutput = this.#node.onError === 'continueErrorOutput';
		const items: INodeExecutionData[] = [];
		for (const [index, { output = [], failure } = {}] of this.#results.entries()) {
			for (const item of output) items.push(this.#addInputFields(item, index));
			if (!failure) continue;
			if (this.#isEndedByFailure) throw this.#createError(failure, index);
			const item = createErrorItem(this.#node, failure, index, this.#work.sanitizer);
			items.push(hasErrorOutput ? item : this.#addInputFields(item, index));
		}
		return items;
	}

	#createError(failure: NodeError, index: number) {
		// n8n names the item by this number, which says nothing if there is only one item.
		const itemIndex = this.#results.length > 1 ? index : undefined;
		const fullFailure = addDoneItems(failure, index, this.#results);
		return createNodeApiError(this.#node, fullFailure, itemIndex, this.#work.sanitizer);
	}

	/**
	 * Adds the fields of the input except `error`, because n8n takes an item with `error` for a
	 * failed item.
	 */
	#addInputFields(item: INodeExecutionData, index: number): INodeExecutionData {
		// The input of a tool consists of the model's arguments.
		if (isTool(this.#node) || !this.#work.outputHasInputFields(this.#values.get(index)))
			return item;
		const fields = { ...this.#context.getInputData()[index]?.json };
		delete fields['error'];
		return { ...item, json: { ...fields, ...item.json } };
	}

	#recordResult(index: number, result: ItemResult) {
		this.#results[index] = result;
		this.#isEndedByFailure ||= result.failure !== undefined && !this.#context.continueOnFail();
	}

	/** If the execution was stopped, fails the items. @returns whether it was stopped */
	#endIfStopped(indexes: readonly number[]): boolean {
		if (!this.#context.getExecutionCancelSignal()?.aborted) return false;
		const stopped = { failure: this.#work.createStoppedError() };
		for (const index of indexes) this.#recordResult(index, this.#results[index] ?? stopped);
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
