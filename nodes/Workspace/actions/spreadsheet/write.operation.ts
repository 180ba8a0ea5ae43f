import { defineOperation, type Member, type ParamsOf } from '../../operation';
import { isFailure } from '../../../items/failure';
import { rangeAdvice } from './failures';
import * as fields from './fields';
import type { KeyedWritten } from './keyed/keyedWrite';
import { hasNames, namedRows } from './namedRows';
import { sentTarget } from './target';
import { writeRows } from './writeRows';
import type { Written } from './written';

const writeFields = [
	fields.spreadsheetId,
	fields.tab,
	{
		...fields.range,
		description:
			'Where the rows go: the first cell (B2) or an area that they must fit into (A1:D10), with a tab name in front (Sheet1!B2) where no tab is chosen. Empty: the whole tab.',
	},
	fields.valuesSource,
	fields.columns,
	fields.values,
] as const;

const writeOptions = [
	fields.escapeFormulas,
	fields.extraColumns,
	fields.headerRow,
	{
		displayName: 'Include Header Row',
		name: 'includeHeaderRow',
		type: 'boolean',
		default: true,
		showWhen: { valuesSource: ['items'] },
		description: 'Whether to write the names of the fields above the rows',
	},
	{
		displayName: 'Match Columns',
		name: 'matchColumns',
		type: 'string',
		default: '',
		holds: 'list',
		showWhen: { valuesSource: ['columns', 'items'] },
		placeholder: 'e.g. Order ID',
		description:
			'Columns that tell rows apart, separated by commas. Rows whose cells there equal an item are updated in place, the other items are added below the table.',
	},
	fields.valueInputOption,
] as const;

export type WriteParams = ParamsOf<typeof writeFields, typeof writeOptions>;
export type WriteMember = Member<WriteParams>;

export const write = defineOperation({
	value: 'write',
	methods: {
		'sheets.spreadsheets.values.update': 'spreadsheets',
		'sheets.spreadsheets.values.get': 'spreadsheets',
		'sheets.spreadsheets.get': 'spreadsheets',
		'sheets.spreadsheets.batchUpdate': 'spreadsheets',
	},
	name: 'Write',
	action: 'Write rows to spreadsheet',
	description: 'Write rows at a place in a spreadsheet, over what is there',
	caution: 'Destructive: what stands in these cells is lost.',
	idempotent: true,
	fields: writeFields,
	options: writeOptions,
	async execute(clients, params, item): Promise<Written | KeyedWritten> {
		const [written] = await writeRows(clients.sheets, [{ params, item }]);
		if (written === undefined || isFailure(written)) throw written ?? new Error('nothing was written');
		return written;
	},
	combine: {
		key(params) {
			if (!hasNames(params)) return undefined;
			const same = { ...params, values: undefined, columns: undefined, tab: undefined };
			return JSON.stringify({ ...same, range: sentTarget(params) });
		},
		check(params, item) {
			namedRows(params, item.json);
		},
		execute: async (clients, members) => await writeRows(clients.sheets, members),
	},
	errors: { 400: rangeAdvice },
});
