// One name of a column for Read, Write, Append, filters and keys, whatever the sheet shows for its header.
import type { IDataObject } from 'n8n-workflow';

import {
	nameColumns,
	nameInOtherCase,
} from '../../../../nodes/Workspace/actions/spreadsheet/table';
import { expectLinear } from '../../../growth';
import { grid, isoForm, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
async function send(
	name: 'append' | 'write',
	spreadsheetId: string,
	more: object,
	...all: object[]
): Promise<void> {
	const given = { spreadsheetId, tab: 'Sheet1', valueInputOption: 'AUTO', ...more };
	const outcomes = await calls.give(name, given, ...(all as IDataObject[]));
	for (const outcome of outcomes) if (outcome instanceof Error) throw outcome;
}

test('a name is not so long that V8 compares it with all others of its length', () => {
	const long = 'n'.repeat(20_000);
	const { names, columnsByName } = nameColumns([`${long}1`, `${long}2`, 'short'], 0);
	const cut = `${'n'.repeat(10_000)}…`;
	expect(names).toEqual([cut, `${cut}_2`, 'short']);
	expect([...columnsByName]).toEqual(names.map((name, column) => [name, column]));
});

test('nor a name in lower case, which may be twice as long', () => {
	const buildHeaders = (text: string) => Array.from(text, (_, at) => `${'İ'.repeat(9990)}${at}`);
	const find = (headers: readonly string[]) =>
		nameInOtherCase(nameColumns(headers, 0), headers.slice(0, 1));
	expectLinear('x', buildHeaders, find, 500);
});

const headers: ReadonlyArray<readonly [unknown, string | undefined, readonly string[]]> = [
	[2024, 'grouped', ['2,024']],
	[0.1, 'percent', ['10%']],
	['Email ', undefined, ['Email ', 'Email']],
	['Email\u00a0', undefined, ['Email\u00a0', 'Email']],
	['\uFEFFId', undefined, ['\uFEFFId', 'Id']],
	[45296, 'dd.mm.yyyy', ['05.01.2024']],
	[true, undefined, ['TRUE']],
];
const cases = headers.flatMap(([value, format, names]) =>
	names.map((name) => ({ value, format, name })),
);

describe.each(cases)('the header $value as $format is found by $name', (header) => {
	const { value, format, name } = header;
	function seed(): string {
		const spreadsheetId = calls.sheet(grid(['Key', value], ['a', 1]));
		if (format) calls.google.sheets.format(spreadsheetId, 'Sheet1!B1', format as never);
		return spreadsheetId;
	}

	test('in Append, Write and Replace', async () => {
		const spreadsheetId = seed();
		const stored = () => calls.stored(spreadsheetId);
		await send('append', spreadsheetId, {}, { Key: 'b', [name]: 2 });
		await send('write', spreadsheetId, { matchColumns: 'Key' }, { Key: 'a', [name]: 3 });
		expect(stored()).toEqual(grid(['Key', value], ['a', 3], ['b', 2]));
		await send('write', spreadsheetId, { writeMode: 'replace' }, { [name]: 4, Key: 'c' });
		expect(stored()).toEqual(grid(['Key', value], ['c', 4]));
		await send('write', spreadsheetId, { writeMode: 'overwrite' }, { [name]: 5, Key: 'd' });
		expect(stored()).toEqual(grid(['Key', value], ['d', 5]));
	});

	test('in filters and Match Columns', async () => {
		const spreadsheetId = seed();
		const filters = [{ column: name, value: '1' }];
		const [row] = await calls.rows({ spreadsheetId, ...isoForm, filters });
		expect(row).toMatchObject({ Key: 'a', rowNumber: 2 });
		await send('write', spreadsheetId, { matchColumns: [name] }, { ...row, Key: 'new' });
		expect(calls.stored(spreadsheetId).slice(1)).toEqual([['new', 1]]);
	});
});

test.each([
	['Sheet1', [], []],
	['Sheet1!C3:F', [[], []], ['', '']],
])('Overwrite leaves columns without a header without one: %s', async (range, above, left) => {
	const table = grid(['B', '', 'Note'], ['a', 1, 'x', 'beside']);
	const all = [...above, ...table.map((row) => [...left, ...row])];
	const given = { spreadsheetId: calls.sheet(all), tab: '', range };
	const rows = await calls.rows({ ...given, ...isoForm });
	await send('write', given.spreadsheetId, { ...given, writeMode: 'overwrite' }, ...rows);
	expect(calls.stored(given.spreadsheetId)).toEqual(all);
});

test('a tab and a key column that were picked keep the blank at their ends', async () => {
	const spreadsheetId = calls.sheet(grid(['Email ', 'Count'], ['a', 1]), 'Data ');
	const fields = {
		...{ writeMode: 'update', matchColumns: ['Email '] },
		tab: { __rl: true, mode: 'list', value: 'Data ' },
		columns: { mappingMode: 'autoMapInputData', value: null },
	};
	await calls.form('write', spreadsheetId, fields, { 'Email ': 'a', Count: 2 });
	const stored = calls.stored(spreadsheetId, "'Data '!A:B");
	expect(stored).toEqual(grid(['Email ', 'Count'], ['a', 2]));
});

test.each([
	[{}, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
	[{ range: 'Sheet1!A2:B' }, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
	[{ headerRow: 3 }, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
	[{ filters: [{ column: 'Age', condition: 'lessThan', value: 31 }] }, []],
])('blank rows above a table are skipped: %j', async (given, expected) => {
	const spreadsheetId = calls.sheet([[], [], ['Name', 'Age'], ['Anna', 31]]);
	const rows = await calls.rows({ spreadsheetId, ...isoForm, ...given });
	expect(rows).toEqual(expected);
});

test.each([
	['append', {}],
	['write', { matchColumns: 'Name' }],
] as const)('far below blank rows, %s writes no second header', async (name, more) => {
	const blankRows = Array.from({ length: 10 }, () => []);
	const spreadsheetId = calls.sheet([...blankRows, ['Name'], ['Anna']]);
	await expect(send(name, spreadsheetId, more, { Name: 'Ben' })).rejects.toThrow(
		'The 10 rows from row 1 on are empty, but others below are not',
	);
	await send(name, spreadsheetId, { ...more, headerRow: 11 }, { Name: 'Ben' });
	const stored = calls.stored(spreadsheetId).slice(10);
	expect(stored).toEqual([['Name'], ['Anna'], ['Ben']]);
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

test('new columns after columns without a header do not overwrite the header of another table', async () => {
	const rows = grid(['', '', '', 'Other'], ['x', 1, '', 'z']);
	const spreadsheetId = calls.sheet(rows);
	const params = { range: 'A:B', matchColumns: ['rowNumber'], extraColumns: 'add' };
	const item = { B: 5, First: 1, Second: 2, rowNumber: 2 };
	await expect(send('write', spreadsheetId, params, item)).rejects.toThrow(
		'There is no space for new columns',
	);
	expect(calls.stored(spreadsheetId)).toEqual(rows);
});

test.each([
	['', [[], ['x', 1, 2, 'z']]],
	['A:B', [[], ['x', 1, 2]]],
])('rows without a header are not written by their numbers: %s', async (range, rows) => {
	const spreadsheetId = calls.sheet(rows);
	const params = { range, matchColumns: ['rowNumber'] };
	await expect(send('write', spreadsheetId, params, { B: 5, rowNumber: 2 })).rejects.toThrow(
		"The table has no column 'B'",
	);
	expect(calls.stored(spreadsheetId)).toEqual(rows);
});

describe('a name in another case', () => {
	test('finds the only column that has these letters', async () => {
		const spreadsheetId = calls.sheet(grid(['Subject', 'Sender'], ['Hi', 'Ann']));
		await send('append', spreadsheetId, {}, { subject: 'Lunch', SENDER: 'Ben' });
		const byKey = { matchColumns: 'Subject', extraColumns: 'add' };
		await send('write', spreadsheetId, byKey, { subject: 'Hi', sender: 'Cleo' });
		const header = ['Subject', 'Sender'];
		const stored = calls.stored(spreadsheetId);
		expect(stored).toEqual([header, ['Hi', 'Cleo'], ['Lunch', 'Ben']]);
		await send('write', spreadsheetId, { writeMode: 'replace' }, { sender: 'Dua' });
		expect(calls.stored(spreadsheetId)).toEqual([['Sender'], ['Dua']]);
	});

	test.each([
		[['Name', 'name'], { NAME: 'x', Name: 'y' }],
		[['Name'], { NAME: 'x', name: 'y' }],
	])('is none of %j in the item %j', async (header, json) => {
		const spreadsheetId = calls.sheet([header]);
		const sending = send('append', spreadsheetId, {}, json);
		await expect(sending).rejects.toThrow("no column 'NAME'");
	});

	test('finds it whatever the fields of other items are called', async () => {
		const spreadsheetId = calls.sheet([['Subject', 'Sender']]);
		const all = [{ subject: 'a' }, { Subject: 'b' }, { SUBJECT: 'c' }];
		await send('append', spreadsheetId, { extraColumns: 'add' }, ...all);
		const stored = calls.stored(spreadsheetId);
		expect(stored).toEqual([['Subject', 'Sender'], ['a'], ['b'], ['c']]);
	});

	test.each([
		['ignore', { Name: 'x', name: 'y' }, grid(['Name', 'Age'], ['x'])],
		['add', { Name: 'x', name: 'y' }, grid(['Name', 'Age', 'name'], ['x', '', 'y'])],
		['ignore', { NAME: 'x', name: 'y', Age: 1 }, grid(['Name', 'Age'], ['', 1])],
	])(
		'with Extra Columns %s, the item %j has another column',
		async (extraColumns, json, rows) => {
			const spreadsheetId = calls.sheet([['Name', 'Age']]);
			await send('append', spreadsheetId, { extraColumns }, json);
			expect(calls.stored(spreadsheetId)).toEqual(rows);
		},
	);

	test('keeps columns in their places in Replace', async () => {
		const rows = grid(['Date', 'Amount'], ['Monday', 2]);
		const spreadsheetId = calls.sheet([...rows, ['Tuesday', 3]]);
		const json = { amount: 2, date: 'Monday' };
		await send('write', spreadsheetId, { writeMode: 'replace' }, json);
		expect(calls.stored(spreadsheetId)).toEqual(rows);
	});

	test('is no letter of a column without a header', async () => {
		const header = ['Name', '', 'Mail'];
		const spreadsheetId = calls.sheet([header]);
		const sending = send('append', spreadsheetId, {}, { Name: 'x', b: 'z' });
		await expect(sending).rejects.toThrow("no column 'b'");
		const given = { extraColumns: 'ignore' };
		await send('append', spreadsheetId, given, { Name: 'x', b: 'z' }, { Name: 'y', B: 'z' });
		expect(calls.stored(spreadsheetId)).toEqual(grid(header, ['x'], ['y', 'z']));
	});

	test('in filters and Match Columns', async () => {
		const rows = grid(['Email', 'Name'], ['a', 'Ann'], ['b', 'Ben']);
		const spreadsheetId = calls.sheet(rows);
		const filters = [{ column: 'email', value: 'b' }];
		expect(await calls.rows({ spreadsheetId, filters })).toMatchObject([{ Name: 'Ben' }]);
		const byKey = { matchColumns: 'email' };
		await send('write', spreadsheetId, byKey, { Email: 'a', Name: 'Cleo' });
		await send('write', spreadsheetId, byKey, { EMAIL: 'b', Name: 'Dua' });
		const stored = calls.stored(spreadsheetId).slice(1);
		expect(stored).toEqual(grid(['a', 'Cleo'], ['b', 'Dua']));
	});

	test('is not looked for if a column has the name itself', async () => {
		const spreadsheetId = calls.sheet([['b'], ['x', 'y']]);
		const byKey = { matchColumns: 'rowNumber' };
		await send('write', spreadsheetId, byKey, { rowNumber: 2, B: 'z' });
		expect(calls.stored(spreadsheetId)).toEqual([['b'], ['x', 'z']]);
	});
});
