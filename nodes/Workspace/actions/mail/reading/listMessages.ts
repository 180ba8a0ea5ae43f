import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { isFailure } from '../../../../items/failure';
import type { Clients, Item, OutputBinary } from '../../../operation';
import { anatomyOf } from './anatomy';
import { attachmentInfo, type AttachmentInfo } from './attachments';
import { downloaded } from './fullMessage';
import { inParallel } from './inParallel';
import { labelIdsOf } from './labels';
import { largestPage, type ListParams } from './listFields';
import { messageText } from './messageText';
import { summaryHeaders, summaryOf, type Summary } from './summary';

export interface MessageIds {
	readonly id: string;
	readonly threadId: string;
}

export interface WithBody extends Summary {
	readonly text: string;
	readonly attachments: AttachmentInfo[];
}

export interface WithFiles extends Summary {
	readonly attachments: AttachmentInfo[];
}

export interface ListedMessage {
	readonly message: MessageIds | Summary | WithFiles | WithBody;
	/** The attachments, in their order, where they were asked for. */
	readonly files?: readonly OutputBinary[];
}

export interface Listed {
	readonly messages: ListedMessage[];
	readonly nextPageToken: string | undefined;
}

/** The transport lets no more through at once; more would only wait there. */
const atOnce = 5;

/** Mails that a query finds, newest first. */
export async function listMessages(
	client: Clients,
	q: string,
	params: ListParams,
	item: Item,
): Promise<Listed> {
	const { returnAll, maxResults, output } = params;
	const messages: ListedMessage[] = [];
	const labelIds = await labelIdsOf(client, params.labelIds, item);
	let pageToken: string | undefined = params.pageToken || undefined;
	do {
		const wanted = returnAll ? largestPage : Math.min(largestPage, maxResults - messages.length);
		const page = await pageOf(client, q, { ...params, labelIds }, wanted, pageToken);
		messages.push(...(await detailed(client, page.messages ?? [], params, item)));
		pageToken = page.nextPageToken ?? undefined;
	} while (output === 'items' && pageToken !== undefined && (returnAll || messages.length < maxResults));
	return { messages, nextPageToken: pageToken };
}

async function pageOf(
	{ gmail }: Clients,
	q: string,
	{ labelIds, includeSpamTrash }: ListParams,
	maxResults: number,
	pageToken: string | undefined,
): Promise<gmail_v1.Schema$ListMessagesResponse> {
	const { data } = await gmail.users.messages.list({
		userId: 'me',
		q: q === '' ? undefined : q,
		labelIds: labelIds.length > 0 ? labelIds : undefined,
		includeSpamTrash: includeSpamTrash || undefined,
		maxResults,
		pageToken,
		fields: 'messages(id,threadId),nextPageToken',
	});
	return data;
}

async function detailed(
	client: Clients,
	found: readonly gmail_v1.Schema$Message[],
	params: ListParams,
	item: Item,
): Promise<ListedMessage[]> {
	const { details, includeBody, downloadAttachments } = params;
	if (!details) {
		return found.map(({ id, threadId }) => ({ message: { id: id ?? '', threadId: threadId ?? '' } }));
	}
	const get = (id: string) =>
		includeBody || downloadAttachments ? whole(client, id, params, item) : summary(client, id);
	const messages = await inParallel(found, atOnce, ({ id }) => unlessGone(get(id ?? '')));
	return messages.flatMap((message) => message ?? []);
}

async function summary({ gmail }: Clients, id: string): Promise<ListedMessage> {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: summaryHeaders,
		fields: 'id,threadId,labelIds,snippet,internalDate,payload/headers',
	});
	return { message: summaryOf(data) };
}

async function whole(
	client: Clients,
	id: string,
	{ includeBody, downloadAttachments }: ListParams,
	item: Item,
): Promise<ListedMessage> {
	const { data } = await client.gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'full',
		fields: 'id,threadId,labelIds,snippet,internalDate,payload',
	});
	const { body, files } = anatomyOf(data.payload ?? {});
	const text = includeBody ? { text: (await messageText(client, id, body, item)).text } : {};
	const message = { ...summaryOf(data), ...text, attachments: files.map(attachmentInfo) };
	if (!downloadAttachments) return { message };
	const parts = files.map(({ part }) => part);
	return { message, files: await downloaded(client, id, parts) };
}

/** A mail that was deleted between the list and its details is left out. */
async function unlessGone<T>(message: Promise<T>): Promise<T | undefined> {
	return await message.catch((error: unknown) => {
		if (isFailure(error) && error.code === 404) return undefined;
		return Promise.reject(error instanceof Error ? error : new Error(String(error)));
	});
}
