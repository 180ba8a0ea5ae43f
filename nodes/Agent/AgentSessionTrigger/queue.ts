import type { Clock } from '../session/clock';

export interface QueueSettings {
	readonly maxMessages: number;
	readonly maxBytes: number;
	/** `pause`: stop reading until half of it is worked off, nothing is dropped; `dropOldest`: make room. */
	readonly onFull: 'pause' | 'dropOldest';
	readonly batchSize: number;
	/** How long the first message of a batch waits for the others. */
	readonly batchWaitMilliseconds: number;
	/** Deliveries at a time. */
	readonly maxConcurrent: number;
}

export interface Queued {
	readonly sessionId: string;
	readonly byteLength: number;
	/** Events of the connection are queued with the messages, but their loss is none. */
	readonly isMessage: boolean;
}

export interface Delivered<T> {
	readonly entry: T;
	/** On the first message of a session after a loss: how many were dropped since the last one that was delivered. */
	readonly dropped?: number;
}

export interface QueueListener<T> {
	/** @returns settles when the delivery no longer counts as one of those at a time; never rejects */
	deliver(batch: readonly Delivered<T>[]): Promise<void>;
	/** Reading is to stop; what was read already is still taken. */
	pause(): void;
	resume(): void;
	/** Messages were dropped to make room. */
	dropped(messages: readonly T[]): void;
}

/**
 * Between the channels and the executions: bounded by count and bytes, in order of arrival, in batches, a bounded number of
 * deliveries at a time. A message larger than the bound is taken alone.
 */
export class MessageQueue<T extends Queued> {
	readonly #settings: QueueSettings;
	readonly #listener: QueueListener<T>;
	readonly #clock: Clock;
	#entries: Array<{ readonly entry: T; readonly arrivedAt: number }> = [];
	/** Index of the oldest entry: removing at the front of an array costs its whole length. */
	#head = 0;
	#bytes = 0;
	#delivering = 0;
	#paused = false;
	#closed = false;
	#cancelTimer: (() => void) | undefined;
	readonly #dropped = new Map<string, number>();

	constructor(settings: QueueSettings, listener: QueueListener<T>, clock: Clock) {
		this.#settings = settings;
		this.#listener = listener;
		this.#clock = clock;
	}

	get length(): number {
		return this.#entries.length - this.#head;
	}

	get bytes(): number {
		return this.#bytes;
	}

	get delivering(): number {
		return this.#delivering;
	}

	push(entry: T): void {
		if (this.#closed) return;
		this.#entries.push({ entry, arrivedAt: this.#clock.monotonicMilliseconds() });
		this.#bytes += entry.byteLength;
		this.#deliverDue(false);
		if (this.#settings.onFull === 'dropOldest') this.#makeRoom();
		else this.#pauseWhenFull();
	}

	/** Delivers everything at once, whatever the bounds, and takes nothing more. Idempotent. */
	flush(): void {
		if (this.#closed) return;
		this.#closed = true;
		this.#cancelTimer?.();
		while (this.length > 0) void this.#listener.deliver(this.#take());
	}

	/** Forgets everything and takes nothing more. */
	discard(): void {
		this.#closed = true;
		this.#cancelTimer?.();
		this.#entries = [];
		this.#head = 0;
		this.#bytes = 0;
	}

	/** @param waited whether a batch that is not full may go when its time has come: messages that come at once stay together */
	#deliverDue(waited: boolean): void {
		while (this.#delivering < this.#settings.maxConcurrent && this.length > 0) {
			if (!this.#isBatchReady(waited)) {
				this.#deliverLater();
				break;
			}
			this.#delivering++;
			void this.#listener.deliver(this.#take()).then(() => {
				this.#delivering--;
				if (!this.#closed) this.#deliverDue(true);
			});
		}
		this.#resumeWhenHalfEmpty();
	}

	/** While reading is paused nothing comes that a batch could wait for. */
	#isBatchReady(waited: boolean): boolean {
		return this.length >= this.#settings.batchSize || this.#paused || (waited && this.#remaining() <= 0);
	}

	#deliverLater(): void {
		this.#cancelTimer ??= this.#clock.after(Math.max(0, this.#remaining()), () => {
			this.#cancelTimer = undefined;
			this.#deliverDue(true);
		});
	}

	/** Milliseconds that the oldest message may still wait for others. */
	#remaining(): number {
		const oldest = this.#entries[this.#head];
		if (oldest === undefined) return 0;
		const now = this.#clock.monotonicMilliseconds();
		return oldest.arrivedAt + this.#settings.batchWaitMilliseconds - now;
	}

	#take(): Delivered<T>[] {
		const batch: Delivered<T>[] = [];
		while (batch.length < this.#settings.batchSize) {
			const entry = this.#shift();
			if (entry === undefined) break;
			const dropped = entry.isMessage ? this.#dropped.get(entry.sessionId) : undefined;
			if (dropped !== undefined) this.#dropped.delete(entry.sessionId);
			batch.push(dropped === undefined ? { entry } : { entry, dropped });
		}
		return batch;
	}

	#shift(): T | undefined {
		const oldest = this.#entries[this.#head];
		if (oldest === undefined) return undefined;
		this.#head++;
		this.#bytes -= oldest.entry.byteLength;
		if (this.#head * 2 > this.#entries.length) {
			this.#entries = this.#entries.slice(this.#head);
			this.#head = 0;
		}
		return oldest.entry;
	}

	#makeRoom(): void {
		const { maxMessages, maxBytes } = this.#settings;
		const messages: T[] = [];
		while (this.length > 1 && (this.length > maxMessages || this.#bytes > maxBytes)) {
			const entry = this.#shift();
			if (!entry?.isMessage) continue;
			messages.push(entry);
			this.#dropped.set(entry.sessionId, (this.#dropped.get(entry.sessionId) ?? 0) + 1);
		}
		if (messages.length > 0) this.#listener.dropped(messages);
	}

	#pauseWhenFull(): void {
		const { maxMessages, maxBytes } = this.#settings;
		if (this.#paused || (this.length < maxMessages && this.#bytes < maxBytes)) return;
		this.#paused = true;
		this.#listener.pause();
		this.#deliverDue(false);
	}

	#resumeWhenHalfEmpty(): void {
		const { maxMessages, maxBytes } = this.#settings;
		if (!this.#paused || this.length * 2 > maxMessages || this.#bytes * 2 > maxBytes) return;
		this.#paused = false;
		this.#listener.resume();
	}
}
