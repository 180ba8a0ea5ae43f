import { textType } from '../../../fields/field';
import { buildFileLocator, buildTabLocator, readLinkedTab } from '../../locators';
import type { Field, InferParameters } from '../../operation';

/**
 * The key of the row number in each item of Read. If a column has this name, Read calls it
 * `rowNumber_2`.
 */
export const rowNumberKey = 'rowNumber';
/** The keys of the row number in items of Read and of n8n's own node. They are never columns. */
export const rowNumberKeys: readonly string[] = [rowNumberKey, 'row_number'];

export const spreadsheetId = {
	displayName: 'Spreadsheet',
	name: 'spreadsheetId',
	...buildFileLocator('spreadsheet', 'searchSpreadsheets'),
	required: true,
	description: 'The spreadsheet to work with',
} as const satisfies Field;

export const tab = {
	displayName: 'Tab',
	name: 'tab',
	...buildTabLocator('spreadsheet', 'searchTabs', 'e.g. Sheet1'),
	fallbackField: { name: 'spreadsheetId', read: readLinkedTab },
	description:
		'The tab to work in. Leave empty if the range or the URL of the spreadsheet names it.',
	builderHint:
		"Pass the whole object, with the name of the tab: { __rl: true, mode: 'name', value: 'Sheet1' }. With a tab, range is inside it, such as A:D.",
} as const satisfies Field;

export const range = {
	displayName: 'Range',
	name: 'range',
	...textType,
	// If an expression finds no range, the whole tab must not be written over.
	mustBeFound: true,
	placeholder: 'e.g. A:D',
	hint: 'Only needed to work on part of the tab',
} as const satisfies Field;

/**
 * The parameters on which n8n's lists of columns depend. n8n loads the lists again when one of them
 * changes.
 */
export const columnDependencies = [
	'spreadsheetId.value',
	'tab.value',
	'options.range',
	'options.headerRow',
];

const valuesSource = {
	displayName: 'Rows From',
	name: 'valuesSource',
	type: 'options',
	options: [
		{
			name: 'Columns',
			value: 'columns',
			description: 'One row for each input item, with a value for each column',
		},
		{ name: 'JSON', value: 'json', description: 'Rows from the Values field' },
	],
	default: 'columns',
	jsonDefault: 'json',
	description: 'Where the rows come from',
} as const satisfies Field;

const columns = {
	displayName: 'Columns',
	name: 'columns',
	type: 'resourceMapper',
	default: { mappingMode: 'defineBelow', value: null },
	jsonDefault: { mappingMode: 'autoMapInputData', value: null },
	format: 'columns',
	showWhen: { valuesSource: ['columns'] },
	typeOptions: {
		// The columns do not depend on matchColumns, although Row Number may be one of them: n8n
		// empties the mapper when it loads the columns again.
		loadOptionsDependsOn: columnDependencies,
		resourceMapper: {
			resourceMapperMethod: 'headerColumns',
			mode: 'add',
			valuesLabel: 'Columns',
			fieldWords: { singular: 'column', plural: 'columns' },
			addAllFields: true,
			multiKeyMatch: false,
			supportAutoMap: true,
		},
	},
	description:
		'Value for each column of the header row. A column without a value stays as it is.',
	builderHint:
		"Pass the whole object { mappingMode, value, schema }: mappingMode 'defineBelow', value with one entry for each column name of the header row, such as { Name: expr('{{ $json.name }}') }, and schema []. If the fields of the items have the names of the columns, pass { mappingMode: 'autoMapInputData', value: null } instead. Rows are found by the columns in matchColumns; if that is rowNumber, value has one for rowNumber, too, such as expr('{{ $json.rowNumber }}').",
} as const satisfies Field;

export const rowNumberChoice = {
	name: 'Row Number',
	value: rowNumberKey,
	description: 'As returned by Read',
} as const;

const values = {
	displayName: 'Values',
	name: 'values',
	type: 'json',
	default: '[]',
	required: true,
	requiredInForm: false,
	format: 'records',
	showWhen: { valuesSource: ['json'] },
	hint: 'Rows such as [["Anna", 31], ["Ben", 42]], or objects such as [{ "Name": "Anna" }]',
	placeholder: 'e.g. [["Anna", 31], ["Ben", 42]]',
	description:
		'Rows of text, numbers, true or false, or objects keyed by the column names in the header row. null leaves a cell unchanged, "" clears it.',
} as const satisfies Field;

/**
 * What each row looks like, for a model: the schema of the tool only says that the parameter is
 * JSON.
 */
export const rowDescription = 'Rows in JSON are arrays of cells, or objects keyed by column name.';

