import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { getOrAdd } from '../../../core/maps';
import { createRefusal } from '../../../core/errors';
import { listNames } from '../../../core/text';
import { type Cell, findLastFilledRow, isFilled } from './cells';
import { findColumnsInAnyCase, nameColumns, type NamedColumns } from './columnNames';
import { isDateFormat, type NumberFormat } from './dates';
import { type Area, parseBounds, printTabArea, toColumnLetters, type TabRange } from './range';
import { findNativeTable, type NativeTable, type Spreadsheet, type TabInfo } from './spreadsheet';

/**
 * A table is its header row, its columns and everything down to the last row that has a value in
 * one of its columns. Blank rows inside are part of it. Rows and columns count from 0. A table is
 * known in stages: `Table` as it is in the sheet, `FittedTable` with a column for each name of the
 * rows to write, and its last row from `findLastRow`.
 */
export interface Table extends TabInfo, NamedColumns {
	/** The range that the user chose. Its `name` is the title of a tab. */
	readonly target: TabRange;
	/** The native table that the header belongs to, if there is one. */
	readonly nativeTable: NativeTable | undefined;
	/** The header row. */
	readonly row: number;
	/** What the header row shows, from column A on; '' for an empty cell. */
	readonly headers: readonly string[];
	/** The bounds of the range. */
	readonly area: Area;
	/**
	 * First column of the table. It is left of the range if the headers continue there without a
	 * gap.
	 */
	readonly firstColumn: number;
	/** Last column of the table. Without any column, it equals `firstColumn`. */
	readonly lastColumn: number;
	/** Where new columns begin: directly after the last header. */
	readonly firstNewColumn: number;
	/** Where new columns must end: at the next header, if there is one. */
	readonly endColumn: number;
	/** What the first rows hold, by column. A column of which nothing is known is missing. */
	readonly types: ReadonlyMap<number, ColumnType>;
	/** The format of the first date of each column among these rows. */
	readonly dateFormats: ReadonlyMap<number, NumberFormat>;
}

/**
 * A table with a column for each name of some rows. `columnsByName`, `firstColumn` and `lastColumn`
 * include the new columns.
 */
export interface FittedTable extends Table {
	/** The headers to write, from `firstNewColumn` on. */
	readonly newNames: readonly string[];
}

export type ColumnType = 'number' | 'boolean' | 'date' | 'text';

/** How many rows may hold the header: blank rows above a table are skipped. */
export const searchedRowCount = 10;

/** Finds the header row: the first of some rows that has a value, or else the expected row. */
export function findHeaderRow(rows: ReadonlyArray<readonly unknown[]>, expectedRow = 0): number {
	const searchedRows = rows.slice(expectedRow, expectedRow + searchedRowCount);
	const index = searchedRows.findIndex((row) => row.some((cell) => cell !== ''));
	return expectedRow + Math.max(0, index);
}

/**
 * Opens a table. @throws NodeError 400 if there is no such tab
 * @param headerRow the row in which the header is, or below which only blank rows are above it
 */
export function openTable(
	spreadsheet: Spreadsheet,
	target: TabRange,
	headerRow: number,
): Promise<Table> {
	return spreadsheet.sendForRange(target, () => fetchTable(spreadsheet, target, headerRow));
}

async function fetchTable(
	spreadsheet: Spreadsheet,
	target: TabRange,
	firstRow: number,
): Promise<Table> {
	const a1 = `${firstRow + 1}:${firstRow + searchedRowCount}`;
	const { sheet, ...tab } = await spreadsheet.fetchTabInfo(target.tab ?? target.name, a1);
	const rows = (sheet.data?.[0]?.rowData ?? []).map(({ values = [] }) => values);
	const shownRows = rows.map((cells) => cells.map(({ formattedValue }) => formattedValue ?? ''));
	const area = parseBounds(target);
	const rowsOfArea = shownRows.map((texts) => texts.slice(area.column, area.lastColumn + 1));
	// Without a header above the area, the table is to begin in it.
	if (area.row > firstRow && !rowsOfArea.flat().some(hasText))
		return await fetchTable(spreadsheet, target, area.row);
	const index = findHeaderRow(rowsOfArea);
	const row = firstRow + index;
	const layout = layOutColumns(shownRows[index] ?? [], area);
	return {
		...tab,
		...layout,
		target,
		area,
		row,
		nativeTable: findNativeTable(sheet, { row, column: layout.firstColumn }),
		...readFirstRows(rows.slice(index + 1)),
	};
}

