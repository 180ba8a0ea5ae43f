import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { changed, grid, items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const header = ['Order', 'Status', 'Total'];
const orders = [header, ['A-1', 'open', 10], ['A-2', 'open', 20], ['A-3', 'open', 30]];
const byId = { matchColumns: 'Id' };
const byNumber = { matchColumns: 'rowNumber' };

const write = async (params: Record<string, unknown>, ...all: IDataObject[]) =>
	await calls.give('write', { matchColumns: 'Order', ...params }, ...all);
/** The same into a new sheet with these rows. */
const writeInto = async (rows: unknown[][], given: object, ...all: IDataObject[]) =>
	await calls.change('write', rows, { matchColumns: 'Order', ...given }, ...all);

const actionsOf = (told: readonly IDataObject[]) => told.map(({ action }) => action);

test('a row that is there is updated in place, the others are appended', async () => {
	const { spreadsheetId, told, stored } = await writeInto(
		orders,
		{},
		{ Order: 'A-2', Status: 'paid' },
		{ Total: 40, Order: 'A-4' },
		{ Order: 'A-1' },
		{ Order: 'A-4', Status: 'new' },
	);
	expect(told).toEqual([
		{ ...changed(spreadsheetId, 'B3', 1, 1, 1), action: 'updated' },
		{ ...changed(spreadsheetId, 'A5:C5', 1, 2, 2), action: 'appended' },
		{ ...changed(spreadsheetId, 'A2:C2', 0, 0, 0), action: 'unchanged' },
		{ ...changed(spreadsheetId, 'B5', 1, 1, 1), action: 'updated' },
	]);
	const updated = grid(['A-2', 'paid', 20], ['A-3', 'open', 30], ['A-4', 'new', 40]);
	expect(stored).toEqual([...orders.slice(0, 2), ...updated]);
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
});

test.each([byId, byNumber])('rows above the range are not matched: %j', async (by) => {
	const table = grid(['Id', 'Count'], ['a', 1], ['b', 2]);
	const range = 'Sheet1!A5:B';
	const spreadsheetId = calls.sheet([...table, [], ...table]);
	const [told] = await write(
		{ spreadsheetId, range, ...by },
		{ Id: 'a', Count: 3, rowNumber: 2 },
	);
	expect(told).toMatchObject(by === byId ? { updatedRange: 'Sheet1!B6' } : { code: 400 });
	expect(calls.stored(spreadsheetId).slice(0, 4)).toEqual([...table, []]);
});

test('a new row is not above the range, so that it is found again', async () => {
	const table = grid(['Id', 'Count'], ['a', 1]);
	const given = { spreadsheetId: calls.sheet(table), range: 'Sheet1!A4:B', ...byId };
	await write(given, { Id: 'b', Count: 2 });
	await write(given, { Id: 'b', Count: 3 });
	expect(calls.stored(given.spreadsheetId)).toEqual([...table, [], ['b', 3]]);
});

test('a key that stands in very many rows changes all of them', async () => {
	const rows = Array.from({ length: 40_000 }, () => ['A', 1, 1, 1, 1]);
	const table = [['Order', 'B', 'C', 'D', 'E'], ...rows];
	const { told } = await writeInto(table, {}, { Order: 'A', B: 2, C: 2, D: 2, E: 2 });
	expect(told).toMatchObject([{ updatedRows: 40_000, updatedCells: 160_000 }]);
});

test('1,000 items of texts, as from a CSV file, with dates and new rows, are four requests', async () => {
	const csv = (at: number) => ({
		Id: String(1000 + at),
		Total: `1,${200 + at}`,
		Share: `${at % 100}%`,
		Paid: at % 2 === 0 ? 'TRUE' : 'FALSE',
		Day: '2024-01-05',
	});
	const rows = Array.from({ length: 700 }, (_, at) => Object.values(csv(at)));
	const spreadsheetId = calls.typed(['Id', 'Total', 'Share', 'Paid', 'Day'], ...rows);
	const before = calls.cells(spreadsheetId, 'A:E');
	const all = Array.from({ length: 1000 }, (_, at) => csv(at));
	const given = { spreadsheetId, ...byId, valueInputOption: 'AUTO' };
	const told = await write(given, { ...csv(3), Total: '9' }, ...all.slice(4));
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'values.batchGet', 'batchUpdate']);
	expect(actionsOf(told)).toEqual([
		'updated',
		...Array.from({ length: 696 }, () => 'unchanged'),
		...Array.from({ length: 300 }, () => 'appended'),
	]);
	before[4]?.splice(1, 1, { value: '9' });
	expect(calls.cells(spreadsheetId, 'A:E').slice(0, 701)).toEqual(before);
	const added = ['1700', '1,900', '0%', 'TRUE', 45296];
	expect(calls.stored(spreadsheetId, 'Sheet1!A702:E702')).toEqual([added]);
});

