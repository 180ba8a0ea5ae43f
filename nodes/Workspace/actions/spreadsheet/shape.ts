import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Cell } from './cells';
import { widthOf } from './updates';

/** The structure of a new spreadsheet. */
export interface Shape {
	/** Names of its tabs; none for the one that Google makes. */
	readonly tabs: readonly string[];
	/** Of the first tab. */
	readonly rows: readonly Cell[][];
	readonly locale: string;
	readonly timeZone: string;
}

/** Google's size of a new tab. */
const usual = { rowCount: 1000, columnCount: 26 };
const gridFields = 'gridProperties.rowCount,gridProperties.columnCount';

/** The tabs in a request that creates a spreadsheet; undefined leaves them to Google. */
export function newSheets({ tabs, rows }: Shape): sheets_v4.Schema$Sheet[] | undefined {
	if (tabs.length === 0 && rows.length === 0) return undefined;
	const [first, ...others] = tabs;
	const gridProperties = gridFor(rows);
	return [
		{
			properties: { ...(first !== undefined && { title: first }), ...(gridProperties && { gridProperties }) },
			...(rows.length > 0 && { data: [{ rowData: rowData(rows) }] }),
		},
		...others.map((title) => ({ properties: { title } })),
	];
}

export interface Tab {
	readonly sheetId: number;
	readonly title: string;
}

export function tabsOf({ sheets }: sheets_v4.Schema$Spreadsheet): Tab[] {
	return (sheets ?? []).map(({ properties }) => ({
		sheetId: properties?.sheetId ?? 0,
		title: properties?.title ?? '',
	}));
}

/** The changes that turn a spreadsheet created by Drive into the wanted one. Applied to the result, there are none. */
export function shapeRequests(
	{ tabs, rows, locale, timeZone }: Shape,
	[present, ...more]: readonly Tab[],
): sheets_v4.Schema$Request[] {
	const sheetId = present?.sheetId ?? 0;
	const requests: sheets_v4.Schema$Request[] = [];
	const settings = { ...(locale && { locale }), ...(timeZone && { timeZone }) };
	const fields = Object.keys(settings).join(',');
	if (fields) requests.push({ updateSpreadsheetProperties: { properties: settings, fields } });
	const [first, ...others] = tabs;
	if (first !== undefined && first !== present?.title) {
		requests.push({ updateSheetProperties: { properties: { sheetId, title: first }, fields: 'title' } });
	}
	for (const [at, title] of others.entries()) {
		if (more.some((tab) => tab.title === title)) continue;
		requests.push({ addSheet: { properties: { title, index: at + 1 } } });
	}
	const gridProperties = gridFor(rows);
	if (gridProperties) {
		const properties = { sheetId, gridProperties };
		requests.push({ updateSheetProperties: { properties, fields: gridFields } });
	}
	if (rows.length > 0) {
		const start = { sheetId, rowIndex: 0, columnIndex: 0 };
		requests.push({ updateCells: { start, rows: rowData(rows), fields: 'userEnteredValue' } });
	}
	return requests;
}

function gridFor(rows: readonly Cell[][]): sheets_v4.Schema$GridProperties | undefined {
	const rowCount = Math.max(usual.rowCount, rows.length);
	const columnCount = Math.max(usual.columnCount, widthOf(rows));
	const fits = rowCount === usual.rowCount && columnCount === usual.columnCount;
	return fits ? undefined : { rowCount, columnCount };
}

function rowData(rows: readonly Cell[][]): sheets_v4.Schema$RowData[] {
	return rows.map((row) => ({ values: row.map(cellData) }));
}

export function cellData(cell: Cell): sheets_v4.Schema$CellData {
	if (cell === null || cell === '') return {};
	if (typeof cell === 'number') return { userEnteredValue: { numberValue: cell } };
	return { userEnteredValue: typeof cell === 'boolean' ? { boolValue: cell } : { stringValue: cell } };
}
