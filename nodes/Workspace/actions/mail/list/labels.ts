import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { createRefusal, isNodeError, toError } from '../../../../core/errors';
import { compareNames, isSameIgnoringCase, listNames } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import type { Clients, Item } from '../../../operation';
import type { MailItem } from '../mailList';
import type { LabelParams } from './fields';

type Label = gmail_v1.Schema$Label;

/**
 * Lists all labels of the mailbox by name: first the user's own labels, then those that every
 * mailbox has.
 */
export async function listLabels({ gmail }: Pick<Clients, 'gmail'>): Promise<Label[]> {
	const fields = 'labels(id,name,type)';
	const { labels = [] } = (await gmail.users.labels.list({ userId: 'me', fields })).data;
	const buildSortKey = ({ type, name }: Label) => `${type === 'user' ? 0 : 1} ${name ?? ''}`;
	return labels.toSorted((a, b) => compareNames(buildSortKey(a), buildSortKey(b)));
}

/**
 * Converts names and IDs of labels to IDs.
 * @param field where they were entered
 * @throws NodeError 400 if the mailbox has no such label
 */
export async function resolveLabelIds(
	clients: Clients,
	labels: readonly string[],
	field: string,
	item: Item,
): Promise<string[]> {
	if (labels.length === 0) return [];
	const mailboxLabels = await item.doOnce('mail.labels', () => listLabels(clients));
	return labels.map((label) => findLabelId(mailboxLabels, label, field));
}

function findLabelId(mailboxLabels: readonly Label[], label: string, field: string): string {
	// Gmail does not allow two names that differ only in case.
	const found =
		mailboxLabels.find(({ id }) => id === label) ??
		mailboxLabels.find(({ name }) => isSameIgnoringCase(name, label));
	if (found?.id) return found.id;
	const names = mailboxLabels.map(({ name }) => name ?? '');
	throw createRefusal(
		`${quoteField(field)}: the mailbox has no label '${label}'`,
		`Its labels: ${listNames(names)}. Enter a nested label with its parent, such as Clients/Acme.`,
	);
}

export const changesLabels = ({ markAsRead, addLabels, removeLabels }: LabelParams): boolean =>
	markAsRead || addLabels.length > 0 || removeLabels.length > 0;

/** Names the emails that a search for their labels may no longer find. */
export function nameChangedEmails(emails: MailItem[]) {
	if (emails.length === 0) return undefined;
	const ids = emails.map(({ json }) => json.id);
	return `labels changed, so that the next run may miss the emails ${ids.join(', ')}`;
}

type LabelChange = Awaited<ReturnType<typeof prepareLabelChange>>;

/**
 * Looks up the labels, so that an unknown label fails before any email is read.
 * @throws NodeError 400
 */
export async function prepareLabelChange(
	clients: Clients,
	{ markAsRead, addLabels, removeLabels }: LabelParams,
	item: Item,
) {
	const addLabelIds = await resolveLabelIds(clients, addLabels, 'addLabels', item);
	const removeLabelIds = await resolveLabelIds(clients, removeLabels, 'removeLabels', item);
	// Gmail marks an email as read by removing the label UNREAD.
	if (markAsRead) removeLabelIds.push('UNREAD');
	return { addLabelIds, removeLabelIds: [...new Set(removeLabelIds)] };
}

/** Gmail's limit for one request. */
const maxIdsPerRequest = 1000;

/**
 * Changes the labels of the emails that the workflow gets. If a request fails after an earlier one
 * succeeded, or with an unknown outcome, adds a hint.
 * @throws NodeError if the first request certainly changed nothing; another error as it is
 */
export async function changeLabels(
	{ gmail }: Clients,
	change: LabelChange,
	emails: readonly MailItem[],
	item: Item,
): Promise<void> {
	if (change.addLabelIds.length + change.removeLabelIds.length === 0) return;
	// A POST is not retried by default, but this one has no further effect if it is sent twice.
	const options = { retryConfig: { httpMethodsToRetry: ['POST'] } };
	const ids = emails.map(({ json }) => json.id);
	for (let start = 0; start < ids.length; start += maxIdsPerRequest) {
		const requestBody = { ids: ids.slice(start, start + maxIdsPerRequest), ...change };
		try {
			await gmail.users.messages.batchModify({ userId: 'me', requestBody }, options);
		} catch (error) {
			if (!isNodeError(error) || (start === 0 && error.outcome === 'notDone'))
				throw toError(error);
			item.addHint(
				`The labels of some returned emails may not have been changed, so the next run may get them again: ${error.message}`,
			);
			return;
		}
	}
}