describe('what a sheet shows', () => {
	const time = [
		['$1,727,777,777.123456', 'other'],
		['$1,727,777,777.223456', 'old'],
	];
	const amount = [['1/31/2026', '$1,234.00', 'old']];

	test.each<[string, string, unknown[][], IDataObject, string]>([
		['a number as a program prints it', 'Time', time, { Time: '1727777777.223456' }, 'B3'],
		['a day and a value', 'Day, Amount', amount, { Day: '1/31/2026', Amount: 1234 }, 'C2'],
	])('is found: %s', async (_name, matchColumns, rows, key, cell) => {
		const spreadsheetId = calls.typed([...matchColumns.split(', '), 'A'], ...rows);
		const told = await write({ spreadsheetId, matchColumns }, { ...key, A: 'new' });
		expect(told).toMatchObject([{ action: 'updated', updatedRange: `Sheet1!${cell}` }]);
		expect(calls.stored(spreadsheetId).at(-1)?.at(-1)).toBe('new');
	});

	test.each([
		['RAW', 'Id'],
		['RAW', 'Id, Day'],
		['AUTO', 'Id'],
		['AUTO', 'Id, Day'],
	])('is no number: %s, %s', async (valueInputOption, matchColumns) => {
		const Day = '2024-01-05';
		const spreadsheetId = calls.typed(['Id', 'Day', 'A'], ['0,005.251', Day, 'shown as 5.25']);
		const told = await write(
			{ spreadsheetId, matchColumns, valueInputOption },
			{ Day, Id: 5.25, A: 'new' },
			{ Day, Id: '1,200', A: 'newer' },
			{ Day, Id: 5.251, A: 'changed' },
		);
		expect(actionsOf(told)).toEqual(['appended', 'appended', 'updated']);
		const stored = calls.stored(spreadsheetId, 'Sheet1!C2:C4');
		expect(stored).toEqual([['changed'], ['new'], ['newer']]);
	});
});

test('a number of more than 15 digits is a text: it equals no number, which has no more', async () => {
	const rows = [['Id'], [12.345678901234567], [1234567890123456]];
	const ids = ['12.3456789012345674', '1234567890123456.1', '12.3456789012345'];
	const { told } = await writeInto(rows, byId, ...ids.map((Id) => ({ Id })));
	expect(actionsOf(told)).toEqual(['appended', 'appended', 'appended']);
});

test('several key columns, and a key that is there twice', async () => {
	const title = ['City', 'Day', 'Count'];
	const day2 = ['Rome', 2, 6];
	const noKey = ['', '', 'no key'];
	const { told, stored } = await writeInto(
		[title, ['Rome', 1, 5], day2, ['Rome', 1, 7], noKey],
		{ matchColumns: ['City', 'Day'] },
		{ City: 'Rome', Day: '1', Count: 0 },
		{ City: 'Rome', Day: 3, Count: 9 },
	);
	expect(told).toMatchObject([
		{ action: 'updated', updatedRows: 2, updatedRange: 'Sheet1!C2' },
		{ action: 'appended' },
	]);
	const zero = ['Rome', 1, 0];
	expect(stored).toEqual([title, zero, day2, zero, noKey, ['Rome', 3, 9]]);
});

test('a formula stays if the text that Google would interpret is what the sheet shows', async () => {
	const spreadsheetId = calls.typed(['Order', 'Total'], ['A', '=2+3']);
	const given = { spreadsheetId, valueInputOption: 'USER_ENTERED' };
	const told = await write(given, { Order: 'A', Total: '5' });
	expect(actionsOf(told)).toEqual(['unchanged']);
});

