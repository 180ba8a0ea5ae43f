import type { ILoadOptionsFunctions } from 'n8n-workflow';

import type { SignIn } from '../../../nodes/Workspace/google/scopes';
import {
	findDocuments,
	findSpreadsheets,
	type FileClients,
	findFolders,
	listLabelOptions,
	listDocumentHeadings,
	listDocumentTabs,
	pickerLists,
} from '../../../nodes/Workspace/methods/pickerLists';
import { catchFailure } from '../catchFailure';
import { testClients } from '../client';
import { Workspace } from '../../../nodes/Workspace/Workspace.node';
import { createNodeContext, token } from '../runNode';
import { StandIn } from '../standIn';

const standIn = new StandIn();
const clients = () => testClients(standIn.google.url, standIn.google.tokens.issue());
const nothing = { results: [], paginationToken: undefined };

describe('files', () => {
	test.each([
		['documents', findDocuments, 'docs', 'sheets', '/document/d/'],
		['spreadsheets', findSpreadsheets, 'sheets', 'docs', '/spreadsheets/d/'],
	] as const)(
		'%s are found by name, but for those in the trash, page by page',
		async (_noun, search, own, other, path) => {
			for (let at = 0; at < 120; at++) standIn.google[own].seed({ title: `Report ${at}` });
			standIn.google[own].seed({ title: 'Other' });
			standIn.google[own].seed({ title: 'Report in the trash', file: { trashed: true } });
			standIn.google[other].seed({ title: 'Report of another kind' });
			standIn.google.files.add({ name: 'Report', mimeType: 'text/plain', clientId: '' });
			const signIn = { authentication: 'oAuth2', driveAccess: 'allFiles' } as const;
			const picker = { drive: clients().drive, signIn };
			const first = await search(picker, 'Report');
			expect(first.results).toHaveLength(100);
			const second = await search(picker, 'Report', String(first.paginationToken));
			expect(second.results).toHaveLength(20);
			expect(second.paginationToken).toBeUndefined();
			const names = [...first.results, ...second.results].map(({ name }) => name);
			expect(names.filter((name) => !/^Report \d+$/.test(name))).toEqual([]);
			expect(first.results[0]?.url).toContain(path);
		},
	);
});

