import { type NodeError, createRefusal } from '../../../../core/errors';
import { mentionChoice, quoteField } from '../../../../fields/field';
import type { Clients, Item, OutputItem, StoredBinary } from '../../../operation';
import { type ListedMail, type MailList, toListAnswer } from '../modelMails';
import { changesLabels, listOptions, type ListParams } from './fields';

/** Gmail's limit for the parameter maxResults of messages.list. */
export const maxPageSize = 500;

export interface ListEntry {
	readonly message: ListedMail;
	/** The attachments in the order of the email, if the option Download Attachments is on. */
	readonly files?: readonly StoredBinary[];
}

export interface ListResult extends MailList {
	readonly entries: ListEntry[];
	/** The failure that stopped the list after some emails. It says how to continue. */
	readonly failure?: NodeError;
}

/** The parameters with the search in Gmail's syntax that follows from them. */
export interface PreparedList extends ListParams {
	readonly gmailQuery: string;
}

/** Refuses options that exclude each other, or that need another option. @throws NodeError 400 */
export function refuseConflictingOptions(params: ListParams): void {
	const { output, maxResults } = params;
	for (const option of ['returnAll', 'downloadAttachments'] as const) {
		if (output === 'items' || !params[option]) continue;
		throw createRefusal(
			`${quoteField(option)} cannot be used if ${quoteField('output')} is ${mentionChoice('output', 'page')}`,
			`Set ${quoteField('output')} to ${mentionChoice('output', 'items')}, or turn off ${quoteField(option)}.`,
		);
	}
	if (output === 'page' && maxResults > maxPageSize)
		throw createRefusal(
			`${quoteField('maxResults')} must be from 1 to ${maxPageSize} if ${quoteField('output')} is ${mentionChoice('output', 'page')}, not ${maxResults}`,
			`Gmail does not return larger pages. Set ${quoteField('output')} to ${mentionChoice('output', 'items')} to get more.`,
		);
	for (const option of ['downloadAttachments', 'includeBody', 'newTextOnly'] as const) {
		const requiredOption = option === 'newTextOnly' ? 'includeBody' : 'details';
		if (!params[option] || params[requiredOption]) continue;
		throw createRefusal(
			`${quoteField(option)} needs ${quoteField(requiredOption)}`,
			`Turn on ${quoteField(requiredOption)}, or turn off ${quoteField(option)}.`,
		);
	}
}

function toListItems({ entries, nextPageToken }: ListResult, { output }: ListParams): OutputItem[] {
	if (output === 'items')
		return entries.map(({ message, files = [] }) => toMailItem({ ...message }, files));
	const messages = entries.map(({ message }) => message);
	return [{ json: { messages, ...(nextPageToken !== undefined && { nextPageToken }) } }];
}

/** Builds an item with the attachments as binary fields: attachment_0, attachment_1 and so on. */
export function toMailItem(json: OutputItem['json'], files: readonly StoredBinary[]) {
	const binary = Object.fromEntries(files.map((file, index) => [`attachment_${index}`, file]));
	return { json, ...(files.length > 0 && { binary }) };
}

export const sharedListDefinition = {
	isReadOnlyByDefault: true,
	mayChange: changesLabels,
	options: listOptions,
	async send(clients: Clients, prepared: PreparedList, item: Item): Promise<ListResult> {
		const { listEmails } = await import('./listEmails');
		return await listEmails(clients, prepared, item);
	},
	toItems: toListItems,
	toModel: (list: ListResult, params: ListParams) =>
		toListAnswer(list, params.pageToken, changesLabels(params)),
	findFailure: (result: ListResult) => result.failure,
	adviceByStatus: {
		400: 'Check the search terms, the label IDs and the page token.',
		404: 'The mailbox was not found. Check which account the credential is connected to.',
	},
} as const;
