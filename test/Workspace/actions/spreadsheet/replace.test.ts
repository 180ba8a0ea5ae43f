// Replace: what belongs to the old table, and what stands beside and below it and stays.
import type { IDataObject } from 'n8n-workflow';

import { grid, mapped, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const writeMode = 'replace';
const replace = async (rows: unknown[][], given: object, ...all: IDataObject[]) =>
	await calls.change('write', rows, { ...given, writeMode }, ...all);

test.each([
	[['Id', 'Name', 'Age', 'City'], 'B:D'],
	[['Id', 'Name', 'Age', 'City'], 'B1:E'],
	[['Id', '', 'Age', 'City'], 'B:D'],
])('columns of %j left of the range %s stay', async (header, range) => {
	const [, name = '', ...others] = header;
	const fields = [name || 'B', ...others];
	const values = ['Ben', 42, 'Oslo'];
	const json = Object.fromEntries(fields.map((field, at) => [field, values[at]]));
	const rows = grid(header, [1, 'Anna', 31, 'Rome']);
	const { told, stored } = await replace(rows, { range: `Sheet1!${range}` }, json);
	expect(told).toMatchObject([{ updatedRange: 'Sheet1!B1:D2' }]);
	expect(stored).toEqual(grid(header, [1, ...values]));
});

const people = (count: number) =>
	Array.from({ length: count }, (_, at) => ({ Name: `n${at}`, Age: at }));
const table = grid(['Name', 'Age'], ['Anna', 31], ['Ben', 42]);

test('a field without a value keeps its column', async () => {
	const { stored } = await replace(table, {}, { Name: 'Cleo', Age: undefined });
	expect(stored).toEqual(grid(['Name', 'Age'], ['Cleo']));
});

test.each([['={{ $json.phone }}'], [null]])(
	'a mapped column for which no item has a value (%j) stays',
	async (Phone) => {
		const header = ['Name', 'Phone', 'City'];
		const spreadsheetId = calls.sheet(grid(header, ['Ann', '1', 'Rome']));
		const columns = mapped({ Name: '={{ $json.name }}', Phone, City: '={{ $json.city }}' });
		const json = { name: 'Ben', city: 'Oslo' };
		await calls.form('write', spreadsheetId, { writeMode, ...columns }, json);
		expect(calls.stored(spreadsheetId)).toEqual(grid(header, ['Ben', '', 'Oslo']));
	},
);

test('a mapped row number does not double a column that is called so', async () => {
	const header = ['Key', 'rowNumber'];
	const spreadsheetId = calls.sheet(grid(header, ['a', 7]));
	const columns = mapped({ Key: 'a', rowNumber_2: 7, rowNumber: 2 });
	await calls.form('write', spreadsheetId, { writeMode, ...columns });
	expect(calls.stored(spreadsheetId)).toEqual(grid(header, ['a', 7]));
});

test.each([
	[[['Name', 'Age']], ['Name', 'Age']],
	[[], ['Name', 'secret', 'Age']],
])('with Extra Columns: Ignore, a table of %j gets the columns %j', async (rows, header) => {
	const json = { Name: 'Ben', secret: 1, Age: 42 };
	const { stored } = await replace(rows, { extraColumns: 'ignore' }, json);
	expect(stored[0]).toEqual(header);
});

describe('what stands below the old table', () => {
	const native = { tables: [{ name: 'People', range: 'A1:B3' }] };

	test.each([
		['Sheet1!A1:B5', {}],
		['Sheet1!A:B', native],
		['Sheet1', native],
	])('is not written over: %s in %j', async (range, more) => {
		const rows = [...table, [], [], ['', 'Total']];
		const spreadsheetId = calls.book([{ title: 'Sheet1', rows, ...more }]);
		const given = { spreadsheetId, range, writeMode };
		const [refused] = await calls.give('write', given, ...people(5));
		expect(refused).toMatchObject({ code: 400 });
		expect(refused?.['message']).toContain('row 6');
		expect(calls.writes).toEqual([]);
		await calls.give('write', given, ...people(4));
		const stored = calls.stored(spreadsheetId).slice(3);
		expect(stored).toEqual(grid(['n2', 2], ['n3', 3], ['', 'Total']));
	});

	test.each([
		['Sheet1', {}],
		['Sheet1', native],
		['A:C', {}],
	])('nor what stands below its new columns: %s in %j', async (range, more) => {
		const rows = grid(...table, ['', '', '', 'Other'], ['', '', '', 7]);
		const spreadsheetId = calls.book([{ title: 'Sheet1', rows, ...more }]);
		const given = { spreadsheetId, range, writeMode };
		const wide = people(4).map((person) => ({ ...person, Town: 1, Zip: 2 }));
		const [refused] = await calls.give('write', given, ...wide);
		expect(refused).toMatchObject({ code: 400 });
		expect(refused?.['message']).toContain('row 4');
		expect(calls.stored(spreadsheetId)).toEqual(rows);
		await calls.give('write', given, ...wide.slice(2));
		expect(calls.stored(spreadsheetId).slice(1, 4)).toEqual(
			grid(['n2', 2, 1, 2], ['n3', 3, 1, 2], ['', '', '', 'Other']),
		);
	});

	test('is free if it has nothing but unticked checkboxes', async () => {
		const rows = [...table, ['', false], ['', false]];
		const { stored } = await replace(rows, { range: 'Sheet1!A1:B5' }, ...people(3));
		expect(stored[3]).toEqual(['n2', 2]);
	});
});

test.each(['B:C', 'B1:C3'])('a table beside %s is not written over', async (range) => {
	const rows = grid(['', 'Name', 'Age', 'Other'], ['', 'Anna', 31, 'x']);
	const json = { Name: 'Ben', Age: 42, Town: 'Rome' };
	const { told, stored } = await replace(rows, { range: `Sheet1!${range}` }, json);
	const message = "There is no space for new columns: 'Town'";
	expect(told).toMatchObject([{ code: 400, message }]);
	expect(stored).toEqual(rows);
});

test('a hint names the columns without a header that are gone, by their letters', async () => {
	const header = ['', 'Item', '', '', 'Total'];
	const spreadsheetId = calls.typed(header, ['left', 'a', 'note', '', 1], ['', 'b', '=1+1']);
	const json = { Item: 'c', Total: 2 };
	const hints = await calls.hints('write', { spreadsheetId, writeMode }, json);
	expect(hints[0]).toContain(
		"now has 1. Columns were removed: 'C'. Formulas are gone or became values: 'C'. To get",
	);
	expect(calls.stored(spreadsheetId)[1]).toEqual(['left', 'c', 2]);
});