describe('folders', () => {
	const folderType = 'application/vnd.google-apps.folder';

	const scopesOf = {
		appFiles: ['drive.file'],
		appFilesAndNames: ['drive.file', 'drive.metadata.readonly'],
		allFiles: ['drive'],
	};

	function picker(driveAccess: SignIn['driveAccess']): FileClients {
		const scopes = scopesOf[driveAccess];
		const token = standIn.google.tokens.issue({ scopes, clientId: 'own' });
		return {
			drive: testClients(standIn.google.url, token).drive,
			signIn: { authentication: 'oAuth2', driveAccess },
		};
	}

	function seed(
		name: string,
		more: { clientId?: string; driveId?: string; trashed?: boolean; mimeType?: string } = {},
	) {
		const { driveId } = more;
		const parents = driveId === undefined ? undefined : [driveId];
		const common = { mimeType: folderType, clientId: 'own' };
		return standIn.google.files.add({ ...common, ...more, name, parents });
	}

	const names = ({ results }: { results: ReadonlyArray<{ name: string }> }) =>
		results.map(({ name }) => name);

	describe('with access to all files', () => {
		test('My Drive, shared drives, then folders by name, in My Drive and shared drives', async () => {
			const driveId = standIn.google.drive.seedSharedDrive('Team');
			seed('Folder 10', { clientId: 'somebody' });
			seed('Folder 9', { driveId });
			seed('Gone', { trashed: true });
			seed('No folder', { mimeType: 'text/plain' });
			const page = await findFolders(picker('allFiles'));
			expect(names(page)).toEqual(['My Drive', 'Team', 'Folder 9', 'Folder 10']);
			const url = `https://drive.google.com/drive/folders/${driveId}`;
			expect(page.results.slice(0, 2)).toEqual([
				{ name: 'My Drive', value: 'root', url: 'https://drive.google.com/drive/my-drive' },
				{ name: 'Team', value: driveId, url },
			]);
		});

		test('the filter acts on drives and folders, and is no query language', async () => {
			standIn.google.drive.seedSharedDrive("Jon's team");
			seed("Jon's folder");
			seed('Another');
			const found = async (filter: string) =>
				names(await findFolders(picker('allFiles'), filter));
			expect(await found(" Jon's ")).toEqual(["Jon's team", "Jon's folder"]);
			expect(await found("' or name contains 'A")).toEqual([]);
		});

		test('pages of a hundred; drives stand on the first one only', async () => {
			for (let at = 0; at < 120; at++) standIn.google.drive.seedSharedDrive(`Drive ${at}`);
			for (let at = 0; at < 150; at++) seed(`Folder ${at}`);
			const first = await findFolders(picker('allFiles'));
			expect(first.results).toHaveLength(1 + 120 + 100);
			const token = String(first.paginationToken);
			const second = await findFolders(picker('allFiles'), undefined, token);
			expect(second.results).toHaveLength(50);
			expect(second.paginationToken).toBeUndefined();
		});
	});

	describe('with access to the own files of the app', () => {
		test('only what it made, and no question for shared drives', async () => {
			standIn.google.drive.seedSharedDrive('Team');
			seed('Own');
			seed('Foreign', { clientId: 'somebody' });
			expect(names(await findFolders(picker('appFiles')))).toEqual(['My Drive', 'Own']);
			expect(standIn.google.requests).toMatchObject([{ method: 'drive.files.list' }]);
		});

		test('with the names of all others, only folders that something can be put into', async () => {
			standIn.google.drive.seedSharedDrive('Team');
			seed('Own');
			seed('Foreign', { clientId: 'somebody' });
			const page = await findFolders(picker('appFilesAndNames'));
			expect(names(page)).toEqual(['My Drive', 'Own']);
		});
	});

	describe('a picker of files', () => {
		const search = findSpreadsheets;
		const mimeType = 'application/vnd.google-apps.spreadsheet';

		test('the last opened first, with a link', async () => {
			const made = (name: string, createdTime: string) =>
				standIn.google.files.add({ name, mimeType, clientId: 'own', createdTime });
			const { id } = made('old', '2020-01-01T00:00:00.000Z');
			made('new', '2021-01-01T00:00:00.000Z');
			const page = await search(picker('allFiles'));
			expect(names(page)).toEqual(['new', 'old']);
			const url = `https://docs.google.com/spreadsheets/d/${id}/edit?usp=drivesdk`;
			expect(page.results[1]).toEqual({ name: 'old', value: id, url });
		});

		test('nothing that fits is an empty list: a failure would take the search box away', async () => {
			for (const access of ['allFiles', 'appFilesAndNames', 'appFiles'] as const) {
				expect(await search(picker(access), 'x')).toEqual(nothing);
			}
		});

		test('shows the names of what other apps made, unless Drive Access is App Files', async () => {
			standIn.google.files.add({ name: 'Budget', mimeType, clientId: 'somebody' });
			expect(names(await search(picker('appFilesAndNames')))).toEqual(['Budget']);
			await expect(search(picker('appFiles'))).rejects.toThrow('Drive Access');
		});

		test('that is empty says why', async () => {
			const { code, message } = await catchFailure(search(picker('appFiles')));
			expect(code).toBe(404);
			expect(message).toMatch(/^No spreadsheets found for this account\. Drive Access/);
			expect(message).toContain('A service account sees only what is shared with its email.');
			// n8n cuts the message of a list at every dash.
			expect(message).not.toMatch(/[-–—]/);
		});
	});
});

test('the labels of the mailbox by name, the own ones first, with the IDs that emails name them by', async () => {
	standIn.google.gmail.labels = { Label_2: 'Zebra', Label_1: 'Clients/Acme' };
	const choices = await listLabelOptions(clients());
	const [first, second, ...others] = choices.map(({ name }) => name);
	expect([first, second]).toEqual(['Clients/Acme', 'Zebra']);
	expect(others).toEqual(others.toSorted());
	const choice = (name: string, id: string) => ({ name, value: id, description: id });
	expect(choices).toContainEqual(choice('Clients/Acme', 'Label_1'));
	expect(choices).toContainEqual(choice('INBOX', 'INBOX'));
});

