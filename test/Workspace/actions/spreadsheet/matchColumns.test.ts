import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { changed, grid, items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const header = ['Order', 'Status', 'Total'];
const orders = [header, ['A-1', 'open', 10], ['A-2', 'open', 20], ['A-3', 'open', 30]];
const typedAsGiven = { valueInputOption: 'USER_ENTERED', escapeFormulas: false };

const write = async (params: Record<string, unknown>, ...all: IDataObject[]) =>
	await calls.give('write', { tab: 'Sheet1', matchColumns: 'Order', ...params }, ...all);

test('a row that is there is updated in place, the others are appended', async () => {
	const spreadsheetId = calls.sheet(orders);
	const written = await write(
		{ spreadsheetId },
		{ Order: 'A-2', Status: 'paid' },
		{ Total: 40, Order: 'A-4' },
		{ Order: 'A-1' },
		{ Order: 'A-4', Status: 'new' },
	);
	expect(written).toEqual([
		{ ...changed(spreadsheetId, 'B3', 1, 1, 1), action: 'updated' },
		{ ...changed(spreadsheetId, 'A5:C5', 1, 2, 2), action: 'appended' },
		{ ...changed(spreadsheetId, 'A2:C2', 0, 0, 0), action: 'unchanged' },
		{ ...changed(spreadsheetId, 'B5', 1, 1, 1), action: 'updated' },
	]);
	expect(calls.stored(spreadsheetId)).toEqual([
		...orders.slice(0, 2),
		['A-2', 'paid', 20],
		['A-3', 'open', 30],
		['A-4', 'new', 40],
	]);
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
});

test('a key that stands in very many rows changes all of them', async () => {
	const rows = Array.from({ length: 40_000 }, () => ['A', 1, 1, 1, 1]);
	const spreadsheetId = calls.sheet([['Order', 'B', 'C', 'D', 'E'], ...rows]);
	const [written] = await write({ spreadsheetId }, { Order: 'A', B: 2, C: 2, D: 2, E: 2 });
	expect(written).toMatchObject({ updatedRows: 40_000, updatedCells: 160_000 });
});

test('1,000 items into 10,000 rows are three requests', async () => {
	const rows = Array.from({ length: 10_000 }, (_, at) => [`A-${at}`, 'open', at]);
	const spreadsheetId = calls.sheet([header, ...rows]);
	const keys = Array.from({ length: 1000 }, (_, at) => `A-${at * 15}`);
	const written = await write(
		{ spreadsheetId },
		...keys.map((Order) => ({ Order, Status: 'paid' })),
	);
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	const expected = rows.map(([order, status, at]) => [
		order,
		Number(at) % 15 === 0 ? 'paid' : status,
		at,
	]);
	const added = keys.slice(667).map((order) => [order, 'paid']);
	expect(calls.stored(spreadsheetId).slice(1)).toEqual([...expected, ...added]);
	expect(written.filter(({ action }) => action === 'appended')).toHaveLength(333);
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
	const before = calls.google.sheets.cells(spreadsheetId, 'Sheet1!A:E');
	const all = Array.from({ length: 1000 }, (_, at) => csv(at));
	const given = { spreadsheetId, matchColumns: 'Id', valueInputOption: 'AUTO' };
	const written = await write(given, { ...csv(3), Total: '9' }, ...all.slice(4));
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'values.batchGet', 'batchUpdate']);
	expect(written.map(({ action }) => action)).toEqual([
		'updated',
		...Array.from({ length: 696 }, () => 'unchanged'),
		...Array.from({ length: 300 }, () => 'appended'),
	]);
	before[4]?.splice(1, 1, { value: '9' });
	expect(calls.google.sheets.cells(spreadsheetId, 'Sheet1!A:E').slice(0, 701)).toEqual(before);
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
		const written = await write({ spreadsheetId, matchColumns }, { ...key, A: 'new' });
		expect(written).toMatchObject([{ action: 'updated', updatedRange: `Sheet1!${cell}` }]);
		expect(calls.stored(spreadsheetId).at(-1)?.at(-1)).toBe('new');
	});

	test.each([
		['RAW', 'Id'],
		['RAW', 'Id, Day'],
		['AUTO', 'Id'],
		['AUTO', 'Id, Day'],
	])('is no number: %s, %s', async (valueInputOption, matchColumns) => {
		const shown = ['0,005.251', '2024-01-05', 'shown as 5.25'];
		const spreadsheetId = calls.typed(['Id', 'Day', 'A'], shown);
		const day = { Day: '2024-01-05' };
		const written = await write(
			{ spreadsheetId, matchColumns, valueInputOption },
			{ ...day, Id: 5.25, A: 'new' },
			{ ...day, Id: '1,200', A: 'newer' },
			{ ...day, Id: 5.251, A: 'changed' },
		);
		expect(written.map(({ action }) => action)).toEqual(['appended', 'appended', 'updated']);
		const stored = calls.stored(spreadsheetId, 'Sheet1!C2:C4');
		expect(stored).toEqual([['changed'], ['new'], ['newer']]);
	});
});

