// Tables made with Format > Convert to table: rows that are added belong to them.
import type { IDataObject } from 'n8n-workflow';

import type { TableSeed } from '../../../../dev/google/sheets/service';
import { grid, items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const rows = grid(['Task', 'Hours'], ['a', 1], ['b', 2]);

function withTable(table: Partial<TableSeed> = {}, below: unknown[][] = [], more = {}): string {
	const tables = [{ name: 'Tasks', range: 'A1:B3', ...table }];
	return calls.book([{ title: 'Sheet1', rows: [...rows, ...below], tables, ...more }]);
}

const tables = (spreadsheetId: string) => calls.google.sheets.tables(spreadsheetId);

const keyed = async (spreadsheetId: string, more: object, ...all: IDataObject[]) =>
	await calls.give('write', { spreadsheetId, matchColumns: 'Task', ...more }, ...all);

describe('append', () => {
	const append = async (spreadsheetId: string, params: object) => {
		const [item] = items({ Task: 'c', Hours: 3 });
		return await calls.one('append', { spreadsheetId, ...params }, item);
	};
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
		const beside = rows.map((row, at) => [...row, at === 0 ? 'Other' : 'o']);
		const id = withTable({}, [], { rows: beside });
		const long = 'x'.repeat(40_000);
		const all = Array.from({ length: 60 }, (_, at) => ({ Task: `t${at}`, Note: long }));
		await keyed(id, { extraColumns: 'add' }, ...all);
		expect(calls.writes.length).toBeGreaterThan(1);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B63' });
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
		const stored = calls.stored(id).slice(2);
		expect(stored).toEqual([['b', 5], ['c', 3], [], ['b', 'of another table']]);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B4' });
	});

	test('new rows go above the footer, whose cells are no keys', async () => {
		const id = withTable({ range: 'A1:B4', hasFooter: true }, [['Total', 3]]);
		const written = await keyed(id, {}, { Task: 'Total', Hours: 9 }, { Task: 'c', Hours: 3 });
		expect(written).toMatchObject([{ action: 'appended' }, { action: 'appended' }]);
		expect(calls.stored(id)).toEqual([...rows, ['Total', 9], ['c', 3], ['Total', 3]]);
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B6' });
	});

	test('a table that ends where the tab ends grows, too', async () => {
		const id = withTable({}, [], { rowCount: 3 });
		await keyed(id, {}, { Task: 'c', Hours: 3 });
		expect(tables(id)).toEqual({ Tasks: 'Sheet1!A1:B4' });
	});

	test.each<[IDataObject[], string]>([
		[[{ Task: 'x', Hours: 1, Who: 'Ann' }, { Task: 'y' }, { Task: 'z' }], 'Sheet1!A1:B4'],
		[[{ Task: 'x', Hours: 1 }], 'Sheet1!A1:B2'],
	])('a table that is replaced is as large as %j', async (all, range) => {
		const id = withTable({}, [[], ['below']]);
		await keyed(id, { writeMode: 'replace', matchColumns: '' }, ...all);
		expect(tables(id)).toEqual({ Tasks: range });
		expect(calls.stored(id, 'Sheet1!A5')).toEqual([['below']]);
		const tasks = calls.stored(id, 'Sheet1!A2:A4').flat().filter(Boolean);
		expect(tasks).toEqual(all.map(({ Task }) => Task));
	});

	test('a tab whose table is elsewhere is written as ever', async () => {
		const id = withTable({ range: 'D1:E9' });
		await keyed(id, {}, { Task: 'c', Hours: 3 });
		expect(calls.stored(id, 'Sheet1!A4:B4')).toEqual([['c', 3]]);
	});
});
