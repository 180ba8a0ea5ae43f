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
const bothTabs = { sheets: [{ title: 'Orders' }, { title: 'Customers' }] };
const idOf = ({ spreadsheetId }: IDataObject) => spreadsheetId as string;

const full = {
	title: 'Book',
	sheets: ['Orders', 'Customers'],
	values: grid(['Name', 'Age', 'Here'], ['=1', 31, true], [null, '', -0.5]),
};
const stored = grid(['Name', 'Age', 'Here'], ['=1', 31, true], ['', '', -0.5]);

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
	const created = await calls.one('create', full);
	expect(calls.methods).toEqual(['create']);
	expect(created).toMatchObject(bothTabs);
	expect(calls.stored(idOf(created), 'Orders')).toEqual(stored);
});

test('a locale and a time zone go with it, and into what Drive makes', async () => {
	const settings = { locale: 'de_DE', timeZone: 'Europe/Berlin' };
	await calls.one('create', { title: 'Book', ...settings });
	expect(calls.sent[0]?.body).toEqual({ properties: { title: 'Book', ...settings } });
	await calls.one('create', { title: 'Book', parentFolder: 'root', ...settings });
	const change = { properties: settings, fields: 'locale,timeZone' };
	const requests = [{ updateSpreadsheetProperties: change }];
	expect(calls.sent.at(-1)?.body).toMatchObject({ requests });
});

test('more rows and columns than a new tab has', async () => {
	const values = [
		Array.from({ length: 30 }, (_, at) => at),
		...Array.from({ length: 1200 }, (_, at) => [at]),
	];
	for (const parentFolder of ['', folder()]) {
		const created = await calls.one('create', { title: 'Large', parentFolder, values });
		expect(calls.stored(idOf(created), 'Sheet1')).toEqual(values);
	}
});

test.each([
	[1000, 26],
	[1001, 1],
	[1, 27],
])('%d rows of %d columns are in a tab of that size at least', async (height, width) => {
	const values = Array.from({ length: height }, () => Array<string>(width).fill('x'));
	const gridProperties = { rowCount: Math.max(height, 1000), columnCount: Math.max(width, 26) };
	await calls.one('create', { title: 'Large', values });
	expect(calls.sent[0]?.body).toMatchObject({ sheets: [{ properties: { gridProperties } }] });
	await calls.one('create', { title: 'Large', values, parentFolder: folder() });
	expect(batch()[0]).toEqual({
		updateSheetProperties: {
			properties: { sheetId: 0, title: 'Sheet1', gridProperties },
			fields: 'title,gridProperties.rowCount,gridProperties.columnCount',
		},
	});
});

test('tabs that a spreadsheet from Drive lacks are added', async () => {
	const parentFolder = folder();
	await calls.one('create', { ...full, parentFolder });
	expect(batch()).toMatchObject([
		{ updateSheetProperties: { properties: { sheetId: 0, title: 'Orders' } } },
		{ addSheet: { properties: { title: 'Customers', index: 1 } } },
		{ updateCells: { start: { sheetId: 0, rowIndex: 0, columnIndex: 0 } } },
	]);
});

test('in a folder Drive makes it and one batch shapes it', async () => {
	const item = testItem();
	const parentFolder = folder();
	const created = await calls.one('create', { ...full, parentFolder }, item);
	expect(calls.methods).toEqual(['drive.files.create', 'get', 'batchUpdate']);
	const appProperties = { creationToken: item.markerId };
	expect(calls.sent[0]).toMatchObject({
		query: { supportsAllDrives: 'true' },
		body: { name: 'Book', parents: [parentFolder], appProperties },
	});
	const id = idOf(created);
	expect(calls.google.files.get(id)).toMatchObject({ name: 'Book', parents: [parentFolder] });
	expect(created).toMatchObject({ title: 'Book', ...bothTabs });
	expect(calls.stored(id, 'Orders')).toEqual(stored);
	expect(item.things).toEqual([{ kind: 'spreadsheet', id, url: created['spreadsheetUrl'] }]);
});

