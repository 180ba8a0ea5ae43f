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
	/** Which all sessions share with all other nodes that go to the same service. */
	readonly rateLimiter: ConnectRateLimiter;
}

/** While stopping, queued messages are still delivered within the limits, as long as executions end this quickly. */
const nextEndMilliseconds = 400;
/** For at most this long: n8n stops one trigger after another and exits after 30 s. */
const drainMilliseconds = 2000;
/** Final executions beyond the limit, for a workflow that is unpublished: n8n 2.41 needs about 10 MiB for each running execution. */
const lastExecutions = 50;
/** For n8n to store the last messages. */
const lastWordsMilliseconds = 500;
/** For n8n to store a failed execution, of which it does not tell: it may be about to end. */
const alertMilliseconds = 200;

/** Between two lines of the log about messages that came before. */
const repeatedMilliseconds = 60_000;

/** A published trigger at work: one channel per session, one queue for all of them. */
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

	/** Opens the channels, and goes on with what was left at the stop before; nothing when it was closed before. */
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
	 * Delivers for a moment within the limits while the channels stay open, closes them, and keeps what is left for the next start. Does
	 * not wait for executions. Within 4 s, and sooner when executions are slow or too many triggers stop; idempotent, never rejects.
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
		// At once, they would overtake each other.
		const keepsOrder = this.#parts.settings.maxConcurrentExecutions === 1;
		this.#queue.end(keepsOrder ? 0 : lastExecutions);
		// n8n accepts no more items for a workflow that is no longer published, and does not report which it accepted.
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

	/** @param done without it, that time passes */
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

	/** Counts before those of the channel. @returns nothing for an ID that came before */
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

	/** An agent may send its answer in pieces that share an ID: they are lost by the user's own setting, but not in silence. */
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

/** Starts to listen. No network problem makes it fail, for n8n would not try again. @throws NodeApiError for wrong input */
export async function listen(n8n: ITriggerFunctions): Promise<ITriggerResponse> {
	const logger = cleanLog(n8n.logger, new Sanitizer());
	// Inherits everything else, including what n8n replaces later.
	const context = Object.create(n8n, { logger: { value: logger } }) as ITriggerFunctions;
	const parts = await checkedParts(context).catch((error: unknown) => {
		throw triggerError(context, toNodeError(error));
	});
	if (context.getMode() === 'manual') return testListener(parts);

	// Copied workflows share the ids of their nodes.
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
		// n8n's database or a vault may be out of reach for a moment: that is tried again, like any outage.
		context.logger.warn(`Session channel: the credentials could not be read: ${toNodeError(error).message}`);
	}
	return { context, settings, readRequest, clock: systemClock, connect };
}
