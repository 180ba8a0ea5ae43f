import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';

/** The parts of a range. Without `a1` and `name`, it is the whole tab. */
export interface TabRange {
	readonly tab?: string;
	/** Cells, columns or rows, such as `A1:D10`, `A:D` or `1:5`. */
	readonly a1?: string;
	/**
	 * All of the range, if it is the title of a tab or the name of a named range: only Google
	 * knows.
	 */
	readonly name?: string;
}

/** Rows and columns count from 0. */
export interface CellPosition {
	readonly row: number;
	readonly column: number;
}

/**
 * Matches cells, columns and rows. A colon must follow letters or a number alone (`A`, `1`),
 * because these may be a name.
 */
const a1Pattern =
	/^\$?(?:[A-Z]{1,3}\$?[1-9]\d*|[A-Z]{1,3}(?=:)|[1-9]\d*(?=:))(?::\$?(?:[A-Z]{1,3}(?:\$?[1-9]\d*)?|[1-9]\d*))?$/i;
/** Matches the names that Google allows for a named range, which are no cells in R1C1 notation. */
const rangeNamePattern = /^(?!R\d+C\d+$)[\p{L}_][\p{L}\p{N}_.]*$/iu;

/**
 * Splits a range at its last `!`: a title may contain `!`.
 * @throws NodeError 400 if a quoted title is not followed by cells
 */
export function parseRange(range: string): TabRange {
	const text = range.trim();
	const [, quotedTitle, textAfterTitle] = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(text) ?? [];
	if (quotedTitle !== undefined) {
		const tab = quotedTitle.replaceAll("''", "'");
		return textAfterTitle === undefined ? { tab } : { tab, a1: readA1(textAfterTitle) };
	}
	if (isA1(text)) return { a1: text };
	if (rangeNamePattern.test(text)) return { name: text };
	const [, tab = '', a1 = ''] = /^(.+)!(.*)$/s.exec(text) ?? [];
	return isA1(a1) ? { tab, a1 } : { tab: text };
}

/** @throws NodeError 400 if the text does not refer to cells */
function readA1(text: string): string {
	if (isA1(text)) return text;
	throw createRefusal(
		`${quoteField('range')} is not a range: ${shorten(text)}`,
		`${rangeAdvice} The name of a range needs no tab.`,
	);
}

/** Returns whether a text refers to cells. A text of more than 100 characters cannot do so. */
const isA1 = (text: string) => text.length <= 100 && a1Pattern.test(text);

/**
 * Returns whether a range is one cell without a tab, such as `Q1`, which may also be a tab's title.
 */
export const isCellWithoutTab = ({ tab, a1 }: TabRange) =>
	tab === undefined && a1 !== undefined && !a1.includes(':');

export const rangeAdvice = `In ${quoteField('range')}, enter cells such as A1:D10, columns such as A:D or rows such as 1:5, or leave it empty to use the whole tab.`;

/** Prints a range for Google, with quotes around a title that needs them. */
export function printRange({ tab, a1, name }: TabRange): string {
	if (tab === undefined) return a1 ?? name ?? '';
	if (a1 === undefined) return quoteTab(tab);
	const isPlain = /^[A-Za-z_]\w*$/.test(tab) && !isA1(tab);
	return `${isPlain ? tab : quoteTab(tab)}!${a1}`;
}

export const quoteTab = (tab: string) => `'${tab.replaceAll("'", "''")}'`;

/** The bounds of a range. */
export type Area = Readonly<ReturnType<typeof parseBounds>>;

/**
 * Returns the bounds of a range, from 0. A missing start, as in `A:D`, is 0. A missing end is
 * Infinity, also for a single cell.
 */
export function parseBounds({ a1 = '' }: Pick<TabRange, 'a1'>) {
	const [start = {}, end = {}] = a1.replaceAll('$', '').split(':').map(parseCorner);
	const { row = 0, column = 0 } = start;
	// Google also accepts the corners of a range in reverse, as in `D10:A1`.
	return {
		row: Math.min(row, end.row ?? row),
		column: Math.min(column, end.column ?? column),
		lastRow: Math.max(row, end.row ?? Infinity),
		lastColumn: Math.max(column, end.column ?? Infinity),
	};
}

