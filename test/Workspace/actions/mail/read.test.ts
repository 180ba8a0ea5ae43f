import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { parseMessage } from '../../../../nodes/Workspace/actions/mail/message';
import { testClients, testItem } from '../../client';
import { token } from '../../runNode';
import { Mails } from './mails';
import { file, html, mixed, plain, related, typed } from './parts';

const mails = new Mails();

it('gives everything of an email, addresses as they stand in it', async () => {
	const head = [
		'From: =?utf-8?Q?J=C3=B6rg?= <joerg@example.com>',
		'To: "Doe, John" <john@example.com>,',
		' ann@example.com',
		'CC: c@example.com',
		'Reply-To: Desk <desk@example.com>',
		'Subject: =?utf-8?B?R3LDvMOfZQ==?=',
	];
	const { json } = await mails.read([...head, plain('Hello\n\nBye')].join('\n'));
	expect(json).toEqual({
		id: expect.stringMatching(/^[0-9a-f]{16}$/) as unknown,
		threadId: json['id'],
		labelIds: ['INBOX', 'UNREAD'],
		snippet: 'Hello Bye',
		subject: 'Grüße',
		sender: 'Jörg <joerg@example.com>',
		to: '"Doe, John" <john@example.com>, ann@example.com',
		cc: 'c@example.com',
		bcc: '',
		replyTo: 'Desk <desk@example.com>',
		date: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
		status: 'unread',
		text: 'Hello\n\nBye',
		html: '',
		attachments: [],
	});
	expect(mails.methods).toEqual(['messages.get']);
});

describe('the text', () => {
	it.each([
		['flowed', 'We \nwould\n\nAnn \n\n-- \nAnn Lee', 'We would\n\nAnn \n\n-- \nAnn Lee'],
		['flowed', 'we \n-- \nAnn', 'we \n-- \nAnn'],
		['Flowed; DelSp=Yes', 'https://x.org/4f1c \n0a1b \n', 'https://x.org/4f1c0a1b'],
		['flowed', 'Hi\n From here\n >5 items', 'Hi\nFrom here\n>5 items'],
		['flowed', '> a \n> b\n>> c \n>> d \ne', '> a b\n>> c d \ne'],
		['"flowed"; delsp="yes"', '> a \n>  b\n>\n> -- \n> c', '> a b\n>\n> -- \n> c'],
		['fixed', 'a \nb', 'a \nb'],
	])('has whole lines where the sender wrapped them, %s: %j', async (format, wrapped, whole) => {
		const { json } = await mails.read(typed(`text/plain; format=${format}`, wrapped));
		expect(json['text']).toBe(whole);
	});

	it('comes whole when Gmail keeps it apart', async () => {
		const long = 'ü'.repeat(200_000);
		expect((await mails.read(plain(long))).json['text']).toBe(long);
		expect(mails.methods).toEqual(['messages.get', 'messages.attachments.get']);
	});
});

it('gives all headers, repeated ones too', async () => {
	const raw = 'Received: one\nReceived: two\nX-A: =?iso-8859-1?Q?=FC?=\n\nHi';
	const { json } = await mails.read(raw, { includeHeaders: true });
	expect(json['headers']).toEqual([
		{ name: 'Received', value: 'one' },
		{ name: 'Received', value: 'two' },
		{ name: 'X-A', value: 'ü' },
	]);
});

describe('a conversation', () => {
	const seed = (subject: string, day: number, text: string, more = '', threadId?: string) => {
		const raw = `Subject: ${subject}\nMessage-ID: <${day}@x.example>\n${more}${plain(text)}`;
		return mails.seed(raw, { date: new Date(Date.UTC(2026, 0, day)), threadId });
	};
	const answering = 'In-Reply-To: <1@x.example>\nReferences: <1@x.example>\n';
	const quoting = 'Yes.\n\nOn Thu, Jan 1, 2026 at 1:00 AM Ann <a@x.example> wrote:\n> Shall I?';

	it('is read whole, oldest first, by any of its messages', async () => {
		const question = seed('Offer', 1, 'Shall I?');
		const answer = seed('Re: Offer', 2, quoting, answering, question);
		const options = { wholeConversation: true, newTextOnly: true };
		const items = await mails.run('read', { messageId: answer }, options);
		expect(items.map(({ json }) => [json['id'], json['text']])).toEqual([
			[question, 'Shall I?'],
			[answer, 'Yes.'],
		]);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 0 }]);
		expect(mails.methods).toEqual(['messages.get', 'threads.get']);
	});

	it('gives only the new text of one message, and of those in a list', async () => {
		const messageId = seed('Re: Offer', 2, quoting, answering);
		const texts = [
			...(await mails.run('read', { messageId }, { newTextOnly: true })),
			...(await mails.run('list', {}, { includeBody: true, newTextOnly: true })),
			...(await mails.run('list', {}, { includeBody: true })),
		].map(({ json }) => json['text']);
		expect(texts).toEqual(['Yes.', 'Yes.', quoting]);
	});

	it('has files, each with its message', async () => {
		const messageId = mails.seed(mixed(plain('a'), file('a.pdf')));
		const read = { operation: 'read', messageId, downloadAttachments: true };
		const [item] = await mails.json({ ...read, wholeConversation: true });
		expect(item?.binary?.['attachment_0']).toMatchObject({ fileName: 'a.pdf' });
		const attachmentPrefix = 'file';
		const [prefixed] = await mails.json({ ...read, attachmentPrefix });
		expect(Object.keys(prefixed?.binary ?? {})).toEqual(['file0']);
	});
});

