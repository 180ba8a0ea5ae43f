import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isNodeError, type NodeError, createRefusal } from '../../../core/errors';
import { printChoice, quoteField } from '../../../fields/field';
import { type Cell, type RowsMember, readNamedRows, type NamedRow, collectNames } from './cells';
import { convertCells } from './dates/dateCells';
import type { RowParams } from './fields';
import { createColumnError, findSimilarNames, listNames, headerRowAdvice } from './names';
import { findStopError } from './sendRows';
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
	const usedNames = new Set(reserved);
	/** The next number of a repeated name: trying from 2 each time would take long with many equal headers. */
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

/** The row of a tab that names its columns, as far as the range reaches. Rows and columns count from 0. */
export type HeaderRow = Readonly<Awaited<ReturnType<typeof fetchHeaderRow>>>;

/** @param target range in which the header's columns lie @param headerRow number of the row in the tab, from 1 */
export async function fetchHeaderRow(book: Spreadsheet, target: TabRange, headerRow: number) {
	const { sheet, ...tabInfo } = await book.fetchTab(target.tab ?? target.name, `${headerRow}:${headerRow}`);
	const cells = sheet.data?.[0]?.rowData?.[0]?.values ?? [];
	const texts = cells.map(readHeaderText);
	const values = cells.map(({ effectiveValue: value }) => value?.numberValue ?? value?.boolValue);
	while (texts.at(-1) === '') texts.pop();
	const row = headerRow - 1;
	const { column: rangeStart, lastColumn: rangeEnd = Infinity } = parseBounds(target);
	const headerColumns = [...texts.keys()].filter(
		(column) => column >= rangeStart && column <= rangeEnd && texts[column] !== '',
	);
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
		/** Its numbers, dates, true and false. */
		values,
		/** Google's table that the header belongs to, if it was made with Format > Convert to table. */
		nativeTable: findNativeTable(sheet, { row, column: left }),
		/** First column of the range. */
		rangeStart,
		/** First column of the table; left of the range if headers stand there without a gap. */
		left,
		/** Last column that has a header. */
		right,
		/** Whether a column between `left` and `right` has no header. */
		hasGap: texts.slice(left, right).includes(''),
		/** Names of the columns that have a header, as Read returns them. */
		names: buildColumnNames(headers, rangeStart).filter((_, index) => headers[index] !== ''),
		/** Columns by name, or by letter where they have none. Empty when there is no header yet. */
		columns: indexColumns(headers, shownTexts, rangeStart),
		/** First column for new headers. */
		freeColumn,
		/** How many columns from `free` on are empty. */
		freeColumnCount: (nextHeaderColumn === -1 ? Infinity : nextHeaderColumn) - freeColumn,
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
export function indexColumns(headers: readonly string[], shownTexts: readonly string[], startColumn: number) {
	const trimmedHeaders = headers.map((header) => header.trim());
	const otherNames = [headers, shownTexts, trimmedHeaders].map((names) =>
		buildColumnNames(names, startColumn, []),
	);
	const columns = new Map<string, number>();
	for (const [index, name] of [buildColumnNames(headers, startColumn), ...otherNames].flatMap(
		(columnNames) => [...columnNames.entries()],
	))
		if (!columns.has(name)) columns.set(name, startColumn + index);
	return columns;
}

/** Names the columns of a table without a header by their letters, as Read does. */
export function nameColumnsByLetters(header: HeaderRow, names: readonly string[]): HeaderRow {
	const letters = names.filter((name) => /^[A-Z]{1,3}$/.test(name));
	const columns = new Map(letters.map((name) => [name, parseBounds({ cells: `${name}:${name}` }).column]));
	if (header.columns.size > 0 || columns.size === 0) return header;
	const [left, right] = [Math.min(...columns.values()), Math.max(...columns.values())];
	return { ...header, columns, left, right, freeColumn: right + 1, names: letters };
}

/** Adds the columns to the right of a header that rows name by the letters Read uses. Any other short name is an ordinary name. */
export function addLetterColumns(header: HeaderRow, names: ReadonlySet<string>): HeaderRow {
	const columns = new Map(header.columns);
	if (columns.size === 0) return header;
	const usedColumns = [...names].flatMap((name) => columns.get(name) ?? []);
	const { texts, rangeStart } = header;
	let { freeColumn, freeColumnCount } = header;
	const emptyHeaders = Array.from({ length: Math.min(names.size, freeColumnCount) }, () => '');
	const namesFromRead = buildColumnNames(
		[...texts.slice(rangeStart, freeColumn), ...emptyHeaders],
		rangeStart,
	);
	for (const name of namesFromRead.slice(freeColumn - rangeStart)) {
		if (!names.has(name)) break;
		columns.set(name, freeColumn++);
		freeColumnCount--;
	}
	const left = Math.min(header.left, ...usedColumns);
	const right = Math.max(header.right, freeColumn - 1);
	const hasGap = header.hasGap || left < header.left || right > header.right;
	return { ...header, left, right, hasGap, columns, freeColumn, freeColumnCount };
}

/** The header row with new columns at its free end; a NodeError where another table begins there. */
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
 * Finds a table in a tab or a named range, and reads the rows of each member for it.
 * @param getHeaderRowNumber gives the number of the header row in the tab, from 1
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
			// No tab has this name, so it may be a named range.
			if (isUnknownRangeError(error) && range.name !== undefined) return await fetchInNamedRange();
			throw error;
		});
	});
	return { ...table, memberRows: await convertCells(book, params, namedRows, table.header) };
}

