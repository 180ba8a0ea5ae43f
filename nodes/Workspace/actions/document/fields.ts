import { createRefusal } from '../../../core/errors';
import { quoteField, type ReadContext, textType } from '../../../fields/field';
import {
	createValueRefusal,
	describeType,
	isRecord,
	refuseUnknownEntryKeys,
} from '../../../fields/values';
import {
	buildFileLocator,
	buildNameLocator,
	buildTabLocator,
	readDocumentTab,
} from '../../locators';
import type { Field } from '../../operation';
import type { Replacement } from './replacements';

export const documentId = {
	displayName: 'Document',
	name: 'documentId',
	...buildFileLocator('document', 'searchDocuments'),
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
	...buildTabLocator('document', 'searchDocumentTabs', 'e.g. Notes'),
	fallbackField: { name: 'documentId', read: readDocumentTab },
	description:
		'Title or ID of the tab. Leave empty to use the tab in the URL of the document, or the first tab.',
	builderHint:
		"Pass the whole object, with the title or ID of the tab: { __rl: true, mode: 'name', value: 'Notes' }.",
} as const satisfies Field;

export const createTabOption = {
	displayName: 'Create Tab',
	name: 'createTab',
	type: 'boolean',
	default: false,
	description: 'Whether to add the tab to the document if there is none with its title',
} as const satisfies Field;

export const insertImagesOption = {
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
	...textType,
	typeOptions: { rows: 5 },
} as const satisfies Field;

const replacementFormat = {
	...contentFormat,
	name: 'format',
	description:
		'How the new text is written. Markdown needs a placeholder with a paragraph of its own.',
} as const satisfies Field;

const headingLocator = {
	...buildNameLocator('searchHeadings', 'Select a heading...', 'e.g. Results'),
	typeOptions: { loadOptionsDependsOn: ['documentId.value', 'tab.value', 'options.tab.value'] },
	builderHint:
		"Pass the whole object, with the text of the heading: { __rl: true, mode: 'name', value: 'Results' }.",
} as const satisfies Partial<Field>;

export const underHeading = {
	displayName: 'Section',
	name: 'underHeading',
	...headingLocator,
	description:
		'The text of a heading: the content goes to the end of its section, before the next heading of the same or a higher level. Leave empty to add it at the end.',
} as const satisfies Field;

export const section = {
	displayName: 'Section',
	name: 'section',
	...headingLocator,
	// With an empty heading, the write would replace the whole document.
	refusesEmptyKey: true,
} as const satisfies Field;

export const replacements = {
	displayName: 'Replacements',
	name: 'replacements',
	type: 'fixedCollection',
	placeholder: 'Add Replacement',
	default: {},
	entries: {
		group: 'replacement',
		fields: [
			{ displayName: 'Find', name: 'find', type: 'string', default: '' },
			{
				displayName: 'Replace',
				name: 'replace',
				type: 'string',
				default: '',
				typeOptions: { rows: 2 },
			},
			replacementFormat,
		],
	},
	description:
		'Texts to find and what to put in their place, with the same upper and lower case, for example the placeholders of a template. If Find contains {{ }}, set it to Fixed. Markdown takes the place of a whole paragraph.',
	read: readReplacements,
} as const satisfies Field;

/**
 * Reads the form's `{ replacement: [{ find, replace, format }] }` or an array of such rows.
 */
function readReplacements(raw: unknown, field: Field, context: ReadContext): Replacement[] {
	const isForm = context.mode === 'fields';
	const rows = isForm && isRecord(raw) ? (raw['replacement'] ?? []) : raw;
	const expected = 'an array of objects with find, replace and format (text or markdown)';
	if (!Array.isArray(rows) || !rows.every(isRecord))
		throw createValueRefusal(field, `${expected}, not ${describeType(raw)}`);
	refuseUnknownEntryKeys(field, rows, ['find', 'replace', 'format'], expected);
	const replacements: Replacement[] = [];
	for (const row of rows) {
		const replacement = toReplacement(row);
		if (!replacement) throw createValueRefusal(field, expected);
		// The form may have empty rows.
		if (isForm && replacement.find === '' && replacement.replace === '') continue;
		// Google drops control characters and the private use area, so a text of only these is
		// empty.
		if (!/[^\s\p{Cc}\p{Co}]/u.test(replacement.find))
			throw createRefusal(
				`${quoteField('replacements')} has an empty text to find`,
				'Nothing was written. Enter the text to find, or remove the row. If it contains {{ }}, set it to Fixed. Otherwise n8n evaluates it as an expression.',
			);
		replacements.push(replacement);
	}
	return replacements;
}

/** @returns undefined if a value has the wrong type */
function toReplacement(row: Readonly<Record<string, unknown>>): Replacement | undefined {
	const find = row['find'] ?? '';
	const replace = row['replace'] ?? '';
	const format = row['format'] ?? 'text';
	if (!isScalar(find) || !isScalar(replace)) return undefined;
	if (format !== 'text' && format !== 'markdown') return undefined;
	return { find: String(find), replace: String(replace), format };
}

const isScalar = (value: unknown): value is string | number | boolean =>
	['string', 'number', 'boolean'].includes(typeof value);

export const fillFromInputOption = {
	displayName: 'Fill From Input',
	name: 'fillFromInput',
	type: 'boolean',
	default: false,
	description:
		'Whether to replace each placeholder, such as {{name}} or {{customer.city}}, by the field of the input item with this name',
} as const satisfies Field;
