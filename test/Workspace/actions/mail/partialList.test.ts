import type { IDataObject } from 'n8n-workflow';
import { failureOf } from '../../../createExecuteContext';
import { standardScopes } from '../../../../dev/google/tokens';
import { Mails } from './mails';
import { listEmails } from '../../../../nodes/Workspace/actions/mail/list/listEmails';
import { testClients, testItem } from '../../client';
import { token } from '../../runNode';

const mails = new Mails();
const goesOn = { onError: 'continueRegularOutput' } as const;
const onErrorOutput = { onError: 'continueErrorOutput' } as const;

function seed(count: number): string[] {
	const ids = Array.from({ length: count }, (_, number) =>
		mails.google.gmail.seed({
			subject: `mail ${number}`,
			date: new Date(Date.UTC(2026, 0, 1, 0, number)),
		}),
	);
	return ids.reverse();
}

let refusing = true;
beforeEach(() => {
	refusing = true;
});

/** From the `nth` detail on, whatever is asked is refused for quota, asking for a longer wait than the options allow. */
function refuseDetailsFrom(nth: number, message = 'Quota exceeded'): void {
	mails.google.fault({
		match: ({ method }) => refusing && method === 'gmail.users.messages.get',
		nth,
		times: 10_000,
		status: 429,
		retryAfter: 55,
		message,
	});
}

const ids = (items: ReadonlyArray<{ json: IDataObject }>) => items.map(({ json }) => json['id']);

/** What follows nextPageToken to the end gives. */
async function restFrom(pageToken: string): Promise<unknown[]> {
	const rest: unknown[] = [];
	for (let next: string | undefined = pageToken; next !== undefined;) {
		const [page] = await mails.run(
			'list',
			{ maxResults: 500 },
			{ output: 'page', pageToken: next },
		);
		const { messages, nextPageToken } = page?.json as {
			messages: IDataObject[];
			nextPageToken?: string;
		};
		rest.push(...messages.map(({ id }) => id));
		next = nextPageToken;
	}
	return rest;
}

test.each([goesOn, onErrorOutput])(
	'a quota that ends midway: what was got comes out, then where to go on (%j)',
	async (node) => {
		const all = seed(260);
		refuseDetailsFrom(231);
		const items = await mails.run('list', { returnAll: true }, {}, undefined, node);
		const last = items.at(-1);
		const got = ids(items.slice(0, -1));
		expect(got.length).toBeGreaterThanOrEqual(211);
		expect(got).toEqual(all.slice(0, got.length));
		expect(Object.keys(last?.json ?? {})).toEqual(['error']);
		expect(last).toEqual({
			json: {
				error: {
					code: 429,
					status: 'RESOURCE_EXHAUSTED',
					message: expect.any(String) as unknown,
					details: {
						returned: got.length,
						nextPageToken: expect.stringMatching(`^${got.length - 200}@`) as unknown,
					},
				},
			},
			pairedItem: { item: 0 },
		});
		refusing = false;
		const { details } = last?.json['error'] as { details: { nextPageToken: string } };
		const rest = await restFrom(details.nextPageToken);
		expect([...got, ...rest]).toEqual(all);
	},
);

test('of emails that were marked as read, no place to continue is named, because they are gone from the list', async () => {
	mails.signIn([...standardScopes, 'gmail.modify']);
	const all = seed(160);
	mails.google.fault({
		match: ({ method }) => refusing && method === 'gmail.users.messages.get',
		nth: 131,
		times: 10_000,
		status: 400,
	});
	const list = async () =>
		await mails.run(
			'list',
			{ status: 'unread', returnAll: true },
			{ markAsRead: true },
			undefined,
			goesOn,
		);
	const items = await list();
	const got = ids(items.slice(0, -1));
	expect(got.length).toBeGreaterThanOrEqual(100);
	expect(items.at(-1)?.json['error']).toMatchObject({ details: { returned: got.length } });
	expect(JSON.stringify(items.at(-1))).not.toContain('nextPageToken');
	refusing = false;
	expect([...got, ...ids(await list())]).toEqual(all);
});

test('a page that is refused itself: the token is that of the page', async () => {
	const all = seed(150);
	mails.google.fault({
		match: ({ method, query }) =>
			method === 'gmail.users.messages.list' && query.has('pageToken'),
		times: 100,
		status: 503,
	});
	const items = await mails.run(
		'list',
		{ returnAll: true },
		{ timeLimits: { limits: { maxRetryWaitSeconds: 0 } } },
		undefined,
		goesOn,
	);
	expect(ids(items.slice(0, -1))).toEqual(all.slice(0, 100));
	expect(items.at(-1)?.json).toMatchObject({
		error: {
			code: 503,
			details: { returned: 100, nextPageToken: expect.not.stringContaining('@') as unknown },
		},
	});
});

test('ids alone: the pages before are kept', async () => {
	const all = seed(620);
	mails.google.fault({
		match: 'gmail.users.messages.list',
		nth: 2,
		times: 100,
		status: 429,
		retryAfter: 55,
	});
	const list = { operation: 'list', output: 'items', returnAll: true, details: false };
	const waits = { maxRetryWaitSeconds: 1 };
	const items = await mails.json({ ...list, ...waits }, undefined, {}, goesOn);
	expect(ids(items.slice(0, -1))).toEqual(all.slice(0, 500));
});

test('in the first page, too, the list goes on after what was got', async () => {
	const all = seed(40);
	refuseDetailsFrom(21);
	const items = await mails.run('list', { returnAll: true }, {}, undefined, goesOn);
	expect(items.length).toBeGreaterThan(2);
	const { error } = items.at(-1)?.json as { error: { details: IDataObject } };
	const got = ids(items.slice(0, -1));
	expect(error.details).toEqual({ returned: got.length, nextPageToken: `${got.length}@` });
	refusing = false;
	expect([...got, ...(await restFrom(`${got.length}@`))]).toEqual(all);
});

