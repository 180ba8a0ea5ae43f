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
	/** Set if an earlier execution sent the email with the same key. */
	readonly repeated?: true;
}

export function toSentMail(message: gmail_v1.Schema$Message, draftId?: string | null): SentMail {
	const { id, threadId, labelIds } = message;
	return { id: id ?? '', threadId: threadId ?? '', labelIds: labelIds ?? [], ...(draftId && { draftId }) };
}

/** Where an email goes and is found again. Gmail lists sent emails and drafts with different methods. */
export type MailFolder = 'sent' | 'drafts';

export interface ListedMail {
	readonly id: string;
	readonly draftId?: string | null;
}

/** Lists the emails of a folder, newest first. @param q a query in Gmail's search syntax */
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

/** Reads the marker of an email. @returns the email, and the marker's parts: the token and, with a key, the two hashes of `KeyHashes` */
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
const searchDelays = [0, 1_000, 3_000];
const maxSearchedMails = 20;

const folderWords = {
	sent: { claim: 'The email may have been sent', plural: 'sent emails', name: 'Sent', verb: 'send' },
	drafts: { claim: 'The draft may have been saved', plural: 'drafts', name: 'Drafts', verb: 'save' },
};

/** Finds an email whose outcome is unknown by the item's marker. @throws the failure if nothing is found: the email may still be sent */
export async function findSentMail(client: Clients, folder: MailFolder, failure: NodeError, item: Item) {
	const { claim, plural, name, verb } = folderWords[folder];
	let searchReport = `It is not among the newest ${plural}, but Gmail may list it later.`;
	for (const delay of searchDelays) {
		try {
			await sleep(delay, undefined, { signal: item.signal });
			for (const listedMail of (await listMailFolder(client, folder, maxSearchedMails)).mails) {
				const { mail, parts } = await readMarker(client, listedMail);
				if (parts[0] === item.token) return mail;
			}
		} catch (error) {
			// The node reports the failure of the send. The failure of the search only explains why nothing more is known.
			searchReport =
				isNodeError(error) && error.code === 403
					? 'This credential is not allowed to read the mailbox (scope gmail.readonly), so the node could not look for the email.'
					: 'The node could not look for the email in the mailbox.';
			break;
		}
	}
	throw failure.with({
		message: `${claim}: ${failure.message}`,
		description: `${searchReport} Check the ${name} folder in Gmail before you run this item again. The node did not ${verb} it a second time.`,
		outcome: 'unknown',
		cause: failure,
	});
}
