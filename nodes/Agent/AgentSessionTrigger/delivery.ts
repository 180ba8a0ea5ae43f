import { createHash } from 'node:crypto';
import type { INodeExecutionData, IRun } from 'n8n-workflow';

import { waitAtMost } from '../../core/clock';
import { toError } from '../../core/errors';
import { findMessageId } from '../session/messageFields';
import { type Alerts, createNotAcceptedError } from './alerts';
import {
	type Arrival,
	findBinaryBytes,
	buildItem,
	type MessageArrival,
	buildStoredItem,
} from './queue';
import type { ListenerSetup } from './testListener';
import type { NodeMemory } from './triggerState';

/** How often a batch with a deduplication key is passed to n8n. Without a key, a second attempt could start a second execution. */
const maxAttempts = 3;
/** The pause before the second attempt. The one before the third is twice as long. */
const retryPauseMilliseconds = 2000;

export interface DeliverySetup extends Pick<ListenerSetup, 'context' | 'settings' | 'clock'> {
	/** What the node remembers since its earlier starts. */
	readonly memory: NodeMemory;
}

/** Passes batches to n8n and waits until the executions that they start have ended or count as ended. */
export class Delivery {
	readonly #setup: DeliverySetup;
	readonly #alerts: Alerts;
	/** Functions that each end one call of `#waitUntil`: for an execution, or before the next attempt. */
	readonly #waitEnders = new Set<() => void>();
	readonly #itemsBeingStored = new Set<Promise<unknown>>();
	/** Settles when the trigger begins to stop. */
	readonly #stopBegun: Promise<void>;
	#resolveStopBegun = () => {};
	#isStopping = false;
	#isWaitingOver = false;

	constructor(setup: DeliverySetup, alerts: Alerts) {
		this.#setup = setup;
		this.#alerts = alerts;
		this.#stopBegun = new Promise((resolve) => (this.#resolveStopBegun = resolve));
	}

