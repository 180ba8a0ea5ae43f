import { textType } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { amountFields } from './list/fields';
import { refuseConflictingOptions, sharedListDefinition } from './list/listDefinition';
import { buildSenderTerms, buildReceivedTerms } from './list/query';

export const list = defineOperation({
	value: 'list',
	...sharedListDefinition,
	name: 'List',
	action: 'List emails',
	description: 'Get emails by sender, read status, label or time, newest first',
	modelDescription: 'List emails in Gmail, newest first, with their IDs.',
	fields: [
		{
			displayName: 'From',
			name: 'from',
			...textType,
			placeholder: 'e.g. name@example.com',
			description: 'Only emails from this sender. Leave empty to include all senders.',
		},
		{
			displayName: 'Status',
			name: 'status',
			type: 'options',
			options: [
				{ name: 'Any', value: 'any' },
				{ name: 'Unread', value: 'unread' },
				{ name: 'Read', value: 'read' },
			],
			default: 'any',
			description: 'Filter by read status',
		},
		...amountFields,
	],
	options: [
		...sharedListDefinition.options,
		{
			displayName: 'Include Sent and Drafts',
			name: 'includeSent',
			type: 'boolean',
			default: false,
			description: 'Whether to include emails that this account sent, and drafts',
		},
	],
	prepare: refuseConflictingOptions,
	async send(clients, params, item) {
		const { from, status, includeSent, labelIds } = params;
		const isSentIncluded =
			includeSent || labelIds.some((label) => /^(?:sent|drafts?)$/i.test(label));
		const terms = [
			// Excludes drafts, and sent emails except those in the inbox, which the account sent to itself.
			...(isSentIncluded ? [] : ['-in:draft (in:inbox OR -in:sent)']),
			...buildSenderTerms(from),
			...(status === 'any' ? [] : [`is:${status}`]),
			...buildReceivedTerms(params),
		];
		const { listEmails } = await import('./list/listEmails');
		return await listEmails(clients, terms.join(' '), params, item);
	},
});
