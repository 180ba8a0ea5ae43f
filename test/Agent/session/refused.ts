import { isFailure } from '../../../nodes/core/errors';

/** The Failure that an action throws. */
export function failureOf(action: () => unknown) {
	try {
		action();
	} catch (error) {
		if (isFailure(error)) return { code: error.code, text: `${error.message} | ${error.description ?? ''}` };
		throw error;
	}
	throw new Error('nothing was refused');
}
