import { isNodeError, type NodeError } from '../../nodes/core/errors';
import { FieldNaming } from '../../nodes/fields/field';

/** Returns the error with which a promise is rejected. In its text, fields have their JSON keys. */
export async function catchFailure(promise: Promise<unknown>): Promise<NodeError> {
	const outcome = await promise.then(
		() => undefined,
		(error: unknown) => error,
	);
	if (isNodeError(outcome))
		return new FieldNaming([], { mode: 'json' }).insertNamesIntoError(outcome);
	throw new Error('Expected a NodeError', { cause: outcome });
}
