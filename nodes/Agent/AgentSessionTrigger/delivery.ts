import type { INodeExecutionData, IRun } from 'n8n-workflow';

import { waitAtMost } from '../../core/clock';
import { toError } from '../../core/errors';
import { findMessageId, listDistinct } from '../session/messages';
import { type Alerts, createLostExecutionsError } from './alerts';
import {
	type Arrival,
	buildDeduplicationKey,
	buildItem,
	buildStoredItems,
	findBytes,
	type MessageArrival,
} from './arrival';
import type { ListenerSetup } from './listenerSetup';
import type { NodeMemory } from './triggerState';

/**
 * The pauses before further attempts to pass a batch to n8n. Without a deduplication key, a second
 * attempt could start a second execution.
 */
const retryPausesMilliseconds = [2000, 4000];
/**
 * How long a batch that n8n refused keeps its place. Otherwise, n8n would get and refuse all that
 * waits while its database is down for a moment.
 */
const refusalPauseMilliseconds = 10_000;
/** How long n8n may take to stop an execution at the workflow's timeout. */
const graceMilliseconds = 30_000;
/**
 * Executions count as lost if messages wait and none has begun or ended for this many times the
 * longest execution so far, but not before `minPatienceMilliseconds`.
 */
const patienceFactor = 10;
const minPatienceMilliseconds = 30_000;
/** This is used as long as none has ended, because nobody knows how long they take. */
const firstPatienceMilliseconds = 15 * 60_000;

/**
 * Passes batches to n8n and waits until the executions that they start have ended or count as
 * ended.
 */
export class Delivery {
	readonly #setup: ListenerSetup;
	/** What the node remembers since its earlier starts. */
	readonly #memory: NodeMemory;
	readonly #alerts: Alerts;
	readonly #isBlocked: () => boolean;
	/** How many batches have bytes that n8n is storing. */
	storingCount = 0;
	/** Each ends the wait for the end of an execution. */
	readonly #endWaits = new Set<() => void>();
	#isWaitingOver = false;
	/** How long the longest execution has taken. */
	#longestMilliseconds = 0;
	/** After this time without a begin or an end, executions count as lost if messages wait. */
	#patienceMilliseconds = firstPatienceMilliseconds;
	#cancelStallTimer = () => {};
	/** Settles when the trigger begins to stop. */
	readonly #stopBegun: Promise<void>;
	#resolveStopBegun = () => {};
	#isStopping = false;

	/** @param isBlocked whether messages wait for the end of an execution */
	constructor(
		setup: ListenerSetup,
		memory: NodeMemory,
		alerts: Alerts,
		isBlocked: () => boolean,
	) {
		this.#setup = setup;
		this.#memory = memory;
		this.#alerts = alerts;
		this.#isBlocked = isBlocked;
		this.#stopBegun = new Promise((resolve) => (this.#resolveStopBegun = resolve));
	}

