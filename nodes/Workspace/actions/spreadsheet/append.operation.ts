import { isFailure } from '../../../items/failure';
import { defineOperation, type Member, type ParamsOf } from '../../operation';
import { appendRows, type Appended } from './appendRows';
import { itemCells, rowCells } from './cells';
import { rangeAdvice, spreadsheetUrl, unknownOutcome } from './failures';
import * as fields from './fields';
import { sentRange } from './range';

const appendFields = [
	fields.spreadsheetId,
	{
		...fields.range,
		placeholder: 'e.g. Sheet1!A:D',
		description:
			'The table that the rows are added to: its columns (Sheet1!A:D), its first cell (Sheet1!A1) or its tab (Sheet1)',
	},
	fields.valuesSource,
	fields.values,
] as const;

const appendOptions = [
	fields.escapeFormulas,
	{
		displayName: 'Extra Columns',
		name: 'extraColumns',
		type: 'options',
		options: [
			{ name: 'Add', value: 'add', description: 'Add them to the header row' },
			{ name: 'Fail the Item', value: 'error', description: 'Add nothing for the item' },
			{ name: 'Ignore', value: 'ignore', description: 'Leave them out' },
		],
		default: 'error',
		showWhen: { valuesSource: ['items'] },
		description: 'What to do with fields of an item that the header row does not have',
	},
	{
		displayName: 'Header Row',
		name: 'headerRow',
		type: 'number',
		default: 1,
		minimum: 1,
		showWhen: { valuesSource: ['items'] },
		description: 'Which row of the tab holds the names of the columns. Where it is empty it is written.',
	},
	{
		displayName: 'Insert Data Option',
		name: 'insertDataOption',
		type: 'options',
		options: [
			{ name: 'Insert Rows', value: 'INSERT_ROWS', description: 'What is below the table moves down' },
			{ name: 'Overwrite', value: 'OVERWRITE', description: 'What is below the table is written over' },
		],
		default: 'INSERT_ROWS',
		description: 'How the rows find room',
	},
	fields.valueInputOption,
] as const;

export type AppendParams = ParamsOf<typeof appendFields, typeof appendOptions>;
export type AppendMember = Member<AppendParams>;

export const append = defineOperation({
	value: 'append',
	name: 'Append',
	action: 'Append to spreadsheet',
	description: 'Add rows below a table. Items with the same target go out together.',
	fields: appendFields,
	options: appendOptions,
	async execute(clients, params, item): Promise<Appended> {
		const [appended] = await appendRows(clients.sheets, [{ params, item }]);
		if (appended === undefined || isFailure(appended)) throw appended ?? new Error('nothing was appended');
		return appended;
	},
	combine: {
		key: (params) => JSON.stringify({ ...params, values: undefined, range: sentRange(params.range) }),
		check(params, item) {
			if (params.valuesSource === 'items') itemCells(item.json, params);
			else rowCells(params);
		},
		execute: async (clients, members) => await appendRows(clients.sheets, members),
	},
	recover(_clients, { spreadsheetId, range }, failure) {
		const description = `They were not sent again, because they might then be there twice. Look below the table at ${sentRange(range)} in ${spreadsheetUrl(spreadsheetId)} before running this again.`;
		throw unknownOutcome(failure, 'It is not known whether the rows were appended', description);
	},
	errors: { 400: rangeAdvice },
});
