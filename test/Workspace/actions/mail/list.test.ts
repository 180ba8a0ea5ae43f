import { setImmediate as turn } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';

import { readParameters } from '../../../../nodes/fields/params';
import { mapWithConcurrency } from '../../../../nodes/Workspace/actions/mail/mapWithConcurrency';
import { list } from '../../../../nodes/Workspace/actions/mail/list.operation';
import { getAllFields, type Operation } from '../../../../nodes/Workspace/operation';
import { testClients, testItem } from '../../client';
import { Mails } from './mails';
import { file, html, mixed, plain, typed } from './parts';

const mails = new Mails();
const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const seedDays = (count: number, more: object = {}) =>
	Array.from({ length: count }, (_, at) =>
		mails.gmail.seed({ subject: `mail ${at + 1}`, date: day(at + 1), ...more }),
	);
const subjects = (items: ReadonlyArray<{ json: IDataObject }>) =>
	items.map(({ json }) => json['subject']);
/** The only page of a list by an input object. */
const page = async (inputObject: IDataObject) => {
	const [only] = await mails.json({ operation: 'list', output: 'page', ...inputObject });
	return only?.json ?? {};
};
const searched = (at = 0) => mails.google.requests[at]?.query.get('q');

it('gives an item per email with what it needs, in one request for each', async () => {
	const id = mails.gmail.seed({
		from: '"Doe, John" <john@example.com>',
		to: 'Someone <someone@example.com>, other@example.com',
		subject: 'Grüße & mehr',
		text: 'Tom & "Jerry" <x>  \u034f \u200c \u00ad',
		date: day(5),
	});
	const [item] = await mails.run('list', {});
	expect(item).toEqual({
		json: {
			id,
			threadId: id,
			snippet: 'Tom & "Jerry" <x>',
			subject: 'Grüße & mehr',
			sender: '"Doe, John" <john@example.com>',
			to: 'Someone <someone@example.com>, other@example.com',
			date: '2026-01-05T00:00:00.000Z',
			status: 'unread',
			labelIds: ['INBOX', 'UNREAD'],
		},
		pairedItem: { item: 0 },
	});
	const names = ['Subject', 'From', 'To', 'Cc', 'Reply-To', 'Message-ID', 'In-Reply-To'];
	const headers = [...names, 'References'].map((name) => `metadataHeaders=${name}`);
	expect(mails.queries).toEqual([
		'q=-in:scheduled -in:draft (in:inbox OR -in:sent)&maxResults=25&fields=messages(id,threadId),nextPageToken',
		`format=metadata&${headers.join('&')}&fields=id,threadId,labelIds,snippet,internalDate,payload/headers`,
	]);
});

it('gives received emails, and what was sent and drafts only by their label, but none that is scheduled', async () => {
	const seed = (...labelIds: string[]) => mails.gmail.seed({ labelIds });
	const [inbox, archived, toMyself] = [seed('INBOX'), seed('IMPORTANT'), seed('SENT', 'INBOX')];
	const [sent, draft] = [seed('SENT'), seed('DRAFT')];
	seed('SCHEDULED');
	const listed = async (options: IDataObject) =>
		new Set((await mails.run('list', {}, options)).map(({ json }) => json['id']));
	expect(await listed({})).toEqual(new Set([inbox, archived, toMyself]));
	expect(await listed({ labelIds: 'SENT' })).toEqual(new Set([toMyself, sent]));
	expect(await listed({ labelIds: 'DRAFT' })).toEqual(new Set([draft]));
});

it('a search finds drafts only where it names them, and an input object’s query is passed on unchanged', async () => {
	mails.gmail.seed({ labelIds: ['DRAFT'] });
	mails.gmail.seed({ labelIds: ['SENT'] });
	const count = async (query: string, options: IDataObject = {}) =>
		(await mails.run('search', { query }, options)).length;
	expect(await count('Hi')).toBe(1);
	expect(await count('in:anywhere Hi')).toBe(2);
	expect(await count('in:drafts OR is:draft')).toBe(1);
	expect(await count('Hi', { labelIds: 'DRAFT' })).toBe(1);
	const search = { operation: 'search', query: 'Hi', details: false };
	expect((await page(search))['messages']).toHaveLength(2);
	const received = await page({ ...search, includeDrafts: false });
	expect(received['messages']).toHaveLength(1);
});

it.each([
	['label:draft-contracts', false],
	['"log in:draft"', false],
	['subject:"log in:draft"', false],
	['label:"a" in:drafts subject:"b"', true],
	['in:"drafts"', true],
	['label:drafts', true],
])('a search for %s finds drafts: %s', async (query, findsDrafts) => {
	await mails.run('search', { query });
	expect(!mails.queries[0]?.includes('-in:draft')).toBe(findsDrafts);
});

