import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const orders = [
	['Order', 'Status', 'Total'],
	['A-1', 'open', 10],
	['A-2', 'open', 20],
	['A-3', 'open', 30],
];

const typedAsGiven = { valueInputOption: 'USER_ENTERED', escapeFormulas: false };

const write = async (params: Record<string, unknown>, ...all: IDataObject[]) =>
	await calls.together(
		'write',
		items(...all).map((item) => ({
			params: { valuesSource: 'columns', tab: 'Sheet1', matchColumns: 'Order', ...params },
			item,
		})),
	);

test('a row that is there is updated in place, the others are appended', async () => {
	const spreadsheetId = calls.sheet(orders);
	const written = await write(
		{ spreadsheetId },
		{ Order: 'A-2', Status: 'paid' },
		{ Total: 40, Order: 'A-4' },
		{ Order: 'A-1' },
		{ Order: 'A-4', Status: 'new' },
	);
	const common = { spreadsheetId, updatedRows: 1 };
	expect(written).toEqual([
		{
			...common,
			action: 'updated',
			updatedRange: 'Sheet1!B3',
			updatedColumns: 1,
			updatedCells: 1,
		},
		{
			...common,
			action: 'appended',
			updatedRange: 'Sheet1!A5:C5',
			updatedColumns: 2,
			updatedCells: 2,
		},
		{
			...common,
			...{ action: 'unchanged', updatedRange: 'Sheet1!A2:C2', updatedRows: 0 },
			...{ updatedColumns: 0, updatedCells: 0 },
		},
		{
			...common,
			action: 'updated',
			updatedRange: 'Sheet1!B5',
			updatedColumns: 1,
			updatedCells: 1,
		},
	]);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
		orders[0],
		['A-1', 'open', 10],
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
	const spreadsheetId = calls.sheet([orders[0] ?? [], ...rows]);
	const all = Array.from({ length: 1000 }, (_, at) => ({
		Order: `A-${at * 15}`,
		Status: 'paid',
	}));
	const written = await write({ spreadsheetId }, ...all);
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	const stored = calls.stored(spreadsheetId, 'Sheet1').slice(1);
	const expected = rows.map(([order, , at]) => [
		order,
		Number(at) % 15 === 0 ? 'paid' : 'open',
		at,
	]);
	const added = all.slice(667).map(({ Order }) => [Order, 'paid']);
	expect(stored).toEqual([...expected, ...added]);
	expect(written.filter((one) => (one as IDataObject)['action'] === 'appended')).toHaveLength(
		333,
	);
});

test('1,000 items of texts, as from a CSV file, with dates and new rows, are four requests', async () => {
	const header = ['Id', 'Total', 'Share', 'Paid', 'Day'];
	const csv = (at: number) => ({
		Id: String(1000 + at),
		Total: `1,${200 + at}`,
		Share: `${at % 100}%`,
		Paid: at % 2 === 0 ? 'TRUE' : 'FALSE',
		Day: '2024-01-05',
	});
	const spreadsheetId = calls.sheet([header]);
	const rows = Array.from({ length: 700 }, (_, at) => Object.values(csv(at)));
	calls.google.sheets.enter(spreadsheetId, 'Sheet1!A2', rows);
	const before = calls.google.sheets.cells(spreadsheetId, 'Sheet1!A:E');
	const all = Array.from({ length: 1000 }, (_, at) => csv(at));
	const given = { spreadsheetId, matchColumns: 'Id', valueInputOption: 'AUTO' };
	const written = await write(given, { ...csv(3), Total: '9' }, ...all.slice(4));
	expect(calls.methods).toEqual(['get', 'values.batchGet', 'values.batchGet', 'batchUpdate']);
	expect(written.map((one) => (one as IDataObject)['action'])).toEqual([
		'updated',
		...Array.from({ length: 696 }, () => 'unchanged'),
		...Array.from({ length: 300 }, () => 'appended'),
	]);
	const after = calls.google.sheets.cells(spreadsheetId, 'Sheet1!A:E');
	before[4]?.splice(1, 1, { value: '9' });
	expect(after.slice(0, 701)).toEqual(before);
	expect(calls.stored(spreadsheetId, 'Sheet1!A702:E702')).toEqual([
		['1700', '1,900', '0%', 'TRUE', 45296],
	]);
});

