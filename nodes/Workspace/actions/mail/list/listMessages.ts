import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { ignoreNotFound, isNodeError } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { initialConcurrency, maxConcurrency } from '../../../../http/rateLimiter';
import type { Clients, Item } from '../../../operation';
import { runInParallel } from '../runInParallel';
import { parseMessage, storeAttachments } from '../message';
import { readAndLabel } from './changeLabels';
import { parsePageToken } from '../modelMails';
import { maxPageSize, type ListResult, type ListedMessage, type ListParams } from './fields';
import { resolveLabelIds } from './query';

/**
 * The failure that stops a list midway, extended with how to continue.
 * @param nextPageToken the token of the page where it stopped; undefined for the first
 * @throws the given error if no email was received or the execution was canceled
 */
function explainEarlyEnd(
	error: unknown,
	returned: number,
	returnedOfThatPage: number,
	nextPageToken?: string,
) {
	if (!isNodeError(error) || returned === 0 || error.status === 'CANCELLED') throw error;
	const emails = returned === 1 ? '1 email was' : `${returned} emails were`;
	const again = returnedOfThatPage ? ` (emails of that page already received: ${returnedOfThatPage})` : '';
	const description = [
		error.description,
		`${emails} received before that. Set On Error to Continue to output them before the error.`,
		nextPageToken === undefined
			? 'The list stopped within the first page. To continue, list again.'
			: `To continue, set ${quoteField('pageToken')} to ${nextPageToken}${again}.`,
	];
	return error.with({
		description: description.filter(Boolean).join(' '),
		details: { returned, ...(nextPageToken && { nextPageToken }), returnedOfThatPage },
	});
}

/** Size of a page whose emails are requested one by one. A list that stops midway continues from the start of that page. */
const detailedPageSize = 100;

/** The common part of List and Search. */
export async function listEmails(client: Clients, q: string, params: ListParams, item: Item) {
	const read = async () => await collectPages(client, q, params, item);
	// Changes no labels if a failure cuts the list short and stops the node, which then outputs none of the emails.
	const getIds = ({ messages, failure }: ListResult) =>
		failure && !item.continueOnFail ? [] : messages.map(({ message }) => message.id);
	const found = await readAndLabel(client, params, item, read, getIds);
	const isEmpty = found.messages.length === 0 && found.nextPageToken === undefined;
	if (isEmpty && params.pageToken === '') await hintNothingFound(params, item);
	return found;
}

const conditions = ['from', 'status', 'query', 'labelIds', 'receivedAfter', 'receivedBefore'];

/** Adds a hint, because a mistyped search has an empty output too. One hint for a run: with many items, some often match nothing. */
async function hintNothingFound(given: Readonly<Record<string, unknown>>, item: Item): Promise<void> {
	const asked = conditions
		.map((name) => [name, [given[name]].flat().join(', ')] as const)
		.filter(([, value]) => value !== '' && value !== 'any')
		.map(([name, value]) => `${quoteField(name)}: ${shorten(value)}`);
	if (asked.length === 0) return;
	await item.once('no email matched', () => {
		item.addHint(`No email matches (item ${item.index}). ${asked.join('; ')}`);
		return Promise.resolve(true);
	});
}

type Found = gmail_v1.Schema$Message;
type Page = gmail_v1.Schema$ListMessagesResponse;

/** Emails that match a query, newest first. Emails received before a failure are kept. */
async function collectPages(client: Clients, q: string, asked: ListParams, item: Item): Promise<ListResult> {
	const params = { ...asked, labelIds: await resolveLabelIds(client, asked.labelIds, 'labelIds', item) };
	const requestPage = (found: number, token: string | undefined) => {
		const request = {
			userId: 'me',
			q: q || undefined,
			labelIds: params.labelIds.length > 0 ? params.labelIds : undefined,
			includeSpamTrash: params.includeSpamTrash || undefined,
			maxResults: getPageSize(params, found),
			pageToken: token,
			fields: 'messages(id,threadId),nextPageToken',
		};
		const page = client.gmail.users.messages.list(request).then(({ data }) => data);
		// Handles a rejection now: the page is awaited later, or never, and Node would report it as unhandled.
		page.catch(() => undefined);
		return page;
	};
	const fetch = async (found: Found) => await ignoreNotFound(fetchDetails(client, found, params, item));
	// As many requests run at once as the transport lets through, but fewer with attachments, because an email may bring 25 MB of them.
	const most = params.downloadAttachments ? initialConcurrency : maxConcurrency;
	const messages: ListedMessage[] = [];
	const { token, skip } = parsePageToken(asked.pageToken);
	let pageToken = token || undefined;
	let page: Promise<Page> | undefined = requestPage(-skip, pageToken);
	let ofEarlierPages = 0;
	try {
		for (let found = -skip; ; ofEarlierPages = messages.length) {
			const data: Page = await page;
			const all = data.messages ?? [];
			const ids = all.slice(Math.max(0, -found));
			const nextPageToken = data.nextPageToken || undefined;
			found += all.length;
			const isLast = !nextPageToken || params.output === 'page' || getPageSize(params, found) <= 0;
			// Requested while the details of this page arrive.
			page = isLast ? undefined : requestPage(found, nextPageToken);
			await runInParallel(ids, initialConcurrency, fetch, most, (one) => one && messages.push(one));
			if (!page) return { messages, nextPageToken };
			item.log(`List of item ${item.index}: ${messages.length} emails so far`);
			pageToken = nextPageToken;
		}
	} catch (error) {
		await page?.catch(() => undefined);
		const ofThatPage = messages.length - ofEarlierPages;
		const failure = explainEarlyEnd(error, messages.length, ofThatPage, pageToken);
		return { messages, nextPageToken: undefined, failure };
	}
}

/** How many emails to ask for next; 0 or less means none. */
function getPageSize({ returnAll, maxResults, output, details }: ListParams, found: number): number {
	const largest = details && output === 'items' ? detailedPageSize : maxPageSize;
	return returnAll ? largest : Math.min(largest, maxResults - found);
}

/** @throws NodeError; 404 if the email was deleted since the list, which then leaves it out */
async function fetchDetails(
	client: Clients,
	{ id, threadId }: Found,
	params: ListParams,
	item: Item,
): Promise<ListedMessage> {
	const { details, includeBody, newTextOnly, downloadAttachments } = params;
	if (!details) return { message: { id: id ?? '', threadId: threadId ?? '' } };
	const isWhole = includeBody || downloadAttachments;
	const { data } = await client.gmail.users.messages.get({
		userId: 'me',
		id: id ?? '',
		...(isWhole ? { format: 'full' } : { format: 'metadata', metadataHeaders: ['Subject', 'From', 'To'] }),
		fields: `id,threadId,labelIds,snippet,internalDate,payload${isWhole ? '' : '/headers'}`,
	});
	const mail = await parseMessage(client, data, item, { withText: includeBody, newTextOnly });
	const { summary, text, attachments } = mail;
	if (!isWhole) return { message: summary };
	const message = { ...summary, ...(includeBody && { text }), attachments };
	return downloadAttachments ? { message, files: await storeAttachments(client, mail, item) } : { message };
}