describe('what is not there', () => {
	const notFound = /^Gmail: Requested entity was not found\.$/;

	it.each([
		['18c0ffee12345678', '404', notFound, 'not in this mailbox'],
		['hello-world', '400', /./, '16 digits'],
	])('%s is named', async (messageId, code, words, advice) => {
		const { httpCode, message, description } = await mails.failure('read', { messageId });
		expect([httpCode, message]).toEqual([code, expect.stringMatching(words)]);
		expect(description).toContain(advice);
	});

	const noIds = ['a/b', '..', '.', 'x?y', '={{ undefined }}'];

	it.each(noIds)('%s is refused before anything is asked', async (messageId) => {
		expect(await mails.refused(mails.run('read', { messageId }))).toMatch(/'Message ID'/);
	});

	it('a missing scope is named', async () => {
		mails.signIn(['gmail.send']);
		const failure = await mails.failure('read', { messageId: '18c0ffee' });
		expect(failure.description).toContain('https://www.googleapis.com/auth/gmail.readonly');
	});
});

describe('attachments', () => {
	const logo = file('logo.png', 'Content-ID: <logo>\nContent-Disposition: inline\n');
	const report = file('report.pdf', 'Content-Disposition: attachment\n');
	const calendar = typed('text/calendar', 'BEGIN:VCALENDAR');
	const raw = mixed(related(html('<img src="cid:logo">'), logo), report, calendar);

	it('are always named', async () => {
		const { json, binary } = await mails.read(raw);
		expect(json['attachments']).toMatchObject([
			{ fileName: 'logo.png', size: 17, inline: true, contentId: 'logo' },
			{ fileName: 'report.pdf', size: 19, inline: false, contentId: '' },
			{ fileName: '', mimeType: 'text/calendar', inline: false },
		]);
		expect(binary).toBeUndefined();
		expect(mails.methods).toEqual(['messages.get']);
	});

	it('come as binary data on request', async () => {
		const { binary } = await mails.read(raw, { downloadAttachments: true });
		const files = Object.entries(binary ?? {}).map(([field, { fileName, mimeType, data }]) => [
			...[field, fileName, mimeType],
			Buffer.from(data, 'base64').toString(),
		]);
		const octets = 'application/octet-stream';
		expect(files).toEqual([
			['attachment_0', 'logo.png', octets, 'bytes of logo.png'],
			['attachment_1', 'report.pdf', octets, 'bytes of report.pdf'],
			['attachment_2', 'attachment_2.ics', 'text/calendar', 'BEGIN:VCALENDAR'],
		]);
	});

	it('have their whole name, although it has a slash', async () => {
		const { json, binary } = await mails.read(mixed(plain('x'), file('Offer 12/2026.pdf')), {
			downloadAttachments: true,
		});
		expect(json['attachments']).toMatchObject([{ fileName: 'Offer 12/2026.pdf' }]);
		expect(binary?.['attachment_0']).toMatchObject({ fileName: 'Offer 12_2026.pdf' });
		expect(binary?.['attachment_0']).not.toHaveProperty('directory');
	});
});