const getFormat = ({ effectiveFormat }: sheets_v4.Schema$CellData): NumberFormat =>
	effectiveFormat?.numberFormat ?? {};

const hasText = (header = '') => header !== '';

/**
 * Finds the columns of a table: those in the range that have a header, with the columns between
 * them.
 */
function layOutColumns(rowHeaders: readonly string[], { column: start, lastColumn }: Area) {
	const headers = rowHeaders.slice(0, rowHeaders.findLastIndex(hasText) + 1);
	const lastInRange = headers.slice(0, lastColumn + 1).findLastIndex(hasText);
	const firstNewColumn = Math.max(lastInRange + 1, start);
	const columnHeaders = headers.slice(start, firstNewColumn);
	let firstColumn = start + Math.max(0, columnHeaders.findIndex(hasText));
	while (hasText(headers[firstColumn - 1])) firstColumn--;
	const columns = nameColumns(columnHeaders, start);
	const nextHeader = headers.slice(firstNewColumn).findIndex(hasText);
	return {
		...columns,
		headers,
		names: columns.names.filter((_, index) => hasText(columnHeaders[index])),
		firstColumn,
		lastColumn: Math.max(firstNewColumn - 1, firstColumn),
		firstNewColumn,
		endColumn: nextHeader === -1 ? Infinity : firstNewColumn + nextHeader,
	};
}

/** Finds what columns hold, by the first value of each, or else by the format of an empty cell. */
function readFirstRows(rows: ReadonlyArray<readonly sheets_v4.Schema$CellData[]>) {
	const types = new Map<number, ColumnType>();
	const dateFormats = new Map<number, NumberFormat>();
	const cells = rows.flatMap((row) => [...row.entries()]);
	const filledCells = cells.filter(([, { effectiveValue }]) => effectiveValue);
	for (const [column, cell] of [...filledCells, ...cells]) {
		const type = readType(cell);
		if (type) getOrAdd(types, column, () => type);
		const format = getFormat(cell);
		if (isDateFormat(format)) getOrAdd(dateFormats, column, () => format);
	}
	return { types, dateFormats };
}

/** Returns what a cell holds, or what it is formatted for if it is empty. */
function readType(cell: sheets_v4.Schema$CellData): ColumnType | undefined {
	const { stringValue, numberValue, boolValue } = cell.effectiveValue ?? {};
	if (typeof stringValue === 'string') return 'text';
	if (typeof boolValue === 'boolean') return 'boolean';
	const format = getFormat(cell);
	if (isDateFormat(format)) return 'date';
	const isNumber = typeof numberValue === 'number' || (format.type ?? 'TEXT') !== 'TEXT';
	return isNumber ? 'number' : undefined;
}

/**
 * Finds a column for each name of some rows.
 * @param rows the names of each row
 * @param mayAdd whether names without a column become new columns. Without any header, they always
 * do. Those for which other headers leave no space get none.
 */
export function fitColumns(
	table: Table,
	rows: ReadonlyArray<readonly string[]>,
	mayAdd: boolean,
): FittedTable {
	const names = new Set(rows.flat());
	const hasHeader = table.names.length > 0;
	const exactColumns = new Map(table.columnsByName);
	let { firstNewColumn, firstColumn } = table;
	if (hasHeader) firstNewColumn = nameLetterColumns(table, names, exactColumns);
	const columnsByName = findColumnsInAnyCase({ ...table, columnsByName: exactColumns }, rows);
	const newNames: string[] = [];
	for (const name of names) {
		const newColumn = firstNewColumn + newNames.length;
		const mayBeNew = (mayAdd || !hasHeader) && newColumn < table.endColumn;
		if (mayBeNew && !columnsByName.has(name)) {
			columnsByName.set(name, newColumn);
			newNames.push(name);
		}
		firstColumn = Math.min(firstColumn, columnsByName.get(name) ?? firstColumn);
	}
	const lastColumn = Math.max(table.lastColumn, firstNewColumn + newNames.length - 1);
	return { ...table, columnsByName, firstColumn, lastColumn, firstNewColumn, newNames };
}

export const createSpaceError = ({ endColumn }: Table, names: readonly string[]) =>
	createRefusal(
		`There is no space for new columns: ${listNames(names)}`,
		`Column ${toColumnLetters(endColumn)} of the header row is already in use.`,
	);