test('a number with many digits is found by the text that a program prints for it', async () => {
	const spreadsheetId = calls.sheet([['Time', 'A']]);
	const values = [
		['$1,727,777,777.123456', 'other'],
		['$1,727,777,777.223456', 'old'],
	];
	await calls.one('write', { spreadsheetId, range: 'Sheet1!A2', values, ...typedAsGiven });
	const given = { spreadsheetId, matchColumns: 'Time' };
	const written = await write(given, { Time: '1727777777.223456', A: 'new' });
	expect(written).toMatchObject([{ action: 'updated', updatedRange: 'Sheet1!B3' }]);
});

test('a number of more than 15 digits is a text: it equals no number, which has no more', async () => {
	const spreadsheetId = calls.sheet([['Id'], [12.345678901234567], [1234567890123456]]);
	const written = await write(
		{ spreadsheetId, matchColumns: 'Id' },
		{ Id: '12.3456789012345674' },
		{ Id: '1234567890123456.1' },
		{ Id: '12.3456789012345' },
	);
	expect(written).toMatchObject(written.map(() => ({ action: 'appended' })));
});

test('several key columns, and a key that is there twice', async () => {
	const spreadsheetId = calls.sheet([
		['City', 'Day', 'Count'],
		['Rome', 1, 5],
		['Rome', 2, 6],
		['Rome', 1, 7],
		['', '', 'no key'],
	]);
	const given = { spreadsheetId, matchColumns: ['City', 'Day'] };
	expect(
		await write(
			given,
			{ City: 'Rome', Day: '1', Count: 0 },
			{ City: 'Rome', Day: 3, Count: 9 },
		),
	).toMatchObject([
		{ action: 'updated', updatedRows: 2, updatedRange: 'Sheet1!C2' },
		{ action: 'appended' },
	]);
	expect(calls.stored(spreadsheetId, 'Sheet1').slice(1)).toEqual([
		['Rome', 1, 0],
		['Rome', 2, 6],
		['Rome', 1, 0],
		['', '', 'no key'],
		['Rome', 3, 9],
	]);
});

test.each([
	['RAW', 'Id'],
	['RAW', 'Id, Day'],
	['AUTO', 'Id'],
	['AUTO', 'Id, Day'],
])(
	'%s, %s: a number is not found where the sheet only shows it',
	async (valueInputOption, matchColumns) => {
		const spreadsheetId = calls.sheet([['Id', 'Day', 'A']]);
		const values = [['0,005.251', '2024-01-05', 'shown as 5.25']];
		await calls.one('write', { spreadsheetId, range: 'Sheet1!A2', values, ...typedAsGiven });
		const day = { Day: '2024-01-05' };
		const written = await write(
			{ spreadsheetId, matchColumns, valueInputOption },
			{ ...day, Id: 5.25, A: 'new' },
			{ ...day, Id: '1,200', A: 'newer' },
			{ ...day, Id: 5.251, A: 'changed' },
		);
		expect(written).toMatchObject([
			{ action: 'appended' },
			{ action: 'appended' },
			{ action: 'updated' },
		]);
		expect(calls.stored(spreadsheetId, 'Sheet1!C2:C4')).toEqual([
			['changed'],
			['new'],
			['newer'],
		]);
	},
);

