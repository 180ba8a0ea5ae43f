import { isNodeError, type NodeError } from '../../core/errors';
import { joinSentences } from '../../core/text';
import { toGoogleFailure } from '../google/errors';
import type { Clients } from '../operation';
import type { Job } from './job';

/** Turns whatever an operation threw into a failure of the job. */
export function toJobFailure(error: unknown, { operation, item }: Job): NodeError {
	const failure = toGoogleFailure(error, item.log.bind(item));
	// Google may have carried out a change and then sent a response that cannot be read. An
	// operation with `mayChange` reads first, and changes things last, if at all.
	const isAmbiguous = !isNodeError(error) && failure.code === 502 && !operation.mayChange;
	return isAmbiguous ? failure.with({ outcome: 'unknown' }) : failure;
}

/**
 * Explains the failure of a job, and finds out what really happened if its outcome is unknown.
 * Returns any other result as it is.
 */
export async function recoverOutcome(clients: Clients, job: Job) {
	const { operation, prepared, item, result } = job;
	if (!isNodeError(result)) return result;
	if (result.outcome !== 'unknown') return item.explainFailure(result);
	const unknownFailure = item.explainFailure(explainUnknownOutcome(result, job));
	if (!operation.recover || item.signal?.aborted) return unknownFailure;
	try {
		const recovered = await operation.recover(clients, prepared, result, item);
		if (isNodeError(recovered)) return item.explainFailure(recovered);
		return recovered ?? unknownFailure;
	} catch (error) {
		const failure = toJobFailure(error, job);
		// The user then learns from the failure itself that the work may be done, or which files
		// were created.
		const isSelfExplanatory = failure.outcome === 'unknown' || item.hasCreated;
		return isSelfExplanatory ? item.explainFailure(failure) : unknownFailure;
	}
}

/** Adds to the message that the work may be done. An error item has only the message. */
function explainUnknownOutcome(failure: NodeError, { operation, params }: Job): NodeError {
	if (failure.saysOutcome) return failure;
	const advice = operation.isIdempotent?.(params)
		? 'It is safe to run this again.'
		: 'Check the result in Google before you run this again.';
	return failure.with({
		message: `The request may have been carried out: ${failure.message}`,
		description: joinSentences(failure.description, advice),
	});
}
