import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { ignoreNotFound } from '../../../../core/errors';
import type { Clients, Item } from '../../../operation';
import * as concurrency from '../mapWithConcurrency';
import { fetchMail, storeAttachments } from '../message';
import { type MailItem, type MailList, type OutputMail, parsePageToken } from '../mailList';
import { takeShownEntries } from '../modelMails';
import { changeLabels, prepareLabelChange, resolveLabelIds } from './labels';
import { maxPageSize, type PreparedList } from './listDefinition';

type Message = gmail_v1.Schema$Message;

/** Executes List and Search. */
export async function listEmails(
	clients: Clients,
	prepared: PreparedList,
	item: Item,
): Promise<MailList> {
	const labelChange = await prepareLabelChange(clients, prepared, item);
	const { messages, nextPageToken } = await listMessages(clients, prepared, item);
	const entries = await fetchEntries(clients, messages, prepared, item);
	const isEmpty = entries.length === 0 && nextPageToken === undefined;
	if (isEmpty && prepared.pageToken === '') item.addHint('No email matches.');
	// A model does not get the emails for which its answer has no room.
	const shownEntries = item.isTool ? takeShownEntries(entries) : entries;
	await changeLabels(clients, labelChange, shownEntries, item);
	return { entries, nextPageToken };
}

/** Lists the IDs of the emails of a query, newest first, page after page up to the limit. */
async function listMessages(clients: Clients, prepared: PreparedList, item: Item) {
	const labelIds = await resolveLabelIds(clients, prepared.labelIds, 'labelIds', item);
	const start = parsePageToken(prepared.pageToken);
	const limit = prepared.returnAll ? Infinity : start.skipCount + prepared.maxResults;
	const messages: Message[] = [];
	let pageToken = start.gmailPageToken;
	do {
		const { data } = await clients.gmail.users.messages.list({
			userId: 'me',
			q: prepared.gmailQuery,
			labelIds,
			includeSpamTrash: prepared.includeSpamTrash || undefined,
			maxResults: Math.min(maxPageSize, limit - messages.length),
			pageToken: pageToken || undefined,
			fields: 'messages(id,threadId),nextPageToken',
		});
		messages.push(...(data.messages ?? []));
		pageToken = data.nextPageToken ?? '';
	} while (pageToken !== '' && messages.length < limit);
	return {
		messages: messages.slice(start.skipCount),
		nextPageToken: pageToken || undefined,
	};
}

/** Fetches emails in parallel. Leaves out those that were deleted after Gmail listed them. */
async function fetchEntries(
	clients: Clients,
	messages: readonly Message[],
	prepared: PreparedList,
	item: Item,
) {
	const entries = await concurrency.mapWithConcurrency(
		messages,
		chooseConcurrency(prepared),
		(message) => ignoreNotFound(fetchEntry(clients, message, prepared, item)),
	);
	return entries.filter((entry) => entry !== undefined);
}

function chooseConcurrency({ downloadAttachments, includeBody }: PreparedList): number {
	if (downloadAttachments) return concurrency.contentConcurrency;
	return includeBody ? concurrency.mailConcurrency : concurrency.smallConcurrency;
}

/** Fetches what the options ask for. @throws NodeError 404 if the email does not exist any more */
async function fetchEntry(
	clients: Clients,
	{ id, threadId }: Message,
	prepared: PreparedList,
	item: Item,
): Promise<MailItem> {
	const hasContent = prepared.includeBody || prepared.downloadAttachments;
	if (!hasContent && !prepared.details)
		return { json: { id: id ?? '', threadId: threadId ?? '' } };
	const textOptions = { withText: prepared.includeBody, newTextOnly: prepared.newTextOnly };
	const format = hasContent ? 'full' : 'metadata';
	const mail = await fetchMail(clients, id ?? '', item, textOptions, format);
	const json: OutputMail = { ...mail.summary };
	if (prepared.includeBody) json.text = mail.content.text;
	if (hasContent) json.attachments = mail.content.attachments;
	return { json, binary: await storeAttachments(clients, mail, prepared, item) };
}
