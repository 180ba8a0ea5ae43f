import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { NodeError } from '../../../core/errors';
import { defineOperation } from '../../operation';
import { type Cell, escapeCell, hasColumnNames } from './cells';
import { appendFields, appendOptions, type AppendParams, rowDescription } from './fields';
import * as ranges from './range';
import * as requests from './requests';
import { fitRows, type ItemsWithRows, prepareRows } from './rows';
import { buildSpreadsheetUrl, openTarget } from './spreadsheet';
import { findLastRow } from './table';

type Writes = readonly requests.PlannedWrite[];
type AppendResult = requests.WriteResult & { readonly tableRange?: string };

/** Plans to insert the rows of all items below the last row of their table. */
async function planAppend(sheets: sheets_v4.Sheets, all: ItemsWithRows<AppendParams>) {
	const [first] = all;
	if (!first) return [];
	const { params } = first.prepared;
	const { spreadsheet, target } = await openTarget(sheets, params, first.item);
	const { table, rowsByItem } = await fitRows(spreadsheet, target, params, all);
	const lastRow = await findLastRow(spreadsheet, table);
	// In an empty tab, the first row of cells goes where the header would be.
	const isEmpty = lastRow === table.row && table.headers.length + table.newNames.length === 0;
	const endRow = isEmpty ? lastRow : lastRow + 1;
	const plan = { spreadsheet, table, endRow, options: params };
	return requests.planWrites(plan, all, requests.planSteps(rowsByItem, 'appended', endRow));
}

/** Sends writes of one plan, and returns the result of each. */
async function sendAppends(writes: Writes): Promise<AppendResult[]> {
	const [first] = writes;
	if (!first) return [];
	const { table, endRow, options } = first.plan;
	let offset = 0;
	// Google would copy the format of a header to the first row below it.
	if (options.valueInputOption === 'USER_ENTERED' && endRow > table.row + 1)
		offset = await appendInterpretedValues(first, writes);
	else await requests.sendWrites(writes);
	return writes.map((write) => buildResult(write, offset));
}

/**
 * Lets Google interpret values and insert them below the table in one request. With two requests, another process could insert rows between
 * them, and one row would overwrite the other.
 * @returns how far below the planned rows the rows are @throws NodeError with outcome `done` if Google has put the rows elsewhere
 */
async function appendInterpretedValues(
	first: requests.PlannedWrite,
	writes: Writes,
): Promise<number> {
	await requests.sendSteps(first, []);
	const { spreadsheet, table, endRow, options } = first.plan;
	const { title, firstColumn } = table;
	const width = Math.max(...writes.map(findLastColumn)) - firstColumn + 1;
	const changes = writes.flatMap(({ steps }) => steps.flatMap((step) => step.changes));
	const values = changes.map(({ cellsByColumn }) =>
		// Google's response begins at the first cell that is not null.
		Array.from({ length: width }, (_, index): Cell => {
			const cell = cellsByColumn.get(firstColumn + index) ?? (index === 0 ? '' : null);
			return escapeCell(cell, options);
		}),
	);
	const start = { row: endRow - 1, column: firstColumn };
	const range = ranges.printTabArea(title, start, 1, width);
	const { updates } = await spreadsheet.append(range, values, options.valueInputOption);
	const updatedRange = updates?.updatedRange ?? '';
	const { row, column } = ranges.parseBounds(ranges.parseRange(updatedRange));
	if (column !== firstColumn || row < endRow)
		throw new NodeError({
			code: 502,
			message: `The rows were appended at ${updatedRange}, but they belong below row ${endRow} in column ${ranges.toColumnLetters(firstColumn)}`,
			description: `They were not moved. Check them in ${buildSpreadsheetUrl(spreadsheet.id)}, and move them before you append more.`,
			outcome: 'done',
		});
	requests.addHints(writes);
	return row - (changes[0]?.row ?? endRow);
}

/** Returns the last column of a write. Rows of cells may be wider than the table. */
function findLastColumn({ plan, steps }: requests.PlannedWrite): number {
	const { table, options } = plan;
	let lastColumn = hasColumnNames(options) ? table.lastColumn : table.firstColumn;
	for (const { changes } of steps)
		for (const { cellsByColumn } of changes)
			lastColumn = Math.max(lastColumn, ...cellsByColumn.keys());
	return lastColumn;
}

/** @param offset how far below the planned row the rows are */
function buildResult(write: requests.PlannedWrite, offset: number): AppendResult {
	const { plan, steps } = write;
	const { table, endRow } = plan;
	const column = table.firstColumn;
	const start = { row: (steps[0]?.row ?? 0) + offset, column };
	const result = requests.summarizeSteps(plan, steps, start, findLastColumn(write));
	const height = endRow - table.row;
	if (height === 0 || table.columnsByName.size === 0) return result;
	const width = Math.max(table.lastColumn - column, 0) + 1;
	const header = { row: table.row, column };
	return { ...result, tableRange: ranges.printTabArea(table.title, header, height, width) };
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
		send: async (_clients, writes) => await sendAppends(writes),
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
