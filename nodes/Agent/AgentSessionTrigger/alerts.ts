import type { ITriggerFunctions, NodeApiError } from 'n8n-workflow';

import { toError, createNodeApiError, NodeError } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import type { Clock } from '../../core/clock';
import { leftoverLifetimeSeconds } from './triggerState';

/** `stoppedEarly`: messages were queued or unread when the trigger stopped. `notAccepted`: n8n did not take a batch. */
type AlertKind = 'refused' | 'outage' | 'dropped' | 'stoppedEarly' | 'notAccepted';

/** Each kind of alert is raised once per session within this time, so that an outage does not flood the list of executions. */
const alertIntervalMilliseconds = 60_000;
/** How many sessions get their own alert within `alertIntervalMilliseconds`. All other sessions are reported together at its end. */
const maxAlertedSessions = 10;

interface AlertInterval {
	/** The first failure of each session. */
	readonly failures: Map<string, NodeError>;
	readonly cancelEnd: () => void;
}

/** Reports problems as failed executions, which start the error workflow. The trigger stays active. */
export class Alerts {
	readonly #context: ITriggerFunctions;
	readonly #clock: Clock;
	readonly #intervals = new Map<AlertKind, AlertInterval>();

	constructor(context: ITriggerFunctions, clock: Clock) {
		this.#context = context;
		this.#clock = clock;
	}

	/** Reports the failure unless the session has had one of this kind in the interval. @param sessionId empty for a failure of all sessions */
	raise(kind: AlertKind, failure: NodeError, sessionId = ''): void {
		const { failures } = this.#intervals.get(kind) ?? this.#startInterval(kind);
		if (failures.has(sessionId)) return;
		failures.set(sessionId, failure);
		if (failures.size <= maxAlertedSessions) this.#saveFailedExecution(failure);
	}

	/** Reports all postponed failures, and cancels the timers. */
	close(): void {
		for (const [kind, interval] of this.#intervals) this.#endInterval(kind, interval);
	}

	#startInterval(kind: AlertKind): AlertInterval {
		const cancelEnd = this.#clock.callAfter(alertIntervalMilliseconds, () => {
			this.#endInterval(kind, interval);
		});
		const interval = { failures: new Map<string, NodeError>(), cancelEnd };
		this.#intervals.set(kind, interval);
		return interval;
	}

	#endInterval(kind: AlertKind, { failures, cancelEnd }: AlertInterval): void {
		cancelEnd();
		this.#intervals.delete(kind);
		const firstPostponed = [...failures.values()][maxAlertedSessions];
		if (firstPostponed === undefined) return;
		const otherSessionIds = [...failures.keys()].slice(maxAlertedSessions + 1);
		const affectedText =
			otherSessionIds.length > 0 && `Also affected: ${otherSessionIds.join(', ')}.`;
		const description = [firstPostponed.description, affectedText].filter(Boolean).join(' ');
		this.#saveFailedExecution(firstPostponed.with({ description }));
	}

	#saveFailedExecution(failure: NodeError): void {
		const context = this.#context;
		// The method is missing before n8n-workflow 2.7.
		if (typeof context.saveFailedExecution !== 'function')
			context.logger.error(failure.message);
		else context.saveFailedExecution(createTriggerError(context, failure));
	}
}

/** The sanitizer gets no secrets, because the code in `session/` has already replaced them in the texts of its failures. */
export const createTriggerError = (context: ITriggerFunctions, failure: NodeError): NodeApiError =>
	createNodeApiError(context.getNode(), failure, undefined, new Sanitizer());

const formatMessageCount = (count: number): string =>
	count === 1 ? 'a message' : `${count} messages`;

export function createQueueFullError(count: number): NodeError {
	return new NodeError({
		code: 429,
		message: `The trigger's queue is full: ${formatMessageCount(count)} ${count === 1 ? 'was' : 'were'} dropped`,
		description:
			"Messages arrive faster than they are processed. Raise 'Batch Size' or 'Max Concurrent Executions', or set 'On Queue Full' to 'Pause Reading'.",
	});
}

/** The code is 429, as for a full queue: messages arrived too fast. The trigger does not know whether it will start again or n8n exits. */
export function createStoppedEarlyError(
	queuedCount: number,
	hasUnreadMessages: boolean,
): NodeError {
	const unreadText =
		'The service sent more messages that could not be read in time. They are lost.';
	if (queuedCount === 0) {
		const message = 'The trigger was stopped before it had read all messages';
		return new NodeError({ code: 429, message, description: unreadText });
	}
	const executions = queuedCount === 1 ? 'its execution' : 'their executions';
	const leftoverText = `${queuedCount === 1 ? 'It is' : 'They are'} processed if the trigger starts again in the same n8n process within ${leftoverLifetimeSeconds} s, and lost otherwise.`;
	const advice =
		"Messages arrive faster than they are processed: raise 'Batch Size' or 'Max Concurrent Executions'.";
	return new NodeError({
		code: 429,
		message: `The trigger was stopped while ${formatMessageCount(queuedCount)} waited for ${executions}`,
		description: [leftoverText, hasUnreadMessages ? unreadText : '', advice]
			.filter(Boolean)
			.join(' '),
	});
}

export function createNotAcceptedError(count: number, cause: unknown): NodeError {
	return new NodeError({
		code: 500,
		message: `n8n did not accept ${formatMessageCount(count)} from a session`,
		description: `No execution was started: ${toError(cause).message}`,
		cause,
	});
}
