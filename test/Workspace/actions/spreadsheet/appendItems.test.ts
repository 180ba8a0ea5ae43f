import type { IDataObject } from 'n8n-workflow';

import { notStarted } from '../../../../nodes/Workspace/runner/planAndSend';
import { failureOf } from '../../../createExecuteContext';
import { testItem } from '../../client';
import { runNode, token } from '../../runNode';
import { grid, items, SheetCalls, tabNamed } from './sheetCalls';

const calls = new SheetCalls();

const append = async (params: Record<string, unknown>, ...all: IDataObject[]) =>
	await calls.give('append', { range: 'Sheet1', ...params }, ...all);

test('columns follow the header row, in three requests for any number of items', async () => {
	const spreadsheetId = calls.sheet(grid(['Name', 'Town', 'Age'], ['Anna', '', 31]));
	const all = [{ Age: 42, Name: 'Ben' }, { Name: 'Cleo' }, { Age: null }];
	const appended = await append({ spreadsheetId }, ...all);
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	expect(calls.stored(spreadsheetId, 'Sheet1!A3:C5')).toEqual([['Ben', '', 42], ['Cleo']]);
	expect(appended).toMatchObject([
		{ updatedRange: 'Sheet1!A3:C3', updatedCells: 2 },
		{ updatedRange: 'Sheet1!A4', updatedCells: 1 },
		{ updatedRange: 'Sheet1!A5:C5' },
	]);
});

test('an empty header row is written from the fields of all items', async () => {
	const spreadsheetId = calls.sheet();
	const given = { spreadsheetId, valueInputOption: 'USER_ENTERED' };
	await append(given, { a: 1, '1/2': 'x' }, { b: 2 });
	expect(calls.writes).toEqual(['batchUpdate', 'values.batchUpdate']);
	expect(calls.stored(spreadsheetId)).toEqual(grid(['a', '1/2', 'b'], [1, 'x'], ['', '', 2]));
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
		{ tableRange: 'Sheet1!A1:C3', updatedRange: 'Sheet1!B4:C4' },
		['', 3, 4],
	],
	[
		'a range that begins inside a table keeps its columns',
		grid(['id', 'a', 'b'], [1, 2, 3]),
		{ range: 'Sheet1!B:C' },
		{ updatedRange: 'Sheet1!B3:C3', updatedCells: 2 },
		['', 3, 4],
	],
])('%s', async (_name, rows, given, told, row) => {
	const spreadsheetId = calls.sheet(rows);
	expect(await append({ spreadsheetId, ...given }, { b: 4, a: 3 })).toMatchObject([told]);
	expect(calls.stored(spreadsheetId)).toEqual([...rows, row]);
	expect(calls.writes).toEqual(['batchUpdate']);
});