describe('a mail that is larger than any', () => {
	const leaf = (text: string, charset = 'utf-8'): gmail_v1.Schema$MessagePart => ({
		mimeType: 'text/plain',
		headers: [{ name: 'Content-Type', value: `text/plain; charset=${charset}` }],
		body: { data: Buffer.from(text).toString('base64url') },
	});
	async function parse(payload: gmail_v1.Schema$MessagePart, more: gmail_v1.Schema$Message = {}) {
		const item = testItem();
		const clients = testClients(mails.google.url, token);
		const mail = await parseMessage(clients, { id: '18c', ...more, payload }, item);
		return { ...mail, text: mail.content.text, hints: item.hints };
	}
	it.each([4_400, 440_000])('has a subject of %d encoded words', async (words) => {
		const value = '=?a?q?=80?==?b?q?=80?='.repeat(words / 2);
		const { summary, hints } = await parse({ headers: [{ name: 'Subject', value }] });
		expect([summary.subject, hints]).toEqual(['€'.repeat(words), []]);
	});

	it('has a date that is none, and names charsets that there are not', async () => {
		const value = Array.from({ length: 400 }, (_, at) => `=?x${at}?q?=80?=`).join('');
		const headers = [{ name: 'Subject', value }];
		const { summary, hints } = await parse({ headers }, { internalDate: '1e30' });
		expect([summary.date, summary.subject, hints]).toEqual(['', '€'.repeat(400), []]);
	});

	const noParts = [null, 5, 'x'];

	it.each<[string, object]>([
		['headers that are an object', { headers: { a: 1 } }],
		['parts that are a text', { mimeType: 'multipart/mixed', parts: 'xyz' }],
		['no parts', { mimeType: 'multipart/mixed', parts: noParts, headers: [null, 1] }],
		['numbers', { mimeType: 5, filename: 7, headers: [{ name: 1, value: { b: 2 } }] }],
	])('has %s, as a gateway may send it', async (_what, payload) => {
		const { summary, text } = await parse(payload);
		expect([summary.id, text]).toEqual(['18c', '']);
	});

	it('has more header fields', async () => {
		const headers = Array.from({ length: 18_000 }, (_, at) => ({
			name: 'To',
			value: `a${at}`,
		}));
		const mail = await parse({ headers });
		expect([mail.headers.length, mail.hints]).toEqual([18_000, []]);
	});

	const parts = Array.from({ length: 30_000 }, (_, at) => leaf(String(at)));
	const levels = Array.from({ length: 1_001 }, (_, at) => leaf(String(at)));
	const nested = levels.reduce((inner, part) => ({
		mimeType: 'multipart/mixed',
		parts: [part, inner],
	}));

	it.each([
		['parts', { mimeType: 'multipart/related', parts }, 30_000],
		['levels of parts', nested, 1_001],
	])('has more %s', async (_what, payload, count) => {
		const { text, hints } = await parse(payload);
		expect([text.split('\n').length, hints]).toEqual([count, []]);
	});

	it('has 12,000,000 letters of two bytes, which come whole', async () => {
		const { text, hints } = await parse(leaf('У'.repeat(12_000_000), 'koi8-r'));
		expect([text.length, hints]).toEqual([12_000_000, []]);
	});

	it('has a text that Gmail says is elsewhere, and more of it than can be read', async () => {
		const headers = [{ name: 'Subject', value: '=?utf-8?q?=C3=BC?=' }];
		const tooLong = { ...leaf('x'.repeat(76_000_000)), headers };
		const { text, summary, hints } = await parse(tooLong, { labelIds: ['UNREAD'] });
		expect([text, summary.subject, summary.status]).toEqual(['', 'ü', 'unread']);
		expect(hints).toEqual([
			'The content of the email 18c could not be read: it is longer than 100,000,000 characters.',
		]);
	});
});

describe('a response that would block n8n for seconds', () => {
	/** The second of three emails has it. @returns their IDs */
	function seed(): string[] {
		const ids = ['one', 'two', 'three'].map((subject) => mails.gmail.seed({ subject }));
		mails.google.fault({
			match: ({ path, query }) =>
				path.endsWith(ids[1] ?? '') && query.get('format') === 'full',
			status: 200,
			body: `{"id":"${ids[1]}","payload":{"parts":[${'[],'.repeat(3_000_000)}[]]}}`,
		});
		return ids;
	}

	it('ends no list: the email is there without its text, and the others with theirs', async () => {
		const ids = seed();
		const list = { operation: 'list', options: { includeBody: true } };
		const { items, hints } = await mails.hinted(list);
		expect(items.map(({ json }) => [json['subject'], json['text'] === ''])).toEqual([
			['three', false],
			['two', true],
			['one', false],
		]);
		expect(hints).toEqual([
			`The content of the email ${ids[1]} could not be read: it has too many parts or is nested too deeply.`,
		]);
	});

	it('is not parsed by Read either, which gives the email without its text', async () => {
		const [, messageId] = seed();
		const { items, hints } = await mails.hinted({ operation: 'read', messageId });
		expect(items.map(({ json }) => [json['subject'], json['text']])).toEqual([['two', '']]);
		expect(hints).toEqual([
			`The content of the email ${messageId} could not be read: it has too many parts or is nested too deeply.`,
		]);
	});
});
