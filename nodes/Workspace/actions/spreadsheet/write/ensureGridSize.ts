import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure } from '../../../../core/errors';
import type { Item } from '../../../operation';
import { anchorOf, type Corner, type TabRange } from '../range';
import { inTabs } from '../sheets';

/** Where rows go, and how far they reach: rows and columns counted from the sheet's first. */
export interface Reach {
	readonly spreadsheetId: string;
	readonly target: TabRange;
	readonly item: Item;
	readonly start: Corner;
	readonly rows: number;
	readonly columns: number;
}

/** Google's size of a new tab: rows that fit into it are sent without asking first. */
const usual = { rows: 1000, columns: 26 };

/**
 * Writes rows, and adds the rows and columns that they need to the tab. Google refuses rows that reach beyond its edge; a refused request
 * wrote nothing. Rows that begin beyond the edge, or do not fit into the range itself, stay refused.
 */
export async function ensureGridSize<T>(
	sheets: sheets_v4.Sheets,
	reach: Reach,
	send: () => Promise<T>,
): Promise<T> {
	const { lastRow, lastColumn } = anchorOf(reach.target);
	const fits =
		(lastRow === undefined || reach.rows <= lastRow + 1) &&
		(lastColumn === undefined || reach.columns <= lastColumn + 1);
	// A named range inside a tab has its own bounds.
	const mayGrow = fits && !(reach.target.tab !== undefined && reach.target.name !== undefined);
	return await inTabs(sheets, reach, async () => {
		if (mayGrow && (reach.rows > usual.rows || reach.columns > usual.columns)) {
			await grow(sheets, reach);
			return await send();
		}
		return await send().catch(async (error: unknown) => {
			const isOverEdge =
				isFailure(error) && error.code === 400 && error.message.includes('exceeds grid limits');
			if (!isOverEdge || !mayGrow || !(await grow(sheets, reach))) throw error;
			return await send();
		});
	});
}

/** @returns whether the tab has grown */
async function grow(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, start, rows, columns }: Reach,
): Promise<boolean> {
	const fields = 'sheets.properties(sheetId,title,gridProperties(rowCount,columnCount))';
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, fields });
	const properties = sheetOf(data, target.tab ?? target.name)?.properties;
	if (!properties) return false;
	const { rowCount, columnCount } = properties.gridProperties ?? {};
	if (start.row >= (rowCount ?? 0) || start.column >= (columnCount ?? 0)) return false;
	const missing = { ROWS: rows - (rowCount ?? 0), COLUMNS: columns - (columnCount ?? 0) };
	const requests = Object.entries(missing).flatMap(([dimension, length]) =>
		length > 0 ? [{ appendDimension: { sheetId: properties.sheetId, dimension, length } }] : [],
	);
	if (requests.length === 0) return false;
	await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
	return true;
}

/** @param tab title, in any case; undefined for the first one */
export function sheetOf(
	{ sheets = [] }: sheets_v4.Schema$Spreadsheet,
	tab: string | undefined,
): sheets_v4.Schema$Sheet | undefined {
	if (tab === undefined) return sheets[0];
	return sheets.find(({ properties }) => properties?.title?.toLowerCase() === tab.toLowerCase());
}
