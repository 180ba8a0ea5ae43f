import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { isNodeError, toNodeError } from '../../core/errors';
import { waitAtMost, systemClock } from '../../core/clock';
import { createSanitizedLog, Sanitizer } from '../../core/sanitizer';
import { connect, type Connection, type ConnectionEvent, type EndedChannel } from '../session/connection';
import { createConnectRequestReader } from '../session/credentials';
import { meetsCondition, type SessionFrame } from '../session/messages';
import { type ConnectRateLimiter, getConnectRateLimiter } from '../session/reconnect';
import { Alerts, createQueueFullError, createStoppedEarlyError, createTriggerError } from './alerts';
import { Delivery, type DeliveryParts } from './delivery';
import { readTriggerSettings } from './fields';
import { type Arrival, createEventArrival, type Leftover, MessageArrival, MessageQueue } from './queue';
import { type ListenerParts, createTestListener } from './testListener';
import { closeListener, getNodeMemory, getStopBudget, replaceListener } from './triggerState';

interface PublishedListenerParts extends ListenerParts, DeliveryParts {
	readonly stopBudget: ReturnType<typeof getStopBudget>;
	/** Shared with all other nodes that connect to the same service. */
	readonly rateLimiter: ConnectRateLimiter;
}

/** While the trigger stops, queued messages are still delivered as long as executions end this quickly. */
const executionEndMilliseconds = 400;
/** How long these deliveries may take in all, because n8n stops one trigger after another and exits after 30 s. */
const maxDrainMilliseconds = 2000;
/** How many executions the last messages may start at once, beyond the limit. n8n 2.41 needs about 10 MiB for each. */
const maxFinalExecutions = 50;
/** How long n8n may take to store the last messages. */
const finalStoreMilliseconds = 500;
/** How long n8n gets to store a failed execution, because it may exit next and does not report when it is stored. */
const alertStoreMilliseconds = 200;

/** The listener of a published workflow: one channel per session, and one queue for all of them. */
export class PublishedListener {
	readonly #parts: PublishedListenerParts;
	readonly #alerts: Alerts;
	readonly #delivery: Delivery;
	readonly #queue: MessageQueue<Arrival>;
	#hasLoggedRepeated = false;
	#connections: Connection[] = [];
	#closing: Promise<void> | undefined;

