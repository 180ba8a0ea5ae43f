// When one item stops the node, the error says what the others have done: a second run would do it again.
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { GoogleServer } from '../../../dev/google/server';
import { standardScopes } from '../../../dev/google/tokens';
import { resources } from '../../../nodes/Workspace/resources';
import { failureOf } from '../../createExecuteContext';
import { runNode, token } from '../runNode';
import { useGoogle } from '../standIn';

let google: GoogleServer;
useGoogle((server) => (google = server));

const numbered = (count: number): INodeExecutionData[] =>
	Array.from({ length: count }, (_, n) => ({ json: { n } }));

const run = async (parameters: IDataObject, items: INodeExecutionData[], node = {}) =>
	await runNode({ url: google.url, parameters, items, node });

/** Runs the node with an input object for each item. */
const runObjects = async (...objects: IDataObject[]) =>
	await run(
		{ inputMode: 'json', inputObject: '={{ $json }}' },
		objects.map((json) => ({ json })),
	);

const mail = {
	...{ resource: 'mail', operation: 'send' },
	...{ to: 'a@b.c', subject: '={{ $json.n }}', body: 'B' },
};
const upload = {
	...{ resource: 'file', operation: 'upload', contentSource: 'text' },
	...{ content: '={{ "Text " + $json.n }}', name: '={{ $json.n }}.txt' },
};

test('of five emails two are out when Gmail refuses the third: the error names them and says how to go on', async () => {
	google.fault({ match: 'gmail.users.messages.send', status: 400, nth: 3 });
	const failure = await failureOf(run(mail, numbered(5)));
	const [first, second, ...more] = google.gmail.sent;
	expect(more).toEqual([]);
	expect(failure.context.itemIndex).toBe(2);
	expect(failure.description).toContain(
		`Already done, of 5 items (n8n counts from 0): item 0: email ${first?.id}; item 1: email ${second?.id}.`,
	);
	expect(failure.description).toMatch(/done a second time: remove them from its input first/);
	expect(failure.description).toContain("With 'Idempotency Key', an item is done once");
	expect(failure.description).toMatch(/set On Error to Continue/);
	expect(failure.context.data).toEqual({
		done: [
			{ item: 0, result: `email ${first?.id}` },
			{ item: 1, result: `email ${second?.id}` },
		],
	});
});

test.each([
	['upload', { ...upload, contentSource: 'binary', binaryPropertyName: 'data' }],
	['email', { ...mail, attachments: 'data' }],
])('of five items of which two have a file nothing is done: %s', async (_what, parameters) => {
	const data = { data: Buffer.from('x').toString('base64'), mimeType: 'text/plain' };
	const items = numbered(5).map((item, n) => (n < 2 ? { ...item, binary: { data } } : item));
	const failure = await failureOf(run(parameters, items));
	expect(failure.message).toBe("The item has no binary field 'data'");
	expect(failure.context.itemIndex).toBe(2);
	expect(google.requests).toEqual([]);
});

test('a failure before anything was done says nothing of other items', async () => {
	google.fault({ match: 'gmail.users.messages.send', status: 400 });
	const failure = await failureOf(run(mail, numbered(2)));
	expect(failure.description).not.toMatch(/Already done|second time/);
	expect(failure.context.data).toBeUndefined();
});

test('with a key for each item it is safe to run the node again', async () => {
	google.fault({ match: 'gmail.users.messages.send', status: 400, nth: 2 });
	const keyed = { ...mail, options: { idempotencyKey: '={{ "done-" + $json.n }}' } };
	const failure = await failureOf(run(keyed, numbered(2)));
	expect(failure.description).toMatch(
		/Already done, of 2 items .*It is safe to run the node again/,
	);
	expect(failure.description).not.toContain('second time');
	await run(keyed, numbered(2));
	expect(google.gmail.sent).toHaveLength(2);
});

test('what an earlier try of Retry On Fail did is named by the last one', async () => {
	google.fault({ match: 'gmail.users.messages.send', status: 400, nth: 2, times: 2 });
	const node = { id: 'tries', retryOnFail: true, maxTries: 2 };
	await failureOf(run(mail, numbered(2), node));
	const failure = await failureOf(run(mail, numbered(2), node));
	expect(google.gmail.sent).toHaveLength(1);
	expect(failure.description).toContain(`item 0: email ${google.gmail.sent[0]?.id}.`);
});

