import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type Cell, collectNames, type NamedRow, toHeaderCell } from '../cells';
import type { WriteParams } from '../fields';
import { listNames } from '../names';
import { parseBounds, type TabRange } from '../range';
import { planSteps, planWrites, sendSteps, summarizeSteps } from '../requests';
import { type ItemsWithRows, typeRows } from '../rows';
import { buildResizeTableRequest, type Spreadsheet } from '../spreadsheet';
import {
	fetchBody,
	fitColumns,
	type FittedTable,
	openTable,
	type Table,
	type TableBody,
} from '../table';

/** Plans to write a header and the rows of all items over a table, and to clear its other cells. */
export async function planReplacement(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: WriteParams,
	all: ItemsWithRows<WriteParams>,
) {
	const oldTable = await openTable(spreadsheet, target, (range) =>
		Math.max(params.headerRow - 1, parseBounds(range).row),
	);
	const body = await fetchBody(spreadsheet, oldTable, 'FORMULA');
	const typedRows = typeRows(all, oldTable, params);
	const table = layOutTable(oldTable, typedRows.flat());
	const rowsByItem = typedRows.map((rows) =>
		rows.map(({ cellsByName }) => buildRow(table, (name) => cellsByName.get(name) ?? '')),
	);
	// The header counts as a row of the first item.
	rowsByItem[0]?.unshift(buildHeader(table, params));
	const stepsByItem = planSteps(rowsByItem, 'updated', table.row);
	const endRow = table.row + rowsByItem.flat().length;
	const firstRequests = buildClearRequests(table, body, endRow);
	const plan = { spreadsheet, table, endRow, options: params, firstRequests };
	return planWrites(plan, all, stepsByItem, async (stepLists) => {
		await sendSteps(plan, stepLists.flat(), true);
		const hint = describeLosses(table, body, endRow);
		if (hint) all[0]?.item.addHint(hint);
		const columns = [table.firstColumn, table.endColumn - 1] as const;
		return stepLists.map((steps) => summarizeSteps(plan, steps, columns));
	});
}

/** The new table: `sortedNames` are its columns, from `firstColumn` to before `endColumn`. The rest is as in the old table. */
interface NewTable extends FittedTable {
	readonly sortedNames: readonly string[];
}

/** Puts the existing columns first, in the order of the old table. */
function layOutTable(oldTable: Table, rows: readonly NamedRow[]): NewTable {
	const names = collectNames(rows);
	const fittedTable = fitColumns(oldTable, names, false);
	// Without a header in the range, `firstColumn` may be in a table beside it.
	const firstColumn = oldTable.names.length === 0 ? oldTable.rangeStart : fittedTable.firstColumn;
	// New columns are equal for the sort, so they keep their order.
	const getRank = (name: string) =>
		fittedTable.columnsByName.get(name) ?? Number.MAX_SAFE_INTEGER;
	const sortedNames = names.toSorted((name, other) => getRank(name) - getRank(other));
	// Columns may move, so only formats matter.
	const types = new Map([...oldTable.types].filter(([, type]) => type === 'date'));
	const endColumn = firstColumn + names.length;
	return { ...fittedTable, firstColumn, endColumn, types, sortedNames, newNames: [] };
}

function buildRow(
	{ firstColumn, sortedNames }: NewTable,
	getCell: (name: string, column: number) => Cell,
) {
	const cellsByColumn = new Map<number, Cell>();
	for (const [index, name] of sortedNames.entries())
		cellsByColumn.set(firstColumn + index, getCell(name, firstColumn + index));
	return { cellsByColumn };
}

const buildHeader = (table: NewTable, params: WriteParams) =>
	buildRow(table, (name, column) => {
		const oldColumn = table.columnsByName.get(name);
		const isNew = oldColumn === undefined || table.names.length === 0;
		if (isNew) return toHeaderCell(name, params);
		// A column that was named by its letter has no header.
		const { text = '', value } = table.headers[oldColumn] ?? {};
		// In its old place, a header also keeps a value such as a date.
		return oldColumn === column && value !== undefined ? value : toHeaderCell(text, params);
	});

/** Clears the old rows below the new ones and the old columns beside them, and makes a native table as large as the new one. */
function buildClearRequests(table: NewTable, body: TableBody, endRowIndex: number) {
	const { sheetId, row, firstColumn, endColumn, nativeTable } = table;
	const oldEndRow = nativeTable?.range.endRowIndex ?? body.lastRow + 1;
	const endColumnIndex = Math.max(table.lastColumn + 1, endColumn);
	const below = { startRowIndex: endRowIndex, endRowIndex: oldEndRow };
	const beside = { startRowIndex: row, endRowIndex };
	const requests: sheets_v4.Schema$Request[] = [];
	const clear = (rows: typeof below, startColumnIndex: number) => {
		const range = { sheetId, ...rows, startColumnIndex, endColumnIndex };
		requests.push({ updateCells: { range, fields: 'userEnteredValue' } });
	};
	if (oldEndRow > endRowIndex) clear(below, firstColumn);
	if (endColumnIndex > endColumn) clear(beside, endColumn);
	if (nativeTable)
		requests.push(
			buildResizeTableRequest(nativeTable.tableId, {
				...nativeTable.range,
				...{ endRowIndex, endColumnIndex },
			}),
		);
	return requests;
}

/** Says what the new table lacks, because nothing in Google Sheets shows it. */
function describeLosses(table: NewTable, body: TableBody, endRow: number): string | undefined {
	const texts: string[] = [];
	const oldRowCount = body.lastRow - table.row;
	const newRowCount = endRow - table.row - 1;
	if (oldRowCount > newRowCount)
		texts.push(`The table had ${oldRowCount} rows and now has ${newRowCount}.`);
	const keptColumns = new Set(table.sortedNames.map((name) => table.columnsByName.get(name)));
	const lostNames = table.names.filter((name) => !keptColumns.has(table.columnsByName.get(name)));
	if (lostNames.length > 0) texts.push(`Columns were removed: ${listNames(lostNames)}.`);
	const formulaNames = table.names.filter((name) => hasFormula(name, table, body));
	if (formulaNames.length > 0)
		texts.push(`Formulas are gone or became values: ${listNames(formulaNames)}.`);
	if (texts.length === 0) return undefined;
	return [...texts, 'To get them back, open File > Version history in Google Sheets.'].join(' ');
}

function hasFormula(name: string, { row: headerRow, columnsByName }: Table, body: TableBody) {
	const column = columnsByName.get(name) ?? -1;
	for (let row = headerRow + 1; row <= body.lastRow; row++)
		if (String(body.getCell(row, column)).startsWith('=')) return true;
	return false;
}