it('an input object also finds emails in Spam and Trash', async () => {
	mails.gmail.seed({ labelIds: ['SPAM'] });
	expect((await page({}))['messages']).toHaveLength(0);
	expect((await page({ includeSpamTrash: true }))['messages']).toHaveLength(1);
});

it('says that no email matches', async () => {
	const { items, hints } = await mails.hinted({ operation: 'list', from: 'ann' });
	expect([items, hints]).toEqual([[], ['No email matches.']]);
});

it('says so of one item of many only, and not at all where something was found', async () => {
	mails.gmail.seed({ from: 'ann@x.org' });
	const all = ['ann', 'bob', 'eve'].map((name) => ({ json: { from: `${name}@x.org` } }));
	const list = { operation: 'list', from: '={{ $json.from }}' };
	const { items, hints } = await mails.hinted(list, all);
	expect(items).toHaveLength(1);
	expect(hints).toEqual(['No email matches.']);
});

it('a page may have 500 emails, with their details too', async () => {
	await mails.run('list', { maxResults: 500 }, { output: 'page' });
	expect(mails.queries).toEqual([expect.stringContaining('maxResults=500&')]);
});

it('an empty page after others is the end of the list, and no hint', async () => {
	seedDays(2, { from: 'ann@example.com' });
	const { nextPageToken } = await page({ from: 'ann@example.com', maxResults: 1 });
	const options = { output: 'page', pageToken: nextPageToken };
	const list = { operation: 'list', from: 'bob@example.com', options };
	expect((await mails.hinted(list)).hints).toEqual([]);
});

const received = {
	receivedAfter: '2026-01-02T03:04:05.500Z',
	receivedBefore: '2026-01-03T00:00:00+01:00',
};

it.each<[string, IDataObject, IDataObject, string]>([
	['sender', { from: 'ann@example.com' }, {}, 'from:"ann@example.com"&'],
	['a named sender', { from: '"Doe, A" <ann@example.com>' }, {}, 'from:"ann@example.com"&'],
	['a sender who would be more', { from: 'a" OR is:starred' }, {}, 'from:"a OR is:starred"&'],
	['a sender in other quotes', { from: 'a” OR “b＂c' }, {}, 'from:"a OR b c"&'],
	['unread', { status: 'unread' }, {}, 'is:unread&'],
	['read and sender', { status: 'read', from: 'x@y.org' }, {}, 'from:"x@y.org" is:read&'],
	['labels', {}, { labelIds: 'INBOX, IMPORTANT' }, 'labelIds=INBOX&labelIds=IMPORTANT&'],
	['a time span, in whole seconds', {}, received, 'after:1767323046 before:1767394800&'],
])('asks for %s', async (_what, parameters, options, query) => {
	await mails.run('list', parameters, options);
	expect(mails.queries.at(-1)).toContain(query);
});

it.each([
	['last24Hours', 1],
	['last7Days', 7],
	['last30Days', 30],
])('counts %s back from now', async (span, days) => {
	const before = Date.now();
	await mails.run('list', { received: span });
	const [, seconds] = /after:(\d+)/.exec(mails.queries[0] ?? '') ?? [];
	const start = Number(seconds) * 1000 + days * 86_400_000;
	expect(start).toBeGreaterThanOrEqual(before);
	expect(start).toBeLessThanOrEqual(Date.now() + 1000);
});

it('follows the pages to the limit, and no further', async () => {
	seedDays(620);
	const list = { operation: 'list', output: 'items', details: false };
	const items = await mails.json({ ...list, maxResults: 510 });
	expect(items).toHaveLength(510);
	expect(Object.keys(items[0]?.json ?? {})).toEqual(['id', 'threadId']);
	const sizes = mails.queries.map((query) => /maxResults=\d+/.exec(query)?.[0]);
	expect(sizes).toEqual(['maxResults=500', 'maxResults=10']);
	expect(await mails.json({ ...list, returnAll: true })).toHaveLength(620);
});

it('takes an empty token for the next page as the end of the list', async () => {
	const id = mails.gmail.seed({});
	const body = { messages: [{ id, threadId: id }], nextPageToken: '' };
	mails.google.fault({ match: 'gmail.users.messages.list', times: 3, status: 200, body });
	expect(await mails.run('list', { returnAll: true })).toMatchObject([{ json: { id } }]);
	expect(mails.count('messages.list')).toBe(1);
	expect(await page({})).not.toHaveProperty('nextPageToken');
});

