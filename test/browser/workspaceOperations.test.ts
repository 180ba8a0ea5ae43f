import { randomUUID } from 'node:crypto';

import { type Fault, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { resources } from '../../nodes/Workspace/resources';
import { connectInRow, manualTrigger, node } from '../e2e/startTestN8n';
import { until } from '../e2e/station';
import { Editor } from './editor';

/** A step of a person in the form. */
type Act =
	| readonly ['fill', field: string, text: string]
	| readonly ['choose', field: string, option: string]
	| readonly ['pick', field: string, name: string]
	| readonly ['id', field: string, id: string];

interface Tour {
	readonly operation: readonly [resource: string, operation: string];
	readonly acts: readonly Act[];
	/** Read in the output after the run. */
	readonly shows: readonly string[];
	/** What goes wrong afterwards, once by the person's hand and once by Google's, and what the output panel then says. */
	readonly wrong?: Act | { readonly fault: Fault };
	readonly says?: string;
}

let google: GoogleServer;
let editor: Editor;
let mail = '';
let guestsId = '';
let notesId = '';

const json = ['choose', 'valuesSource', 'json'] as const;
const guests = ['pick', 'spreadsheetId', 'Guests'] as const;
const notes = ['pick', 'documentId', 'Notes'] as const;

const tours: readonly Tour[] = [
	{
		operation: ['mail', 'send'],
		acts: [
			['fill', 'to', 'ann@example.com'],
			['fill', 'subject', 'By clicks'],
			['fill', 'body', 'Hello'],
		],
		shows: ['threadId'],
	},
	{
		operation: ['mail', 'list'],
		acts: [
			['fill', 'from', 'ann@example.com'],
			['choose', 'status', 'unread'],
		],
		shows: ['Lunch?', 'ann@example.com'],
		wrong: {
			fault: {
				match: 'gmail.users.messages.list',
				status: 403,
				reason: 'insufficientPermissions',
			},
		},
		says: 'lacks the scope https://www.googleapis.com/auth/gmail.readonly',
	},
	{
		operation: ['mail', 'search'],
		acts: [['fill', 'query', 'subject:Lunch']],
		shows: ['Lunch?'],
	},
	{
		operation: ['mail', 'read'],
		acts: [['fill', 'messageId', 'MAIL']],
		shows: ['Tomorrow at noon?'],
	},
	{
		operation: ['spreadsheet', 'create'],
		acts: [['fill', 'title', 'New guests']],
		shows: ['spreadsheetId'],
	},
	{
		operation: ['spreadsheet', 'read'],
		acts: [guests, ['pick', 'tab', 'People']],
		shows: ['Ann', 'Ben'],
	},
	{
		operation: ['spreadsheet', 'write'],
		acts: [
			guests,
			['pick', 'tab', 'Plan'],
			['choose', 'writeMode', 'overwrite'],
			json,
			['fill', 'values', '[["day"],["Monday"]]'],
		],
		shows: ['updatedRange'],
	},
	{
		operation: ['spreadsheet', 'append'],
		acts: [
			guests,
			['pick', 'tab', 'People'],
			json,
			['fill', 'values', '[{"name": "Cleo", "age": 27}]'],
		],
		shows: ['updatedRange'],
	},
	{
		operation: ['document', 'create'],
		acts: [
			['fill', 'title', 'New notes'],
			['fill', 'content', 'First line'],
		],
		shows: ['documentId'],
	},
	{
		operation: ['document', 'read'],
		acts: [notes],
		shows: ['Buy bread'],
	},
	{
		operation: ['document', 'append'],
		acts: [notes, ['fill', 'content', 'Buy milk']],
		shows: ['documentId'],
	},
	{
		operation: ['document', 'write'],
		acts: [notes, ['choose', 'replace', 'document'], ['fill', 'content', 'All is new']],
		shows: ['documentId'],
		wrong: ['id', 'documentId', 'nobody-has-such-a-file-0123456789'],
		says: 'Check the ID, and that the file is shared',
	},
	{
		operation: ['file', 'upload'],
		acts: [
			['fill', 'name', 'note.txt'],
			['choose', 'contentSource', 'text'],
			['fill', 'content', 'By clicks'],
			['pick', 'parentFolder', 'Reports'],
		],
		shows: ['note.txt', 'webViewLink'],
	},
];

const nameOf = ({ operation }: Tour) => operation.join(' ');

beforeAll(async () => {
	google = await startGoogle();
	mail = google.gmail.seed({
		from: 'Ann <ann@example.com>',
		subject: 'Lunch?',
		text: 'Tomorrow at noon?',
		labelIds: ['INBOX', 'UNREAD'],
	});
	guestsId = google.sheets.seed({
		title: 'Guests',
		tabs: [
			{
				title: 'People',
				rows: [
					['name', 'age'],
					['Ann', 31],
					['Ben', 42],
				],
			},
			{ title: 'Plan' },
		],
	});
	notesId = google.docs.seed({ title: 'Notes' });
	google.docs.type(notesId, 'Buy bread');
	google.files.add({
		name: 'Reports',
		mimeType: 'application/vnd.google-apps.folder',
		clientId: 'another-client',
	});
	editor = await Editor.open();
	const workspaceOAuth2Api = await editor.api.createCredential(
		'workspaceOAuth2Api',
		'Google',
		buildSignedInCredential(google.url, {
			accessToken: google.tokens.issue(),
			refreshToken: google.tokens.issueRefresh(),
		}),
	);
	// To open a node costs as much as to choose twice in an open one.
	const workspace = node(
		'Workspace',
		'n8n-nodes-agent-workspace.workspace',
		{},
		// n8n opens a node by the first characters of its id.
		{ credentials: { workspaceOAuth2Api }, id: randomUUID() },
	);
	await editor.show({
		name: 'Thirteen operations',
		nodes: [manualTrigger(), workspace],
		connections: connectInRow('Start', 'Workspace'),
	});
	await editor.openNode('Workspace');
});
afterAll(async () => {
	await editor.close();
	await google.close();
});
afterEach(async () => {
	await editor.picture();
});

async function act([kind, field, what]: Act): Promise<void> {
	if (kind === 'fill') await editor.fill(field, what === 'MAIL' ? mail : what);
	else if (kind === 'choose') await editor.chooseValue(field, what);
	else if (kind === 'pick') await editor.pick(field, what);
	else await editor.giveId(field, what);
}

test('every operation is among them', () => {
	const all = resources.flatMap(({ value, operations }) =>
		operations.map((one) => `${value} ${one.value}`),
	);
	expect(tours.map(nameOf).sort()).toEqual(all.sort());
});

test.each(tours.map((tour) => [nameOf(tour), tour] as const))(
	'%s: filled in by clicks it runs',
	async (_name, { operation: [resource, operation], acts, shows, wrong, says }) => {
		await editor.chooseValue('resource', resource);
		await editor.chooseValue('operation', operation);
		for (const one of acts) await act(one);
		await editor.runStep(...shows);
		if (wrong !== undefined && says !== undefined) {
			if ('fault' in wrong) google.fault(wrong.fault);
			else await act(wrong);
			await editor.runStep(says);
		}
		expect(google.violations).toEqual([]);
	},
);

// One form has run them all: none ran in place of the next.
test('each has done its own work', () => {
	expect(google.gmail.sent).toHaveLength(1);
	expect(google.sheets.values(guestsId, 'Plan')).toEqual([['day'], ['Monday']]);
	expect(google.sheets.values(guestsId, 'People').at(-1)).toEqual(['Cleo', 27]);
	expect(JSON.stringify(google.requests)).toContain('Buy milk');
	expect(google.docs.text(notesId)).toBe('All is new\n');
	const names = google.files.listAll().map(({ name }) => name);
	expect(names).toEqual(expect.arrayContaining(['New guests', 'New notes', 'note.txt']));
});

test('an operation chosen before does not stay when Resource changes', async () => {
	await editor.chooseValue('resource', 'spreadsheet');
	await editor.parameter('title').waitFor();
	await until(async () => (await editor.chosen('operation')) === 'Create');
});
