import { failureOf } from '../../../../executeContext';
import { Mails } from '../mails';

const mails = new Mails();
beforeEach(() => {
	mails.google.gmail.labels = { Label_1: 'Clients/Acme', Label_2: 'To Do', Label_3: 'Straße' };
});
const listed = () => mails.google.requests.filter(({ method }) => method === 'gmail.users.messages.list');

describe('labels', () => {
	it.each<[unknown, string[], number]>([
		[['INBOX', 'Label_1'], ['INBOX', 'Label_1'], 0],
		['INBOX, CATEGORY_SOCIAL', ['INBOX', 'CATEGORY_SOCIAL'], 0],
		[['Clients/Acme'], ['Label_1'], 1],
		[['to do', 'inbox'], ['Label_2', 'INBOX'], 1],
		[['STRAßE'], ['Label_3'], 1],
	])('%j are asked for as %j', async (labelIds, ids, looks) => {
		await mails.json({ operation: 'list', labelIds });
		expect(listed()[0]?.query.getAll('labelIds')).toEqual(ids);
		expect(mails.methods.filter((method) => method === 'labels.list')).toHaveLength(looks);
	});

	it('are looked up once for all items of a run', async () => {
		await mails.run('list', {}, { labelIds: ['To Do'] }, [{ json: {} }, { json: {} }, { json: {} }]);
		expect(mails.methods.filter((method) => method === 'labels.list')).toHaveLength(1);
		expect(listed()).toHaveLength(3);
	});

	it('that the mailbox does not have are named, with those that it has', async () => {
		const failure = await failureOf(mails.run('list', {}, { labelIds: ['Acme'] }));
		expect(failure.message).toBe("'Label Names or IDs': the mailbox has no label 'Acme'");
		expect(failure.description).toMatch(/^Labels of the mailbox: Clients\/Acme, To Do, Straße, CHAT,/);
		expect(listed()).toEqual([]);
	});

	it('with an id that is none are refused by Gmail', async () => {
		const failure = await failureOf(mails.run('list', {}, { labelIds: ['Label_9'] }));
		expect([failure.httpCode, failure.message]).toEqual(['400', 'Gmail: Invalid label: Label_9']);
	});
});
