import type { Member, ParamsOf } from '../../operation';
import * as fields from './fields';

export const appendFields = [
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

export const appendOptions = [
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
