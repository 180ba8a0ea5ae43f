import { Failure } from '../../items/failure';

/** The channel did not open before the call. @param lastFailure why the last attempt failed */
export function notOpen(limitSeconds: number, lastFailure: Failure | undefined): Failure {
	return new Failure({
		code: lastFailure?.code ?? 504,
		message: lastFailure?.message ?? `The session channel did not open within ${limitSeconds} s`,
		description: sentences('The agent was not started.', lastFailure?.description),
		cause: lastFailure,
	});
}

/** The service refuses to open the channel again while the messages are awaited. */
export function channelLost(failure: Failure): Failure {
	const { code, message, description } = failure;
	return new Failure({
		code,
		message,
		description: sentences('The agent was started, but its messages cannot be received.', description),
		cause: failure,
	});
}

/** @param lastFailure why the channel is not open; undefined when it is */
export function notOver(timeoutSeconds: number, count: number, lastFailure: Failure | undefined): Failure {
	const came = count === 1 ? '1 message' : `${count} messages`;
	return new Failure({
		code: 504,
		message: `The wait for messages did not end within ${timeoutSeconds} s; ${came} came`,
		description: sentences(
			lastFailure && `${lastFailure.message}.`,
			"The agent was started. Raise 'Wait Timeout', check what ends the wait, or set 'On Wait Timeout' to 'Output What Came'.",
		),
		cause: lastFailure,
	});
}

const sentences = (...texts: ReadonlyArray<string | undefined>): string => texts.filter(Boolean).join(' ');