	/** Sets and remembers the message's key. n8n itself checks keys only since 2.20, and never for batches. @returns false if the key was known */
	rememberIfNew(arrival: MessageArrival): boolean {
		if (this.#setup.settings.deduplicationField === '') return true;
		arrival.deduplicationKey = this.#buildKey(arrival);
		if (arrival.deduplicationKey === undefined) return true;
		const isNew = !this.#setup.memory.recentKeys.has(arrival.deduplicationKey);
		if (isNew) this.#setup.memory.recentKeys.set(arrival.deduplicationKey, true);
		return isNew;
	}

	/** Forgets the deduplication keys of messages that n8n did not get, so that these messages are accepted if they arrive again. */
	forgetKeys(arrivals: readonly Arrival[]): void {
		for (const { deduplicationKey } of arrivals)
			if (deduplicationKey !== undefined)
				this.#setup.memory.recentKeys.delete(deduplicationKey);
	}

	/** Settles when the batch no longer counts as an execution. Never rejects. @returns false if the trigger stopped before n8n took the batch */
	async deliver(batch: readonly Arrival[]): Promise<boolean> {
		try {
			const { textField, batchSize } = this.#setup.settings;
			const items = batch.some(findBinaryBytes)
				? await this.#buildStoredItems(batch)
				: batch.map((arrival) => buildItem(arrival, textField));
			for (const arrival of batch) if (arrival.isMessage) arrival.releaseMessage();
			// n8n accepts one key per execution.
			const key = batchSize > 1 ? undefined : batch[0]?.deduplicationKey;
			await this.#passWithRetries(items, key);
			return true;
		} catch (error) {
			return this.#handleNotAccepted(batch, error);
		}
	}

	stopRetrying(): void {
		this.#isStopping = true;
		this.#resolveStopBegun();
	}

	async waitUntilStored(): Promise<void> {
		while (this.#itemsBeingStored.size > 0) await Promise.allSettled(this.#itemsBeingStored);
	}

	/** Ends all calls of `#waitUntil`, now and later, and cancels their timers. */
	stopWaiting(): void {
		this.#isWaitingOver = true;
		for (const end of this.#waitEnders) end();
	}

	async #buildStoredItems(batch: readonly Arrival[]): Promise<INodeExecutionData[]> {
		const { context, settings } = this.#setup;
		const items = Promise.all(
			batch.map((arrival) => buildStoredItem(arrival, settings.textField, context)),
		);
		this.#itemsBeingStored.add(items);
		try {
			return await items;
		} finally {
			this.#itemsBeingStored.delete(items);
		}
	}

	/** Passes the items to n8n, several times if needed. Settles after the execution. @throws Error if n8n did not accept the items */
	async #passWithRetries(items: INodeExecutionData[], key: string | undefined): Promise<void> {
		const attemptCount = key === undefined ? 1 : maxAttempts;
		for (let attemptNumber = 1; ; attemptNumber++) {
			const rejection = await this.#passAndAwaitEnd(items, key);
			if (rejection === undefined) return;
			if (attemptNumber === attemptCount) throw rejection;
			await this.#waitUntil(this.#stopBegun, retryPauseMilliseconds * attemptNumber);
			if (this.#isStopping) throw rejection;
		}
	}

	/** Waits until `awaited` (a promise that never rejects) settles, the time has passed, or `stopWaiting()` is called. */
	async #waitUntil(awaited: Promise<unknown>, milliseconds: number): Promise<void> {
		if (this.#isWaitingOver) return;
		let endWait = () => {};
		const waitEnded = new Promise<void>((resolve) => (endWait = resolve));
		this.#waitEnders.add(endWait);
		void awaited.then(endWait);
		await waitAtMost(this.#setup.clock, milliseconds, waitEnded);
		this.#waitEnders.delete(endWait);
	}

	/** Passes the items to n8n and waits until the execution ends. @returns why n8n did not accept the items; undefined if n8n accepted them */
	async #passAndAwaitEnd(
		items: INodeExecutionData[],
		key: string | undefined,
	): Promise<Error | undefined> {
		const execution = this.#setup.context.helpers.createDeferredPromise<IRun>();
		let rejection: Error | undefined;
		const executionEnded = execution.promise.catch((error: unknown) => {
			if (!wasAccepted(error)) rejection = toError(error);
		});
		this.#setup.context.emit([items], undefined, execution, key);
		await this.#waitUntil(executionEnded, this.#setup.settings.maxExecutionMilliseconds);
		return rejection;
	}

	/** Reports a batch that n8n did not take, unless the trigger stops. @returns what `deliver` returns */
	#handleNotAccepted(batch: readonly Arrival[], error: unknown): boolean {
		const failure = createNotAcceptedError(batch.length, error);
		if (this.#isStopping) {
			this.#setup.context.logger.warn(
				`Session channel: ${failure.message}. ${failure.description}`,
			);
			return false;
		}
		this.forgetKeys(batch);
		this.#alerts.raise('notAccepted', failure);
		return true;
	}

	/** Hashes node, session and ID, because n8n's keys have at most 255 characters, and n8n compares the keys of all workflows. */
	#buildKey({ message, sessionId }: MessageArrival): string | undefined {
		const { context, settings } = this.#setup;
		const id = findMessageId(message, settings.deduplicationField);
		if (id === undefined) return undefined;
		const identity = JSON.stringify([
			String(context.getWorkflow().id),
			context.getNode().id,
			sessionId,
			id,
		]);
		return `aw1:${createHash('sha256').update(identity).digest('hex')}`;
	}
}

/** Whether n8n had accepted the items before the error. Then their execution was stopped, or it ended before n8n waited for it. */
const wasAccepted = (error: unknown) =>
	error instanceof Error &&
	/ExecutionCancelled|ExecutionNotFound/.test(`${error.name} ${error.constructor.name}`);
