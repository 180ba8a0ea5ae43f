import { isNodeError } from '../../../core/errors';
import { defineOperation } from '../../operation';
import { appendRows, type Appended } from './append/appendRows';
import { hasNames, namedRows, rowCells } from './cells';
import { rangeAdvice, spreadsheetUrl, unknownOutcome } from './errors';
import { appendFields, appendOptions } from './fields';
import { sentTarget } from './range';

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
	description: 'Add rows below a table. Items with the same target are sent together.',
	fields: appendFields,
	options: appendOptions,
	async execute(clients, params, item): Promise<Appended> {
		const [appended] = await appendRows(clients.sheets, [{ params, item }]);
		if (appended === undefined || isNodeError(appended)) throw appended ?? new Error('nothing was appended');
		return appended;
	},
	check(params, item) {
		if (hasNames(params)) namedRows(params, item);
		else rowCells(params);
	},
	combine: {
		key(params) {
			const same = { ...params, values: undefined, columns: undefined, tab: undefined };
			return JSON.stringify({ ...same, range: sentTarget(params), hasNames: hasNames(params) });
		},
		execute: async (clients, members) => await appendRows(clients.sheets, members),
	},
	recover(_clients, { spreadsheetId, tab, range }, failure) {
		const description = `They were not sent again, to avoid duplicates. Check below the table at ${sentTarget({ tab, range })} in ${spreadsheetUrl(spreadsheetId)} before you run this again.`;
		throw unknownOutcome(failure, 'The rows may have been appended', description);
	},
	errors: { 400: rangeAdvice },
});
