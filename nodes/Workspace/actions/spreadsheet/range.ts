import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { RowParams } from './fields';

/** The parts of a range. Without `a1` and `name`, it is the whole tab. */
export interface TabRange {
	readonly tab?: string;
	/** Whether the user put the tab's title into quotes. `printRange` then does, too. */
	readonly isQuoted?: true;
	/** Cells, columns or rows, such as `A1:D10`, `A:D` or `1:5`; also cells in R1C1 notation. */
	readonly a1?: string;
	/** The name of a named range. Without `tab`, it may also be the title of a tab: only Google knows. */
	readonly name?: string;
}

/** Rows and columns count from 0. */
export interface CellPosition {
	readonly row: number;
	readonly column: number;
}

/** Matches cells, columns and rows. A colon must follow letters or a number alone (`A`, `1`), because these may be a name. */
const a1Pattern =
	/^\$?(?:[A-Z]{1,3}\$?[1-9]\d*|[A-Z]{1,3}(?=:)|[1-9]\d*(?=:))(?::\$?(?:[A-Z]{1,3}(?:\$?[1-9]\d*)?|[1-9]\d*))?$/i;
const r1c1Pattern = /^R([1-9]\d*)C([1-9]\d*)(?::R([1-9]\d*)C([1-9]\d*))?$/i;

/** Matches the names that Google allows for a named range. */
const rangeNamePattern = /^[\p{L}_][\p{L}\p{N}_.]*$/u;

/** Splits a range at its last `!`: a title may contain `!`. @throws NodeError 400 if a quoted title is not followed by cells or a name */
export function parseRange(range: string): TabRange {
	const text = range.trim();
	const quotedMatch = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(text);
	if (quotedMatch) {
		const [, title = '', textAfterTitle] = quotedMatch;
		const tab = title.replaceAll("''", "'");
		if (textAfterTitle === undefined) return { tab };
		const a1OrName = parseA1OrName(textAfterTitle);
		if (a1OrName) return { tab, ...a1OrName, isQuoted: true };
		throw createRangeError(text);
	}
	const separatorIndex = text.lastIndexOf('!');
	const a1OrName = separatorIndex > 0 ? parseA1OrName(text.slice(separatorIndex + 1)) : undefined;
	if (a1OrName) return { tab: text.slice(0, separatorIndex), ...a1OrName };
	return parseA1OrName(text) ?? { tab: text };
}

/** Returns undefined if the text is neither a reference to cells nor a possible name of a range. */
function parseA1OrName(text: string): Pick<TabRange, 'a1' | 'name'> | undefined {
	if (isA1(text)) return { a1: text };
	return rangeNamePattern.test(text) ? { name: text } : undefined;
}

/** Returns whether a text refers to cells, in A1 or R1C1 notation. A text of more than 100 characters cannot do so. */
const isA1 = (text: string) =>
	text.length <= 100 && (a1Pattern.test(text) || r1c1Pattern.test(text));

/** Returns whether a range is one cell without a tab, such as `Q1`, which may also be a tab's title. */
export const isCellWithoutTab = ({ tab, a1 }: TabRange) =>
	tab === undefined && a1 !== undefined && !a1.includes(':');

/** Returns a text such as `A1-C5` or `A to D` with a colon, as A1 notation; undefined for any other text. */
export function correctA1(text: string): string | undefined {
	const correctedText = text
		.slice(0, 200)
		.replace(/ *(?:[-–—,;]|\.{2,3}| to ) *(?=[A-Z]{1,3}\d*$)/i, ':');
	return correctedText !== text && parseRange(correctedText).a1 ? correctedText : undefined;
}

function createRangeError(range: string) {
	const correctedA1 = correctA1(range);
	const advice = range.startsWith("'")
		? "Enter cells behind '!', such as 'My Tab'!A1:D10."
		: rangeAdvice;
	const message = `${quoteField('range')} is not a range: ${shorten(range)}`;
	return createRefusal(message, correctedA1 ? `Enter ${correctedA1}.` : advice);
}

export const rangeAdvice = `In ${quoteField('range')}, enter cells such as A1:D10, columns such as A:D or rows such as 1:5, or leave it empty to use the whole tab.`;

/** Prints a range for Google: unchanged, except for quotes around a title that needs them. */
export function printRange({ tab, isQuoted, a1, name }: TabRange): string {
	const a1OrName = a1 ?? name;
	if (tab === undefined) return a1OrName ?? '';
	if (a1OrName === undefined) return quoteTab(tab);
	return `${isQuoted || needsQuotes(tab) ? quoteTab(tab) : tab}!${a1OrName}`;
}

const needsQuotes = (tab: string) => !/^[A-Za-z_]\w*$/.test(tab) || isA1(tab);
export const quoteTab = (tab: string) => `'${tab.replaceAll("'", "''")}'`;

