import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../core/clock';
import type { ConnectionEvent } from '../session/connection';
import {
	findText,
	storeMessageBytes,
	measureHeldBytes,
	parseFrame,
	type SessionFrame,
	type SessionMessage,
} from '../session/messages';
import type { QueueSettings } from './fields';

interface QueueListener<T> {
	/** Settles when the batch no longer counts toward the limit; never rejects. @returns false if the trigger stopped before n8n took it */
	deliver(batch: readonly T[]): Promise<boolean>;
	/** Asks to stop reading. Messages that were already read are still accepted. */
	pause?(): void;
	resume?(): void;
	onDropped?(messages: readonly T[]): void;
}

/**
 * The queue between the channels and the executions. It keeps the order of arrival, limits messages, bytes and concurrent deliveries, and
 * delivers in batches. A message that is larger than the limit is accepted if it is the only one.
 */
export class MessageQueue<T extends QueueEntry> {
	/** The memory that the waiting messages take. */
	bytes = 0;
	readonly #settings: QueueSettings;
	readonly #listener: QueueListener<T>;
	readonly #clock: Clock;
	/** Oldest first. Removing the first of 100,000 takes 20 µs, far less than the execution that it starts. */
	readonly #waiting: Array<{ readonly entry: T; readonly arrivedAt: number }> = [];
	/** Batches whose delivery has not ended, or was refused, in their order. */
	readonly #unfinished = new Map<readonly T[], Promise<void>>();
	readonly #refused = new Set<readonly T[]>();
	#isPaused = false;
	#state: 'open' | 'draining' | 'ended' = 'open';
	#resolveDrained = () => {};
	#cancelTimer: (() => void) | undefined;
	#droppedCounts = new Map<string, number>();

	constructor(settings: QueueSettings, listener: QueueListener<T>, clock: Clock) {
		this.#settings = settings;
		this.#listener = listener;
		this.#clock = clock;
	}

	get length(): number {
		return this.#waiting.length;
	}

	push(entry: T): void {
		this.#waiting.push({ entry, arrivedAt: this.#clock.getMonotonicMilliseconds() });
		this.bytes += entry.byteLength;
		if (this.#state !== 'ended') this.#deliverDueBatches(false);
		if (this.#settings.onQueueFull === 'dropOldest') this.#dropOldest();
		else this.#pauseWhenFull();
	}

	/** Takes over the messages of an earlier queue. Must be called before others arrive. */
	adopt({ entries, dropped }: Leftover<T>): void {
		this.#droppedCounts = new Map(dropped);
		for (const entry of entries) this.push(entry);
	}

	/** Delivers what waits, within the limits. @returns settles when the queue is empty or a batch was refused */
	drain(): Promise<void> {
		if (this.#state === 'open') this.#state = 'draining';
		this.#cancelTimer?.();
		return new Promise((resolve) => {
			this.#resolveDrained = resolve;
			this.#deliverDueBatches();
		});
	}

	/** Delivers up to `maxBatches` at once, beyond the limits, unless a batch was refused. After that, nothing is delivered. */
	end(maxBatches = 0): void {
		this.#state = 'ended';
		this.#cancelTimer?.();
		if (this.#refused.size > 0) return;
		for (let n = 0; n < maxBatches && this.length > 0; n++) this.#deliverBatch();
	}

	/** Settles when the deliveries that are now under way have ended. */
	async waitForBatches(): Promise<void> {
		await Promise.all(this.#unfinished.values());
	}

	/** Removes what is left after the end, in the order of arrival. */
	takeLeftover(): Leftover<T> {
		const refused = [...this.#unfinished.keys()].filter((batch) => this.#refused.has(batch)).flat();
		for (const entry of refused) this.#countDropped(entry, entry.dropped);
		return { entries: [...refused, ...this.#removeOldest(this.length)], dropped: this.#droppedCounts };
	}

	/** @param allowsPartial whether an overdue batch may go before it is full; false while messages arrive, so that they stay together */
	#deliverDueBatches(allowsPartial = true): void {
		while (this.length > 0 && this.#unfinished.size < this.#settings.maxConcurrentExecutions) {
			if (!this.#isBatchReady(allowsPartial)) {
				this.#scheduleDelivery();
				break;
			}
			this.#deliverBatch();
		}
		if (this.#state === 'open') this.#resumeWhenHalfEmpty();
		else if (this.length === 0) this.#resolveDrained();
	}

	#deliverBatch(): void {
		const batch = this.#takeBatch();
		const ended = this.#listener.deliver(batch).then((isDone) => {
			if (isDone) this.#unfinished.delete(batch);
			else {
				this.#refused.add(batch);
				this.#state = 'ended';
				this.#resolveDrained();
			}
			if (this.#state !== 'ended') this.#deliverDueBatches();
		});
		this.#unfinished.set(batch, ended);
	}

	/** Whether the next batch may go. While the queue is paused or drains, it need not wait, because no messages arrive. */
	#isBatchReady(allowsPartial: boolean): boolean {
		if (this.#isPaused || this.#state === 'draining') return true;
		return this.length >= this.#settings.batchSize || (allowsPartial && this.#getRemainingWait() <= 0);
	}

	#scheduleDelivery(): void {
		this.#cancelTimer ??= this.#clock.callAfter(Math.max(0, this.#getRemainingWait()), () => {
			this.#cancelTimer = undefined;
			this.#deliverDueBatches();
		});
	}

	/** How many milliseconds the oldest message may still wait for others. */
	#getRemainingWait(): number {
		const arrivedAt = this.#waiting[0]?.arrivedAt;
		if (arrivedAt === undefined) return 0;
		const now = this.#clock.getMonotonicMilliseconds();
		return arrivedAt + this.#settings.batchWaitMilliseconds - now;
	}

	#takeBatch(): T[] {
		const batch = this.#removeOldest(this.#settings.batchSize);
		for (const entry of batch) {
			if (!entry.isMessage) continue;
			entry.dropped = this.#droppedCounts.get(entry.sessionId);
			this.#droppedCounts.delete(entry.sessionId);
		}
		return batch;
	}

	#countDropped({ sessionId }: T, count = 0): void {
		if (count > 0) this.#droppedCounts.set(sessionId, (this.#droppedCounts.get(sessionId) ?? 0) + count);
	}

