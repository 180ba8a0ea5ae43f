import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import type { GoogleServer } from '../../../dev/google/server';
import { standardScopes } from '../../../dev/google/tokens';
import { Workspace } from '../../../nodes/Workspace/Workspace.node';
import { failureOf } from '../../createExecuteContext';
import { createNodeContext, runNode, token, type RunOptions } from '../runNode';
import { type Answer, json, startScriptedServer } from '../scriptedServer';
import { useGoogle } from '../standIn';
import { turns } from '../../turns';
import { countStoredResults } from '../../sharedState';

let google: GoogleServer;
useGoogle((server) => (google = server), { pathPrefix: '/gateway' });

const goOn: Partial<INode> = { onError: 'continueErrorOutput' };
const options = { timeLimits: { limits: { maxRetryWaitSeconds: 1 } } };
const sending = { resource: 'mail', operation: 'send', options };
const mail = { ...sending, to: 'a@b.c', subject: '={{ $json.n }}', body: 'B' };
const denied = 'The caller does not have permission';
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

	test('of another execution sends everything', async () => {
		google.fault({ match: send, nth: 2, status: 400 });
		await failureOf(run(mail, numbered(2), { node, executionId: 'e2' }));
		await run(mail, numbered(2), { node, executionId: 'e3' });
		expect(subjects()).toEqual(['0', '0', '1']);
		await run(mail, numbered(2), { node, executionId: 'e2' });
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

test('items that only read are processed five at a time, and keep their order', async () => {
	const held: Array<() => void> = [];
	/** Answers when nothing more has come for a while, so that all are in flight that may be. */
	const slow: Answer = (response, request) => {
		const documentId = /documents\/([^?]+)/.exec(request.url)?.[1];
		const count = held.push(() => {
			json({ documentId })(response, request);
		});
		void turns(100).then(() => {
			if (held.length === count) for (const answer of held.splice(0)) answer();
		});
	};
	const server = await startScriptedServer(slow);
	const ids = Array.from({ length: 30 }, (_, n) => `document${n}`);
	const read = { resource: 'document', operation: 'read', documentId: '={{ $json.id }}' };
	const parameters = { ...read, format: 'structure' };
	try {
		const given = ids.map((id) => ({ json: { id } }));
		const items = await runNode({ url: server.url, parameters, items: given });
		expect(items.map(({ json: one }) => one['documentId'])).toEqual(ids);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(ids.map((_, item) => ({ item })));
		// The gate begins with five and would let more through after these.
		expect(server.mostAtOnce).toBe(5);
	} finally {
		await server.close();
	}
});

test.each(['text', 'structure'])(
	'what was chosen from a list and is gone since is named, read as %s',
	async (format) => {
		const documentId = google.docs.seed({ title: 'D' });
		const tab = { __rl: true, mode: 'list', value: 't.gone', cachedResultName: 'US$$' };
		const read = { resource: 'document', operation: 'read', documentId, format };
		const error = await failureOf(run({ ...read, options: { tab } }));
		expect(error.message).toBe("The document has no tab 'US$$' (t.gone)");
	},
);

describe('an input object', () => {
	const draftsOnly = ['mail.sendDraft'];
	const object = { operation: 'send', to: 'a@example.com', subject: 'S', body: 'B' };
	const runObject = (inputObject: string, allowedOperations: string[], json = {}) =>
		run({ inputMode: 'json', inputObject, allowedOperations }, [{ json }]);

	test('from a webhook does only what the node allows', async () => {
		const search = { operation: 'search', query: 'password' };
		const body = { ...search, allowedOperations: ['mail.search'] };
		const running = runObject('={{ $json.body }}', ['spreadsheet.append'], { body });
		const error = await failureOf(running);
		expect(error.httpCode).toBe('400');
		expect(error.message).toBe("'search' of mail is not allowed here");
		expect(error.description).toContain('Spreadsheet: Append');
		expect(google.requests).toEqual([]);
	});

	test.each([{}, { saveAsDraft: false }, { saveAsDraft: null }])(
		'cannot send where the node allows drafts only: %j',
		async (given) => {
			const running = runObject(JSON.stringify({ ...object, ...given }), draftsOnly);
			const error = await failureOf(running);
			const message = "'send' of mail is not allowed here without 'saveAsDraft': true";
			expect([error.httpCode, error.message]).toEqual(['400', message]);
			expect(google.requests).toEqual([]);
		},
	);

	test('saves a draft where the node allows drafts only, and nothing else', async () => {
		google.tokens.issue({ token, scopes: [...standardScopes, 'gmail.compose'] });
		await runObject(JSON.stringify({ ...object, saveAsDraft: true }), draftsOnly);
		expect([google.gmail.drafts.length, google.gmail.sent]).toEqual([1, []]);
		const error = await failureOf(runObject('{"operation":"list"}', draftsOnly));
		expect(error.description).toBe(
			"Nothing was sent. 'Allowed Operations' of the node has only: Mail: Send, Drafts Only.",
		);
	});
});

describe('before anything is sent', () => {
	test('n8n’s Custom API Call is explained', async () => {
		for (const key of ['resource', 'operation']) {
			const error = await failureOf(run({ ...mail, [key]: '__CUSTOM_API_CALL__' }));
			expect(error.message).toBe("This node does not support 'Custom API Call'");
		}
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

test('a hint about what an item has done is not shown if the item fails', async () => {
	google.fault({ match: 'drive.files.generateIds', status: 403 });
	const empty = { resource: 'file', operation: 'upload', contentSource: 'text', name: 'a' };
	const { url } = google;
	const context = createNodeContext({ url, parameters: empty, items: numbered(1), node: goOn });
	const [[item] = []] = await new Workspace().execute.call(context);
	expect(item?.json['error']).toMatchObject({ code: 403 });
	expect(context.hints).toEqual([]);
});

describe('items that differ only', () => {
	/** The column that appends of these cells fill. */
	const appended = async (...cells: unknown[]) => {
		const [made] = await run({ resource: 'spreadsheet', operation: 'create', title: 'S' });
		const spreadsheetId = made?.json['spreadsheetId'] as string;
		const target = { operation: 'append', spreadsheetId, range: 'Sheet1!A1' };
		await run(
			{ inputMode: 'json', inputObject: '={{ $json.work }}' },
			cells.map((cell) => ({
				json: { work: JSON.stringify({ ...target, values: [[cell]] }) },
			})),
		);
		return google.sheets.values(spreadsheetId, 'Sheet1');
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
