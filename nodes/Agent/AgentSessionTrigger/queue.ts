import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../core/clock';
import type { ConnectionEvent } from '../session/connection';
import { findText } from '../session/messageFields';
import * as sessionMessages from '../session/messages';
import type { QueueSettings } from './fields';

/** What the queue makes its owner do. */
interface QueueActions<T> {
	/** Settles when the batch no longer counts as an execution. Never rejects. @returns false if the trigger stopped before n8n took the batch */
	deliver(batch: readonly T[]): Promise<boolean>;
	/** Asks to stop reading. Messages that were already read are still accepted. */
	pauseReading?(): void;
	resumeReading?(): void;
	reportDropped?(messages: readonly T[]): void;
}

/**
 * The queue between the channels and the executions. It keeps the order of arrival, delivers in batches, and limits messages, bytes and
 * concurrent deliveries. A message that is larger than the limit stays if it is the only message.
 */
export class MessageQueue<T extends QueueEntry> {
	/** The memory that the waiting messages take. */
	heldBytes = 0;
	readonly #settings: QueueSettings;
	readonly #actions: QueueActions<T>;
	readonly #clock: Clock;
	/** The oldest entry is the first. To remove the first of 100,000 entries takes 20 µs, far less time than an execution. */
	readonly #waitingEntries: Array<{ readonly entry: T; readonly arrivedAt: number }> = [];
	/** The batches whose delivery has not ended, and those that n8n did not take, in the order of arrival. */
	readonly #unfinishedBatches = new Map<readonly T[], Promise<void>>();
	readonly #untakenBatches = new Set<readonly T[]>();
	#isPaused = false;
	#state: 'open' | 'draining' | 'ended' = 'open';
	#resolveDrained = () => {};
	#cancelTimer: (() => void) | undefined;
	#droppedCounts = new Map<string, number>();

	constructor(settings: QueueSettings, actions: QueueActions<T>, clock: Clock) {
		this.#settings = settings;
		this.#actions = actions;
		this.#clock = clock;
	}

	get length(): number {
		return this.#waitingEntries.length;
	}

