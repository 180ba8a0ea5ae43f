import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { RowParams } from './fields';

/** A range as the user gave it. */
export interface TabRange {
	/** Title of the tab, without quotes. */
	readonly tab?: string;
	/** The title was given in quotes, which then stay. */
	readonly isQuoted?: true;
	readonly cells?: string;
	/** A word that names a range or, where it stands alone, a tab: only Google knows which. */
	readonly name?: string;
}

/** Rows and columns count from 0. */
export interface CellPosition {
	readonly row: number;
	readonly column: number;
}

const a1Pattern =
	/^\$?(?:[A-Z]{1,3}\$?[1-9]\d*|[A-Z]{1,3}(?=:)|[1-9]\d*(?=:))(?::\$?(?:[A-Z]{1,3}(?:\$?[1-9]\d*)?|[1-9]\d*))?$/i;
const r1c1Pattern = /^R([1-9]\d*)C([1-9]\d*)(?::R([1-9]\d*)C([1-9]\d*))?$/i;

/** What Google allows as the name of a range. */
const rangeNamePattern = /^[\p{L}_][\p{L}\p{N}_.]*$/u;

/** Splits a range at its last `!`, because a title may have others. @throws NodeError 400 if what follows a quoted title is no range */
export function parseRange(range: string): TabRange {
	const text = range.trim();
	const quotedMatch = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(text);
	if (quotedMatch) {
		const [, title = '', textAfterTitle] = quotedMatch;
		const tab = title.replaceAll("''", "'");
		if (textAfterTitle === undefined) return { tab };
		const inside = parseCellsOrName(textAfterTitle);
		if (inside) return { tab, ...inside, isQuoted: true };
		throw createRangeError(text);
	}
	const separatorIndex = text.lastIndexOf('!');
	const inside = separatorIndex > 0 ? parseCellsOrName(text.slice(separatorIndex + 1)) : undefined;
	if (inside) return { tab: text.slice(0, separatorIndex), ...inside };
	return parseCellsOrName(text) ?? { tab: text };
}

/** Cells or a name; undefined when the text is neither. */
function parseCellsOrName(text: string): Pick<TabRange, 'cells' | 'name'> | undefined {
	if (isCells(text)) return { cells: text };
	return rangeNamePattern.test(text) ? { name: text } : undefined;
}

/** No cell reference is longer than this: a longer text is a title and is not searched. */
const isCells = (text: string) => text.length <= 100 && (a1Pattern.test(text) || r1c1Pattern.test(text));

/** Whether a range without a tab reads as one cell, as `Q1` does. */
export const isOneCell = ({ tab, cells }: TabRange) =>
	tab === undefined && cells !== undefined && !cells.includes(':');

/** What was meant by cells without a colon, as in `A1-C5` or `A to D`; undefined for any other text. */
export function correctCells(text: string): string | undefined {
	const correctedText = text.slice(0, 200).replace(/ *(?:[-–—,;]|\.{2,3}| to ) *(?=[A-Z]{1,3}\d*$)/i, ':');
	return correctedText !== text && parseRange(correctedText).cells ? correctedText : undefined;
}

function createRangeError(range: string) {
	const cells = correctCells(range);
	const advice = range.startsWith("'") ? "Enter cells behind '!', such as 'My Tab'!A1:D10." : rangeAdvice;
	return createRefusal(
		`${quoteField('range')} is not a range: ${shorten(range)}`,
		cells ? `Enter ${cells}.` : advice,
	);
}

export const rangeAdvice = `In ${quoteField('range')}, enter cells such as A1:D10, columns such as A:D or rows such as 1:5, or leave it empty to use the whole tab.`;

/** Prints a range for Google: unchanged, except for quotes around a title that needs them. */
export function printRange({ tab, isQuoted, cells, name }: TabRange): string {
	const inside = cells ?? name;
	if (tab === undefined) return inside ?? '';
	if (inside === undefined) return quoteTab(tab);
	return `${isQuoted || needsQuotes(tab) ? quoteTab(tab) : tab}!${inside}`;
}

const needsQuotes = (tab: string) => !/^[A-Za-z_]\w*$/.test(tab) || isCells(tab);

export const quoteTab = (tab: string) => `'${tab.replaceAll("'", "''")}'`;

