import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError, createRefusal } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import { type Cell, type RowsMember, readNamedRows, type NamedRow, collectNames } from './cells';
import { convertCells } from './dates/dateCells';
import type { RowParams } from './fields';
import { createColumnError, findAlike, listNames, otherRowAdvice } from './names';
import { findStop } from './sendRows';
import { parseBounds, printTabArea, toColumnLetters, type TabRange, parseTarget } from './range';
import {
	buildEnlargeTabRequests,
	findNativeTable,
	isUnknownRangeError,
	type Spreadsheet,
} from './spreadsheet';

/**
 * Unique names of columns, from their headers: a repeated one gets `_2`, `_3` …, an empty one becomes its column letter.
 * @param startColumn column of the first header, from 0
 * @param reserved keys that mean something else in an output item
 */
export function buildColumnNames(
	headers: readonly string[],
	startColumn: number,
	reserved: readonly string[] = ['error', 'rowNumber', '__proto__'],
): string[] {
	const taken = new Set(reserved);
	/** The next number of a repeated name: trying from 2 each time would take long with many equal headers. */
	const numbers = new Map<string, number>();
	return headers.map((header, at) => {
		const name = header || toColumnLetters(startColumn + at);
		let unique = name;
		let number = numbers.get(name) ?? 2;
		while (taken.has(unique)) unique = `${name}_${number++}`;
		numbers.set(name, number);
		taken.add(unique);
		return unique;
	});
}

/** The row of a tab that names its columns, as far as the range reaches. Rows and columns count from 0. */
export type HeaderRow = Readonly<Awaited<ReturnType<typeof readHeaderRow>>>;

/** @param target range in which the header's columns lie @param headerRow number of the row in the tab, from 1 */
export async function readHeaderRow(book: Spreadsheet, target: TabRange, headerRow: number) {
	const { sheet, ...found } = await book.findSheet(target.tab ?? target.name, `${headerRow}:${headerRow}`);
	const cells = sheet.data?.[0]?.rowData?.[0]?.values ?? [];
	const texts = cells.map(readHeaderText);
	const values = cells.map(({ effectiveValue: is }) => is?.numberValue ?? is?.boolValue);
	while (texts.at(-1) === '') texts.pop();
	const row = headerRow - 1;
	const { column: start, lastColumn = Infinity } = parseBounds(target);
	const filled = [...texts.keys()].filter((at) => at >= start && at <= lastColumn && texts[at] !== '');
	let left = filled[0] ?? start;
	while (left > 0 && texts[left - 1]) left--;
	const free = (filled.at(-1) ?? start - 1) + 1;
	const right = Math.max(free - 1, left);
	const headers = texts.slice(start, free);
	const shown = cells.slice(start, free).map(({ formattedValue }) => formattedValue ?? '');
	const next = texts.findIndex((text, at) => at >= free && text !== '');
	return {
		...found,
		row,
		/** Texts of the whole row, from the tab's first column on. */
		texts,
		/** Its numbers, dates, true and false. */
		values,
		/** Google's table that the header belongs to, if it was made with Format > Convert to table. */
		native: findNativeTable(sheet, { row, column: left }),
		/** First column of the range. */
		start,
		/** First column of the table; left of the range if headers stand there without a gap. */
		left,
		/** Last column that has a header. */
		right,
		/** Whether a column between `left` and `right` has no header. */
		hasGap: texts.slice(left, right).includes(''),
		/** Names of the columns that have a header, as Read returns them. */
		names: buildColumnNames(headers, start).filter((_, at) => headers[at] !== ''),
		/** Columns by name, or by letter where they have none. Empty when there is no header yet. */
		columns: indexColumns(headers, shown, start),
		/** First column for new headers. */
		free,
		/** How many columns from `free` on are empty. */
		room: (next === -1 ? Infinity : next) - free,
	};
}

/** Reads the text of a header as Read does: its value, or what the sheet shows if it is a date. */
function readHeaderText({ effectiveValue, effectiveFormat, formattedValue }: sheets_v4.Schema$CellData) {
	const { stringValue, numberValue, boolValue } = effectiveValue ?? {};
	const isDate = /^(DATE|TIME)/.test(effectiveFormat?.numberFormat?.type ?? '');
	const value = stringValue ?? boolValue ?? (isDate ? undefined : numberValue);
	return String(value ?? formattedValue ?? '');
}

