import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { isNodeError, toNodeError } from '../../core/errors';
import { systemClock } from '../../core/clock';
import { createSanitizedLog, Sanitizer } from '../../core/sanitizer';
import { createConnectRequestReader } from '../session/connectRequest';
import {
	connect,
	type Connection,
	type ConnectionEvent,
	type EndedChannel,
} from '../session/connection';
import { meetsCondition } from '../session/messageFields';
import type { SessionFrame } from '../session/messages';
import { type ConnectRateLimiter, getConnectRateLimiter } from '../session/reconnect';
import { Alerts, createStoppedEarlyError, createTriggerError } from './alerts';
import { type Arrival, createEventArrival, MessageArrival } from './arrival';
import { Delivery, type DeliverySetup } from './delivery';
import { readTriggerSettings } from './fields';
import { MessageQueue } from './queue';
import type { ListenerSetup } from './listenerSetup';
import { createTestListener } from './testListener';
import { getStopBudget, type StopBudget } from './stopBudget';
import * as triggerState from './triggerState';

interface PublishedSetup extends ListenerSetup, DeliverySetup {
	readonly nodeKey: string;
	readonly stopBudget: StopBudget;
	/** Shared with all other nodes that connect to the same service. */
	readonly rateLimiter: ConnectRateLimiter;
}

/**
 * How long a trigger that stops hands over what waits, and lets n8n store it. n8n stops one trigger
 * after another, and exits after 30 s.
 */
const handOverMilliseconds = 1000;
/**
 * How many executions may run at once meanwhile. n8n 2.41 needs about 10 MiB for each execution.
 */
const maxFinalExecutions = 50;
/**
 * How long n8n gets to store a failed execution. n8n may exit after that, and does not report when
 * the execution is stored.
 */
const alertStoreMilliseconds = 200;

/** The listener of a published workflow: one channel per session, and one queue for all of them. */
export class PublishedListener implements triggerState.NodeListener {
	readonly label: string;
	readonly sessionIds: readonly string[];
	readonly #setup: PublishedSetup;
	readonly #alerts: Alerts;
	readonly #delivery: Delivery;
	readonly #queue: MessageQueue<Arrival>;
	#connections: Connection[] = [];
	#closing: Promise<void> | undefined;

	constructor(setup: PublishedSetup) {
		const { context, settings, clock } = setup;
		this.#setup = setup;
		this.label = `'${context.getNode().name}' in the workflow '${context.getWorkflow().name ?? ''}'`;
		this.sessionIds = settings.sessionIds;
		this.#alerts = new Alerts(context, clock);
		this.#delivery = new Delivery(setup, this.#alerts, () => this.#queue.isBlocked);
		const queueActions = {
			deliver: (batch: readonly Arrival[]) => this.#delivery.deliver(batch),
			pauseReading: () => {
				context.logger.info('Session channel: the queue is full, reading is paused');
				for (const connection of this.#connections) connection.pause();
			},
			resumeReading: () => {
				for (const connection of this.#connections) connection.resume();
			},
		};
		this.#queue = new MessageQueue<Arrival>(settings, queueActions, clock);
	}

	/**
	 * Opens the channels and queues the messages that were left at the last stop. Does nothing
	 * after `close()`.
	 */
	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, memory } = this.#setup;
		this.#warnAboutOtherListeners();
		this.#connections = settings.sessionIds.map((sessionId) => this.#connect(sessionId));
		this.#resumeLeftover(memory.takeLeftover());
	}

