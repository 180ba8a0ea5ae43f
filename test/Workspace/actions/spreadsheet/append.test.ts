import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { changed, grid, items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const appendMethod = 'sheets.spreadsheets.batchUpdate';

const typed = { valueInputOption: 'USER_ENTERED' };
const people = grid(['Name', 'Age'], ['Anna', 31]);

const append = async (spreadsheetId: string, range: string, values: unknown[][], more = {}) =>
	await calls.one('append', { spreadsheetId, range, values, ...more });

test('rows are inserted below the table in one request', async () => {
	const spreadsheetId = calls.sheet(people);
	const values = grid(['=1', 1], ['007', true]);
	expect(await append(spreadsheetId, 'Sheet1!A:D', values)).toEqual({
		...changed(spreadsheetId, 'A3:B4', 2, 2, 4),
		tableRange: 'Sheet1!A1:B2',
	});
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	const { requests } = calls.sent.at(-1)?.body as { requests: object[] };
	const kinds = requests.flatMap((request) => Object.keys(request));
	expect(kinds).toEqual(['insertDimension', 'updateCells']);
	expect(calls.stored(spreadsheetId)).toEqual([...people, ...values]);
});

test('the first rows of an empty tab have no table', async () => {
	const appended = await append(calls.sheet(), 'Sheet1', [['a']]);
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A1' });
	expect(appended).not.toHaveProperty('tableRange');
});

describe('one rule says where a table ends', () => {
	const gaps = [['Name', 'Age'], ['Ann', 1], ['Ben', 2], [], ['Cem', 3], ['Dua', 4]];

	test.each([
		['rows of cells', { values: [['Eve', 5]] }],
		['rows as objects', { values: [{ Name: 'Eve', Age: 5 }] }],
		['columns', { valuesSource: 'columns', columns: { Name: 'Eve', Age: 5 } }],
		['as typed', { values: [['Eve', 5]], ...typed }],
		['objects as typed', { values: [{ Name: 'Eve', Age: 5 }], ...typed }],
	])('%s: a blank row inside is inside', async (_name, given) => {
		const spreadsheetId = calls.sheet(gaps);
		const result = await calls.one('append', { spreadsheetId, tab: 'Sheet1', ...given });
		expect(result).toMatchObject({ tableRange: 'Sheet1!A1:B6', updatedRange: 'Sheet1!A7:B7' });
		expect(calls.stored(spreadsheetId)).toEqual([...gaps, ['Eve', 5]]);
	});

	test('Update or Add adds below it, too', async () => {
		const spreadsheetId = calls.sheet(gaps);
		const given = { matchColumns: 'Name', values: [{ Name: 'Eve', Age: 5 }] };
		await calls.run('write', { spreadsheetId, tab: 'Sheet1', ...given });
		expect(calls.stored(spreadsheetId)).toEqual([...gaps, ['Eve', 5]]);
	});

	test('prepared checkboxes are below it, and move down', async () => {
		const prepared = Array.from({ length: 20 }, () => ['', '', false]);
		const table = grid(['Name', 'Age', 'Paid'], ['Ann', 1, false], ['Ben', 2, true]);
		const spreadsheetId = calls.sheet([...table, ...prepared]);
		const values = [{ Name: 'Eve', Age: 5, Paid: false }];
		await calls.one('append', { spreadsheetId, tab: 'Sheet1', values });
		const stored = calls.stored(spreadsheetId).slice(0, 5);
		expect(stored).toEqual([...table, ['Eve', 5, false], ['', '', false]]);
	});

	test('of two tables, one above the other, the range chooses', async () => {
		const other = grid(['Item', 'Price'], ['Pen', 2]);
		const spreadsheetId = calls.sheet([...people, [], ...other]);
		const { updatedRange } = await append(spreadsheetId, 'Sheet1!A1:B2', [['Ben', 42]]);
		expect(updatedRange).toBe('Sheet1!A3:B3');
		expect(calls.stored(spreadsheetId)).toEqual([...people, ['Ben', 42], [], ...other]);
	});

	test('a huge table is read from its end', async () => {
		const rows = Array.from({ length: 60_000 }, (_, at) => [`n${at}`, at]);
		const spreadsheetId = calls.sheet([['Name', 'Age'], ...rows]);
		const { updatedRange } = await append(spreadsheetId, 'Sheet1', [['last', 1]]);
		expect(updatedRange).toBe('Sheet1!A60002:B60002');
		expect(calls.sent[1]?.query['ranges']).toMatch(/^Sheet1!A35\d\d\d:/);
	});

	test('a tab with thousands of empty rows needs one request for its end', async () => {
		const spreadsheetId = calls.sheet(people, 'Sheet1', { rowCount: 7000 });
		await append(spreadsheetId, 'Sheet1', [['last', 1]]);
		expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	});
});

test('a row that stands elsewhere than Google was told is named, and never sent again', async () => {
	const spreadsheetId = calls.sheet([['a', 'b'], ['x', 'y'], [], ['', 'z']]);
	const failure = await catchFailure(append(spreadsheetId, 'Sheet1', [['v', 'w']], typed));
	expect(failure.outcome).toBe('done');
	expect(failure.message).toContain(
		'The rows were appended at Sheet1!B5:C5, but they belong below row 4 in column A',
	);
	expect(calls.writes).toEqual(['values.append']);
});

test('a gap in the first row does not move rows to the right', async () => {
	const appended = await append(calls.sheet([['x', '', 'y']]), 'Sheet1', [[1, 2, 3]]);
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A2:C2' });
});

test('rows for columns in the middle of a table land in them', async () => {
	const spreadsheetId = calls.sheet([['a', 'b', 'c', 'd'], [1, 2, 3, 4], [], ['below']]);
	const all = [[['x', null]], [['y', 'z']]].map((values) => ({
		params: { spreadsheetId, range: 'Sheet1!C:D', values },
		item: testItem(),
	}));
	const told = [{ updatedRange: 'Sheet1!C3' }, { updatedRange: 'Sheet1!C4:D4' }];
	expect(await calls.together('append', all)).toMatchObject(told);
	expect(calls.writes).toEqual(['batchUpdate']);
	const stored = calls.stored(spreadsheetId).slice(2);
	expect(stored).toEqual([['', '', 'x'], ['', '', 'y', 'z'], [], ['below']]);
});

test('USER_ENTERED lets Google interpret and insert in one request', async () => {
	const spreadsheetId = calls.sheet(people);
	await append(spreadsheetId, 'Sheet1', [['=1+1', '5']], typed);
	expect(calls.sent.at(-1)).toMatchObject({
		method: 'values.append',
		query: { insertDataOption: 'INSERT_ROWS', valueInputOption: 'USER_ENTERED' },
		body: { values: [["'=1+1", '5']] },
	});
	expect(calls.stored(spreadsheetId, 'Sheet1!A3:B3')).toEqual([['=1+1', 5]]);
});

test('USER_ENTERED: cells land below their column, whatever stands beside it', async () => {
	const header = ['Name', '', 'Other'];
	const spreadsheetId = calls.sheet([header, ['Anna', '', 'x']]);
	const { updatedRange } = await append(spreadsheetId, 'Sheet1', [['Ben']], typed);
	expect(updatedRange).toBe('Sheet1!A3');
	expect(calls.sent.at(-1)).toMatchObject({ body: { values: [['Ben']] } });
});

test('USER_ENTERED: a row without a value is appended beside a table', async () => {
	const blankRows = Array.from({ length: 10 }, () => []);
	const spreadsheetId = calls.sheet([['a', 'b'], ...blankRows, ['', '', 'z']]);
	const { updatedRange } = await append(spreadsheetId, 'Sheet1!C:D', [[null]], typed);
	expect(updatedRange).toBe('Sheet1!C13');
	expect(calls.sent.at(-1)?.path).toMatch(/Sheet1!C12:append$/);
});

test('USER_ENTERED: a hint says where the rows are if Google puts them below checkboxes', async () => {
	const prepared = Array.from({ length: 9 }, () => ['', false]);
	const spreadsheetId = calls.sheet([['Name', 'Paid'], ['Anna', true], ...prepared]);
	const item = testItem();
	const params = { spreadsheetId, range: 'Sheet1', values: [['Ben', 'TRUE']], ...typed };
	const [appended] = await calls.together('append', [{ params, item }]);
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A12:B12' });
	expect(item.hints).toEqual([
		'Google put the rows from row 12 on, not directly below row 2, because cells between are in use, such as unticked checkboxes.',
	]);
	item.hints.length = 0;
	await calls.together('append', [{ params, item }]);
	expect(item.hints).toEqual([]);
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
		expect(results).toMatchObject([
			{ ...changed(spreadsheetId, 'A3:B3', 1, 2, 2), tableRange: 'Sheet1!A1:B2' },
			changed(spreadsheetId, 'A4:C6', 3, 2, 3),
			{ updatedRange: 'Sheet1!A7:A8', updatedRows: 2, updatedCells: 1 },
		]);
		expect(calls.writes).toEqual(['batchUpdate']);
		const stored = calls.stored(spreadsheetId, 'Sheet1!A3:C8');
		expect(stored).toEqual([['a', 1], ['b'], [], ['c', '', 3], [], ['d']]);
	});

	test('a thousand are one request', async () => {
		const spreadsheetId = calls.sheet(people);
		const rows = Array.from({ length: 1000 }, (_, at) => [[`n${at}`, at]]);
		const all = rows.map((values) => member(spreadsheetId, values));
		const results = await calls.together('append', all);
		expect(results.at(-1)).toMatchObject({ updatedRange: 'Sheet1!A1002:B1002' });
		expect(calls.writes).toEqual(['batchUpdate']);
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
		expect(calls.writes).toEqual(Array.from({ length: 5 }, () => 'batchUpdate'));
		expect(results).toMatchObject([
			{ updatedRange: 'Sheet1!A3:A32' },
			{ updatedRange: 'Sheet1!A33:A62' },
			{ updatedRange: 'Sheet1!A63:A92' },
			{ updatedRange: 'Sheet1!A93:A152' },
			{ updatedRange: 'Sheet1!A153' },
		]);
	});
});

