import { textType } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { amountFields } from './list/fields';
import { refuseConflictingOptions, sharedListDefinition } from './list/listDefinition';
import { narrowQuery, buildReceivedTerms } from './list/query';

export const search = defineOperation({
	value: 'search',
	...sharedListDefinition,
	name: 'Search',
	action: 'Search emails',
	description: "Get emails that match a search in Gmail's syntax, newest first",
	modelDescription: "Find emails with Gmail's search syntax, newest first, with their IDs.",
	fields: [
		{
			displayName: 'Query',
			name: 'query',
			...textType,
			required: true,
			placeholder: 'e.g. from:ann@example.com has:attachment',
			description: "What to search for, as in Gmail's search box. It is passed on unchanged.",
		},
		...amountFields,
	],
	prepare: refuseConflictingOptions,
	async send(clients, params, item) {
		const { listEmails } = await import('./list/listEmails');
		return await listEmails(
			clients,
			narrowQuery(params.query, buildReceivedTerms(params)),
			params,
			item,
		);
	},
});
