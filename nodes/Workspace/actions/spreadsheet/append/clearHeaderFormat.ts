import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { isFailure } from '../../../../core/errors';
import type { Item } from '../../../operation';
import { areaLike } from '../range';

/** Rows that were inserted directly below a header. Rows and columns count from 0. */
interface BelowHeader {
	readonly spreadsheetId: string;
	/** As Google printed it. */
	readonly updatedRange: string;
	readonly row: number;
	readonly column: number;
	readonly width: number;
	readonly count: number;
}

/** Except the number format: values entered as dates already have a date format. */
const look = [
	...['backgroundColor', 'backgroundColorStyle', 'borders', 'horizontalAlignment', 'padding'],
	...['textFormat', 'textRotation', 'verticalAlignment', 'wrapStrategy'],
];
const headerFields = `sheets(properties(sheetId),data(rowData(values(userEnteredFormat(${look.join(',')})))))`;

/** Google formats inserted rows like the row above, but the rows below a header must not look like the header. */
export async function clearHeaderFormat(
	sheets: sheets_v4.Sheets,
	rows: BelowHeader,
	item: Item,
): Promise<void> {
	await clearFormat(sheets, rows).catch((error: unknown) => {
		if (!isFailure(error)) throw error;
		item.hint(
			`The rows at ${rows.updatedRange} were appended, but they have the formatting of the header: ${error.message}`,
		);
	});
}

async function clearFormat(
	sheets: sheets_v4.Sheets,
	{ spreadsheetId, updatedRange, row, column, width, count }: BelowHeader,
): Promise<void> {
	const header = areaLike(updatedRange, { row: row - 1, column }, 1, width);
	const { data } = await sheets.spreadsheets.get({ spreadsheetId, ranges: [header], fields: headerFields });
	const [sheet] = data.sheets ?? [];
	const cells = sheet?.data?.[0]?.rowData?.[0]?.values ?? [];
	if (!cells.some(({ userEnteredFormat }) => userEnteredFormat)) return;
	const range = { sheetId: sheet?.properties?.sheetId, startRowIndex: row, endRowIndex: row + count };
	const fields = look.map((name) => `userEnteredFormat.${name}`).join(',');
	const requests = [{ repeatCell: { range, cell: {}, fields } }];
	await sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } });
}
