import { isNodeError } from '../../../nodes/core/errors';

/** The NodeError that an action throws. */
export function failureOf(action: () => unknown) {
	try {
		action();
	} catch (error) {
		if (isNodeError(error))
			return { code: error.code, text: `${error.message} | ${error.description ?? ''}` };
		throw error;
	}
	throw new Error('nothing was refused');
}
