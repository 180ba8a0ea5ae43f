import { listNames } from '../../../../nodes/core/text';
import {
	parseRange,
	parseBounds,
	toColumnLetters,
} from '../../../../nodes/Workspace/actions/spreadsheet/range';
import { findNativeTable } from '../../../../nodes/Workspace/actions/spreadsheet/spreadsheet';

test('of many names, twenty are listed', () => {
	const names = Array.from({ length: 21 }, (_, at) => `n${at}`);
	expect(listNames(names.slice(0, 20))).toMatch(/, 'n19'$/);
	expect(listNames(names)).toMatch(/, 'n19', 1 more$/);
	expect(listNames(['x'.repeat(60), 'y'.repeat(61)])).toBe(
		`'${'x'.repeat(60)}', '${'y'.repeat(60)}…'`,
	);
});

describe('a cell of a table that Google knows', () => {
	const area = { startRowIndex: 2, endRowIndex: 6, startColumnIndex: 1, endColumnIndex: 3 };
	const first = { tableId: 'first', range: { endRowIndex: 1, endColumnIndex: 1 } };
	const sheet = { tables: [first, { tableId: 't', range: area }] };

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

	test('what Google leaves out of the range is 0', () => {
		const range = { sheetId: 0, startRowIndex: 0, startColumnIndex: 0, ...first.range };
		expect(findNativeTable(sheet, { row: 0, column: 0 })?.range).toEqual(range);
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
		['x!1:1', { tab: 'x', a1: '1:1' }],
		['x!A1:B', { tab: 'x', a1: 'A1:B' }],
		['x!$A$1:$B2', { tab: 'x', a1: '$A$1:$B2' }],
		['5', { tab: '5' }],
		['2026!A1', { tab: '2026', a1: 'A1' }],
		['CRM26!A1', { tab: 'CRM26', a1: 'A1' }],
		["Jon's!A1", { tab: "Jon's", a1: 'A1' }],
		['😀!A:A', { tab: '😀', a1: 'A:A' }],
		['😀', { tab: '😀' }],
		['Täbelle', { name: 'Täbelle' }],
		['A', { name: 'A' }],
		['R1C1', { tab: 'R1C1' }],
		[`A${'1'.repeat(99)}`, { a1: `A${'1'.repeat(99)}` }],
		[`A${'1'.repeat(100)}`, { name: `A${'1'.repeat(100)}` }],
	])('%s', (text, expected) => {
		expect(parseRange(text)).toEqual(expected);
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

	test('columns have their letters', () => {
		const letters = [0, 25, 26, 51, 52, 701, 702].map(toColumnLetters);
		expect(letters).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA']);
	});
});
