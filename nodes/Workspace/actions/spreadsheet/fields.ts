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

export const range = {
	displayName: 'Range',
	name: 'range',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. Sheet1!A1:D10',
} as const satisfies Field;

export const valuesSource = {
	displayName: 'Values Source',
	name: 'valuesSource',
	type: 'options',
	options: [
		{ name: 'JSON', value: 'json', description: 'Rows from the Values field' },
		{ name: 'Input Items', value: 'items', description: 'One row from the fields of each input item' },
	],
	default: 'json',
	description: 'Where the rows come from',
} as const satisfies Field;

export const values = {
	displayName: 'Values',
	name: 'values',
	type: 'json',
	default: '[]',
	required: true,
	requiredInForm: false,
	holds: 'rows',
	showWhen: { valuesSource: ['json'] },
	hint: 'An array of rows, each an array of cells, such as [["Anna", 31], ["Ben", 42]]',
	placeholder: 'e.g. [["Anna", 31], ["Ben", 42]]',
	description: 'Rows of text, numbers, true or false. null leaves a cell as it is, "" clears it.',
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
