import { isFailure, type Failure } from '../../../../core/errors';
import { named } from '../../../../fields/naming';

/**
 * The failure that stops a list midway, extended with how to continue.
 * @param returned number of emails received before it
 * @param pageToken token of the page where the list stopped; undefined for the first page
 * @param ofThatPage how many of the emails are from that page
 * @throws the given error if no email was received or the execution was canceled
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
	const emails = returned === 1 ? '1 email was' : `${returned} emails were`;
	return `${emails} received before that. Set On Error to Continue to output them before the error.`;
}

function goingOn(pageToken: string | undefined, ofThatPage: number): string {
	if (pageToken === undefined) return 'The list stopped within the first page. To continue, list again.';
	const again = ofThatPage === 0 ? '' : ` (${ofThatPage} emails of that page were already received)`;
	return `To continue, set ${named('output')} to page and ${named('pageToken')} to ${pageToken}${again}.`;
}