test('one column of a key may equal what the sheet shows, and another the value', async () => {
	const spreadsheetId = calls.sheet([['Day', 'Amount', 'A']]);
	const values = [['1/31/2026', '$1,234.00', 'old']];
	await calls.one('write', { spreadsheetId, range: 'Sheet1!A2', values, ...typedAsGiven });
	const key = { Day: '1/31/2026', Amount: 1234 };
	const matchColumns = 'Day, Amount';
	const written = await write({ spreadsheetId, matchColumns }, { ...key, A: 'new' });
	expect(written).toMatchObject([{ action: 'updated' }]);
	expect(calls.stored(spreadsheetId, 'Sheet1!C2:C3')).toEqual([['new']]);
});

test('a formula stays if the text that Google would interpret is its value', async () => {
	const spreadsheetId = calls.sheet([['Order', 'Total']]);
	const values = [['A', '=2+3']];
	await calls.one('write', { spreadsheetId, range: 'Sheet1!A2', values, ...typedAsGiven });
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
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
		['Order', 'Status', 'Total'],
		['A-1', '=1', 5],
	]);
	expect(calls.writes).toEqual(['batchUpdate']);
});

test('new columns and rows of a tab that has no room for them', async () => {
	const spreadsheetId = calls.sheet(orders, 'My Tab', { rowCount: 4, columnCount: 3 });
	await write(
		{ spreadsheetId, tab: 'My Tab', extraColumns: 'add' },
		{ Order: 'A-9', Note: 'n' },
		{ Order: 'A-1', Note: 'm' },
	);
	expect(calls.stored(spreadsheetId, "'My Tab'").map((row) => row[3] ?? '')).toEqual([
		'Note',
		'm',
		'',
		'',
		'n',
	]);
	expect(calls.writes).toEqual(['batchUpdate']);
});

test('USER_ENTERED: cells are taken as typed, also those that rows are found by', async () => {
	const spreadsheetId = calls.sheet([
		['Order', 'Day'],
		[7, 1],
		[true, 2],
	]);
	const given = { spreadsheetId, valueInputOption: 'USER_ENTERED' };
	expect(
		await write(
			given,
			{ Order: '007', Day: '5' },
			{ Order: 'TRUE', Day: '=1+1' },
			{ Order: '8', Day: '2020-01-01' },
		),
	).toMatchObject([{ action: 'updated' }, { action: 'updated' }, { action: 'appended' }]);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
		['Order', 'Day'],
		[7, 5],
		[true, '=1+1'],
		[8, 43831],
	]);
	expect(calls.writes).toEqual(['batchUpdate', 'values.batchUpdate']);
});

describe('what is refused before anything is written', () => {
	test.each<[Record<string, unknown>, IDataObject[], string]>([
		[
			{ matchColumns: 'Id' },
			[{ Order: 'A-1' }],
			"The table has no column 'Id' to match rows by",
		],
		[{}, [{ Status: 'x' }], "The item has no value for 'Order'"],
		[{}, [{ Order: '' }], "The item has no value for 'Order'"],
		[{}, [{ Order: 'A-1', Other: 1 }], "The table has no column 'Other'"],
	])('%j %j', async (params, all, message) => {
		const spreadsheetId = calls.sheet(orders);
		const outcome = await write(
			{ spreadsheetId, ...params },
			{ Order: 'A-2', Status: 'paid' },
			...all,
		).catch((error: unknown) => [error]);
		expect(outcome.at(-1)).toMatchObject({ code: 400, message });
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual(orders);
	});

	test.each([
		[
			{ values: [['A-1', 1]] },
			"'matchColumns' needs rows with column names, but 'values' holds rows of cells",
		],
		[
			{ values: [['A-1']], matchColumns: '', writeMode: 'update' },
			"'writeMode' needs rows with column names, but 'values' holds rows of cells",
		],
		[
			{ valuesSource: 'columns', writeMode: 'replace' },
			"'matchColumns' cannot be used when 'writeMode' is replace",
			'All rows are replaced, so there is nothing to match. Remove one of them.',
		],
		[
			{ valuesSource: 'columns', writeMode: 'update', matchColumns: '' },
			"'matchColumns' is required to update rows",
		],
		[
			{ values: [{ Order: 1 }], unmatched: 'skip' },
			"'unmatched' can only be skip when 'writeMode' is update",
		],
	])('%j', async (more, message, advice = '') => {
		const given = { spreadsheetId: 'x', tab: 'Sheet1', matchColumns: 'Order', ...more };
		const [item] = items({ Order: 1 });
		const failure = await catchFailure(calls.run('write', given, item));
		expect(failure.message).toBe(message);
		expect(failure.description).toContain(advice);
		expect(calls.sent).toEqual([]);
	});

	test('rowNumber together with another column', async () => {
		const [failure] = await write(
			{ spreadsheetId: calls.sheet(orders), matchColumns: 'Order, rowNumber' },
			{ Order: 1 },
		);
		expect(failure).toMatchObject({
			message: "The table has no column 'rowNumber' to match rows by",
		});
	});
});

