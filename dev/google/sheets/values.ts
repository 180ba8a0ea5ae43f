import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { formatColumn, printRange, type Rectangle } from './a1.ts';
import { renderCell, type Cell, type Rendering } from './cell.ts';
import { parseTyped } from './typedValues.ts';
import type { CellRow } from './grid.ts';
import { findLastTable } from './nativeTables.ts';
import { findTable } from './table.ts';
import {
	checkSize,
	createLimitError,
	createInvalidError,
	refuseProtected,
	resolve,
	type Sheet,
	type Target,
	type Workbook,
} from './workbook.ts';

type Value = string | number | boolean;
export type Dimension = 'ROWS' | 'COLUMNS';
export type Entry = 'RAW' | 'USER_ENTERED';

export interface Writing {
	readonly values: unknown[][];
	readonly dimension: Dimension;
	readonly entry: Entry;
}

const maxCellCharacters = 50_000;

export function read(
	workbook: Workbook,
	range: string,
	dimension: Dimension,
	rendering: Rendering,
): sheets_v4.Schema$ValueRange {
	const { sheet, area } = resolve(workbook, range);
	const localized = { ...rendering, locale: workbook.locale };
	return renderValueRange(sheet, clampArea(area, sheet), dimension, localized);
}

export function renderValueRange(
	{ title, grid }: Sheet,
	area: Rectangle,
	dimension: Dimension,
	rendering: Rendering,
): sheets_v4.Schema$ValueRange {
	const rows: Value[][] = [];
	for (let row = area.startRow; row < Math.min(area.endRow, grid.usedRows); row++) {
		const line: Value[] = [];
		for (let column = area.startColumn; column < area.endColumn; column++) {
			line.push(renderCell(grid.get(row, column), rendering));
		}
		rows.push(line);
	}
	const values = trimLines(dimension === 'ROWS' ? rows : transpose<Value>(rows, ''));
	return {
		range: printRange(title, area),
		majorDimension: dimension,
		...(values.length > 0 && { values }),
	};
}

export function update(
	workbook: Workbook,
	range: string,
	writing: Writing,
): sheets_v4.Schema$UpdateValuesResponse {
	const target = resolve(workbook, range);
	const rows = parseRows(writing, workbook.locale);
	const written = findWrittenArea(target.area, rows);
	const { sheet } = target;
	checkBounds(target, rows);
	refuseProtected(sheet.protectedAreas, written);
	if (written.endRow > sheet.grid.rowCount || written.endColumn > sheet.grid.columnCount) {
		throw createLimitError(sheet, written);
	}
	return { spreadsheetId: workbook.id, ...write(sheet, written, rows) };
}

export function append(
	workbook: Workbook,
	range: string,
	writing: Writing,
	insert: 'INSERT_ROWS' | 'OVERWRITE',
): sheets_v4.Schema$AppendValuesResponse {
	const { sheet, area } = resolve(workbook, range);
	const rows = parseRows(writing, workbook.locale);
	const block = findTable(sheet.grid, clampArea(area, sheet));
	const native = findLastTable(sheet, block ?? clampArea(area, sheet));
	const table = native?.area ?? block;
	const { startRow, startColumn } = table
		? { startRow: table.endRow, startColumn: table.startColumn }
		: area;
	const written = findWrittenArea({ startRow, startColumn }, rows);
	const inserted = insert === 'INSERT_ROWS' ? rows.length : 0;
	const { grid } = sheet;
	// Seen to grow with INSERT_ROWS; of OVERWRITE and of tables with a footer it is not known.
	const grows = inserted > 0 && native?.hasFooter === false;
	const oldSize = { rowCount: grid.rowCount, columnCount: grid.columnCount };
	grid.grow({ endRow: written.endRow - inserted, endColumn: written.endColumn });
	if (inserted === 0) refuseProtected(sheet.protectedAreas, written);
	grid.insertRows(startRow, inserted);
	grid.inheritLook(startRow, inserted);
	if (native && grows) native.area = { ...native.area, endRow: native.area.endRow + inserted };
	try {
		checkSize(workbook);
	} catch (error) {
		grid.deleteRows(startRow, startRow + inserted);
		Object.assign(grid, oldSize);
		throw error;
	}
	return {
		spreadsheetId: workbook.id,
		...(table && { tableRange: printRange(sheet.title, table) }),
		updates: { spreadsheetId: workbook.id, ...write(sheet, written, rows) },
	};
}

