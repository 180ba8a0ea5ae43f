import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { NodeError, isNodeError, refusal } from '../../../core/errors';
import { KeyedMutex } from '../../../core/runtime';
import { named } from '../../../fields/field';
import type { Item } from '../../operation';
import { list } from './errors';
import { anchorOf, cellsOn, isOneCell, parseRange, printRange, quoted, type TabRange } from './range';

/**
 * A table that was made with Format > Convert to table. Rows belong to it when they are inserted inside it, or when values.append inserts
 * them; what is written below it does not. AppendCells with its ID was seen to lose the values. Rows and columns count from 0.
 */
export interface NativeTable {
	readonly tableId: string;
	readonly sheetId: number;
	readonly startRow: number;
	/** The row after its last one, the footer included. */
	readonly endRow: number;
	readonly startColumn: number;
	readonly endColumn: number;
	/** The row after its last one, without the footer. */
	readonly bodyEnd: number;
}

/** Of a sheet, in a field mask. */
export const tableFields = 'tables(tableId,range,rowsProperties(footerColorStyle))';

/** The table that a cell is in. */
export function nativeTableAt(
	sheet: sheets_v4.Schema$Sheet | undefined,
	{ row, column }: { readonly row: number; readonly column: number },
): NativeTable | undefined {
	return (sheet?.tables ?? [])
		.map(tableIn)
		.find(
			(table) =>
				row >= table.startRow &&
				row < table.endRow &&
				column >= table.startColumn &&
				column < table.endColumn,
		);
}

function tableIn({ tableId, range, rowsProperties }: sheets_v4.Schema$Table): NativeTable {
	const endRow = range?.endRowIndex ?? 0;
	return {
		tableId: tableId ?? '',
		sheetId: range?.sheetId ?? 0,
		startRow: range?.startRowIndex ?? 0,
		endRow,
		startColumn: range?.startColumnIndex ?? 0,
		endColumn: range?.endColumnIndex ?? 0,
		bodyEnd: endRow - (rowsProperties?.footerColorStyle ? 1 : 0),
	};
}

export function grown(table: NativeTable, rows: number, columns: number): NativeTable {
	return {
		...table,
		endRow: table.endRow + rows,
		endColumn: table.endColumn + columns,
		bodyEnd: table.bodyEnd + rows,
	};
}

/** Gives a table its new size. */
export function resize(table: NativeTable): sheets_v4.Schema$Request {
	const { tableId, sheetId, startRow, endRow, startColumn, endColumn } = table;
	const range = {
		sheetId,
		startRowIndex: startRow,
		endRowIndex: endRow,
		startColumnIndex: startColumn,
		endColumnIndex: endColumn,
	};
	return { updateTable: { table: { tableId, range }, fields: 'range' } };
}

/** Google's answer to a range in a tab that is not there, and to one that is no range at all. */
const unknownRange = 'Unable to parse range';

/** The failure says enough without the tabs, so the wait for them is short. */
const briefly = { retryConfig: { retry: 0 }, timeout: 5000 };

interface Asked {
	readonly spreadsheetId: string;
	readonly target: TabRange;
	readonly item: Item;
}

/**
 * Asks Google about a range. If Google knows no such range, the failure lists the tabs.
 * @throws NodeError
 */
export async function inTabs<T>(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, item }: Asked,
	ask: () => Promise<T>,
): Promise<T> {
	return await ask().catch(async (error: unknown) => {
		if (!isAboutTabs(error)) throw error;
		const titles = await item.once(`tabs ${spreadsheetId}`, () => titlesAsFarAsKnown(sheets, spreadsheetId));
		throw naming(error, target, titles);
	});
}

export function isAboutTabs(error: unknown): error is NodeError {
	return isNodeError(error) && error.code === 400 && error.message.includes(unknownRange);
}

/**
 * Google reads `Q1` as a cell of the first tab, even if a tab has this name.
 * @throws NodeError 400 if the range is ambiguous
 */
export async function refuseTabLikeCell(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, item }: Asked,
): Promise<void> {
	if (!isOneCell(target)) return;
	const { cells = '' } = target;
	const titles = await item.once(`titles ${spreadsheetId}`, () => titlesOf(sheets, spreadsheetId));
	const same = titles.find((title) => title.toLowerCase() === cells.toLowerCase());
	if (same === undefined) return;
	throw refusal(
		`${named('range')} ${cells} is ambiguous: it is a cell, and the spreadsheet has a tab with this name`,
		`Enter ${quoted(same)} for the tab, or ${quoted(titles[0] ?? '')}!${cells} for the cell in the first tab.`,
	);
}

/** Says that the tab is missing: Google's message only names the range, possibly as the node rewrote it. */
function naming(
	failure: NodeError,
	{ tab: title, cells, name }: TabRange,
	titles: readonly string[],
): NodeError {
	const tab = title ?? name;
	if (titles.length === 0) return failure;
	const has = `The spreadsheet has the ${titles.length === 1 ? 'tab' : 'tabs'} ${list(titles)}.`;
	if (tab === undefined || titles.includes(tab)) {
		return failure.with({ description: [has, failure.description].filter(Boolean).join(' ') });
	}
	const missing = title === undefined && cells === undefined ? 'tab or named range' : 'tab';
	return failure.with({
		message: `Google Sheets: the spreadsheet has no ${missing} ${list([tab])}`,
		description: has,
	});
}

