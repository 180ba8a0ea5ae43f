import { isNodeError } from '../../../../core/errors';
import { type Cell, countColumns, escapeCell } from '../cells';
import type { WriteParams } from '../fields';
import * as ranges from '../range';
import {
	buildEnlargeTabRequests,
	isUnknownRangeError,
	RequestBody,
	type Spreadsheet,
} from '../spreadsheet';
import type { WriteResult } from '../tablePlan';

/** Rows of cells to write over those of a range, from its first cell on. */
export interface CellsWrite {
	readonly spreadsheet: Spreadsheet;
	readonly target: ranges.TabRange;
	readonly params: WriteParams;
	readonly rows: readonly Cell[][];
}

export async function writeCells(write: CellsWrite): Promise<WriteResult> {
	const { spreadsheet, target, params } = write;
	const request = {
		spreadsheetId: spreadsheet.id,
		range: ranges.printRange(target),
		requestBody: new RequestBody({
			values: write.rows.map((row) => row.map((cell) => escapeCell(cell, params))),
		}),
		// Rows of cells are stored unchanged, unless the user wants them as if typed.
		valueInputOption: params.valueInputOption === 'AUTO' ? 'RAW' : params.valueInputOption,
	};
	const send = () => spreadsheet.valuesApi.update(request);
	const { data } = await spreadsheet.sendForRange(target, () =>
		send().catch(async (error: unknown) => {
			if (await enlargeTab(write, error)) return await send();
			throw error;
		}),
	);
	return {
		spreadsheetId: spreadsheet.id,
		updatedRange: data.updatedRange ?? '',
		updatedRows: data.updatedRows ?? 0,
		updatedColumns: data.updatedColumns ?? 0,
		updatedCells: data.updatedCells ?? 0,
	};
}

/**
 * Enlarges a tab if Google may have refused cells because they reach beyond its edge.
 * @returns whether the tab has grown
 */
async function enlargeTab(write: CellsWrite, error: unknown): Promise<boolean> {
	const { spreadsheet, target, rows } = write;
	if (!isNodeError(error) || error.code !== 400 || isUnknownRangeError(error)) return false;
	const area = ranges.parseBounds(target);
	const rowCount = area.row + rows.length;
	const columnCount = area.column + countColumns(rows);
	if (rowCount > area.lastRow + 1 || columnCount > area.lastColumn + 1) return false;
	const title = target.tab ?? target.name;
	// A named range is no tab, and has a fixed size.
	const tab = await spreadsheet.fetchTabInfo(title, '1:1').catch((failure: unknown) => {
		if (isUnknownRangeError(failure)) return undefined;
		throw failure;
	});
	if (!tab) return false;
	const requests = buildEnlargeTabRequests(tab, rowCount, columnCount);
	await spreadsheet.change(requests);
	return requests.length > 0;
}
