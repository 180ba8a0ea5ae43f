import type { Rectangle } from './a1.ts';
import type { Grid } from './grid.ts';

/**
 * Finds the table of an append to a range: the last one with a cell in the range, or the one that surrounds
 * the range's first cell. A table is a block of cells with nothing around it. Undefined if there is none.
 * Follows the example in Google's guide "Reading & writing cell values". Hidden or filtered cells do not
 * count, as reported in theoephraim/node-google-spreadsheet#706, #591 and PipedreamHQ/pipedream#20115.
 */
export function findTable(sheet: Grid, range: Rectangle): Rectangle | undefined {
	const grid = new VisibleCells(sheet);
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

/** A tab as seen by the search for tables. */
class VisibleCells {
	private readonly grid: Grid;
	private readonly allColumns: boolean;
	private readonly countsAllCells: boolean;

	constructor(grid: Grid) {
		this.grid = grid;
		this.allColumns = grid.hiddenColumns.size === 0;
		this.countsAllCells = this.allColumns && grid.hiddenRows.size === 0;
	}

	get usedRows(): number {
		return this.grid.usedRows;
	}

	get(row: number, column: number) {
		const { grid } = this;
		if (this.countsAllCells) return grid.get(row, column);
		return grid.hiddenRows.has(row) || grid.hiddenColumns.has(column)
			? undefined
			: grid.get(row, column);
	}

	filled(row: number, start: number, end: number): boolean {
		if (this.countsAllCells) return this.grid.isFilled(row, start, end);
		if (this.grid.hiddenRows.has(row)) return false;
		if (this.allColumns) return this.grid.isFilled(row, start, end);
		for (
			let column = Math.max(start, 0);
			column < Math.min(end, this.grid.columnCount);
			column++
		) {
			if (this.get(row, column) !== undefined) return true;
		}
		return false;
	}
}

interface Position {
	readonly row: number;
	readonly column: number;
}

function findLastCell(grid: VisibleCells, range: Rectangle): Position | undefined {
	for (let row = Math.min(range.endRow, grid.usedRows) - 1; row >= range.startRow; row--) {
		for (let column = range.endColumn - 1; column >= range.startColumn; column--) {
			if (grid.get(row, column) !== undefined) return { row, column };
		}
	}
	return undefined;
}

/** Grows a rectangle from a cell until the cells around it, corners included, are empty. */
function findRegion(grid: VisibleCells, { row, column }: Position): Rectangle {
	let [top, bottom, left, right] = [row, row + 1, column, column + 1];
	for (let grew = true; grew;) {
		grew = false;
		// Sideways first, because a column is long and is checked again only where the region has grown
		// since.
		while (left > 0 && isColumnFilled(grid, left - 1, top - 1, bottom + 1))
			[left, grew] = [left - 1, true];
		while (isColumnFilled(grid, right, top - 1, bottom + 1)) [right, grew] = [right + 1, true];
		while (top > 0 && grid.filled(top - 1, left - 1, right + 1)) [top, grew] = [top - 1, true];
		while (grid.filled(bottom, left - 1, right + 1)) [bottom, grew] = [bottom + 1, true];
	}
	return { startRow: top, endRow: bottom, startColumn: left, endColumn: right };
}

function isColumnFilled(grid: VisibleCells, column: number, start: number, end: number): boolean {
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
