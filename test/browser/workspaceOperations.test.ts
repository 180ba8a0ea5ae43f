import { randomUUID } from 'node:crypto';

import { type Fault, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { resources } from '../../nodes/Workspace/resources';
import { node } from '../e2e/startTestN8n';
import { Editor } from './editor';
import { labelOf } from './shown';

/** A step of a person in the form. */
type Act =
	| readonly ['fill', field: string, text: string]
	| readonly ['choose', field: string, option: string]
	| readonly ['pick', field: string, name: string]
	| readonly ['id', field: string, id: () => string];

interface Tour {
	readonly operation: readonly [resource: string, operation: string];
	readonly acts: readonly Act[];
	/** Read in the output after the run. */
	readonly shows: readonly string[];
	/** What goes wrong afterwards, by the person's hand or by Google's, and what the output panel then says. */
	readonly wrong: Act | { readonly fault: Fault };
	readonly says: string;
}

let google: GoogleServer;
let editor: Editor;
let mail = '';

const json = ['choose', 'valuesSource', 'json'] as const;
const guests = ['pick', 'spreadsheetId', 'Guests'] as const;
const notes = ['pick', 'documentId', 'Notes'] as const;
const noSuchFile = () => 'nobody-has-such-a-file-0123456789';

const tours: readonly Tour[] = [
	{
		operation: ['mail', 'send'],
		acts: [
			['fill', 'to', 'ann@example.com'],
			['fill', 'subject', 'By clicks'],
			['fill', 'body', 'Hello'],
		],
		shows: ['threadId'],
		wrong: ['fill', 'to', 'not an address'],
		says: 'not an address',
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
		wrong: ['fill', 'query', ' '],
		says: `'${labelOf('query')}'`,
	},
	{
		operation: ['mail', 'read'],
		acts: [['fill', 'messageId', 'MAIL']],
		shows: ['Tomorrow at noon?'],
		wrong: ['fill', 'messageId', 'abcdef'],
		says: 'not in this mailbox',
	},
	{
		operation: ['spreadsheet', 'create'],
		acts: [['fill', 'title', 'New guests']],
		shows: ['spreadsheetId'],
		wrong: ['id', 'parentFolder', noSuchFile],
		says: `Check that '${labelOf('parentFolder')}' exists`,
	},
	{
		operation: ['spreadsheet', 'read'],
		acts: [guests, ['pick', 'tab', 'People']],
		shows: ['Ann', 'Ben'],
		wrong: ['id', 'spreadsheetId', noSuchFile],
		says: 'Check the ID, and that the file is shared',
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
		wrong: ['fill', 'values', '[["day"'],
		says: `'${labelOf('values')}'`,
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
		wrong: ['fill', 'values', '[{"nme": "Cleo"}]'],
		says: 'nme',
	},
	{
		operation: ['document', 'create'],
		acts: [
			['fill', 'title', 'New notes'],
			['fill', 'content', 'First line'],
		],
		shows: ['documentId'],
		wrong: ['id', 'parentFolder', noSuchFile],
		says: `Check that '${labelOf('parentFolder')}' exists`,
	},
	{
		operation: ['document', 'read'],
		acts: [notes],
		shows: ['Buy bread'],
		wrong: ['id', 'documentId', noSuchFile],
		says: 'Check the ID, and that the file is shared',
	},
	{
		operation: ['document', 'append'],
		acts: [notes, ['fill', 'content', 'Buy milk']],
		shows: ['documentId'],
		wrong: ['id', 'documentId', noSuchFile],
		says: 'Check the ID, and that the file is shared',
	},
	{
		operation: ['document', 'write'],
		acts: [notes, ['choose', 'replace', 'document'], ['fill', 'content', 'All is new']],
		shows: ['documentId'],
		wrong: ['fill', 'content', ''],
		says: `'${labelOf('content')}'`,
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
		wrong: ['choose', 'contentSource', 'filePath'],
		says: 'By clicks',
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
	google.sheets.seed({
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
	google.docs.type(google.docs.seed({ title: 'Notes' }), 'Buy bread');
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
	const nodes = tours.map((tour, index) =>
		node(
			nameOf(tour),
			'n8n-nodes-agent-workspace.workspace',
			{},
			{
				credentials: { workspaceOAuth2Api },
				// n8n opens a node by the first characters of its id.
				id: randomUUID(),
				position: [240 + 240 * (index % 5), 240 * Math.floor(index / 5)],
			},
		),
	);
	await editor.show({
		name: 'Thirteen operations',
		nodes: [node('Start', 'n8n-nodes-base.manualTrigger', {}, { position: [0, 0] }), ...nodes],
		connections: {
			Start: { main: [nodes.map(({ name }) => ({ node: name, type: 'main', index: 0 }))] },
		},
	});
});
afterAll(async () => {
	await editor.close();
	await google.close();
});
afterEach(async () => {
	await editor.picture();
	await editor.closeNode();
});

async function act([kind, field, what]: Act): Promise<void> {
	if (kind === 'fill') await editor.fill(field, what === 'MAIL' ? mail : what);
	else if (kind === 'choose') await editor.chooseValue(field, what);
	else if (kind === 'pick') await editor.pick(field, what);
	else await editor.giveId(field, what());
}

test('every operation is among them', () => {
	const all = resources.flatMap(({ value, operations }) =>
		operations.map((one) => `${value} ${one.value}`),
	);
	expect(tours.map(nameOf).sort()).toEqual(all.sort());
});

test.each(tours.map((tour) => [nameOf(tour), tour] as const))(
	'%s: filled in by clicks it runs, and what is wrong is said in the output panel',
	async (name, { operation: [resource, operation], acts, shows, wrong, says }) => {
		await editor.openNode(name);
		await editor.chooseValue('resource', resource);
		await editor.chooseValue('operation', operation);
		for (const one of acts) await act(one);
		await editor.runStep(...shows);
		if ('fault' in wrong) google.fault(wrong.fault);
		else await act(wrong);
		await editor.runStep(says);
		expect(google.violations).toEqual([]);
	},
);
