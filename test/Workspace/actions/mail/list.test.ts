import { setImmediate as turn } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';

import { readParameters } from '../../../../nodes/fields/params';
import { mapWithConcurrency } from '../../../../nodes/Workspace/actions/mail/mapWithConcurrency';
import { list } from '../../../../nodes/Workspace/actions/mail/list.operation';
import { getAllFields, type Operation } from '../../../../nodes/Workspace/operation';
import { failureOf, withBinaryData } from '../../../createExecuteContext';
import { testClients, testItem } from '../../client';
import { Mails } from './mails';
import { file, multipart, plain } from './parts';

describe('list', () => {
	const mails = new Mails();
	const day = (number: number) => new Date(Date.UTC(2026, 0, number));
	const subjects = (items: ReadonlyArray<{ json: IDataObject }>) =>
		items.map(({ json }) => json['subject']);

	describe('list', () => {
		it('gives an item per email with what it needs, in one request for each', async () => {
			const id = mails.google.gmail.seed({
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
			expect(mails.queries).toEqual([
				'q=-in:draft (in:inbox OR -in:sent)&maxResults=25&fields=messages(id,threadId),nextPageToken',
				'format=metadata&metadataHeaders=Subject&metadataHeaders=From&metadataHeaders=To&fields=id,threadId,labelIds,snippet,internalDate,payload/headers',
			]);
		});

		it('gives received emails, and what was sent and drafts only by their label', async () => {
			const seed = (...labelIds: string[]) => mails.google.gmail.seed({ labelIds });
			const [inbox, archived, toMyself] = [
				seed('INBOX'),
				seed('IMPORTANT'),
				seed('SENT', 'INBOX'),
			];
			const [sent, draft] = [seed('SENT'), seed('DRAFT')];
			const listed = async (options: IDataObject) =>
				new Set((await mails.run('list', {}, options)).map(({ json }) => json['id']));
			expect(await listed({})).toEqual(new Set([inbox, archived, toMyself]));
			expect(await listed({ labelIds: 'SENT' })).toEqual(new Set([toMyself, sent]));
			expect(await listed({ labelIds: 'DRAFT' })).toEqual(new Set([draft]));
		});

		it('a search finds drafts only where it names them, and an input object’s query is passed on unchanged', async () => {
			mails.google.gmail.seed({ labelIds: ['DRAFT'] });
			mails.google.gmail.seed({ labelIds: ['SENT'] });
			const count = async (query: string, options: IDataObject = {}) =>
				(await mails.run('search', { query }, options)).length;
			expect(await count('Hi')).toBe(1);
			expect(await count('in:anywhere Hi')).toBe(2);
			expect(await count('in:drafts OR is:draft')).toBe(1);
			expect(await count('Hi', { labelIds: 'DRAFT' })).toBe(1);
			const [page] = await mails.json({ operation: 'search', query: 'Hi', details: false });
			expect(page?.json['messages']).toHaveLength(2);
			const without = { operation: 'search', query: 'Hi', includeDrafts: false };
			const [received] = await mails.json(without);
			expect(received?.json['messages']).toHaveLength(1);
		});

		it('an input object also finds emails in Spam and Trash', async () => {
			mails.google.gmail.seed({ labelIds: ['SPAM'] });
			const found = async (more: IDataObject) => {
				const [page] = await mails.json({ operation: 'list', output: 'page', ...more });
				return page?.json['messages'];
			};
			expect(await found({})).toHaveLength(0);
			expect(await found({ includeSpamTrash: true })).toHaveLength(1);
		});

		it('gives no item for an empty mailbox', async () => {
			expect(await mails.run('list', {})).toEqual([]);
		});

		it.each<[string, IDataObject, string]>([
			['without a condition', {}, ''],
			[
				'for all conditions of the form',
				{
					...{ from: 'a', status: 'read' },
					options: { labelIds: 'INBOX', receivedAfter: '2026-01-02T03:04:05.000Z' },
				},
				' Gmail was searched for: from:"a" is:read after:1767323045. Labels: INBOX.',
			],
			[
				'for a search, as the editor shows it',
				{ operation: 'search', query: 'rfc822msgid:<a&b@x.example>' },
				' Gmail was searched for: rfc822msgid:<\u200ba&b@x.example>.',
			],
			[
				'for a search with a word that Gmail does not know',
				{ operation: 'search', query: 'form:ann "to: be" subject:x' },
				" Gmail was searched for: form:ann \"to: be\" subject:x. Gmail's search has no word 'form:'.",
			],
		])(
			'an empty result %s says what the user asked for',
			async (_what, parameters, conditions) => {
				expect(await mails.hinted({ operation: 'list', ...parameters })).toMatchObject({
					hints: [`No email matches.${conditions}`],
				});
			},
		);

		it('says so of one item of many only, and not at all where something was found', async () => {
			mails.google.gmail.seed({ from: 'ann@example.com', date: day(1) });
			const senders = ['ann', 'bob', 'eve'].map((name) => ({
				json: { from: `${name}@example.com` },
			}));
			const { items, hints } = await mails.hinted(
				{ operation: 'list', from: '={{ $json.from }}' },
				senders,
			);
			expect(items).toHaveLength(1);
			expect(hints).toEqual([
				expect.stringMatching(
					/^No email matches\. Gmail was searched for: from:"(bob|eve)@example\.com"\.$/,
				),
			]);
		});

		it('a page may have 500 emails, with their details too', async () => {
			await mails.run('list', { maxResults: 500 }, { output: 'page' });
			expect(mails.queries).toEqual([expect.stringContaining('maxResults=500&')]);
		});

		it('an empty page after others is the end of the list, and no hint', async () => {
			for (const number of [1, 2])
				mails.google.gmail.seed({ from: 'ann@example.com', date: day(number) });
			const page = { operation: 'list', from: 'ann@example.com', maxResults: 1 };
			const [first] = (await mails.hinted({ ...page, options: { output: 'page' } })).items;
			const pageToken = first?.json['nextPageToken'];
			expect(
				(
					await mails.hinted({
						...page,
						from: 'bob@example.com',
						options: { output: 'page', pageToken },
					})
				).hints,
			).toEqual([]);
		});

		it.each<[string, IDataObject, IDataObject, string]>([
			['sender', { from: 'ann@example.com' }, {}, 'from:"ann@example.com"&'],
			[
				'a sender with a name',
				{ from: '"Doe, A" <ann@example.com>' },
				{},
				'from:"ann@example.com"&',
			],
			[
				'a sender that would be more',
				{ from: 'a" OR is:starred' },
				{},
				'from:"a OR is:starred"&',
			],
			['a sender in other quotes', { from: 'a” OR “b＂c' }, {}, 'from:"a OR b c"&'],
			['unread', { status: 'unread' }, {}, 'is:unread&'],
			['read and sender', { status: 'read', from: 'x@y.org' }, {}, 'from:"x@y.org" is:read&'],
			['labels', {}, { labelIds: 'INBOX, IMPORTANT' }, 'labelIds=INBOX&labelIds=IMPORTANT&'],
			[
				'a time span, to the second',
				{},
				{
					receivedAfter: '2026-01-02T03:04:05Z',
					receivedBefore: '2026-01-03T00:00:00+01:00',
				},
				'after:1767323045 before:1767394800&',
			],
		])('asks for %s', async (_what, parameters, options, query) => {
			await mails.run('list', parameters, options);
			expect(mails.queries.at(-1)).toContain(query);
		});

		it.each([
			['last24Hours', 1],
			['last7Days', 7],
			['last30Days', 30],
		])('counts %s back from now', async (received, days) => {
			const before = Date.now();
			await mails.run('list', { received });
			const [, seconds] = /after:(\d+)/.exec(mails.queries[0] ?? '') ?? [];
			const start = Number(seconds) * 1000 + days * 86_400_000;
			expect(start).toBeGreaterThanOrEqual(before);
			expect(start).toBeLessThanOrEqual(Date.now() + 1000);
		});

		it('a span between no times is refused', async () => {
			expect(await mails.refused(mails.run('list', { received: 'between' }))).toBe(
				"'Received After' or 'Received Before' is required",
			);
		});

		it('follows the pages to the limit, and no further', async () => {
			for (let number = 0; number < 620; number++)
				mails.google.gmail.seed({ date: day(number) });
			const list = { operation: 'list', output: 'items', details: false };
			const items = await mails.json({ ...list, maxResults: 510 });
			expect(items).toHaveLength(510);
			expect(Object.keys(items[0]?.json ?? {})).toEqual(['id', 'threadId']);
			expect(mails.queries.map((query) => /maxResults=\d+/.exec(query)?.[0])).toEqual([
				'maxResults=500',
				'maxResults=10',
			]);
			expect(await mails.json({ ...list, returnAll: true })).toHaveLength(620);
		});

		it('gives a page with the token of the next', async () => {
			for (const number of [1, 2, 3])
				mails.google.gmail.seed({ subject: `mail ${number}`, date: day(number) });
			const first = await mails.run('list', { maxResults: 2 }, { output: 'page' });
			const { messages, nextPageToken } = first[0]?.json as {
				messages: IDataObject[];
				nextPageToken: string;
			};
			expect(messages.map(({ subject }) => subject)).toEqual(['mail 3', 'mail 2']);
			const [second] = await mails.run(
				'list',
				{ maxResults: 2 },
				{ output: 'page', pageToken: nextPageToken },
			);
			expect(second?.json).toEqual({
				messages: [expect.objectContaining({ subject: 'mail 1' })],
			});
			mails.google.reset();
			mails.signIn();
			expect((await mails.run('list', {}, { output: 'page' }))[0]?.json).toEqual({
				messages: [],
			});
		});

		it('leaves out an email that vanished meanwhile, and keeps the order of the others', async () => {
			const ids = [1, 2, 3].map((number) =>
				mails.google.gmail.seed({ subject: `mail ${number}`, date: day(number) }),
			);
			mails.google.fault({ match: ({ path }) => path.endsWith(ids[1] ?? ''), status: 404 });
			mails.google.fault({
				match: ({ path }) => path.endsWith(ids[2] ?? ''),
				delayMilliseconds: 50,
			});
			expect(subjects(await mails.run('list', {}))).toEqual(['mail 3', 'mail 1']);
		});

		it('asks for no more than twenty at once, and for nothing more after a failure', async () => {
			for (let number = 0; number < 40; number++)
				mails.google.gmail.seed({ date: day(number) });
			mails.google.fault({ match: 'gmail.users.messages.get', nth: 5, status: 403 });
			const failure = await failureOf(mails.run('list', { maxResults: 40 }));
			expect(failure.httpCode).toBe('403');
			expect(
				mails.methods.filter((method) => method === 'messages.get').length,
			).toBeLessThanOrEqual(25);
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

		it('waits out a rate limit of single details', async () => {
			for (let number = 0; number < 10; number++)
				mails.google.gmail.seed({ date: day(number) });
			mails.google.fault({
				match: 'gmail.users.messages.get',
				nth: 3,
				times: 2,
				status: 429,
				retryAfter: 0,
			});
			expect(await mails.run('list', {})).toHaveLength(10);
			expect(mails.methods).toHaveLength(1 + 10 + 2);
		});

		it('adds the text and what is attached', async () => {
			mails.google.gmail.seed({
				raw: [
					'Subject: S',
					'Content-Type: multipart/mixed; boundary=b',
					'',
					'--b',
					'Content-Type: text/html; charset=iso-8859-1',
					'Content-Transfer-Encoding: quoted-printable',
					'',
					'<p>Gr=FC=DFe</p>',
					'--b',
					'Content-Type: application/pdf; name=r.pdf',
					'',
					'PDF',
					'--b--',
				].join('\r\n'),
			});
			const [item] = await mails.run('list', {}, { includeBody: true });
			expect(item?.json).toMatchObject({
				subject: 'S',
				text: 'Grüße',
				attachments: [
					{
						fileName: 'r.pdf',
						mimeType: 'application/pdf',
						size: 3,
						inline: false,
						contentId: '',
					},
				],
			});
		});
	});

	describe('search', () => {
		it('passes the query on unchanged', async () => {
			const query =
				'from:(ann OR bob) -subject:"no news" {label:a label:b} after:2026/01/01 ';
			await mails.run('search', { query });
			expect(mails.google.requests[0]?.query.get('q')).toBe(`-in:draft ${query}`);
			await mails.json({ operation: 'search', query });
			expect(mails.google.requests[1]?.query.get('q')).toBe(query);
		});

		it.each([
			['from:', 'from'],
			['subject:Hi (has:attachment to: )', 'to'],
			['from: subject:Hi', 'from'],
			['x label:""', 'label'],
		])('refuses %j, which has a word without a value', async (query, word) => {
			const failure = await failureOf(mails.run('search', { query }));
			expect(failure.message).toBe(`'Query' has '${word}:' without a value`);
			expect(mails.google.requests).toEqual([]);
		});

		it.each([
			'from: ann',
			'subject:"from:"',
			'x form:',
			'http:',
			'subject:re: Lunch',
			'subject: aw: Hi',
		])('takes %j', async (query) => {
			await mails.run('search', { query });
			expect(mails.google.requests[0]?.query.get('q')).toBe(`-in:draft ${query}`);
		});

		it('refuses two times between which there is none', async () => {
			const [receivedAfter, receivedBefore] = ['2026-01-03T00:00:00Z', '2026-01-02'];
			const times = { received: 'between', receivedAfter, receivedBefore };
			const failure = await failureOf(mails.run('list', times));
			expect(failure.message).toBe("'Received After' is not before 'Received Before'");
		});

		it('narrows it by time in brackets', async () => {
			await mails.run(
				'search',
				{ query: 'a OR b' },
				{ receivedBefore: '2026-01-03T00:00:00Z' },
			);
			expect(mails.google.requests[0]?.query.get('q')).toBe(
				'-in:draft (a OR b) before:1767398400',
			);
		});

		it('narrows it by time in an input object, too', async () => {
			const query = 'a OR b';
			await mails.json({ operation: 'search', query, receivedAfter: '2026-01-03T00:00:00Z' });
			expect(mails.google.requests[0]?.query.get('q')).toBe('(a OR b) after:1767398400');
		});

		it('gives all emails as one page', async () => {
			for (let number = 0; number < 620; number++) mails.google.gmail.seed({});
			const [page] = await mails.json({ operation: 'list', returnAll: true, details: false });
			expect(page?.json['messages']).toHaveLength(620);
			expect(page?.json).not.toHaveProperty('nextPageToken');
		});

		it('finds', async () => {
			mails.google.gmail.seed({ subject: 'Invoice 17' });
			mails.google.gmail.seed({ subject: 'News' });
			expect(subjects(await mails.run('search', { query: 'subject:invoice' }))).toEqual([
				'Invoice 17',
			]);
		});
	});

	describe('the input object', () => {
		it('gives a page unless told otherwise', async () => {
			const id = mails.google.gmail.seed({ labelIds: ['INBOX'] });
			const [item] = await mails.json({ operation: 'list', status: 'read', details: false });
			expect(item?.json).toEqual({ messages: [{ id, threadId: id }] });
			const items = await mails.json({
				operation: 'search',
				query: 'hello',
				maxResults: 5,
				output: 'items',
			});
			expect(items).toHaveLength(1);
		});

		it.each([
			[
				{ operation: 'list', maxResults: 0 },
				/'maxResults' must be a whole number from 1 to 10000, not 0/,
			],
			[{ operation: 'list', maxResults: '5' }, /'maxResults' must be a whole number/],
			[
				{ operation: 'list', receivedAfter: 'last week' },
				/'receivedAfter' must be a date and time/,
			],
			[{ operation: 'list', form: 'ann' }, /Unknown key 'form'/],
			[{ operation: 'list', status: 'new' }, /'status' must be one of: any, unread, read/],
			[{ operation: 'search', query: ' ' }, /'query' is required/],
			[{ operation: 'search' }, /'query' is required/],
		])('refuses %j', async (inputObject, words) => {
			expect(await mails.refused(mails.json(inputObject))).toMatch(words);
		});
	});

	it('refuses numbers that no mailbox can give', async () => {
		expect(await mails.refused(mails.run('list', { maxResults: 1_000_000 }))).toContain(
			'not 1000000',
		);
		expect(await mails.refused(mails.run('search', { query: '={{ "" }}' }))).toContain(
			"'Query' is required",
		);
	});

	beforeEach(() => {
		mails.google.gmail.labels = {
			Label_1: 'Clients/Acme',
			Label_2: 'To Do',
			Label_3: 'Straße',
		};
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
			expect(mails.methods.filter((method) => method === 'labels.list')).toHaveLength(looks);
		});

		it('are looked up once for all items of a run', async () => {
			await mails.run('list', {}, { labelIds: ['To Do'] }, [
				{ json: {} },
				{ json: {} },
				{ json: {} },
			]);
			expect(mails.methods.filter((method) => method === 'labels.list')).toHaveLength(1);
			expect(listed()).toHaveLength(3);
		});

		it('that the mailbox does not have are named, with those that it has', async () => {
			const failure = await failureOf(mails.run('list', {}, { labelIds: ['Acme'] }));
			expect(failure.message).toBe(
				"'With Label Names or IDs': the mailbox has no label 'Acme'",
			);
			expect(failure.description).toMatch(
				/^Its labels: 'Clients\/Acme', 'Straße', 'To Do', 'CATEGORY_FORUMS',/,
			);
			expect(listed()).toEqual([]);
		});
	});

	beforeAll(withBinaryData);

	const seed = (subject: string, day: number, ...names: string[]) =>
		mails.google.gmail.seed({
			raw: `Subject: ${subject}\r\n${multipart('mixed', plain('own'), ...names.map((name) => file(name))).replaceAll('\n', '\r\n')}`,
			date: new Date(Date.UTC(2026, 0, day)),
		});

	describe('a list with the attachments', () => {
		it('gives each email its files', async () => {
			seed('two', 3, 'a.pdf', 'b.pdf');
			seed('none', 2);
			seed('one', 1, 'c.pdf');
			const items = await mails.run('list', {}, { downloadAttachments: true });
			expect(
				items.map(({ json, binary = {} }) => [
					json['subject'],
					Object.entries(binary).map(([field, { fileName, data }]) => [
						field,
						fileName,
						Buffer.from(data, 'base64').toString(),
					]),
				]),
			).toEqual([
				[
					'two',
					[
						['attachment_0', 'a.pdf', 'bytes of a.pdf'],
						['attachment_1', 'b.pdf', 'bytes of b.pdf'],
					],
				],
				['none', []],
				['one', [['attachment_0', 'c.pdf', 'bytes of c.pdf']]],
			]);
			expect(items[0]?.json).toMatchObject({
				attachments: [{ fileName: 'a.pdf' }, { fileName: 'b.pdf' }],
			});
			expect(items[0]?.json).not.toHaveProperty('text');
		});

		it('hands the files of an email to the storage while others are still to come', async () => {
			for (let day = 1; day <= 30; day++) seed('many', day, 'a.pdf');
			const item = testItem();
			const storedAt: number[] = [];
			const store: typeof item.store = async (...binary) => {
				storedAt.push(mails.google.requests.length);
				return await testItem().store(...binary);
			};
			const clients = testClients(mails.google.url, mails.google.tokens.issue());
			const given = { downloadAttachments: true, maxResults: 30 };
			const params = readParameters(getAllFields(list), given, {
				mode: 'fields',
				timezone: 'UTC',
			});
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

		it('is refused as a page', async () => {
			const inputObject = { operation: 'list', downloadAttachments: true };
			expect(await mails.refused(mails.json(inputObject))).toMatch(
				/downloadAttachments.* cannot be used if 'output' is page/,
			);
		});
	});
});

describe('requests in parallel', () => {
	/** Work in rounds, and how much of it was under way in each. */
	function rounds() {
		const widths: number[] = [];
		let running = 0;
		const work = async (value: number) => {
			running++;
			await turn();
			if (running > 0) widths.push(running);
			running = 0;
			await turn();
			if (value < 0) throw new Error(`${value}`);
			return value * 2;
		};
		return { widths, work };
	}
	const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

	test('as many as are wanted at once, and the results in their order', async () => {
		const { widths, work } = rounds();
		expect(await mapWithConcurrency(upTo(5), 2, work)).toEqual([0, 2, 4, 6, 8]);
		expect(widths).toEqual([2, 2, 1]);
	});

	test('after the first failure nothing more begins', async () => {
		const { widths, work } = rounds();
		await expect(mapWithConcurrency([1, -1, -2, 4, 5, 6], 3, work)).rejects.toThrow('-1');
		// The first success began another, which is not waited for.
		await new Promise(setImmediate);
		expect(widths).toEqual([3, 1]);
	});

	test('nothing to do', async () => {
		expect(await mapWithConcurrency([], 2, () => Promise.reject(new Error('never')))).toEqual(
			[],
		);
	});
});
