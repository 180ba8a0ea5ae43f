import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { type NodeError, isNodeError, createRefusal } from '../../../../core/errors';
import { BoundedMap, getGlobalSingleton } from '../../../../core/runtime';
import { getMessageHeader } from '../../../../untrusted/mail/mimeStructure';
import type { Clients, Item } from '../../../operation';
import type { Address } from './addresses';
import { markerHeader } from './fields';

const factLifetimeMilliseconds = 10 * 60_000;

/** What rarely changes about an account, asked at most every ten minutes. @param account differs for every account and sign-in */
async function getAccountFact<T>(account: string, name: string, ask: () => Promise<T>): Promise<T> {
	const facts = getGlobalSingleton(
		'accountFacts',
		() => new BoundedMap<string, { readonly learnedAt: number; readonly value: unknown }>(),
	);
	const key = `${account} ${name}`;
	const known = facts.get(key);
	// A name stands for one question, whose answers have one type; the map cannot say so.
	if (known && performance.now() - known.learnedAt < factLifetimeMilliseconds) return known.value as T;
	const value = await ask();
	facts.set(key, { learnedAt: performance.now(), value });
	return value;
}

export interface SentMail {
	readonly id: string;
	readonly threadId: string;
	readonly labelIds: string[];
	/** The ID of the draft, if the email was saved as one. */
	readonly draftId?: string;
	/** An earlier execution already sent it with the same key. */
	readonly repeated?: true;
}

/** Gmail's limit for a whole email, in bytes. */
export const maxMailBytes = 36_700_160;

/** @param bytes size of the whole email, or of its encoded files alone */
export function buildTooLargeError(
	bytes: number,
	files: ReadonlyArray<{ filename: string; size: number }>,
): Error {
	const list = files.map(({ filename, size }) => `${filename} ${formatSize(size)}`).join(', ');
	return createRefusal(
		`The email is too large for Gmail: ${formatSize(bytes)}, with a limit of ${formatSize(maxMailBytes)}`,
		`Files grow by a third in an email. ${list ? `Attachments: ${list}. ` : ''}Upload large files to Google Drive and send a link.`,
	);
}

