import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { NodeError, isNodeError, createRefusal } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import type { Cell } from './cells';
import { toInputOption } from './dates/dateCells';
import type { AppendParams } from './fields';
import type { SheetTable } from './tableHeader';
import * as ranges from './range';
import { countColumns } from './sendRows';
import { findNativeTable, type Spreadsheet } from './spreadsheet';

/** Reads where Google put the rows, and below which table. Rows and columns count from 0: `start` of rows at `B3` is row 2, column 1. */
export function parseAppendResponse({
	tableRange,
	updates,
}: sheets_v4.Schema$AppendValuesResponse) {
	const updatedRange = updates?.updatedRange ?? '';
	const {
		row,
		column,
		lastColumn = column,
	} = ranges.parseBounds(ranges.parseRange(updatedRange));
	return { updatedRange, tableRange, start: { row, column }, lastColumn };
}

/** Rows that Google has appended, and the place where they belong. `rowBelowTable` is as `planRequest` returns it. */
export type AppendedRows = Readonly<ReturnType<typeof parseAppendResponse>> &
	Readonly<{ rowBelowTable?: number | undefined; place: AppendPlace; values: Cell[][] }>;

/** Returns whether Google's response proves that rows are in the right place. */
export function isPlacementProven(appended: AppendedRows): boolean {
	const { tableRange, start, rowBelowTable, place, values } = appended;
	if (start.column !== place.column) return false;
	if (rowBelowTable !== undefined) return start.row >= rowBelowTable;
	if (!tableRange || place.isUnsure) return false;
	const { row, lastRow = row, lastColumn } = ranges.parseBounds(ranges.parseRange(tableRange));
	if (start.row <= lastRow) return false;
	// If rows are wider than one cell, a table of a single cell may be a title above the real table.
	const mayBeTitle = lastRow === row && lastColumn === undefined && countColumns(values) > 1;
	if (place.scope === 'block') return !mayBeTitle;
	const containsHeader = row <= place.searchStartRow && lastRow >= place.searchStartRow;
	return place.scope === 'all' || containsHeader;
}

/** Returns whether rows are directly below a header. If no header is known, a table of a single row counts as a header. */
export function isDirectlyBelowHeader(
	{ tableRange, place }: AppendedRows,
	startRow: number,
): boolean {
	if (place.scope === 'header') return startRow === place.searchStartRow + 1;
	if (!tableRange) return false;
	const { row, lastRow = row } = ranges.parseBounds(ranges.parseRange(tableRange));
	return lastRow === row && startRow === row + 1;
}

/** The place for appended rows, which is always below a table. Rows and columns count from 0. */
export interface AppendPlace {
	/** The range in which Google searches for the table. */
	readonly searchRange: string;
	/** Title of the tab; undefined for the first one. For INSERT_ROWS, it may be the name of a named range: `planRequest` then needs no tab. */
	readonly tab: string | undefined;
	/** The row from which the table is searched downward: the header's row or, if no header is known, the range's first row. */
	readonly searchStartRow: number;
	/** Column of the first cell of each row. */
	readonly column: number;
	/** Last column of the table; undefined if no header is known and the range has no last column. */
	readonly lastColumn: number | undefined;
	/** What counts as the table: the `header` and the rows directly below it, the first `block` of filled rows, or `all` filled rows. */
	readonly scope: 'header' | 'block' | 'all';
	/** Whether Google may take the table for several tables. Its response then proves nothing. */
	readonly isUnsure?: boolean;
}

/** Returns the place that a target names, for rows without column names. */
export function getPlaceInTarget(target: ranges.TabRange): AppendPlace {
	const { a1, name, tab = name } = target;
	const { row: searchStartRow, column, lastColumn, lastRow } = ranges.parseBounds(target);
	const isCell = a1 !== undefined && !a1.includes(':');
	const scope = isCell || lastRow !== undefined ? 'block' : 'all';
	return {
		searchRange: ranges.printRange(target),
		tab,
		searchStartRow,
		column,
		lastColumn,
		scope,
	};
}

