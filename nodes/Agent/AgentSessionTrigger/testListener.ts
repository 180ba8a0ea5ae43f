import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { NodeError, toNodeError } from '../../core/errors';
import type { Clock } from '../../core/clock';
import type { connect, Connection, EndedChannel } from '../session/connection';
import type { ConnectRequestReader } from '../session/connectRequest';
import { findFieldText, listDistinct, meetsCondition } from '../session/messageFields';
import { joinSentences } from '../../core/text';
import type { SessionFrame } from '../session/messages';
import { createTriggerError } from './alerts';
import { buildStoredItems, MessageArrival } from './arrival';
import type { TriggerSettings } from './fields';
import { findListeners } from './triggerState';

export interface ListenerSetup {
	readonly context: ITriggerFunctions;
	readonly settings: TriggerSettings;
	readonly readConnectRequest: ConnectRequestReader;
	readonly clock: Clock;
	readonly connect: typeof connect;
}

/** The test ends after this time, because n8n itself would wait forever. */
const testDurationSeconds = 60;

/** Creates the test in the editor. It ends with the first message. n8n accepts items only after it has called `manualTriggerFunction`. */
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
	/** What the messages that were filtered out have in the filter field. Undefined for one without it. */
	readonly #filteredValues: Array<string | undefined> = [];
	#connections: Connection[] = [];
	#cancelTimeout = () => {};
	#closing: Promise<unknown> | undefined;

	constructor(setup: ListenerSetup) {
		this.#setup = setup;
	}

	start(): void {
		if (this.#closing !== undefined) return;
		const { settings, connect, readConnectRequest, clock, context } = this.#setup;
		const listener = {
			onFrame: (frame: SessionFrame) => {
				this.#handleArrival(new MessageArrival(frame));
			},
			onChannelEnd: ({ decision, failure }: EndedChannel) => {
				if (decision === 'longBackoff') this.#fail(failure);
			},
		};
		const environment = { clock, log: context.logger };
		this.#connections = settings.sessionIds.map((sessionId) =>
			connect({ ...settings, sessionId }, readConnectRequest, listener, environment),
		);
		this.#cancelTimeout = clock.callAfter(testDurationSeconds * 1000, () => {
			this.#fail(this.#createNoMessageError());
		});
	}

	#handleArrival(arrival: MessageArrival): void {
		const { filter } = this.#setup.settings;
		if (filter === undefined || meetsCondition(arrival.message, filter))
			void this.#emit(arrival);
		else this.#filteredValues.push(findFieldText(arrival.message, filter.field));
	}

	/** n8n also calls this on "Stop listening" and after the workflow has run. */
	async close(): Promise<void> {
		this.#cancelTimeout();
		this.#closing ??= Promise.all(this.#connections.map((connection) => connection.close()));
		await this.#closing;
	}

	async #emit(arrival: MessageArrival): Promise<void> {
		if (this.#closing !== undefined) return;
		void this.close();
		const { context } = this.#setup;
		try {
			const items = await buildStoredItems([arrival], context);
			// n8n replaces `emit` for the test, so the function must be read from the context when it is called.
			context.emit([items]);
		} catch (error) {
			context.emitError(createTriggerError(context, toNodeError(error)));
		}
	}

	#fail(failure: NodeError): void {
		if (this.#closing !== undefined) return;
		void this.close();
		this.#setup.context.emitError(createTriggerError(this.#setup.context, failure));
	}

	#createNoMessageError(): NodeError {
		const statuses = this.#connections.map((connection) => connection.getStatus());
		const openCount = statuses.filter(({ isOpen }) => isOpen).length;
		const failure = statuses.find(({ isOpen }) => !isOpen)?.lastFailure;
		return new NodeError({
			code: 504,
			message: `No message arrived within ${testDurationSeconds} s. Channels open: ${openCount} of ${statuses.length}`,
			description: joinSentences(
				failure && `${failure.message}.`,
				failure?.description,
				this.#describeFiltered(),
				this.#describeOtherListeners(),
				'Start an agent with the same session ID while the test listens.',
			),
		});
	}

	/** Names what was filtered out, because a person may have forgotten the filter, or mistyped a value. */
	#describeFiltered(): string {
		const { filterField } = this.#setup.settings;
		const count = this.#filteredValues.length;
		if (count === 0) return '';
		const values = listDistinct(this.#filteredValues).join(', ') || 'none';
		const subject = filterField === '' ? 'Their texts' : `Their values of '${filterField}'`;
		return `Messages that 'Accepted Message Values' left out: ${count}. ${subject}: ${values}.`;
	}

	#describeOtherListeners(): string {
		const labels = this.#setup.settings.sessionIds.flatMap((id) => findListeners(id));
		if (labels.length === 0) return '';
		return `The published trigger ${listDistinct(labels).join(', ')} also listens, and the service may have sent the message only there.`;
	}
}
