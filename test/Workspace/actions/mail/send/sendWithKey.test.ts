import timers from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';

import { findHeader } from '../../../../../dev/google/gmail/mime';
import type { Fault } from '../../../../../dev/google/server';
import { failureOf } from '../../../../createExecuteContext';
import { holdTimers } from '../../../../heldTimers';
import { turns } from '../../../../turns';
import { Mails } from '../mails';
import type { DeliveredMail } from '../../../../../nodes/Workspace/actions/mail/send/mailFolder';
import { readParameters } from '../../../../../nodes/fields/params';
import { testClients, testItem } from '../../../client';

const mails = new Mails();
const mail = { to: 'ann@example.com', subject: 'Your order 4711 has shipped', body: 'Hi Ann' };
const ofSend = 'gmail.users.messages.send';
const limits = (limit: IDataObject) => ({ timeLimits: { limits: limit } });
/** How many sends Gmail was asked for, and how many emails went out. */
const counts = () => [mails.count('messages.send'), mails.sent.length];

const unreadable: Fault = { status: 200, body: 'null', carriedOut: true };

describe('a send that breaks off after the email left', () => {
	const badGateway = { status: 502, body: '<html>Bad Gateway</html>', carriedOut: true };
	afterEach(() => {
		jest.restoreAllMocks();
	});

	it.each<[string, Fault]>([
		['the connection is reset', { connection: 'resetAfter' }],
		['the answer is cut', { connection: 'cutBody' }],
		['the answer is a 502 of a proxy', badGateway],
		['the answer is a 500', { status: 500, carriedOut: true }],
		['the answer has another form', unreadable],
		['no answer comes in time', { connection: 'blackHoleAfter' }],
	])('%s: the item succeeds with its id, and one mail went out', async (_what, fault) => {
		mails.gmail.seed({ labelIds: ['SENT'] });
		mails.google.fault({ match: ofSend, ...fault });
		const endTime = holdTimers(70_000);
		const running = mails.run('send', mail, limits({ timeoutSeconds: 70 }));
		while (mails.sent.length === 0) await turns(1);
		if (fault.connection === 'blackHoleAfter') endTime();
		const [item] = await running;
		const { id, threadId } = mails.only;
		expect(item?.json).toEqual({ id, threadId, labelIds: ['SENT'] });
		expect(mails.count('messages.send')).toBe(1);
	});

	it('is not known when Gmail lists it too late, and is never sent again', async () => {
		for (let count = 0; count < 3; count++) mails.gmail.seed({ labelIds: ['SENT'] });
		mails.gmail.indexDelayMilliseconds = 600_000;
		mails.google.fault({ match: ofSend, connection: 'resetAfter' });
		const sleeps = jest.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
		const failure = await mails.failure('send', mail);
		expect(sleeps.mock.calls.map(([wait]) => wait)).toEqual([0, 1000, 3000]);
		sleeps.mockRestore();
		expect(mails.queries.filter((query) => query.includes('maxResults=20'))).toHaveLength(3);
		expect(failure.message).toMatch(/^The email may have been sent: /);
		const advice = /does not list it.*Look into the mailbox before you run this item again/;
		expect(failure.description).toMatch(advice);
		expect(failure.httpCode).toBe('503');
		expect(counts()).toEqual([1, 1]);
	});

	it('says that it may not look when the sign-in cannot read', async () => {
		mails.google.reset();
		mails.signIn(['gmail.send']);
		mails.google.fault({ match: ofSend, connection: 'resetAfter' });
		const failure = await mails.failure('send', mail);
		const why =
			/could not look for it in the mailbox: .*insufficient authentication scopes\. Look/;
		expect(failure.description).toMatch(why);
		expect(mails.count('messages.send')).toBe(1);
	});

	it('says that it could not look when Gmail is down', async () => {
		mails.google.fault({ match: ofSend, connection: 'resetAfter' });
		mails.google.fault({ match: 'gmail.users.messages.list', status: 500, times: 99 });
		const failure = await mails.failure('send', mail, limits({ maxRetryWaitSeconds: 0 }));
		expect(failure.description).toContain('could not look for it in the mailbox: Gmail');
		expect(failure.description).not.toContain('scope');
		expect(mails.count('messages.send')).toBe(1);
	});
});

