import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError, createRefusal } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import { type Cell, type RowsMember, readNamedRows, type NamedRow, collectNames } from './cells';
import { convertCells } from './dates/dateCells';
import type { RowParams } from './fields';
import { createColumnError, findSimilarNames, listNames, headerRowAdvice } from './names';
import { findStopError } from './sendRows';
import { parseBounds, printTabArea, toColumnLetters, type TabRange, parseTarget } from './range';
import type { Spreadsheet } from './spreadsheet';
import { buildEnlargeTabRequests, findNativeTable, isUnknownRangeError } from './spreadsheet';

/**
 * Builds unique names of columns from their headers. A repeated header gets `_2`, `_3` …, an empty one becomes its column letter.
 * @param startColumn column of the first header, from 0
 * @param reserved keys that mean something else in an output item
 */
export function buildColumnNames(
	headers: readonly string[],
	startColumn: number,
	reserved: readonly string[] = ['error', 'rowNumber', '__proto__'],
): string[] {
	const usedNames = new Set(reserved);
	/** The next number of each name: with many equal headers, it would take long to try all numbers from 2 each time. */
	const nextNumbers = new Map<string, number>();
	return headers.map((header, index) => {
		const name = header || toColumnLetters(startColumn + index);
		let uniqueName = name;
		let number = nextNumbers.get(name) ?? 2;
		while (usedNames.has(uniqueName)) uniqueName = `${name}_${number++}`;
		nextNumbers.set(name, number);
		usedNames.add(uniqueName);
		return uniqueName;
	});
}

/** The row of a tab that names the columns of a table, within a range. Rows and columns count from 0. */
export type HeaderRow = Readonly<Awaited<ReturnType<typeof fetchHeaderRow>>>;

/** Fetches a header row. @param target the range with the table's columns @param headerRow the row's number in the tab, from 1 */
export async function fetchHeaderRow(book: Spreadsheet, target: TabRange, headerRow: number) {
	const { sheet, ...tabInfo } = await book.fetchTab(target.tab ?? target.name, `${headerRow}:${headerRow}`);
	const cells = sheet.data?.[0]?.rowData?.[0]?.values ?? [];
	const texts = cells.map(readHeaderText);
	const values = cells.map(({ effectiveValue: value }) => value?.numberValue ?? value?.boolValue);
	while (texts.at(-1) === '') texts.pop();
	const row = headerRow - 1;
	const { column: rangeStart, lastColumn: rangeEnd = Infinity } = parseBounds(target);
	const isInRange = (column: number) => column >= rangeStart && column <= rangeEnd;
	const headerColumns = [...texts.keys()].filter((column) => isInRange(column) && texts[column] !== '');
	let left = headerColumns[0] ?? rangeStart;
	while (left > 0 && texts[left - 1]) left--;
	const freeColumn = (headerColumns.at(-1) ?? rangeStart - 1) + 1;
	const right = Math.max(freeColumn - 1, left);
	const headers = texts.slice(rangeStart, freeColumn);
	const shownTexts = cells.slice(rangeStart, freeColumn).map(({ formattedValue }) => formattedValue ?? '');
	const nextHeaderColumn = texts.findIndex((text, column) => column >= freeColumn && text !== '');
	return {
		...tabInfo,
		row,
		/** Texts of the whole row, from the tab's first column on. */
		texts,
		/** Values of the whole row that are a number, a date or a boolean; undefined for texts. */
		values,
		/** The native table that the header belongs to, if there is one. */
		nativeTable: findNativeTable(sheet, { row, column: left }),
		/** First column of the range. */
		rangeStart,
		/** First column of the table. It is left of the range if the headers continue there without a gap. */
		left,
		/** Last column that has a header. */
		right,
		/** Whether a column between `left` and `right` has no header. */
		hasGap: texts.slice(left, right).includes(''),
		/** Names of the columns that have a header, as Read returns them. */
		names: buildColumnNames(headers, rangeStart).filter((_, index) => headers[index] !== ''),
		/** Columns by name, or by letter if they have no header. Empty if there is no header yet. */
		columns: indexColumns(headers, shownTexts, rangeStart),
		/** First column for new headers. */
		freeColumn,
		/** How many header cells from `freeColumn` on are empty. */
		freeColumnCount: (nextHeaderColumn === -1 ? Infinity : nextHeaderColumn) - freeColumn,
	};
}

/** Returns the text of a header as Read does: the text of its value, or what the sheet shows if it is a date. */
function readHeaderText({ effectiveValue, effectiveFormat, formattedValue }: sheets_v4.Schema$CellData) {
	const { stringValue, numberValue, boolValue } = effectiveValue ?? {};
	const isDate = /^(DATE|TIME)/.test(effectiveFormat?.numberFormat?.type ?? '');
	const value = stringValue ?? boolValue ?? (isDate ? undefined : numberValue);
	return String(value ?? formattedValue ?? '');
}

