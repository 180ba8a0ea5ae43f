import { refusal } from '../../../items/failure';
import { named } from '../../fieldNames';

/** A range as the user gave it. */
export interface TabRange {
	/** Title of the tab without quotes, or the name of a named range. */
	readonly tab: string | undefined;
	readonly cells: string | undefined;
}

/** Rows and columns count from 0. */
export interface Corner {
	readonly row: number;
	readonly column: number;
}

export interface Anchor extends Corner {
	/** Last column of the range; undefined where it has no end or is one cell. */
	readonly lastColumn: number | undefined;
}

const a1 =
	/^\$?(?:[A-Z]{1,3}\$?[1-9]\d*|[A-Z]{1,3}(?=:)|[1-9]\d*(?=:))(?::\$?(?:[A-Z]{1,3}(?:\$?[1-9]\d*)?|[1-9]\d*))?$/i;
const r1c1 = /^R([1-9]\d*)C([1-9]\d*)(?::R([1-9]\d*)C([1-9]\d*))?$/i;

/**
 * Takes the tab from the cells. A title may hold `!` itself: only cells stand after the last one.
 * @throws Failure 400 when cells behind a quoted title are none
 */
export function parseRange(range: string): TabRange {
	const text = range.trim();
	const quoted = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(text);
	if (quoted) {
		const [, tab = '', cells] = quoted;
		if (cells !== undefined && !isCells(cells)) throw notCells(text);
		return { tab: tab.replaceAll("''", "'"), cells };
	}
	const cut = text.lastIndexOf('!');
	if (cut > 0 && isCells(text.slice(cut + 1))) {
		return { tab: text.slice(0, cut), cells: text.slice(cut + 1) };
	}
	return isCells(text) ? { tab: undefined, cells: text } : { tab: text, cells: undefined };
}

function isCells(text: string): boolean {
	return a1.test(text) || r1c1.test(text);
}

function notCells(range: string) {
	return refusal(
		`${named('range')} is not a range: ${range.length > 100 ? `${range.slice(0, 100)}…` : range}`,
		"Behind the tab's name stand '!' and cells, as in 'My Tab'!A1:D10, or nothing at all.",
	);
}

/** The range as Google must read it: unchanged, but for quotes around a title that needs them. */
export function sentRange(range: string): string {
	const { tab, cells } = parseRange(range);
	return printed(tab, cells);
}

function printed(tab: string | undefined, cells: string | undefined): string {
	// A name of letters and digits alone may be that of a named range, which must not be quoted.
	if (cells === undefined)
		return /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(tab ?? '') ? (tab ?? '') : quoted(tab ?? '');
	return tab === undefined ? cells : `${needsQuotes(tab) ? quoted(tab) : tab}!${cells}`;
}

function needsQuotes(tab: string): boolean {
	return !/^[A-Za-z_]\w*$/.test(tab) || isCells(tab);
}

function quoted(tab: string): string {
	return `'${tab.replaceAll("'", "''")}'`;
}

/** Cells of a tab, as Google reads them; the first tab when it has no name. */
export function cellsOn(tab: string | undefined, cells: string): string {
	return printed(tab, cells);
}

/** Where a range begins, and how far to the right it goes: what `A:D`, `5:9` or a bare title leave open begins at 1 and A. */
export function anchorOf({ cells }: TabRange): Anchor {
	if (cells === undefined) return { row: 0, column: 0, lastColumn: undefined };
	const numbers = r1c1.exec(cells);
	if (numbers) {
		const [, row = 1, column = 1, , last] = numbers;
		return {
			row: Number(row) - 1,
			column: Number(column) - 1,
			lastColumn: last === undefined ? undefined : Number(last) - 1,
		};
	}
	const [first = '', last = ''] = cells.replaceAll('$', '').split(':');
	const [start, end] = [parseCorner(first), parseCorner(last)];
	const columns = [start.column, end.column].filter((column) => column !== undefined);
	const rows = [start.row, end.row].filter((row) => row !== undefined);
	return {
		row: start.row === undefined ? 0 : Math.min(...rows),
		column: columns.length === 0 ? 0 : Math.min(...columns),
		lastColumn: end.column === undefined ? undefined : Math.max(...columns),
	};
}

function parseCorner(text: string): Partial<Corner> {
	const [, letters = '', digits = ''] = /^([A-Z]*)(\d*)$/i.exec(text) ?? [];
	return {
		...(letters !== '' && { column: columnNumber(letters) }),
		...(digits !== '' && { row: Number(digits) - 1 }),
	};
}

function columnNumber(letters: string): number {
	return (
		Array.from(letters.toUpperCase()).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
	);
}

/** @param column from 0 */
export function columnLetters(column: number): string {
	const rest = Math.floor(column / 26);
	return `${rest > 0 ? columnLetters(rest - 1) : ''}${String.fromCharCode(65 + (column % 26))}`;
}

export function printCell({ row, column }: Corner): string {
	return `${columnLetters(column)}${row + 1}`;
}

/** An area of some rows and columns in the tab of another range. */
export function areaLike(range: string, start: Corner, rows: number, columns: number): string {
	const first = printCell(start);
	const last = printCell({ row: start.row + rows - 1, column: start.column + columns - 1 });
	return `${range.slice(0, range.lastIndexOf('!') + 1)}${first === last ? first : `${first}:${last}`}`;
}
