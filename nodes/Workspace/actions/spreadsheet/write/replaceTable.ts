import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { NodeError } from '../../../../core/errors';
import { entryFor } from '../dates';
import { type Cell, cellData, headerCell, namedRows, namesIn } from '../cells';
import { resize, spreadsheetMutex } from '../sheets';
import { readBody } from '../match/matchPlan';
import { readSheetHeader, type SheetHeader, tableOf, withLetters } from '../headerRow';
import { anchorOf, areaIn } from '../range';
import { partWritten, Rows, type Written } from '../updates';
import type { WriteMember } from '../fields';

/** What a table is replaced by. */
interface Replacement {
	readonly sheet: SheetHeader;
	/** Of its first cell, from 0. */
	readonly row: number;
	readonly column: number;
	readonly width: number;
	/** None where there is to be none. */
	readonly header: readonly Cell[][];
	readonly rows: readonly Cell[][];
}

/** Writes a header and rows over a table, and clears what it had beyond them, in one request: all of it is done or nothing. */
export async function replaceTable(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<Written | NodeError>> {
	return await spreadsheetMutex.run(first.params.spreadsheetId, () => replaceNow(sheets, first, members));
}

async function replaceNow(
	sheets: sheets_v4.Sheets,
	first: WriteMember,
	members: readonly WriteMember[],
): Promise<Array<Written | NodeError>> {
	const { params, item } = first;
	const { spreadsheetId } = params;
	const given = members.map(({ params, item }) => namedRows(params, item));
	const names = namesIn(given.flat());
	const { target, header: read } = await tableOf(sheets, params, item, async (_, headed) => {
		const headerRow = Math.max(params.headerRow, anchorOf(headed.target).row + 1);
		return { ...(await readSheetHeader(sheets, { ...headed, headerRow })), row: headerRow - 1 };
	});
	const sheet = withLetters(read, new Set(names));
	const columns = inOrder(names, sheet);
	const header = params.includeHeaderRow
		? [columns.map(({ name, text }) => (text === '' ? '' : headerCell(text ?? name, params)))]
		: [];
	const parts = given.map((rows) => ({
		rows: rows.map(({ cells }) => columns.map(({ name }): Cell => cells.get(name) ?? '')),
	}));
	const column = sheet.columns.size === 0 ? anchorOf(target).column : sheet.left;
	const width = Math.max(columns.length, sheet.columns.size === 0 ? 0 : sheet.right - column + 1);
	const rows = parts.flatMap((part) => part.rows);
	await send(sheets, first, { sheet, row: sheet.row, column, width, header, rows });
	const range = areaIn(sheet.title, { row: sheet.row, column }, 1, 1);
	let { row } = sheet;
	return parts.map(({ rows }, at) => {
		const own = at === 0 ? [...header, ...rows] : rows;
		const start = { row, column };
		row += own.length;
		return partWritten(spreadsheetId, range, start, own);
	});
}

/** Columns that stay are in the order of the old header and keep its texts; the others follow. */
function inOrder(names: readonly string[], { columns, texts }: SheetHeader) {
	const known = names.filter((name) => columns.has(name));
	const stays = known
		.map((name) => ({ name, at: columns.get(name) ?? 0 }))
		.sort((a, b) => a.at - b.at)
		.map(({ name, at }) => ({ name, text: texts[at] ?? '' }));
	const added = names.filter((name) => !columns.has(name)).map((name) => ({ name, text: undefined }));
	return [...stays, ...added];
}

async function send(
	sheets: sheets_v4.Sheets,
	{ params, item }: WriteMember,
	{ sheet, row, column, width, header, rows: plain }: Replacement,
): Promise<void> {
	const { spreadsheetId } = params;
	const { valueInputOption, cell, text } = await entryFor(sheets, params, item, plain);
	const cells = [...header.map((line) => line.map(text)), ...plain.map((line) => line.map(cell))];
	const { sheetId, native } = sheet;
	const growth = {
		ROWS: row + cells.length - sheet.rowCount,
		COLUMNS: column + width - sheet.columnCount,
	};
	const requests: sheets_v4.Schema$Request[] = Object.entries(growth).flatMap(([dimension, length]) =>
		length > 0 ? [{ appendDimension: { sheetId, dimension, length } }] : [],
	);
	if (native) requests.push(resize({ ...native, endRow: row + cells.length, endColumn: column + width }));
	if (valueInputOption === 'RAW') {
		const range = {
			...{ sheetId, startRowIndex: row, startColumnIndex: column, endColumnIndex: column + width },
			endRowIndex: Math.max(native?.endRow ?? sheet.rowCount, row + cells.length),
		};
		const rows = cells.map((line) => ({ values: line.map(cellData) }));
		requests.push({ updateCells: { range, rows, fields: 'userEnteredValue' } });
	}
	if (requests.length > 0)
		await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
	if (valueInputOption === 'RAW') return;
	// What is to be taken as typed cannot clear beyond its own cells: empty ones are sent for them.
	const columns = Array.from({ length: width }, (_, at) => column + at);
	const asked = {
		spreadsheetId,
		headerRow: row + 1,
		columns,
		valueRenderOption: 'UNFORMATTED_VALUE',
	} as const;
	const { last } = await readBody(sheets, sheet, asked);
	const empty = (length: number) => Array.from({ length }, () => '');
	const rows = cells.map((line) => [...line, ...empty(width - line.length)]);
	const rest = Array.from({ length: Math.max(0, last - row + 1 - rows.length) }, () => empty(width));
	await sheets.spreadsheets.values.update({
		spreadsheetId,
		range: areaIn(sheet.title, { row, column }, rows.length + rest.length, width),
		valueInputOption,
		requestBody: new Rows([...rows, ...rest]),
	});
}
