import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import type { AttachmentInput, Item } from '../../../operation';
import { createFileNameTest } from '../../onlyFiles';
import { requireAddresses } from '../addresses';
import { toLowerAscii } from './allowedRecipients';
import type { SendParams } from './fields';
import type { MailFolder } from './mailFolder';

/**
 * The parameters of an email, read and checked. Nothing has been fetched for it yet. The subject
 * may be '' in a reply.
 */
export type PreparedMail = ReturnType<typeof prepareMail>;

/** Reads and checks all parameters. @throws NodeError 400 if the email could not be sent */
export function prepareMail(params: SendParams, item: Item) {
	const readAddresses = (field: 'to' | 'cc' | 'bcc' | 'replyTo' | 'fromAlias') =>
		requireAddresses(params[field], quoteField(field));
	// The form has only `sendAs` for this, and the input object only `saveAsDraft`.
	const isDraft = params.sendAs === 'draft' || params.saveAsDraft;
	const folder: MailFolder = isDraft ? 'drafts' : 'sent';
	const mail = {
		...params,
		to: readAddresses('to'),
		cc: readAddresses('cc'),
		bcc: readAddresses('bcc'),
		replyTo: readAddresses('replyTo'),
		fromAlias: readAddresses('fromAlias').at(0),
		subject: requireOneLine(params.subject, quoteField('subject')),
		senderName: requireOneLine(params.senderName.trim(), quoteField('senderName')),
		headers: readCustomHeaders(params.headers),
		attachments: findAttachments(params, item),
		folder,
	};
	if (params.replyToMessageId === '') refuseIncompleteNewMail(mail);
	refuseForbiddenRecipients(mail);
	return mail;
}

/**
 * Checks an email that is no reply: it needs a subject and, unless it is a draft, a recipient, and
 * no option for replies.
 * @throws NodeError 400
 */
function refuseIncompleteNewMail(mail: PreparedMail): void {
	if (mail.replyAll || mail.quoteOriginal)
		throw createRefusal(
			`${quoteField('replyToMessageId')} is required`,
			`${quoteField('replyAll')} and ${quoteField('quoteOriginal')} can only be used in a reply.`,
		);
	const lacksRecipient = mail.folder === 'sent' && mail.to.length === 0;
	if (!lacksRecipient && mail.subject.trim() !== '') return;
	throw createRefusal(
		`${quoteField(lacksRecipient ? 'to' : 'subject')} is required`,
		`It is empty. ${missingDataAdvice} A reply may leave it empty.`,
	);
}

/**
 * Matches what stands before the @ if a mail server may forward to another address in it:
 * `evil%evil.example`, `evil.example!evil`, `SRS0=…=evil.example=evil`.
 */
const relayPattern = /[%!@#=]/;
/** Matches a header that may name an address, or hide one in an encoded word. */
const addressPattern = /@|%40|=\?/;

/**
 * Refuses an email that would reach anybody whom the node does not allow, or whose other headers
 * have an address.
 * @throws NodeError 400 that names the first one
 */
export function refuseForbiddenRecipients(mail: PreparedMail): void {
	const { allowedRecipients } = mail;
	if (!allowedRecipients) return;
	for (const { address } of [...mail.to, ...mail.cc, ...mail.bcc, ...mail.replyTo]) {
		const recipient = toLowerAscii(address);
		const [local = '', domain = ''] = recipient.split('@');
		const isOfDomain =
			allowedRecipients.has(domain) && !relayPattern.test(local.normalize('NFKC'));
		if (!isOfDomain && !allowedRecipients.has(recipient)) throw createForbiddenRefusal(address);
	}
	const header = mail.headers.find(({ value }) => addressPattern.test(value.normalize('NFKC')));
	if (header) throw createForbiddenRefusal(`whoever stands in the header ${header.key}`);
}

const createForbiddenRefusal = (recipient: string) =>
	createRefusal(
		`'Allowed Recipients' of the node does not include ${shorten(recipient)}`,
		'Nothing was sent. Whoever owns the workflow decides in the node which addresses and domains an email may go to, replies included. No other header may have an address.',
	);

/**
 * Finds the binary fields to attach: * means all of the item, and a repeated field counts once.
 * @throws NodeError 400 if a field is missing
 */
function findAttachments({ attachments, onlyFiles }: SendParams, item: Item): AttachmentInput[] {
	const named = attachments.filter((attachment) => 'field' in attachment);
	const base64Files = attachments.filter((attachment) => !('field' in attachment));
	const names = named.map(({ field }) => field);
	const fields = item.findBinaryFields(names, 'attachments', createFileNameTest(onlyFiles));
	return [...fields.map((field) => ({ field })), ...base64Files];
}

/**
 * Matches headers that the node or Gmail sets. Also matches Resent- headers, whose recipients mail
 * servers prefer to To, Cc and Bcc.
 */
const reservedHeaderPattern =
	/^(?:apparently-to|bcc|cc|content-.*|from|message-id|mime-version|reply-to|resent-.*|return-path|sender|subject|to|x-agent-workspace-id)$/i;

/**
 * Reads the headers from the user.
 * @throws NodeError 400 for a reserved header, or one that could forge other headers
 */
export function readCustomHeaders(headers: SendParams['headers']) {
	return headers.map(({ name, value }) => {
		const key = name.trim();
		// Printable ASCII without the colon (RFC 5322, 2.2).
		if (!/^[!-9;-~]+$/.test(key) || reservedHeaderPattern.test(key))
			throw createRefusal(
				`The header '${shorten(key, 60)}' cannot be set here`,
				'A name consists of letters, digits and hyphens, such as X-Campaign. For recipients, sender and subject, use their fields.',
			);
		return { key, value: requireOneLine(value, `The header '${key}'`) };
	});
}

/**
 * Refuses control characters except tabs, because they could forge headers.
 * @param label names the text in the error
 * @throws NodeError 400
 */
export function requireOneLine(text: string, label: string): string {
	if (!/[\u0000-\u0008\u000a-\u001f\u007f\u2028\u2029]/.test(text)) return text;
	throw createRefusal(
		`${label} contains a line break or another control character`,
		'It must be a single line. In an expression, use .replace(/\\s+/g, " ") to join the lines.',
	);
}
