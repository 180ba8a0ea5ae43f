import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { getOrAdd } from '../../../core/maps';
import { isNodeError, type NodeError } from '../../../core/errors';
import { listNames } from '../../../core/text';
import { mentionChoice, quoteField } from '../../../fields/field';
import type { Item } from '../../operation';
import { type Cell, escapeCell, toCellData, toHeaderCell } from './cells';
import { DateCell, type NumberFormat } from './dates';
import type { RowParams } from './fields';
import { type CellPosition, printTabArea, toColumnLetters } from './range';
import { buildEnlargeTabRequests, buildResizeTableRequest, type Spreadsheet } from './spreadsheet';
import type { FittedItem, FittedRow } from './rows';
import type { FittedTable } from './table';

type Request = sheets_v4.Schema$Request;

/** The new cells of a row. Rows and columns count from 0. */
export interface RowChange extends FittedRow {
	readonly row: number;
}

/** What one row of an item does to a table. */
export interface RowStep {
	readonly action: 'updated' | 'appended' | 'unchanged' | 'skipped';
	/** The row that is added, or the first one that changes or matches. */
	readonly row: number;
	readonly changes: readonly RowChange[];
	/** What the user should know after the step. */
	readonly hint?: string;
}

/** What the writes of several items share. */
export interface TablePlan {
	readonly spreadsheet: Spreadsheet;
	/** Its `newNames` become headers, with the first write of the plan. */
	readonly table: FittedTable;
	/** The row from which on rows are added: below the last row of the table. */
	readonly endRow: number;
	readonly options: RowParams;
	/**
	 * Further changes for which the first write makes room, and what the user should know about
	 * them.
	 */
	readonly firstRequests?: Request[];
	readonly firstHint?: string;
	/** Whether each row of an item has a result of its own. */
	readonly hasResultPerRow?: boolean;
}

/** The write of one item, planned together with those of others. */
export interface PlannedWrite {
	readonly plan: TablePlan;
	readonly item: Item;
	readonly steps: readonly RowStep[];
	/**
	 * Whether it is the first of its plan. It is always sent, because a plan that refuses items is
	 * made again without them.
	 */
	readonly isFirst: boolean;
}

/** Plans to write the rows of all items one below another. A refusal stays in its place. */
export function planBlock(
	plan: TablePlan,
	fitted: ReadonlyArray<FittedItem | NodeError>,
	action: 'updated' | 'appended',
	firstRow = plan.endRow,
): Array<PlannedWrite | NodeError> {
	let row = firstRow;
	return fitted.map((given) => {
		if (isNodeError(given)) return given;
		const steps = given.rows.map(({ cellsByColumn }) => {
			const change = { row: row++, cellsByColumn };
			return { action, row: change.row, changes: [change] };
		});
		return { plan, item: given.item, steps, isFirst: given === fitted[0] };
	});
}

/** Sends writes of one plan together. */
export async function sendTablePlan(writes: readonly PlannedWrite[]): Promise<void> {
	const [first] = writes;
	const steps = writes.flatMap((write) => write.steps);
	if (first) await sendSteps(first.plan, steps, first.isFirst);
	addHints(writes);
}

/**
 * Carries out steps of a plan. Values that are stored unchanged are in the same atomic request as
 * new rows and columns. Only `values.batchUpdate` interprets USER_ENTERED values, and follows.
 * @param isFirst whether to write the headers of new columns, too
 */
export async function sendSteps(
	plan: TablePlan,
	steps: readonly RowStep[],
	isFirst: boolean,
): Promise<void> {
	const changes = mergeChanges(steps.flatMap((step) => step.changes));
	if (isFirst && plan.table.newNames.length > 0) changes.unshift(buildHeaderChange(plan));
	const structure = buildStructureRequests(plan, steps, changes, isFirst);
	const firstRequests = isFirst ? (plan.firstRequests ?? []) : [];
	const rectangles = combineIntoRectangles(changes);
	if (plan.options.valueInputOption === 'USER_ENTERED') {
		await plan.spreadsheet.change(structure);
		await sendInterpretedValues(plan, rectangles);
		// Old cells are cleared last, and stay if the new ones could not be written.
		await plan.spreadsheet.change(firstRequests);
		return;
	}
	await plan.spreadsheet.change([
		...structure,
		...firstRequests,
		...rectangles.map((area) => buildCellsRequest(plan.table.sheetId, area)),
	]);
}

