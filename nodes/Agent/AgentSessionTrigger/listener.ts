import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { isNodeError, toNodeError } from '../../core/errors';
import { waitAtMost, systemClock } from '../../core/clock';
import { createSanitizedLog, Sanitizer } from '../../core/sanitizer';
import {
	connect,
	type Connection,
	type ConnectionEvent,
	type EndedChannel,
} from '../session/connection';
import { createConnectRequestReader } from '../session/connectRequest';
import { meetsCondition } from '../session/messageFields';
import type { SessionFrame } from '../session/messages';
import { type ConnectRateLimiter, getConnectRateLimiter } from '../session/reconnect';
import {
	Alerts,
	createQueueFullError,
	createStoppedEarlyError,
	createTriggerError,
} from './alerts';
import { Delivery, type DeliverySetup } from './delivery';
import { readTriggerSettings } from './fields';
import {
	type Arrival,
	createEventArrival,
	type Leftover,
	MessageArrival,
	MessageQueue,
} from './queue';
import { type ListenerSetup, createTestListener } from './testListener';
import { closeListener, getNodeMemory, getStopBudget, replaceListener } from './triggerState';

interface PublishedSetup extends ListenerSetup, DeliverySetup {
	readonly stopBudget: ReturnType<typeof getStopBudget>;
	/** Shared with all other nodes that connect to the same service. */
	readonly rateLimiter: ConnectRateLimiter;
}

/** While a trigger stops, it keeps delivering. It gives up if the queue has not become shorter after this time. */
const maxDrainStepMilliseconds = 400;
/** The time limit for all deliveries while the trigger stops. n8n stops one trigger after another, and exits 30 s after it begins to stop. */
const maxDrainMilliseconds = 2000;
/** How many final executions may start at once, beyond the user's limit. n8n 2.41 needs about 10 MiB for each execution. */
const maxFinalExecutions = 50;
/** How long n8n may take to store the items of the final executions. */
const finalStoreMilliseconds = 500;
/** How long n8n gets to store a failed execution. n8n may exit after that, and does not report when the execution is stored. */
const alertStoreMilliseconds = 200;

/** The listener of a published workflow: one channel per session, and one queue for all of them. */
export class PublishedListener {
	readonly #setup: PublishedSetup;
	readonly #alerts: Alerts;
	readonly #delivery: Delivery;
	readonly #queue: MessageQueue<Arrival>;
	#hasLoggedRepeatedId = false;
	#connections: Connection[] = [];
	#closing: Promise<void> | undefined;

