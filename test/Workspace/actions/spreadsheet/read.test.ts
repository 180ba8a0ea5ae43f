import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../../../createExecuteContext';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { grid, isoForm, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const people = grid(['Name', 'Age'], ['Anna', 31], ['Ben', 42]);

test('values of a range are one request', async () => {
	const spreadsheetId = calls.sheet(people);
	const read = await calls.one('read', { spreadsheetId, range: 'Sheet1!A1:B9' });
	const values = grid(['Name', 'Age'], ['Anna', '31'], ['Ben', '42']);
	expect(read).toEqual({ range: 'Sheet1!A1:B9', majorDimension: 'ROWS', values });
	const query = {
		majorDimension: 'ROWS',
		valueRenderOption: 'FORMATTED_VALUE',
		dateTimeRenderOption: 'SERIAL_NUMBER',
	};
	const path = `/v4/spreadsheets/${spreadsheetId}/values/Sheet1!A1:B9`;
	expect(calls.sent).toEqual([{ method: 'values.get', path, query, body: undefined }]);
});

test('an empty range has no values but the key', async () => {
	const read = await calls.one('read', { spreadsheetId: calls.sheet(), range: 'Sheet1' });
	expect(read).toEqual({ range: 'Sheet1!A1:Z1000', majorDimension: 'ROWS', values: [] });
});

test('a named range', async () => {
	const tabs = [{ title: 'Sheet1' }, { title: 'My Tab', rows: people }];
	const spreadsheetId = calls.book(tabs, { namedRanges: { staff: "'My Tab'!A1:B2" } });
	const rows = await calls.rows({ spreadsheetId, range: 'staff' });
	expect(rows).toEqual([{ Name: 'Anna', Age: '31', rowNumber: 2 }]);
});

describe('rows', () => {
	const rows = async (values: unknown[][], range = 'Sheet1', more = {}) =>
		await calls.rows({ spreadsheetId: calls.sheet(values), range, ...more });

	test('one item each, with the number of the row in the sheet', async () => {
		expect(await rows(people)).toEqual([
			{ Name: 'Anna', Age: '31', rowNumber: 2 },
			{ Name: 'Ben', Age: '42', rowNumber: 3 },
		]);
	});

	test('numbers of rows are absolute, headers count inside the range', async () => {
		const table = [[], [], ['', '', 'title'], ['', '', 'A', 'B'], [], ['', '', 1]];
		expect(await rows(table, 'Sheet1!C3:E7', { headerRow: 2 })).toEqual([
			{ A: '1', B: '', rowNumber: 6 },
		]);
	});

	test('blank rows are skipped, ragged ones filled, cells beyond the header named by their column', async () => {
		expect(await rows([['a', 'b'], ['1'], [], ['', ''], ['2', '', '3']])).toEqual([
			{ a: '1', b: '', C: '', rowNumber: 2 },
			{ a: '2', b: '', C: '3', rowNumber: 5 },
		]);
	});

	test('headers that are empty, repeated or reserved', async () => {
		const header = [
			...['x', '', 'x', 'x_2', 'x', 'rowNumber', 'error', '__proto__', 'constructor'],
			...['a', 'a ', '\u00a0a', '', 'M'],
		];
		const [row] = await rows([header, header.map((_, at) => String(at))]);
		expect(Object.keys(row ?? {})).toEqual([
			...['x', 'B', 'x_2', 'x_2_2', 'x_3', 'rowNumber_2', 'error_2', '__proto___2'],
			...['constructor', 'a', 'a_2', 'a_3', 'M', 'M_2', 'rowNumber'],
		]);
		expect(row?.['rowNumber']).toBe(2);
	});

	test('without a header columns are named by their letters', async () => {
		const found = await rows([['a', 'b']], 'Sheet1!A1:B2', { headerRow: 0 });
		expect(found).toEqual([{ A: 'a', B: 'b', rowNumber: 1 }]);
	});

	test.each([2024, true, '=1+1'])('one cell that holds %j is a header', async (cell) => {
		const spreadsheetId = calls.typed(['a', 'b'], ['c', cell]);
		const given = { spreadsheetId, range: 'Sheet1!B2', valueRenderOption: 'FORMULA' };
		expect(await calls.rows(given)).toEqual([]);
		expect(calls.sent.at(-1)?.path).toMatch(/Sheet1!B2$/);
		expect(calls.methods).toEqual(['values.get', 'values.get']);
	});

	test('what the sheet shows for a header is fetched without the rows', async () => {
		const spreadsheetId = calls.typed(['', 2024], ['x', 1], ['y', 2]);
		expect(await calls.rows({ spreadsheetId, range: 'Sheet1', ...isoForm })).toMatchObject([
			{ '2024': 1 },
			{ '2024': 2 },
		]);
		expect(calls.sent.at(-1)?.path).toMatch(/Sheet1!A1:B1$/);
	});

	test('a header row below the data', async () => {
		expect(await rows(people, 'Sheet1', { headerRow: 9 })).toEqual([]);
	});

	const unformatted = { valueRenderOption: 'UNFORMATTED_VALUE' };
	const formatted = { ...unformatted, dateTimeRenderOption: 'FORMATTED_STRING' };

	test.each([
		[unformatted, { n: 2, d: 43831 }],
		[{ valueRenderOption: 'FORMULA' }, { n: '=4/2', d: 43831 }],
		[formatted, { n: 2, d: '2020-01-01' }],
	])('numbers, dates and formulas as asked for: %j', async (form, row) => {
		const spreadsheetId = calls.typed(['n', 'd'], ['=4/2', '2020-01-01']);
		expect(await calls.rows({ spreadsheetId, ...form })).toEqual([{ ...row, rowNumber: 2 }]);
	});
});