/** Returns the bounds of a range, from 0. A missing start, as in `A:D`, is 0. A missing end is undefined, also for a single cell. */
export function parseBounds({ a1 = '' }: Pick<TabRange, 'a1'>) {
	const plainA1 = a1.replaceAll(/R(\d+)C(\d+)/gi, (_, row: string, column: string) =>
		printCell({ row: Number(row) - 1, column: Number(column) - 1 }),
	);
	const [start = {}, end = {}] = plainA1.replaceAll('$', '').split(':').map(parseCorner);
	// Google also accepts the corners of a range in reverse, as in `D10:A1`.
	const columns = [start.column, end.column].filter((column) => column !== undefined);
	const rows = [start.row, end.row].filter((row) => row !== undefined);
	return {
		row: start.row === undefined ? 0 : Math.min(...rows),
		column: columns.length === 0 ? 0 : Math.min(...columns),
		lastColumn: end.column === undefined ? undefined : Math.max(...columns),
		lastRow: end.row === undefined ? undefined : Math.max(...rows),
	};
}

function parseCorner(text: string): Partial<CellPosition> {
	const [letters, digits] = [text.replaceAll(/\d/g, ''), text.replaceAll(/\D/g, '')];
	let column = -1; // before column A
	for (const letter of letters.toUpperCase())
		column = (column + 1) * 26 + letter.charCodeAt(0) - 65;
	return { ...(letters && { column }), ...(digits && { row: Number(digits) - 1 }) };
}

/** Returns `A` for 0, `Z` for 25 and `AA` for 26. */
export function toColumnLetters(column: number): string {
	const codes: number[] = [];
	for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1)
		codes.unshift(65 + (rest % 26));
	return String.fromCharCode(...codes);
}

export const printCell = ({ row, column }: CellPosition) => `${toColumnLetters(column)}${row + 1}`;

/** Prints an area in a tab, as in `Sheet1!A1:D10`. */
export const printTabArea = (
	tab: string | undefined,
	start: CellPosition,
	height: number,
	width: number,
) => printRange({ tab, a1: printArea(start, height, width) });

/** Prints an area in the tab of another range. @param range the other range, as Google printed it */
export const printAreaLike = (range: string, start: CellPosition, height: number, width: number) =>
	`${range.slice(0, range.lastIndexOf('!') + 1)}${printArea(start, height, width)}`;

function printArea(start: CellPosition, height: number, width: number): string {
	const firstCell = printCell(start);
	const lastCell = printCell({ row: start.row + height - 1, column: start.column + width - 1 });
	return firstCell === lastCell ? firstCell : `${firstCell}:${lastCell}`;
}

/** Splits cells or columns, in their order, into groups that each fill one range. What does not continue the previous one begins a new group. */
export function groupNeighbors<T>(
	elements: Iterable<T>,
	continues: (previous: T, next: T) => boolean,
) {
	const groups: Array<[T, ...T[]]> = [];
	let previous: T | undefined;
	for (const element of elements) {
		if (previous !== undefined && continues(previous, element)) groups.at(-1)?.push(element);
		else groups.push([element]);
		previous = element;
	}
	return groups;
}

/** The values of the fields Tab and Range; '' if a field is empty. */
export type TargetParams = Pick<RowParams, 'tab' | 'range'>;

/** Returns whether a tab is given by its ID, as in a link to it: `#gid=0`. */
export const isLinkedTab = (tab: string) => /^#gid=\d+$/.test(tab);

/** Combines the fields Tab and Range to one range. @throws NodeError 400 if both are empty, contradict each other or name no range */
export function parseTarget(params: TargetParams): TabRange {
	const tab = params.tab.trim() === '' ? '' : params.tab;
	const range = params.range.trim();
	if (tab === '' && range === '')
		throw createRefusal(
			`${quoteField('tab')} or ${quoteField('range')} is required`,
			'Choose the tab, or enter a range such as Sheet1!A:D. If one of them is an expression, check that the input item contains the data.',
		);
	const parsedRange = parseRange(range);
	// The tab in the link of the spreadsheet counts only if the range does not name a tab.
	const namesTab = range !== '' && (parsedRange.tab ?? parsedRange.name) !== undefined;
	if (tab === '' || (isLinkedTab(tab) && namesTab)) return parsedRange;
	if (range === '') return { tab };
	if (range.includes('!'))
		throw createRefusal(
			`${quoteField('range')} contains a tab name, but ${quoteField('tab')} is also set`,
			`Leave ${quoteField('tab')} empty, or enter only cells, such as ${parsedRange.a1 ?? 'A:D'}.`,
		);
	const a1OrName = parseA1OrName(range);
	if (!a1OrName) throw createRangeError(range);
	return { tab, ...a1OrName };
}

/** Prints the fields Tab and Range as one range for Google. @throws NodeError 400 as `parseTarget` does */
export const printTarget = (target: TargetParams) => printRange(parseTarget(target));

/** Builds a key that is equal for all items whose rows go to the same place with the same options. Callers pass all parameters. */
export function buildTargetKey(params: TargetParams): string {
	// JSON leaves out what is undefined: the rows, and the tab, which is part of the printed range.
	const target = { ...params, values: undefined, columns: undefined, tab: undefined };
	return JSON.stringify({ ...target, range: printTarget(params) });
}
