import type { Member, ParamsOf } from '../../operation';
import * as fields from './fields';

export const writeFields = [
	fields.spreadsheetId,
	fields.tab,
	{
		...fields.range,
		description:
			'Where to write the rows: the first cell (B2) or an area that they must fit into (A1:D10). If no tab is chosen, start with the tab name (Sheet1!B2). Leave empty to use the whole tab.',
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
		description: 'Whether to write the field names above the rows',
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
			'Columns that identify a row, separated by commas. Rows that match an item in these columns are updated in place. All other items are added below the table.',
	},
	fields.valueInputOption,
] as const;

export type WriteParams = ParamsOf<typeof writeFields, typeof writeOptions>;
export type WriteMember = Member<WriteParams>;
