import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { isNodeError, toNodeError } from '../../core/errors';
import { settledWithin, systemClock } from '../../core/runtime';
import { cleanLog, Sanitizer } from '../../core/sanitizer';
import { connect, type Connection, type ConnectionEvent, type EndedChannel } from '../session/connection';
import { requestReader } from '../session/credentials';
import { hasOneOf, type SessionFrame } from '../session/messages';
import { type ConnectRateLimiter, connectRateLimiterOf } from '../session/reconnect';
import { Alerts, leftAtStop, overflow, sessionTakenOut, triggerError } from './alerts';
import { Delivery, type DeliveryParts } from './delivery';
import { triggerSettings } from './fields';
import { type Arrival, eventArrival, type Leftover, MessageArrival, MessageQueue } from './queue';
import { type ListenerParts, testListener } from './testListener';
import { memoryOf, processStopBudget, release, type StopBudget, takeOver } from './triggerState';

interface PublishedListenerParts extends ListenerParts, DeliveryParts {
	readonly stopBudget: StopBudget;
	/** Shared with all other nodes that connect to the same service. */
	readonly rateLimiter: ConnectRateLimiter;
}

/** While the trigger stops, queued messages are still delivered as long as executions end this quickly. */
const nextEndMilliseconds = 400;
/** The limit for that, because n8n stops one trigger after another and exits after 30 s. */
const drainMilliseconds = 2000;
/** How many executions are then started at once, beyond the limit. n8n 2.41 needs about 10 MiB for each. */
const lastExecutions = 50;
/** How long n8n may take to store the last messages. */
const lastWordsMilliseconds = 500;
/** How long n8n gets to store a failed execution, because it may exit next and does not report when it is stored. */
const alertMilliseconds = 200;

/** The time between two log lines about repeated messages. */
const repeatedMilliseconds = 60_000;