/**
 * Merges the changes of each row. Of several values for a cell, the last one counts: rectangles are
 * not sent in the order of the items.
 */
function mergeChanges(changes: readonly RowChange[]): RowChange[] {
	const cellsByRow = new Map<number, Array<[number, Cell]>>();
	for (const { row, cellsByColumn } of changes)
		getOrAdd(cellsByRow, row, () => []).push(...cellsByColumn);
	return [...cellsByRow].map(([row, cells]) => {
		cells.sort(([a], [b]) => a - b);
		return { row, cellsByColumn: new Map(cells) };
	});
}

async function sendInterpretedValues(plan: TablePlan, rectangles: readonly Rectangle[]) {
	if (rectangles.length === 0) return;
	const data = rectangles.map(({ grid, ...start }) => ({
		range: printTabArea(plan.table.title, start, grid.length, grid[0]?.length ?? 1),
		values: grid.map((line) => line.map((cell) => escapeCell(cell, plan.options))),
	}));
	const requestBody = { valueInputOption: plan.options.valueInputOption, data };
	const spreadsheetId = plan.spreadsheet.id;
	await plan.spreadsheet.valuesApi.batchUpdate({ spreadsheetId, requestBody });
}

/** Adds the hints of writes that were sent. */
export function addHints(writes: readonly PlannedWrite[]): void {
	for (const { plan, item, steps, isFirst } of writes) {
		if (isFirst && plan.firstHint) item.addHint(plan.firstHint);
		for (const { hint } of steps) if (hint) item.addHint(hint);
		const names = findTextsAmongValues(plan, steps);
		if (names.length > 0)
			item.addHint(
				`A text was stored in ${listNames(names)}, where other rows have numbers, dates or checkboxes. Sums and sorting leave it out. Provide a number by {{ Number($json.total) }}, and true or false without quotes. A text such as 2026-01-31 becomes a date if ${quoteField('valueInputOption')} is ${mentionChoice('valueInputOption', 'AUTO')} and the row names its columns.`,
			);
	}
}

/** Returns the names of the columns of numbers, dates or checkboxes in which steps write a text. */
function findTextsAmongValues(plan: TablePlan, steps: readonly RowStep[]) {
	const { table, options, firstRequests } = plan;
	const names = new Set<string>();
	const isTyped = (column: number) => (table.types.get(column) ?? 'text') !== 'text';
	// Google may read such a text as a value. A table that is replaced has no other rows.
	if (options.valueInputOption === 'USER_ENTERED' || firstRequests) return [];
	for (const { changes } of steps)
		for (const { cellsByColumn } of changes)
			for (const [column, cell] of cellsByColumn)
				if (typeof cell === 'string' && cell !== '' && isTyped(column))
					names.add(table.headers[column] || toColumnLetters(column));
	return [...names];
}

function buildHeaderChange({ table, options }: TablePlan): RowChange {
	const cellsByColumn = new Map<number, Cell>();
	for (const [index, name] of table.newNames.entries())
		cellsByColumn.set(table.firstNewColumn + index, toHeaderCell(name, options));
	return { row: table.row, cellsByColumn };
}

/** Builds the requests that add rows and columns, and make a native table include them. */
function buildStructureRequests(
	{ table, endRow }: TablePlan,
	steps: readonly RowStep[],
	changes: readonly RowChange[],
	isFirst: boolean,
): Request[] {
	const { sheetId, nativeTable } = table;
	const added = steps.filter(({ action }) => action === 'appended');
	const startIndex = added[0]?.row ?? endRow;
	const endIndex = startIndex + added.length;
	const requests: Request[] = [];
	let { rowCount, columnCount } = table;
	if (!isFirst) {
		// Earlier requests of the plan have added the rows above, and the columns.
		rowCount = Math.max(rowCount + startIndex - endRow, steps[0]?.row ?? 0);
		columnCount = Math.max(columnCount, table.lastColumn + 1);
	}
	if (added.length > 0 && startIndex < rowCount) {
		const range = { sheetId, dimension: 'ROWS', startIndex, endIndex };
		// The format of the row above is copied, but the first row of a table must not look like
		// its header.
		const inheritFromBefore = startIndex > table.row + 1;
		requests.push({ insertDimension: { range, inheritFromBefore } });
		rowCount += added.length;
	}
	const { lastRow, lastColumn } = findBounds(changes);
	requests.push(
		...buildEnlargeTabRequests(
			{ ...table, rowCount, columnCount },
			lastRow + 1,
			lastColumn + 1,
		),
	);
	// A native table does not grow if rows are added below it.
	const tableEnd = nativeTable?.range.endRowIndex ?? Infinity;
	if (nativeTable && added.length > 0 && endRow >= tableEnd)
		requests.push(buildResizeTableRequest(nativeTable, tableEnd + endIndex - endRow));
	return requests;
}

