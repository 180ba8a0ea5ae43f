import { textType } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { rangeFields } from './list/fields';
import { prepareList, sharedListDefinition } from './list/listDefinition';
import { buildReceivedTerms, refuseEmptySearchWords, searchesDrafts } from './list/query';

export const search = defineOperation({
	value: 'search',
	...sharedListDefinition,
	name: 'Search',
	action: 'Search emails',
	description:
		"Get emails that match a search in Gmail's syntax, newest first. Drafts are left out, unless the search names them.",
	modelDescription: "Find emails with Gmail's search syntax, newest first, with their IDs.",
	fields: [
		{
			displayName: 'Query',
			name: 'query',
			...textType,
			required: true,
			placeholder: 'e.g. from:ann@example.com has:attachment',
			description:
				"What to search for, as in Gmail's search box. Drafts are left out, unless it has in:drafts or in:anywhere.",
		},
		...rangeFields,
	],
	options: [
		...sharedListDefinition.options,
		{
			displayName: 'Include Drafts',
			name: 'includeDrafts',
			onlyIn: 'json',
			type: 'boolean',
			default: false,
			// The query of an input object is passed on unchanged.
			jsonDefault: true,
			description: 'Whether to include drafts',
		},
	],
	prepare(params) {
		const { query, labelIds, includeDrafts } = params;
		refuseEmptySearchWords(query);
		const timeTerms = buildReceivedTerms(params);
		// In brackets, so that the time counts for all of the search.
		const enclosedQuery = timeTerms.length > 0 ? `(${query})` : query;
		const mayFindDrafts = includeDrafts || searchesDrafts(query, labelIds);
		const exclusions = mayFindDrafts ? [] : ['-in:draft'];
		return prepareList(params, [...exclusions, enclosedQuery, ...timeTerms]);
	},
});