const valueInputOption = {
	displayName: 'Cell Format',
	name: 'valueInputOption',
	type: 'options',
	options: [
		{
			name: 'Automatic',
			value: 'AUTO',
			description:
				'Numbers, true and false as such, complete dates, times and ISO 8601 timestamps as dates in the time zone of the spreadsheet, every other text as text. Rows of cells from JSON are stored unchanged.',
		},
		{ name: 'Raw', value: 'RAW', description: 'Values are stored unchanged' },
		{
			name: 'User Entered',
			value: 'USER_ENTERED',
			description:
				'As if typed into the sheet: text may become a number, a date or a formula',
		},
	],
	default: 'AUTO',
	jsonDefault: 'RAW',
	defaultWhen: { field: 'valuesSource', is: 'json', default: 'RAW' },
	description:
		'How Google Sheets interprets the values. If this is not set, rows from JSON are stored unchanged.',
} as const satisfies Field;

/** The options that Append and Write share. */
const rowOptions = [
	{
		displayName: 'Create Tab',
		name: 'createTab',
		type: 'boolean',
		default: false,
		description: 'Whether to create the tab if the spreadsheet does not have it',
	},
	{
		displayName: 'Escape Formulas',
		name: 'escapeFormulas',
		type: 'boolean',
		default: true,
		showWhen: { valueInputOption: ['USER_ENTERED'] },
		description:
			'Whether text that starts with =, +, -, @, a tab or a line break is kept as text, also after spaces. Numbers such as -5 or +1.5% stay numbers. Turn this off only for values that you trust, because a formula can send the data of the sheet to others.',
	},
	{
		displayName: 'Extra Columns',
		name: 'extraColumns',
		type: 'options',
		options: [
			{ name: 'Add', value: 'add', description: 'Add new columns to the header row' },
			{ name: 'Fail the Item', value: 'error', description: 'Write nothing for the item' },
			{ name: 'Ignore', value: 'ignore', description: 'Leave out these fields' },
		],
		default: 'error',
		description: 'What to do with fields that are not in the header row',
	},
	{
		displayName: 'Header Row',
		name: 'headerRow',
		type: 'number',
		default: 1,
		minimum: 1,
		description:
			'Number of the row in the tab that holds the column names. Empty rows there are skipped. In an empty tab, the node writes the names.',
	},
] as const satisfies readonly Field[];

export const appendFields = [spreadsheetId, tab, valuesSource, columns, values] as const;

export const appendOptions = [
	...rowOptions,
	{
		...range,
		description:
			'The columns of the table (A:D), if the tab has several. If no tab is chosen, start with the tab name (Sheet1!A:D). Leave empty to use the whole tab.',
	},
	valueInputOption,
] as const;

export type AppendParams = InferParameters<typeof appendFields, typeof appendOptions>;

export const writeFields = [
	spreadsheetId,
	tab,
	{
		displayName: 'Write Mode',
		name: 'writeMode',
		type: 'options',
		options: [
			{
				name: 'Overwrite',
				value: 'overwrite',
				description:
					'Write over the first rows below the header (rows of cells: from A1), or over those of the range',
			},
			{
				name: 'Replace the Whole Table',
				value: 'replace',
				description:
					'Write the column names and the rows, and clear what the old table had beyond them',
			},
			{
				name: 'Update',
				value: 'update',
				description: 'Update rows that match in place, and add none',
			},
			{
				name: 'Update or Add',
				value: 'updateOrAdd',
				description: 'Update rows that match in place, and add the others below the table',
			},
		],
		default: 'updateOrAdd',
		jsonDefault: 'overwrite',
		description: 'What happens to the rows that are already there',
	},
	{
		displayName: 'Match Column Names or IDs',
		name: 'matchColumns',
		type: 'multiOptions',
		options: [rowNumberChoice],
		default: [],
		requiredInForm: true,
		format: 'list',
		showWhen: { writeMode: ['update', 'updateOrAdd'] },
		typeOptions: {
			loadOptionsMethod: 'getMatchColumns',
			loadOptionsDependsOn: columnDependencies,
		},
		description:
			'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
		hint: 'Rows that equal an item in these columns are updated. Row Number updates the row that an item was read from: if rows may have moved since, choose a column instead.',
	},
	valuesSource,
	columns,
	values,
] as const;

export const writeOptions = [
	...rowOptions,
	{
		displayName: 'If No Row Matches',
		name: 'unmatched',
		type: 'options',
		options: [
			{ name: 'Fail the Item', value: 'error', description: 'Write nothing for the item' },
			{
				name: 'Skip the Item',
				value: 'skip',
				description: 'Write nothing for the item, without an error',
			},
		],
		default: 'error',
		showWhen: { writeMode: ['update'] },
		description: 'What to do with an item that matches no row',
	},
	{
		...range,
		description:
			'Where to write the rows: the columns of the table (A:D), or with Overwrite the first cell (B2) or an area that they must fit into (A1:D10). If no tab is chosen, start with the tab name (Sheet1!B2). Leave empty to use the whole tab.',
	},
	valueInputOption,
] as const;

export type WriteParams = InferParameters<typeof writeFields, typeof writeOptions>;

/** The parameters that Append and Write share. */
export type RowParams = Pick<AppendParams, keyof AppendParams & keyof WriteParams>;
