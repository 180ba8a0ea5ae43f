import type { ITriggerResponse } from 'n8n-workflow';

import { NodeError, toNodeError } from '../../core/errors';
import type { Connection, EndedChannel } from '../session/connection';
import { listDistinct, meetsCondition, type SessionFrame } from '../session/messages';
import { endSentence, joinSentences } from '../../core/text';
import { createTriggerError } from './alerts';
import { buildStoredItems, MessageArrival } from './arrival';
import type { ListenerSetup } from './listenerSetup';
import { listListenerLabels } from './triggerState';

/** The test ends after this time, because n8n itself would wait forever. */
const testDurationSeconds = 60;

/**
 * Creates the test in the editor. It ends with the first message that the filter accepts. n8n
 * accepts items only after it has called `manualTriggerFunction`.
 */
export function createTestListener(setup: ListenerSetup): ITriggerResponse {
	const { context, settings, clock } = setup;
	const { filter } = settings;
	let leftOutCount = 0;
	let connections: Connection[] = [];
	let cancelTimeout = () => {};
	let closing: Promise<unknown> | undefined;

	function start(): void {
		if (closing !== undefined) return;
		const listener = {
			onFrame: (frame: SessionFrame) => {
				const arrival = new MessageArrival(frame);
				if (filter && !meetsCondition(arrival.message, filter)) leftOutCount++;
				else void endWithMessage(arrival);
			},
			onChannelEnd: ({ decision, failure }: EndedChannel) => {
				if (decision === 'longBackoff') endWithFailure(failure);
			},
		};
		connections = settings.sessionIds.map((sessionId) =>
			setup.connect({ ...settings, sessionId }, setup.readConnectRequest, listener, {
				clock,
				log: context.logger,
			}),
		);
		cancelTimeout = clock.callAfter(testDurationSeconds * 1000, () => {
			endWithFailure(createNoMessageError(settings.sessionIds, connections, leftOutCount));
		});
	}

	/** n8n also calls this on "Stop listening" and after the workflow has run. */
	async function close(): Promise<void> {
		cancelTimeout();
		closing ??= Promise.all(connections.map((connection) => connection.close()));
		await closing;
	}

	async function endWithMessage(arrival: MessageArrival): Promise<void> {
		if (closing !== undefined) return;
		void close();
		try {
			const items = await buildStoredItems([arrival], context);
			// n8n replaces `emit` for the test, so the function must be read from the context when
			// it is called.
			context.emit([items]);
		} catch (error) {
			context.emitError(createTriggerError(context, toNodeError(error)));
		}
	}

	function endWithFailure(failure: NodeError): void {
		if (closing !== undefined) return;
		void close();
		context.emitError(createTriggerError(context, failure));
	}

	return {
		manualTriggerFunction: async () => {
			// If n8n closes the test right away, no channel is opened.
			await Promise.resolve();
			start();
		},
		closeFunction: close,
	};
}

function createNoMessageError(
	sessionIds: readonly string[],
	connections: readonly Connection[],
	leftOutCount: number,
): NodeError {
	const statuses = connections.map((connection) => connection.getStatus());
	const openCount = statuses.filter(({ isOpen }) => isOpen).length;
	const failure = statuses.find(({ isOpen }) => !isOpen)?.lastFailure;
	return new NodeError({
		code: 504,
		message: `No message arrived within ${testDurationSeconds} s. Channels open: ${openCount} of ${statuses.length}`,
		description: joinSentences(
			failure && endSentence(failure.message),
			failure?.description,
			leftOutCount > 0 &&
				`Messages that 'Accepted Message Values' left out: ${leftOutCount}.`,
			describeOtherListeners(sessionIds),
			'Start an agent with the same session ID while the test listens.',
		),
	});
}

function describeOtherListeners(sessionIds: readonly string[]): string {
	const labels = listDistinct(sessionIds.flatMap((id) => listListenerLabels(id))).join(', ');
	if (labels === '') return '';
	return `The published trigger ${labels} also listens, and the service may have sent the message only there.`;
}
