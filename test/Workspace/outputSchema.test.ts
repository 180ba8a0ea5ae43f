// What the editor shows of a result before the first run must be what a run gives.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IDataObject } from 'n8n-workflow';

import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';
import { standardScopes } from '../../dev/google/tokens';
import { resources } from '../../nodes/Workspace/resources';
import { disagreements, type Schema } from '../outputSchema';

import { runNode, token } from './runNode';

const folder = path.join(__dirname, '..', '..', 'nodes', 'Workspace', '__schema__', 'v1.0.0');
const schemaOf = (operation: string) =>
	JSON.parse(readFileSync(path.join(folder, `${operation}.json`), 'utf8')) as Schema;

let google: GoogleServer;

beforeAll(async () => {
	google = await startGoogle();
	google.tokens.issue({ token, scopes: [...standardScopes, 'gmail.compose'] });
});
afterAll(async () => {
	expectNoViolations(google);
	await google.close();
});

async function run(
	operation: string,
	parameters: IDataObject,
	options: IDataObject = {},
	json: IDataObject = {},
): Promise<IDataObject> {
	const [resource, value] = operation.split('/');
	const [item] = await runNode({
		url: google.url,
		parameters: { resource, operation: value, ...parameters, options },
		items: [{ json }],
	});
	if (!item) throw new Error(`${operation} gave nothing`);
	return item.json;
}

const byId = (value: unknown) => ({ __rl: true, mode: 'id', value: value as string });
const replaced = { replacement: [{ find: 'Text', replace: 'Note' }] };
const mail = { to: 'ann@example.com', subject: 'Hi', body: 'Text' };
const rows = { range: 'Sheet1!A1:B2', valuesSource: 'json', values: '[["name","count"],["a",1]]' };

/** Each operation on what the stand-in has, or on what another operation made before. */
const results: Record<string, () => Promise<IDataObject>> = {
	// Without a draft, all of it but `draftId`.
	'mail/send': () => run('mail/send', mail, { saveAsDraft: true }),
	'mail/list': () => run('mail/list', {}),
	'mail/search': () => run('mail/search', { query: 'subject:Hi' }),
	'mail/read': async () => await run('mail/read', { messageId: seedMail() }),
	'spreadsheet/create': () => run('spreadsheet/create', { title: 'Book' }),
	'spreadsheet/read': async () => {
		const spreadsheetId = await filledSheet();
		return await run(
			'spreadsheet/read',
			{ spreadsheetId, range: 'Sheet1', output: 'rows' },
			{ output: 'rows' },
		);
	},
	// Without columns to match by, all of it but `action`.
	'spreadsheet/write': async () =>
		await run(
			'spreadsheet/write',
			{
				...{ spreadsheetId: await filledSheet(), range: 'Sheet1', valuesSource: 'items' },
				...{ writeMode: 'update', matchColumns: ['name'] },
			},
			{},
			{ name: 'a', count: 2 },
		),
	'spreadsheet/append': async () =>
		await run('spreadsheet/append', { spreadsheetId: await filledSheet(), ...rows, range: 'Sheet1!A:B' }),
	'document/create': () =>
		run('document/create', { title: 'Notes', content: 'Text' }, { replacements: replaced }),
	'document/read': async () => await run('document/read', { documentId: await newDocument() }),
	'document/write': async () =>
		await run(
			'document/write',
			{ documentId: await newDocument(), content: 'Text' },
			{ replacements: replaced },
		),
	'document/append': async () =>
		await run('document/append', { documentId: await newDocument(), content: 'Text' }),
	'file/upload': () => run('file/upload', { name: 'a.txt', contentSource: 'base64', content: 'SGVsbG8=' }),
};

function seedMail(): string {
	const part = (type: string, text: string, more: string[] = []) =>
		['--b', `Content-Type: ${type}`, ...more, '', text].join('\r\n');
	const raw = [
		'From: Ann <ann@example.com>',
		'To: someone@example.com',
		'Subject: Hi',
		'Date: Sat, 21 Nov 2026 09:00:00 +0000',
		'MIME-Version: 1.0',
		'Content-Type: multipart/mixed; boundary=b',
		'',
		part('text/plain', 'Text'),
		part('text/plain', 'Hello', ['Content-Disposition: attachment; filename=a.txt']),
		'--b--',
		'',
	];
	return google.gmail.seed({ raw: raw.join('\r\n') });
}
const newSheet = async () => byId((await results['spreadsheet/create']?.())?.spreadsheetId);
const newDocument = async () => byId((await results['document/create']?.())?.documentId);

async function filledSheet() {
	const spreadsheetId = await newSheet();
	await run('spreadsheet/write', { spreadsheetId, ...rows });
	return spreadsheetId;
}

test('there is a schema for every operation, and for nothing else', () => {
	const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
		name.endsWith('.json'),
	);
	const operations = resources.flatMap(({ value, operations }) =>
		operations.map((operation) => `${value}/${operation.value}.json`),
	);
	expect(files.sort()).toEqual(operations.sort());
});

test.each(Object.keys(results))('%s gives what its schema says', async (operation) => {
	const result = await results[operation]?.();
	const columns = operation === 'spreadsheet/read' ? ['name', 'count'] : [];
	expect(disagreements(schemaOf(operation), result, columns)).toEqual([]);
});