/** Puts rows in the order of a table's columns: rows for each member, or a NodeError if its fields do not fit the table. */
export async function arrangeRowsByHeader(
	book: Spreadsheet,
	params: TableParams,
	members: readonly RowsMember[],
) {
	const { target, header: sheetHeader, memberRows } = await fetchTable(book, params, members);
	const { currentHeader, newNames, header, refusals } = resolveColumns(
		sheetHeader,
		params,
		members,
		memberRows,
	);
	const rows = memberRows.map(
		(namedRows, index) => refusals[index] ?? namedRows.map((row) => alignRow(row, header)),
	);
	let headersWritten: Promise<void> | undefined;
	/** Writes the headers that the rows need, the first time. */
	const addHeaders = () => (headersWritten ??= writeHeaders(book, currentHeader, newNames));
	if (currentHeader.columns.size === 0 && currentHeader.texts.length > 0)
		members[0]?.item.addHint(
			`The range had no column names, so the node added ${listNames(newNames)} to row ${currentHeader.row + 1}, next to ${listNames(currentHeader.texts.filter(Boolean))}. To use the existing columns, leave ${quoteField('range')} empty.`,
		);
	return { target, header, rows, addHeaders };
}

/**
 * Resolves the columns that rows name. `currentHeader` has the table's columns, `newNames` the names of new ones, `header` both. `refusals` has, for
 * each member in order, the reason why its rows cannot go into the table.
 */
export function resolveColumns(
	sheetHeader: HeaderRow,
	params: HeaderParams,
	members: readonly RowsMember[],
	memberRows: ReadonlyArray<readonly NamedRow[]>,
) {
	const stopErrors = members.map(findStopError);
	const isNew = sheetHeader.columns.size === 0;
	// Where there is no header yet, the first run makes it, and the rows of the others have to fit.
	const headerRun =
		isNew && params.extraColumns !== 'add' ? members[stopErrors.indexOf(undefined)]?.item.run : undefined;
	const definesHeader = (index: number) =>
		!stopErrors[index] && (headerRun === undefined || members[index]?.item.run === headerRun);
	const names = collectNames(memberRows.filter((_, index) => definesHeader(index)).flat());
	const currentHeader = addLetterColumns(sheetHeader, new Set(names));
	const canAdd = params.extraColumns === 'add' || isNew;
	const newNames = canAdd ? names.filter((name) => !currentHeader.columns.has(name)) : [];
	const extendedHeader = addNewColumns(currentHeader, newNames);
	const [header, refusal] = isNodeError(extendedHeader)
		? [currentHeader, extendedHeader]
		: [extendedHeader, undefined];
	const refusals = memberRows.map(
		(rows, index) => stopErrors[index] ?? refusal ?? findMisfitError(rows, header, params),
	);
	return { currentHeader, newNames, header, refusals };
}

/** The reason why rows cannot go into a table; undefined if they can. */
export function findMisfitError(
	rows: readonly NamedRow[],
	{ columns, names }: HeaderRow,
	{ extraColumns }: Pick<HeaderParams, 'extraColumns'>,
) {
	for (const { cells } of rows) {
		const unknownNames = [...cells.keys()].filter((name) => !columns.has(name));
		if (unknownNames.length > 0 && extraColumns === 'error')
			return createMisfitError(`The table has no column ${listNames(unknownNames)}`, names, unknownNames);
		if (unknownNames.length === cells.size)
			return createMisfitError(
				'None of the fields of the item is a column of the table',
				names,
				unknownNames,
			);
	}
	return undefined;
}

function createMisfitError(message: string, names: readonly string[], missingNames: readonly string[]) {
	const mapping = `set ${quoteField('valuesSource')} to ${printChoice('valuesSource', 'columns')}`;
	const [addChoice, ignoreChoice] = [
		printChoice('extraColumns', 'add'),
		printChoice('extraColumns', 'ignore'),
	];
	const advice =
		findSimilarNames(names, missingNames).length > 0
			? // Another column would be newNames beside the one that is meant.
				`Rename the field, or ${mapping} to choose a value for each column.`
			: `${headerRowAdvice} To add columns or leave fields out, set ${quoteField('extraColumns')} to ${addChoice} or ${ignoreChoice}. To choose a value for each column, ${mapping}.`;
	return createColumnError(message, names, missingNames, advice);
}

/** A cell for every column of the table; null where there is no such field. */
function alignRow({ cells }: NamedRow, { columns, left, right }: HeaderRow): Cell[] {
	const cellsByColumn = new Map([...cells].map(([name, cell]) => [columns.get(name), cell]));
	return Array.from({ length: right - left + 1 }, (_, index) => cellsByColumn.get(left + index) ?? null);
}