it.each([
	[400, 'Check the search terms, the label IDs and the page token.'],
	[404, 'Check which account the credential is connected to.'],
])('says what to do when Gmail answers %d', async (status, advice) => {
	mails.google.fault({ match: 'gmail.users.messages.list', status });
	expect((await mails.failure('list', {})).description).toContain(advice);
});

it('gives a page with the token of the next', async () => {
	seedDays(3);
	const list = async (pageToken = '') => {
		const options = { output: 'page', ...(pageToken === '' ? {} : { pageToken }) };
		const [only] = await mails.run('list', { maxResults: 2 }, options);
		return only?.json as { messages: IDataObject[]; nextPageToken?: string };
	};
	const { messages, nextPageToken } = await list();
	expect(messages.map(({ subject }) => subject)).toEqual(['mail 3', 'mail 2']);
	const last = { messages: [expect.objectContaining({ subject: 'mail 1' })] };
	expect(await list(nextPageToken)).toEqual(last);
	mails.google.reset();
	mails.signIn();
	expect(await list()).toEqual({ messages: [] });
});

it('leaves out an email that vanished meanwhile, and keeps the order of the others', async () => {
	const [, second = '', third = ''] = seedDays(3);
	mails.google.fault({ match: ({ path }) => path.endsWith(second), status: 404 });
	mails.google.fault({ match: ({ path }) => path.endsWith(third), delayMilliseconds: 50 });
	expect(subjects(await mails.run('list', {}))).toEqual(['mail 3', 'mail 1']);
});

it('asks for no more than twenty at once, and for nothing more after a failure', async () => {
	seedDays(40);
	mails.google.fault({ match: 'gmail.users.messages.get', nth: 5, status: 403 });
	expect((await mails.failure('list', { maxResults: 40 })).httpCode).toBe('403');
	expect(mails.count('messages.get')).toBeLessThanOrEqual(25);
});

it.each([
	{ options: { includeBody: true }, atOnce: 5 },
	// Two emails, each with two files at once.
	{ options: { downloadAttachments: true }, atOnce: 4 },
	{ options: { downloadAttachments: true, includeBody: true }, atOnce: 4 },
])('with $options makes at most $atOnce requests at once', async ({ options, atOnce }) => {
	const names = ['a.pdf', 'b.pdf', 'c.pdf'];
	for (let number = 1; number <= 20; number++) seed('many', number, ...names);
	// Afterwards the gate lets more requests through.
	await mails.run('list', {});
	mails.google.latencyMilliseconds = 30;
	mails.google.quotas.limits = { gmailAtOnce: atOnce };
	expect(await mails.run('list', {}, options)).toHaveLength(20);
	mails.google.latencyMilliseconds = 0;
	expect(mails.google.quotas.refused).toBe(0);
});

it('adds the text and what is attached', async () => {
	mails.seed(
		`Subject: S\n${mixed(html('<p>Grüße</p>'), typed('application/pdf; name=r.pdf', 'PDF'))}`,
	);
	const [item] = await mails.run('list', {}, { includeBody: true });
	const attached = { fileName: 'r.pdf', mimeType: 'application/pdf', size: 3 };
	const attachments = [{ ...attached, inline: false, contentId: '' }];
	expect(item?.json).toMatchObject({ subject: 'S', text: 'Grüße', attachments });
});

describe('search', () => {
	it('passes the query on unchanged', async () => {
		const query = 'from:(ann OR bob) -subject:"no news" {label:a label:b} after:2026/01/01 ';
		await mails.run('search', { query });
		expect(searched()).toBe(`-in:draft ${query}`);
		await mails.json({ operation: 'search', query });
		expect(searched(1)).toBe(query);
	});

	it.each([
		['from:', 'from'],
		['subject:Hi (has:attachment to: )', 'to'],
		['from: subject:Hi', 'from'],
		['x label:""', 'label'],
		['label:"" x', 'label'],
		['from:() is:unread', 'from'],
		['from:("")', 'from'],
		['rfc822msgid:', 'rfc822msgid'],
		['from: rfc822msgid:x', 'from'],
	])('refuses %j, which has a word without a value', async (query, word) => {
		const message = await mails.refused(mails.run('search', { query }));
		expect(message).toBe(`'Query' has '${word}:' without a value`);
	});

	const words = ['from: ann', 'subject:"from:"', 'x form:', 'http:'];

	it.each([...words, 'subject:re: Lunch', 'subject: aw: Hi'])('takes %j', async (query) => {
		await mails.run('search', { query });
		expect(searched()).toBe(`-in:draft ${query}`);
	});

	it('narrows it by time in brackets, also in an input object', async () => {
		const query = 'a OR b';
		await mails.run('search', { query }, { receivedBefore: '2026-01-03T00:00:00Z' });
		expect(searched()).toBe('-in:draft (a OR b) before:1767398400');
		await mails.json({ operation: 'search', query, receivedAfter: '2026-01-03T00:00:00Z' });
		expect(searched(1)).toBe('(a OR b) after:1767398400');
	});
});

