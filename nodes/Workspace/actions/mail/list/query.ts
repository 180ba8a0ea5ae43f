import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { createRefusal } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { ListParams } from './fields';

/** Gmail's search terms for a sender. The text cannot introduce a term of its own. */
export function buildFromTerms(from: string): string[] {
	const address = /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
	// Gmail has no way to escape a quote inside quotes.
	const words = address.replaceAll(/["“”„‟＂\s]+/g, ' ').trim();
	return words === '' ? [] : [`from:"${words}"`];
}

/** Terms for the time of arrival, in epoch seconds: Gmail reads a mere date as Pacific time. @throws NodeError 400 for an empty span */
export function buildReceivedTerms(given: Pick<ListParams, 'receivedAfter' | 'receivedBefore'>): string[] {
	const { receivedAfter, receivedBefore } = given;
	if (receivedAfter !== '' && receivedBefore !== '' && receivedAfter >= receivedBefore) {
		throw createRefusal(
			`${quoteField('receivedAfter')} is not before ${quoteField('receivedBefore')}`,
			'No email can match. Swap the two times.',
		);
	}
	const buildTerm = (name: string, time: string) =>
		time === '' ? [] : [`${name}:${Math.ceil(Date.parse(time) / 1000)}`];
	return [...buildTerm('after', receivedAfter), ...buildTerm('before', receivedBefore)];
}

/** Adds terms of ours to the user's query, which cannot undo them. @throws NodeError 400 if its brackets or quotes could end ours */
export function narrowQuery(query: string, terms: readonly string[]): string {
	if (terms.length === 0) return query;
	// It is unknown whether Gmail treats a quote within a word as a quote, so brackets must pair either way.
	const [outside = '', ...rest] = query.replaceAll(/[“”„‟＂]/g, '"').split('"');
	const unquoted = [outside, ...rest.filter((_, at) => at % 2 === 1)].join(' ');
	if (rest.length % 2 === 0 && hasPairedBrackets(query) && hasPairedBrackets(unquoted)) {
		return `(${query}) ${terms.join(' ')}`;
	}
	throw createRefusal(
		`${quoteField('query')} has brackets or quotes without a counterpart`,
		`With ${quoteField('receivedAfter')} or ${quoteField('receivedBefore')}, they would change what is searched. Complete or remove them, including brackets within quotes, or write the time into ${quoteField('query')}.`,
	);
}

const closingBrackets: Readonly<Record<string, string>> = { '(': ')', '{': '}' };

function hasPairedBrackets(text: string): boolean {
	const open: string[] = [];
	for (const [bracket] of text.matchAll(/[(){}]/g)) {
		const end = closingBrackets[bracket];
		if (end !== undefined) open.push(end);
		else if (open.pop() !== bracket) return false;
	}
	return open.length === 0;
}

type Label = gmail_v1.Schema$Label;

/** Label IDs that need no lookup: those that every mailbox has, and the form of the others. */
const knownLabelId =
	/^(?:INBOX|SENT|DRAFT|SPAM|TRASH|UNREAD|STARRED|IMPORTANT|CHAT|CATEGORY_[A-Z]+|Label_[\w-]+|[A-Z]+_(?:STAR|BANG|CHECK|QUESTION|GUILLEMET|INFO))$/;
/** How many label names an error lists. */
const maxShownLabels = 20;

/** Finds the IDs of labels given by ID or name. @param field where they were given @throws NodeError 400 for a name that no label has */
export async function resolveLabelIds(client: Clients, given: readonly string[], field: string, item: Item) {
	if (given.every((label) => knownLabelId.test(label))) return [...given];
	const labels = await item.once('mail.labels', () => listLabels(client));
	return given.map((label) => {
		if (knownLabelId.test(label)) return label;
		// Gmail does not allow two names that differ only in case.
		const isNamed = ({ name }: Label) => name?.toLowerCase() === label.toLowerCase();
		const found = labels.find(({ id }) => id === label) ?? labels.find(isNamed);
		if (found?.id) return found.id;
		const names = labels.flatMap(({ name }) => name ?? []);
		const more = names.length > maxShownLabels ? ', …' : '';
		throw createRefusal(
			`${quoteField(field)}: the mailbox has no label '${label}'`,
			`Labels of the mailbox: ${names.slice(0, maxShownLabels).join(', ')}${more}. Enter a nested label with its parent, such as Clients/Acme.`,
		);
	});
}

/** All labels of the mailbox: the user's own first, then the ones that every mailbox has. */
export async function listLabels({ gmail }: Pick<Clients, 'gmail'>): Promise<Label[]> {
	const { data } = await gmail.users.labels.list({ userId: 'me', fields: 'labels(id,name,type)' });
	return (data.labels ?? []).toSorted((a, b) => Number(b.type === 'user') - Number(a.type === 'user'));
}
