import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

import type { IDataObject } from 'n8n-workflow';

import { createRefusal } from '../../../../core/errors';
import { buildModelAnswer, type ModelAnswer } from '../../../../core/modelAnswer';
import { quoteField } from '../../../../fields/field';
import type { OutputItem } from '../../../operation';
import { findLastFilledRow } from '../cells';
import { nameColumns } from '../columnNames';
import { parseBounds, parseRange } from '../range';
import { findHeaderRow } from '../table';
import { type CellValue, type FetchedCells, fetchHeaders, getValue } from './fetchCells';
import { buildRowTest, type RowFilters } from './filters';

/**
 * The result of Read: the items, and the facts that tell a model which rows its answer leaves out.
 */
export interface ReadRows {
	readonly items: OutputItem[];
	/** Names of the columns, in the order of the sheet. Empty if Output is Values. */
	readonly columnNames: readonly string[];
	/** How many rows match the filters. If Output is Values, how many rows the range has. */
	readonly total: number;
	/** How many of these rows are above Start Row, so that they are left out. */
	readonly skippedCount: number;
	/** The title of the tab, and those of the others. Only for a model. */
	readonly tabs?: { readonly tab: string; readonly otherTabs: readonly string[] };
}

/**
 * Our limit for the empty cells that the node adds, because Google leaves them out at the end of a
 * row.
 */
const maxPaddingCells = 5_000_000;
/**
 * After this many cells, the node lets n8n do other work, because building the items of a full
 * sheet takes about a second.
 */
const cellsPerSlice = 100_000;

interface RowOptions extends RowFilters {
	/** Number of the header row in the range. 0 if there is none. */
	readonly headerRow: number;
	/** Number of the first row to return, in the tab. */
	readonly startRow: number;
	/** 0 for all. */
	readonly maxRows: number;
}

/**
 * Builds the items of rows that have a value, match the filters and are within Start Row and Limit.
 * Their keys are the column names and `rowNumber`, the number in the tab.
 * @throws NodeError 400 if a filter names an unknown column, or if too many cells are empty
 */
export async function buildRowItems(cells: FetchedCells, options: RowOptions): Promise<ReadRows> {
	const headerRow =
		options.headerRow === 0 ? -1 : findHeaderRow(cells.rows, options.headerRow - 1);
	const headers = await fetchHeaders(cells, headerRow, options.filters.length > 0);
	const columns = nameColumns(padHeaders(headers, cells), cells.start.column);
	const isWanted = await buildRowTest(options, cells, columns);
	const rows = listFilledRows(cells, headerRow).filter(isWanted);
	const startRow = options.startRow - 1 - cells.start.row;
	const skippedCount = rows.filter((row) => row < startRow).length;
	const returnedRows = rows.slice(skippedCount, skippedCount + (options.maxRows || Infinity));
	refuseWideRows(cells, columns.names.length, returnedRows);
	const items = await toItems(cells, columns.names, returnedRows);
	return { items, columnNames: columns.names, total: rows.length, skippedCount };
}

async function toItems(cells: FetchedCells, names: readonly string[], rows: readonly number[]) {
	const items: OutputItem[] = [];
	let cellCount = 0;
	for (const row of rows) {
		const json: IDataObject = {};
		for (const [column, name] of names.entries()) json[name] = getValue(cells, row, column);
		json['rowNumber'] = cells.start.row + row + 1;
		items.push({ json });
		cellCount += names.length;
		if (cellCount <= cellsPerSlice) continue;
		await yieldToEventLoop();
		cellCount = 0;
	}
	return items;
}

/** Gives each column that has a value a header, which may be empty. */
function padHeaders(headers: readonly CellValue[], { rows }: FetchedCells): string[] {
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
	return Array.from({ length: width }, (_, column) => String(headers[column] ?? ''));
}

/** Lists the rows below the header, down to the last row of the table, that have a value. */
function listFilledRows({ rows }: FetchedCells, headerRow: number): number[] {
	const filledRows: number[] = [];
	const lastRow = findLastFilledRow(rows);
	for (let row = headerRow + 1; row <= lastRow; row++)
		if (rows[row]?.some((cell) => cell !== '')) filledRows.push(row);
	return filledRows;
}

function refuseWideRows({ rows }: FetchedCells, width: number, returnedRows: readonly number[]) {
	let paddingCells = 0;
	for (const row of returnedRows) {
		const { length } = rows[row] ?? [];
		paddingCells += width - length;
	}
	if (paddingCells <= maxPaddingCells) return;
	throw createRefusal(
		`The rows have ${width} columns, and most cells in their ${rows.length} rows are empty`,
		`Enter the columns that you need in ${quoteField('range')}, such as A:Z, or set ${quoteField('maxRows')}.`,
	);
}

/**
 * Builds the answer for a model, if Output is Rows: the rows that fit, as arrays of cells, with the
 * names of the columns once.
 */
export function toRowsAnswer(result: ReadRows): ModelAnswer {
	const columns = ['rowNumber', ...result.columnNames];
	const rows = result.items.map(({ json }) => columns.map((name) => json[name]));
	const facts = { ...result.tabs, columns, total: result.total };
	return buildModelAnswer(facts, { name: 'rows', entries: rows }, (shownCount) =>
		describeRows(result, shownCount, Number(rows[shownCount - 1]?.[0])),
	);
}

/** Builds the answer for a model, if Output is Values: the rows that fit. */
export function toValuesAnswer(result: ReadRows): ModelAnswer {
	const { range, majorDimension, values } = result.items[0]?.json ?? {};
	const facts = { ...result.tabs, range, majorDimension };
	const part = { name: 'values', entries: values as unknown[] };
	const numberAbove = parseBounds(parseRange(range as string)).row + result.skippedCount;
	return buildModelAnswer(facts, part, (shownCount) =>
		describeRows(result, shownCount, numberAbove + shownCount),
	);
}

/** @param lastNumber the number of the last row that is shown */
function describeRows(result: ReadRows, shownCount: number, lastNumber: number): string {
	const { total, skippedCount } = result;
	if (shownCount === 0) return `No rows of ${total} are shown.`;
	const lastShown = skippedCount + shownCount;
	const summary = `Rows ${skippedCount + 1} to ${lastShown} of ${total} are shown.`;
	if (lastShown >= total) return summary;
	return `${summary} To get the next ones, call again with ${quoteField('startRow')}: ${lastNumber + 1}`;
}
