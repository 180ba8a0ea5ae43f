import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { NodeError } from '../../../core/errors';
import { defineOperation } from '../../operation';
import { type Cell, countColumns, escapeCell, hasColumnNames } from './cells';
import { appendFields, appendOptions, type AppendParams, rowDescription } from './fields';
import * as ranges from './range';
import { fitRows, type ItemsWithRows, prepareRows, refuseSecondHeader } from './rows';
import { buildSpreadsheetUrl, openTarget, RequestBody } from './spreadsheet';
import { findLastRow } from './table';
import * as plans from './tablePlan';

type Writes = readonly plans.PlannedWrite[];
type AppendResult = plans.WriteResult & { readonly tableRange?: string };

/** Plans to insert the rows of all items below the last row of their table. */
async function planAppend(sheets: sheets_v4.Sheets, all: ItemsWithRows<AppendParams>) {
	const [first] = all;
	if (!first) return [];
	const { params } = first.prepared;
	const { spreadsheet, target } = await openTarget(sheets, params, first.item);
	const { table, fitted } = await fitRows(spreadsheet, target, params, all);
	const lastRow = await findLastRow(spreadsheet, table);
	refuseSecondHeader(table, lastRow);
	// In an empty tab, the first row of cells goes where the header would be.
	const isEmpty = lastRow === table.row && table.headers.length + table.newNames.length === 0;
	const endRow = isEmpty ? lastRow : lastRow + 1;
	return plans.planBlock({ spreadsheet, table, endRow, options: params }, fitted, 'appended');
}

/** Sends writes of one plan, and returns the result of each. */
async function sendAppends(writes: Writes): Promise<AppendResult[]> {
	const [first] = writes;
	if (!first) return [];
	const { table, endRow, options } = first.plan;
	// Directly below a header, Google would insert rows that look like it.
	const isBelowHeader = endRow <= table.row + 1;
	if (options.valueInputOption !== 'USER_ENTERED' || isBelowHeader) {
		await plans.sendTablePlan(writes);
		return writes.map((write) => buildResult(write, 0));
	}
	// Only the structure: headers of new columns, and what belongs to a native table.
	await plans.sendSteps(first.plan, [], first.isFirst);
	const firstRow = await appendInterpretedValues(first.plan, writes);
	plans.addHints(writes);
	const offset = firstRow - (first.steps[0]?.row ?? 0);
	return writes.map((write) => buildResult(write, offset));
}

/**
 * Lets Google interpret values and insert them below the table in one request. With two requests,
 * another process could insert rows between them, and one row would overwrite the other.
 * @returns the first row
 * @throws NodeError with outcome `done` if Google has put the rows elsewhere
 */
async function appendInterpretedValues(plan: plans.TablePlan, writes: Writes): Promise<number> {
	const { spreadsheet, table, endRow, options } = plan;
	const { title, firstColumn } = table;
	const values = buildValues(plan, writes);
	const lastRowStart = { row: endRow - 1, column: firstColumn };
	const { data } = await spreadsheet.valuesApi.append({
		spreadsheetId: spreadsheet.id,
		// Google looks for a table in these columns.
		range: ranges.printTabArea(title, lastRowStart, 1, countColumns(values)),
		insertDataOption: 'INSERT_ROWS',
		valueInputOption: options.valueInputOption,
		requestBody: new RequestBody({ values }),
	});
	const updatedRange = data.updates?.updatedRange ?? '';
	const place = ranges.parseBounds(ranges.parseRange(updatedRange));
	if (place.column === firstColumn && place.row >= endRow) return place.row;
	throw new NodeError({
		code: 502,
		message: `The rows were appended at ${updatedRange}, but they belong below row ${endRow} in column ${ranges.toColumnLetters(firstColumn)}`,
		description: `They were not moved. Check them in ${buildSpreadsheetUrl(spreadsheet.id)}, and move them before you append more.`,
		outcome: 'done',
	});
}

/** Builds rows of equal width, which begin at the first column of the table. */
function buildValues({ table, options }: plans.TablePlan, writes: Writes): Cell[][] {
	const changes = writes.flatMap(({ steps }) => steps.flatMap((step) => step.changes));
	// Rows of cells may be narrower than their table.
	const { lastColumn } = hasColumnNames(options) ? table : plans.findBounds(changes);
	const width = Math.max(1, lastColumn - table.firstColumn + 1);
	return changes.map(({ cellsByColumn }) => {
		const cells = Array.from({ length: width }, (_, index) =>
			escapeCell(cellsByColumn.get(table.firstColumn + index) ?? null, options),
		);
		// Google's response begins at the first cell that is not null.
		cells[0] ??= '';
		return cells;
	});
}

/** @param offset how far below the planned row the rows are */
function buildResult({ plan, steps }: plans.PlannedWrite, offset: number): AppendResult {
	const { table, endRow } = plan;
	const start = { row: table.row, column: table.firstColumn };
	const result = plans.summarizeSteps(plan, steps, offset);
	const height = endRow - start.row;
	if (height === 0 || table.columnsByName.size === 0) return result;
	const width = table.lastColumn - start.column + 1;
	return { ...result, tableRange: ranges.printTabArea(table.title, start, height, width) };
}

export const append = defineOperation({
	value: 'append',
	name: 'Append',
	action: 'Append rows to spreadsheet',
	description: 'Add rows below a table. To leave out rows that are already there, use Write.',
	modelDescription: `Add rows below a table in Google Sheets. ${rowDescription}`,
	fields: appendFields,
	options: appendOptions,
	prepare: (params, item) => prepareRows(params, item),
	combine: {
		getKey: (params) => `${ranges.buildTargetKey(params)} ${hasColumnNames(params)}`,
		getPlace: ranges.buildTabKey,
		getLockId: ({ params }) => params.spreadsheetId,
		weigh: ({ weight }) => weight,
		plan: ({ sheets }, all) => planAppend(sheets, all),
		send: (_clients, writes) => sendAppends(writes),
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
