import type { Field } from '../../operation';

export const documentId = {
	displayName: 'Document',
	name: 'documentId',
	type: 'resourceLocator',
	default: { __rl: true, mode: 'list', value: '' },
	required: true,
	holds: 'fileId',
	searchListMethod: 'searchDocuments',
	description: 'The document to work with',
} as const satisfies Field;

export const contentFormat = {
	displayName: 'Content Format',
	name: 'contentFormat',
	type: 'options',
	options: [
		{ name: 'Text', value: 'text', description: 'Exactly as it is' },
		{
			name: 'Markdown',
			value: 'markdown',
			description: 'Headings, lists, tables, links, quotes, code, bold and italic become real ones',
		},
	],
	default: 'text',
	description: 'How the content is written',
} as const satisfies Field;

export const tab = {
	displayName: 'Tab',
	name: 'tab',
	type: 'string',
	default: '',
	placeholder: 'e.g. Notes',
	description: 'ID or title of the tab. Empty: the first.',
} as const satisfies Field;

export const content = {
	displayName: 'Content',
	name: 'content',
	type: 'string',
	default: '',
	typeOptions: { rows: 5 },
} as const satisfies Field;
