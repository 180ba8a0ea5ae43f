import { defineOperation } from '../../operation';
import { isNodeError } from '../../../core/errors';
import { rangeAdvice } from './errors';
import { writeFields, writeOptions } from './fields';
import type { MatchedRow } from './match/matchRows';
import { hasNames, namedRows, rowCells } from './cells';
import { sentTarget } from './range';
import { writeModeOf, writeRows } from './write/writeRows';
import type { Written } from './updates';

/** One for each row that was looked for. */
type Result = Written | MatchedRow[];

export const write = defineOperation({
	value: 'write',
	methods: {
		'sheets.spreadsheets.values.update': 'spreadsheets',
		'sheets.spreadsheets.values.get': 'spreadsheets',
		'sheets.spreadsheets.values.batchGet': 'spreadsheets',
		'sheets.spreadsheets.values.batchUpdate': 'spreadsheets',
		'sheets.spreadsheets.get': 'spreadsheets',
		'sheets.spreadsheets.batchUpdate': 'spreadsheets',
	},
	name: 'Write',
	action: 'Write rows to spreadsheet',
	description: 'Update rows that match, replace a table, or write rows to a range',
	caution: 'Destructive: the previous values of these cells are lost.',
	idempotent: () => true,
	fields: writeFields,
	options: writeOptions,
	async execute(clients, params, item): Promise<Result> {
		const [written] = await writeRows(clients.sheets, [{ params, item }]);
		if (written === undefined || isNodeError(written)) throw written ?? new Error('nothing was written');
		return written;
	},
	check(params, item) {
		writeModeOf(params);
		if (hasNames(params)) namedRows(params, item);
		else rowCells(params);
	},
	combine: {
		key(params) {
			if (!hasNames(params)) return undefined;
			const same = { ...params, values: undefined, columns: undefined, tab: undefined };
			return JSON.stringify({ ...same, range: sentTarget(params) });
		},
		execute: async (clients, members) => await writeRows(clients.sheets, members),
	},
	toItems: (written) => (Array.isArray(written) ? written : [written]).map((one) => ({ json: { ...one } })),
	errors: { 400: rangeAdvice },
});
