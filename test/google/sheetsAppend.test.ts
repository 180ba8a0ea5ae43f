import { append, batch, get, refused, service, sheet } from './sheetsCalls';

const insert = { insertDataOption: 'INSERT_ROWS' };
const gridOf = (id: string) => get(id).sheets?.[0]?.properties?.gridProperties;

/** The example of Google's guide: a table at A1:C2 and one at B4:D6. */
const twoTables = [
	['a', 'b', 'c'],
	['d', 'e', 'f'],
	[],
	['', 'g', 'h', 'i'],
	['', 'j', '', 'l'],
	['', 'm', 'n', 'o'],
];

describe('the table that an append finds', () => {
	test.each([
		['Sheet1', 'Sheet1!B4:D6', 'Sheet1!B7:C7'],
		['B4', 'Sheet1!B4:D6', 'Sheet1!B7:C7'],
		['C5:D5', 'Sheet1!B4:D6', 'Sheet1!B7:C7'],
		['C5', 'Sheet1!B4:D6', 'Sheet1!B7:C7'],
		['B2:D4', 'Sheet1!B4:D6', 'Sheet1!B7:C7'],
		['A3:G10', 'Sheet1!B4:D6', 'Sheet1!B7:C7'],
		['A1', 'Sheet1!A1:C2', 'Sheet1!A3:B3'],
		['E4', undefined, 'Sheet1!E4:F4'],
		['A4', undefined, 'Sheet1!A4:B4'],
	])('%s: %s', (range, tableRange, updatedRange) => {
		const answer = append(sheet(twoTables), range, [['x', 'y']]);
		expect(answer.tableRange).toBe(tableRange);
		expect(answer.updates?.updatedRange).toBe(updatedRange);
	});

	test.each([
		['Sheet1', 'Sheet1!C1', 'Sheet1!C2:E2'],
		["'Sheet1'!A1", 'Sheet1!A1', 'Sheet1!A2:C2'],
	])('a gap in the first row, appended to %s', (range, tableRange, updatedRange) => {
		const answer = append(sheet([['x', '', 'y']]), range, [[1, 2, 3]]);
		expect(answer).toMatchObject({ tableRange, updates: { updatedRange } });
	});

	test('an empty tab has none', () => {
		const answer = append(sheet(), "'Sheet1'!A1", [['a']]);
		expect(answer).not.toHaveProperty('tableRange');
		expect(answer.updates).toMatchObject({
			updatedRange: 'Sheet1!A1',
			updatedRows: 1,
			updatedCells: 1,
		});
	});
});

describe('room for appended rows', () => {
	const rows = [['h'], ['a'], [], ['below']];
	const rowCount = (id: string) => gridOf(id)?.rowCount;

	test('INSERT_ROWS pushes down what is below', () => {
		const id = sheet(rows);
		append(id, 'A1', [['b'], ['c']], insert);
		expect(service.values(id, 'Sheet1')).toEqual([['h'], ['a'], ['b'], ['c'], [], ['below']]);
		expect(rowCount(id)).toBe(1002);
	});

	test('OVERWRITE writes over it', () => {
		const id = sheet(rows);
		append(id, 'A1', [['b'], ['c']]);
		expect(service.values(id, 'Sheet1')).toEqual([['h'], ['a'], ['b'], ['c']]);
		expect(rowCount(id)).toBe(1000);
	});

	test.each([{}, insert])('the grid grows at its end: %p', (option) => {
		const id = sheet([['h'], ['a']], 'Sheet1', { rowCount: 2 });
		expect(append(id, 'A1', [['b'], ['c']], option).updates?.updatedRange).toBe('Sheet1!A3:A4');
		expect(rowCount(id)).toBe(4);
	});

	test('ten million cells are the limit, and nothing is changed', () => {
		const id = sheet([['h']], 'Sheet1', { rowCount: 384_615 });
		expect(refused(400, () => append(id, 'A1', [['a'], ['b']], insert))).toMatch(
			/above the limit of 10000000/,
		);
		expect(service.values(id, 'Sheet1')).toEqual([['h']]);
		expect(rowCount(id)).toBe(384_615);
	});
});

test('a batch is carried out as a whole or not at all', () => {
	const id = sheet([['a']]);
	const message = refused(400, () =>
		batch(
			id,
			{ appendDimension: { sheetId: 0, dimension: 'COLUMNS', length: 3 } },
			{ addSheet: { properties: { title: 'sheet1' } } },
		),
	);
	expect(message).toBe(
		'A sheet with the name "sheet1" already exists. Please enter another name.',
	);
	expect(gridOf(id)?.columnCount).toBe(26);
});

describe('a native table', () => {
	const rows = [['Task', 'Hours'], ['a', 1], ['b', 2], [], ['below']];
	const withTable = (range = 'A1:B3', hasFooter = false) =>
		service.seed({
			title: 'T',
			tabs: [{ title: 'Sheet1', rows, tables: [{ name: 'Tasks', range, hasFooter }] }],
			file: { clientId: 'client' },
		});

	test('grows with rows that are inserted by an append', () => {
		const id = withTable();
		const answer = append(id, 'A1:B1', [['c', 3]], insert);
		expect([answer.tableRange, answer.updates?.updatedRange]).toEqual([
			'Sheet1!A1:B3',
			'Sheet1!A4:B4',
		]);
		expect(service.tables(id)).toEqual({ Tasks: 'Sheet1!A1:B4' });
		expect(service.values(id, 'Sheet1').slice(3)).toEqual([['c', 3], [], ['below']]);
	});

	test.each<[string, string, boolean, Record<string, string>, string]>([
		['is not left by empty rows at its end', 'A1:B4', false, insert, 'Sheet1!A5:B5'],
		['does not grow with what is written below it', 'A1:B3', false, {}, 'Sheet1!A4:B4'],
		['with a footer does not grow', 'A1:B3', true, insert, 'Sheet1!A4:B4'],
	])('%s', (_name, range, hasFooter, option, updatedRange) => {
		const id = withTable(range, hasFooter);
		expect(append(id, 'A1:B1', [['c', 3]], option).updates?.updatedRange).toBe(updatedRange);
		expect(service.tables(id)).toEqual({
			Tasks: range === 'A1:B4' ? 'Sheet1!A1:B5' : `Sheet1!${range}`,
		});
	});

	test('grows with rows inserted inside it, and moves with those above it', () => {
		const id = withTable('A2:B3');
		const at = (startIndex: number) => ({
			insertDimension: {
				range: { sheetId: 0, dimension: 'ROWS', startIndex, endIndex: startIndex + 1 },
			},
		});
		batch(id, at(2));
		expect(service.tables(id)).toEqual({ Tasks: 'Sheet1!A2:B4' });
		batch(id, at(4));
		expect(service.tables(id)).toEqual({ Tasks: 'Sheet1!A2:B4' });
		batch(id, at(0));
		expect(service.tables(id)).toEqual({ Tasks: 'Sheet1!A3:B5' });
	});
});
