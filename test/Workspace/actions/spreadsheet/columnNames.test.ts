// One name of a column for Read, Write, Append, filters and keys, whatever the sheet shows for its header.
import type { IDataObject } from 'n8n-workflow';

import {
	nameColumns,
	findColumnsInAnyCase,
} from '../../../../nodes/Workspace/actions/spreadsheet/columnNames';
import { expectLinear } from '../../../growth';
import { grid, isoForm, mappedByName, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

/** What a new sheet with these rows holds after items were put into it. @throws the first failure */
async function putInto(
	name: 'append' | 'write',
	rows: unknown[][],
	given: object,
	...all: object[]
): Promise<unknown[][]> {
	const spreadsheetId = calls.sheet(rows);
	await calls.send(name, { spreadsheetId, ...given }, ...all);
	return calls.stored(spreadsheetId);
}

describe('names', () => {
	test('are not so long that V8 compares them with all others of their length', () => {
		const long = 'n'.repeat(20_000);
		const { names, columnsByName } = nameColumns([`${long}1`, `${long}2`, 'short'], 0);
		const cut = `${'n'.repeat(10_000)}…`;
		expect(names).toEqual([cut, `${cut}_2`, 'short']);
		expect([...columnsByName]).toEqual(names.map((name, column) => [name, column]));
	});

	test('nor in lower case, in which they may be twice as long', () => {
		const buildHeaders = (text: string) =>
			Array.from(text, (_, at) => `${'İ'.repeat(9990)}${at}`);
		const find = (headers: readonly string[]) =>
			findColumnsInAnyCase(nameColumns(headers, 0), [headers.slice(0, 1)]);
		expectLinear('x', buildHeaders, find, 500);
	});

	test('longer than that find only their own column', () => {
		const long = 'n'.repeat(20_000);
		const columns = nameColumns([`${long}1`], 0);
		const given = [`${long}2`, 'n'.repeat(10_000)];
		const found = findColumnsInAnyCase(
			columns,
			given.map((name) => [name]),
		);
		expect(given.map((name) => found.get(name))).toEqual([undefined, undefined]);
		expect(found.get(columns.names[0] ?? '')).toBe(0);
	});

	test.each<[string, (at: number) => string[]]>([
		['with two in each', (at) => [`n${at}`, `N${at}`]],
		[
			'with the same letters',
			(at) => [`${at.toString(2).replaceAll('0', '\t').replaceAll('1', ' ')}Id`],
		],
	])('of many rows are each looked at once: %s', (_what, namesOf) => {
		const buildRows = (text: string) => Array.from(text, (_, at) => namesOf(at));
		const headers = nameColumns(['id'], 0);
		const find = (rows: string[][]) => findColumnsInAnyCase(headers, rows);
		expectLinear('x', buildRows, find, 2000);
	});

	test('are found for as many equal headers as a sheet has columns', () => {
		const headers = Array.from({ length: 18_278 }, () => 'same');
		expect(nameColumns(headers, 0).names.at(-1)).toBe('same_18278');
	});

	test('of repeated headers are also what stands in the cell, with its blanks', () => {
		expect(Object.fromEntries(nameColumns(['a', 'a '], 3).columnsByName)).toEqual({
			...{ a: 3, a_2: 4, 'a ': 4 },
		});
	});
});

describe.each([
	[2024, 'grouped', '2,024'],
	[0.1, 'percent', '10%'],
	['Email ', undefined, 'Email '],
	['Email ', undefined, 'Email'],
	['Email\u00a0', undefined, 'Email\u00a0'],
	['Email\u00a0', undefined, 'Email'],
	['\uFEFFId', undefined, '\uFEFFId'],
	['\uFEFFId', undefined, 'Id'],
	[45296, 'dd.mm.yyyy', '05.01.2024'],
	[true, undefined, 'TRUE'],
])('the header %j as %s is found by %j', (value, format, name) => {
	function seed(): string {
		const spreadsheetId = calls.sheet(grid(['Key', value], ['a', 1]));
		if (format) calls.format(spreadsheetId, 'B1', format);
		return spreadsheetId;
	}

	test('in Append, Write and Replace', async () => {
		const spreadsheetId = seed();
		const stored = () => calls.stored(spreadsheetId);
		const write = async (given: object, row: object) => {
			await calls.send('write', { spreadsheetId, ...given }, row);
		};
		await calls.send('append', { spreadsheetId }, { Key: 'b', [name]: 2 });
		await write({ matchColumns: 'Key' }, { Key: 'a', [name]: 3 });
		expect(stored()).toEqual(grid(['Key', value], ['a', 3], ['b', 2]));
		await write({ writeMode: 'replace' }, { [name]: 4, Key: 'c' });
		expect(stored()).toEqual(grid(['Key', value], ['c', 4]));
		await write({ writeMode: 'overwrite' }, { [name]: 5, Key: 'd' });
		expect(stored()).toEqual(grid(['Key', value], ['d', 5]));
	});

	test('in filters and Match Columns', async () => {
		const spreadsheetId = seed();
		const filters = [{ column: name, value: '1' }];
		const [row] = await calls.rows({ spreadsheetId, ...isoForm, filters });
		expect(row).toMatchObject({ Key: 'a', rowNumber: 2 });
		await calls.send('write', { spreadsheetId, matchColumns: [name] }, { ...row, Key: 'new' });
		expect(calls.stored(spreadsheetId).slice(1)).toEqual([['new', 1]]);
	});
});

test.each([
	['Sheet1', [], []],
	['Sheet1!C3:F', [[], []], ['', '']],
])('Overwrite leaves columns without a header without one: %s', async (range, above, left) => {
	const table = grid(['B', '', 'Note'], ['a', 1, 'x', 'beside']);
	const all = [...above, ...table.map((row) => [...left, ...row])];
	const given = { spreadsheetId: calls.sheet(all), range };
	const rows = await calls.rows({ ...given, ...isoForm });
	await calls.send('write', { ...given, writeMode: 'overwrite' }, ...rows);
	expect(calls.stored(given.spreadsheetId)).toEqual(all);
});

test('a tab and a key column that were picked keep the blank at their ends', async () => {
	const spreadsheetId = calls.sheet(grid(['Email ', 'Count'], ['a', 1]), 'Data ');
	const tab = { __rl: true, mode: 'list', value: 'Data ' };
	const byKey = { writeMode: 'update', matchColumns: ['Email '], ...mappedByName };
	await calls.form('write', spreadsheetId, { tab, ...byKey }, { 'Email ': 'a', Count: 2 });
	const stored = calls.stored(spreadsheetId, "'Data '!A:B");
	expect(stored).toEqual(grid(['Email ', 'Count'], ['a', 2]));
});

describe('blank rows above a table', () => {
	test.each([
		[{}, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
		[{ range: 'Sheet1!A2:B' }, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
		[{ headerRow: 3 }, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
		[{ filters: [{ column: 'Age', condition: 'lessThan', value: 31 }] }, []],
	])('are skipped: %j', async (given, expected) => {
		const spreadsheetId = calls.sheet([[], [], ['Name', 'Age'], ['Anna', 31]]);
		const rows = await calls.rows({ spreadsheetId, ...isoForm, ...given });
		expect(rows).toEqual(expected);
	});

	test.each([
		['append', {}],
		['write', { matchColumns: 'Name' }],
	] as const)('that are many: %s %j writes no second header', async (name, given) => {
		const rows = [...Array.from({ length: 10 }, () => []), ['Name'], ['Anna']];
		await expect(putInto(name, rows, given, { Name: 'Ben' })).rejects.toThrow(
			'The 10 rows from row 1 on are empty, but others below are not',
		);
		const stored = await putInto(name, rows, { ...given, headerRow: 11 }, { Name: 'Ben' });
		expect(stored).toEqual([...rows, ['Ben']]);
	});
});

test('rows at the end with nothing but unticked checkboxes are no rows', async () => {
	const prepared = Array.from({ length: 900 }, () => ['', false, false]);
	const rows = [['Name', 'Paid', 'Sent'], ['Anna', true, false], ['', false, false], ['Ben']];
	const spreadsheetId = calls.sheet([...rows, ...prepared]);
	const read = await calls.rows({ spreadsheetId, ...isoForm });
	expect(read).toEqual([
		{ Name: 'Anna', Paid: true, Sent: false, rowNumber: 2 },
		{ Name: '', Paid: false, Sent: false, rowNumber: 3 },
		{ Name: 'Ben', Paid: '', Sent: '', rowNumber: 4 },
	]);
	expect(await calls.rows({ spreadsheetId, tab: 'Sheet1' })).toHaveLength(3);
});

const others = grid(['', '', '', 'Other'], ['x', 1, '', 'z']);

test.each<[string, unknown[][], object, object]>([
	["no column 'B'", [[], ['x', 1, 2, 'z']], { range: '' }, {}],
	["no column 'B'", [[], ['x', 1, 2]], { range: 'A:B' }, {}],
	['no space', others, { range: 'A:B', extraColumns: 'add' }, { First: 1, Second: 2 }],
])('without a header, %s by row number: %j %j', async (message, rows, given, json) => {
	const spreadsheetId = calls.sheet(rows);
	const params = { spreadsheetId, tab: 'Sheet1', matchColumns: ['rowNumber'], ...given };
	const sending = calls.send('write', params, { B: 5, ...json, rowNumber: 2 });
	await expect(sending).rejects.toThrow(message);
	expect(calls.stored(spreadsheetId)).toEqual(rows);
});

describe('a name in another case', () => {
	test('finds the only column that has these letters', async () => {
		const header = ['Subject', 'Sender', 'Date'];
		const spreadsheetId = calls.sheet([header, ['Hi', 'Ann']]);
		await calls.send('append', { spreadsheetId }, { subject: 'Lunch', SENDER: 'Ben' });
		const byKey = { spreadsheetId, matchColumns: 'Subject', extraColumns: 'add' };
		await calls.send('write', byKey, { subject: 'Hi', sender: 'Cleo' });
		const stored = calls.stored(spreadsheetId);
		expect(stored).toEqual([header, ['Hi', 'Cleo'], ['Lunch', 'Ben']]);
		const row = { date: 'Monday', sender: 'Dua' };
		await calls.send('write', { spreadsheetId, writeMode: 'replace' }, row);
		expect(calls.stored(spreadsheetId)).toEqual(grid(['Sender', 'Date'], ['Dua', 'Monday']));
	});

	test.each([
		// n8n leaves the byte order mark of a CSV file before the name of its first field.
		...['\uFEFFFirst Name', 'First Name ', 'first\u00a0name', 'First\nName'],
	])('finds it, whatever its white space: %j', async (name) => {
		const table = grid(['First Name', 'Größe'], ['Ann', 1]);
		const rows = [
			{ [name]: 'Ann', ['Gro\u0308ße']: 2 },
			{ [name]: 'Ben', ['Gro\u0308ße']: 3 },
		];
		for (const extraColumns of ['error', 'ignore', 'add']) {
			const byKey = { matchColumns: [name], extraColumns };
			const stored = await putInto('write', table, byKey, ...rows);
			expect(stored).toEqual(grid(['First Name', 'Größe'], ['Ann', 2], ['Ben', 3]));
		}
	});

	test('finds it whatever the fields of other items are called', async () => {
		const all = [{ subject: 'a' }, { Subject: 'b' }, { SUBJECT: 'c' }];
		const header = ['Subject', 'Sender'];
		const stored = await putInto('append', [header], { extraColumns: 'add' }, ...all);
		expect(stored).toEqual([header, ['a'], ['b'], ['c']]);
	});

	test.each<[string[], IDataObject, string]>([
		[['Name', 'name'], { NAME: 'x', Name: 'y' }, 'NAME'],
		[['Name'], { NAME: 'x', name: 'y' }, 'NAME'],
		// The letter of a column without a header.
		[['Name', '', 'Mail'], { Name: 'x', b: 'z' }, 'b'],
	])('is none of %j in the item %j', async (header, json, name) => {
		const sending = putInto('append', [header], {}, json);
		await expect(sending).rejects.toThrow(`no column '${name}'`);
	});

	test.each([
		['ignore', { Name: 'x', name: 'y' }, grid(['Name', 'Age'], ['x'])],
		['add', { Name: 'x', name: 'y' }, grid(['Name', 'Age', 'name'], ['x', '', 'y'])],
		['ignore', { NAME: 'x', name: 'y', Age: 1 }, grid(['Name', 'Age'], ['', 1])],
	])(
		'with Extra Columns %s, the item %j has another column',
		async (extraColumns, json, rows) => {
			const stored = await putInto('append', [['Name', 'Age']], { extraColumns }, json);
			expect(stored).toEqual(rows);
		},
	);

	test('is no letter of a column without a header, but the letter itself is', async () => {
		const header = ['Name', '', 'Mail'];
		const all = [
			{ Name: 'x', b: 'z' },
			{ Name: 'y', B: 'z' },
		];
		const stored = await putInto('append', [header], { extraColumns: 'ignore' }, ...all);
		expect(stored).toEqual(grid(header, ['x'], ['y', 'z']));
	});

	test('in filters and Match Columns', async () => {
		const spreadsheetId = calls.sheet(grid(['Email', 'Name'], ['a', 'Ann'], ['b', 'Ben']));
		const filters = [{ column: 'email', value: 'b' }];
		expect(await calls.rows({ spreadsheetId, filters })).toMatchObject([{ Name: 'Ben' }]);
		const byKey = { spreadsheetId, matchColumns: 'email' };
		await calls.send('write', byKey, { Email: 'a', Name: 'Cleo' });
		await calls.send('write', byKey, { EMAIL: 'b', Name: 'Dua' });
		const stored = calls.stored(spreadsheetId).slice(1);
		expect(stored).toEqual(grid(['a', 'Cleo'], ['b', 'Dua']));
	});

	test('is not looked for if a column has the name itself', async () => {
		const byNumber = { matchColumns: 'rowNumber' };
		const stored = await putInto('write', [['b'], ['x', 'y']], byNumber, {
			rowNumber: 2,
			B: 'z',
		});
		expect(stored).toEqual([['b'], ['x', 'z']]);
	});
});
