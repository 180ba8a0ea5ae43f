import { createRefusal } from '../../../../core/errors';
import { shorten } from '../../../../core/text';
import { listType, quoteField, textType } from '../../../../fields/field';
import { missingDataAdvice } from '../../../../fields/values';
import { idempotencyOption } from '../../../idempotency';
import { messageIdField, readFileIds } from '../../../locators';
import type { Field, InferParameters } from '../../../operation';
import { requireAddresses } from './addresses';

const addressFieldBase = { type: 'string', default: '', format: 'addressList' } as const;

export const sendFields = [
	{
		displayName: 'Send or Save as Draft',
		name: 'sendAs',
		type: 'options',
		options: [
			{ name: 'Send', value: 'send', description: 'Sent immediately' },
			{
				name: 'Save as Draft',
				value: 'draft',
				description:
					'Nothing is sent. Choose a Mail Access with drafts in the credential first.',
			},
		],
		default: 'send',
		onlyIn: 'fields',
		description:
			'Whether the email goes out, or waits among the drafts until a person sends it',
	},
	{
		displayName: 'Reply to Message ID',
		name: 'replyToMessageId',
		...messageIdField,
		description:
			'ID of the message to reply to, as returned by List, Search and Read. Leave To and Subject empty to answer its sender in the same conversation.',
	},
	{
		displayName: 'To',
		name: 'to',
		...addressFieldBase,
		placeholder: 'e.g. nathan@example.com, info@example.com',
		description:
			'Addresses of the recipients, separated by commas or new lines. Put a name with a comma in quotes: "Doe, Nathan" &lt;nathan@example.com&gt;. In a reply, leave empty to answer the sender of the original email.',
	},
	{
		displayName: 'Subject',
		name: 'subject',
		...textType,
		placeholder: 'e.g. Your order has shipped',
		description:
			'In a reply, leave empty to use the subject of the original email with Re: before it',
	},
	{ displayName: 'Body', name: 'body', ...textType, required: true, typeOptions: { rows: 5 } },
	{
		displayName: 'Body Format',
		name: 'bodyFormat',
		type: 'options',
		options: [
			{ name: 'Text', value: 'text' },
			{
				name: 'HTML',
				value: 'html',
				description:
					'Sent with a plain text version for email clients that do not show HTML',
			},
			{
				name: 'Markdown',
				value: 'markdown',
				description:
					'Sent as HTML, with the Markdown text for email clients that do not show HTML',
			},
		],
		default: 'text',
		description: 'Format of the body',
	},
	{
		displayName: 'Save as Draft',
		name: 'saveAsDraft',
		type: 'boolean',
		default: false,
		onlyIn: 'json',
		description: 'Whether to save the email as a draft instead of sending it',
	},
	{
		displayName: 'Allowed Recipients',
		name: 'allowedRecipients',
		...listType,
		onlyIn: 'fields',
		noDataExpression: true,
		placeholder: 'e.g. example.com, nathan@example.org',
		description:
			'Addresses and domains that an email may go to, separated by commas or new lines. An email for anybody else, in a copy, a reply or a header too, is refused before anything is sent. Leave empty to allow everybody.',
	},
] as const satisfies readonly Field[];

export const sendOptions = [
	{
		displayName: 'Attachments',
		name: 'attachments',
		...textType,
		format: 'attachments',
		namesFiles: true,
		placeholder: 'e.g. data, invoice, or *',
		hint: 'The binary fields to attach. If this is empty, nothing is attached.',
		description:
			'Names of the binary fields of the input item to attach, separated by commas or new lines, or * for all of them. An attachment that the HTML refers to, as in &lt;img src="cid:logo"&gt;, is shown inline.',
	},
	{
		displayName: 'BCC',
		name: 'bcc',
		...addressFieldBase,
		description: 'Addresses that get a blind copy, separated by commas or new lines',
	},
	{
		displayName: 'CC',
		name: 'cc',
		...addressFieldBase,
		description: 'Addresses that get a copy, separated by commas or new lines',
	},
	{
		displayName: 'Drive Files',
		name: 'driveFiles',
		...listType,
		read: readFileIds,
		namesFiles: true,
		placeholder: 'e.g. https://docs.google.com/document/d/…/edit',
		description:
			'IDs or URLs of files in Google Drive to attach, separated by commas or new lines. Google documents, spreadsheets, presentations and drawings are attached as PDF. Your own files need a Drive Access of All Files in the credential.',
	},
	{
		displayName: 'From Alias',
		name: 'fromAlias',
		...textType,
		placeholder: 'e.g. sales@example.com',
		description:
			"One of the account's 'Send mail as' addresses in Gmail. Any other address is refused. Leave empty to send from the account's default address.",
	},
	{
		displayName: 'Headers',
		name: 'headers',
		type: 'fixedCollection',
		default: {},
		format: 'pairs',
		pair: { group: 'header', key: 'name' },
		placeholder: 'Add Header',
		description: 'Header fields to add, such as List-Unsubscribe',
	},
	{
		...idempotencyOption,
		description: `${idempotencyOption.description} Two workers of n8n's queue mode that send at the same moment may both send it.`,
	},
	{
		displayName: 'Include Signature',
		name: 'includeSignature',
		type: 'boolean',
		default: false,
		description:
			"Whether to add the signature from the account's Gmail settings after the body. With a From Alias, the alias's own.",
	},
	{
		displayName: 'Quote Original',
		name: 'quoteOriginal',
		type: 'boolean',
		default: false,
		description: 'Whether to add the original email below a reply, as Gmail does',
	},
	{
		displayName: 'Reply All',
		name: 'replyAll',
		type: 'boolean',
		default: false,
		description:
			"Whether a reply also goes to the original email's other recipients, as a copy (CC). If To has other addresses, its sender gets a copy, too.",
	},
	{
		displayName: 'Reply To',
		name: 'replyTo',
		...addressFieldBase,
		description:
			'Addresses that replies go to instead of the sender, separated by commas or new lines',
	},
	{
		displayName: 'Sender Name',
		name: 'senderName',
		...textType,
		placeholder: 'e.g. Nathan from Sales',
		description:
			'Name that recipients see next to the address. Leave empty to use the name from the account settings.',
	},
] as const satisfies readonly Field[];

