import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { createRefusal, type NodeError } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { hasColumnNames, readCellRows, readRows } from './cells';
import * as fields from './fields';
import { arrangeRowsByHeader } from './headerRow';
import { parseBounds, printCell, buildTargetKey, parseTarget } from './range';
import { type SheetWriteResult, takeOnlyResult, weighRows } from './sendRows';
import { buildEnlargeTabRequests, Spreadsheet } from './spreadsheet';
import { matchRows, maxUpdateBytes } from './write/matchRows';
import { replaceTable, writeConsecutiveRows, writeItems } from './write/writeTable';

/** Decides what happens to the rows that are there. Columns to match by always mean an update. @throws NodeError 400 */
function resolveWriteMode(params: fields.WriteParams): fields.WriteParams['writeMode'] {
	const { writeMode, matchColumns } = params;
	const hasMatchColumns = matchColumns.length > 0;
	const namesMessage = `${quoteField(hasMatchColumns ? 'matchColumns' : 'writeMode')} needs rows with column names, but ${quoteField('values')} holds rows of cells`;
	if (!hasColumnNames(params) && (hasMatchColumns || writeMode !== 'overwrite'))
		throw createRefusal(namesMessage, 'Enter rows as objects, such as [{ "Name": "Anna", "Age": 31 }].');
	const conflictMessage = `${quoteField('matchColumns')} cannot be used when ${quoteField('writeMode')} is ${printChoice('writeMode', 'replace')}`;
	if (hasMatchColumns && writeMode === 'replace')
		throw createRefusal(
			conflictMessage,
			'All rows are replaced, so there is nothing to match. Remove one of them.',
		);
	if (hasMatchColumns) return 'update';
	if (writeMode !== 'update') return writeMode;
	throw createRefusal(
		`${quoteField('matchColumns')} is required to update rows`,
		`Choose the columns that identify a row, or ${printChoice('matchColumns', fields.rowNumberKey)} for rows that were read from this tab. To write without looking for rows, set ${quoteField('writeMode')} to ${printChoice('writeMode', 'overwrite')} or ${printChoice('writeMode', 'replace')}.`,
	);
}

/** Writes the rows of members with the same target. */
async function writeRows(
	sheets: sheets_v4.Sheets,
	members: readonly fields.WriteMember[],
): Promise<Array<SheetWriteResult | SheetWriteResult[] | NodeError>> {
	const [first] = members;
	if (!first) return [];
	const mode = resolveWriteMode(first.params);
	const book = new Spreadsheet(sheets, first.params.spreadsheetId, first.item);
	const params = await book.resolveTab(first.params);
	const target = parseTarget(params);
	if (params.createTab) await book.createMissingTab(target);
	if (mode === 'update') return await matchRows(book, params, members);
	if (mode === 'replace') return await replaceTable(book, params, members);
	if (!hasColumnNames(params))
		return await writeConsecutiveRows(book, params, target, [readCellRows(params)], members);
	if (params.valuesSource === 'items') return await writeItems(book, params, members);
	return await writeByHeader(book, params, members);
}

/** Rows under the headers of their names: from the row below the header on, or further down where the range begins there. */
async function writeByHeader(
	book: Spreadsheet,
	params: fields.WriteParams,
	members: readonly fields.WriteMember[],
) {
	const { target, header, rows, addHeaders } = await arrangeRowsByHeader(book, params, members);
	const row = Math.max(params.headerRow, parseBounds(target).row);
	const start = { tab: header.title, cells: printCell({ row, column: header.left }) };
	const prepare = async (rowCount: number) => {
		await addHeaders();
		// The header may be the last row of the tab.
		if (row === params.headerRow)
			await book.change(buildEnlargeTabRequests(header, { rows: row + rowCount }));
	};
	return await writeConsecutiveRows(book, params, start, rows, members, { prepare });
}

const caution = 'Destructive: the previous values of these cells are lost.';

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Update or write rows in spreadsheet',
	description: 'Update rows that match, replace a table, or write rows to a range',
	caution,
	modelDescription: 'Write rows in Google Sheets.',
	modelCautions: { field: 'valuesSource', byValue: { json: `${caution} ${fields.rowsForModel}` } },
	isIdempotent: () => true,
	fields: fields.writeFields,
	options: fields.writeOptions,
	execute: async (clients, params, item) =>
		takeOnlyResult(await writeRows(clients.sheets, [{ params, item }])),
	check(params, item) {
		resolveWriteMode(params);
		readRows({ params, item });
	},
	combine: {
		key: (params) => (hasColumnNames(params) ? buildTargetKey(params) : undefined),
		execute: async (clients, members) => await writeRows(clients.sheets, members),
	},
	lock: {
		key: (params) => (resolveWriteMode(params) === 'overwrite' ? undefined : params.spreadsheetId),
		// Combines only updates: if a run replaces the table, the rows of another run must not go along with it.
		weigh: (params, item) =>
			resolveWriteMode(params) === 'update' ? weighRows({ params, item }, maxUpdateBytes) : undefined,
	},
	toItems: (result) =>
		(Array.isArray(result) ? result : [result]).map((rowResult) => ({ json: { ...rowResult } })),
	nameResult(result) {
		const ranges = [result].flat().map(({ updatedRange }) => updatedRange);
		return `rows ${ranges.join(', ')}`;
	},
});
