// An operation is one file and one export line: everything else finds it by itself.
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { operationsTable } from '../../dev/operationsTable';
import type * as NodeFile from '../../nodes/Workspace/Workspace.node';
import type * as Resources from '../../nodes/Workspace/resources';
import { createExecuteContext, failureOf } from '../createExecuteContext';
import { basesAt } from './client';
import {
	googleError,
	json,
	startScriptedServer,
	type Answer,
	type ScriptedServer,
} from './scriptedServer';

const root = path.join(__dirname, '../..');
const copy = mkdtempSync(path.join(tmpdir(), 'new-operation-'));
const actions = path.join(copy, 'nodes/Workspace/actions/file');
let server: ScriptedServer | undefined;

const operation = `import { messageIdField } from '../../locators';
import { defineOperation, type Clients } from '../../operation';

export const star = defineOperation({
	value: 'star',
	name: 'Star',
	action: 'Star file',
	description: 'Put a star on a file',
	fields: [{ displayName: 'File ID', name: 'fileId', ...messageIdField, required: true }],
	options: [],
	async send({ drive }: Clients, { fileId }) {
		const { data } = await drive.files.update({ fileId, requestBody: { starred: true } });
		return { id: data.id };
	},
	advice: { drive: { 404: 'No file, no star.' } },
});
`;

/** A module of the copy. */
const inCopy = (file: string) => path.join(copy, 'nodes/Workspace', file);
const loadNode = () => jest.requireActual<typeof NodeFile>(inCopy('Workspace.node'));

beforeAll(() => {
	for (const folder of ['nodes', 'credentials'])
		cpSync(path.join(root, folder), path.join(copy, folder), { recursive: true });
	symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
	writeFileSync(path.join(actions, 'star.operation.ts'), operation);
	appendFileSync(path.join(actions, 'index.ts'), "export { star } from './star.operation';\n");
});

afterEach(() => server?.close());
afterAll(() => {
	rmSync(copy, { recursive: true });
});

async function starred(parameters: object, answer: Answer) {
	server = await startScriptedServer(answer);
	const { Workspace } = loadNode();
	const node = new Workspace();
	const bases = basesAt(server.url);
	const context = createExecuteContext({
		nodeType: node,
		credentials: {
			workspaceOAuth2Api: {
				driveAccess: 'appFiles',
				oauthTokenData: { access_token: 'ya29.test' },
				customEndpoints: true,
				driveApiBase: bases.drive,
			},
		},
		parameters: { authentication: 'oAuth2', ...parameters },
	});
	return await node.execute.call(context);
}

const form = { inputMode: 'fields', resource: 'file', operation: 'star', fileId: 'f1' };
const object = { inputMode: 'json', inputObject: { operation: 'star', fileId: 'f1' } };

test('it is in the dropdown of its resource', () => {
	const { Workspace } = loadNode();
	const dropdown = new Workspace().description.properties.find(
		({ name, displayOptions }) =>
			name === 'operation' && displayOptions?.show?.resource?.[0] === 'file',
	);
	expect(dropdown?.options?.map((choice) => 'value' in choice && choice.value)).toContain('star');
});

test.each([
	['the form', form],
	['JSON mode', object],
])('it works in %s', async (_, parameters) => {
	const [items] = await starred(parameters, json({ id: 'f1' }));
	expect(items).toMatchObject([{ json: { id: 'f1' } }]);
	expect(server?.received.map(({ method }) => method)).toEqual(['PATCH']);
});

test('its scope and its own words are in the advice', async () => {
	const scope = googleError(403, 'No.', { errors: [{ reason: 'insufficientPermissions' }] });
	expect((await failureOf(starred(form, scope))).description).toContain(
		'lacks the scope https://www.googleapis.com/auth/drive.file.',
	);
	await server?.close();
	expect((await failureOf(starred(object, googleError(404, 'No.')))).description).toContain(
		'No file, no star.',
	);
});

test('it is in the table of operations that the README shows', () => {
	const known = jest.requireActual<typeof Resources>(inCopy('resources'));
	expect(operationsTable(known.resources)).toMatch(
		/^\| File +\| Star +\| Put a star on a file +\|$/m,
	);
});
