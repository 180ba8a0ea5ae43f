import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';
import type { IDataObject } from 'n8n-workflow';

import { defineOperation, type OutputItem } from '../../operation';
import { rangeAdvice } from './errors';
import * as fields from './fields';
import { columnNames } from './headerRow';
import { anchorOf, parseRange, printRange, targetOf } from './range';
import { inTabs, refuseTabLikeCell } from './sheets';

type CellValue = string | number | boolean;

/**
 * One item per row that is not blank, keyed by the names of its columns, with its number in the sheet as `rowNumber`.
 * @param headerRow counted inside the range, from 1; 0 for none
 */
function rowItems({ range, values }: sheets_v4.Schema$ValueRange, headerRow: number): OutputItem[] {
	const rows = (values ?? []) as CellValue[][];
	const { row: startRow, column: startColumn } = anchorOf(parseRange(range ?? 'A1'));
	const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
	const header = Array.from({ length: width }, (_, at) => textOf(rows[headerRow - 1]?.[at]));
	const names = columnNames(header, startColumn);
	const items: OutputItem[] = [];
	for (let at = headerRow; at < rows.length; at++) {
		const row = rows[at] ?? [];
		if (!isBlank(row)) items.push({ json: rowOf(row, names, startRow + at + 1) });
	}
	return items;
}

function textOf(cell: CellValue | undefined): string {
	return cell === undefined ? '' : String(cell);
}

function isBlank(row: readonly CellValue[]): boolean {
	return row.every((cell) => cell === '');
}

function rowOf(row: readonly CellValue[], names: readonly string[], rowNumber: number): IDataObject {
	const json: IDataObject = {};
	// Google leaves out empty cells at the end.
	for (const [at, name] of names.entries()) json[name] = row[at] ?? '';
	json['rowNumber'] = rowNumber;
	return json;
}

/** As far as a tab can reach; Google takes what lies beyond its end as its end. */
const firstTab = { tab: undefined, cells: 'A1:ZZZ', name: undefined };

export const read = defineOperation({
	value: 'read',
	methods: {
		'sheets.spreadsheets.values.get': 'spreadsheets',
		'sheets.spreadsheets.get': 'spreadsheets',
	},
	name: 'Read',
	action: 'Read rows of spreadsheet',
	description: 'Read a range, a tab or a named range, as one item per row or as arrays of cells',
	fields: [
		fields.spreadsheetId,
		{
			...fields.tab,
			description: 'The tab to read. Leave empty to use the tab named in the range, or the first tab.',
		},
		{
			...fields.range,
			description:
				'Cells (A1:D10), columns (A:D), rows (1:5) or a named range. If no tab is chosen, start with the tab name (Sheet1!A1:D10). Leave empty to read the whole tab.',
		},
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{
					name: 'Rows',
					value: 'rows',
					description: 'One item per row, keyed by the column names in the header row',
				},
				{ name: 'Values', value: 'values', description: 'One item with all cells as arrays' },
			],
			default: 'rows',
			jsonDefault: 'values',
			description: 'How to return the rows',
		},
	],
	options: [
		{
			displayName: 'Date Time Render Option',
			name: 'dateTimeRenderOption',
			type: 'options',
			options: [
				{ name: 'Formatted String', value: 'FORMATTED_STRING', description: 'As shown in the sheet' },
				{ name: 'Serial Number', value: 'SERIAL_NUMBER', description: 'Days since December 30, 1899' },
			],
			default: 'SERIAL_NUMBER',
			showWhen: { valueRenderOption: ['UNFORMATTED_VALUE', 'FORMULA'] },
			description: 'How dates and times are rendered if values are not formatted',
		},
		{
			displayName: 'Header Row',
			name: 'headerRow',
			type: 'number',
			default: 1,
			minimum: 0,
			showWhen: { output: ['rows'] },
			description:
				'Number of the row in the range that holds the column names. Set to 0 to use the column letters instead.',
		},
		{
			displayName: 'Major Dimension',
			name: 'majorDimension',
			type: 'options',
			options: [
				{ name: 'Rows', value: 'ROWS', description: 'An array per row' },
				{ name: 'Columns', value: 'COLUMNS', description: 'An array per column' },
			],
			default: 'ROWS',
			showWhen: { output: ['values'] },
			description: 'Whether the outer array contains rows or columns',
		},
		{
			displayName: 'Value Render Option',
			name: 'valueRenderOption',
			type: 'options',
			options: [
				{
					name: 'Formatted Value',
					value: 'FORMATTED_VALUE',
					description: 'Text as shown in the sheet, which depends on its locale',
				},
				{ name: 'Formula', value: 'FORMULA', description: 'Formulas instead of their results' },
				{ name: 'Unformatted Value', value: 'UNFORMATTED_VALUE', description: 'Numbers as numbers' },
			],
			default: 'FORMATTED_VALUE',
			description: 'How cell values are rendered',
		},
	],
	readsOnly: true,
	async execute({ sheets }, params, item): Promise<sheets_v4.Schema$ValueRange> {
		const { spreadsheetId, valueRenderOption, dateTimeRenderOption, output } = params;
		const majorDimension = output === 'rows' ? 'ROWS' : params.majorDimension;
		const target = params.tab === '' && params.range.trim() === '' ? firstTab : targetOf(params);
		const range = printRange(target);
		const asked = { spreadsheetId, range, majorDimension, valueRenderOption, dateTimeRenderOption };
		return await item.once(`spreadsheet.read ${JSON.stringify(asked)}`, async () => {
			await refuseTabLikeCell(sheets, { spreadsheetId, target, item });
			const { data } = await inTabs(sheets, { spreadsheetId, target, item }, () =>
				sheets.spreadsheets.values.get(asked),
			);
			return data;
		});
	},
	toItems(data, { output, headerRow }) {
		if (output === 'rows') return rowItems(data, headerRow);
		const { range, majorDimension, values } = data;
		return [{ json: { range, majorDimension, values: values ?? [] } }];
	},
	errors: { 400: rangeAdvice },
});
