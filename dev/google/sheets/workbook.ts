import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { ApiError } from '../service.ts';
import {
	createRangeError,
	overlap,
	parseReference,
	printRange,
	type Area,
	type Rectangle,
} from './a1.ts';
import { Grid, type NativeTable } from './grid.ts';

export interface Sheet {
	readonly sheetId: number;
	title: string;
	grid: Grid;
	/** Areas that the signed-in user may not edit. */
	readonly protectedAreas: Rectangle[];
}

export interface NamedRange {
	readonly name: string;
	readonly sheetId: number;
	readonly area: Area;
}

export interface Workbook {
	readonly id: string;
	locale: string;
	timeZone: string;
	sheets: Sheet[];
	namedRanges: NamedRange[];
}

/** Limit for all cells of a workbook together. */
const maxCells = 10_000_000;

export function createInvalidError(message: string): ApiError {
	return new ApiError(400, message, { status: 'INVALID_ARGUMENT' });
}

export function createSheet(sheetId: number, title: string, grid = new Grid()): Sheet {
	return { sheetId, title, grid, protectedAreas: [] };
}

export function createWorkbook(id: string): Workbook {
	return {
		id,
		locale: 'en_US',
		timeZone: 'Etc/GMT',
		sheets: [createSheet(0, 'Sheet1')],
		namedRanges: [],
	};
}

export interface Target {
	readonly sheet: Sheet;
	/** Open ends are replaced by those of the grid. The area may end beyond the grid. */
	readonly area: Rectangle;
	/** The limits in the range's text, which a write may not exceed. */
	readonly bounds: Area;
}

/** @throws ApiError 400 if nothing has this name, or it starts outside the grid */
export function resolve(workbook: Workbook, range: string): Target {
	// Google ignores case when it compares titles.
	const titled = (title: string) =>
		workbook.sheets.find((sheet) => sheet.title.toLowerCase() === title.toLowerCase());
	const findNamedRange = (name: string) =>
		workbook.namedRanges.find((entry) => entry.name === name);
	const reference = parseReference(range, {
		isTitle: (text) => titled(text) !== undefined,
		isName: (text) => findNamedRange(text) !== undefined,
	});
	const name = reference.name === undefined ? undefined : findNamedRange(reference.name);
	const ownSheet = workbook.sheets.find(({ sheetId }) => sheetId === name?.sheetId);
	const sheet =
		reference.title === undefined ? (ownSheet ?? workbook.sheets[0]) : titled(reference.title);
	if (sheet === undefined || (ownSheet !== undefined && ownSheet !== sheet))
		throw createRangeError(range);
	const bounds = name?.area ?? reference.area;
	const area = closeArea(bounds, sheet.grid);
	if (area.startRow >= sheet.grid.rowCount || area.startColumn >= sheet.grid.columnCount) {
		throw createLimitError(sheet, area);
	}
	return { sheet, area, bounds };
}

function closeArea(bounds: Area, grid: Grid): Rectangle {
	return {
		startRow: bounds.startRow ?? 0,
		endRow: bounds.endRow ?? grid.rowCount,
		startColumn: bounds.startColumn ?? 0,
		endColumn: bounds.endColumn ?? grid.columnCount,
	};
}

export function createLimitError({ title, grid }: Sheet, area: Rectangle): ApiError {
	const limits = `Max rows: ${grid.rowCount}, max columns: ${grid.columnCount}`;
	return createInvalidError(`Range (${printRange(title, area)}) exceeds grid limits. ${limits}`);
}

/** @throws ApiError 400 as reported in DNAinfos/talendcomp_tGoogleSheet#1 */
export function refuseProtected(areas: readonly Rectangle[], written: Rectangle): void {
	if (!areas.some((area) => overlap(area, written))) return;
	throw createInvalidError(
		'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
	);
}

/** @throws ApiError 400 if the workbook has too many cells */
export function checkSize(workbook: Workbook): void {
	const cells = workbook.sheets.reduce(
		(sum, { grid }) => sum + grid.rowCount * grid.columnCount,
		0,
	);
	if (cells > maxCells) {
		throw createInvalidError(
			`This action would increase the number of cells in the workbook above the limit of ${maxCells} cells.`,
		);
	}
}

export function renderProperties(
	{ sheetId, title, grid }: Sheet,
	index: number,
): sheets_v4.Schema$SheetProperties {
	const { rowCount, columnCount } = grid;
	return { sheetId, title, index, sheetType: 'GRID', gridProperties: { rowCount, columnCount } };
}

export function renderWorkbook(workbook: Workbook, title: string): sheets_v4.Schema$Spreadsheet {
	const { id, locale, timeZone } = workbook;
	const namedRanges = workbook.namedRanges.map(({ name, sheetId, area }) => ({
		namedRangeId: `range_${name}`,
		name,
		range: renderArea(sheetId, area),
	}));
	return {
		spreadsheetId: id,
		properties: { title, locale, timeZone, autoRecalc: 'ON_CHANGE' },
		sheets: workbook.sheets.map((sheet, index) => ({
			properties: renderProperties(sheet, index),
			...(sheet.grid.tables.length > 0 && {
				tables: sheet.grid.tables.map((table) => renderTable(sheet, table)),
			}),
		})),
		...(namedRanges.length > 0 && { namedRanges }),
		spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${id}/edit?ouid=100000000000000000001`,
	};
}

function renderTable({ sheetId }: Sheet, { tableId, name, area, hasFooter }: NativeTable) {
	return {
		tableId,
		name,
		range: renderArea(sheetId, area),
		...(hasFooter && { rowsProperties: { footerColorStyle: { rgbColor: {} } } }),
	};
}

function renderArea(sheetId: number, area: Area): sheets_v4.Schema$GridRange {
	return {
		sheetId,
		startRowIndex: area.startRow,
		endRowIndex: area.endRow,
		startColumnIndex: area.startColumn,
		endColumnIndex: area.endColumn,
	};
}
