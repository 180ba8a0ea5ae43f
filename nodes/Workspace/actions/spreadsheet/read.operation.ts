import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { defineOperation } from '../../operation';
import { rangeAdvice } from './failures';
import * as fields from './fields';
import { sentRange } from './range';
import { rowItems } from './rowItems';
import { inTabs } from './tabs';

export const read = defineOperation({
	value: 'read',
	name: 'Read',
	action: 'Read spreadsheet',
	description: 'Read a range, a tab or a named range, as rows of cells or as one item per row',
	fields: [
		fields.spreadsheetId,
		{
			...fields.range,
			description:
				'Cells (Sheet1!A1:D10), columns (Sheet1!A:D), rows (Sheet1!1:5), a whole tab (Sheet1) or a named range',
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
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{ name: 'Values', value: 'values', description: 'One item with all cells as arrays' },
				{ name: 'Rows', value: 'rows', description: 'One item per row, with the names of the header row' },
			],
			default: 'values',
			description: 'What comes out',
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
		const range = sentRange(params.range);
		const asked = { spreadsheetId, range, majorDimension, valueRenderOption, dateTimeRenderOption };
		return await item.once(`spreadsheet.read ${JSON.stringify(asked)}`, async () => {
			const { data } = await inTabs(sheets, { spreadsheetId, range: params.range, item }, () =>
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
