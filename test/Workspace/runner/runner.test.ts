import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import type { GoogleServer } from '../../../dev/google/server';
import { append } from '../../../nodes/Workspace/actions/spreadsheet/append.operation';
import type { Operation } from '../../../nodes/Workspace/operation';
import { Workspace } from '../../../nodes/Workspace/Workspace.node';
import { failureOf } from '../../createExecuteContext';

import { createNodeContext, runNode, type RunOptions } from '../runNode';
import { useGoogle } from '../standIn';
import { countStoredResults } from '../../sharedState';

let google: GoogleServer;
useGoogle((server) => (google = server), { pathPrefix: '/gateway' });

const goOn: Partial<INode> = { onError: 'continueErrorOutput' };
const options = { timeLimits: { limits: { maxRetryWaitSeconds: 1 } } };
const sending = { resource: 'mail', operation: 'send', options };
const mail = { ...sending, to: 'a@b.c', subject: '={{ $json.n }}', body: 'B' };
const denied = 'The caller does not have permission';
const batchUpdate = 'sheets.spreadsheets.batchUpdate';
const numbered = (count: number): INodeExecutionData[] =>
	Array.from({ length: count }, (_, n) => ({ json: { n } }));

async function run(
	parameters: IDataObject,
	items?: INodeExecutionData[],
	more: Partial<RunOptions> = {},
) {
	return await runNode({ url: google.url, parameters, items, ...more });
}

const subjects = () =>
	google.gmail.sent.map(({ raw }) => /^Subject: (.*?)\r$/m.exec(raw.toString('utf8'))?.[1]);
const send = 'gmail.users.messages.send';
/** All but the look for the sender's name. */
const methods = () =>
	google.requests
		.map(({ method }) => method)
		.filter((method) => method !== 'gmail.users.settings.sendAs.list');

describe('what is sent', () => {
	test('goes out in the order of the items, one at a time', async () => {
		const items = await run(mail, numbered(3));
		expect(subjects()).toEqual(['0', '1', '2']);
		const paired = items.map(({ pairedItem }) => pairedItem);
		expect(paired).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	});

	test('is no success without a result', async () => {
		const { combine } = append as Operation;
		if (!combine) throw new Error('Append sends items together');
		const plan = jest.spyOn(combine, 'plan').mockResolvedValue([{}, {}]);
		const send = jest.spyOn(combine, 'send').mockResolvedValue([]);
		const rows = { valuesSource: 'json', values: '[[1]]', options: { range: 'A1' } };
		const target = { resource: 'spreadsheet', operation: 'append', spreadsheetId: 'a' };
		const items = await run({ ...target, ...rows }, numbered(2), { node: goOn });
		plan.mockRestore();
		send.mockRestore();
		const message = 'The operation returned no result';
		const error = { code: 500, status: 'INTERNAL', message };
		expect(items.map(({ json }) => json)).toEqual([{ error }, { error }]);
	});

	test('stops at the first failure, with the item’s number', async () => {
		google.fault({ match: send, nth: 2, status: 400, message: 'Invalid To header' });
		const error = await failureOf(run(mail, numbered(4)));
		expect(error).toMatchObject({
			message: 'Gmail: Invalid To header',
			httpCode: '400',
			context: { itemIndex: 1 },
		});
		expect(subjects()).toEqual(['0']);
		expect(methods()).toEqual([send, send]);
	});

	test('goes on behind a failure with Continue on Fail', async () => {
		const forbidden = { status: 403, reason: 'forbidden', message: 'Delegation denied' };
		google.fault({ match: send, nth: 2, ...forbidden });
		const items = await run(mail, numbered(3), { node: goOn });
		expect(subjects()).toEqual(['0', '2']);
		const message = expect.stringMatching(
			/^Gmail: Delegation denied\. This account doesn't have permission/,
		) as string;
		const error = { code: 403, message, status: 'PERMISSION_DENIED' };
		expect(items[1]).toEqual({ json: { error }, pairedItem: { item: 1 } });
		expect(items).toHaveLength(3);
	});

	test('is nothing at all when any item is wrong and the node stops for it', async () => {
		const wrong = [...numbered(2), { json: { n: 'a\nb' } }, { json: {} }];
		const to = '={{ $json.n ? "" : "a@b.c" }}';
		await failureOf(run({ ...mail, subject: '={{ $json.n.toString() }}', to }, wrong));
		expect(google.requests).toHaveLength(0);
	});
});

