import { failing } from '../../failure';
import { items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

const rows = (count: number) => Array.from({ length: count }, (_, at) => [`n${at}`, at]);

test('1,500 rows go into a tab of 1,000: it grows first, and they are sent once', async () => {
	const spreadsheetId = calls.sheet();
	const written = await calls.one('write', { spreadsheetId, range: 'Sheet1', values: rows(1500) });
	expect(written).toMatchObject({ updatedRange: 'Sheet1!A1:B1500', updatedRows: 1500 });
	expect(calls.methods).toEqual(['get', 'batchUpdate', 'values.update']);
	expect(calls.sent[1]?.body).toEqual({
		requests: [{ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 500 } }],
	});
	expect(calls.stored(spreadsheetId, 'Sheet1')).toHaveLength(1500);
});

test('so do input items, and columns', async () => {
	const spreadsheetId = calls.sheet([], 'My Tab', { columnCount: 2 });
	const all = items(...rows(1200).map(([a, b]) => ({ a, b, c: 1 })));
	const params = { spreadsheetId, tab: 'My Tab', valuesSource: 'items' };
	const written = await calls.together(
		'write',
		all.map((item) => ({ params, item })),
	);
	expect(written.at(-1)).toMatchObject({ updatedRange: "'My Tab'!A1201:C1201" });
	expect(calls.methods).toEqual(['get', 'get', 'batchUpdate', 'values.update']);
});

test('a small tab grows when Google has refused the rows', async () => {
	const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount: 3 });
	const written = await calls.one('write', { spreadsheetId, range: 'Sheet1!B2', values: rows(5) });
	expect(written).toMatchObject({ updatedRange: 'Sheet1!B2:C6' });
	expect(calls.methods).toEqual(['values.update', 'get', 'batchUpdate', 'values.update']);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toHaveLength(6);
});

test('a tab that is large enough stays as it is', async () => {
	const spreadsheetId = calls.sheet([], 'Sheet1', { rowCount: 5000 });
	await calls.one('write', { spreadsheetId, range: 'Sheet1', values: rows(1500) });
	expect(calls.methods).toEqual(['get', 'values.update']);
});

test.each(['Sheet1!A5000', 'Sheet1!AB1', 'Sheet1!A1:B10'])('%s stays refused', async (range) => {
	const spreadsheetId = calls.sheet();
	expect((await failing(calls.one('write', { spreadsheetId, range, values: rows(20) }))).code).toBe(400);
	expect(calls.methods).not.toContain('batchUpdate');
});

test('null in the first column does not move an item beside its cells', async () => {
	const spreadsheetId = calls.sheet([['keep'], ['keep']]);
	const all = items({ a: null, b: 1 }, { a: null, b: 2 });
	const params = { spreadsheetId, range: 'Sheet1', valuesSource: 'items', includeHeaderRow: false };
	const written = await calls.together(
		'write',
		all.map((item) => ({ params, item })),
	);
	expect(written).toMatchObject([{ updatedRange: 'Sheet1!A1:B1' }, { updatedRange: 'Sheet1!A2:B2' }]);
	expect(calls.stored(spreadsheetId, 'Sheet1')).toEqual([
		['keep', 1],
		['keep', 2],
	]);
});

test('null in the first column of appended rows', async () => {
	const spreadsheetId = calls.sheet([['a', 'b']]);
	const values = [
		[null, 1],
		[null, 2],
	];
	const appended = await calls.one('append', { spreadsheetId, range: 'Sheet1!A:B', values });
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A2:B3', updatedCells: 2 });
	expect(calls.methods).toEqual(['values.append', 'get']);
});