test('a number of more than 15 digits is a text: it equals no number, which has no more', async () => {
	const spreadsheetId = calls.sheet([['Id'], [12.345678901234567], [1234567890123456]]);
	const ids = ['12.3456789012345674', '1234567890123456.1', '12.3456789012345'];
	const written = await write(
		{ spreadsheetId, matchColumns: 'Id' },
		...ids.map((Id) => ({ Id })),
	);
	expect(written.map(({ action }) => action)).toEqual(['appended', 'appended', 'appended']);
});

test('several key columns, and a key that is there twice', async () => {
	const title = ['City', 'Day', 'Count'];
	const day2 = ['Rome', 2, 6];
	const noKey = ['', '', 'no key'];
	const spreadsheetId = calls.sheet([title, ['Rome', 1, 5], day2, ['Rome', 1, 7], noKey]);
	const written = await write(
		{ spreadsheetId, matchColumns: ['City', 'Day'] },
		{ City: 'Rome', Day: '1', Count: 0 },
		{ City: 'Rome', Day: 3, Count: 9 },
	);
	expect(written).toMatchObject([
		{ action: 'updated', updatedRows: 2, updatedRange: 'Sheet1!C2' },
		{ action: 'appended' },
	]);
	const added = ['Rome', 3, 9];
	const zero = ['Rome', 1, 0];
	expect(calls.stored(spreadsheetId)).toEqual([title, zero, day2, zero, noKey, added]);
});

test('a formula stays if the text that Google would interpret is its value', async () => {
	const spreadsheetId = calls.typed(['Order', 'Total'], ['A', '=2+3']);
	const valueInputOption = 'USER_ENTERED';
	const written = await write({ spreadsheetId, valueInputOption }, { Order: 'A', Total: '5.0' });
	expect(written).toMatchObject([{ action: 'unchanged' }]);
});

describe('the changes of one request', () => {
	const requests = () =>
		(calls.sent.at(-1)?.body as { requests: Array<Record<string, IDataObject>> }).requests;

	test.each([
		[orders, 1000, { startIndex: 4, endIndex: 6 }, true],
		[orders.slice(0, 2), 1000, { startIndex: 2, endIndex: 4 }, true],
		[orders.slice(0, 1), 1000, { startIndex: 1, endIndex: 3 }, false],
		[orders, 5, { startIndex: 4, endIndex: 6 }, true],
	])('insert rows below %j in %d rows', async (rows, rowCount, at, inheritFromBefore) => {
		const spreadsheetId = calls.sheet(rows, 'Sheet1', { rowCount });
		await write({ spreadsheetId }, { Order: 'B-1' }, { Order: 'B-2' });
		const range = { sheetId: 0, dimension: 'ROWS', ...at };
		expect(requests()).toMatchObject([
			{ insertDimension: { range, inheritFromBefore } },
			{ updateCells: {} },
		]);
	});

	test('add rows at the end of the tab', async () => {
		const spreadsheetId = calls.sheet(orders, 'Sheet1', { rowCount: 4 });
		await write({ spreadsheetId }, { Order: 'B-1' }, { Order: 'B-2' });
		expect(requests()).toMatchObject([
			{ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 2 } },
			{ updateCells: { start: { rowIndex: 4, columnIndex: 0 } } },
		]);
	});

	test.each<[IDataObject[], Array<[row: number, column: number, height: number, width: number]>]>([
		[[{ Order: 'A-1', Status: 'x' }, { Order: 'A-2', Status: 'y' }], [[1, 1, 2, 1]]],
		[[{ Order: 'A-1', Status: 'x' }, { Order: 'A-3', Status: 'y' }], [[1, 1, 1, 1], [3, 1, 1, 1]]],
		[[{ Order: 'A-1', Status: 'x' }, { Order: 'A-2', Total: 1 }], [[1, 1, 1, 1], [2, 2, 1, 1]]],
		[[{ Order: 'A-1', Status: 'x' }, { Order: 'A-2', Status: 'y', Total: 1 }], [[1, 1, 1, 1], [2, 1, 1, 2]]],
		[[{ Order: 'B', Total: 1 }], [[4, 0, 1, 1], [4, 2, 1, 1]]],
	])('are rectangles: %j', async (all, expected) => {
		await write({ spreadsheetId: calls.sheet(orders) }, ...all);
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
		await write({ spreadsheetId: calls.sheet(orders), ...typedAsGiven }, json);
		expect(calls.writes).toEqual(methods);
	});
});

