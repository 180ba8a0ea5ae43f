import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { refusal } from '../../../core/errors';
import { columnNames } from './columnNames';
import { list } from './names';
import { anchorOf, cellsOn, columnLetters, parseRange, printCell, type TabRange } from './range';

/** A tab's header row, as far as the range reaches. Columns count from 0. */
export interface HeaderRow {
	/** First column of the table, left of the range too when headers stand there without a gap. */
	readonly left: number;
	/** Last column that has a header. */
	readonly right: number;
	/** Whether a column between them has none. */
	readonly hasGap: boolean;
	/** Names of the columns, as reading the tab gives them; without those that have no header. */
	readonly names: readonly string[];
	/** Columns by name, or by letter where they have none. Empty when there is no header yet. */
	readonly columns: ReadonlyMap<string, number>;
	/** Where new headers go. */
	readonly free: number;
	/** How many columns from there are empty. */
	readonly room: number;
	/** Columns of the tab. */
	readonly columnCount: number;
}

/** How to find a header row. */
export interface Headed {
	readonly spreadsheetId: string;
	/** The header's columns lie inside. */
	readonly target: TabRange;
	/** From 1. */
	readonly headerRow: number;
}

export async function readHeaderRow(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
): Promise<HeaderRow> {
	const { texts, columnCount } = await readRow(sheets, { spreadsheetId, target, headerRow });
	return { ...headersIn(texts, target), columnCount };
}

/** The texts of a row, from the tab's first column on. */
export async function readRow(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
): Promise<{ readonly texts: readonly string[]; readonly columnCount: number }> {
	const { data } = await sheets.spreadsheets.values.get({
		spreadsheetId,
		range: cellsOn(target.tab ?? target.name, `${headerRow}:${headerRow}`),
	});
	const { lastColumn = 0 } = anchorOf(parseRange(data.range ?? ''));
	return { texts: (data.values?.[0] ?? []).map(String), columnCount: lastColumn + 1 };
}

export function headersIn(texts: readonly string[], range: TabRange): Omit<HeaderRow, 'columnCount'> {
	const { column: start, lastColumn } = anchorOf(range);
	const headers = texts.slice(start, lastColumn === undefined ? undefined : lastColumn + 1);
	const filled = headers.flatMap((text, at) => (text === '' ? [] : [start + at]));
	let left = filled[0] ?? start;
	while (left > 0 && texts[left - 1]) left--;
	const free = (filled.at(-1) ?? start - 1) + 1;
	const right = Math.max(free - 1, left);
	const hasGap = texts.slice(left, right).includes('');
	const next = texts.findIndex((text, at) => at >= free && text !== '');
	const room = (next === -1 ? Infinity : next) - free;
	const names = columnNames(headers, start).filter((_, at) => headers[at] !== '');
	return { left, right, hasGap, names, columns: columnsByName(headers, start), free, room };
}

/** By the names that reading the tab gives them, then by their own; a column without a header by its letter. */
function columnsByName(headers: readonly string[], start: number): Map<string, number> {
	const columns = new Map<string, number>();
	const last = headers.findLastIndex((text) => text !== '');
	for (const names of [columnNames(headers, start), columnNames(headers, start, [])]) {
		for (const [at, name] of names.entries()) {
			if (at <= last && !columns.has(name)) columns.set(name, start + at);
		}
	}
	return columns;
}

/**
 * The header row with the columns beside it that have no header, if rows name them by their letters, as reading the tab does. Only
 * those that follow one another count: any other name of one to three letters is a name.
 */
export function withLetters<H extends HeaderRow>(header: H, names: ReadonlySet<string>): H {
	const columns = new Map(header.columns);
	if (columns.size === 0) return header;
	const used = [...names].flatMap((name) => columns.get(name) ?? []);
	let { free, room } = header;
	for (; room > 0 && names.has(columnLetters(free)) && !columns.has(columnLetters(free)); free++, room--) {
		columns.set(columnLetters(free), free);
	}
	const left = Math.min(header.left, ...used);
	const right = Math.max(header.right, free - 1);
	const hasGap = header.hasGap || left < header.left || right > header.right;
	return { ...header, left, right, hasGap, columns, free, room };
}

/** Writes headers into the free columns. @returns the header row with them */
export async function addHeaders(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
	header: HeaderRow,
	names: readonly string[],
): Promise<HeaderRow> {
	const { free, columnCount } = header;
	if (names.length === 0) return header;
	const wider = withColumns(header, names);
	const tab = target.tab ?? target.name;
	const missing = free + names.length - columnCount;
	if (missing > 0) await widen(sheets, spreadsheetId, tab, missing);
	await sheets.spreadsheets.values.update({
		spreadsheetId,
		range: cellsOn(tab, printCell({ row: headerRow - 1, column: free })),
		valueInputOption: 'RAW',
		requestBody: { values: [[...names]] },
	});
	return wider;
}

/** The header row with new columns at its free end. @throws Failure 400 where another table begins there */
export function withColumns<H extends HeaderRow>(header: H, names: readonly string[]): H {
	const { free, room, columns } = header;
	if (names.length === 0) return header;
	if (names.length > room) {
		throw refusal(
			`There is no space for new columns: ${list(names)}`,
			`Column ${columnLetters(free + room)} of the header row is already in use.`,
		);
	}
	const added = names.map((name, at) => [name, free + at] as const);
	return {
		...header,
		right: free + names.length - 1,
		names: [...header.names, ...names],
		columns: new Map([...columns, ...added]),
	};
}

async function widen(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	tab: string | undefined,
	length: number,
): Promise<void> {
	const fields = 'sheets.properties(sheetId,title)';
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields });
	const all = (data.sheets ?? []).map(({ properties }) => properties);
	const sheetId = (tab === undefined ? all[0] : all.find((properties) => properties?.title === tab))?.sheetId;
	const appendDimension = { sheetId, dimension: 'COLUMNS', length };
	await sheets.spreadsheets.batchUpdate({
		spreadsheetId,
		requestBody: { requests: [{ appendDimension }] },
	});
}