/**
 * Maps names to columns. A column can be named by its name in Read's items, its header, the text that the sheet shows for the header, or
 * the header without spaces around it. If two columns share a name, the first of these four kinds wins.
 */
export function indexColumns(headers: readonly string[], shownTexts: readonly string[], startColumn: number) {
	const trimmedHeaders = headers.map((header) => header.trim());
	const texts = [headers, shownTexts, trimmedHeaders];
	const otherNames = texts.map((names) => buildColumnNames(names, startColumn, []));
	const columns = new Map<string, number>();
	for (const names of [buildColumnNames(headers, startColumn), ...otherNames])
		for (const [index, name] of names.entries())
			if (!columns.has(name)) columns.set(name, startColumn + index);
	return columns;
}

/** If a table has no header, names those columns by their letters that are among `names`, as Read does. */
export function nameColumnsByLetters(header: HeaderRow, names: readonly string[]): HeaderRow {
	const letters = names.filter((name) => /^[A-Z]{1,3}$/.test(name));
	const columns = new Map(letters.map((name) => [name, parseBounds({ cells: `${name}:${name}` }).column]));
	if (header.columns.size > 0 || columns.size === 0) return header;
	const [left, right] = [Math.min(...columns.values()), Math.max(...columns.values())];
	return { ...header, columns, left, right, freeColumn: right + 1, names: letters };
}

/** Adds columns without a header, directly to the right of the table, if rows name them by letter. Other letters are ordinary names. */
export function addLetterColumns(header: HeaderRow, names: ReadonlySet<string>): HeaderRow {
	const columns = new Map(header.columns);
	if (columns.size === 0) return header;
	const usedColumns = [...names].flatMap((name) => columns.get(name) ?? []);
	const { texts, rangeStart } = header;
	let { freeColumn, freeColumnCount } = header;
	const emptyHeaders = Array.from({ length: Math.min(names.size, freeColumnCount) }, () => '');
	const headers = [...texts.slice(rangeStart, freeColumn), ...emptyHeaders];
	for (const name of buildColumnNames(headers, rangeStart).slice(freeColumn - rangeStart)) {
		if (!names.has(name)) break;
		columns.set(name, freeColumn++);
		freeColumnCount--;
	}
	const left = Math.min(header.left, ...usedColumns);
	const right = Math.max(header.right, freeColumn - 1);
	const hasGap = header.hasGap || left < header.left || right > header.right;
	return { ...header, left, right, hasGap, columns, freeColumn, freeColumnCount };
}

/** Adds new columns after the last one. Returns a NodeError (400) if there is another table in these columns. */
export function addNewColumns(header: HeaderRow, names: readonly string[]): HeaderRow | NodeError {
	const { freeColumn, freeColumnCount, columns } = header;
	if (names.length === 0) return header;
	if (names.length > freeColumnCount) {
		const advice = `Column ${toColumnLetters(freeColumn + freeColumnCount)} of the header row is already in use.`;
		return createRefusal(`There is no space for new columns: ${listNames(names)}`, advice);
	}
	const addedColumns = names.map((name, index) => [name, freeColumn + index] as const);
	return {
		...header,
		right: freeColumn + names.length - 1,
		names: [...header.names, ...names],
		columns: new Map([...columns, ...addedColumns]),
	};
}

async function writeHeaders(book: Spreadsheet, header: HeaderRow, names: readonly string[]): Promise<void> {
	if (names.length === 0) return;
	const { title, row, freeColumn } = header;
	await book.change(buildEnlargeTabRequests(header, { columns: freeColumn + names.length }));
	await book.update(printTabArea(title, { row, column: freeColumn }, 1, 1), [[...names]], 'RAW');
}

type HeaderParams = Pick<RowParams, 'tab' | 'range' | 'headerRow' | 'extraColumns'>;
type TableParams = HeaderParams & Pick<RowParams, 'valueInputOption'>;

/** A table as described by its header row. */
export type SheetTable = Pick<Awaited<ReturnType<typeof fetchTable>>, 'target' | 'header'>;

/**
 * Fetches the header of a table in a tab or a named range, and reads the rows of each member.
 * @param getHeaderRowNumber returns the number of the header row in the tab, from 1
 */
export async function fetchTable(
	book: Spreadsheet,
	params: TableParams,
	members: readonly RowsMember[],
	getHeaderRowNumber: (target: TabRange) => number = () => params.headerRow,
) {
	const namedRows = members.map(readNamedRows);
	const range = parseTarget(params);
	const fetchIn = async (target: TabRange) => {
		return { target, header: await fetchHeaderRow(book, target, getHeaderRowNumber(target)) };
	};
	const fetchInNamedRange = async () => await fetchIn(await book.resolveName(range));
	const table = await book.sendForRange(range, async () => {
		if (range.tab !== undefined && range.name !== undefined) return await fetchInNamedRange();
		return await fetchIn(range).catch(async (error: unknown) => {
			// No tab has this name, but a named range may have it.
			if (isUnknownRangeError(error) && range.name !== undefined) return await fetchInNamedRange();
			throw error;
		});
	});
	return { ...table, memberRows: await convertCells(book, params, namedRows, table.header) };
}

