import { isNodeError } from '../../../../core/errors';
import { type Cell, countColumns, escapeCell } from '../cells';
import type { WriteParams } from '../fields';
import * as ranges from '../range';
import type { WriteResult } from '../requests';
import { buildEnlargeTabRequests, isNameOfTab, newTabSize, type Spreadsheet } from '../spreadsheet';

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
	const size = { rowCount: rows.length, columnCount: countColumns(rows) };
	const range = ranges.printRange(target);
	const { updatedRange = range } = await writeAndEnlarge(spreadsheet, target, size, () =>
		spreadsheet.update(range, values, inputOption),
	);
	const returnedRange = ranges.parseRange(updatedRange ?? range);
	// A named range: only Google's response has its place. Cells: our range has it, because Google's begins at the first cell that is not null.
	const isNamedRange = target.name !== undefined && !isNameOfTab(target, returnedRange);
	const { row, column } = ranges.parseBounds(isNamedRange ? returnedRange : target);
	const filledColumns = rows.flatMap((line) =>
		[...line.keys()].filter((index) => line[index] !== null),
	);
	return {
		spreadsheetId: spreadsheet.id,
		updatedRange: ranges.printAreaLike(
			updatedRange ?? range,
			{ row, column },
			size.rowCount,
			size.columnCount,
		),
		updatedRows: size.rowCount,
		updatedColumns: new Set(filledColumns).size,
		updatedCells: filledColumns.length,
	};
}

/** Calls `send`, which writes cells of this size. Enlarges the tab if they begin inside it and reach beyond its edge. */
async function writeAndEnlarge<T>(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	size: { readonly rowCount: number; readonly columnCount: number },
	send: () => Promise<T>,
): Promise<T> {
	const { row, column, lastRow = Infinity, lastColumn = Infinity } = ranges.parseBounds(target);
	const [minRows, minColumns] = [row + size.rowCount, column + size.columnCount];
	const fitsIntoRange = minRows <= lastRow + 1 && minColumns <= lastColumn + 1;
	// A named range has a fixed size.
	const mayGrow = fitsIntoRange && (target.tab === undefined || target.name === undefined);
	/** Returns whether the tab has grown. */
	const growTab = async () => {
		const tab = await spreadsheet.fetchTabInfo(target.tab ?? target.name);
		const isInside = row < tab.rowCount && column < tab.columnCount;
		const requests = isInside ? buildEnlargeTabRequests(tab, { minRows, minColumns }) : [];
		await spreadsheet.change(requests);
		return requests.length > 0;
	};
	return await spreadsheet.sendForRange(target, async () => {
		// Most tabs have at least the size of a new tab. The size is only fetched if more is needed, or if Google refuses the cells.
		if (mayGrow && (minRows > newTabSize.rowCount || minColumns > newTabSize.columnCount))
			await growTab();
		return await send().catch(async (error: unknown) => {
			const isOverEdge =
				isNodeError(error) &&
				error.code === 400 &&
				error.message.includes('exceeds grid limits');
			if (!isOverEdge || !mayGrow || !(await growTab())) throw error;
			return await send();
		});
	});
}
