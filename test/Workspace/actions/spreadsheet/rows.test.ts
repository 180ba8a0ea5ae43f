import { isNodeError, refusal } from '../../../../nodes/core/errors';
import type { Cell } from '../../../../nodes/Workspace/actions/spreadsheet/cells';
import {
	chunksOf,
	only,
	sendEach,
	widthOf,
	writtenByEach,
} from '../../../../nodes/Workspace/actions/spreadsheet/rows';
import {
	enlarge,
	grown,
	list,
	nativeTableAt,
	resize,
} from '../../../../nodes/Workspace/actions/spreadsheet/sheets';
import { testItem } from '../../client';

test('what was written is counted for each item, and null is not written', () => {
	const all: Cell[][][] = [
		[
			[1, null, ''],
			[null, null, 3],
		],
		[],
		[['a']],
	];
	const results = writtenByEach('id', 'Tab!A1', { row: 4, column: 2 }, all);
	expect(results[0]).toEqual({
		spreadsheetId: 'id',
		updatedRange: 'Tab!C5:E6',
		updatedRows: 2,
		updatedColumns: 2,
		updatedCells: 3,
	});
	expect(results[1]).toMatchObject({ updatedRows: 0, updatedColumns: 0, updatedCells: 0 });
	expect(results[2]).toMatchObject({ updatedRange: 'Tab!C7', updatedCells: 1 });
});

test('the widest row has at least one column', () => {
	expect([[], [[]], [['a'], ['a', 'b'], []]].map((rows) => widthOf(rows))).toEqual([1, 1, 2]);
});

describe('requests of the recommended size', () => {
	// As JSON, with commas: ["é",12],[true], and ["aa"],
	const parts = [[['é', 12], [true]], [['aa']], [['bb']]].map((rows) => ({ rows: rows }));
	const sizes = (largest?: number) => chunksOf(parts, largest).map((chunk) => chunk.length);

	test.each([
		[35, [3]],
		[34, [2, 1]],
		[27, [2, 1]],
		[26, [1, 2]],
		[16, [1, 2]],
		[15, [1, 1, 1]],
		[0, [1, 1, 1]],
		[undefined, [3]],
	])('%d bytes', (largest, expected) => {
		expect(sizes(largest)).toEqual(expected);
	});

	test('of nothing there are none', () => {
		expect(chunksOf([])).toEqual([]);
	});
});

describe('what is sent for each member', () => {
	const refused = refusal('Not this one', 'Because');
	const member = (index: number, othersGoOn: boolean) => ({ item: { ...testItem({ index }), othersGoOn } });
	const sending = (send: (entries: string[]) => Promise<string[]>) => ({
		done: 'written' as const,
		largest: 1,
		rowsOf: (entry: string) => [[entry]],
		send,
	});
	const echo = async (entries: string[]) => await Promise.resolve(entries.map((entry) => `${entry}!`));

	test('an entry that could not be prepared keeps its error where others go on', async () => {
		const members = [7, 8, 9].map((index) => member(index, true));
		expect(await sendEach(['a', refused, 'c'], members, sending(echo))).toEqual(['a!', refused, 'c!']);
	});

	test('and else nothing is sent, for the reason that its item gave', async () => {
		const members = [7, 8, 9].map((index) => member(index, false));
		const send = jest.fn(echo);
		const [first, second, third] = await sendEach(['a', 'b', refused], members, sending(send));
		expect(send).not.toHaveBeenCalled();
		expect(third).toBe(refused);
		expect([first, second]).toMatchObject(
			Array(2).fill({
				code: 400,
				message: 'Nothing was written because of item 9: Not this one',
				description: 'Because',
			}),
		);
	});

	test('behind a failure nothing is sent, and what is no refusal is thrown', async () => {
		const members = [0, 1, 2].map((index) => member(index, true));
		const send = jest.fn(async ([entry]: string[]) => {
			if (entry === 'b') throw refused;
			return await Promise.resolve(['sent']);
		});
		const results = await sendEach(['a', 'b', 'c'], members, sending(send));
		expect(results).toMatchObject([
			'sent',
			{ message: 'Not this one' },
			{
				code: 400,
				message: 'Not sent, because the previous rows were not written: Not this one',
				description: 'Nothing was written for this item.',
			},
		]);
		expect(send).toHaveBeenCalledTimes(2);
		const broken = sendEach(
			['a'],
			members,
			sending(async () => await Promise.reject(new TypeError('broken'))),
		);
		await expect(broken).rejects.toThrow(TypeError);
	});

	test('the only result, or its error', () => {
		expect(only([0])).toBe(0);
		expect(() => only([refused])).toThrow(refused);
		expect(() => only([])).toThrow('There is no result');
		expect(isNodeError(refused)).toBe(true);
	});
});