it('a send that was reset before the email left is not repeated either', async () => {
	mails.google.fault({ match: ofSend, connection: 'resetBefore' });
	const sleeps = jest.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
	const failure = await mails.failure('send', mail);
	sleeps.mockRestore();
	expect(failure.message).toMatch(/^The email may have been sent/);
	expect(counts()).toEqual([1, 0]);
});

it.each([
	['429', { status: 429, retryAfter: 0 }],
	['403 with a rate reason', { status: 403, reason: 'userRateLimitExceeded' }],
])('%s was refused for sure: it is tried again, and one mail goes out', async (_what, fault) => {
	mails.google.fault({ match: ofSend, ...fault });
	await mails.run('send', mail);
	expect(counts()).toEqual([2, 1]);
});

it('no error says what the email says', async () => {
	mails.google.fault({ match: ofSend, status: 400, message: 'Invalid To header' });
	const secret = 'canary body 4711';
	const failure = await mails.failure('send', { ...mail, body: secret });
	expect(failure.message).toContain('Invalid To header');
	expect(JSON.stringify(failure) + String(failure.stack)).not.toContain(secret);
});

describe('with an idempotency key', () => {
	let counter = 0;
	/** A key that no test used before: what a process has sent it remembers. */
	const newKey = () => `key-${++counter}`;

	/** In a process that knows nothing of the one before: the operation from modules of its own. */
	async function elsewhere(
		key: string,
		parameters: IDataObject = {},
		options: IDataObject = {},
		item = testItem(),
	): Promise<DeliveredMail & { hints: string[] }> {
		const scopes = ['gmail.send', 'gmail.compose', 'gmail.readonly', 'gmail.settings.basic'];
		const clients = testClients(mails.google.url, mails.google.tokens.issue({ scopes }));
		let result: DeliveredMail | undefined;
		for (const slot of ['recentMails', 'mailKeys'])
			Reflect.deleteProperty(globalThis, Symbol.for(`n8n-nodes-agent-workspace.${slot}`));
		await jest.isolateModulesAsync(async () => {
			const { send: operation } =
				await import('../../../../../nodes/Workspace/actions/mail/send.operation');
			const given = { ...mail, ...parameters, ...options, idempotencyKey: key };
			const fields = [...operation.fields, ...operation.options];
			const params = readParameters(fields, given, { mode: 'fields', timezone: 'UTC' });
			const prepared = operation.prepare?.(params, item);
			if (prepared) result = await operation.send?.(clients, prepared, item);
		});
		if (!result) throw new Error('not run');
		return { ...result, hints: item.hints };
	}

	const send = async (key: string, parameters: IDataObject = {}, options: IDataObject = {}) => {
		const keyed = { idempotencyKey: key, ...options };
		const [item] = await mails.run('send', { ...mail, ...parameters }, keyed);
		return item?.json;
	};

	describe('the same key', () => {
		it('sends once in one process, also when Gmail lists the email late', async () => {
			mails.gmail.indexDelayMilliseconds = 600_000;
			const key = newKey();
			const first = await send(key);
			const { id, threadId } = mails.only;
			expect(first).toEqual({ id, threadId, labelIds: ['SENT'] });
			expect(await send(key)).toEqual({ ...first, repeated: true });
			expect(mails.sent).toHaveLength(1);
		});

		it('sends once across processes', async () => {
			mails.gmail.seed({ labelIds: ['SENT'], to: mail.to, subject: mail.subject });
			const key = newKey();
			const first = await send(key);
			expect(await elsewhere(key)).toEqual({ ...first, repeated: true, hints: [] });
			expect(mails.sent).toHaveLength(1);
		});

		it('saves one draft across processes', async () => {
			mails.signIn(['gmail.compose', 'gmail.readonly']);
			const key = newKey();
			const first = await send(key, { sendAs: 'draft' });
			const again = await elsewhere(key, { sendAs: 'draft' });
			expect(again).toEqual({ ...first, repeated: true, hints: [] });
			expect(mails.count('drafts.create')).toBe(1);
		});

		it('tells when another process saved the draft at the same moment', async () => {
			const key = newKey();
			await elsewhere(key, { sendAs: 'draft' });
			mails.google.fault({ match: 'gmail.users.drafts.list', status: 200, body: {} });
			const { hints } = await elsewhere(key, { sendAs: 'draft' });
			expect(hints).toEqual([
				expect.stringMatching(/^Two executions saved an email with this key/),
			]);
		});

		it('an email that Gmail rejects was not sent, and is not looked for', async () => {
			mails.google.fault({ match: ofSend, status: 400 });
			const failure = await failureOf(send(newKey()));
			expect(failure.message).not.toContain('may have been sent');
			expect(mails.count('messages.list')).toBe(1);
		});

		it('an execution that is stopped before the send has sent nothing, and says nothing else', async () => {
			mails.gmail.signatures = { 'someone@example.com': 'Sam' };
			const item = testItem({ signal: AbortSignal.abort(new Error('stopped')) });
			const running = elsewhere(newKey(), {}, { includeSignature: true }, item);
			await expect(running).rejects.toThrow(/^stopped$/);
			expect(counts()).toEqual([0, 0]);
		});

		it('sends once for items of one run and for runs side by side', async () => {
			const key = newKey();
			const twice = [{ json: {} }, { json: {} }];
			const items = await mails.run('send', mail, { idempotencyKey: key }, twice);
			const more = await Promise.all([send(key), send(key), send(key)]);
			const [first, ...others] = [...items.map(({ json }) => json), ...more];
			expect(first).not.toHaveProperty('repeated');
			expect(others.map((json) => json?.['repeated'])).toEqual([true, true, true, true]);
			const results = [first, ...others];
			expect(new Set(results.map((json) => json?.['id'])).size).toBe(1);
			expect(mails.sent).toHaveLength(1);
		});

		it.each<[string, Fault]>([
			['lost its answer', { connection: 'resetAfter' }],
			['cannot read its answer', unreadable],
			['got no ID', { ...unreadable, body: {} }],
		])('sends once when the first run %s', async (_what, fault) => {
			const key = newKey();
			mails.gmail.indexDelayMilliseconds = 500;
			mails.google.fault({ match: ofSend, ...fault });
			const [first, second] = await Promise.all([send(key), send(key)]);
			// Whichever has the turn first.
			const repeated = [first, second].filter((one) => one?.['repeated'] === true);
			expect(repeated).toHaveLength(1);
			expect(mails.sent).toHaveLength(1);
		});

		it.each<[string, IDataObject, IDataObject]>([
			['body', { body: 'Hi Bob' }, {}],
			['copy', {}, { cc: 'bob@example.com' }],
			['header', {}, { headers: { header: [{ name: 'X-A', value: '1' }] } }],
		])('is refused everywhere for another %s', async (_what, parameters, options) => {
			const key = newKey();
			await send(key);
			const failure = await failureOf(send(key, parameters, options));
			expect(failure.httpCode).toBe('409');
			expect(failure.message).toBe(
				`'Idempotency Key' was already used for different content: the email ${mails.only.id}`,
			);
			const there = elsewhere(key, parameters, options);
			await expect(there).rejects.toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
			expect(mails.sent).toHaveLength(1);
		});

		it('sends again what was deleted', async () => {
			const key = newKey();
			await send(key);
			mails.gmail.remove(mails.sent[0]?.id ?? '');
			expect((await send(key))?.['repeated']).toBeUndefined();
			expect(mails.sent).toHaveLength(2);
		});

		const emptyList = { match: 'gmail.users.messages.list', status: 200, body: {} };

		it('tells when another process sent the email at the same moment', async () => {
			const key = newKey();
			const first = await elsewhere(key);
			// Gmail does not list it yet.
			mails.google.fault(emptyList);
			await send(key);
			expect(mails.sent).toHaveLength(2);
			mails.google.fault(emptyList);
			const { hints, repeated } = await elsewhere(key);
			expect(repeated).toBeUndefined();
			expect(hints).toEqual([expect.stringContaining(mails.sent[1]?.id ?? first.id)]);
			// Of several, the first that was sent.
			expect(await elsewhere(key)).toMatchObject({ id: first.id, repeated: true });
		});
	});

	it('is looked for among the emails of 30 days by three recipients and eight words', async () => {
		const from = Math.floor(Date.now() / 1000);
		const to = ['a', 'b', 'c', 'd'].map((name) => `${name}@example.com`).join();
		const subject = 'One two three four five six seven eight nine';
		await send(newKey(), { to, subject });
		const [query = ''] = mails.queries.filter((one) => one.includes('after:'));
		const since = Number(/after:(\d+)/.exec(query)?.[1]) + 30 * 24 * 60 * 60;
		expect(since).toBeGreaterThanOrEqual(from);
		expect(since).toBeLessThanOrEqual(Date.now() / 1000);
		const terms = query.match(/\b(?:to|subject):\S+?(?=[ &]|$)/g);
		const words = subject.toLowerCase().split(' ').slice(0, 8);
		expect(terms).toEqual([
			...['a', 'b', 'c'].map((name) => `to:${name}@example.com`),
			...words.map((word) => `subject:${word}`),
		]);
		expect(query).toContain('maxResults=100');
	});

	it('more emails than are looked at: the email is sent, and a hint says so', async () => {
		const id = mails.gmail.seed({ subject: 'Other' });
		const messages = Array.from({ length: 100 }, () => ({ id }));
		mails.google.fault({ match: 'gmail.users.messages.list', status: 200, body: { messages } });
		expect((await elsewhere(newKey())).hints).toEqual([
			expect.stringMatching(/^Many emails of the last 30 days have these recipients/),
		]);
		expect(mails.sent).toHaveLength(1);
	});

	it('a draft: each folder is searched by itself, so that no hint adds them up', async () => {
		const id = mails.gmail.seed({ subject: 'Other' });
		const messages = Array.from({ length: 60 }, () => ({ id }));
		const drafts = messages.map((message) => ({ id: 'draft', message }));
		const [listed, saved] = ['gmail.users.messages.list', 'gmail.users.drafts.list'];
		mails.google.fault({ match: listed, status: 200, body: { messages } });
		mails.google.fault({ match: saved, status: 200, body: { drafts } });
		expect((await elsewhere(newKey(), { sendAs: 'draft' })).hints).toEqual([]);
	});

	it('an email that was sent is a success, also if nobody can look for another with its key', async () => {
		mails.google.fault({ match: 'gmail.users.messages.list', nth: 2, status: 403 });
		expect(await elsewhere(newKey())).toMatchObject({ id: mails.sent[0]?.id, hints: [] });
	});

	it('another key sends another email', async () => {
		await send(newKey());
		await send(newKey());
		expect(mails.sent).toHaveLength(2);
	});

	it('the email carries a hash of the key, never the key', async () => {
		const key = `${newKey()}-secret-4711`;
		await send(key);
		const marker = findHeader(mails.sent[0]?.mime.headers ?? [], 'X-Agent-Workspace-Id');
		expect(marker).toMatch(/^[0-9a-f-]{36} [0-9a-f]{64} [0-9a-f]{32}$/);
		expect(mails.sent[0]?.raw.toString()).not.toContain('secret-4711');
	});

	it.each([
		['Grüße – 你好 "x" 50% (neu)', "o'neil@example.com, jörg@example.com"],
		['OR -from:x {a b} subject:y', 'ann+tag@example.com'],
		['', 'ann@example.com'],
	])('the mail is found again whatever its subject is: %s', async (subject, to) => {
		const key = newKey();
		const other = subject === '' ? { subject: 'x' } : { subject };
		await send(key, { ...other, to });
		expect((await elsewhere(key, { ...other, to })).repeated).toBe(true);
		expect(mails.sent).toHaveLength(1);
	});

	it('a sign-in that may not read sends nothing with a key, and says why', async () => {
		mails.google.reset();
		mails.signIn(['gmail.send']);
		const failure = await failureOf(send(newKey()));
		expect(failure.httpCode).toBe('403');
		expect(failure.description).toContain('https://www.googleapis.com/auth/gmail.readonly');
		expect(mails.sent).toEqual([]);
	});

	it('a key of white space is refused before anything is asked', async () => {
		const sending = mails.run('send', mail, { idempotencyKey: ' ' });
		expect(await mails.refused(sending)).toContain("'Idempotency Key'");
	});
});

it('an account whose settings name no address of its own is known by its profile', async () => {
	const match = 'gmail.users.settings.sendAs.list';
	mails.google.fault({ match, status: 200, body: { sendAs: [] }, times: 99 });
	await mails.run('send', mail, { idempotencyKey: 'order-1' });
	expect(mails.methods).toContain('getProfile');
});
