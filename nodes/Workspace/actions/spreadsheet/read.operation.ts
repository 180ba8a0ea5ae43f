import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { defineOperation } from '../../operation';
import { rangeAdvice } from './failures';
import * as fields from './fields';
import { printRange } from './range';
import { rowItems } from './rowItems';
import { inTabs, refuseTabLikeCell } from './tabs';
import { targetOf } from './target';

export const read = defineOperation({
	value: 'read',
	methods: {
		'sheets.spreadsheets.values.get': 'spreadsheets',
		'sheets.spreadsheets.get': 'spreadsheets',
	},
	name: 'Read',
	action: 'Read rows of spreadsheet',
	description: 'Read a range, a tab or a named range, as rows of cells or as one item per row',
	fields: [
		fields.spreadsheetId,
		fields.tab,
		{
			...fields.range,
			description:
				'Cells (A1:D10), columns (A:D) or rows (1:5), with a tab name in front (Sheet1!A1:D10) where no tab is chosen, or a named range. Empty: the whole tab.',
		},
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{ name: 'Rows', value: 'rows', description: 'One item per row, with the names of the header row' },
				{ name: 'Values', value: 'values', description: 'One item with all cells as arrays' },
			],
			default: 'rows',
			jsonDefault: 'values',
			description: 'What comes out',
		},
	],
	options: [
		{
			displayName: 'Date Time Render Option',
			name: 'dateTimeRenderOption',
			type: 'options',
			options: [
				{ name: 'Formatted String', value: 'FORMATTED_STRING', description: 'As the sheet shows it' },
				{ name: 'Serial Number', value: 'SERIAL_NUMBER', description: 'Days since 30 December 1899' },
			],
			default: 'SERIAL_NUMBER',
			showWhen: { valueRenderOption: ['UNFORMATTED_VALUE', 'FORMULA'] },
			description: 'How dates and times come out when values are not formatted',
		},
		{
			displayName: 'Header Row',
			name: 'headerRow',
			type: 'number',
			default: 1,
			minimum: 0,
			showWhen: { output: ['rows'] },
			description:
				'Which row of the range holds the names of the columns. 0: none, columns are named by their letters.',
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
			description: 'What the outer array of the values counts',
		},
		{
			displayName: 'Value Render Option',
			name: 'valueRenderOption',
			type: 'options',
			options: [
				{
					name: 'Formatted Value',
					value: 'FORMATTED_VALUE',
					description: 'Text as the sheet shows it, which depends on its locale',
				},
				{ name: 'Formula', value: 'FORMULA', description: 'Formulas instead of their results' },
				{ name: 'Unformatted Value', value: 'UNFORMATTED_VALUE', description: 'Numbers as numbers' },
			],
			default: 'FORMATTED_VALUE',
			description: 'How cells come out',
		},
	],
	readsOnly: true,
	async execute({ sheets }, params, item): Promise<sheets_v4.Schema$ValueRange> {
		const { spreadsheetId, valueRenderOption, dateTimeRenderOption, output } = params;
		const majorDimension = output === 'rows' ? 'ROWS' : params.majorDimension;
		const target = targetOf(params);
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
