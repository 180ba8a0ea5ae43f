import type { Fault } from '../../../../../dev/google/server';
import { failureOf } from '../../../../executeContext';
import { Mails } from '../mails';

const mails = new Mails();
// A mail that is not found is looked for several times.
jest.setTimeout(30_000);
const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
const ofSend = 'gmail.users.messages.send';
const sends = () => mails.methods.filter((method) => method === 'messages.send');

describe('a send that breaks off after the email left', () => {
	it.each<[string, Fault]>([
		['the connection is reset', { connection: 'resetAfter' }],
		['the answer is cut', { connection: 'cutBody' }],
		['the answer is a 502 of a proxy', { status: 502, body: '<html>Bad Gateway</html>', carriedOut: true }],
		['the answer is a 500', { status: 500, carriedOut: true }],
		['no answer comes in time', { connection: 'blackHoleAfter' }],
	])('%s: the item succeeds with its id, and one mail went out', async (_what, fault) => {
		mails.google.gmail.seed({ labelIds: ['SENT'] });
		mails.google.fault({ match: ofSend, ...fault });
		const [item] = await mails.run('send', mail, { timeoutSeconds: 1 });
		const [only] = mails.google.gmail.sent;
		expect(mails.google.gmail.sent).toHaveLength(1);
		expect(item?.json).toEqual({ id: only?.id, threadId: only?.threadId, labelIds: ['SENT'] });
		expect(sends()).toHaveLength(1);
	});

	it('is found although Gmail lists it late', async () => {
		mails.google.gmail.indexDelayMilliseconds = 500;
		mails.google.fault({ match: ofSend, connection: 'resetAfter' });
		const [item] = await mails.run('send', mail);
		expect(item?.json['id']).toBe(mails.google.gmail.sent[0]?.id);
		expect(sends()).toHaveLength(1);
	});

	it('is not known when Gmail lists it too late, and is never sent again', async () => {
		mails.google.gmail.indexDelayMilliseconds = 600_000;
		mails.google.fault({ match: ofSend, connection: 'resetAfter' });
		const failure = await failureOf(mails.run('send', mail));
		expect(failure.message).toMatch(/^The email may have been sent: /);
		expect(failure.description).toMatch(/not among the newest sent emails.*Sent folder/);
		expect(failure.httpCode).toBe('503');
		expect([sends().length, mails.google.gmail.sent.length]).toEqual([1, 1]);
	});

	it('says that it may not look when the sign-in cannot read', async () => {
		mails.google.reset();
		mails.signIn(['gmail.send']);
		mails.google.fault({ match: ofSend, connection: 'resetAfter' });
		const failure = await failureOf(mails.run('send', mail));
		expect(failure.description).toContain('not allowed to read the mailbox (scope gmail.readonly)');
		expect(sends()).toHaveLength(1);
	});

	it('says that it could not look when Gmail is down', async () => {
		mails.google.fault({ match: ofSend, connection: 'resetAfter' });
		mails.google.fault({ match: 'gmail.users.messages.list', status: 500, times: 99 });
		const failure = await failureOf(mails.run('send', mail, { maxTries: 1 }));
		expect(failure.description).toContain('could not look for the email');
		expect(sends()).toHaveLength(1);
	});
});

it('a send that was reset before the email left is not repeated either', async () => {
	mails.google.fault({ match: ofSend, connection: 'resetBefore' });
	const failure = await failureOf(mails.run('send', mail));
	expect(failure.message).toMatch(/^The email may have been sent/);
	expect([sends().length, mails.google.gmail.sent.length]).toEqual([1, 0]);
});

it.each([
	['429', { status: 429, retryAfter: 0 }],
	['403 with a rate reason', { status: 403, reason: 'userRateLimitExceeded' }],
])('%s was refused for sure: it is tried again, and one mail goes out', async (_what, fault) => {
	mails.google.fault({ match: ofSend, ...fault });
	await mails.run('send', mail);
	expect([sends().length, mails.google.gmail.sent.length]).toEqual([2, 1]);
});

it('a longer Retry-After than allowed fails at once and names the wait', async () => {
	mails.google.fault({ match: ofSend, status: 429, retryAfter: 90 });
	const failure = await failureOf(mails.run('send', mail, { maxRetryWaitSeconds: 10 }));
	expect(failure.description).toContain('90 seconds');
	expect(sends()).toHaveLength(1);
});

it('no error says what the email says', async () => {
	mails.google.fault({ match: ofSend, status: 400, message: 'Invalid To header' });
	const secret = 'canary body 4711';
	const failure = await failureOf(mails.run('send', { ...mail, body: secret }));
	expect(failure.message).toContain('Invalid To header');
	expect(JSON.stringify(failure) + String(failure.stack)).not.toContain(secret);
});
