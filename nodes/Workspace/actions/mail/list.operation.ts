import { textType } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { rangeFields } from './list/fields';
import { prepareList, sharedListDefinition } from './list/listDefinition';
import { buildReceivedTerms, buildSenderTerms, searchesDrafts } from './list/query';

export const list = defineOperation({
	value: 'list',
	...sharedListDefinition,
	name: 'List',
	action: 'List emails',
	description:
		'Get received emails by sender, read status, label or time, newest first. Sent emails and drafts are left out.',
	modelDescription: 'List received emails in Gmail, newest first, with their IDs.',
	fields: [
		{
			displayName: 'From',
			name: 'from',
			...textType,
			// Without a sender, the emails of all senders would be listed and, with Remove Labels,
			// archived.
			mustBeFound: true,
			placeholder: 'e.g. name@example.com',
			description: 'Only emails from this sender. Leave empty to include all senders.',
		},
		{
			displayName: 'Read Status',
			name: 'status',
			type: 'options',
			options: [
				{ name: 'Any', value: 'any' },
				{ name: 'Unread', value: 'unread' },
				{ name: 'Read', value: 'read' },
			],
			default: 'any',
			description: 'Whether the emails are marked as read',
		},
		...rangeFields,
	],
	prepare(params) {
		const { from, status, labelIds } = params;
		// A scheduled email is neither a draft nor sent, so the other exclusions do not cover it.
		const terms = ['-in:scheduled'];
		if (!searchesDrafts('', labelIds)) terms.push('-in:draft');
		// A sent email counts as received only if it is also in the inbox: the account sent it to
		// itself.
		if (!labelIds.some((label) => /^sent$/i.test(label))) terms.push('(in:inbox OR -in:sent)');
		terms.push(...buildSenderTerms(from));
		if (status !== 'any') terms.push(`is:${status}`);
		terms.push(...buildReceivedTerms(params));
		return prepareList(params, terms);
	},
});
