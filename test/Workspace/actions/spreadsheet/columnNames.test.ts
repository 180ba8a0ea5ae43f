// One name of a column for Read, Write, Append, filters and keys, whatever the sheet shows for its header.

import { nameColumns } from '../../../../nodes/Workspace/actions/spreadsheet/table';
import { runNode, token } from '../../runNode';
import { grid, SheetCalls, items } from './sheetCalls';

const calls = new SheetCalls();
const form = {
	output: 'rows',
	valueRenderOption: 'UNFORMATTED_VALUE',
	dateTimeRenderOption: 'ISO_8601',
};
const auto = { tab: 'Sheet1', valuesSource: 'columns', valueInputOption: 'AUTO' };

async function send(name: 'append' | 'write', spreadsheetId: string, more: object, json: object) {
	const [item] = items(json as never);
	return await calls.run(name, { spreadsheetId, ...auto, ...more }, item);
}

test('a name is not so long that V8 compares it with all others of its length', () => {
	const long = 'n'.repeat(20_000);
	const { names, columnsByName } = nameColumns([`${long}1`, `${long}2`, 'short'], 0);
	const cut = `${'n'.repeat(10_000)}…`;
	expect(names).toEqual([cut, `${cut}_2`, 'short']);
	expect([...columnsByName]).toEqual(names.map((name, column) => [name, column]));
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

describe.each(cases)(
	'the header $value as $format is found by $name',
	({ value, format, name }) => {
		function seed(): string {
			const spreadsheetId = calls.sheet(grid(['Key', value], ['a', 1]));
			if (format) calls.google.sheets.format(spreadsheetId, 'Sheet1!B1', format as never);
			return spreadsheetId;
		}
		const stored = (spreadsheetId: string) => calls.stored(spreadsheetId).slice(1);

		test('in Append, Write and Replace', async () => {
			const spreadsheetId = seed();
			await send('append', spreadsheetId, {}, { Key: 'b', [name]: 2 });
			await send('write', spreadsheetId, { matchColumns: 'Key' }, { Key: 'a', [name]: 3 });
			expect(stored(spreadsheetId)).toEqual(grid(['a', 3], ['b', 2]));
			await send('write', spreadsheetId, { writeMode: 'replace' }, { [name]: 4, Key: 'c' });
			expect(calls.stored(spreadsheetId)).toEqual(grid(['Key', value], ['c', 4]));
			await send('write', spreadsheetId, { writeMode: 'overwrite' }, { [name]: 5, Key: 'd' });
			expect(calls.stored(spreadsheetId)).toEqual(grid(['Key', value], ['d', 5]));
		});

		test('in filters and Match Columns', async () => {
			const spreadsheetId = seed();
			const filters = [{ column: name, value: '1' }];
			const [row] = await calls.run('read', { spreadsheetId, ...form, filters });
			expect(row?.json).toMatchObject({ Key: 'a', rowNumber: 2 });
			await send(
				'write',
				spreadsheetId,
				{ matchColumns: [name] },
				{ ...row?.json, Key: 'new' },
			);
			expect(stored(spreadsheetId)).toEqual([['new', 1]]);
		});
	},
);

test('Overwrite leaves columns without a header without one, in a table that has headers', async () => {
	const rows = grid(['B', '', 'Note'], ['a', 1, 'x', 'beside']);
	for (const [column, place] of [
		['', 'Sheet1'],
		['C3', 'Sheet1!C3:F'],
	] as const) {
		const above = column === '' ? [] : [[], []];
		const left = column === '' ? [] : ['', ''];
		const all = [...above, ...rows.map((row) => [...left, ...row])];
		const spreadsheetId = calls.sheet(all);
		const given = { spreadsheetId, tab: '', range: place };
		const read = await calls.run('read', { ...given, ...form });
		for (const { json } of read)
			await send('write', spreadsheetId, { ...given, writeMode: 'overwrite' }, json);
		expect(calls.stored(spreadsheetId)).toEqual(all);
	}
});

test('a tab and a key column that were picked keep the blank at their ends', async () => {
	calls.google.tokens.issue({ token });
	const value = calls.sheet(grid(['Email ', 'Count'], ['a', 1]), 'Data ');
	const parameters = {
		...{
			resource: 'spreadsheet',
			operation: 'write',
			writeMode: 'update',
			matchColumns: ['Email '],
			columns: { mappingMode: 'autoMapInputData', value: null },
		},
		spreadsheetId: { __rl: true, mode: 'id', value },
		tab: { __rl: true, mode: 'list', value: 'Data ' },
	};
	await runNode({
		url: calls.google.url,
		parameters,
		items: [{ json: { 'Email ': 'a', Count: 2 } }],
	});
	expect(calls.stored(value, "'Data '!A:B")).toEqual(grid(['Email ', 'Count'], ['a', 2]));
});

test.each([
	[{}, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
	[{ range: 'Sheet1!A2:B' }, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
	[{ headerRow: 3 }, [{ Name: 'Anna', Age: 31, rowNumber: 4 }]],
	[{ filters: [{ column: 'Age', condition: 'lessThan', value: 31 }] }, []],
])('blank rows above a table are skipped: %j', async (given, expected) => {
	const spreadsheetId = calls.sheet([[], [], ['Name', 'Age'], ['Anna', 31]]);
	const rows = await calls.run('read', { spreadsheetId, ...form, ...given });
	expect(rows.map(({ json }) => json)).toEqual(expected);
});

test.each([
	['append', {}],
	['write', { matchColumns: 'Name' }],
] as const)(
	'below more blank rows than are searched, %s writes no second header',
	async (name, more) => {
		const blankRows = Array.from({ length: 10 }, () => []);
		const spreadsheetId = calls.sheet([...blankRows, ['Name'], ['Anna']]);
		await expect(send(name, spreadsheetId, more, { Name: 'Ben' })).rejects.toMatchObject({
			message: 'The 10 rows from row 1 on are empty, but others below are not',
		});
		await send(name, spreadsheetId, { ...more, headerRow: 11 }, { Name: 'Ben' });
		const stored = calls.stored(spreadsheetId).slice(10);
		expect(stored).toEqual([['Name'], ['Anna'], ['Ben']]);
	},
);

test('rows at the end with nothing but unticked checkboxes are no rows', async () => {
	const prepared = Array.from({ length: 900 }, () => ['', false, false]);
	const rows = [['Name', 'Paid', 'Sent'], ['Anna', true, false], ['', false, false], ['Ben']];
	const spreadsheetId = calls.sheet([...rows, ...prepared]);
	const read = await calls.run('read', { spreadsheetId, ...form });
	expect(read.map(({ json }) => json)).toEqual([
		{ Name: 'Anna', Paid: true, Sent: false, rowNumber: 2 },
		{ Name: '', Paid: false, Sent: false, rowNumber: 3 },
		{ Name: 'Ben', Paid: '', Sent: '', rowNumber: 4 },
	]);
	expect(await calls.run('read', { spreadsheetId, tab: 'Sheet1', output: 'rows' })).toHaveLength(
		3,
	);
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
		expect(calls.stored(spreadsheetId)).toEqual([
			['Subject', 'Sender'],
			['Hi', 'Cleo'],
			['Lunch', 'Ben'],
		]);
		await send('write', spreadsheetId, { writeMode: 'replace' }, { sender: 'Dua' });
		expect(calls.stored(spreadsheetId)).toEqual([['Sender'], ['Dua']]);
	});

	test.each([
		[['Name', 'name'], { NAME: 'x', Name: 'y' }],
		[['Name'], { NAME: 'x', name: 'y' }],
	])('is none of %j in the item %j', async (header, json) => {
		const spreadsheetId = calls.sheet([header]);
		await expect(send('append', spreadsheetId, {}, json)).rejects.toMatchObject({
			message: expect.stringContaining("no column 'NAME'") as string,
		});
	});

	test('finds it whatever the fields of other items are called', async () => {
		const spreadsheetId = calls.sheet([['Subject', 'Sender']]);
		const all = items({ subject: 'a' }, { Subject: 'b' }, { SUBJECT: 'c' });
		const params = { spreadsheetId, ...auto, extraColumns: 'add' };
		await calls.together(
			'append',
			all.map((item) => ({ params, item })),
		);
		expect(calls.stored(spreadsheetId)).toEqual([['Subject', 'Sender'], ['a'], ['b'], ['c']]);
	});

	test('is not looked for if a column has the name itself', async () => {
		const spreadsheetId = calls.sheet([['b'], ['x', 'y']]);
		const byKey = { matchColumns: 'rowNumber' };
		await send('write', spreadsheetId, byKey, { rowNumber: 2, B: 'z' });
		expect(calls.stored(spreadsheetId)).toEqual([['b'], ['x', 'z']]);
	});
});
