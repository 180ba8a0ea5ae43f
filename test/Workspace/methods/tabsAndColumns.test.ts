import { Spreadsheet } from '../../../nodes/Workspace/actions/spreadsheet/sheets';
import { documentTabs, headerColumns, spreadsheetTabs } from '../../../nodes/Workspace/methods/methods';
import { testClients } from '../client';
import { StandIn } from '../standIn';

const standIn = new StandIn();

function chosen(fields: Record<string, string> = {}) {
	const spreadsheetId = standIn.google.sheets.seed({
		title: 'Book',
		tabs: [
			{ title: 'Orders', rows: [['Id', '', 'Total', 'Id']] },
			{ title: 'Q1', rows: [['Report'], [], ['', 'Name', 'Age']] },
		],
	});
	const { sheets } = testClients(standIn.google.url, standIn.google.tokens.issue());
	return { book: new Spreadsheet(sheets, spreadsheetId), text: (field: string) => fields[field] ?? '' };
}

test('the tabs of a spreadsheet, by their names', async () => {
	const { book } = chosen();
	const tabs = await spreadsheetTabs(testClients(standIn.google.url, standIn.google.tokens.issue()), book.id);
	expect(tabs).toEqual([
		{ name: 'Orders', value: 'Orders', url: expect.stringMatching(/\/edit#gid=0$/) as string },
		{ name: 'Q1', value: 'Q1', url: expect.stringContaining('#gid=') as string },
	]);
});

test('the tabs of a document, nested ones after their parent, by their IDs', async () => {
	const documentId = standIn.google.docs.seed({
		title: 'Plan',
		tabs: [
			{ title: 'Notes', tabId: 't.a', children: [{ title: 'Notes', tabId: 't.b' }] },
			{ title: 'Todo', tabId: 't.c' },
		],
	});
	const tabs = await documentTabs(testClients(standIn.google.url, standIn.google.tokens.issue()), documentId);
	expect(tabs.map(({ name, value }) => `${name} ${String(value)}`)).toEqual([
		'Notes t.a',
		'Notes t.b',
		'Todo t.c',
	]);
	expect(tabs[1]?.url).toMatch(/\/edit\?tab=t\.b$/);
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
