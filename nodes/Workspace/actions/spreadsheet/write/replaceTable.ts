import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal } from '../../../../core/errors';
import { joinSentences, listNames } from '../../../../core/text';
import {
	type Cell,
	type CellOptions,
	isFilled,
	listRowNames,
	type NamedRow,
	toHeaderCell,
} from '../cells';
import { DateCell } from '../dates';
import type { WriteParams } from '../fields';
import { parseBounds, type TabRange, toColumnLetters } from '../range';
import { fitCellRow, type ItemsWithRows, readCell } from '../rows';
import { buildResizeTableRequest, type Spreadsheet } from '../spreadsheet';
import {
	createSpaceError,
	fetchBody,
	fitColumns,
	type FittedTable,
	getEndRow,
	openTable,
	type TableBody,
} from '../table';
import { planBlock } from '../tablePlan';

/** Plans to write a header and the rows of all items over a table, and to clear its other cells. */
export async function planReplacement(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: WriteParams,
	all: ItemsWithRows<WriteParams>,
) {
	// The new table has its header in the range, even if an old one is above it.
	const headerRow = Math.max(params.headerRow - 1, parseBounds(target).row);
	const foundTable = await openTable(spreadsheet, target, headerRow);
	const names = new Set(all.flatMap(({ prepared }) => listRowNames(prepared.namedRows).flat()));
	// A mapped column stays, even if no item has a value for it.
	for (const name of Object.keys(params.columns ?? {}))
		if (foundTable.names.includes(name)) names.add(name);
	const oldTable = fitColumns(foundTable, [[...names]], false);
	const isWanted = (name: string) =>
		params.extraColumns !== 'ignore' || oldTable.columnsByName.has(name);
	const table = layOutTable(oldTable, [...names].filter(isWanted));
	const fitted = all.map(({ item, prepared: { namedRows } }) => {
		return { item, rows: namedRows.map((row) => fitNewRow(row, table, oldTable, params)) };
	});
	// The header counts as a row of the first item.
	fitted[0]?.rows.unshift(fitCellRow(buildHeader(table, params), table.firstColumn));
	const endRow = table.row + fitted.flatMap(({ rows }) => rows).length;
	// What is below a native table and beside the old columns may be in the way.
	const lastColumn = Math.max(foundTable.lastColumn, table.lastColumn);
	const wholeArea = { ...foundTable, nativeTable: undefined, lastColumn };
	const body = await fetchBody(spreadsheet, wholeArea, 'FORMULA');
	const lastRow = findLastRow(body, oldTable);
	const oldEndRow = table.nativeTable?.range.endRowIndex ?? lastRow + 1;
	const replacement = { oldTable, lastRow, oldEndRow, table, endRow, body };
	refuseOverlap(replacement);
	const plan = {
		spreadsheet,
		table,
		endRow,
		options: params,
		firstRequests: buildClearRequests(replacement),
		firstHint: describeLosses(replacement),
	};
	return planBlock(plan, fitted, 'updated', table.row);
}

/** Puts the cells of a row into the columns of the new table. */
function fitNewRow(row: NamedRow, table: NewTable, oldTable: FittedTable, params: WriteParams) {
	const cells = table.sortedNames.map((name, index) => {
		const cell = readCell(row, name, oldTable, params) ?? '';
		if (!(cell instanceof DateCell) || oldTable.columnsByName.has(name)) return cell;
		// A new column keeps the date format of the cells in which it stands.
		return cell.likeColumn(oldTable.dateFormats.get(table.firstColumn + index));
	});
	return fitCellRow(cells, table.firstColumn);
}

/** A table as it is, and the one that takes its place. */
interface Replacement {
	readonly oldTable: FittedTable;
	/** The last row that has a value in the columns of the old table. */
	readonly lastRow: number;
	/** The row below the old table. */
	readonly oldEndRow: number;
	readonly table: NewTable;
	/** The row below the new table. */
	readonly endRow: number;
	/** What stands in the columns of both, also below them. */
	readonly body: TableBody;
}

/** Finds the last row that has a value in the columns of the old table. */
function findLastRow(body: TableBody, oldTable: FittedTable): number {
	let row = Math.min(body.lastRow, getEndRow(oldTable) - 1);
	while (row > oldTable.row && !hasValue(body, row, oldTable.firstColumn, oldTable.lastColumn))
		row--;
	return row;
}