describe('tabs and columns', () => {
	function bookId(): string {
		return standIn.google.sheets.seed({
			title: 'Book',
			tabs: [
				{ title: 'Orders', rows: [['Id', '', 'Total', 'Id']] },
				{ title: 'Q1', rows: [['Report'], [], ['', 'Name', 'Age']] },
			],
		});
	}

	test('the headings of the tab that is chosen, or that the URL of the document names', async () => {
		const heading = (content: string) => ({
			paragraph: {
				elements: [{ textRun: { content: `${content}\n` } }],
				paragraphStyle: { namedStyleType: 'HEADING_1' },
			},
		});
		const tabs = ['a', 'b', 'c'].map((name) => ({
			tabId: `t.${name}`,
			body: [heading(`Plan ${name}`), heading(`End ${name}`)],
		}));
		const id = standIn.google.docs.seed({ title: 'Report', tabs });
		const url = `https://docs.google.com/document/d/${id}/edit?tab=t.b`;
		const namesWith = async (fields: Record<string, string>) => {
			const choices = await listDocumentHeadings(clients(), id, (name) => fields[name] ?? '');
			return choices.map(({ name }) => name);
		};
		expect(await namesWith({ documentId: id })).toEqual(['Plan a', 'End a']);
		expect(await namesWith({ documentId: url })).toEqual(['Plan b', 'End b']);
		expect(await namesWith({ documentId: url, tab: 't.c' })).toEqual(['Plan c', 'End c']);
		const inOptions = { documentId: id, 'options.tab': 't.c' };
		expect(await namesWith(inOptions)).toEqual(['Plan c', 'End c']);
	});

	test('the tabs of a document, nested ones after their parent, by their IDs', async () => {
		const documentId = standIn.google.docs.seed({
			title: 'Plan',
			tabs: [
				{ title: 'Notes', tabId: 't.a', children: [{ title: 'Notes', tabId: 't.b' }] },
				{ title: 'Todo', tabId: 't.c' },
			],
		});
		const tabs = await listDocumentTabs(clients(), documentId);
		const shown = tabs.map(({ name, value }) => `${name} ${value}`);
		expect(shown).toEqual(['Notes t.a', 'Notes t.b', 'Todo t.c']);
		expect(tabs[1]?.url).toMatch(/\/edit\?tab=t\.b$/);
	});

	describe('as n8n asks while the form is filled in', () => {
		/** The form's fields, of which an item is not known yet. */
		function form(fields: Record<string, unknown>): ILoadOptionsFunctions {
			standIn.google.tokens.issue({ token });
			const getNodeParameter = (name: string, fallback: unknown) => fields[name] ?? fallback;
			const context = createNodeContext({ url: standIn.google.url, parameters: {} });
			return Object.assign(context, { getNodeParameter }) as unknown as ILoadOptionsFunctions;
		}
		const columnsOf = (fields: Record<string, unknown>) =>
			pickerLists.headerColumns(form({ spreadsheetId: bookId(), ...fields }));
		const list = (value: unknown) => ({ __rl: true, mode: 'list', value });
		const notChosen = [{}, { spreadsheetId: list('') }, { spreadsheetId: '={{ $json.id }}' }];

		test.each([
			[{ tab: 'Orders' }, ['Id', 'Total', 'Id_2']],
			[{ 'options.range': "'Orders'!C:D" }, ['Total', 'Id']],
			[{ tab: 'Q1', 'options.headerRow': '3' }, ['Name', 'Age']],
			// Row 2 is blank.
			[{ tab: 'Q1', 'options.headerRow': '2' }, ['Name', 'Age']],
			[{ tab: 'Q1', 'options.range': 'A3:D', writeMode: 'replace' }, ['Name', 'Age']],
		])('the columns of %j', async (fields, names) => {
			const mapped = await columnsOf(fields);
			expect(mapped.fields.map(({ id }) => id)).toEqual(names);
			expect(mapped.fields.every(({ display, required }) => display && !required)).toBe(true);
		});

		test.each([
			[{}, 'Choose the tab first.'],
			[{ tab: 'Q1', 'options.headerRow': '4' }, 'Row 4 of the tab has no column names.'],
		])('no columns for %j, and why', async (fields, notice) => {
			const mapped = await columnsOf(fields);
			expect(mapped.fields).toEqual([]);
			expect(mapped.emptyFieldsNotice).toContain(notice);
		});

		test('the tabs are found by name, with their addresses', async () => {
			const spreadsheetId = list(bookId());
			const tabs = async (filter?: string) =>
				(await pickerLists.searchTabs(form({ spreadsheetId }), filter)).results;
			const [orders, q1] = [/\/edit#gid=0$/, /#gid=/].map((url): unknown =>
				expect.stringMatching(url),
			);
			const second = { name: 'Q1', value: 'Q1', url: q1 };
			expect(await tabs()).toEqual([
				{ name: 'Orders', value: 'Orders', url: orders },
				second,
			]);
			expect(await tabs(' q')).toEqual([second]);
		});

		test.each(notChosen)(
			'without a spreadsheet there is nothing to choose from: %j',
			async (fields) => {
				const notice = 'Choose the spreadsheet first.';
				await expect(pickerLists.searchTabs(form(fields))).rejects.toThrow(notice);
				expect(await pickerLists.getMatchColumns(form(fields))).toEqual([]);
				const none = { fields: [], emptyFieldsNotice: notice };
				expect(await pickerLists.headerColumns(form(fields))).toEqual(none);
				expect(standIn.google.requests).toEqual([]);
			},
		);

		test('the columns of the chosen tab', async () => {
			const spreadsheetId = bookId();
			const description = 'As returned by Read';
			const rowNumber = { name: 'Row Number', value: 'rowNumber', description };
			expect(await pickerLists.getMatchColumns(form({ spreadsheetId }))).toEqual([rowNumber]);
			const fields = { spreadsheetId, tab: list('Q1'), 'options.headerRow': 3 };
			expect(await pickerLists.getMatchColumns(form(fields))).toEqual([
				{ name: 'Name', value: 'Name' },
				{ name: 'Age', value: 'Age' },
				rowNumber,
			]);
			const optional = { required: false, defaultMatch: false, display: true };
			const column = { ...optional, canBeUsedToMatch: true, type: 'string' };
			const mapped = ['Name', 'Age'].map((name) => ({
				id: name,
				displayName: name,
				...column,
			}));
			expect(await pickerLists.headerColumns(form(fields))).toEqual({ fields: mapped });
			const byNumber = form({ ...fields, matchColumns: ['rowNumber'] });
			expect(await pickerLists.headerColumns(byNumber)).toEqual({
				fields: [
					{ id: 'rowNumber', displayName: 'Row Number', ...column, type: 'number' },
					...mapped,
				],
			});
		});

		test('each column of the mapper has the type of its values, or of its format', async () => {
			const spreadsheetId = standIn.google.sheets.seed({
				title: 'Book',
				tabs: [
					{
						title: 'Orders',
						rows: [
							['Order', 'Amount', 'Paid', 'Day', 'Due', 'Zip', 'Note'],
							[],
							['1041', 10, false, 45296, '', '00123'],
							[1042, 'n/a', '', '', '', 10115],
						],
					},
				],
			});
			for (const range of ['Orders!D3', 'Orders!E2:E9'])
				standIn.google.sheets.format(spreadsheetId, range, 'dd.mm.yyyy');
			const { fields } = await columnsOf({ spreadsheetId, tab: 'Orders' });
			expect(fields.map(({ type }) => type)).toEqual([
				...['string', 'number', 'options', 'dateTime', 'dateTime', 'string', 'string'],
			]);
			expect(fields[2]?.options?.map(({ value }) => value)).toEqual([true, false]);
			expect(standIn.google.requests).toHaveLength(1);
		});

		test.each([
			[{}, ['Id', 'Total', 'Id_2']],
			[{ tab: 'Q1', 'options.range': 'A2:D9', 'options.headerRow': 2 }, ['Name', 'Age']],
			[{ tab: 'Q1', 'options.range': 'A3:D9' }, ['Name', 'Age']],
			[{ tab: 'Orders', 'options.range': 'C1:D9', 'options.headerRow': 0 }, ['C', 'D']],
			[{ tab: 'Orders', 'options.range': 'B:B', 'options.headerRow': 0 }, ['B']],
		])('the columns that Read filters by, of %j', async (fields, names) => {
			const choices = form({ spreadsheetId: bookId(), operation: 'read', ...fields });
			expect(await pickerLists.getColumns(choices)).toEqual(
				names.map((name) => ({ name, value: name })),
			);
		});

		test('files and labels, by the methods that n8n calls', async () => {
			const { listSearch, loadOptions } = new Workspace().methods;
			const search = listSearch.searchSpreadsheets;
			expect(await search.call(form({}), 'x')).toEqual(nothing);
			const inbox = { name: 'INBOX', value: 'INBOX', description: 'INBOX' };
			expect(await loadOptions.getLabels.call(form({}))).toContainEqual(inbox);
			expect(await search.call(form({})).catch(String)).toContain('No spreadsheets found');
		});
	});
});

test('the node has every method that a field of the form names', () => {
	const { description, methods } = new Workspace();
	const form = JSON.stringify(description.properties);
	const find = (key: string) =>
		[...form.matchAll(new RegExp(`"${key}":"(\\w+)"`, 'g'))].map(([, name]) => name);
	const { loadOptions, listSearch, resourceMapping } = methods;
	expect(new Set(find('loadOptionsMethod'))).toEqual(new Set(Object.keys(loadOptions)));
	expect(new Set(find('searchListMethod'))).toEqual(new Set(Object.keys(listSearch)));
	expect(new Set(find('resourceMapperMethod'))).toEqual(new Set(Object.keys(resourceMapping)));
});
