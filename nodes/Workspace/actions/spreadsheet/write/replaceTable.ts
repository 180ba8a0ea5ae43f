import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { listNames } from '../../../../core/text';
import { type Cell, collectNames, toHeaderCell } from '../cells';
import type { NumberFormat } from '../dates';
import type { WriteParams } from '../fields';
import { parseBounds, type TabRange } from '../range';
import { fitCellRow, type FittedRow, type ItemsWithRows, readCell } from '../rows';
import { buildResizeTableRequest, type Spreadsheet } from '../spreadsheet';
import { fetchBody, fitColumns, type FittedTable, openTable, type TableBody } from '../table';
import { planBlock } from '../tablePlan';

/** Plans to write a header and the rows of all items over a table, and to clear its other cells. */
export async function planReplacement(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: WriteParams,
	all: ItemsWithRows<WriteParams>,
) {
	// The header is not above the range.
	const headerRow = Math.max(params.headerRow - 1, parseBounds(target).row);
	const foundTable = await openTable(spreadsheet, target, headerRow);
	const body = await fetchBody(spreadsheet, foundTable, 'FORMULA');
	const namedRows = all.map(({ prepared }) => prepared.namedRows);
	const names = collectNames(namedRows.flat());
	// Each name becomes a column of the new table.
	const oldTable = fitColumns(foundTable, names, false, () => true);
	const table = layOutTable(oldTable, names);
	const rowsByItem = namedRows.map((rows) =>
		rows.map((row) =>
			placeCells(table, (name) => readCell(row, name, foundTable, params) ?? ''),
		),
	);
	// The header counts as a row of the first item.
	rowsByItem[0]?.unshift(buildHeader(table, params));
	const endRow = table.row + rowsByItem.flat().length;
	const plan = {
		spreadsheet,
		table,
		endRow,
		options: params,
		firstRequests: buildClearRequests(oldTable, table, body, endRow),
		firstHint: describeLosses(table, body, endRow),
	};
	return planBlock(plan, all, rowsByItem, 'updated', table.row);
}

/**
 * The new table has these columns, one beside another. `columnsByName` still says where they were.
 */
interface NewTable extends FittedTable {
	readonly sortedNames: readonly string[];
}

/** Puts the existing columns first, in the order of the old table. */
function layOutTable(oldTable: FittedTable, names: readonly string[]): NewTable {
	// Columns left of the range stay.
	const firstColumn = Math.max(oldTable.rangeStart, oldTable.firstColumn);
	const lastColumn = firstColumn + names.length - 1;
	// New columns are equal for the sort, so they keep their order.
	const getRank = (name: string) => oldTable.columnsByName.get(name) ?? Number.MAX_SAFE_INTEGER;
	const sortedNames = names.toSorted((name, other) => getRank(name) - getRank(other));
	// Columns may move, and the formats of their dates with them.
	const dateFormats = new Map<number, NumberFormat>();
	for (const [index, name] of sortedNames.entries()) {
		const format = oldTable.dateFormats.get(getRank(name));
		if (format) dateFormats.set(firstColumn + index, format);
	}
	return { ...oldTable, firstColumn, lastColumn, dateFormats, sortedNames, newNames: [] };
}

function placeCells(
	{ firstColumn, sortedNames }: NewTable,
	getCell: (name: string, column: number) => Cell,
): FittedRow {
	const cells = sortedNames.map((name, index) => getCell(name, firstColumn + index));
	return fitCellRow(cells, firstColumn);
}

const buildHeader = (table: NewTable, params: WriteParams) =>
	placeCells(table, (name, column) => {
		const oldColumn = table.names.length > 0 ? table.columnsByName.get(name) : undefined;
		if (oldColumn === undefined) return toHeaderCell(name, params);
		// In its old place, a header stays as it is. A column that was named by its letter has
		// none.
		return oldColumn === column ? null : toHeaderCell(table.headers[oldColumn] ?? '', params);
	});

/**
 * Clears the old rows below the new ones and the old columns beside them, and ends a native table
 * with the new rows.
 */
function buildClearRequests(
	oldTable: FittedTable,
	table: NewTable,
	body: TableBody,
	endRowIndex: number,
): sheets_v4.Schema$Request[] {
	const { sheetId, nativeTable } = table;
	const oldEndRow = nativeTable?.range.endRowIndex ?? body.lastRow + 1;
	const newEndColumn = table.lastColumn + 1;
	const endColumnIndex = Math.max(oldTable.lastColumn + 1, newEndColumn);
	const below = {
		startRowIndex: endRowIndex,
		endRowIndex: oldEndRow,
		startColumnIndex: table.firstColumn,
	};
	const beside = { startRowIndex: table.row, endRowIndex, startColumnIndex: newEndColumn };
	const areas = [];
	if (oldEndRow > endRowIndex) areas.push(below);
	if (endColumnIndex > newEndColumn) areas.push(beside);
	const requests: sheets_v4.Schema$Request[] = areas.map((area) => {
		const range = { sheetId, ...area, endColumnIndex };
		return { updateCells: { range, fields: 'userEnteredValue' } };
	});
	if (nativeTable) requests.push(buildResizeTableRequest(nativeTable, endRowIndex));
	return requests;
}

/** Says what the new table lacks, because nothing in Google Sheets shows it. */
function describeLosses(table: NewTable, body: TableBody, endRow: number): string | undefined {
	const texts: string[] = [];
	if (body.lastRow >= endRow)
		texts.push(
			`The table had ${body.lastRow - table.row} rows and now has ${endRow - table.row - 1}.`,
		);
	const findColumn = (name: string) => table.columnsByName.get(name);
	const keptColumns = new Set(table.sortedNames.map(findColumn));
	const lostNames = table.names.filter((name) => !keptColumns.has(findColumn(name)));
	if (lostNames.length > 0) texts.push(`Columns were removed: ${listNames(lostNames)}.`);
	const formulaNames = table.names.filter((name) => hasFormula(name, table, body));
	if (formulaNames.length > 0)
		texts.push(`Formulas are gone or became values: ${listNames(formulaNames)}.`);
	if (texts.length === 0) return undefined;
	return [...texts, 'To get them back, open File > Version history in Google Sheets.'].join(' ');
}

function hasFormula(name: string, table: NewTable, body: TableBody): boolean {
	const column = table.columnsByName.get(name) ?? -1;
	for (let row = table.row + 1; row <= body.lastRow; row++)
		if (String(body.getCell(row, column)).startsWith('=')) return true;
	return false;
}
