import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { ignoreNotFound, isNodeError, type NodeError, toError } from '../../../../core/errors';
import { joinSentences, shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { initialConcurrency, maxConcurrency } from '../../../../http/gate';
import type { Clients, Item } from '../../../operation';
import { mapWithConcurrency } from '../mapWithConcurrency';
import { parseMessage, storeAttachments } from '../message';
import { readAndLabel } from './readAndLabel';
import { takeShownMails } from '../modelMails';
import { changesLabels } from './fields';
import { type ListEntry, type ListResult, maxPageSize, type PreparedList } from './listDefinition';
import { buildPageToken, parsePageToken } from './pageToken';
import { findUnknownSearchWord, resolveLabelIds } from './query';

/** Adds to a failure how many emails were fetched before it, and how to continue. */
function addContinueAdvice(
	error: NodeError,
	emailCount: number,
	item: Item,
	nextPageToken?: string,
) {
	const received =
		emailCount === 1 ? '1 email was received' : `${emailCount} emails were received`;
	const continueAdvice = nextPageToken
		? `To continue after them, set ${quoteField('pageToken')} to ${nextPageToken}.`
		: 'To continue, list again.';
	const outputAdvice = 'To output them before the error, set On Error to Continue.';
	const advice = item.continueOnFail ? continueAdvice : outputAdvice;
	return error.with({
		description: `${error.description ?? ''} ${received} before that. ${advice}`.trim(),
		details: { returned: emailCount, ...(nextPageToken && { nextPageToken }) },
	});
}

/** The number of emails in a page whose emails are fetched one by one. Below Gmail's limit, so that the first emails arrive sooner. */
const detailedPageSize = 100;

/** Executes List and Search. */
export async function listEmails(
	clients: Clients,
	prepared: PreparedList,
	item: Item,
): Promise<ListResult> {
	const readEmails = async () => await listPages(clients, prepared, item);
	// If a failure stops the node, the workflow gets none of the emails, so none of their labels may change.
	const getReturnedIds = (list: ListResult) => {
		if (list.failure && !item.continueOnFail) return [];
		const mails = item.isTool
			? takeShownMails(list.entries)
			: list.entries.map(({ message }) => message);
		return mails.map(({ id }) => id);
	};
	const result = await readAndLabel(clients, prepared, item, readEmails, getReturnedIds);
	const isEmpty = result.entries.length === 0 && result.nextPageToken === undefined;
	if (isEmpty && prepared.pageToken === '') await addNoMatchHint(prepared, item);
	return result;
}

/** The fields that decide which emails match. */
const conditionNames = [
	'from',
	'status',
	'query',
	'labelIds',
	'received',
	'receivedAfter',
	'receivedBefore',
];

/** The text of a condition, which is a text or a list of texts. Only one of List and Search has each of them. */
function readText(condition: unknown): string {
	if (Array.isArray(condition)) return condition.join(', ');
	return typeof condition === 'string' ? condition : '';
}

/** Adds a hint with the conditions, because one may be mistyped. A run gets only one such hint, because many of its items may match nothing. */
async function addNoMatchHint(prepared: PreparedList, item: Item): Promise<void> {
	const params: { readonly [name: string]: unknown } = { ...prepared };
	const conditions: string[] = [];
	for (const name of conditionNames) {
		const value = readText(params[name]);
		if (['', 'any', 'between'].includes(value)) continue;
		conditions.push(`${quoteField(name)}: ${shorten(value)}`);
	}
	if (conditions.length === 0) return;
	const unknownWord = findUnknownSearchWord(readText(params['query']));
	const wordNote = unknownWord && `Gmail's search has no word '${unknownWord}:'.`;
	await item.doOnce('no email matched', () => {
		item.addHint(joinSentences('No email matches.', wordNote, conditions.join('; ')));
		return Promise.resolve(true);
	});
}

type Message = gmail_v1.Schema$Message;

/** Lists the emails of a query, newest first. Returns a failure with the emails fetched before it. @throws other failures, and a cancellation */
async function listPages(
	clients: Clients,
	prepared: PreparedList,
	item: Item,
): Promise<ListResult> {
	const { maxResults, output, returnAll } = prepared;
	const labelIds = await resolveLabelIds(clients, prepared.labelIds, 'labelIds', item);
	const { gmailPageToken, skipCount } = parsePageToken(prepared.pageToken);
	const entries: ListEntry[] = [];
	// Where another call would continue: in the page of this token, after so many emails.
	let position = { token: gmailPageToken, skipCount };
	// The number of emails still to list, including those to skip.
	let remainingCount = returnAll ? Infinity : skipCount + maxResults;
	let hasMore = true;
	try {
		while (hasMore) {
			const page = await fetchPage(
				clients,
				prepared,
				labelIds,
				position.token,
				remainingCount,
			);
			const { messages = [], nextPageToken } = page;
			const nextSkipCount = Math.max(0, position.skipCount - messages.length);
			const newMessages = messages.slice(position.skipCount);
			await fetchEntries(clients, newMessages, prepared, item, (entry) => {
				entries.push(entry);
				position.skipCount++;
			});
			remainingCount -= messages.length;
			position = { token: nextPageToken ?? '', skipCount: nextSkipCount };
			hasMore = position.token !== '' && output === 'items' && remainingCount > 0;
			if (hasMore) item.log(`List of item ${item.index}: ${entries.length} emails so far`);
		}
		return { entries, nextPageToken: position.token || undefined };
	} catch (error) {
		if (!isNodeError(error) || entries.length === 0 || error.status === 'CANCELLED')
			throw toError(error);
		// Emails whose labels change may be gone from the list. A token that skips them would then skip others.
		const canSkip = item.continueOnFail && !changesLabels(prepared);
		const nextPageToken = canSkip
			? buildPageToken(position.skipCount, position.token)
			: undefined;
		const failure = addContinueAdvice(error, entries.length, item, nextPageToken);
		return { entries, nextPageToken: undefined, failure };
	}
}

async function fetchPage(
	{ gmail }: Clients,
	{ details, output, gmailQuery }: PreparedList,
	labelIds: string[],
	pageToken: string,
	remainingCount: number,
) {
	const pageSize = details && output === 'items' ? detailedPageSize : maxPageSize;
	const { data } = await gmail.users.messages.list({
		userId: 'me',
		q: gmailQuery || undefined,
		labelIds: labelIds.length > 0 ? labelIds : undefined,
		maxResults: Math.min(pageSize, remainingCount),
		pageToken: pageToken || undefined,
		fields: 'messages(id,threadId),nextPageToken',
	});
	return data;
}

/** Fetches emails in parallel, and hands over those before the first failure, in their order. Leaves out those that were deleted meanwhile. */
async function fetchEntries(
	clients: Clients,
	messages: readonly Message[],
	prepared: PreparedList,
	item: Item,
	handleEntry: (entry: ListEntry) => void,
): Promise<void> {
	const fetchedEntries = new Map<number, ListEntry | undefined>();
	const fetchEntry = async (message: Message, index: number) => {
		const entry = await ignoreNotFound(fetchListEntry(clients, message, prepared, item));
		fetchedEntries.set(index, entry);
	};
	// With attachments, few emails are fetched at once, because one may have 25 MB of them.
	const concurrency = prepared.downloadAttachments ? initialConcurrency : maxConcurrency;
	try {
		await mapWithConcurrency(messages, concurrency, fetchEntry);
	} finally {
		for (let index = 0; fetchedEntries.has(index); index++) {
			const entry = fetchedEntries.get(index);
			if (entry) handleEntry(entry);
		}
	}
}

/** Fetches what the options ask for; without Details, nothing. @throws NodeError 404 if the email was deleted after Gmail listed it */
async function fetchListEntry(
	clients: Clients,
	{ id, threadId }: Message,
	prepared: PreparedList,
	item: Item,
): Promise<ListEntry> {
	const { includeBody, newTextOnly, downloadAttachments } = prepared;
	if (!prepared.details) return { message: { id: id ?? '', threadId: threadId ?? '' } };
	const fields = 'id,threadId,labelIds,snippet,internalDate,payload';
	const request = { userId: 'me', id: id ?? '' };
	if (!includeBody && !downloadAttachments) {
		const { data } = await clients.gmail.users.messages.get({
			...request,
			format: 'metadata',
			metadataHeaders: ['Subject', 'From', 'To'],
			fields: `${fields}/headers`,
		});
		const { summary } = await parseMessage(clients, data, item, { withText: false });
		return { message: summary };
	}
	const { data } = await clients.gmail.users.messages.get({ ...request, format: 'full', fields });
	const mail = await parseMessage(clients, data, item, { withText: includeBody, newTextOnly });
	const { summary, text, attachments } = mail;
	const message = includeBody ? { ...summary, text, attachments } : { ...summary, attachments };
	if (!downloadAttachments) return { message };
	return { message, files: await storeAttachments(clients, mail, item, prepared.onlyFiles) };
}