function formatSize(bytes: number): string {
	return bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1_048_576).toFixed(1)} MiB (${bytes} bytes)`;
}

/** Bytes. Larger emails go to the upload address, which takes the bytes as they are; JSON needs a third more. */
const maxJsonMailBytes = 5_000_000;

export function toSentMail(
	{ id, threadId, labelIds }: gmail_v1.Schema$Message,
	draftId?: string | null,
): SentMail {
	return {
		id: id ?? '',
		threadId: threadId ?? '',
		labelIds: labelIds ?? [],
		...(draftId && { draftId }),
	};
}

/** Passes an email to Gmail once, to send it or to keep it as a draft. */
export async function deliverMail(
	{ gmail }: Clients,
	mail: Buffer,
	{ threadId, folder }: { readonly threadId: string | undefined; readonly folder: MailFolder },
): Promise<SentMail> {
	const raw = mail.length > maxJsonMailBytes ? undefined : mail.toString('base64url');
	const message = raw === undefined && threadId === undefined ? undefined : { raw, threadId };
	const media = raw === undefined ? { mimeType: 'message/rfc822', body: Readable.from([mail]) } : undefined;
	const request = { userId: 'me', media };
	if (folder === 'drafts') {
		const requestBody = message && { message };
		const { data } = await gmail.users.drafts.create({ ...request, requestBody });
		return toSentMail(data.message ?? {}, data.id);
	}
	const { data } = await gmail.users.messages.send({ ...request, requestBody: message });
	return toSentMail(data);
}

/**
 * The sender for From, with the account's own name if none is given: without it, Gmail sends the bare address.
 * @returns undefined if Gmail may fill in the address itself
 */
export async function findSender(
	client: Clients,
	{ senderName, fromAlias }: { readonly senderName: string; readonly fromAlias: Address | undefined },
	item: Item,
): Promise<Address | undefined> {
	const name = senderName || (fromAlias?.name ?? '');
	if (name !== '') return { name, address: fromAlias?.address ?? (await getOwnAddress(client)) };
	// Not retried: a name is not worth a wait. Without the scope for it, no name is shown.
	const once = { retryConfig: { retry: 0 }, timeout: 10_000 };
	const known = await item.once('mail.senders', () =>
		listSendAs(client, once).catch((error: unknown) => {
			item.log(`Could not get the display name of the account: ${String(error)}`);
			return [];
		}),
	);
	const primary = findSendAs(known, undefined);
	// An alias without a name uses the account's.
	const displayName = findSendAs(known, fromAlias)?.displayName || primary?.displayName || '';
	const ownName = displayName.replaceAll(/\p{Cc}+/gu, ' ').trim();
	const address = fromAlias?.address ?? primary?.sendAsEmail;
	return ownName !== '' && address ? { name: ownName, address } : fromAlias;
}

/** The settings of an alias; without one those of the account's own address. */
export function findSendAs(known: readonly SendAs[], alias: Address | undefined): SendAs | undefined {
	const wanted = alias?.address.toLowerCase();
	return known.find(({ sendAsEmail, isPrimary }) =>
		wanted === undefined ? isPrimary : sendAsEmail?.toLowerCase() === wanted,
	);
}

type SendAs = gmail_v1.Schema$SendAs;

/** The addresses that the account sends from, with their names and signatures. */
export async function listSendAs({ account, gmail }: Clients, options: object = {}): Promise<SendAs[]> {
	return await getAccountFact(account, 'sendAs', async () => {
		const fields = 'sendAs(sendAsEmail,displayName,isPrimary,signature)';
		const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, options);
		return data.sendAs ?? [];
	});
}

/** The account's own address. A display name in From requires it. */
export async function getOwnAddress({ account, gmail }: Clients): Promise<string> {
	return await getAccountFact(account, 'address', async () => {
		const { data } = await gmail.users.getProfile({ userId: 'me', fields: 'emailAddress' });
		return data.emailAddress ?? '';
	});
}

/** Where an email goes and is found again: Gmail lists sent emails and drafts apart. */
export type MailFolder = 'sent' | 'drafts';

/** IDs of a listed email. */
interface ListedMail {
	readonly id: string;
	readonly draftId?: string | null;
}

/** The emails of a folder, newest first. */
export async function listMailFolder(
	{ gmail }: Clients,
	folder: MailFolder,
	search: { readonly q?: string; readonly maxResults: number },
): Promise<{ readonly mails: ListedMail[]; readonly isPartial: boolean }> {
	if (folder === 'drafts') {
		const fields = 'drafts(id,message/id),nextPageToken';
		const { data } = await gmail.users.drafts.list({ userId: 'me', ...search, fields });
		const mails = (data.drafts ?? []).map(({ id, message }) => ({ id: message?.id ?? '', draftId: id }));
		return { mails, isPartial: Boolean(data.nextPageToken) };
	}
	const labelIds = ['SENT'];
	const fields = 'messages/id,nextPageToken';
	const { data } = await gmail.users.messages.list({ userId: 'me', labelIds, ...search, fields });
	const mails = (data.messages ?? []).map(({ id }) => ({ id: id ?? '' }));
	return { mails, isPartial: Boolean(data.nextPageToken) };
}

/** A listed email and the parts of its marker. */
export async function readMarker({ gmail }: Clients, { id, draftId }: ListedMail) {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: [markerHeader],
		fields: 'id,threadId,labelIds,payload/headers',
	});
	return { mail: toSentMail(data, draftId), parts: getMessageHeader(data, markerHeader).split(/\s+/) };
}

/** Milliseconds to wait before each search, because Gmail lists an email only some time after it was sent. */
const searchWaits = [0, 1_000, 3_000];
/** How many of the newest emails are checked. */
const searchedMails = 20;

const folderWords = {
	sent: { may: 'The email may have been sent', among: 'sent emails', place: 'Sent', again: 'send' },
	drafts: { may: 'The draft may have been saved', among: 'drafts', place: 'Drafts', again: 'save' },
};

/** Finds an email with an unknown outcome by the item's marker. @throws NodeError with the same code: one not found may still be sent */
export async function findSentMail(
	client: Clients,
	folder: MailFolder,
	failure: NodeError,
	item: Item,
): Promise<SentMail> {
	const { may, among, place, again } = folderWords[folder];
	let searched = `It is not among the newest ${among}, but Gmail may list it later.`;
	for (const wait of searchWaits) {
		try {
			await sleep(wait, undefined, { signal: item.signal });
			const found = await findByToken(client, folder, item.token);
			if (found) return found;
		} catch (error) {
			// The failure of the send is the one to report. This one explains why nothing more is known.
			searched =
				isNodeError(error) && error.code === 403
					? 'This credential is not allowed to read the mailbox (scope gmail.readonly), so the node could not look for the email.'
					: 'The node could not look for the email in the mailbox.';
			break;
		}
	}
	throw failure.with({
		message: `${may}: ${failure.message}`,
		description: `${searched} Check the ${place} folder in Gmail before you run this item again. The node did not ${again} it a second time.`,
		outcome: 'unknown',
		cause: failure,
	});
}

async function findByToken(
	client: Clients,
	folder: MailFolder,
	token: string,
): Promise<SentMail | undefined> {
	const { mails } = await listMailFolder(client, folder, { maxResults: searchedMails });
	for (const listed of mails) {
		const { mail, parts } = await readMarker(client, listed);
		if (parts[0] === token) return mail;
	}
	return undefined;
}
