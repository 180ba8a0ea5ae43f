import type { Cell } from '../../../../nodes/Workspace/actions/spreadsheet/cells';
import type { SheetTable } from '../../../../nodes/Workspace/actions/spreadsheet/tableHeader';
import {
	parseAppendResponse,
	isDirectlyBelowHeader,
	isPlacementProven,
	type AppendPlace,
	getPlaceBelowHeader,
	getPlaceInTarget,
	repairPlace,
} from '../../../../nodes/Workspace/actions/spreadsheet/appendPlace';
import { parseRange } from '../../../../nodes/Workspace/actions/spreadsheet/range';
import { Spreadsheet } from '../../../../nodes/Workspace/actions/spreadsheet/spreadsheet';
import { testClients, testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

interface Layout {
	readonly rows: unknown[][];
	readonly hiddenRows?: number[];
	readonly hiddenColumns?: number[];
	/** Row of the header, from 1. */
	readonly headerRow?: number;
	/** Ranges of the rows, and the row that they are to land in. */
	readonly json: ReadonlyArray<readonly [range: string, row: number]>;
	readonly range?: string;
	/** Row that items are to land in. */
	readonly items: number;
	/** Under OVERWRITE there is no room. */
	readonly noRoom?: boolean;
}

const header = ['Name', 'Age'];
const people = [
	['Anna', 31],
	['Ben', 42],
];
const layouts: Record<string, Layout> = {
	'column A of the header is blank': {
		rows: [
			['', ...header],
			['', 'Anna', 31],
		],
		json: [
			['Sheet1!A1', 3],
			['Sheet1', 3],
			['Sheet1!A:C', 3],
			['Sheet1!A1:C1', 3],
		],
		items: 3,
	},
	'column A has cells, but no header': {
		rows: [
			['', ...header],
			['x', 'Anna', 31],
			['y', 'Ben', 42],
		],
		json: [
			['Sheet1!A1', 4],
			['Sheet1!A:C', 4],
		],
		items: 4,
	},
	'a header alone, with column A blank': {
		rows: [['', ...header]],
		json: [
			['Sheet1!A1', 2],
			['Sheet1', 2],
		],
		items: 2,
	},
	'a title above the table': {
		rows: [['Report 2026'], [], header, ...people],
		headerRow: 3,
		json: [
			['Sheet1!A1', 6],
			['Sheet1!A:B', 6],
			['Sheet1', 6],
		],
		items: 6,
	},
	'a blank row below the header': {
		rows: [header, [], ...people],
		json: [
			['Sheet1', 5],
			['Sheet1!A:B', 5],
		],
		items: 2,
		noRoom: true,
	},
	'the last rows are hidden': {
		rows: [header, ...people, ['Cleo', 53]],
		hiddenRows: [3, 4],
		json: [],
		items: 3,
	},
	'all rows are hidden': {
		rows: [header, ...people],
		hiddenRows: [1, 2, 3],
		json: [
			['Sheet1', 4],
			['Sheet1!A1', 4],
		],
		items: 4,
	},
	'column A is hidden': {
		rows: [header, ...people],
		hiddenColumns: [1],
		json: [
			['Sheet1', 4],
			['Sheet1!A1', 4],
			['Sheet1!A1:B1', 4],
		],
		items: 4,
	},
	'all columns are hidden': {
		rows: [header, ...people],
		hiddenColumns: [1, 2],
		json: [
			['Sheet1', 4],
			['Sheet1!A1', 4],
		],
		items: 4,
	},
	'a gap in the header, its last column empty': {
		rows: [['Name', '', 'Age'], ['Anna'], ['Ben']],
		json: [
			['Sheet1!A1:C1', 4],
			['Sheet1!A1', 4],
		],
		items: 4,
	},
	'the columns of the range are empty': {
		rows: [header, ...people],
		json: [
			['Sheet1!F:G', 4],
			['Sheet1!F1', 4],
		],
		items: 4,
	},
};

function book({ rows, hiddenRows, hiddenColumns }: Layout): string {
	return calls.google.sheets.seed({
		title: 'Book',
		tabs: [{ title: 'Sheet1', rows, hiddenRows, hiddenColumns }],
	});
}

/** What stood there before still stands there, in its order, and only below its header is anything new. */
function expectKept(spreadsheetId: string, { rows, headerRow = 1 }: Layout): void {
	const stored = calls.stored(spreadsheetId, 'Sheet1');
	const before = rows.map((row) => JSON.stringify(row));
	const kept = stored.map((row) => JSON.stringify(row)).filter((row) => before.includes(row));
	expect(kept.filter((row) => row !== '[]')).toEqual(before.filter((row) => row !== '[]'));
	expect(stored.slice(0, headerRow)).toEqual(rows.slice(0, headerRow));
}

function rangeOf(result: unknown): string {
	return (result as { updatedRange: string }).updatedRange;
}

function rowOf(range: string): number {
	return Number(/![A-Z]+(\d+)/.exec(range)?.[1]);
}

describe.each(Object.entries(layouts))('%s', (_, layout) => {
	for (const [range, row] of layout.json)
		test(`INSERT_ROWS, rows to ${range}`, async () => {
			const spreadsheetId = book(layout);
			const params = {
				spreadsheetId,
				range,
				values: [
					['new', 1],
					['newer', 2],
				],
			};
			const updatedRange = rangeOf(await calls.one('append', params));
			expectKept(spreadsheetId, layout);
			expect(rowOf(updatedRange)).toBe(row);
			expect(calls.stored(spreadsheetId, updatedRange)).toEqual(params.values);
			const column = /!([A-Z]+)/.exec(range)?.[1] ?? 'A';
			expect(updatedRange).toContain(`!${column}${row}:`);
		});

	for (const [range, row] of layout.json.filter(([range]) => !range.includes('F')))
		test(`OVERWRITE, rows to ${range}`, async () => {
			const spreadsheetId = book(layout);
			const params = {
				spreadsheetId,
				range,
				values: [
					['new', 1],
					['newer', 2],
				],
				insertDataOption: 'OVERWRITE',
			};
			const updatedRange = rangeOf(await calls.one('append', params));
			expectKept(spreadsheetId, layout);
			expect(rowOf(updatedRange)).toBe(row);
			expect(calls.stored(spreadsheetId, updatedRange)).toEqual(params.values);
		});

	test.each(['INSERT_ROWS', 'OVERWRITE'])('%s, an item', async (insertDataOption) => {
		const spreadsheetId = book(layout);
		const { headerRow = 1, items } = layout;
		const params = {
			spreadsheetId,
			range: 'Sheet1',
			valuesSource: 'items',
			headerRow,
			insertDataOption,
		};
		const given = [
			{ Name: 'new', Age: 1 },
			{ Name: 'newer', Age: 2 },
		].map((json) => ({
			params,
			item: testItem({ json }),
		}));
		const appended = await calls.together('append', given);
		expectKept(spreadsheetId, layout);
		if (insertDataOption === 'OVERWRITE' && layout.noRoom) {
			expect(appended).toMatchObject([
				{
					code: 400,
					message: expect.stringMatching(/^There is space for only 1 row/) as string,
				},
				{},
			]);
			return;
		}
		const hidden =
			layout.hiddenRows && insertDataOption === 'OVERWRITE' ? layout.rows.length + 1 : items;
		const ranges = appended.map(rangeOf);
		expect(ranges.map(rowOf)).toEqual([hidden, hidden + 1]);
		expect(ranges.map((range) => calls.stored(spreadsheetId, range))).toMatchObject([
			[expect.arrayContaining(['new', 1])],
			[expect.arrayContaining(['newer', 2])],
		]);
	});
});

test('rows that cannot be moved are named, and never sent again', async () => {
	const spreadsheetId = book({ rows: [['', ...header]], json: [], items: 2 });
	calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', status: 403 });
	const failure = await catchFailure(
		calls.one('append', { spreadsheetId, range: 'Sheet1!A1', values: [['x', 'y']] }),
	);
	expect(failure.message).toContain(
		'The rows were appended at Sheet1!A1:B1, not below the table',
	);
	expect(failure.outcome).toBe('done');
	expect(calls.methods.filter((method) => method === 'values.append')).toHaveLength(1);
});

describe('the free rows below a table, for OVERWRITE', () => {
	const overwrite = async (
		rows: unknown[][],
		given: object,
		size: { rowCount?: number } = {},
	) => {
		const spreadsheetId = calls.sheet(rows, 'Sheet1', size);
		const params = {
			spreadsheetId,
			range: 'Sheet1!A1',
			insertDataOption: 'OVERWRITE',
			...given,
		};
		return await calls.one('append', params);
	};

	test.each([
		[1, '1 row', 4],
		[2, '2 rows', 5],
	])('where %d are blank there is no room for three', async (count, free, row) => {
		const blank = Array.from({ length: count }, () => []);
		const values = [['x'], ['y'], ['z']];
		const failure = await catchFailure(
			overwrite([['Name'], ['Anna'], ...blank, ['other']], { values }),
		);
		expect(failure.message).toBe(
			`There is space for only ${free} below the table: row ${row} has data from column A on`,
		);
		expect(calls.methods).not.toContain('values.append');
	});

	test.each([
		[2, 'INSERT_ROWS'],
		[3, 'OVERWRITE'],
	])('a tab of %d rows: %s', async (rowCount, sent) => {
		const appended = await overwrite([['Name'], ['Anna']], { values: [['x']] }, { rowCount });
		expect(rangeOf(appended)).toBe('Sheet1!A3');
		expect(calls.sent.at(-1)?.query).toMatchObject({ insertDataOption: sent });
	});

	test.each<[string, unknown[][], unknown[][], string]>([
		['a title alone', [['Report']], [['x', 'y']], 'Sheet1!A2:B2'],
		[
			'a title above a wider table',
			[['Report'], [], ['a', 'b'], [1, 2]],
			[['x', 'y']],
			'Sheet1!A5:B5',
		],
		['a cell above another table', [['Name'], [], ['a', 'b'], [1, 2]], [['x']], 'Sheet1!A2'],
		['a header of two columns', [['a', 'b'], [], ['c', 'd']], [['x', 'y']], 'Sheet1!A2:B2'],
		[
			'all of its columns',
			[
				['a', 'b'],
				[1, 2],
				['', 3],
			],
			[['x', 'y']],
			'Sheet1!A4:B4',
		],
	])('below %s', async (_, rows, values, range) => {
		expect(rangeOf(await overwrite(rows, { values }))).toBe(range);
	});

	test('cells beside the columns of the rows do not count', async () => {
		const rows = [...people.slice(0, 1), ['', 3]];
		await overwrite(rows, { values: [['x']] });
		expect(calls.sent.at(-1)?.path).toContain('Sheet1!A2:append');
	});
});

describe('what Google answers', () => {
	const answered = (updatedRange: string, tableRange?: string) =>
		parseAppendResponse({ tableRange, updates: { updatedRange } });
	const place = (scope: AppendPlace['scope'], more: Partial<AppendPlace> = {}): AppendPlace => ({
		...{
			searchRange: '',
			tab: undefined,
			searchStartRow: 0,
			column: 0,
			lastColumn: undefined,
			scope,
		},
		...more,
	});

	test('says where the rows are', () => {
		expect(answered('Sheet1!B4:D5', 'Sheet1!B1:D3')).toEqual({
			updatedRange: 'Sheet1!B4:D5',
			tableRange: 'Sheet1!B1:D3',
			start: { row: 3, column: 1 },
			lastColumn: 3,
		});
		expect(answered('Sheet1!B4')).toMatchObject({
			start: { row: 3, column: 1 },
			lastColumn: 1,
		});
	});

	test('rows above the first row of the range stay below a table there', async () => {
		const { sheets } = testClients(calls.google.url, calls.google.tokens.issue());
		const rows = [header, ['Anna', 31], ['new', 1], [], ['', '', '', 'beside']];
		const spreadsheet = new Spreadsheet(sheets, calls.sheet(rows));
		const rowsAbove = {
			...answered('Sheet1!A3:B3'),
			place: place('all', { searchStartRow: 4 }),
		};
		const options = { valueInputOption: 'RAW', insertDataOption: 'INSERT_ROWS' } as const;
		const start = await repairPlace(spreadsheet, options, {
			...rowsAbove,
			values: [['new', 1]],
		});
		expect(start).toEqual({ row: 2, column: 0 });
	});

	test.each<[string, string, string | undefined, AppendPlace, Cell[], number?]>([
		['yes', 'S!A4', 'S!A1:B3', place('all'), ['x']],
		['no, in another column', 'S!A4', 'S!A1:B3', place('all', { column: 1 }), ['x']],
		['no, without a table', 'S!A4', undefined, place('all'), ['x']],
		[
			'no, if there may be several tables',
			'S!A4',
			'S!A1:B3',
			place('all', { isUnsure: true }),
			['x'],
		],
		['no, in the table', 'S!A3', 'S!A1:B3', place('all'), ['x']],
		['no, in the only cell of the table', 'S!A1', 'S!A1', place('all'), ['x']],
		['yes, below one cell', 'S!A2', 'S!A1', place('block'), ['x']],
		['no, one cell may be a title', 'S!A2', 'S!A1', place('block'), ['x', 'y']],
		['yes, a line is a table', 'S!A2', 'S!A1:B1', place('block'), ['x', 'y']],
		['yes, a column is a table', 'S!A3', 'S!A1:A2', place('block'), ['x', 'y']],
		['yes, below its header', 'S!A4', 'S!A2:B3', place('header', { searchStartRow: 1 }), ['x']],
		[
			'yes, below a header that has rows above',
			'S!A4',
			'S!A1:B3',
			place('header', { searchStartRow: 2 }),
			['x'],
		],
		[
			'no, below another table',
			'S!A9',
			'S!A6:B8',
			place('header', { searchStartRow: 1 }),
			['x'],
		],
		['no, above the header', 'S!A4', 'S!A1:B3', place('header', { searchStartRow: 3 }), ['x']],
		['yes, at the row that was asked for', 'S!A4', undefined, place('all'), ['x'], 3],
		['yes, further down', 'S!A5', undefined, place('all'), ['x'], 3],
		['no, above it', 'S!A3', undefined, place('all'), ['x'], 3],
	])(
		'whether that proves the place: %s',
		(answer, updatedRange, tableRange, known, row, ...[rowBelowTable]) => {
			const appended = {
				...answered(updatedRange, tableRange),
				rowBelowTable,
				place: known,
				values: [row],
			};
			expect(isPlacementProven(appended)).toBe(answer.startsWith('yes'));
		},
	);

	test.each<[boolean, string | undefined, AppendPlace, number]>([
		[true, undefined, place('header', { searchStartRow: 2 }), 3],
		[false, undefined, place('header', { searchStartRow: 2 }), 4],
		[true, 'S!A1:B1', place('all'), 1],
		[false, 'S!A1:B3', place('all'), 3],
		[false, 'S!A1:B3', place('all'), 1],
		[false, undefined, place('all'), 1],
	])('the first rows below a header: %s', (expected, tableRange, known, startRow) => {
		const appendedRows = { ...answered('S!A9', tableRange), place: known, values: [] };
		expect(isDirectlyBelowHeader(appendedRows, startRow)).toBe(expected);
	});
});

describe('where a table is looked for', () => {
	test.each<[string, Partial<AppendPlace>]>([
		[
			'Sheet1',
			{
				tab: 'Sheet1',
				searchRange: 'Sheet1',
				searchStartRow: 0,
				column: 0,
				lastColumn: undefined,
				scope: 'all',
			},
		],
		[
			"'My Tab'!C:D",
			{ tab: 'My Tab', searchRange: "'My Tab'!C:D", column: 2, lastColumn: 3, scope: 'all' },
		],
		[
			'C3',
			{ tab: undefined, searchStartRow: 2, column: 2, lastColumn: undefined, scope: 'block' },
		],
		['C3:D9', { searchStartRow: 2, column: 2, lastColumn: 3, scope: 'block' }],
		['C3:D', { searchStartRow: 2, scope: 'all' }],
	])('%s', (range, expected) => {
		expect(getPlaceInTarget(parseRange(range))).toMatchObject(expected);
	});

	test.each([
		[false, "'Q1'!B3:D3"],
		[true, "'Q1'!B3:D"],
	])('below a header, whose cells have a gap: %s', (hasGap, searchRange) => {
		const table = {
			target: parseRange("'Q1'"),
			header: { firstColumn: 1, lastColumn: 3, row: 2, hasGap },
		} as SheetTable;
		const expected = {
			searchRange,
			tab: 'Q1',
			searchStartRow: 2,
			column: 1,
			lastColumn: 3,
			scope: 'header',
			isUnsure: hasGap,
		};
		expect(getPlaceBelowHeader(table)).toEqual(expected);
		expect(getPlaceBelowHeader({ ...table, target: parseRange('Leads') })).toMatchObject({
			tab: 'Leads',
		});
	});
});
