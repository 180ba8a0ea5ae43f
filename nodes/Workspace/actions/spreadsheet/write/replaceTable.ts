import { isNodeError } from '../../../../core/errors';
import {
	buildUpdateCellsRequest,
	type Cell,
	collectNames,
	countColumns,
	escapeCell,
} from '../cells';
import type { WriteParams } from '../fields';
import { listNames } from '../names';
import { parseBounds, printTabArea, type TabRange } from '../range';
import {
	buildDateFormats,
	type RowStep,
	summarizeSteps,
	type TablePlan,
	toPlannedWrites,
	type WriteResult,
} from '../requests';
import { buildEnlargeTabRequests, buildResizeTableRequest, type Spreadsheet } from '../spreadsheet';
import { findLastRow, fitColumns, type FittedTable, listColumns, openTable } from '../table';
import { type ItemsWithRows, typeRows } from '../tableRows';
import { fetchTableBody, type TableBody } from './tableBody';

/** A plan whose `endRow` is below the old table. */
interface Replacement extends TablePlan {
	readonly firstColumn: number;
	readonly body: TableBody;
}

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
	const table = fitColumns(oldTable, names, false);
	if (isNodeError(table)) throw table;
	const body = await fetchTableBody(spreadsheet, oldTable, listColumns(oldTable), 'FORMULA');
	const hasEnd = parseBounds(oldTable.target).lastRow !== undefined;
	const lastRow = hasEnd ? await findLastRow(spreadsheet, oldTable) : body.lastRow;
	// Without a header in the range, `firstColumn` may be in a table beside it.
	const firstColumn = oldTable.names.length === 0 ? table.rangeStart : table.firstColumn;
	const replacement = {
		...{ spreadsheet, table, body, firstColumn },
		endRow: lastRow + 1,
		options: params,
	};
	const sortedNames = sortByColumn(names, table);
	const headers = sortedNames.map((name, index) =>
		chooseHeader(name, firstColumn + index, table),
	);
	return toPlannedWrites(rowsByItem, async (indexes): Promise<WriteResult[]> => {
		const gridsByItem = indexes.map((index) =>
			(rowsByItem[index] ?? []).map(({ cellsByName }) =>
				sortedNames.map((name) => cellsByName.get(name) ?? ''),
			),
		);
		const grid = [headers, ...gridsByItem.flat()];
		await overwriteTable(replacement, grid);
		const hint = describeLosses(replacement, sortedNames, grid.length - 1);
		if (hint) all[0]?.item.addHint(hint);
		return summarizeGrids(replacement, headers, gridsByItem);
	});
}

/** Puts the existing columns first, in the order of the table. */
function sortByColumn(names: readonly string[], { columnsByName }: FittedTable): string[] {
	// New columns are equal for the sort, so they keep their order.
	const getRank = (name: string) => columnsByName.get(name) ?? Number.MAX_SAFE_INTEGER;
	return names.toSorted((name, otherName) => getRank(name) - getRank(otherName));
}

/** Returns the header of a column: that of the table, which in its old place keeps also a value such as a date, or else its name. */
function chooseHeader(name: string, newColumn: number, table: FittedTable): Cell {
	const oldColumn = table.columnsByName.get(name);
	if (oldColumn === undefined || table.newNames.includes(name)) return name;
	const { value, text = '' } = table.headers[oldColumn] ?? {};
	return oldColumn === newColumn && value !== undefined ? value : text;
}

