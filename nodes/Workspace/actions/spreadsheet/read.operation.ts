import { createRefusal } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import { defineOperation, type Field, type InferParameters, type Item } from '../../operation';
import * as fields from './fields';
import { parseRange } from './range';
import { fetchCells, type FetchedCells, getValue } from './read/fetchCells';
import { filtersField, matchTypeField } from './read/filters';
import { buildRowItems, type ReadRows, toRowsAnswer, toValuesAnswer } from './read/readRows';
import { Spreadsheet } from './spreadsheet';

const readFields = [
	fields.spreadsheetId,
	{
		...fields.tab,
		description:
			'The tab to read. Leave empty to use the tab that the range or the URL of the spreadsheet names, or the first tab.',
	},
	matchTypeField,
	filtersField,
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		options: [
			{
				name: 'Rows',
				value: 'rows',
				description:
					'One item per row, keyed by the column names in the header row. Empty rows are left out, as are rows at the end with nothing but unticked checkboxes.',
			},
			{
				name: 'Values',
				value: 'values',
				description: 'One item with all cells as arrays',
			},
		],
		default: 'rows',
		jsonDefault: 'values',
		description: 'How to return the rows',
	},
] as const satisfies readonly Field[];

const readOptions = [
	{
		displayName: 'Date Formatting',
		name: 'dateTimeRenderOption',
		type: 'options',
		options: [
			{
				name: 'Formatted String',
				value: 'FORMATTED_STRING',
				description: 'As shown in the sheet',
			},
			{
				name: 'ISO 8601',
				value: 'ISO_8601',
				description:
					'Such as 2024-01-05 or 2024-01-05T10:30:00.000+01:00, whatever the sheet shows',
			},
			{
				name: 'Serial Number',
				value: 'SERIAL_NUMBER',
				description: 'Days since December 30, 1899',
			},
		],
		default: 'ISO_8601',
		jsonDefault: 'SERIAL_NUMBER',
		defaultWhen: { field: 'output', is: 'values', default: 'SERIAL_NUMBER' },
		description:
			'How to return dates and times. ISO 8601 uses the time zone of the spreadsheet, and durations look like 26:30:00. If this is not set and Output is Values, they are serial numbers.',
	},
	{
		displayName: 'Header Row',
		name: 'headerRow',
		type: 'number',
		default: 1,
		minimum: 0,
		showWhen: { output: ['rows'] },
		description:
			'Number of the row in the range that holds the column names. Empty rows there are skipped. Set to 0 to use the column letters instead.',
	},
	{
		displayName: 'Limit',
		name: 'maxRows',
		type: 'number',
		default: 0,
		minimum: 0,
		showWhen: { output: ['rows'] },
		description: 'Max number of rows to return, after filtering. Set to 0 for all.',
	},
	{
		...fields.range,
		description:
			'Cells (A1:D10), columns (A:D), rows (1:5) or a named range. If no tab is chosen, start with the tab name (Sheet1!A1:D10). Leave empty to read the whole tab.',
	},
	{
		displayName: 'Start Row',
		name: 'startRow',
		type: 'number',
		default: 0,
		minimum: 0,
		onlyAsTool: true,
		description:
			'Number of the row in the sheet to begin with. Set to 0 to begin with the first row of the range. Let a model fill this in, so that it can continue an answer that was shortened.',
	},
	{
		displayName: 'Value Formatting',
		name: 'valueRenderOption',
		type: 'options',
		options: [
			{
				name: 'Formatted Value',
				value: 'FORMATTED_VALUE',
				description: 'Text as shown in the sheet, which depends on its locale',
			},
			{ name: 'Formula', value: 'FORMULA', description: 'Formulas instead of their results' },
			{
				name: 'Unformatted Value',
				value: 'UNFORMATTED_VALUE',
				description: 'Values as numbers, booleans or text',
			},
		],
		default: 'UNFORMATTED_VALUE',
		jsonDefault: 'FORMATTED_VALUE',
		defaultWhen: { field: 'output', is: 'values', default: 'FORMATTED_VALUE' },
		description:
			'How to return the values of cells. If this is not set and Output is Values, they are the text that the sheet shows.',
	},
] as const satisfies readonly Field[];

type ReadParams = InferParameters<typeof readFields, typeof readOptions>;

export const read = defineOperation({
	value: 'read',
	name: 'Read',
	action: 'Read rows of spreadsheet',
	description: 'Read a range, a tab or a named range, as one item per row or as arrays of cells',
	modelDescription: 'Read rows in Google Sheets.',
	fields: readFields,
	options: readOptions,
	mayChange: () => false,
	prepare(params) {
		// The form shows both only with rows. In an input object, they would have no effect.
		if (params.output === 'values' && (params.filters.length > 0 || params.maxRows > 0))
			throw createRefusal(
				`${quoteField('filters')} and ${quoteField('maxRows')} can only be used if ${quoteField('output')} is ${mentionChoice('output', 'rows')}`,
			);
		return params;
	},
	async send({ sheets }, params, item): Promise<ReadRows> {
		const spreadsheet = new Spreadsheet(sheets, params.spreadsheetId, item);
		const cells = await fetchCells(spreadsheet, await findTarget(spreadsheet, params), params);
		const result = await buildResult(cells, params, item);
		if (!item.isTool) return result;
		const { tab = '' } = parseRange(cells.range);
		const titles = await spreadsheet.tryFetchTitles();
		return { ...result, tabs: { tab, otherTabs: titles.filter((title) => title !== tab) } };
	},
	toItems: ({ items }) => items,
	toModel: (result, { output }) =>
		output === 'rows' ? toRowsAnswer(result) : toValuesAnswer(result),
});

/**
 * All cells of a tab. Google allows no column after ZZZ, and cuts a range at the end of the tab.
 */
const allCells = 'A1:ZZZ';

/** Returns the range to read. Without a tab and a range, it is the first tab. */
async function findTarget(spreadsheet: Spreadsheet, params: ReadParams) {
	if (params.tab === '' && params.range.trim() === '') return { a1: allCells };
	return await spreadsheet.resolveTarget(params);
}

async function buildResult(cells: FetchedCells, params: ReadParams, item: Item): Promise<ReadRows> {
	if (params.output === 'values') return buildValuesItem(cells, params.startRow);
	const result = await buildRowItems(cells, params);
	if (result.total === 0 && params.filters.length > 0)
		item.addHint('No row matches the filters. Check their values, or remove a filter.');
	return result;
}

/** Builds the item with all cells, without the rows above Start Row. */
function buildValuesItem(cells: FetchedCells, startRow: number): ReadRows {
	const skippedCount = Math.max(0, startRow - cells.start.row - 1);
	const allValues = cells.rows.map((line, row) =>
		line.map((_, column) => getValue(cells, row, column)),
	);
	const json = {
		range: cells.range,
		majorDimension: 'ROWS',
		values: allValues.slice(skippedCount),
	};
	return { items: [{ json }], columnNames: [], total: allValues.length, skippedCount };
}
