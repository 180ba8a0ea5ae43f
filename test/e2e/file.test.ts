import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { readExample } from '../../dev/examples.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { fetchPublished } from '../../dev/n8n/forms.ts';
import type { NodeItem } from '../../dev/n8n/n8nApi.ts';
import { type Credentials, storeSignIn } from './credentials';
import { findNextPage, untilShown } from './formPages';
import { manualTrigger, node, type SharedN8n, useSharedN8n } from './startTestN8n';
import { inRow, outputOf, workspaceType } from './workflows';

const MiB = 1024 * 1024;
const large = randomBytes(12 * MiB + 1);
const md5 = (data: Buffer | string) => createHash('md5').update(data).digest('hex');

let google: GoogleServer;
let folder: string;

beforeAll(async () => {
	google = await startGoogle();
	folder = await mkdtemp(path.join(tmpdir(), 'file-e2e-'));
	await writeFile(path.join(folder, 'large.bin'), large);
	await writeFile(path.join(folder, 'empty.txt'), '');
});
afterAll(async () => {
	await google.close();
	await rm(folder, { recursive: true });
});
afterEach(() => {
	expectNoViolations(google);
});

const read = (file: string) =>
	node('Read', 'n8n-nodes-base.readWriteFile', {
		fileSelector: path.join(folder, file),
		options: {},
	});

const files = (name: string) => google.files.listAll().filter((file) => file.name === name);

describe.each([
	['filesystem', 'usual'],
	['database', 'watched'],
] as const)('binary data in the mode %s', (mode, name) => {
	let n8n: SharedN8n;
	let credentials: Credentials;

	beforeAll(async () => {
		n8n = await useSharedN8n(name);
		credentials = await storeSignIn(n8n.api, google);
	});

	async function upload(file: string, parameters: object): Promise<NodeItem> {
		const workspace = node('Upload', workspaceType, { ...parameters }, { credentials });
		const execution = await n8n.api.runOnce(
			inRow('upload', manualTrigger(), read(file), workspace),
		);
		expect(execution.resultData.error).toBeUndefined();
		const [item] = outputOf(execution, 'Upload');
		if (!item) throw new Error('no item');
		return item;
	}

	test('a large file by the form, in chunks', async () => {
		const name = `large-${mode}.bin`;
		const { json } = await upload('large.bin', { resource: 'file', operation: 'upload', name });
		expect(json).toMatchObject({ name, size: String(large.length), md5Checksum: md5(large) });
		expect(google.drive.content(String(json['id']))?.data?.equals(large)).toBe(true);
		expect(google.drive.sessions.at(-1)?.ranges).toHaveLength(2);
		const token = String(google.requests.at(-1)?.headers.authorization).split(' ')[1];
		expect(n8n.output()).not.toContain(token);
	});

	test('the same by the input object, with a token that expired', async () => {
		google.tokens.expire();
		const name = `object-${mode}.bin`;
		const inputObject = { operation: 'upload', name, contentSource: 'binary' };
		const { json } = await upload('large.bin', {
			inputMode: 'json',
			inputObject: JSON.stringify(inputObject),
		});
		expect(json).toMatchObject({ md5Checksum: md5(large) });
		expect(files(name)).toHaveLength(1);
	});

	test('an empty file, and base64 text while the token expired between the two requests', async () => {
		const empty = await upload('empty.txt', {
			resource: 'file',
			operation: 'upload',
			name: 'empty.txt',
		});
		expect(empty.json).toMatchObject({
			size: '0',
			mimeType: 'text/plain',
			md5Checksum: md5(''),
		});
		google.fault({ match: 'drive.files.create', status: 401 });
		const parameters = {
			contentSource: 'base64',
			content: Buffer.from('hi').toString('base64'),
		};
		const small = await upload('empty.txt', {
			resource: 'file',
			operation: 'upload',
			name: `small-${mode}.txt`,
			...parameters,
		});
		expect(small.json).toMatchObject({ md5Checksum: md5('hi') });
		expect(files(`small-${mode}.txt`)).toHaveLength(1);
	});
});

test('the example takes a file from a form to Drive and says so', async () => {
	const n8n = await useSharedN8n();
	const credentials = await storeSignIn(n8n.api, google);
	const example = await readExample('form-file-to-drive.json');
	const nodes = example.nodes.map((one) =>
		one['type'] === workspaceType ? { ...one, credentials } : one,
	);
	const stored = await n8n.api.createWorkflow({ ...example, nodes });
	await n8n.api.activate(stored);
	const form = new FormData();
	form.append('field-0', new Blob(['form content'], { type: 'text/plain' }), 'from-form.txt');
	form.append('field-1', 'a note');
	const page = `${n8n.url}/form/send-a-file`;
	const answer = await fetchPublished(page, { method: 'POST', body: form });
	await untilShown(await findNextPage(answer), 'from-form.txt (12 bytes) has arrived');
	expect(files('from-form.txt')).toMatchObject([
		{ description: 'a note', mimeType: 'text/plain' },
	]);
});
