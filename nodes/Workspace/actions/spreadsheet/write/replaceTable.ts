import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type Cell, collectNames, toHeaderCell } from '../cells';
import type { WriteParams } from '../fields';
import { listNames } from '../names';
import { parseBounds, type TabRange } from '../range';
import { planSteps, planWrites, sendSteps, summarizeSteps } from '../requests';
import { type ItemsWithRows, typeRows } from '../rows';
import { buildResizeTableRequest, type Spreadsheet } from '../spreadsheet';
import { fetchBody, fitColumns, type FittedTable, openTable, type TableBody } from '../table';

/** Plans to write a header and the rows of all items over a table, and to clear its other cells. */
export async function planReplacement(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: WriteParams,
	all: ItemsWithRows<WriteParams>,
) {
	const getRow = (range: TabRange) => Math.max(params.headerRow - 1, parseBounds(range).row);
	const oldTable = await openTable(spreadsheet, target, { getRow });
	const rowsByItem = typeRows(all, oldTable, params);
	const names = collectNames(rowsByItem.flat());
	const fittedTable = fitColumns(oldTable, names, false);
	// Columns may move, so only formats matter.
	const types = new Map([...oldTable.types].filter(([, type]) => type === 'date'));
	// Without a header in the range, `firstColumn` may be in a table beside it.
	const firstColumn = oldTable.names.length === 0 ? oldTable.rangeStart : fittedTable.firstColumn;
	const table = { ...fittedTable, firstColumn, types, newNames: [] };
	const body = await fetchBody(spreadsheet, oldTable, 'FORMULA');
	const sortedNames = sortByColumn(names, table);
	const toRow = (getCell: (name: string, column: number) => Cell) => {
		const columns = sortedNames.map((name, index) => [firstColumn + index, name] as const);
		const cells = columns.map(([column, name]) => [column, getCell(name, column)] as const);
		return { cellsByColumn: new Map(cells) };
	};
	const header = toRow((name, column) => {
		const oldColumn = table.columnsByName.get(name);
		const { text = name, value } = table.headers[oldColumn ?? -1] ?? {};
		// In its old place, a header also keeps a value such as a date.
		return oldColumn === column && value !== undefined ? value : toHeaderCell(text, params);
	});
	const cellsByItem = rowsByItem.map((rows) =>
		rows.map(({ cellsByName }) => toRow((name) => cellsByName.get(name) ?? '')),
	);
	// The header counts as a row of the first item.
	cellsByItem[0]?.unshift(header);
	const stepsByItem = planSteps(cellsByItem, 'updated', table.row);
	const rowCount = cellsByItem.flat().length;
	const endColumn = firstColumn + sortedNames.length;
	const firstRequests = buildClearRequests(table, body, table.row + rowCount, endColumn);
	const plan = { spreadsheet, table, endRow: body.lastRow + 1, options: params, firstRequests };
	const columns = [firstColumn, endColumn - 1] as const;
	return planWrites(plan, all, stepsByItem, async (stepLists) => {
		await sendSteps(plan, stepLists.flat(), true);
		const hint = describeLosses(table, body, sortedNames, rowCount - 1);
		if (hint) all[0]?.item.addHint(hint);
		return stepLists.map((steps) => summarizeSteps(plan, steps, columns));
	});
}

/** Puts the existing columns first, in the order of the table. */
function sortByColumn(names: readonly string[], { columnsByName }: FittedTable): string[] {
	// New columns are equal for the sort, so they keep their order.
	const getRank = (name: string) => columnsByName.get(name) ?? Number.MAX_SAFE_INTEGER;
	return names.toSorted((name, otherName) => getRank(name) - getRank(otherName));
}

/** Clears the old rows below the new ones and the old columns beside them, and makes a native table as large as the new one. */
function buildClearRequests(
	{ sheetId, row, firstColumn, lastColumn, nativeTable }: FittedTable,
	body: TableBody,
	endRowIndex: number,
	endColumnIndex: number,
) {
	const oldEndRow = nativeTable?.range.endRowIndex ?? body.lastRow + 1;
	const oldEndColumn = Math.max(lastColumn + 1, endColumnIndex);
	const below = {
		startRowIndex: endRowIndex,
		endRowIndex: oldEndRow,
		startColumnIndex: firstColumn,
	};
	const beside = { startRowIndex: row, endRowIndex, startColumnIndex: endColumnIndex };
	const requests: sheets_v4.Schema$Request[] = [];
	for (const area of [below, beside]) {
		const range = { sheetId, ...area, endColumnIndex: oldEndColumn };
		const isEmpty =
			range.startRowIndex >= range.endRowIndex ||
			range.startColumnIndex >= range.endColumnIndex;
		if (!isEmpty) requests.push({ updateCells: { range, fields: 'userEnteredValue' } });
	}
	if (!nativeTable) return requests;
	const { tableId, range } = nativeTable;
	const newRange = { ...range, endRowIndex, endColumnIndex: oldEndColumn };
	return [...requests, buildResizeTableRequest(tableId, newRange)];
}

/** Says what the new table lacks, because nothing in Google Sheets shows it. */
function describeLosses(
	table: FittedTable,
	body: TableBody,
	names: readonly string[],
	newRowCount: number,
): string | undefined {
	const texts: string[] = [];
	const oldRowCount = body.lastRow - table.row;
	if (oldRowCount > newRowCount)
		texts.push(`The table had ${oldRowCount} rows and now has ${newRowCount}.`);
	const keptColumns = new Set(names.map((name) => table.columnsByName.get(name)));
	const lostNames = table.names.filter((name) => !keptColumns.has(table.columnsByName.get(name)));
	if (lostNames.length > 0) texts.push(`Columns were removed: ${listNames(lostNames)}.`);
	const formulaNames = table.names.filter((name) =>
		hasFormula(table, body, table.columnsByName.get(name) ?? -1),
	);
	if (formulaNames.length > 0)
		texts.push(`Formulas are gone or became values: ${listNames(formulaNames)}.`);
	if (texts.length === 0) return undefined;
	return [...texts, 'To get them back, open File > Version history in Google Sheets.'].join(' ');
}

function hasFormula(table: FittedTable, body: TableBody, column: number): boolean {
	for (let row = table.row + 1; row <= body.lastRow; row++)
		if (String(body.getCell(row, column)).startsWith('=')) return true;
	return false;
}
