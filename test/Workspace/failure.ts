import { isFailure, type Failure } from '../../nodes/items/failure';

/** The failure that a promise ends with. */
export async function failing(promise: Promise<unknown>): Promise<Failure> {
	const outcome = await promise.then(
		() => undefined,
		(error: unknown) => error,
	);
	if (isFailure(outcome)) return outcome;
	throw new Error('Expected a Failure', { cause: outcome });
}
