import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const appendMethod = 'sheets.spreadsheets.values.append';

const people = [
	['Name', 'Age'],
	['Anna', 31],
];

test('rows are one native append with INSERT_ROWS, and Google searches the range', async () => {
	const spreadsheetId = calls.sheet(people);
	const values = [
		['=1', 1],
		['007', true],
	];
	expect(await calls.one('append', { spreadsheetId, range: 'Sheet1!A:D', values })).toEqual({
		spreadsheetId,
		tableRange: 'Sheet1!A1:B2',
		updatedRange: 'Sheet1!A3:B4',
		updatedRows: 2,
		updatedColumns: 2,
		updatedCells: 4,
	});
	expect(calls.sent).toEqual([
		{
			method: 'values.append',
			path: `/v4/spreadsheets/${spreadsheetId}/values/Sheet1!A:D:append`,
			query: { valueInputOption: 'RAW', insertDataOption: 'INSERT_ROWS' },
			body: { values },
		},
	]);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([...people, ...values]);
});

test('the first rows of an empty tab have no table', async () => {
	const appended = await calls.one('append', {
		spreadsheetId: calls.sheet(),
		range: 'Sheet1',
		values: [['a']],
	});
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A1' });
	expect(appended).not.toHaveProperty('tableRange');
});

test.each([
	['A:D', 'A:D'],
	['Sheet1!A:D', 'Sheet1!A:D'],
	['Sheet1', 'Sheet1'],
	["'Sheet1'", "'Sheet1'"],
	["'Sheet1'!A:D", "'Sheet1'!A:D"],
	['My Tab', "'My Tab'"],
	['CRM26!B:D', "'CRM26'!B:D"],
	["'Jon''s'!C3:D9", "'Jon''s'!C3:D9"],
	['Sheet1!$B$2', 'Sheet1!$B$2'],
	['Sheet1!5:9', 'Sheet1!5:9'],
])('%s goes out as %s', async (range, sent) => {
	const title = /My Tab|CRM26|Jon/.exec(range)?.[0].replace('Jon', "Jon's") ?? 'Sheet1';
	await calls.one('append', { spreadsheetId: calls.sheet([], title), range, values: [['a']] });
	expect(calls.sent[0]?.path.split('/values/')[1]).toBe(`${sent}:append`);
});

test('a gap in the first row does not move rows to the right', async () => {
	const spreadsheetId = calls.sheet([['x', '', 'y']]);
	const appended = await calls.one('append', {
		spreadsheetId,
		range: 'Sheet1',
		values: [[1, 2, 3]],
	});
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A2:C2' });
});

test('rows for columns in the middle of a table land in them', async () => {
	const spreadsheetId = calls.sheet([['a', 'b', 'c', 'd'], [1, 2, 3, 4], [], ['below']]);
	const params = { spreadsheetId, range: 'Sheet1!C:D' };
	const all = [[['x', null]], [['y', 'z']]].map((values) => ({
		params: { ...params, values },
		item: testItem(),
	}));
	expect(await calls.together('append', all)).toMatchObject([
		{ updatedRange: 'Sheet1!C3:D3' },
		{ updatedRange: 'Sheet1!C4:D4' },
	]);
	expect(calls.methods).toEqual(['values.append', 'values.get', 'values.update']);
	expect(calls.stored(spreadsheetId, 'Sheet1').slice(2)).toEqual([
		['', '', 'x'],
		['', '', 'y', 'z'],
		[],
		['below'],
	]);
});

test('rows that cannot be moved to their columns are named, and never sent again', async () => {
	const spreadsheetId = calls.sheet([['a', 'b', 'c']]);
	calls.google.fault({ match: 'sheets.spreadsheets.values.update', status: 403 });
	const failure = await catchFailure(
		calls.one('append', { spreadsheetId, range: 'Sheet1!C:D', values: [['x']] }),
	);
	expect(failure.message).toContain(
		'The rows were appended at Sheet1!A2, not in column C, and could not be moved',
	);
	expect(failure.outcome).toBe('done');
	expect(calls.methods).toEqual(['values.append', 'values.get', 'values.update']);
});

test('OVERWRITE and USER_ENTERED go out as asked', async () => {
	const spreadsheetId = calls.sheet(people);
	await calls.one('append', {
		spreadsheetId,
		range: 'Sheet1',
		values: [['=1+1', '5']],
		insertDataOption: 'OVERWRITE',
		valueInputOption: 'USER_ENTERED',
	});
	expect(calls.sent.at(-1)).toMatchObject({
		query: { insertDataOption: 'OVERWRITE', valueInputOption: 'USER_ENTERED' },
		body: { values: [["'=1+1", '5']] },
	});
	expect(calls.stored(spreadsheetId, 'Sheet1!A3:B3')).toEqual([['=1+1', 5]]);
});

