import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError } from '../../../core/errors';
import type { Item } from '../../operation';
import { type Cell, type CellOptions, escapeCell, toCellData, toHeaderCell } from './cells';
import { DateCell } from './dates/dates';
import { listNames } from './names';
import { type CellPosition, groupNeighbors, printTabArea, toColumnLetters } from './range';
import { buildEnlargeTabRequests, buildResizeTableRequest, type Spreadsheet } from './spreadsheet';
import type { FittedTable } from './table';

type Request = sheets_v4.Schema$Request;
export type CellsByColumn = ReadonlyMap<number, Cell>;

/** What one row of an item does to a table. Rows and columns count from 0. */
export interface RowStep {
	readonly action: 'updated' | 'appended' | 'unchanged' | 'skipped';
	/** The rows of the table that the step is about, maybe several, or the row that it adds. */
	readonly rows: readonly number[];
	readonly changes: readonly RowChange[];
	/** What the user should know after the step. */
	readonly hint?: string | undefined;
}

/** The new cells of a row, in the order of their columns. */
export interface RowChange {
	readonly row: number;
	readonly cellsByColumn: CellsByColumn;
}

/** What the steps of several items share. */
export interface TablePlan {
	readonly spreadsheet: Spreadsheet;
	/** Its `newNames` become headers, with the first steps of the plan. */
	readonly table: FittedTable;
	/** The row from which on rows are added: below the last row of the table. */
	readonly endRow: number;
	readonly options: CellOptions;
	/** Further changes for which the first steps make room. */
	readonly firstRequests?: readonly Request[];
}

/** A write that was planned for one item, together with those of others. */
export interface PlannedWrite<R> {
	/** The place of the item among those of the plan. */
	readonly index: number;
	/** Sends what was planned for the items with these indexes. */
	readonly send: (indexes: readonly number[]) => Promise<readonly R[]>;
}

/** Sends writes of one plan in one request. */
export async function sendWrites<R>(writes: ReadonlyArray<PlannedWrite<R>>): Promise<readonly R[]> {
	const indexes = writes.map(({ index }) => index);
	return (await writes[0]?.send(indexes)) ?? [];
}

/** Each row of an item becomes a step, one below another. */
export function planSteps(
	rowsByItem: ReadonlyArray<ReadonlyArray<Pick<RowChange, 'cellsByColumn'>> | NodeError>,
	action: 'updated' | 'appended',
	firstRow: number,
): Array<RowStep[] | NodeError> {
	let nextRow = firstRow;
	return rowsByItem.map((rows) => {
		if (isNodeError(rows)) return rows;
		return rows.map(({ cellsByColumn }) => {
			const row = nextRow++;
			return { action, rows: [row], changes: [{ row, cellsByColumn }] };
		});
	});
}

/** Plans to send the steps of each item. A refusal stays in the place of an item's steps. @param sendAll returns the results of items */
export function planWrites<R>(
	{ table }: TablePlan,
	items: ReadonlyArray<{ readonly item: Item }>,
	stepsByItem: ReadonlyArray<readonly RowStep[] | NodeError>,
	sendAll: (stepLists: ReadonlyArray<readonly RowStep[]>, isFirst: boolean) => Promise<R[]>,
): Array<PlannedWrite<R> | NodeError> {
	const send = async (indexes: readonly number[]) => {
		const stepLists = indexes.map((index) => {
			const steps = stepsByItem[index] ?? [];
			return isNodeError(steps) ? [] : steps;
		});
		const results = await sendAll(stepLists, indexes[0] === 0);
		for (const [position, index] of indexes.entries())
			addHints(items[index]?.item, stepLists[position] ?? [], table);
		return results;
	};
	return stepsByItem.map((steps, index) => (isNodeError(steps) ? steps : { index, send }));
}

function addHints(item: Item | undefined, steps: readonly RowStep[], table: FittedTable): void {
	const textColumns = new Set<number>();
	for (const { hint, changes } of steps) {
		if (hint) item?.addHint(hint);
		for (const { cellsByColumn } of changes)
			for (const [column, cell] of cellsByColumn)
				if (typeof cell === 'string' && cell !== '' && table.types.get(column) === 'number')
					textColumns.add(column);
	}
	if (textColumns.size === 0) return;
	const names = [...textColumns].map(
		(column) => table.headers[column]?.text || toColumnLetters(column),
	);
	item?.addHint(
		`A text was stored in ${listNames(names)}, which holds numbers, so that sums leave it out. Provide numbers as such: 1200.5.`,
	);
}

