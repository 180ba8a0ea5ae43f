import MailComposer from 'nodemailer/lib/mail-composer';

import { hashIdempotencyKey, hashParts, type KeyHashes } from '../../../idempotency';
import type { MailBodies } from './bodies';
import { createTooLargeError, maxMailBytes } from './deliver';
import type { LoadedFile } from './files';
import { markerHeader } from './findDeliveredMail';
import type { PreparedMail } from './prepareMail';
import type { Sender } from './sender';

/** An email with its files and its body, before it is composed. */
export interface OutgoingMail extends PreparedMail {
	readonly files: readonly LoadedFile[];
	readonly bodies: MailBodies;
}

/** What decides, beside the files, what an email says and to whom. */
const contentFields = [
	'to',
	'cc',
	'bcc',
	'replyTo',
	'fromAlias',
	'senderName',
	'subject',
	'headers',
	'body',
	'bodyFormat',
	'includeSignature',
	'folder',
	'replyToMessageId',
	'replyAll',
	'quoteOriginal',
] as const;

/** Hashes the idempotency key, and also what the user chose for the email. Returns undefined if there is no key. */
export function hashMailKey(mail: OutgoingMail): KeyHashes | undefined {
	const key = mail.idempotencyKey;
	const keyHash = hashIdempotencyKey({ key, operation: 'mail send', target: '' });
	if (keyHash === undefined) return undefined;
	const choices = contentFields.map((name) => mail[name]);
	const parts: Array<string | Buffer> = [JSON.stringify(choices)];
	// Two PDFs that Google makes of the same document differ, so the document's ID stands for its PDF.
	for (const { filename, contentType = '', googleFileId, content } of mail.files)
		parts.push(filename, contentType, googleFileId ?? content);
	// Half of the hash distinguishes the emails of one key well enough, and keeps the header line short.
	return { keyHash, contentHash: hashParts(parts).slice(0, 32) };
}

/** Makes all line breaks those of an email (RFC 5322, 2.3). */
const useCrlf = (text: string) => text.replaceAll(/\r\n?|\n/g, '\r\n');

/**
 * Composes an email into the bytes of an RFC 5322 message. @throws NodeError 400 if it is too large
 * @param original the two headers that connect a reply to its original email
 * @param marker the words by which the node finds the email again. The first one is the marker ID of the item
 */
export async function composeMail(
	{ to, cc, bcc, replyTo, subject, headers, files, bodies }: OutgoingMail,
	{ from }: Sender,
	original: { readonly messageId: string; readonly references: string } | undefined,
	marker: readonly string[],
): Promise<Buffer> {
	const domain = from?.address.split('@').at(-1) ?? 'mail.gmail.com';
	const mimeNode = new MailComposer({
		from,
		to: [...to],
		cc: [...cc],
		bcc: [...bcc],
		replyTo: [...replyTo],
		subject,
		text: useCrlf(bodies.text),
		html: bodies.html && useCrlf(bodies.html),
		attachments: files.map((file) => ({ ...file })),
		headers: [...headers, { key: markerHeader, value: marker.join(' ') }],
		inReplyTo: original?.messageId,
		references: original?.references,
		// Replaces the default ID, which contains the machine's name. Gmail sets an ID of its own.
		messageId: `<${marker[0]}@${domain}>`,
		disableFileAccess: true,
		disableUrlAccess: true,
	}).compile();
	// Keeps the Bcc header, because Gmail reads the recipients from the headers. Gmail then removes Bcc itself.
	Object.assign(mimeNode, { keepBcc: true });
	const bytes = await mimeNode.build();
	if (bytes.length > maxMailBytes) throw createTooLargeError(bytes.length);
	return bytes;
}