describe('items with the same target', () => {
	const member = (spreadsheetId: string, values: unknown[][], item = testItem()) => ({
		params: { spreadsheetId, range: 'Sheet1!A:B', values },
		item,
	});

	test('go out in one request, in order, and each gets its own rows', async () => {
		const spreadsheetId = calls.sheet(people);
		const results = await calls.together('append', [
			member(spreadsheetId, [['a', 1]]),
			member(spreadsheetId, [['b'], [null, null], ['c', null, 3]]),
			member(spreadsheetId, [[], ['d']]),
		]);
		expect(results).toEqual([
			{
				spreadsheetId,
				tableRange: 'Sheet1!A1:B2',
				updatedRange: 'Sheet1!A3:B3',
				updatedRows: 1,
				updatedColumns: 2,
				updatedCells: 2,
			},
			expect.objectContaining({
				updatedRange: 'Sheet1!A4:C6',
				updatedRows: 3,
				updatedColumns: 2,
				updatedCells: 4,
			}),
			expect.objectContaining({
				updatedRange: 'Sheet1!A7:A8',
				updatedRows: 2,
				updatedCells: 2,
			}),
		]);
		expect(calls.methods).toEqual(['values.append']);
		expect(calls.stored(spreadsheetId, 'Sheet1!A3:C8')).toEqual([
			['a', 1],
			['b'],
			[],
			['c', '', 3],
			[],
			['d'],
		]);
	});

	test('a thousand are one request', async () => {
		const spreadsheetId = calls.sheet(people);
		const all = Array.from({ length: 1000 }, (_, at) =>
			member(spreadsheetId, [[`n${at}`, at]]),
		);
		const results = await calls.together('append', all);
		expect(results.at(-1)).toMatchObject({ updatedRange: 'Sheet1!A1002:B1002' });
		expect(calls.methods).toEqual(['values.append']);
	});

	test('are chunked at 2 MB, an item stays whole', async () => {
		const spreadsheetId = calls.sheet(people);
		const text = 'x'.repeat(49_990);
		const large = Array.from({ length: 30 }, () => [text]);
		const results = await calls.together('append', [
			...[0, 1, 2].map(() => member(spreadsheetId, large)),
			member(spreadsheetId, [...large, ...large]),
			member(spreadsheetId, [['last']]),
		]);
		expect(calls.methods).toEqual(Array.from({ length: 5 }, () => 'values.append'));
		expect(results.map((result) => (result as { updatedRange: string }).updatedRange)).toEqual([
			'Sheet1!A3:A32',
			'Sheet1!A33:A62',
			'Sheet1!A63:A92',
			'Sheet1!A93:A152',
			'Sheet1!A153',
		]);
	});

	test('behind a request that failed nothing goes out', async () => {
		const spreadsheetId = calls.sheet(people);
		const large = Array.from({ length: 30 }, () => ['x'.repeat(49_990)]);
		calls.google.fault({ match: appendMethod, status: 403, nth: 2 });
		const results = await calls.together(
			'append',
			[0, 1, 2].map(() => member(spreadsheetId, large)),
		);
		expect(results).toMatchObject([
			{ updatedRange: 'Sheet1!A3:A32' },
			{ code: 403 },
			{
				code: 403,
				message: expect.stringMatching(
					/^Not sent, because the previous rows were not written/,
				) as string,
			},
		]);
		expect(calls.methods).toHaveLength(2);
	});

	test('differ by spreadsheet, range and options, not by values', () => {
		const given = { spreadsheetId: 'id', range: 'My Tab!A:B', values: [[1]] };
		const key = (more: object) => calls.key('append', { ...given, ...more });
		expect(key({ values: [[2]] })).toBe(key({ range: "'My Tab'!A:B" }));
		for (const more of [
			{ spreadsheetId: 'x' },
			{ range: 'A:B' },
			{ insertDataOption: 'OVERWRITE' },
		]) {
			expect(key(more)).not.toBe(key({}));
		}
	});

	test('one that no cell can hold is refused before anything is sent', async () => {
		const spreadsheetId = calls.sheet(people);
		const all = [member(spreadsheetId, [['a']]), member(spreadsheetId, [[NaN]])];
		expect((await catchFailure(calls.together('append', all))).message).toBe(
			"Row 1, column 1 of 'values' is NaN",
		);
		expect(calls.sent).toEqual([]);
	});
});

describe('what may have been written is never sent again', () => {
	test.each(['resetAfter', 'resetBefore'] as const)('%s', async (connection) => {
		const spreadsheetId = calls.sheet(people);
		calls.google.fault({ match: appendMethod, connection });
		const all = items({}, {}).map((item) => ({
			params: { spreadsheetId, range: 'Sheet1!A:B', values: [['x']] },
			item,
		}));
		const results = await calls.together('append', all);
		const unknown = {
			outcome: 'unknown',
			message: expect.stringMatching(/^The rows may have been appended: /) as string,
			description: expect.stringContaining(
				`Check below the table at Sheet1!A:B in https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`,
			) as string,
		};
		expect(results).toMatchObject([unknown, unknown]);
		expect(calls.methods).toEqual(['values.append']);
		const written = connection === 'resetAfter' ? [['x'], ['x']] : [];
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([...people, ...written]);
	});

	test('what Google refused is sent again', async () => {
		const spreadsheetId = calls.sheet(people);
		calls.google.fault({ match: appendMethod, status: 429 });
		await calls.one('append', { spreadsheetId, range: 'Sheet1', values: [['x']] });
		expect(calls.methods).toEqual(['values.append', 'values.append']);
		expect(calls.stored(spreadsheetId, 'Sheet1')).toHaveLength(3);
	});
});

test('appends side by side lose no row', async () => {
	const spreadsheetId = calls.sheet(people);
	const all = Array.from({ length: 20 }, (_, at) =>
		calls.one('append', { spreadsheetId, range: 'Sheet1', values: [[at], [at]] }),
	);
	const ranges = (await Promise.all(all)).map(({ updatedRange }) => updatedRange);
	expect(new Set(ranges).size).toBe(20);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toHaveLength(42);
});
