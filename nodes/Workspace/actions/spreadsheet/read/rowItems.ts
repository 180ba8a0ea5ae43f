import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

import type { IDataObject } from 'n8n-workflow';

import { createRefusal } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import type { OutputItem } from '../../../operation';
import { findLastFilledRow, nameColumns } from '../table';
import type { FetchedCells } from './fetchCells';
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
	const columns = nameReadColumns(cells);
	const matchingRows = findMatchingRows(cells, columns, options);
	const getRowNumber = (row: number) => cells.start.row + row + 1;
	const skippedCount = matchingRows.filter((row) => getRowNumber(row) < options.startRow).length;
	const endIndex = skippedCount + (options.maxRows || Infinity);
	const returnedRows = matchingRows.slice(skippedCount, endIndex);
	refuseWideRows(cells, columns.names.length, returnedRows);
	const items: OutputItem[] = [];
	let cellCount = 0;
	for (const row of returnedRows) {
		const json: IDataObject = {};
		for (const [column, name] of columns.names.entries())
			json[name] = cells.getValue(row, column);
		json['rowNumber'] = getRowNumber(row);
		items.push({ json });
		cellCount += columns.names.length;
		if (cellCount <= cellsPerSlice) continue;
		await yieldToEventLoop();
		cellCount = 0;
	}
	return { items, columnNames: columns.names, total: matchingRows.length, skippedCount };
}

/** Names all columns that have a value or a header. Columns count from the first one of the range. */
function nameReadColumns(cells: FetchedCells) {
	const width = cells.rows.reduce((widest, row) => Math.max(widest, row.length), 0);
	const headers = Array.from({ length: width }, (_, column) => cells.getHeader(column));
	const startColumn = cells.start.column;
	const { names, columnsByName } = nameColumns(headers, startColumn);
	const findColumn = (name: string) => {
		const column = columnsByName.get(name);
		return column === undefined ? undefined : column - startColumn;
	};
	return { names, findColumn, timeZone: cells.timeZone };
}

/** Returns the rows below the header, down to the last row of the table, that have a value and match the filters. */
function findMatchingRows(
	cells: FetchedCells,
	columns: ReturnType<typeof nameReadColumns>,
	options: RowOptions,
): number[] {
	const matches = buildRowTest(options, columns);
	const lastRow = findLastFilledRow(cells.rows);
	const matchingRows: number[] = [];
	for (let row = cells.headerRow + 1; row <= lastRow; row++) {
		const isBlank = cells.rows[row]?.every((cell) => cell === '');
		if (!isBlank && matches((column) => cells.getCompared(row, column))) matchingRows.push(row);
	}
	return matchingRows;
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
