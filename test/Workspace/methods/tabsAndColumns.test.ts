import type { ILoadOptionsFunctions } from 'n8n-workflow';

import { documentTabs, methods, spreadsheetTabs } from '../../../nodes/Workspace/methods/methods';
import { testClients } from '../client';
import { contextOf, token } from '../runNode';
import { StandIn } from '../standIn';

const standIn = new StandIn();

function bookId(): string {
	return standIn.google.sheets.seed({
		title: 'Book',
		tabs: [
			{ title: 'Orders', rows: [['Id', '', 'Total', 'Id']] },
			{ title: 'Q1', rows: [['Report'], [], ['', 'Name', 'Age']] },
		],
	});
}

test('the tabs of a spreadsheet, by their names', async () => {
	const clients = testClients(standIn.google.url, standIn.google.tokens.issue());
	const tabs = await spreadsheetTabs(clients, bookId());
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

describe('as n8n asks while the form is filled in', () => {
	/** The form's fields, of which an item is not known yet. */
	function form(fields: Record<string, unknown>): ILoadOptionsFunctions {
		standIn.google.tokens.issue({ token });
		const getNodeParameter = (name: string, fallback: unknown) => fields[name] ?? fallback;
		const context = contextOf({ url: standIn.google.url, parameters: {} });
		return Object.assign(context, { getNodeParameter }) as unknown as ILoadOptionsFunctions;
	}
	const list = (value: unknown) => ({ __rl: true, mode: 'list', value });
	const notChosen = [{}, { spreadsheetId: list('') }, { spreadsheetId: '={{ $json.id }}' }];

	test.each([
		[{ tab: 'Orders' }, ['Id', 'Total', 'Id_2']],
		[{ range: "'Orders'!C:D" }, ['Total', 'Id']],
		[{ tab: 'Q1', 'options.headerRow': '3' }, ['Name', 'Age']],
	])('the columns of %j', async (fields, names) => {
		const mapped = await methods.headerColumns.call(form({ spreadsheetId: bookId(), ...fields }));
		expect(mapped.fields.map(({ id }) => id)).toEqual(names);
		expect(mapped.fields.every(({ display, required }) => display && !required)).toBe(true);
	});

	test.each([
		[{}, 'Choose the tab first.'],
		[{ tab: 'Q1', 'options.headerRow': '2' }, 'Row 2 of the tab has no column names.'],
	])('no columns for %j, and why', async (fields, notice) => {
		const mapped = await methods.headerColumns.call(form({ spreadsheetId: bookId(), ...fields }));
		expect(mapped.fields).toEqual([]);
		expect(mapped.emptyFieldsNotice).toContain(notice);
	});

	test('the tabs are found by name', async () => {
		const spreadsheetId = list(bookId());
		const names = async (filter?: string) =>
			(await methods.searchTabs.call(form({ spreadsheetId }), filter)).results.map(({ name }) => name);
		expect(await names()).toEqual(['Orders', 'Q1']);
		expect(await names(' q')).toEqual(['Q1']);
	});

	test.each(notChosen)('without a spreadsheet there is nothing to choose from: %j', async (fields) => {
		await expect(methods.searchTabs.call(form(fields))).rejects.toThrow('Choose the spreadsheet first.');
		expect(await methods.getMatchColumns.call(form(fields))).toEqual([]);
		expect(await methods.headerColumns.call(form(fields))).toEqual({
			fields: [],
			emptyFieldsNotice: 'Choose the spreadsheet first.',
		});
		expect(standIn.google.requests).toEqual([]);
	});

	test('the columns of the chosen tab', async () => {
		const spreadsheetId = bookId();
		const rowNumber = { name: 'Row Number', value: 'rowNumber', description: 'As Read gives it' };
		expect(await methods.getMatchColumns.call(form({ spreadsheetId }))).toEqual([rowNumber]);
		const fields = { spreadsheetId, tab: list('Q1'), 'options.headerRow': 3 };
		expect(await methods.getMatchColumns.call(form(fields))).toEqual([
			{ name: 'Name', value: 'Name' },
			{ name: 'Age', value: 'Age' },
			rowNumber,
		]);
		const column = { required: false, defaultMatch: false, canBeUsedToMatch: true, display: true };
		expect(await methods.headerColumns.call(form(fields))).toEqual({
			fields: ['Name', 'Age'].map((name) => ({ id: name, displayName: name, ...column })),
		});
	});

	test('files and labels', async () => {
		expect(await methods.searchSpreadsheets.call(form({}), 'x')).toEqual({
			results: [],
			paginationToken: undefined,
		});
		expect(await methods.getLabels.call(form({}))).toContainEqual({ name: 'Inbox', value: 'INBOX' });
		expect(await methods.searchSpreadsheets.call(form({})).catch(String)).toContain(
			'Google lists no spreadsheets',
		);
	});
});