function clampArea(area: Rectangle, { grid }: Sheet): Rectangle {
	return {
		...area,
		endRow: Math.min(area.endRow, grid.rowCount),
		endColumn: Math.min(area.endColumn, grid.columnCount),
	};
}

/** All cells are read before the first one is written, so that a refused request changes nothing. */
function parseRows({ values, dimension, entry }: Writing, locale: string): CellRow[] {
	const rows = dimension === 'ROWS' ? values : transpose<unknown>(values, null);
	const parseText = (text: string): Cell | undefined =>
		entry === 'RAW' ? { value: text } : parseTyped(text, locale);
	return rows.map((row, rowIndex) =>
		row.map((value, column) => parseCell(value, parseText, `[${rowIndex}][${column}]`)),
	);
}

/** @param place for the error's text */
function parseCell(
	value: unknown,
	parseText: (text: string) => Cell | undefined,
	place: string,
): Cell | 'clear' | 'leave' {
	if (value === null || value === undefined) return 'leave';
	if (typeof value === 'number' || typeof value === 'boolean') return { value };
	if (typeof value !== 'string') {
		const kind = Array.isArray(value) ? 'list_value' : 'struct_value';
		throw createInvalidError(`Invalid values${place}: ${kind} {\n}\n`);
	}
	if (value.length > maxCellCharacters) {
		throw createInvalidError(
			`Your input contains more than the maximum of ${maxCellCharacters} characters in a single cell.`,
		);
	}
	return value === '' ? 'clear' : (parseText(value) ?? 'clear');
}

function findWrittenArea(
	{ startRow, startColumn }: Pick<Rectangle, 'startRow' | 'startColumn'>,
	rows: readonly CellRow[],
): Rectangle {
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 1);
	const height = Math.max(rows.length, 1);
	return { startRow, startColumn, endRow: startRow + height, endColumn: startColumn + width };
}

/** A range of several cells limits what is written. A single cell is only the starting point. */
function checkBounds({ sheet, area, bounds }: Target, rows: readonly CellRow[]): void {
	const single = area.endRow - area.startRow === 1 && area.endColumn - area.startColumn === 1;
	if (single) return;
	const written = findWrittenArea(area, rows);
	const within = `Requested writing within range [${printRange(sheet.title, area)}], but tried writing to`;
	if (bounds.endRow !== undefined && written.endRow > bounds.endRow) {
		throw createInvalidError(`${within} row [${bounds.endRow + 1}]`);
	}
	if (bounds.endColumn !== undefined && written.endColumn > bounds.endColumn) {
		throw createInvalidError(`${within} column [${formatColumn(bounds.endColumn)}]`);
	}
}

function write(
	{ title, grid }: Sheet,
	area: Rectangle,
	rows: readonly CellRow[],
): sheets_v4.Schema$UpdateValuesResponse {
	const columns = new Set<number>();
	let [updatedCells, updatedRows] = [0, 0];
	for (const [rowIndex, row] of rows.entries()) {
		const written = grid.write(area.startRow + rowIndex, area.startColumn, row);
		for (const offset of written) columns.add(offset);
		updatedCells += written.length;
		if (written.length > 0) updatedRows++;
	}
	if (updatedCells === 0) return { updatedRange: printRange(title, area) };
	// The area actually written. Whether null in the first column moves it was not verified; here it does.
	const startColumn = area.startColumn + Math.min(...columns);
	const updatedRange = printRange(title, { ...area, startColumn });
	return { updatedRange, updatedRows, updatedColumns: columns.size, updatedCells };
}

function transpose<T>(rows: readonly T[][], missing: T): T[][] {
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
	return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? missing));
}

/** Google omits empty cells at the end of a line, and empty lines at the end. */
function trimLines(lines: Value[][]): Value[][] {
	for (const line of lines) while (line.at(-1) === '') line.pop();
	while (lines.at(-1)?.length === 0) lines.pop();
	return lines;
}
