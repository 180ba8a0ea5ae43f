import { readParameters } from '../../../../nodes/fields/params';
import { tab } from '../../../../nodes/Workspace/actions/spreadsheet/fields';
import { listNames } from '../../../../nodes/core/text';
import {
	parseRange,
	parseBounds,
	toColumnLetters,
	printTarget,
	parseTarget,
} from '../../../../nodes/Workspace/actions/spreadsheet/range';
import { findNativeTable } from '../../../../nodes/Workspace/actions/spreadsheet/spreadsheet';

describe('tabs', () => {
	describe('tables that Google knows', () => {
		const range = {
			sheetId: 5,
			startRowIndex: 2,
			endRowIndex: 6,
			startColumnIndex: 1,
			endColumnIndex: 3,
		};
		const other = { tableId: 'first', range: { endRowIndex: 1, endColumnIndex: 1 } };
		const sheet = {
			tables: [other, { tableId: 't', range, rowsProperties: { footerColorStyle: {} } }],
		};

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
			expect(findNativeTable(sheet, { row, column })?.tableId).toBe(tableId);
		});

		test('end above their footer, and grow', () => {
			expect(findNativeTable(sheet, { row: 0, column: 0 })).toEqual({
				tableId: 'first',
				range: {
					sheetId: 0,
					startRowIndex: 0,
					endRowIndex: 1,
					startColumnIndex: 0,
					endColumnIndex: 1,
				},
				bodyEnd: 1,
			});
			const table = findNativeTable(sheet, { row: 2, column: 1 });
			expect(table).toEqual({ tableId: 't', range, bodyEnd: 5 });
		});

		test('a tab without tables has none', () => {
			expect(findNativeTable({}, { row: 0, column: 0 })).toBeUndefined();
		});
	});

	test('of many names, twenty are listed', () => {
		const names = Array.from({ length: 21 }, (_, at) => `n${at}`);
		expect(listNames(names.slice(0, 20))).toMatch(/, 'n19'$/);
		expect(listNames(names)).toMatch(/, 'n19', 1 more$/);
		expect(listNames(['x'.repeat(60), 'y'.repeat(61)])).toBe(
			`'${'x'.repeat(60)}', '${'y'.repeat(60)}…'`,
		);
	});
});

describe('ranges', () => {
	test.each<[string, object]>([
		['Leads', { name: 'Leads' }],
		['Sheet 1', { tab: 'Sheet 1' }],
		[' A1:B2 ', { a1: 'A1:B2' }],
		["'Q1'", { tab: 'Q1' }],
		["'Jon''s'!A:B", { tab: "Jon's", a1: 'A:B' }],
		['Q1!Leads', { tab: 'Q1!Leads' }],
		['x!A1', { tab: 'x', a1: 'A1' }],
		['a!b!A1', { tab: 'a!b', a1: 'A1' }],
		['!A1', { tab: '!A1' }],
		['!', { tab: '!' }],
		['5:9', { a1: '5:9' }],
		['5', { tab: '5' }],
		['A', { name: 'A' }],
		['R1C1', { tab: 'R1C1' }],
		[`A${'1'.repeat(99)}`, { a1: `A${'1'.repeat(99)}` }],
		[`A${'1'.repeat(100)}`, { name: `A${'1'.repeat(100)}` }],
	])('%s', (text, expected) => {
		expect(parseRange(text)).toEqual({
			tab: undefined,
			a1: undefined,
			name: undefined,
			...expected,
		});
	});

	test.each<[string | undefined, number, number, (number | undefined)?, (number | undefined)?]>([
		[undefined, 0, 0],
		['A1', 0, 0],
		['$C$5', 4, 2],
		['ab12', 11, 27],
		['B2:D9', 1, 1, 8, 3],
		['D9:B2', 1, 1, 8, 3],
		['B5:D', 4, 1, undefined, 3],
		['C:B', 0, 1, undefined, 2],
		['5:9', 4, 0, 8],
		['ZZ1:AAA2', 0, 701, 1, 702],
	])('%s begins and ends', (cells, row, column, ...last) => {
		const [lastRow = Infinity, lastColumn = Infinity] = last;
		expect(parseBounds({ a1: cells })).toEqual({ row, column, lastRow, lastColumn });
	});

	test.each([
		[0, 'A'],
		[25, 'Z'],
		[26, 'AA'],
		[51, 'AZ'],
		[52, 'BA'],
		[701, 'ZZ'],
		[702, 'AAA'],
	])('column %d is %s', (column, letters) => {
		expect(toColumnLetters(column)).toBe(letters);
	});

	test('Tab and Range name one target', () => {
		const readTab = (mode: string) =>
			readParameters(
				[tab],
				{ tab: { __rl: true, mode, value: ' Q1 ' } },
				{ mode: 'fields', timezone: 'UTC' },
			);
		expect([readTab('name'), readTab('list')]).toEqual([{ tab: ' Q1 ' }, { tab: ' Q1 ' }]);
		expect(parseTarget({ tab: ' Q1 ', range: '' })).toEqual({ tab: ' Q1 ' });
		expect(printTarget({ tab: 'Q1', range: ' A:D ' })).toBe("'Q1'!A:D");
		expect(printTarget({ tab: '', range: 'Q1!A:D' })).toBe("'Q1'!A:D");
		expect(() => parseTarget({ tab: ' ', range: ' ' })).toThrow('is required');
		expect(() => parseTarget({ tab: 'Q1', range: 'no cells' })).toThrow(
			'is not a range: no cells',
		);
		expect(() => parseTarget({ tab: 'Q1', range: 'Q2!A1' })).toThrow('contains a tab name');
	});
});
