import type { ITriggerFunctions } from 'n8n-workflow';

import type { Failure } from '../../core/errors';
import type { Clock } from '../../core/clock';
import type { connect } from '../session/sessionConnection';
import type { Connection } from '../session/connection';
import type { ReadIdentity } from '../session/connectRequest';
import type { ConnectRateLimiter } from '../session/reconnect';
import type { SessionFrame } from '../session/messages';
import { Alerts, leftAtStop, overflow, sessionTakenOut } from './alerts';
import { type Leftover, MessageQueue } from './queue';
import { Delivery } from './delivery';
import { type Arrival, eventArrival, Filter, Numbering } from './items';
import type { Leftovers, RecentKeys, StopBudget } from './triggerState';
import type { TriggerSettings } from './settings';

interface ListeningParts {
	readonly context: ITriggerFunctions;
	readonly settings: TriggerSettings;
	readonly readIdentity: ReadIdentity;
	readonly recent: RecentKeys;
	readonly leftovers: Leftovers;
	readonly stopBudget: StopBudget;
	readonly clock: Clock;
	/** Which all sessions share with all other nodes that go to the same service. */
	readonly rateLimiter: ConnectRateLimiter;
	readonly connect: typeof connect;
}

/** While stopping, queued messages are still delivered within the limits, as long as executions end this quickly. */
const nextEndMilliseconds = 400;
/** For at most this long: n8n stops one trigger after another and exits after 30 s. */
const drainMilliseconds = 2000;
/** Final executions beyond the limit: n8n 2.41 needs about 10 MiB for each running execution. */
const lastExecutions = 50;
/** For n8n to store the last messages. */
const lastWordsMilliseconds = 500;
/** For n8n to store a failed execution, of which it does not tell: it may be about to end. */
const alertMilliseconds = 200;

/** A published trigger at work: one channel per session, one queue for all of them. */
export class Listening {
	readonly #parts: ListeningParts;
	readonly #alerts: Alerts;
	readonly #delivery: Delivery;
	readonly #queue: MessageQueue<Arrival>;
	readonly #numbering = new Numbering();
	readonly #filter: Filter;
	#connections: Connection[] = [];
	#closing: Promise<void> | undefined;

	constructor(parts: ListeningParts) {
		const { context, settings, clock, recent } = parts;
		this.#parts = parts;
		this.#filter = new Filter(settings.filter);
		this.#alerts = new Alerts(context, clock);
		this.#delivery = new Delivery(context, settings, clock, this.#alerts, recent);
		this.#queue = new MessageQueue<Arrival>(settings.queue, this.#queueListener(), clock);
	}

	/** Opens the channels, and goes on with what was left at the stop before; nothing when it was closed before. */
	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, connect, readIdentity, context, clock, rateLimiter, leftovers } = this.#parts;
		const { sessionIds, messageFormat, channel } = settings;
		const options = { ...channel, messageFormat };
		const environment = { clock, rateLimiter, log: context.logger };
		this.#connections = sessionIds.map((sessionId) =>
			connect({ ...options, sessionId }, readIdentity, this.#channelListener(sessionId), environment),
		);
		const leftover = leftovers.take();
		if (leftover) this.#adopt(leftover);
	}

	/**
	 * Messages that have arrived are still delivered. Messages that would be too much for n8n at once are kept for the next start. It does
	 * not wait for executions. Within 3 s, within 1.2 s when they are slow, within 0.3 s when too many triggers stop; idempotent, never rejects.
	 */
	close(): Promise<void> {
		this.#closing ??= this.#shut();
		return this.#closing;
	}

	async #shut(): Promise<void> {
		await Promise.all(this.#connections.map((connection) => connection.close(true)));
		const isBacklog = this.#queue.length > 0;
		await this.#drain();
		// At once, they would overtake each other.
		const keepsOrder = this.#parts.settings.queue.maxConcurrent === 1;
		this.#queue.end(keepsOrder ? 0 : lastExecutions);
		// n8n accepts no more items for a workflow that is no longer published, and does not report which it accepted.
		await this.#within(lastWordsMilliseconds, isBacklog ? this.#delivery.ended() : this.#delivery.stored());
		this.#delivery.release();
		this.#alerts.close();
		await this.#leave(this.#queue.takeLeftover());
	}

	async #drain(): Promise<void> {
		const { clock } = this.#parts;
		this.#delivery.stop();
		const drained = this.#queue.drain();
		const end = clock.monotonicMilliseconds() + drainMilliseconds;
		let before: number;
		do {
			before = this.#queue.length;
			const left = end - clock.monotonicMilliseconds();
			await this.#within(Math.min(nextEndMilliseconds, left), drained);
		} while (this.#queue.length < before && clock.monotonicMilliseconds() < end);
	}

	/** @param done without it, that time passes */
	async #within(milliseconds: number, done?: Promise<void>): Promise<void> {
		const { clock, stopBudget } = this.#parts;
		const begunAt = clock.monotonicMilliseconds();
		await new Promise<void>((resolve) => {
			const cancel = clock.after(Math.min(milliseconds, stopBudget.left()), resolve);
			void done?.then(() => {
				cancel();
				resolve();
			});
		});
		stopBudget.spend(clock.monotonicMilliseconds() - begunAt);
	}

	async #leave(leftover: Leftover<Arrival>): Promise<void> {
		const messages = leftover.entries.filter(({ isMessage }) => isMessage);
		if (messages.length === 0) return;
		const { context, leftovers } = this.#parts;
		leftovers.keep(leftover, () => {
			this.#delivery.forget(messages);
		});
		const failure = leftAtStop(messages.length);
		context.logger.warn(`Session channel: ${failure.message}. ${failure.description}`);
		this.#alerts.raise('left', failure);
		await this.#within(alertMilliseconds);
	}

	#adopt({ entries, dropped }: Leftover<Arrival>): void {
		const { sessionIds } = this.#parts.settings;
		const isListed = ({ sessionId }: Arrival) => sessionIds.includes(sessionId);
		this.#delivery.forget(entries);
		const goOn = entries.filter((entry) => isListed(entry) && this.#delivery.isNew(entry));
		this.#queue.adopt({ entries: goOn.map((entry) => this.#numbering.adopted(entry)), dropped });
		const lost = entries.filter((entry) => entry.isMessage && !isListed(entry)).length;
		if (lost > 0) this.#tellLost(lost);
	}

	#tellLost(count: number): void {
		const failure = sessionTakenOut(count);
		this.#parts.context.logger.warn(`Session channel: ${failure.message}`);
		this.#alerts.raise('dropped', failure);
	}

	#channelListener(sessionId: string) {
		return {
			message: (frame: SessionFrame) => {
				const wanted = this.#filter.take(frame);
				const arrival = wanted && this.#numbering.arrived(wanted);
				if (arrival && this.#delivery.isNew(arrival)) this.#queue.push(arrival);
			},
			event: (event: Parameters<typeof eventArrival>[0]) => {
				if (this.#parts.settings.connectionEvents) this.#queue.push(eventArrival(event));
			},
			alert: (failure: Failure, kind: 'refused' | 'outage') => {
				this.#alerts.raise(kind, failure, sessionId);
			},
		};
	}

	#queueListener() {
		return {
			deliver: (batch: Parameters<Delivery['deliver']>[0]) => this.#delivery.deliver(batch),
			pause: () => {
				this.#parts.context.logger.info('Session channel: the queue is full, reading is paused');
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
	}
}
