import type { ITriggerFunctions, NodeApiError } from 'n8n-workflow';

import { createNodeApiError, NodeError } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import { endSentence, joinSentences } from '../../core/text';
import type { Clock } from '../../core/clock';
import { leftoverLifetimeSeconds } from './triggerState';

/** After this time without a further loss, all lost messages are reported. */
const quietMilliseconds = 60_000;
/**
 * How many channels are reported within a minute. More are only logged, so that an outage does not
 * flood the list of executions.
 */
const maxReportedChannels = 10;
const channelReportsMilliseconds = 60_000;

/**
 * Reports problems as failed executions, which start the error workflow. The trigger stays active.
 */
export class Alerts {
	readonly #context: ITriggerFunctions;
	readonly #clock: Clock;
	/** When the minute of `#failedChannelCount` began, in monotonic milliseconds. */
	#minuteBegunAt = -Infinity;
	#failedChannelCount = 0;
	/** By session: how many messages n8n has not accepted since it last accepted one. */
	readonly #lostCounts = new Map<string, number>();
	#cancelQuietReport = () => {};

	constructor(context: ITriggerFunctions, clock: Clock) {
		this.#context = context;
		this.#clock = clock;
	}

	/** Logs a failure and saves it as a failed execution. */
	report(failure: NodeError): void {
		this.#log(failure);
		const context = this.#context;
		// The method is missing before n8n-workflow 2.7.
		if (typeof context.saveFailedExecution === 'function')
			context.saveFailedExecution(createTriggerError(context, failure));
	}

	/** Reports the failure of a channel, or only logs it if many have failed at the same time. */
	reportChannel(failure: NodeError): void {
		const now = this.#clock.getMonotonicMilliseconds();
		if (now - this.#minuteBegunAt >= channelReportsMilliseconds) {
			this.#minuteBegunAt = now;
			this.#failedChannelCount = 0;
		}
		this.#failedChannelCount++;
		if (this.#failedChannelCount <= maxReportedChannels) this.report(failure);
		else this.#log(failure);
	}

	/**
	 * Counts messages that n8n did not accept. Reports the first loss at once. When none has
	 * followed for a while, reports all, because no further message may come. `endLosses` reports
	 * them once more, because n8n may not have stored the earlier reports.
	 */
	countLosses(sessionIds: readonly string[], cause: Error): void {
		const isFirst = this.#lostCounts.size === 0;
		for (const sessionId of sessionIds)
			this.#lostCounts.set(sessionId, (this.#lostCounts.get(sessionId) ?? 0) + 1);
		if (isFirst) this.#reportLosses(`No execution was started: ${cause.message}`);
		this.#cancelQuietReport();
		this.#cancelQuietReport = this.#clock.callAfter(quietMilliseconds, () => {
			this.#reportLosses('No further message has arrived since then');
		});
	}

	/**
	 * Reports all messages that n8n did not accept, and forgets them.
	 * @param situation what has ended the losses
	 */
	endLosses(situation: string): void {
		if (this.#lostCounts.size === 0) return;
		this.#cancelQuietReport();
		this.#reportLosses(situation);
		this.#lostCounts.clear();
	}

	#log({ message, description }: NodeError): void {
		const text = joinSentences(endSentence(message), description);
		this.#context.logger.warn(`Session channel: ${text}`);
	}

	#reportLosses(situation: string): void {
		let total = 0;
		const sessions: string[] = [];
		for (const [sessionId, count] of this.#lostCounts) {
			total += count;
			sessions.push(`${sessionId} (${count})`);
		}
		const message = `${formatMessageCount(total)} not accepted by n8n`;
		const description = `${endSentence(situation)} Sessions: ${sessions.join(', ')}.`;
		this.report(new NodeError({ code: 500, message, description }));
	}
}

/**
 * The sanitizer gets no secrets, because the code in `session/` has already replaced them in the
 * texts of its failures.
 */
export const createTriggerError = (context: ITriggerFunctions, failure: NodeError): NodeApiError =>
	createNodeApiError(context.getNode(), failure, undefined, new Sanitizer());

const formatMessageCount = (count: number): string =>
	count === 1 ? '1 message was' : `${count} messages were`;

/**
 * The code is 429, as messages arrived too fast. The trigger does not know whether it will start
 * again or n8n exits.
 */
export const createStoppedEarlyError = (queuedCount: number, hasUnreadMessages: boolean) =>
	new NodeError({
		code: 429,
		message:
			queuedCount > 0
				? `The trigger was stopped while ${formatMessageCount(queuedCount)} waiting`
				: 'The trigger was stopped before it had read all messages',
		description: joinSentences(
			queuedCount > 0 &&
				`What waits is processed if the trigger starts again in the same n8n process within ${leftoverLifetimeSeconds} s, and lost otherwise.`,
			hasUnreadMessages &&
				'The service sent messages that could not be read in time. They are lost.',
			"Messages arrive faster than they are processed: raise 'Batch Size' or 'Max Concurrent Executions'.",
		),
	});

export function createLostExecutionsError(count: number): NodeError {
	const executions = count === 1 ? 'execution' : 'executions';
	return new NodeError({
		code: 500,
		message: `n8n does not say what became of ${count} ${executions}`,
		description:
			"They run far longer than expected, while messages wait. Check them in the list of executions. In queue mode, n8n does not report their end if Redis has lost its data: let Redis store its data (AOF), and set a timeout in the workflow's settings. Their messages are not processed again.",
	});
}
