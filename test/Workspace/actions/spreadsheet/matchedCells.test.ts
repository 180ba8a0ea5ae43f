// What Write by key does to each cell of a row that it has found.
import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { grid, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const write = async (params: Record<string, unknown>, ...all: IDataObject[]) =>
	await calls.give('write', { matchColumns: 'Id', ...params }, ...all);

describe.each(['RAW', 'USER_ENTERED'])('several changes of one row, %s', (valueInputOption) => {
	const header = ['Id', 'Name', 'Note', 'Day'];
	const changes = [
		{ Id: 1, Note: 'old', Day: 'x' },
		{ Id: 1, Name: 'N', Note: 'new' },
		{ Id: 1, Day: 'y' },
	];

	test.each([
		['a row that is there', grid(header, [1])],
		['a row that is added with them', [header]],
	])('of %s: the last value of each cell counts', async (_, rows) => {
		const spreadsheetId = calls.sheet(rows);
		await write({ spreadsheetId, valueInputOption }, ...changes);
		expect(calls.stored(spreadsheetId)).toEqual(grid(header, [1, 'N', 'new', 'y']));
	});
});

test('the last value of each cell counts among executions that go together', async () => {
	const spreadsheetId = calls.sheet(grid(['Id', 'Name', 'Note'], [1]));
	const params = { spreadsheetId, tab: 'Sheet1', valuesSource: 'columns', matchColumns: 'Id' };
	const all = [
		{ Id: 1, Note: 'old' },
		{ Id: 1, Name: 'N', Note: 'new' },
	];
	const members = all.map((json, at) => ({
		params,
		item: { ...testItem({ json }), executionId: `execution-${at}` },
	}));
	await calls.together('write', members);
	expect(calls.stored(spreadsheetId).slice(1)).toEqual([[1, 'N', 'new']]);
});
