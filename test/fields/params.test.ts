import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';

import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { AgentSessionTrigger } from '../../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';
import type { NodeError } from '../../nodes/core/errors';
import { commonOptions } from '../../nodes/fields/commonOptions';
import type { Field, ReadContext } from '../../nodes/fields/field';
import { readParameters } from '../../nodes/fields/params';
import { buildFileLocator, messageIdField } from '../../nodes/Workspace/locators';
import { Workspace } from '../../nodes/Workspace/Workspace.node';

const text = { type: 'string', default: '' } as const;
const number = { type: 'number', default: 0 } as const;
const oneTo500 = { minimum: 1, maximum: 500 } as const;
const choices = (...values: string[]) => values.map((value) => ({ name: value, value }));
const documentLocator = buildFileLocator('document', 'searchDocuments');

const fields = [
	{ displayName: 'Title', name: 'title', ...text, required: true },
	{ displayName: 'Max Results', name: 'maxResults', ...number, default: 25, ...oneTo500 },
	{
		displayName: 'Status',
		name: 'status',
		type: 'options',
		default: 'any',
		options: choices('any', 'unread'),
	},
	{ displayName: 'Seconds', name: 'seconds', ...number, default: 1.5, minimum: 0.1, decimals: 1 },
	{ displayName: 'Order', name: 'order', ...number },
	{ displayName: 'All', name: 'all', type: 'boolean', default: false },
	{ displayName: 'After', name: 'after', type: 'dateTime', default: '' },
	{ displayName: 'Labels', name: 'labels', ...text, format: 'list' },
	{ displayName: 'To', name: 'to', ...text, format: 'addressList' },
	{
		displayName: 'Headers',
		name: 'headers',
		type: 'fixedCollection',
		default: {},
		format: 'pairs',
		entries: {
			group: 'header',
			fields: ['name', 'value'].map((name) => ({ displayName: name, name, ...text })),
		},
	},
	{ displayName: 'Values', name: 'values', type: 'json', default: '[]', format: 'rows' },
	{ displayName: 'Attachments', name: 'attachments', ...text, format: 'attachments' },
	{ displayName: 'Document', name: 'documentId', ...documentLocator },
	{ displayName: 'Message ID', name: 'messageId', ...messageIdField },
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		default: 'binary',
		jsonDefault: 'base64',
		options: choices('binary', 'base64'),
	},
	{
		displayName: 'Content',
		name: 'content',
		...text,
		required: true,
		typeOptions: { rows: 5 },
		showWhen: { source: ['base64'] },
	},
] satisfies readonly Field[];

const form: ReadContext = { mode: 'fields', timezone: 'Europe/Berlin' };
const object: ReadContext = { mode: 'json', timezone: 'Europe/Berlin' };
const all = [...fields, ...commonOptions];

const inForm = (given: object) => readParameters(all, { title: 'T', ...given }, form);
const inObject = (given: object) =>
	readParameters(all, { title: 'T', source: 'binary', ...given }, object);

const pair = (name: string, value: string) => ({ name, value });

test('what nobody gave is the default, in the operation’s own shape', () => {
	expect(inForm({ maxResults: null })).toMatchObject({
		...{ title: 'T', maxResults: 25, status: 'any', all: false, after: '', labels: [], to: '' },
		...{ headers: [], values: [], attachments: [], documentId: '', messageId: '' },
		...{ source: 'binary', content: '', maxRetryWaitSeconds: 120, timeoutSeconds: 300 },
	});
});

test('an object has defaults of its own, and they count for what is required', () => {
	expect(() => readParameters(all, { title: 'T' }, object)).toThrow("'content' is required");
	const read = readParameters(all, { title: 'T', content: '\n' }, object);
	expect(read).toMatchObject({ source: 'base64', content: '\n' });
});

test('a hidden field is its default in the form, whatever was left behind', () => {
	expect(inForm({ content: 'left behind' })).toMatchObject({ content: '' });
});

const instant = '2019-12-31T23:00:00.000Z';
const times = [
	...[instant, '2019-12-31T23:00Z', '2020-01-01', '2020-01-01 00:00:00', '2020-01-01T00:00'],
	...['2020-01-01T00:00:00+0100', 1577833200000, 1577833200, '1577833200'],
	...[new Date(1577833200000), DateTime.fromMillis(1577833200000)],
];
const addresses = '"Doe, John" <a@b.c>, d@e.f';

test.each<[name: string, given: unknown, read: unknown]>([
	['labels', 'INBOX, UNREAD\n Label_1 ,', ['INBOX', 'UNREAD', 'Label_1']],
	['labels', ['A,B', ' C ', ''], ['A,B', 'C']],
	['to', addresses, addresses],
	['to', ['a@b.c', 'd@e.f'], 'a@b.c\nd@e.f'],
	['values', '[["a",1],[]]', [['a', 1], []]],
	['values', [[null]], [[null]]],
	['attachments', [' a', ' '], [{ field: 'a' }]],
	['attachments', 'a, b', [{ field: 'a' }, { field: 'b' }]],
	['after', '2026-01-31T09:00:00+01:00', '2026-01-31T08:00:00.000Z'],
	// In the workflow's zone.
	['after', '2026-07-01T09:00:00', '2026-07-01T07:00:00.000Z'],
	...times.map((time): [string, unknown, unknown] => ['after', time, instant]),
	['documentId', 'https://docs.google.com/document/d/abc/edit', 'abc'],
])('both ways: %s of %j is %j', (name, given, read) => {
	expect(inForm({ [name]: given })).toMatchObject({ [name]: read });
	expect(inObject({ [name]: given })).toMatchObject({ [name]: read });
});

