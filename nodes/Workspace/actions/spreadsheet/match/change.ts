import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Item } from '../../../operation';
import { type Cell, cellData, type Entering } from '../cells';
import { entryFor } from '../dates';
import type { SheetHeader } from '../headerRow';
import { grown, resize } from '../sheets';
import { areaIn } from '../range';
import type { Step } from './matchPlan';

/** The changes of one request. */
interface Change {
	readonly spreadsheetId: string;
	readonly sheet: SheetHeader;
	readonly valueInputOption: Entering['valueInputOption'];
	readonly item: Item;
	/** Headers that the tab gets, from the column on. */
	readonly headers: { readonly row: number; readonly column: number; readonly names: readonly string[] };
	/** Rows that are inserted first. */
	readonly inserted: { readonly row: number; readonly count: number };
	/** Whether the row above them is the header, whose look they are not to have. */
	readonly isBelowHeader: boolean;
	readonly runs: readonly Run[];
}

/**
 * Stored values go with the rows that are inserted for them in one request: all of it is done or nothing. What is to be taken as typed
 * needs a request of its own.
 */
export async function sendChange(sheets: sheets_v4.Sheets, change: Change): Promise<void> {
	const { spreadsheetId, sheet, runs } = change;
	const { valueInputOption, cell } = await entryFor(
		sheets,
		change,
		change.item,
		runs.flatMap(({ cells }) => cells),
	);
	const isStored = valueInputOption === 'RAW';
	const requests = [...structure(change), ...(isStored ? runs.map((run) => updateCells(sheet, run)) : [])];
	if (requests.length > 0)
		await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
	if (isStored || runs.length === 0) return;
	const data = runs.map((run) => ({
		range: areaIn(sheet.title, run, run.cells.length, run.cells[0]?.length ?? 0),
		values: run.cells.map((line) => line.map(cell)),
	}));
	await sheets.spreadsheets.values.batchUpdate({ spreadsheetId, requestBody: { valueInputOption, data } });
}

function structure(change: Change): sheets_v4.Schema$Request[] {
	const { sheet, headers, inserted, isBelowHeader } = change;
	const { sheetId, rowCount, columnCount } = sheet;
	const requests: sheets_v4.Schema$Request[] = [];
	const { names, row, column } = headers;
	const missing = names.length > 0 ? column + names.length - columnCount : 0;
	if (missing > 0) requests.push({ appendDimension: { sheetId, dimension: 'COLUMNS', length: missing } });
	if (names.length > 0) requests.push(updateCells(sheet, { row, column, cells: [[...names]] }));
	if (inserted.count > 0 && inserted.row >= rowCount) {
		requests.push({ appendDimension: { sheetId, dimension: 'ROWS', length: inserted.count } });
	} else if (inserted.count > 0) {
		const range = {
			...{ sheetId, dimension: 'ROWS' },
			startIndex: inserted.row,
			endIndex: inserted.row + inserted.count,
		};
		requests.push({ insertDimension: { range, inheritFromBefore: !isBelowHeader } });
	}
	return [...requests, ...nativeSize(change)];
}

/** Rows inside a table make it grow; rows below it and columns beside it do not. */
function nativeSize({ sheet: { native }, inserted, headers }: Change): sheets_v4.Schema$Request[] {
	if (!native) return [];
	const columns = headers.column === native.endColumn ? headers.names.length : 0;
	const isBelow = inserted.count > 0 && inserted.row >= native.endRow;
	return columns > 0 || isBelow ? [resize(grown(native, inserted.count, columns))] : [];
}

function updateCells(
	{ sheetId }: SheetHeader,
	{ row, column, cells }: { row: number; column: number; cells: readonly Cell[][] },
): sheets_v4.Schema$Request {
	const start = { sheetId, rowIndex: row, columnIndex: column };
	const rows = cells.map((line) => ({ values: line.map(cellData) }));
	return { updateCells: { start, rows, fields: 'userEnteredValue' } };
}

/** Cells beside and below one another. Rows and columns count from 0. */
interface Run {
	readonly row: number;
	readonly column: number;
	readonly cells: Cell[][];
}

/** The cells of steps, in their order, as few rectangles. */
export function runsOf(steps: readonly Step[]): Run[] {
	const runs: Run[] = [];
	for (const { changes } of steps) {
		for (const { row, cells } of changes) {
			for (const { column, cells: line } of linesOf(cells)) {
				const last = runs.at(-1);
				const continues =
					last?.column === column &&
					last.cells[0]?.length === line.length &&
					last.row + last.cells.length === row;
				if (continues) last.cells.push(line);
				else runs.push({ row, column, cells: [line] });
			}
		}
	}
	return runs;
}

function linesOf(cells: ReadonlyMap<number, Cell>): Array<{ column: number; cells: Cell[] }> {
	const lines: Array<{ column: number; cells: Cell[] }> = [];
	for (const [column, cell] of cells) {
		const last = lines.at(-1);
		if (last && last.column + last.cells.length === column) last.cells.push(cell);
		else lines.push({ column, cells: [cell] });
	}
	return lines;
}
