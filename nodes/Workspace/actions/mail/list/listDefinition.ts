import { createRefusal } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import type { Clients, Item, OutputItem } from '../../../operation';
import type { MailList } from '../mailList';
import { toListAnswer } from '../modelMails';
import { listOptions, type ListParams } from './fields';
import { changesLabels, nameChangedEmails } from './labels';

/** Gmail's limit for the emails of a page. */
export const maxPageSize = 500;

/** The parameters with the search in Gmail's syntax that follows from them. */
export interface PreparedList extends ListParams {
	readonly gmailQuery: string;
}

/** Completes the parameters. @throws NodeError 400 for what cannot be in a page */
export function prepareList(params: ListParams, searchTerms: readonly string[]): PreparedList {
	const { output, downloadAttachments, returnAll, maxResults } = params;
	// A page is a single item, in which the files of several emails would get mixed.
	const fitsPage = !returnAll && !downloadAttachments && maxResults <= maxPageSize;
	if (output === 'page' && !fitsPage)
		throw createRefusal(
			`${quoteField('output')} cannot be ${mentionChoice('output', 'page')} with ${quoteField('returnAll')}, with ${quoteField('downloadAttachments')}, or with a ${quoteField('maxResults')} above ${maxPageSize}`,
			`Change that, or set ${quoteField('output')} to ${mentionChoice('output', 'items')}.`,
		);
	return { ...params, gmailQuery: searchTerms.join(' ') };
}

function toListItems({ entries, nextPageToken }: MailList, { output }: ListParams): OutputItem[] {
	if (output === 'items') return entries;
	const messages = entries.map(({ json }) => json);
	const page = nextPageToken === undefined ? { messages } : { messages, nextPageToken };
	return [{ json: page }];
}

export const sharedListDefinition = {
	mayChange: changesLabels,
	// Labels that were changed are not changed again.
	isIdempotent: () => true,
	options: listOptions,
	async send(clients: Clients, prepared: PreparedList, item: Item): Promise<MailList> {
		const { listEmails } = await import('./listEmails');
		return await listEmails(clients, prepared, item);
	},
	toItems: toListItems,
	nameResult: ({ entries }: MailList) => nameChangedEmails(entries),
	toModel: (list: MailList, params: ListParams) =>
		toListAnswer(list, params.pageToken, changesLabels(params)),
	advice: {
		mail: {
			400: 'Check the search terms, the label IDs and the page token.',
			404: 'The mailbox was not found. Check which account the credential is connected to.',
		},
	},
} as const;