test.each<[name: string, given: unknown, read: unknown]>([
	['title', 2026, '2026'],
	['maxResults', '10', 10],
	['all', 'true', true],
	['all', 'false', false],
	['status', '', 'any'],
	['labels', [1], ['1']],
	['labels', 4711, ['4711']],
	['to', [4711], '4711'],
	['documentId', 4711, '4711'],
	['documentId', { __rl: true, mode: 'list', value: 'abc' }, 'abc'],
	['documentId', { mode: 'list', value: null }, ''],
])('what expressions give fits the form, and no object: %s of %j is %j', (name, given, read) => {
	expect(inForm({ [name]: given })).toMatchObject({ [name]: read });
	expect(() => inObject({ [name]: given })).toThrow(new RegExp(`^'${name}' must be `));
});

test('a date is a text both ways, as it is in JSON', () => {
	const title = DateTime.fromISO('2026-01-31T09:00Z', { zone: 'utc' });
	const read = { title: '2026-01-31T09:00:00.000Z' };
	expect(inForm({ title })).toMatchObject(read);
	expect(inObject({ title })).toMatchObject(read);
});

test.each<[given: unknown, names: unknown[]]>([
	[{ header: [{ name: 'X-A', value: 1 }, { name: 'X-A' }] }, [pair('X-A', '1'), pair('X-A', '')]],
	[{ 'X-B': 'b' }, [pair('X-B', 'b')]],
	[{ header: [null, { name: 'X-C' }, 'h'] }, [pair('X-C', '')]],
	[{ header: 'h' }, [pair('header', 'h')]],
	[{ header: [{ value: 'v' }] }, [pair('', 'v')]],
	[{}, []],
])('the form takes the pairs %j as %j', (headers, pairs) => {
	expect(inForm({ headers })).toMatchObject({ headers: pairs });
});

test('an object, or an expression in the form, may hold attachments of its own', () => {
	expect(inObject({ headers: { 'X-A': 'a', 'X-B': 1 } })).toMatchObject({
		headers: [pair('X-A', 'a'), pair('X-B', '1')],
	});
	expect(inObject({ headers: {} })).toMatchObject({ headers: [] });
	const file = { fileName: 'a.txt', mimeType: 'text/plain', content: 'YQ==' };
	for (const read of [inForm, inObject])
		expect(read({ attachments: ['data', file] })).toMatchObject({
			attachments: [{ field: 'data' }, file],
		});
});

const range = "'maxResults' must be a whole number from 1 to 500, not";
const seconds = "'seconds' must be a number of at least 0.1, not";
const noTimes = [
	...['soon', '2.11.2026', '02/11/2026', '2 November 2026', 'Nov 2, 2026', '2026-02-30'],
	...['2026-01-31T25:00', '20260131', 2026, 20260131, 20261231235959, -1, NaN, true],
	...[[2026], ['2026-01-31'], {}, new Date(NaN)],
];
const noAttachments = [
	{ fileName: 'a' },
	{ content: '' },
	{ fileName: 'a', content: '', mimeType: 5 },
];
type Refused = [name: string, given: unknown, message: string | RegExp];

test.each<Refused>([
	['title', '  ', "'title' is required"],
	['title', 5, "'title' must be text, not a number"],
	['title', false, "'title' must be text, not a boolean"],
	['title', ['a'], "'title' must be text, not an array"],
	['maxResults', '10', `${range} text`],
	['maxResults', 1.5, `${range} 1.5`],
	['maxResults', 0, `${range} 0`],
	['maxResults', 1e6, `${range} 1000000`],
	['maxResults', 501, `${range} 501`],
	['maxResults', NaN, `${range} NaN`],
	['seconds', 0.05, `${seconds} 0.05`],
	['seconds', Infinity, `${seconds} Infinity`],
	['order', 0.5, "'order' must be a whole number, not 0.5"],
	['timeoutSeconds', 4000, "'timeoutSeconds' must be a whole number from 1 to 3600, not 4000"],
	['all', 'true', "'all' must be true or false, not text"],
	['status', 'seen', "'status' must be one of: any, unread"],
	['labels', {}, "'labels' must be an array, or text separated by commas or new lines"],
	['values', '[["secret cell"] 1]', "'values' is not valid JSON (at position 17)"],
	['values', '[["secret cell"', /^'values' is not valid JSON( \(at position 15\))?$/],
	['values', [{ a: 1 }], 'each an array of cells; row 1 is an object'],
	['values', [['a'], 'b'], 'each an array of cells; row 2 is text'],
	['headers', { 'X-A': [{}] }, "'headers' must be text, not an array"],
	['headers', [['a', 'b']], "'headers' must be an object with names and values, not an array"],
	['attachments', [5], 'a list of binary fields, not a number'],
	['attachments', [{ fileName: 'a', content: '', path: '/x' }], "'path' is not allowed"],
	...noAttachments.map((file): Refused => [
		'attachments',
		[file],
		'objects with fileName, mimeType and content (base64 text)',
	]),
	...noTimes.map((time): Refused => ['after', time, "'after' must be a date and time"]),
	['documentId', { mode: 'id', value: 'abc' }, "'documentId' must be text, not an object"],
	['messageId', '../x', "'messageId' is not an ID: ../x"],
])('an object is refused for %s: %j', (name, given, message) => {
	expect(() => inObject({ [name]: given })).toThrow(message);
});

