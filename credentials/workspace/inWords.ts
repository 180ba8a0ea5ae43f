import { isNodeError } from '../../nodes/core/errors';

/**
 * n8n's credential form shows only the `code` of an error that has one, so the text goes into a plain error. The nodes look for the
 * failure in its `cause`.
 */
export function inWords(error: unknown): never {
	if (!isNodeError(error)) throw error;
	const { message, description } = error;
	throw new Error(description === undefined ? message : `${message}. ${description}`, { cause: error });
}