	/**
	 * Sets and remembers the message's key. n8n itself checks keys only since 2.20, and never for
	 * batches.
	 * @returns false if the key was known
	 */
	rememberIfNew(arrival: MessageArrival): boolean {
		const { context, settings } = this.#setup;
		if (settings.deduplicationField === '') return true;
		const id = findMessageId(arrival.message, settings.deduplicationField);
		if (id === undefined) return true;
		const key = buildDeduplicationKey(context, arrival.sessionId, id);
		arrival.deduplicationKey = key;
		if (this.#memory.recentKeys.has(key)) return false;
		this.#memory.recentKeys.set(key, true);
		return true;
	}

	/**
	 * Forgets the deduplication keys of messages that n8n did not get, so that these messages are
	 * accepted if they arrive again. The settings of the next start may give them other keys.
	 */
	forgetKeys(arrivals: readonly Arrival[]): void {
		for (const arrival of arrivals) {
			if (!arrival.isMessage || arrival.deduplicationKey === undefined) continue;
			this.#memory.recentKeys.delete(arrival.deduplicationKey);
			arrival.deduplicationKey = undefined;
		}
	}

	/**
	 * Settles when the batch no longer counts as an execution. Never rejects.
	 * @returns false if n8n did not take the batch and the trigger stops: the batch must be kept
	 */
	async deliver(batch: readonly Arrival[]): Promise<boolean> {
		const rejection = await this.#passOn(batch).catch(toError);
		if (rejection === undefined) return true;
		const mustBeKept = this.#isStopping;
		this.#reportRejection(batch, rejection);
		await waitAtMost(this.#setup.clock, refusalPauseMilliseconds, this.#stopBegun);
		return !mustBeKept;
	}

	/** @returns why n8n did not accept the batch; undefined if n8n accepted it */
	async #passOn(batch: readonly Arrival[]): Promise<Error | undefined> {
		const { batchSize } = this.#setup.settings;
		// Without bytes, nothing is awaited before the items are passed on.
		const items = batch.some(findBytes)
			? await this.#storeItems(batch)
			: batch.map((arrival) => buildItem(arrival));
		for (const arrival of batch) if (arrival.isMessage) arrival.releaseMessage();
		// n8n accepts one key per execution.
		const key = batchSize > 1 ? undefined : batch[0]?.deduplicationKey;
		const pauses = key === undefined ? [] : retryPausesMilliseconds;
		let rejection = await this.#passAndAwaitEnd(batch, items, key);
		for (const pause of pauses) {
			if (!rejection) break;
			await waitAtMost(this.#setup.clock, pause, this.#stopBegun);
			if (this.#isStopping) break;
			rejection = await this.#passAndAwaitEnd(batch, items, key);
		}
		return rejection;
	}

	stopRetrying(): void {
		this.#isStopping = true;
		this.#resolveStopBegun();
	}

	/** Ends the waits for executions, now and later. */
	stopWaiting(): void {
		this.#isWaitingOver = true;
		for (const end of this.#endWaits) end();
	}

	async #storeItems(batch: readonly Arrival[]): Promise<INodeExecutionData[]> {
		this.storingCount++;
		try {
			return await buildStoredItems(batch, this.#setup.context);
		} finally {
			this.storingCount--;
		}
	}

	/**
	 * Passes the items to n8n and waits until the execution ends.
	 * @returns why n8n did not accept the items; undefined if n8n accepted them
	 */
	async #passAndAwaitEnd(
		batch: readonly Arrival[],
		items: INodeExecutionData[],
		key: string | undefined,
	): Promise<Error | undefined> {
		const { context } = this.#setup;
		const execution = context.helpers.createDeferredPromise<IRun>();
		let rejection: Error | undefined;
		let hasReturned = false;
		const executionEnded = execution.promise.then(
			(run) => {
				this.#alerts.endLosses('n8n accepts messages again');
				// If n8n knows the key, it runs nothing and gives undefined.
				return Boolean(run);
			},
			(error: unknown) => {
				if (wasAccepted(error)) return true;
				rejection = toError(error);
				// The wait may have ended earlier. Then `deliver` does not learn of the rejection.
				if (hasReturned) this.#reportRejection(batch, rejection);
				return false;
			},
		);
		context.emit([items], undefined, execution, key);
		await this.#waitForEnd(executionEnded);
		hasReturned = true;
		return rejection;
	}

	/**
	 * Waits until the execution has ended, has taken longer than it may, or counts as lost.
	 * @param executionEnded never rejects, and gives false if no execution has run
	 */
	async #waitForEnd(executionEnded: Promise<boolean>): Promise<void> {
		if (this.#isWaitingOver) return;
		const { settings, clock } = this.#setup;
		const begunAt = clock.getMonotonicMilliseconds();
		const maxMilliseconds = settings.maxExecutionSeconds * 1000 + graceMilliseconds;
		await new Promise<void>((resolve) => {
			const end = () => {
				cancelLimit();
				this.#endWaits.delete(end);
				this.#restartStallTimer();
				resolve();
			};
			const cancelLimit = clock.callAfter(maxMilliseconds, end);
			this.#endWaits.add(end);
			this.#restartStallTimer();
			// An execution that counted as lost may end after all.
			void executionEnded.then((hasRun) => {
				if (hasRun) this.#recordDuration(clock.getMonotonicMilliseconds() - begunAt);
				end();
			});
		});
	}

	#recordDuration(milliseconds: number): void {
		this.#longestMilliseconds = Math.max(this.#longestMilliseconds, milliseconds);
		const patience = patienceFactor * this.#longestMilliseconds;
		this.#patienceMilliseconds = Math.max(minPatienceMilliseconds, patience);
	}

	#restartStallTimer(): void {
		this.#cancelStallTimer();
		if (this.#endWaits.size === 0) return;
		this.#cancelStallTimer = this.#setup.clock.callAfter(this.#patienceMilliseconds, () => {
			if (this.#isBlocked()) this.#handleStall();
			else this.#restartStallTimer();
		});
	}

	/**
	 * Reports that executions are lost, and starts the next ones in their place unless that breaks
	 * the order. n8n never reports the end of an execution whose job is gone, as after Redis has
	 * lost its data.
	 */
	#handleStall(): void {
		this.#alerts.report(createLostExecutionsError(this.#endWaits.size));
		// If they only take long, fewer and fewer are started beside them.
		this.#patienceMilliseconds *= 2;
		if (this.#setup.settings.maxConcurrentExecutions === 1) return;
		for (const end of this.#endWaits) end();
	}

	/**
	 * Forgets the keys of a batch that n8n did not take, and reports its messages as lost. If the
	 * trigger stops, only logs the rejection.
	 */
	#reportRejection(batch: readonly Arrival[], error: Error): void {
		this.forgetKeys(batch);
		if (this.#isStopping) {
			const sessions = listDistinct(batch.map(({ sessionId }) => sessionId)).join(', ');
			this.#setup.context.logger.warn(
				`Session channel ${sessions}: n8n takes no more messages: ${error.message}`,
			);
			return;
		}
		const messages = batch.filter(({ isMessage }) => isMessage);
		const sessionIds = messages.map(({ sessionId }) => sessionId);
		// A connection event that n8n does not take is no message.
		if (messages.length > 0) this.#alerts.countLosses(sessionIds, error);
	}
}

/**
 * Whether n8n had accepted the items before the error. Then their execution was stopped, or it
 * ended before n8n waited for it.
 */
const wasAccepted = (error: unknown) =>
	error instanceof Error &&
	/ExecutionCancelled|ExecutionNotFound/.test(`${error.name} ${error.constructor.name}`);
