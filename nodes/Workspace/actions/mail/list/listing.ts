import { refusal } from '../../../../core/errors';
import { shortened } from '../../../../core/text';
import { named } from '../../../../fields/naming';
import type { Clients, Item, StoredBinary, OutputItem } from '../../../operation';
import { largestPage, type ListParams } from './fields';
import type { Listed, ListedMessage } from './listMessages';

/**
 * The common part of List and Search.
 * @param own the operation's own fields, by name
 * @throws NodeError 400 for options that exclude each other
 */
export async function listed(
	client: Clients,
	q: string,
	own: Readonly<Record<string, string>>,
	params: ListParams,
	item: Item,
): Promise<Listed> {
	refuseContradictions(params);
	const { listMessages } = await import('./listMessages');
	const found = await listMessages(client, q, params, item);
	const isEmpty = found.messages.length === 0 && found.nextPageToken === undefined && !found.endedBy;
	if (isEmpty && params.pageToken === '') await tellNothingFound({ ...own, ...params }, item);
	return found;
}

const conditions = ['from', 'status', 'query', 'labelIds', 'receivedAfter', 'receivedBefore'];

/**
 * An empty output looks the same whether there is no such email or the search was mistyped. Told of one item of a run
 * only, because of many items some often match nothing.
 */
async function tellNothingFound(given: Readonly<Record<string, unknown>>, item: Item): Promise<void> {
	const asked = conditions
		.map((name) => [name, textOf(given[name])] as const)
		.filter(([, value]) => value !== '' && value !== 'any')
		.map(([name, value]) => `${named(name)}: ${shortened(value)}`);
	if (asked.length === 0) return;
	await item.once('no email matched', () => {
		item.hint(`No email matches (item ${item.index}). ${asked.join('; ')}`);
		return Promise.resolve(true);
	});
}

function textOf(value: unknown): string {
	if (Array.isArray(value)) return value.join(', ');
	return typeof value === 'string' ? value : '';
}

/** @throws NodeError 400 for options that exclude each other */
function refuseContradictions(given: ListParams): void {
	const { returnAll, maxResults, pageToken, downloadAttachments } = given;
	const isPage = given.output === 'page';
	const needs = (option: 'downloadAttachments' | 'includeBody' | 'newTextOnly') => {
		const other = option === 'newTextOnly' ? 'includeBody' : 'details';
		return [
			given[option] && !given[other],
			`${named(option)} needs ${named(other)}`,
			`Turn on ${named(other)}, or turn off ${named(option)}.`,
		] as const;
	};
	const rules = [
		[
			isPage && returnAll,
			`${named('returnAll')} cannot be used if ${named('output')} is page`,
			`Set ${named('output')} to items to get all emails, or follow nextPageToken from page to page.`,
		],
		[
			isPage && maxResults > largestPage,
			`${named('maxResults')} must be from 1 to ${largestPage} if ${named('output')} is page, not ${maxResults}`,
			`Gmail does not return larger pages. Set ${named('output')} to items to get more.`,
		],
		[
			!isPage && pageToken !== '',
			`${named('pageToken')} can only be used if ${named('output')} is page`,
			`Set ${named('output')} to page, or remove ${named('pageToken')}.`,
		],
		[
			isPage && downloadAttachments,
			`${named('downloadAttachments')} cannot be used if ${named('output')} is page`,
			`Set ${named('output')} to items, so that each email is an item with its files.`,
		],
		...(['downloadAttachments', 'includeBody', 'newTextOnly'] as const).map(needs),
	] as const;
	const broken = rules.find(([isBroken]) => isBroken);
	if (broken) throw refusal(broken[1], broken[2]);
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
