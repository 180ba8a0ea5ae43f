// What Write by key does to each cell of a row that it has found.
import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { grid, isoForm, SheetCalls } from './sheetCalls';

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

describe.each(['RAW', 'USER_ENTERED'])('dates in ISO 8601 as Read gives them, %s', (entry) => {
	const days = ['1/5/2024', '2024-01-05 10:30:00', '10:30'];
	const table = [
		['Id', 'Day', 'At', 'Time', 'Note'],
		['a', ...days, 'old'],
	];

	test.each(['Day', 'At', 'Time', 'Day, At', 'Id', 'rowNumber'])(
		'by %s',
		async (matchColumns) => {
			const spreadsheetId = calls.typed(...table);
			const before = calls.google.sheets.cells(spreadsheetId, 'Sheet1!A2:D2');
			const [row] = await calls.rows({ spreadsheetId, ...isoForm });
			const given = { spreadsheetId, tab: 'Sheet1', valueInputOption: entry, matchColumns };
			const rowsOf = (Note: string) => ({ ...given, values: [{ ...row, Note }] });
			expect(await calls.one('write', rowsOf('old'))).toMatchObject({ action: 'unchanged' });
			const written = await calls.one('write', rowsOf('new'));
			expect(written).toMatchObject({ action: 'updated', updatedRange: 'Sheet1!E2' });
			expect(calls.google.sheets.cells(spreadsheetId, 'Sheet1!A2:D2')).toEqual(before);
			expect(calls.stored(spreadsheetId)).toHaveLength(2);
		},
	);
});

test('a text among dates that is another date is no key of theirs', async () => {
	const spreadsheetId = calls.typed(['Id', 'Note'], ['1/5/2024', 'a'], ['1/6/2024', 'b']);
	const values = [{ Id: '2024-01-07', Note: 'new' }];
	const written = await calls.one('write', {
		...{ spreadsheetId, tab: 'Sheet1', values, matchColumns: 'Id' },
	});
	expect(written).toMatchObject({ action: 'appended' });
	expect(calls.stored(spreadsheetId, 'Sheet1!A4')).toEqual([['2024-01-07']]);
});