/** Writes cells and clears the other cells of a table: with RAW in one atomic request, with USER_ENTERED in two requests. */
async function overwriteTable(replacement: Replacement, grid: readonly Cell[][]): Promise<void> {
	const { spreadsheet, table, firstColumn: column, endRow, options } = replacement;
	const { sheetId, row, lastColumn, nativeTable } = table;
	const width = Math.max(countColumns(grid), lastColumn - column + 1);
	const end = { endRowIndex: row + grid.length, endColumnIndex: column + width };
	const minSize = { minRows: end.endRowIndex, minColumns: end.endColumnIndex };
	const requests = buildEnlargeTabRequests(table, minSize);
	if (nativeTable)
		requests.push(
			buildResizeTableRequest({ ...nativeTable, range: { ...nativeTable.range, ...end } }),
		);
	const oldEndRow = Math.max(nativeTable?.range.endRowIndex ?? endRow, end.endRowIndex);
	if (options.valueInputOption !== 'USER_ENTERED') {
		// The request clears the cells of its range for which there is no new cell.
		const start = { sheetId, startRowIndex: row, startColumnIndex: column };
		const range = { ...start, ...end, endRowIndex: oldEndRow };
		const cells = buildUpdateCellsRequest({ range }, grid);
		const formats = buildDateFormats(table, toSteps(grid, row, column));
		await spreadsheet.change([...requests, cells, ...formats]);
		return;
	}
	const [headers = [], ...rows] = grid;
	const start = { sheetId, rowIndex: row, columnIndex: column };
	const headerRow = Array.from({ length: width }, (_, index) => headers[index] ?? '');
	await spreadsheet.change([...requests, buildUpdateCellsRequest({ start }, [headerRow])]);
	// Sends an empty text for each cell to clear, because `update` changes only the cells that it contains.
	const values = Array.from({ length: oldEndRow - row - 1 }, (_, rowIndex) =>
		headerRow.map((_, index) => escapeCell(rows[rowIndex]?.[index] ?? '', options)),
	);
	if (values.length === 0) return;
	const area = printTabArea(table.title, { row: row + 1, column }, values.length, width);
	await spreadsheet.update(area, values, options.valueInputOption);
}

/** Says what the new table lacks, because nothing in Google Sheets shows it. */
function describeLosses(
	{ table, body, endRow }: Replacement,
	names: readonly string[],
	newRowCount: number,
): string | undefined {
	const texts: string[] = [];
	const oldRowCount = endRow - table.row - 1;
	if (oldRowCount > newRowCount)
		texts.push(`The table had ${oldRowCount} rows and now has ${newRowCount}.`);
	const keptColumns = new Set(names.map((name) => table.columnsByName.get(name)));
	const oldNames = table.names.filter((name) => !table.newNames.includes(name));
	const lostNames = oldNames.filter((name) => !keptColumns.has(table.columnsByName.get(name)));
	if (lostNames.length > 0) texts.push(`Columns were removed: ${listNames(lostNames)}.`);
	const formulaNames = oldNames.filter((name) => {
		const column = table.columnsByName.get(name);
		return column !== undefined && hasFormula(body, table.row + 1, column);
	});
	if (formulaNames.length > 0)
		texts.push(`Formulas are gone or became values: ${listNames(formulaNames)}.`);
	if (texts.length === 0) return undefined;
	return [...texts, 'To get them back, open File > Version history in Google Sheets.'].join(' ');
}

function hasFormula(body: TableBody, firstRow: number, column: number): boolean {
	for (let row = firstRow; row <= body.lastRow; row++)
		if (String(body.getCell(row, column)).startsWith('=')) return true;
	return false;
}

/** Counts what was written for each item. The header counts as a row of the first one. */
function summarizeGrids(
	replacement: Replacement,
	headers: readonly Cell[],
	gridsByItem: ReadonlyArray<readonly Cell[][]>,
): WriteResult[] {
	const { table, firstColumn: column } = replacement;
	let { row } = table;
	return gridsByItem.map((grid, index) => {
		const rows = index === 0 ? [headers, ...grid] : grid;
		const steps = toSteps(rows, row, column);
		const range = printTabArea(table.title, { row, column }, rows.length, headers.length);
		row += rows.length;
		return summarizeSteps(replacement, steps, range);
	});
}

function toSteps(rows: ReadonlyArray<readonly Cell[]>, firstRow: number, firstColumn: number) {
	return rows.map((cells, index): RowStep => {
		const row = firstRow + index;
		const entries = cells.map((cell, position) => [firstColumn + position, cell] as const);
		return {
			action: 'updated',
			rows: [row],
			changes: [{ row, cellsByColumn: new Map(entries) }],
		};
	});
}
