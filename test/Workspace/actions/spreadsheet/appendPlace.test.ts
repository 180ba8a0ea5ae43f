import { testItem } from '../../client';
import { failing } from '../../failure';
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
		const params = { spreadsheetId, range: 'Sheet1', valuesSource: 'items', headerRow, insertDataOption };
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
				{ code: 400, message: expect.stringMatching(/^There is space for only 1 row/) as string },
				{},
			]);
			return;
		}
		const hidden = layout.hiddenRows && insertDataOption === 'OVERWRITE' ? layout.rows.length + 1 : items;
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
	const failure = await failing(
		calls.one('append', { spreadsheetId, range: 'Sheet1!A1', values: [['x', 'y']] }),
	);
	expect(failure.message).toContain('The rows were appended at Sheet1!A1:B1, not below the table');
	expect(failure.carriedOut).toBe(true);
	expect(calls.methods.filter((method) => method === 'values.append')).toHaveLength(1);
});