/** Sorts cells by the table's columns. Returns `rows` for each member: its rows, or a NodeError if its fields do not fit the table. */
export async function arrangeRows(book: Spreadsheet, params: TableParams, members: readonly RowsMember[]) {
	const { target, header: sheetHeader, memberRows } = await fetchTable(book, params, members);
	const resolution = resolveColumns(sheetHeader, params, members, memberRows);
	const { currentHeader, newNames, header, refusals } = resolution;
	const alignRows = (rows: readonly NamedRow[]) => rows.map((row) => alignRow(row, header));
	const rows = memberRows.map((namedRows, index) => refusals[index] ?? alignRows(namedRows));
	let headersWritten: Promise<void> | undefined;
	/** Writes the headers of new columns. Further calls do nothing. */
	const addHeaders = () => (headersWritten ??= writeHeaders(book, currentHeader, newNames));
	if (currentHeader.columns.size === 0 && currentHeader.texts.length > 0)
		members[0]?.item.addHint(
			`The range had no column names, so the node added ${listNames(newNames)} to row ${currentHeader.row + 1}, next to ${listNames(currentHeader.texts.filter(Boolean))}. To use the existing columns, leave ${quoteField('range')} empty.`,
		);
	return { target, header, rows, addHeaders };
}

/**
 * Resolves the columns that rows name. `currentHeader` has the existing columns, `newNames` the names of columns to add, and `header`
 * both. `refusals` has an error for each member whose rows do not fit the table, otherwise undefined.
 */
export function resolveColumns(
	sheetHeader: HeaderRow,
	params: HeaderParams,
	members: readonly RowsMember[],
	memberRows: ReadonlyArray<readonly NamedRow[]>,
) {
	const stopErrors = members.map(findStopError);
	const isNew = sheetHeader.columns.size === 0;
	// If there is no header yet, the rows of the first run define it, and the rows of the other runs must fit it.
	const headerRun =
		isNew && params.extraColumns !== 'add' ? members[stopErrors.indexOf(undefined)]?.item.run : undefined;
	const definesHeader = (index: number) =>
		!stopErrors[index] && (headerRun === undefined || members[index]?.item.run === headerRun);
	const names = collectNames(memberRows.filter((_, index) => definesHeader(index)).flat());
	const currentHeader = addLetterColumns(sheetHeader, new Set(names));
	const canAdd = params.extraColumns === 'add' || isNew;
	const newNames = canAdd ? names.filter((name) => !currentHeader.columns.has(name)) : [];
	const grownHeader = addNewColumns(currentHeader, newNames);
	const [header, refusal] = isNodeError(grownHeader) ? [currentHeader, grownHeader] : [grownHeader];
	const findRefusal = (rows: readonly NamedRow[]) => refusal ?? findMisfitError(rows, header, params);
	const refusals = memberRows.map((rows, index) => stopErrors[index] ?? findRefusal(rows));
	return { currentHeader, newNames, header, refusals };
}

/** Returns the error for rows that do not fit a table; undefined if they fit. */
export function findMisfitError(
	rows: readonly NamedRow[],
	{ columns, names }: HeaderRow,
	{ extraColumns }: Pick<HeaderParams, 'extraColumns'>,
) {
	for (const { cells } of rows) {
		const unknownNames = [...cells.keys()].filter((name) => !columns.has(name));
		if (unknownNames.length > 0 && extraColumns === 'error')
			return createMisfitError(`The table has no column ${listNames(unknownNames)}`, names, unknownNames);
		const message = 'None of the fields of the item is a column of the table';
		if (unknownNames.length === cells.size) return createMisfitError(message, names, unknownNames);
	}
	return undefined;
}

function createMisfitError(message: string, names: readonly string[], missingNames: readonly string[]) {
	const mapping = `set ${quoteField('valuesSource')} to ${printChoice('valuesSource', 'columns')}`;
	const choices = `${printChoice('extraColumns', 'add')} or ${printChoice('extraColumns', 'ignore')}`;
	const advice =
		findSimilarNames(names, missingNames).length > 0
			? // Adding a column would not help: the column that the user means has a similar name.
				`Rename the field, or ${mapping} to choose a value for each column.`
			: `${headerRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${choices}. To choose a value for each column, ${mapping}.`;
	return createColumnError(message, names, missingNames, advice);
}

/** Returns a cell for each column of the table: null if the row has no such field. */
function alignRow({ cells }: NamedRow, { columns, left, right }: HeaderRow): Cell[] {
	const cellsByColumn = new Map([...cells].map(([name, cell]) => [columns.get(name), cell]));
	return Array.from({ length: right - left + 1 }, (_, index) => cellsByColumn.get(left + index) ?? null);
}
