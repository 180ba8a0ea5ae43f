import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';
import type { IDataObject } from 'n8n-workflow';

import { createRefusal } from '../../../core/errors';
import { quoteField, type ReadContext, textType } from '../../../fields/field';
import { isRecord, createValueRefusal, refuseUnknownKeys } from '../../../fields/values';
import {
	defineOperation,
	type Field,
	type InferParameters,
	type OutputItem,
} from '../../operation';
import { replaceDatesByIso } from './dates/dateCells';
import * as fields from './fields';
import { buildColumnNames, type TableHeader, indexColumns } from './tableHeader';
import { type ReadRows, toRowsAnswer, toValuesAnswer } from './read/modelRows';
import { createColumnError, listNames, headerRowAdvice } from './names';
import { parseBounds, parseRange, printRange, parseTarget, type TargetParams } from './range';
import { allCells, Spreadsheet } from './spreadsheet';

type ValueRange = sheets_v4.Schema$ValueRange;
type CellRow = ReadonlyArray<string | number | boolean>;

/** Our limit for the empty cells that the node adds, because Google leaves them out at the end of a row. */
const maxPaddingCells = 5_000_000;
/** After this many cells, the node lets n8n do other work, because building the items of a full sheet takes about a second. */
const cellsPerSlice = 100_000;

/**
 * Builds the items of rows that have a value, match the filters and are within Start Row and Max Rows. Their keys are the column names and
 * `rowNumber`, the number in the sheet. @param shownData has the texts that the sheet shows for the cells of `data`
 * @throws NodeError 400 if a filter names an unknown column, or if more than `maxPaddingCells` cells would be added
 */
async function toRowItems(
	data: ValueRange,
	shownData: ValueRange,
	options: ReadOptions,
): Promise<ReadRows> {
	const { headerRow, maxRows, startRow } = options;
	const rows = (data.values ?? []) as CellRow[];
	const shownRows = (shownData.values ?? []) as CellRow[];
	const { row: firstRow, column: rangeStart } = parseBounds(parseRange(data.range ?? 'A1'));
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
	const readHeaders = (row: CellRow = []) =>
		Array.from({ length: width }, (_, index) => toText(row[index]));
	const headerTexts = readHeaders(rows[headerRow - 1]);
	const columnsByName = indexColumns(
		headerTexts,
		readHeaders(shownRows[headerRow - 1]),
		rangeStart,
	);
	const columnNames = buildColumnNames(headerTexts, rangeStart);
	const matchesFilters = buildRowTest(options, { names: columnNames, columnsByName, rangeStart });
	const isMatch = (row: CellRow, index: number) =>
		index >= headerRow &&
		row.some((cell) => cell !== '') &&
		matchesFilters(row, shownRows[index] ?? []);
	// A range may have millions of rows, and an index takes far less memory than an object.
	const matchingIndexes = rows.flatMap((row, index) => (isMatch(row, index) ? index : []));
	const getRowNumber = (index: number) => firstRow + index + 1;
	const skippedCount = matchingIndexes.filter((index) => getRowNumber(index) < startRow).length;
	const returnedIndexes = matchingIndexes.slice(
		skippedCount,
		skippedCount + (maxRows || Infinity),
	);
	const paddingCells = returnedIndexes.reduce(
		(sum, index) => sum + width - (rows[index]?.length ?? 0),
		0,
	);
	if (paddingCells > maxPaddingCells)
		throw createRefusal(
			`The rows have ${width} columns, and most cells in their ${rows.length} rows are empty`,
			`Enter the columns that you need in ${quoteField('range')}, such as A:Z, or set ${quoteField('maxRows')}.`,
		);
	const items: OutputItem[] = [];
	let cellCount = 0;
	for (const index of returnedIndexes) {
		const json: IDataObject = {};
		for (const [columnIndex, name] of columnNames.entries())
			json[name] = rows[index]?.[columnIndex] ?? '';
		json['rowNumber'] = getRowNumber(index);
		items.push({ json });
		cellCount += width;
		if (cellCount <= cellsPerSlice) continue;
		await yieldToEventLoop();
		cellCount = 0;
	}
	return { items, columnNames, total: matchingIndexes.length, skippedCount };
}