describe('tables that Google knows', () => {
	const range = { sheetId: 5, startRowIndex: 2, endRowIndex: 6, startColumnIndex: 1, endColumnIndex: 3 };
	const other = { tableId: 'first', range: { endRowIndex: 1, endColumnIndex: 1 } };
	const sheet = { tables: [other, { tableId: 't', range, rowsProperties: { footerColorStyle: {} } }] };

	test.each([
		[2, 1, 't'],
		[5, 2, 't'],
		[1, 1, undefined],
		[6, 1, undefined],
		[2, 0, undefined],
		[2, 3, undefined],
		[0, 0, 'first'],
		[0, 1, undefined],
		[1, 0, undefined],
	])('row %d, column %d is in %s', (row, column, tableId) => {
		expect(nativeTableAt(sheet, { row, column })?.tableId).toBe(tableId);
	});

	test('end above their footer, and grow', () => {
		expect(nativeTableAt(sheet, { row: 0, column: 0 })).toEqual({
			tableId: 'first',
			range: { sheetId: 0, startRowIndex: 0, endRowIndex: 1, startColumnIndex: 0, endColumnIndex: 1 },
			bodyEnd: 1,
		});
		const table = nativeTableAt(sheet, { row: 2, column: 1 });
		expect(table).toEqual({ tableId: 't', range, bodyEnd: 5 });
		const larger = table && grown(table, 2, 1);
		expect(larger).toEqual({
			tableId: 't',
			range: { ...range, endRowIndex: 8, endColumnIndex: 4 },
			bodyEnd: 7,
		});
		expect(larger && resize(larger)).toEqual({
			updateTable: { table: { tableId: 't', range: larger?.range }, fields: 'range' },
		});
	});

	test('a tab without tables has none', () => {
		expect(nativeTableAt({}, { row: 0, column: 0 })).toBeUndefined();
	});
});

test('a tab grows by what is missing', () => {
	const tab = { sheetId: 3, rowCount: 10, columnCount: 4 };
	const appended = (dimension: string, length: number) => ({
		appendDimension: { sheetId: 3, dimension, length },
	});
	expect(enlarge(tab, { rows: 10, columns: 4 })).toEqual([]);
	expect(enlarge(tab, { rows: 11 })).toEqual([appended('ROWS', 1)]);
	expect(enlarge(tab, { columns: 7 })).toEqual([appended('COLUMNS', 3)]);
	expect(enlarge(tab, { rows: 12, columns: 5 })).toEqual([appended('ROWS', 2), appended('COLUMNS', 1)]);
});

test('of many names, twenty are listed', () => {
	const names = Array.from({ length: 21 }, (_, at) => `n${at}`);
	expect(list(names.slice(0, 20))).toMatch(/, 'n19'$/);
	expect(list(names)).toMatch(/, 'n19', 1 more$/);
	expect(list(['x'.repeat(60), 'y'.repeat(61)])).toBe(`'${'x'.repeat(60)}', '${'y'.repeat(60)}…'`);
});
