import {
	columnsFor,
	type HeaderRow,
	misfitOf,
	readHeaderRow,
	withColumns,
	withLetters,
} from '../../../../nodes/Workspace/actions/spreadsheet/headerRow';
import { parseRange } from '../../../../nodes/Workspace/actions/spreadsheet/range';
import { Spreadsheet } from '../../../../nodes/Workspace/actions/spreadsheet/sheets';
import { testClients } from '../../client';
import { SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

async function read(texts: readonly string[], range = 'Sheet1', row = 1): Promise<HeaderRow> {
	const rows = [...Array.from({ length: row - 1 }, () => ['other']), [...texts]];
	const { sheets } = testClients(calls.google.url, calls.google.tokens.issue());
	return await readHeaderRow(new Spreadsheet(sheets, calls.sheet(rows)), parseRange(range), row);
}

const summary = ({ start, left, right, hasGap, free, room, names, columns }: HeaderRow) => ({
	...{ start, left, right, hasGap, free, room, names },
	columns: Object.fromEntries(columns),
});

const ab = { start: 0, left: 0, right: 1, hasGap: false, free: 2, room: Infinity };

test.each<[string[], string, object]>([
	[['a', 'b'], 'Sheet1', { ...ab, names: ['a', 'b'], columns: { a: 0, b: 1 } }],
	[
		['a', '', 'c'],
		'Sheet1!A1:C1',
		{ right: 2, hasGap: true, free: 3, names: ['a', 'c'], columns: { a: 0, B: 1, c: 2 } },
	],
	[
		['x', 'a', 'b', '', 'd'],
		'Sheet1!B:C',
		{
			start: 1,
			left: 0,
			right: 2,
			hasGap: false,
			free: 3,
			room: 1,
			names: ['a', 'b'],
			columns: { a: 1, b: 2 },
		},
	],
	[['', 'a'], 'Sheet1', { start: 0, left: 1, right: 1, hasGap: false, columns: { A: 0, a: 1 } }],
	[['x', '', 'b'], 'Sheet1!C:D', { start: 2, left: 2, right: 2, free: 3, columns: { b: 2 } }],
	[['a', '', '', 'd'], 'Sheet1!A:C', { right: 0, free: 1, room: 2, hasGap: false, columns: { a: 0 } }],
	[['x', '', '', 'd'], 'Sheet1!B:C', { start: 1, left: 0, free: 1, room: 2, names: [], columns: {} }],
	[[], 'Sheet1', { left: 0, right: 0, free: 0, room: Infinity, hasGap: false, names: [], columns: {} }],
	[[], 'Sheet1!C1:F', { start: 2, left: 2, right: 2, free: 2, room: Infinity, columns: {} }],
	[
		['a', 'a', 'error'],
		'Sheet1',
		{ names: ['a', 'a_2', 'error_2'], columns: { a: 0, a_2: 1, error_2: 2, error: 2 } },
	],
])('%j in %s', async (texts, range, expected) => {
	const found = await read(texts, range);
	expect(summary(found)).toMatchObject(expected);
	expect(found.columns.size).toBe(Object.keys((expected as { columns: object }).columns).length);
});

test('it is found in its row', async () => {
	expect(await read(['a'], 'Sheet1', 3)).toMatchObject({ row: 2, texts: ['a'], title: 'Sheet1', sheetId: 0 });
});

describe('columns that rows name by their letters', () => {
	test.each<[string[], string, string[], object]>([
		[
			['a', 'b'],
			'Sheet1',
			['a', 'C', 'D', 'F'],
			{ right: 3, hasGap: true, free: 4, columns: { C: 2, D: 3 } },
		],
		[['x', 'a', 'b'], 'Sheet1!B:C', ['D'], { right: 3, hasGap: true, free: 4, columns: { a: 1, D: 3 } }],
		[['x', 'a', '', 'd'], 'Sheet1!B:B', ['C', 'D'], { right: 2, free: 3, room: 0, columns: { a: 1, C: 2 } }],
		[
			['', '', 'a'],
			'Sheet1!B:C',
			['B'],
			{ left: 1, right: 2, hasGap: true, free: 3, columns: { B: 1, a: 2 } },
		],
		[['a', '', 'c'], 'Sheet1', ['a'], { right: 2, hasGap: true, columns: { a: 0, B: 1, c: 2 } }],
		[['a', 'b'], 'Sheet1', ['b', 'Z'], { ...ab, columns: { a: 0, b: 1 } }],
		[['a', 'b'], 'Sheet1', ['D'], { ...ab, columns: { a: 0, b: 1 } }],
	])('%j in %s by %j', async (texts, range, names, expected) => {
		expect(summary(withLetters(await read(texts, range), new Set(names)))).toMatchObject(expected);
	});

	test('are names where there is no header', async () => {
		const header = await read([]);
		expect(withLetters(header, new Set(['A', 'B']))).toBe(header);
	});
});

describe('new columns', () => {
	test('are the last ones', async () => {
		const header = await read(['a', 'b']);
		expect(summary(withColumns(header, ['n', 'm']))).toMatchObject({
			right: 3,
			names: ['a', 'b', 'n', 'm'],
			columns: { a: 0, b: 1, n: 2, m: 3 },
		});
		expect(withColumns(header, [])).toBe(header);
	});

	test('stand as far as the next table', async () => {
		const header = await read(['x', 'a', 'b', '', 'd'], 'Sheet1!B:C');
		expect(withColumns(header, ['n']).right).toBe(3);
		const refused = (() => {
			try {
				return withColumns(header, ['n', 'm']);
			} catch (error) {
				return error;
			}
		})();
		expect(refused).toMatchObject({
			message: "There is no space for new columns: 'n', 'm'",
			description: 'Column E of the header row is already in use.',
		});
	});

	const rows = [{ cells: new Map([['a', 1], ['x', 2]]), rowNumber: undefined }]; // prettier-ignore

	test.each([
		[['a'], 'add', ['x']],
		[['a'], 'error', []],
		[['a'], 'ignore', []],
		[[], 'error', ['a', 'x']],
	] as const)('%j, %s: %j', async (texts, extraColumns, expected) => {
		expect(columnsFor(await read(texts), extraColumns, rows).added).toEqual(expected);
	});

	test.each([
		[['a', 'x'], 'error', undefined],
		[['a'], 'error', "The table has no column 'x'"],
		[['a'], 'ignore', undefined],
		[['b'], 'ignore', 'None of the fields of the item is a column of the table'],
		[['b'], 'error', "The table has no column 'a', 'x'"],
	] as const)('%j, %s: %j', async (texts, extraColumns, expected) => {
		expect(misfitOf(rows, await read(texts), { extraColumns })?.message).toBe(expected);
	});
});
