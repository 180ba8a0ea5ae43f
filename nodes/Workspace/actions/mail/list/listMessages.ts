import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { ignoreNotFound, isNodeError } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { safeConcurrency, maxConcurrency } from '../../../../http/rateLimiter';
import type { Clients, Item } from '../../../operation';
import { runInParallel } from '../runInParallel';
import { parseMessage, storeAttachments } from '../message';
import { readAndLabel } from './readAndLabel';
import { parsePageToken, printPageToken } from '../modelMails';
import { maxPageSize, type ListResult, type ListedMessage, type ListParams } from './fields';
import { resolveLabelIds } from './query';

/**
 * Adds to the failure that stopped a list how many emails arrived before it, and how to continue after them.
 * @throws the error itself if no email was received or the execution was canceled
 */
function explainEarlyEnd(error: unknown, emailCount: number, nextPageToken: string, item: Item) {
	if (!isNodeError(error) || emailCount === 0 || error.status === 'CANCELLED') throw error;
	const emailsWere = emailCount === 1 ? '1 email was' : `${emailCount} emails were`;
	const advice = item.continueOnFail
		? `To continue after them, set ${quoteField('pageToken')} to ${nextPageToken}.`
		: 'To output them before the error, set On Error to Continue.';
	return error.with({
		description: [error.description, `${emailsWere} received before that. ${advice}`]
			.filter(Boolean)
			.join(' '),
		details: { returned: emailCount, nextPageToken },
	});
}

/** The size of a page whose emails are fetched one by one. Smaller than Gmail's limit, so that the first emails arrive sooner. */
const detailedPageSize = 100;

/** Executes List and Search. @param query in Gmail's search syntax */
export async function listEmails(client: Clients, query: string, params: ListParams, item: Item) {
	const readEmails = async () => await listPages(client, query, params, item);
	// If a failure stops the node, the workflow gets none of the emails, so none of their labels may change.
	const getReturnedIds = ({ messages, failure }: ListResult) =>
		failure && !item.continueOnFail ? [] : messages.map(({ message }) => message.id);
	const result = await readAndLabel(client, params, item, readEmails, getReturnedIds);
	const isEmpty = result.messages.length === 0 && result.nextPageToken === undefined;
	if (isEmpty && params.pageToken === '') await addNoMatchHint(params, item);
	return result;
}

const conditionNames = ['from', 'status', 'query', 'labelIds', 'receivedAfter', 'receivedBefore'];

/** Adds a hint, because a mistyped search has an empty output too. Adds it only once in a run: with many items, some often match nothing. */
async function addNoMatchHint(params: Readonly<Record<string, unknown>>, item: Item): Promise<void> {
	const conditions = conditionNames
		.map((name) => [name, [params[name]].flat().join(', ')] as const)
		.filter(([, value]) => value !== '' && value !== 'any')
		.map(([name, value]) => `${quoteField(name)}: ${shorten(value)}`);
	if (conditions.length === 0) return;
	await item.once('no email matched', () => {
		item.addHint(`No email matches (item ${item.index}). ${conditions.join('; ')}`);
		return Promise.resolve(true);
	});
}

type Message = gmail_v1.Schema$Message;
type MessagePage = gmail_v1.Schema$ListMessagesResponse;

