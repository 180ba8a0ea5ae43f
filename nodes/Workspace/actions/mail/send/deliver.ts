import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';
import { Readable } from 'node:stream';

import type { Clients } from '../../../operation';

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