describe('the changes of one request', () => {
	const requests = () =>
		(calls.sent.at(-1)?.body as { requests: Array<Record<string, IDataObject>> }).requests;

	const insert = (startIndex: number, inheritFromBefore: boolean) => {
		const range = { sheetId: 0, dimension: 'ROWS', startIndex, endIndex: startIndex + 2 };
		return { insertDimension: { range, inheritFromBefore } };
	};

	test.each<[unknown[][], number, object]>([
		[orders, 1000, insert(4, true)],
		[orders.slice(0, 2), 1000, insert(2, true)],
		[orders.slice(0, 1), 1000, insert(1, false)],
		[orders, 5, insert(4, true)],
		[orders, 4, { appendDimension: { sheetId: 0, dimension: 'ROWS', length: 2 } }],
	])('make room below %j in %d rows', async (rows, rowCount, room) => {
		const spreadsheetId = calls.sheet(rows, 'Sheet1', { rowCount });
		await write({ spreadsheetId }, { Order: 'B-1' }, { Order: 'B-2' });
		const start = { rowIndex: rows.length, columnIndex: 0 };
		expect(requests()).toMatchObject([room, { updateCells: { start } }]);
	});

	type Area = [row: number, column: number, height: number, width: number];
	const [first, second] = [
		{ Order: 'A-1', Status: 'x' },
		{ Order: 'A-2', Status: 'y' },
	];

	test.each<[IDataObject[], Area[]]>([
		[[first, second], [[1, 1, 2, 1]]],
		[[first, { Order: 'A-3', Status: 'y' }], [[1, 1, 1, 1], [3, 1, 1, 1]]],
		[[first, { Order: 'A-2', Total: 1 }], [[1, 1, 1, 1], [2, 2, 1, 1]]],
		[[first, { ...second, Total: 1 }], [[1, 1, 1, 1], [2, 1, 1, 2]]],
		[[{ Order: 'B', Total: 1 }], [[4, 0, 1, 1], [4, 2, 1, 1]]],
	])('are rectangles: %j', async (all, expected) => {
		await writeInto(orders, {}, ...all);
		const areas = requests().flatMap(({ updateCells }) => {
			if (!updateCells) return [];
			const { start, rows } = updateCells as unknown as {
				start: { rowIndex: number; columnIndex: number };
				rows: Array<{ values: unknown[] }>;
			};
			return [[start.rowIndex, start.columnIndex, rows.length, rows[0]?.values.length]];
		});
		expect(areas).toEqual(expected);
	}); // prettier-ignore

	test.each<[IDataObject, string[]]>([
		[{ Order: 'A-1', Status: 'open' }, []],
		[{ Order: 'A-1', Status: 'x' }, ['values.batchUpdate']],
		[{ Order: 'new', Status: 'x' }, ['batchUpdate', 'values.batchUpdate']],
	])('as typed: %j', async (json, methods) => {
		const typed = { valueInputOption: 'USER_ENTERED', escapeFormulas: false };
		await writeInto(orders, typed, json);
		expect(calls.writes).toEqual(methods);
	});
});

test('an empty tab gets its header and rows', async () => {
	const first = { Order: 'A-1', Status: '=1' };
	const { stored } = await writeInto([], {}, first, { Order: 'A-1', Total: 5 });
	expect(stored).toEqual([header, ['A-1', '=1', 5]]);
	expect(calls.writes).toEqual(['batchUpdate']);
});

test('new columns and rows of a tab that has no room for them', async () => {
	const full = { title: 'My Tab', rows: orders, rowCount: 4, columnCount: 3 };
	const spreadsheetId = calls.book([{ title: 'Other' }, full]);
	const given = { spreadsheetId, tab: 'My Tab', extraColumns: 'add' };
	await write(given, { Order: 'A-9', Note: 'n' }, { Order: 'A-1', Note: 'm' });
	const added = calls.stored(spreadsheetId, "'My Tab'").map((row) => row[3] ?? '');
	expect(added).toEqual(['Note', 'm', '', '', 'n']);
	expect(calls.writes).toEqual(['batchUpdate']);
});

test('USER_ENTERED: cells are taken as typed, also those that rows are found by', async () => {
	const { told, stored } = await writeInto(
		grid(['Order', 'Day'], [7, 1], [true, 2]),
		{ valueInputOption: 'USER_ENTERED' },
		{ Order: '007', Day: '5' },
		{ Order: 'TRUE', Day: '=1+1' },
		{ Order: '8', Day: '2020-01-01' },
	);
	expect(actionsOf(told)).toEqual(['updated', 'updated', 'appended']);
	expect(stored.slice(1)).toEqual(grid([7, 5], [true, '=1+1'], [8, 43831]));
	expect(calls.writes).toEqual(['batchUpdate', 'values.batchUpdate']);
});

