import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError } from '../../../core/errors';
import { buildUpdateCellsRequest, type Cell, type CellOptions, escapeCell } from './cells';
import { DateCell } from './dates/dates';
import { type CellPosition, groupNeighbors, printTabArea } from './range';
import { buildEnlargeTabRequests, buildResizeTableRequest, growNativeTable } from './spreadsheet';
import type { Spreadsheet } from './spreadsheet';
import type { FittedTable } from './table';

type Request = sheets_v4.Schema$Request;

/** What one row of an item does to a table. Rows and columns count from 0. */
export interface RowStep {
	readonly action: 'updated' | 'appended' | 'unchanged' | 'skipped';
	/** The rows of the table that the step is about, maybe several, or the row that it adds. */
	readonly rows: readonly number[];
	readonly changes: readonly RowChange[];
}

/** The new cells of a row, in the order of their columns. */
interface RowChange {
	readonly row: number;
	readonly cellsByColumn: ReadonlyMap<number, Cell>;
}

/** What the steps of several items share. */
export interface TablePlan {
	readonly spreadsheet: Spreadsheet;
	readonly table: FittedTable;
	/** The row from which on rows are added: below the last row of the table. */
	readonly endRow: number;
	readonly options: CellOptions;
}

/** A write that was planned for one item, together with those of others. */
export interface PlannedWrite<R> {
	/** The place of the item among those of the plan. */
	readonly index: number;
	/** Sends what was planned for the items with these indexes. */
	readonly send: (indexes: readonly number[]) => Promise<readonly R[]>;
}

/** @param outcomes a refusal of each item, or anything else if the item is not refused */
export const toPlannedWrites = <R>(
	outcomes: readonly unknown[],
	send: PlannedWrite<R>['send'],
): Array<PlannedWrite<R> | NodeError> =>
	outcomes.map((outcome, index) => (isNodeError(outcome) ? outcome : { index, send }));

/** Sends writes of one plan in one request. */
export async function sendWrites<R>(writes: ReadonlyArray<PlannedWrite<R>>): Promise<readonly R[]> {
	const indexes = writes.map(({ index }) => index);
	return (await writes[0]?.send(indexes)) ?? [];
}

/**
 * Carries out steps of a plan. Values that are stored unchanged are in the same atomic request as new rows and columns. Only
 * `values.batchUpdate` interprets USER_ENTERED values, and follows.
 * @param isFirst whether these are the first steps of the plan. Their request also writes the headers of new columns.
 */
export async function sendSteps(
	plan: TablePlan,
	steps: readonly RowStep[],
	isFirst: boolean,
): Promise<void> {
	const { spreadsheet, table, options } = plan;
	const rectangles = combineIntoRectangles(steps);
	const structure = buildStructureRequests(plan, steps, isFirst);
	if (options.valueInputOption !== 'USER_ENTERED') {
		const cells = rectangles.map((rectangle) => buildCellsRequest(table, rectangle));
		const formats = buildDateFormats(table, steps);
		await spreadsheet.change([...structure, ...cells, ...formats]);
		return;
	}
	await spreadsheet.change(structure);
	if (rectangles.length === 0) return;
	const data = rectangles.map(({ grid, ...start }) => ({
		range: printTabArea(table.title, start, grid.length, grid[0]?.length ?? 1),
		values: grid.map((line) => line.map((cell) => escapeCell(cell, options))),
	}));
	const requestBody = { valueInputOption: options.valueInputOption, data };
	await spreadsheet.valuesApi.batchUpdate({ spreadsheetId: spreadsheet.id, requestBody });
}

/** Builds the requests that add columns with their headers, and rows, and make a native table include them. */
function buildStructureRequests(
	{ table, endRow }: TablePlan,
	steps: readonly RowStep[],
	isFirst: boolean,
): Request[] {
	const { sheetId, columnCount, firstNewColumn, newNames } = table;
	const addedRows = steps.filter(isAppended).flatMap(({ rows }) => rows);
	const [firstRow = endRow] = addedRows;
	// Earlier requests of the plan have added the rows above.
	const earlierCount = firstRow - endRow;
	let rowCount = table.rowCount + earlierCount;
	const requests: Request[] = [];
	if (addedRows.length > 0 && firstRow < rowCount) {
		const endIndex = firstRow + addedRows.length;
		const range = { sheetId, dimension: 'ROWS', startIndex: firstRow, endIndex };
		// The format of the row above is copied, but the first row of a table must not look like its header.
		const inheritFromBefore = firstRow > table.row + 1;
		requests.push({ insertDimension: { range, inheritFromBefore } });
		rowCount += addedRows.length;
	}
	const size = findSize(steps);
	const addsColumns = isFirst && newNames.length > 0;
	if (addsColumns) size.minColumns = Math.max(size.minColumns, firstNewColumn + newNames.length);
	requests.push(...buildEnlargeTabRequests({ sheetId, rowCount, columnCount }, size));
	if (addsColumns) {
		const headers = { row: table.row, column: firstNewColumn, grid: [[...newNames]] };
		requests.push(buildCellsRequest(table, headers));
	}
	return [...requests, ...growNativeTables(table, earlierCount, addedRows, addsColumns)];
}

/** Returns the size that a tab must have for the cells of steps. */
function findSize(steps: readonly RowStep[]) {
	const size = { minRows: 0, minColumns: 0 };
	for (const { changes } of steps)
		for (const { row, cellsByColumn } of changes) {
			size.minRows = Math.max(size.minRows, row + 1);
			for (const column of cellsByColumn.keys())
				size.minColumns = Math.max(size.minColumns, column + 1);
		}
	return size;
}

