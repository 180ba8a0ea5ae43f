import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { refusal } from '../../../../core/errors';
import { named } from '../../../../fields/naming';
import type { Clients, Item } from '../../../operation';

/** IDs that every mailbox has, and the form of Gmail's other IDs. These need no lookup. */
const knownId =
	/^(?:INBOX|SENT|DRAFT|SPAM|TRASH|UNREAD|STARRED|IMPORTANT|CHAT|CATEGORY_[A-Z]+|Label_[\w-]+|[A-Z]+_(?:STAR|BANG|CHECK|QUESTION|GUILLEMET|INFO))$/;
/** How many names a message lists. */
const mostShown = 20;

/**
 * The IDs of labels that are given by ID or by name.
 * @throws NodeError 400 for a name that no label has
 */
export async function labelIdsOf(client: Clients, given: readonly string[], item: Item): Promise<string[]> {
	if (given.every((label) => knownId.test(label))) return [...given];
	const labels = await item.once('mail.labels', () => allLabels(client));
	return given.map((label) => {
		if (knownId.test(label)) return label;
		const same = (text: string | null | undefined) => text?.toLowerCase() === label.toLowerCase();
		const found =
			labels.find(({ id }) => id === label) ??
			labels.find(({ name }) => name === label) ??
			// Gmail does not allow two names that differ only in case.
			labels.find(({ name }) => same(name));
		return found?.id ?? unknown(label, labels);
	});
}

/** All labels of the mailbox: the user's own first, then the ones that every mailbox has. */
export async function allLabels({ gmail }: Pick<Clients, 'gmail'>): Promise<gmail_v1.Schema$Label[]> {
	const { data } = await gmail.users.labels.list({ userId: 'me', fields: 'labels(id,name,type)' });
	const labels = data.labels ?? [];
	const own = labels.filter(({ type }) => type === 'user');
	return [...own, ...labels.filter(({ type }) => type !== 'user')];
}

function unknown(label: string, labels: readonly gmail_v1.Schema$Label[]): never {
	const names = labels.flatMap(({ name }) => name ?? []);
	const more = names.length > mostShown ? ', …' : '';
	throw refusal(
		`${named('labelIds')}: the mailbox has no label '${label}'`,
		`Labels of the mailbox: ${names.slice(0, mostShown).join(', ')}${more}. Enter a nested label with its parent, such as Clients/Acme.`,
	);
}