/** Builds the item with all cells. If its lists are rows, those above Start Row are left out. */
function toValuesItem({ range, majorDimension, values }: ValueRange, startRow: number): ReadRows {
	const firstRowNumber = parseBounds(parseRange(range ?? 'A1')).row + 1;
	const skippedCount = majorDimension === 'ROWS' ? Math.max(0, startRow - firstRowNumber) : 0;
	const json = { range, majorDimension, values: values?.slice(skippedCount) ?? [] };
	return { items: [{ json }], columnNames: [], total: values?.length ?? 0, skippedCount };
}

const toText = (cell: CellRow[number] = '') => String(cell);

const conditionField = {
	displayName: 'Condition',
	name: 'condition',
	type: 'options',
	options: [
		{ name: 'Contains', value: 'contains' },
		{ name: 'Equals', value: 'equals' },
		{ name: 'Is Empty', value: 'isEmpty' },
		{ name: 'Is Not Empty', value: 'isNotEmpty' },
		{ name: 'Not Equals', value: 'notEquals' },
	],
	default: 'equals',
} as const satisfies Field;

/** Reads the form's `{ filter: [filter, …] }` or an array of filters `{ column, condition, value }`. @throws NodeError 400 otherwise */
function readFilters(raw: unknown, field: Field, context: ReadContext) {
	if (isRecord(raw) && Object.keys(raw).length === 0) return [];
	const entries = isRecord(raw) ? raw['filter'] : raw;
	if (!Array.isArray(entries) || !entries.every(isRecord))
		throw createValueRefusal(
			field,
			context,
			'an array of objects with column, condition and value',
		);
	const allowedConditions = conditionField.options.map((option) => option.value).join(', ');
	const expectedShape = `objects with column (a column's name), condition (${allowedConditions}) and value (text)`;
	refuseUnknownKeys(field, entries, ['column', 'condition', 'value'], expectedShape, context);
	// Skips filters of the form that are empty.
	const filledEntries = entries.filter(
		({ column, value }) => context.mode === 'json' || !!column || !!value,
	);
	return filledEntries.map(({ column, condition = 'equals', value = '' }) => {
		const knownCondition = conditionField.options.find(
			(option) => option.value === condition,
		)?.value;
		const isText = ['string', 'number', 'boolean'].includes(typeof value);
		const isValid = knownCondition && typeof column === 'string' && isText;
		if (!isValid) throw createValueRefusal(field, context, expectedShape);
		return { column, condition: knownCondition, value: String(value) };
	});
}