test('rows as objects have a result each', async () => {
	const spreadsheetId = calls.sheet(orders);
	const values = [
		{ Order: 'A-2', Status: 'paid' },
		{ Order: 'A-9', Status: 'new' },
	];
	const written = await calls.run('write', {
		spreadsheetId,
		tab: 'Sheet1',
		values,
		matchColumns: 'Order',
	});
	expect(written.map(({ json }) => json)).toMatchObject([
		{ action: 'updated', updatedRange: 'Sheet1!B3' },
		{ action: 'appended', updatedRange: 'Sheet1!A5:B5' },
	]);
	expect(calls.stored(spreadsheetId, 'Sheet1!A3:B5')).toEqual([
		['A-2', 'paid'],
		['A-3', 'open'],
		['A-9', 'new'],
	]);
});

describe('what was read is written back', () => {
	const odd = [
		['Name', 'Name', '', 'error', 'rowNumber', '2024'],
		['Anna', 'A', 'x', 'e', 7, 1],
		[],
		['Ben', 'B', 'y', '', 8, 2, 'beside'],
	];
	const read = async (spreadsheetId: string, more = {}) =>
		(await calls.run('read', { spreadsheetId, output: 'rows', ...more })).map(
			({ json }) => json,
		);

	test('names of repeated, reserved and missing headers find their columns again', async () => {
		const spreadsheetId = calls.sheet(odd);
		const rows = await read(spreadsheetId);
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
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual(expected);
	});

	test('a column whose header is rowNumber can be changed by row number', async () => {
		const spreadsheetId = calls.sheet([['Name', 'rowNumber'], ['Anna', 7]]); // prettier-ignore
		const [row] = await read(spreadsheetId);
		const given = { spreadsheetId, matchColumns: 'rowNumber' };
		expect(await write(given, { ...row, rowNumber_2: 8 })).toMatchObject([
			{ action: 'updated', updatedRange: 'Sheet1!B2' },
		]);
		expect(calls.stored(spreadsheetId, 'Sheet1!B2')).toEqual([[8]]);
	});

	test('unchanged rows are not written, whatever way they were read', async () => {
		const spreadsheetId = calls.sheet();
		const values = [
			['Id', 'Sum', 'Day', 'Share', 'Done'],
			[1, '=2+3', '2024-01-05', '12%', true],
		];
		await calls.one('write', { spreadsheetId, range: 'Sheet1', values, ...typedAsGiven });
		for (const rendering of [
			{},
			{ valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' },
		]) {
			const rows = await read(spreadsheetId, rendering);
			for (const matchColumns of ['rowNumber', 'Id', 'Day, Share']) {
				expect(await write({ spreadsheetId, matchColumns }, ...rows)).toMatchObject([
					{ action: 'unchanged' },
				]);
			}
		}
		expect(calls.methods).not.toContain('batchUpdate');
		expect(await read(spreadsheetId, { valueRenderOption: 'FORMULA' })).toMatchObject([
			{ Sum: '=2+3' },
		]);
	});

	test('a number without a row in the table', async () => {
		const spreadsheetId = calls.sheet(orders);
		const given = { spreadsheetId, matchColumns: 'rowNumber' };
		for (const rowNumber of [1, 5, 2.5, 'x']) {
			expect(await write(given, { Status: 'x', rowNumber })).toMatchObject([
				{
					message: `The table has no row ${JSON.stringify(rowNumber)}`,
					description: expect.stringContaining('2 to 4') as string,
				},
			]);
		}
		expect(await write(given, { Status: 'x' })).toMatchObject([
			{ message: "The item has no value for 'rowNumber'" },
		]);
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual(orders);
	});

	test('appended to another tab they are the same rows, and rowNumber is no column', async () => {
		const spreadsheetId = calls.sheet(odd);
		const rows = (await read(spreadsheetId)).slice(0, 1);
		const empty = calls.sheet();
		const same = calls.sheet([odd[0] ?? []]);
		for (const target of [empty, same]) {
			await calls.together(
				'append',
				items(...rows).map((item) => ({
					params: { spreadsheetId: target, tab: 'Sheet1', valuesSource: 'columns' },
					item,
				})),
			);
		}
		expect(calls.stored(same, 'Sheet1')).toEqual([odd[0], ['Anna', 'A', 'x', 'e', '7', '1']]);
		expect(calls.stored(empty, 'Sheet1!1:1')).toEqual([
			['2024', 'Name', 'Name_2', 'C', 'error_2', 'rowNumber_2', 'G'],
		]);
	});
});

test.each(['resetAfter', 'resetBefore'] as const)(
	'%s: nothing is sent twice, and a second run changes nothing twice',
	async (connection) => {
		const spreadsheetId = calls.sheet(orders);
		calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', connection });
		const all = [{ Order: 'A-4', Status: 'new' }];
		expect(await write({ spreadsheetId }, ...all)).toMatchObject([{ outcome: 'unknown' }]);
		expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(1);
		expect(await write({ spreadsheetId }, ...all)).toMatchObject([
			{ action: connection === 'resetAfter' ? 'unchanged' : 'appended' },
		]);
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([...orders, ['A-4', 'new']]);
	},
);

test('four writers in one process: no cell is wrong, no row is there twice', async () => {
	const spreadsheetId = calls.sheet(orders);
	calls.google.latencyMilliseconds = 2;
	const round = async (writer: number) => {
		for (let at = 0; at < 10; at++) {
			const all = Array.from({ length: 20 }, (_, row) => ({
				Order: `K-${(row * 7 + at * 3) % 50}`,
				[`W${writer}`]: `${at}`,
			}));
			await write(
				{
					spreadsheetId,
					tab: writer % 2 ? '' : 'Sheet1',
					range: writer % 2 ? 'Sheet1' : '',
					extraColumns: 'add',
				},
				...all,
			);
			await calls.one('append', {
				spreadsheetId,
				range: 'Sheet1!A:A',
				values: [[`L-${writer}-${at}`]],
			});
		}
	};
	await Promise.all([0, 1, 2, 3].map(round));
	calls.google.latencyMilliseconds = 0;
	const [header = [], ...rows] = calls.stored(spreadsheetId, 'Sheet1');
	const keys = rows.map(([key]) => key);
	expect(new Set(keys).size).toBe(keys.length);
	expect(keys.filter((key) => String(key).startsWith('L-'))).toHaveLength(40);
	for (const row of rows.filter(([key]) => String(key).startsWith('K-'))) {
		const number = Number(String(row[0]).slice(2));
		const rounds = Array.from({ length: 10 }, (_, at) => at).filter((at) =>
			Array.from({ length: 20 }, (_, place) => (place * 7 + at * 3) % 50).includes(number),
		);
		for (const writer of [0, 1, 2, 3]) {
			expect(row[header.indexOf(`W${writer}`)]).toBe(String(rounds.at(-1)));
		}
	}
});

describe('keys', () => {
	const item = testItem();
	const update = async (rows: unknown[][], given: IDataObject, more: object = {}) => {
		const spreadsheetId = calls.sheet([['Id', 'Count'], ...rows]);
		const params = {
			spreadsheetId,
			tab: 'Sheet1',
			valuesSource: 'columns',
			matchColumns: 'Id',
		};
		item.hints.length = 0;
		const hinted = { ...item, json: given };
		await calls.run('write', { ...params, ...more }, hinted);
		return calls.stored(spreadsheetId, 'Sheet1').slice(1);
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
		const rows = await update(
			keys.map((key) => [key, 0]),
			{ Id, Count: 1 },
		);
		const updated = [...keys.keys()].filter((index) => rows[index]?.[1] === 1);
		expect(updated).toEqual(expected);
		expect(rows).toHaveLength(expected.length === 0 ? keys.length + 1 : keys.length);
	});

	test('a hint names the rows that have the key, if they are several', async () => {
		await update(
			[
				['x', 0],
				['y', 0],
				['x', 0],
			],
			{ Id: 'x', Count: 1 },
		);
		expect(item.hints).toEqual([
			"2 rows have the key 'x', and all of them were written: 2, 4.",
		]);
	});

	test.each([
		['rowNumber', 'rowNumber'],
		['row_number', 'rowNumber'],
		['row_number', 'row_number'],
	])('%s is the number of the row, matched by %s', async (key, matchColumns) => {
		const given = { [key]: 3, Count: 1 };
		expect(
			await update(
				[
					['x', 0],
					['y', 0],
				],
				given,
				{ matchColumns },
			),
		).toEqual([
			['x', 0],
			['y', 1],
		]);
	});

	test('and never a column', async () => {
		const given = { row_number: 9, Id: 'z', Count: 1 };
		expect(await update([['x', 0]], given)).toEqual([['x', 0], ['z', 1]]); // prettier-ignore
	});
});