describe('what is refused before anything is written', () => {
	const noNumber = "The table has no column 'rowNumber' to match rows by";

	test.each<[object, IDataObject, string]>([
		[byId, { Order: 'A-1' }, "The table has no column 'Id' to match rows by"],
		[{ matchColumns: 'Order, rowNumber' }, { Order: 'A-1' }, noNumber],
		[{}, { Status: 'x' }, "The item has no value for 'Order'"],
		[{}, { Order: '' }, "The item has no value for 'Order'"],
		[{}, { Order: ' \u00a0\n' }, "The item has no value for 'Order'"],
		[{}, { Order: 'A-1', Other: 1 }, "The table has no column 'Other'"],
	])('%j %j', async (params, last, message) => {
		const given = { spreadsheetId: calls.sheet(orders), ...params };
		const told = await write(given, { Order: 'A-2', Status: 'paid' }, last);
		expect(told.at(-1)).toMatchObject({ code: 400, message });
		expect(calls.stored(given.spreadsheetId)).toEqual(orders);
	});

	const needsNames = "needs rows with column names, but 'values' holds rows of cells";
	const notReplace = "'matchColumns' cannot be used when 'writeMode' is replace";
	const noMatch = 'All rows are replaced, so there is nothing to match. Remove one of them.';
	const noSkip = "'unmatched' can only be skip when 'writeMode' is update";

	test.each([
		[{ values: [['A-1', 1]] }, `'matchColumns' ${needsNames}`],
		[{ values: [['A-1']], matchColumns: '', writeMode: 'update' }, `'writeMode' ${needsNames}`],
		[{ writeMode: 'update', matchColumns: '' }, "'matchColumns' is required to update rows"],
		[{ writeMode: 'replace' }, notReplace, noMatch],
		[{ values: [{ Order: 1 }], unmatched: 'skip' }, noSkip],
	])('%j', async (more, message, advice = '') => {
		const source = 'values' in more ? {} : { valuesSource: 'columns' };
		const given = { spreadsheetId: 'x', matchColumns: 'Order', ...source, ...more };
		const failure = await calls.refusal('write', given, testItem({ json: { Order: 1 } }));
		expect(failure.message).toBe(message);
		expect(failure.description).toContain(advice);
	});
});

test('rows as objects have a result each', async () => {
	const spreadsheetId = calls.sheet(orders);
	const values = [
		{ Order: 'A-2', Status: 'paid' },
		{ Order: 'A-9', Status: 'new' },
	];
	const written = await calls.run('write', { spreadsheetId, values, matchColumns: 'Order' });
	expect(written).toMatchObject([
		{ json: { action: 'updated', updatedRange: 'Sheet1!B3' } },
		{ json: { action: 'appended', updatedRange: 'Sheet1!A5:B5' } },
	]);
	const stored = calls.stored(spreadsheetId, 'Sheet1!A3:B5');
	expect(stored).toEqual(grid(['A-2', 'paid'], ['A-3', 'open'], ['A-9', 'new']));
});

