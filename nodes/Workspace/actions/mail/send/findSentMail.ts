import { setTimeout as sleep } from 'node:timers/promises';
import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { type NodeError, isNodeError } from '../../../../core/errors';
import { getMessageHeader } from '../../../../untrusted/mail/mimeStructure';
import type { Clients, Item } from '../../../operation';
import { markerHeader } from './fields';

export interface SentMail {
	readonly id: string;
	readonly threadId: string;
	readonly labelIds: string[];
	/** The ID of the draft, if the email was saved as one. */
	readonly draftId?: string;
	/** An earlier execution already sent it with the same key. */
	readonly repeated?: true;
}

export function toSentMail(message: gmail_v1.Schema$Message, draftId?: string | null): SentMail {
	const { id, threadId, labelIds } = message;
	return { id: id ?? '', threadId: threadId ?? '', labelIds: labelIds ?? [], ...(draftId && { draftId }) };
}

/** Where an email goes and is found again: Gmail lists sent emails and drafts apart. */
export type MailFolder = 'sent' | 'drafts';

/** IDs of a listed email. */
export interface ListedMail {
	readonly id: string;
	readonly draftId?: string | null;
}

/** The emails of a folder, newest first. */
export async function listMailFolder({ gmail }: Clients, folder: MailFolder, maxResults: number, q?: string) {
	const search = { userId: 'me', maxResults, q };
	if (folder === 'drafts') {
		const fields = 'drafts(id,message/id),nextPageToken';
		const { data } = await gmail.users.drafts.list({ ...search, fields });
		const mails = (data.drafts ?? []).map(({ id, message }) => ({ id: message?.id ?? '', draftId: id }));
		return { mails, isPartial: Boolean(data.nextPageToken) };
	}
	const fields = 'messages/id,nextPageToken';
	const { data } = await gmail.users.messages.list({ ...search, labelIds: ['SENT'], fields });
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
export async function findSentMail(client: Clients, folder: MailFolder, failure: NodeError, item: Item) {
	const { may, among, place, again } = folderWords[folder];
	let searched = `It is not among the newest ${among}, but Gmail may list it later.`;
	for (const wait of searchWaits) {
		try {
			await sleep(wait, undefined, { signal: item.signal });
			for (const listed of (await listMailFolder(client, folder, searchedMails)).mails) {
				const { mail, parts } = await readMarker(client, listed);
				if (parts[0] === item.token) return mail;
			}
		} catch (error) {
			// Reports the failure of the send, and this one only as the reason why nothing more is known.
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
