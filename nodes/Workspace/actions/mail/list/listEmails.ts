import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { ignoreNotFound, toError } from '../../../../core/errors';
import { isTooCostly } from '../../../../http/body';
import { initialConcurrency, maxConcurrency } from '../../../../http/gate';
import type { Clients, Item } from '../../../operation';
import { mapWithConcurrency } from '../mapWithConcurrency';
import { parseMessage, storeAttachments } from '../message';
import { takeShownMails } from '../modelMails';
import { changeLabels, prepareLabelChange, resolveLabelIds } from './labels';
import type { ListEntry, ListResult, PreparedList } from './listDefinition';
import { parsePageToken } from './pageToken';
import { findUnknownSearchWord } from './query';

type Message = gmail_v1.Schema$Message;

/** Gmail's limit. */
const maxPageSize = 500;

/** Executes List and Search. */
export async function listEmails(
	clients: Clients,
	prepared: PreparedList,
	item: Item,
): Promise<ListResult> {
	const labelChange = await prepareLabelChange(clients, prepared, item);
	const list = await listPages(clients, prepared, item);
	const { entries, nextPageToken } = list;
	const isEmpty = entries.length === 0 && nextPageToken === undefined;
	if (isEmpty && prepared.pageToken === '') await addNoMatchHint(prepared, item);
	// A model does not get the emails for which its answer has no room.
	const shownMails = item.isTool
		? takeShownMails(entries)
		: entries.map(({ message }) => message);
	const ids = shownMails.map(({ id }) => id);
	await changeLabels(clients, labelChange, ids, item);
	return list;
}

/** Adds a hint with the search, because it may be mistyped. A run gets only one such hint, because many of its items may match nothing. */
async function addNoMatchHint({ gmailQuery, labelIds }: PreparedList, item: Item): Promise<void> {
	let hint = `No email matches. Gmail was searched for: ${gmailQuery}.`;
	if (labelIds.length > 0) hint += ` Labels: ${labelIds.join(', ')}.`;
	const unknownWord = findUnknownSearchWord(gmailQuery);
	if (unknownWord !== undefined) hint += ` Gmail's search has no word '${unknownWord}:'.`;
	await item.doOnce('no email matched', () => {
		item.addHint(hint);
		return Promise.resolve(true);
	});
}

/** Lists the emails of a query, newest first, page after page up to the limit. */
async function listPages(
	clients: Clients,
	prepared: PreparedList,
	item: Item,
): Promise<ListResult> {
	const labelIds = await resolveLabelIds(clients, prepared.labelIds, 'labelIds', item);
	const { gmailPageToken, skipCount } = parsePageToken(prepared.pageToken);
	const limit = prepared.returnAll ? Infinity : skipCount + prepared.maxResults;
	const entries: ListEntry[] = [];
	let pageToken = gmailPageToken;
	let listedCount = 0;
	do {
		if (listedCount > 0)
			item.log(`List of item ${item.index}: ${entries.length} emails so far`);
		const { data } = await clients.gmail.users.messages.list({
			userId: 'me',
			q: prepared.gmailQuery || undefined,
			labelIds: labelIds.length > 0 ? labelIds : undefined,
			maxResults: Math.min(maxPageSize, limit - listedCount),
			pageToken: pageToken || undefined,
			fields: 'messages(id,threadId),nextPageToken',
		});
		const { messages = [] } = data;
		const newMessages = messages.slice(Math.max(0, skipCount - listedCount));
		entries.push(...(await fetchEntries(clients, newMessages, prepared, item)));
		listedCount += messages.length;
		pageToken = data.nextPageToken ?? '';
	} while (pageToken !== '' && listedCount < limit);
	return { entries, nextPageToken: pageToken || undefined };
}

/** Fetches emails in parallel. Leaves out those that were deleted after Gmail listed them. */
async function fetchEntries(
	clients: Clients,
	messages: readonly Message[],
	prepared: PreparedList,
	item: Item,
): Promise<ListEntry[]> {
	// With attachments, few emails are fetched at once, because one may have 25 MB of them.
	const concurrency = prepared.downloadAttachments ? initialConcurrency : maxConcurrency;
	const entries = await mapWithConcurrency(
		messages,
		concurrency,
		async (message) => await ignoreNotFound(fetchEntry(clients, message, prepared, item)),
	);
	return entries.filter((entry) => entry !== undefined);
}

/** Fetches what the options ask for. @throws NodeError 404 if the email does not exist any more */
async function fetchEntry(
	clients: Clients,
	message: Message,
	{ details, includeBody, newTextOnly, downloadAttachments, onlyFiles }: PreparedList,
	item: Item,
): Promise<ListEntry> {
	const id = message.id ?? '';
	if (!includeBody && !downloadAttachments) {
		if (!details) return { message: { id, threadId: message.threadId ?? '' } };
		const headers = await fetchHeaders(clients, id);
		return { message: (await parseMessage(clients, headers, item)).summary };
	}
	const content = await fetchContent(clients, id, item);
	const mail = await parseMessage(clients, content, item, {
		withText: includeBody,
		newTextOnly,
	});
	const { summary, text, attachments } = mail;
	const listedMail = includeBody
		? { ...summary, text, attachments }
		: { ...summary, attachments };
	if (!downloadAttachments) return { message: listedMail };
	return { message: listedMail, files: await storeAttachments(clients, mail, item, onlyFiles) };
}

const summaryFields = 'id,threadId,labelIds,snippet,internalDate';

async function fetchHeaders({ gmail }: Clients, id: string): Promise<Message> {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: ['Subject', 'From', 'To'],
		fields: `${summaryFields},payload/headers`,
	});
	return data;
}

/** Fetches a whole email. If its response would block n8n, fetches only the headers, so that no stranger's email can end a list. */
async function fetchContent(clients: Clients, id: string, item: Item): Promise<Message> {
	try {
		const fields = `${summaryFields},payload`;
		const request = { userId: 'me', id, format: 'full', fields };
		return (await clients.gmail.users.messages.get(request)).data;
	} catch (error) {
		if (!isTooCostly(error)) throw toError(error);
		item.addHint(
			`The content of the email ${id} could not be read: it has too many parts or is nested too deeply.`,
		);
		return await fetchHeaders(clients, id);
	}
}
