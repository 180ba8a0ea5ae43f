import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { changed, grid, items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const typed = { valueInputOption: 'USER_ENTERED' };
const people = grid(['Name', 'Age'], ['Anna', 31]);

const append = async (spreadsheetId: string, range: string, values: unknown[][], more = {}) =>
	await calls.one('append', { spreadsheetId, range, values, ...more });

test('rows are inserted below the table in one request', async () => {
	const values = grid(['=1', 1], ['007', true]);
	const given = { range: 'Sheet1!A:D', values };
	const { spreadsheetId, told, stored } = await calls.change('append', people, given);
	const tableRange = 'Sheet1!A1:B2';
	expect(told).toEqual([{ ...changed(spreadsheetId, 'A3:B4', 2, 2, 4), tableRange }]);
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	const { requests } = calls.sent.at(-1)?.body as { requests: object[] };
	const kinds = requests.flatMap((request) => Object.keys(request));
	expect(kinds).toEqual(['insertDimension', 'updateCells']);
	expect(stored).toEqual([...people, ...values]);
});

test('the first rows of an empty tab have no table', async () => {
	const appended = await append(calls.sheet(), 'Sheet1', [['a']]);
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A1' });
	expect(appended).not.toHaveProperty('tableRange');
});

describe('one rule says where a table ends', () => {
	const gaps = [['Name', 'Age'], ['Ann', 1], ['Ben', 2], [], ['Cem', 3], ['Dua', 4]];
	const eve = { Name: 'Eve', Age: 5 };

	test.each([
		['append', 'rows of cells', { values: [['Eve', 5]] }],
		['append', 'rows as objects', { values: [eve] }],
		['append', 'columns', { valuesSource: 'columns', columns: eve }],
		['append', 'rows as typed', { values: [['Eve', 5]], ...typed }],
		['append', 'objects as typed', { values: [eve], ...typed }],
		['append', 'rows below a range of the header', { values: [eve], range: 'Sheet1!A1:B1' }],
		['write', 'rows by key', { values: [eve], matchColumns: 'Name' }],
	] as const)('%s %s: a blank row inside is inside', async (name, _what, given) => {
		const { told, stored } = await calls.change(name, gaps, given);
		expect(told).toMatchObject([{ updatedRange: 'Sheet1!A7:B7' }]);
		expect(stored).toEqual([...gaps, ['Eve', 5]]);
	});

	test('prepared checkboxes are below it, and move down', async () => {
		const prepared = Array.from({ length: 20 }, () => ['', '', false]);
		const table = grid(['Name', 'Age', 'Paid'], ['Ann', 1, false], ['Ben', 2, true]);
		const values = [{ ...eve, Paid: false }];
		const { stored } = await calls.change('append', [...table, ...prepared], { values });
		expect(stored.slice(0, 5)).toEqual([...table, ['Eve', 5, false], ['', '', false]]);
	});

	test('of two tables, one above the other, the range chooses', async () => {
		const other = grid(['Item', 'Price'], ['Pen', 2]);
		const given = { range: 'Sheet1!A1:B2', values: [['Ben', 42]] };
		const { stored } = await calls.change('append', [...people, [], ...other], given);
		expect(stored).toEqual([...people, ['Ben', 42], [], ...other]);
	});

	test.each([
		['a table of 60,000 rows is read from its end', 60_000, 60_001, /^Sheet1!A35\d\d\d:/],
		['a tab with thousands of empty rows is read once', 1, 7000, /^Sheet1!A2:/],
	])('%s', async (_name, height, rowCount, read) => {
		const rows = Array.from({ length: height }, (_, at) => [`n${at}`, at]);
		const spreadsheetId = calls.sheet([['Name', 'Age'], ...rows], 'Sheet1', { rowCount });
		const { updatedRange } = await append(spreadsheetId, 'Sheet1', [['last', 1]]);
		expect(updatedRange).toBe(`Sheet1!A${height + 2}:B${height + 2}`);
		expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
		expect(calls.sent[1]?.query['ranges']).toMatch(read);
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

describe('as typed', () => {
	test('Google interprets and inserts rows in one request', async () => {
		const spreadsheetId = calls.sheet(people);
		await append(spreadsheetId, 'Sheet1', [['=1+1', '5']], typed);
		expect(calls.sent.at(-1)).toMatchObject({
			method: 'values.append',
			query: { insertDataOption: 'INSERT_ROWS', valueInputOption: 'USER_ENTERED' },
			body: { values: [["'=1+1", '5']] },
		});
		expect(calls.stored(spreadsheetId, 'Sheet1!A3:B3')).toEqual([['=1+1', 5]]);
	});

	test('cells land below their column, whatever stands beside it', async () => {
		const spreadsheetId = calls.sheet(grid(['Name', '', 'Other'], ['Anna', '', 'x']));
		const { updatedRange } = await append(spreadsheetId, 'Sheet1', [['Ben']], typed);
		expect(updatedRange).toBe('Sheet1!A3');
		expect(calls.sent.at(-1)).toMatchObject({ body: { values: [['Ben']] } });
	});

	test('a row without a value is appended beside a table', async () => {
		const blankRows = Array.from({ length: 10 }, () => []);
		const spreadsheetId = calls.sheet([['a', 'b'], ...blankRows, ['', '', 'z']]);
		const { updatedRange } = await append(spreadsheetId, 'Sheet1!C:D', [[null]], typed);
		expect(updatedRange).toBe('Sheet1!C13');
		expect(calls.sent.at(-1)?.path).toMatch(/Sheet1!C12:append$/);
	});

	test('the result says where the rows are if Google puts them below checkboxes', async () => {
		const prepared = Array.from({ length: 9 }, () => ['', false]);
		const spreadsheetId = calls.sheet([['Name', 'Paid'], ['Anna', true], ...prepared]);
		const appended = await append(spreadsheetId, 'Sheet1', [['Ben', 'TRUE']], typed);
		expect(appended).toMatchObject({ updatedRange: 'Sheet1!A12:B12' });
		expect(calls.stored(spreadsheetId, 'Sheet1!A12:B12')).toEqual([['Ben', true]]);
	});
});

describe('items with the same target', () => {
	const member = (spreadsheetId: string, values: unknown[][], range = 'Sheet1!A:B') => ({
		params: { spreadsheetId, range, values },
		item: testItem(),
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

	test('and columns in the middle of a table land in them', async () => {
		const spreadsheetId = calls.sheet([['a', 'b', 'c', 'd'], [1, 2, 3, 4], [], ['below']]);
		const results = await calls.together('append', [
			member(spreadsheetId, [['x', null]], 'Sheet1!C:D'),
			member(spreadsheetId, [['y', 'z']], 'Sheet1!C:D'),
		]);
		const told = [{ updatedRange: 'Sheet1!C3' }, { updatedRange: 'Sheet1!C4:D4' }];
		expect(results).toMatchObject(told);
		expect(calls.writes).toEqual(['batchUpdate']);
		const stored = calls.stored(spreadsheetId).slice(2);
		expect(stored).toEqual([['', '', 'x'], ['', '', 'y', 'z'], [], ['below']]);
	});

	test('are chunked at 2 MB, an item stays whole', async () => {
		const spreadsheetId = calls.sheet(people);
		const large = Array.from({ length: 30 }, () => ['x'.repeat(49_990)]);
		const results = await calls.together('append', [
			...[0, 1, 2].map(() => member(spreadsheetId, large)),
			member(spreadsheetId, [...large, ...large]),
			member(spreadsheetId, [['last']]),
		]);
		expect(calls.writes).toEqual(Array.from({ length: 5 }, () => 'batchUpdate'));
		const ranges = ['A3:A32', 'A33:A62', 'A63:A92', 'A93:A152', 'A153'];
		expect(results).toMatchObject(ranges.map((range) => ({ updatedRange: `Sheet1!${range}` })));
	});

	test.each([
		['resetAfter', [['x'], ['x']]],
		['resetBefore', []],
	] as const)(
		'are never sent again if they may have been written: %s',
		async (connection, written) => {
			const spreadsheetId = calls.sheet(people);
			calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', connection });
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
			expect(calls.stored(spreadsheetId)).toEqual([...people, ...written]);
		},
	);
});

test('a grid that is full gets new columns once, although the rows need several requests', async () => {
	const spreadsheetId = calls.sheet([['at', 'text']], 'Sheet1', { rowCount: 20, columnCount: 2 });
	const text = 'x'.repeat(45_000);
	const rows = Array.from({ length: 150 }, (_, at) => ({ at, text, more: at }));
	await calls.give('append', { spreadsheetId, extraColumns: 'add' }, ...rows);
	const sent = JSON.stringify(calls.sent.map(({ body }) => body));
	expect(sent.match(/"dimension":"COLUMNS"/g)).toHaveLength(1);
});
