import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { createRefusal } from '../../../../core/errors';
import { isSameIgnoringCase } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { ListParams } from './fields';

/** Builds Gmail's search term for a sender. Quotes keep the text from adding other terms. Returns no term for an empty text. */
export function buildSenderTerms(from: string): string[] {
	const address = /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
	// Gmail's search syntax has no way to escape a quote inside quotes.
	const words = address.replaceAll(/["“”„‟＂\s]+/g, ' ').trim();
	return words === '' ? [] : [`from:"${words}"`];
}

const hoursBySpan = { last24Hours: 24, last7Days: 7 * 24, last30Days: 30 * 24 };

type ReceivedParams = Pick<ListParams, 'received' | 'receivedAfter' | 'receivedBefore'>;

/** Builds the terms for the time of arrival, in epoch seconds, because Gmail reads a date as Pacific time. @throws NodeError 400 */
export function buildReceivedTerms(params: ReceivedParams): string[] {
	const { received, receivedAfter, receivedBefore } = params;
	if (received === 'between' && receivedAfter === '' && receivedBefore === '')
		throw createRefusal(
			`${quoteField('receivedAfter')} or ${quoteField('receivedBefore')} is required`,
			`Enter at least one of the two times, or change ${quoteField('received')}.`,
		);
	if (receivedAfter !== '' && receivedBefore !== '' && receivedAfter >= receivedBefore)
		throw createRefusal(
			`${quoteField('receivedAfter')} is not before ${quoteField('receivedBefore')}`,
			'No email can match. Swap the two times.',
		);
	const terms: string[] = [];
	const addTerm = (name: string, milliseconds: number) =>
		terms.push(`${name}:${Math.ceil(milliseconds / 1000)}`);
	if (received !== 'any' && received !== 'between')
		addTerm('after', Date.now() - hoursBySpan[received] * 3_600_000);
	if (receivedAfter !== '') addTerm('after', Date.parse(receivedAfter));
	if (receivedBefore !== '') addTerm('before', Date.parse(receivedBefore));
	return terms;
}

/** Returns whether a search asks for drafts itself. */
export const searchesDrafts = (query: string, labelIds: readonly string[]): boolean =>
	/\b(?:in|is|label):["({]?(?:drafts?|anywhere)\b/i.test(query) ||
	labelIds.some((label) => /^drafts?$/i.test(label));

/** The words before a colon that Gmail's search knows. Source: https://support.google.com/mail/answer/7190 */
const searchWords =
	/^(?:after|around|bcc|before|category|cc|deliveredto|filename|from|has|in|is|label|larger|list|newer|newer_than|older|older_than|rfc822msgid|size|smaller|subject|to)$/i;

/** Finds a word with a colon that Gmail takes for text, such as `form:`, outside of quotes. */
export function findUnknownSearchWord(query: string): string | undefined {
	const words = query.replaceAll(/"[^"]*"/g, '').matchAll(/(?:^|[\s({-])([a-z_]+):(?=\S)/gi);
	for (const [, word = ''] of words) if (!searchWords.test(word)) return word;
	return undefined;
}

/** Adds terms that the user's query cannot undo. @throws NodeError 400 if the query's brackets or quotes have no counterpart */
export function narrowQuery(query: string, terms: readonly string[]): string {
	// Google does not say whether a quote within a word begins a quoted part. So brackets must pair in the whole query and in its unquoted parts.
	const parts = query.replaceAll(/[“”„‟＂]/g, '"').split('"');
	// Every second part is quoted. If all quotes have a counterpart, the last part is unquoted, so the number of parts is odd.
	const unquotedText = parts.filter((_, index) => index % 2 === 0).join(' ');
	if (parts.length % 2 === 1 && hasPairedBrackets(query) && hasPairedBrackets(unquotedText))
		return `(${query}) ${terms.join(' ')}`;
	throw createRefusal(
		`${quoteField('query')} has brackets or quotes without a counterpart`,
		`With ${quoteField('received')}, they would change what is searched. Complete or remove them, including brackets within quotes, or write the time into ${quoteField('query')}.`,
	);
}

function hasPairedBrackets(text: string): boolean {
	const openBrackets: string[] = [];
	for (const [bracket] of text.matchAll(/[(){}]/g)) {
		if (bracket === '(' || bracket === '{') openBrackets.push(bracket);
		else if (openBrackets.pop() !== (bracket === ')' ? '(' : '{')) return false;
	}
	return openBrackets.length === 0;
}

type Label = gmail_v1.Schema$Label;

/** Matches the IDs of the labels that every mailbox has, of the user's own labels, and of Gmail's stars. An ID needs no lookup. */
const labelIdPattern =
	/^(?:INBOX|SENT|DRAFT|SPAM|TRASH|UNREAD|STARRED|IMPORTANT|CHAT|CATEGORY_[A-Z]+|Label_[\w-]+|[A-Z]+_(?:STAR|BANG|CHECK|QUESTION|GUILLEMET|INFO))$/;
const maxShownLabels = 20;

/** Converts names and IDs of labels to IDs. @param field where they were entered @throws NodeError 400 if the mailbox has no such label */
export async function resolveLabelIds(
	clients: Clients,
	labels: string[],
	field: string,
	item: Item,
) {
	if (labels.every((label) => labelIdPattern.test(label))) return [...labels];
	const mailboxLabels = await item.doOnce('mail.labels', () => listLabels(clients));
	return labels.map((label) => {
		if (labelIdPattern.test(label)) return label;
		// Gmail does not allow two names that differ only in case.
		const hasThisName = ({ name }: Label) => isSameIgnoringCase(name, label);
		const mailboxLabel =
			mailboxLabels.find(({ id }) => id === label) ?? mailboxLabels.find(hasThisName);
		if (mailboxLabel?.id) return mailboxLabel.id;
		const names = mailboxLabels.flatMap(({ name }) => name ?? []);
		const ellipsis = names.length > maxShownLabels ? ', …' : '';
		throw createRefusal(
			`${quoteField(field)}: the mailbox has no label '${label}'`,
			`Labels of the mailbox: ${names.slice(0, maxShownLabels).join(', ')}${ellipsis}. Enter a nested label with its parent, such as Clients/Acme.`,
		);
	});
}

/** Lists all labels of the mailbox: first the user's own labels, then those that every mailbox has. */
export async function listLabels({ gmail }: Pick<Clients, 'gmail'>): Promise<Label[]> {
	const { data } = await gmail.users.labels.list({
		userId: 'me',
		fields: 'labels(id,name,type)',
	});
	return (data.labels ?? []).toSorted(
		(a, b) => Number(b.type === 'user') - Number(a.type === 'user'),
	);
}
