import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { type NodeError, refusal } from '../../../core/errors';
import { named } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { checkRows, hasNames, rowCells } from './cells';
import { writeFields, type WriteMember, writeOptions, type WriteParams } from './fields';
import { rowsByHeader } from './headerRow';
import { anchorOf, printCell, sameTarget, targetOf } from './range';
import { only, sendEach, type Written } from './rows';
import { enlarge, rangeAdvice, Spreadsheet } from './sheets';
import { type MatchedRow, matchRows } from './write/matchRows';
import { replaceTable, writeBlock, writeItems } from './write/writeTable';

/** Decides what happens to the rows that are there. Columns to match by always mean an update. @throws NodeError 400 */
function writeModeOf(params: WriteParams): WriteParams['writeMode'] {
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

/** Writes the rows of members with the same target. */
async function writeRows(
	sheets: sheets_v4.Sheets,
	members: readonly WriteMember[],
): Promise<Array<Written | MatchedRow[] | NodeError>> {
	const [first] = members;
	if (!first) return [];
	const { params, item } = first;
	const mode = writeModeOf(params);
	const target = targetOf(params);
	const book = new Spreadsheet(sheets, params.spreadsheetId, item);
	if (params.createTab) await book.createMissingTab(target);
	if (mode === 'update') return await book.alone(() => matchRows(book, params, members));
	if (mode === 'replace') return await book.alone(() => replaceTable(book, params, members));
	if (!hasNames(params)) return await writeBlock(book, params, target, [rowCells(params)]);
	if (params.valuesSource === 'items') return await writeItems(book, params, members);
	return await writeByHeader(book, params, members);
}

/** Rows under the headers of their names: from the row below the header on, or further down where the range begins there. */
async function writeByHeader(book: Spreadsheet, params: WriteParams, members: readonly WriteMember[]) {
	const { target, header, rows, addHeaders } = await rowsByHeader(book, params, members);
	const row = Math.max(params.headerRow, anchorOf(target).row);
	const start = { tab: header.title, cells: printCell({ row, column: header.left }) };
	return await sendEach(rows, members, {
		done: 'written',
		largest: Infinity,
		rowsOf: (own) => own,
		async send(parts) {
			await addHeaders();
			// The header may be the last row of the tab.
			if (row === params.headerRow) await book.change(enlarge(header, { rows: row + parts.flat().length }));
			return await writeBlock(book, params, start, parts);
		},
	});
}

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Write rows to spreadsheet',
	description: 'Update rows that match, replace a table, or write rows to a range',
	caution: 'Destructive: the previous values of these cells are lost.',
	idempotent: () => true,
	fields: writeFields,
	options: writeOptions,
	execute: async (clients, params, item) => only(await writeRows(clients.sheets, [{ params, item }])),
	check(params, item) {
		writeModeOf(params);
		checkRows(params, item);
	},
	combine: {
		key: (params) => (hasNames(params) ? sameTarget(params) : undefined),
		execute: async (clients, members) => await writeRows(clients.sheets, members),
	},
	toItems: (written) => (Array.isArray(written) ? written : [written]).map((one) => ({ json: { ...one } })),
	left: (written) =>
		`rows ${[written]
			.flat()
			.map(({ updatedRange }) => updatedRange)
			.join(', ')}`,
	errors: { 400: rangeAdvice },
});