	push(entry: T): void {
		this.#waitingEntries.push({ entry, arrivedAt: this.#clock.getMonotonicMilliseconds() });
		this.heldBytes += entry.byteLength;
		if (this.#state !== 'ended') this.#deliverDueBatches(false);
		if (this.#settings.onQueueFull === 'dropOldest') this.#dropOldest();
		else this.#pauseWhenFull();
	}

	/** Takes over the entries of an earlier queue. Must be called before new messages arrive. */
	adopt({ entries, droppedCounts }: Leftover<T>): void {
		this.#droppedCounts = new Map(droppedCounts);
		for (const entry of entries) this.push(entry);
	}

	/** Delivers the waiting entries, within the limits. @returns a promise that settles when the queue is empty or a batch was not taken */
	drain(): Promise<void> {
		if (this.#state === 'open') this.#state = 'draining';
		this.#cancelTimer?.();
		return new Promise((resolve) => {
			this.#resolveDrained = resolve;
			this.#deliverDueBatches();
		});
	}

	/** Delivers up to `maxBatches` batches at once, whatever the limits, but none if an earlier one was not taken. Later messages are only kept. */
	end(maxBatches = 0): void {
		this.#state = 'ended';
		this.#cancelTimer?.();
		if (this.#untakenBatches.size > 0) return;
		for (let batchCount = 0; batchCount < maxBatches && this.length > 0; batchCount++)
			this.#deliverBatch();
	}

	/** Settles when the deliveries that are now under way have ended. */
	async waitForBatches(): Promise<void> {
		await Promise.all(this.#unfinishedBatches.values());
	}

	/** Removes the entries that are left after the end, in the order of arrival. */
	takeLeftover(): Leftover<T> {
		const batches = [...this.#unfinishedBatches.keys()].filter((batch) =>
			this.#untakenBatches.has(batch),
		);
		const untakenEntries = batches.flat();
		for (const entry of untakenEntries) this.#countDropped(entry, entry.droppedCount);
		const entries = [...untakenEntries, ...this.#removeOldest(this.length)];
		return { entries, droppedCounts: this.#droppedCounts };
	}

	/** @param allowsPartial whether an overdue batch is delivered before it is full. False while messages arrive, so that they stay together */
	#deliverDueBatches(allowsPartial = true): void {
		while (
			this.length > 0 &&
			this.#unfinishedBatches.size < this.#settings.maxConcurrentExecutions
		) {
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
		const deliveryEnded = this.#actions.deliver(batch).then((isFinished) => {
			if (isFinished) this.#unfinishedBatches.delete(batch);
			else {
				this.#untakenBatches.add(batch);
				this.#state = 'ended';
				this.#resolveDrained();
			}
			if (this.#state !== 'ended') this.#deliverDueBatches();
		});
		this.#unfinishedBatches.set(batch, deliveryEnded);
	}

	/** Whether the next batch is delivered now. A queue that is paused or drains gets no messages, so its batches do not wait to be full. */
	#isBatchReady(allowsPartial: boolean): boolean {
		if (this.#isPaused || this.#state === 'draining') return true;
		return (
			this.length >= this.#settings.batchSize ||
			(allowsPartial && this.#getWaitMilliseconds() <= 0)
		);
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
		const arrivedAt = this.#waitingEntries[0]?.arrivedAt;
		if (arrivedAt === undefined) return 0;
		return (
			arrivedAt +
			this.#settings.batchWaitMilliseconds -
			this.#clock.getMonotonicMilliseconds()
		);
	}

	#takeBatch(): T[] {
		const batch = this.#removeOldest(this.#settings.batchSize);
		for (const entry of batch) {
			if (!entry.isMessage) continue;
			entry.droppedCount = this.#droppedCounts.get(entry.sessionId);
			this.#droppedCounts.delete(entry.sessionId);
		}
		return batch;
	}

	#countDropped({ sessionId }: T, count = 0): void {
		if (count > 0)
			this.#droppedCounts.set(sessionId, (this.#droppedCounts.get(sessionId) ?? 0) + count);
	}

	#removeOldest(maxCount: number): T[] {
		const entries = this.#waitingEntries.splice(0, maxCount).map(({ entry }) => entry);
		for (const { byteLength } of entries) this.heldBytes -= byteLength;
		return entries;
	}

	/** How full the queue is. 1 means that it has reached a limit. */
	get #fillLevel(): number {
		const { maxQueuedMessages, maxQueuedBytes } = this.#settings;
		return Math.max(this.length / maxQueuedMessages, this.heldBytes / maxQueuedBytes);
	}

	#dropOldest(): void {
		const droppedEntries: T[] = [];
		while (this.length > 1 && this.#fillLevel > 1)
			droppedEntries.push(...this.#removeOldest(1));
		const messages = droppedEntries.filter(({ isMessage }) => isMessage);
		for (const message of messages) this.#countDropped(message, 1);
		if (messages.length > 0) this.#actions.reportDropped?.(messages);
	}

	#pauseWhenFull(): void {
		if (this.#state !== 'open') {
			// While the trigger stops, unread messages are accepted up to twice the limit: a socket holds only a few megabytes.
			if (this.heldBytes >= 2 * this.#settings.maxQueuedBytes) this.#actions.pauseReading?.();
		} else if (this.#fillLevel >= 1 && !this.#isPaused) {
			this.#isPaused = true;
			this.#actions.pauseReading?.();
			this.#deliverDueBatches();
		}
	}

	#resumeWhenHalfEmpty(): void {
		if (!this.#isPaused || this.#fillLevel > 1 / 2) return;
		this.#isPaused = false;
		this.#actions.resumeReading?.();
	}
}

export interface QueueEntry {
	readonly sessionId: string;
	/** The memory that the entry takes while it waits. */
	readonly byteLength: number;
	/** False for connection events. Their loss is not reported. */
	readonly isMessage: boolean;
	/** How many messages of the session were dropped right before this message. */
	droppedCount?: number;
}

/** What a queue did not deliver before its end. */
export interface Leftover<T> {
	readonly entries: readonly T[];
	/** How many messages of each session were dropped since its last delivered message. */
	readonly droppedCounts: ReadonlyMap<string, number>;
}

/** A message on its way to n8n. It waits without its parsed content, because parsed JSON takes many times its length in memory. */
export class MessageArrival implements QueueEntry {
	readonly isMessage = true;
	readonly sessionId: string;
	readonly byteLength: number;
	readonly frame: sessionMessages.SessionFrame;
	droppedCount: number | undefined;
	/** The deduplication key, if the message has an ID. */
	deduplicationKey: string | undefined;
	#message: sessionMessages.SessionMessage | undefined;

	constructor(frame: sessionMessages.SessionFrame) {
		this.frame = frame;
		this.sessionId = frame.sessionId;
		this.byteLength = sessionMessages.measureHeldBytes(frame);
	}

	get message(): sessionMessages.SessionMessage {
		this.#message ??= sessionMessages.parseFrame(this.frame);
		return this.#message;
	}

	releaseMessage(): void {
		this.#message = undefined;
	}
}

interface EventArrival extends QueueEntry {
	readonly isMessage: false;
	readonly event: ConnectionEvent;
	readonly deduplicationKey?: undefined;
}

export type Arrival = MessageArrival | EventArrival;

export function createEventArrival(event: ConnectionEvent): EventArrival {
	const byteLength = JSON.stringify(event).length;
	return { sessionId: event.sessionId, byteLength, isMessage: false, event };
}

/** Finds the bytes of a binary message, which n8n stores apart from the JSON of the item. */
export const findBinaryBytes = (arrival: Arrival): Buffer | undefined =>
	arrival.isMessage && arrival.message.format === 'binary' ? arrival.message.bytes : undefined;

/** Builds the item of an event or a message, without binary data. @param textField the dot path to the text of a JSON message */
export function buildItem(arrival: Arrival, textField: string): INodeExecutionData {
	if (!arrival.isMessage) return { json: { ...arrival.event } };
	const { sessionId, sequence, receivedAt, format, gapMs } = arrival.message;
	const message = arrival.message.message as IDataObject;
	const output = findText(message, textField) ?? null;
	const json: IDataObject = { output, sessionId, sequence, receivedAt, format, message };
	if (gapMs !== undefined) json.gapMs = gapMs;
	if (arrival.droppedCount !== undefined) json.dropped = arrival.droppedCount;
	return { json };
}

/** Builds the item of an event or a message, with binary data. @throws n8n's error if n8n cannot store the bytes */
export async function buildStoredItem(
	arrival: Arrival,
	textField: string,
	context: ITriggerFunctions,
) {
	const bytes = findBinaryBytes(arrival);
	const item = buildItem(arrival, textField);
	if (!bytes) return item;
	return {
		...item,
		binary: { data: await sessionMessages.storeMessageBytes(context.helpers, bytes) },
	};
}
