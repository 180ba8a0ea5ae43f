import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { checkCreates, type FileRegistry, type StoredFile } from '../files.ts';
import { ApiError, type Call, type Handler, type Service } from '../service.ts';
import { printRange, type Rectangle } from './a1.ts';
import { readBody, readList, readText } from './call.ts';
import { addSheet, apply, fill } from './structure.ts';
import { createValueMethods } from './valueMethods.ts';
import { update, renderValueRange } from './values.ts';
import { type Cell, formatCell, getFormatType, type Format } from './cell.ts';
import {
	checkSize,
	createInvalidError,
	createWorkbook,
	resolve,
	renderWorkbook,
	type Target,
	type Workbook,
} from './workbook.ts';

export const spreadsheetType = 'application/vnd.google-apps.spreadsheet';

export interface SpreadsheetSeed {
	readonly title: string;
	/** Tabs with their rows, stored unchanged. By default, one tab named Sheet1. */
	readonly tabs?: ReadonlyArray<TabSeed>;
	/** `de_DE` and `en_GB` have dates of their own, all others those of `en_US`. */
	readonly locale?: string;
	/** `Etc/GMT` if absent. */
	readonly timeZone?: string;
	/** Ranges by name. */
	readonly namedRanges?: Readonly<Record<string, string>>;
	readonly file?: Partial<StoredFile>;
}

export interface TabSeed {
	readonly title: string;
	readonly rows?: unknown[][];
	readonly rowCount?: number;
	readonly columnCount?: number;
	/** Numbers, from 1, of rows formatted like a header. */
	readonly boldRows?: readonly number[];
	/** Ranges inside the tab that the user may not edit. */
	readonly protectedRanges?: readonly string[];
	readonly tables?: readonly TableSeed[];
}

/** A table made with Format > Convert to table. */
export interface TableSeed {
	readonly name: string;
	/** Range inside the tab, with the header. */
	readonly range: string;
	readonly hasFooter?: boolean;
}

export interface SheetsService extends Service {
	/** @returns the new spreadsheet's ID */
	seed(spreadsheet: SpreadsheetSeed): string;
	/** Numbers, from 1, of the tab's rows formatted like a header. */
	boldRows(spreadsheetId: string, tab: string): number[];
	/** The IDs of the tabs, in their order. */
	sheetIds(spreadsheetId: string): number[];
	/** Ranges of all tables, by their names. */
	tables(spreadsheetId: string): Record<string, string>;
	/** Writes rows as if they were typed. */
	enter(spreadsheetId: string, range: string, rows: unknown[][]): void;
	/** Gives the cells of a range a number format. */
	format(spreadsheetId: string, range: string, format: Format): void;
	/** The cells of a range with their formulas and formats, row by row. */
	cells(spreadsheetId: string, range: string): unknown[][];
	/** Unformatted values of a range, without empty cells at the ends. */
	values(spreadsheetId: string, range: string): unknown[][];
}

/**
 * Spreadsheets, stored with the files of all services, so that a spreadsheet created through Drive also
 * exists here.
 */
