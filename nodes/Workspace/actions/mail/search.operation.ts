import { defineOperation } from '../../operation';
import { amountFields, listOptions } from './listFields';
import { listed, listErrors, listItems } from './listing';
import { receivedTerms } from './mailQuery';

export const search = defineOperation({
	value: 'search',
	name: 'Search',
	action: 'Search messages',
	description: "Get mails that a search in Gmail's own syntax finds, newest first",
	readsOnly: true,
	fields: [
		{
			displayName: 'Query',
			name: 'query',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. from:name@example.com subject:invoice has:attachment',
			description: "What to look for, as in Gmail's own search box; it is passed on unchanged",
		},
		...amountFields,
	],
	options: listOptions,
	async execute(client, params) {
		const { query } = params;
		const terms = receivedTerms(params);
		return await listed(client, terms.length === 0 ? query : `(${query}) ${terms.join(' ')}`, params);
	},
	toItems: (result, params) => listItems(result, params),
	errors: listErrors,
});