	constructor(setup: PublishedSetup) {
		const { context, settings, clock } = setup;
		this.#setup = setup;
		this.#alerts = new Alerts(context, clock);
		this.#delivery = new Delivery(setup, this.#alerts);
		const queueActions = {
			deliver: (batch: readonly Arrival[]) => this.#delivery.deliver(batch),
			pauseReading: () => {
				context.logger.info('Session channel: the queue is full, reading is paused');
				for (const connection of this.#connections) connection.pause();
			},
			resumeReading: () => {
				for (const connection of this.#connections) connection.resume();
			},
			reportDropped: (arrivals: readonly Arrival[]) => {
				this.#delivery.forgetKeys(arrivals);
				this.#alerts.raise('dropped', createQueueFullError(arrivals.length));
			},
		};
		this.#queue = new MessageQueue<Arrival>(settings, queueActions, clock);
	}

	/** Opens the channels and queues the messages that were left at the last stop. Does nothing after `close()`. */
	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, connect, readConnectRequest, context, clock, rateLimiter, memory } =
			this.#setup;
		this.#connections = settings.sessionIds.map((sessionId) => {
			const frameSequence = memory.getFrameSequence(sessionId);
			frameSequence.restart();
			const connectionListener = {
				onFrame: this.#handleFrame,
				onEvent: (event: ConnectionEvent) => {
					if (settings.connectionEvents) this.#queue.push(createEventArrival(event));
				},
				onChannelEnd: ({ alert, failure }: EndedChannel) => {
					if (alert) this.#alerts.raise(alert, failure, sessionId);
				},
			};
			const environment = { clock, rateLimiter, frameSequence, log: context.logger };
			return connect(
				{ ...settings, sessionId },
				readConnectRequest,
				connectionListener,
				environment,
			);
		});
		const leftover = memory.takeLeftover();
		if (leftover) this.#resumeLeftover(leftover);
	}

	/**
	 * Delivers queued messages for a short time, closes the channels, and keeps the other messages for the next start. Takes at most 4 s:
	 * `maxDrainMilliseconds`, 1.3 s to close, and the two limits for storing. Never rejects. A second call only waits for the first.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#stop();
		return this.#closing;
	}

	async #stop(): Promise<void> {
		this.#delivery.stopRetrying();
		const hadBacklog = this.#queue.length > 0;
		const whenDrained = this.#queue.drain();
		if (hadBacklog) await this.#awaitDrain(whenDrained);
		const options = { takesLastFrames: true, lossReason: 'the trigger was stopped' };
		const closings = this.#connections.map((connection) => connection.close(options));
		const hasUnreadMessages = (await Promise.all(closings)).includes(false);
		await this.#startFinalExecutions(hadBacklog || this.#queue.length > 0);
		const hasLeftover = this.#keepLeftover(this.#queue.takeLeftover(), hasUnreadMessages);
		this.#alerts.close();
		if (hasLeftover) await this.#waitWithin(alertStoreMilliseconds);
	}

	/** Starts the final executions, and waits until n8n has had time to store their items. */
	async #startFinalExecutions(hasBacklog: boolean): Promise<void> {
		// Executions that start at the same time may overtake each other.
		const keepsOrder = this.#setup.settings.maxConcurrentExecutions === 1;
		this.#queue.end(keepsOrder ? 0 : maxFinalExecutions);
		// n8n may refuse items that it gets later, because the workflow is then no longer published. It does not say which items it accepted.
		const whenStored = hasBacklog
			? this.#queue.waitForBatches()
			: this.#delivery.waitUntilStored();
		await this.#waitWithin(finalStoreMilliseconds, whenStored);
		this.#delivery.stopWaiting();
	}

	async #awaitDrain(whenDrained: Promise<void>): Promise<void> {
		const { clock } = this.#setup;
		const deadline = clock.getMonotonicMilliseconds() + maxDrainMilliseconds;
		let remainingMilliseconds = maxDrainMilliseconds;
		while (remainingMilliseconds > 0) {
			const previousLength = this.#queue.length;
			await this.#waitWithin(
				Math.min(maxDrainStepMilliseconds, remainingMilliseconds),
				whenDrained,
			);
			if (this.#queue.length === 0 || this.#queue.length >= previousLength) return;
			remainingMilliseconds = deadline - clock.getMonotonicMilliseconds();
		}
	}

	/** Waits within the stop budget. @param awaited ends the wait early when it settles */
	async #waitWithin(
		milliseconds: number,
		awaited: Promise<void> = new Promise(() => {}),
	): Promise<void> {
		const { clock, stopBudget } = this.#setup;
		const begunAt = clock.getMonotonicMilliseconds();
		await waitAtMost(
			clock,
			Math.min(milliseconds, stopBudget.getRemainingMilliseconds()),
			awaited,
		);
		stopBudget.spend(clock.getMonotonicMilliseconds() - begunAt);
	}

	/** Keeps the leftover for the next start and reports it. @returns whether any messages are left or unread */
	#keepLeftover(leftover: Leftover<Arrival>, hasUnreadMessages: boolean): boolean {
		const messages = leftover.entries.filter(({ isMessage }) => isMessage);
		if (messages.length === 0 && !hasUnreadMessages) return false;
		const { context, memory, clock } = this.#setup;
		this.#delivery.forgetKeys(messages);
		memory.keepLeftover(leftover, clock);
		const failure = createStoppedEarlyError(messages.length, hasUnreadMessages);
		context.logger.warn(`Session channel: ${failure.message}. ${failure.description}`);
		this.#alerts.raise('stoppedEarly', failure);
		return true;
	}

	#resumeLeftover({ entries, droppedCounts }: Leftover<Arrival>): void {
		const { settings, context } = this.#setup;
		const isListed = ({ sessionId }: Arrival) => settings.sessionIds.includes(sessionId);
		const listedEntries = entries
			.filter(isListed)
			.flatMap((entry) => this.#renumberIfNew(entry));
		this.#queue.adopt({ entries: listedEntries, droppedCounts });
		const lostCount = entries.filter((entry) => entry.isMessage && !isListed(entry)).length;
		if (lostCount === 0) return;
		context.logger.warn(
			`Session channel: queued messages were discarded because 'Session IDs' no longer contains their session: ${lostCount}`,
		);
	}

	/** Numbers the message again, before the messages of the new channel. @returns an empty list if the message has a repeated ID */
	#renumberIfNew(entry: Arrival): readonly Arrival[] {
		if (!entry.isMessage) return [entry];
		const sequence = this.#setup.memory.getFrameSequence(entry.sessionId).takeNumber();
		const arrival = new MessageArrival({ ...entry.frame, sequence });
		const isNew = this.#delivery.rememberIfNew(arrival);
		arrival.releaseMessage();
		return isNew ? [arrival] : [];
	}

	readonly #handleFrame = (frame: SessionFrame) => {
		const { context, settings, memory } = this.#setup;
		const arrival = new MessageArrival(frame);
		const passesFilter =
			settings.filter === undefined || meetsCondition(arrival.message, settings.filter);
		if (passesFilter && this.#delivery.rememberIfNew(arrival)) {
			this.#queue.push(arrival);
			arrival.releaseMessage();
			return;
		}
		// The next message that starts an execution reports this gap.
		memory.getFrameSequence(frame.sessionId).addUnreportedGap(frame.gapMs);
		if (!passesFilter || this.#hasLoggedRepeatedId) return;
		// Without this warning, pieces of an answer that share an ID would be lost without a trace.
		this.#hasLoggedRepeatedId = true;
		context.logger.warn(
			`Session channel ${frame.sessionId}: a message with an ID that came before starts no execution, and further ones are not logged. If the service sends an answer in several messages with one ID, clear 'Deduplication Field'`,
		);
	};
}