test('of many items the first are named, and all of them in the details', async () => {
	google.fault({ match: 'drive.files.create', status: 403, nth: 13 });
	const failure = await failureOf(run(upload, numbered(14)));
	expect(failure.description).toMatch(
		/Already done, of 14 items \(n8n counts from 0\): item 0: .*; item 9: [^;]*; the details of this error name the others\./,
	);
	expect((failure.context.data as { done: unknown[] }).done).toHaveLength(12);
});

test('items that run side by side are told, too: what is done, and what may be', async () => {
	const [lost = '', other] = ['A', 'B'].map((title) => google.docs.seed({ title }));
	google.fault({
		match: ({ method, path }) => method === 'docs.documents.batchUpdate' && path.includes(lost),
		connection: 'resetAfter',
	});
	// After the first reading, so that nobody can look whether the text is there.
	google.fault({
		match: ({ method, path }) => method === 'docs.documents.get' && path.includes(lost),
		status: 403,
		nth: 2,
		times: 100,
	});
	const append = { resource: 'document', operation: 'append', content: 'Text' };
	const objects = ['unknown', lost, other].map((documentId) => ({ ...append, documentId }));
	const failure = await failureOf(runObjects(...objects));
	expect(failure.context.itemIndex).toBe(0);
	expect(failure.description).toMatch(
		/Already done, of 3 items .*item 2: 4 characters in document /,
	);
	expect(failure.description).toMatch(
		/Item 1 failed too, and may be done in part: The content may have been written: /,
	);
});

test('what is done is harmless, but it is not called safe to repeat what may be done', async () => {
	const spreadsheetId = google.sheets.seed({ title: 'T' });
	const documentId = google.docs.seed({ title: 'A' });
	google.fault({ match: 'docs.documents.batchUpdate', connection: 'resetAfter' });
	// After the first reading, so that nobody can look whether the text is there.
	google.fault({ match: 'docs.documents.get', status: 403, nth: 2, times: 100 });
	const failure = await failureOf(
		runObjects(
			{ operation: 'write', spreadsheetId, range: 'Sheet1!A1:A2', values: [['x']] },
			{ resource: 'document', operation: 'append', content: 'Text', documentId },
		),
	);
	expect(failure.message).toMatch(/^The content may have been written/);
	expect(failure.description).toMatch(
		/item 0: rows Sheet1!A1\. If the node runs again, these items are not done a second time\.$/,
	);
});

type Prepared = readonly [good: IDataObject, fails: IDataObject, names: RegExp];

function ofBook(rows: IDataObject): Prepared {
	const spreadsheetId = google.sheets.seed({ title: 'T' });
	return [{ ...rows, spreadsheetId }, { spreadsheetId: 'unknown' }, /rows Sheet1!A1\./];
}

function ofDocument(): Prepared {
	const documentId = google.docs.seed({ title: 'T' });
	const names = /4 characters in document [\w-]+\./;
	return [{ content: 'Text', documentId }, { documentId: 'unknown' }, names];
}

const text = { contentSource: 'text', content: 'x' };
const nowhere = { parentFolder: 'unknown' };

/** For each operation that changes something: what it needs, and what makes it fail only when it has begun. */
const operations: Record<string, () => Prepared> = {
	'mail send': () => [
		{ to: 'a@b.c', subject: 'S', body: 'B' },
		{ replyToMessageId: '18c0ffee' },
		/email \w+\./,
	],
	'file upload': () => [{ ...text, name: 'a.txt' }, nowhere, /file a\.txt \(ID [\w-]+\)\./],
	'spreadsheet create': () => [{ title: 'T' }, nowhere, /spreadsheet T \(https:\S+\)\./],
	'document create': () => [{ title: 'T' }, nowhere, /document T \(https:\S+\)\./],
	'spreadsheet append': () => ofBook({ range: 'Sheet1!A:A', values: [['x']] }),
	'spreadsheet write': () => ofBook({ range: 'Sheet1!A1:A2', values: [['x']] }),
	'document append': ofDocument,
	'document write': ofDocument,
};

