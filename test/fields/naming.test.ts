import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../executeContext';

import { runNode } from '../Workspace/runNode';
import { googleError, scriptedServer, type ScriptedServer } from '../Workspace/server';

let server: ScriptedServer;

beforeEach(async () => {
	server = await scriptedServer(googleError(429, 'Slow down', {}, { 'Retry-After': '1000' }));
});
afterEach(() => server.close());

/** Fields and options of an operation that its own checks refuse, and how each mode names what is wrong. */
type Case = readonly [
	operation: readonly [resource: string, operation: string],
	fields: IDataObject,
	options: IDataObject,
	inForm: string,
	inObject: string,
];

const mail = { to: 'a@x.org', subject: 'S', body: 'B' };
const rows = { spreadsheetId: '1abc', range: 'Sheet1', valuesSource: 'json' };
const from = '2026-01-02T00:00:00Z';
const until = '2026-01-01T00:00:00Z';

const cases: readonly Case[] = [
	[['mail', 'send'], { ...mail, to: ',' }, {}, "'To' has no address", "'to' has no address"],
	[
		['mail', 'send'],
		mail,
		{ cc: 'nobody' },
		"'CC' has an entry that is not an email address: nobody",
		"'cc' has an entry that is not an email address: nobody",
	],
	[
		['mail', 'send'],
		{ ...mail, subject: 'a\nb' },
		{},
		"'Subject' contains a line",
		"'subject' contains a line",
	],
	[
		['mail', 'send'],
		mail,
		{ senderName: 'a\rb' },
		"'Sender Name' contains a line break",
		"'senderName' contains a line break",
	],
	[
		['mail', 'list'],
		{ maxResults: 501 },
		{ output: 'page' },
		"'Limit' must be from 1 to 500 if 'Output' is page, not 501",
		"'maxResults' must be from 1 to 500 if 'output' is page, not 501",
	],
	[
		['mail', 'search'],
		{ query: 'x', returnAll: true },
		{ output: 'page' },
		"'Return All' cannot be used if 'Output' is page",
		"'returnAll' cannot be used if 'output' is page",
	],
	[
		['mail', 'list'],
		{},
		{ receivedAfter: from, receivedBefore: until },
		"'Received After' is not before 'Received Before'",
		"'receivedAfter' is not before 'receivedBefore'",
	],
	[
		['mail', 'list'],
		{},
		{ includeBody: true, details: false },
		"'Include Body' needs 'Details'",
		"'includeBody' needs 'details'",
	],
	[
		['spreadsheet', 'write'],
		{ ...rows, values: [['a'], { name: 'b' }] },
		{},
		"'Values' mixes",
		"'values' mixes",
	],
	[['spreadsheet', 'append'], { ...rows, values: [] }, {}, "'Values' has no cells", "'values' has no cells"],
	[
		['spreadsheet', 'read'],
		{ spreadsheetId: '1abc', range: "'A'!?" },
		{},
		"'Range' is not a range: 'A'!?",
		"'range' is not a range: 'A'!?",
	],
	[
		['spreadsheet', 'append'],
		{ spreadsheetId: '1abc', valuesSource: 'json', values: [['a']] },
		{},
		"'Tab' or 'Range' is required",
		"'tab' or 'range' is required",
	],
	[
		['document', 'write'],
		{ documentId: '1abc', content: '' },
		{},
		"'Content' is empty",
		"'content' is empty",
	],
	[
		['file', 'upload'],
		{ name: 'a', contentSource: 'base64', content: 'Y#' },
		{},
		"'Content' is not base64 text",
		"'content' is not base64 text",
	],
	[
		['file', 'upload'],
		{ name: 'a', contentSource: 'base64', content: 'YQ==', mimeType: 'pdf' },
		{},
		"'MIME Type' is not a MIME type: pdf",
		"'mimeType' is not a MIME type: pdf",
	],
];

const run = (parameters: IDataObject) => failureOf(runNode({ url: server.url, parameters }));

test.each(cases)('%j %j %j', async ([resource, operation], fields, options, inForm, inObject) => {
	const form = await run({ resource, operation, ...fields, options });
	expect(form.message).toContain(inForm);
	const object = await run({
		inputMode: 'json',
		inputObject: { resource, operation, ...fields, ...options },
	});
	expect(object.message).toContain(inObject);
	expect(server.received).toEqual([]);
});

test.each([
	['send', { to: 'a@x.org', subject: 'S' }, 'body'],
	['append', { spreadsheetId: '1abc', range: 'A1' }, 'values'],
	['write', { spreadsheetId: '1abc', range: 'A1', values: null }, 'values'],
	['append', { documentId: '1abc' }, 'content'],
	['write', { documentId: '1abc' }, 'content'],
	['upload', { name: 'a.txt' }, 'content'],
	['upload', { name: 'a.txt', binaryPropertyName: 'data' }, 'content'],
])('a key that is missing is named: %s %j', async (operation, given, key) => {
	const failure = await run({ inputMode: 'json', inputObject: { operation, ...given } });
	expect(failure.message).toBe(`'${key}' is required`);
	expect(failure.description).toBe('The input object does not have this key, or it is null.');
	expect(server.received).toEqual([]);
});

test('what to do about an answer names the option as the user knows it', async () => {
	const form = await run({ resource: 'mail', operation: 'read', messageId: 'a1' });
	expect(form.description).toContain("'Max Retry Wait (Seconds)' allows 120");
	const object = await run({ inputMode: 'json', inputObject: { operation: 'read', messageId: 'a1' } });
	expect(object.description).toContain("'maxRetryWaitSeconds' allows 120");
});