test('an empty tab gets its header and rows', async () => {
	const spreadsheetId = calls.sheet();
	await write({ spreadsheetId }, { Order: 'A-1', Status: '=1' }, { Order: 'A-1', Total: 5 });
	expect(calls.stored(spreadsheetId)).toEqual([header, ['A-1', '=1', 5]]);
	expect(calls.writes).toEqual(['batchUpdate']);
});

test('new columns and rows of a tab that has no room for them', async () => {
	const spreadsheetId = calls.sheet(orders, 'My Tab', { rowCount: 4, columnCount: 3 });
	const given = { spreadsheetId, tab: 'My Tab', extraColumns: 'add' };
	await write(given, { Order: 'A-9', Note: 'n' }, { Order: 'A-1', Note: 'm' });
	const added = calls.stored(spreadsheetId, "'My Tab'").map((row) => row[3] ?? '');
	expect(added).toEqual(['Note', 'm', '', '', 'n']);
	expect(calls.writes).toEqual(['batchUpdate']);
});

test('USER_ENTERED: cells are taken as typed, also those that rows are found by', async () => {
	const spreadsheetId = calls.sheet(grid(['Order', 'Day'], [7, 1], [true, 2]));
	const written = await write(
		{ spreadsheetId, valueInputOption: 'USER_ENTERED' },
		{ Order: '007', Day: '5' },
		{ Order: 'TRUE', Day: '=1+1' },
		{ Order: '8', Day: '2020-01-01' },
	);
	expect(written.map(({ action }) => action)).toEqual(['updated', 'updated', 'appended']);
	const stored = calls.stored(spreadsheetId).slice(1);
	expect(stored).toEqual(grid([7, 5], [true, '=1+1'], [8, 43831]));
	expect(calls.writes).toEqual(['batchUpdate', 'values.batchUpdate']);
});

describe('what is refused before anything is written', () => {
	test.each<[object, IDataObject, string]>([
		[{ matchColumns: 'Id' }, { Order: 'A-1' }, "The table has no column 'Id' to match rows by"],
		[{}, { Status: 'x' }, "The item has no value for 'Order'"],
		[{}, { Order: '' }, "The item has no value for 'Order'"],
		[{}, { Order: ' \u00a0\n' }, "The item has no value for 'Order'"],
		[{}, { Order: 'A-1', Other: 1 }, "The table has no column 'Other'"],
	])('%j %j', async (params, last, message) => {
		const spreadsheetId = calls.sheet(orders);
		const outcome = await write(
			{ spreadsheetId, ...params },
			{ Order: 'A-2', Status: 'paid' },
			last,
		).catch((error: unknown) => [error]);
		expect(outcome.at(-1)).toMatchObject({ code: 400, message });
		expect(calls.stored(spreadsheetId)).toEqual(orders);
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
		const given = { spreadsheetId: 'x', tab: 'Sheet1', matchColumns: 'Order', ...source };
		const failure = await calls.refusal('write', { ...given, ...more }, items({ Order: 1 })[0]);
		expect(failure.message).toBe(message);
		expect(failure.description).toContain(advice);
	});

	test('rowNumber together with another column', async () => {
		const given = { spreadsheetId: calls.sheet(orders), matchColumns: 'Order, rowNumber' };
		const [failure] = await write(given, { Order: 1 });
		expect(failure?.['message']).toBe("The table has no column 'rowNumber' to match rows by");
	});
});

test('rows as objects have a result each', async () => {
	const spreadsheetId = calls.sheet(orders);
	const values = [
		{ Order: 'A-2', Status: 'paid' },
		{ Order: 'A-9', Status: 'new' },
	];
	const given = { spreadsheetId, tab: 'Sheet1', values, matchColumns: 'Order' };
	const written = await calls.run('write', given);
	expect(written.map(({ json }) => json)).toMatchObject([
		{ action: 'updated', updatedRange: 'Sheet1!B3' },
		{ action: 'appended', updatedRange: 'Sheet1!A5:B5' },
	]);
	const stored = calls.stored(spreadsheetId, 'Sheet1!A3:B5');
	expect(stored).toEqual(grid(['A-2', 'paid'], ['A-3', 'open'], ['A-9', 'new']));
});

