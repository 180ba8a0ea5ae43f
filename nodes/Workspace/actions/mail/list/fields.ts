import { textType } from '../../../../fields/field';
import type { Field, InferParameters } from '../../../operation';
import { onlyFilesOption } from '../../onlyFiles';

/**
 * The parameters that List and Search have in common: when the emails arrived, and how many to get.
 */
export const rangeFields = [
	{
		displayName: 'Received',
		name: 'received',
		type: 'options',
		options: [
			{ name: 'Any Time', value: 'any' },
			{ name: 'Between', value: 'between' },
			{ name: 'Last 24 Hours', value: 'last24Hours' },
			{ name: 'Last 30 Days', value: 'last30Days' },
			{ name: 'Last 7 Days', value: 'last7Days' },
		],
		default: 'any',
		description: 'When Gmail received the emails, counted back from the run of the node',
	},
	{
		displayName: 'Received After',
		name: 'receivedAfter',
		type: 'dateTime',
		default: '',
		showWhen: { received: ['between'] },
		description: 'Only emails received at this time or later',
	},
	{
		displayName: 'Received Before',
		name: 'receivedBefore',
		type: 'dateTime',
		default: '',
		showWhen: { received: ['between'] },
		description: 'Only emails received before this time',
	},
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
		description: 'Max number of emails to return',
	},
] as const satisfies readonly Field[];

/**
 * A constant, because n8n's linter takes every field for a secret whose `name` is a literal with
 * the word "token".
 */
const pageTokenName = 'pageToken';

export const newTextOnlyOption = {
	displayName: 'New Text Only',
	name: 'newTextOnly',
	type: 'boolean',
	default: false,
	description:
		'Whether to leave out quoted earlier messages and the signature from the text. A model that reads the text then needs fewer tokens.',
} as const satisfies Field;

const labelFieldBase = {
	type: 'multiOptions',
	default: [],
	format: 'list',
	typeOptions: { loadOptionsMethod: 'getLabels' },
	description:
		'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
} as const satisfies Partial<Field>;

const afterReading = { name: 'afterReading', displayName: 'After Reading' };

/**
 * The options that change the labels of emails after the emails were read. `INBOX` and `UNREAD` are
 * labels, too.
 */
export const labelOptions = [
	{
		displayName: 'Add Label Names or IDs',
		name: 'addLabels',
		collection: afterReading,
		...labelFieldBase,
		hint: 'Added to the returned emails after the node has read them. Choose a Mail Access with labels in the credential first.',
	},
	{
		displayName: 'Mark as Read',
		name: 'markAsRead',
		type: 'boolean',
		default: false,
		collection: afterReading,
		description:
			'Whether to mark the returned emails as read immediately, so that the next run does not get them again, even if a later node fails. Choose a Mail Access with labels in the credential first.',
	},
	{
		displayName: 'Remove Label Names or IDs',
		name: 'removeLabels',
		collection: afterReading,
		...labelFieldBase,
		hint: 'Removed from the returned emails after the node has read them. Removing INBOX archives them. Choose a Mail Access with labels in the credential first.',
	},
] as const satisfies readonly Field[];

export type LabelParams = InferParameters<typeof labelOptions, []>;

const readingOptions = { name: 'readingOptions', displayName: 'Reading Options' };

export const listOptions = [
	{
		displayName: 'Details',
		name: 'details',
		onlyIn: 'json',
		type: 'boolean',
		default: true,
		collection: readingOptions,
		description:
			'Whether to get the subject, sender and more of each email. If turned off, one request returns up to 500 IDs.',
	},
	{
		displayName: 'Download Attachments',
		name: 'downloadAttachments',
		type: 'boolean',
		default: false,
		collection: readingOptions,
		description:
			'Whether to add the attachments of each email as binary data: attachment_0, attachment_1 and so on',
	},
	{
		displayName: 'Include Body',
		name: 'includeBody',
		type: 'boolean',
		default: false,
		collection: readingOptions,
		description:
			'Whether to include the text of each email and information about its attachments',
	},
	{
		displayName: 'Include Spam and Trash',
		name: 'includeSpamTrash',
		onlyIn: 'json',
		type: 'boolean',
		default: false,
		description: 'Whether to include emails in Spam and Trash',
	},
	{ ...newTextOnlyOption, collection: readingOptions, showWhen: { includeBody: [true] } },
	{
		...onlyFilesOption,
		collection: readingOptions,
		showWhen: { downloadAttachments: [true] },
	},
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		options: [
			{ name: 'Items', value: 'items', description: 'One item for each email' },
			{
				name: 'Page',
				value: 'page',
				description: 'One item with up to 500 emails and the token of the next page',
			},
		],
		default: 'items',
		jsonDefault: 'page',
		description: 'How to return the emails',
	},
	{
		displayName: 'Page Token',
		name: pageTokenName,
		...textType,
		onlyAsTool: true,
		inWorkflowWhen: { output: ['page'] },
		description:
			'Where to continue: the nextPageToken of an earlier page, or the page token in an earlier answer to a model. Leave empty to get the first emails.',
	},
	{
		displayName: 'With Label Names or IDs',
		name: 'labelIds',
		...labelFieldBase,
		mustBeFound: true,
		hint: 'Only emails that have all of these labels. An expression can also return label names. In the output, labelIds holds the IDs.',
	},
	// The order of the collections: what is done after reading comes last.
	...labelOptions,
] as const satisfies readonly Field[];

export type ListParams = InferParameters<typeof rangeFields, typeof listOptions>;
