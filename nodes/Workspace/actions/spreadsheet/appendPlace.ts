import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { NodeError, isNodeError, createRefusal } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import type { Cell } from './cells';
import type { AppendParams } from './fields';
import type { SheetTable } from './headerRow';
import * as ranges from './range';
import { countColumns } from './sendRows';
import { findNativeTable, type Spreadsheet } from './spreadsheet';

/** Reads where Google put the rows: their first cell is at `start`. Rows and columns count from 0. */
export function parseAppendResponse({ tableRange, updates }: sheets_v4.Schema$AppendValuesResponse) {
	const updatedRange = updates?.updatedRange ?? '';
	const { row, column, lastColumn = column } = ranges.parseBounds(ranges.parseRange(updatedRange));
	return { updatedRange, tableRange, start: { row, column }, lastColumn };
}

export type AppendedRange = Readonly<ReturnType<typeof parseAppendResponse>>;

/**
 * Returns whether Google's answer alone proves that the rows are below their table and in its columns.
 * @param firstRow the first row that is below the table, if the node has looked it up
 */
export function isPlacementProven({ tableRange, start, place, values }: AppendedRows, firstRow?: number) {
	if (start.column !== place.column) return false;
	if (firstRow !== undefined) return start.row >= firstRow;
	if (!tableRange || place.isUnsure) return false;
	const { row, lastRow = row, lastColumn } = ranges.parseBounds(ranges.parseRange(tableRange));
	if (start.row <= lastRow) return false;
	const isCell = lastRow === row && lastColumn === undefined;
	// If Google found a table of a single cell, the cell may be a title above the real table.
	if (place.extent === 'block') return !(isCell && countColumns(values) > 1);
	return place.extent === 'all' || (row <= place.row && lastRow >= place.row);
}

/** Returns whether rows directly follow a header. If no header is known, a table of a single row counts as a header. */
export function isDirectlyBelowHeader({ tableRange }: AppendedRange, place: AppendPlace, startRow: number) {
	if (place.extent === 'header') return startRow === place.row + 1;
	if (!tableRange) return false;
	const { row, lastRow = row } = ranges.parseBounds(ranges.parseRange(tableRange));
	return lastRow === row && startRow === row + 1;
}

/** The place for appended rows, which is always below a table. Rows and columns count from 0. */
export interface AppendPlace {
	/** The range in which Google searches for the table. */
	readonly searchRange: string;
	/** Title of the tab; undefined for the first one. */
	readonly tab: string | undefined;
	/** Row of the header. If there is no header, the row from which the table is searched downward. */
	readonly row: number;
	/** Column of the first cell of each row. */
	readonly column: number;
	/** Last column of the table; undefined if the range has no last column. */
	readonly lastColumn: number | undefined;
	/** What counts as the table: the block of rows from a header on, the first block in an area, or all filled rows of the columns. */
	readonly extent: 'header' | 'block' | 'all';
	/** Whether Google may take the table for several tables, so that its answer must be checked. */
	readonly isUnsure?: boolean;
}

/** Returns the place that a target names, for rows of cells without column names. */
export function getPlaceInTarget(target: ranges.TabRange): AppendPlace {
	const { cells, tab, name } = target;
	const { row, column, lastColumn, lastRow } = ranges.parseBounds(target);
	const isCell = cells !== undefined && !cells.includes(':');
	const extent = isCell || lastRow !== undefined ? 'block' : 'all';
	return { searchRange: ranges.printRange(target), tab: tab ?? name, row, column, lastColumn, extent };
}

/** Returns the place below a header. If the header has a gap, Google may see several tables, so that whole columns are searched. */
export function getPlaceBelowHeader({ target, header }: SheetTable): AppendPlace {
	const { left, right, hasGap, row } = header;
	const tab = target.tab ?? target.name;
	const lastCell = `${ranges.toColumnLetters(right)}${hasGap ? '' : row + 1}`;
	const cells = `${ranges.toColumnLetters(left)}${row + 1}:${lastCell}`;
	const columns = { column: left, lastColumn: right, isUnsure: hasGap };
	return { searchRange: ranges.printRange({ tab, cells }), tab, row, ...columns, extent: 'header' };
}

type Grid = ReadonlyArray<readonly unknown[]>;

/**
 * Finds the last row of the table that rows are added to. Unlike Google's search, it also sees hidden rows and columns.
 * @param width number of columns of the new rows
 * @returns the index of the row; -1 if there is no table
 */