/** A native table does not grow if rows are inserted below it or headers are written beside it. */
function growNativeTables(
	{ nativeTable, firstNewColumn, newNames }: FittedTable,
	earlierCount: number,
	[firstRow, ...otherRows]: readonly number[],
	addsColumns: boolean,
): Request[] {
	if (!nativeTable) return [];
	const isBeside = firstNewColumn === nativeTable.range.endColumnIndex;
	const columnCount = isBeside ? newNames.length : 0;
	const current = growNativeTable(nativeTable, earlierCount, addsColumns ? 0 : columnCount);
	const growsBelow = firstRow !== undefined && firstRow >= current.range.endRowIndex;
	if (!growsBelow && !(addsColumns && isBeside)) return [];
	const addedCount = firstRow === undefined ? 0 : otherRows.length + 1;
	const grown = growNativeTable(current, addedCount, addsColumns ? columnCount : 0);
	return [buildResizeTableRequest(grown)];
}

export const isAppended = ({ action }: RowStep) => action === 'appended';

type Rectangle = CellPosition & { readonly grid: Cell[][] };

const buildCellsRequest = ({ sheetId }: FittedTable, { row, column, grid }: Rectangle) =>
	buildUpdateCellsRequest({ start: { sheetId, rowIndex: row, columnIndex: column } }, grid);

/** Combines neighboring cells of successive steps into rectangles. This makes the requests smaller. */
function combineIntoRectangles(steps: readonly RowStep[]): Rectangle[] {
	const pieces: Array<CellPosition & { readonly line: Cell[] }> = [];
	for (const { changes } of steps)
		for (const { row, cellsByColumn } of changes)
			for (const cells of groupNeighbors(
				cellsByColumn,
				([left], [right]) => right === left + 1,
			))
				pieces.push({ row, column: cells[0][0], line: cells.map(([, cell]) => cell) });
	const continues = (above: (typeof pieces)[number], { row, column, line }: typeof above) =>
		row === above.row + 1 && column === above.column && line.length === above.line.length;
	return groupNeighbors(pieces, continues).map((group) => {
		const { row, column } = group[0];
		return { row, column, grid: group.map(({ line }) => line) };
	});
}

/** Builds the requests that show dates as dates, except in columns of dates, whose own format stays. */
export function buildDateFormats(
	{ sheetId, types, row: headerRow }: FittedTable,
	steps: readonly RowStep[],
): Request[] {
	// Rows that are added directly below the header have no format yet.
	const isPlain = steps.find(isAppended)?.rows[0] === headerRow + 1;
	const dates: Array<CellPosition & DateCell['format']> = [];
	for (const { action, changes } of steps)
		for (const { row, cellsByColumn } of changes)
			for (const [column, cell] of cellsByColumn) {
				const hasFormat = types.get(column) === 'date';
				const keepsFormat = hasFormat && !(isPlain && action === 'appended');
				if (cell instanceof DateCell && !keepsFormat)
					dates.push({ row, column, ...cell.format });
			}
	dates.sort((a, b) => a.column - b.column || a.row - b.row);
	const continues = (above: (typeof dates)[number], date: typeof above) =>
		date.column === above.column &&
		date.row === above.row + 1 &&
		date.type === above.type &&
		date.pattern === above.pattern;
	return groupNeighbors(dates, continues).map((group) => {
		const { row, column, ...numberFormat } = group[0];
		const range = {
			sheetId,
			startRowIndex: row,
			endRowIndex: row + group.length,
			startColumnIndex: column,
			endColumnIndex: column + 1,
		};
		const cell = { userEnteredFormat: { numberFormat } };
		return { repeatCell: { range, cell, fields: 'userEnteredFormat.numberFormat' } };
	});
}

/** What Write and Append return for the cells that they have written. */
export interface WriteResult {
	readonly spreadsheetId: string;
	readonly updatedRange: string;
	readonly updatedRows: number;
	readonly updatedColumns: number;
	readonly updatedCells: number;
}

/** Counts what steps write. @param updatedRange where their cells are */
export function summarizeSteps(
	{ spreadsheet }: TablePlan,
	steps: readonly RowStep[],
	updatedRange: string,
): WriteResult {
	const columns = new Set<number>();
	let updatedRows = 0;
	let updatedCells = 0;
	for (const { changes } of steps)
		for (const { cellsByColumn } of changes) {
			updatedRows++;
			updatedCells += cellsByColumn.size;
			for (const column of cellsByColumn.keys()) columns.add(column);
		}
	const updatedColumns = columns.size;
	return {
		spreadsheetId: spreadsheet.id,
		updatedRange,
		updatedRows,
		updatedColumns,
		updatedCells,
	};
}

/** The size of requests that Google recommends in the docs of the Sheets API: at most 2 MB. */
const maxRequestBytes = 2_000_000;
/** What the JSON of a batch update adds to each value. */
const cellOverheadBytes = 48;

/** Returns the share of a request that rows take: 1 is a full request. Estimates their size as JSON, without escapes. */
export function weighCells(rows: Iterable<Iterable<Cell>>): number {
	let bytes = 0;
	for (const row of rows)
		for (const cell of row) bytes += cellOverheadBytes + Buffer.byteLength(String(cell));
	return bytes / maxRequestBytes;
}
