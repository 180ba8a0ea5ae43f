import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

/**
 * A table that was made with Format > Convert to table. Rows belong to it when they are inserted inside it, or when values.append inserts
 * them; what is written below it does not. AppendCells with its ID was seen to lose the values. Rows and columns count from 0.
 */
export interface NativeTable {
	readonly tableId: string;
	readonly sheetId: number;
	readonly startRow: number;
	/** The row after its last one, the footer included. */
	readonly endRow: number;
	readonly startColumn: number;
	readonly endColumn: number;
	/** The row after its last one, without the footer. */
	readonly bodyEnd: number;
}

/** Of a sheet, in a field mask. */
export const tableFields = 'tables(tableId,range,rowsProperties(footerColorStyle))';

/** The table that a cell is in. */
export function nativeTableAt(
	sheet: sheets_v4.Schema$Sheet | undefined,
	{ row, column }: { readonly row: number; readonly column: number },
): NativeTable | undefined {
	return (sheet?.tables ?? [])
		.map(tableIn)
		.find(
			(table) =>
				row >= table.startRow &&
				row < table.endRow &&
				column >= table.startColumn &&
				column < table.endColumn,
		);
}

function tableIn({ tableId, range, rowsProperties }: sheets_v4.Schema$Table): NativeTable {
	const endRow = range?.endRowIndex ?? 0;
	return {
		tableId: tableId ?? '',
		sheetId: range?.sheetId ?? 0,
		startRow: range?.startRowIndex ?? 0,
		endRow,
		startColumn: range?.startColumnIndex ?? 0,
		endColumn: range?.endColumnIndex ?? 0,
		bodyEnd: endRow - (rowsProperties?.footerColorStyle ? 1 : 0),
	};
}

export function grown(table: NativeTable, rows: number, columns: number): NativeTable {
	return {
		...table,
		endRow: table.endRow + rows,
		endColumn: table.endColumn + columns,
		bodyEnd: table.bodyEnd + rows,
	};
}

/** Gives a table its new size. */
export function resize(table: NativeTable): sheets_v4.Schema$Request {
	const { tableId, sheetId, startRow, endRow, startColumn, endColumn } = table;
	const range = {
		sheetId,
		startRowIndex: startRow,
		endRowIndex: endRow,
		startColumnIndex: startColumn,
		endColumnIndex: endColumn,
	};
	return { updateTable: { table: { tableId, range }, fields: 'range' } };
}