describe('Retry On Fail', () => {
	const node: Partial<INode> = { retryOnFail: true, maxTries: 3 };

	test('sends again only what did not go out', async () => {
		google.fault({ match: send, nth: 3, status: 400, message: 'Invalid To header' });
		await failureOf(run(mail, numbered(4), { node, executionId: 'e1' }));
		const items = await run(mail, numbered(4), { node, executionId: 'e1' });
		expect(subjects()).toEqual(['0', '1', '2', '3']);
		expect(items).toHaveLength(4);
		expect(items[0]?.json['id']).toBe(google.gmail.sent[0]?.id);
		expect(countStoredResults()).toBe(0);
	});

	test('does not send again what may have gone out', async () => {
		google.fault({ match: send, connection: 'resetBefore' });
		const first = await failureOf(run(mail, numbered(1), { node, executionId: 'e4' }));
		const second = await failureOf(run(mail, numbered(1), { node, executionId: 'e4' }));
		expect(second.message).toBe(first.message);
		expect(google.requests.filter(({ method }) => method === send)).toHaveLength(1);
		await failureOf(run(mail, numbered(1), { node, executionId: 'e4' }));
		expect(countStoredResults()).toBe(0);
	});

	test('of another execution sends everything', async () => {
		google.fault({ match: send, nth: 2, status: 400 });
		await failureOf(run(mail, numbered(2), { node, executionId: 'e2' }));
		await run(mail, numbered(2), { node, executionId: 'e3' });
		expect(subjects()).toEqual(['0', '0', '1']);
		await run(mail, numbered(2), { node, executionId: 'e2' });
	});
});

describe('an ambiguous failure', () => {
	test('is a success where the operation finds its work done', async () => {
		google.fault({ match: send, connection: 'resetAfter' });
		const [item] = await run(mail, numbered(1));
		expect(item?.json['id']).toBe(google.gmail.sent[0]?.id);
		expect(subjects()).toHaveLength(1);
	});

	test('with Continue on Fail is an error item where nothing is known', async () => {
		google.gmail.indexDelayMilliseconds = 600_000;
		google.fault({ match: send, connection: 'resetAfter' });
		const items = await run(mail, numbered(2), { node: goOn });
		expect(items[0]?.json['error']).toMatchObject({ code: 503, status: 'UNAVAILABLE' });
		expect(subjects()).toEqual(['0', '1']);
	});
});

test('what was made before a failure is named', async () => {
	google.fault({ match: 'docs.documents.batchUpdate', status: 403, message: denied });
	const parameters = { resource: 'document', operation: 'create', title: 'T', content: 'text' };
	const error = await failureOf(run(parameters));
	expect(error.message).toBe('Google Docs: The caller does not have permission');
	expect(error.description).toMatch(
		/The document https:\/\/docs\.google\.com\/document\/d\/[\w-]+\/edit\S* was already created\.$/,
	);
});

test.each([
	['document', { content: 'text' }, {}, 'docs.documents.batchUpdate'],
	['spreadsheet', {}, { sheets: 'A' }, 'sheets.spreadsheets.batchUpdate'],
])(
	'so is a %s with a key that was found after no answer came',
	async (resource, given, more, match) => {
		const unfinished = { match, status: 403, message: denied };
		const keyed = { ...more, idempotencyKey: 'k', ...options };
		const parameters = { resource, operation: 'create', title: 'T', ...given, options: keyed };
		google.fault({ match: 'drive.files.create', connection: 'resetAfter' });
		google.fault(unfinished);
		const error = await failureOf(run(parameters));
		expect(error.message).toMatch(/: The caller does not have permission$/);
		const made = new RegExp(`The ${resource} https:.* was already created\\.$`);
		expect(error.description).toMatch(made);
		// A later execution goes on with it.
		google.fault(unfinished);
		const later = await failureOf(run(parameters, undefined, { executionId: 'later' }));
		expect(later.description).toBe(error.description);
	},
);

test('items with the same target go out together, the wrong one apart from the others', async () => {
	const [made] = await run({ resource: 'spreadsheet', operation: 'create', title: 'S' });
	const append = {
		resource: 'spreadsheet',
		operation: 'append',
		spreadsheetId: { __rl: true, mode: 'id', value: made?.json['spreadsheetId'] },
		valuesSource: 'json',
		values: '={{ $json.rows }}',
		options: { ...options, range: 'Sheet1' },
	};
	const rows = [[['a', 1]], [], [['c'], ['d']]];
	const given = rows.map((values) => ({ json: { rows: values } }));
	const items = await run(append, given, { node: goOn });
	expect(methods().filter((method) => method === batchUpdate)).toHaveLength(1);
	const written = items.map(({ json, pairedItem }) => [
		json['updatedRows'] ?? 'error',
		pairedItem,
	]);
	expect(written).toEqual([
		[1, { item: 0 }],
		['error', { item: 1 }],
		[2, { item: 2 }],
	]);
});

describe('reads', () => {
	test('go on side by side, at most five, and keep the order of the items', async () => {
		const ids: string[] = [];
		const titles = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
		for (const title of titles) {
			const [made] = await run({ resource: 'document', operation: 'create', title });
			ids.push(made?.json['documentId'] as string);
		}
		google.latencyMilliseconds = 30;
		const read = { resource: 'document', operation: 'read', documentId: '={{ $json.id }}' };
		const given = ids.map((id) => ({ json: { id } }));
		const items = await run(read, given);
		google.latencyMilliseconds = 0;
		expect(items.map(({ json }) => json['title'])).toEqual(titles);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(ids.map((_, item) => ({ item })));
	});
});

