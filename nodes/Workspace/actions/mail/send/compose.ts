import MailComposer from 'nodemailer/lib/mail-composer';

import { hashIdempotencyKey, hashParts, type KeyHashes } from '../../../idempotency';
import type { Clients, Item } from '../../../operation';
import type { Address } from '../addresses';
import { refuseForbiddenHeaders } from './allowedRecipients';
import { type LoadedFile, readAttachments } from './attachments';
import { buildBodies, type MailBodies } from './bodies';
import { maxMailBytes, createTooLargeError } from './deliver';
import { markerHeader } from './findDeliveredMail';
import { inlineLinkedFiles } from './inlineFiles';
import type { PreparedMail } from './prepareMail';

/** An email before it is composed. `completeReply` and `appendSignatureAndQuote` return copies with what it still lacks. */
export interface OutgoingMail extends PreparedMail {
	readonly files: readonly LoadedFile[];
	readonly bodies: MailBodies;
}

/** Reads the files and builds the body. @throws NodeError if the email could not be sent */
export async function loadMail(
	clients: Clients,
	prepared: PreparedMail,
	item: Item,
): Promise<OutgoingMail> {
	const files = await readAttachments(prepared, clients, item);
	const bodies = await buildBodies(prepared, item);
	if (bodies.html === undefined) return { ...prepared, files, bodies };
	const linked = inlineLinkedFiles(bodies.html, files, item.markerId);
	if (linked.unknownNames.length > 0)
		item.addHint(
			`The body refers to ${linked.unknownNames.map((name) => `cid:${name}`).join(', ')}, but no attachment has this field name or file name.`,
		);
	return { ...prepared, files: linked.files, bodies: { ...bodies, html: linked.html } };
}

/** Hashes the idempotency key, and also what the user chose for the email. Returns undefined if there is no key. */
export function hashMailKey(mail: OutgoingMail): KeyHashes | undefined {
	const keyHash = hashIdempotencyKey({
		key: mail.idempotencyKey,
		operation: 'mail send',
		target: '',
	});
	if (keyHash === undefined) return undefined;
	const { to, cc, bcc, replyTo, fromAlias, senderName, subject, headers } = mail;
	const { body, bodyFormat, replyToMessageId, replyAll, quoteOriginal, includeSignature } = mail;
	const addressing = [to, cc, bcc, replyTo, fromAlias, senderName, subject, headers];
	const content = [body, bodyFormat, replyToMessageId, replyAll, quoteOriginal, includeSignature];
	const contentHash = hashParts([
		JSON.stringify([addressing, content, mail.folder]),
		// Two PDFs that Google makes of the same document differ, so the document's ID stands for its PDF.
		...mail.files.flatMap((file) => [
			file.filename,
			file.contentType ?? '',
			file.googleFileId ?? file.content,
		]),
	]);
	// Half of the hash distinguishes the emails of one key well enough, and keeps the header line short.
	return { keyHash, contentHash: contentHash.slice(0, 32) };
}

interface ComposeOptions {
	/** The sender. If undefined, Gmail adds the account's own address. */
	readonly from: Address | undefined;
	/** The two headers that connect a reply to its original email. Each may be ''. */
	readonly original: { readonly messageId: string; readonly references: string } | undefined;
	/** The marker ID of the item. The Message-ID is also made from it. */
	readonly markerId: string;
	readonly keyHashes: KeyHashes | undefined;
}

/** Makes all line breaks those of an email (RFC 5322, 2.3). */
const useCrlf = (text: string) => text.replaceAll(/\r\n?|\n/g, '\r\n');

/** Composes an email into the bytes of an RFC 5322 message. @throws NodeError 400 if it is too large or goes to a forbidden recipient */
export async function composeMail(
	outgoing: OutgoingMail,
	options: ComposeOptions,
): Promise<Buffer> {
	const { from, original, markerId, keyHashes } = options;
	const { to, cc, bcc, replyTo, subject, headers, files, bodies } = outgoing;
	// The marker ID shows which item sent the email. The hashes show with which idempotency key and content it was sent.
	const markerWords = keyHashes
		? [markerId, keyHashes.keyHash, keyHashes.contentHash]
		: [markerId];
	const mimeNode = new MailComposer({
		...{ from, to, cc, bcc, replyTo, subject },
		text: useCrlf(bodies.text),
		html: bodies.html && useCrlf(bodies.html),
		attachments: files.map((file) => ({ ...file })),
		headers: [...headers, { key: markerHeader, value: markerWords.join(' ') }],
		inReplyTo: original?.messageId,
		references: original?.references,
		// Replaces the default ID, which contains the machine's name. Gmail sets an ID of its own.
		messageId: `<${markerId}@${from?.address.split('@').at(-1) ?? 'mail.gmail.com'}>`,
		disableFileAccess: true,
		disableUrlAccess: true,
	}).compile();
	// Keeps the Bcc header, because Gmail reads the recipients from the headers. Gmail then removes Bcc itself.
	Object.assign(mimeNode, { keepBcc: true });
	const bytes = await mimeNode.build();
	refuseForbiddenHeaders(bytes, outgoing.allowedRecipients);
	if (bytes.length <= maxMailBytes) return bytes;
	throw createTooLargeError(bytes.length, files);
}