describe('what may have been written is never sent again', () => {
	test.each(['resetAfter', 'resetBefore'] as const)('%s', async (connection) => {
		const spreadsheetId = calls.sheet(people);
		calls.google.fault({ match: appendMethod, connection });
		const params = { spreadsheetId, range: 'Sheet1!A:B', values: [['x']] };
		const all = items({}, {}).map((item) => ({ params, item }));
		const results = await calls.together('append', all);
		const url = `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`;
		const advice = `Check below the table at Sheet1!A:B in ${url}`;
		const unknown = {
			outcome: 'unknown',
			message: expect.stringMatching(/^The rows may have been appended: /) as string,
			description: expect.stringContaining(advice) as string,
		};
		expect(results).toMatchObject([unknown, unknown]);
		expect(calls.writes).toEqual(['batchUpdate']);
		const written = connection === 'resetAfter' ? [['x'], ['x']] : [];
		expect(calls.stored(spreadsheetId)).toEqual([...people, ...written]);
	});

	test('what Google refused is sent again', async () => {
		const spreadsheetId = calls.sheet(people);
		calls.google.fault({ match: appendMethod, status: 429 });
		await append(spreadsheetId, 'Sheet1', [['x']]);
		expect(calls.writes).toEqual(['batchUpdate', 'batchUpdate']);
		expect(calls.stored(spreadsheetId)).toHaveLength(3);
	});
});

