import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { refusal, type Failure } from '../../../../core/errors';
import { named } from '../../../../fields/naming';
import type { Cell, Entering } from '../cells';
import type { NamedCells } from '../namedRows';
import { list } from '../names';
import { cellsOn, columnLetters } from '../range';
import type { SheetHeader } from './sheetHeader';

/** Rows of a table by what stands in its key columns. Rows count from 0. */
export interface Keys {
	readonly rows: Map<string, number[]>;
	/** The last row that has a key; that of the header where none has. */
	readonly last: number;
}

export interface KeyColumns {
	readonly spreadsheetId: string;
	/** From 1. */
	readonly headerRow: number;
	/** Positions in the tab. */
	readonly columns: readonly number[];
	readonly valueInputOption: Entering['valueInputOption'];
}

/** Reads the key columns and nothing else. */
export async function readKeys(
	sheets: sheets_v4.Sheets,
	{ title, native }: Pick<SheetHeader, 'title' | 'native'>,
	{ spreadsheetId, headerRow, columns, valueInputOption }: KeyColumns,
): Promise<Keys> {
	const { data } = await sheets.spreadsheets.values.batchGet({
		spreadsheetId,
		// With the header, which is there: a range may not begin below the last row.
		ranges: columns.map((column) =>
			cellsOn(title, `${columnLetters(column)}${headerRow}:${columnLetters(column)}${native?.bodyEnd ?? ''}`),
		),
		majorDimension: 'COLUMNS',
		valueRenderOption: 'UNFORMATTED_VALUE',
		dateTimeRenderOption: 'FORMATTED_STRING',
	});
	const read = (data.valueRanges ?? []).map(({ values }) => (values?.[0] ?? []) as Cell[]);
	const rows = new Map<string, number[]>();
	let last = headerRow - 1;
	const length = read.reduce((longest, column) => Math.max(longest, column.length), 0);
	for (let at = 1; at < length; at++) {
		const cells = read.map((column) => column[at] ?? '');
		if (cells.every((cell) => cell === '')) continue;
		last = headerRow - 1 + at;
		const key = keyOf(cells, valueInputOption);
		const same = rows.get(key);
		if (same) same.push(last);
		else rows.set(key, [last]);
	}
	return { rows, last };
}

/** The key of a row; a Failure if it has none. */
export function keyIn(
	cells: NamedCells,
	matchColumns: readonly string[],
	valueInputOption: Entering['valueInputOption'],
): string | Failure {
	const key = matchColumns.map((name) => cells.get(name) ?? '');
	if (key.some((cell) => cell !== '')) return keyOf(key, valueInputOption);
	return refusal(
		`The item has no value for ${list(matchColumns)}`,
		`The node finds the row by ${named('matchColumns')}. If the value comes from an expression, check that the item contains the data.`,
	);
}

function keyOf(cells: readonly Cell[], valueInputOption: Entering['valueInputOption']): string {
	return JSON.stringify(
		cells.map((cell) => (valueInputOption === 'RAW' ? String(cell) : typed(String(cell)))),
	);
}

/** As the sheet keeps what is typed: "007" is 7, TRUE is a truth value, and an apostrophe in front only says that it is text. */
function typed(text: string): string {
	if (text.startsWith("'")) return text.slice(1);
	const trimmed = text.trim();
	if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return String(Number(trimmed));
	return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : text;
}