describe('If No Row Matches', () => {
	const table = [
		['Id', 'Count'],
		['A-7', 1],
		['A-9', 2],
	];
	const give = async (given: object) => {
		const spreadsheetId = calls.sheet(table);
		const hints: string[] = [];
		const all = [
			{ Id: 'A-7', Count: 5 },
			{ Id: 'a-9 ', Count: 6 },
		].map((json, index) => ({
			params: {
				spreadsheetId,
				tab: 'Sheet1',
				valuesSource: 'columns',
				matchColumns: 'Id',
				...given,
			},
			item: {
				...testItem({ json, index }),
				continueOnFail: true,
				addHint: (hint: string) => void hints.push(hint),
			},
		}));
		const written = await calls.together('write', all);
		return { written, hints, stored: calls.stored(spreadsheetId, 'Sheet1').slice(1) };
	};

	test('Update or Add adds the row, also if only case differs', async () => {
		const { written, hints, stored } = await give({});
		expect(written).toMatchObject([{ action: 'updated' }, { action: 'appended' }]);
		expect(stored).toEqual([
			['A-7', 5],
			['A-9', 2],
			['a-9 ', 6],
		]);
		expect(hints).toEqual([]);
	});

	test('skip leaves the table as it is', async () => {
		const { written, hints, stored } = await give({ writeMode: 'update', unmatched: 'skip' });
		expect(written).toMatchObject([
			{ action: 'updated' },
			{ action: 'skipped', updatedRows: 0, updatedRange: '' },
		]);
		expect(stored).toEqual([
			['A-7', 5],
			['A-9', 2],
		]);
		expect(hints).toEqual([]);
	});

	test('error fails the item', async () => {
		const { written, stored } = await give({ writeMode: 'update' });
		expect(written).toMatchObject([
			{ action: 'updated' },
			{
				code: 400,
				message: "No row has 'a-9 ' in 'Id'",
				description: expect.stringContaining('Nothing was written for the item.') as string,
			},
		]);
		expect(stored).toEqual([
			['A-7', 5],
			['A-9', 2],
		]);
	});
});