describe('fields that the header row does not have', () => {
	const header = [['a', 'b']];

	test('fail the item and name its fields, and the others are not started where the node stops', async () => {
		const spreadsheetId = calls.sheet(header);
		const [first, second] = await append({ spreadsheetId }, { a: 1 }, { a: 2, x: 3, y: 4 });
		expect(first).toBe(notStarted);
		expect(second).toMatchObject({
			code: 400,
			message: "The table has no column 'x', 'y'",
			description: expect.stringContaining("Its columns are 'a', 'b'.") as string,
		});
		expect(calls.writes).toEqual([]);
	});

	test('stop the node with the number of the item', async () => {
		const spreadsheetId = calls.sheet(header);
		calls.google.tokens.issue({ token });
		const parameters = {
			...{ resource: 'spreadsheet', operation: 'append', valuesSource: 'columns' },
			spreadsheetId: { __rl: true, mode: 'id', value: spreadsheetId },
			tab: tabNamed('Sheet1'),
			columns: { mappingMode: 'autoMapInputData', value: null },
		};
		const all = [{ json: { a: 1 } }, { json: { a: 2 } }, { json: { x: 3 } }];
		const running = runNode({ url: calls.google.url, parameters, items: all });
		const { message, context } = await failureOf(running);
		expect(message).toBe("The table has no column 'x'");
		expect(context).toMatchObject({ itemIndex: 2 });
		expect(calls.writes).toEqual([]);
	});

	test('fail the item alone under Continue on Fail', async () => {
		const spreadsheetId = calls.sheet(header);
		const params = { valuesSource: 'columns', range: 'Sheet1', spreadsheetId };
		const all = items({ a: 1 }, { x: 1 }, { b: 2 });
		const members = all.map((item) => ({ params, item: { ...item, continueOnFail: true } }));
		const told = [{ updatedRange: 'Sheet1!A2' }, { code: 400 }, { updatedRange: 'Sheet1!B3' }];
		expect(await calls.together('append', members)).toMatchObject(told);
		expect(calls.stored(spreadsheetId)).toEqual([['a', 'b'], [1], ['', 2]]);
	});

	test('are left out', async () => {
		const spreadsheetId = calls.sheet(header);
		await append({ spreadsheetId, extraColumns: 'ignore' }, { a: 1, x: 2 });
		expect(calls.stored(spreadsheetId)).toEqual([['a', 'b'], [1]]);
		const [failure] = await append({ spreadsheetId, extraColumns: 'ignore' }, { x: 2 });
		expect(failure).toMatchObject({ message: "The table has no column 'x'" });
	});

	test('become columns', async () => {
		const spreadsheetId = calls.sheet(header);
		await append({ spreadsheetId, extraColumns: 'add' }, { a: 1, x: 2 }, { y: 3 });
		expect(calls.writes).toEqual(['batchUpdate']);
		const stored = calls.stored(spreadsheetId);
		expect(stored).toEqual(grid(['a', 'b', 'x', 'y'], [1, '', 2], ['', '', '', 3]));
	});

	test('become columns of a tab that has no room for them', async () => {
		const narrow = { title: 'My Tab', rows: header, columnCount: 2 };
		const spreadsheetId = calls.book([{ title: 'Other' }, narrow]);
		await append({ spreadsheetId, range: 'My Tab', extraColumns: 'add' }, { x: 2 });
		expect(calls.writes).toEqual(['batchUpdate']);
		expect(calls.stored(spreadsheetId, "'My Tab'")).toEqual(grid(['a', 'b', 'x'], ['', '', 2]));
	});

	test('do not become columns of another table', async () => {
		const spreadsheetId = calls.sheet([['a', 'b', '', 'c']]);
		const params = { spreadsheetId, range: 'Sheet1!A:B', extraColumns: 'add' };
		const [failure] = await append(params, { x: 1, y: 2 });
		expect(failure?.['message']).toBe("There is no space for new columns: 'y'");
		expect(failure?.['description']).toContain('Column D');
	});

	test.each([
		['a b c', 'A:B', [{ a: 1, b: 2 }, { a: 3, b: 4, x: 5 }, { a: 6 }]],
		['  c', 'A:B', [{ a: 1, b: 2 }, { x: 1, y: 2, z: 5 }, { a: 6 }]],
	])('that find no space fail their item alone: %s', async (names, columns, all) => {
		const spreadsheetId = calls.sheet([names.split(' ')]);
		const range = `Sheet1!${columns}`;
		const params = { valuesSource: 'columns', range, extraColumns: 'add', spreadsheetId };
		const members = items(...(all as IDataObject[])).map((item) => ({
			params,
			item: { ...item, continueOnFail: true },
		}));
		const outcomes = await calls.together('append', members);
		expect(outcomes).toMatchObject([
			{ updatedRange: 'Sheet1!A2:B2' },
			{ code: 400 },
			{ updatedRange: 'Sheet1!A3' },
		]);
		expect(calls.stored(spreadsheetId)).toEqual([['a', 'b', 'c'], [1, 2], [6]]);
	});
});