/**
 * Adds the columns without a header that rows name by their letters, as Read does, as far as they
 * follow the last header directly.
 * @returns the column after them
 */
function nameLetterColumns(
	{ firstNewColumn, endColumn }: Table,
	names: ReadonlySet<string>,
	columnsByName: Map<string, number>,
): number {
	for (let column = firstNewColumn; ; column++) {
		const letters = toColumnLetters(column);
		let name = letters;
		for (let number = 2; columnsByName.has(name); number++) name = `${letters}_${number}`;
		if (column >= endColumn || !names.has(name)) return column;
		columnsByName.set(name, column);
	}
}

/** The cells of a table below its header. Rows and columns count from 0. */
export interface TableBody {
	/** The last row of the table; its header row if there is none below. */
	readonly lastRow: number;
	/** Returns the value, text or formula of a cell, as fetched; '' if it is empty. */
	getCell(row: number, column: number): Cell;
}

type RenderOption = 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA';

export async function fetchBody(
	spreadsheet: Spreadsheet,
	table: Table,
	renderOption?: RenderOption,
): Promise<TableBody> {
	const firstRow = table.row + 1;
	const rows = await fetchRows(spreadsheet, table, firstRow, renderOption);
	return {
		lastRow: table.row + countRows(rows, table),
		getCell: (row, column) => rows[row - firstRow]?.[column - table.firstColumn] ?? '',
	};
}

/**
 * Counts the rows of a table. If its range has an end, rows that follow the last one directly
 * belong to it: they were added later.
 */
function countRows(rows: readonly Cell[][], { area, row }: Table): number {
	const rangeHeight = area.lastRow - row;
	// A range that ends with the header row names the table, and does not end it.
	if (rangeHeight <= 0) return findLastFilledRow(rows) + 1;
	let count = findLastFilledRow(rows.slice(0, rangeHeight)) + 1;
	while (count >= rangeHeight && rows[count]?.some(isFilled)) count++;
	return count;
}

/**
 * How many cells and rows at the end of a tab are fetched at least, to find the last row of a
 * table. Empty cells at the end cost nothing.
 */
const endCellCount = 50_000;
const endRowCount = 2000;

/**
 * Finds the last row of a table; its header row if there is none below. Usually does not read all
 * rows of a tab with many.
 */
export async function findLastRow(spreadsheet: Spreadsheet, table: Table): Promise<number> {
	const height = Math.max(endRowCount, Math.floor(endCellCount / getWidth(table)));
	const startRow = getEndRow(table) - height;
	if (table.area.lastRow === Infinity && startRow > table.row) {
		const rows = await fetchRows(spreadsheet, table, startRow);
		const lastFilledRow = findLastFilledRow(rows);
		if (lastFilledRow !== -1) return startRow + lastFilledRow;
	}
	return (await fetchBody(spreadsheet, table)).lastRow;
}

/** Returns the first row below the header that is not above the range. */
export const getFirstRow = ({ row, area }: Table) => Math.max(row + 1, area.row);

/** Returns the row below the last one that may belong to a table. */
export const getEndRow = ({ nativeTable, rowCount }: Table) => nativeTable?.bodyEnd ?? rowCount;

/** Returns how many columns a table has. Without any header, all columns of the range count. */
function getWidth(table: Table): number {
	const { firstColumn, lastColumn, area, columnCount } = table;
	const hasHeader = table.columnsByName.size > 0;
	return (hasHeader ? lastColumn : Math.min(area.lastColumn, columnCount - 1)) - firstColumn + 1;
}

/** Fetches the rows of a table from a row on, without those that are empty at the end. */
async function fetchRows(
	spreadsheet: Spreadsheet,
	table: Table,
	startRow: number,
	valueRenderOption: RenderOption = 'UNFORMATTED_VALUE',
): Promise<Cell[][]> {
	const height = getEndRow(table) - startRow;
	if (height <= 0) return [];
	const start = { row: startRow, column: table.firstColumn };
	const { data } = await spreadsheet.valuesApi.batchGet({
		spreadsheetId: spreadsheet.id,
		ranges: [printTabArea(table.title, start, height, getWidth(table))],
		valueRenderOption,
	});
	// Google returns only these types for cells.
	return (data.valueRanges?.[0]?.values ?? []) as Cell[][];
}
