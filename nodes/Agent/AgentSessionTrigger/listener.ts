import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { isNodeError, toNodeError } from '../../core/errors';
import { systemClock } from '../../core/clock';
import { createSanitizedLog, Sanitizer } from '../../core/sanitizer';
import { createConnectRequestReader } from '../session/connectRequest';
import {
	type Connection,
	connect,
	type ConnectionEvent,
	type ConnectionListener,
	type EndedChannel,
} from '../session/connection';
import { meetsCondition, type SessionFrame } from '../session/messages';
import { getConnectRateLimiter } from '../session/reconnect';
import { Alerts, createStoppedEarlyError, createTriggerError } from './alerts';
import { type Arrival, createEventArrival, MessageArrival } from './arrival';
import { Delivery } from './delivery';
import { readTriggerSettings } from './fields';
import { MessageQueue } from './queue';
import type { ListenerSetup } from './listenerSetup';
import { createTestListener } from './testListener';
import * as triggerState from './triggerState';

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
export class PublishedListener implements triggerState.NodeListener, ConnectionListener {
	readonly nodeKey: string;
	readonly label: string;
	readonly sessionIds: readonly string[];
	readonly #memory: triggerState.NodeMemory;
	readonly #setup: ListenerSetup;
	readonly #alerts: Alerts;
	readonly #delivery: Delivery;
	readonly #queue: MessageQueue<Arrival>;
	#connections: Connection[] = [];
	#closing: Promise<void> | undefined;

	constructor(setup: ListenerSetup) {
		const { context, settings, clock } = setup;
		const node = context.getNode();
		const workflow = context.getWorkflow();
		// The node ID alone is not unique, because a copied workflow has the same node IDs.
		this.nodeKey = JSON.stringify([String(workflow.id), node.id]);
		this.label = `'${node.name}' in the workflow '${workflow.name ?? ''}'`;
		this.sessionIds = settings.sessionIds;
		this.#setup = setup;
		this.#memory = triggerState.getNodeMemory(this.nodeKey);
		this.#alerts = new Alerts(context, clock);
		this.#delivery = new Delivery(
			setup,
			this.#memory,
			this.#alerts,
			() => this.#queue.isBlocked,
		);
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
		this.#warnAboutOtherListeners();
		this.#connections = this.sessionIds.map((sessionId) => this.#connect(sessionId));
		this.#resumeLeftover();
	}

	/**
	 * Stops within 2.5 s: 1.3 s to close the channels, `handOverMilliseconds` and
	 * `alertStoreMilliseconds`. Never rejects. A second call only waits for the first.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#stop();
		return this.#closing;
	}

	#connect(sessionId: string): Connection {
		const { settings, context, clock, readConnectRequest } = this.#setup;
		const history = this.#memory.getSession(sessionId);
		const credentialId = context.getNode().credentials?.agentApi?.id;
		const rateLimiter = getConnectRateLimiter(credentialId ?? this.nodeKey);
		const environment = { clock, rateLimiter, history, log: context.logger };
		return this.#setup.connect(
			{ ...settings, sessionId },
			readConnectRequest,
			this,
			environment,
		);
	}

	onFrame(frame: SessionFrame): void {
		const session = this.#memory.getSession(frame.sessionId);
		const arrival = new MessageArrival(frame, session.unreportedGapMs);
		const { filter } = this.#setup.settings;
		const isAccepted = filter === undefined || meetsCondition(arrival.message, filter);
		// The next message that starts an execution reports the gap.
		if (isAccepted && this.#pushIfNew(arrival)) session.unreportedGapMs = undefined;
	}

	onEvent(event: ConnectionEvent): void {
		const session = this.#memory.getSession(event.sessionId);
		if (event.gapMs !== null)
			session.unreportedGapMs = (session.unreportedGapMs ?? 0) + event.gapMs;
		if (this.#setup.settings.connectionEvents) this.#queue.push(createEventArrival(event));
	}

	onChannelEnd({ mustAlert, failure }: EndedChannel): void {
		if (mustAlert) this.#alerts.reportChannel(failure);
	}

	#warnAboutOtherListeners(): void {
		for (const sessionId of this.sessionIds) {
			const labels = triggerState.listListenerLabels(sessionId, this.nodeKey);
			if (labels.length === 0) continue;
			this.#setup.context.logger.warn(
				`Session channel ${sessionId}: ${labels.join(', ')} also listens to this session. Each message may start both workflows, or the service may send it to only one of them`,
			);
		}
	}

	/**
	 * Stops reading, hands over what waits within the time limit, and reports how many messages are
	 * left.
	 */
	async #stop(): Promise<void> {
		const { clock } = this.#setup;
		this.#delivery.stopRetrying();
		const closings = this.#connections.map((connection) =>
			connection.close('the trigger was stopped'),
		);
		const hasUnreadMessages = (await Promise.all(closings)).includes(false);
		await triggerState.waitWhileStopping(clock, handOverMilliseconds, this.#handOver());
		this.#delivery.stopWaiting();
		const isReported = this.#keepLeftover(this.#queue.takeLeftover(), hasUnreadMessages);
		this.#alerts.endLosses('The trigger was stopped');
		const never = new Promise<void>(() => {});
		if (isReported) await triggerState.waitWhileStopping(clock, alertStoreMilliseconds, never);
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
		const messages = leftover.filter(({ isMessage }) => isMessage);
		if (messages.length === 0 && !hasUnreadMessages) return false;
		this.#delivery.forgetKeys(messages);
		this.#memory.keepLeftover(leftover, this.#setup.clock);
		this.#alerts.report(createStoppedEarlyError(messages.length, hasUnreadMessages));
		return true;
	}

	/** Queues the messages again, before those of the new channels. */
	#resumeLeftover(): void {
		let unlistedCount = 0;
		for (const arrival of this.#memory.takeLeftover()) {
			if (!this.sessionIds.includes(arrival.sessionId)) unlistedCount++;
			else if (arrival.isMessage) this.#pushIfNew(arrival);
			else this.#queue.push(arrival);
		}
		if (unlistedCount === 0) return;
		this.#setup.context.logger.warn(
			`Session channel: queued messages were discarded because 'Session IDs' no longer contains their session: ${unlistedCount}`,
		);
	}

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

	const listener = new PublishedListener(setup);
	await triggerState.replaceListener(listener);
	listener.start();
	return { closeFunction: () => triggerState.closeListener(listener) };
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
