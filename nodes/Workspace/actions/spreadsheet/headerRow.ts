import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError, createRefusal } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import {
	type Cell,
	type CellInputOptions,
	type RowsMember,
	type NamedCells,
	readNamedRows,
	type NamedRow,
	collectNames,
} from './cells';
import {
	buildEnlargeTabRequests,
	isUnknownRangeError,
	findAlike,
	listColumns,
	otherRowAdvice,
	listNames,
	findNativeTable,
	type SheetInfo,
	type Spreadsheet,
} from './spreadsheet';
import { convertCells } from './dates/dateCells';
import { findStop } from './sendRows';
import {
	parseBounds,
	printTabArea,
	toColumnLetters,
	type TabRange,
	type TargetParams,
	parseTarget,
} from './range';

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
export interface HeaderRow extends Omit<SheetInfo, 'sheet'> {
	readonly row: number;
	/** Texts of the whole row, from the tab's first column on. */
	readonly texts: readonly string[];
	/** Its numbers, dates, true and false. */
	readonly values: ReadonlyArray<number | boolean | null | undefined>;
	/** Google's table that the header belongs to, if it was made with Format > Convert to table. */
	readonly native: ReturnType<typeof findNativeTable>;
	/** First column of the range. */
	readonly start: number;
	/** First column of the table; left of the range if headers stand there without a gap. */
	readonly left: number;
	/** Last column that has a header. */
	readonly right: number;
	/** Whether a column between `left` and `right` has no header. */
	readonly hasGap: boolean;
	/** Names of the columns that have a header, as Read returns them. */
	readonly names: readonly string[];
	/** Columns by name, or by letter where they have none. Empty when there is no header yet. */
	readonly columns: ReadonlyMap<string, number>;
	/** First column for new headers. */
	readonly free: number;
	/** How many columns from `free` on are empty. */
	readonly room: number;
}

/** @param target range in which the header's columns lie @param headerRow number of the row in the tab, from 1 */
export async function readHeaderRow(
	book: Spreadsheet,
	target: TabRange,
	headerRow: number,
): Promise<HeaderRow> {
	const { sheet, ...found } = await book.findSheet(target.tab ?? target.name, `${headerRow}:${headerRow}`);
	const cells = sheet.data?.[0]?.rowData?.[0]?.values ?? [];
	const texts = cells.map(readHeaderText);
	const values = cells.map(({ effectiveValue: is }) => is?.numberValue ?? is?.boolValue);
	const shown = cells.map(({ formattedValue }) => formattedValue ?? '');
	while (texts.at(-1) === '') texts.pop();
	const row = headerRow - 1;
	const { column: start, lastColumn = Infinity } = parseBounds(target);
	const filled = [...texts.keys()].filter((at) => at >= start && at <= lastColumn && texts[at] !== '');
	let left = filled[0] ?? start;
	while (left > 0 && texts[left - 1]) left--;
	const free = (filled.at(-1) ?? start - 1) + 1;
	const right = Math.max(free - 1, left);
	const headers = texts.slice(start, free);
	const next = texts.findIndex((text, at) => at >= free && text !== '');
	return {
		...{ ...found, row, texts, values, start, left, right, free },
		native: findNativeTable(sheet, { row, column: left }),
		hasGap: texts.slice(left, right).includes(''),
		names: buildColumnNames(headers, start).filter((_, at) => headers[at] !== ''),
		columns: indexColumns(headers, shown.slice(start, free), start),
		room: (next === -1 ? Infinity : next) - free,
	};
}

/** The text of a header as Read has it: its value, but a date as the sheet shows it. */
function readHeaderText({
	effectiveValue,
	effectiveFormat,
	formattedValue,
}: sheets_v4.Schema$CellData): string {
	const { stringValue, numberValue, boolValue } = effectiveValue ?? {};
	const isDate = /^(DATE|TIME)/.test(effectiveFormat?.numberFormat?.type ?? '');
	const value = stringValue ?? boolValue ?? (isDate ? undefined : numberValue);
	return String(value ?? formattedValue ?? '');
}

/**
 * Finds columns by the names that Read returns, then by their headers, by what the sheet shows for them, and last without blanks around
 * them; a column without a header by its letter.
 */
function indexColumns(
	headers: readonly string[],
	shown: readonly string[],
	start: number,
): Map<string, number> {
	const columns = new Map<string, number>();
	const exact = [buildColumnNames(headers, start), buildColumnNames(headers, start, [])];
	const trimmed = headers.map((header) => header.trim());
	for (const names of [...exact, buildColumnNames(shown, start, []), buildColumnNames(trimmed, start, [])]) {
		for (const [at, name] of names.entries()) if (!columns.has(name)) columns.set(name, start + at);
	}
	return columns;
}

/** The columns of a table without a header, by the letters that Read names them by. */
export function nameColumnsByLetters(header: HeaderRow, names: readonly string[]): HeaderRow {
	const letters = names.filter((name) => /^[A-Z]{1,3}$/.test(name));
	const columns = new Map(letters.map((name) => [name, parseBounds({ cells: `${name}:${name}` }).column]));
	if (header.columns.size > 0 || columns.size === 0) return header;
	const [left, right] = [Math.min(...columns.values()), Math.max(...columns.values())];
	return { ...header, columns, left, right, free: right + 1, names: letters };
}