describe('the input object', () => {
	it('gives a page unless told otherwise', async () => {
		const id = mails.gmail.seed({ labelIds: ['INBOX'] });
		const [item] = await mails.json({ operation: 'list', status: 'read', details: false });
		expect(item?.json).toEqual({ messages: [{ id, threadId: id }] });
		const search = { operation: 'search', query: 'hello', maxResults: 5 };
		expect(await mails.json({ ...search, output: 'items' })).toHaveLength(1);
	});

	const aWholeNumber = /'maxResults' must be a whole number from 1 to 10000, not 0/;
	const aTime = /'receivedAfter' must be a date and time/;

	it.each([
		[{ operation: 'list', maxResults: 0 }, aWholeNumber],
		[{ operation: 'list', maxResults: 'five' }, /'maxResults' must be a whole number/],
		[{ operation: 'list', receivedAfter: 'last week' }, aTime],
		[{ operation: 'list', form: 'ann' }, /Unknown key 'form'/],
		[{ operation: 'list', status: 'new' }, /'status' must be one of: any, unread, read/],
		[{ operation: 'search', query: ' ' }, /'query' is required/],
		[{ operation: 'search' }, /'query' is required/],
	])('refuses %j', async (inputObject, words) => {
		expect(await mails.refused(mails.json(inputObject))).toMatch(words);
	});
});

const noTime = /^'Received After' or 'Received Before' is required$/;
const wholePage =
	/^'Output' cannot be Page with 'Return All', with 'Download Attachments', or with a 'Limit' above 500$/;

it.each([
	['list', { maxResults: 1_000_000 }, {}, /not 1000000/],
	['list', { received: 'between' }, {}, noTime],
	['list', { returnAll: true }, { output: 'page' }, wholePage],
	['search', { query: '={{ "" }}' }, {}, /'Query' is required/],
])('the form of %s refuses %j', async (operation, parameters, options, words) => {
	expect(await mails.refused(mails.run(operation, parameters, options))).toMatch(words);
});

beforeEach(() => {
	mails.gmail.labels = { Label_1: 'Clients/Acme', Label_2: 'To Do', Label_3: 'Straße' };
});
const listed = () =>
	mails.google.requests.filter(({ method }) => method === 'gmail.users.messages.list');

describe('labels', () => {
	it.each<[unknown, string[], number]>([
		[['INBOX', 'Label_1'], ['INBOX', 'Label_1'], 1],
		[[], [], 0],
		[['Clients/Acme'], ['Label_1'], 1],
		[['to do', 'inbox'], ['Label_2', 'INBOX'], 1],
		[['STRAßE'], ['Label_3'], 1],
	])('%j are asked for as %j', async (labelIds, ids, looks) => {
		await mails.json({ operation: 'list', labelIds });
		expect(listed()[0]?.query.getAll('labelIds')).toEqual(ids);
		expect(mails.count('labels.list')).toBe(looks);
	});

	it('are looked up once for all items of a run', async () => {
		const items = [{ json: {} }, { json: {} }, { json: {} }];
		await mails.run('list', {}, { labelIds: ['To Do'] }, items);
		expect(mails.count('labels.list')).toBe(1);
		expect(listed()).toHaveLength(3);
	});

	it('that the mailbox does not have are named, with those that it has', async () => {
		const failure = await mails.failure('list', {}, { labelIds: ['Acme'] });
		expect(failure.message).toBe("'With Label Names or IDs': the mailbox has no label 'Acme'");
		const labels = "Its labels: 'Clients/Acme', 'Straße', 'To Do', 'CATEGORY_FORUMS',";
		expect(String(failure.description).startsWith(labels)).toBe(true);
		expect(listed()).toEqual([]);
	});
});

const seed = (subject: string, number: number, ...names: string[]) => {
	const parts = names.map((name) => file(name));
	return mails.seed(`Subject: ${subject}\n${mixed(plain('own'), ...parts)}`, {
		date: day(number),
	});
};

