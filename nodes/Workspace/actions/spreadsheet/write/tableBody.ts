import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Cell } from '../cells';
import type { TableHeader } from '../tableHeader';
import { groupNeighbors, printRange, toColumnLetters } from '../range';
import { maxRanges, type Spreadsheet } from '../spreadsheet';

/** The cells of some columns of a table, below its header. Rows and columns count from 0. */
export interface TableBody {
	/** The last row with a value in these columns; the header's row if all rows below it are empty. */
	readonly lastRow: number;
	/** Returns the value, text or formula of a cell, as fetched; '' if it is empty. */
	getCell(row: number, column: number): Cell;
}

/** Plans how to read columns of a table: the ranges to request, and the function that builds a body from Google's response. */
function planBodyRead({ title, nativeTable, row: headerIndex }: TablePlace, columns: Columns) {
	const sortedColumns = [...new Set(columns)].sort((a, b) => a - b);
	const groups = groupNeighbors(sortedColumns, (left, right) => right === left + 1);
	// For too many ranges, reads one range from the first to the last column.
	const spans = (groups.length > maxRanges ? [sortedColumns] : groups).map((group) => {
		return { firstColumn: group[0] ?? 0, lastColumn: group.at(-1) ?? 0 };
	});
	return {
		// Begins with the header's row: Google refuses a range that begins below the last row of the tab.
		ranges: spans.map(({ firstColumn, lastColumn }) => {
			const a1 = `${toColumnLetters(firstColumn)}${headerIndex + 1}:${toColumnLetters(lastColumn)}${nativeTable?.bodyEnd ?? ''}`;
			return printRange({ tab: title, a1 });
		}),
		/** @param grids the rows of cells of each range */
		toBody: (grids: readonly Cell[][][]): TableBody => ({
			lastRow: headerIndex + Math.max(0, ...grids.map((grid) => grid.length - 1)),
			getCell(row, column) {
				const index = spans.findIndex(
					(span) => column >= span.firstColumn && column <= span.lastColumn,
				);
				return (
					grids[index]?.[row - headerIndex]?.[
						column - (spans[index]?.firstColumn ?? 0)
					] ?? ''
				);
			},
		}),
	};
}

type TablePlace = Pick<TableHeader, 'title' | 'nativeTable' | 'row'>;
type Columns = readonly number[];

export async function fetchTableBody(
	spreadsheet: Spreadsheet,
	table: TablePlace,
	columns: Columns,
	valueRenderOption: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA' = 'UNFORMATTED_VALUE',
): Promise<TableBody> {
	const { ranges, toBody } = planBodyRead(table, columns);
	if (ranges.length === 0) return toBody([]);
	return toBody((await spreadsheet.fetchValues(ranges, { valueRenderOption })) as Cell[][][]);
}

/** Fetches values (of dates, the numbers) and shown texts. This takes one request instead of two, but more bytes for each cell. */
export async function fetchValuesAndTexts(
	spreadsheet: Spreadsheet,
	table: TablePlace,
	columns: Columns,
) {
	const { ranges, toBody } = planBodyRead(table, columns);
	const fields = 'sheets.data.rowData.values(effectiveValue,formattedValue)';
	const { sheets } = await spreadsheet.fetch(fields, ranges);
	const grids = (sheets?.[0]?.data ?? []).map(({ rowData = [] }) => {
		// Google also returns empty cells that have a format.
		const isFilled = (cell: sheets_v4.Schema$CellData) =>
			cell.effectiveValue ?? cell.formattedValue;
		const lastFilledRow = rowData.findLastIndex(({ values }) => values?.some(isFilled));
		return rowData.slice(0, lastFilledRow + 1).map(({ values }) => values ?? []);
	});
	const buildBody = (readCell: (cell: sheets_v4.Schema$CellData) => Cell) =>
		toBody(grids.map((grid) => grid.map((row) => row.map(readCell))));
	return {
		body: buildBody(
			({ effectiveValue: { numberValue, boolValue, stringValue } = {}, formattedValue }) => {
				return numberValue ?? boolValue ?? stringValue ?? formattedValue ?? '';
			},
		),
		shownTexts: buildBody(({ formattedValue }) => formattedValue ?? ''),
	};
}
