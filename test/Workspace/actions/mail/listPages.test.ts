import { Mails } from './mails';
import { failureOf } from '../../../createExecuteContext';

const mails = new Mails();

test('each email is asked for once', async () => {
	for (let mail = 0; mail < 620; mail++) mails.google.gmail.seed({ subject: `Mail ${mail}` });
	expect(await mails.run('list', { returnAll: true })).toHaveLength(620);
	expect(mails.methods.filter((method) => method === 'messages.get')).toHaveLength(620);
	expect(mails.methods.filter((method) => method === 'messages.list')).toHaveLength(2);
});

test('an email that cannot be fetched fails the item', async () => {
	for (let mail = 0; mail < 3; mail++) mails.google.gmail.seed({ subject: `Mail ${mail}` });
	mails.google.fault({ match: 'gmail.users.messages.get', nth: 3, status: 400 });
	expect((await failureOf(mails.run('list', {}))).httpCode).toBe('400');
});

test('an empty token for the next page is the end of the list', async () => {
	const id = mails.google.gmail.seed({});
	const body = { messages: [{ id, threadId: id }], nextPageToken: '' };
	mails.google.fault({ match: 'gmail.users.messages.list', times: 3, status: 200, body });
	expect(await mails.run('list', { returnAll: true })).toMatchObject([{ json: { id } }]);
	expect(mails.methods.filter((method) => method === 'messages.list')).toHaveLength(1);
	const [page] = await mails.run('list', {}, { output: 'page' });
	expect(page?.json).not.toHaveProperty('nextPageToken');
});