function parseCorner(text: string): Partial<CellPosition> {
	const corner: { row?: number; column?: number } = {};
	const [letters, digits] = [text.replaceAll(/\d/g, ''), text.replaceAll(/\D/g, '')];
	if (digits) corner.row = Number(digits) - 1;
	for (const letter of letters.toUpperCase())
		corner.column = ((corner.column ?? -1) + 1) * 26 + letter.charCodeAt(0) - 65;
	return corner;
}

/** Returns `A` for 0, `Z` for 25 and `AA` for 26. */
export function toColumnLetters(column: number): string {
	const codes: number[] = [];
	for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1)
		codes.unshift(65 + (rest % 26));
	return String.fromCharCode(...codes);
}

const printCell = ({ row, column }: CellPosition) => `${toColumnLetters(column)}${row + 1}`;

/** Prints an area in a tab, as in `Sheet1!A1:D10`. */
export function printTabArea(
	tab: string | undefined,
	start: CellPosition,
	height: number,
	width: number,
): string {
	const firstCell = printCell(start);
	const lastCell = printCell({ row: start.row + height - 1, column: start.column + width - 1 });
	return printRange({ tab, a1: firstCell === lastCell ? firstCell : `${firstCell}:${lastCell}` });
}

/** The values of the fields Tab and Range; '' if a field is empty. */
export interface TargetParams {
	readonly tab: string;
	readonly range: string;
}

/** Returns whether a tab is given by its ID, as in a link to it: `#gid=0`. */
export const isLinkedTab = (tab: string) => /^#gid=\d+$/.test(tab);

/**
 * Combines the fields Tab and Range to one range.
 * @throws NodeError 400 if both are empty, contradict each other or name no range
 */
export function parseTarget(params: TargetParams): TabRange {
	const tab = params.tab.trim() === '' ? '' : params.tab;
	const range = params.range.trim();
	if (tab === '' && range === '')
		throw createRefusal(
			`${quoteField('tab')} or ${quoteField('range')} is required`,
			'Choose the tab, or enter a range such as Sheet1!A:D. If one of them is an expression, check that the input item contains the data.',
		);
	if (range === '') return { tab };
	const parsedRange = parseRange(range);
	// The tab in the link of the spreadsheet counts only if the range does not name a tab.
	const namesTab = (parsedRange.tab ?? parsedRange.name) !== undefined;
	if (tab === '' || (isLinkedTab(tab) && namesTab)) return parsedRange;
	if (range.includes('!'))
		throw createRefusal(
			`${quoteField('range')} contains a tab name, but ${quoteField('tab')} is also set`,
			`Leave ${quoteField('tab')} empty, or enter only cells, such as ${parsedRange.a1 ?? 'A:D'}.`,
		);
	return { tab, a1: readA1(range) };
}

/**
 * Prints the fields Tab and Range as one range for Google.
 * @throws NodeError 400 as `parseTarget` does
 */
export const printTarget = (target: TargetParams) => printRange(parseTarget(target));

/**
 * Builds a key that is equal for all items whose rows go to the same place with the same options.
 * Callers pass all parameters.
 */
export function buildTargetKey(params: TargetParams): string {
	// JSON leaves out what is undefined: the rows, and the tab, which is part of the printed range.
	const target = { ...params, values: undefined, columns: undefined, tab: undefined };
	return JSON.stringify({ ...target, range: printTarget(params) });
}

/**
 * Builds a key that is equal for all items that name the same tab.
 * @throws NodeError 400 as `parseTarget` does
 */
export function buildTabKey(params: TargetParams & { readonly spreadsheetId: string }): string {
	// A range without cells may be the title of a tab.
	const { tab, name } = parseTarget(params);
	return JSON.stringify([params.spreadsheetId, tab ?? name]);
}
