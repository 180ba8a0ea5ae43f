import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { parseRange, printRange, type TabRange } from './range';

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
