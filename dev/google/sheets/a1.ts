import { ApiError } from '../service.ts';

/** Rows and columns count from 0, and ends are exclusive; undefined means open. */
export interface Area {
	readonly startRow: number | undefined;
	readonly endRow: number | undefined;
	readonly startColumn: number | undefined;
	readonly endColumn: number | undefined;
}

/** An area without open ends. */
export type Rectangle = { readonly [End in keyof Area]: number };

/** A parsed range before it is looked up. The title is undefined if the text has none. */
interface Reference {
	readonly title?: string;
	/** Name of a named range. */
	readonly name?: string;
	readonly area: Area;
}

/** The names that exist in the workbook. */
interface Names {
	readonly isTitle: (text: string) => boolean;
	readonly isName: (text: string) => boolean;
}

export const overlap = (area: Rectangle, otherArea: Rectangle): boolean =>
	area.startRow < otherArea.endRow &&
	area.endRow > otherArea.startRow &&
	area.startColumn < otherArea.endColumn &&
	area.endColumn > otherArea.startColumn;

const everything: Area = {
	startRow: undefined,
	endRow: undefined,
	startColumn: undefined,
	endColumn: undefined,
};

const corner = /^\$?([A-Z]{1,3})?\$?([1-9]\d*)?$/i;
const r1c1 = /^R([1-9]\d*)C([1-9]\d*)$/i;

export function createRangeError(range: string): ApiError {
	return new ApiError(400, `Unable to parse range: ${range}`, { status: 'INVALID_ARGUMENT' });
}

/**
 * Text that looks like cells means cells, unless it is in quotes: `Q1` is a cell and `'Q1'` a tab
 * (burnash/gspread#588, recorded traffic).
 * @throws ApiError 400 in Google's words
 */
export function parseReference(range: string, { isTitle, isName }: Names): Reference {
	const quoted = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(range);
	const cut = range.lastIndexOf('!');
	if (quoted !== null || cut >= 0) {
		const title = quoted ? (quoted[1] ?? '').replaceAll("''", "'") : range.slice(0, cut);
		const inside = quoted ? quoted[2] : range.slice(cut + 1);
		const area = inside === undefined ? everything : parseArea(inside);
		if (area !== undefined) return { title, area };
		// Google also accepts a named range after a tab (recorded).
		if (inside !== undefined && isName(inside))
			return { title, name: inside, area: everything };
		throw createRangeError(range);
	}
	const area = parseArea(range);
	if (area !== undefined) return { area };
	if (isTitle(range)) return { title: range, area: everything };
	if (isName(range)) return { name: range, area: everything };
	throw createRangeError(range);
}

function parseArea(cells: string): Area | undefined {
	const [first = '', second, ...rest] = cells.split(':');
	const start = parseCorner(first);
	if (start === undefined || rest.length > 0) return undefined;
	if (second === undefined) {
		if (start.row === undefined || start.column === undefined) return undefined;
		return spanArea(start, start);
	}
	const end = parseCorner(second);
	return end && spanArea(start, end);
}

interface Corner {
	readonly row: number | undefined;
	readonly column: number | undefined;
}

function parseCorner(text: string): Corner | undefined {
	const numbered = r1c1.exec(text);
	if (numbered !== null) return { row: Number(numbered[1]) - 1, column: Number(numbered[2]) - 1 };
	const [match, letters, digits] = corner.exec(text) ?? [];
	if (match === undefined || (letters === undefined && digits === undefined)) return undefined;
	return {
		row: digits === undefined ? undefined : Number(digits) - 1,
		column: letters === undefined ? undefined : parseColumn(letters),
	};
}

function spanArea(start: Corner, end: Corner): Area | undefined {
	const rowsOnly = start.column === undefined && end.column === undefined;
	if (start.column === undefined && !rowsOnly) return undefined;
	return {
		startRow: findLeast(start.row, end.row),
		endRow: findEnd(start.row, end.row),
		startColumn: findLeast(start.column, end.column),
		endColumn: findEnd(start.column, end.column),
	};
}

function findLeast(a: number | undefined, b: number | undefined): number | undefined {
	return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function findEnd(a: number | undefined, b: number | undefined): number | undefined {
	return a === undefined || b === undefined ? undefined : Math.max(a, b) + 1;
}

/** @returns the column's number, from 0 */
function parseColumn(letters: string): number {
	let column = 0;
	for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
	return column - 1;
}

export function formatColumn(column: number): string {
	let letters = '';
	for (let remainder = column + 1; remainder > 0; remainder = Math.floor((remainder - 1) / 26)) {
		letters = String.fromCharCode(65 + ((remainder - 1) % 26)) + letters;
	}
	return letters;
}

/** Formats a title as Google writes it: in quotes if it could be read as something else. */
function printTitle(title: string): string {
	const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(title) && parseArea(title) === undefined;
	return plain ? title : `'${title.replaceAll("'", "''")}'`;
}

/** Formats a range as Google writes it: a single cell without a colon. */
export function printRange(title: string, area: Rectangle): string {
	const firstCell = `${formatColumn(area.startColumn)}${area.startRow + 1}`;
	const lastCell = `${formatColumn(area.endColumn - 1)}${area.endRow}`;
	return `${printTitle(title)}!${firstCell === lastCell ? firstCell : `${firstCell}:${lastCell}`}`;
}
