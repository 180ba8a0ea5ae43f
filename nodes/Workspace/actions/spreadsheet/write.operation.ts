import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal, type NodeError } from '../../../core/errors';
import { mentionChoice, quoteField } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { hasColumnNames, readCellRows, readRows } from './cells';
import * as fields from './fields';
import type { WriteMembers, WriteParams } from './fields';
import { alignRows } from './tableHeader';
import { parseBounds, printCell, buildTargetKey, parseTarget } from './range';
import { type SheetWriteResult, takeOnlyResult, weighRows } from './sendRows';
import { buildEnlargeTabRequests, Spreadsheet } from './spreadsheet';
import { updateTable, maxUpdateBytes } from './write/updateTable';
import { replaceTable, writeRowsAt, writeItemTable } from './write/writeTable';

type WriteResults = Array<SheetWriteResult | SheetWriteResult[] | NodeError>;

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

/** Writes the rows of members that have the same target and options. Only the first member's parameters decide how. */
async function writeByMode(sheets: sheets_v4.Sheets, members: WriteMembers): Promise<WriteResults> {
	const [firstMember] = members;
	if (!firstMember) return [];
	const mode = resolveWriteMode(firstMember.params);
	const spreadsheet = new Spreadsheet(sheets, firstMember.params.spreadsheetId, firstMember.item);
	const params = await spreadsheet.resolveTab(firstMember.params);
	const target = parseTarget(params);
	if (params.createTab) await spreadsheet.createMissingTab(target);
	if (mode === 'update') return await updateTable(spreadsheet, params, members);
	if (mode === 'replace') return await replaceTable(spreadsheet, params, members);
	if (!hasColumnNames(params))
		return await writeRowsAt(spreadsheet, params, target, [readCellRows(params)], members);
	if (params.valuesSource === 'items') return await writeItemTable(spreadsheet, params, members);
	return await writeBelowHeader(spreadsheet, params, members);
}

/** Writes cells below the headers with their names. Begins directly below the header, or in the range's first row if that is lower. */
async function writeBelowHeader(
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
	return await writeRowsAt(spreadsheet, params, start, rowsByMember, members, { prepare });
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
	execute: async (clients, params, item) =>
		takeOnlyResult(await writeByMode(clients.sheets, [{ params, item }])),
	check(params, item) {
		resolveWriteMode(params);
		readRows({ params, item }); // throws if the rows are invalid
	},
	combine: {
		getKey: (params) => (hasColumnNames(params) ? buildTargetKey(params) : undefined),
		execute: async (clients, members) => await writeByMode(clients.sheets, members),
	},
	lock: {
		getKey: (params) =>
			resolveWriteMode(params) === 'overwrite' ? undefined : params.spreadsheetId,
		// Only updates may join a group: a run that replaces the table must not write the rows of another run, too.
		weigh: (params, item) =>
			resolveWriteMode(params) === 'update'
				? weighRows({ params, item }, maxUpdateBytes)
				: undefined,
	},
	toItems: (result) => [result].flat().map((rowResult) => ({ json: { ...rowResult } })),
	nameResult(result) {
		const ranges = [result].flat().map(({ updatedRange }) => updatedRange);
		return `rows ${ranges.join(', ')}`;
	},
});