function findLastRow(grid: Grid, { row, column, lastColumn, extent }: AppendPlace, width: number): number {
	const endColumn = (lastColumn ?? column + width - 1) + 1;
	const counts = grid.map((line) => countFilledCells(line, column, endColumn));
	if (extent === 'all') return counts.findLastIndex((count, index) => index >= row && count > 0);
	const [firstRow, lastRow] = findBlock(counts, row);
	// A row with one filled cell, above wider rows, is the title of the table.
	const isTitle = extent === 'block' && firstRow === lastRow && width > 1 && counts[firstRow] === 1;
	const [tableRow, tableLastRow] = isTitle ? findBlock(counts, lastRow + 1) : [-1, -1];
	return tableRow === -1 ? lastRow : tableLastRow;
}

const countFilledCells = (row: readonly unknown[], start: number, end = Infinity) =>
	row.slice(start, end).filter((cell) => cell !== '').length;

/** Finds the next block of filled rows: its first and last row, or -1 and -1. @param counts number of filled cells in each row */
function findBlock(counts: readonly number[], startRow: number): readonly [number, number] {
	const firstRow = counts.findIndex((count, index) => index >= startRow && count > 0);
	if (firstRow === -1) return [-1, -1];
	const endRow = counts.findIndex((count, index) => index > firstRow && count === 0);
	return [firstRow, (endRow === -1 ? counts.length : endRow) - 1];
}

type AppendRequestOptions = Pick<AppendParams, 'valueInputOption' | 'insertDataOption'>;

type AppendedRows = AppendedRange & { readonly place: AppendPlace; readonly values: Cell[][] };

/**
 * Checks rows that Google may have put above their table, into the table or beside its columns, and moves the rows to the right place.
 * Google inserted whole rows for them, so no other cells move along.
 * @returns the first cell of the rows after the move
 * @throws NodeError with outcome `done` that says where the rows are, if they cannot be moved
 */
export async function relocateRows(book: Spreadsheet, params: AppendRequestOptions, appended: AppendedRows) {
	const { updatedRange, start, lastColumn, place, values } = appended;
	const relocate = async () => {
		const { tab } = ranges.parseRange(updatedRange);
		const { cells } = await book.fetchCells(tab);
		const targetRow = findTargetRow(cells, appended);
		if (targetRow === start.row && start.column === place.column) return start;
		// If these rows of the sheet also have other cells, Google did not insert them for the new rows.
		const isShared = cells
			.slice(start.row, start.row + values.length)
			.some((row) => countFilledCells(row, 0, start.column) + countFilledCells(row, lastColumn + 1) > 0);
		if (isShared || params.insertDataOption === 'OVERWRITE')
			throw new NodeError({ code: 502, message: 'the same rows contain other cells' });
		if (targetRow !== start.row) {
			const { sheetId } = await book.fetchTab(tab);
			const endIndex = start.row + values.length;
			const source = { sheetId, dimension: 'ROWS', startIndex: start.row, endIndex };
			await book.change([{ moveDimension: { source, destinationIndex: targetRow } }]);
		}
		const row = targetRow > start.row ? targetRow - values.length : targetRow;
		const { column } = place;
		if (start.column === column) return { row, column };
		// Writes the rows again in the right columns, and clears the cells in the wrong columns.
		const left = Math.min(column, start.column);
		const width = Math.max(lastColumn + 1, column + countColumns(values)) - left;
		const oldColumns = Array.from({ length: width }, (_, index) => left + index - column);
		const moveCells = (cells: Cell[]) => oldColumns.map((oldColumn) => cells[oldColumn] ?? '');
		const range = ranges.printAreaLike(updatedRange, { row, column: left }, values.length, width);
		await book.update(range, values.map(moveCells), params.valueInputOption);
		return { row, column };
	};
	return await relocate().catch((error: unknown) => {
		throw isNodeError(error) ? createMisplacedError(appended, error) : error;
	});
}

function createMisplacedError({ updatedRange, start, place }: AppendedRows, error: NodeError) {
	const { code, status, message } = error;
	const isInColumn = start.column === place.column;
	const rightPlace = isInColumn ? 'below the table' : `in column ${ranges.toColumnLetters(place.column)}`;
	return new NodeError({
		...{ code, status, outcome: 'done' },
		message: `The rows were appended at ${updatedRange}, not ${rightPlace}, and could not be moved (${message})`,
		description: `Move them in the sheet, or delete them before you run this again. To prevent this, set ${quoteField('range')} to the cells of the header row, such as Sheet1!A1:D1.`,
	});
}