/** Returns the place below a header. If the header has a gap, Google may see several tables, so that whole columns are searched. */
export function getPlaceBelowHeader({ target, header }: SheetTable): AppendPlace {
	const { firstColumn, lastColumn, hasGap, row } = header;
	// `fetchTable` has found the tab by this name, or has replaced a named range by its tab and cells.
	const tab = target.tab ?? target.name;
	const lastCell = `${ranges.toColumnLetters(lastColumn)}${hasGap ? '' : row + 1}`;
	const a1 = `${ranges.toColumnLetters(firstColumn)}${row + 1}:${lastCell}`;
	const place = { tab, searchStartRow: row, column: firstColumn, lastColumn, isUnsure: hasGap };
	return { ...place, searchRange: ranges.printRange({ tab, a1 }), scope: 'header' };
}

type Grid = ReadonlyArray<readonly unknown[]>;

/** Finds the last row of the table, also if Google's search ignores it as hidden; -1 if there is none. @param width that of the new rows */
function findLastRow(grid: Grid, place: AppendPlace, width: number): number {
	const { searchStartRow, column, lastColumn, scope } = place;
	const endColumn = (lastColumn ?? column + width - 1) + 1;
	const counts = grid.map((line) => countFilledCells(line, column, endColumn));
	if (scope === 'all')
		return counts.findLastIndex((count, index) => index >= searchStartRow && count > 0);
	const [blockStart, blockEnd] = findBlock(counts, searchStartRow);
	// A row with one filled cell is a title, if the new rows are wider and a block follows.
	const mayBeTitle =
		scope === 'block' && blockStart === blockEnd && width > 1 && counts[blockStart] === 1;
	const nextBlockEnd = mayBeTitle ? findBlock(counts, blockEnd + 1)[1] : -1;
	return nextBlockEnd === -1 ? blockEnd : nextBlockEnd;
}

const countFilledCells = (row: readonly unknown[], start: number, end = Infinity) =>
	row.slice(start, end).filter((cell) => cell !== '').length;

/** Finds the next block of filled rows: its first and last row, or -1 and -1. @param counts how many filled cells each row has */
function findBlock(counts: readonly number[], startRow: number): readonly [number, number] {
	const firstRow = counts.findIndex((count, index) => index >= startRow && count > 0);
	if (firstRow === -1) return [-1, -1];
	const endRow = counts.findIndex((count, index) => index > firstRow && count === 0);
	return [firstRow, (endRow === -1 ? counts.length : endRow) - 1];
}

type AppendOptions = Pick<AppendParams, 'valueInputOption' | 'insertDataOption'>;

/** Moves rows if Google may have put them into a wrong place. @returns their first cell @throws NodeError with outcome `done` if they cannot move */
export async function repairPlace(
	spreadsheet: Spreadsheet,
	params: AppendOptions,
	appended: AppendedRows,
) {
	if (isPlacementProven(appended)) return appended.start;
	return await moveRows(spreadsheet, params, appended).catch((error: unknown) => {
		throw isNodeError(error) ? createMisplacedError(appended, error) : error;
	});
}

