import { createHash } from 'node:crypto';
import type { INodeExecutionData, IRun } from 'n8n-workflow';

import { waitAtMost } from '../../core/clock';
import { toError } from '../../core/errors';
import { findMessageId } from '../session/messages';
import { type Alerts, createNotAcceptedError } from './alerts';
import { type Arrival, getBinaryBytes, buildItem, type MessageArrival, buildStoredItem } from './queue';
import type { ListenerParts } from './testListener';
import type { NodeMemory } from './triggerState';

/** Applies only with a deduplication key. Without one, a second try could start a second execution. */
const maxTries = 3;
const retryDelayMilliseconds = 2000;

export interface DeliveryParts extends Pick<ListenerParts, 'context' | 'settings' | 'clock'> {
	/** What the node remembers from its earlier starts. */
	readonly memory: NodeMemory;
}

/** Passes batches to n8n and waits for the executions that they start. */
export class Delivery {
	readonly #parts: DeliveryParts;
	readonly #alerts: Alerts;
	/** Functions that each end one wait. */
	readonly #endWaits = new Set<() => void>();
	readonly #pendingItems = new Set<Promise<unknown>>();
	readonly #stopped: Promise<void>;
	#resolveStopped = () => {};
	#isStopping = false;
	#isWaitingOver = false;

	constructor(parts: DeliveryParts, alerts: Alerts) {
		this.#parts = parts;
		this.#alerts = alerts;
		this.#stopped = new Promise((resolve) => (this.#resolveStopped = resolve));
	}

	/** Remembers the ID. n8n's deduplication key works only without batches, and from n8n 2.20 on. @returns whether the ID was new */
	rememberIfNew(arrival: MessageArrival): boolean {
		if (this.#parts.settings.deduplicationField === '') return true;
		arrival.key = this.#buildKey(arrival);
		if (arrival.key === undefined) return true;
		const isNew = !this.#parts.memory.recentKeys.has(arrival.key);
		if (isNew) this.#parts.memory.recentKeys.set(arrival.key, true);
		return isNew;
	}

	/** Forgets the IDs of messages that n8n did not get, so that these may come again. */
	forget(arrivals: readonly Arrival[]): void {
		for (const arrival of arrivals) {
			if (arrival.key !== undefined) this.#parts.memory.recentKeys.delete(arrival.key);
		}
	}

	/** Settles when the execution ended or counts as ended; never rejects. @returns false if the trigger stopped before n8n took the batch */
	async deliver(batch: readonly Arrival[]): Promise<boolean> {
		try {
			const { textField, batchSize } = this.#parts.settings;
			const items = batch.some(getBinaryBytes)
				? await this.#buildStoredItems(batch)
				: batch.map((one) => buildItem(one, textField));
			for (const arrival of batch) if (arrival.isMessage) arrival.releaseMessage();
			// n8n accepts one key per execution.
			const key = batchSize > 1 ? undefined : batch[0]?.key;
			await this.#emit(items, key);
			return true;
		} catch (error) {
			return this.#handleNotAccepted(batch, error);
		}
	}

	/** Ends the retries. */
	stopRetrying(): void {
		this.#isStopping = true;
		this.#resolveStopped();
	}

	async waitUntilStored(): Promise<void> {
		while (this.#pendingItems.size > 0) await Promise.allSettled(this.#pendingItems);
	}

	/** Ends the waits for executions, with their timers. */
	stopWaiting(): void {
		this.#isWaitingOver = true;
		for (const end of this.#endWaits) end();
	}

	async #buildStoredItems(batch: readonly Arrival[]): Promise<INodeExecutionData[]> {
		const { context, settings } = this.#parts;
		const items = Promise.all(batch.map((one) => buildStoredItem(one, settings.textField, context)));
		this.#pendingItems.add(items);
		try {
			return await items;
		} finally {
			this.#pendingItems.delete(items);
		}
	}

	async #emit(items: INodeExecutionData[], key: string | undefined): Promise<void> {
		for (let tries = 1; ; tries++) {
			const refusedBy = await this.#startExecution(items, key);
			if (refusedBy === undefined) return;
			const isLast = key === undefined || tries >= maxTries;
			if (!isLast) await this.#wait(this.#stopped, retryDelayMilliseconds * tries);
			if (isLast || this.#isStopping) throw refusedBy;
		}
	}

	/** Waits until `awaited` settles, the time is over, or deliveries are released. @param awaited never rejects */
	async #wait(awaited: Promise<unknown>, milliseconds: number): Promise<void> {
		if (this.#isWaitingOver) return;
		let end = () => {};
		const ended = new Promise<void>((resolve) => (end = resolve));
		this.#endWaits.add(end);
		void awaited.then(end);
		await waitAtMost(this.#parts.clock, milliseconds, ended);
		this.#endWaits.delete(end);
	}

	/** @returns why n8n did not accept the items; undefined if it did */
	async #startExecution(items: INodeExecutionData[], key: string | undefined): Promise<Error | undefined> {
		const done = this.#parts.context.helpers.createDeferredPromise<IRun>();
		let refusedBy: Error | undefined;
		const ended = done.promise.catch((error: unknown) => {
			if (!wasAccepted(error)) refusedBy = toError(error);
		});
		this.#parts.context.emit([items], undefined, done, key);
		await this.#wait(ended, this.#parts.settings.maxExecutionMilliseconds);
		return refusedBy;
	}

	#handleNotAccepted(batch: readonly Arrival[], error: unknown): boolean {
		const failure = createNotAcceptedError(batch.length, error);
		if (this.#isStopping) {
			this.#parts.context.logger.warn(`Session channel: ${failure.message}. ${failure.description}`);
			return false;
		}
		this.forget(batch);
		this.#alerts.raise('notAccepted', failure);
		return true;
	}

	/** A hash, because n8n's keys have at most 255 characters. Includes node and session, because n8n compares keys of all workflows. */
	#buildKey({ message, sessionId }: MessageArrival): string | undefined {
		const { context, settings } = this.#parts;
		const id = findMessageId(message, settings.deduplicationField);
		if (id === undefined) return undefined;
		const identity = JSON.stringify([String(context.getWorkflow().id), context.getNode().id, sessionId, id]);
		return `aw1:${createHash('sha256').update(identity).digest('hex')}`;
	}
}

/** Whether n8n had accepted the items before its error: it also rejects if an execution was stopped, or ended before anything waited. */
function wasAccepted(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	return /ExecutionCancelled|ExecutionNotFound/.test(`${error.name} ${error.constructor.name}`);
}
