import type { Member, ParamsOf } from '../../operation';
import * as fields from './fields';

export const writeFields = [
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

export const writeOptions = [
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
