import type { IDataObject } from 'n8n-workflow';

import { headerOf } from '../../../../../dev/google/gmail/mime';
import type { SentMail } from '../../../../../nodes/Workspace/actions/mail/send/deliver';
import { paramsOf } from '../../../../../nodes/fields/params';
import { failureOf } from '../../../../executeContext';
import { testClients, testItem } from '../../../client';
import { Mails } from '../mails';

const mails = new Mails();
jest.setTimeout(30_000);
const mail = { to: 'ann@example.com', subject: 'Your order 4711 has shipped', body: 'Hi Ann' };
const sent = () => mails.google.gmail.sent;

const reading = { mode: 'fields', timezone: 'UTC' } as const;
let counter = 0;
/** A key that no test used before: what a process has sent it remembers. */
const newKey = () => `key-${++counter}`;

/** In a process that knows nothing of the one before: the operation from modules of its own. */
async function elsewhere(
	key: string,
	parameters: IDataObject = {},
	options: IDataObject = {},
): Promise<SentMail & { hints: string[] }> {
	const clients = testClients(mails.google.url, mails.google.tokens.issue());
	const item = testItem();
	let result: SentMail | undefined;
	await jest.isolateModulesAsync(async () => {
		const { send: operation } = await import('../../../../../nodes/Workspace/actions/mail/send.operation');
		const given = { ...mail, ...parameters, ...options, idempotencyKey: key };
		const params = paramsOf([...operation.fields, ...operation.options], given, reading);
		result = await operation.execute(clients, params, item);
	});
	if (!result) throw new Error('not run');
	return { ...result, hints: item.hints };
}

const send = async (key: string, parameters: IDataObject = {}, options: IDataObject = {}) =>
	(await mails.run('send', { ...mail, ...parameters }, { idempotencyKey: key, ...options }))[0]?.json;

describe('the same key', () => {
	it('sends once in one process, also when Gmail lists the email late', async () => {
		mails.google.gmail.indexDelayMilliseconds = 600_000;
		const key = newKey();
		const first = await send(key);
		expect(first).toEqual({ id: sent()[0]?.id, threadId: sent()[0]?.threadId, labelIds: ['SENT'] });
		expect(await send(key)).toEqual({ ...first, repeated: true });
		expect(sent()).toHaveLength(1);
	});

	it('sends once across processes', async () => {
		mails.google.gmail.seed({ labelIds: ['SENT'], to: mail.to, subject: mail.subject });
		const key = newKey();
		const first = await send(key);
		expect(await elsewhere(key)).toEqual({ ...first, repeated: true, hints: [] });
		expect(sent()).toHaveLength(1);
	});

	it('sends once for items of one run and for runs side by side', async () => {
		const key = newKey();
		const items = await mails.run('send', mail, { idempotencyKey: key }, [{ json: {} }, { json: {} }]);
		const more = await Promise.all([send(key), send(key), send(key)]);
		const results = [...items.map(({ json }) => json), ...more];
		expect(results.map((json) => json?.['repeated'])).toEqual([undefined, true, true, true, true]);
		expect(new Set(results.map((json) => json?.['id'])).size).toBe(1);
		expect(sent()).toHaveLength(1);
	});

	it('sends once when the first run did not learn that the email left', async () => {
		const key = newKey();
		mails.google.gmail.indexDelayMilliseconds = 500;
		mails.google.fault({ match: 'gmail.users.messages.send', connection: 'resetAfter' });
		const [first, second] = await Promise.all([send(key), send(key)]);
		// Whichever has the turn first.
		const repeated = [first, second].filter((one) => one?.['repeated'] === true);
		expect(repeated).toHaveLength(1);
		expect(sent()).toHaveLength(1);
	});

	it.each<[string, IDataObject, IDataObject]>([
		['body', { body: 'Hi Bob' }, {}],
		['copy', {}, { cc: 'bob@example.com' }],
		['header', {}, { headers: { header: [{ name: 'X-A', value: '1' }] } }],
	])('with another %s is refused, here and in another process', async (_what, parameters, options) => {
		const key = newKey();
		await send(key);
		const failure = await failureOf(send(key, parameters, options));
		expect(failure.httpCode).toBe('409');
		expect(failure.message).toBe(
			`'Idempotency Key' was already used for different content: the message ${sent()[0]?.id ?? ''}`,
		);
		await expect(elsewhere(key, parameters, options)).rejects.toMatchObject({
			code: 409,
			status: 'ALREADY_EXISTS',
		});
		expect(sent()).toHaveLength(1);
	});

	it('sends again what was deleted', async () => {
		const key = newKey();
		await send(key);
		mails.google.gmail.remove(sent()[0]?.id ?? '');
		expect((await send(key))?.['repeated']).toBeUndefined();
		expect(sent()).toHaveLength(2);
	});

	it('tells when another process sent the email at the same moment', async () => {
		const key = newKey();
		const first = await elsewhere(key);
		// Gmail does not list it yet.
		mails.google.fault({ match: 'gmail.users.messages.list', status: 200, body: {} });
		await send(key);
		expect(sent()).toHaveLength(2);
		mails.google.fault({ match: 'gmail.users.messages.list', status: 200, body: {} });
		const { hints, repeated } = await elsewhere(key);
		expect(repeated).toBeUndefined();
		expect(hints).toEqual([expect.stringContaining(sent()[1]?.id ?? first.id)]);
	});
});

it('another key sends another email', async () => {
	await send(newKey());
	await send(newKey());
	expect(sent()).toHaveLength(2);
});

it('the email carries a hash of the key, never the key', async () => {
	const key = `${newKey()}-secret-4711`;
	await send(key);
	const marker = headerOf(sent()[0]?.mime.headers ?? [], 'X-Agent-Workspace-Id');
	expect(marker).toMatch(/^[0-9a-f-]{36} [0-9a-f]{64} [0-9a-f]{32}$/);
	expect(sent()[0]?.raw.toString()).not.toContain('secret-4711');
});

it.each([
	['Grüße – 你好 "x" 50% (neu)', '"a b"@example.com, jörg@example.com'],
	['OR -from:x {a b} subject:y', 'ann+tag@example.com'],
	['', 'ann@example.com'],
])('the mail is found again whatever its subject is: %s', async (subject, to) => {
	const key = newKey();
	const other = subject === '' ? { subject: 'x' } : { subject };
	await send(key, { ...other, to });
	expect((await elsewhere(key, { ...other, to })).repeated).toBe(true);
	expect(sent()).toHaveLength(1);
});

it('a sign-in that may not read sends nothing with a key, and says why', async () => {
	mails.google.reset();
	mails.signIn(['gmail.send']);
	const failure = await failureOf(send(newKey()));
	expect(failure.httpCode).toBe('403');
	expect(failure.description).toContain('https://www.googleapis.com/auth/gmail.readonly');
	expect(sent()).toEqual([]);
});

it('a key of white space is refused before anything is asked', async () => {
	expect(await mails.refused(mails.run('send', mail, { idempotencyKey: ' ' }))).toContain(
		"'Idempotency Key'",
	);
});
