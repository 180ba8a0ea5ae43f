import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { quoteField } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import type { AttachmentInput, Item } from '../../../operation';
import { createFileNameTest } from '../../onlyFiles';
import { type Address, requireAddresses } from '../addresses';
import { refuseForbiddenAddresses } from './allowedRecipients';
import type { SendParams } from './fields';
import type { MailFolder } from './findDeliveredMail';

/** The fields that are read once, and replaced by what was read. */
type ReadFields = 'to' | 'cc' | 'bcc' | 'replyTo' | 'fromAlias' | 'headers' | 'attachments';

/** The parameters of an email, read and checked. Nothing has been fetched for it yet. The subject may be '' in a reply. */
export interface PreparedMail extends Omit<SendParams, ReadFields> {
	readonly to: Address[];
	readonly cc: Address[];
	readonly bcc: Address[];
	readonly replyTo: Address[];
	readonly fromAlias: Address | undefined;
	readonly headers: Array<{ key: string; value: string }>;
	readonly attachments: readonly AttachmentInput[];
	readonly folder: MailFolder;
}

/** Reads and checks all parameters. @throws NodeError 400 if the email could not be sent */
export function prepareMail(params: SendParams, item: Item): PreparedMail {
	// The form has only `sendAs` for this, and the input object only `saveAsDraft`.
	const isDraft = params.sendAs === 'draft' || params.saveAsDraft;
	if (params.replyToMessageId === '') refuseIncompleteNewMail(params, isDraft);
	const readAddresses = (field: 'to' | 'cc' | 'bcc' | 'replyTo' | 'fromAlias') =>
		requireAddresses(params[field], quoteField(field));
	const to = readAddresses('to');
	const cc = readAddresses('cc');
	const bcc = readAddresses('bcc');
	const replyTo = readAddresses('replyTo');
	refuseForbiddenAddresses([...to, ...cc, ...bcc, ...replyTo], params.allowedRecipients);
	const [fromAlias, ...otherAliases] = readAddresses('fromAlias');
	if (otherAliases.length > 0)
		throw createRefusal(
			`${quoteField('fromAlias')} has more than one address`,
			'Enter one alias to send from.',
		);
	addPlaceholderHint(`${params.subject} ${params.body}`, item);
	return {
		...params,
		...{ to, cc, bcc, replyTo, fromAlias },
		subject: requireOneLine(params.subject, quoteField('subject')),
		senderName: requireOneLine(params.senderName.trim(), quoteField('senderName')),
		headers: readCustomHeaders(params.headers),
		attachments: findAttachments(params, item),
		folder: isDraft ? 'drafts' : 'sent',
	};
}

/** Checks an email that is no reply: it needs a subject and, unless it is a draft, a recipient, and no option for replies. @throws NodeError 400 */
function refuseIncompleteNewMail(params: SendParams, isDraft: boolean): void {
	for (const option of ['replyAll', 'quoteOriginal'] as const) {
		if (!params[option]) continue;
		throw createRefusal(
			`${quoteField(option)} can only be used in a reply`,
			`Enter the ID of the original email in ${quoteField('replyToMessageId')}, or turn off ${quoteField(option)}.`,
		);
	}
	const lacksRecipient = !isDraft && !/[^\s,]/.test(params.to);
	if (!lacksRecipient && params.subject.trim() !== '') return;
	const missingField = lacksRecipient ? 'to' : 'subject';
	const replyAdvice = `To reply to an email, enter its ID in ${quoteField('replyToMessageId')}.`;
	if (params[missingField].trim() !== '')
		throw createRefusal(
			`${quoteField(missingField)} has no address`,
			`${missingDataAdvice} ${replyAdvice}`,
		);
	throw createRefusal(
		`${quoteField(missingField)} is required`,
		`It is empty. ${missingDataAdvice} ${replyAdvice}`,
	);
}

/** Finds the binary fields to attach: * means all of the item, and a repeated field counts once. @throws NodeError 400 if a field is missing */
function findAttachments(
	{ attachments, onlyFiles }: SendParams,
	item: Item,
): readonly AttachmentInput[] {
	const fields: string[] = [];
	const base64Files: AttachmentInput[] = [];
	for (const attachment of attachments) {
		if ('field' in attachment) fields.push(attachment.field);
		else base64Files.push(attachment);
	}
	const isWanted = createFileNameTest(onlyFiles);
	const foundFields = item.findBinaryFields(fields, 'attachments', isWanted);
	return [...foundFields.map((field) => ({ field })), ...base64Files];
}

const placeholderPattern = /\{\{[^{}\n]{1,100}\}\}/g;
const maxNamedPlaceholders = 10;

/** Adds a hint if a text still has placeholders such as `{{Customer}}`, because this node does not fill them. */
function addPlaceholderHint(text: string, item: Item): void {
	const placeholders = [...new Set(text.match(placeholderPattern))];
	if (placeholders.length === 0) return;
	const names = placeholders.slice(0, maxNamedPlaceholders).join(', ');
	item.addHint(
		`The email contains ${names}. If it should be a value of the item, switch the field to Expression and write, for example, {{ $json.Customer }}.`,
	);
}

/** Matches headers that the node or Gmail sets. Also matches Resent- headers, whose recipients mail servers prefer to To, Cc and Bcc. */
const reservedHeaderPattern =
	/^(?:apparently-to|bcc|cc|content-.*|from|message-id|mime-version|reply-to|resent-.*|return-path|sender|subject|to|x-agent-workspace-id)$/i;

/** Reads the headers from the user. @throws NodeError 400 for a reserved header, or one that could forge other headers */
export function readCustomHeaders(headers: SendParams['headers']): PreparedMail['headers'] {
	return headers.map(({ name, value }) => {
		const key = name.trim();
		// Printable ASCII without the colon (RFC 5322, 2.2).
		if (!/^[!-9;-~]+$/.test(key))
			throw createRefusal(
				`'${shorten(key, 60)}' is not a header name`,
				'A header name consists of letters, digits and hyphens, such as X-Campaign.',
			);
		if (reservedHeaderPattern.test(key))
			throw createRefusal(
				`The header '${key}' cannot be set here`,
				`The node or Gmail sets it. Remove it from ${quoteField('headers')}, and use the fields for recipients, sender and subject.`,
			);
		return { key, value: requireOneLine(value, `The header '${key}'`) };
	});
}

/** Refuses control characters except tabs, because they could forge headers. @param label names the text in the error @throws NodeError 400 */
export function requireOneLine(text: string, label: string): string {
	if (!/[\u0000-\u0008\u000a-\u001f\u007f\u2028\u2029]/.test(text)) return text;
	throw createRefusal(
		`${label} contains a line break or another control character`,
		'It must be a single line. In an expression, use .replace(/\\s+/g, " ") to join the lines.',
	);
}
