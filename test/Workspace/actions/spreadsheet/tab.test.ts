// Which tab is meant: by a title with blanks around it, and by the link of a spreadsheet.
import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../../../createExecuteContext';
import { runNode, token } from '../../runNode';
import { SheetCalls, tabNamed } from './sheetCalls';

const calls = new SheetCalls();

const titles = ['First', ' Data', 'Data', 'Data '];

function seed(): string {
	calls.google.tokens.issue({ token });
	const tabs = titles.map((title) => ({ title, rows: [['Title'], [title]] }));
	return calls.book(tabs);
}

async function run(parameters: IDataObject): Promise<IDataObject[]> {
	const items = [{ json: { Title: 'new' } }];
	return (await runNode({ url: calls.google.url, parameters, items })).map(({ json }) => json);
}

const read = { resource: 'spreadsheet', operation: 'read' };

/** The same in the form and as an input object. */
const modes: ReadonlyArray<(given: IDataObject) => IDataObject> = [
	({ range = '', ...given }) => ({ resource: 'spreadsheet', ...given, options: { range } }),
	(given) => ({ inputMode: 'json', inputObject: { resource: 'spreadsheet', ...given } }),
];

test.each([
	['Data', 'Data'],
	['Data ', 'Data '],
	[' Data', ' Data'],
])('the title %j, as it was typed, is the tab %j', async (tab, found) => {
	for (const inMode of modes) {
		const given = { spreadsheetId: seed(), operation: 'read', output: 'rows' };
		expect(await run(inMode({ ...given, tab }))).toMatchObject([{ Title: found }]);
	}
	const picked = await run({ ...read, spreadsheetId: seed(), tab: tabNamed(tab) });
	expect(picked).toMatchObject([{ Title: found }]);
});

test.each([
	['read', { range: 'A:B' }],
	['append', { options: { range: 'A:B' } }],
])('an expression without a value stands for no tab: %s', async (operation, range) => {
	const columns = { mappingMode: 'autoMapInputData', value: null };
	const given = { resource: 'spreadsheet', operation, columns, ...range };
	const take = async (value: string) =>
		await run({ ...given, spreadsheetId: seed(), tab: tabNamed(value) });
	const failure = await failureOf(take('={{ $json.tab }}'));
	expect(failure.message).toBe("The expression in 'Tab' is empty for this item");
	expect(await take('={{ $json.tab ?? "" }}')).toHaveLength(1);
});

test('nothing is written if Google does not return the tab', async () => {
	const sheets = [{ properties: { sheetId: 1, title: 'Other' } }];
	calls.google.fault({ match: 'sheets.spreadsheets.get', rewrite: () => ({ sheets }) });
	const columns = { mappingMode: 'autoMapInputData', value: null };
	const target = { spreadsheetId: seed(), tab: tabNamed('Data') };
	const given = { resource: 'spreadsheet', operation: 'append', columns, ...target };
	const failure = await failureOf(run(given));
	expect(failure.message).toBe('Google did not return the tab');
	expect(calls.writes).toEqual([]);
});

describe('a link', () => {
	const link = (at: number, form = 'edit#gid=GID') => {
		const id = seed();
		const gid = String(calls.google.sheets.sheetIds(id)[at]);
		const path = form.replaceAll('GID', gid);
		return { id, url: `https://docs.google.com/spreadsheets/d/${id}/${path}` };
	};

	test.each([
		['edit#gid=GID', {}, 'Data'],
		['edit?gid=GID#gid=GID', {}, 'Data'],
		['view?gid=GID', { range: 'A1:A2' }, 'Data'],
		['edit', {}, 'First'],
		['edit#gid=GID', { tab: 'First' }, 'First'],
		['edit#gid=GID', { range: 'First!A1:A2' }, 'First'],
		['edit#gid=GID', { range: "'Data '" }, 'Data '],
		['edit#gid=GID', { range: 'First' }, 'First'],
	])('%s with %j reads the tab %j', async (form, given, found) => {
		for (const inMode of modes) {
			const byUrl = { output: 'rows', spreadsheetId: link(2, form).url, ...given };
			const rows = await run(inMode({ operation: 'read', ...byUrl }));
			expect(rows).toMatchObject([{ Title: found }]);
		}
		const spreadsheetId = { __rl: true, mode: 'url', value: link(2, form).url };
		const rows = await run({ ...read, spreadsheetId, ...given, options: given });
		expect(rows).toMatchObject([{ Title: found }]);
	});

	test.each(['append', 'write'])('is where %s puts rows', async (operation) => {
		for (const inMode of modes) {
			const { id, url } = link(3);
			const rows = { values: '[{ "Title": "new" }]', valuesSource: 'json' };
			const mode = operation === 'append' ? {} : { writeMode: 'overwrite' };
			await run(inMode({ operation, spreadsheetId: url, ...rows, ...mode }));
			expect(calls.stored(id, "'Data '").at(-1)).toEqual(['new']);
			expect(calls.stored(id, 'First')).toEqual([['Title'], ['First']]);
		}
	});

	test('to a tab that is gone fails, and says which there are', async () => {
		const { url: spreadsheetId } = link(2, 'edit#gid=4711');
		const failure = await failureOf(run({ ...read, spreadsheetId }));
		expect(failure.message).toBe('The spreadsheet has no tab with the #gid=4711 of its URL');
		expect(failure.description).toContain(
			"Choose it in 'Tab'. The spreadsheet has the tabs 'First', ' Data'",
		);
	});
});
