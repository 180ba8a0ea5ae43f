// Dates at the wire: what goes in as a timestamp is a date cell, and what is a date cell comes out in ISO 8601.
import { DateTime } from 'luxon';

import { grid, isoForm, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();
const instant = '2026-07-23T05:46:56.692Z';
/** The same instant on the clocks of Berlin. */
const serial = (Date.UTC(2026, 6, 23, 7, 46, 56, 692) - Date.UTC(1899, 11, 30)) / 86_400_000;
const shown = '2026-07-23T07:46:56.692+02:00';

/** A sheet of Berlin, some of whose cells have a number format. */
function seed(rows: unknown[][] = [['Key', 'At']], cells = '', format = 'dd.mm.yyyy', more = {}) {
	const settings = { locale: 'de_DE', timeZone: 'Europe/Berlin', ...more };
	const spreadsheetId = calls.book([{ title: 'Sheet1', rows }], settings);
	if (cells) calls.format(spreadsheetId, cells, format);
	return spreadsheetId;
}

/** A column of a sheet as ISO 8601. */
const readAt = async (spreadsheetId: string, more: object = {}, column = 'At') =>
	(await calls.rows({ spreadsheetId, ...isoForm, ...more })).map((row) => row[column]);

/** Column B below its header. */
const cellsOf = (spreadsheetId: string) => calls.cells(spreadsheetId, 'B:B').slice(1).flat();

test('a new column of Replace keeps the date format of its cells', async () => {
	const spreadsheetId = seed([['Key']], 'B2:B5');
	await calls.send('write', { spreadsheetId, writeMode: 'replace' }, { Key: 'a', At: instant });
	expect(cellsOf(spreadsheetId)).toEqual([{ value: serial, format: 'dd.mm.yyyy' }]);
});

describe.each<[string, 'append' | 'write', object]>([
	['Append', 'append', {}],
	['Write by key', 'write', { matchColumns: 'Key' }],
	['Write over', 'write', { writeMode: 'overwrite' }],
	['Replace', 'write', { writeMode: 'replace' }],
])('%s', (_, name, more) => {
	test.each<[string, unknown]>([
		['text in UTC', instant],
		['text with an offset', '2026-07-23T01:46:56.692-04:00'],
		['text without an offset', '2026-07-23T07:46:56.692'],
		['a Date', new Date(instant)],
		['a Luxon date', DateTime.fromISO(instant)],
	])('%s becomes a date-time in the time zone of the spreadsheet', async (_kind, At) => {
		const spreadsheetId = seed();
		await calls.send(name, { spreadsheetId, ...more }, { Key: 'a', At }, { Key: 'b', At });
		const cell = { value: serial, format: 'DATE_TIME' };
		expect(cellsOf(spreadsheetId)).toEqual([cell, cell]);
		expect(await readAt(spreadsheetId)).toEqual([shown, shown]);
	});

	test.each([
		[['Key', 'At'], 'At'],
		[['Key', 'At'], 'at'],
		[['Key'], 'B'],
		[['', '', '', 'Other'], 'At'],
	])('a cell that has a date format keeps it: below %j, %s', async (header, column) => {
		const spreadsheetId = seed([header], 'B2:B5');
		const given = { spreadsheetId, ...more, range: 'Sheet1!A:B' };
		await calls.send(name, given, { Key: 'a', [column]: instant });
		expect(cellsOf(spreadsheetId)).toEqual([{ value: serial, format: 'dd.mm.yyyy' }]);
	});

	test.each(['RAW', 'USER_ENTERED'])('%s is obeyed literally', async (valueInputOption) => {
		const given = { spreadsheetId: seed(), ...more, valueInputOption };
		await calls.send(name, given, { Key: 'a', At: instant });
		expect(cellsOf(given.spreadsheetId)).toEqual([{ value: instant }]);
	});

	test('no text but a complete date changes its type', async () => {
		const inText = ['am 2026-07-23T05:46:56.692Z', `${instant} `];
		const inLocale = ['5/6', '31.01.2024', '1/31/2024', '10:30'];
		const texts = [...inText, ...inLocale, '2026-07-23T25:00:00Z', '2026-W30'];
		const given = { spreadsheetId: seed(), ...more };
		await calls.send(name, given, ...texts.map((At, at) => ({ Key: `k${at}`, At })));
		expect(cellsOf(given.spreadsheetId)).toEqual(texts.map((value) => ({ value })));
	});
});

test.each([
	['in a date column', 'dd.mm.yyyy', instant, 'dd.mm.yyyy'],
	['in a date column, a time', 'dd.mm.yyyy', '10:30:00', 'TIME'],
	['in a column of times, a date', 'h:mm', '2024-01-06', 'DATE'],
	['in a column of times', 'h:mm', '10:30:00', 'h:mm'],
	['beside date-times, a day', 'yyyy-mm-dd h:mm:ss', '2024-01-06', 'DATE'],
	[
		...['beside date-times, a midnight', 'yyyy-mm-dd h:mm:ss'],
		...['2024-01-06T00:00:00.000', 'yyyy-mm-dd h:mm:ss'],
	],
])('a cell without a format gets one: %s', async (_, format, At, expected) => {
	const rows = grid(['Key', 'At'], ['a', 0.5], ['b', '']);
	const spreadsheetId = seed(rows, 'B2', format);
	await calls.send('write', { spreadsheetId, matchColumns: 'Key' }, { Key: 'b', At });
	await calls.send('append', { spreadsheetId }, { Key: 'c' });
	await calls.send('append', { spreadsheetId }, { Key: 'd', At });
	const cells = cellsOf(spreadsheetId).slice(1);
	expect(cells).toMatchObject([{ format: expected }, null, { format: expected }]);
});

describe('Read in ISO 8601', () => {
	async function readCell(value: unknown, format = '', settings = {}): Promise<unknown> {
		const cells = format === '' ? '' : 'A2';
		return (await readAt(seed([['At'], [value]], cells, format, settings)))[0];
	}

	test.each<[unknown, string | undefined, unknown]>([
		[45296, 'dd.mm.yyyy', '2024-01-05'],
		[45296, 'm/d/yyyy', '2024-01-05'],
		[45296.4375, 'DATE_TIME', '2024-01-05T10:30:00.000+01:00'],
		[45296.4375, 'dd.mm.yyyy', '2024-01-05T10:30:00.000+01:00'],
		[45296, 'DATE_TIME', '2024-01-05T00:00:00.000+01:00'],
		[0.4375, 'h:mm', '10:30:00'],
		[0.4375 + 250 / 86_400_000, 'h:mm', '10:30:00.250'],
		[26 / 24, '[h]:mm:ss', '26:00:00'],
		[0.5, '[h]:mm:ss', '12:00:00'],
		// What the sheet shows for these may be written back as other times.
		[26 / 24, 'h:mm', '26:00:00'],
		[750 / 86_400, '[mm]:ss', '00:12:30'],
		[26.5 / 24, '[h]:mm', '26:30:00'],
		[1.5 / 24, '[h]:mm:ss', '01:30:00'],
		[-1.5 / 24, '[h]:mm:ss', '-01:30:00'],
		[1.5 / 24, '[h]:mm', '01:30:00'],
		// A sum of times is no date, however large it is.
		[400.5, '[h]:mm', '9612:00:00'],
		[45296, undefined, 45296],
		[45296, 'number', 45296],
		['2024-01-05', undefined, '2024-01-05'],
		['05.01.2024', undefined, '05.01.2024'],
		['a1', undefined, 'a1'],
		// Clocks skip this time in Berlin, so there is no offset.
		[45382 + 2.5 / 24, 'DATE_TIME', '2024-03-31T02:30:00.000'],
		[45592 + 2.5 / 24, 'DATE_TIME', '2024-10-27T02:30:00.000+02:00'],
		// The first day that is told: the day before has a year of three digits. The offset of that time had seconds, too.
		[-328716, 'DATE_TIME', '1000-01-01T00:00:00.000+00:53'],
	])('%j as %s is %j', async (value, format, expected) => {
		expect(await readCell(value, format)).toBe(expected);
	});

	test.each([
		['Etc/GMT', '2024-01-05T10:30:00.000+00:00'],
		['America/St_Johns', '2024-01-05T10:30:00.000-03:30'],
		['Asia/Kathmandu', '2024-01-05T10:30:00.000+05:45'],
		['Pacific/Auckland', '2024-01-05T10:30:00.000+13:00'],
		['GMT-07:00', '2024-01-05T10:30:00.000-07:00'],
		['Mars/Olympus', '2024-01-05T10:30:00.000'],
	])('in %s', async (timeZone, expected) => {
		expect(await readCell(45296.4375, 'DATE_TIME', { timeZone })).toBe(expected);
	});

	test('one more request where a number may be a date, for its columns alone; none without a number', async () => {
		const values = ['Anna', 'a1@example.com', '2024-01-05', '10115 Berlin', true];
		await readAt(seed([['Name', 'Mail', 'Article', 'Place', 'Paid'], values]));
		expect(calls.methods).toEqual(['values.get']);
		const rows = grid(['Name', 'At', 'Place'], ['Anna', 45296, 'a'], ['Ben', 45297, '']);
		await readAt(seed(rows, 'B2:B9'));
		expect(calls.methods).toEqual(['values.get', 'values.get', 'get']);
		const short = { ranges: 'Sheet1!B1:B3', prettyPrint: 'false' };
		expect(calls.sent.at(-1)?.query).toMatchObject(short);
	});

	test('the formats of many cells are fetched in slices', async () => {
		const rows = Array.from({ length: 100_001 }, (_, at) => [at, 45296]);
		const spreadsheetId = seed([['Id', 'At'], ...rows], 'B100001:B100002');
		const read = await readAt(spreadsheetId, { range: 'Sheet1!A:B' });
		expect(read.slice(-3)).toEqual([45296, '2024-01-05', '2024-01-05']);
		expect(calls.sent.slice(1).map(({ query }) => query['ranges'])).toEqual([
			'Sheet1!A1:B100000',
			'Sheet1!A100001:B100002',
		]);
	});

	test.each(['2024-01-05', '05.01.2024'])('a filter compares %s', async (value) => {
		const filters = [{ column: 'At', value }];
		const spreadsheetId = seed([['At'], [45296], [45297]], 'A2:A3');
		const rows = await calls.rows({ spreadsheetId, ...isoForm, filters });
		expect(rows).toEqual([{ At: '2024-01-05', rowNumber: 2 }]);
	});

	test.each<[string, string | Date, string, string[]]>([
		['yyyy-mm-dd', '2024-01-05', 'UNFORMATTED_VALUE', ['2024-01-06']],
		['yyyy-mm-dd', '2024-01-05', 'FORMATTED_VALUE', ['2024-01-06']],
		['dd.mm.yyyy', '2024-01-05T00:00:00+01:00', 'FORMATTED_VALUE', ['06.01.2024']],
		['dd.mm.yyyy', '2024-01-04T23:59:59Z', 'UNFORMATTED_VALUE', ['2024-01-06']],
		['dd.mm.yyyy', '2024-01-04T22:59:59Z', 'UNFORMATTED_VALUE', ['2024-01-05', '2024-01-06']],
		['dd.mm.yyyy', new Date('2024-01-05T11:00:00Z'), 'UNFORMATTED_VALUE', ['2024-01-06']],
	])('a cell as %s is greater than %s, read as %s', async (format, value, render, expected) => {
		const spreadsheetId = seed([['At'], [45295], [45296], [45297], ['']], 'A2:A4', format);
		const filters = [{ column: 'At', condition: 'greaterThan', value }];
		const read = await readAt(spreadsheetId, { valueRenderOption: render, filters });
		expect(read).toEqual(expected);
	});

	test.each([
		['At', 'lessThan', '12:00:00', [2]],
		['Logged', 'greaterThan', '2024-01-05T09:30:00Z', [3]],
		['Logged', 'greaterThan', '2024-01-05T08:30:00Z', [2, 3]],
	])('times and texts that are timestamps: %s %s %s', async (column, condition, value, found) => {
		const morning = [0.4375, '2024-01-05T10:00:00.000+01:00'];
		const rows = grid(['At', 'Logged'], morning, [0.5, '2024-01-06T10:00:00.000Z']);
		const filters = [{ column, condition, value }];
		expect(await readAt(seed(rows, 'A2:A3', 'h:mm'), { filters }, 'rowNumber')).toEqual(found);
	});

	test('of values', async () => {
		const spreadsheetId = seed(grid(['x', 1], [45296, 'y']), 'A2');
		const json = await calls.one('read', { spreadsheetId, ...isoForm, output: 'values' });
		expect(json['values']).toEqual(grid(['x', 1], ['2024-01-05', 'y']));
	});

	test('a formula stays one', async () => {
		const spreadsheetId = calls.typed(['At'], ['=45290+6']);
		calls.format(spreadsheetId, 'A2', 'dd.mm.yyyy');
		const read = await readAt(spreadsheetId, { valueRenderOption: 'FORMULA' });
		expect(read).toEqual(['=45290+6']);
	});
});

test('a key that is an instant finds its row, and the row stays as it is', async () => {
	const spreadsheetId = seed(grid(['At', 'Count'], [serial, 1], ['2024-01-05', 2]), 'A2');
	const before = calls.cells(spreadsheetId, 'A:A');
	const all = [
		{ At: instant, Count: 5 },
		{ At: '2024-01-05', Count: 6 },
	];
	await calls.send('write', { spreadsheetId, matchColumns: 'At' }, ...all);
	expect(calls.cells(spreadsheetId, 'A:A')).toEqual(before);
	expect(calls.stored(spreadsheetId, 'Sheet1!B:B')).toEqual([['Count'], [5], [6]]);
});