const rangeInForm = "'Max Results' must be a whole number from 1 to 500, not";

test.each<[name: string, given: unknown, message: string]>([
	['maxResults', 0, `${rangeInForm} 0`],
	['maxResults', 'many', `${rangeInForm} text`],
	['maxResults', ' ', `${rangeInForm} text`],
	['maxResults', 'NaN', `${rangeInForm} text`],
	['maxResults', NaN, `${rangeInForm} NaN`],
	['status', 'seen', "'Status' must be one of: any, unread"],
	['title', {}, "'Title' must be text, not an object"],
	['all', 1, "'All' must be true or false, not a number"],
])('the form is refused for %s: %j, by the name on the form', (name, given, message) => {
	expect(() => inForm({ [name]: given })).toThrow(message);
});

test('what an expression gave is named as such', () => {
	const descriptionOf = (act: () => unknown) => {
		try {
			return act();
		} catch (error) {
			return (error as NodeError).description;
		}
	};
	expect(descriptionOf(() => inForm({ maxResults: 0 }))).toMatch(/^If it is an expression/);
	expect(descriptionOf(() => inForm({ title: '  ' }))).toContain('Include Other Input Fields');
});

test('the lowest and the highest value are taken', () => {
	const lowest = { maxResults: 1, seconds: 0.1 };
	expect(inObject(lowest)).toMatchObject(lowest);
	expect(inObject({ maxResults: 500 })).toMatchObject({ maxResults: 500 });
});

describe('a required field', () => {
	const all = [
		{ displayName: 'IDs', name: 'ids', ...text, required: true, format: 'list' },
		{ displayName: 'Body', name: 'body', ...text, required: true, requiredUnless: ['pairs'] },
		{ displayName: 'Pairs', name: 'pairs', ...text },
	] as const satisfies readonly Field[];
	const given = (one: object) => readParameters(all, { ids: 'a', body: 'b', ...one }, object);

	test.each([
		[{ ids: ' , ' }, "'ids' is required"],
		[{ ids: [] }, "'ids' is required"],
		[{ body: null }, "'body' is required"],
		[{ body: null, pairs: null }, "'body' is required"],
	])('%j is not given', (one, message) => {
		expect(() => given(one)).toThrow(message);
	});

	test.each([{}, { ids: ['a', 'b'] }, { body: null, pairs: 'x' }])('%j is given', (one) => {
		expect(() => given(one)).not.toThrow();
	});
});

/** Lowest and highest value of each number field, without which a workflow could ask for what a service refuses. */
const requests = { maxRetryWaitSeconds: '0–3600', timeoutSeconds: '1–3600' };
const channel = { heartbeatSeconds: '0–3600' };

test.each([
	[
		new Workspace(),
		{
			...{ ...requests, maxResults: '1–10000', headerRow: '1–' },
			...{ maxRows: '0–', startCharacter: '0–', startRow: '0–' },
		},
	],
	[
		new AgentExecute(),
		{
			...{ ...requests, ...channel, messageCount: '1–', parallelRequests: '1–100' },
			...{ silenceSeconds: '0.1–', timestamp: '–', waitTimeoutSeconds: '0.1–' },
		},
	],
	[
		new AgentSessionTrigger(),
		{
			...{ ...channel, batchSize: '1–', batchWaitMilliseconds: '0–' },
			maxConcurrentExecutions: '1–',
		},
	],
])('%# the numbers of a node have their bounds', ({ description }, expected) => {
	const withParts = (property: INodeProperties): INodeProperties[] => {
		const parts = (property.options ?? []) as Array<INodeProperties & { values?: [] }>;
		return [property, ...parts.flatMap((part) => part.values ?? part).flatMap(withParts)];
	};
	const all = description.properties.flatMap(withParts);
	const bounds = all
		.filter(({ type }) => type === 'number')
		// Reading has no header row with 0.
		.filter(({ name, typeOptions }) => name !== 'headerRow' || typeOptions?.minValue !== 0)
		.map(({ name, typeOptions: { minValue = '', maxValue = '' } = {} }) => [
			name,
			`${minValue}–${maxValue}`,
		]);
	expect(Object.fromEntries(bounds)).toEqual(expected);
});
