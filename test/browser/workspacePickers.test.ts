// Lists to choose from: what stands in them, what a search without a match leaves, and what they say when Google refuses.
import { randomUUID } from 'node:crypto';

import { ensureCredentials, withCredentials } from '../../dev/examples.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { connectInRow, manualTrigger, node } from '../e2e/startTestN8n';
import { Editor } from './editor';
import { fillIn } from './person';

const friday = { paragraph: { elements: [{ textRun: { content: 'Cake for all\n' } }] } };
let google: GoogleServer;
let editor: Editor;

beforeAll(async () => {
	google = await startGoogle();
	google.sheets.seed({
		title: 'Guests',
		tabs: [{ title: 'People', rows: [['name', 'age']] }, { title: 'Empty' }],
	});
	google.docs.seed({
		title: 'Minutes',
		tabs: [
			{ title: 'First' },
			{ title: 'May', children: [{ title: 'Friday', body: [friday] }] },
		],
	});
	google.gmail.labels = { Label_7: 'Customers' };
	google.gmail.seed({
		from: 'Ann <ann@example.com>',
		subject: 'An order',
		labelIds: ['INBOX', 'Label_7'],
	});
	google.gmail.seed({ from: 'Ben <ben@example.com>', subject: 'Lunch?', labelIds: ['INBOX'] });
	editor = await Editor.open();
	const nowhere = { url: 'http://127.0.0.1:9', webSocketUrl: 'ws://127.0.0.1:9', apiKey: 'none' };
	const credentials = await ensureCredentials(editor.api, {
		agent: nowhere,
		google,
		label: 'pickers',
	});
	const append = { resource: 'spreadsheet', operation: 'append', valuesSource: 'columns' };
	const type = 'n8n-nodes-agent-workspace.workspace';
	// n8n opens a node by the first characters of its id.
	const nodes = [
		node('Rows', type, append, { id: randomUUID() }),
		node('Emails', type, { operation: 'list' }, { id: randomUUID() }),
		node('Text', type, { resource: 'document', operation: 'read' }, { id: randomUUID() }),
	];
	await editor.show({
		name: 'Pickers',
		nodes: [manualTrigger(), ...nodes.map((one) => withCredentials(one, credentials))],
		connections: connectInRow('Start', 'Emails'),
	});
});
afterEach(async () => {
	await editor.picture();
});
afterAll(async () => {
	await editor.close();
	await google.close();
});

const items = () => editor.page.getByTestId('rlc-item').filter({ visible: true });
const search = () => editor.page.getByTestId('rlc-search').filter({ visible: true });

test('a search without a match keeps its box, so that the next search finds', async () => {
	await editor.openNode('Rows');
	await editor.openPicker('spreadsheetId', 'Guests');
	await fillIn(search(), 'nothing is called so');
	await items().first().waitFor({ state: 'hidden' });
	await fillIn(search(), 'Gue');
	await editor.pick('spreadsheetId', 'Guests');
});

test('the columns say what is missing: first a tab, then its header row', async () => {
	const form = editor.page.getByTestId('node-parameters');
	await form.getByText('Choose the tab first.').waitFor();
	await editor.pick('tab', 'Empty');
	await form.getByText('has no column names').waitFor();
	await editor.pick('tab', 'People');
	await form.getByTestId('parameter-input-age').waitFor();
});

test('a tab of a document is picked by its title, once the document is chosen', async () => {
	await editor.closeNode();
	await editor.openNode('Text');
	await editor.addOption('tab');
	await editor.openPicker('tab', 'Choose the document first.');
	await editor.closeList('Text');
	await editor.pick('documentId', 'Minutes');
	await editor.pick('tab', 'Friday');
	await editor.runStep('Cake for all');
});

test('labels are chosen by the names that they have in Gmail, the own ones first', async () => {
	await editor.closeNode();
	await editor.openNode('Emails');
	await editor.addOption('labelIds');
	const [first = ''] = await editor.openOptions('labelIds');
	expect(first.trim()).toMatch(/^Customers\s+Label_7$/);
	await editor.chooseAmong('labelIds', 'Customers');
	await editor.closeList('Emails');
	await editor.runStep('An order');
	expect(await editor.page.getByTestId('output-panel').innerText()).not.toContain('Lunch?');
});

test('an empty list says why, and asks again when it is opened the next time, as after a new sign-in', async () => {
	await editor.closeNode();
	for (const file of google.files.listAll()) file.trashed = true;
	await editor.openNode('Rows');
	await editor.openPicker(
		'spreadsheetId',
		'No spreadsheets found for this account. Drive Access in the credential',
	);
	await editor.picture();
	for (const file of google.files.listAll()) file.trashed = false;
	await editor.closeList('Rows');
	await editor.openPicker('spreadsheetId', 'Guests');
});

test('when Google refuses, the list says what to do', async () => {
	google.fault({
		match: 'drive.files.list',
		status: 403,
		reason: 'accessNotConfigured',
		times: 9,
	});
	await editor.closeNode();
	await editor.openNode('Rows');
	await editor.openPicker('spreadsheetId', 'Enable the Google Drive API');
});
