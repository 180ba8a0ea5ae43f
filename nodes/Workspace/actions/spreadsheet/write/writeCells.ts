import { isNodeError } from '../../../../core/errors';
import { type Cell, countColumns, escapeCell } from '../cells';
import type { WriteParams } from '../fields';
import * as ranges from '../range';
import { type RowChange, summarizeChanges, type WriteResult } from '../requests';
import {
	buildEnlargeTabRequests,
	isNameOfTab,
	isUnknownRangeError,
	type Spreadsheet,
} from '../spreadsheet';

/** Writes rows of cells over those of a range, from its first cell on. */
export async function writeCells(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	params: WriteParams,
	rows: readonly Cell[][],
): Promise<WriteResult> {
	const values = rows.map((row) => row.map((cell) => escapeCell(cell, params)));
	// Rows of cells are stored unchanged, unless the user wants them as if typed.
	const inputOption = params.valueInputOption === 'AUTO' ? 'RAW' : params.valueInputOption;
	const width = countColumns(rows);
	const range = ranges.printRange(target);
	const send = async () => await spreadsheet.update(range, values, inputOption);
	const { updatedRange } = await spreadsheet.sendForRange(target, async () =>
		send().catch(async (error: unknown) => {
			// The cells may reach beyond the edge of the tab.
			const mayGrow = isNodeError(error) && error.code === 400 && !isUnknownRangeError(error);
			if (!mayGrow || !(await enlargeTab(spreadsheet, target, rows.length, width)))
				throw error;
			return await send();
		}),
	);
	const returnedRange = ranges.parseRange(updatedRange ?? range);
	// A named range: only Google's response has its place. Cells: our range has it, because Google's begins at the first cell that is not null.
	const isNamedRange = target.name !== undefined && !isNameOfTab(target, returnedRange);
	const { row, column } = ranges.parseBounds(isNamedRange ? returnedRange : target);
	const area = ranges.printTabArea(returnedRange.tab, { row, column }, rows.length, width);
	return summarizeChanges(spreadsheet, rows.map(toChange), area);
}

function toChange(cells: readonly Cell[], row: number): RowChange {
	const filled = [...cells.entries()].filter(([, cell]) => cell !== null);
	return { row, cellsByColumn: new Map(filled) };
}

/** Enlarges a tab for cells that begin inside it and fit into the range. @returns whether the tab has grown */
async function enlargeTab(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	height: number,
	width: number,
): Promise<boolean> {
	const { row, column, lastRow = Infinity, lastColumn = Infinity } = ranges.parseBounds(target);
	const needed = { rowCount: row + height, columnCount: column + width };
	const fitsIntoRange = needed.rowCount <= lastRow + 1 && needed.columnCount <= lastColumn + 1;
	// A named range has a fixed size.
	if (!fitsIntoRange || (target.tab !== undefined && target.name !== undefined)) return false;
	const tab = await spreadsheet.fetchTabInfo(target.tab ?? target.name, '1:1');
	const isInside = row < tab.rowCount && column < tab.columnCount;
	const requests = isInside ? buildEnlargeTabRequests(tab, needed) : [];
	await spreadsheet.change(requests);
	return requests.length > 0;
}