	constructor(parts: PublishedListenerParts) {
		const { context, settings, clock } = parts;
		this.#parts = parts;
		this.#alerts = new Alerts(context, clock);
		this.#delivery = new Delivery(parts, this.#alerts);
		const listener = {
			deliver: (batch: readonly Arrival[]) => this.#delivery.deliver(batch),
			pause: () => {
				context.logger.info('Session channel: the queue is full, reading is paused');
				for (const connection of this.#connections) connection.pause();
			},
			resume: () => {
				for (const connection of this.#connections) connection.resume();
			},
			onDropped: (arrivals: readonly Arrival[]) => {
				this.#delivery.forget(arrivals);
				this.#alerts.raise('dropped', createQueueFullError(arrivals.length));
			},
		};
		this.#queue = new MessageQueue<Arrival>(settings, listener, clock);
	}

	/** Opens the channels and resumes the messages that were left at the last stop. Does nothing after `close()`. */
	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, connect, readRequest, context, clock, rateLimiter, memory } = this.#parts;
		this.#connections = settings.sessionIds.map((sessionId) => {
			const frameSequence = memory.getFrameSequence(sessionId);
			frameSequence.restart();
			const listener = {
				onMessage: this.#handleMessage,
				onEvent: (event: ConnectionEvent) => {
					if (settings.connectionEvents) this.#queue.push(createEventArrival(event));
				},
				onChannelEnd: ({ alert, failure }: EndedChannel) => {
					if (alert) this.#alerts.raise(alert, failure, sessionId);
				},
			};
			const environment = { clock, rateLimiter, frameSequence, log: context.logger };
			return connect({ ...settings, sessionId }, readRequest, listener, environment);
		});
		const leftover = memory.takeLeftover();
		if (leftover) this.#resumeLeftover(leftover);
	}

	/**
	 * Delivers queued messages for a moment, closes the channels, and keeps what is left for the next start, without waiting for executions
	 * to end. Takes at most 4 s, and less if executions are slow or many triggers stop. Never rejects; a second call does nothing.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#stop();
		return this.#closing;
	}

	async #stop(): Promise<void> {
		this.#delivery.stopRetrying();
		const hasWaited = this.#queue.length > 0;
		const drained = this.#queue.drain();
		if (hasWaited) await this.#awaitDrain(drained);
		const areRead = await Promise.all(this.#connections.map((connection) => connection.close(true)));
		const isBacklog = hasWaited || this.#queue.length > 0;
		// Executions that start at once may overtake each other.
		const keepsOrder = this.#parts.settings.maxConcurrentExecutions === 1;
		this.#queue.end(keepsOrder ? 0 : maxFinalExecutions);
		// After this, n8n may not accept items, because the workflow is no longer published. It does not report which ones it accepted.
		const stored = isBacklog ? this.#queue.waitForBatches() : this.#delivery.waitUntilStored();
		await this.#waitWithin(finalStoreMilliseconds, stored);
		this.#delivery.stopWaiting();
		const isLeft = this.#keepLeftover(this.#queue.takeLeftover(), !areRead.includes(false));
		this.#alerts.close();
		if (isLeft) await this.#waitWithin(alertStoreMilliseconds);
	}

	async #awaitDrain(drained: Promise<void>): Promise<void> {
		const { clock } = this.#parts;
		const end = clock.getMonotonicMilliseconds() + maxDrainMilliseconds;
		let [before, left] = [0, maxDrainMilliseconds];
		do {
			before = this.#queue.length;
			await this.#waitWithin(Math.min(executionEndMilliseconds, left), drained);
			left = end - clock.getMonotonicMilliseconds();
		} while (this.#queue.length > 0 && this.#queue.length < before && left > 0);
	}

	/** Waits within the stop budget. @param done ends the wait early */
	async #waitWithin(milliseconds: number, done: Promise<void> = new Promise(() => {})): Promise<void> {
		const { clock, stopBudget } = this.#parts;
		const begunAt = clock.getMonotonicMilliseconds();
		await waitAtMost(clock, Math.min(milliseconds, stopBudget.getRemainingMilliseconds()), done);
		stopBudget.spend(clock.getMonotonicMilliseconds() - begunAt);
	}

	/** @returns whether there is something left */
	#keepLeftover(leftover: Leftover<Arrival>, isAllRead: boolean): boolean {
		const messages = leftover.entries.filter(({ isMessage }) => isMessage);
		if (messages.length === 0 && isAllRead) return false;
		const { context, memory, clock } = this.#parts;
		this.#delivery.forget(messages);
		memory.keepLeftover(leftover, clock);
		const failure = createStoppedEarlyError(messages.length, isAllRead);
		context.logger.warn(`Session channel: ${failure.message}. ${failure.description}`);
		this.#alerts.raise('left', failure);
		return true;
	}

	#resumeLeftover({ entries, dropped }: Leftover<Arrival>): void {
		const { settings, context } = this.#parts;
		const isListed = ({ sessionId }: Arrival) => settings.sessionIds.includes(sessionId);
		const kept = entries.filter(isListed).flatMap((entry) => this.#renumberIfNew(entry));
		this.#queue.adopt({ entries: kept, dropped });
		const lost = entries.filter((entry) => entry.isMessage && !isListed(entry)).length;
		if (lost === 0) return;
		context.logger.warn(
			`Session channel: queued messages were discarded because 'Session IDs' no longer contains their session: ${lost}`,
		);
	}

	/** Numbers the message before those of the new channel. @returns an empty list for a repeated ID */
	#renumberIfNew(entry: Arrival): readonly Arrival[] {
		if (!entry.isMessage) return [entry];
		const sequence = this.#parts.memory.getFrameSequence(entry.sessionId).assignNumber();
		const arrival = new MessageArrival({ ...entry.frame, sequence });
		const isNew = this.#delivery.rememberIfNew(arrival);
		arrival.releaseMessage();
		return isNew ? [arrival] : [];
	}

	readonly #handleMessage = (frame: SessionFrame) => {
		const { context, settings, memory } = this.#parts;
		const arrival = new MessageArrival(frame);
		const isWanted = settings.filter === undefined || meetsCondition(arrival.message, settings.filter);
		if (isWanted && this.#delivery.rememberIfNew(arrival)) {
			this.#queue.push(arrival);
			arrival.releaseMessage();
			return;
		}
		memory.getFrameSequence(frame.sessionId).addUnreportedGap(frame.gapMs);
		if (!isWanted || this.#hasLoggedRepeated) return;
		// Otherwise, pieces of an answer that share an ID would be lost without a trace.
		this.#hasLoggedRepeated = true;
		context.logger.warn(
			`Session channel ${frame.sessionId}: a message with an ID that came before starts no execution, and further ones are not logged. If the service sends an answer in several messages with one ID, clear 'Deduplication Field'`,
		);
	};
}

/** Starts to listen. Network problems fail nothing: n8n would not try again. @throws NodeApiError for wrong parameters or credentials */
export async function listen(n8n: ITriggerFunctions): Promise<ITriggerResponse> {
	const logger = createSanitizedLog(n8n.logger, new Sanitizer());
	// Everything else is inherited, including what n8n replaces later.
	const context = Object.create(n8n, { logger: { value: logger } }) as ITriggerFunctions;
	const parts = await checkParts(context).catch((error: unknown) => {
		throw createTriggerError(context, toNodeError(error));
	});
	if (context.getMode() === 'manual') return createTestListener(parts);

	// The node ID alone is not unique, because copied workflows have the same ones.
	const key = JSON.stringify([String(context.getWorkflow().id), context.getNode().id]);
	const listening = new PublishedListener({
		...parts,
		rateLimiter: getConnectRateLimiter(context.getNode().credentials?.agentApi?.id ?? key),
		memory: getNodeMemory(key),
		stopBudget: getStopBudget(),
	});
	await replaceListener(key, listening);
	listening.start();
	return { closeFunction: () => closeListener(key, listening) };
}

async function checkParts(context: ITriggerFunctions): Promise<ListenerParts> {
	const settings = readTriggerSettings(context);
	const readRequest = createConnectRequestReader(context);
	const [sessionId = ''] = settings.sessionIds;
	try {
		await readRequest(sessionId);
	} catch (error) {
		const { credentials } = context.getNode();
		const isChosen = credentials?.agentApi !== undefined && credentials.agentSignatureApi !== undefined;
		if (isNodeError(error) || !isChosen || context.getMode() === 'manual') throw toNodeError(error);
		// n8n's database or a vault may be unavailable for a moment, so the connections try again later.
		context.logger.warn(`Session channel: the credentials could not be read: ${toNodeError(error).message}`);
	}
	return { context, settings, readRequest, clock: systemClock, connect };
}
