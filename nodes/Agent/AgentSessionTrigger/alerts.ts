import type { ITriggerFunctions, NodeApiError } from 'n8n-workflow';

import { createNodeApiError, NodeError } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import { joinSentences } from '../../core/text';
import type { Clock } from '../../core/clock';
import { leftoverLifetimeSeconds } from './triggerState';

/** `stoppedEarly`: messages were queued or unread when the trigger stopped. `lost`: n8n does not say what became of executions. */
type AlertKind = 'refused' | 'outage' | 'stoppedEarly' | 'lost';

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
	/** By session: how many messages n8n has not accepted since it last accepted one. */
	readonly #lostCounts = new Map<string, number>();
	#cancelQuietReport = () => {};

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

	/**
	 * Counts messages that n8n did not accept. Reports the first at once, although n8n may not be able to store the report, and all of them
	 * when none was lost for a while, because no further message may come.
	 */
	countLosses(sessionIds: readonly string[], cause: Error): void {
		const isFirst = this.#lostCounts.size === 0;
		for (const sessionId of sessionIds)
			this.#lostCounts.set(sessionId, (this.#lostCounts.get(sessionId) ?? 0) + 1);
		if (isFirst) this.#reportLosses(`No execution was started: ${cause.message}`, cause);
		this.#cancelQuietReport();
		this.#cancelQuietReport = this.#clock.callAfter(alertIntervalMilliseconds, () => {
			this.#reportLosses('No further message has arrived since then.');
		});
	}

	/** Reports all messages that n8n did not accept. Must be called when n8n accepts messages again. */
	reportLosses(): void {
		if (this.#lostCounts.size === 0) return;
		this.#cancelQuietReport();
		this.#reportLosses('n8n accepts messages again.');
		this.#lostCounts.clear();
	}

	/** Reports all postponed failures, and cancels the timers. */
	close(): void {
		this.reportLosses();
		for (const [kind, interval] of this.#intervals) this.#endInterval(kind, interval);
	}

	#reportLosses(state: string, cause?: Error): void {
		const counts = [...this.#lostCounts];
		const total = counts.reduce((sum, [, count]) => sum + count, 0);
		const sessions = counts.map(([sessionId, count]) => `${sessionId} (${count})`);
		const failure = new NodeError({
			code: 500,
			message: `${formatMessageCount(total)} not accepted by n8n`,
			description: `${state} Sessions: ${sessions.join(', ')}.`,
			cause,
		});
		this.#context.logger.warn(`Session channel: ${failure.message}. ${failure.description}`);
		this.#saveFailedExecution(failure);
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
		const description = joinSentences(firstPostponed.description, affectedText);
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
	count === 1 ? '1 message was' : `${count} messages were`;

/** The code is 429, as messages arrived too fast. The trigger does not know whether it will start again or n8n exits. */
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
	return new NodeError({
		code: 429,
		message: `The trigger was stopped while ${formatMessageCount(queuedCount)} waiting`,
		description: joinSentences(
			`What waits is processed if the trigger starts again in the same n8n process within ${leftoverLifetimeSeconds} s, and lost otherwise.`,
			hasUnreadMessages && unreadText,
			"Messages arrive faster than they are processed: raise 'Batch Size' or 'Max Concurrent Executions'.",
		),
	});
}

export function createLostExecutionsError(count: number): NodeError {
	const executions = count === 1 ? '1 execution' : `${count} executions`;
	return new NodeError({
		code: 500,
		message: `n8n does not say what became of ${executions}`,
		description:
			"They run far longer than the ones before, while messages wait. Check them in the list of executions. In queue mode, n8n does not report their end if Redis has lost its data: let Redis store its data (AOF), and set a timeout in the workflow's settings. Their messages are not processed again.",
	});
}
