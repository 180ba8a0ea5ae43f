import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { anchorOf, cellsOn, parseRange } from './range';

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
