import { createRefusal } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import type { Clients, Item, OutputItem } from '../../../operation';
import { toMailItem } from '../mailItem';
import type { MailList } from '../mailList';
import { toListAnswer } from '../modelMails';
import { changesLabels, listOptions, type ListParams, nameChangedEmails } from './fields';

/** Gmail's limit. */
export const maxPageSize = 500;

/** The parameters with the search in Gmail's syntax that follows from them. */
export interface PreparedList extends ListParams {
	/** The part of the search that the user chose. */
	readonly conditions: string;
	readonly gmailQuery: string;
}

/** Completes the parameters. @throws NodeError 400 for what cannot be in a page */
export function prepareList(
	params: ListParams,
	exclusions: readonly string[],
	conditions: readonly string[],
): PreparedList {
	if (params.output === 'page') refuseForPage(params);
	return {
		...params,
		conditions: conditions.join(' '),
		gmailQuery: [...exclusions, ...conditions].join(' '),
	};
}

function refuseForPage({ downloadAttachments, returnAll, maxResults }: ListParams): void {
	let problem = '';
	// The files would have no item of their own.
	if (downloadAttachments) problem = `${quoteField('downloadAttachments')} cannot be used`;
	if (returnAll) problem = `${quoteField('returnAll')} cannot be used`;
	if (maxResults > maxPageSize)
		problem = `${quoteField('maxResults')} can be at most ${maxPageSize}`;
	if (problem === '') return;
	throw createRefusal(
		`${problem} if ${quoteField('output')} is ${mentionChoice('output', 'page')}`,
		`Change that, or set ${quoteField('output')} to ${mentionChoice('output', 'items')}.`,
	);
}

function toListItems({ entries, nextPageToken }: MailList, { output }: ListParams): OutputItem[] {
	if (output === 'items')
		return entries.map(({ message, files }) => toMailItem({ ...message }, files));
	const messages = entries.map(({ message }) => message);
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
	nameResult: ({ entries }: MailList) => nameChangedEmails(entries.map(({ message }) => message)),
	toModel: (list: MailList, params: ListParams) =>
		toListAnswer(list, params.pageToken, changesLabels(params)),
	advice: {
		mail: {
			400: 'Check the search terms, the label IDs and the page token.',
			404: 'The mailbox was not found. Check which account the credential is connected to.',
		},
	},
} as const;
