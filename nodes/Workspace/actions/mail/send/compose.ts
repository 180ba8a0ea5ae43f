import MailComposer from 'nodemailer/lib/mail-composer';

import { hashKeyUse, type KeyHashes } from '../../../idempotency';
import type { Mail } from '../../../../untrusted/mail/readMail';
import type { Address } from '../addresses';
import type { MailBodies } from './bodies';
import { createTooLargeError, maxMailBytes } from './deliver';
import type { LoadedFile } from './files';
import { markerHeader } from './mailFolder';
import type { PreparedMail } from './prepareMail';

/** An email with its files and its body, before it is composed. */
export interface OutgoingMail extends PreparedMail {
	readonly files: readonly LoadedFile[];
	readonly bodies: MailBodies;
	/** The email that it answers. */
	readonly original?: Mail;
	readonly inReplyTo?: string;
	readonly references?: string;
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

/**
 * Hashes the idempotency key, and also what the user chose for the email. Returns undefined if
 * there is no key.
 */
export function hashMailKey(mail: OutgoingMail): KeyHashes | undefined {
	if (mail.idempotencyKey === '') return undefined;
	const choices = contentFields.map((name) => mail[name]);
	const parts: Array<string | Buffer> = [JSON.stringify(choices)];
	// Two PDFs that Google makes of the same document differ, so the document's ID stands for its
	// PDF.
	for (const file of mail.files)
		parts.push(file.filename, file.contentType ?? '', file.googleFileId ?? file.content);
	const use = { key: mail.idempotencyKey, operation: 'mail send', target: '' };
	return hashKeyUse(use, parts);
}

/** Makes all line breaks those of an email (RFC 5322, 2.3). */
const useCrlf = (text: string) => text.replaceAll(/\r\n?|\n/g, '\r\n');

/**
 * Composes an email into the bytes of an RFC 5322 message.
 * @throws NodeError 400 if it is too large
 * @param marker the words by which the node finds the email again. The first one is the marker ID
 * of the item
 */
export async function composeMail(
	mail: OutgoingMail,
	from: Address | undefined,
	marker: readonly string[],
): Promise<Buffer> {
	const { bodies } = mail;
	const domain = from?.address.split('@').at(-1) ?? 'mail.gmail.com';
	const mimeNode = new MailComposer({
		from,
		to: mail.to,
		cc: mail.cc,
		bcc: mail.bcc,
		replyTo: mail.replyTo,
		subject: mail.subject,
		text: useCrlf(bodies.text),
		html: bodies.html && useCrlf(bodies.html),
		attachments: mail.files.map((file) => ({
			...file,
			// Browsers give a saved web page (.mhtml) a multipart type. Mail programs would look
			// for parts in place of the file.
			contentType: file.contentType?.replace(/^multipart\/.*/i, 'application/octet-stream'),
		})),
		headers: [...mail.headers, { key: markerHeader, value: marker.join(' ') }],
		inReplyTo: mail.inReplyTo,
		references: mail.references,
		// Replaces the default ID, which contains the machine's name. Gmail sets an ID of its own.
		messageId: `<${marker[0]}@${domain}>`,
		disableFileAccess: true,
		disableUrlAccess: true,
	}).compile();
	// Keeps the Bcc header, because Gmail reads the recipients from the headers. Gmail then removes
	// Bcc itself.
	Object.assign(mimeNode, { keepBcc: true });
	const bytes = await mimeNode.build();
	if (bytes.length > maxMailBytes) throw createTooLargeError(bytes.length);
	return bytes;
}
