import type { Member, ParamsOf } from '../../operation';
import * as fields from './fields';

export const appendFields = [
	fields.spreadsheetId,
	fields.tab,
	{
		...fields.range,
		description:
			'The table to add the rows to: its columns (A:D), its header row (A1:D1) or one of its cells (A1). If no tab is chosen, start with the tab name (Sheet1!A:D). Leave empty to use the whole tab.',
	},
	fields.valuesSource,
	fields.columns,
	fields.values,
] as const;

export const appendOptions = [
	fields.escapeFormulas,
	fields.extraColumns,
	fields.headerRow,
	{
		displayName: 'Insert Data Option',
		name: 'insertDataOption',
		type: 'options',
		options: [
			{ name: 'Insert Rows', value: 'INSERT_ROWS', description: 'Rows below the table move down' },
			{
				name: 'Overwrite',
				value: 'OVERWRITE',
				description:
					'The empty rows below the table are used, and nothing moves. If a cell there has a value, the item fails and nothing is written. In a table made with Format > Convert to table, rows are always inserted.',
			},
		],
		default: 'INSERT_ROWS',
		description: 'Whether to insert rows or use the empty rows below the table',
	},
	fields.valueInputOption,
] as const;

export type AppendParams = ParamsOf<typeof appendFields, typeof appendOptions>;
export type AppendMember = Member<AppendParams>;
