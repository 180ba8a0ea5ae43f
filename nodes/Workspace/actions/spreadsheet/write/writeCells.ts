import { isNodeError } from '../../../../core/errors';
import { type Cell, countColumns, escapeCell } from '../cells';
import type { WriteParams } from '../fields';
import * as ranges from '../range';
import { summarizeChanges, type WriteResult } from '../requests';
import { fitCellRow } from '../rows';
import {
	buildEnlargeTabRequests,
	isNameOfTab,
	isUnknownRangeError,
	type Spreadsheet,
} from '../spreadsheet';

/** Rows of cells to write over those of a range, from its first cell on. */
export interface CellsWrite {
	readonly spreadsheet: Spreadsheet;
	readonly target: ranges.TabRange;
	readonly params: WriteParams;
	readonly rows: readonly Cell[][];
}

export async function writeCells(write: CellsWrite): Promise<WriteResult> {
	const { spreadsheet, target, rows } = write;
	const range = ranges.printRange(target);
	const updatedRange = (await sendCells(write, range)) ?? range;
	const returnedRange = ranges.parseRange(updatedRange);
	// A named range: only Google's response has its place. Cells: our range has it, because Google's begins at the first cell that is not null.
	const isNamedRange = target.name !== undefined && !isNameOfTab(target, returnedRange);
	const start = ranges.parseBounds(isNamedRange ? returnedRange : target);
	const area = ranges.printTabArea(returnedRange.tab, start, rows.length, countColumns(rows));
	const changes = rows.map((cells, row) => ({ row, ...fitCellRow(cells, 0) }));
	return summarizeChanges(spreadsheet, changes, area);
}

/** Sends cells, also if the tab must grow for them. @returns the range as Google prints it */
async function sendCells(write: CellsWrite, range: string) {
	const { spreadsheet, target, params, rows } = write;
	const values = rows.map((row) => row.map((cell) => escapeCell(cell, params)));
	// Rows of cells are stored unchanged, unless the user wants them as if typed.
	const inputOption = params.valueInputOption === 'AUTO' ? 'RAW' : params.valueInputOption;
	const send = async () => await spreadsheet.update(range, values, inputOption);
	return await spreadsheet.sendForRange(target, () =>
		send().catch(async (error: unknown) => {
			// The cells may reach beyond the edge of the tab.
			const mayGrow = isNodeError(error) && error.code === 400 && !isUnknownRangeError(error);
			if (!mayGrow || !(await enlargeTab(write))) throw error;
			return await send();
		}),
	);
}

/** Enlarges a tab for cells that begin inside it and fit into the range. @returns whether the tab has grown */
async function enlargeTab({ spreadsheet, target, rows }: CellsWrite): Promise<boolean> {
	// A named range has a fixed size.
	if (target.tab !== undefined && target.name !== undefined) return false;
	const { row, column, lastRow = Infinity, lastColumn = Infinity } = ranges.parseBounds(target);
	const needed = { rowCount: row + rows.length, columnCount: column + countColumns(rows) };
	if (needed.rowCount > lastRow + 1 || needed.columnCount > lastColumn + 1) return false;
	const tab = await spreadsheet.fetchTabInfo(target.tab ?? target.name, '1:1');
	if (row >= tab.rowCount || column >= tab.columnCount) return false;
	const requests = buildEnlargeTabRequests(tab, needed);
	await spreadsheet.change(requests);
	return requests.length > 0;
}
