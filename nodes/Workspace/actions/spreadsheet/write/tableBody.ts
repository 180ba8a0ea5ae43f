import type { Cell } from '../cells';
import { groupNeighbors, printRange, toColumnLetters } from '../range';
import { maxRanges, type Spreadsheet } from '../spreadsheet';
import { findLastFilledRow, type Table } from '../table';

/** The cells of some columns of a table, below its header. Rows and columns count from 0. */
export interface TableBody {
	/** The last row with a value in these columns; the header's row if all rows below it are empty. */
	readonly lastRow: number;
	/** Returns the value, text or formula of a cell, as fetched; '' if it is empty. */
	getCell(row: number, column: number): Cell;
}

type RenderOption = 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA';

/** Fetches columns of a table. Begins with the header's row: Google refuses a range that begins below the last row of the tab. */
export async function fetchTableBody(
	spreadsheet: Spreadsheet,
	{ title, nativeTable, row: headerRow }: Table,
	columns: readonly number[],
	valueRenderOption: RenderOption = 'UNFORMATTED_VALUE',
): Promise<TableBody> {
	const spans = groupColumns(columns);
	const ranges = spans.map(({ firstColumn, lastColumn }) => {
		const lastCell = `${toColumnLetters(lastColumn)}${nativeTable?.bodyEnd ?? ''}`;
		const a1 = `${toColumnLetters(firstColumn)}${headerRow + 1}:${lastCell}`;
		return printRange({ tab: title, a1 });
	});
	// Google returns only these types for cells.
	const grids =
		ranges.length === 0
			? []
			: ((await spreadsheet.fetchValues(ranges, { valueRenderOption })) as Cell[][][]);
	const lastRows = grids.map((grid) => Math.max(0, findLastFilledRow(grid)));
	return {
		lastRow: headerRow + Math.max(0, ...lastRows),
		getCell(row, column) {
			const index = spans.findIndex(
				({ firstColumn, lastColumn }) => column >= firstColumn && column <= lastColumn,
			);
			const line = grids[index]?.[row - headerRow];
			return line?.[column - (spans[index]?.firstColumn ?? 0)] ?? '';
		},
	};
}

/** Groups neighboring columns. For too many groups, returns one from the first to the last column. */
function groupColumns(columns: readonly number[]) {
	const sortedColumns = [...new Set(columns)].sort((a, b) => a - b);
	const groups = groupNeighbors(sortedColumns, (left, right) => right === left + 1);
	const chosenGroups = groups.length > maxRanges ? [sortedColumns] : groups;
	return chosenGroups.map((group) => {
		return { firstColumn: group[0] ?? 0, lastColumn: group.at(-1) ?? 0 };
	});
}
