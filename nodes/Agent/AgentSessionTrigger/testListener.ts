import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { NodeError, toNodeError } from '../../core/errors';
import type { Clock } from '../../core/clock';
import type { connect, Connection, EndedChannel } from '../session/connection';
import type { ConnectRequestReader } from '../session/connectRequest';
import { meetsCondition } from '../session/messageFields';
import type { SessionFrame } from '../session/messages';
import { createTriggerError } from './alerts';
import { type Arrival, MessageArrival, MessageQueue, buildStoredItem } from './queue';
import type { TriggerSettings } from './fields';

export interface ListenerSetup {
	readonly context: ITriggerFunctions;
	readonly settings: TriggerSettings;
	readonly readConnectRequest: ConnectRequestReader;
	readonly clock: Clock;
	readonly connect: typeof connect;
}

/** The test ends after this time, because n8n itself would wait forever. */
const testDurationSeconds = 60;

/** Creates the test in the editor. It ends with the first batch. n8n accepts items only after it has called `manualTriggerFunction`. */
export function createTestListener(setup: ListenerSetup): ITriggerResponse {
	const testListener = new EditorTestListener(setup);
	return {
		manualTriggerFunction: async () => {
			// If n8n closes the test right away, no channel is opened.
			await Promise.resolve();
			testListener.start();
		},
		closeFunction: () => testListener.close(),
	};
}

class EditorTestListener {
	readonly #setup: ListenerSetup;
	readonly #queue: MessageQueue<Arrival>;
	#connections: Connection[] = [];
	#cancelTimeout = () => {};
	#closing: Promise<unknown> | undefined;

	constructor(setup: ListenerSetup) {
		this.#setup = setup;
		const deliver = (batch: readonly Arrival[]) => this.#emitBatch(batch);
		this.#queue = new MessageQueue<Arrival>(setup.settings, { deliver }, setup.clock);
	}

	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, connect, readConnectRequest, clock, context } = this.#setup;
		const { filter } = settings;
		this.#connections = settings.sessionIds.map((sessionId) => {
			const listener = {
				onFrame: (frame: SessionFrame) => {
					const arrival = new MessageArrival(frame);
					if (filter === undefined || meetsCondition(arrival.message, filter))
						this.#queue.push(arrival);
					arrival.releaseMessage();
				},
				onChannelEnd: ({ decision, failure }: EndedChannel) => {
					if (decision === 'longBackoff') this.#fail(failure);
				},
			};
			const environment = { clock, log: context.logger };
			return connect({ ...settings, sessionId }, readConnectRequest, listener, environment);
		});
		this.#cancelTimeout = clock.callAfter(testDurationSeconds * 1000, () => {
			this.#fail(this.#createNoMessageError());
		});
	}

	/** n8n also calls this on "Stop listening" and after the workflow has run. */
	async close(): Promise<void> {
		this.#cancelTimeout();
		this.#queue.end();
		this.#closing ??= Promise.all(this.#connections.map((connection) => connection.close()));
		await this.#closing;
	}

	async #emitBatch(batch: readonly Arrival[]): Promise<boolean> {
		if (this.#closing !== undefined) return true;
		void this.close();
		const { context, settings } = this.#setup;
		try {
			const itemPromises = batch.map((arrival) =>
				buildStoredItem(arrival, settings.textField, context),
			);
			const items = await Promise.all(itemPromises);
			// n8n replaces `emit` for the test, so the function must be read from the context when it is called.
			context.emit([items]);
		} catch (error) {
			context.emitError(createTriggerError(context, toNodeError(error)));
		}
		return true;
	}

	#fail(failure: NodeError): void {
		if (this.#closing !== undefined) return;
		void this.close();
		this.#setup.context.emitError(createTriggerError(this.#setup.context, failure));
	}

	#createNoMessageError(): NodeError {
		const statuses = this.#connections.map((connection) => connection.getStatus());
		const openCount = statuses.filter(({ state }) => state === 'open').length;
		const failure = statuses.find(({ lastFailure }) => lastFailure !== undefined)?.lastFailure;
		const noMessageText = `No message arrived within ${testDurationSeconds} s`;
		if (openCount === 0 && failure)
			return failure.with({ message: `${noMessageText}. ${failure.message}` });
		let channelsText = `${openCount} of ${statuses.length} channels were open`;
		if (statuses.length === 1)
			channelsText = `The channel was ${openCount === 1 ? 'open' : 'not open'}`;
		return new NodeError({
			code: 504,
			message: `${noMessageText}. ${channelsText}`,
			description:
				"Start an agent with the same session ID while the test listens. If the workflow is published, its channel may have received the message instead. Messages that do not match 'Filter Value' are ignored.",
		});
	}
}
