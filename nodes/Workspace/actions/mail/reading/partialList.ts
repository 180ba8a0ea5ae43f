import { isFailure, type Failure } from '../../../../items/failure';
import { named } from '../../../../parameters/naming';

/**
 * The failure that ends a list midway, with how to go on.
 * @param returned mails that were got before it
 * @param pageToken of the page where it ended; undefined: the first one
 * @param ofThatPage how many of the mails are of that page
 * @throws what is given, where nothing was got or nobody waits for it any more
 */
export function endOf(
	error: unknown,
	returned: number,
	pageToken: string | undefined,
	ofThatPage: number,
): Failure {
	if (!isFailure(error) || returned === 0 || error.status === 'CANCELLED') throw error;
	const details = {
		returned,
		...(pageToken !== undefined && { nextPageToken: pageToken }),
		returnedOfThatPage: ofThatPage,
	};
	const description = [error.description, kept(returned), goingOn(pageToken, ofThatPage)]
		.filter(Boolean)
		.join(' ');
	return error.with({ description, details });
}

function kept(returned: number): string {
	const mails = returned === 1 ? '1 mail was' : `${returned} mails were`;
	return `${mails} got before that: with On Error on Continue they come out before the error.`;
}

function goingOn(pageToken: string | undefined, ofThatPage: number): string {
	if (pageToken === undefined) return 'To go on, list again: it ended within the first page.';
	const again = ofThatPage === 0 ? '' : `; ${ofThatPage} of its mails were got already`;
	return `To go on, set ${named('output')} to page and ${named('pageToken')} ${pageToken}${again}.`;
}
