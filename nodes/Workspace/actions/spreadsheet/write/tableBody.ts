import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Cell } from '../cells';
import type { HeaderRow } from '../headerRow';
import { groupNeighbors, printRange, toColumnLetters } from '../range';
import { maxRanges, type Spreadsheet } from '../spreadsheet';

/** The rows below a header, in some columns. Rows and columns count from 0. */
export interface TableBody {
	/** The last row that holds anything in these columns; the header's if none does. */
	readonly lastRow: number;
	/** What reading gives for a cell; "" where it is empty. */
	getCell(row: number, column: number): Cell;
}

/** The ranges of some columns of a table, by their positions in the tab, and how Google's answer becomes a body. */
function planBodyRead({ title, nativeTable, row: headerRow }: TablePosition, columns: readonly number[]) {
	const sortedColumns = [...new Set(columns)].sort((a, b) => a - b);
	const groups = groupNeighbors(sortedColumns, (left, right) => right === left + 1);
	const spans = (groups.length > maxRanges ? [sortedColumns] : groups).map((group) => {
		return { firstColumn: group[0] ?? 0, lastColumn: group.at(-1) ?? 0 };
	});
	return {
		// The header is read too, because a range may not begin below the last row of the tab.
		ranges: spans.map(({ firstColumn, lastColumn }) => {
			const cells = `${toColumnLetters(firstColumn)}${headerRow + 1}:${toColumnLetters(lastColumn)}${nativeTable?.bodyEnd ?? ''}`;
			return printRange({ tab: title, cells });
		}),
		/** @param grids the cells of each range */
		toBody: (grids: readonly Cell[][][]): TableBody => ({
			lastRow: headerRow + Math.max(0, ...grids.map((grid) => grid.length - 1)),
			getCell(row, column) {
				const spanIndex = spans.findIndex(
					({ firstColumn, lastColumn }) => column >= firstColumn && column <= lastColumn,
				);
				return grids[spanIndex]?.[row - headerRow]?.[column - (spans[spanIndex]?.firstColumn ?? 0)] ?? '';
			},
		}),
	};
}

type TablePosition = Pick<HeaderRow, 'title' | 'nativeTable' | 'row'>;

export async function fetchTableBody(
	book: Spreadsheet,
	table: TablePosition,
	columns: readonly number[],
	valueRenderOption: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA' = 'UNFORMATTED_VALUE',
): Promise<TableBody> {
	const { ranges, toBody } = planBodyRead(table, columns);
	if (ranges.length === 0) return toBody([]);
	const { data } = await book.values.batchGet({ spreadsheetId: book.id, ranges, valueRenderOption });
	return toBody((data.valueRanges ?? []).map(({ values }) => (values ?? []) as Cell[][]));
}

/** Reads values, with dates as numbers, and what the sheet shows: in one request instead of two, but with more bytes for each cell. */
export async function fetchValuesAndTexts(
	book: Spreadsheet,
	table: TablePosition,
	columns: readonly number[],
) {
	const { ranges, toBody } = planBodyRead(table, columns);
	const { sheets } = await book.fetch('sheets.data.rowData.values(effectiveValue,formattedValue)', ranges);
	const grids = (sheets?.[0]?.data ?? []).map(({ rowData = [] }) => {
		// Google also returns cells that only have a format.
		const isFilled = (cell: sheets_v4.Schema$CellData) => cell.effectiveValue ?? cell.formattedValue;
		const lastFilled = rowData.findLastIndex(({ values }) => values?.some(isFilled));
		return rowData.slice(0, lastFilled + 1).map(({ values }) => values ?? []);
	});
	const mapCells = (readCell: (cell: sheets_v4.Schema$CellData) => Cell) =>
		toBody(grids.map((grid) => grid.map((row) => row.map(readCell))));
	return {
		body: mapCells(({ effectiveValue: { numberValue, boolValue, stringValue } = {}, formattedValue }) => {
			return numberValue ?? boolValue ?? stringValue ?? formattedValue ?? '';
		}),
		shownTexts: mapCells(({ formattedValue }) => formattedValue ?? ''),
	};
}
