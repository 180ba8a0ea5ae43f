import { refusal } from '../../../items/failure';
import { named } from '../../fieldNames';
import type { Clients, OutputItem } from '../../operation';
import { largestPage, type ListParams } from './listFields';
import type { Listed } from './listMessages';

/**
 * What List and Search do alike.
 * @throws Failure 400 for options that do not go together
 */
export async function listed(client: Clients, q: string, params: ListParams): Promise<Listed> {
	refuseContradictions(params);
	const { listMessages } = await import('./listMessages');
	return await listMessages(client, q, params);
}

function refuseContradictions({
	output,
	returnAll,
	maxResults,
	pageToken,
	details,
	includeBody,
}: ListParams): void {
	if (output === 'page' && returnAll) {
		throw refusal(
			`${named('returnAll')} does not go with ${named('output')} page`,
			`Set ${named('output')} to items to get all mails, or follow nextPageToken from page to page.`,
		);
	}
	if (output === 'page' && maxResults > largestPage) {
		throw refusal(
			`${named('maxResults')} must be from 1 to ${largestPage} with ${named('output')} page, not ${maxResults}`,
			`Gmail gives no larger page. Set ${named('output')} to items to get more.`,
		);
	}
	if (output === 'items' && pageToken !== '') {
		throw refusal(
			`${named('pageToken')} goes with ${named('output')} page only`,
			`Set ${named('output')} to page, or leave ${named('pageToken')} out.`,
		);
	}
	if (includeBody && !details) {
		throw refusal(
			`${named('includeBody')} needs ${named('details')}`,
			`Leave ${named('details')} on, or ${named('includeBody')} off.`,
		);
	}
}

export function listItems({ messages, nextPageToken }: Listed, { output }: ListParams): OutputItem[] {
	if (output === 'items') return messages.map((message) => ({ json: { ...message } }));
	const page = { messages, ...(nextPageToken !== undefined && { nextPageToken }) };
	return [{ json: page }];
}

export const listErrors = {
	400: 'Check the search terms, the label IDs and the page token.',
	404: 'The mailbox was not found. Check which account the credential is connected to.',
};
