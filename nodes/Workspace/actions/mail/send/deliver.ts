import { Readable } from 'node:stream';

import { createRefusal } from '../../../../core/errors';
import type { Clients } from '../../../operation';
import { type MailFolder, toDeliveredMail } from './mailFolder';

/**
 * Gmail's limit for a whole email: the maxSize of messages.send in Google's API discovery document.
 */
export const maxMailBytes = 36_700_160;

/**
 * Builds the error for an email above the limit.
 * @param bytes the size of the whole email, or of its files alone
 */
export function createTooLargeError(bytes: number) {
	const size = (bytes / 2 ** 20).toFixed(1);
	return createRefusal(
		`The email is too large for Gmail: ${size} MiB, with a limit of 35 MiB`,
		'Files grow by a third in an email. Upload large files to Google Drive and send a link.',
	);
}

/**
 * A larger email goes to Gmail's upload address as it is. In JSON, as base64, it would be larger by
 * a third.
 */
const maxJsonMailBytes = 5_000_000;

/** Passes an email to Gmail once, to send it or to keep it as a draft. */
export async function deliverMail(
	{ gmail }: Clients,
	mail: Buffer,
	folder: MailFolder,
	threadId?: string,
) {
	const isUpload = mail.length > maxJsonMailBytes;
	const media = isUpload
		? { mimeType: 'message/rfc822', body: Readable.from([mail]) }
		: undefined;
	const raw = isUpload ? undefined : mail.toString('base64url');
	// The JSON of an upload has only the thread. Without a thread, there is no JSON.
	const message = isUpload && threadId === undefined ? undefined : { raw, threadId };
	if (folder === 'sent') {
		const request = { userId: 'me', media, requestBody: message };
		return toDeliveredMail((await gmail.users.messages.send(request)).data);
	}
	const request = { userId: 'me', media, requestBody: message && { message } };
	const draft = (await gmail.users.drafts.create(request)).data;
	return toDeliveredMail(draft.message ?? {}, draft.id);
}