export type SendParams = InferParameters<typeof sendFields, typeof sendOptions>;

/** Returns whether to save the email as a draft. The form only has `sendAs` for this, and the input object only `saveAsDraft`. */
export const isDraft = ({ sendAs, saveAsDraft }: Pick<SendParams, 'sendAs' | 'saveAsDraft'>) =>
	sendAs === 'draft' || saveAsDraft;

/** Checks an email that is no reply: it needs a subject and, unless it is a draft, a recipient, and no option for replies. @throws NodeError 400 */
export function refuseIncompleteNewMail(params: SendParams): void {
	if (params.replyToMessageId !== '') return;
	for (const option of ['replyAll', 'quoteOriginal'] as const) {
		if (!params[option]) continue;
		throw createRefusal(
			`${quoteField(option)} can only be used in a reply`,
			`Enter the ID of the original email in ${quoteField('replyToMessageId')}, or turn off ${quoteField(option)}.`,
		);
	}
	const lacksRecipient = !isDraft(params) && !/[^\s,]/.test(params.to);
	if (!lacksRecipient && params.subject.trim() !== '') return;
	const missingField = lacksRecipient ? 'to' : 'subject';
	const isEmpty = params[missingField].trim() === '';
	throw createRefusal(
		`${quoteField(missingField)} ${isEmpty ? 'is required' : 'has no address'}`,
		`${isEmpty ? 'It is empty. ' : ''}${missingDataAdvice} To reply to an email, enter its ID in ${quoteField('replyToMessageId')}.`,
	);
}

/** Reads the parameters that become headers of the email. @throws NodeError 400 if one of them could not be sent */
export function readMailHeaders(params: SendParams) {
	const [fromAlias, ...otherAliases] = requireAddresses(
		params.fromAlias,
		quoteField('fromAlias'),
	);
	if (otherAliases.length > 0)
		throw createRefusal(
			`${quoteField('fromAlias')} has more than one address`,
			'Enter one alias to send from.',
		);
	return {
		to: requireAddresses(params.to, quoteField('to')),
		cc: requireAddresses(params.cc, quoteField('cc')),
		bcc: requireAddresses(params.bcc, quoteField('bcc')),
		replyTo: requireAddresses(params.replyTo, quoteField('replyTo')),
		subject: requireOneLine(params.subject, quoteField('subject')),
		senderName: requireOneLine(params.senderName.trim(), quoteField('senderName')),
		fromAlias,
		headers: readCustomHeaders(params.headers),
	};
}

/** The header for the marker, by which the node finds its own emails again. `composeMail` builds the marker. */
export const markerHeader = 'X-Agent-Workspace-Id';

/** Matches headers that the node or Gmail sets. Also matches Resent- headers, whose recipients mail servers prefer to To, Cc and Bcc. */
const reservedHeaderPattern =
	/^(?:apparently-to|bcc|cc|content-.*|from|message-id|mime-version|reply-to|resent-.*|return-path|sender|subject|to|x-agent-workspace-id)$/i;

/** Reads the headers from the user. @throws NodeError 400 for a reserved header, or one that could forge other headers */
export function readCustomHeaders(
	headers: SendParams['headers'],
): Array<{ key: string; value: string }> {
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
