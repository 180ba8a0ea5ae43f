import type { ITriggerFunctions } from 'n8n-workflow';

import { Failure } from '../../items/failure';
import type { Clock } from '../session/clock';
import type { connect, Connection, ReadIdentity } from '../session/connection';
import { Alerts } from './alerts';
import type { RecentKeys } from './deduplication';
import { Delivery } from './delivery';
import { type Arrival, eventArrival, messageArrival } from './items';
import { MessageQueue } from './queue';
import type { TriggerSettings } from './settings';

export interface ListeningParts {
	readonly context: ITriggerFunctions;
	readonly settings: TriggerSettings;
	readonly readIdentity: ReadIdentity;
	readonly recent: RecentKeys;
	readonly clock: Clock;
	readonly connect: typeof connect;
}

/** For storing the bytes of the last messages. */
const lastWordsMilliseconds = 500;

/** A published trigger at work: one channel per session, one queue for all of them. */
export class Listening {
	readonly #parts: ListeningParts;
	readonly #alerts: Alerts;
	readonly #delivery: Delivery;
	readonly #queue: MessageQueue<Arrival>;
	#connections: Connection[] = [];
	#closing: Promise<void> | undefined;

	constructor(parts: ListeningParts) {
		const { context, settings, clock, recent } = parts;
		this.#parts = parts;
		this.#alerts = new Alerts(context, clock);
		this.#delivery = new Delivery(context, settings, clock, this.#alerts, recent);
		this.#queue = new MessageQueue<Arrival>(settings.queue, this.#queueListener(), clock);
	}

	/** Opens the channels; nothing when it was closed before. */
	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, connect, readIdentity, context, clock } = this.#parts;
		const { sessionIds, messageFormat, channel } = settings;
		const options = { ...channel, messageFormat, sessions: sessionIds.length };
		const listener = this.#channelListener();
		this.#connections = sessionIds.map((sessionId) =>
			connect({ ...options, sessionId }, readIdentity, listener, { clock, log: context.logger }),
		);
	}

	/** Messages that have arrived are still handed over, executions are not waited for. Within 1 s, idempotent, never rejects. */
	close(): Promise<void> {
		this.#closing ??= this.#shut();
		return this.#closing;
	}

	async #shut(): Promise<void> {
		await Promise.all(this.#connections.map((connection) => connection.close()));
		this.#queue.flush();
		await new Promise<void>((resolve) => {
			const cancel = this.#parts.clock.after(lastWordsMilliseconds, resolve);
			void this.#delivery.stored().then(() => {
				cancel();
				resolve();
			});
		});
		this.#delivery.release();
	}

	#channelListener() {
		return {
			message: (message: Parameters<typeof messageArrival>[0]) => {
				const arrival = messageArrival(message);
				if (this.#delivery.isNew(arrival)) this.#queue.push(arrival);
			},
			event: (event: Parameters<typeof eventArrival>[0]) => {
				if (this.#parts.settings.connectionEvents) this.#queue.push(eventArrival(event));
			},
			alert: (failure: Failure, kind: 'refused' | 'outage') => {
				this.#alerts.raise(kind, failure);
			},
		};
	}

	#queueListener() {
		return {
			deliver: (batch: Parameters<Delivery['deliver']>[0]) => this.#delivery.deliver(batch),
			pause: () => {
				this.#parts.context.logger.info('Session channel: the queue is full, reading pauses');
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

function overflow(count: number): Failure {
	return new Failure({
		code: 429,
		message: `The queue of the trigger is full: ${count === 1 ? 'a message was' : `${count} messages were`} dropped`,
		description:
			"Messages come faster than their executions end. Raise 'Batch Size' or 'Max Concurrent Executions', or set 'On Queue Full' to 'Pause Reading'.",
	});
}