describe('rows by header', () => {
	const people = grid(['Name', 'Town', 'Age'], ['Anna', 'Rome', 31]);
	const objects = [{ Age: 42, Name: 'Ben' }, { Name: 'Cleo' }];

	test('rows as objects are appended under their headers', async () => {
		const spreadsheetId = calls.sheet(people);
		const given = { spreadsheetId, tab: 'Sheet1', values: objects };
		const told = { updatedRange: 'Sheet1!A3:C4', updatedRows: 2, updatedCells: 3 };
		expect(await calls.one('append', given)).toMatchObject(told);
		expect(calls.stored(spreadsheetId)).toEqual([...people, ['Ben', '', 42], ['Cleo']]);
		expect(calls.writes).toEqual(['batchUpdate']);
	});

	test('rows as objects are written under their headers', async () => {
		const spreadsheetId = calls.sheet([...people, ['x', 'y', 'z']]);
		const written = await calls.one('write', { spreadsheetId, tab: 'Sheet1', values: objects });
		expect(written).toMatchObject({ updatedRange: 'Sheet1!A2:C3' });
		const stored = calls.stored(spreadsheetId).slice(1);
		expect(stored).toEqual(grid(['Ben', 'Rome', 42], ['Cleo', 'y', 'z']));
	});

	describe.each(['append', 'write'] as const)('columns of %s', (name) => {
		test('are one row of each item', async () => {
			const spreadsheetId = calls.sheet(people);
			const all = [{ Town: 'Oslo' }, { Town: 'Bonn', Age: null }].map((columns, index) => ({
				params: { spreadsheetId, tab: 'Sheet1', valuesSource: 'columns', columns },
				item: testItem({ index, json: { ignored: true } }),
			}));
			const row = name === 'append' ? 3 : 2;
			expect(await calls.together(name, all)).toMatchObject([
				{ updatedRange: `Sheet1!B${row}`, updatedCells: 1 },
				{ updatedRange: `Sheet1!B${row + 1}`, updatedCells: 1 },
			]);
			expect(calls.stored(spreadsheetId, 'Sheet1!B2:B4')).toEqual(
				name === 'append' ? [['Rome'], ['Oslo'], ['Bonn']] : [['Oslo'], ['Bonn']],
			);
		});

		test.each([
			[{ columns: {} }, "'columns' has no values for columns"],
			[{ columns: { Name: NaN } }, "'columns', field 'Name', does not fit in a cell"],
			[{ columns: { rowNumber: 3 } }, "'columns' has no values for columns"],
		])('%j', async (given, message) => {
			const params = { spreadsheetId: 'x', tab: 'Sheet1', valuesSource: 'columns', ...given };
			expect((await calls.refusal(name, params)).message).toBe(message);
		});
	});

	const mixed = "'values' mixes rows of cells with objects";

	test.each([
		['append', [{ a: 1 }, [2]], mixed],
		['write', [[2], { a: 1 }], mixed],
		['append', [{}], "Row 1 of 'values' has no values for columns"],
		['write', [{}], "Row 1 of 'values' has no values for columns"],
		['append', [{ a: NaN }], "Row 1 of 'values', field 'a', does not fit in a cell"],
		['write', [{ a: NaN }], "Row 1 of 'values', field 'a', does not fit in a cell"],
	] as const)('%s of %j is refused', async (name, values, message) => {
		const failure = await calls.refusal(name, { spreadsheetId: 'x', range: 'Sheet1', values });
		expect(failure.message).toBe(message);
	});
});

describe('the look of rows below a header', () => {
	const book = (rows: unknown[][], more: object = {}) =>
		calls.book([{ title: 'Sheet1', rows, boldRows: [1], ...more }]);
	const asTyped = { values: [['Anna', 31]], valueInputOption: 'USER_ENTERED' };
	const byKey = { valuesSource: 'columns', matchColumns: 'Name' };

	test.each([
		['append', 'rows', { values: [['Anna', 31]] }, ['batchUpdate']],
		['append', 'items', { valuesSource: 'columns' }, ['batchUpdate']],
		['append', 'rows as typed', asTyped, ['batchUpdate', 'values.batchUpdate']],
		['write', 'items by key', byKey, ['batchUpdate']],
	] as const)('is not that of the header: %s %s', async (name, _what, given, writes) => {
		const spreadsheetId = book([['Name', 'Age']]);
		const [item] = items({ Name: 'Anna', Age: 31 });
		await calls.one(name, { spreadsheetId, tab: 'Sheet1', ...given }, item);
		expect(calls.google.sheets.boldRows(spreadsheetId, 'Sheet1')).toEqual([1]);
		expect(calls.writes).toEqual(writes);
	});

	test('protected cells and files of Office are refused in words of Google', async () => {
		const spreadsheetId = book([['Name']], { protectedRanges: ['A1:B1'] });
		const write = { spreadsheetId, range: 'Sheet1!A1:A9', values: [['x']] };
		const { message } = await calls.failure('write', write);
		expect(message).toContain('edit a protected cell');
		const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
		const { id } = calls.google.files.add({ name: 'Book.xlsx', mimeType, clientId: '' });
		const read = await calls.failure('read', { spreadsheetId: id, range: 'Sheet1!A1:B2' });
		expect(read.message).toContain('not supported for this document');
	});
});
