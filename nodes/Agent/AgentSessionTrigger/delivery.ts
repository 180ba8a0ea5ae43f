import { createHash } from 'node:crypto';
import type { INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';

import { asError } from '../../core/errors';
import type { Clock } from '../../core/runtime';
import { messageId } from '../session/messages';
import { type Alerts, refusedByN8n } from './alerts';
import { type Arrival, bytesOf, itemOf, type MessageArrival, storedItem } from './queue';
import type { TriggerSettings } from './fields';
import type { NodeMemory } from './triggerState';

/** Only with a key that n8n compares: without one a second try could start a second execution. */
const maxTries = 3;
const retryMilliseconds = 2000;

export interface DeliveryParts {
	readonly context: ITriggerFunctions;
	readonly settings: TriggerSettings;
	readonly clock: Clock;
	/** What the node remembers of its starts before. */
	readonly memory: NodeMemory;
}

/** Passes batches to n8n and waits for the executions that they start. */
export class Delivery {
	readonly #parts: DeliveryParts;
	readonly #alerts: Alerts;
	/** Each ends one wait. */
	readonly #waits = new Set<() => void>();
	readonly #storing = new Set<Promise<unknown>>();
	readonly #stopped: Promise<void>;
	#tellStopped = () => {};
	#isStopping = false;
	#isReleased = false;

	constructor(parts: DeliveryParts, alerts: Alerts) {
		this.#parts = parts;
		this.#alerts = alerts;
		this.#stopped = new Promise((resolve) => (this.#tellStopped = resolve));
	}

	/** Whether the message is new to n8n. In batches n8n's own key cannot tell, and before n8n 2.20 not at all. */
	isNew(arrival: MessageArrival): boolean {
		if (this.#parts.settings.deduplicationField === '') return true;
		arrival.key = this.#keyOf(arrival);
		if (arrival.key === undefined) return true;
		const isNew = !this.#parts.memory.recent.has(arrival.key);
		if (isNew) this.#parts.memory.recent.set(arrival.key, true);
		return isNew;
	}

	/** Messages that n8n will not receive may come again. */
	forget(arrivals: readonly Arrival[]): void {
		for (const arrival of arrivals) {
			if (arrival.key !== undefined) this.#parts.memory.recent.delete(arrival.key);
		}
	}

	/** Settles when the execution has ended or counts as ended; never rejects. @returns false when the stop came before n8n took it */
	async deliver(batch: readonly Arrival[]): Promise<boolean> {
		try {
			const items = batch.some(bytesOf) ? await this.#store(batch) : batch.map(itemOf);
			for (const arrival of batch) if (arrival.isMessage) arrival.release();
			// n8n takes one key for an execution.
			const key = this.#parts.settings.batchSize > 1 ? undefined : batch[0]?.key;
			await this.#emit(items, key);
			return true;
		} catch (error) {
			return this.#notTaken(batch, error);
		}
	}

	/** From now on, deliveries are not retried. */
	stop(): void {
		this.#isStopping = true;
		this.#tellStopped();
	}

	async stored(): Promise<void> {
		while (this.#storing.size > 0) await Promise.allSettled(this.#storing);
	}

	/** Waits for no execution any more; leaves no timer. */
	release(): void {
		this.#isReleased = true;
		for (const end of this.#waits) end();
	}

	async #store(batch: readonly Arrival[]): Promise<INodeExecutionData[]> {
		const items = Promise.all(batch.map((one) => storedItem(one, this.#parts.context.helpers)));
		this.#storing.add(items);
		try {
			return await items;
		} finally {
			this.#storing.delete(items);
		}
	}

	async #emit(items: INodeExecutionData[], key: string | undefined): Promise<void> {
		for (let tries = 1; ; tries++) {
			const refusedBy = await this.#start(items, key);
			if (refusedBy === undefined) return;
			const isLast = key === undefined || tries >= maxTries;
			if (!isLast) await this.#wait(this.#stopped, retryMilliseconds * tries);
			if (isLast || this.#isStopping) throw refusedBy;
		}
	}

	/** Until it settles, at most that long, and not beyond the release. @param awaited never rejects */
	async #wait(awaited: Promise<unknown>, milliseconds: number): Promise<void> {
		if (this.#isReleased) return;
		await new Promise<void>((resolve) => {
			const end = () => {
				if (!this.#waits.delete(end)) return;
				cancel();
				resolve();
			};
			this.#waits.add(end);
			const cancel = this.#parts.clock.after(milliseconds, end);
			void awaited.then(end);
		});
	}

	/** @returns why n8n did not take the items */
	async #start(items: INodeExecutionData[], key: string | undefined): Promise<Error | undefined> {
		const done = this.#parts.context.helpers.createDeferredPromise<IRun>();
		let refusedBy: Error | undefined;
		const ended = done.promise.catch((error: unknown) => {
			if (!wasTaken(error)) refusedBy = asError(error);
		});
		this.#parts.context.emit([items], undefined, done, key);
		await this.#wait(ended, this.#parts.settings.maxExecutionMilliseconds);
		return refusedBy;
	}

	#notTaken(batch: readonly Arrival[], error: unknown): boolean {
		const failure = refusedByN8n(batch.length, error);
		if (this.#isStopping) {
			this.#parts.context.logger.warn(`Session channel: ${failure.message}. ${failure.description}`);
			return false;
		}
		this.forget(batch);
		this.#alerts.raise('notTaken', failure);
		return true;
	}

	/** n8n's key is unique over all workflows, and at most 255 characters long. IDs count within their session. */
	#keyOf({ message, sessionId }: MessageArrival): string | undefined {
		const { context, settings } = this.#parts;
		const id = messageId(message, settings.deduplicationField);
		if (id === undefined) return undefined;
		const identity = JSON.stringify([String(context.getWorkflow().id), context.getNode().id, sessionId, id]);
		return `aw1:${createHash('sha256').update(identity).digest('hex')}`;
	}
}

/** n8n also rejects for an execution that was stopped, or that ended before anything waited for it. */
function wasTaken(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	return /ExecutionCancelled|ExecutionNotFound/.test(`${error.name} ${error.constructor.name}`);
}