	/**
	 * Stops within 2.5 s: 1.3 s to close the channels, and the two limits above. Never rejects. A
	 * second call only waits for the first.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#stop();
		return this.#closing;
	}

	#connect(sessionId: string): Connection {
		const { settings, context, clock, rateLimiter, memory, readConnectRequest } = this.#setup;
		const frameSequence = memory.getFrameSequence(sessionId);
		frameSequence.restart();
		const listener = {
			onFrame: this.#handleFrame,
			onEvent: (event: ConnectionEvent) => {
				if (settings.connectionEvents) this.#queue.push(createEventArrival(event));
			},
			onChannelEnd: ({ alert, failure }: EndedChannel) => {
				if (alert) this.#alerts.reportChannel(failure);
			},
		};
		const environment = { clock, rateLimiter, frameSequence, log: context.logger };
		return this.#setup.connect(
			{ ...settings, sessionId },
			readConnectRequest,
			listener,
			environment,
		);
	}

	#warnAboutOtherListeners(): void {
		const { context, nodeKey } = this.#setup;
		for (const sessionId of this.sessionIds) {
			const labels = triggerState.listListenerLabels(sessionId, nodeKey);
			if (labels.length === 0) continue;
			context.logger.warn(
				`Session channel ${sessionId}: ${labels.join(', ')} also listens to this session. Each message may start both workflows, or the service may send it to only one of them`,
			);
		}
	}

	/**
	 * Stops reading, hands over what waits within the time limit, and reports how many messages are
	 * left.
	 */
	async #stop(): Promise<void> {
		const { clock, stopBudget } = this.#setup;
		this.#delivery.stopRetrying();
		const closings = this.#connections.map((connection) =>
			connection.close('the trigger was stopped'),
		);
		const hasUnreadMessages = (await Promise.all(closings)).includes(false);
		const handedOver = this.#handOver();
		await stopBudget.wait(clock, handOverMilliseconds, handedOver);
		this.#delivery.waits.stop();
		const isReported = this.#keepLeftover(this.#queue.takeLeftover(), hasUnreadMessages);
		this.#alerts.close();
		const never = new Promise<void>(() => {});
		if (isReported) await stopBudget.wait(clock, alertStoreMilliseconds, never);
	}

	/**
	 * Settles when nothing waits and n8n has stored the items. n8n may refuse later items, because
	 * the workflow is then no longer published.
	 */
	async #handOver(): Promise<void> {
		const hasBacklog = this.#queue.length > 0 || this.#delivery.storingCount > 0;
		// Executions that start at the same time may overtake each other.
		const keepsOrder = this.#setup.settings.maxConcurrentExecutions === 1;
		await this.#queue.handOver(keepsOrder ? 1 : maxFinalExecutions);
		// n8n does not say when it has stored items. It has when their execution ends.
		if (hasBacklog) await this.#queue.waitForBatches();
	}

	/**
	 * Keeps the leftover for the next start and reports it.
	 * @returns whether any messages are left or unread
	 */
	#keepLeftover(leftover: readonly Arrival[], hasUnreadMessages: boolean): boolean {
		const { memory, clock } = this.#setup;
		const messages = leftover.filter(({ isMessage }) => isMessage);
		if (messages.length === 0 && !hasUnreadMessages) return false;
		this.#delivery.forgetKeys(messages);
		memory.keepLeftover(leftover, clock);
		this.#alerts.report(createStoppedEarlyError(messages.length, hasUnreadMessages));
		return true;
	}

	/** Queues the messages again, with numbers before those of the new channels. */
	#resumeLeftover(leftover: readonly Arrival[]): void {
		const { settings, context, memory } = this.#setup;
		let unlistedCount = 0;
		for (const arrival of leftover) {
			if (!settings.sessionIds.includes(arrival.sessionId)) unlistedCount++;
			else if (!arrival.isMessage) this.#queue.push(arrival);
			else {
				const sequence = memory.getFrameSequence(arrival.sessionId).takeNumber();
				this.#pushIfNew(new MessageArrival({ ...arrival.frame, sequence }));
			}
		}
		if (unlistedCount === 0) return;
		context.logger.warn(
			`Session channel: queued messages were discarded because 'Session IDs' no longer contains their session: ${unlistedCount}`,
		);
	}

	readonly #handleFrame = (frame: SessionFrame) => {
		const { settings, memory } = this.#setup;
		const arrival = new MessageArrival(frame);
		const { filter } = settings;
		const isAccepted = filter === undefined || meetsCondition(arrival.message, filter);
		if (isAccepted && this.#pushIfNew(arrival)) return;
		// The next message that starts an execution reports this gap.
		memory.getFrameSequence(frame.sessionId).addUnreportedGap(frame.gapMs);
	};

	/** Queues a message unless its ID is known. @returns whether it is new */
	#pushIfNew(arrival: MessageArrival): boolean {
		const isNew = this.#delivery.rememberIfNew(arrival);
		if (isNew) this.#queue.push(arrival);
		else
			this.#setup.context.logger.debug(
				`Session channel ${arrival.sessionId}: a message with an ID that came before starts no execution`,
			);
		arrival.releaseMessage();
		return isNew;
	}
}

/**
 * Starts to listen. Tolerates network problems, because n8n would not try again.
 * @throws NodeApiError for a wrong parameter or credential
 */
export async function listen(n8nContext: ITriggerFunctions): Promise<ITriggerResponse> {
	const logger = createSanitizedLog(n8nContext.logger, new Sanitizer());
	// All members except the logger are inherited, because n8n replaces some of them later.
	const context = Object.create(n8nContext, { logger: { value: logger } }) as ITriggerFunctions;
	const setup = await readSetup(context).catch((error: unknown) => {
		throw createTriggerError(context, toNodeError(error));
	});
	if (context.getMode() === 'manual') return createTestListener(setup);

	// The node ID alone is not unique, because a copied workflow has the same node IDs.
	const nodeKey = JSON.stringify([String(context.getWorkflow().id), context.getNode().id]);
	const listener = new PublishedListener({
		...setup,
		nodeKey,
		rateLimiter: getConnectRateLimiter(context.getNode().credentials?.agentApi?.id ?? nodeKey),
		memory: triggerState.getNodeMemory(nodeKey),
		stopBudget: getStopBudget(),
	});
	await triggerState.replaceListener(nodeKey, listener);
	listener.start();
	return { closeFunction: () => triggerState.closeListener(nodeKey, listener) };
}

async function readSetup(context: ITriggerFunctions): Promise<ListenerSetup> {
	const settings = readTriggerSettings(context);
	const readConnectRequest = createConnectRequestReader(context);
	// The credentials are the same for all sessions, so checking one session is enough.
	const [sessionId = ''] = settings.sessionIds;
	await readConnectRequest(sessionId).catch((error: unknown) => {
		if (isNodeError(error) || !mayBeReadLater(context)) throw error;
	});
	return { context, settings, readConnectRequest, clock: systemClock, connect };
}

/**
 * Whether the connections may read the credentials later, because n8n's database or a vault may be
 * unavailable for a moment.
 */
function mayBeReadLater(context: ITriggerFunctions): boolean {
	const { agentApi, agentSignatureApi } = context.getNode().credentials ?? {};
	const isChosen = agentApi !== undefined && agentSignatureApi !== undefined;
	return isChosen && context.getMode() !== 'manual';
}