describe('what was read is written back', () => {
	const odd = [
		['Name', 'Name', '', 'error', 'rowNumber', '2024'],
		['Anna', 'A', 'x', 'e', 7, 1],
		[],
		['Ben', 'B', 'y', '', 8, 2, 'beside'],
	];

	test('names of repeated, reserved and missing headers find their columns again', async () => {
		const spreadsheetId = calls.sheet(odd);
		const rows = await calls.rows({ spreadsheetId });
		expect(Object.keys(rows[1] ?? {})).toEqual(
			['2024', 'Name', 'Name_2', 'C', 'error_2', 'rowNumber_2', 'G', 'rowNumber'],
		); // prettier-ignore
		const changed = rows.map((row) => ({ ...row, Name_2: `${row['Name_2'] as string}!` }));
		const written = await write({ spreadsheetId, matchColumns: 'rowNumber' }, ...changed);
		expect(written).toMatchObject([
			{ action: 'updated', updatedRange: 'Sheet1!B2', updatedCells: 1 },
			{ action: 'updated', updatedRange: 'Sheet1!B4', updatedCells: 1 },
		]);
		const expected = odd.map((row, at) =>
			row.length && at ? [row[0], `${row[1]}!`, ...row.slice(2)] : row,
		);
		expect(calls.stored(spreadsheetId)).toEqual(expected);
	});

	test('a column whose header is rowNumber can be changed by row number', async () => {
		const spreadsheetId = calls.sheet(grid(['Name', 'rowNumber'], ['Anna', 7]));
		const [row] = await calls.rows({ spreadsheetId });
		const given = { spreadsheetId, matchColumns: 'rowNumber' };
		const written = await write(given, { ...row, rowNumber_2: 8 });
		expect(written).toMatchObject([{ action: 'updated', updatedRange: 'Sheet1!B2' }]);
		expect(calls.stored(spreadsheetId, 'Sheet1!B2')).toEqual([[8]]);
	});

	const unformatted = {
		valueRenderOption: 'UNFORMATTED_VALUE',
		dateTimeRenderOption: 'FORMATTED_STRING',
	};
	test.each([{}, unformatted])('unchanged rows are not written, read with %j', async (form) => {
		const cells = [1, '=2+3', '2024-01-05', '12%', true];
		const spreadsheetId = calls.typed(['Id', 'Sum', 'Day', 'Share', 'Done'], cells);
		const rows = await calls.rows({ spreadsheetId, ...form });
		for (const matchColumns of ['rowNumber', 'Id', 'Day, Share']) {
			const written = await write({ spreadsheetId, matchColumns }, ...rows);
			expect(written).toMatchObject([{ action: 'unchanged' }]);
		}
		expect(calls.writes).toEqual([]);
		const formulas = await calls.rows({ spreadsheetId, valueRenderOption: 'FORMULA' });
		expect(formulas).toMatchObject([{ Sum: '=2+3' }]);
	});

	test('a number without a row in the table', async () => {
		const spreadsheetId = calls.sheet(orders);
		const given = { spreadsheetId, matchColumns: 'rowNumber' };
		for (const rowNumber of [1, 5, 2.5, 'x']) {
			const [failure] = await write(given, { Status: 'x', rowNumber });
			expect(failure?.['message']).toBe(`The table has no row ${JSON.stringify(rowNumber)}`);
			expect(failure?.['description']).toContain('2 to 4');
		}
		const [failure] = await write(given, { Status: 'x' });
		expect(failure?.['message']).toBe("The item has no value for 'rowNumber'");
		expect(calls.stored(spreadsheetId)).toEqual(orders);
	});

	test('appended to another tab they are the same rows, and rowNumber is no column', async () => {
		const [row = {}] = await calls.rows({ spreadsheetId: calls.sheet(odd) });
		const empty = calls.sheet();
		const same = calls.sheet(odd.slice(0, 1));
		for (const spreadsheetId of [empty, same])
			await calls.give('append', { spreadsheetId }, row);
		expect(calls.stored(same)).toEqual([odd[0], ['Anna', 'A', 'x', 'e', '7', '1']]);
		expect(calls.stored(empty, 'Sheet1!1:1')).toEqual([
			['2024', 'Name', 'Name_2', 'C', 'error_2', 'rowNumber_2', 'G'],
		]);
	});
});

