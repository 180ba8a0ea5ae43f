import type { IDataObject } from 'n8n-workflow';

import { headerOf } from '../../../../../dev/google/gmail/mime';
import { failureOf } from '../../../../executeContext';
import { runNode } from '../../../runNode';
import { Mails } from '../mails';

const mails = new Mails();
const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
const froms = () => mails.google.gmail.sent.map(({ mime }) => headerOf(mime.headers, 'From'));

async function from(options: IDataObject = {}) {
	await mails.run('send', mail, options);
	return froms().at(-1);
}

describe('the sender', () => {
	it.each<[string, IDataObject, string]>([
		['the name in the settings', {}, 'Sam Someone <someone@example.com>'],
		[
			'the name in the settings of an alias',
			{ fromAlias: 'Sales@example.com' },
			'"Sales, Inc." <Sales@example.com>',
		],
		[
			'the name of the account for an alias without one',
			{ fromAlias: 'help@example.com' },
			'Sam Someone <help@example.com>',
		],
		['the name that the user gives', { senderName: 'Ann' }, 'Ann <someone@example.com>'],
		[
			'the name that the user gives an alias',
			{ fromAlias: 'Desk <sales@example.com>' },
			'Desk <sales@example.com>',
		],
	])('has %s', async (_what, options, expected) => {
		mails.google.gmail.aliases = ['sales@example.com', 'Sales@example.com', 'help@example.com'];
		mails.google.gmail.displayNames = {
			'someone@example.com': 'Sam Someone',
			'sales@example.com': 'Sales, Inc.',
		};
		expect(await from(options)).toBe(expected);
	});

	it('without a name anywhere is left to Gmail, an alias is named alone', async () => {
		mails.google.gmail.displayNames = {};
		mails.google.gmail.aliases = ['sales@example.com'];
		expect([await from(), await from({ fromAlias: 'sales@example.com' })]).toEqual([
			undefined,
			'sales@example.com',
		]);
	});

	it('has a name of any letters, on one line', async () => {
		mails.google.gmail.displayNames = { 'someone@example.com': 'Jörg\r\nBcc: evil@example.com 山田' };
		expect(await from()).toBe('Jörg Bcc: evil@example.com 山田 <someone@example.com>');
		expect(mails.google.gmail.sent[0]?.recipients).toEqual(['ann@example.com']);
	});

	it('is looked up once for an account', async () => {
		const sent = (times: number) => Array<string>(times).fill('messages.send');
		await mails.run('send', mail, {}, [{ json: {} }, { json: {} }, { json: {} }]);
		await mails.run('send', mail);
		expect(mails.methods).toEqual(['settings.sendAs.list', ...sent(4)]);
	});

	it('is looked up again for another sign-in', async () => {
		mails.google.gmail.displayNames = { 'someone@example.com': 'Sam Someone' };
		await mails.run('send', mail);
		mails.google.gmail.displayNames = { 'someone@example.com': 'Somebody Else' };
		const parameters = { resource: 'mail', operation: 'send', ...mail };
		const credential = { oauthTokenData: { access_token: 'of somebody else' } };
		await runNode({ url: mails.google.url, parameters, credential });
		expect(froms()).toEqual(['Sam Someone <someone@example.com>', 'Somebody Else <someone@example.com>']);
	});

	it('is looked up again after a failure', async () => {
		mails.google.gmail.displayNames = { 'someone@example.com': 'Sam Someone' };
		mails.google.fault({ match: 'gmail.users.settings.sendAs.list', status: 503 });
		expect([await from(), await from()]).toEqual([undefined, 'Sam Someone <someone@example.com>']);
	});

	it.each<[string, () => void]>([
		[
			'the scope is missing',
			() => {
				mails.google.reset();
				mails.signIn(['gmail.send']);
			},
		],
		[
			'Gmail is down',
			() => {
				mails.google.fault({ match: 'gmail.users.settings.sendAs.list', status: 503, times: 9 });
			},
		],
		[
			'Gmail limits the rate',
			() => {
				mails.google.fault({ match: 'gmail.users.settings.sendAs.list', status: 429 });
			},
		],
		[
			'the connection breaks',
			() => {
				mails.google.fault({ match: 'gmail.users.settings.sendAs.list', connection: 'resetAfter' });
			},
		],
	])('is left to Gmail when %s: the mail goes out after one look', async (_what, spoil) => {
		spoil();
		expect(await from()).toBeUndefined();
		expect(mails.methods).toEqual(['settings.sendAs.list', 'messages.send']);
	});
});

it('a service account without delegation has no mailbox, and nothing is sent', async () => {
	mails.google.reset();
	mails.google.tokens.issue({ token: 'canary-access-token', user: 'robot@project.iam.gserviceaccount.com' });
	const failure = await failureOf(mails.run('send', mail));
	expect(failure.message).toContain('Precondition check failed');
	expect(mails.google.gmail.sent).toEqual([]);
});
