import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';

import { type DoneWork, withDoneItems } from './doneItems';
import { createErrorItem, isTool, createNodeApiError, type NodeError, toNodeError } from './errors';
import { RetryCache, isFailedTry, readNodeTry } from './retryCache';
import type { Sanitizer } from './sanitizer';
import { KeyedMutex } from './keyedMutex';
import { refuseUnknownArguments } from './toolArguments';

/** A failure may include the output produced before it, which Continue on Fail returns first. */
interface ItemResult {
	readonly failure?: NodeError;
	readonly output?: INodeExecutionData[];
	/** Absent if the item only read. */
	readonly doneWork?: DoneWork;
}

export interface PerformedItem {
	readonly result: ItemResult;
	/** The work is done or may be done: another try of the node must not start it again, even if the item failed. */
	readonly mustNotRunAgain: boolean;
}

/** What the next try learns about an item. `doubt`: the work may have been done, and may be repeated. */
type RememberedResult = ItemResult | 'doubt';

export interface CheckedItem<C> {
	readonly index: number;
	readonly value: C;
	/** What would be sent. It distinguishes the calls of one tool, and is undefined for other nodes. */
	readonly requestIdentity: unknown;
}

/** Items that are processed together. */
export interface Task<C> {
	readonly items: ReadonlyArray<CheckedItem<C>>;
	/** A task begins after all tasks of earlier phases have ended. Without a phase, all tasks are in the same one. */
	readonly phase?: number;
	/** Tasks with the same key run one after another. */
	readonly key?: string;
}

/** What a node does with its items. */
export interface Work<C> {
	/** Checks an item without sending anything. @throws NodeError 400, or n8n's own error */
	check(index: number): C;
	/** Returns what would be sent, without what differs with every try (timestamps, generated IDs). */
	getRequestIdentity(value: C): unknown;
	/** Whether the output of an item begins with the fields of its input. @param value undefined if the check refused the item */
	hasInputFields(value: C | undefined): boolean;
	/** Combines items into tasks, in the order in which they begin. */
	planTasks(checked: ReadonlyArray<CheckedItem<C>>): ReadonlyArray<Task<C>>;
	/** The number of tasks that run at once. */
	getConcurrency(checked: ReadonlyArray<CheckedItem<C>>): number;
	/** Returns one result per item of the task, in the same order. What it throws fails all of them, and is not repeated. */
	perform(items: ReadonlyArray<CheckedItem<C>>): Promise<ReadonlyArray<PerformedItem>>;
	/** The failure for an item that had not started when the execution was stopped. */
	createStoppedError(): NodeError;
	readonly sanitizer: Sanitizer;
}

/** n8n does other work between two slices, because the expressions of thousands of items take seconds. */
const sliceMilliseconds = 20;

/** Processes all input items. The output keeps their order. */
export async function runItems<C>(context: IExecuteFunctions, work: Work<C>): Promise<INodeExecutionData[]> {
	const retryCache = new RetryCache<RememberedResult>(readNodeTry(context));
	const loop = new ItemLoop(context, work, retryCache);
	const results = await loop.run();
	const node = context.getNode();
	const items = results.flatMap((result, index) => {
		// Never started, because an earlier failure stopped the node.
		if (!result) return [];
		const { failure, output = [] } = result;
		const complete = output.map((item) => loop.addInputFields(item, index));
		if (!failure) return complete;
		if (context.continueOnFail()) {
			const item = createErrorItem(node, failure, index, work.sanitizer);
			// Leaves out the input fields for the error output: n8n adds them there itself, and sends only items without them.
			const isRouted = node.onError === 'continueErrorOutput';
			return [...complete, isRouted ? item : loop.addInputFields(item, index)];
		}
		retryCache.endTry(true);
		const told = withDoneItems(failure, index, results);
		throw createNodeApiError(node, told, index, work.sanitizer);
	});
	retryCache.endTry(isFailedTry(items));
	return items;
}

class ItemLoop<C> {
	readonly #context: IExecuteFunctions;
	readonly #work: Work<C>;
	readonly #retryCache: RetryCache<RememberedResult>;
	readonly #results: Array<ItemResult | undefined>;
	readonly #isTool: boolean;
	/** Items that an earlier try may have carried out and that may be repeated. */
	readonly #doubtfulItems = new Set<number>();
	readonly #withInputFields = new Set<number>();
	#hasStopped = false;

	constructor(context: IExecuteFunctions, work: Work<C>, retryCache: RetryCache<RememberedResult>) {
		this.#context = context;
		this.#work = work;
		this.#retryCache = retryCache;
		this.#results = context.getInputData().map(() => undefined);
		this.#isTool = isTool(context.getNode());
	}

