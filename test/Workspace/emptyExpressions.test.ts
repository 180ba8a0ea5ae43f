// An expression that finds nothing, where the default would do something else than the user wants.
import type { IDataObject } from 'n8n-workflow';

import type { GoogleServer } from '../../dev/google/server';
import { failureOf } from '../createExecuteContext';
import { runNode } from './runNode';
import { useGoogle } from './standIn';

let google: GoogleServer;
useGoogle((server) => (google = server));

const mail = {
	...{ resource: 'mail', operation: 'send' },
	...{ to: 'a@b.c', subject: 'S', body: 'B' },
};
const upload = {
	...{ resource: 'file', operation: 'upload', contentSource: 'text' },
	...{ content: 'x', name: 'a.txt' },
};
const list = { resource: 'mail', operation: 'list' };
const write = {
	...{ resource: 'spreadsheet', operation: 'write', writeMode: 'replace' },
	...{ spreadsheetId: { mode: 'id', value: 'a' }, tab: { mode: 'name', value: 'T' } },
};
const run = async (parameters: IDataObject, json: IDataObject = {}) =>
	await runNode({ url: google.url, parameters, items: [{ json }] });

test.each<[string, IDataObject]>([
	['Send or Save as Draft', { ...mail, sendAs: '={{ $json.x }}' }],
	['Email', { ...mail, email: '={{ $json.x }}' }],
	['Idempotency Key', { ...mail, options: { idempotencyKey: '={{ $json.x }}' } }],
	['Parent Folder', { ...upload, parentFolder: { mode: 'id', value: '={{ $json.x }}' } }],
	['To', { ...mail, to: '={{ $json.x }}' }],
	['From Alias', { ...mail, senderOptions: { fromAlias: '={{ $json.x }}' } }],
	['Only Files Named', { ...mail, options: { onlyFiles: '={{ $json.x }}' } }],
	['From', { ...list, from: '={{ $json.x }}' }],
	['With Label Names or IDs', { ...list, options: { labelIds: '={{ $json.x }}' } }],
	['Range', { ...write, options: { range: '={{ $json.x }}' } }],
	['Range', { ...write, options: { range: '=A{{ $json.x }}:D{{ $json.x }}' } }],
	['Idempotency Key', { ...mail, options: { idempotencyKey: '=order {{ $json.x }}' } }],
])('%s is not its default', async (label, parameters) => {
	for (const json of [{}, { x: null }]) {
		const failure = await failureOf(run(parameters, json));
		expect(failure.message).toBe(`The expression in '${label}' is empty for this item`);
	}
	expect(google.requests).toEqual([]);
});

test('an empty text is a choice, where the field may be empty', async () => {
	await run({ ...mail, options: { idempotencyKey: '={{ $json.x ?? "" }}' } });
	await run({ ...mail, options: { idempotencyKey: '=order{{ $json.x ?? "" }}' } });
	await run({ ...mail, options: { idempotencyKey: '=order' } }, { x: '' });
	await run({ ...upload, parentFolder: { mode: 'id', value: '={{ $json.x ?? "" }}' } });
	expect(google.gmail.sent).toHaveLength(2);
	const failure = await failureOf(run({ ...mail, sendAs: '={{ $json.x }}' }, { x: '' }));
	expect(failure.message).toBe(
		"The expression in 'Send or Save as Draft' is empty for this item",
	);
});

test('a list may have other entries', async () => {
	await run({ ...mail, to: '=a@b.c, {{ $json.x }}' });
	expect(google.gmail.sent).toHaveLength(1);
});
