import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isDateFormat, type Cell, type Format } from './cell.ts';
import { parseTyped } from './typedValues.ts';
import { Grid } from './grid.ts';
import { updateTable } from './nativeTables.ts';
import {
	checkSize,
	createInvalidError,
	createSheet,
	renderProperties,
	refuseProtected,
	type Sheet,
	type Workbook,
} from './workbook.ts';

type Reply = sheets_v4.Schema$Response;

/** Carries out one request of a batch. A request of an unknown kind is refused. */
export function apply(
	workbook: Workbook,
	request: sheets_v4.Schema$Request,
	position: number,
): Reply {
	const [[kind, details] = ['', undefined]] = Object.entries(request);
	const act = kinds[kind];
	if (act === undefined || details === undefined) {
		throw createInvalidError(
			`Invalid requests[${position}]: the stand-in does not know ${kind}`,
		);
	}
	try {
		return act({ workbook, request }) ?? {};
	} finally {
		checkSize(workbook);
	}
}

interface Change {
	readonly workbook: Workbook;
	readonly request: sheets_v4.Schema$Request;
}

const kinds: Readonly<Record<string, (change: Change) => Reply | undefined>> = {
	addSheet: ({ workbook, request }) => {
		const sheet = addSheet(workbook, request.addSheet?.properties ?? {});
		return {
			addSheet: { properties: renderProperties(sheet, workbook.sheets.indexOf(sheet)) },
		};
	},
	deleteSheet: ({ workbook, request }) => {
		const gone = getSheet(workbook, request.deleteSheet?.sheetId);
		if (workbook.sheets.length === 1)
			throw createInvalidError("You can't remove all the visible sheets in a document.");
		workbook.sheets = workbook.sheets.filter((sheet) => sheet !== gone);
		return undefined;
	},
	updateSheetProperties: ({ workbook, request }) => {
		const { properties = {}, fields } = request.updateSheetProperties ?? {};
		const sheet = getSheet(workbook, properties.sheetId);
		const names = listFields(fields);
		const { title, gridProperties } = properties;
		if (names.includes('title') && title) {
			checkTitle(workbook, title, sheet);
			sheet.title = title;
		}
		for (const size of ['rowCount', 'columnCount'] as const) {
			const isNamed =
				names.includes('gridProperties') || names.includes(`gridProperties.${size}`);
			if (isNamed && gridProperties?.[size]) sheet.grid[size] = gridProperties[size];
		}
		return undefined;
	},
	updateSpreadsheetProperties: ({ workbook, request }) => {
		const { properties = {}, fields } = request.updateSpreadsheetProperties ?? {};
		for (const name of ['locale', 'timeZone'] as const)
			if (listFields(fields).includes(name) && properties[name])
				workbook[name] = properties[name];
		return undefined;
	},
	appendDimension: ({ workbook, request }) => {
		const { sheetId, dimension, length } = request.appendDimension ?? {};
		const { grid } = getSheet(workbook, sheetId);
		if (dimension === 'ROWS') grid.insertRows(grid.rowCount, length ?? 0);
		else grid.insertColumns(grid.columnCount, length ?? 0);
		return undefined;
	},
	insertDimension: ({ workbook, request }) => {
		const { grid, from, to, rows } = resolveDimension(workbook, request.insertDimension?.range);
		if (rows) {
			grid.insertRows(from, to - from);
			if (request.insertDimension?.inheritFromBefore) grid.inheritLook(from, to - from);
		} else grid.insertColumns(from, to - from);
		return undefined;
	},
	updateTable: ({ workbook, request }) => {
		updateTable(workbook.sheets, request.updateTable ?? {});
		return undefined;
	},
	updateCells: ({ workbook, request }) => {
		const { start, range, rows = [] } = request.updateCells ?? {};
		const { grid, protectedAreas } = getSheet(workbook, start?.sheetId ?? range?.sheetId);
		const startRow = start?.rowIndex ?? range?.startRowIndex ?? 0;
		const startColumn = start?.columnIndex ?? range?.startColumnIndex ?? 0;
		const width = Math.max(1, ...rows.map(({ values }) => values?.length ?? 0));
		const [lastRow, lastColumn] = [startRow + rows.length, startColumn + width];
		const endRow = range ? (range.endRowIndex ?? grid.rowCount) : lastRow;
		const endColumn = range ? (range.endColumnIndex ?? grid.columnCount) : lastColumn;
		if (lastRow > endRow || lastColumn > endColumn) {
			throw createInvalidError(
				'Invalid requests[0].updateCells: Attempting to write outside of the range',
			);
		}
		const area = { startRow, startColumn, endRow, endColumn };
		refuseProtected(protectedAreas, area);
		// "If the data in rows does not cover the entire requested range, the fields matching those set in fields will be cleared."
		if (range) grid.clear(area);
		fill(grid, rows, startRow, startColumn);
		return undefined;
	},
};