type RowFilter = ReturnType<typeof readFilters>[number];

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
		showWhen: { valueRenderOption: ['UNFORMATTED_VALUE', 'FORMULA'] },
		description:
			'How to return dates and times. ISO 8601 uses the time zone of the spreadsheet, and durations look like 26:30:00. If this is not set and Output is Values, they are serial numbers.',
	},
	{
		displayName: 'Combine Filters',
		name: 'combineFilters',
		type: 'options',
		options: [
			{ name: 'AND', value: 'and', description: 'Rows that match all filters' },
			{ name: 'OR', value: 'or', description: 'Rows that match at least one filter' },
		],
		default: 'and',
		showWhen: { output: ['rows'] },
		description: 'How to combine several filters',
	},
	{
		displayName: 'Filters',
		name: 'filters',
		type: 'fixedCollection',
		placeholder: 'Add Filter',
		default: {},
		showWhen: { output: ['rows'] },
		entries: {
			group: 'filter',
			fields: [
				{
					displayName: 'Column Name or ID',
					name: 'column',
					type: 'options',
					default: '',
					typeOptions: {
						loadOptionsMethod: 'getColumns',
						loadOptionsDependsOn: fields.columnDependencies,
					},
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
				conditionField,
				{
					displayName: 'Value',
					name: 'value',
					...textType,
					showWhen: { condition: ['contains', 'equals', 'notEquals'] },
				},
			],
		},
		description:
			'Return only rows that match. A filter compares both the value of the cell and the text that the sheet shows. Contains ignores case.',
		read: readFilters,
	},
	{
		displayName: 'Max Rows',
		name: 'maxRows',
		type: 'number',
		default: 0,
		minimum: 0,
		showWhen: { output: ['rows'] },
		description: 'How many rows to return at most, after filtering. Set to 0 for all.',
	},
	{
		displayName: 'Header Row',
		name: 'headerRow',
		type: 'number',
		default: 1,
		minimum: 0,
		showWhen: { output: ['rows'] },
		description:
			'Number of the row in the range that holds the column names. Set to 0 to use the column letters instead.',
	},
	{
		displayName: 'Major Dimension',
		name: 'majorDimension',
		type: 'options',
		options: [
			{ name: 'Rows', value: 'ROWS', description: 'An array per row' },
			{ name: 'Columns', value: 'COLUMNS', description: 'An array per column' },
		],
		default: 'ROWS',
		showWhen: { output: ['values'] },
		description: 'Whether the outer array contains rows or columns',
	},
	{
		displayName: 'Start Row',
		name: 'startRow',
		type: 'number',
		default: 0,
		minimum: 0,
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

type ReadOptions = InferParameters<[], typeof readOptions>;

export const read = defineOperation({
	value: 'read',
	name: 'Read',
	action: 'Read rows of spreadsheet',
	description: 'Read a range, a tab or a named range, as one item per row or as arrays of cells',
	modelDescription: 'Read rows in Google Sheets.',
	fields: [
		fields.spreadsheetId,
		{
			...fields.tab,
			description:
				'The tab to read. Leave empty to use the tab that the range or the URL of the spreadsheet names, or the first tab.',
		},
		{
			...fields.range,
			description:
				'Cells (A1:D10), columns (A:D), rows (1:5) or a named range. If no tab is chosen, start with the tab name (Sheet1!A1:D10). Leave empty to read the whole tab.',
		},
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{
					name: 'Rows',
					value: 'rows',
					description: 'One item per row, keyed by the column names in the header row',
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
	],
	options: readOptions,
	isReadOnlyByDefault: true,
	async send({ sheets }, enteredParams, item): Promise<ReadRows> {
		const spreadsheet = new Spreadsheet(sheets, enteredParams.spreadsheetId, item);
		const isWholeFirstTab = enteredParams.tab === '' && enteredParams.range.trim() === '';
		const params = isWholeFirstTab
			? enteredParams
			: await spreadsheet.resolveTab(enteredParams);
		const { spreadsheetId, valueRenderOption, dateTimeRenderOption, output, filters } = params;
		const majorDimension = output === 'rows' ? 'ROWS' : params.majorDimension;
		const target = isWholeFirstTab ? { a1: allCells } : parseTarget(params);
		const request = { spreadsheetId, range: printRange(target), majorDimension };
		const fetchOnce = async (format: {
			valueRenderOption: string;
			dateTimeRenderOption?: string;
		}) =>
			await item.doOnce(
				`spreadsheet.read ${JSON.stringify({ ...request, ...format })}`,
				async () => {
					const send = async () =>
						await spreadsheet.valuesApi.get({ ...request, ...format });
					return (await spreadsheet.sendForRange(target, send)).data;
				},
			);
		const wantsIsoDates = dateTimeRenderOption === 'ISO_8601';
		// Google cannot return ISO 8601. `fetchDatesAsIso` needs dates as texts, because a date as a number looks like any other number.
		const dateOption = wantsIsoDates ? 'FORMATTED_STRING' : dateTimeRenderOption;
		const fetchedData = await fetchOnce({
			valueRenderOption,
			dateTimeRenderOption: dateOption,
		});
		const headerHeight = output === 'rows' ? params.headerRow : 0;
		const datesKey = `spreadsheet.dates ${JSON.stringify({ ...request, valueRenderOption, headerHeight })}`;
		const data =
			wantsIsoDates && valueRenderOption !== 'FORMATTED_VALUE'
				? await item.doOnce(datesKey, () =>
						replaceDatesByIso(spreadsheet, fetchedData, headerHeight),
					)
				: fetchedData;
		if (output === 'values') return toValuesItem(data, params.startRow);
		const valuesSuffice = valueRenderOption === 'FORMATTED_VALUE' || filters.length === 0;
		const shownData = valuesSuffice
			? data
			: await fetchOnce({ valueRenderOption: 'FORMATTED_VALUE' });
		const result = await toRowItems(data, shownData, params);
		const rowCount = data.values?.length ?? 0;
		const hint = result.items.length > 0 ? undefined : explainNoRows(result, params, rowCount);
		if (hint) item.addHint(hint);
		return result;
	},
	toItems: ({ items }) => items,
	toModel: (result, { output }) =>
		output === 'rows' ? toRowsAnswer(result) : toValuesAnswer(result),
});

/** Returns a hint why no rows were found, if a parameter may be wrong. @param rowCount rows of the range, with the header */
function explainNoRows({ total }: ReadRows, params: ReadOptions & TargetParams, rowCount: number) {
	if (total > 0)
		return `${quoteField('startRow')} is below the last row. Rows above it: ${total}.`;
	if (params.filters.length > 0)
		return 'No row matches the filters. Check their values, or remove a filter.';
	const neededRows = Math.max(1, params.headerRow);
	const firstRowNumber = parseBounds(parseRange(params.range)).row + neededRows;
	if (rowCount >= neededRows || firstRowNumber === 1) return undefined;
	return `There are no rows from row ${firstRowNumber} on. Check ${quoteField('range')} and ${quoteField('headerRow')}.`;
}

/** Builds a test whether a row matches the filters. A cell is compared both by its value and by the text that the sheet shows for it. */
function buildRowTest(
	{ filters, combineFilters }: Pick<ReadOptions, 'filters' | 'combineFilters'>,
	{
		names,
		columnsByName,
		rangeStart,
	}: Pick<TableHeader, 'names' | 'columnsByName' | 'rangeStart'>,
): (row: CellRow, shownRow: CellRow) => boolean {
	if (filters.length === 0) return () => true;
	const checks = filters.map((filter) => {
		const { column } = filter;
		const message = `The table has no column ${listNames([column])} to filter by`;
		if (!columnsByName.has(column))
			throw createColumnError(message, names, [column], headerRowAdvice);
		const columnIndex = (columnsByName.get(column) ?? 0) - rangeStart;
		const cellMatches = buildCellTest(filter);
		return (row: CellRow, shownRow: CellRow) =>
			cellMatches([toText(row[columnIndex]), toText(shownRow[columnIndex])]);
	});
	if (combineFilters === 'and')
		return (row, shownRow) => checks.every((check) => check(row, shownRow));
	return (row, shownRow) => checks.some((check) => check(row, shownRow));
}

/** Builds a test of the two texts of a cell. */
function buildCellTest({ condition, value }: RowFilter): (texts: readonly string[]) => boolean {
	const foldedValue = value.toLowerCase();
	// A checkbox has the value true, but shows TRUE.
	const ignoresCase = foldedValue === 'true' || foldedValue === 'false';
	const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text);
	const equals = (texts: readonly string[]) => texts.some((text) => fold(text) === fold(value));
	const tests: Readonly<Record<RowFilter['condition'], typeof equals>> = {
		contains: (texts) => texts.some((text) => text.toLowerCase().includes(foldedValue)),
		equals,
		isEmpty: (texts) => texts.every((text) => text === ''),
		isNotEmpty: (texts) => texts.some((text) => text !== ''),
		notEquals: (texts) => !equals(texts),
	};
	return tests[condition];
}
