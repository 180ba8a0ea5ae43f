import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { Failure, isFailure } from '../../../../core/errors';
import { accountFact } from '../../../google/accountFacts';
import type { Clients, Item } from '../../../operation';
import { headerOf } from '../../../../untrusted/mail/headers';
import type { Address } from './addresses';
import { markerHeader } from './headerFields';

export interface SentMail {
	readonly id: string;
	readonly threadId: string;
	readonly labelIds: string[];
	/** An earlier execution already sent it with the same key. */
	readonly repeated?: true;
}

/**
 * Bytes. Larger emails go to the upload address, which takes the bytes as they are; JSON needs a third more.
 */
const largestJson = 5_000_000;

export function sentMail({ id, threadId, labelIds }: gmail_v1.Schema$Message): SentMail {
	return { id: id ?? '', threadId: threadId ?? '', labelIds: labelIds ?? [] };
}

/** Passes an email to Gmail once. */
export async function deliver(
	{ gmail }: Clients,
	mail: Buffer,
	threadId: string | undefined,
): Promise<SentMail> {
	const { data } = await gmail.users.messages.send({ userId: 'me', ...contentOf(mail, threadId) });
	return sentMail(data);
}

function contentOf(mail: Buffer, threadId: string | undefined): gmail_v1.Params$Resource$Users$Messages$Send {
	if (mail.length <= largestJson) return { requestBody: { raw: mail.toString('base64url'), threadId } };
	const mimeType = 'message/rfc822';
	// A Buffer can be sent again after an expired token is refreshed; a stream cannot.
	if (threadId === undefined) return { media: { mimeType, body: mail } };
	// Next to a body, the client takes only a stream. The token is fresh, because the email to reply to was
	// just read.
	return { requestBody: { threadId }, media: { mimeType, body: Readable.from([mail]) } };
}

interface Wanted {
	readonly senderName: string;
	readonly fromAlias: Address | undefined;
}

/**
 * The sender for From. If no name is given, uses the name from the account's settings, because an email
 * without From is sent with the bare address.
 * @returns undefined if Gmail may fill in the address itself
 */
export async function senderOf(
	client: Clients,
	{ senderName, fromAlias }: Wanted,
	item: Item,
): Promise<Address | undefined> {
	const name = senderName || (fromAlias?.name ?? '');
	if (name !== '') {
		return { name, address: fromAlias?.address ?? (await ownAddress(client, item)) };
	}
	const known = await sendersOf(client, item);
	const primary = known.find(({ isPrimary }) => isPrimary);
	const chosen =
		fromAlias === undefined ? primary : known.find(({ sendAsEmail }) => isSame(sendAsEmail, fromAlias));
	// An alias without a name uses the account's.
	const ownName = (chosen?.displayName || primary?.displayName || '').replaceAll(/\p{Cc}+/gu, ' ').trim();
	const address = fromAlias?.address ?? primary?.sendAsEmail;
	if (ownName === '' || !address) return fromAlias;
	return { name: ownName, address };
}

function isSame(email: string | null | undefined, { address }: Address): boolean {
	return email?.toLowerCase() === address.toLowerCase();
}

/** Not retried: a name is not worth a wait. Without the scope for it, no name is shown. */
async function sendersOf({ account, gmail }: Clients, item: Item): Promise<gmail_v1.Schema$SendAs[]> {
	return await item.once('mail.senders', async () => {
		const fields = 'sendAs(sendAsEmail,displayName,isPrimary)';
		const look = accountFact(account, 'senders', async () => {
			const once = { retryConfig: { retry: 0 }, timeout: 10_000 };
			const { data } = await gmail.users.settings.sendAs.list({ userId: 'me', fields }, once);
			return data.sendAs ?? [];
		});
		return await look.catch((error: unknown) => {
			item.log(`Could not get the display name of the account: ${String(error)}`);
			return [];
		});
	});
}

/** The account's own address. A display name in From requires it. */
export async function ownAddress({ account, gmail }: Clients, item: Item): Promise<string> {
	return await item.once('mail.ownAddress', async () => {
		return await accountFact(account, 'address', async () => {
			const { data } = await gmail.users.getProfile({ userId: 'me', fields: 'emailAddress' });
			return data.emailAddress ?? '';
		});
	});
}

/** Milliseconds to wait before each look, because Gmail lists an email only some time after it was sent. */
const looks = [0, 1_000, 3_000];
/** How many of the newest sent emails are checked. */
const newest = 20;

/**
 * The email with the item's marker, for when the connection broke during sending and the outcome is unknown.
 * @throws Failure with the same code that says so, because an email that is not found may still have been
 * sent
 */
export async function findSent(client: Clients, failure: Failure, item: Item): Promise<SentMail> {
	let trouble: string | undefined;
	for (const wait of looks) {
		try {
			await sleep(wait, undefined, { signal: item.signal });
			const found = await look(client, item.token);
			if (found) return found;
		} catch (error) {
			// The failure of the send is the one to report. This one explains why nothing more is known.
			trouble = troubleOf(error);
			break;
		}
	}
	throw unknownFate(failure, trouble);
}

async function look({ gmail }: Clients, marker: string): Promise<SentMail | undefined> {
	const { data } = await gmail.users.messages.list({
		userId: 'me',
		labelIds: ['SENT'],
		maxResults: newest,
		fields: 'messages/id',
	});
	for (const { id } of data.messages ?? []) {
		const message = await gmail.users.messages.get({
			userId: 'me',
			id: id ?? '',
			format: 'metadata',
			metadataHeaders: [markerHeader],
			fields: 'id,threadId,labelIds,payload/headers',
		});
		if (headerOf(message.data, markerHeader)?.split(/\s/, 1)[0] === marker) return sentMail(message.data);
	}
	return undefined;
}

function troubleOf(error: unknown): string {
	if (isFailure(error) && error.code === 403) {
		return 'This credential is not allowed to read the mailbox (scope gmail.readonly), so the node could not look for the email.';
	}
	return 'The node could not look for the email in the mailbox.';
}

function unknownFate(failure: Failure, trouble: string | undefined): Failure {
	const searched = trouble ?? `It is not among the newest sent emails, but Gmail may list it later.`;
	return new Failure({
		code: failure.code,
		status: failure.status,
		message: `The email may have been sent: ${failure.message}`,
		description: `${searched} Check the Sent folder in Gmail before you run this item again. The node did not send it a second time.`,
		ambiguous: true,
		cause: failure,
	});
}