/** Moves whole rows of the sheet, because Google has inserted such rows. Moves none if other cells are in the same rows. */
async function moveRows(spreadsheet: Spreadsheet, params: AppendOptions, appended: AppendedRows) {
	const { updatedRange, start, lastColumn, values } = appended;
	const { column } = appended.place;
	const { tab } = ranges.parseRange(updatedRange);
	const { grid } = await spreadsheet.fetchGrid(tab);
	const destinationRow = findDestinationRow(grid, appended);
	if (destinationRow === start.row && start.column === column) return start;
	// If Google inserted these rows of the sheet, they contain only the new cells.
	const hasOtherCells = grid
		.slice(start.row, start.row + values.length)
		.some(
			(row) =>
				countFilledCells(row, 0, start.column) + countFilledCells(row, lastColumn + 1) > 0,
		);
	if (hasOtherCells || params.insertDataOption === 'OVERWRITE')
		// `createMisplacedError` puts this message in parentheses.
		throw new NodeError({ code: 502, message: 'the same rows contain other cells' });
	if (destinationRow !== start.row) {
		const { sheetId } = await spreadsheet.fetchTabInfo(tab);
		const source = {
			sheetId,
			dimension: 'ROWS',
			startIndex: start.row,
			endIndex: start.row + values.length,
		};
		await spreadsheet.change([{ moveDimension: { source, destinationIndex: destinationRow } }]);
	}
	// After a move down, the rows are higher than the destination row by their own number.
	const row = destinationRow > start.row ? destinationRow - values.length : destinationRow;
	if (start.column === column) return { row, column };
	// Writes the rows again, over all old and new columns. An old cell outside the new columns gets '', which clears it.
	const left = Math.min(column, start.column);
	const width = Math.max(lastColumn + 1, column + countColumns(values)) - left;
	const cellIndexes = Array.from({ length: width }, (_, index) => left + index - column);
	const padRow = (line: Cell[]) => cellIndexes.map((cellIndex) => line[cellIndex] ?? '');
	const range = ranges.printAreaLike(updatedRange, { row, column: left }, values.length, width);
	await spreadsheet.update(range, values.map(padRow), toInputOption(params));
	return { row, column };
}

function createMisplacedError({ updatedRange, start, place }: AppendedRows, error: NodeError) {
	const { code, status, message } = error;
	const isInColumn = start.column === place.column;
	const rightPlace = isInColumn
		? 'below the table'
		: `in column ${ranges.toColumnLetters(place.column)}`;
	return new NodeError({
		code,
		status,
		outcome: 'done',
		message: `The rows were appended at ${updatedRange}, not ${rightPlace}, and could not be moved (${message})`,
		description: `Move them in the sheet, or delete them before you run this again. To prevent this, set ${quoteField('range')} to the cells of the header row, such as Sheet1!A1:D1.`,
	});
}

/** Returns the row above which the new rows must move, numbered as before the move. Returns their first row if they need not move. */
function findDestinationRow(grid: Grid, { start, place, values }: AppendedRows): number {
	const count = values.length;
	// Leaves out the new rows, which would otherwise count as the end of the table.
	const otherRows = [...grid.slice(0, start.row), ...grid.slice(start.row + count)];
	// If Google put the rows above the range's first row, the table may begin above that row, too. With a known header, it begins there.
	const mayTableBeginAbove = place.scope !== 'header' && start.row < place.searchStartRow;
	const searchPlace = mayTableBeginAbove ? { ...place, searchStartRow: 0 } : place;
	let lastRow = findLastRow(otherRows, searchPlace, countColumns(values));
	// If there is no table in the columns, the rows belong below everything else.
	if (lastRow === -1) lastRow = otherRows.findLastIndex((row) => countFilledCells(row, 0) > 0);
	if (lastRow === -1) return start.row;
	// Rows below the new ones have a higher number in the sheet than in `otherRows`.
	return lastRow < start.row ? lastRow + 1 : lastRow + 1 + count;
}

/**
 * Plans the request that appends rows. With OVERWRITE, Google ignores hidden cells, so that rows could destroy them. The node therefore
 * looks up the first empty row below the table. Google begins there, or further down if somebody has filled that row meanwhile.
 * @returns the request and `rowBelowTable`, from 0, if it is known. Rows above it are misplaced. @throws NodeError 400 if rows would overwrite others
 */
