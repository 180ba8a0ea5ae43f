import { Failure } from '../../items/failure';
import { keptSeconds } from './leftovers';

const counted = (count: number): string => (count === 1 ? 'a message' : `${count} messages`);

/** Messages were dropped to make room for others. */
export function overflow(count: number): Failure {
	return new Failure({
		code: 429,
		message: `The queue of the trigger is full: ${counted(count)} ${count === 1 ? 'was' : 'were'} dropped`,
		description:
			"Messages come faster than their executions end. Raise 'Batch Size' or 'Max Concurrent Executions', or set 'On Queue Full' to 'Pause Reading'.",
	});
}

/** Executions of the new settings are not for messages of sessions that these do not name. */
export function sessionTakenOut(count: number): Failure {
	return new Failure({
		code: 404,
		message: `A session was taken out of the trigger: ${counted(count)} that still waited ${count === 1 ? 'was' : 'were'} dropped`,
		description: "They came before the trigger was stopped. 'Session IDs' no longer names their session.",
	});
}

/** Nobody knows at the stop whether a start follows, or the end of n8n. */
export function leftAtStop(count: number): Failure {
	const pronoun = count === 1 ? 'It goes' : 'They go';
	return new Failure({
		code: 429,
		message: `The trigger was stopped while ${counted(count)} waited for ${count === 1 ? 'its execution' : 'their executions'}`,
		description: `${pronoun} on when the trigger starts again in the same n8n process within ${keptSeconds} s, and ${count === 1 ? 'is' : 'are'} lost otherwise. Messages come faster than their executions end: raise 'Batch Size' or 'Max Concurrent Executions'.`,
	});
}

export function refusedByN8n(count: number, cause: unknown): Failure {
	const reason = cause instanceof Error ? cause.message : String(cause);
	return new Failure({
		code: 500,
		message: `n8n did not take ${counted(count)} of a session`,
		description: `No execution was started: ${reason}`,
		cause,
	});
}
