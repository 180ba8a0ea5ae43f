import MailComposer from 'nodemailer/lib/mail-composer';

import { createRefusal } from '../../../../core/errors';
import { printChoice, quoteField } from '../../../../fields/field';
import type { KeyHashes } from '../../../idempotency';
import type { Clients, Item } from '../../../operation';
import type { Address } from './addresses';
import { readAllowedRecipients, refuseOtherRecipients } from './allowedRecipients';
import { type AttachedFile, readAttachments, inlineImages } from './attachments';
import { maxMailBytes, createTooLargeError } from './deliver';
import { isDraft, markerHeader, type SendParams, readHeaderTexts } from './fields';
import type { MailFolder } from './findSentMail';

/** The forms in which a body is sent. A mail program shows the best one that it supports. */
interface MailBodies {
	readonly text: string;
	readonly html?: string;
}

/** Builds the forms of a body. HTML always gets a plain text: for Markdown, the Markdown itself. @throws NodeError 400 if unreadable */
async function buildBodies({ body, bodyFormat }: SendParams, { signal }: Item): Promise<MailBodies> {
	if (bodyFormat === 'text') return { text: body };
	const { runInWorker } = await import('../../../../untrusted/runInWorker');
	const isMarkdown = bodyFormat === 'markdown';
	const answer = await runInWorker(isMarkdown ? 'markdownToHtml' : 'htmlToText', body, signal);
	if ('result' in answer)
		return isMarkdown ? { text: body, html: answer.result } : { text: answer.result, html: body };
	throw createRefusal(
		`${quoteField('body')} cannot be read as ${isMarkdown ? 'Markdown' : 'HTML'}: ${answer.trouble}`,
		`Nothing was sent. Shorten or simplify it, or set ${quoteField('bodyFormat')} to ${printChoice('bodyFormat', 'text')}.`,
	);
}

/** Everything about an email that is known before any request to Gmail. */
export interface OutgoingMail extends ReturnType<typeof readHeaderTexts> {
	readonly files: readonly AttachedFile[];
	readonly bodies: MailBodies;
	/** Where the email goes. */
	readonly folder: MailFolder;
}

/** The email that the parameters ask for. @throws NodeError 400 for anything that could not be sent */
export async function prepareMail(client: Clients, params: SendParams, item: Item): Promise<OutgoingMail> {
	const files = await readAttachments(params, client, item);
	const bodies = await buildBodies(params, item);
	const folder = isDraft(params) ? 'drafts' : 'sent';
	const outgoing = { ...readHeaderTexts(params), files, bodies, folder } as const;
	if (bodies.html === undefined) return outgoing;
	const { html, files: inline, unknown } = inlineImages(bodies.html, files, item.token);
	if (unknown.length > 0) {
		item.addHint(
			`The body refers to ${unknown.map((name) => `cid:${name}`).join(', ')}, but no attachment has this field name or file name.`,
		);
	}
	return { ...outgoing, files: inline, bodies: { ...bodies, html } };
}

interface ComposeOptions {
	/** The sender. Without one, Gmail adds the account's own address. */
	readonly from: Address | undefined;
	/** The headers that join a reply to its original; '' for none. */
	readonly replied: { readonly messageId: string; readonly references: string } | undefined;
	/** Unguessable, and new for each try. */
	readonly token: string;
	readonly keyed: KeyHashes | undefined;
	readonly allowedRecipients: readonly string[];
}

/** Composes an email into the bytes of an RFC 5322 message. @throws NodeError 400 if it is too large, or a recipient not allowed */
export async function composeMail(outgoing: OutgoingMail, options: ComposeOptions): Promise<Buffer> {
	const { from, replied, token, keyed, allowedRecipients } = options;
	const { to, cc, bcc, replyTo, subject, headers, files, bodies } = outgoing;
	const marker = keyed === undefined ? token : `${token} ${keyed.mark} ${keyed.content}`;
	const node = new MailComposer({
		from,
		to,
		cc,
		bcc,
		replyTo,
		subject,
		...bodies,
		attachments: files.map((file) => ({ ...file })),
		headers: [...headers, { key: markerHeader, value: marker }],
		inReplyTo: replied?.messageId,
		references: replied?.references,
		// Replaces the default ID, which contains the machine's name. Gmail sets an ID of its own.
		messageId: `<${token}@${from?.address.split('@').at(-1) ?? 'mail.gmail.com'}>`,
		disableFileAccess: true,
		disableUrlAccess: true,
	}).compile();
	// Without it, recipients in Bcc would not get the email: Gmail reads recipients from the headers and removes Bcc itself.
	Object.assign(node, { keepBcc: true });
	const bytes = await node.build();
	refuseOtherRecipients(bytes, readAllowedRecipients(allowedRecipients));
	if (bytes.length <= maxMailBytes) return bytes;
	throw createTooLargeError(bytes.length, files);
}