	/** Removes the oldest messages, at most `most` of them. */
	#removeOldest(most: number): T[] {
		const entries = this.#waiting.splice(0, most).map(({ entry }) => entry);
		for (const { byteLength } of entries) this.bytes -= byteLength;
		return entries;
	}

	/** How full the queue is: 1 at its limits. */
	get #fillLevel(): number {
		const { maxQueuedMessages, maxQueuedBytes } = this.#settings;
		return Math.max(this.length / maxQueuedMessages, this.bytes / maxQueuedBytes);
	}

	#dropOldest(): void {
		const dropped: T[] = [];
		while (this.length > 1 && this.#fillLevel > 1) dropped.push(...this.#removeOldest(1));
		const messages = dropped.filter(({ isMessage }) => isMessage);
		for (const message of messages) this.#countDropped(message, 1);
		if (messages.length > 0) this.#listener.onDropped?.(messages);
	}

	#pauseWhenFull(): void {
		const isOpen = this.#state === 'open';
		// While the trigger stops, unread messages are accepted beyond the limit: a socket holds only a few megabytes.
		const isFull = isOpen ? this.#fillLevel >= 1 : this.bytes >= 2 * this.#settings.maxQueuedBytes;
		if (!isFull || (isOpen && this.#isPaused)) return;
		this.#isPaused = true;
		this.#listener.pause?.();
		if (isOpen) this.#deliverDueBatches();
	}

	#resumeWhenHalfEmpty(): void {
		if (!this.#isPaused || this.#fillLevel > 1 / 2) return;
		this.#isPaused = false;
		this.#listener.resume?.();
	}
}

export interface QueueEntry {
	readonly sessionId: string;
	readonly byteLength: number;
	/** False for connection events, whose loss is not reported. */
	readonly isMessage: boolean;
	/** How many messages of the session were dropped before this one. */
	dropped?: number;
}

/** What a queue did not deliver before its end. */
export interface Leftover<T> {
	readonly entries: readonly T[];
	/** How many messages of each session were dropped since its last delivered one. */
	readonly dropped: ReadonlyMap<string, number>;
}

/** A message on its way to n8n. It is parsed again after waiting, because parsed JSON takes many times its length in memory. */
export class MessageArrival implements QueueEntry {
	readonly isMessage = true;
	readonly sessionId: string;
	readonly byteLength: number;
	readonly frame: SessionFrame;
	dropped: number | undefined;
	/** The deduplication key, if the message has an ID. */
	key: string | undefined;
	#message: SessionMessage | undefined;

	constructor(frame: SessionFrame) {
		this.frame = frame;
		this.sessionId = frame.sessionId;
		this.byteLength = measureHeldBytes(frame);
	}

	get message(): SessionMessage {
		this.#message ??= parseFrame(this.frame);
		return this.#message;
	}

	releaseMessage(): void {
		this.#message = undefined;
	}
}

interface EventArrival extends QueueEntry {
	readonly isMessage: false;
	readonly event: ConnectionEvent;
	readonly key?: undefined;
}

export type Arrival = MessageArrival | EventArrival;

export function createEventArrival(event: ConnectionEvent): EventArrival {
	const byteLength = JSON.stringify(event).length;
	return { sessionId: event.sessionId, byteLength, isMessage: false, event };
}

/** The bytes of a binary message, which n8n must store before the item is built. */
export const getBinaryBytes = (arrival: Arrival): Buffer | undefined =>
	arrival.isMessage && arrival.message.format === 'binary' ? arrival.message.bytes : undefined;

/** The item of an event or a message, without binary data. @param textField a dot path to the text of a JSON message */
export function buildItem(arrival: Arrival, textField: string): INodeExecutionData {
	if (!arrival.isMessage) return { json: { ...arrival.event } };
	const { sessionId, sequence, receivedAt, format, gapMs } = arrival.message;
	const message = arrival.message.message as IDataObject;
	const output = findText(message, textField) ?? null;
	const json: IDataObject = { output, sessionId, sequence, receivedAt, format, message };
	if (gapMs !== undefined) json.gapMs = gapMs;
	if (arrival.dropped !== undefined) json.dropped = arrival.dropped;
	return { json };
}

/** The item of an event or a message, with binary data. @throws if n8n cannot store the bytes */
export async function buildStoredItem(arrival: Arrival, textField: string, context: ITriggerFunctions) {
	const bytes = getBinaryBytes(arrival);
	const item = buildItem(arrival, textField);
	return bytes ? { ...item, binary: { data: await storeMessageBytes(context.helpers, bytes) } } : item;
}
