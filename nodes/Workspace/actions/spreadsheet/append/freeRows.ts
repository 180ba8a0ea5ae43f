import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { refusal } from '../../../../core/errors';
import { named } from '../../../../fields/naming';
import type { AppendParams } from '../appendFields';
import type { Cell } from '../cells';
import { filledCells, lastRowOf } from './lastRow';
import { nativeTableAt, type NativeTable, tableFields } from '../nativeTable';
import type { Place } from './place';
import { cellsOn, columnLetters, type Corner, printCell } from '../range';
import { sheetOf } from '../write/ensureGridSize';
import { readTab } from '../tabCells';
import { widthOf } from '../updates';

/** How to request an append. */
export interface Asked {
	readonly range: string;
	readonly insertDataOption: 'INSERT_ROWS' | 'OVERWRITE';
	/** Rows that begin above this one, from 0, are not where they belong. */
	readonly firstRow?: number;
}

/**
 * With OVERWRITE, misplaced rows destroy existing cells, and Google ignores hidden cells. So the node first finds the free cell below the
 * table. Google begins there, or further down if somebody else was faster.
 * @throws Failure 400 if rows would overwrite other cells
 */
export async function below(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, insertDataOption }: Pick<AppendParams, 'spreadsheetId' | 'insertDataOption'>,
	place: Place,
	values: readonly Cell[][],
): Promise<Asked> {
	const { search: range, tab, column } = place;
	if (insertDataOption === 'INSERT_ROWS') return { range, insertDataOption };
	const { cells, rowCount } = await readTab(sheets, spreadsheetId, tab);
	const width = widthOf(values);
	const last = lastRowOf(cells, place, width);
	const firstRow = last === -1 ? place.row : last + 1;
	const row = place.extent === 'header' ? place.row : last;
	const table = await nativeTableOf(sheets, spreadsheetId, tab, { row, column });
	// Only inserted rows belong to it.
	if (table) {
		const inside = printCell({ row: table.startRow, column });
		return { range: cellsOn(tab, inside), insertDataOption: 'INSERT_ROWS', firstRow: table.endRow };
	}
	// There is no cell below the last row, so nothing can be overwritten.
	if (firstRow >= rowCount) return { range, insertDataOption: 'INSERT_ROWS' };
	const taken = cells
		.slice(firstRow, firstRow + values.length)
		.findIndex((row) => filledCells(row, column, column + width) > 0);
	if (taken !== -1) throw noRoom(firstRow, taken, column);
	return { range: cellsOn(tab, printCell({ row: firstRow, column })), insertDataOption, firstRow };
}

async function nativeTableOf(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	tab: string | undefined,
	cell: Corner,
): Promise<NativeTable | undefined> {
	const fields = `sheets(properties(title),${tableFields})`;
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields });
	return nativeTableAt(sheetOf(data, tab), cell);
}

function noRoom(firstRow: number, free: number, column: number) {
	return refusal(
		`There is space for only ${free} ${free === 1 ? 'row' : 'rows'} below the table: row ${firstRow + free + 1} has data from column ${columnLetters(column)} on`,
		`Nothing was written. Set ${named('insertDataOption')} to Insert Rows, which moves the rows below the table down.`,
	);
}
