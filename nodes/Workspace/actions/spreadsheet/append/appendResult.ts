import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Table } from '../headerRow';
import {
	anchorOf,
	cellsOn,
	columnLetters,
	type Corner,
	parseRange,
	printRange,
	type TabRange,
} from '../range';
import type { TabCells } from '../sheets';

/** Where Google put appended rows. */
export interface AppendResult {
	readonly updatedRange: string;
	readonly tableRange: string | undefined;
	readonly start: Corner;
	/** Last column that was written. */
	readonly lastColumn: number;
}

export function appendResultOf({ tableRange, updates }: sheets_v4.Schema$AppendValuesResponse): AppendResult {
	const updatedRange = updates?.updatedRange ?? '';
	const { row, column, lastColumn = column } = anchorOf(parseRange(updatedRange));
	return { updatedRange, tableRange: tableRange ?? undefined, start: { row, column }, lastColumn };
}

/** Whether the answer alone proves that the rows stand below their table and in its columns. */
export function isProven(
	{ tableRange, start }: AppendResult,
	place: Place,
	width: number,
	firstRow?: number,
): boolean {
	if (start.column !== place.column) return false;
	if (firstRow !== undefined) return start.row >= firstRow;
	if (tableRange === undefined || place.isUnsure) return false;
	const table = anchorOf(parseRange(tableRange));
	const lastRow = table.lastRow ?? table.row;
	if (start.row <= lastRow) return false;
	const isCell = lastRow === table.row && table.lastColumn === undefined;
	// It may be a title above the table.
	if (place.extent === 'block') return !(isCell && width > 1);
	if (place.extent === 'all') return true;
	return table.row <= place.row && lastRow >= place.row;
}

/** Whether rows are the first ones below a header: below a line that is the whole table, where no header is known. */
export function isBelowHeader(
	{ tableRange }: AppendResult,
	{ extent, row }: Place,
	startRow: number,
): boolean {
	if (extent === 'header') return startRow === row + 1;
	if (tableRange === undefined) return false;
	const table = anchorOf(parseRange(tableRange));
	return (table.lastRow ?? table.row) === table.row && startRow === table.row + 1;
}

/** Where appended rows belong: below a table. Rows and columns count from 0. */
export interface Place {
	/** The range in which Google searches for the table. */
	readonly search: string;
	/** Title of the tab; undefined for the first one. */
	readonly tab: string | undefined;
	/** Where the table is looked for, downward; that of the header where there is one. */
	readonly row: number;
	/** Of the first cell of each row. */
	readonly column: number;
	/** Last column of the table; undefined where the range leaves it open. */
	readonly lastColumn: number | undefined;
	/** The block of rows below a header, the first block in an area, or all that the columns hold. */
	readonly extent: 'header' | 'block' | 'all';
	/** Whether Google's answer is not enough, because Google sees the table as several. */
	readonly isUnsure?: boolean;
}

/** The place that a target names, for rows whose columns have no names. */
export function placeIn(target: TabRange): Place {
	const { cells, tab, name } = target;
	const { row, column, lastColumn, lastRow } = anchorOf(target);
	const isCell = cells !== undefined && !cells.includes(':');
	return {
		search: printRange(target),
		tab: tab ?? name,
		...{ row, column, lastColumn },
		extent: isCell || lastRow !== undefined ? 'block' : 'all',
	};
}

/** Google is asked for the table that the header row's own cells are in; where one of them is empty, there may be several below. */
export function placeBelow({ target, header }: Table, headerRow: number): Place {
	const { left, right, hasGap } = header;
	const tab = target.tab ?? target.name;
	const last = `${columnLetters(right)}${hasGap ? '' : headerRow}`;
	return {
		search: cellsOn(tab, `${columnLetters(left)}${headerRow}:${last}`),
		tab,
		row: headerRow - 1,
		column: left,
		lastColumn: right,
		extent: 'header',
		isUnsure: hasGap,
	};
}

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
