import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal, isNodeError, type NodeError } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { hasColumnNames } from './cells';
import * as fields from './fields';
import type { WriteParams } from './fields';
import { buildTargetKey, parseBounds, printTabArea, type TabRange } from './range';
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
import type { Spreadsheet } from './spreadsheet';
import { addRowHints, fitRows, type ItemsWithRows, openTarget, prepareRows } from './tableRows';
import { planUpdate, sortByColumn } from './write/planUpdate';
import { planReplacement } from './write/replaceTable';
import { writeCells } from './write/writeCells';

/** The result of one item. If rows are matched, each row has its own, with its action. */
type ItemResult = WriteResult | Array<WriteResult & Pick<RowStep, 'action'>>;
type WriteMode = WriteParams['writeMode'];

/** Decides what happens to existing rows. Match columns always mean an update. @throws NodeError 400 if they are missing or do not fit */
function resolveWriteMode(params: WriteParams): WriteMode {
	const { writeMode, matchColumns } = params;
	const hasMatchColumns = matchColumns.length > 0;
	if (!hasColumnNames(params) && (hasMatchColumns || writeMode !== 'overwrite'))
		throw createRefusal(
			`${quoteField(hasMatchColumns ? 'matchColumns' : 'writeMode')} needs rows with column names, but ${quoteField('values')} holds rows of cells`,
			`Enter rows as objects, such as [{ "Name": "Anna", "Age": 31 }], or set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'overwrite')}.`,
		);
	if (hasMatchColumns && writeMode === 'replace')
		throw createRefusal(
			`${quoteField('matchColumns')} cannot be used when ${quoteField('writeMode')} is ${mentionChoice('writeMode', 'replace')}`,
			'All rows are replaced, so there is nothing to match. Remove one of them.',
		);
	if (hasMatchColumns) return writeMode === 'update' ? 'update' : 'updateOrAdd';
	if (writeMode === 'replace' || writeMode === 'overwrite') return writeMode;
	throw createRefusal(
		`${quoteField('matchColumns')} is required to update rows`,
		`Choose the columns that identify a row, or ${mentionChoice('matchColumns', fields.rowNumberKey)} for rows that were read from this tab. To write without looking for rows, set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'overwrite')} or ${mentionChoice('writeMode', 'replace')}.`,
	);
}

/** Plans the writes of items that have the same target and options. */
async function planWrite(
	sheets: sheets_v4.Sheets,
	all: ItemsWithRows<WriteParams>,
): Promise<Array<PlannedWrite<ItemResult> | NodeError>> {
	const [first] = all;
	if (!first) return [];
	const params = { ...first.prepared.params, writeMode: resolveWriteMode(first.prepared.params) };
	const { spreadsheet, target } = await openTarget(sheets, params, first.item);
	const { cellRows } = first.prepared.given;
	// Without column names, an item is alone.
	if (cellRows)
		return toPlannedWrites(all, async () => [
			await writeCells(spreadsheet, target, params, cellRows),
		]);
	if (params.writeMode === 'replace')
		return await planReplacement(spreadsheet, target, params, all);
	if (params.writeMode === 'overwrite')
		return await planOverwrite(spreadsheet, target, params, all);
	return await planMatchedRows(spreadsheet, target, params, all);
}

/** Plans to write rows below the header, or from the range's first row on if that is lower. */
async function planOverwrite(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: WriteParams,
	all: ItemsWithRows<WriteParams>,
) {
	const { table, rowsByItem } = await fitRows(spreadsheet, target, params, all);
	const startRow = Math.max(table.row + 1, parseBounds(table.target).row);
	const plan = { spreadsheet, table, endRow: startRow, options: params };
	let nextRow = startRow;
	const stepsByItem = rowsByItem.map((rows) => {
		const steps: RowStep[] = [];
		for (const { cellsByName } of isNodeError(rows) ? [] : rows) {
			const row = nextRow++;
			const cellsByColumn = sortByColumn(cellsByName, table.columnsByName);
			steps.push({ action: 'updated', rows: [row], changes: [{ row, cellsByColumn }] });
		}
		return steps;
	});
	const { firstColumn: column, lastColumn, title } = table;
	return toPlannedWrites(rowsByItem, async (indexes) => {
		const stepLists = indexes.map((index) => stepsByItem[index] ?? []);
		await sendSteps(plan, stepLists.flat(), indexes[0] === 0);
		return stepLists.map((steps): WriteResult => {
			const start = { row: steps[0]?.rows[0] ?? startRow, column };
			const range = printTabArea(title, start, steps.length, lastColumn - column + 1);
			return summarizeSteps(plan, steps, range);
		});
	});
}

