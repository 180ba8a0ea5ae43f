import { isFailure } from '../../nodes/items/failure';

/**
 * Of an error with a `code` n8n's credential form shows nothing but that. The failure itself is the cause: that is where the nodes
 * look for it.
 */
export function inWords(error: unknown): never {
	if (!isFailure(error)) throw error;
	const { message, description } = error;
	throw new Error(description === undefined ? message : `${message}. ${description}`, { cause: error });
}