test.each(['resetAfter', 'resetBefore'] as const)('%s: no second row', async (connection) => {
	const spreadsheetId = calls.sheet(orders);
	calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', connection });
	const all = [{ Order: 'A-4', Status: 'new' }];
	expect(await write({ spreadsheetId }, ...all)).toMatchObject([{ outcome: 'unknown' }]);
	expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(1);
	expect(await write({ spreadsheetId }, ...all)).toMatchObject([
		{ action: connection === 'resetAfter' ? 'unchanged' : 'appended' },
	]);
	expect(calls.stored(spreadsheetId)).toEqual([...orders, ['A-4', 'new']]);
});

test('four writers in one process: no cell is wrong, no row is there twice', async () => {
	const spreadsheetId = calls.sheet(orders);
	const keysOf = (at: number) => Array.from({ length: 20 }, (_, row) => (row * 7 + at * 3) % 50);
	const rounds = Array.from({ length: 10 }, (_, at) => at);
	calls.google.latencyMilliseconds = 2;
	const write10 = async (writer: number) => {
		const target = writer % 2 ? { tab: '', range: 'Sheet1' } : { range: '' };
		for (const at of rounds) {
			const all = keysOf(at).map((key) => ({ Order: `K-${key}`, [`W${writer}`]: `${at}` }));
			await write({ spreadsheetId, extraColumns: 'add', ...target }, ...all);
			const values = [[`L-${writer}-${at}`]];
			await calls.one('append', { spreadsheetId, range: 'Sheet1!A:A', values });
		}
	};
	await Promise.all([0, 1, 2, 3].map(write10));
	calls.google.latencyMilliseconds = 0;
	const [titles = [], ...rows] = calls.stored(spreadsheetId);
	const keys = rows.map(([key]) => String(key));
	expect(new Set(keys).size).toBe(keys.length);
	expect(keys.filter((key) => key.startsWith('L-'))).toHaveLength(40);
	for (const row of rows.filter(([key]) => String(key).startsWith('K-'))) {
		const number = Number(String(row[0]).slice(2));
		const last = rounds.findLast((at) => keysOf(at).includes(number));
		for (const writer of [0, 1, 2, 3])
			expect(row[titles.indexOf(`W${writer}`)]).toBe(String(last));
	}
});

describe('keys', () => {
	const item = testItem();
	const update = async (rows: unknown[][], json: IDataObject, matchColumns = 'Id') => {
		const spreadsheetId = calls.sheet([['Id', 'Count'], ...rows]);
		const given = { spreadsheetId, tab: 'Sheet1', valuesSource: 'columns', matchColumns };
		item.hints.length = 0;
		await calls.run('write', given, { ...item, json });
		return calls.stored(spreadsheetId).slice(1);
	};

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
		const table = keys.map((key) => [key, 0]);
		const rows = await update(table, { Id, Count: 1 });
		const updated = [...keys.keys()].filter((index) => rows[index]?.[1] === 1);
		expect(updated).toEqual(expected);
		expect(rows).toHaveLength(expected.length === 0 ? keys.length + 1 : keys.length);
	});

	test('a hint names the rows that have the key, if they are several', async () => {
		await update(grid(['x', 0], ['y', 0], ['x', 0]), { Id: 'x', Count: 1 });
		const hint = "2 rows have the key 'x', and all of them were written: 2, 4.";
		expect(item.hints).toEqual([hint]);
	});

	test.each([
		['rowNumber', 'rowNumber'],
		['row_number', 'rowNumber'],
		['row_number', 'row_number'],
	])('%s is the number of the row, matched by %s', async (key, matchColumns) => {
		const rows = await update(grid(['x', 0], ['y', 0]), { [key]: 3, Count: 1 }, matchColumns);
		expect(rows).toEqual(grid(['x', 0], ['y', 1]));
	});

	test('and never a column', async () => {
		const rows = await update([['x', 0]], { row_number: 9, Id: 'z', Count: 1 });
		expect(rows).toEqual(grid(['x', 0], ['z', 1]));
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
		const target = { spreadsheetId, tab: 'Sheet1', valuesSource: 'columns' };
		const params = { ...target, matchColumns: 'Id', ...given };
		const all = items({ Id: 'A-7', Count: 5 }, { Id: 'a-9 ', Count: 6 });
		const members = all.map((item) => ({ params, item: { ...item, continueOnFail: true } }));
		const written = await calls.together('write', members);
		expect(written).toMatchObject([{ action: 'updated' }, told]);
		expect(calls.stored(spreadsheetId).slice(1)).toEqual([['A-7', 5], ['A-9', 2], ...more]);
		expect(all).toMatchObject([{ hints: [] }, { hints: [] }]);
	});
});
