import type { Field } from '../../operation';

export const spreadsheetId = {
	displayName: 'Spreadsheet',
	name: 'spreadsheetId',
	type: 'resourceLocator',
	default: { __rl: true, mode: 'list', value: '' },
	required: true,
	holds: 'fileId',
	searchListMethod: 'searchSpreadsheets',
	description: 'The spreadsheet to work with',
} as const satisfies Field;

export const tab = {
	displayName: 'Tab',
	name: 'tab',
	type: 'resourceLocator',
	default: { __rl: true, mode: 'list', value: '' },
	holds: 'tab',
	searchListMethod: 'searchTabs',
	typeOptions: { loadOptionsDependsOn: ['spreadsheetId.value'] },
	description: 'The tab to work in. Empty: the one that the range names, or the first one.',
} as const satisfies Field;

export const range = {
	displayName: 'Range',
	name: 'range',
	type: 'string',
	default: '',
	placeholder: 'e.g. A:D',
	hint: 'Only needed for a part of the tab',
} as const satisfies Field;

export const valuesSource = {
	displayName: 'Values Source',
	name: 'valuesSource',
	type: 'options',
	options: [
		{ name: 'Columns', value: 'columns', description: 'One row for each input item, column by column' },
		{ name: 'Input Items', value: 'items', description: 'One row from the fields of each input item' },
		{ name: 'JSON', value: 'json', description: 'Rows from the Values field' },
	],
	default: 'items',
	jsonDefault: 'json',
	description: 'Where the rows come from',
} as const satisfies Field;

export const columns = {
	displayName: 'Columns',
	name: 'columns',
	type: 'resourceMapper',
	default: { mappingMode: 'defineBelow', value: null },
	holds: 'columns',
	showWhen: { valuesSource: ['columns'] },
	typeOptions: {
		loadOptionsDependsOn: ['spreadsheetId.value', 'tab.value', 'range'],
		resourceMapper: {
			resourceMapperMethod: 'headerColumns',
			mode: 'add',
			fieldWords: { singular: 'column', plural: 'columns' },
			addAllFields: true,
			multiKeyMatch: false,
			supportAutoMap: true,
		},
	},
	description: 'What goes into each column of the header row',
} as const satisfies Field;

export const values = {
	displayName: 'Values',
	name: 'values',
	type: 'json',
	default: '[]',
	required: true,
	requiredInForm: false,
	holds: 'records',
	showWhen: { valuesSource: ['json'] },
	hint: 'Rows such as [["Anna", 31], ["Ben", 42]], or objects such as [{ "Name": "Anna" }]',
	placeholder: 'e.g. [["Anna", 31], ["Ben", 42]]',
	description:
		'Rows of text, numbers, true or false, or objects whose keys are names of the header row. null leaves a cell as it is, "" clears it.',
} as const satisfies Field;

export const headerRow = {
	displayName: 'Header Row',
	name: 'headerRow',
	type: 'number',
	default: 1,
	minimum: 1,
	description: 'Which row of the tab holds the names of the columns. Where it is empty it is written.',
} as const satisfies Field;

export const extraColumns = {
	displayName: 'Extra Columns',
	name: 'extraColumns',
	type: 'options',
	options: [
		{ name: 'Add', value: 'add', description: 'Add them to the header row' },
		{ name: 'Fail the Item', value: 'error', description: 'Add nothing for the item' },
		{ name: 'Ignore', value: 'ignore', description: 'Leave them out' },
	],
	default: 'error',
	description: 'What to do with fields that the header row does not have',
} as const satisfies Field;

export const valueInputOption = {
	displayName: 'Value Input Option',
	name: 'valueInputOption',
	type: 'options',
	options: [
		{ name: 'Raw', value: 'RAW', description: 'Values are stored as they are' },
		{
			name: 'User Entered',
			value: 'USER_ENTERED',
			description: 'As if typed into the sheet: text may become a number, a date or a formula',
		},
	],
	default: 'RAW',
	description: 'How Google Sheets takes the values',
} as const satisfies Field;

export const escapeFormulas = {
	displayName: 'Escape Formulas',
	name: 'escapeFormulas',
	type: 'boolean',
	default: true,
	showWhen: { valueInputOption: ['USER_ENTERED'] },
	description:
		'Whether text that begins with =, +, -, @, a tab or a carriage return stays text. Numbers such as -5 or +1.5% stay numbers. Turn it off only for values that you trust: a formula can send the sheet to others.',
} as const satisfies Field;
