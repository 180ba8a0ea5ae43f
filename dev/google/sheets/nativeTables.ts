// Tables that a user makes with Format > Convert to table. An append searches for blocks of cells instead: see table.ts.
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { overlap, type Rectangle } from './a1.ts';
import type { NativeTable } from './grid.ts';
import { createInvalidError, type Sheet } from './workbook.ts';

/** Changes a table's range. Every other change is refused. @throws ApiError 400 */
export function updateTable(
	sheets: readonly Sheet[],
	{ table = {}, fields }: sheets_v4.Schema$UpdateTableRequest,
): void {
	const { table: found, sheet } = getTable(sheets, table.tableId);
	if (fields !== 'range')
		throw createInvalidError('Invalid requests[0].updateTable: only ranges are changed here');
	const area = toRectangle(table.range);
	const { grid } = sheet;
	const isOutside = area.endRow > grid.rowCount || area.endColumn > grid.columnCount;
	const isElsewhere =
		area.startRow !== found.area.startRow || area.startColumn !== found.area.startColumn;
	const isTaken = grid.tables.some((other) => other !== found && overlap(other.area, area));
	if (isOutside || isElsewhere || isTaken || (table.range?.sheetId ?? 0) !== sheet.sheetId) {
		throw createInvalidError(
			'Invalid requests[0].updateTable: the range is not one that the table may have',
		);
	}
	found.area = area;
}

/** @throws ApiError 400 */
function getTable(sheets: readonly Sheet[], tableId: string | null | undefined) {
	for (const sheet of sheets) {
		const table = sheet.grid.tables.find((nativeTable) => nativeTable.tableId === tableId);
		if (table) return { sheet, table };
	}
	throw createInvalidError(`No table with id: ${String(tableId)}`);
}

/** Finds the last table that overlaps an area. An append to the area appends to this table. */
export function findLastTable({ grid }: Sheet, area: Rectangle): NativeTable | undefined {
	return grid.tables
		.filter((table) => overlap(table.area, area))
		.sort((one, other) => one.area.startRow - other.area.startRow)
		.at(-1);
}

function toRectangle(range: sheets_v4.Schema$GridRange | undefined): Rectangle {
	const { startRowIndex, endRowIndex, startColumnIndex, endColumnIndex } = range ?? {};
	const area = {
		startRow: startRowIndex ?? 0,
		endRow: endRowIndex ?? 0,
		startColumn: startColumnIndex ?? 0,
		endColumn: endColumnIndex ?? 0,
	};
	if (area.endRow <= area.startRow || area.endColumn <= area.startColumn) {
		throw createInvalidError('Invalid requests[0]: a table needs a range with ends');
	}
	return area;
}
