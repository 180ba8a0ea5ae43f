import { testItem } from '../../client';
import { failing } from '../../failure';
import { items, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

/** A spreadsheet with two tabs, none of them of the name that is asked for. */
const book = () =>
	calls.google.sheets.seed({ title: 'Book', tabs: [{ title: 'Sheet1' }, { title: "Anna's Log" }] });

test.each([
	['read', {}],
	['write', { values: [['a']] }],
	['append', { values: [['a']] }],
] as const)('%s in a tab that is not there says which there are', async (name, given) => {
	const failure = await failing(calls.run(name, { spreadsheetId: book(), range: 'Sheet 1!A1', ...given }));
	expect(failure).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
	expect(failure.message).toBe("Google Sheets: the spreadsheet has no tab 'Sheet 1'");
	expect(failure.description).toBe("The spreadsheet has the tabs 'Sheet1', 'Anna's Log'.");
	expect(calls.methods.at(-1)).toBe('get');
});

test('so does an append of items, whose header row is read first', async () => {
	const given = { spreadsheetId: book(), range: 'Nowhere', valuesSource: 'items' };
	const failure = await failing(calls.run('append', given, testItem({ json: { a: 1 } })));
	expect(failure.description).toContain("The spreadsheet has the tabs 'Sheet1'");
});

test('where the tabs cannot be read, the failure stays what it is', async () => {
	calls.google.fault({ match: 'sheets.spreadsheets.get', status: 403 });
	const failure = await failing(calls.run('read', { spreadsheetId: book(), range: 'Nowhere!A1' }));
	expect(failure).toMatchObject({ code: 400, message: 'Google Sheets: Unable to parse range: Nowhere!A1' });
	expect(failure.description).not.toContain('The spreadsheet has');
});

test('the tabs are asked for once, however many items want to know', async () => {
	const spreadsheetId = book();
	const [first, second] = items({ a: 1 }, { a: 2 });
	const failures = [];
	for (const range of ['Nowhere', 'Elsewhere!A1', 'Neverland'])
		failures.push(await failing(calls.run('read', { spreadsheetId, range }, first)));
	expect(failures.map(({ description }) => description?.includes("'Sheet1'"))).toEqual([true, true, true]);
	expect(calls.methods.filter((method) => method === 'get')).toHaveLength(1);
	await failing(calls.run('read', { spreadsheetId, range: 'Nowhere' }, second));
});

test('a refused look at the tabs is not repeated', async () => {
	calls.google.fault({ match: 'sheets.spreadsheets.get', status: 429, times: 9 });
	const [item] = items({ a: 1 });
	for (const range of ['Nowhere', 'Elsewhere'])
		await failing(calls.run('read', { spreadsheetId: book(), range, maxTries: 5 }, item));
	expect(calls.methods.filter((method) => method === 'get')).toHaveLength(2);
});

test('another refusal is not followed by a question', async () => {
	const given = { spreadsheetId: book(), range: 'Sheet1!A5000' };
	expect((await failing(calls.run('read', given))).code).toBe(400);
	expect(calls.methods).toEqual(['values.get']);
});
