// Replace: what belongs to the old table, and what stands beside and below it and stays.
import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { grid, SheetCalls, tabNamed } from './sheetCalls';

const calls = new SheetCalls();

const replace = async (spreadsheetId: string, range: string, ...all: IDataObject[]) =>
	await calls.give('write', { spreadsheetId, range, writeMode: 'replace' }, ...all);

test.each([
	[['Id', 'Name', 'Age', 'City'], 'B:D'],
	[['Id', 'Name', 'Age', 'City'], 'B1:E'],
	[['Id', '', 'Age', 'City'], 'B:D'],
])('columns of %j left of the range %s stay', async (header, range) => {
	const row = [1, 'Anna', 31, 'Rome'];
	const spreadsheetId = calls.sheet([header, row]);
	const [, name = '', ...others] = header;
	const fields = [name || 'B', ...others];
	const values = ['Ben', 42, 'Oslo'];
	const json = Object.fromEntries(fields.map((field, at) => [field, values[at]]));
	const written = await replace(spreadsheetId, `Sheet1!${range}`, json);
	expect(written).toMatchObject([{ updatedRange: 'Sheet1!B1:D2' }]);
	expect(calls.stored(spreadsheetId)).toEqual(grid(header, [1, ...values]));
});

const people = (count: number) =>
	Array.from({ length: count }, (_, at) => ({ Name: `n${at}`, Age: at }));
const table = grid(['Name', 'Age'], ['Anna', 31], ['Ben', 42]);

test('a field without a value keeps its column', async () => {
	const spreadsheetId = calls.sheet(table);
	await replace(spreadsheetId, 'Sheet1', { Name: 'Cleo', Age: undefined });
	expect(calls.stored(spreadsheetId)).toEqual(grid(['Name', 'Age'], ['Cleo']));
});

test.each([['={{ $json.phone }}'], [null]])(
	'a mapped column for which no item has a value (%j) stays',
	async (Phone) => {
		const header = ['Name', 'Phone', 'City'];
		const spreadsheetId = calls.sheet(grid(header, ['Ann', '1', 'Rome']));
		const value = { Name: '={{ $json.name }}', Phone, City: '={{ $json.city }}' };
		const fields = {
			...{ tab: tabNamed('Sheet1'), valuesSource: 'columns', writeMode: 'replace' },
			columns: { mappingMode: 'defineBelow', value, schema: [] },
		};
		await calls.form('write', spreadsheetId, fields, { name: 'Ben', city: 'Oslo' });
		expect(calls.stored(spreadsheetId)).toEqual(grid(header, ['Ben', '', 'Oslo']));
	},
);

test.each([
	[[['Name', 'Age']], ['Name', 'Age']],
	[[], ['Name', 'secret', 'Age']],
])('with Extra Columns: Ignore, a table of %j gets the columns %j', async (rows, header) => {
	const params = { spreadsheetId: calls.sheet(rows), extraColumns: 'ignore' };
	const json = { Name: 'Ben', secret: 1, Age: 42 };
	await calls.give('write', { ...params, range: 'Sheet1', writeMode: 'replace' }, json);
	expect(calls.stored(params.spreadsheetId)[0]).toEqual(header);
});

describe('what stands below the old table', () => {
	const below = [[], [], ['', 'Total']];

	test.each([
		['Sheet1!A1:B5', {}],
		['Sheet1!A:B', { tables: [{ name: 'People', range: 'A1:B3' }] }],
		['Sheet1', { tables: [{ name: 'People', range: 'A1:B3' }] }],
	])('is not written over: %s in %j', async (range, more) => {
		const rows = [...table, ...below];
		const spreadsheetId = calls.book([{ title: 'Sheet1', rows, ...more }]);
		const refused = await replace(spreadsheetId, range, ...people(5));
		expect(refused[0]).toMatchObject({ code: 400 });
		expect(refused[0]?.['message']).toContain('row 6');
		expect(calls.writes).toEqual([]);
		await replace(spreadsheetId, range, ...people(4));
		const stored = calls.stored(spreadsheetId).slice(3);
		expect(stored).toEqual(grid(['n2', 2], ['n3', 3], ['', 'Total']));
	});

	test.each([
		['Sheet1', {}],
		['Sheet1', { tables: [{ name: 'People', range: 'A1:B3' }] }],
		['A:C', {}],
	])('nor what stands below its new columns: %s in %j', async (range, more) => {
		const rows = [...table, ['', '', '', 'Other'], ['', '', '', 7]];
		const spreadsheetId = calls.book([{ title: 'Sheet1', rows, ...more }]);
		const wide = people(4).map((person) => ({ ...person, Town: 1, Zip: 2 }));
		const [refused] = await replace(spreadsheetId, range, ...wide);
		expect(refused).toMatchObject({ code: 400 });
		expect(refused?.['message']).toContain('row 4');
		expect(calls.stored(spreadsheetId)).toEqual(grid(...rows));
		await replace(spreadsheetId, range, ...wide.slice(2));
		expect(calls.stored(spreadsheetId).slice(1, 4)).toEqual(
			grid(['n2', 2, 1, 2], ['n3', 3, 1, 2], ['', '', '', 'Other']),
		);
	});

	test('is free if it has nothing but unticked checkboxes', async () => {
		const spreadsheetId = calls.sheet([...table, ['', false], ['', false]]);
		await replace(spreadsheetId, 'Sheet1!A1:B5', ...people(3));
		expect(calls.stored(spreadsheetId)[3]).toEqual(['n2', 2]);
	});
});

test.each(['B:C', 'B1:C3'])('a table beside %s is not written over', async (range) => {
	const rows = grid(['', 'Name', 'Age', 'Other'], ['', 'Anna', 31, 'x']);
	const spreadsheetId = calls.sheet(rows);
	const json = { Name: 'Ben', Age: 42, Town: 'Rome' };
	const [refused] = await replace(spreadsheetId, `Sheet1!${range}`, json);
	expect(refused).toMatchObject({
		code: 400,
		message: "There is no space for new columns: 'Town'",
	});
	expect(calls.stored(spreadsheetId)).toEqual(rows);
});

test('a hint names the columns without a header that are gone, by their letters', async () => {
	const header = ['', 'Item', '', '', 'Total'];
	const spreadsheetId = calls.typed(header, ['left', 'a', 'note', '', 1], ['', 'b', '=1+1']);
	const item = testItem({ json: { Item: 'c', Total: 2 } });
	const params = { spreadsheetId, tab: 'Sheet1', valuesSource: 'columns', writeMode: 'replace' };
	await calls.together('write', [{ params, item }]);
	expect(item.hints[0]).toContain(
		"now has 1. Columns were removed: 'C'. Formulas are gone or became values: 'C'. To get",
	);
	expect(calls.stored(spreadsheetId)[1]).toEqual(['left', 'c', 2]);
});