	/** Results by input item; undefined for items not started because the node stops. */
	async run(): Promise<ReadonlyArray<ItemResult | undefined>> {
		const checked = await this.#checkItems();
		if (this.#hasStopped || checked.length === 0) return this.#results;
		const limit = pLimit(this.#work.getConcurrency(checked));
		const mutex = new KeyedMutex();
		const begun: Array<Promise<void>> = [];
		let current: number | undefined;
		for (const { items, phase, key } of this.#work.planTasks(checked)) {
			if (phase !== current) await Promise.all(begun.splice(0));
			current = phase;
			const start = () => limit(() => this.#performTask(items));
			begun.push(key === undefined ? start() : mutex.run(key, start));
		}
		await Promise.all(begun);
		return this.#results;
	}

	/** Adds the fields of the input, but never its `error`, by which n8n tells failed items. */
	addInputFields(item: INodeExecutionData, index: number): INodeExecutionData {
		if (!this.#withInputFields.has(index)) return item;
		const fields = { ...this.#context.getInputData()[index]?.json };
		delete fields['error'];
		return { ...item, json: { ...fields, ...item.json } };
	}

	#noteInputFields(index: number, value?: C): void {
		// The input of a tool is what the model gave.
		if (!this.#isTool && this.#work.hasInputFields(value)) this.#withInputFields.add(index);
	}

	/** All items are checked before anything is sent, so that a mistake in the last item does not leave half a batch sent. */
	async #checkItems(): Promise<Array<CheckedItem<C>>> {
		const checked: Array<CheckedItem<C>> = [];
		let sliceEnd = performance.now() + sliceMilliseconds;
		for (const index of this.#results.keys()) {
			const one = this.#checkItem(index);
			if (one) checked.push(one);
			if (this.#hasStopped) break;
			if (performance.now() < sliceEnd) continue;
			await yieldToEventLoop();
			if (this.#isCancelled) {
				for (const each of this.#results.keys())
					this.#recordResult(each, { failure: this.#work.createStoppedError() });
				return [];
			}
			sliceEnd = performance.now() + sliceMilliseconds;
		}
		return checked;
	}

	#checkItem(index: number): CheckedItem<C> | undefined {
		try {
			if (this.#isTool) refuseUnknownArguments(this.#context, index);
			const value = this.#work.check(index);
			this.#noteInputFields(index, value);
			const requestIdentity = this.#isTool ? this.#work.getRequestIdentity(value) : undefined;
			const known = this.#retryCache.recall(index, requestIdentity);
			if (known === 'doubt') this.#doubtfulItems.add(index);
			if (!known || known === 'doubt') return { index, value, requestIdentity };
			this.#recordResult(index, known);
		} catch (error) {
			this.#noteInputFields(index);
			this.#recordResult(index, { failure: toNodeError(error) });
		}
		return undefined;
	}

	async #performTask(items: ReadonlyArray<CheckedItem<C>>): Promise<void> {
		if (this.#hasStopped) return;
		if (this.#isCancelled) {
			for (const { index } of items) this.#recordResult(index, { failure: this.#work.createStoppedError() });
			return;
		}
		const done = await this.#work
			.perform(items)
			.catch((error: unknown) => items.map(() => toUnexpectedFailure(error)));
		for (const [at, { index, requestIdentity }] of items.entries()) {
			const { result, mustNotRunAgain } =
				done[at] ?? toUnexpectedFailure(new Error('The operation returned no result'));
			if (mustNotRunAgain) this.#retryCache.remember(index, requestIdentity, result);
			else if (result.failure?.outcome === 'unknown')
				this.#retryCache.remember(index, requestIdentity, 'doubt');
			this.#recordResult(index, this.#doubtfulItems.has(index) ? markDoubtful(result) : result);
		}
	}

	#recordResult(index: number, result: ItemResult): void {
		this.#results[index] = result;
		this.#hasStopped ||= result.failure !== undefined && !this.#context.continueOnFail();
	}

	get #isCancelled(): boolean {
		return this.#context.getExecutionCancelSignal()?.aborted === true;
	}
}

/** If a later try definitely did nothing, the outcome of the first one is still unknown. */
function markDoubtful(result: ItemResult): ItemResult {
	const { failure } = result;
	if (!failure || failure.outcome === 'unknown') return result;
	const message = `An earlier try may have succeeded; the last one failed: ${failure.message}`;
	return { ...result, failure: failure.with({ message, outcome: 'unknown' }) };
}

/** A bug of this package appeared after the work had begun, so the work may have been done. */
const toUnexpectedFailure = (error: unknown): PerformedItem => ({
	result: { failure: toNodeError(error).with({ outcome: 'unknown' }) },
	mustNotRunAgain: true,
});
