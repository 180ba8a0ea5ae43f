import type { ITriggerFunctions } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { Failure } from '../../items/failure';
import type { Clock } from '../session/clock';

/** What is worth a failed execution. */
export type AlertKind = 'refused' | 'outage' | 'dropped' | 'left' | 'notTaken';

/** Between two failed executions of a kind: an outage of the service must not be one of the workflow list, too. */
const intervalMilliseconds = 60_000;

/** Tells of trouble by failed executions, which start the user's error workflow, while the trigger stays active. */
export class Alerts {
	readonly #context: ITriggerFunctions;
	readonly #clock: Clock;
	readonly #told = new Map<AlertKind, { at: number; suppressed: number }>();

	constructor(context: ITriggerFunctions, clock: Clock) {
		this.#context = context;
		this.#clock = clock;
	}

	raise(kind: AlertKind, failure: Failure): void {
		const now = this.#clock.monotonicMilliseconds();
		const last = this.#told.get(kind);
		if (last !== undefined && now - last.at < intervalMilliseconds) {
			last.suppressed++;
			return;
		}
		this.#told.set(kind, { at: now, suppressed: 0 });
		this.#save(last?.suppressed ? withCount(failure, last.suppressed) : failure);
	}

	#save(failure: Failure): void {
		const { logger } = this.#context;
		// n8n has it from 2.7 of n8n-workflow on.
		if (typeof this.#context.saveFailedExecution !== 'function') {
			logger.error(failure.message);
			return;
		}
		this.#context.saveFailedExecution(triggerError(this.#context, failure));
	}
}

function withCount(failure: Failure, suppressed: number): Failure {
	const more = `${suppressed} more of the kind since the last failed execution.`;
	const { code, message, description } = failure;
	return new Failure({ code, message, description: [description, more].filter(Boolean).join(' ') });
}

/** A failure of the trigger as n8n shows errors. */
export function triggerError(context: ITriggerFunctions, failure: Failure): NodeApiError {
	const { message, description } = failure;
	const httpCode = String(failure.code);
	const error = new NodeApiError(
		context.getNode(),
		{ message, description: description ?? null, httpCode },
		{ message, description, httpCode },
	);
	// n8n replaces a message that contains a word such as ECONNREFUSED by a stock text, even when it is given.
	error.message = message;
	return error;
}