/**
 * Carries out steps of a plan. Values that are stored unchanged are in the same atomic request as new rows and columns. Only
 * `values.batchUpdate` interprets USER_ENTERED values, and follows.
 * @param isFirst whether these are the first steps of the plan. They also write the headers of new columns.
 */
export async function sendSteps(
	plan: TablePlan,
	steps: readonly RowStep[],
	isFirst: boolean,
): Promise<void> {
	const { spreadsheet, table, options, firstRequests = [] } = plan;
	const changes = steps.flatMap((step) => step.changes);
	if (isFirst && table.newNames.length > 0) changes.unshift(buildHeaderChange(plan));
	const structure = buildStructureRequests(plan, steps, changes);
	const ownRequests = isFirst ? [...firstRequests] : [];
	// A row that is added directly below the header has no format yet.
	const isPlain = steps.find(isAppended)?.rows[0] === table.row + 1;
	const rectangles = combineIntoRectangles(changes, isPlain ? new Map() : table.types);
	if (options.valueInputOption !== 'USER_ENTERED') {
		const cells = rectangles.map((rectangle) => buildCellsRequest(table.sheetId, rectangle));
		await spreadsheet.change([...structure, ...ownRequests, ...cells]);
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
	// Last, so that no old cell is cleared if the new ones could not be written.
	await spreadsheet.change(ownRequests);
}

function buildHeaderChange({ table, options }: TablePlan): RowChange {
	const { row, firstNewColumn, newNames } = table;
	const cells = newNames.map(
		(name, index) => [firstNewColumn + index, toHeaderCell(name, options)] as const,
	);
	return { row, cellsByColumn: new Map(cells) };
}

/** Builds the requests that add rows and columns, and make a native table include them. */
function buildStructureRequests(
	{ table, endRow }: TablePlan,
	steps: readonly RowStep[],
	changes: readonly RowChange[],
): Request[] {
	const { sheetId, columnCount } = table;
	const addedRows = steps.filter(isAppended).flatMap(({ rows }) => rows);
	const [firstRow = endRow] = addedRows;
	// Earlier requests of the plan have added the rows above.
	let rowCount = table.rowCount + firstRow - endRow;
	const requests: Request[] = [];
	if (addedRows.length > 0 && firstRow < rowCount) {
		const endIndex = firstRow + addedRows.length;
		const range = { sheetId, dimension: 'ROWS', startIndex: firstRow, endIndex };
		// The format of the row above is copied, but the first row of a table must not look like its header.
		const inheritFromBefore = firstRow > table.row + 1;
		requests.push({ insertDimension: { range, inheritFromBefore } });
		rowCount += addedRows.length;
	}
	requests.push(...buildEnlargeTabRequests({ sheetId, rowCount, columnCount }, findEnd(changes)));
	const addedCount = firstRow - endRow + addedRows.length;
	return [...requests, ...growNativeTable(table, endRow, addedCount)];
}

/** Returns the size that a tab must have for the cells of changes. */
function findEnd(changes: readonly RowChange[]) {
	const end = { rowCount: 0, columnCount: 0 };
	for (const { row, cellsByColumn } of changes) {
		end.rowCount = Math.max(end.rowCount, row + 1);
		for (const column of cellsByColumn.keys())
			end.columnCount = Math.max(end.columnCount, column + 1);
	}
	return end;
}

/** A native table does not grow if rows are added below it or headers are written beside it. @param addedCount rows from `endRow` on */
function growNativeTable(
	{ nativeTable, firstNewColumn, newNames }: FittedTable,
	endRow: number,
	addedCount: number,
): Request[] {
	if (!nativeTable) return [];
	const { tableId, range } = nativeTable;
	const isBeside = firstNewColumn === range.endColumnIndex;
	const endColumnIndex = range.endColumnIndex + (isBeside ? newNames.length : 0);
	const growsByItself = addedCount === 0 || endRow < range.endRowIndex;
	if (growsByItself && endColumnIndex === range.endColumnIndex) return [];
	const endRowIndex = range.endRowIndex + addedCount;
	return [buildResizeTableRequest(tableId, { ...range, endRowIndex, endColumnIndex })];
}

const isAppended = ({ action }: RowStep) => action === 'appended';

type Format = DateCell['format'] | undefined;
/** Neighboring cells with the same number format; undefined if the format does not change. */
interface Rectangle extends CellPosition {
	readonly grid: Cell[][];
	readonly format: Format;
}

/** Combines neighboring cells, which makes the requests smaller. @param types what columns hold: those of dates keep their own format */
function combineIntoRectangles(
	changes: readonly RowChange[],
	types: FittedTable['types'],
): Rectangle[] {
	const pieces: Array<CellPosition & { line: Cell[]; format: Format }> = [];
	for (const { row, cellsByColumn } of changes) {
		const cells = [...cellsByColumn].map(([column, cell]) => {
			const needsFormat = cell instanceof DateCell && types.get(column) !== 'date';
			return { column, cell, format: needsFormat ? cell.format : undefined };
		});
		const groups = groupNeighbors(
			cells,
			(left, right) =>
				right.column === left.column + 1 && isSameFormat(left.format, right.format),
		);
		for (const group of groups) {
			const { column, format } = group[0];
			pieces.push({ row, column, format, line: group.map(({ cell }) => cell) });
		}
	}
	pieces.sort((a, b) => a.column - b.column || a.row - b.row);
	const rectangles = groupNeighbors(
		pieces,
		(above, piece) =>
			piece.row === above.row + 1 &&
			piece.column === above.column &&
			piece.line.length === above.line.length &&
			isSameFormat(above.format, piece.format),
	);
	return rectangles.map((group) => {
		const { row, column, format } = group[0];
		return { row, column, format, grid: group.map(({ line }) => line) };
	});
}

const isSameFormat = (format: Format, otherFormat: Format) =>
	format?.type === otherFormat?.type && format?.pattern === otherFormat?.pattern;

/** Builds the request that stores values unchanged. */
function buildCellsRequest(sheetId: number, { row, column, grid, format }: Rectangle): Request {
	const userEnteredFormat = format && { numberFormat: format };
	const rows = grid.map((line) => ({
		values: line.map((cell) => ({ ...toCellData(cell), userEnteredFormat })),
	}));
	const start = { sheetId, rowIndex: row, columnIndex: column };
	const fields = format ? 'userEnteredValue,userEnteredFormat.numberFormat' : 'userEnteredValue';
	return { updateCells: { start, rows, fields } };
}

/** What Write and Append return for the cells that they have written. */
export interface WriteResult {
	readonly spreadsheetId: string;
	readonly updatedRange: string;
	readonly updatedRows: number;
	readonly updatedColumns: number;
	readonly updatedCells: number;
}

/** Counts what changes write. @param updatedRange where their cells are */
export function summarizeChanges(
	{ id }: Spreadsheet,
	changes: readonly RowChange[],
	updatedRange: string,
): WriteResult {
	const columns = changes.flatMap(({ cellsByColumn }) => [...cellsByColumn.keys()]);
	return {
		spreadsheetId: id,
		updatedRange,
		updatedRows: changes.length,
		updatedColumns: new Set(columns).size,
		updatedCells: columns.length,
	};
}

/** Counts what steps write that are one below another, in these columns. @param offset how many rows lower it was written */
export function summarizeSteps(
	{ spreadsheet, table }: TablePlan,
	steps: readonly RowStep[],
	[firstColumn, lastColumn]: readonly [number, number],
	offset = 0,
): WriteResult {
	const changes = steps.flatMap((step) => step.changes);
	const row = changes[0]?.row ?? steps[0]?.rows[0] ?? 0;
	const start = { row: row + offset, column: firstColumn };
	const width = lastColumn - firstColumn + 1;
	const range = printTabArea(table.title, start, steps.length, width);
	return summarizeChanges(spreadsheet, changes, range);
}
