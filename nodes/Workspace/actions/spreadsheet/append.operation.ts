import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { NodeError } from '../../../core/errors';
import { defineOperation } from '../../operation';
import { type Cell, escapeCell, hasColumnNames } from './cells';
import { appendFields, appendOptions, type AppendParams, rowDescription } from './fields';
import * as ranges from './range';
import {
	type PlannedWrite,
	planSteps,
	planWrites,
	type RowStep,
	sendSteps,
	sendWrites,
	summarizeSteps,
	type TablePlan,
	type WriteResult,
} from './requests';
import { fitRows, type ItemsWithRows, openTarget, prepareRows } from './rows';
import { buildSpreadsheetUrl } from './spreadsheet';
import { findLastRow } from './table';

type AppendResult = WriteResult & { readonly tableRange?: string };
type AppendPlan = TablePlan & { readonly options: AppendParams };

/** Plans to insert the rows of all items below the last row of their table. */
async function planAppend(sheets: sheets_v4.Sheets, all: ItemsWithRows<AppendParams>) {
	const [first] = all;
	if (!first) return [];
	const { params } = first.prepared;
	const { spreadsheet, target } = await openTarget(sheets, params, first.item);
	const { table, rowsByItem } = await fitRows(spreadsheet, target, params, all);
	const lastRow = await findLastRow(spreadsheet, table);
	// In an empty tab, the first row of cells goes where the header would be.
	const needsNoHeader =
		lastRow === table.row && table.headers.length + table.newNames.length === 0;
	const endRow = needsNoHeader ? table.row : lastRow + 1;
	const plan = { spreadsheet, table, endRow, options: params };
	const stepsByItem = planSteps(rowsByItem, 'appended', endRow);
	return planWrites(plan, all, stepsByItem, async (stepLists, isFirst) => {
		const offset = await insertRows(plan, stepLists.flat(), isFirst);
		return stepLists.map((steps) => buildResult(plan, steps, offset));
	});
}

/** @returns how far below the planned rows the rows are: with USER_ENTERED, Google chooses the place */
async function insertRows(plan: AppendPlan, steps: readonly RowStep[], isFirst: boolean) {
	const isEntered = plan.options.valueInputOption === 'USER_ENTERED';
	const [plannedRow = plan.endRow] = steps[0]?.rows ?? [];
	// Google would copy the format of a header to the first row below it.
	const isBelowRows = plan.endRow > plan.table.row + 1;
	await sendSteps(plan, isEntered && isBelowRows ? [] : steps, isFirst);
	if (!isEntered || !isBelowRows) return 0;
	return (await appendInterpretedValues(plan, steps)) - plannedRow;
}

/**
 * Lets Google interpret values and insert them below the table in one request. With two requests, another process could insert rows between
 * them, and one row would overwrite the other.
 * @returns the first row @throws NodeError with outcome `done` if Google has put the rows elsewhere
 */
async function appendInterpretedValues(
	plan: AppendPlan,
	steps: readonly RowStep[],
): Promise<number> {
	const { spreadsheet, table, endRow, options } = plan;
	const { firstColumn } = table;
	const width = findLastColumn(plan, steps) - firstColumn + 1;
	const values: Cell[][] = [];
	for (const { changes } of steps)
		for (const { cellsByColumn } of changes) {
			const row: Cell[] = [];
			for (let column = firstColumn; column < firstColumn + width; column++)
				row.push(escapeCell(cellsByColumn.get(column) ?? null, options));
			// Google's response begins at the first cell that is not null.
			row[0] ??= '';
			values.push(row);
		}
	const start = { row: endRow - 1, column: firstColumn };
	const range = ranges.printTabArea(table.title, start, 1, width);
	const { updates } = await spreadsheet.append(range, values, options.valueInputOption);
	const updatedRange = updates?.updatedRange ?? '';
	const { row, column } = ranges.parseBounds(ranges.parseRange(updatedRange));
	if (column === firstColumn && row >= endRow) return row;
	throw new NodeError({
		code: 502,
		message: `The rows were appended at ${updatedRange}, but they belong below row ${endRow} in column ${ranges.toColumnLetters(firstColumn)}`,
		description: `They were not moved. Check them in ${buildSpreadsheetUrl(spreadsheet.id)}, and move them before you append more.`,
		outcome: 'done',
	});
}

/** Rows of cells may be wider than the table. */
function findLastColumn({ table, options }: AppendPlan, steps: readonly RowStep[]): number {
	let lastColumn = hasColumnNames(options) ? table.lastColumn : table.firstColumn;
	for (const { changes } of steps)
		for (const { cellsByColumn } of changes)
			lastColumn = Math.max(lastColumn, ...cellsByColumn.keys());
	return lastColumn;
}

/** @param steps those of one item @param offset how far below the planned row the rows are */
function buildResult(plan: AppendPlan, steps: readonly RowStep[], offset: number): AppendResult {
	const { table, endRow } = plan;
	const { firstColumn } = table;
	const columns = [firstColumn, findLastColumn(plan, steps)] as const;
	const result = summarizeSteps(plan, steps, columns, offset);
	const height = endRow - table.row;
	if (height === 0 || table.columnsByName.size === 0) return result;
	const start = { row: table.row, column: firstColumn };
	const width = Math.max(table.lastColumn - firstColumn, 0) + 1;
	return { ...result, tableRange: ranges.printTabArea(table.title, start, height, width) };
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