/** Finds the bounds of a range, from 0. An open start, as in `A:D`, is 0. An open end is undefined, and so is the end of a single cell. */
export function parseBounds({ cells = '' }: Pick<TabRange, 'cells'>) {
	const a1 = cells.replaceAll(/R(\d+)C(\d+)/gi, (_, row: string, column: string) =>
		printCell({ row: Number(row) - 1, column: Number(column) - 1 }),
	);
	const [start = {}, end = {}] = a1.replaceAll('$', '').split(':').map(parseReference);
	const columns = [start.column, end.column].filter((column) => column !== undefined);
	const rows = [start.row, end.row].filter((row) => row !== undefined);
	return {
		row: start.row === undefined ? 0 : Math.min(...rows),
		column: columns.length === 0 ? 0 : Math.min(...columns),
		lastColumn: end.column === undefined ? undefined : Math.max(...columns),
		lastRow: end.row === undefined ? undefined : Math.max(...rows),
	};
}

function parseReference(text: string): Partial<CellPosition> {
	const [letters, digits] = [text.replaceAll(/\d/g, ''), text.replaceAll(/\D/g, '')];
	let column = -1;
	for (const letter of letters.toUpperCase()) column = (column + 1) * 26 + letter.charCodeAt(0) - 65;
	return { ...(letters && { column }), ...(digits && { row: Number(digits) - 1 }) };
}

/** @param column from 0 */
export function toColumnLetters(column: number): string {
	const rest = Math.floor(column / 26);
	return `${rest > 0 ? toColumnLetters(rest - 1) : ''}${String.fromCharCode(65 + (column % 26))}`;
}

export const printCell = ({ row, column }: CellPosition) => `${toColumnLetters(column)}${row + 1}`;

/** An area of some rows and columns in a tab. */
export const printTabArea = (tab: string | undefined, start: CellPosition, rows: number, columns: number) =>
	printRange({ tab, cells: printArea(start, rows, columns) });

/** An area of some rows and columns in the tab of another range. */
export const printAreaLike = (range: string, start: CellPosition, rows: number, columns: number) =>
	`${range.slice(0, range.lastIndexOf('!') + 1)}${printArea(start, rows, columns)}`;

function printArea(start: CellPosition, rows: number, columns: number): string {
	const first = printCell(start);
	const last = printCell({ row: start.row + rows - 1, column: start.column + columns - 1 });
	return first === last ? first : `${first}:${last}`;
}

/** Groups what stands side by side: a new group begins with each one that does not continue the one before. */
export function groupNeighbors<T>(elements: Iterable<T>, continues: (previous: T, next: T) => boolean) {
	const groups: Array<[T, ...T[]]> = [];
	let previous: T | undefined;
	for (const element of elements) {
		if (previous !== undefined && continues(previous, element)) groups.at(-1)?.push(element);
		else groups.push([element]);
		previous = element;
	}
	return groups;
}

/** The fields Tab and Range, '' where they are empty. */
export type TargetParams = Pick<RowParams, 'tab' | 'range'>;

/** Whether a tab is that of a link, by its ID. */
export const isLinkedTab = (tab: string) => /^#gid=\d+$/.test(tab);

/** The part of the spreadsheet that the fields Tab and Range name together. @throws NodeError 400 */
export function parseTarget({ tab: title, range }: TargetParams): TabRange {
	const [tab, rangeText] = [title.trim() && title, range.trim()];
	const advice =
		'Choose the tab, or enter a range such as Sheet1!A:D. If one of them is an expression, check that the input item contains the data.';
	if (tab === '' && rangeText === '')
		throw createRefusal(`${quoteField('tab')} or ${quoteField('range')} is required`, advice);
	const parsedRange = parseRange(rangeText);
	// The tab of a link counts only if the range names no other.
	if (
		tab === '' ||
		(isLinkedTab(tab) && (parsedRange.tab ?? parsedRange.name) !== undefined && rangeText !== '')
	)
		return parsedRange;
	if (rangeText === '') return { tab };
	const message = `${quoteField('range')} contains a tab name, but ${quoteField('tab')} is also set`;
	const tabAdvice = `Leave ${quoteField('tab')} empty, or enter only cells, such as ${parseRange(rangeText).cells ?? 'A:D'}.`;
	if (rangeText.includes('!')) throw createRefusal(message, tabAdvice);
	const inside = parseCellsOrName(rangeText);
	if (!inside) throw createRangeError(rangeText);
	return { tab, ...inside };
}

/** The target as Google reads it. @throws NodeError 400 */
export const printTarget = (target: TargetParams) => printRange(parseTarget(target));

/** A key that is equal for members whose rows go to the same place in the same way. @throws NodeError 400 */
export function buildTargetKey(params: TargetParams): string {
	const range = printTarget(params);
	return JSON.stringify({ ...params, values: undefined, columns: undefined, tab: undefined, range });
}