export function createSheetsService({ files }: { files: FileRegistry }): SheetsService {
	const workbooks = new Map<string, Workbook>();

	files.onCreated.push((file) => {
		if (file.mimeType === spreadsheetType) workbooks.set(file.id, createWorkbook(file.id));
	});

	/** Returns the spreadsheet of a call. @throws ApiError if the call's token may not access it */
	function getRequested(call: Call): { workbook: Workbook; file: StoredFile } {
		const file = files.get(readText(call, 'spreadsheetId'));
		const workbook = file && workbooks.get(file.id);
		if (file) files.checkShared(call, file);
		if (file === undefined || workbook === undefined || !files.isVisibleTo(call, file)) {
			files.checkType(call, file, spreadsheetType);
			throw new ApiError(404, 'Requested entity was not found.', { status: 'NOT_FOUND' });
		}
		return { workbook, file };
	}

	function getWorkbook(id: string): Workbook {
		const workbook = workbooks.get(id);
		if (workbook === undefined) throw new Error(`no spreadsheet ${id}`);
		return workbook;
	}

	function create(call: Call): sheets_v4.Schema$Spreadsheet {
		const { properties = {}, sheets = [] } = readBody(call);
		const title = properties.title ?? 'Untitled spreadsheet';
		const shape = buildShape(properties, sheets);
		checkCreates(call);
		const file = files.add({ name: title, mimeType: spreadsheetType, clientId: call.clientId });
		const workbook: Workbook = { ...getWorkbook(file.id), ...shape };
		workbooks.set(file.id, workbook);
		return renderWorkbook(workbook, file.name);
	}

	function batchUpdate(call: Call): sheets_v4.Schema$BatchUpdateSpreadsheetResponse {
		const { workbook, file } = getRequested(call);
		const { requests = [], includeSpreadsheetInResponse } = readBody(call);
		if (requests.length === 0) throw createInvalidError('Must specify at least one request.');
		const copies = workbook.sheets.map((tab) => ({ ...tab, grid: tab.grid.copy() }));
		const backup = { ...workbook, sheets: copies };
		try {
			const replies = requests.map((request, position) => apply(workbook, request, position));
			const updatedSpreadsheet = includeSpreadsheetInResponse
				? renderWorkbook(workbook, file.name)
				: undefined;
			return { spreadsheetId: file.id, replies, updatedSpreadsheet };
		} catch (error) {
			workbooks.set(file.id, backup);
			throw error;
		}
	}

	function get(call: Call): sheets_v4.Schema$Spreadsheet {
		const { workbook, file } = getRequested(call);
		const output = renderWorkbook(workbook, file.name);
		const targets = readList(call, 'ranges').map((range) => resolve(workbook, range));
		if (targets.length === 0) return output;
		const fields = readText(call, 'fields');
		const sheets = output.sheets?.flatMap((sheet) => {
			const own = targets.filter((one) => one.sheet.sheetId === sheet.properties?.sheetId);
			if (own.length === 0) return [];
			if (!wantsCells(call)) return [sheet];
			const data = own.map((target) => renderGridData(target, workbook.locale, fields));
			return [{ ...sheet, data }];
		});
		return { ...output, sheets };
	}

	const methods = Object.entries({
		create,
		get,
		batchUpdate,
		...createValueMethods((call) => getRequested(call).workbook),
	}).map(([name, act]): [string, Handler] => [
		`sheets.spreadsheets.${name}`,
		(call) => ({ body: act(call) }),
	]);

	return {
		methods: Object.fromEntries(methods),
		seed({ title, tabs = [], namedRanges = {}, locale, timeZone, file }) {
			const own = { name: title, mimeType: spreadsheetType };
			const { id } = files.add({ clientId: '', ...file, ...own });
			const workbook = getWorkbook(id);
			if (locale !== undefined) workbook.locale = locale;
			if (timeZone !== undefined) workbook.timeZone = timeZone;
			if (tabs.length > 0) workbook.sheets = [];
			for (const tab of tabs) seedTab(workbook, tab);
			for (const [name, range] of Object.entries(namedRanges)) {
				const { sheet, bounds } = resolve(workbook, range);
				workbook.namedRanges.push({ name, sheetId: sheet.sheetId, area: bounds });
			}
			return id;
		},
		boldRows(spreadsheetId, tab) {
			const sheet = getWorkbook(spreadsheetId).sheets.find(({ title }) => title === tab);
			return [...(sheet?.grid.boldRows ?? [])].map((row) => row + 1);
		},
		sheetIds: (spreadsheetId) =>
			getWorkbook(spreadsheetId).sheets.map(({ sheetId }) => sheetId),
		tables(spreadsheetId) {
			const entries = getWorkbook(spreadsheetId).sheets.flatMap(({ title, grid }) =>
				grid.tables.map(({ name, area }) => [name, printRange(title, area)] as const),
			);
			return Object.fromEntries(entries);
		},
		enter(spreadsheetId, range, rows) {
			const writing = { values: rows, dimension: 'ROWS', entry: 'USER_ENTERED' } as const;
			update(getWorkbook(spreadsheetId), range, writing);
		},
		format(spreadsheetId, range, format) {
			const { sheet, area } = resolve(getWorkbook(spreadsheetId), range);
			for (let row = area.startRow; row < area.endRow; row++)
				for (const column of listColumns(area)) sheet.grid.setFormat(row, column, format);
		},
		cells(spreadsheetId, range) {
			const { sheet, area } = resolve(getWorkbook(spreadsheetId), range);
			return Array.from({ length: sheet.grid.usedRows }, (_, row) =>
				listColumns(area).map((column) => sheet.grid.get(row, column) ?? null),
			);
		},
		values(spreadsheetId, range) {
			const { sheet, area } = resolve(getWorkbook(spreadsheetId), range);
			const rendering = { values: 'UNFORMATTED_VALUE', dates: 'SERIAL_NUMBER' } as const;
			return renderValueRange(sheet, area, 'ROWS', rendering).values ?? [];
		},
		reset: () => {
			workbooks.clear();
		},
	};
}

