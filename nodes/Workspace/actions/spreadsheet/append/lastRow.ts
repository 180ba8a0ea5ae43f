import type { Place } from './place';
import type { TabCells } from '../tabCells';

type Grid = TabCells['cells'];

/**
 * The last row of the table that rows are added to, hidden rows and columns included, which Google leaves out when it searches.
 * @param width of the rows that are added
 * @returns -1 where there is none
 */
export function lastRowOf(grid: Grid, { row, column, lastColumn, extent }: Place, width: number): number {
	const end = (lastColumn ?? column + width - 1) + 1;
	const filled = (at: number) => filledCells(grid[at], column, end);
	if (extent === 'all') return lastFilled(grid.length, row, filled);
	const [from, to] = blockFrom(grid.length, row, filled);
	// A line of one cell above a wider table is its title.
	const isTitle = extent === 'block' && from === to && width > 1 && filled(from) === 1;
	const [next, nextEnd] = isTitle ? blockFrom(grid.length, to + 1, filled) : [-1, -1];
	return next === -1 ? to : nextEnd;
}

/** The last row that holds anything in any column. */
export function lastRowOfAll(grid: Grid): number {
	return lastFilled(grid.length, 0, (at) => filledCells(grid[at], 0, Infinity));
}

export function filledCells(row: readonly unknown[] = [], from: number, end: number): number {
	let count = 0;
	for (let column = from; column < Math.min(end, row.length); column++) if (row[column] !== '') count++;
	return count;
}

function lastFilled(end: number, from: number, filled: (at: number) => number): number {
	for (let at = end - 1; at >= from; at--) if (filled(at) > 0) return at;
	return -1;
}

function blockFrom(end: number, from: number, filled: (at: number) => number): [number, number] {
	let start = from;
	while (start < end && filled(start) === 0) start++;
	if (start >= end) return [-1, -1];
	let last = start;
	while (last + 1 < end && filled(last + 1) > 0) last++;
	return [start, last];
}
