import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Place } from './place';
import { anchorOf, parseRange, type Corner } from '../range';

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
