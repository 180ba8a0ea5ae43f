import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, NodeError } from '../../../core/errors';
import { defineOperation } from '../../operation';
import { type Cell, escapeCell, hasColumnNames } from './cells';
import { appendFields, appendOptions, type AppendParams, rowDescription } from './fields';
import * as ranges from './range';
import {
	type PlannedWrite,
	type RowStep,
	sendSteps,
	sendWrites,
	summarizeSteps,
	type TablePlan,
	toPlannedWrites,
	type WriteResult,
} from './requests';
import { buildSpreadsheetUrl, type Spreadsheet } from './spreadsheet';
import { findLastRow, type FittedTable, openTable } from './table';
import { addRowHints, fitRows, type ItemsWithRows, openTarget, prepareRows } from './tableRows';
import { sortByColumn } from './write/planUpdate';

type AppendResult = WriteResult & { readonly tableRange?: string };
type CellsByColumn = ReadonlyMap<number, Cell>;

/** The rows to append, and the columns of the results. */
interface PlacedRows {
	readonly table: FittedTable;
	readonly rowsByItem: ReadonlyArray<readonly CellsByColumn[] | NodeError>;
	readonly firstColumn: number;
	/** Undefined for rows of cells, whose own columns count. */
	readonly lastColumn: number | undefined;
	/** The last row of the table. The row above the header if there is no header either. */
	readonly lastRow: number;
	addHints(index: number): void;
}

/** Finds the columns of rows by the names of their cells. */
async function placeNamedRows(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	params: AppendParams,
	all: ItemsWithRows<AppendParams>,
): Promise<PlacedRows> {
	const { table, rowsByItem } = await fitRows(spreadsheet, target, params, all);
	const { firstColumn, lastColumn, columnsByName } = table;
	return {
		table,
		firstColumn,
		lastColumn,
		lastRow: rowsByItem.every(isNodeError) ? 0 : await findLastRow(spreadsheet, table),
		rowsByItem: rowsByItem.map((rows) =>
			isNodeError(rows)
				? rows
				: rows.map(({ cellsByName }) => sortByColumn(cellsByName, columnsByName)),
		),
		addHints(index) {
			const rows = rowsByItem[index];
			const item = all[index]?.item;
			if (item && rows && !isNodeError(rows)) addRowHints(item, rows, table);
		},
	};
}

/** Puts rows of cells into the first columns of the range, or else of the table. The last row is looked for in all columns of the range. */
async function placeCellRows(
	spreadsheet: Spreadsheet,
	target: ranges.TabRange,
	params: AppendParams,
	all: ItemsWithRows<AppendParams>,
): Promise<PlacedRows> {
	const getRow = () => params.headerRow - 1;
	const table = await openTable(spreadsheet, target, { getRow });
	const lastRow = await findLastRow(spreadsheet, { ...table, names: [] });
	const isEmpty = lastRow === table.row && table.headers.length === 0;
	const firstColumn = target.a1 === undefined ? table.firstColumn : table.rangeStart;
	const rowsByItem = all.map(({ prepared }) => prepared.given.cellRows ?? []);
	return {
		table: { ...table, newNames: [] },
		firstColumn,
		lastColumn: undefined,
		lastRow: isEmpty ? lastRow - 1 : lastRow,
		rowsByItem: rowsByItem.map((rows) => rows.map((row) => shiftCells(row, firstColumn))),
		addHints: () => undefined,
	};
}

function shiftCells(row: readonly Cell[], firstColumn: number): CellsByColumn {
	const cellsByColumn = new Map<number, Cell>();
	for (const [index, cell] of row.entries())
		if (cell !== null) cellsByColumn.set(firstColumn + index, cell);
	return cellsByColumn;
}

/** Plans to insert the rows of all items below the last row of their table. */
async function planAppend(sheets: sheets_v4.Sheets, all: ItemsWithRows<AppendParams>) {
	const [first] = all;
	if (!first) return [];
	const { params } = first.prepared;
	const { spreadsheet, target } = await openTarget(sheets, params, first.item);
	const placeRows = hasColumnNames(params) ? placeNamedRows : placeCellRows;
	const placedRows = await placeRows(spreadsheet, target, params, all);
	const { table, rowsByItem, lastRow } = placedRows;
	const plan = { spreadsheet, table, endRow: lastRow + 1, options: params };
	const stepsByItem = buildSteps(rowsByItem, plan.endRow);
	return toPlannedWrites(rowsByItem, async (indexes) => {
		const stepLists = indexes.map((index) => stepsByItem[index] ?? []);
		const startRow = await sendRows(plan, placedRows, stepLists.flat(), indexes[0] === 0);
		const plannedRow = stepLists[0]?.[0]?.rows[0] ?? startRow;
		for (const index of indexes) placedRows.addHints(index);
		return stepLists.map((steps) =>
			buildResult(plan, placedRows, steps, startRow - plannedRow),
		);
	});
}

/** Inserts rows. @returns the first of them, which Google chooses with USER_ENTERED */
async function sendRows(
	plan: TablePlan,
	placedRows: PlacedRows,
	steps: readonly RowStep[],
	isFirst: boolean,
): Promise<number> {
	const isEntered = plan.options.valueInputOption === 'USER_ENTERED';
	// Google would copy the format of a header to the first row below it.
	if (isEntered && placedRows.lastRow > plan.table.row) {
		await sendSteps(plan, [], isFirst);
		return await appendEntered(plan, placedRows, steps);
	}
	await sendSteps(plan, steps, isFirst);
	return steps[0]?.rows[0] ?? plan.endRow;
}

