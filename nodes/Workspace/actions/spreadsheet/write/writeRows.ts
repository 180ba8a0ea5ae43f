import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure, type Failure } from '../../../../core/errors';
import { writeBlock, writeItems } from './writeBlock';
import { rowCells } from '../cells';
import { matchRows, type MatchedRow } from '../match/matchRows';
import { replaceTable } from './replaceTable';
import { writeModeOf } from './writeMode';
import { hasNames, namedRows } from '../namedCells';
import { anchorOf, cellsOn, parseRange, printCell, printRange } from '../range';
import { ensureGridSize } from './ensureGridSize';
import { rowsByHeader } from '../rowsByHeader';
import { Rows } from '../rows';
import { refuseTabLikeCell } from '../sheets';
import { targetOf } from '../target';
import type { WriteMember } from '../writeFields';
import { notWritten } from '../errors';
import { widthOf, writtenOf, type Written } from '../updates';

/** What is written for members with the same target. */
export async function writeRows(
	sheets: sheets_v4.Sheets,
	members: readonly WriteMember[],
): Promise<Array<Written | MatchedRow[] | Failure>> {
	const [first] = members;
	if (!first) return [];
	const { params, item } = first;
	const mode = writeModeOf(params);
	if (mode === 'update') return await matchRows(sheets, first, members);
	if (mode === 'replace') return await replaceTable(sheets, first, members);
	await refuseTabLikeCell(sheets, { spreadsheetId: params.spreadsheetId, target: targetOf(params), item });
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
		...{ spreadsheetId, range: printRange(target), valueInputOption },
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
): Promise<Array<Written | Failure>> {
	const given = members.map(({ params, item }) => namedRows(params, item.json));
	const { target, header, rows } = await rowsByHeader(sheets, first, given);
	const refused = rows.findIndex(isFailure);
	if (refused !== -1 && !first.item.othersGoOn) return notWritten(rows, members, refused, 'written');
	const row = Math.max(first.params.headerRow, anchorOf(target).row);
	const start = cellsOn(target.tab ?? target.name, printCell({ row, column: header.left }));
	const parts = rows.flatMap((entry) => (isFailure(entry) ? [] : [{ rows: entry }]));
	const block = { target: parseRange(start), header: [], parts };
	const written = parts.length > 0 ? await writeBlock(sheets, first, block) : [];
	let next = 0;
	return rows.flatMap((entry) => (isFailure(entry) ? entry : (written[next++] ?? [])));
}
