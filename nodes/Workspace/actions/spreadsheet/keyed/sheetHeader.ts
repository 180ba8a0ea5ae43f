import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { headersIn, type Headed, type HeaderRow } from '../headerRow';
import { cellsOn } from '../range';
import { sheetOf } from '../room';

/** A header row, and what a batch needs to know of its tab. */
export interface SheetHeader extends HeaderRow {
	readonly sheetId: number;
	readonly title: string;
	readonly rowCount: number;
}

const fields =
	'sheets(properties(sheetId,title,gridProperties(rowCount,columnCount)),data(rowData(values(formattedValue))))';

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
	return {
		...headersIn(texts, target),
		columnCount: gridProperties?.columnCount ?? 0,
		rowCount: gridProperties?.rowCount ?? 0,
		sheetId: sheetId ?? 0,
		title: title ?? '',
	};
}
