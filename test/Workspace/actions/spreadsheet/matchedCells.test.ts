// What Write by key does to each cell of a row that it has found.
import { testItem } from '../../client';
import { grid, isoForm, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const byId = { matchColumns: 'Id' };

describe('several changes of one row: the last value of each cell counts', () => {
	const header = ['Id', 'Name', 'Note', 'Day'];
	const changes = [
		{ Id: 1, Note: 'old', Day: 'x' },
		{ Id: 1, Name: 'N', Note: 'new' },
		{ Id: 1, Day: 'y' },
	];
	const expected = grid(header, [1, 'N', 'new', 'y']);

	test.each([
		['a row that is there', 'RAW', grid(header, [1])],
		['a row that is there', 'USER_ENTERED', grid(header, [1])],
		['a row that is added with them', 'RAW', [header]],
		['a row that is added with them', 'USER_ENTERED', [header]],
	])('%s, %s', async (_, valueInputOption, rows) => {
		const { stored } = await calls.change(
			'write',
			rows,
			{ ...byId, valueInputOption },
			...changes,
		);
		expect(stored).toEqual(expected);
	});

	test('among executions that go together', async () => {
		const spreadsheetId = calls.sheet(grid(header, [1]));
		const params = { spreadsheetId, valuesSource: 'columns', ...byId };
		const members = changes.map((json, at) => ({
			params,
			item: { ...testItem({ json }), executionId: `execution-${at}` },
		}));
		await calls.together('write', members);
		expect(calls.stored(spreadsheetId)).toEqual(expected);
	});
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
			const before = calls.cells(spreadsheetId, 'A2:D2');
			const [row] = await calls.rows({ spreadsheetId, ...isoForm });
			const given = { spreadsheetId, valueInputOption: entry, matchColumns };
			const write = async (Note: string) =>
				await calls.one('write', { ...given, values: [{ ...row, Note }] });
			expect(await write('old')).toMatchObject({ action: 'unchanged' });
			expect(await write('new')).toMatchObject({
				action: 'updated',
				updatedRange: 'Sheet1!E2',
			});
			expect(calls.cells(spreadsheetId, 'A2:D2')).toEqual(before);
			expect(calls.stored(spreadsheetId)).toHaveLength(2);
		},
	);
});

test('a text among dates that is another date is no key of theirs', async () => {
	const spreadsheetId = calls.typed(['Id', 'Note'], ['1/5/2024', 'a'], ['1/6/2024', 'b']);
	const values = [{ Id: '2024-01-07', Note: 'new' }];
	const written = await calls.one('write', { spreadsheetId, values, ...byId });
	expect(written).toMatchObject({ action: 'appended' });
	expect(calls.stored(spreadsheetId, 'Sheet1!A4')).toEqual([['2024-01-07']]);
});
