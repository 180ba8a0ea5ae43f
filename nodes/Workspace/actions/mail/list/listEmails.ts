import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { ignoreNotFound, isNodeError, type NodeError, toError } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { initialConcurrency, maxConcurrency } from '../../../../http/rateLimiter';
import type { Clients, Item } from '../../../operation';
import { mapWithConcurrency } from '../mapWithConcurrency';
import { parseMessage, storeAttachments } from '../message';
import { readAndLabel } from './readAndLabel';
import { takeShownMails } from '../modelMails';
import { changesLabels, type ListParams } from './fields';
import { maxPageSize, type ListResult, type ListEntry } from './listDefinition';
import { buildPageToken, parsePageToken } from './pageToken';
import { resolveLabelIds } from './query';

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

/** Executes List and Search. @param query in Gmail's search syntax */
export async function listEmails(clients: Clients, query: string, params: ListParams, item: Item) {
	const readEmails = async () => await listPages(clients, query, params, item);
	// If a failure stops the node, the workflow gets none of the emails, so none of their labels may change.
	const getReturnedIds = (list: ListResult) => {
		if (list.failure && !item.continueOnFail) return [];
		const mails = list.entries.map(({ message }) => message);
		const returnedMails = item.isTool ? takeShownMails(list.entries) : mails;
		return returnedMails.map(({ id }) => id);
	};
	const result = await readAndLabel(clients, params, item, readEmails, getReturnedIds);
	const isEmpty = result.entries.length === 0 && result.nextPageToken === undefined;
	if (isEmpty && params.pageToken === '') await addNoMatchHint(params, item);
	return result;
}

/** The fields that decide which emails match. */
const conditionNames = ['from', 'status', 'query', 'labelIds', 'receivedAfter', 'receivedBefore'];

/** Adds a hint with the conditions, because one may be mistyped. A run gets only one such hint, because many of its items may match nothing. */
async function addNoMatchHint(
	params: Readonly<Record<string, unknown>>,
	item: Item,
): Promise<void> {
	const conditions = conditionNames.flatMap((name) => {
		const value = [params[name]].flat().join(', ');
		return value === '' || value === 'any' ? [] : `${quoteField(name)}: ${shorten(value)}`;
	});
	if (conditions.length === 0) return;
	await item.doOnce('no email matched', () => {
		item.addHint(`No email matches (item ${item.index}). ${conditions.join('; ')}`);
		return Promise.resolve(true);
	});
}

type Message = gmail_v1.Schema$Message;
type MessagePage = gmail_v1.Schema$ListMessagesResponse;

/** Lists the emails of a query, newest first. Returns a failure with the emails fetched before it. @throws other failures, and a cancellation */
async function listPages(clients: Clients, query: string, params: ListParams, item: Item) {
	const labelIds = await resolveLabelIds(clients, params.labelIds, 'labelIds', item);
	const { gmailPageToken, skipCount } = parsePageToken(params.pageToken);
	const pageSize = params.details && params.output === 'items' ? detailedPageSize : maxPageSize;
	// The number of emails still to list, including those to skip.
	let remainingCount = params.returnAll ? Infinity : skipCount + params.maxResults;
	const requestPage = (token: string | undefined) => {
		const request = {
			userId: 'me',
			q: query || undefined,
			labelIds: labelIds.length > 0 ? labelIds : undefined,
			includeSpamTrash: params.includeSpamTrash || undefined,
			maxResults: Math.min(pageSize, remainingCount),
			pageToken: token,
			fields: 'messages(id,threadId),nextPageToken',
		};
		const pageRequest = clients.gmail.users.messages.list(request).then(({ data }) => data);
		// Without this handler, Node would report an unhandled rejection, because the page is awaited later or never.
		pageRequest.catch(() => undefined);
		return pageRequest;
	};
	const fetchEmail = (message: Message) =>
		ignoreNotFound(fetchListEntry(clients, message, params, item));
	const entries: ListEntry[] = [];
	const parallelOptions = {
		// With attachments, few emails are fetched at once, because one may have 25 MB of them.
		maxConcurrency: params.downloadAttachments ? initialConcurrency : maxConcurrency,
		handleResult: (entry?: ListEntry) => entry && entries.push(entry),
	};
	// An earlier call returned the first `skipCount` emails from this page on. `earlierEntryCount` entries are from the pages before it.
	let currentPage = { token: gmailPageToken || undefined, skipCount, earlierEntryCount: 0 };
	let pageRequest: Promise<MessagePage> | undefined = requestPage(currentPage.token);
	try {
		for (;;) {
			const page: MessagePage = await pageRequest;
			const messages = page.messages ?? [];
			const nextToken: string | undefined = page.nextPageToken || undefined;
			remainingCount -= messages.length;
			const isLast = !nextToken || params.output === 'page' || remainingCount <= 0;
			// The next page is requested while the details of this page are fetched.
			pageRequest = isLast ? undefined : requestPage(nextToken);
			const newMessages = messages.slice(currentPage.skipCount);
			await mapWithConcurrency(newMessages, initialConcurrency, fetchEmail, parallelOptions);
			if (!pageRequest) return { entries, nextPageToken: nextToken };
			item.log(`List of item ${item.index}: ${entries.length} emails so far`);
			const nextSkipCount = Math.max(0, currentPage.skipCount - messages.length);
			currentPage = {
				token: nextToken,
				skipCount: nextSkipCount,
				earlierEntryCount: entries.length,
			};
		}
	} catch (error) {
		await pageRequest?.catch(() => undefined);
		if (!isNodeError(error) || entries.length === 0 || error.status === 'CANCELLED')
			throw toError(error);
		// The emails of the failed page that were skipped or are returned.
		const doneCount = currentPage.skipCount + entries.length - currentPage.earlierEntryCount;
		// Emails whose labels change may be gone from the list. A token that skips them would then skip others.
		const canSkip = item.continueOnFail && !changesLabels(params);
		const nextPageToken = canSkip ? buildPageToken(doneCount, currentPage.token) : undefined;
		const failure = addContinueAdvice(error, entries.length, item, nextPageToken);
		return { entries, nextPageToken: undefined, failure };
	}
}

/** Fetches what the options ask for; without Details, nothing. @throws NodeError 404 if the email was deleted after Gmail listed it */
async function fetchListEntry(
	clients: Clients,
	{ id, threadId }: Message,
	params: ListParams,
	item: Item,
) {
	const { details: withDetails, includeBody, newTextOnly, downloadAttachments } = params;
	if (!withDetails) return { message: { id: id ?? '', threadId: threadId ?? '' } };
	const needsBody = includeBody || downloadAttachments;
	const { data } = await clients.gmail.users.messages.get({
		userId: 'me',
		id: id ?? '',
		...(needsBody
			? { format: 'full' }
			: { format: 'metadata', metadataHeaders: ['Subject', 'From', 'To'] }),
		fields: `id,threadId,labelIds,snippet,internalDate,payload${needsBody ? '' : '/headers'}`,
	});
	const mail = await parseMessage(clients, data, item, { withText: includeBody, newTextOnly });
	const { summary, text, attachments } = mail;
	if (!needsBody) return { message: summary };
	const message = { ...summary, ...(includeBody && { text }), attachments };
	return downloadAttachments
		? { message, files: await storeAttachments(clients, mail, item) }
		: { message };
}
