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
	 * @returns false if the trigger stopped before n8n took the batch
	 */
	deliver(batch: readonly T[]): Promise<boolean>;
	/** Asks to stop reading. Messages that were already read are still accepted. */
	pauseReading(): void;
	resumeReading(): void;
}

/** Numbered in the order of arrival. */
interface WaitingEntry<T> {
	readonly entry: T;
	readonly number: number;
	readonly arrivedAt: number;
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
	#cancelTimer: (() => void) | undefined;

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

	push(entry: T): void {
		const arrivedAt = this.#clock.getMonotonicMilliseconds();
		this.#waitingEntries.push({ entry, number: ++this.#lastNumber, arrivedAt });
		this.heldBytes += entry.byteLength;
		this.#deliverDueBatches(false);
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
		this.#cancelTimer?.();
		await new Promise<void>((resolve) => {
			this.#resolveHandedOver = resolve;
			this.#deliverDueBatches();
		});
	}

	/** Settles when the deliveries that are now under way have ended. */
	async waitForBatches(): Promise<void> {
		await Promise.all(this.#deliveries);
	}

	/** Ends the queue. @returns the entries that were not delivered, in the order of arrival */
	takeLeftover(): T[] {
		this.#state = 'ended';
		this.#cancelTimer?.();
		return this.#removeOldest(this.length).map(({ entry }) => entry);
	}

	/**
	 * @param allowsPartial whether an overdue batch is delivered before it is full. False while
	 * messages arrive, so that they stay together
	 */
	#deliverDueBatches(allowsPartial = true): void {
		while (this.#mayDeliver()) {
			if (!this.#isBatchReady(allowsPartial)) {
				this.#scheduleDelivery();
				break;
			}
			this.#deliverBatch();
		}
		this.#resumeWhenHalfEmpty();
		if (this.length === 0 || this.#state === 'ended') this.#resolveHandedOver();
	}

	#mayDeliver(): boolean {
		if (this.#state === 'ended') return false;
		return this.length > 0 && this.#deliveries.size < this.#maxRunning;
	}

	#deliverBatch(): void {
		const batch = this.#removeOldest(this.#settings.batchSize);
		const entries = batch.map(({ entry }) => entry);
		const delivery = this.#actions.deliver(entries).then((isTaken) => {
			this.#deliveries.delete(delivery);
			if (!isTaken) this.#putBack(batch);
			this.#deliverDueBatches();
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

	/**
	 * Whether the next batch is delivered now. A queue that is paused or stops gets no messages, so
	 * its batches do not wait to be full.
	 */
	#isBatchReady(allowsPartial: boolean): boolean {
		if (this.#isPaused || this.#state !== 'open') return true;
		if (this.length >= this.#settings.batchSize) return true;
		return allowsPartial && this.#getWaitMilliseconds() <= 0;
	}

	#scheduleDelivery(): void {
		this.#cancelTimer ??= this.#clock.callAfter(
			Math.max(0, this.#getWaitMilliseconds()),
			() => {
				this.#cancelTimer = undefined;
				this.#deliverDueBatches();
			},
		);
	}

	/** How many more milliseconds the oldest message may wait for further messages of its batch. */
	#getWaitMilliseconds(): number {
		const now = this.#clock.getMonotonicMilliseconds();
		const arrivedAt = this.#waitingEntries[0]?.arrivedAt ?? now;
		return arrivedAt + this.#settings.batchWaitMilliseconds - now;
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
		this.#deliverDueBatches();
	}

	#resumeWhenHalfEmpty(): void {
		if (!this.#isPaused || this.#state !== 'open' || this.#fillLevel > 1 / 2) return;
		this.#isPaused = false;
		this.#actions.resumeReading();
	}
}