describe('a list with the attachments', () => {
	it('gives each email its files', async () => {
		seed('two', 3, 'a.pdf', 'b.pdf');
		seed('none', 2);
		seed('one', 1, 'c.pdf');
		const items = await mails.run('list', {}, { downloadAttachments: true });
		const files = items.map(({ json, binary = {} }) => [
			json['subject'],
			...Object.entries(binary).map(([field, { fileName, data }]) => [
				field,
				fileName,
				Buffer.from(data, 'base64').toString(),
			]),
		]);
		expect(files).toEqual([
			[
				'two',
				['attachment_0', 'a.pdf', 'bytes of a.pdf'],
				['attachment_1', 'b.pdf', 'bytes of b.pdf'],
			],
			['none'],
			['one', ['attachment_0', 'c.pdf', 'bytes of c.pdf']],
		]);
		const attachments = [{ fileName: 'a.pdf' }, { fileName: 'b.pdf' }];
		expect(items[0]?.json).toMatchObject({ attachments });
		expect(items[0]?.json).not.toHaveProperty('text');
	});

	it.each<[string, (messageId: string) => IDataObject]>([
		['list', () => ({})],
		['search', () => ({ query: 'subject:one' })],
		['read', (messageId) => ({ messageId })],
	])('by %s gives only the files with a wanted name', async (operation, parameters) => {
		const id = seed('one', 1, 'a.txt', 'b.pdf', 'c.txt');
		const options = { downloadAttachments: true, onlyFiles: '*.pdf' };
		const [item] = await mails.run(operation, parameters(id), options);
		const names = Object.values(item?.binary ?? {}).map(({ fileName }) => fileName);
		expect(names).toEqual(['b.pdf']);
		expect(mails.count('messages.attachments.get')).toBe(1);
	});

	it('hands the files of an email to the storage while others are still to come', async () => {
		for (let number = 1; number <= 30; number++) seed('many', number, 'a.pdf');
		const item = testItem();
		const storedAt: number[] = [];
		const store: typeof item.store = async (...binary) => {
			storedAt.push(mails.google.requests.length);
			return await testItem().store(...binary);
		};
		const clients = testClients(mails.google.url, mails.google.tokens.issue());
		const given = { downloadAttachments: true, maxResults: 30 };
		const form = { mode: 'fields', timezone: 'UTC' } as const;
		const params = readParameters(getAllFields(list), given, form);
		// As the runner, which knows operations of any fields.
		const operation: Operation = list;
		await operation.send?.(clients, params, { ...item, store });
		expect(storedAt).toHaveLength(30);
		// Each mail is two requests, with two mails at once.
		expect(storedAt[0]).toBeLessThan(10);
		expect(storedAt[14]).toBeLessThan(mails.google.requests.length - 10);
	});

	it('goes with the text, by search, in the input object', async () => {
		seed('one', 1, 'c.pdf');
		const [item] = await mails.json({
			...{ operation: 'search', query: 'subject:one', output: 'items' },
			...{ includeBody: true, downloadAttachments: true },
		});
		expect(item?.json).toMatchObject({ text: 'own', attachments: [{ fileName: 'c.pdf' }] });
		expect(Object.keys(item?.binary ?? {})).toEqual(['attachment_0']);
	});
});

it.each([{ downloadAttachments: true }, { returnAll: true }, { maxResults: 501 }])(
	'a page is refused with %j',
	async (keys) => {
		const search = { operation: 'search', query: 'x', ...keys };
		const words =
			"'output' cannot be page with 'returnAll', with 'downloadAttachments', or with a 'maxResults' above 500";
		expect(await mails.refused(mails.json(search))).toContain(words);
	},
);

describe('requests in parallel', () => {
	let [running, most] = [0, 0];
	beforeEach(() => {
		[running, most] = [0, 0];
	});
	const work = async (value: number) => {
		most = Math.max(most, ++running);
		await turn();
		running--;
		if (value < 0) throw new Error(`${value}`);
		return value * 2;
	};

	test('as many as are wanted at once, and the results in their order', async () => {
		expect(await mapWithConcurrency([1, 2, 3, 4, 5], 2, work)).toEqual([2, 4, 6, 8, 10]);
		expect(most).toBe(2);
	});

	test('after the first failure nothing begins, and what is under way is waited for', async () => {
		const begun: number[] = [];
		const working = mapWithConcurrency([1, -1, -2, 4, 5, 6], 3, (value) => {
			begun.push(value);
			return work(value);
		});
		await expect(working).rejects.toThrow('-1');
		// The first success began another.
		expect([begun, running]).toEqual([[1, -1, -2, 4], 0]);
	});
});