/**
 * Maps names to columns, in this order: the names that Read returns, the headers, what the sheet shows for them, and the headers without
 * spaces around them. A column without a header has its letter as name.
 */
export function indexColumns(headers: readonly string[], shown: readonly string[], start: number) {
	const trimmed = headers.map((header) => header.trim());
	const others = [headers, shown, trimmed].map((names) => buildColumnNames(names, start, []));
	const columns = new Map<string, number>();
	for (const [at, name] of [buildColumnNames(headers, start), ...others].flatMap((all) => [...all.entries()]))
		if (!columns.has(name)) columns.set(name, start + at);
	return columns;
}

/** Names the columns of a table without a header by their letters, as Read does. */
export function nameColumnsByLetters(header: HeaderRow, names: readonly string[]): HeaderRow {
	const letters = names.filter((name) => /^[A-Z]{1,3}$/.test(name));
	const columns = new Map(letters.map((name) => [name, parseBounds({ cells: `${name}:${name}` }).column]));
	if (header.columns.size > 0 || columns.size === 0) return header;
	const [left, right] = [Math.min(...columns.values()), Math.max(...columns.values())];
	return { ...header, columns, left, right, free: right + 1, names: letters };
}

/** Adds the columns to the right of a header that rows name by the letters Read uses. Any other short name is an ordinary name. */
export function addLetterColumns(header: HeaderRow, names: ReadonlySet<string>): HeaderRow {
	const columns = new Map(header.columns);
	if (columns.size === 0) return header;
	const used = [...names].flatMap((name) => columns.get(name) ?? []);
	const { texts, start } = header;
	let { free, room } = header;
	const beside = Array.from({ length: Math.min(names.size, room) }, () => '');
	const read = buildColumnNames([...texts.slice(start, free), ...beside], start);
	for (const name of read.slice(free - start)) {
		if (!names.has(name)) break;
		columns.set(name, free++);
		room--;
	}
	const left = Math.min(header.left, ...used);
	const right = Math.max(header.right, free - 1);
	const hasGap = header.hasGap || left < header.left || right > header.right;
	return { ...header, left, right, hasGap, columns, free, room };
}

/** The header row with new columns at its free end; a NodeError where another table begins there. */
export function addNewColumns(header: HeaderRow, names: readonly string[]): HeaderRow | NodeError {
	const { free, room, columns } = header;
	if (names.length === 0) return header;
	if (names.length > room) {
		const taken = `Column ${toColumnLetters(free + room)} of the header row is already in use.`;
		return createRefusal(`There is no space for new columns: ${listNames(names)}`, taken);
	}
	const added = names.map((name, at) => [name, free + at] as const);
	return {
		...header,
		right: free + names.length - 1,
		names: [...header.names, ...names],
		columns: new Map([...columns, ...added]),
	};
}

async function writeHeaders(book: Spreadsheet, header: HeaderRow, names: readonly string[]): Promise<void> {
	if (names.length === 0) return;
	const { title, row, free } = header;
	await book.change(buildEnlargeTabRequests(header, { columns: free + names.length }));
	await book.update(printTabArea(title, { row, column: free }, 1, 1), [[...names]], 'RAW');
}

type HeaderParams = Pick<RowParams, 'tab' | 'range' | 'headerRow' | 'extraColumns'>;
type TableParams = HeaderParams & Pick<RowParams, 'valueInputOption'>;

/** A table as described by its header row. */
export type SheetTable = Pick<Awaited<ReturnType<typeof findTable>>, 'target' | 'header'>;

/**
 * Finds a table in a tab or a named range, and reads the rows of each member for it.
 * @param headerRow gives the number of the header row in the tab, from 1
 */
export async function findTable(
	book: Spreadsheet,
	params: TableParams,
	members: readonly RowsMember[],
	headerRow: (target: TabRange) => number = () => params.headerRow,
) {
	const named = members.map(readNamedRows);
	const range = parseTarget(params);
	const readIn = async (target: TabRange) => {
		return { target, header: await readHeaderRow(book, target, headerRow(target)) };
	};
	const readInNamedRange = async () => await readIn(await book.resolveName(range));
	const found = await book.sendForRange(range, async () => {
		if (range.tab !== undefined && range.name !== undefined) return await readInNamedRange();
		return await readIn(range).catch(async (error: unknown) => {
			// No tab has this name, so it may be a named range.
			if (isUnknownRangeError(error) && range.name !== undefined) return await readInNamedRange();
			throw error;
		});
	});
	return { ...found, given: await convertCells(book, params, named, found.header) };
}