/** @returns none if they cannot be read */
async function titlesAsFarAsKnown(sheets: sheets_v4.Sheets, spreadsheetId: string): Promise<string[]> {
	return await titlesOf(sheets, spreadsheetId, briefly).catch((error: unknown) => {
		// The original failure says more than this one.
		if (isNodeError(error)) return [];
		throw error;
	});
}

async function titlesOf(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	options: Partial<typeof briefly> = {},
): Promise<string[]> {
	const fields = 'sheets.properties.title';
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields }, options);
	return (data.sheets ?? []).flatMap(({ properties }) => properties?.title ?? []);
}

/** The cells of a named range. The name of a tab means the whole tab. */
export async function cellsOfName(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	target: TabRange,
): Promise<TabRange> {
	const { data } = await sheets.spreadsheets.values.get({
		spreadsheetId,
		range: printRange(target),
		fields: 'range',
	});
	const found = parseRange(data.range ?? '');
	return isTabsName(target, found) ? { tab: found.tab, cells: undefined, name: undefined } : found;
}

/** @param answered a range as Google printed it, in the tab or the named range that the name stands for */
export function isTabsName({ tab, name }: TabRange, answered: TabRange): boolean {
	return tab === undefined && name !== undefined && name.toLowerCase() === answered.tab?.toLowerCase();
}

/** As far as a tab can reach; Google takes what lies beyond its end as its end. */
const allCells = 'A1:ZZZ';

export interface TabCells {
	/** From the first row and column on, as Google gives them: without what is empty at the ends. */
	readonly cells: ReadonlyArray<readonly unknown[]>;
	/** Rows that the tab has, filled or not. */
	readonly rowCount: number;
}

/** @param tab its title; undefined for the first one */
export async function readTab(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	tab: string | undefined,
): Promise<TabCells> {
	const { data } = await sheets.spreadsheets.values.get({ spreadsheetId, range: cellsOn(tab, allCells) });
	const { lastRow = 0 } = anchorOf(parseRange(data.range ?? ''));
	return { cells: (data.values ?? []) as unknown[][], rowCount: lastRow + 1 };
}

/** What is known of a tab beside its values. */
export interface SheetInfo {
	readonly sheetId: number;
	readonly title: string;
	readonly rowCount: number;
	readonly columnCount: number;
	readonly sheet: sheets_v4.Schema$Sheet;
}

const properties = 'properties(sheetId,title,gridProperties(rowCount,columnCount))';

/**
 * Looks a tab up.
 * @param tab title, in any case; undefined for the first one
 * @param cells of which the shown texts are wanted, too
 * @throws NodeError 404
 */
export async function findSheet(
	sheets: sheets_v4.Sheets,
	spreadsheetId: string,
	tab: string | undefined,
	cells?: string,
): Promise<SheetInfo> {
	const shown = cells === undefined ? '' : ',data(rowData(values(formattedValue)))';
	const { data } = await sheets.spreadsheets.get({
		spreadsheetId,
		...(cells !== undefined && { ranges: [cellsOn(tab, cells)] }),
		fields: `sheets(${properties},${tableFields}${shown})`,
	});
	const sheet = sheetOf(data, tab);
	if (!sheet) throw new NodeError({ code: 404, message: 'The tab was deleted or renamed meanwhile' });
	const { sheetId, title, gridProperties } = sheet.properties ?? {};
	const { rowCount, columnCount } = gridProperties ?? {};
	return {
		...{ sheetId: sheetId ?? 0, title: title ?? '', sheet },
		...{ rowCount: rowCount ?? 0, columnCount: columnCount ?? 0 },
	};
}

/** @param tab title, in any case; undefined for the first one */
function sheetOf(
	{ sheets = [] }: sheets_v4.Schema$Spreadsheet,
	tab: string | undefined,
): sheets_v4.Schema$Sheet | undefined {
	if (tab === undefined) return sheets[0];
	return sheets.find(({ properties }) => properties?.title?.toLowerCase() === tab.toLowerCase());
}

/** The changes that this process makes to a spreadsheet, by its ID, one after another. */
export const spreadsheetMutex = new KeyedMutex();

/** Makes the tab that a target names, if the spreadsheet has neither a tab nor a named range of that name. */
export async function createMissingTab(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, item }: Asked,
): Promise<void> {
	const title = target.tab ?? target.name;
	if (title === undefined) return;
	await item.once(`tab ${spreadsheetId} ${title}`, async () => {
		if (await hasTab(sheets, spreadsheetId, title)) return;
		const requests = [{ addSheet: { properties: { title } } }];
		await sheets.spreadsheets
			.batchUpdate({ spreadsheetId, requestBody: { requests } })
			.catch(async (error: unknown) => {
				// Another execution may have made it meanwhile.
				if (!isNodeError(error) || !(await hasTab(sheets, spreadsheetId, title))) throw error;
			});
	});
}

async function hasTab(sheets: sheets_v4.Sheets, spreadsheetId: string, title: string): Promise<boolean> {
	const fields = 'sheets.properties.title,namedRanges.name';
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields });
	const isNamed = (data.namedRanges ?? []).some(({ name }) => name?.toLowerCase() === title.toLowerCase());
	return isNamed || sheetOf(data, title) !== undefined;
}
