import { refusal } from '../../../../items/failure';
import { shortened } from '../../../../items/shortened';
import { named } from '../../../../parameters/naming';
import type { Clients, Item, StoredBinary, OutputItem } from '../../../operation';
import { largestPage, type ListParams } from './listFields';
import type { Listed, ListedMessage } from './listMessages';

/**
 * The common part of List and Search.
 * @throws Failure 400 for options that exclude each other
 */
export async function listed(client: Clients, q: string, params: ListParams, item: Item): Promise<Listed> {
	refuseContradictions(params);
	const { listMessages } = await import('./listMessages');
	const found = await listMessages(client, q, params, item);
	if (q !== '' && found.messages.length === 0 && !found.endedBy) await tellNothingFound(q, item);
	return found;
}

/**
 * An empty output looks the same whether there is no such email or the search was mistyped. Told for the first
 * item of a run only, because of many items some often match nothing.
 */
async function tellNothingFound(q: string, item: Item): Promise<void> {
	const from = item.index === 0 ? '' : ` (item ${item.index})`;
	await item.once('no email found', () => {
		item.hint(`Gmail found no email for this search${from}: ${shortened(q)}`);
		return Promise.resolve(true);
	});
}

function refuseContradictions({
	output,
	returnAll,
	maxResults,
	pageToken,
	details,
	includeBody,
	downloadAttachments,
}: ListParams): void {
	if (output === 'page' && returnAll) {
		throw refusal(
			`${named('returnAll')} cannot be used if ${named('output')} is page`,
			`Set ${named('output')} to items to get all emails, or follow nextPageToken from page to page.`,
		);
	}
	if (output === 'page' && maxResults > largestPage) {
		throw refusal(
			`${named('maxResults')} must be from 1 to ${largestPage} if ${named('output')} is page, not ${maxResults}`,
			`Gmail does not return larger pages. Set ${named('output')} to items to get more.`,
		);
	}
	if (output === 'items' && pageToken !== '') {
		throw refusal(
			`${named('pageToken')} can only be used if ${named('output')} is page`,
			`Set ${named('output')} to page, or remove ${named('pageToken')}.`,
		);
	}
	if (downloadAttachments && output === 'page') {
		throw refusal(
			`${named('downloadAttachments')} cannot be used if ${named('output')} is page`,
			`Set ${named('output')} to items, so that each email is an item with its files.`,
		);
	}
	if (downloadAttachments && !details) {
		throw refusal(
			`${named('downloadAttachments')} needs ${named('details')}`,
			`Turn on ${named('details')}, or turn off ${named('downloadAttachments')}.`,
		);
	}
	if (includeBody && !details) {
		throw refusal(
			`${named('includeBody')} needs ${named('details')}`,
			`Turn on ${named('details')}, or turn off ${named('includeBody')}.`,
		);
	}
}

export function listItems({ messages, nextPageToken }: Listed, { output }: ListParams): OutputItem[] {
	if (output === 'items') return messages.map(({ message, files = [] }) => itemOf(message, files));
	const shown = messages.map(({ message }) => message);
	return [{ json: { messages: shown, ...(nextPageToken !== undefined && { nextPageToken }) } }];
}

function itemOf(message: ListedMessage['message'], files: readonly StoredBinary[]): OutputItem {
	const binary = Object.fromEntries(files.map((file, index) => [`attachment_${index}`, file]));
	return { json: { ...message }, ...(files.length > 0 && { binary }) };
}

export const listErrors = {
	400: 'Check the search terms, the label IDs and the page token.',
	404: 'The mailbox was not found. Check which account the credential is connected to.',
};
