import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal, type NodeError } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { type Cell, hasColumnNames, readCellRows, readRows } from './cells';
import * as fields from './fields';
import type { WriteMembers, WriteParams } from './fields';
import { alignRows } from './tableHeader';
import { parseBounds, printCell, buildTargetKey, parseTarget } from './range';
import {
	type PlannedWrite,
	type SheetWriteResult,
	sendWrites,
	toPlannedWrites,
	weighRows,
} from './sendRows';
import { buildEnlargeTabRequests, Spreadsheet } from './spreadsheet';
import type { MatchStep } from './write/matchPlan';
import { planUpdate, maxUpdateBytes } from './write/updateTable';
import { planReplacement, planRowsAt, planItemTable } from './write/writeTable';

/** Decides what happens to existing rows. Match columns always mean an update. @throws NodeError 400 if they are missing or do not fit */
function resolveWriteMode(params: WriteParams): WriteParams['writeMode'] {
	const { writeMode, matchColumns } = params;
	const hasMatchColumns = matchColumns.length > 0;
	const namesMessage = `${quoteField(hasMatchColumns ? 'matchColumns' : 'writeMode')} needs rows with column names, but ${quoteField('values')} holds rows of cells`;
	if (!hasColumnNames(params) && (hasMatchColumns || writeMode !== 'overwrite'))
		throw createRefusal(
			namesMessage,
			'Enter rows as objects, such as [{ "Name": "Anna", "Age": 31 }].',
		);
	const conflict = `${quoteField('matchColumns')} cannot be used when ${quoteField('writeMode')} is ${mentionChoice('writeMode', 'replace')}`;
	if (hasMatchColumns && writeMode === 'replace')
		throw createRefusal(
			conflict,
			'All rows are replaced, so there is nothing to match. Remove one of them.',
		);
	if (hasMatchColumns) return 'update';
	if (writeMode !== 'update') return writeMode;
	throw createRefusal(
		`${quoteField('matchColumns')} is required to update rows`,
		`Choose the columns that identify a row, or ${mentionChoice('matchColumns', fields.rowNumberKey)} for rows that were read from this tab. To write without looking for rows, set ${quoteField('writeMode')} to ${mentionChoice('writeMode', 'overwrite')} or ${mentionChoice('writeMode', 'replace')}.`,
	);
}

/** Plans the writes of members that have the same target and options. Only the first member's parameters decide how. */
async function planByMode(sheets: sheets_v4.Sheets, members: WriteMembers): Promise<WritePlan> {
	const [firstMember] = members;
	if (!firstMember) return [];
	const mode = resolveWriteMode(firstMember.params);
	const spreadsheet = new Spreadsheet(sheets, firstMember.params.spreadsheetId, firstMember.item);
	const params = await spreadsheet.resolveTab(firstMember.params);
	const target = parseTarget(params);
	if (params.createTab) await spreadsheet.createMissingTab(target);
	if (mode === 'update')
		return toPlannedWrites(await planUpdate(spreadsheet, params, members), members);
	const plan = await planCells(mode, spreadsheet, params, members);
	return toPlannedWrites(plan, members);
}

type WritePlan = ReadonlyArray<
	PlannedWrite<MatchStep[] | Cell[][], SheetWriteResult | SheetWriteResult[]> | NodeError
>;

async function planCells(
	mode: WriteParams['writeMode'],
	spreadsheet: Spreadsheet,
	params: WriteParams,
	members: WriteMembers,
) {
	if (mode === 'replace') return await planReplacement(spreadsheet, params, members);
	if (!hasColumnNames(params))
		return planRowsAt(
			spreadsheet,
			params,
			parseTarget(params),
			[readCellRows(params)],
			members,
		);
	if (params.valuesSource === 'items') return await planItemTable(spreadsheet, params, members);
	return await planBelowHeader(spreadsheet, params, members);
}

/** Plans cells below the headers with their names. Begins directly below the header, or in the range's first row if that is lower. */
async function planBelowHeader(
	spreadsheet: Spreadsheet,
	params: WriteParams,
	members: WriteMembers,
) {
	const { target, header, rowsByMember, addHeaders } = await alignRows(
		spreadsheet,
		params,
		members,
	);
	const row = Math.max(params.headerRow, parseBounds(target).row); // counts from 0, so `headerRow` is the row below the header
	const start = { tab: header.title, a1: printCell({ row, column: header.firstColumn }) };
	const prepare = async (rowCount: number) => {
		await addHeaders();
		// The header may be the last row of the tab, so that there is no row below it yet.
		const minRows = row + rowCount;
		if (row === params.headerRow)
			await spreadsheet.change(buildEnlargeTabRequests(header, { minRows }));
	};
	return planRowsAt(spreadsheet, params, start, rowsByMember, members, { prepare });
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
		resolveWriteMode(params);
		readRows({ params, item }); // throws if the rows are invalid
		return { params, item };
	},
	combine: {
		getKey: (params) => (hasColumnNames(params) ? buildTargetKey(params) : undefined),
		getLockId: (params) =>
			resolveWriteMode(params) === 'overwrite' ? undefined : params.spreadsheetId,
		weigh(member) {
			const mode = resolveWriteMode(member.params);
			if (mode === 'replace') return undefined;
			return weighRows(member, mode === 'update' ? maxUpdateBytes : undefined);
		},
		plan: async ({ sheets }, all) =>
			await planByMode(
				sheets,
				all.map(({ prepared }) => prepared),
			),
		send: async (_clients, writes) => await sendWrites(writes),
	},
	toItems: (result) => [result].flat().map((rowResult) => ({ json: { ...rowResult } })),
	nameResult(result) {
		const ranges = [result].flat().map(({ updatedRange }) => updatedRange);
		return `rows ${ranges.join(', ')}`;
	},
});