/**
 * Lets Google interpret values and insert them below the table in one request. With two requests, somebody else could insert rows between
 * them. @throws NodeError with outcome `done` if Google has put the rows elsewhere
 */
async function appendEntered(
	{ spreadsheet, table, options }: TablePlan,
	{ firstColumn, lastColumn, lastRow }: PlacedRows,
	steps: readonly RowStep[],
): Promise<number> {
	const width = (lastColumn ?? findLastColumn(steps, firstColumn)) - firstColumn + 1;
	const values: Cell[][] = [];
	for (const { changes } of steps)
		for (const { cellsByColumn } of changes) {
			const [firstCell = '', ...otherCells] = Array.from(
				{ length: width },
				(_, index) => cellsByColumn.get(firstColumn + index) ?? null,
			).map((cell) => escapeCell(cell, options));
			// Google's response begins at the first cell that is not null.
			values.push([firstCell ?? '', ...otherCells]);
		}
	const range = ranges.printTabArea(table.title, { row: lastRow, column: firstColumn }, 1, width);
	const { valueInputOption } = options;
	const request = { range, insertDataOption: 'INSERT_ROWS', valueInputOption };
	const { updates } = await spreadsheet.append(request, values);
	const updatedRange = updates?.updatedRange ?? '';
	const { row, column } = ranges.parseBounds(ranges.parseRange(updatedRange));
	if (column === firstColumn && row > lastRow) return row;
	throw new NodeError({
		code: 502,
		message: `The rows were appended at ${updatedRange}, but they belong below row ${lastRow + 1} in column ${ranges.toColumnLetters(firstColumn)}`,
		description: `They were not moved. Check them in ${buildSpreadsheetUrl(spreadsheet.id)}, and move them before you append more.`,
		outcome: 'done',
	});
}

function findLastColumn(steps: readonly RowStep[], firstColumn: number): number {
	let lastColumn = firstColumn;
	for (const { changes } of steps)
		for (const { cellsByColumn } of changes)
			lastColumn = Math.max(lastColumn, ...cellsByColumn.keys());
	return lastColumn;
}

/** Builds a step for each row, one below another. */
function buildSteps(rowsByItem: PlacedRows['rowsByItem'], endRow: number): RowStep[][] {
	let nextRow = endRow;
	return rowsByItem.map((rows) => {
		const steps: RowStep[] = [];
		for (const cellsByColumn of isNodeError(rows) ? [] : rows) {
			const row = nextRow++;
			steps.push({ action: 'appended', rows: [row], changes: [{ row, cellsByColumn }] });
		}
		return steps;
	});
}

/** @param steps those of one item @param offset how far below the planned row the rows are */
function buildResult(
	plan: TablePlan,
	{ firstColumn: column, lastColumn }: PlacedRows,
	steps: readonly RowStep[],
	offset: number,
): AppendResult {
	const { table, endRow } = plan;
	const width = (lastColumn ?? findLastColumn(steps, column)) - column + 1;
	const start = { row: (steps[0]?.rows[0] ?? endRow) + offset, column };
	const range = ranges.printTabArea(table.title, start, steps.length, width);
	const result = summarizeSteps(plan, steps, range);
	const tableHeight = endRow - table.row;
	if (tableHeight === 0 || table.headers.length === 0) return result;
	const tableStart = { row: table.row, column };
	const tableWidth = Math.max(table.lastColumn - column, 0) + 1;
	return {
		...result,
		tableRange: ranges.printTabArea(table.title, tableStart, tableHeight, tableWidth),
	};
}

export const append = defineOperation({
	value: 'append',
	name: 'Append',
	action: 'Append rows to spreadsheet',
	description: 'Add rows below a table. Items for the same table are sent together.',
	modelDescription: 'Add rows below a table in Google Sheets.',
	modelCautions: { field: 'valuesSource', byValue: { json: rowDescription } },
	fields: appendFields,
	options: appendOptions,
	prepare: (params, item) => prepareRows(params, item),
	combine: {
		getKey: (params) => `${ranges.buildTargetKey(params)} ${hasColumnNames(params)}`,
		getLockId: (params) => params.spreadsheetId,
		weigh: ({ weight }) => weight,
		plan: async ({ sheets }, all) => await planAppend(sheets, all),
		send: async (_clients, writes: ReadonlyArray<PlannedWrite<AppendResult>>) =>
			await sendWrites(writes),
	},
	nameResult: ({ updatedRange }) => `rows ${updatedRange}`,
	recover(_clients, { params: { spreadsheetId, tab, range } }, failure) {
		// Equal rows may have been there before, so reading the sheet would prove nothing.
		const description = `They were not sent again, to avoid duplicates. Check below the table at ${ranges.printTarget({ tab, range })} in ${buildSpreadsheetUrl(spreadsheetId)} before you run this again.`;
		throw failure.with({
			message: `The rows may have been appended: ${failure.message}`,
			description,
		});
	},
});
