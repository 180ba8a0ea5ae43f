import type { Rectangle } from './a1.ts';
import type { Grid } from './grid.ts';

/**
 * Finds the table of an append to a range: the last one with a cell in the range, or the one that surrounds
 * the range's first cell. A table is a block of cells with nothing around it. Undefined if there is none.
 * Follows the example in Google's guide "Reading & writing cell values".
 */
export function findTable(grid: Grid, range: Rectangle): Rectangle | undefined {
	const seed = findLastCell(grid, range);
	if (seed !== undefined) return findRegion(grid, seed);
	const { startRow, startColumn } = range;
	for (const row of [startRow - 1, startRow, startRow + 1]) {
		for (const column of [startColumn - 1, startColumn, startColumn + 1]) {
			if (grid.get(row, column) === undefined) continue;
			const region = findRegion(grid, { row, column });
			if (holds(region, startRow, startColumn)) return region;
		}
	}
	return undefined;
}

interface Position {
	readonly row: number;
	readonly column: number;
}

function findLastCell(grid: Grid, range: Rectangle): Position | undefined {
	for (let row = Math.min(range.endRow, grid.usedRows) - 1; row >= range.startRow; row--) {
		for (let column = range.endColumn - 1; column >= range.startColumn; column--) {
			if (grid.get(row, column) !== undefined) return { row, column };
		}
	}
	return undefined;
}

/** Grows a rectangle from a cell until the cells around it, corners included, are empty. */
function findRegion(grid: Grid, { row, column }: Position): Rectangle {
	let [top, bottom, left, right] = [row, row + 1, column, column + 1];
	for (let grew = true; grew;) {
		grew = false;
		// Sideways first, because a column is long and is checked again only where the region has grown
		// since.
		while (left > 0 && isColumnFilled(grid, left - 1, top - 1, bottom + 1))
			[left, grew] = [left - 1, true];
		while (isColumnFilled(grid, right, top - 1, bottom + 1)) [right, grew] = [right + 1, true];
		while (top > 0 && grid.isFilled(top - 1, left - 1, right + 1))
			[top, grew] = [top - 1, true];
		while (grid.isFilled(bottom, left - 1, right + 1)) [bottom, grew] = [bottom + 1, true];
	}
	return { startRow: top, endRow: bottom, startColumn: left, endColumn: right };
}

function isColumnFilled(grid: Grid, column: number, start: number, end: number): boolean {
	for (let row = Math.max(start, 0); row < end; row++) {
		if (grid.get(row, column) !== undefined) return true;
	}
	return false;
}

function holds(region: Rectangle, row: number, column: number): boolean {
	return (
		row >= region.startRow &&
		row < region.endRow &&
		column >= region.startColumn &&
		column < region.endColumn
	);
}