/** Plans to update the rows that match. In the mode `updateOrAdd`, the others are added below the table. */
async function planMatchedRows(
	spreadsheet: Spreadsheet,
	target: TabRange,
	params: WriteParams,
	all: ItemsWithRows<WriteParams>,
) {
	const { table, rowsByItem } = await fitRows(spreadsheet, target, params, all);
	if (rowsByItem.every(isNodeError)) return rowsByItem;
	const { stepsByItem, lastRow } = await planUpdate(spreadsheet, table, params, rowsByItem);
	const plan = { spreadsheet, table, endRow: lastRow + 1, options: params };
	return toPlannedWrites(stepsByItem, async (indexes) => {
		const stepLists = indexes.map((index) => {
			const steps = stepsByItem[index] ?? [];
			return isNodeError(steps) ? [] : steps;
		});
		await sendSteps(plan, stepLists.flat(), indexes[0] === 0);
		for (const [position, index] of indexes.entries()) {
			const rows = rowsByItem[index];
			const item = all[index]?.item;
			if (!item || !rows || isNodeError(rows)) continue;
			addRowHints(item, rows, table);
			for (const { hint } of stepLists[position] ?? []) if (hint) item.addHint(hint);
		}
		return stepLists.map((steps) => steps.map((step) => buildStepResult(plan, step)));
	});
}

function buildStepResult(plan: TablePlan, step: RowStep) {
	const { table } = plan;
	const { action, rows, changes } = step;
	const writtenColumns = changes.flatMap(({ cellsByColumn }) => [...cellsByColumn.keys()]);
	const columns =
		writtenColumns.length > 0 ? writtenColumns : [table.firstColumn, table.lastColumn];
	const start = { row: changes[0]?.row ?? rows[0] ?? 0, column: Math.min(...columns) };
	const width = Math.max(...columns) - start.column + 1;
	const range = action === 'skipped' ? '' : printTabArea(table.title, start, 1, width);
	return { ...summarizeSteps(plan, [step], range), action };
}

const caution = 'Destructive: the previous values of these cells are lost.';

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Update or write rows in spreadsheet',
	description: 'Update rows that match, replace a table, or write rows to a range',
	caution,
	modelDescription: 'Write rows in Google Sheets.',
	modelCautions: {
		field: 'valuesSource',
		byValue: { json: `${caution} ${fields.rowDescription}` },
	},
	isIdempotent: () => true,
	fields: fields.writeFields,
	options: fields.writeOptions,
	prepare(params, item) {
		const prepared = prepareRows(params, item);
		resolveWriteMode(params);
		return prepared;
	},
	combine: {
		getKey: (params) => (hasColumnNames(params) ? buildTargetKey(params) : undefined),
		getLockId: (params) =>
			resolveWriteMode(params) === 'overwrite' ? undefined : params.spreadsheetId,
		// A run that replaces the table must not write the rows of another run, too.
		weigh: ({ params, weight }) =>
			resolveWriteMode(params) === 'replace' ? undefined : weight,
		plan: async ({ sheets }, all) => await planWrite(sheets, all),
		send: async (_clients, writes) => await sendWrites(writes),
	},
	toItems: (result) => [result].flat().map((rowResult) => ({ json: { ...rowResult } })),
	nameResult(result) {
		const ranges = [result].flat().map(({ updatedRange }) => updatedRange);
		return `rows ${ranges.join(', ')}`;
	},
});
