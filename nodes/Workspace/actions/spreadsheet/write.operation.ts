import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal, isNodeError, type NodeError } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { hasColumnNames } from './cells';
import * as fields from './fields';
import type { WriteParams } from './fields';
import { buildTabKey, buildTargetKey } from './range';
import { fitRows, type ItemsWithRows, prepareRows } from './rows';
import { openTarget } from './spreadsheet';
import { getFirstRow } from './table';
import * as plans from './tablePlan';
import { planMatches } from './write/matchRows';
import { planReplacement } from './write/replaceTable';
import { type CellsWrite, writeCells } from './write/writeCells';

type Write = plans.PlannedWrite | CellsWrite;
/** The results of one item. If rows are matched, each row has its own, with its action. */
type WriteOutcome = ReadonlyArray<plans.WriteResult & Partial<Pick<plans.RowStep, 'action'>>>;

/**
 * @throws NodeError 400 if match columns are missing, or if something does not fit the write mode
 */
function checkWriteMode(params: WriteParams): void {
	const { writeMode, matchColumns, unmatched } = params;
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
	if (unmatched === 'skip' && writeMode !== 'update')
		throw createRefusal(
			`${quoteField('unmatched')} can only be ${mentionChoice('unmatched', 'skip')} when ${quoteField('writeMode')} is ${mentionChoice('writeMode', 'update')}`,
			'Otherwise, rows that match none are added. Set both, or remove it.',
		);
	if (!hasMatchColumns && (writeMode === 'update' || writeMode === 'updateOrAdd'))
		throw createRefusal(
			`${quoteField('matchColumns')} is required to update rows`,
			`Choose the columns that identify a row, or ${mentionChoice('matchColumns', fields.rowNumberKey)} for rows that were read from this tab. To write without looking for rows, set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'overwrite')} or ${mentionChoice('writeMode', 'replace')}.`,
		);
}

/** Plans the writes of items that have the same target and options. */
async function planWrites(
	sheets: sheets_v4.Sheets,
	all: ItemsWithRows<WriteParams>,
): Promise<Array<Write | NodeError>> {
	const [first] = all;
	if (!first) return [];
	const { params, cellRows } = first.prepared;
	const { spreadsheet, target } = await openTarget(sheets, params, first.item);
	// Rows of cells have no key, so their item is alone.
	if (cellRows.length > 0) return [{ spreadsheet, target, params, rows: cellRows }];
	if (params.writeMode === 'replace')
		return await planReplacement(spreadsheet, target, params, all);
	const { table, fitted } = await fitRows(spreadsheet, target, params, all);
	if (params.writeMode !== 'overwrite')
		return await planMatches(spreadsheet, table, params, fitted);
	const plan = { spreadsheet, table, endRow: getFirstRow(table), options: params };
	const writes = plans.planBlock(plan, fitted, 'updated');
	return writes.map((write) => (isNodeError(write) ? write : (findOverflow(write) ?? write)));
}

/** Returns the refusal of rows beyond the end of their range. */
function findOverflow({ plan, steps }: plans.PlannedWrite): NodeError | undefined {
	const { target, area, row } = plan.table;
	const { lastRow, lastColumn } = plans.findBounds(steps.flatMap(({ changes }) => changes));
	// A range that ends with the header row names the table, and does not end it.
	const isOpen = area.lastRow === Infinity || area.lastRow <= row;
	if (isOpen || (lastRow <= area.lastRow && lastColumn <= area.lastColumn)) return undefined;
	return createRefusal(
		`The rows reach beyond the range ${target.a1}`,
		`Enter a larger area or only its first cell in ${quoteField('range')}, or use Append, which adds rows.`,
	);
}

async function sendWrites(writes: readonly Write[]): Promise<WriteOutcome[]> {
	const [first] = writes;
	if (first && 'rows' in first) return [[await writeCells(first)]];
	const plannedWrites = writes.filter((write) => 'plan' in write);
	await plans.sendTablePlan(plannedWrites);
	return plannedWrites.map(({ plan, steps }) => {
		if (!plan.hasResultPerRow) return [plans.summarizeSteps(plan, steps)];
		return steps.map((step) => ({
			...plans.summarizeSteps(plan, [step]),
			action: step.action,
		}));
	});
}

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Update or add rows in spreadsheet',
	description:
		'Update rows that match and add the others, replace a table, or write rows to a range',
	caution: 'Destructive: the previous values of these cells are lost.',
	modelDescription: `Write rows in Google Sheets. ${fields.rowDescription}`,
	isIdempotent: () => true,
	fields: fields.writeFields,
	options: fields.writeOptions,
	prepare(params, item) {
		const prepared = prepareRows(params, item);
		checkWriteMode(params);
		// Match columns always mean an update.
		const isMatched = params.writeMode === 'overwrite' && params.matchColumns.length > 0;
		const writeMode = isMatched ? ('updateOrAdd' as const) : params.writeMode;
		return { ...prepared, params: { ...params, writeMode } };
	},
	combine: {
		getKey: (params) => (hasColumnNames(params) ? buildTargetKey(params) : undefined),
		getPlace: buildTabKey,
		getLockId: ({ params }) =>
			params.writeMode === 'overwrite' ? undefined : params.spreadsheetId,
		// A run that replaces the table must not write the rows of another run, too.
		weigh: ({ params, weight }) => (params.writeMode === 'replace' ? undefined : weight),
		plan: ({ sheets }, all) => planWrites(sheets, all),
		send: (_clients, writes) => sendWrites(writes),
	},
	toItems: (results) => results.map((result) => ({ json: { ...result } })),
	nameResult: (results) => `rows ${results.map(({ updatedRange }) => updatedRange).join(', ')}`,
});