const listFields = (mask: string | null | undefined): string[] => (mask ?? '').split(',');

function getSheet(workbook: Workbook, sheetId: number | null | undefined): Sheet {
	// Google also accepts a number as text.
	const sheet = workbook.sheets.find((tab) => String(tab.sheetId) === String(sheetId ?? 0));
	if (sheet === undefined) throw createInvalidError(`No grid with id: ${sheetId ?? 0}`);
	return sheet;
}

export function addSheet(workbook: Workbook, properties: sheets_v4.Schema$SheetProperties): Sheet {
	const title = properties.title ?? `Sheet${workbook.sheets.length + 1}`;
	checkTitle(workbook, title);
	const sheetId = properties.sheetId ?? findFreeId(workbook);
	if (workbook.sheets.some((sheet) => sheet.sheetId === sheetId)) {
		throw createInvalidError(`A sheet with the ID ${sheetId} already exists.`);
	}
	const { rowCount, columnCount } = properties.gridProperties ?? {};
	const grid = new Grid(rowCount ?? undefined, columnCount ?? undefined);
	const sheet = createSheet(sheetId, title, grid);
	workbook.sheets.splice(properties.index ?? workbook.sheets.length, 0, sheet);
	return sheet;
}

function checkTitle(workbook: Workbook, title: string, ownSheet?: Sheet): void {
	const same = (sheet: Sheet) =>
		sheet !== ownSheet && sheet.title.toLowerCase() === title.toLowerCase();
	if (workbook.sheets.some(same)) {
		throw createInvalidError(
			`A sheet with the name "${title}" already exists. Please enter another name.`,
		);
	}
}

function findFreeId(workbook: Workbook): number {
	if (workbook.sheets.length === 0) return 0;
	return 1 + Math.max(...workbook.sheets.map(({ sheetId }) => sheetId));
}

function resolveDimension(workbook: Workbook, range: sheets_v4.Schema$DimensionRange | undefined) {
	const { grid } = getSheet(workbook, range?.sheetId);
	const rows = range?.dimension === 'ROWS';
	const start = range?.startIndex ?? 0;
	const end = range?.endIndex ?? (rows ? grid.rowCount : grid.columnCount);
	// Google's wording is not known.
	if (end <= start)
		throw createInvalidError(`startIndex[${start}] must be less than endIndex[${end}]`);
	return { grid, from: start, to: end, rows };
}

/** Writes cells in the form used by `create` and `updateCells`. */
export function fill(
	grid: Grid,
	rows: sheets_v4.Schema$RowData[],
	startRow: number,
	startColumn: number,
): void {
	for (const [index, { values }] of rows.entries()) {
		for (const [offset, { userEnteredValue, userEnteredFormat }] of (values ?? []).entries()) {
			const [row, column] = [startRow + index, startColumn + offset];
			if (row >= grid.rowCount || column >= grid.columnCount) {
				throw createInvalidError(
					`Attempting to write cell outside the grid: row ${row}, column ${column}`,
				);
			}
			grid.set(row, column, parseCell(userEnteredValue));
			if (userEnteredFormat?.textFormat?.bold === true) grid.boldRows.add(row);
			if (userEnteredFormat?.numberFormat)
				grid.setFormat(row, column, parseFormat(userEnteredFormat.numberFormat));
		}
	}
}

/** Only a type, for which the locale has a pattern, or a pattern that the stand-in knows. */
function parseFormat({ type, pattern }: sheets_v4.Schema$NumberFormat = {}): Format | undefined {
	if (!type) throw createInvalidError('Invalid numberFormat: type is required');
	const format = pattern ?? type;
	if (!isDateFormat(format))
		throw createInvalidError(`Invalid numberFormat: the stand-in does not know ${format}`);
	return format;
}

function parseCell(value: sheets_v4.Schema$ExtendedValue | undefined): Cell | undefined {
	if (value?.formulaValue) return parseTyped(value.formulaValue);
	const plain = value?.stringValue ?? value?.numberValue ?? value?.boolValue;
	return plain === undefined || plain === null || plain === '' ? undefined : { value: plain };
}
