import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { grid, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const mimeType = 'application/vnd.google-apps.folder';
const folder = () => calls.google.files.add({ name: 'F', mimeType, clientId: 'other' }).id;
const spreadsheets = () =>
	calls.google.files.listAll().filter(({ mimeType }) => mimeType.endsWith('spreadsheet'));

const batch = () => (calls.sent.at(-1)?.body as { requests: IDataObject[] }).requests;
const batchUpdate = 'sheets.spreadsheets.batchUpdate';

const full = {
	title: 'Book',
	sheets: ['Orders', 'Customers'],
	values: grid(['Name', 'Age', 'Here'], ['=1', 31, true], [null, '', -0.5]),
};

/** The only spreadsheet that there is has the tabs and rows. */
function expectFull({ spreadsheetId, sheets }: IDataObject, all = spreadsheets()): void {
	expect(all).toMatchObject([{ id: spreadsheetId }]);
	expect(sheets).toMatchObject([{ title: 'Orders' }, { title: 'Customers' }]);
	const stored = calls.stored(spreadsheetId as string, 'Orders');
	expect(stored).toEqual(grid(['Name', 'Age', 'Here'], ['=1', 31, true], ['', '', -0.5]));
}

test('a title is one request', async () => {
	const created = await calls.one('create', { title: 'Bücher 😀' });
	const spreadsheetId = spreadsheets()[0]?.id ?? '';
	expect(created).toEqual({
		spreadsheetId,
		spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`,
		title: 'Bücher 😀',
		sheets: [{ sheetId: 0, title: 'Sheet1' }],
	});
	const fields = 'spreadsheetId,properties.title,sheets.properties(sheetId,title)';
	const body = { properties: { title: 'Bücher 😀' } };
	expect(calls.sent).toEqual([
		{ method: 'create', path: '/v4/spreadsheets', query: { fields }, body },
	]);
});

test('tabs and rows go with it', async () => {
	expectFull(await calls.one('create', full));
	expect(calls.methods).toEqual(['create']);
});

test('a locale and a time zone go with it, and into what Drive makes', async () => {
	const settings = { locale: 'de_DE', timeZone: 'Europe/Berlin' };
	await calls.one('create', { title: 'Book', ...settings });
	expect(calls.sent[0]?.body).toEqual({ properties: { title: 'Book', ...settings } });
	await calls.one('create', { title: 'Book', parentFolder: 'root', ...settings });
	const change = { properties: settings, fields: 'locale,timeZone' };
	expect(batch()).toEqual([{ updateSpreadsheetProperties: change }]);
});

test.each([
	[1000, 26],
	[1001, 1],
	[1, 27],
])('%d rows of up to %d columns are in a tab of that size at least', async (height, width) => {
	const others = Array.from({ length: height - 1 }, () => ['x']);
	const values = [Array<string>(width).fill('x'), ...others];
	const gridProperties = { rowCount: Math.max(height, 1000), columnCount: Math.max(width, 26) };
	const created = await calls.one('create', { title: 'Large', values });
	expect(calls.sent[0]?.body).toMatchObject({ sheets: [{ properties: { gridProperties } }] });
	const inFolder = await calls.one('create', { title: 'Large', values, parentFolder: folder() });
	expect(batch()[0]).toEqual({
		updateSheetProperties: {
			properties: { sheetId: 0, title: 'Sheet1', gridProperties },
			fields: 'title,gridProperties.rowCount,gridProperties.columnCount',
		},
	});
	for (const { spreadsheetId } of [created, inFolder])
		expect(calls.stored(spreadsheetId as string)).toEqual(values);
});

describe('in a folder', () => {
	const make = async (item = testItem()) =>
		await calls.one('create', { ...full, parentFolder: folder() }, item);

	test('Drive makes it and one batch shapes it', async () => {
		const item = testItem();
		const created = await make(item);
		expectFull(created);
		expect(created['title']).toBe('Book');
		expect(calls.methods).toEqual(['drive.files.create', 'get', 'batchUpdate']);
		const { id = '', parents } = spreadsheets()[0] ?? {};
		const appProperties = { creationToken: item.markerId };
		expect(calls.sent[0]).toMatchObject({
			query: { supportsAllDrives: 'true' },
			body: { name: 'Book', parents, appProperties },
		});
		expect(batch()).toMatchObject([
			{ updateSheetProperties: { properties: { sheetId: 0, title: 'Orders' } } },
			{ addSheet: { properties: { title: 'Customers', index: 1 } } },
			{ updateCells: { start: { sheetId: 0, rowIndex: 0, columnIndex: 0 } } },
		]);
		expect(item.things).toEqual([{ kind: 'spreadsheet', id, url: created['spreadsheetUrl'] }]);
	});

	test('nothing shapes it that has no content', async () => {
		const created = await calls.one('create', { title: 'Plain', parentFolder: 'root' });
		const sheets = [{ sheetId: 0, title: 'Sheet1' }];
		expect(created).toMatchObject({ title: 'Plain', sheets });
		expect(calls.methods).toEqual(['drive.files.create', 'get']);
	});

	test('when the shape fails, the spreadsheet that exists is named', async () => {
		const item = testItem();
		calls.google.fault({ match: batchUpdate, status: 400 });
		expect((await catchFailure(make(item))).code).toBe(400);
		expect(item.things).toMatchObject([{ kind: 'spreadsheet', id: spreadsheets()[0]?.id }]);
		expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(1);
	});

	test('a lost answer of Drive is looked up by the private property, and the work goes on', async () => {
		calls.google.fault({ match: 'drive.files.create', connection: 'resetAfter' });
		expectFull(await make());
		const [created, ...others] = calls.methods;
		expect(created).toBe('drive.files.create');
		expect(others).toEqual(['drive.files.list', 'get', 'batchUpdate']);
	});

	test.each(['resetBefore', 'resetAfter'] as const)('a lost answer: %s', async (connection) => {
		calls.google.fault({ match: batchUpdate, connection });
		expectFull(await make());
	});
});

test.each([
	['Drive, not made', 'drive.files.create', 'resetBefore', 'root', 0],
	['Sheets, made', 'sheets.spreadsheets.create', 'resetAfter', '', 1],
	['Sheets, not made', 'sheets.spreadsheets.create', 'resetBefore', '', 0],
] as const)('never made twice: %s', async (_, match, connection, parentFolder, made) => {
	calls.google.fault({ match, connection });
	const failure = await calls.failure('create', { title: 'Book', parentFolder });
	expect(failure.message).toMatch(/^The spreadsheet may have been created: /);
	expect(failure.description).toContain("Look for 'Book' in Google Drive");
	expect(spreadsheets()).toHaveLength(made);
});

test('a cell that cannot be is refused before anything is made', async () => {
	const failure = await calls.refusal('create', { title: 'Book', values: [['a'], [NaN]] });
	expect(failure.message).toBe("Row 2, column 1 of 'values' does not fit in a cell");
});

describe('with an idempotency key', () => {
	const keyed = { ...full, idempotencyKey: 'book 2026' };
	const live = () => spreadsheets().filter(({ trashed }) => !trashed);

	test('the same key gives the first spreadsheet again; other content is refused', async () => {
		const first = await calls.one('create', keyed);
		expect(await calls.one('create', keyed)).toEqual({ ...first, repeated: true });
		const other = await calls.failure('create', { ...keyed, title: 'Other' });
		expect(other.code).toBe(409);
		expectFull(first, live());
	});

	test('the first spreadsheet keeps what somebody has typed into it meanwhile', async () => {
		const { spreadsheetId } = await calls.one('create', keyed);
		const cell = [spreadsheetId as string, 'Orders!A1'] as const;
		calls.google.sheets.enter(...cell, [['Typed']]);
		await calls.one('create', keyed);
		expect(calls.stored(...cell)).toEqual([['Typed']]);
	});

	test.each([
		{ match: 'drive.files.create', connection: 'resetAfter' },
		{ match: batchUpdate, times: 99, connection: 'resetBefore' },
		{ match: batchUpdate, times: 99, connection: 'resetAfter' },
		{ match: 'drive.files.update', times: 99, status: 503 },
	] as const)('an execution that was cut is completed by the next: %j', async (fault) => {
		calls.google.fault(fault);
		await calls.one('create', keyed).catch(() => undefined);
		calls.google.heal();
		expectFull(await calls.one('create', keyed), live());
	});

	test.each([
		[400, 2],
		[403, 1],
	])('where the change is refused with %d, it is tried %d times', async (status, times) => {
		calls.google.fault({ match: batchUpdate, status });
		const created = calls.one('create', keyed);
		if (times === 1) expect((await catchFailure(created)).code).toBe(status);
		else expectFull(await created);
		expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(times);
	});

	test('two executions at once leave one spreadsheet', async () => {
		const twice = [calls.one('create', keyed), calls.one('create', keyed)];
		const [one = {}, other = {}] = await Promise.all(twice);
		expect(one['spreadsheetId']).toBe(other['spreadsheetId']);
		expectFull(one, live());
	});
});