/** Starts to listen. Tolerates network problems, because n8n would not try again. @throws NodeApiError for a wrong parameter or credential */
export async function listen(n8nContext: ITriggerFunctions): Promise<ITriggerResponse> {
	const logger = createSanitizedLog(n8nContext.logger, new Sanitizer());
	// All members except the logger are inherited, because n8n replaces some of them later.
	const context = Object.create(n8nContext, { logger: { value: logger } }) as ITriggerFunctions;
	const setup = await readSetup(context).catch((error: unknown) => {
		throw createTriggerError(context, toNodeError(error));
	});
	if (context.getMode() === 'manual') return createTestListener(setup);

	// The node ID alone is not unique, because a copied workflow has the same node IDs.
	const key = JSON.stringify([String(context.getWorkflow().id), context.getNode().id]);
	const listener = new PublishedListener({
		...setup,
		rateLimiter: getConnectRateLimiter(context.getNode().credentials?.agentApi?.id ?? key),
		memory: getNodeMemory(key),
		stopBudget: getStopBudget(),
	});
	await replaceListener(key, listener);
	listener.start();
	return { closeFunction: () => closeListener(key, listener) };
}

async function readSetup(context: ITriggerFunctions): Promise<ListenerSetup> {
	const settings = readTriggerSettings(context);
	const readConnectRequest = createConnectRequestReader(context);
	// The credentials are the same for all sessions, so checking one session is enough.
	const [sessionId = ''] = settings.sessionIds;
	try {
		await readConnectRequest(sessionId);
	} catch (error) {
		const { credentials } = context.getNode();
		const isChosen =
			credentials?.agentApi !== undefined && credentials.agentSignatureApi !== undefined;
		if (isNodeError(error) || !isChosen || context.getMode() === 'manual')
			throw toNodeError(error);
		// n8n's database or a vault may be unavailable for a moment. The connections will read the credentials again.
		context.logger.warn(
			`Session channel: the credentials could not be read: ${toNodeError(error).message}`,
		);
	}
	return { context, settings, readConnectRequest, clock: systemClock, connect };
}