function hasValue(body: TableBody, row: number, firstColumn: number, lastColumn: number): boolean {
	for (let column = firstColumn; column <= lastColumn; column++)
		if (isFilled(body.getCell(row, column))) return true;
	return false;
}

/** @throws NodeError 400 if the new table would be written over what is outside of the old table */
function refuseOverlap({ oldTable, oldEndRow, table, endRow, body }: Replacement): void {
	for (let row = table.row + 1; row < endRow; row++) {
		const firstColumn = row < oldEndRow ? oldTable.lastColumn + 1 : table.firstColumn;
		if (!hasValue(body, row, firstColumn, table.lastColumn)) continue;
		throw createRefusal(
			`The rows would be written over cells of row ${row + 1} that are outside of the table`,
			'Nothing was written. Move what is there, or insert rows above it or columns beside the table.',
		);
	}
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
	const firstColumn = Math.max(oldTable.area.column, oldTable.firstColumn);
	const lastColumn = firstColumn + names.length - 1;
	const space = oldTable.endColumn - firstColumn;
	// New columns are equal for the sort, so they keep their order.
	const getRank = (name: string) => oldTable.columnsByName.get(name) ?? Number.MAX_SAFE_INTEGER;
	const sortedNames = names.toSorted((name, other) => getRank(name) - getRank(other));
	if (names.length > space) throw createSpaceError(oldTable, sortedNames.slice(space));
	return { ...oldTable, firstColumn, lastColumn, sortedNames, newNames: [] };
}

function buildHeader({ sortedNames, firstColumn, ...table }: NewTable, options: CellOptions) {
	return sortedNames.map((name, index): Cell => {
		const oldColumn = table.names.length > 0 ? table.columnsByName.get(name) : undefined;
		// In its old place, a header stays as it is. A column that was named by its letter has
		// none.
		if (oldColumn === firstColumn + index) return null;
		const header = oldColumn === undefined ? name : (table.headers[oldColumn] ?? '');
		return toHeaderCell(header, options);
	});
}

/**
 * Clears the old rows below the new ones and the old columns beside them, and ends a native table
 * with the new rows.
 */
function buildClearRequests({ oldTable, oldEndRow, table, endRow }: Replacement) {
	const { sheetId, nativeTable } = table;
	const endColumnIndex = Math.max(oldTable.lastColumn, table.lastColumn) + 1;
	const startColumnIndex = table.lastColumn + 1;
	const areas = [
		{ startRowIndex: endRow, endRowIndex: oldEndRow, startColumnIndex: table.firstColumn },
		{ startRowIndex: table.row, endRowIndex: endRow, startColumnIndex },
	].filter((area) => {
		return area.startRowIndex < area.endRowIndex && area.startColumnIndex < endColumnIndex;
	});
	const requests: sheets_v4.Schema$Request[] = areas.map((area) => ({
		updateCells: { range: { sheetId, ...area, endColumnIndex }, fields: 'userEnteredValue' },
	}));
	if (nativeTable) requests.push(buildResizeTableRequest(nativeTable, endRow));
	return requests;
}

/** Says what the new table lacks, because nothing in Google Sheets shows it. */
function describeLosses({ oldTable, lastRow, table, endRow, body }: Replacement): string {
	const keptColumns = new Set(table.sortedNames.map((name) => table.columnsByName.get(name)));
	const rowCount = lastRow - table.row;
	const lostNames: string[] = [];
	const formulaNames: string[] = [];
	for (let column = table.firstColumn; column <= oldTable.lastColumn; column++) {
		const header = table.headers[column];
		const name = header || toColumnLetters(column);
		const cells = Array.from({ length: rowCount }, (_, index) =>
			body.getCell(table.row + 1 + index, column),
		);
		if (!keptColumns.has(column) && (header || cells.some(isFilled))) lostNames.push(name);
		if (cells.some((cell) => String(cell).startsWith('='))) formulaNames.push(name);
	}
	const losses = joinSentences(
		lastRow >= endRow &&
			`The table had ${rowCount} rows and now has ${endRow - table.row - 1}.`,
		lostNames.length > 0 && `Columns were removed: ${listNames(lostNames)}.`,
		formulaNames.length > 0 &&
			`Formulas are gone or became values: ${listNames(formulaNames)}.`,
	);
	return losses && `${losses} To get them back, open File > Version history in Google Sheets.`;
}
