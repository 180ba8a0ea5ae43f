import { isFailure } from '../../../items/failure';
import { defineOperation, type Member, type ParamsOf } from '../../operation';
import { appendRows, type Appended } from './appendRows';
import { rowCells } from './cells';
import { rangeAdvice, spreadsheetUrl, unknownOutcome } from './failures';
import * as fields from './fields';
import { hasNames, namedRows } from './namedRows';
import { sentTarget } from './target';

const appendFields = [
	fields.spreadsheetId,
	fields.tab,
	{
		...fields.range,
		description:
			'The table that the rows are added to: its columns (A:D), its header row (A1:D1) or a cell of it (A1). With a tab name in front (Sheet1!A:D) where no tab is chosen. Empty: the whole tab.',
	},
	fields.valuesSource,
	fields.columns,
	fields.values,
] as const;

const appendOptions = [
	fields.escapeFormulas,
	fields.extraColumns,
	fields.headerRow,
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
	methods: {
		'sheets.spreadsheets.values.append': 'spreadsheets',
		'sheets.spreadsheets.values.update': 'spreadsheets',
		'sheets.spreadsheets.values.get': 'spreadsheets',
		'sheets.spreadsheets.get': 'spreadsheets',
		'sheets.spreadsheets.batchUpdate': 'spreadsheets',
	},
	name: 'Append',
	action: 'Append rows to spreadsheet',
	description: 'Add rows below a table. Items with the same target go out together.',
	fields: appendFields,
	options: appendOptions,
	async execute(clients, params, item): Promise<Appended> {
		const [appended] = await appendRows(clients.sheets, [{ params, item }]);
		if (appended === undefined || isFailure(appended)) throw appended ?? new Error('nothing was appended');
		return appended;
	},
	combine: {
		key(params) {
			const same = { ...params, values: undefined, columns: undefined, tab: undefined };
			return JSON.stringify({ ...same, range: sentTarget(params), hasNames: hasNames(params) });
		},
		check(params, item) {
			if (hasNames(params)) namedRows(params, item.json);
			else rowCells(params);
		},
		execute: async (clients, members) => await appendRows(clients.sheets, members),
	},
	recover(_clients, { spreadsheetId, tab, range }, failure) {
		const description = `They were not sent again, because they might then be there twice. Look below the table at ${sentTarget({ tab, range })} in ${spreadsheetUrl(spreadsheetId)} before running this again.`;
		throw unknownOutcome(failure, 'It is not known whether the rows were appended', description);
	},
	errors: { 400: rangeAdvice },
});
