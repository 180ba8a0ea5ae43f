import { Failure } from '../../core/failure';
import { keptSeconds } from './leftovers';

const counted = (count: number): string => (count === 1 ? 'a message' : `${count} messages`);

/** Messages were dropped to make room for others. */
export function overflow(count: number): Failure {
	return new Failure({
		code: 429,
		message: `The trigger's queue is full: ${counted(count)} ${count === 1 ? 'was' : 'were'} dropped`,
		description:
			"Messages arrive faster than they are processed. Raise 'Batch Size' or 'Max Concurrent Executions', or set 'On Queue Full' to 'Pause Reading'.",
	});
}

/** Executions of the new settings are not for messages of sessions that these do not name. */
export function sessionTakenOut(count: number): Failure {
	return new Failure({
		code: 404,
		message: `Queued messages were discarded: their session was removed (${counted(count)})`,
		description:
			"They arrived before the trigger was stopped. 'Session IDs' no longer contains their session.",
	});
}

/** When the trigger stops, it is unknown whether it starts again or n8n exits. */
export function leftAtStop(count: number): Failure {
	const pronoun = count === 1 ? 'It is' : 'They are';
	return new Failure({
		code: 429,
		message: `The trigger was stopped while ${counted(count)} waited for ${count === 1 ? 'its execution' : 'their executions'}`,
		description: `${pronoun} processed if the trigger starts again in the same n8n process within ${keptSeconds} s, and lost otherwise. Messages arrive faster than they are processed: raise 'Batch Size' or 'Max Concurrent Executions'.`,
	});
}

export function refusedByN8n(count: number, cause: unknown): Failure {
	const reason = cause instanceof Error ? cause.message : String(cause);
	return new Failure({
		code: 500,
		message: `n8n did not accept ${counted(count)} from a session`,
		description: `No execution was started: ${reason}`,
		cause,
	});
}
