import { isNodeError } from '../../../../core/errors';
import { type Cell, countColumns, escapeCell } from '../cells';
import type { WriteParams } from '../fields';
import * as ranges from '../range';
import { fitCellRow } from '../rows';
import {
	buildEnlargeTabRequests,
	isNameOfTab,
	isUnknownRangeError,
	type Spreadsheet,
	ValuesBody,
} from '../spreadsheet';
import { summarizeRows, type WriteResult } from '../tablePlan';

/** Rows of cells to write over those of a range, from its first cell on. */
export interface CellsWrite {
	readonly spreadsheet: Spreadsheet;
	readonly target: ranges.TabRange;
	readonly params: WriteParams;
	readonly rows: readonly Cell[][];
}

export async function writeCells(write: CellsWrite): Promise<WriteResult> {
	const range = ranges.printRange(write.target);
	const { data } = await sendCells(write, range);
	const returnedRange = ranges.parseRange(data.updatedRange ?? range);
	// A named range: only Google's response has its place. Cells: our range has it, because Google's begins at the first cell that is not null.
	const isNamed = write.target.name !== undefined && !isNameOfTab(write.target, returnedRange);
	const start = ranges.parseBounds(isNamed ? returnedRange : write.target);
	const [height, width] = [write.rows.length, countColumns(write.rows)];
	const area = ranges.printTabArea(returnedRange.tab, start, height, width);
	const rows = write.rows.map((cells) => fitCellRow(cells, start.column));
	return summarizeRows(write.spreadsheet, rows, area);
}

/** Sends cells, also if the tab must grow for them. */
async function sendCells(write: CellsWrite, range: string) {
	const { spreadsheet, params } = write;
	const values = write.rows.map((row) => row.map((cell) => escapeCell(cell, params)));
	const request = {
		spreadsheetId: spreadsheet.id,
		range,
		requestBody: new ValuesBody(values),
		// Rows of cells are stored unchanged, unless the user wants them as if typed.
		valueInputOption: params.valueInputOption === 'AUTO' ? 'RAW' : params.valueInputOption,
	};
	const send = async () => await spreadsheet.valuesApi.update(request);
	return await spreadsheet.sendForRange(write.target, () =>
		send().catch(async (error: unknown) => {
			if (isUnknownRangeError(error) || !(await enlargeTab(write, error))) throw error;
			return await send();
		}),
	);
}

/** Enlarges a tab if Google may have refused cells because they reach beyond its edge. @returns whether the tab has grown */
async function enlargeTab(write: CellsWrite, error: unknown): Promise<boolean> {
	const { target } = write;
	// A named range has a fixed size.
	const isNamedRange = target.tab !== undefined && target.name !== undefined;
	if (!isNodeError(error) || error.code !== 400 || isNamedRange) return false;
	const area = ranges.parseBounds(target);
	const rowCount = area.row + write.rows.length;
	const columnCount = area.column + countColumns(write.rows);
	if (rowCount > area.lastRow + 1) return false;
	if (columnCount > area.lastColumn + 1) return false;
	const tab = await write.spreadsheet.fetchTabInfo(target.tab ?? target.name, '1:1');
	const requests = buildEnlargeTabRequests(tab, { rowCount, columnCount });
	await write.spreadsheet.change(requests);
	return requests.length > 0;
}