function seedTab(workbook: Workbook, tab: TabSeed): void {
	const { title, rows = [], rowCount, columnCount } = tab;
	const properties = { title, gridProperties: { rowCount, columnCount } };
	const { grid, protectedAreas } = addSheet(workbook, properties);
	for (const row of tab.boldRows ?? []) grid.boldRows.add(row - 1);
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 1);
	grid.grow({ endRow: rows.length, endColumn: width });
	const within = (range: string) => `'${title.replaceAll("'", "''")}'!${range}`;
	if (rows.length > 0)
		update(workbook, within('A1'), { values: rows, dimension: 'ROWS', entry: 'RAW' });
	for (const range of tab.protectedRanges ?? [])
		protectedAreas.push(resolve(workbook, within(range)).area);
	for (const { name, range, hasFooter = false } of tab.tables ?? []) {
		const { area } = resolve(workbook, within(range));
		grid.tables.push({ tableId: name, name, area, hasFooter });
	}
}

const listColumns = ({ startColumn, endColumn }: Rectangle): number[] =>
	Array.from({ length: endColumn - startColumn }, (_, offset) => startColumn + offset);

/** A field mask that names cells has the same effect as `includeGridData`. */
function wantsCells(call: Call): boolean {
	return (
		readText(call, 'includeGridData') === 'true' || readText(call, 'fields').includes('data')
	);
}

function renderGridData(
	{ sheet, area }: Target,
	locale: string,
	fields: string,
): sheets_v4.Schema$GridData {
	// Printing the texts of all cells takes longer than all the rest.
	const wantsValues = fields === '' || /[vV]alue\b/.test(fields);
	const { grid } = sheet;
	// Google also returns empty rows that have a format; here, one row below the last one stands for them.
	const endRow = Math.min(area.endRow, grid.usedRows + 1, grid.rowCount);
	const columns = listColumns({ ...area, endColumn: Math.min(area.endColumn, grid.columnCount) });
	const rowData: sheets_v4.Schema$RowData[] = [];
	for (let row = area.startRow; row < endRow; row++) {
		const bold = grid.boldRows.has(row) && {
			userEnteredFormat: { textFormat: { bold: true } },
		};
		const values = columns.map((column) => {
			const cell = grid.get(row, column);
			return {
				...(wantsValues && cell && renderValue(cell, locale)),
				...renderFormat(grid.formatAt(row, column)),
				...bold,
			};
		});
		rowData.push({ values });
	}
	return {
		...(area.startRow > 0 && { startRow: area.startRow }),
		...(rowData.length > 0 && { rowData }),
	};
}

function renderValue(cell: Cell, locale: string): sheets_v4.Schema$CellData {
	const kind = typeof cell.value === 'boolean' ? 'bool' : typeof cell.value;
	return {
		effectiveValue: { [`${kind}Value`]: cell.value },
		formattedValue: formatCell(cell, locale),
	};
}

/** Renders a number format as `effectiveFormat`. A format without a pattern has that of its locale, here not spelled out. */
function renderFormat(format: Format | undefined): sheets_v4.Schema$CellData {
	if (format === undefined) return {};
	const type = getFormatType(format);
	const numberFormat = { type, ...(format !== type && { pattern: format }) };
	return { effectiveFormat: { numberFormat } };
}

/** Builds the tabs and the settings of a new spreadsheet. */
function buildShape(
	{ locale, timeZone }: sheets_v4.Schema$SpreadsheetProperties,
	sheets: sheets_v4.Schema$Sheet[],
): Partial<Workbook> {
	const shape: Workbook = { ...createWorkbook(''), sheets: [] };
	for (const { properties = {}, data = [] } of sheets.length > 0 ? sheets : [{}]) {
		const { grid } = addSheet(shape, properties);
		for (const { rowData = [], startRow, startColumn } of data)
			fill(grid, rowData, startRow ?? 0, startColumn ?? 0);
	}
	checkSize(shape);
	const { sheets: tabs } = shape;
	return { sheets: tabs, ...(locale && { locale }), ...(timeZone && { timeZone }) };
}