/** Adds the columns beside a header that rows name by letter, as Read does. Any other name of one to three letters is an ordinary name. */
export function addLetterColumns(header: HeaderRow, names: ReadonlySet<string>): HeaderRow {
	const columns = new Map(header.columns);
	if (columns.size === 0) return header;
	const used = [...names].flatMap((name) => columns.get(name) ?? []);
	const { texts, start } = header;
	let { free, room } = header;
	const beside = Array.from({ length: names.size }, () => '');
	const read = buildColumnNames([...texts.slice(start, free), ...beside], start);
	for (const name of read.slice(free - start)) {
		if (room === 0 || !names.has(name)) break;
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
		return createRefusal(
			`There is no space for new columns: ${listNames(names)}`,
			`Column ${toColumnLetters(free + room)} of the header row is already in use.`,
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

/** Writes headers into the free columns. */
async function writeHeaders(book: Spreadsheet, header: HeaderRow, names: readonly string[]): Promise<void> {
	if (names.length === 0) return;
	const { title, row, free } = header;
	await book.change(buildEnlargeTabRequests(header, { columns: free + names.length }));
	await book.update(printTabArea(title, { row, column: free }, 1, 1), [[...names]], 'RAW');
}

interface HeaderParams extends TargetParams {
	readonly headerRow: number;
	readonly extraColumns: 'add' | 'error' | 'ignore';
}

/** A table as described by its header row. */
export type SheetTable = Awaited<ReturnType<typeof findTable>>;

/** Finds a table in a tab or a named range. @param headerRow number of its header row in the tab, from 1 */
export async function findTable(
	book: Spreadsheet,
	params: HeaderParams,
	headerRow: (target: TabRange) => number = () => params.headerRow,
) {
	const given = parseTarget(params);
	const { tab, name } = given;
	const readIn = async (target: TabRange) => {
		return { target, header: await readHeaderRow(book, target, headerRow(target)) };
	};
	const readInNamedRange = async () => await readIn(await book.resolveName(given));
	return await book.sendForRange(given, async () => {
		if (tab !== undefined && name !== undefined) return await readInNamedRange();
		return await readIn(given).catch(async (error: unknown) => {
			// No tab has this name, so it may be a named range.
			if (isUnknownRangeError(error) && name !== undefined) return await readInNamedRange();
			throw error;
		});
	});
}

/** Puts rows in the order of a table's columns: rows for each member, or a NodeError if its fields do not fit the table. */
export async function arrangeRowsByHeader(
	book: Spreadsheet,
	params: HeaderParams & Pick<CellInputOptions, 'valueInputOption'>,
	members: readonly RowsMember[],
) {
	const named = members.map(readNamedRows);
	const { target, header: read } = await findTable(book, params);
	const given = await convertCells(book, params, named, read);
	const { found, added, header, refusals } = resolveColumns(read, params, members, given);
	const rows = given.map((own, at) => refusals[at] ?? own.map(({ cells }) => alignRow(cells, header)));
	let written: Promise<void> | undefined;
	/** Writes the headers that the rows need, the first time. */
	const addHeaders = () => (written ??= writeHeaders(book, found, added));
	return { target, header, rows, addHeaders };
}

/**
 * Resolves the columns that rows name: `found` has those of the table, `added` the names of new ones, `header` both. `refusals` says why
 * the rows of a member cannot go into the table, in the place of the member.
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
): NodeError | undefined {
	for (const { cells } of rows) {
		const unknown = [...cells.keys()].filter((name) => !columns.has(name));
		if (unknown.length > 0 && extraColumns === 'error') {
			return createRefusal(`The table has no column ${listNames(unknown)}`, adviseOnColumns(names, unknown));
		}
		if (unknown.length === cells.size) {
			return createRefusal(
				'None of the fields of the item is a column of the table',
				adviseOnColumns(names, unknown),
			);
		}
	}
	return undefined;
}

/** What to do about columns that a table does not have. */
function adviseOnColumns(names: readonly string[], missing: readonly string[]): string {
	const known = listColumns(names, missing);
	const mapping = `set ${quoteField('valuesSource')} to ${printChoice('valuesSource', 'columns')}`;
	// Another column would be added beside the one that is meant.
	if (findAlike(names, missing).length > 0)
		return `${known} Rename the field, or ${mapping} to choose a value for each column.`;
	const [add, ignore] = [printChoice('extraColumns', 'add'), printChoice('extraColumns', 'ignore')];
	return `${known} ${otherRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${add} or ${ignore}. To choose a value for each column, ${mapping}.`;
}

/** A cell for every column of the table; null where there is no such field. */
function alignRow(cells: NamedCells, { columns, left, right }: HeaderRow): Cell[] {
	const row: Cell[] = Array.from({ length: right - left + 1 }, () => null);
	for (const [name, cell] of cells) {
		const column = columns.get(name);
		if (column !== undefined) row[column - left] = cell;
	}
	return row;
}
