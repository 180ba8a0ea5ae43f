import { defineOperation, type Member, type ParamsOf } from '../../operation';
import { writeItems } from './block';
import { itemCells, rowCells } from './cells';
import { rangeAdvice } from './failures';
import * as fields from './fields';
import { sentRange } from './range';
import { Rows } from './rows';
import { inTabs } from './tabs';
import { writtenOf, type Written } from './written';

const writeFields = [
	fields.spreadsheetId,
	{
		...fields.range,
		description:
			'Where the rows go: the first cell (Sheet1!B2), an area that they must fit into (Sheet1!A1:D10), or a tab',
	},
	fields.valuesSource,
	fields.values,
] as const;

const writeOptions = [
	fields.escapeFormulas,
	{
		displayName: 'Include Header Row',
		name: 'includeHeaderRow',
		type: 'boolean',
		default: true,
		showWhen: { valuesSource: ['items'] },
		description: 'Whether to write the names of the fields above the rows',
	},
	fields.valueInputOption,
] as const;

export type WriteParams = ParamsOf<typeof writeFields, typeof writeOptions>;
export type WriteMember = Member<WriteParams>;

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Write to spreadsheet',
	description: 'Write rows at a place in a spreadsheet, over what is there',
	idempotent: true,
	fields: writeFields,
	options: writeOptions,
	async execute(clients, params, item): Promise<Written> {
		const { spreadsheetId, range, valuesSource, valueInputOption } = params;
		if (valuesSource === 'items') {
			const [written] = await writeItems(clients.sheets, [{ params, item }]);
			if (written) return written;
		}
		const update = {
			...{ spreadsheetId, range: sentRange(range), valueInputOption },
			requestBody: new Rows(rowCells(params)),
		};
		const { sheets } = clients;
		const { data } = await inTabs(sheets, { spreadsheetId, range, item }, () =>
			sheets.spreadsheets.values.update(update),
		);
		return writtenOf(spreadsheetId, data);
	},
	combine: {
		key({ spreadsheetId, range, valuesSource, valueInputOption, escapeFormulas, includeHeaderRow }) {
			if (valuesSource !== 'items') return undefined;
			const target = [spreadsheetId, sentRange(range)];
			return JSON.stringify([...target, valueInputOption, escapeFormulas, includeHeaderRow]);
		},
		check(params, item) {
			itemCells(item.json, params);
		},
		execute: async (clients, members) => await writeItems(clients.sheets, members),
	},
	errors: { 400: rangeAdvice },
});