describe('what was read is written back', () => {
	test.each([1, 5, 2.5, 'x'])('a number without a row in the table: %j', async (rowNumber) => {
		const { told, stored } = await writeInto(orders, byNumber, { Status: 'x', rowNumber });
		expect(told[0]?.['message']).toBe(`The table has no row ${JSON.stringify(rowNumber)}`);
		expect(told[0]?.['description']).toContain('2 to 4');
		expect(stored).toEqual(orders);
	});

	test('appended to another tab they are the same rows, and rowNumber is no column', async () => {
		const odd = grid(['Name', 'Name', '', 'error', 'rowNumber'], ['Anna', 'A', 'x', 'e', 'r']);
		const [row = {}] = await calls.rows({ spreadsheetId: calls.sheet(odd) });
		const same = await calls.change('append', odd.slice(0, 1), {}, row);
		expect(same.stored).toEqual(odd);
		const empty = await calls.change('append', [], {}, row);
		expect(empty.stored[0]).toEqual(['Name', 'Name_2', 'C', 'error_2', 'rowNumber_2']);
	});

	test('names of repeated, reserved and missing headers find their columns again', async () => {
		const odd = [
			['Name', 'Name', '', 'error', 'rowNumber', '2024'],
			['Anna', 'A', 'x', 'e', 7, 1],
			[],
			['Ben', 'B', 'y', '', 8, 2, 'beside'],
		];
		const spreadsheetId = calls.sheet(odd);
		const rows = await calls.rows({ spreadsheetId });
		const changes = rows.map((row) => ({ ...row, Name_2: `${row['Name_2'] as string}!` }));
		const told = await write({ spreadsheetId, ...byNumber }, ...changes);
		expect(told).toMatchObject([
			{ action: 'updated', updatedRange: 'Sheet1!B2', updatedCells: 1 },
			{ action: 'updated', updatedRange: 'Sheet1!B4', updatedCells: 1 },
		]);
		const expected = odd.map((row, at) =>
			row.length > 0 && at > 0 ? [row[0], `${row[1]}!`, ...row.slice(2)] : row,
		);
		expect(calls.stored(spreadsheetId)).toEqual(expected);
	});

	test('a column whose header is rowNumber can be changed by row number', async () => {
		const spreadsheetId = calls.sheet(grid(['Name', 'rowNumber'], ['Anna', 7]));
		const [row] = await calls.rows({ spreadsheetId });
		const told = await write({ spreadsheetId, ...byNumber }, { ...row, rowNumber_2: 8 });
		expect(told).toMatchObject([{ action: 'updated', updatedRange: 'Sheet1!B2' }]);
		expect(calls.stored(spreadsheetId, 'Sheet1!B2')).toEqual([[8]]);
	});

	const shown = {
		valueRenderOption: 'UNFORMATTED_VALUE',
		dateTimeRenderOption: 'FORMATTED_STRING',
	};

	test.each([{}, shown])('unchanged rows are not written, read with %j', async (form) => {
		const cells = [1, '=2+3', '2024-01-05', '12%', true];
		const spreadsheetId = calls.typed(['Id', 'Sum', 'Day', 'Share', 'Done'], cells);
		const rows = await calls.rows({ spreadsheetId, ...form });
		for (const matchColumns of ['rowNumber', 'Id', 'Day, Share'])
			expect(actionsOf(await write({ spreadsheetId, matchColumns }, ...rows))).toEqual([
				'unchanged',
			]);
		expect(calls.writes).toEqual([]);
		const formulas = await calls.rows({ spreadsheetId, valueRenderOption: 'FORMULA' });
		expect(formulas).toMatchObject([{ Sum: '=2+3' }]);
	});
});

test.each([
	['resetAfter', 'unchanged'],
	['resetBefore', 'appended'],
] as const)('%s: no second row', async (connection, action) => {
	const spreadsheetId = calls.sheet(orders);
	calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', connection });
	const item = { Order: 'A-4', Status: 'new' };
	expect(await write({ spreadsheetId }, item)).toMatchObject([{ outcome: 'unknown' }]);
	expect(calls.writes).toEqual(['batchUpdate']);
	expect(await write({ spreadsheetId }, item)).toMatchObject([{ action }]);
	expect(calls.stored(spreadsheetId)).toEqual([...orders, ['A-4', 'new']]);
});

test('writers that name a tab in other ways: no cell is lost, and no row is there twice', async () => {
	const spreadsheetId = calls.sheet(orders);
	const targets = [{ tab: 'Sheet1' }, { range: 'Sheet1' }, { tab: 'Sheet1', range: 'A:J' }];
	const turns = Array.from({ length: 20 }, (_, at) => at);
	calls.google.latencyMilliseconds = 2;
	const writes = turns.map(async (at) => {
		const given = { spreadsheetId, ...targets[at % 3], extraColumns: 'add' };
		await write(given, { Order: `K-${at % 5}`, [`W-${at % 4}`]: at });
	});
	const appends = turns.map(async (at) => {
		const given = { spreadsheetId, range: 'Sheet1!A:A', values: [[`L-${at}`]] };
		return (await calls.one('append', given))['updatedRange'];
	});
	await Promise.all(writes);
	expect(new Set(await Promise.all(appends)).size).toBe(turns.length);
	calls.google.latencyMilliseconds = 0;
	const rows = calls.stored(spreadsheetId).slice(orders.length);
	const keys = rows.map(([key]) => String(key)).sort();
	expect(keys).toEqual([
		...[0, 1, 2, 3, 4].map((key) => `K-${key}`),
		...turns.map((at) => `L-${at}`).sort(),
	]);
	// Each of the 20 wrote a cell of its own.
	const cells = rows.flatMap((row) => row.slice(header.length)).filter((cell) => cell !== '');
	expect(cells.sort((a, b) => Number(a) - Number(b))).toEqual(turns);
});

