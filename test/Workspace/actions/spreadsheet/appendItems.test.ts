import type { IDataObject } from 'n8n-workflow';

import { notStarted } from '../../../../nodes/Workspace/runner/job';
import { failureOf } from '../../../createExecuteContext';
import { testItem } from '../../client';
import { grid, items, mappedByName, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const append = async (rows: unknown[][], given: object, ...all: IDataObject[]) =>
	await calls.change('append', rows, given, ...all);

test('columns follow the header row, in three requests for any number of items', async () => {
	const people = grid(['Name', 'Town', 'Age'], ['Anna', '', 31]);
	const all = [{ Age: 42, Name: 'Ben' }, { Name: 'Cleo' }, { Age: null }];
	const { told, stored } = await append(people, {}, ...all);
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	expect(stored).toEqual([...people, ['Ben', '', 42], ['Cleo']]);
	expect(told).toMatchObject([
		{ updatedRange: 'Sheet1!A3:C3', updatedCells: 2 },
		{ updatedRange: 'Sheet1!A4', updatedCells: 1 },
		{ updatedRange: 'Sheet1!A5:C5' },
	]);
});

test('an empty header row is written from the fields of all items', async () => {
	const given = { valueInputOption: 'USER_ENTERED' };
	const { stored } = await append([], given, { a: 1, '1/2': 'x' }, { b: 2 });
	expect(calls.writes).toEqual(['batchUpdate', 'values.batchUpdate']);
	expect(stored).toEqual(grid(['a', '1/2', 'b'], [1, 'x'], ['', '', 2]));
});

test.each<[string, unknown[][], object, object, unknown[]]>([
	[
		'a header row further down, below other things',
		[['Report'], [], ['', 'a', 'b'], ['', 1, 2]],
		{ headerRow: 3 },
		{ tableRange: 'Sheet1!B3:C4', updatedRange: 'Sheet1!B5:C5' },
		['', 3, 4],
	],
	[
		'cells beside the headers do not move rows',
		grid(['', 'a', 'b'], ['id 1', 1, 2]),
		{},
		{ updatedRange: 'Sheet1!B3:C3' },
		['', 3, 4],
	],
	[
		'two tables side by side are told apart by the range',
		grid(['a', 'b', '', 'a', 'b'], [1, 2, '', 3, 4]),
		{ range: 'Sheet1!D:E' },
		{ tableRange: 'Sheet1!D1:E2', updatedRange: 'Sheet1!D3:E3' },
		['', '', '', 3, 4],
	],
	[
		'a row with a value only left of the range belongs to the table',
		grid(['id', 'a', 'b'], [1, 2, 3], ['id 2']),
		{ range: 'Sheet1!B:C' },
		{ tableRange: 'Sheet1!A1:C3', updatedRange: 'Sheet1!B4:C4', updatedCells: 2 },
		['', 3, 4],
	],
])('%s', async (_name, rows, given, expected, row) => {
	const { told, stored } = await append(rows, given, { b: 4, a: 3 });
	expect(told).toMatchObject([expected]);
	expect(stored).toEqual([...rows, row]);
	expect(calls.writes).toEqual(['batchUpdate']);
});

describe('fields that the header row does not have', () => {
	const header = [['a', 'b']];

	test('fail the item and name its fields, and the others are not started where the node stops', async () => {
		const { told } = await append(header, {}, { a: 1 }, { a: 2, x: 3, y: 4 });
		expect(told[0]).toBe(notStarted);
		expect(told[1]).toMatchObject({
			code: 400,
			message: "The table has no column 'x', 'y'",
			description: expect.stringContaining("Its columns are 'a', 'b'.") as string,
		});
		expect(calls.writes).toEqual([]);
	});

	test('stop the node with the number of the item', async () => {
		const all = [{ a: 1 }, { a: 2 }, { x: 3 }];
		const running = calls.form('append', calls.sheet(header), mappedByName, ...all);
		const { message, context } = await failureOf(running);
		expect(message).toBe("The table has no column 'x'");
		expect(context).toMatchObject({ itemIndex: 2 });
		expect(calls.writes).toEqual([]);
	});

	test('are left out', async () => {
		const ignore = { extraColumns: 'ignore' };
		const { stored } = await append(header, ignore, { a: 1, x: 2 });
		expect(stored).toEqual([['a', 'b'], [1]]);
		const { told } = await append(header, ignore, { x: 2 });
		expect(told).toMatchObject([{ message: "The table has no column 'x'" }]);
	});

	test('become columns', async () => {
		const { stored } = await append(header, { extraColumns: 'add' }, { a: 1, x: 2 }, { y: 3 });
		expect(calls.writes).toEqual(['batchUpdate']);
		expect(stored).toEqual(grid(['a', 'b', 'x', 'y'], [1, '', 2], ['', '', '', 3]));
	});

	test('do not become columns of another table', async () => {
		const given = { range: 'Sheet1!A:B', extraColumns: 'add' };
		const { told } = await append([['a', 'b', '', 'c']], given, { x: 1, y: 2 });
		expect(told[0]?.['message']).toBe("There is no space for new columns: 'y'");
		expect(told[0]?.['description']).toContain('Column D');
	});

	test.each<[string[], object, IDataObject]>([
		[['a', 'b', 'c'], { extraColumns: 'error' }, { x: 1 }],
		[['a', 'b', 'c'], { range: 'A:B', extraColumns: 'add' }, { a: 3, b: 4, x: 5 }],
		[['', '', 'c'], { range: 'A:B', extraColumns: 'add' }, { x: 1, y: 2, z: 5 }],
	])('fail their item alone under Continue on Fail: %j %j', async (header, given, bad) => {
		const spreadsheetId = calls.sheet([header]);
		const params = { spreadsheetId, valuesSource: 'columns', ...given };
		const all = items({ a: 1, b: 2 }, bad, { a: 6 });
		const members = all.map((item) => ({ params, item: { ...item, continueOnFail: true } }));
		const told = await calls.together('append', members);
		const [first, last] = [{ updatedRange: 'Sheet1!A2:B2' }, { updatedRange: 'Sheet1!A3' }];
		expect(told).toMatchObject([first, { code: 400 }, last]);
		expect(calls.stored(spreadsheetId)).toEqual([['a', 'b', 'c'], [1, 2], [6]]);
	});
});

describe('rows by header', () => {
	const people = grid(['Name', 'Town', 'Age'], ['Anna', 'Rome', 31]);
	const values = [{ Age: 42, Name: 'Ben' }, { Name: 'Cleo' }];

	test('rows as objects are written under their headers', async () => {
		const rows = [...people, ['x', 'y', 'z']];
		const { told, stored } = await calls.change('write', rows, { values });
		expect(told).toMatchObject([{ updatedRange: 'Sheet1!A2:C3' }]);
		expect(stored.slice(1)).toEqual(grid(['Ben', 'Rome', 42], ['Cleo', 'y', 'z']));
	});

	test.each([
		['append', ['B3', 'B4'], ['Rome', 'Oslo', 'Bonn']],
		['write', ['B2', 'B3'], ['Oslo', 'Bonn']],
	] as const)('columns of %s are one row of each item', async (name, ranges, towns) => {
		const spreadsheetId = calls.sheet(people);
		const all = [{ Town: 'Oslo' }, { Town: 'Bonn', Age: null }].map((columns, index) => ({
			params: { spreadsheetId, valuesSource: 'columns', columns },
			item: testItem({ index, json: { ignored: true } }),
		}));
		const told = ranges.map((range) => ({ updatedRange: `Sheet1!${range}`, updatedCells: 1 }));
		expect(await calls.together(name, all)).toMatchObject(told);
		const stored = calls.stored(spreadsheetId, 'Sheet1!B2:B4');
		expect(stored).toEqual(towns.map((town) => [town]));
	});

	const mixed = "'values' mixes rows of cells with objects";

	test.each<[object, string]>([
		[{ columns: {} }, "'columns' has no values for columns"],
		[{ columns: { Name: NaN } }, "'columns', field 'Name', does not fit in a cell"],
		[{ columns: { rowNumber: 3 } }, "'columns' has no values for columns"],
		[{ values: [{ a: 1 }, [2]] }, mixed],
		[{ values: [[2], { a: 1 }] }, mixed],
		[{ values: [{}] }, "Row 1 of 'values' has no values for columns"],
		[{ values: [{ a: NaN }] }, "Row 1 of 'values', field 'a', does not fit in a cell"],
	])('%j is refused', async (given, message) => {
		const valuesSource = 'columns' in given ? 'columns' : 'json';
		for (const name of ['append', 'write'] as const) {
			const params = { spreadsheetId: 'x', valuesSource, ...given };
			expect((await calls.refusal(name, params)).message).toBe(message);
		}
	});
});

describe('the look of rows below a header', () => {
	const asTyped = { values: [['Anna', 31]], valueInputOption: 'USER_ENTERED' };
	const byKey = { valuesSource: 'columns', matchColumns: 'Name' };

	test.each([
		['append', 'rows', { values: [['Anna', 31]] }, ['batchUpdate']],
		['append', 'items', { valuesSource: 'columns' }, ['batchUpdate']],
		['append', 'rows as typed', asTyped, ['batchUpdate', 'values.batchUpdate']],
		['write', 'items by key', byKey, ['batchUpdate']],
	] as const)('is not that of the header: %s %s', async (name, _what, given, writes) => {
		const tab = { title: 'Sheet1', rows: [['Name', 'Age']], boldRows: [1] };
		const spreadsheetId = calls.book([tab]);
		const [item] = items({ Name: 'Anna', Age: 31 });
		await calls.one(name, { spreadsheetId, ...given }, item);
		expect(calls.google.sheets.boldRows(spreadsheetId, 'Sheet1')).toEqual([1]);
		expect(calls.writes).toEqual(writes);
	});
});

test('protected cells are refused in words of Google', async () => {
	const tab = { title: 'Sheet1', rows: [['Name']], protectedRanges: ['A1:B1'] };
	const given = { spreadsheetId: calls.book([tab]), range: 'Sheet1!A1:A9', values: [['x']] };
	const { message } = await calls.failure('write', given);
	expect(message).toContain('edit a protected cell');
});
