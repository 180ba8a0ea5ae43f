import type { IDataObject, INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../core/runtime';
import type { ConnectionEvent } from '../session/connection';
import { binaryOf, heldBytes, messageOf, type SessionFrame, type SessionMessage } from '../session/messages';
import type { QueueSettings } from './fields';

interface QueueListener<T> {
	/**
	 * Settles when the delivery no longer counts toward the limit; never rejects.
	 * @returns false when the batch was refused at the stop, and is to be left
	 */
	deliver(batch: readonly Delivered<T>[]): Promise<boolean>;
	/** Reading is to stop; what was read already is still taken. */
	pause(): void;
	resume(): void;
	dropped(messages: readonly T[]): void;
}

/**
 * The queue between the channels and the executions: limited by count and bytes, in order of arrival, in batches, with a limited number
 * of concurrent deliveries. A message larger than the limit is accepted alone.
 */
export class MessageQueue<T extends Queued> {
	readonly #settings: QueueSettings;
	readonly #listener: QueueListener<T>;
	readonly #clock: Clock;
	/** Oldest first. To remove that costs 20 µs where 100,000 wait: far less than the execution that it starts. */
	readonly #waiting: Array<{ readonly entry: T; readonly arrivedAt: number }> = [];
	#bytes = 0;
	/** What was not delivered to the end, in order, and whether n8n refused it: the first may be refused after the second. */
	readonly #batches = new Map<readonly Delivered<T>[], 'delivering' | 'refused'>();
	#delivering = 0;
	#paused = false;
	#state: 'open' | 'draining' | 'ended' = 'open';
	#tellDrained = () => {};
	#cancelTimer: (() => void) | undefined;
	#dropped = new Map<string, number>();

	constructor(settings: QueueSettings, listener: QueueListener<T>, clock: Clock) {
		this.#settings = settings;
		this.#listener = listener;
		this.#clock = clock;
	}

	get length(): number {
		return this.#waiting.length;
	}

	get bytes(): number {
		return this.#bytes;
	}

	get delivering(): number {
		return this.#delivering;
	}

	push(entry: T): void {
		this.#waiting.push({ entry, arrivedAt: this.#clock.monotonicMilliseconds() });
		this.#bytes += entry.byteLength;
		if (this.#state !== 'ended') this.#deliverDue(false);
		if (this.#settings.onQueueFull === 'dropOldest') this.#makeRoom();
		else this.#pauseWhenFull();
	}

	/** Takes over the messages of an earlier queue, before any others arrive. */
	adopt({ entries, dropped }: Leftover<T>): void {
		this.#dropped = new Map(dropped);
		for (const entry of entries) this.push(entry);
	}

	/**
	 * Delivers on within the bounds, batches as they are; what is left at the end stays.
	 * @returns settles when nothing waits, or a batch was refused
	 */
	drain(): Promise<void> {
		if (this.#state === 'open') this.#state = 'draining';
		this.#cancelTimer?.();
		return new Promise((resolve) => {
			this.#tellDrained = resolve;
			this.#deliverDue();
		});
	}

	/** Delivers so many batches at once, whatever the bounds, but none where one was refused; then nothing more. */
	end(maxBatches = 0): void {
		this.#state = 'ended';
		this.#cancelTimer?.();
		if ([...this.#batches.values()].includes('refused')) return;
		for (let n = 0; n < maxBatches && this.length > 0; n++) this.#deliver();
	}

	/** What is left after the end, in the order of arrival. */
	takeLeftover(): Leftover<T> {
		const refused = [...this.#batches].flatMap(([batch, state]) => (state === 'refused' ? batch : []));
		const dropped = new Map(this.#dropped);
		for (const { entry, dropped: count } of refused) {
			if (count !== undefined) dropped.set(entry.sessionId, (dropped.get(entry.sessionId) ?? 0) + count);
		}
		return { entries: [...refused.map(({ entry }) => entry), ...this.#removed(this.length)], dropped };
	}

	/** @param waited whether a batch that is not full may go when its time has come: messages that come at once stay together */
	#deliverDue(waited = true): void {
		while (this.#delivering < this.#settings.maxConcurrentExecutions && this.length > 0) {
			if (!this.#isBatchReady(waited)) {
				this.#deliverLater();
				break;
			}
			this.#deliver();
		}
		if (this.#state === 'open') this.#resumeWhenHalfEmpty();
		else if (this.length === 0) this.#tellDrained();
	}

	#deliver(): void {
		this.#delivering++;
		const batch = this.#take();
		this.#batches.set(batch, 'delivering');
		void this.#listener.deliver(batch).then((isDone) => {
			this.#delivering--;
			if (isDone) this.#batches.delete(batch);
			else this.#keepRefused(batch);
			if (this.#state !== 'ended') this.#deliverDue();
		});
	}

	#keepRefused(batch: readonly Delivered<T>[]): void {
		this.#batches.set(batch, 'refused');
		this.#state = 'ended';
		this.#tellDrained();
	}

	/** Paused or draining, nothing comes that a batch could wait for. */
	#isBatchReady(waited: boolean): boolean {
		if (this.#paused || this.#state === 'draining') return true;
		return this.length >= this.#settings.batchSize || (waited && this.#remaining() <= 0);
	}

	#deliverLater(): void {
		this.#cancelTimer ??= this.#clock.after(Math.max(0, this.#remaining()), () => {
			this.#cancelTimer = undefined;
			this.#deliverDue();
		});
	}

	/** Milliseconds that the oldest message may still wait for others. */
	#remaining(): number {
		const arrivedAt = this.#waiting[0]?.arrivedAt;
		if (arrivedAt === undefined) return 0;
		const now = this.#clock.monotonicMilliseconds();
		return arrivedAt + this.#settings.batchWaitMilliseconds - now;
	}

	#take(): Delivered<T>[] {
		return this.#removed(this.#settings.batchSize).map((entry) => {
			const dropped = entry.isMessage ? this.#dropped.get(entry.sessionId) : undefined;
			if (dropped === undefined) return { entry };
			this.#dropped.delete(entry.sessionId);
			return { entry, dropped };
		});
	}

	/** The oldest, at most so many. */
	#removed(most: number): T[] {
		const entries = this.#waiting.splice(0, most).map(({ entry }) => entry);
		for (const { byteLength } of entries) this.#bytes -= byteLength;
		return entries;
	}

	#makeRoom(): void {
		const { maxQueuedMessages, maxQueuedBytes } = this.#settings;
		const messages: T[] = [];
		while (this.length > 1 && (this.length > maxQueuedMessages || this.bytes > maxQueuedBytes)) {
			for (const entry of this.#removed(1)) {
				if (!entry.isMessage) continue;
				messages.push(entry);
				this.#dropped.set(entry.sessionId, (this.#dropped.get(entry.sessionId) ?? 0) + 1);
			}
		}
		if (messages.length > 0) this.#listener.dropped(messages);
	}

	#pauseWhenFull(): void {
		const { maxQueuedMessages, maxQueuedBytes } = this.#settings;
		// At the end, what was unread is taken as well: a socket holds a few megabytes.
		const isFull =
			this.#state === 'open'
				? this.length >= maxQueuedMessages || this.bytes >= maxQueuedBytes
				: this.bytes >= 2 * maxQueuedBytes;
		if (!isFull || (this.#paused && this.#state === 'open')) return;
		this.#paused = true;
		this.#listener.pause();
		if (this.#state === 'open') this.#deliverDue();
	}

	#resumeWhenHalfEmpty(): void {
		const { maxQueuedMessages, maxQueuedBytes } = this.#settings;
		if (!this.#paused || this.length * 2 > maxQueuedMessages || this.bytes * 2 > maxQueuedBytes) return;
		this.#paused = false;
		this.#listener.resume();
	}
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

/** What a queue did not deliver before its end. */
export interface Leftover<T> {
	readonly entries: readonly T[];
	/** By session: how many were dropped since the last one that was delivered. */
	readonly dropped: ReadonlyMap<string, number>;
}

/** A message on its way to n8n, parsed once unless it has to wait: JSON takes many times its length in memory once it is parsed. */
export class MessageArrival implements Queued {
	readonly isMessage = true;
	readonly sessionId: string;
	readonly byteLength: number;
	readonly frame: SessionFrame;
	/** Names the message in n8n if it has an ID. */
	key: string | undefined;
	#message: SessionMessage | undefined;

	constructor(frame: SessionFrame) {
		this.frame = frame;
		this.sessionId = frame.sessionId;
		this.byteLength = heldBytes(frame);
	}

	get message(): SessionMessage {
		this.#message ??= messageOf(this.frame);
		return this.#message;
	}

	release(): void {
		this.#message = undefined;
	}
}

interface EventArrival extends Queued {
	readonly event: ConnectionEvent;
	readonly key?: undefined;
}

export type Arrival = MessageArrival | EventArrival;

export function eventArrival(event: ConnectionEvent): EventArrival {
	const byteLength = JSON.stringify(event).length;
	return { sessionId: event.sessionId, byteLength, isMessage: false, event };
}

/** n8n stores binary data before an item can be made. */
export const isBinary = (arrival: Arrival): boolean =>
	!('event' in arrival) && arrival.message.format === 'binary';

/** The item of an event or of a message that is not binary. */
export function itemOf({ entry, dropped }: Delivered<Arrival>): INodeExecutionData {
	if ('event' in entry) return { json: { ...entry.event } };
	const { sessionId, sequence, receivedAt, format, message, gapMs } = entry.message;
	const json: IDataObject = { sessionId, sequence, receivedAt, format, message: message as IDataObject };
	if (gapMs !== undefined) json.gapMs = gapMs;
	if (dropped !== undefined) json.dropped = dropped;
	return { json };
}

/** The item of anything. Rejects when n8n cannot store the bytes. */
export async function storedItem(
	delivered: Delivered<Arrival>,
	helpers: ITriggerFunctions['helpers'],
): Promise<INodeExecutionData> {
	const item = itemOf(delivered);
	const { entry } = delivered;
	if ('event' in entry || entry.message.format !== 'binary') return item;
	return { ...item, binary: { data: await binaryOf(helpers, entry.message.bytes) } };
}
