import {
	anchorOf,
	areaIn,
	areaLike,
	columnLetters,
	isOneCell,
	parseRange,
	printRange,
	sentTarget,
	targetOf,
} from '../../../../nodes/Workspace/actions/spreadsheet/range';

test.each<[string, object]>([
	['Leads', { name: 'Leads' }],
	['Sheet 1', { tab: 'Sheet 1' }],
	[' A1:B2 ', { cells: 'A1:B2' }],
	["'Q1'", { tab: 'Q1' }],
	["'Jon''s'!A:B", { tab: "Jon's", cells: 'A:B', isQuoted: true }],
	["'Q1'!Leads", { tab: 'Q1', name: 'Leads', isQuoted: true }],
	['Q1!Leads', { tab: 'Q1', name: 'Leads' }],
	['x!A1', { tab: 'x', cells: 'A1' }],
	['a!b!A1', { tab: 'a!b', cells: 'A1' }],
	['!A1', { tab: '!A1' }],
	['!', { tab: '!' }],
	['5:9', { cells: '5:9' }],
	['5', { tab: '5' }],
	['A', { name: 'A' }],
	['R1C1', { cells: 'R1C1' }],
	[`A${'1'.repeat(99)}`, { cells: `A${'1'.repeat(99)}` }],
	[`A${'1'.repeat(100)}`, { name: `A${'1'.repeat(100)}` }],
])('%s', (text, expected) => {
	expect(parseRange(text)).toEqual({ tab: undefined, cells: undefined, name: undefined, ...expected });
});

test.each([
	[{ tab: 'Sheet1', cells: 'A1' }, 'Sheet1!A1'],
	[{ tab: 'Sheet1', cells: 'A1', isQuoted: true }, "'Sheet1'!A1"],
	[{ tab: 'My Tab', cells: 'A1' }, "'My Tab'!A1"],
	[{ tab: 'Q1', cells: 'A1' }, "'Q1'!A1"],
	[{ tab: 'Q1', name: 'Leads' }, "'Q1'!Leads"],
	[{ tab: 'Sheet1' }, "'Sheet1'"],
	[{ cells: 'A1' }, 'A1'],
	[{ name: 'Leads' }, 'Leads'],
] as const)('%j goes out as %s', (range, sent) => {
	expect(printRange({ tab: undefined, cells: undefined, name: undefined, ...range })).toBe(sent);
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
	['R2C3', 1, 2],
	['r2c3:R4C28', 1, 2, 3, 27],
])('%s begins and ends', (cells, row, column, ...last) => {
	const [lastRow, lastColumn] = last;
	expect(anchorOf({ cells })).toEqual({ row, column, lastRow, lastColumn });
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
	expect(columnLetters(column)).toBe(letters);
});

test('an area of one cell is that cell', () => {
	const start = { row: 1, column: 2 };
	expect(areaIn('My Tab', start, 1, 1)).toBe("'My Tab'!C2");
	expect(areaIn(undefined, start, 3, 2)).toBe('C2:D4');
	expect(areaLike("'a!b'!A1:B2", start, 2, 1)).toBe("'a!b'!C2:C3");
	expect(areaLike('A1', start, 1, 2)).toBe('C2:D2');
});

test.each([
	['Q1', true],
	['A1:B2', false],
	['Sheet1!Q1', false],
	['Leads', false],
])('%s is one cell: %s', (range, expected) => {
	expect(isOneCell(parseRange(range))).toBe(expected);
});

test('Tab and Range name one target', () => {
	expect(targetOf({ tab: ' Q1 ', range: '' })).toEqual({ tab: 'Q1', cells: undefined, name: undefined });
	expect(sentTarget({ tab: 'Q1', range: ' A:D ' })).toBe("'Q1'!A:D");
	expect(sentTarget({ tab: '', range: 'Q1!A:D' })).toBe("'Q1'!A:D");
	expect(() => targetOf({ tab: ' ', range: ' ' })).toThrow('is required');
	expect(() => targetOf({ tab: 'Q1', range: 'no cells' })).toThrow('is not a range: no cells');
	expect(() => targetOf({ tab: 'Q1', range: 'Q2!A1' })).toThrow('contains a tab name');
});
