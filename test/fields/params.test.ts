import { DateTime } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';

import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { AgentSessionTrigger } from '../../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';
import type { NodeError } from '../../nodes/core/errors';
import type { ReadContext } from '../../nodes/fields/field';
import { readParameters } from '../../nodes/fields/params';
import { buildFileLocator, messageIdField } from '../../nodes/Workspace/locators';
import {
	type Field,
	type Operation,
	defineOperation,
	getAllFields,
} from '../../nodes/Workspace/operation';
import { Workspace } from '../../nodes/Workspace/Workspace.node';

describe('params', () => {
	const fields = [
		{ displayName: 'Title', name: 'title', type: 'string', default: '', required: true },
		{
			displayName: 'Max Results',
			name: 'maxResults',
			type: 'number',
			default: 25,
			minimum: 1,
			maximum: 500,
		},
		{
			displayName: 'Status',
			name: 'status',
			type: 'options',
			default: 'any',
			options: [
				{ name: 'Any', value: 'any' },
				{ name: 'Unread', value: 'unread' },
			],
		},
		{
			displayName: 'Seconds',
			name: 'seconds',
			type: 'number',
			default: 1.5,
			minimum: 0.1,
			decimals: 1,
		},
		{ displayName: 'Order', name: 'order', type: 'number', default: 0 },
		{ displayName: 'All', name: 'all', type: 'boolean', default: false },
		{ displayName: 'After', name: 'after', type: 'dateTime', default: '' },
		{ displayName: 'Labels', name: 'labels', type: 'string', default: '', format: 'list' },
		{ displayName: 'To', name: 'to', type: 'string', default: '', format: 'addressList' },
		{
			displayName: 'Headers',
			name: 'headers',
			type: 'fixedCollection',
			default: {},
			format: 'pairs',
			entries: {
				group: 'header',
				fields: [
					{ displayName: 'Name', name: 'name', type: 'string', default: '' },
					{ displayName: 'Value', name: 'value', type: 'string', default: '' },
				],
			},
		},
		{ displayName: 'Values', name: 'values', type: 'json', default: '[]', format: 'rows' },
		{
			displayName: 'Attachments',
			name: 'attachments',
			type: 'string',
			default: '',
			format: 'attachments',
		},
		{
			displayName: 'Document',
			name: 'documentId',
			...buildFileLocator('document', 'searchDocuments'),
		},
		{ displayName: 'Message ID', name: 'messageId', ...messageIdField },
		{
			displayName: 'Source',
			name: 'source',
			type: 'options',
			default: 'binary',
			jsonDefault: 'base64',
			options: [
				{ name: 'Binary', value: 'binary' },
				{ name: 'Base64', value: 'base64' },
			],
		},
		{
			displayName: 'Content',
			name: 'content',
			type: 'string',
			default: '',
			required: true,
			typeOptions: { rows: 5 },
			showWhen: { source: ['base64'] },
		},
	] as const satisfies readonly Field[];

	const operation: Operation = defineOperation({
		value: 'try',
		name: 'Try',
		action: 'Try',
		description: '',
		modelDescription: '',
		fields,
		options: [],
		send: () => Promise.resolve(null),
	});

	const form: ReadContext = { mode: 'fields', timezone: 'Europe/Berlin' };
	const object: ReadContext = { mode: 'json', timezone: 'Europe/Berlin' };

	const inForm = (given: object) =>
		readParameters(getAllFields(operation), { title: 'T', ...given }, form);
	const inObject = (given: object) =>
		readParameters(getAllFields(operation), { title: 'T', source: 'binary', ...given }, object);

	test('what nobody gave is the default, in the operation’s own shape', () => {
		expect(inForm({ maxResults: null })).toMatchObject({
			title: 'T',
			maxResults: 25,
			status: 'any',
			all: false,
			after: '',
			labels: [],
			to: '',
			headers: [],
			values: [],
			attachments: [],
			documentId: '',
			messageId: '',
			source: 'binary',
			content: '',
			maxRetryWaitSeconds: 120,
			timeoutSeconds: 300,
		});
	});

	test('an object has defaults of its own, and they count for what is required', () => {
		expect(() => readParameters(getAllFields(operation), { title: 'T' }, object)).toThrow(
			"'content' is required",
		);
		expect(
			readParameters(getAllFields(operation), { title: 'T', content: '\n' }, object),
		).toMatchObject({
			source: 'base64',
			content: '\n',
		});
	});

	test('a hidden field is its default in the form, whatever was left behind', () => {
		expect(inForm({ content: 'left behind' })).toMatchObject({ content: '' });
	});

	test.each([
		[
			'a list',
			{ labels: 'INBOX, UNREAD\n Label_1 ,' },
			{ labels: ['INBOX', 'UNREAD', 'Label_1'] },
		],
		['a list as an array', { labels: ['A,B', ' C ', ''] }, { labels: ['A,B', 'C'] }],
		[
			'addresses as they stand',
			{ to: '"Doe, John" <a@b.c>, d@e.f' },
			{ to: '"Doe, John" <a@b.c>, d@e.f' },
		],
		['addresses as an array', { to: ['a@b.c', 'd@e.f'] }, { to: 'a@b.c\nd@e.f' }],
		['rows as JSON text', { values: '[["a",1],[]]' }, { values: [['a', 1], []] }],
		['rows as an array', { values: [[null]] }, { values: [[null]] }],
		[
			'attachments as a list with gaps',
			{ attachments: ['a', ' '] },
			{ attachments: [{ field: 'a' }] },
		],
		[
			'attachments as text',
			{ attachments: 'a, b' },
			{ attachments: [{ field: 'a' }, { field: 'b' }] },
		],
		[
			'a time with an offset',
			{ after: '2026-01-31T09:00:00+01:00' },
			{ after: '2026-01-31T08:00:00.000Z' },
		],
		[
			'a time in the workflow’s zone',
			{ after: '2026-07-01T09:00:00' },
			{ after: '2026-07-01T07:00:00.000Z' },
		],
		...[
			'2019-12-31T23:00:00.000Z',
			'2019-12-31T23:00Z',
			'2020-01-01',
			'2020-01-01 00:00:00',
			'2020-01-01T00:00',
			'2020-01-01T00:00:00+0100',
			1577833200000,
			1577833200,
			'1577833200',
			new Date(1577833200000),
			DateTime.fromMillis(1577833200000),
		].map((after): [string, object, object] => [
			`the time ${JSON.stringify(after)}`,
			{ after },
			{ after: '2019-12-31T23:00:00.000Z' },
		]),
		[
			'an address of a document',
			{ documentId: 'https://docs.google.com/document/d/abc/edit' },
			{ documentId: 'abc' },
		],
	])('both ways: %s', (_, given, expected) => {
		expect(inForm(given)).toMatchObject(expected);
		expect(inObject(given)).toMatchObject(expected);
	});

	test('the form is generous with what expressions give', () => {
		expect(
			inForm({ title: 2026, maxResults: '10', all: 'true', status: '', labels: [1] }),
		).toMatchObject({
			title: '2026',
			maxResults: 10,
			all: true,
			status: 'any',
			labels: ['1'],
		});
		expect(inForm({ documentId: { __rl: true, mode: 'list', value: 'abc' } })).toMatchObject({
			documentId: 'abc',
		});
		expect(
			inForm({ headers: { header: [{ name: 'X-A', value: 1 }, { name: 'X-A' }] } }),
		).toMatchObject({
			headers: [
				{ name: 'X-A', value: '1' },
				{ name: 'X-A', value: '' },
			],
		});
		expect(inForm({ headers: { 'X-B': 'b' } })).toMatchObject({
			headers: [{ name: 'X-B', value: 'b' }],
		});
		expect(inForm({ headers: { header: [null, { name: 'X-C' }, 'h'] } })).toMatchObject({
			headers: [{ name: 'X-C', value: '' }],
		});
		expect(inForm({ headers: { header: 'h' } })).toMatchObject({
			headers: [{ name: 'header', value: 'h' }],
		});
		expect(inForm({ headers: { header: [{ value: 'v' }] } })).toMatchObject({
			headers: [{ name: '', value: 'v' }],
		});
		expect(
			inForm({ headers: {}, all: 'false', documentId: { mode: 'list', value: null } }),
		).toMatchObject({
			headers: [],
			all: false,
			documentId: '',
		});
	});

	test('an object may hold pairs and attachments of its own', () => {
		expect(inObject({ headers: { 'X-A': 'a' } })).toMatchObject({
			headers: [{ name: 'X-A', value: 'a' }],
		});
		expect(inObject({ headers: {} })).toMatchObject({ headers: [] });
		const file = { fileName: 'a.txt', mimeType: 'text/plain', content: 'YQ==' };
		expect(inObject({ attachments: ['data', file] })).toMatchObject({
			attachments: [{ field: 'data' }, file],
		});
	});

	test.each<[string, object, string | RegExp]>([
		['nothing for a required field', { title: '  ' }, "'title' is required"],
		['a number for text', { title: 5 }, "'title' must be text, not a number"],
		[
			'text for a number',
			{ maxResults: '10' },
			"'maxResults' must be a whole number from 1 to 500, not text",
		],
		[
			'a fraction',
			{ maxResults: 1.5 },
			"'maxResults' must be a whole number from 1 to 500, not 1.5",
		],
		['zero', { maxResults: 0 }, "'maxResults' must be a whole number from 1 to 500, not 0"],
		[
			'a million',
			{ maxResults: 1e6 },
			"'maxResults' must be a whole number from 1 to 500, not 1000000",
		],
		['text for a boolean', { all: 'true' }, "'all' must be true or false, not text"],
		['another choice', { status: 'seen' }, "'status' must be one of: any, unread"],
		[
			'an object for a list',
			{ labels: {} },
			"'labels' must be an array, or text separated by commas or new lines",
		],
		[
			'rows that are not JSON',
			{ values: '[["secret cell"] 1]' },
			"'values' is not valid JSON (at position 17)",
		],
		[
			'rows that end too soon',
			{ values: '[["secret cell"' },
			/^'values' is not valid JSON( \(at position 15\))?$/,
		],
		[
			'rows that are objects',
			{ values: [{ a: 1 }] },
			'each an array of cells; row 1 is an object',
		],
		['a group of pairs', { headers: { header: [{}] } }, "'headers' must be text, not an array"],
		[
			'an attachment that is a number',
			{ attachments: [5] },
			'a list of binary fields, not a number',
		],
		...[{ fileName: 'a' }, { content: '' }, { fileName: 'a', content: '', mimeType: 5 }].map(
			(attachment): [string, object, string] => [
				`an attachment ${JSON.stringify(attachment)}`,
				{ attachments: [attachment] },
				'objects with fileName, mimeType and content (base64 text)',
			],
		),
		[
			'too short a time',
			{ seconds: 0.05 },
			"'seconds' must be a number of at least 0.1, not 0.05",
		],
		[
			'an endless time',
			{ seconds: Infinity },
			"'seconds' must be a number of at least 0.1, not Infinity",
		],
		['an order of half', { order: 0.5 }, "'order' must be a whole number, not 0.5"],
		[
			'one above the most',
			{ maxResults: 501 },
			"'maxResults' must be a whole number from 1 to 500, not 501",
		],
		[
			'rows that are no rows',
			{ values: [['a'], 'b'] },
			'each an array of cells; row 2 is text',
		],
		...[
			'soon',
			'2.11.2026',
			'02/11/2026',
			'2 November 2026',
			'Nov 2, 2026',
			'2026-02-30',
			'2026-01-31T25:00',
			'20260131',
			2026,
			20260131,
			20261231235959,
			-1,
			NaN,
			true,
			[2026],
			['2026-01-31'],
			{},
			new Date(NaN),
		].map((after): [string, object, string] => [
			`the time ${JSON.stringify(after)}`,
			{ after },
			"'after' must be a date and time",
		]),
		[
			'pairs as a list',
			{ headers: [['a', 'b']] },
			"'headers' must be an object with names and values, not an array",
		],
		[
			'an attachment with another key',
			{ attachments: [{ fileName: 'a', content: '', path: '/x' }] },
			"'path' is not allowed",
		],
		[
			'a locator’s object',
			{ documentId: { __rl: true, value: 'abc' } },
			"'documentId' must be text, not an object",
		],
		['an id that climbs', { messageId: '../x' }, "'messageId' is not an ID: ../x"],
		[
			'too long a request',
			{ timeoutSeconds: 4000 },
			"'timeoutSeconds' must be a whole number from 1 to 3600, not 4000",
		],
	])('an object with %s is refused', (_, given, message) => {
		expect(() => inObject(given)).toThrow(message);
	});

	test.each<[string, object, string]>([
		[
			'the name on the form',
			{ maxResults: 0 },
			"'Max Results' must be a whole number from 1 to 500, not 0",
		],
		[
			'a choice that was left behind',
			{ status: 'seen' },
			"'Status' must be one of: any, unread",
		],
		['an object in a text', { title: {} }, "'Title' must be text, not an object"],
		[
			'text in a number',
			{ maxResults: 'many' },
			"'Max Results' must be a whole number from 1 to 500, not text",
		],
		[
			'nothing in a number',
			{ maxResults: ' ' },
			"'Max Results' must be a whole number from 1 to 500, not text",
		],
		['a number in a switch', { all: 1 }, "'All' must be true or false, not a number"],
		['an object in a list of files', { attachments: [{ fileName: 'a' }] }, 'not an object'],
	])('the form is refused by %s', (_, given, message) => {
		expect(() => inForm(given)).toThrow(message);
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
		expect(descriptionOf(() => inForm({ title: '  ' }))).toContain(
			'Include Other Input Fields',
		);
		expect(descriptionOf(() => inObject({ maxResults: 0 }))).toBeUndefined();
	});

	test('the lowest and the highest value are taken', () => {
		expect(inObject({ maxResults: 1, seconds: 0.1 })).toMatchObject({
			maxResults: 1,
			seconds: 0.1,
		});
		expect(inObject({ maxResults: 500 })).toMatchObject({ maxResults: 500 });
	});

	describe('a required field', () => {
		const text = { type: 'string', default: '', required: true } as const;
		const all = [
			{ ...text, displayName: 'IDs', name: 'ids', format: 'list' },
			{ ...text, displayName: 'Body', name: 'body', requiredUnless: ['pairs'] },
			{ ...text, displayName: 'Pairs', name: 'pairs', required: false },
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

	test('a refusal never repeats what was given for a cell', () => {
		expect(() => inObject({ values: '[["secret cell"' })).not.toThrow(/secret/);
		expect(() => inObject({ values: '[["secret cell"' })).toThrow();
	});

	/** Lowest and highest value of each number field, without which a workflow could ask for what a service refuses. */
	const requests = { maxRetryWaitSeconds: '0–3600', timeoutSeconds: '1–3600' };
	const channel = { heartbeatSeconds: '0–3600' };

	test.each([
		[
			new Workspace(),
			{
				...requests,
				maxResults: '1–10000',
				headerRow: '1–',
				maxRows: '0–',
				startCharacter: '0–',
				startRow: '0–',
			},
		],
		[
			new AgentExecute(),
			{
				...requests,
				...channel,
				messageCount: '1–',
				parallelRequests: '1–100',
				silenceSeconds: '0.1–',
				timestamp: '–',
				waitTimeoutSeconds: '0.1–',
			},
		],
		[
			new AgentSessionTrigger(),
			{
				...channel,
				batchSize: '1–',
				batchWaitMilliseconds: '0–',
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
});
