import { defineOperation } from '../../operation';
import { amountFields, listOptions } from './list/fields';
import { listed, listErrors, listItems } from './list/listing';
import { narrowed, receivedTerms } from './list/query';

export const search = defineOperation({
	value: 'search',
	methods: {
		'gmail.users.messages.list': 'gmail.readonly',
		'gmail.users.messages.get': 'gmail.readonly',
	},
	name: 'Search',
	action: 'Search emails',
	description: "Get emails that match a search in Gmail's syntax, newest first",
	readsOnly: true,
	fields: [
		{
			displayName: 'Query',
			name: 'query',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. from:ann@example.com has:attachment',
			description: "What to search for, as in Gmail's search box. It is passed on unchanged.",
		},
		...amountFields,
	],
	options: listOptions,
	async execute(client, params, item) {
		const { query } = params;
		return await listed(client, narrowed(query, receivedTerms(params)), { query }, params, item);
	},
	toItems: (result, params) => listItems(result, params),
	endedBy: (result) => result.endedBy,
	errors: listErrors,
});
