import type { ITriggerFunctions, NodeApiError } from 'n8n-workflow';

import { toError, createNodeApiError, NodeError } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import type { Clock } from '../../core/clock';
import { leftoverLifetimeSeconds } from './triggerState';

type AlertKind = 'refused' | 'outage' | 'dropped' | 'left' | 'notAccepted';

/** One alert per kind and session within this time, so that an outage does not flood the list of executions. */
const alertIntervalMilliseconds = 60_000;
/** How many sessions get an alert of their own within that time. Further ones are reported together at its end. */
const maxAlertedSessions = 10;

interface AlertInterval {
	/** The first failure of the kind, by session. */
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

	/** @param sessionId of the session that the failure is about, if it is only one */
	raise(kind: AlertKind, failure: NodeError, sessionId = ''): void {
		const { failures } = this.#intervals.get(kind) ?? this.#startInterval(kind);
		if (failures.has(sessionId)) return;
		failures.set(sessionId, failure);
		if (failures.size <= maxAlertedSessions) this.#saveFailedExecution(failure);
	}

	/** Reports what was postponed, and cancels the timers. */
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
		const failure = [...failures.values()][maxAlertedSessions];
		if (failure === undefined) return;
		const others = [...failures.keys()].slice(maxAlertedSessions + 1);
		const also = others.length > 0 && `Also affected: ${others.join(', ')}.`;
		const description = [failure.description, also].filter(Boolean).join(' ');
		this.#saveFailedExecution(failure.with({ description }));
	}

	#saveFailedExecution(failure: NodeError): void {
		const context = this.#context;
		// Missing before n8n-workflow 2.7.
		if (typeof context.saveFailedExecution !== 'function') context.logger.error(failure.message);
		else context.saveFailedExecution(createTriggerError(context, failure));
	}
}

/** The error as n8n shows it. */
export function createTriggerError(context: ITriggerFunctions, failure: NodeError): NodeApiError {
	// No secrets are passed, because the channel has already removed them from its texts.
	return createNodeApiError(context.getNode(), failure, undefined, new Sanitizer());
}

const formatMessageCount = (count: number): string => (count === 1 ? 'a message' : `${count} messages`);

/** Messages were dropped because the queue was full. */
export function createQueueFullError(count: number): NodeError {
	return new NodeError({
		code: 429,
		message: `The trigger's queue is full: ${formatMessageCount(count)} ${count === 1 ? 'was' : 'were'} dropped`,
		description:
			"Messages arrive faster than they are processed. Raise 'Batch Size' or 'Max Concurrent Executions', or set 'On Queue Full' to 'Pause Reading'.",
	});
}

/** Messages were left in the queue when the trigger stopped. It is unknown then whether it starts again or n8n exits. */
export function createStoppedEarlyError(count: number, isAllRead: boolean): NodeError {
	const [pronoun, executions] = count === 1 ? ['It is', 'its execution'] : ['They are', 'their executions'];
	const next = `${pronoun} processed if the trigger starts again in the same n8n process within ${leftoverLifetimeSeconds} s, and lost otherwise.`;
	const unread = 'The service sent more messages that could not be read in time. They are lost.';
	const advice =
		"Messages arrive faster than they are processed: raise 'Batch Size' or 'Max Concurrent Executions'.";
	const waiting = `while ${formatMessageCount(count)} waited for ${executions}`;
	return new NodeError({
		code: 429,
		message: `The trigger was stopped ${count === 0 ? 'before it had read all messages' : waiting}`,
		description: [count > 0 && next, !isAllRead && unread, count > 0 && advice].filter(Boolean).join(' '),
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
