import { failing } from '../../failure';
import { items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

function book(rows: unknown[][], more: object = {}): string {
	return calls.google.sheets.seed({
		title: 'Book',
		tabs: [{ title: 'Sheet1', rows, boldRows: [1], ...more }],
	});
}

test.each([
	['rows', { values: [['Anna', 31]] }],
	['items', { valuesSource: 'items' }],
])('%s directly below a header do not look like it', async (_, given) => {
	const spreadsheetId = book([['Name', 'Age']]);
	const [item] = items({ Name: 'Anna', Age: 31 });
	await calls.one('append', { spreadsheetId, range: 'Sheet1', ...given }, item);
	expect(calls.google.sheets.boldRows(spreadsheetId, 'Sheet1')).toEqual([1]);
	expect(calls.methods.slice(-3)).toEqual(['values.append', 'get', 'batchUpdate']);
	const before = calls.methods.length;
	await calls.one('append', { spreadsheetId, range: 'Sheet1', ...given }, item);
	expect(calls.methods.slice(before)).not.toContain('batchUpdate');
});

test('nor do those that are written by key', async () => {
	const spreadsheetId = book([['Name', 'Age']]);
	const [item] = items({ Name: 'Anna', Age: 31 });
	const params = { spreadsheetId, tab: 'Sheet1', valuesSource: 'items', matchColumns: 'Name' };
	await calls.one('write', params, item);
	expect(calls.google.sheets.boldRows(spreadsheetId, 'Sheet1')).toEqual([1]);
});

test('where the look cannot be taken off, the rows are there and a hint says so', async () => {
	const spreadsheetId = book([['Name', 'Age']]);
	calls.google.fault({ match: 'sheets.spreadsheets.batchUpdate', status: 403 });
	const [item] = items({});
	const appended = await calls.one(
		'append',
		{ spreadsheetId, range: 'Sheet1', values: [['Anna', 31]] },
		item,
	);
	expect(appended).toMatchObject({ updatedRange: 'Sheet1!A2:B2' });
	expect(item).toMatchObject({
		hints: [expect.stringContaining('have the formatting of the header') as string],
	});
});

test('protected cells and files of Office are refused in words of Google', async () => {
	const spreadsheetId = book([['Name']], { protectedRanges: ['A1:B1'] });
	const write = { spreadsheetId, range: 'Sheet1!A1:A9', values: [['x']] };
	expect((await failing(calls.one('write', write))).message).toContain('edit a protected cell');
	const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
	const { id } = calls.google.files.add({ name: 'Book.xlsx', mimeType, clientId: '' });
	const read = calls.one('read', { spreadsheetId: id, range: 'Sheet1!A1:B2' });
	expect((await failing(read)).message).toContain('not supported for this document');
});
