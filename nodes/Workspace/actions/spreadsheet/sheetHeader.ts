import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { headersIn, type Headed, type HeaderRow } from './headerRow';
import { nativeTableAt, type NativeTable, tableFields } from './nativeTable';
import { cellsOn } from './range';
import { sheetOf } from './write/ensureGridSize';

/** A header row, and what a batch needs to know of its tab. */
export interface SheetHeader extends HeaderRow {
	readonly sheetId: number;
	readonly title: string;
	/** Of the whole row, from the tab's first column on. */
	readonly texts: readonly string[];
	readonly rowCount: number;
	/** The table that the header is of, where Google knows it as one. */
	readonly native: NativeTable | undefined;
}

const fields = `sheets(properties(sheetId,title,gridProperties(rowCount,columnCount)),${tableFields},data(rowData(values(formattedValue))))`;

export async function readSheetHeader(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, target, headerRow }: Headed,
): Promise<SheetHeader> {
	const tab = target.tab ?? target.name;
	const range = cellsOn(tab, `${headerRow}:${headerRow}`);
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, ranges: [range], fields });
	const sheet = sheetOf(data, tab);
	const cells = sheet?.data?.[0]?.rowData?.[0]?.values ?? [];
	const texts = cells.map(({ formattedValue }) => formattedValue ?? '');
	while (texts.at(-1) === '') texts.pop();
	const { sheetId, title, gridProperties } = sheet?.properties ?? {};
	const header = headersIn(texts, target);
	return {
		...header,
		texts,
		native: nativeTableAt(sheet, { row: headerRow - 1, column: header.left }),
		columnCount: gridProperties?.columnCount ?? 0,
		rowCount: gridProperties?.rowCount ?? 0,
		sheetId: sheetId ?? 0,
		title: title ?? '',
	};
}