test('a list that went on and fails again counts what it left out', async () => {
	const all = seed(60);
	refuseDetailsFrom(11);
	const [page, failed] = await mails.run(
		'list',
		{ maxResults: 50 },
		{ output: 'page', pageToken: '20@' },
		undefined,
		goesOn,
	);
	const got = (page?.json as { messages: IDataObject[] }).messages.map(({ id }) => id);
	expect(got).toEqual(all.slice(20, 20 + got.length));
	expect(failed?.json).toMatchObject({
		error: { details: { nextPageToken: `${20 + got.length}@` } },
	});
});

test('of one email and of a page without any, the words are right', async () => {
	seed(2);
	refuseDetailsFrom(2);
	const first = (await failureOf(mails.run('list', {}))).description;
	expect(first).toMatch(
		/ 1 email was received before that\. To output them before the error, set On Error to Continue\.$/,
	);
	refusing = false;
	seed(101);
	mails.google.fault({
		match: ({ method, query }) =>
			method === 'gmail.users.messages.list' && query.has('pageToken'),
		status: 404,
	});
	const second = (await failureOf(mails.run('list', { returnAll: true }))).description;
	expect(second).toMatch(/ 100 emails were received before that\. /);
});

test('an output of pages gives what it got of the page', async () => {
	const all = seed(40);
	refuseDetailsFrom(21);
	const [page, failed, ...more] = await mails.run(
		'list',
		{ maxResults: 40 },
		{ output: 'page' },
		undefined,
		goesOn,
	);
	const { messages, ...rest } = page?.json as { messages: IDataObject[] };
	expect(messages.map(({ id }) => id)).toEqual(all.slice(0, messages.length));
	expect(messages.length).toBeGreaterThan(0);
	expect([rest, more]).toEqual([{}, []]);
	expect(failed?.json).toMatchObject({
		error: { code: 429, details: { returned: messages.length } },
	});
});

test('nothing was got: the error item alone, and no word of going on', async () => {
	seed(3);
	refuseDetailsFrom(1);
	const items = await mails.run('list', {}, {}, undefined, goesOn);
	expect(items).toHaveLength(1);
	expect(items[0]?.json['error']).not.toHaveProperty('details');
});

test('without Continue on Fail the error says how many were got, and how to get them', async () => {
	seed(260);
	refuseDetailsFrom(231);
	const failure = await failureOf(mails.run('list', { returnAll: true }));
	const { returned } = failure.context['data'] as { returned: number };
	expect(failure.description).toContain(
		`${returned} emails were received before that. To output them before the error, set On Error to Continue.`,
	);
});

test('the sanitizer sees the error item', async () => {
	const secret = 'ya29.a0AfB_byC-canary';
	seed(120);
	refuseDetailsFrom(111, `no quota for ${secret}`);
	const items = await mails.run(
		'search',
		{ query: 'subject:mail', returnAll: true },
		{},
		undefined,
		goesOn,
	);
	expect(items.length).toBeGreaterThan(90);
	expect(JSON.stringify(items.at(-1))).not.toContain(secret);
});

test('the other input items go on, each with its own results', async () => {
	seed(3);
	const two = [{ json: {} }, { json: {} }];
	mails.google.fault({ match: 'gmail.users.messages.get', nth: 3, times: 1, status: 400 });
	const items = await mails.run('list', {}, {}, two, goesOn);
	const failed = items.filter(({ json }) => json['error'] !== undefined);
	expect(failed).toHaveLength(1);
	const ok = (index: number) =>
		items.filter(
			({ json, pairedItem }) =>
				!json['error'] && (pairedItem as { item: number }).item === index,
		);
	expect([ok(0).length, ok(1).length].sort()).toContain(3);
});

test('each email is asked for once, and the next page while the details of this one come', async () => {
	seed(250);
	expect(await mails.run('list', { returnAll: true })).toHaveLength(250);
	expect(mails.methods.filter((method) => method === 'messages.get')).toHaveLength(250);
	expect(mails.methods.filter((method) => method === 'messages.list')).toHaveLength(3);
	expect(mails.methods.slice(0, 3)).toContain('messages.list');
});

it('a long list says in the log how many emails it has so far', async () => {
	for (let mail = 0; mail < 250; mail++) mails.google.gmail.seed({ subject: `Mail ${mail}` });
	const item = testItem();
	const { entries } = await listEmails(
		testClients(mails.google.url, token),
		{
			gmailQuery: '',
			received: 'any',
			onlyFiles: [],
			returnAll: true,
			maxResults: 25,
			details: true,
			downloadAttachments: false,
			includeBody: false,
			newTextOnly: false,
			labelIds: [],
			addLabels: [],
			removeLabels: [],
			markAsRead: false,
			output: 'items',
			pageToken: '',
			receivedAfter: '',
			receivedBefore: '',
		},
		item,
	);
	expect(entries).toHaveLength(250);
	expect(item.logs).toEqual([
		'List of item 0: 100 emails so far',
		'List of item 0: 200 emails so far',
	]);
});

test('an empty token for the next page is the end of the list', async () => {
	const [id = ''] = seed(1);
	const body = { messages: [{ id, threadId: id }], nextPageToken: '' };
	mails.google.fault({ match: 'gmail.users.messages.list', times: 3, status: 200, body });
	expect(ids(await mails.run('list', { returnAll: true }))).toEqual([id]);
	expect(mails.methods.filter((method) => method === 'messages.list')).toHaveLength(1);
	const [page] = await mails.run('list', {}, { output: 'page' });
	expect(page?.json).not.toHaveProperty('nextPageToken');
});
