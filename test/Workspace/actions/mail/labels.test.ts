import type { IDataObject } from 'n8n-workflow';

import { standardScopes } from '../../../../dev/google/tokens';
import { changesLabels } from '../../../../nodes/Workspace/actions/mail/list/labels';
import { Mails } from './mails';

const mails = new Mails();
beforeEach(() => {
	mails.signIn([...standardScopes, 'gmail.modify']);
	jest.spyOn(Math, 'random').mockReturnValue(0);
});

const modify = 'gmail.users.messages.batchModify';
const bodies = () =>
	mails.google.requests.flatMap(({ method, body }) => (method === modify ? [body] : []));
const seed = (count: number, more: object = {}) =>
	Array.from({ length: count }, (_, at) =>
		mails.gmail.seed({
			subject: `Mail ${at}`,
			date: new Date(Date.UTC(2026, 0, 1, 0, at)),
			...more,
		}),
	);
const idsOf = (items: ReadonlyArray<{ json: IDataObject }>) => items.map(({ json }) => json['id']);
const unread = async () => idsOf(await mails.run('list', { status: 'unread', returnAll: true }));

it('marks exactly the emails that are given out, after they were read, in one request', async () => {
	const ids = seed(5);
	const wanted = { status: 'unread', maxResults: 2 };
	const items = await mails.run('list', wanted, { markAsRead: true });
	expect(idsOf(items)).toEqual([ids[4], ids[3]]);
	expect(items[0]?.json['status']).toBe('unread');
	const change = { ids: [ids[4], ids[3]], addLabelIds: [], removeLabelIds: ['UNREAD'] };
	expect(bodies()).toEqual([change]);
	expect(mails.methods.at(-1)).toBe('messages.batchModify');
	expect(await unread()).toEqual([ids[2], ids[1], ids[0]]);
});

it('adds and removes labels by name, and archives', async () => {
	mails.gmail.labels = { Label_1: 'Clients/Acme' };
	seed(1);
	const change = { addLabels: 'clients/acme', removeLabels: ['INBOX'] };
	await mails.run('search', { query: 'Mail' }, change);
	const [item] = await mails.run('search', { query: 'Mail' });
	expect(item?.json['labelIds']).toEqual(['UNREAD', 'Label_1']);
});

it.each([
	[true, [], [], true],
	[false, ['STARRED'], [], true],
	[false, [], ['INBOX'], true],
	[false, ['STARRED'], ['INBOX'], true],
	[false, [], [], false],
])('may change emails: %j %j %j', (markAsRead, addLabels, removeLabels, expected) => {
	expect(changesLabels({ markAsRead, addLabels, removeLabels })).toBe(expected);
});

it('a read of a conversation marks all of its emails', async () => {
	const [first = ''] = seed(1);
	const [second] = seed(1, { threadId: first });
	const other = seed(1);
	await mails.run('read', { messageId: first }, { wholeConversation: true, markAsRead: true });
	expect(bodies()).toMatchObject([{ ids: [first, second] }]);
	expect(await unread()).toEqual(other);
});

it('asks for nothing where there is no email, or nothing to change', async () => {
	await mails.run('list', {}, { markAsRead: true });
	seed(1);
	await mails.run('list', {}, { markAsRead: false, addLabels: [] });
	expect(bodies()).toEqual([]);
});

it.each([
	[{ addLabels: 'None' }, /^'Add Label Names or IDs': the mailbox has no label 'None'/],
	[{ removeLabels: 'None' }, /^'Remove Label Names or IDs': the mailbox has no label 'None'/],
])('%j fails before an email is read', async (options, words) => {
	seed(1);
	expect((await mails.failure('list', {}, options)).message).toMatch(words);
	expect(mails.methods.filter((method) => method !== 'labels.list')).toEqual([]);
});

it('without the scope the item fails, names it, and nothing is marked', async () => {
	const ids = seed(1);
	mails.signIn(['gmail.readonly']);
	const failure = await mails.failure('list', {}, { markAsRead: true });
	const scope = 'https://www.googleapis.com/auth/gmail.modify';
	expect(failure.httpCode).toBe('403');
	expect(failure.description).toContain(`lacks the scope ${scope}`);
	expect(await unread()).toEqual(ids);
});

const mayNotBeChanged = [
	expect.stringMatching(/^The labels of some returned emails may not have been changed/),
];

it('gives emails out, with a hint, if they may have been marked', async () => {
	seed(1);
	mails.google.fault({ match: modify, times: Infinity, connection: 'resetAfter' });
	const { items, hints } = await mails.hinted({
		operation: 'list',
		options: { markAsRead: true, timeLimits: { limits: { maxRetryWaitSeconds: 1 } } },
	});
	expect([items.length, hints]).toEqual([1, mayNotBeChanged]);
});

it('sends a thousand at once; what failed after the first thousand is told in a hint', async () => {
	seed(1001);
	mails.google.fault({ match: modify, nth: 2, status: 403 });
	const options = { markAsRead: true };
	const { items, hints } = await mails.hinted({ operation: 'list', returnAll: true, options });
	expect([items.length, hints]).toEqual([1001, mayNotBeChanged]);
	expect(bodies().map((body) => (body as { ids: string[] }).ids.length)).toEqual([1000, 1]);
	expect(await unread()).toHaveLength(1);
});
