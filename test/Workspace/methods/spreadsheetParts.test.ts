import { expectNoViolations, startGoogle, type GoogleServer } from '../../../dev/google/server';
import { Spreadsheet } from '../../../nodes/Workspace/actions/spreadsheet/sheets';
import { headerColumns, searchTabs } from '../../../nodes/Workspace/methods/methods';
import { testClients } from '../client';

let google: GoogleServer;

beforeAll(async () => {
	google = await startGoogle();
});
afterAll(async () => {
	await google.close();
});
afterEach(() => {
	expectNoViolations(google);
	google.reset();
});

function chosen(fields: Record<string, string> = {}) {
	const spreadsheetId = google.sheets.seed({
		title: 'Book',
		tabs: [
			{ title: 'Orders', rows: [['Id', '', 'Total', 'Id']] },
			{ title: 'Q1', rows: [['Report'], [], ['', 'Name', 'Age']] },
		],
	});
	const { sheets } = testClients(google.url, google.tokens.issue());
	return { book: new Spreadsheet(sheets, spreadsheetId), text: (field: string) => fields[field] ?? '' };
}

test('the tabs of the chosen spreadsheet, by what was typed', async () => {
	const all = await searchTabs(chosen());
	expect(all.results.map(({ value }) => value)).toEqual(['Orders', 'Q1']);
	expect((await searchTabs(chosen(), ' ord ')).results).toMatchObject([
		{ name: 'Orders', value: 'Orders', url: expect.stringMatching(/\/edit#gid=0$/) as string },
	]);
	expect(await searchTabs(chosen(), 'nothing')).toEqual({ results: [] });
});

test.each([
	[{ tab: 'Orders' }, ['Id', 'Total', 'Id_2']],
	[{ range: "'Orders'!C:D" }, ['Total', 'Id']],
	[{ tab: 'Q1', 'options.headerRow': '3' }, ['Name', 'Age']],
])('the columns of %j', async (fields, names) => {
	const mapped = await headerColumns(chosen(fields));
	expect(mapped.fields.map(({ id }) => id)).toEqual(names);
	expect(mapped.fields.every(({ display, required }) => display && !required)).toBe(true);
});

test.each([
	[{}, 'Choose the tab first.'],
	[{ tab: 'Q1', 'options.headerRow': '2' }, 'Row 2 of the tab has no column names.'],
])('no columns for %j, and why', async (fields, notice) => {
	const mapped = await headerColumns(chosen(fields));
	expect(mapped.fields).toEqual([]);
	expect(mapped.emptyFieldsNotice).toContain(notice);
});
