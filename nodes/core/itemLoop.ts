import { setImmediate as turn } from 'node:timers/promises';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';

import { type Left, withDoneItems } from './doneItems';
import { errorItem, isTool, nodeApiError, type NodeError, toNodeError } from './errors';
import { RetryCache, isFailedTry, tryOfNode } from './retryCache';
import type { Sanitizer } from './sanitizer';
import { KeyedMutex } from './runtime';

/** A failure may include the output produced before it, which Continue on Fail returns first. */
interface Outcome {
	readonly failure?: NodeError;
	readonly output?: INodeExecutionData[];
	/** Absent if the item only read. */
	readonly left?: Left;
}

export interface Done {
	readonly outcome: Outcome;
	/** The work is done or may be done: another try of the node must not start it again, even if the item failed. */
	readonly isFinal: boolean;
}

/** What the next try learns about an item. `doubt`: the work may have been done, and may be repeated. */
type Kept = Outcome | 'doubt';

export interface Checked<C> {
	readonly index: number;
	readonly value: C;
	/** What would be sent. It distinguishes the calls of one tool, and is undefined for other nodes. */
	readonly sent: unknown;
}

/** Items that are processed together. */
export interface Task<C> {
	readonly items: ReadonlyArray<Checked<C>>;
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
	sent(value: C): unknown;
	/** Combines items into tasks, in the order in which they begin. */
	tasks(checked: ReadonlyArray<Checked<C>>): ReadonlyArray<Task<C>>;
	/** The number of tasks that run at once. */
	parallel(checked: ReadonlyArray<Checked<C>>): number;
	/** Returns one result per item of the task, in the same order. What it throws fails all of them, and is not repeated. */
	perform(items: ReadonlyArray<Checked<C>>): Promise<ReadonlyArray<Done>>;
	/** The failure for an item that had not started when the execution was stopped. */
	stopped(): NodeError;
	readonly sanitizer: Sanitizer;
}

/** n8n does other work between two slices, because the expressions of thousands of items take seconds. */
const sliceMilliseconds = 20;

/** Processes all input items. The output keeps their order. */
export async function runItems<C>(context: IExecuteFunctions, work: Work<C>): Promise<INodeExecutionData[]> {
	const finished = new RetryCache<Kept>(tryOfNode(context));
	const outcomes = await new Loop(context, work, finished).outcomes();
	const items = outcomes.flatMap((outcome, index) => {
		// Never started, because an earlier failure stopped the node.
		if (!outcome) return [];
		const { failure, output = [] } = outcome;
		if (!failure) return output;
		if (context.continueOnFail()) {
			return [...output, errorItem(context.getNode(), failure, index, work.sanitizer)];
		}
		finished.end(true);
		const told = withDoneItems(failure, index, outcomes);
		throw nodeApiError(context.getNode(), told, index, work.sanitizer);
	});
	finished.end(isFailedTry(items));
	return items;
}

class Loop<C> {
	readonly #context: IExecuteFunctions;
	readonly #work: Work<C>;
	readonly #finished: RetryCache<Kept>;
	readonly #outcomes: Array<Outcome | undefined>;
	readonly #isTool: boolean;
	/** Items that an earlier try may have carried out and that may be repeated. */
	readonly #doubtful = new Set<number>();
	#stopped = false;

	constructor(context: IExecuteFunctions, work: Work<C>, finished: RetryCache<Kept>) {
		this.#context = context;
		this.#work = work;
		this.#finished = finished;
		this.#outcomes = context.getInputData().map(() => undefined);
		this.#isTool = isTool(context.getNode());
	}

	/** Outcomes by input item; undefined for items not started because the node stops. */
	async outcomes(): Promise<ReadonlyArray<Outcome | undefined>> {
		const checked = await this.#checkAll();
		if (this.#stopped || checked.length === 0) return this.#outcomes;
		const limit = pLimit(this.#work.parallel(checked));
		const mutex = new KeyedMutex();
		const begun: Array<Promise<void>> = [];
		let current: number | undefined;
		for (const { items, phase, key } of this.#work.tasks(checked)) {
			if (phase !== current) await Promise.all(begun.splice(0));
			current = phase;
			const start = () => limit(() => this.#perform(items));
			begun.push(key === undefined ? start() : mutex.run(key, start));
		}
		await Promise.all(begun);
		return this.#outcomes;
	}

	/** All items are checked before anything is sent, so that a mistake in the last item does not leave half a batch sent. */
	async #checkAll(): Promise<Array<Checked<C>>> {
		const checked: Array<Checked<C>> = [];
		let sliceEnd = performance.now() + sliceMilliseconds;
		for (const index of this.#outcomes.keys()) {
			const one = this.#check(index);
			if (one) checked.push(one);
			if (this.#stopped) break;
			if (performance.now() < sliceEnd) continue;
			await turn();
			if (this.#isCancelled) {
				for (const each of this.#outcomes.keys()) this.#ended(each, { failure: this.#work.stopped() });
				return [];
			}
			sliceEnd = performance.now() + sliceMilliseconds;
		}
		return checked;
	}

	#check(index: number): Checked<C> | undefined {
		try {
			const value = this.#work.check(index);
			const sent = this.#isTool ? this.#work.sent(value) : undefined;
			const known = this.#finished.recall(index, sent);
			if (known === 'doubt') this.#doubtful.add(index);
			if (!known || known === 'doubt') return { index, value, sent };
			this.#ended(index, known);
		} catch (error) {
			this.#ended(index, { failure: toNodeError(error) });
		}
		return undefined;
	}

	async #perform(items: ReadonlyArray<Checked<C>>): Promise<void> {
		if (this.#stopped) return;
		if (this.#isCancelled) {
			for (const { index } of items) this.#ended(index, { failure: this.#work.stopped() });
			return;
		}
		const done = await this.#work
			.perform(items)
			.catch((error: unknown) => items.map(() => unexpected(error)));
		for (const [at, { index, sent }] of items.entries()) {
			const { outcome, isFinal } = done[at] ?? unexpected(new Error('The operation returned no result'));
			if (isFinal) this.#finished.remember(index, sent, outcome);
			else if (outcome.failure?.outcome === 'unknown') this.#finished.remember(index, sent, 'doubt');
			this.#ended(index, this.#doubtful.has(index) ? doubted(outcome) : outcome);
		}
	}

	#ended(index: number, outcome: Outcome): void {
		this.#outcomes[index] = outcome;
		this.#stopped ||= outcome.failure !== undefined && !this.#context.continueOnFail();
	}

	get #isCancelled(): boolean {
		return this.#context.getExecutionCancelSignal()?.aborted === true;
	}
}

/** If a later try definitely did nothing, the outcome of the first one is still unknown. */
function doubted(outcome: Outcome): Outcome {
	const { failure } = outcome;
	if (!failure || failure.outcome === 'unknown') return outcome;
	const message = `An earlier try may have been carried out, the last one failed: ${failure.message}`;
	return { ...outcome, failure: failure.with({ message, outcome: 'unknown' }) };
}

/** A bug of this package appeared after the work had begun, so the work may have been done. */
const unexpected = (error: unknown): Done => ({
	outcome: { failure: toNodeError(error).with({ outcome: 'unknown' }) },
	isFinal: true,
});