describe('keys', () => {
	test.each<[string, unknown[], string | number, number[]]>([
		['blanks at the ends', [' test@email.com '], 'test@email.com', [0]],
		['a non-breaking blank', ['A-1\u00A0'], 'A-1', [0]],
		['a number and a text with zeros in front', [1234], '001234', [0]],
		['a text with zeros in front and a number', ['001234'], 1234, [0]],
		['two texts with other zeros', ['7'], '007', []],
		['the exact text wins', ['123', 123], '123', [0]],
		['the exact number wins', ['123', 123], 123, [1]],
		['the same text wins over the same value', ['007', '7'], 7, [1]],
		['a checkbox', [true], 'TRUE', [0]],
		['case is minded', ['a'], 'A', []],
		['a key in three rows', ['x', 'y', 'x', 'x'], 'x', [0, 2, 3]],
	])('%s: %j and %j', async (_name, keys, Id, expected) => {
		const table = [['Id', 'Count'], ...keys.map((key) => [key, 0])];
		const { stored } = await writeInto(table, byId, { Id, Count: 1 });
		const rows = stored.slice(1);
		const updated = [...keys.keys()].filter((index) => rows[index]?.[1] === 1);
		expect(updated).toEqual(expected);
		expect(rows).toHaveLength(expected.length === 0 ? keys.length + 1 : keys.length);
	});

	const counts = grid(['Id', 'Count'], ['x', 0], ['y', 0], ['x', 0]);

	test('a hint names the rows that have the key, if they are several', async () => {
		const given = { spreadsheetId: calls.sheet(counts), ...byId };
		const hint = "2 rows have the key 'x', and all of them were written: 2, 4.";
		expect(await calls.hints('write', given, { Id: 'x', Count: 1 })).toEqual([hint]);
		expect(await calls.hints('write', given, { Id: 'y', Count: 1 })).toEqual([]);
	});

	test.each([
		['rowNumber', 'rowNumber'],
		['row_number', 'rowNumber'],
		['row_number', 'row_number'],
	])('%s is the number of the row, matched by %s', async (key, matchColumns) => {
		const { stored } = await writeInto(counts, { matchColumns }, { [key]: 3, Count: 1 });
		expect(stored).toEqual([...counts.slice(0, 2), ['y', 1], ['x', 0]]);
	});

	test('and never a column', async () => {
		const { stored } = await writeInto(counts, byId, { row_number: 9, Id: 'z', Count: 1 });
		expect(stored).toEqual([...counts, ['z', 1]]);
	});
});

describe('If No Row Matches', () => {
	const added = { action: 'appended' };
	const skipped = { action: 'skipped', updatedRows: 0, updatedRange: '' };
	const description = expect.stringContaining('Nothing was written for the item.') as string;
	const failed = { code: 400, message: "No row has 'a-9 ' in 'Id'", description };

	test.each([
		['adds the row by default, also if only case differs', {}, added, [['a-9 ', 6]]],
		['skip leaves the table as it is', { writeMode: 'update', unmatched: 'skip' }, skipped, []],
		['error fails the item', { writeMode: 'update' }, failed, []],
	])('%s', async (_name, given, told, more) => {
		const spreadsheetId = calls.sheet(grid(['Id', 'Count'], ['A-7', 1], ['A-9', 2]));
		const params = { spreadsheetId, valuesSource: 'columns', ...byId, ...given };
		const all = items({ Id: 'A-7', Count: 5 }, { Id: 'a-9 ', Count: 6 });
		const members = all.map((item) => ({ params, item: { ...item, continueOnFail: true } }));
		const written = await calls.together('write', members);
		expect(written).toMatchObject([{ action: 'updated' }, told]);
		expect(calls.stored(spreadsheetId).slice(1)).toEqual([['A-7', 5], ['A-9', 2], ...more]);
		expect(all).toMatchObject([{ hints: [] }, { hints: [] }]);
	});
});
