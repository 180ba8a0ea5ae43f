// Tables made with Format > Convert to table: rows that are added belong to them.
import type { TableSeed } from '../../../../dev/google/sheets/service';
import { grid, items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const rows = grid(['Task', 'Hours'], ['a', 1], ['b', 2]);

function withTable(
	{ range = 'A1:B3', hasFooter }: Partial<TableSeed> = {},
	below: unknown[][] = [],
): string {
	const tables = [{ name: 'Tasks', range, hasFooter }];
	return calls.book([{ title: 'Sheet1', rows: [...rows, ...below], tables }]);
}

const tables = (spreadsheetId: string) => calls.google.sheets.tables(spreadsheetId);

const keyed = async (
	spreadsheetId: string,
	params: object,
	...all: Array<Record<string, unknown>>
) =>
	await calls.give(
		'write',
		{
			spreadsheetId,
			valuesSource: 'columns',
			tab: 'Sheet1',
			matchColumns: 'Task',
			...params,
		},
		...(all as never[]),
	);

describe('append', () => {
	const append = async (spreadsheetId: string, params: object) =>
		await calls.one(
			'append',
			{ spreadsheetId, tab: 'Sheet1', ...params },
			items({ Task: 'c', Hours: 3 })[0],
		);
	const json = { valuesSource: 'json', values: [['c', 3]] };

	test.each<[string, object]>([
		['items', { valuesSource: 'columns' }],
		['rows', json],
		['rows in the columns of the table', { ...json, range: 'A:B' }],
		['rows in the cells of the header', { ...json, range: 'A1:B1' }],
		['rows as typed', { ...json, valueInputOption: 'USER_ENTERED' }],
	])('%s: the table grows', async (_name, params) => {
		const id = withTable();
		expect(await append(id, params)).toMatchObject({ updatedRange: 'Sheet1!A4:B4' });
		expect(calls.stored(id)).toEqual([...rows, ['c', 3]]);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B4' });
	});

	test('what stands below the table stays whole, and is not in it', async () => {
		const id = withTable({}, [['Total', 3]]);
		await append(id, { valuesSource: 'columns', headerRow: 1, range: 'A1:B1' });
		expect(calls.stored(id)).toEqual([...rows, ['c', 3], ['Total', 3]]);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B4' });
	});
});

describe('write with match columns', () => {
	test('a new column that is not beside the table is not in it, in however many requests', async () => {
		const tables = [{ name: 'Tasks', range: 'A1:B3' }];
		const beside = rows.map((row, at) => [...row, at === 0 ? 'Other' : 'o']);
		const id = calls.book([{ title: 'Sheet1', rows: beside, tables }]);
		const long = 'x'.repeat(40_000);
		const all = Array.from({ length: 60 }, (_, at) => ({ Task: `t${at}`, Note: long }));
		await keyed(id, { extraColumns: 'add' }, ...all);
		expect(calls.methods.filter((method) => method === 'batchUpdate').length).toBeGreaterThan(
			1,
		);
		expect(calls.google.sheets.tables(id)).toEqual({ Tasks: 'Sheet1!A1:B63' });
	});

	test.each<[string, object]>([
		['stored', {}],
		['as typed', { valueInputOption: 'USER_ENTERED' }],
	])('new rows are in the table, whatever stands below it (%s)', async (_name, params) => {
		const id = withTable({}, [[], ['b', 'of another table']]);
		const written = await keyed(id, params, { Task: 'b', Hours: 5 }, { Task: 'c', Hours: 3 });
		expect(written).toMatchObject([
			{ action: 'updated', updatedRange: 'Sheet1!B3' },
			{ action: 'appended', updatedRange: 'Sheet1!A4:B4' },
		]);
		expect(calls.stored(id)).toEqual([
			...rows.slice(0, 2),
			['b', 5],
			['c', 3],
			[],
			['b', 'of another table'],
		]);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B4' });
	});

	test('new rows go above the footer, whose cells are no keys', async () => {
		const id = withTable({ range: 'A1:B4', hasFooter: true }, [['Total', 3]]);
		const written = await keyed(id, {}, { Task: 'Total', Hours: 9 }, { Task: 'c', Hours: 3 });
		expect(written).toMatchObject([{ action: 'appended' }, { action: 'appended' }]);
		expect(calls.stored(id)).toEqual([...rows, ['Total', 9], ['c', 3], ['Total', 3]]);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B6' });
	});

	test('rows that need several requests are all in it', async () => {
		const id = withTable();
		const text = 'x'.repeat(20_000);
		const many = Array.from({ length: 120 }, (_, n) => ({ Task: `n${n}`, Hours: text }));
		await keyed(id, {}, ...many);
		expect(calls.methods.filter((method) => method === 'batchUpdate').length).toBeGreaterThan(
			1,
		);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B123' });
		expect(calls.stored(id, 'Sheet1!A123')).toEqual([['n119']]);
	});

	test('a table that ends where the tab ends grows, too', async () => {
		const id = calls.book([
			{ title: 'Sheet1', rows, rowCount: 3, tables: [{ name: 'Tasks', range: 'A1:B3' }] },
		]);
		await keyed(id, {}, { Task: 'c', Hours: 3 });
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B4' });
	});

	test.each<[Array<Record<string, unknown>>, string]>([
		[[{ Task: 'x', Hours: 1, Who: 'Ann' }, { Task: 'y' }, { Task: 'z' }], 'Sheet1!A1:B4'],
		[[{ Task: 'x', Hours: 1 }], 'Sheet1!A1:B2'],
	])('a table that is replaced is as large as %j', async (all, range) => {
		const id = withTable({}, [[], ['below']]);
		await keyed(id, { writeMode: 'replace', matchColumns: '' }, ...all);
		expect(tables(id)).toEqual({ Tasks: range });
		expect(calls.stored(id, 'Sheet1!A5')).toEqual([['below']]);
		expect(calls.stored(id, 'Sheet1!A2:A4').flat().filter(Boolean)).toEqual(
			all.map(({ Task }) => Task),
		);
	});

	test('a tab whose table is elsewhere is written as ever', async () => {
		const id = withTable({ range: 'D1:E9' });
		await keyed(id, {}, { Task: 'c', Hours: 3 });
		expect(calls.stored(id, 'Sheet1!A4:B4')).toEqual([['c', 3]]);
	});
});

test('read gives the rows of a table', async () => {
	const id = withTable();
	const read = await calls.run('read', { spreadsheetId: id, tab: 'Sheet1', output: 'rows' });
	expect(read.map(({ json }) => json)).toEqual([
		{ Task: 'a', Hours: '1', rowNumber: 2 },
		{ Task: 'b', Hours: '2', rowNumber: 3 },
	]);
});
