import { listType, textType } from '../../../../fields/field';
import { idempotencyOption } from '../../../idempotency';
import { messageIdField, readFileIds } from '../../../locators';
import type { Field, InferParameters } from '../../../operation';
import { onlyFilesOption } from '../../onlyFiles';
import { readAllowedRecipients } from './allowedRecipients';

const addressFieldBase = { type: 'string', default: '', format: 'addressList' } as const;

export const sendFields = [
	{
		displayName: 'Email',
		name: 'email',
		type: 'options',
		options: [
			{ name: 'New Email', value: 'new' },
			{
				name: 'Reply',
				value: 'reply',
				description: 'Answers an email, in the same conversation',
			},
		],
		default: 'new',
		mustBeFound: true,
		onlyIn: 'fields',
		description: 'Whether to write a new email or to answer one',
	},
	{
		displayName: 'Message ID',
		name: 'replyToMessageId',
		...messageIdField,
		// If it is empty for an item, a new email would go out.
		refusesEmptyKey: true,
		required: true,
		showWhen: { email: ['reply'] },
		description:
			'ID of the message to reply to, as returned by List, Search and Read. Leave To and Subject empty to answer its sender in the same conversation.',
	},
	{
		displayName: 'To',
		name: 'to',
		...addressFieldBase,
		// If it is missing for an item, a reply would go to the sender of the original email.
		mustBeFound: true,
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
		displayName: 'Attachments (Field Names)',
		name: 'attachments',
		...textType,
		format: 'attachments',
		namesFiles: true,
		placeholder: 'e.g. data, or * for all files',
		description:
			'Names of the binary fields of the input item to attach, separated by commas or new lines, or * for all of its files. Leave empty to attach nothing. An attachment that the HTML refers to, as in &lt;img src="cid:logo"&gt;, is shown inline.',
	},
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
		// If it is missing for an item, an email that was to be a draft would go out.
		mustBeFound: true,
		onlyIn: 'fields',
		description:
			'Whether the email goes out, or waits among the drafts until a person sends it',
	},
	{
		displayName: 'Save as Draft',
		name: 'saveAsDraft',
		type: 'boolean',
		default: false,
		onlyIn: 'json',
		description: 'Whether to save the email as a draft instead of sending it',
	},
] as const satisfies readonly Field[];

const senderOptions = { name: 'senderOptions', displayName: 'Sender Options' };

export const sendOptions = [
	{
		displayName: 'Allowed Recipients',
		name: 'allowedRecipients',
		...textType,
		read: readAllowedRecipients,
		onlyIn: 'fields',
		noDataExpression: true,
		placeholder: 'e.g. example.com, nathan@example.org',
		description:
			'Addresses and domains that an email may go to, separated by commas or new lines. An email for anybody else, in a copy, a reply or a header too, is refused before anything is sent.',
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
		collection: senderOptions,
		...textType,
		mustBeFound: true,
		placeholder: 'e.g. sales@example.com',
		description:
			"One of the account's 'Send mail as' addresses in Gmail. Any other address is refused. Leave empty to send from the account's default address.",
	},
	{
		displayName: 'Headers',
		name: 'headers',
		collection: senderOptions,
		type: 'fixedCollection',
		default: {},
		format: 'pairs',
		entries: {
			group: 'header',
			fields: [
				{ displayName: 'Name', name: 'name', ...textType },
				{ displayName: 'Value', name: 'value', ...textType },
			],
		},
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
		collection: senderOptions,
		type: 'boolean',
		default: false,
		description:
			"Whether to add the signature from the account's Gmail settings after the body. With a From Alias, the alias's own.",
	},
	{
		...onlyFilesOption,
		description: `${onlyFilesOption.description} It applies to the binary fields in Attachments.`,
	},
	{
		displayName: 'Quote Original',
		name: 'quoteOriginal',
		showWhen: { email: ['reply'] },
		type: 'boolean',
		default: false,
		description: 'Whether to add the original email below a reply, as Gmail does',
	},
	{
		displayName: 'Reply All',
		name: 'replyAll',
		showWhen: { email: ['reply'] },
		type: 'boolean',
		default: false,
		description:
			"Whether a reply also goes to the original email's other recipients, as a copy (CC). If To has other addresses, its sender gets a copy, too.",
	},
	{
		displayName: 'Reply To',
		name: 'replyTo',
		collection: senderOptions,
		...addressFieldBase,
		description:
			'Addresses that replies go to instead of the sender, separated by commas or new lines',
	},
	{
		displayName: 'Sender Name',
		name: 'senderName',
		collection: senderOptions,
		...textType,
		placeholder: 'e.g. Nathan from Sales',
		description:
			'Name that recipients see next to the address. Leave empty to use the name from the account settings.',
	},
] as const satisfies readonly Field[];

export type SendParams = InferParameters<typeof sendFields, typeof sendOptions>;
