import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';
import { Readable } from 'node:stream';

import type { Clients } from '../../../operation';

export interface SentMail {
	readonly id: string;
	readonly threadId: string;
	readonly labelIds: string[];
	/** An earlier execution sent it with the same key. */
	readonly repeated?: true;
}

/** Above it an email goes to the upload address, which takes its bytes as they are instead of a third more. Bytes. */
const largestJson = 5_000_000;

export function sentMail({ id, threadId, labelIds }: gmail_v1.Schema$Message): SentMail {
	return { id: id ?? '', threadId: threadId ?? '', labelIds: labelIds ?? [] };
}

/** Hands an email to Gmail, once. */
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
	// Bytes survive the refresh of an expired token, a stream does not.
	if (threadId === undefined) return { media: { mimeType, body: mail } };
	// The client takes only a stream beside a body. The token is fresh: the answered mail has just been read.
	return { requestBody: { threadId }, media: { mimeType, body: Readable.from([mail]) } };
}
