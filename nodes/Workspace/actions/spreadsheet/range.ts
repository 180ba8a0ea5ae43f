import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { RowParams } from './fields';

/** A range as the user entered it. */
export interface TabRange {
	readonly tab?: string;
	/** The user put the tab's title into quotes, so that `printRange` does, too. */
	readonly isQuoted?: true;
	/** Cells, columns or rows, such as `A1:D10`, `A:D` or `1:5`. */
	readonly cells?: string;
	/** A word that is the name of a named range. Without `tab`, it may also be the title of a tab: only Google knows. */
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

/** Matches the names that Google allows for a named range. */
const rangeNamePattern = /^[\p{L}_][\p{L}\p{N}_.]*$/u;

/** Splits a range at its last `!`, because a title may contain `!`. @throws NodeError 400 if the text after a quoted title is no range */
export function parseRange(range: string): TabRange {
	const text = range.trim();
	const quotedMatch = /^'((?:[^']|'')*)'(?:!(.*))?$/s.exec(text);
	if (quotedMatch) {
		const [, title = '', textAfterTitle] = quotedMatch;
		const tab = title.replaceAll("''", "'");
		if (textAfterTitle === undefined) return { tab };
		const cellsOrName = parseCellsOrName(textAfterTitle);
		if (cellsOrName) return { tab, ...cellsOrName, isQuoted: true };
		throw createRangeError(text);
	}
	const separatorIndex = text.lastIndexOf('!');
	const cellsOrName = separatorIndex > 0 ? parseCellsOrName(text.slice(separatorIndex + 1)) : undefined;
	if (cellsOrName) return { tab: text.slice(0, separatorIndex), ...cellsOrName };
	return parseCellsOrName(text) ?? { tab: text };
}

/** Returns undefined if the text is neither cells nor a name. */
function parseCellsOrName(text: string): Pick<TabRange, 'cells' | 'name'> | undefined {
	if (isCells(text)) return { cells: text };
	return rangeNamePattern.test(text) ? { name: text } : undefined;
}

/** A text of more than 100 characters is a title: references to cells are shorter. This also limits the work of the patterns. */
const isCells = (text: string) => text.length <= 100 && (a1Pattern.test(text) || r1c1Pattern.test(text));

/** Returns whether a range without a tab can be read as one cell, such as `Q1`. */
export const isOneCell = ({ tab, cells }: TabRange) =>
	tab === undefined && cells !== undefined && !cells.includes(':');

/** Returns cells with a colon for a text such as `A1-C5` or `A to D`; undefined for any other text. */
export function correctCells(text: string): string | undefined {
	const correctedText = text.slice(0, 200).replace(/ *(?:[-–—,;]|\.{2,3}| to ) *(?=[A-Z]{1,3}\d*$)/i, ':');
	return correctedText !== text && parseRange(correctedText).cells ? correctedText : undefined;
}

function createRangeError(range: string) {
	const cells = correctCells(range);
	const advice = range.startsWith("'") ? "Enter cells behind '!', such as 'My Tab'!A1:D10." : rangeAdvice;
	const message = `${quoteField('range')} is not a range: ${shorten(range)}`;
	return createRefusal(message, cells ? `Enter ${cells}.` : advice);
}

export const rangeAdvice = `In ${quoteField('range')}, enter cells such as A1:D10, columns such as A:D or rows such as 1:5, or leave it empty to use the whole tab.`;

/** Prints a range for Google: unchanged, except for quotes around a title that needs them. */
export function printRange({ tab, isQuoted, cells, name }: TabRange): string {
	const cellsOrName = cells ?? name;
	if (tab === undefined) return cellsOrName ?? '';
	if (cellsOrName === undefined) return quoteTab(tab);
	return `${isQuoted || needsQuotes(tab) ? quoteTab(tab) : tab}!${cellsOrName}`;
}

const needsQuotes = (tab: string) => !/^[A-Za-z_]\w*$/.test(tab) || isCells(tab);

export const quoteTab = (tab: string) => `'${tab.replaceAll("'", "''")}'`;

/** Returns the bounds of cells, from 0. A missing start, as in `A:D`, is 0. A missing end is undefined, also for a single cell. */
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
	const precedingNumber = Math.floor(column / 26);
	return `${precedingNumber > 0 ? toColumnLetters(precedingNumber - 1) : ''}${String.fromCharCode(65 + (column % 26))}`;
}

export const printCell = ({ row, column }: CellPosition) => `${toColumnLetters(column)}${row + 1}`;

/** Prints an area in a tab, as in `Sheet1!A1:D10`. @param rows number of rows @param columns number of columns */
export const printTabArea = (tab: string | undefined, start: CellPosition, rows: number, columns: number) =>
	printRange({ tab, cells: printArea(start, rows, columns) });

/** Prints an area in the tab of another range. @param range the other range, as Google printed it */
export const printAreaLike = (range: string, start: CellPosition, rows: number, columns: number) =>
	`${range.slice(0, range.lastIndexOf('!') + 1)}${printArea(start, rows, columns)}`;

function printArea(start: CellPosition, rows: number, columns: number): string {
	const firstCell = printCell(start);
	const lastCell = printCell({ row: start.row + rows - 1, column: start.column + columns - 1 });
	return firstCell === lastCell ? firstCell : `${firstCell}:${lastCell}`;
}

/** Splits elements into groups, in their order. An element that does not continue the previous one begins a new group. */
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

/** The values of the fields Tab and Range; '' if a field is empty. */
export type TargetParams = Pick<RowParams, 'tab' | 'range'>;

/** Returns whether a tab is given by its ID, as in a link to it: `#gid=0`. */
export const isLinkedTab = (tab: string) => /^#gid=\d+$/.test(tab);

/** Combines the fields Tab and Range to one range. @throws NodeError 400 if both are empty or contradict each other */
export function parseTarget({ tab: title, range }: TargetParams): TabRange {
	const [tab, rangeText] = [title.trim() && title, range.trim()];
	const advice =
		'Choose the tab, or enter a range such as Sheet1!A:D. If one of them is an expression, check that the input item contains the data.';
	if (tab === '' && rangeText === '')
		throw createRefusal(`${quoteField('tab')} or ${quoteField('range')} is required`, advice);
	const parsedRange = parseRange(rangeText);
	// The tab of the spreadsheet's link counts only if the range does not name a tab.
	const namesTab = rangeText !== '' && (parsedRange.tab ?? parsedRange.name) !== undefined;
	if (tab === '' || (isLinkedTab(tab) && namesTab)) return parsedRange;
	if (rangeText === '') return { tab };
	const message = `${quoteField('range')} contains a tab name, but ${quoteField('tab')} is also set`;
	const tabAdvice = `Leave ${quoteField('tab')} empty, or enter only cells, such as ${parseRange(rangeText).cells ?? 'A:D'}.`;
	if (rangeText.includes('!')) throw createRefusal(message, tabAdvice);
	const cellsOrName = parseCellsOrName(rangeText);
	if (!cellsOrName) throw createRangeError(rangeText);
	return { tab, ...cellsOrName };
}

/** Prints the fields Tab and Range as one range for Google. @throws NodeError 400 as `parseTarget` does */
export const printTarget = (target: TargetParams) => printRange(parseTarget(target));

/** Builds a key that is equal for all items whose rows go to the same place with the same options. @throws NodeError 400 */
export function buildTargetKey(params: TargetParams): string {
	const range = printTarget(params);
	return JSON.stringify({ ...params, values: undefined, columns: undefined, tab: undefined, range });
}
