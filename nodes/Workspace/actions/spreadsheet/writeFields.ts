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
	{
		displayName: 'Write Mode',
		name: 'writeMode',
		type: 'options',
		options: [
			{
				name: 'Overwrite',
				value: 'overwrite',
				description:
					'Write over the first rows of the range. If they have other column names, nothing is written.',
			},
			{
				name: 'Replace',
				value: 'replace',
				description: 'Write the column names and the rows, and clear what the old table had beyond them',
			},
			{
				name: 'Update',
				value: 'update',
				description: 'Update the rows that match in place, and add the others below the table',
			},
		],
		default: 'update',
		jsonDefault: 'overwrite',
		hiddenDefault: 'overwrite',
		showWhen: { valuesSource: ['columns', 'items'] },
		description: 'What happens to the rows that are already there',
	},
	fields.matchColumns,
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
		showWhen: { valuesSource: ['items'], writeMode: ['overwrite', 'replace'] },
		description: 'Whether to write the field names above the rows',
	},
	fields.valueInputOption,
] as const;

export type WriteParams = ParamsOf<typeof writeFields, typeof writeOptions>;
export type WriteMember = Member<WriteParams>;