/**
 * Returns the last row of changes, and the first and last column of their cells. Without any, a
 * last one is -1.
 */
export function findBounds(changes: readonly RowChange[]) {
	const bounds = { lastRow: -1, firstColumn: Infinity, lastColumn: -1 };
	for (const { row, cellsByColumn } of changes) {
		bounds.lastRow = Math.max(bounds.lastRow, row);
		for (const column of cellsByColumn.keys()) {
			bounds.firstColumn = Math.min(bounds.firstColumn, column);
			bounds.lastColumn = Math.max(bounds.lastColumn, column);
		}
	}
	return bounds;
}

/** Neighboring cells with the same number format; undefined if the format does not change. */
interface Rectangle extends CellPosition {
	readonly grid: Cell[][];
	readonly format: NumberFormat | undefined;
}

/** Combines neighboring cells, which makes the requests smaller. */
function combineIntoRectangles(changes: readonly RowChange[]): Rectangle[] {
	const lines = changes.flatMap(splitIntoLines);
	lines.sort((a, b) => a.column - b.column || a.row - b.row);
	const rectangles: Rectangle[] = [];
	for (const line of lines) {
		const above = rectangles.at(-1);
		if (above && isBelow(line, above)) above.grid.push(...line.grid);
		else rectangles.push(line);
	}
	return rectangles;
}

const isBelow = (line: Rectangle, above: Rectangle) =>
	line.column === above.column &&
	line.row === above.row + above.grid.length &&
	line.grid[0]?.length === above.grid[0]?.length &&
	line.format === above.format;

/** Splits the cells of a row into lines of neighbors. */
function splitIntoLines({ row, cellsByColumn }: RowChange): Rectangle[] {
	const lines: Rectangle[] = [];
	let cells: Cell[] = [];
	for (const [column, cell] of cellsByColumn) {
		const format = cell instanceof DateCell ? cell.format : undefined;
		const left = lines.at(-1);
		if (left && column === left.column + cells.length && left.format === format)
			cells.push(cell);
		else {
			cells = [cell];
			lines.push({ row, column, format, grid: [cells] });
		}
	}
	return lines;
}

/** Builds the request that stores values unchanged. */
function buildCellsRequest(sheetId: number, area: Rectangle): Request {
	const userEnteredFormat = area.format && { numberFormat: area.format };
	const rows = area.grid.map((line) => ({
		values: line.map((cell) => ({ ...toCellData(cell), userEnteredFormat })),
	}));
	const start = { sheetId, rowIndex: area.row, columnIndex: area.column };
	let fields = 'userEnteredValue';
	if (userEnteredFormat) fields += ',userEnteredFormat.numberFormat';
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

/**
 * Counts what steps write that are one below another. Without any cell, the range has all columns
 * of the table.
 * @param offset how far below the planned rows they are
 */
export function summarizeSteps(
	{ spreadsheet, table }: TablePlan,
	steps: readonly RowStep[],
	offset = 0,
): WriteResult {
	const changes = steps.flatMap((step) => step.changes);
	const columns = changes.flatMap(({ cellsByColumn }) => [...cellsByColumn.keys()]);
	const { firstColumn, lastColumn } = columns.length > 0 ? findBounds(changes) : table;
	const width = lastColumn - firstColumn + 1;
	const start = { row: (steps[0]?.row ?? 0) + offset, column: firstColumn };
	const isSkipped = steps[0]?.action === 'skipped';
	return {
		spreadsheetId: spreadsheet.id,
		updatedRange: isSkipped ? '' : printTabArea(table.title, start, steps.length, width),
		updatedRows: changes.length,
		updatedColumns: new Set(columns).size,
		updatedCells: columns.length,
	};
}
