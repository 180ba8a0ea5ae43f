// Tables that a user makes with Format > Convert to table. An append searches for blocks of cells instead: see table.ts.
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Rectangle } from './a1.ts';
import type { NativeTable } from './grid.ts';
import { createInvalidError, type Sheet } from './workbook.ts';

/** @throws ApiError 400 for a range that is open or that another table has a part of */
export function addTable(sheet: Sheet, table: sheets_v4.Schema$Table): NativeTable {
	const { tables } = sheet.grid;
	const area = toRectangle(table.range);
	const tableId = table.tableId ?? `${sheet.sheetId}${tables.length + 1}`;
	if (tables.some((other) => overlap(other.area, area) || other.tableId === tableId)) {
		throw createInvalidError(
			'Invalid requests[0].addTable: the stand-in has a table there, or one with this ID',
		);
	}
	const columns = table.columnProperties ?? [];
	for (const { columnType, dataValidationRule } of columns)
		checkColumn(columnType, dataValidationRule);
	const hasFooter = Boolean(table.rowsProperties?.footerColorStyle);
	const added: NativeTable = {
		tableId,
		name: table.name ?? `Table${tableId}`,
		area,
		hasFooter,
		columns,
	};
	tables.push(added);
	return added;
}

/** As Google's guide "Tables" says: a dropdown has a list to choose from, and nothing else has a rule. */
function checkColumn(type: unknown, rule: unknown): void {
	if ((type === 'DROPDOWN') !== Boolean(rule)) {
		throw createInvalidError(
			'Invalid requests[0].addTable: only a DROPDOWN column has a data validation rule, and must',
		);
	}
}

/** Changes a table's range. Every other change is refused. @throws ApiError 400 */
export function updateTable(
	sheets: readonly Sheet[],
	{ table = {}, fields }: sheets_v4.Schema$UpdateTableRequest,
): void {
	const { table: found, sheet } = getTable(sheets, table.tableId);
	if (fields !== 'range')
		throw createInvalidError(
			'Invalid requests[0].updateTable: the stand-in changes ranges only',
		);
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
export function getTable(sheets: readonly Sheet[], tableId: string | null | undefined) {
	for (const sheet of sheets) {
		const table = sheet.grid.tables.find((nativeTable) => nativeTable.tableId === tableId);
		if (table) return { sheet, table };
	}
	throw createInvalidError(`No table with id: ${String(tableId)}`);
}

/**
 * Appends to a table or below the last row of a tab. As seen in a trial of four ways to append (with the discovery document of
 * 2026-08-31): with `tableId` the table grows and the values are lost; with `sheetId` the values are there, below the table and not in
 * it. In taylorwilsdon/google_workspace_mcp#643 the values were there, too; the stand-in does the worse of both.
 */
export function appendCells(
	{ grid }: Sheet,
	table: NativeTable | undefined,
	count: number,
	fill: (startRow: number) => void,
): void {
	if (table) {
		const { endRow } = table.area;
		grid.insertRows(endRow - (table.hasFooter ? 1 : 0), count);
		if (!table.hasFooter) table.area = { ...table.area, endRow: endRow + count };
		return;
	}
	const startRow = grid.usedRows;
	grid.grow({ endRow: startRow + count, endColumn: grid.columnCount });
	fill(startRow);
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

const overlap = (area: Rectangle, otherArea: Rectangle): boolean =>
	area.startRow < otherArea.endRow &&
	area.endRow > otherArea.startRow &&
	area.startColumn < otherArea.endColumn &&
	area.endColumn > otherArea.startColumn;