/** Puts rows in the order of a table's columns: rows for each member, or a NodeError if its fields do not fit the table. */
export async function arrangeRowsByHeader(
	book: Spreadsheet,
	params: TableParams,
	members: readonly RowsMember[],
) {
	const { target, header: read, given } = await findTable(book, params, members);
	const { found, added, header, refusals } = resolveColumns(read, params, members, given);
	const rows = given.map((own, at) => refusals[at] ?? own.map((row) => alignRow(row, header)));
	let written: Promise<void> | undefined;
	/** Writes the headers that the rows need, the first time. */
	const addHeaders = () => (written ??= writeHeaders(book, found, added));
	if (found.columns.size === 0 && found.texts.length > 0)
		members[0]?.item.addHint(
			`The range had no column names, so the node added ${listNames(added)} to row ${found.row + 1}, next to ${listNames(found.texts.filter(Boolean))}. To use the existing columns, leave ${quoteField('range')} empty.`,
		);
	return { target, header, rows, addHeaders };
}

/**
 * Resolves the columns that rows name. `found` has the table's columns, `added` the names of new ones, `header` both. `refusals` has, for
 * each member in order, the reason why its rows cannot go into the table.
 */
export function resolveColumns(
	read: HeaderRow,
	params: HeaderParams,
	members: readonly RowsMember[],
	given: ReadonlyArray<readonly NamedRow[]>,
) {
	const stops = members.map(findStop);
	const isNew = read.columns.size === 0;
	// Where there is no header yet, the first run makes it, and the rows of the others have to fit.
	const makers =
		isNew && params.extraColumns !== 'add' ? members[stops.indexOf(undefined)]?.item.run : undefined;
	const isMaker = (at: number) => !stops[at] && (makers === undefined || members[at]?.item.run === makers);
	const names = collectNames(given.filter((_, at) => isMaker(at)).flat());
	const found = addLetterColumns(read, new Set(names));
	const mayAdd = params.extraColumns === 'add' || isNew;
	const added = mayAdd ? names.filter((name) => !found.columns.has(name)) : [];
	const grown = addNewColumns(found, added);
	const [header, refusal] = isNodeError(grown) ? [found, grown] : [grown, undefined];
	const refusals = given.map((rows, at) => stops[at] ?? refusal ?? findMisfit(rows, header, params));
	return { found, added, header, refusals };
}

/** The reason why rows cannot go into a table; undefined if they can. */
export function findMisfit(
	rows: readonly NamedRow[],
	{ columns, names }: HeaderRow,
	{ extraColumns }: Pick<HeaderParams, 'extraColumns'>,
) {
	for (const { cells } of rows) {
		const unknown = [...cells.keys()].filter((name) => !columns.has(name));
		if (unknown.length > 0 && extraColumns === 'error')
			return createMisfitError(`The table has no column ${listNames(unknown)}`, names, unknown);
		if (unknown.length === cells.size)
			return createMisfitError('None of the fields of the item is a column of the table', names, unknown);
	}
	return undefined;
}

function createMisfitError(message: string, names: readonly string[], missing: readonly string[]) {
	const mapping = `set ${quoteField('valuesSource')} to ${printChoice('valuesSource', 'columns')}`;
	const [add, ignore] = [printChoice('extraColumns', 'add'), printChoice('extraColumns', 'ignore')];
	const advice =
		findAlike(names, missing).length > 0
			? // Another column would be added beside the one that is meant.
				`Rename the field, or ${mapping} to choose a value for each column.`
			: `${otherRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${add} or ${ignore}. To choose a value for each column, ${mapping}.`;
	return createColumnError(message, names, missing, advice);
}

/** A cell for every column of the table; null where there is no such field. */
function alignRow({ cells }: NamedRow, { columns, left, right }: HeaderRow): Cell[] {
	const placed = new Map([...cells].map(([name, cell]) => [columns.get(name), cell]));
	return Array.from({ length: right - left + 1 }, (_, at) => placed.get(left + at) ?? null);
}
