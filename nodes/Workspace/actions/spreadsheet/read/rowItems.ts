import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

import type { IDataObject } from 'n8n-workflow';

import { createRefusal } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import type { OutputItem } from '../../../operation';
import { isDateFormat } from '../dates';
import { findLastFilledRow, type Header, nameColumns } from '../table';
import { type FetchedCells, getValue } from './fetchCells';
import { buildRowTest, type RowFilters } from './filters';
import type { ReadRows } from './modelRows';

/** Our limit for the empty cells that the node adds, because Google leaves them out at the end of a row. */
const maxPaddingCells = 5_000_000;
/** After this many cells, the node lets n8n do other work, because building the items of a full sheet takes about a second. */
const cellsPerSlice = 100_000;

interface RowOptions extends RowFilters {
	/** Number of the first row to return, in the tab. */
	readonly startRow: number;
	/** 0 for all. */
	readonly maxRows: number;
}

/**
 * Builds the items of rows that have a value, match the filters and are within Start Row and Limit. Their keys are the column names and
 * `rowNumber`, the number in the tab. @throws NodeError 400 if a filter names an unknown column, or if too many cells are empty
 */
export async function buildRowItems(cells: FetchedCells, options: RowOptions): Promise<ReadRows> {
	const columns = nameColumns(readHeaders(cells), cells.start.column);
	const { names } = columns;
	const matches = buildRowTest(options, cells, columns);
	const firstNumber = cells.start.row + 1;
	const rows = listFilledRows(cells).filter(matches);
	const skippedCount = rows.filter((row) => firstNumber + row < options.startRow).length;
	const endIndex = skippedCount + (options.maxRows || Infinity);
	const returnedRows = rows.slice(skippedCount, endIndex);
	refuseWideRows(cells, names.length, returnedRows);
	const items: OutputItem[] = [];
	let cellCount = 0;
	for (const row of returnedRows) {
		const json: IDataObject = {};
		for (const [column, name] of names.entries()) json[name] = getValue(cells, row, column);
		json['rowNumber'] = firstNumber + row;
		items.push({ json });
		cellCount += names.length;
		if (cellCount <= cellsPerSlice) continue;
		await yieldToEventLoop();
		cellCount = 0;
	}
	return { items, columnNames: names, total: rows.length, skippedCount };
}

/** Reads the headers of all columns that have a value. */
function readHeaders({ rows, headerRow, shownRows, formats }: FetchedCells): Header[] {
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
	return Array.from({ length: width }, (_, column) => {
		const shownText = String(shownRows[headerRow]?.[column] ?? '');
		if (isDateFormat(formats.find(headerRow, column))) return { text: shownText, shownText };
		return { text: String(rows[headerRow]?.[column] ?? ''), shownText };
	});
}

/** Lists the rows below the header, down to the last row of the table, that have a value. */
function listFilledRows({ rows, headerRow }: FetchedCells): number[] {
	const filledRows: number[] = [];
	const lastRow = findLastFilledRow(rows);
	for (let row = headerRow + 1; row <= lastRow; row++)
		if (rows[row]?.some((cell) => cell !== '')) filledRows.push(row);
	return filledRows;
}

function refuseWideRows({ rows }: FetchedCells, width: number, returnedRows: readonly number[]) {
	let paddingCells = 0;
	for (const row of returnedRows) paddingCells += width - (rows[row]?.length ?? 0);
	if (paddingCells <= maxPaddingCells) return;
	throw createRefusal(
		`The rows have ${width} columns, and most cells in their ${rows.length} rows are empty`,
		`Enter the columns that you need in ${quoteField('range')}, such as A:Z, or set ${quoteField('maxRows')}.`,
	);
}