test('in a folder with nothing to shape', async () => {
	const created = await calls.one('create', { title: 'Plain', parentFolder: 'root' });
	expect(created).toMatchObject({ title: 'Plain', sheets: [{ sheetId: 0, title: 'Sheet1' }] });
	expect(calls.methods).toEqual(['drive.files.create', 'get']);
});

test('when the shape fails, the spreadsheet that exists is named', async () => {
	const item = testItem();
	calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', status: 400 });
	const failure = await calls.failure('create', { ...full, parentFolder: folder() }, item);
	expect(failure.code).toBe(400);
	expect(item.things).toMatchObject([{ kind: 'spreadsheet', id: spreadsheets()[0]?.id }]);
});

test('a lost answer of Drive is looked up by the private property, and the work goes on', async () => {
	calls.google.fault({ match: 'drive.files.create', connection: 'resetAfter' });
	const created = await calls.one('create', { ...full, parentFolder: folder() });
	expect(calls.methods).toEqual(['drive.files.create', 'drive.files.list', 'get', 'batchUpdate']);
	expect(spreadsheets()).toHaveLength(1);
	expect(calls.stored(idOf(created), 'Orders')).toEqual(stored);
});

test.each(['resetBefore', 'resetAfter'] as const)('a lost answer: %s', async (connection) => {
	calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', connection });
	const created = await calls.one('create', { ...full, parentFolder: folder() });
	expect(created).toMatchObject(bothTabs);
	expect(spreadsheets()).toHaveLength(1);
	expect(calls.stored(idOf(created), 'Orders')).toEqual(stored);
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

test('two tabs of one name are Google’s to refuse', async () => {
	const failure = await calls.failure('create', { title: 'Book', sheets: ['A', 'a'] });
	expect(failure.code).toBe(400);
	expect(failure.message).toContain('already exists');
	expect(spreadsheets()).toEqual([]);
});

describe('with an idempotency key', () => {
	const keyed = { ...full, idempotencyKey: 'book 2026' };
	const live = () => spreadsheets().filter(({ trashed }) => !trashed);

	test('the same key gives the first spreadsheet again; other content is refused', async () => {
		const first = await calls.one('create', keyed);
		expect(await calls.one('create', keyed)).toEqual({ ...first, repeated: true });
		const other = await calls.failure('create', { ...keyed, title: 'Other' });
		expect(other.code).toBe(409);
		expect(live()).toHaveLength(1);
	});

	test.each([
		{ match: 'drive.files.create', connection: 'resetAfter' },
		{ match: 'sheets.spreadsheets.batchUpdate', times: 9, connection: 'resetBefore' },
		{ match: 'sheets.spreadsheets.batchUpdate', times: 9, connection: 'resetAfter' },
		{ match: 'drive.files.update', times: 9, status: 503 },
	] as const)('an execution that was cut is completed by the next: %j', async (fault) => {
		calls.google.fault(fault);
		await calls.one('create', keyed).catch(() => undefined);
		calls.google.heal();
		const created = await calls.one('create', keyed);
		expect(created).toMatchObject(bothTabs);
		expect(calls.stored(idOf(created), 'Orders')).toEqual(stored);
		expect(live()).toHaveLength(1);
	});

	test.each([
		[400, 2],
		[403, 1],
	])('where the change is refused with %d, it is tried %d times', async (status, times) => {
		calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', status });
		const created = calls.one('create', keyed);
		if (times === 1) expect((await catchFailure(created)).code).toBe(status);
		else
			expect(await created).toMatchObject({
				sheets: [{ title: 'Orders' }, { title: 'Customers' }],
			});
		expect(calls.methods.filter((method) => method === 'batchUpdate')).toHaveLength(times);
	});

	test('two executions at once leave one spreadsheet', async () => {
		const twice = [calls.one('create', keyed), calls.one('create', keyed)];
		const [one = {}, other = {}] = await Promise.all(twice);
		expect(idOf(one)).toBe(idOf(other));
		expect(live()).toHaveLength(1);
	});
});