/** Finds the row before which the new rows belong, counted before the move. Returns their own first row if they need not move. */
function findTargetRow(grid: Grid, { start, place, values }: AppendedRows): number {
	const count = values.length;
	const otherRows = [...grid.slice(0, start.row), ...grid.slice(start.row + count)];
	const isPlaceAbove = place.extent === 'header' || place.row <= start.row;
	const placeInOthers = isPlaceAbove ? place : { ...place, row: 0 };
	const lastTableRow = findLastRow(otherRows, placeInOthers, countColumns(values));
	const findLastFilledRow = () => otherRows.findLastIndex((row) => countFilledCells(row, 0) > 0);
	const lastRow = lastTableRow === -1 ? findLastFilledRow() : lastTableRow;
	if (lastRow + 1 === start.row || lastRow === -1) return start.row;
	return lastRow < start.row ? lastRow + 1 : lastRow + 1 + count;
}

/**
 * Plans the request that appends rows. With OVERWRITE, Google ignores hidden cells, so that rows could destroy them. The node therefore
 * finds the empty cell below the table first. Google begins there, or further down if somebody else has filled it meanwhile.
 * @returns the request, and `firstRow` (from 0). Rows that Google puts above `firstRow` are misplaced.
 * @throws NodeError 400 if rows would overwrite other cells
 */
export async function planAppendRequest(
	book: Spreadsheet,
	insertDataOption: AppendParams['insertDataOption'],
	place: AppendPlace,
	values: readonly Cell[][],
) {
	const { searchRange: range, tab, column } = place;
	const insertRequest = { range, insertDataOption: 'INSERT_ROWS', firstRow: undefined };
	if (insertDataOption === 'INSERT_ROWS') return insertRequest;
	const { cells, rowCount } = await book.fetchCells(tab);
	const width = countColumns(values);
	const lastFilledRow = findLastRow(cells, place, width);
	// A new header is written after this step, so its row is still empty, but belongs to the table.
	const lastRow = place.extent === 'header' ? Math.max(lastFilledRow, place.row) : lastFilledRow;
	const firstRow = lastRow === -1 ? place.row : lastRow + 1;
	const tableRow = place.extent === 'header' ? place.row : lastRow;
	const { sheet } = await book.fetchTab(tab);
	const table = findNativeTable(sheet, { row: tableRow, column });
	// Rows become part of a native table only if they are inserted.
	if (table) {
		const cellInTable = ranges.printTabArea(tab, { row: table.range.startRowIndex, column }, 1, 1);
		return { ...insertRequest, range: cellInTable, firstRow: table.range.endRowIndex };
	}
	// Below the last row of the tab, there is nothing to overwrite.
	if (firstRow >= rowCount) return insertRequest;
	const blockedIndex = cells
		.slice(firstRow, firstRow + values.length)
		.findIndex((row) => countFilledCells(row, column, column + width) > 0);
	if (blockedIndex !== -1) {
		throw createRefusal(
			`There is space for only ${blockedIndex} ${blockedIndex === 1 ? 'row' : 'rows'} below the table: row ${firstRow + blockedIndex + 1} has data from column ${ranges.toColumnLetters(column)} on`,
			`Nothing was written. Set ${quoteField('insertDataOption')} to ${printChoice('insertDataOption', 'INSERT_ROWS')}, which moves the rows below the table down.`,
		);
	}
	return { range: ranges.printTabArea(tab, { row: firstRow, column }, 1, 1), insertDataOption, firstRow };
}

/** The formats that rows below a header lose. The number format stays, because new dates already have their own. */
const headerFormats = [
	...['backgroundColor', 'backgroundColorStyle', 'borders', 'horizontalAlignment', 'padding'],
	...['textFormat', 'textRotation', 'verticalAlignment', 'wrapStrategy'],
];
const headerFields = `sheets(properties(sheetId),data(rowData(values(userEnteredFormat(${headerFormats.join(',')})))))`;

/** Removes the header's format from new rows: Google formats inserted rows like the row above. @param range any range in the tab */
export async function clearHeaderFormat(
	book: Spreadsheet,
	range: string,
	{ row, column }: ranges.CellPosition,
	rows: Cell[][],
) {
	const headerRange = ranges.printAreaLike(range, { row: row - 1, column }, 1, countColumns(rows));
	const [sheet] = (await book.fetch(headerFields, [headerRange])).sheets ?? [];
	const cells = sheet?.data?.[0]?.rowData?.[0]?.values ?? [];
	if (!cells.some(({ userEnteredFormat }) => userEnteredFormat)) return;
	const { sheetId } = sheet?.properties ?? {};
	const insertedRows = { sheetId, startRowIndex: row, endRowIndex: row + rows.length };
	const fields = headerFormats.map((name) => `userEnteredFormat.${name}`).join(',');
	await book.change([{ repeatCell: { range: insertedRows, cell: {}, fields } }]);
}
