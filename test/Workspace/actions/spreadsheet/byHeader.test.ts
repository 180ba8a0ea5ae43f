import { testItem } from '../../client';
import { failing } from '../../failure';
import { SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const people = [
	['Name', 'Town', 'Age'],
	['Anna', 'Rome', 31],
];
const objects = [{ Age: 42, Name: 'Ben' }, { Name: 'Cleo' }];

test('rows as objects are appended under their headers', async () => {
	const spreadsheetId = calls.sheet(people);
	const appended = await calls.one('append', { spreadsheetId, tab: 'Sheet1', values: objects });
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A3:C4', updatedRows: 2, updatedCells: 3 });
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([...people, ['Ben', '', 42], ['Cleo']]);
	expect(calls.methods).toEqual(['get', 'values.append']);
});

test('rows as objects are written under their headers', async () => {
	const spreadsheetId = calls.sheet([...people, ['x', 'y', 'z']]);
	const written = await calls.one('write', { spreadsheetId, tab: 'Sheet1', values: objects });
	expect(written).toMatchObject({ updatedRange: 'Sheet1!A2:C3' });
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([people[0], ['Ben', 'Rome', 42], ['Cleo', 'y', 'z']]);
});

test('where there is no header yet it is written first', async () => {
	const spreadsheetId = calls.sheet();
	await calls.one('write', { spreadsheetId, range: 'Sheet1', values: objects });
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
		['Age', 'Name'],
		[42, 'Ben'],
		['', 'Cleo'],
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
			{ updatedRange: `Sheet1!A${row}:C${row}`, updatedCells: 1 },
			{ updatedRange: `Sheet1!A${row + 1}:C${row + 1}`, updatedCells: 1 },
		]);
		expect(calls.stored(spreadsheetId, 'Sheet1!B2:B4')).toEqual(
			name === 'append' ? [['Rome'], ['Oslo'], ['Bonn']] : [['Oslo'], ['Bonn']],
		);
	});

	test.each([
		[{ columns: {} }, "'columns' has no values"],
		[{ columns: { Name: NaN } }, "Field 'Name' of 'columns' is NaN"],
		[{ columns: { rowNumber: 3 } }, "'columns' has no values"],
	])('%j', async (given, message) => {
		const params = { spreadsheetId: 'x', tab: 'Sheet1', valuesSource: 'columns', ...given };
		expect((await failing(calls.run(name, params))).message).toBe(message);
		expect(calls.sent).toEqual([]);
	});
});

test.each([
	[[{ a: 1 }, [2]], "'values' mixes rows of cells with objects"],
	[[[2], { a: 1 }], "'values' mixes rows of cells with objects"],
	[[{}], "Row 1 of 'values' has no fields"],
	[[{ a: NaN }], "Field 'a' of row 1 of 'values' is NaN"],
])('%j is refused', async (values, message) => {
	for (const name of ['append', 'write'] as const) {
		const failure = await failing(calls.run(name, { spreadsheetId: 'x', range: 'Sheet1', values }));
		expect(failure.message).toBe(message);
	}
	expect(calls.sent).toEqual([]);
});