const changing = resources.flatMap(({ value, operations: all }) =>
	all
		.filter((operation) => !operation.mayChange)
		.map((operation) => [value, operation.value] as const),
);

test.each(changing)(
	'%s %s: what the first item left is named where the second one fails',
	async (resource, operation) => {
		const prepared = operations[`${resource} ${operation}`];
		if (!prepared) throw new Error('Nothing here says how this operation begins and fails');
		const [good, fails, names] = prepared();
		const first = { resource, operation, ...good };
		const failure = await failureOf(runObjects(first, { ...first, ...fails }));
		expect(failure.context.itemIndex).toBe(1);
		expect(failure.description).toMatch(
			/Already done, of 2 items \(n8n counts from 0\): item 0: /,
		);
		expect(failure.description).toMatch(names);
		const isSafe = operation === 'write';
		expect(failure.description?.includes('It is safe to run the node again')).toBe(isSafe);
	},
);

test('emails that were marked as read, and that no workflow got, are named', async () => {
	const buildMail = (name: string) => ({
		from: `${name}@example.com`,
		labelIds: ['INBOX', 'UNREAD'],
	});
	google.tokens.issue({ token, scopes: [...standardScopes, 'gmail.modify'] });
	const id = google.gmail.seed(buildMail('ann'));
	google.gmail.seed(buildMail('ben'));
	google.fault({ match: 'gmail.users.messages.list', nth: 2, status: 403 });
	const list = {
		...{ resource: 'mail', operation: 'list', from: '={{ $json.from }}', status: 'unread' },
		afterReading: { markAsRead: true },
	};
	const items = ['ann', 'ben'].map((from) => ({ json: { from } }));
	const failure = await failureOf(run(list, items));
	expect(failure.description).toContain(
		`item 0: labels changed, so that the next run may miss the emails ${id}.`,
	);
});

test('what is the same of many items is told once, with what to do', async () => {
	const tabs = [
		{ title: 'Other', rows: [['n']] },
		{ title: 'Sheet1', rows: [['n']] },
	];
	const spreadsheetId = google.sheets.seed({ title: 'Book', tabs });
	google.fault({ match: 'sheets.spreadsheets.batchUpdate', connection: 'resetAfter', nth: 2 });
	const append = { operation: 'append', spreadsheetId };
	const rows = Array.from({ length: 51 }, (_, n) => ({
		...append,
		tab: n === 0 ? 'Other' : 'Sheet1',
		values: [{ n }],
	}));
	const { description = '' } = await failureOf(runObjects(...rows));
	expect(description).toMatch(/remove them from its input first/);
	expect(description).toMatch(/Item 2 and 48 more failed too, and may be done in part/);
});

test('a done item of a thousand rows is named in a few words', async () => {
	const tabs = [{ title: 'Sheet1', rows: [['n']] }];
	const spreadsheetId = google.sheets.seed({ title: 'Book', tabs });
	const write = { operation: 'write', tab: 'Sheet1', matchColumns: 'n' };
	const values = Array.from({ length: 1000 }, (_, n) => ({ n }));
	const failure = await failureOf(
		runObjects(
			{ ...write, spreadsheetId, values },
			{ ...write, spreadsheetId: 'unknown', values: [{ n: 1 }] },
		),
	);
	expect(failure.description).toMatch(
		/item 0: rows .{100,200}…\. It is safe to run the node again/,
	);
});

test('a retry that is stopped while its items are checked still names what the first try did', async () => {
	google.fault({ match: 'gmail.users.messages.send', status: 400, nth: 2 });
	const node = { id: 'stopped', retryOnFail: true, maxTries: 2 };
	await failureOf(run(mail, numbered(3), node));
	// Each look at the clock is 100 ms later, so the check pauses after each item.
	let now = 0;
	jest.spyOn(performance, 'now').mockImplementation(() => (now += 100));
	const signal = AbortSignal.abort();
	const failure = await failureOf(
		runNode({ url: google.url, parameters: mail, items: numbered(3), node, signal }),
	);
	jest.restoreAllMocks();
	expect(failure.description).toContain('Already done');
});
