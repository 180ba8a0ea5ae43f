import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const append = async (params: Record<string, unknown>, ...all: IDataObject[]) =>
	await calls.together(
		'append',
		items(...all).map((item) => ({
			params: { valuesSource: 'columns', range: 'Sheet1', ...params },
			item,
		})),
	);

test('columns follow the header row, in three requests for any number of items', async () => {
	const spreadsheetId = calls.sheet([
		['Name', 'Town', 'Age'],
		['Anna', '', 31],
	]);
	const appended = await append(
		{ spreadsheetId },
		{ Age: 42, Name: 'Ben' },
		{ Name: 'Cleo' },
		{ Age: null },
	);
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
	await append(
		{ spreadsheetId, valueInputOption: 'USER_ENTERED' },
		{ a: 1, '1/2': 'x' },
		{ b: 2 },
	);
	expect(calls.writes).toEqual(['batchUpdate', 'values.batchUpdate']);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
		['a', '1/2', 'b'],
		[1, 'x'],
		['', '', 2],
	]);
});

test('a header row further down, below other things', async () => {
	const spreadsheetId = calls.sheet([['Report'], [], ['', 'a', 'b'], ['', 1, 2]]);
	const appended = await append({ spreadsheetId, headerRow: 3 }, { b: 4, a: 3 });
	expect(appended).toMatchObject([{ tableRange: 'Sheet1!B3:C4', updatedRange: 'Sheet1!B5:C5' }]);
	expect(calls.stored(spreadsheetId, 'Sheet1!B5:C5')).toEqual([[3, 4]]);
});

test('cells beside the headers do not move rows', async () => {
	const spreadsheetId = calls.sheet([
		['', 'a', 'b'],
		['id 1', 1, 2],
	]);
	const appended = await append({ spreadsheetId }, { a: 3, b: 4 });
	expect(appended).toMatchObject([{ updatedRange: 'Sheet1!B3:C3' }]);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
		['', 'a', 'b'],
		['id 1', 1, 2],
		['', 3, 4],
	]);
});

test('two tables side by side are told apart by the range', async () => {
	const spreadsheetId = calls.sheet([
		['a', 'b', '', 'a', 'b'],
		[1, 2, '', 3, 4],
	]);
	const appended = await append({ spreadsheetId, range: 'Sheet1!D:E' }, { a: 5, b: 6 });
	expect(appended).toMatchObject([{ tableRange: 'Sheet1!D1:E2', updatedRange: 'Sheet1!D3:E3' }]);
});

test('a range that begins inside a table keeps its columns', async () => {
	const spreadsheetId = calls.sheet([
		['id', 'a', 'b'],
		[1, 2, 3],
	]);
	const appended = await append({ spreadsheetId, range: 'Sheet1!B:C' }, { a: 5, b: 6 });
	expect(appended).toMatchObject([{ updatedRange: 'Sheet1!B3:C3', updatedCells: 2 }]);
	expect(calls.stored(spreadsheetId, 'Sheet1!A3:C3')).toEqual([['', 5, 6]]);
	expect(calls.writes).toEqual(['batchUpdate']);
});

describe('fields that the header row does not have', () => {
	const header = [['a', 'b']];

	test('fail the item and name its fields, and the others too where the node stops', async () => {
		const spreadsheetId = calls.sheet(header);
		const results = await append({ spreadsheetId }, { a: 1 }, { a: 2, x: 3, y: 4 });
		expect(results).toMatchObject([
			{
				code: 400,
				message: "Nothing was written because of item 1: The table has no column 'x', 'y'",
			},
			{
				code: 400,
				message: "The table has no column 'x', 'y'",
				description: expect.stringContaining("Its columns are 'a', 'b'.") as string,
			},
		]);
		expect(calls.writes).toEqual([]);
	});

	test('fail the item alone under Continue on Fail', async () => {
		const spreadsheetId = calls.sheet(header);
		const params = { valuesSource: 'columns', range: 'Sheet1', spreadsheetId };
		const all = [{ a: 1 }, { x: 1 }, { b: 2 }].map((json, index) => ({
			params,
			item: { ...testItem({ json, index }), json, continueOnFail: true },
		}));
		expect(await calls.together('append', all)).toMatchObject([
			{ updatedRange: 'Sheet1!A2' },
			{ code: 400 },
			{ updatedRange: 'Sheet1!B3' },
		]);
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([['a', 'b'], [1], ['', 2]]);
	});

	test('are left out', async () => {
		const spreadsheetId = calls.sheet(header);
		await append({ spreadsheetId, extraColumns: 'ignore' }, { a: 1, x: 2 });
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([['a', 'b'], [1]]);
		const [failure] = await append({ spreadsheetId, extraColumns: 'ignore' }, { x: 2 });
		expect(failure).toMatchObject({ message: "The table has no column 'x'" });
	});

	test('become columns', async () => {
		const spreadsheetId = calls.sheet(header);
		await append({ spreadsheetId, extraColumns: 'add' }, { a: 1, x: 2 }, { y: 3 });
		expect(calls.writes).toEqual(['batchUpdate']);
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
			['a', 'b', 'x', 'y'],
			[1, '', 2],
			['', '', '', 3],
		]);
	});

	test('become columns of a tab that has no room for them', async () => {
		const spreadsheetId = calls.google.sheets.seed({
			title: 'Book',
			tabs: [{ title: 'Other' }, { title: 'My Tab', rows: header, columnCount: 2 }],
		});
		await append({ spreadsheetId, range: 'My Tab', extraColumns: 'add' }, { x: 2 });
		expect(calls.writes).toEqual(['batchUpdate']);
		expect(calls.stored(spreadsheetId, "'My Tab'")).toEqual([
			['a', 'b', 'x'],
			['', '', 2],
		]);
	});

	test('do not become columns of another table', async () => {
		const spreadsheetId = calls.sheet([['a', 'b', '', 'c']]);
		const params = { spreadsheetId, range: 'Sheet1!A:B', extraColumns: 'add' };
		expect(await append(params, { x: 1, y: 2 })).toMatchObject([
			{
				message: "There is no space for new columns: 'x', 'y'",
				description: expect.stringContaining('Column D') as string,
			},
		]);
	});
});