export async function planRequest(
	spreadsheet: Spreadsheet,
	insertDataOption: AppendParams['insertDataOption'],
	place: AppendPlace,
	values: readonly Cell[][],
) {
	const { searchRange: range, tab, column } = place;
	const insertPlan = {
		request: { range, insertDataOption: 'INSERT_ROWS' },
		rowBelowTable: undefined,
	};
	if (insertDataOption === 'INSERT_ROWS') return insertPlan;
	const { grid, rowCount } = await spreadsheet.fetchGrid(tab);
	const width = countColumns(values);
	const lastFilledRow = findLastRow(grid, place, width);
	// The row of a header belongs to the table, even if it is empty because its new header is written later.
	const lastRow =
		place.scope === 'header' ? Math.max(lastFilledRow, place.searchStartRow) : lastFilledRow;
	const rowBelowTable = lastRow === -1 ? place.searchStartRow : lastRow + 1;
	const rowInTable = place.scope === 'header' ? place.searchStartRow : lastRow;
	const { sheet } = await spreadsheet.fetchTabInfo(tab);
	const table = findNativeTable(sheet, { row: rowInTable, column });
	// A native table is one of Google Sheets' own tables. Google inserts rows below its body if the range is one of its cells.
	if (table) {
		const cellInTable = ranges.printTabArea(
			tab,
			{ row: table.range.startRowIndex, column },
			1,
			1,
		);
		const request = { range: cellInTable, insertDataOption: 'INSERT_ROWS' };
		return { request, rowBelowTable: table.range.endRowIndex };
	}
	// Below the last row of the tab, there is nothing to overwrite, and Google adds rows.
	if (rowBelowTable >= rowCount) return insertPlan;
	const rowsToFill = grid.slice(rowBelowTable, rowBelowTable + values.length);
	const blockedIndex = rowsToFill.findIndex(
		(row) => countFilledCells(row, column, column + width) > 0,
	);
	if (blockedIndex !== -1)
		throw createRefusal(
			`There is space for only ${blockedIndex} ${blockedIndex === 1 ? 'row' : 'rows'} below the table: row ${rowBelowTable + blockedIndex + 1} has data from column ${ranges.toColumnLetters(column)} on`,
			`Nothing was written. Set ${quoteField('insertDataOption')} to ${mentionChoice('insertDataOption', 'INSERT_ROWS')}, which moves the rows below the table down.`,
		);
	const firstCell = ranges.printTabArea(tab, { row: rowBelowTable, column }, 1, 1);
	return { request: { range: firstCell, insertDataOption }, rowBelowTable };
}

/** The formats that rows below a header lose. The number format stays, because new dates already have their own. */
const headerFormats =
	'backgroundColor,backgroundColorStyle,borders,horizontalAlignment,padding,textFormat,textRotation,verticalAlignment,wrapStrategy';
const headerFormatFields = `sheets(properties(sheetId),data(rowData(values(userEnteredFormat(${headerFormats})))))`;

/** Removes the header's format from new rows: Google formats inserted rows like the row above. @param startRow where the rows are now */
export async function clearHeaderFormat(
	spreadsheet: Spreadsheet,
	rows: AppendedRows,
	startRow: number,
) {
	const headerStart = { row: startRow - 1, column: rows.place.column };
	const headerRange = ranges.printAreaLike(
		rows.updatedRange,
		headerStart,
		1,
		countColumns(rows.values),
	);
	const [sheet] = (await spreadsheet.fetch(headerFormatFields, [headerRange])).sheets ?? [];
	const headerCells = sheet?.data?.[0]?.rowData?.[0]?.values ?? [];
	if (!headerCells.some(({ userEnteredFormat }) => userEnteredFormat)) return;
	const { sheetId } = sheet?.properties ?? {};
	const insertedRows = {
		sheetId,
		startRowIndex: startRow,
		endRowIndex: startRow + rows.values.length,
	};
	const fields = headerFormats.replaceAll(/\w+/g, 'userEnteredFormat.$&');
	await spreadsheet.change([{ repeatCell: { range: insertedRows, cell: {}, fields } }]);
}
