import { createFileLocator, createTabLocator } from '../../locators';
import type { Field } from '../../operation';

export const documentId = {
	displayName: 'Document',
	name: 'documentId',
	...createFileLocator('document', 'searchDocuments'),
	required: true,
	description: 'The document to work with',
} as const satisfies Field;

export const contentFormat = {
	displayName: 'Content Format',
	name: 'contentFormat',
	type: 'options',
	options: [
		{ name: 'Text', value: 'text', description: 'Plain text, unchanged' },
		{
			name: 'Markdown',
			value: 'markdown',
			description:
				'Headings, lists, tables, links, quotes, code, bold and italic are formatted in the document',
		},
	],
	default: 'text',
	description: 'Format of the content',
} as const satisfies Field;

export const tab = {
	displayName: 'Tab',
	name: 'tab',
	...createTabLocator('document', 'searchDocumentTabs', 'Notes'),
	description: 'Title or ID of the tab. Leave empty to use the first tab.',
	builderHint:
		"Pass the whole object, with the title or ID of the tab: { __rl: true, mode: 'name', value: 'Notes' }.",
} as const satisfies Field;

export const createTab = {
	displayName: 'Create Tab',
	name: 'createTab',
	type: 'boolean',
	default: false,
	description: 'Whether to add the tab to the document if there is none with its title',
} as const satisfies Field;

export const insertImages = {
	displayName: 'Insert Images',
	name: 'insertImages',
	type: 'boolean',
	default: false,
	description:
		'Whether images in Markdown with a public https address become pictures in the document. Otherwise they become links.',
} as const satisfies Field;

export const content = {
	displayName: 'Content',
	name: 'content',
	type: 'string',
	default: '',
	typeOptions: { rows: 5 },
} as const satisfies Field;

export const replacements = {
	displayName: 'Replacements',
	name: 'replacements',
	type: 'fixedCollection',
	placeholder: 'Add Replacement',
	default: {},
	format: 'pairs',
	pair: { group: 'replacement', key: 'find', value: 'replace' },
	description:
		'Texts to find and what to put in their place, with the same upper and lower case, for example the placeholders of a template',
} as const satisfies Field;

export const fillFromInput = {
	displayName: 'Fill From Input',
	name: 'fillFromInput',
	type: 'boolean',
	default: false,
	description:
		'Whether to replace each placeholder, such as {{name}} or {{customer.city}}, by the field of the input item with this name',
} as const satisfies Field;

export const adviceByStatus = {
	404: 'It must be the ID of a document: a spreadsheet or another file cannot be found as one.',
} as const;