describe('rows by header', () => {
	const people = [
		['Name', 'Town', 'Age'],
		['Anna', 'Rome', 31],
	];
	const objects = [{ Age: 42, Name: 'Ben' }, { Name: 'Cleo' }];

	test('rows as objects are appended under their headers', async () => {
		const spreadsheetId = calls.sheet(people);
		const appended = await calls.one('append', {
			spreadsheetId,
			tab: 'Sheet1',
			values: objects,
		});
		expect(appended).toMatchObject({
			updatedRange: 'Sheet1!A3:C4',
			updatedRows: 2,
			updatedCells: 3,
		});
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
			...people,
			['Ben', '', 42],
			['Cleo'],
		]);
		expect(calls.writes).toEqual(['batchUpdate']);
	});

	test('rows as objects are written under their headers', async () => {
		const spreadsheetId = calls.sheet([...people, ['x', 'y', 'z']]);
		const written = await calls.one('write', { spreadsheetId, tab: 'Sheet1', values: objects });
		expect(written).toMatchObject({ updatedRange: 'Sheet1!A2:C3' });
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
			people[0],
			['Ben', 'Rome', 42],
			['Cleo', 'y', 'z'],
		]);
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
			expect((await catchFailure(calls.run(name, params))).message).toBe(message);
			expect(calls.sent).toEqual([]);
		});
	});

	test.each([
		[[{ a: 1 }, [2]], "'values' mixes rows of cells with objects"],
		[[[2], { a: 1 }], "'values' mixes rows of cells with objects"],
		[[{}], "Row 1 of 'values' has no values for columns"],
		[[{ a: NaN }], "Row 1 of 'values', field 'a', does not fit in a cell"],
	])('%j is refused', async (values, message) => {
		for (const name of ['append', 'write'] as const) {
			const failure = await catchFailure(
				calls.run(name, { spreadsheetId: 'x', range: 'Sheet1', values }),
			);
			expect(failure.message).toBe(message);
		}
		expect(calls.sent).toEqual([]);
	});
});

describe('the look of rows below a header', () => {
	function book(rows: unknown[][], more: object = {}): string {
		return calls.google.sheets.seed({
			title: 'Book',
			tabs: [{ title: 'Sheet1', rows, boldRows: [1], ...more }],
		});
	}

	test.each([
		['rows', { values: [['Anna', 31]] }],
		['items', { valuesSource: 'columns' }],
		['rows as typed', { values: [['Anna', 31]], valueInputOption: 'USER_ENTERED' }],
	])('%s directly below a header do not look like it', async (_, given) => {
		const spreadsheetId = book([['Name', 'Age']]);
		const [item] = items({ Name: 'Anna', Age: 31 });
		await calls.one('append', { spreadsheetId, range: 'Sheet1', ...given }, item);
		expect(calls.google.sheets.boldRows(spreadsheetId, 'Sheet1')).toEqual([1]);
		expect(calls.writes).toEqual(
			'valueInputOption' in given ? ['batchUpdate', 'values.batchUpdate'] : ['batchUpdate'],
		);
	});

	test('nor do those that are written by key', async () => {
		const spreadsheetId = book([['Name', 'Age']]);
		const [item] = items({ Name: 'Anna', Age: 31 });
		const params = {
			spreadsheetId,
			tab: 'Sheet1',
			valuesSource: 'columns',
			matchColumns: 'Name',
		};
		await calls.one('write', params, item);
		expect(calls.google.sheets.boldRows(spreadsheetId, 'Sheet1')).toEqual([1]);
	});

	test('protected cells and files of Office are refused in words of Google', async () => {
		const spreadsheetId = book([['Name']], { protectedRanges: ['A1:B1'] });
		const write = { spreadsheetId, range: 'Sheet1!A1:A9', values: [['x']] };
		expect((await catchFailure(calls.one('write', write))).message).toContain(
			'edit a protected cell',
		);
		const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
		const { id } = calls.google.files.add({ name: 'Book.xlsx', mimeType, clientId: '' });
		const read = calls.one('read', { spreadsheetId: id, range: 'Sheet1!A1:B2' });
		expect((await catchFailure(read)).message).toContain('not supported for this document');
	});
});
