import { defineOperation } from '../../operation';
import { amountFields, listOptions } from './list/fields';
import { listed, listErrors, listItems } from './list/listing';
import { fromTerm, receivedTerms } from './list/query';

export const list = defineOperation({
	value: 'list',
	methods: {
		'gmail.users.messages.list': 'gmail.readonly',
		'gmail.users.messages.get': 'gmail.readonly',
	},
	name: 'List',
	action: 'List emails',
	description: 'Get emails by sender, read status, label or time, newest first',
	readsOnly: true,
	fields: [
		{
			displayName: 'From',
			name: 'from',
			type: 'string',
			default: '',
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
	options: listOptions,
	async execute(client, params, item) {
		const { from, status } = params;
		const terms = [
			...fromTerm(from),
			...(status === 'any' ? [] : [`is:${status}`]),
			...receivedTerms(params),
		];
		return await listed(client, terms.join(' '), { from, status }, params, item);
	},
	toItems: (result, params) => listItems(result, params),
	endedBy: (result) => result.endedBy,
	errors: listErrors,
});
