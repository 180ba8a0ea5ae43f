import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, isNodeError, refusal } from '../../../core/errors';
import { named } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { hasNames, namedRows, rowCells, Rows, widthOf, type Written, writtenOf } from './cells';
import { notWritten, rangeAdvice } from './errors';
import { writeFields, type WriteMember, writeOptions, type WriteParams } from './fields';
import { rowsByHeader } from './headerRow';
import { type MatchedRow, matchRows } from './write/matchRows';
import { anchorOf, cellsOn, parseRange, printCell, printRange, sentTarget, targetOf } from './range';
import { createMissingTab, refuseTabLikeCell } from './sheets';
import { ensureGridSize, replaceTable, writeBlock, writeItems } from './write/writeTable';

/** What happens to the rows that are there. Without a mode, columns to match by mean an update. @throws NodeError 400 */
export function writeModeOf(params: WriteParams): WriteParams['writeMode'] {
	const { writeMode, matchColumns } = params;
	const isKeyed = matchColumns.length > 0;
	if (!hasNames(params) && (isKeyed || writeMode !== 'overwrite')) {
		throw refusal(
			`${named(isKeyed ? 'matchColumns' : 'writeMode')} needs rows with column names, but ${named('values')} holds rows of cells`,
			'Enter rows as objects, such as [{ "Name": "Anna", "Age": 31 }].',
		);
	}
	if (isKeyed && writeMode === 'replace') {
		throw refusal(
			`${named('matchColumns')} cannot be used when ${named('writeMode')} is replace`,
			'Remove one of them: all rows are replaced, so none is looked for.',
		);
	}
	if (isKeyed) return 'update';
	if (writeMode !== 'update') return writeMode;
	throw refusal(
		`${named('matchColumns')} is required to update rows`,
		`Choose the columns that identify a row, or rowNumber for rows that were read from this tab. To write without looking for rows, set ${named('writeMode')} to overwrite or replace.`,
	);
}

/** What is written for members with the same target. */
export async function writeRows(
	sheets: sheets_v4.Sheets,
	members: readonly WriteMember[],
): Promise<Array<Written | MatchedRow[] | NodeError>> {
	const [first] = members;
	if (!first) return [];
	const { params, item } = first;
	const mode = writeModeOf(params);
	const asked = { spreadsheetId: params.spreadsheetId, target: targetOf(params), item };
	if (params.createTab) await createMissingTab(sheets, asked);
	if (mode === 'update') return await matchRows(sheets, first, members);
	if (mode === 'replace') return await replaceTable(sheets, first, members);
	await refuseTabLikeCell(sheets, asked);
	if (!hasNames(params)) return [await writeGiven(sheets, first)];
	if (params.valuesSource === 'items') return await writeItems(sheets, first, members);
	return await writeByHeader(sheets, first, members);
}

async function writeGiven(sheets: sheets_v4.Sheets, { params, item }: WriteMember): Promise<Written> {
	const { spreadsheetId, valueInputOption } = params;
	const target = targetOf(params);
	const values = rowCells(params);
	const start = anchorOf(target);
	const end = { rows: start.row + values.length, columns: start.column + widthOf(values) };
	const update = {
		...{ spreadsheetId, range: printRange(target) },
		valueInputOption: valueInputOption === 'AUTO' ? 'RAW' : valueInputOption,
		requestBody: new Rows(values),
	};
	const { data } = await ensureGridSize(sheets, { spreadsheetId, target, item, start, ...end }, () =>
		sheets.spreadsheets.values.update(update),
	);
	return writtenOf(spreadsheetId, data);
}

/** Rows under the headers of their names: from the row below the header on, or further down where the range begins there. */
async function writeByHeader(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<Written | NodeError>> {
	const given = members.map(({ params, item }) => namedRows(params, item));
	const { target, header, rows } = await rowsByHeader(sheets, first, given);
	const refused = rows.findIndex(isNodeError);
	if (refused !== -1 && !first.item.othersGoOn) return notWritten(rows, members, refused, 'written');
	const row = Math.max(first.params.headerRow, anchorOf(target).row);
	const start = cellsOn(target.tab ?? target.name, printCell({ row, column: header.left }));
	const parts = rows.flatMap((entry) => (isNodeError(entry) ? [] : [{ rows: entry }]));
	const block = { target: parseRange(start), header: [], parts };
	const written = parts.length > 0 ? await writeBlock(sheets, first, block) : [];
	let next = 0;
	return rows.flatMap((entry) => (isNodeError(entry) ? entry : (written[next++] ?? [])));
}

/** One for each row that was looked for. */
type Result = Written | MatchedRow[];

export const write = defineOperation({
	value: 'write',
	methods: {
		'sheets.spreadsheets.values.update': 'spreadsheets',
		'sheets.spreadsheets.values.get': 'spreadsheets',
		'sheets.spreadsheets.values.batchGet': 'spreadsheets',
		'sheets.spreadsheets.values.batchUpdate': 'spreadsheets',
		'sheets.spreadsheets.get': 'spreadsheets',
		'sheets.spreadsheets.batchUpdate': 'spreadsheets',
	},
	name: 'Write',
	action: 'Write rows to spreadsheet',
	description: 'Update rows that match, replace a table, or write rows to a range',
	caution: 'Destructive: the previous values of these cells are lost.',
	idempotent: () => true,
	fields: writeFields,
	options: writeOptions,
	async execute(clients, params, item): Promise<Result> {
		const [written] = await writeRows(clients.sheets, [{ params, item }]);
		if (written === undefined || isNodeError(written)) throw written ?? new Error('nothing was written');
		return written;
	},
	check(params, item) {
		writeModeOf(params);
		if (hasNames(params)) namedRows(params, item);
		else rowCells(params);
	},
	combine: {
		key(params) {
			if (!hasNames(params)) return undefined;
			const same = { ...params, values: undefined, columns: undefined, tab: undefined };
			return JSON.stringify({ ...same, range: sentTarget(params) });
		},
		execute: async (clients, members) => await writeRows(clients.sheets, members),
	},
	toItems: (written) => (Array.isArray(written) ? written : [written]).map((one) => ({ json: { ...one } })),
	errors: { 400: rangeAdvice },
});