test('equal reads of one run are asked once, each item reads its own spreadsheet', async () => {
	const first = calls.sheet(people);
	const second = calls.sheet([['other']]);
	const item = testItem();
	for (const spreadsheetId of [first, second, first]) {
		await calls.one('read', { spreadsheetId, range: 'Sheet1' }, item);
	}
	await calls.run('read', { spreadsheetId: first, range: ' Sheet1 ', output: 'rows' }, item);
	expect(calls.sent.map(({ path }) => path.split('/')[3])).toEqual([first, second]);
});

describe('filters', () => {
	const table = [
		['Name', 'Sum', 'Share', 'Done', 'Done'],
		['Anna', 1234.5, '12%', true, ''],
		['Ben', 7, '50%', false, 'x'],
		['anna', '', '', '', ''],
	];
	const names = async (filters: unknown, more: object = {}) => {
		const given = { spreadsheetId: calls.typed(...table), filters, ...more };
		return (await calls.rows(given)).map((row) => row['Name']);
	};
	const by = (column: string, condition: string, value: unknown = '') => [
		{ column, condition, value },
	];

	test.each([
		['filters', by('Name', 'equals', 'Anna')],
		['maxRows', 1],
	])('without rows, %s are refused', async (name, value) => {
		const given = { spreadsheetId: '1abc', [name]: value };
		const { code, message } = await calls.refusal('read', given);
		const only = "'filters' and 'maxRows' can only be used if 'output' is rows";
		expect([code, message]).toEqual([400, only]);
	});

	test.each<[unknown, string[]]>([
		[by('Name', 'equals', ' ANNA'), ['Anna', 'anna']],
		[by('Name', 'notEquals', 'Anna'), ['Ben']],
		[by('Name', 'contains', 'AN'), ['Anna', 'anna']],
		[by('Name', 'notContains', 'AN'), ['Ben']],
		[by('Name', 'startsWith', 'be'), ['Ben']],
		[by('Sum', 'greaterThan', 7), ['Anna']],
		[by('Sum', 'greaterThan', '-1.5'), ['Anna', 'Ben']],
		[by('Sum', 'lessThan', 8), ['Ben']],
		[by('Name', 'lessThan', 8), []],
		[by('Sum', 'isEmpty'), ['anna']],
		[[{ column: 'Sum', condition: 'isEmpty' }], ['anna']],
		[by('Name', 'contains', ''), ['Anna', 'Ben', 'anna']],
		[by('Sum', 'isNotEmpty'), ['Anna', 'Ben']],
		[by('Share', 'equals', '12%'), ['Anna']],
		[by('Share', 'equals', 0.12), ['Anna']],
		[by('Done', 'equals', true), ['Anna']],
		[by('Done_2', 'equals', 'x'), ['Ben']],
		[[...by('Name', 'contains', 'an'), ...by('Done', 'equals', 'TRUE')], ['Anna']],
		[{ filter: by('Name', 'equals', 'Ben') }, ['Ben']],
		[{}, ['Anna', 'Ben', 'anna']],
	])('%j', async (filters, expected) => {
		expect(await names(filters, { valueRenderOption: 'UNFORMATTED_VALUE' })).toEqual(expected);
	});

	test('one of several is enough where any condition must match, and rows are counted after filtering', async () => {
		const either = [...by('Name', 'equals', 'Ben'), ...by('Name', 'equals', 'anna')];
		expect(await names(either, { matchType: 'anyCondition' })).toEqual(['Anna', 'Ben', 'anna']);
		expect(await names(either, { matchType: 'anyCondition', maxRows: 1 })).toEqual(['Anna']);
		expect(await names([], { maxRows: 2 })).toEqual(['Anna', 'Ben']);
	});

	test.each([
		[[], {}],
		[[['Name', 'Age']], {}],
		[[], { range: 'Sheet1!A:B' }],
		[[['Name', 'Age']], { range: 'Sheet1!A:B' }],
	])('a tab without rows is no mistake: %j, %j', async (rows, more) => {
		const item = testItem();
		expect(await calls.rows({ spreadsheetId: calls.sheet(rows), ...more }, item)).toEqual([]);
		expect(item.hints).toEqual([]);
	});

	// In the empty tab, the first Append or Write makes the column.
	test.each([[people], [[]]])('no match in %j gives no item and a hint', async (rows) => {
		const item = testItem();
		const given = { spreadsheetId: calls.sheet(rows), filters: by('Name', 'equals', 'Zoe') };
		expect(await calls.rows(given, item)).toEqual([]);
		expect(item.hints).toEqual([expect.stringContaining('No row matches the filters')]);
	});

	test.each([
		[by('Town', 'equals', 'x'), "The table has no column 'Town' to filter by"],
		[by('Name', 'like', 'x'), "'filters' must be objects with column"],
		[by('Name', 'greaterThan', '5.1.2024'), 'neither a number nor a date'],
		[by('Name', 'lessThan', ''), 'neither a number nor a date'],
		[[{ column: 'Name', operator: 'contains', value: 'x' }], "'operator' is not allowed"],
		[[{ column: 'Name', condition: 'contains' }], 'and value (text)'],
		[by('Name', 'equals', null), 'and value (text)'],
		['x', "'filters' must be an array of objects"],
		[by('Name', 'equals', 'x')[0], "'filters' must be an array of objects"],
	])('%j is refused', async (filters, message) => {
		expect((await catchFailure(names(filters))).message).toContain(message);
	});
});