/** The listener of a published workflow: one channel per session, and one queue for all of them. */
export class PublishedListener {
	readonly #parts: PublishedListenerParts;
	readonly #alerts: Alerts;
	readonly #delivery: Delivery;
	readonly #queue: MessageQueue<Arrival>;
	#repeated = 0;
	#toldRepeatedAt = Number.NEGATIVE_INFINITY;
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
			dropped: (arrivals: readonly Arrival[]) => {
				this.#delivery.forget(arrivals);
				this.#alerts.raise('dropped', overflow(arrivals.length));
			},
		};
		this.#queue = new MessageQueue<Arrival>(settings, listener, clock);
	}

	/** Opens the channels and resumes the messages that were left at the last stop. Does nothing after `close()`. */
	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, connect, readRequest, context, clock, rateLimiter, memory } = this.#parts;
		this.#connections = settings.sessionIds.map((sessionId) => {
			const frames = memory.framesOf(sessionId);
			frames.restart();
			const listener = {
				message: this.#received,
				event: (event: ConnectionEvent) => {
					if (settings.connectionEvents) this.#queue.push(eventArrival(event));
				},
				ended: ({ alert, failure }: EndedChannel) => {
					if (alert) this.#alerts.raise(alert, failure, sessionId);
				},
			};
			const environment = { clock, rateLimiter, frames, log: context.logger };
			return connect({ ...settings, sessionId }, readRequest, listener, environment);
		});
		const leftover = memory.take();
		if (leftover) this.#adopt(leftover);
	}

	/**
	 * Delivers queued messages for a moment, closes the channels, and keeps what is left for the next start, without waiting for executions
	 * to end. Takes at most 4 s, and less if executions are slow or many triggers stop. Never rejects; a second call does nothing.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#shut();
		return this.#closing;
	}

	async #shut(): Promise<void> {
		this.#delivery.stop();
		const hasWaited = this.#queue.length > 0;
		const drained = this.#queue.drain();
		if (hasWaited) await this.#drain(drained);
		const areRead = await Promise.all(this.#connections.map((connection) => connection.close(true)));
		const isBacklog = hasWaited || this.#queue.length > 0;
		// Executions that start at once may overtake each other.
		const keepsOrder = this.#parts.settings.maxConcurrentExecutions === 1;
		this.#queue.end(keepsOrder ? 0 : lastExecutions);
		// After this, n8n may not accept items, because the workflow is no longer published. It does not report which ones it accepted.
		await this.#within(lastWordsMilliseconds, isBacklog ? this.#queue.ended() : this.#delivery.stored());
		this.#delivery.release();
		this.#alerts.close();
		await this.#leave(this.#queue.takeLeftover(), !areRead.includes(false));
	}

	async #drain(drained: Promise<void>): Promise<void> {
		const { clock } = this.#parts;
		const end = clock.monotonicMilliseconds() + drainMilliseconds;
		let before: number;
		do {
			before = this.#queue.length;
			await this.#within(Math.min(nextEndMilliseconds, end - clock.monotonicMilliseconds()), drained);
		} while (this.#queue.length > 0 && this.#queue.length < before && clock.monotonicMilliseconds() < end);
	}

	/** Waits within the stop budget. @param done ends the wait early */
	async #within(milliseconds: number, done: Promise<void> = new Promise(() => {})): Promise<void> {
		const { clock, stopBudget } = this.#parts;
		const begunAt = clock.monotonicMilliseconds();
		await settledWithin(clock, Math.min(milliseconds, stopBudget.left()), done);
		stopBudget.spend(clock.monotonicMilliseconds() - begunAt);
	}

	async #leave(leftover: Leftover<Arrival>, isRead: boolean): Promise<void> {
		const messages = leftover.entries.filter(({ isMessage }) => isMessage);
		if (messages.length === 0 && isRead) return;
		const { context, memory, clock } = this.#parts;
		this.#delivery.forget(messages);
		memory.keep(leftover, clock);
		const failure = leftAtStop(messages.length, isRead);
		context.logger.warn(`Session channel: ${failure.message}. ${failure.description}`);
		this.#alerts.raise('left', failure);
		await this.#within(alertMilliseconds);
	}

	#adopt({ entries, dropped }: Leftover<Arrival>): void {
		const { settings, context } = this.#parts;
		const isListed = ({ sessionId }: Arrival) => settings.sessionIds.includes(sessionId);
		const goOn = entries.filter(isListed).flatMap((entry) => this.#adopted(entry));
		this.#queue.adopt({ entries: goOn, dropped });
		const lost = entries.filter((entry) => entry.isMessage && !isListed(entry)).length;
		if (lost === 0) return;
		const failure = sessionTakenOut(lost);
		context.logger.warn(`Session channel: ${failure.message}`);
		this.#alerts.raise('dropped', failure);
	}

	/** Numbers the message before those of the new channel. @returns an empty list for a repeated ID */
	#adopted(entry: Arrival): readonly Arrival[] {
		if (!entry.isMessage) return [entry];
		const sequence = this.#parts.memory.framesOf(entry.sessionId).next();
		const arrival = new MessageArrival({ ...entry.frame, sequence });
		const isNew = this.#delivery.isNew(arrival);
		arrival.release();
		return isNew ? [arrival] : [];
	}

	readonly #received = (frame: SessionFrame) => {
		const { settings, memory } = this.#parts;
		const arrival = new MessageArrival(frame);
		const isWanted = settings.filter === undefined || hasOneOf(arrival.message, settings.filter);
		if (isWanted && this.#delivery.isNew(arrival)) {
			this.#queue.push(arrival);
			arrival.release();
			return;
		}
		if (isWanted) this.#countRepeated(frame.sessionId);
		memory.framesOf(frame.sessionId).untold(frame.gapMs);
	};

	/** Logs repeated messages, because pieces of an answer that share an ID would otherwise be lost without a trace. */
	#countRepeated(sessionId: string): void {
		const { context, clock } = this.#parts;
		const now = clock.monotonicMilliseconds();
		this.#repeated++;
		if (now - this.#toldRepeatedAt < repeatedMilliseconds) return;
		this.#toldRepeatedAt = now;
		context.logger.warn(
			`Session channel ${sessionId}: messages with an ID that came before start no execution, ${this.#repeated} so far. If the service sends an answer in several messages with one ID, clear 'Deduplication Field'`,
		);
	}
}

/** Starts to listen. A network problem is no error here, because n8n would not try again. @throws NodeApiError for wrong parameters or credentials */
export async function listen(n8n: ITriggerFunctions): Promise<ITriggerResponse> {
	const logger = cleanLog(n8n.logger, new Sanitizer());
	// Everything else is inherited, including what n8n replaces later.
	const context = Object.create(n8n, { logger: { value: logger } }) as ITriggerFunctions;
	const parts = await checkedParts(context).catch((error: unknown) => {
		throw triggerError(context, toNodeError(error));
	});
	if (context.getMode() === 'manual') return testListener(parts);

	// The node ID alone is not unique, because copied workflows have the same ones.
	const key = JSON.stringify([String(context.getWorkflow().id), context.getNode().id]);
	const listening = new PublishedListener({
		...parts,
		rateLimiter: connectRateLimiterOf(context.getNode().credentials?.agentApi?.id ?? key),
		memory: memoryOf(key),
		stopBudget: processStopBudget(),
	});
	await takeOver(key, listening);
	listening.start();
	return { closeFunction: () => release(key, listening) };
}

async function checkedParts(context: ITriggerFunctions): Promise<ListenerParts> {
	const settings = triggerSettings(context);
	const readRequest = requestReader(context);
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
