import type { Clock } from '../../core/clock';
import type { TriggerSettings } from './fields';

export type QueueSettings = Pick<
	TriggerSettings,
	'batchSize' | 'batchWaitMilliseconds' | 'maxConcurrentExecutions'
>;

export interface QueueEntry {
	/** The memory that the entry takes while it waits. */
	readonly byteLength: number;
}

/** What the queue makes its owner do. */
interface QueueActions<T> {
	/**
	 * Settles when the batch no longer counts as an execution. Never rejects.
	 * @returns false if n8n did not take the batch and the trigger stops: the batch must be kept
	 */
	deliver(batch: readonly T[]): Promise<boolean>;
	/** Asks to stop reading. Messages that were already read are still accepted. */
	pauseReading(): void;
	resumeReading(): void;
}

interface WaitingEntry<T> {
	/** Counts in the order of arrival. */
	readonly number: number;
	/** In monotonic milliseconds. */
	readonly arrivedAt: number;
	readonly entry: T;
}

/** A queue that has reached one of these limits is full. */
const queueLimits = { entries: 10_000, bytes: 64 * 1024 * 1024 };

/**
 * The queue between the channels and the executions. It keeps the order of arrival, delivers in
 * batches, and limits concurrent deliveries. A full queue stops the reading until half of it is
 * worked off.
 */
export class MessageQueue<T extends QueueEntry> {
	/** The memory that the waiting messages take. */
	heldBytes = 0;
	readonly #settings: QueueSettings;
	readonly #actions: QueueActions<T>;
	readonly #clock: Clock;
	readonly #limits: typeof queueLimits;
	/**
	 * The oldest entry is the first. To remove the first of 100,000 entries takes 20 µs, far less
	 * time than an execution.
	 */
	readonly #waitingEntries: Array<WaitingEntry<T>> = [];
	#lastNumber = 0;
	/** Each settles when the delivery of a batch has ended. */
	readonly #deliveries = new Set<Promise<void>>();
	#maxRunning: number;
	#isPaused = false;
	#state: 'open' | 'handingOver' | 'ended' = 'open';
	#resolveHandedOver = () => {};
	/** Cancels the wait for a full batch. Undefined if nothing waits for one. */
	#cancelBatchWait: (() => void) | undefined;
	/** Whether the wait for a full batch is over. */
	#isBatchDue = false;

	constructor(
		settings: QueueSettings,
		actions: QueueActions<T>,
		clock: Clock,
		limits = queueLimits,
	) {
		this.#settings = settings;
		this.#actions = actions;
		this.#clock = clock;
		this.#limits = limits;
		this.#maxRunning = settings.maxConcurrentExecutions;
	}

	get length(): number {
		return this.#waitingEntries.length;
	}

	/** Whether messages wait because as many executions run as are allowed. */
	get isBlocked(): boolean {
		return this.length > 0 && this.#deliveries.size >= this.#maxRunning;
	}

	push(entry: T): void {
		const arrivedAt = this.#clock.getMonotonicMilliseconds();
		this.#waitingEntries.push({ number: ++this.#lastNumber, arrivedAt, entry });
		this.heldBytes += entry.byteLength;
		this.#deliverBatches();
		this.#pauseWhenFull();
	}

	/**
	 * Delivers what waits, up to `maxRunning` batches at once if that is more than the usual limit.
	 * @returns a promise that settles when nothing waits, or nothing more can be delivered
	 */
	async handOver(maxRunning: number): Promise<void> {
		if (this.#state === 'ended') return;
		this.#state = 'handingOver';
		this.#maxRunning = Math.max(this.#maxRunning, maxRunning);
		await new Promise<void>((resolve) => {
			this.#resolveHandedOver = resolve;
			this.#deliverBatches();
		});
	}

	/** Settles when the deliveries that are now under way have ended. */
	async waitForBatches(): Promise<void> {
		await Promise.all(this.#deliveries);
	}

	/** Ends the queue. @returns the entries that were not delivered, in the order of arrival */
	takeLeftover(): T[] {
		this.#state = 'ended';
		this.#endBatchWait();
		return this.#removeOldest(this.length).map(({ entry }) => entry);
	}

	/** Delivers what may be delivered now, and does what depends on how much then waits. */
	#deliverBatches(): void {
		while (this.#mayDeliver()) this.#deliverBatch();
		this.#waitForFullBatch();
		this.#resumeWhenHalfEmpty();
		if (this.length === 0 || this.#state === 'ended') this.#resolveHandedOver();
	}

	#mayDeliver(): boolean {
		if (this.length === 0 || this.isBlocked) return false;
		if (this.#state !== 'open') return this.#state === 'handingOver';
		// A queue that is paused gets no messages, so its batches do not wait to be full.
		return this.length >= this.#settings.batchSize || this.#isBatchDue || this.#isPaused;
	}

	/** Also waits for 0 ms, so that messages which arrive at the same time stay together. */
	#waitForFullBatch(): void {
		const [oldest] = this.#waitingEntries;
		if (this.#state !== 'open' || oldest === undefined || this.#isBatchDue) return;
		const dueAt = oldest.arrivedAt + this.#settings.batchWaitMilliseconds;
		const remaining = Math.max(0, dueAt - this.#clock.getMonotonicMilliseconds());
		this.#cancelBatchWait ??= this.#clock.callAfter(remaining, () => {
			this.#isBatchDue = true;
			this.#deliverBatches();
		});
	}

	#endBatchWait(): void {
		this.#cancelBatchWait?.();
		this.#cancelBatchWait = undefined;
		this.#isBatchDue = false;
	}

	#deliverBatch(): void {
		this.#endBatchWait();
		const batch = this.#removeOldest(this.#settings.batchSize);
		const entries = batch.map(({ entry }) => entry);
		const delivery = this.#actions.deliver(entries).then((isDone) => {
			this.#deliveries.delete(delivery);
			if (!isDone) this.#putBack(batch);
			this.#deliverBatches();
		});
		this.#deliveries.add(delivery);
	}

	/** Keeps a batch that n8n did not take for the next start. No later batch may overtake it. */
	#putBack(batch: ReadonlyArray<WaitingEntry<T>>): void {
		this.#state = 'ended';
		this.#waitingEntries.push(...batch);
		this.#waitingEntries.sort((a, b) => a.number - b.number);
		for (const { entry } of batch) this.heldBytes += entry.byteLength;
	}

	#removeOldest(maxCount: number): Array<WaitingEntry<T>> {
		const removed = this.#waitingEntries.splice(0, maxCount);
		for (const { entry } of removed) this.heldBytes -= entry.byteLength;
		return removed;
	}

	/** How full the queue is. 1 means that it has reached a limit. */
	get #fillLevel(): number {
		const { entries, bytes } = this.#limits;
		return Math.max(this.length / entries, this.heldBytes / bytes);
	}

	#pauseWhenFull(): void {
		// A trigger that stops takes what still arrives within its time limit.
		if (this.#state !== 'open' || this.#fillLevel < 1 || this.#isPaused) return;
		this.#isPaused = true;
		this.#actions.pauseReading();
		this.#deliverBatches();
	}

	#resumeWhenHalfEmpty(): void {
		if (!this.#isPaused || this.#state !== 'open' || this.#fillLevel > 1 / 2) return;
		this.#isPaused = false;
		this.#actions.resumeReading();
	}
}