test('a range of the header row alone names a table, which may have blank rows', async () => {
	const spreadsheetId = calls.sheet(grid(['Name', 'City'], ['Ann', 'Bern'], [], ['Bob', 'Rom']));
	const values = [{ Name: 'Cem', City: 'Ulm' }];
	const appended = await calls.one('append', { spreadsheetId, range: 'Sheet1!A1:B1', values });
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A5:B5' });
});

test('appends side by side lose no row', async () => {
	const spreadsheetId = calls.sheet(people);
	const all = Array.from({ length: 20 }, (_, at) =>
		append(spreadsheetId, 'Sheet1', [[at], [at]]),
	);
	const ranges = (await Promise.all(all)).map(({ updatedRange }) => updatedRange);
	expect(new Set(ranges).size).toBe(20);
	expect(calls.stored(spreadsheetId)).toHaveLength(42);
});

test('a grid that is full gets new columns once, although the rows need several requests', async () => {
	const spreadsheetId = calls.sheet([['at', 'text']], 'Sheet1', { rowCount: 20, columnCount: 2 });
	const text = 'x'.repeat(45_000);
	const rows = Array.from({ length: 150 }, (_, at) => ({ at, text, more: at }));
	await calls.give('append', { spreadsheetId, range: 'Sheet1', extraColumns: 'add' }, ...rows);
	const sent = JSON.stringify(calls.sent.map(({ body }) => body));
	expect(sent.match(/"dimension":"COLUMNS"/g)).toHaveLength(1);
});