test('a filter of the form whose expression has no value is refused', async () => {
	const filter = [{ column: 'Name', condition: 'contains', value: '={{ $json.missing }}' }];
	const running = calls.form('read', calls.sheet(people), { filters: { filter } });
	const failure = await failureOf(running);
	expect(failure.message).toContain("'Filters' compares 'Name' with undefined");
	expect(failure.description).toContain('check that the input item contains the data');
	expect(calls.sent).toEqual([]);
});

test.each<[string, IDataObject]>([
	['whose column was not chosen', { column: '', condition: 'isNotEmpty' }],
	['whose column is an expression without a value', { column: '={{ $json.missing }}' }],
	['whose column and value have none', { column: "={{ '' }}", value: "={{ '' }}" }],
])('a filter of the form %s does not let all rows through', async (_, given) => {
	const filter = [{ condition: 'equals', value: '', ...given }];
	const running = calls.form('read', calls.sheet(people), { filters: { filter } });
	await expect(running).rejects.toThrow("'Filters' has a filter without a column");
	expect(calls.sent).toEqual([]);
});

test('rows that are far wider than what they hold are refused', async () => {
	const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount: 2000, columnCount: 4000 });
	const header = Array.from({ length: 4000 }, (_, at) => `h${at}`);
	const narrow = Array.from({ length: 1900 }, () => ['x']);
	calls.google.sheets.enter(spreadsheetId, 'Sheet1!A1', [header, ...narrow]);
	const failure = await calls.failure('read', { spreadsheetId, output: 'rows' });
	expect(failure.message).toContain('The rows have 4000 columns');
	expect(await calls.rows({ spreadsheetId, maxRows: 3 })).toHaveLength(3);
	expect(await calls.rows({ spreadsheetId, range: 'Sheet1!A:C' })).toHaveLength(1900);
});

test('n8n does other work while many wide rows become items', async () => {
	const [height, width] = [60, 18_278];
	const row = Array<string>(width).fill('x');
	const spreadsheetId = calls.sheet(Array.from({ length: height }, () => row));
	let turns = 0;
	let counting = true;
	const count = () => {
		turns++;
		if (counting) setImmediate(count);
	};
	// From Google's answer on.
	const item = Object.assign(testItem(), {
		doOnce: async (_key: string, ask: () => Promise<unknown>) => {
			const answer = await ask();
			setImmediate(count);
			return answer;
		},
	});
	const read = await calls.rows({ spreadsheetId, range: 'Sheet1', headerRow: 0 }, item);
	counting = false;
	expect(read).toHaveLength(height);
	expect(turns).toBeGreaterThanOrEqual((height * width) / 200_000);
});

test.each([
	['rows', {}, 'UNFORMATTED_VALUE', 'SERIAL_NUMBER'],
	['values', {}, 'FORMATTED_VALUE', 'SERIAL_NUMBER'],
	['values', { valueRenderOption: 'UNFORMATTED_VALUE' }, 'UNFORMATTED_VALUE', 'SERIAL_NUMBER'],
	['rows', { valueRenderOption: 'FORMULA' }, 'FORMULA', 'SERIAL_NUMBER'],
])('the form reads %s with %j as %s, %s', async (output, options, values, dates) => {
	await calls.form('read', calls.sheet([['Name'], ['Anna']]), { output, options });
	expect(calls.sent.map(({ query }) => query)).toEqual([
		expect.objectContaining({ valueRenderOption: values, dateTimeRenderOption: dates }),
	]);
});