describe('before anything is sent', () => {
	test('n8n’s Custom API Call is explained', async () => {
		for (const key of ['resource', 'operation']) {
			const error = await failureOf(run({ ...mail, [key]: '__CUSTOM_API_CALL__' }));
			expect(error.message).toBe("This node does not support 'Custom API Call'");
		}
	});

	test('a missing binary field is named, with those that exist', async () => {
		const binary = { report: { data: 'YQ==', mimeType: 'text/plain' } };
		const upload = { resource: 'file', operation: 'upload', name: 'a.txt', options };
		const named = { ...upload, binaryPropertyName: 'data' };
		const error = await failureOf(run(named, [{ json: {}, binary }]));
		const message = "The item has no binary field 'data'";
		expect(error).toMatchObject({ message, httpCode: '400' });
		expect(error.description).toBe(
			"Its binary fields are: 'report' (no name). Enter one of them in 'Files', or * for all. 'Only Files Named' must allow the name of the file.",
		);
		expect(google.requests).toHaveLength(0);
	});

	test('a base that is no address is refused', async () => {
		const credential = { mailApiBase: 'gmail' };
		const error = await failureOf(run(mail, numbered(1), { credential }));
		expect(error.message).toBe("'Mail API Base' in the credential is not a valid API URL");
	});

	test('a credential that is not set is an error of the item', async () => {
		const [item] = await run(mail, numbered(1), { node: { ...goOn, credentials: undefined } });
		const message = 'Node does not have any credentials set';
		expect(item?.json['error']).toMatchObject({ code: 400, message });
	});
});

test('a stopped execution sends nothing more', async () => {
	const stop = new AbortController();
	google.fault({ match: send, connection: 'blackHole' });
	const running = failureOf(run(mail, numbered(3), { node: goOn, signal: stop.signal }));
	while (methods().length === 0) await new Promise((resolve) => setImmediate(resolve));
	stop.abort();
	await running.catch(() => undefined);
	expect(methods()).toEqual([send]);
});

test('binary results are stored by n8n, and no input gives no output', async () => {
	const data = Buffer.from('hello').toString('base64');
	const binary = { data: { data, mimeType: 'text/plain', fileName: 'a.txt' } };
	const given = [{ json: {}, binary }];
	const [sent] = await run({ ...mail, subject: 'S', attachments: 'data' }, given);
	const read = { resource: 'mail', operation: 'read', messageId: '={{ $json.id }}' };
	const parameters = { ...read, options: { downloadAttachments: true } };
	const [item] = await run(parameters, [{ json: { id: sent?.json['id'] } }]);
	expect(item?.binary?.['attachment_0']).toMatchObject(binary.data);
	expect(await run(mail, [])).toEqual([]);
});

test('a hint is shown once, however many items say it', async () => {
	const replyToMessageId = google.gmail.seed({ subject: 'First' });
	const reply = { ...mail, email: 'reply', subject: 'Other', replyToMessageId };
	const context = createNodeContext({ url: google.url, parameters: reply, items: numbered(2) });
	await new Workspace().execute.call(context);
	expect(context.hints).toHaveLength(1);
});

/** A new spreadsheet, and input objects that append a cell to it or read its column. */
async function makeBook() {
	const [made] = await run({ resource: 'spreadsheet', operation: 'create', title: 'S' });
	const spreadsheetId = made?.json['spreadsheetId'];
	const target = { operation: 'append', spreadsheetId, range: 'Sheet1!A1' };
	const append = (cell: unknown) => ({ ...target, values: [[cell]] });
	const read = { operation: 'read', spreadsheetId, range: 'Sheet1!A1:A9' };
	return { append, read };
}

const runObjects = (...objects: object[]) =>
	run(
		{ inputMode: 'json', inputObject: '={{ $json.work }}' },
		objects.map((object) => ({ json: { work: JSON.stringify(object) } })),
	);

describe('items that differ only', () => {
	const appended = async (...given: unknown[]) => {
		const { append, read } = await makeBook();
		await runObjects(...given.map(append));
		const [item] = await runObjects(read);
		return item?.json['values'];
	};

	test('in the order of an object’s keys keep their own texts', async () => {
		expect(await appended({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([
			['{"a":1,"b":2}'],
			['{"b":2,"a":1}'],
		]);
	});

	test('deep inside are written, however deep', async () => {
		const deep = (leaf: number) =>
			Array.from({ length: 1500 }).reduce<unknown>((inner) => ({ a: inner }), leaf);
		const texts = [deep(1), deep(2)].map((value) => [JSON.stringify(value)]);
		expect(await appended(deep(1), deep(2))).toEqual(texts);
	});
});

test('rows that go out together do not overtake what stands between them', async () => {
	const { append, read } = await makeBook();
	const output = await runObjects(append('one'), read, read, append('two'), read);
	const values = output.map(({ json }) => json['values']);
	expect(values.slice(1, 3)).toEqual([[['one']], [['one']]]);
	expect(values[4]).toEqual([['one'], ['two']]);
	expect(methods().filter((method) => method === batchUpdate)).toHaveLength(2);
});
