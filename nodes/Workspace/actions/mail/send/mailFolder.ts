import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { getDecodedHeader } from '../../../../untrusted/mail/mimePart';
import { type Clients, requireId } from '../../../operation';

/**
 * The header for the marker, by which the node finds its own emails again. `composeMail` builds the
 * marker.
 */
export const markerHeader = 'X-Agent-Workspace-Id';

/** An email that was sent, or saved as a draft, as the node outputs it. */
export interface DeliveredMail {
	readonly id: string;
	readonly threadId: string;
	readonly labelIds: string[];
	/** The ID of the draft, if the email is a draft. */
	readonly draftId?: string;
	/**
	 * A key of the output. Set if nothing was sent or saved now, because an earlier execution did
	 * so with the same key.
	 */
	readonly repeated?: true;
}

export function toDeliveredMail(
	message: gmail_v1.Schema$Message,
	draftId?: string | null,
): DeliveredMail {
	const mail = {
		id: requireId(message.id),
		threadId: message.threadId ?? '',
		labelIds: message.labelIds ?? [],
	};
	return draftId ? { ...mail, draftId } : mail;
}

/**
 * Where Gmail keeps a delivered email. Gmail lists sent emails and drafts with different methods.
 */
export type MailFolder = 'sent' | 'drafts';

/** An email in a folder, by the ID of its message and, for a draft, the ID of the draft. */
export interface FolderEntry {
	readonly id: string;
	readonly draftId?: string | null;
}

/** Lists the newest emails of a folder, newest first. @param q a query in Gmail's search syntax */
export async function listMailFolder(
	{ gmail }: Clients,
	folder: MailFolder,
	maxResults: number,
	q?: string,
): Promise<FolderEntry[]> {
	const request = { userId: 'me', maxResults, q };
	if (folder === 'sent') {
		const { data } = await gmail.users.messages.list({
			...request,
			labelIds: ['SENT'],
			fields: 'messages/id',
		});
		return (data.messages ?? []).map(({ id }) => ({ id: id ?? '' }));
	}
	const fields = 'drafts(id,message/id)';
	const { data } = await gmail.users.drafts.list({ ...request, fields });
	return (data.drafts ?? []).map(({ id, message }) => ({ id: message?.id ?? '', draftId: id }));
}

/**
 * Fetches an email, and reads the marker that `composeMail` has built. In an email without a
 * marker, `markerId` is ''.
 */
export async function fetchMailWithMarker({ gmail }: Clients, { id, draftId }: FolderEntry) {
	const { data } = await gmail.users.messages.get({
		userId: 'me',
		id,
		format: 'metadata',
		metadataHeaders: [markerHeader],
		fields: 'id,threadId,labelIds,payload/headers',
	});
	const [markerId, keyHash, contentHash = ''] = getDecodedHeader(
		data.payload ?? {},
		markerHeader,
	).split(/\s+/);
	return { mail: toDeliveredMail(data, draftId), markerId, keyHash, contentHash };
}