/** Lists the emails that match a query, newest first. If a request fails, returns the failure and the emails received before it. */
async function listPages(client: Clients, query: string, params: ListParams, item: Item) {
	const labelIds = await resolveLabelIds(client, params.labelIds, 'labelIds', item);
	const requestPage = (listedCount: number, requestedToken: string | undefined) => {
		const request = {
			userId: 'me',
			q: query || undefined,
			labelIds: labelIds.length > 0 ? labelIds : undefined,
			includeSpamTrash: params.includeSpamTrash || undefined,
			maxResults: getPageSize(params, listedCount),
			pageToken: requestedToken,
			fields: 'messages(id,threadId),nextPageToken',
		};
		const page = client.gmail.users.messages.list(request).then(({ data }) => data);
		// Without this handler, Node would report an unhandled rejection, because the page is awaited later or never.
		page.catch(() => undefined);
		return page;
	};
	const fetchEmail = (message: Message) => ignoreNotFound(fetchDetails(client, message, params, item));
	// The transport limits the concurrency to `maxConcurrency`. With attachments it is lower, because an email may have 25 MB of them.
	const concurrencyLimit = params.downloadAttachments ? safeConcurrency : maxConcurrency;
	const messages: ListedMessage[] = [];
	const addMessage = (message?: ListedMessage) => message && messages.push(message);
	const { gmailPageToken, skipCount } = parsePageToken(params.pageToken);
	let pageToken = gmailPageToken || undefined;
	let pageRequest: Promise<MessagePage> | undefined = requestPage(-skipCount, pageToken);
	let earlierEmailCount = 0;
	let pageSkipCount = 0;
	try {
		// Emails to skip do not count. While the count is negative, more of them follow.
		for (let listedCount = -skipCount; ; earlierEmailCount = messages.length) {
			pageSkipCount = Math.max(0, -listedCount);
			const data: MessagePage = await pageRequest;
			const pageMessages = data.messages ?? [];
			const messagesToFetch = pageMessages.slice(pageSkipCount);
			const nextPageToken = data.nextPageToken || undefined;
			listedCount += pageMessages.length;
			const isLast = !nextPageToken || params.output === 'page' || getPageSize(params, listedCount) <= 0;
			// The next page is requested while the details of this page arrive.
			pageRequest = isLast ? undefined : requestPage(listedCount, nextPageToken);
			await runInParallel(messagesToFetch, safeConcurrency, fetchEmail, concurrencyLimit, addMessage);
			if (!pageRequest) return { messages, nextPageToken };
			item.log(`List of item ${item.index}: ${messages.length} emails so far`);
			pageToken = nextPageToken;
		}
	} catch (error) {
		await pageRequest?.catch(() => undefined);
		const doneCount = pageSkipCount + messages.length - earlierEmailCount;
		const failure = explainEarlyEnd(error, messages.length, printPageToken(doneCount, pageToken), item);
		return { messages, nextPageToken: undefined, failure };
	}
}

/** Returns how many emails to request next. If the result is 0 or negative, the list has reached its limit. */
function getPageSize({ returnAll, maxResults, output, details }: ListParams, listedCount: number): number {
	const largestPageSize = details && output === 'items' ? detailedPageSize : maxPageSize;
	return returnAll ? largestPageSize : Math.min(largestPageSize, maxResults - listedCount);
}

/** Fetches what the options ask for of one email. @throws NodeError with 404 if the email was deleted after Gmail listed it */
async function fetchDetails(
	client: Clients,
	{ id, threadId }: Message,
	params: ListParams,
	item: Item,
): Promise<ListedMessage> {
	const { details, includeBody, newTextOnly, downloadAttachments } = params;
	if (!details) return { message: { id: id ?? '', threadId: threadId ?? '' } };
	const needsBody = includeBody || downloadAttachments;
	const { data } = await client.gmail.users.messages.get({
		userId: 'me',
		id: id ?? '',
		...(needsBody ? { format: 'full' } : { format: 'metadata', metadataHeaders: ['Subject', 'From', 'To'] }),
		fields: `id,threadId,labelIds,snippet,internalDate,payload${needsBody ? '' : '/headers'}`,
	});
	const mail = await parseMessage(client, data, item, { withText: includeBody, newTextOnly });
	const { summary, text, attachments } = mail;
	if (!needsBody) return { message: summary };
	const message = { ...summary, ...(includeBody && { text }), attachments };
	return downloadAttachments ? { message, files: await storeAttachments(client, mail, item) } : { message };
}
