import { isNodeError, type NodeError } from '../../nodes/core/errors';
import { Naming } from '../../nodes/fields/field';

/** The failure that a promise ends with; fields go by their keys. */
export async function failing(promise: Promise<unknown>): Promise<NodeError> {
	const outcome = await promise.then(
		() => undefined,
		(error: unknown) => error,
	);
	if (isNodeError(outcome)) return new Naming([], 'json').failure(outcome);
	throw new Error('Expected a NodeError', { cause: outcome });
}
