import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';
import type { IDataObject } from 'n8n-workflow';

import { parseMessage } from '../../../../nodes/Workspace/actions/mail/message';
import { failureOf, withBinaryData } from '../../../createExecuteContext';
import { testClients, testItem } from '../../client';
import { token } from '../../runNode';
import { Mails } from './mails';
import { alternative, file, html, mixed, plain, related, typed } from './parts';

const mails = new Mails();
beforeAll(withBinaryData);

async function read(raw: string | Buffer, options: IDataObject = {}) {
	const messageId = mails.google.gmail.seed({
		raw: typeof raw === 'string' ? raw.replaceAll('\n', '\r\n') : raw,
	});
	const [item, ...more] = await mails.run('read', { messageId }, options);
	if (!item || more.length > 0) throw new Error('Read gives one item');
	return item;
}

it('gives everything of an email, addresses as they stand in it', async () => {
	const head = [
		'From: =?utf-8?Q?J=C3=B6rg?= <joerg@example.com>',
		'To: "Doe, John" <john@example.com>,',
		' ann@example.com',
		'CC: c@example.com',
		'Reply-To: Desk <desk@example.com>',
		'Subject: =?utf-8?B?R3LDvMOfZQ==?=',
	];
	const { json } = await read([...head, plain('Hello\n\nBye')].join('\n'));
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
	const encoded = (charset: string | undefined, bytes: Buffer) => {
		const parameter = charset === undefined ? '' : `; charset="${charset}"`;
		return Buffer.concat([Buffer.from(`Content-Type: text/plain${parameter}\r\n\r\n`), bytes]);
	};

	it.each<[string | undefined, Buffer, string]>([
		['iso-8859-1', Buffer.from('Grüße', 'latin1'), 'Grüße'],
		['windows-1252', Buffer.from([0x80, 0x20, 0x93, 0x61, 0x94]), '€ “a”'],
		['iso-2022-jp', Buffer.from('\u001b$B$3$s\u001b(B', 'latin1'), 'こん'],
		['gb18030', Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), '你好'],
		['koi8-r', Buffer.from([0xd0, 0xd2, 0xc9]), 'при'],
		['utf-8', Buffer.from('😀'), '😀'],
		['utf-8', Buffer.from('Grüße', 'latin1'), 'Grüße'],
		['us-ascii', Buffer.from('Grüße'), 'Grüße'],
		['nobody-knows', Buffer.from('Grüße', 'latin1'), 'Grüße'],
		[undefined, Buffer.from('Grüße', 'latin1'), 'Grüße'],
		[undefined, Buffer.from('Grüße'), 'Grüße'],
	])('is read in %s', async (charset, bytes, text) => {
		expect((await read(encoded(charset, bytes))).json['text']).toBe(text);
	});

	const onlyHtml = '<p>One</p><p>Two &amp; <b>three</b></p>';
	const deep = alternative(plain('deep'), html('<i>deep</i>'));
	const nested = mixed(related(deep, file('a.png')), file('b.pdf'));
	const note = typed('text/plain; name=n.txt', 'note', 'Content-Disposition: attachment\n');
	const inner = 'Subject: x\n\ninner';
	const withInner = mixed(plain('body'), `Content-Type: message/rfc822\n\n${inner}`);
	const innerText = `body\n\n---------- Attached email ---------\n${inner}`;

	it.each<[string, string, string, string]>([
		['plain before HTML', alternative(plain('a'), html('<p>b</p>')), 'a', '<p>b</p>'],
		['HTML alone', html(onlyHtml), 'One\n\nTwo & three', onlyHtml],
		['deep nesting', nested, 'deep', '<i>deep</i>'],
		['a text with a footer', mixed(plain('body'), plain('footer')), 'body\nfooter', ''],
		[
			'HTML before a text',
			mixed(html('<p>1</p>'), plain('2 < 3')),
			'1\n2 < 3',
			'<p>1</p>\n<div>2 &lt; 3</div>',
		],
		['an attached text, which is no part of it', mixed(plain('body'), note), 'body', ''],
		['an attached mail, which goes below it', withInner, innerText, ''],
		['nothing at all', 'Subject: empty\n', '', ''],
	])('of %s', async (_what, raw, text, htmlText) => {
		const { json } = await read(raw);
		expect([json['text'], json['html']]).toEqual([text, htmlText]);
	});

	it.each([
		['flowed', 'We \nwould\n\nAnn \n\n-- \nAnn Lee', 'We would\n\nAnn \n\n-- \nAnn Lee'],
		['flowed', 'we \n-- \nAnn', 'we \n-- \nAnn'],
		['Flowed; DelSp=Yes', 'https://x.org/4f1c \n0a1b \n', 'https://x.org/4f1c0a1b'],
		['flowed', 'Hi\n From here\n >5 items', 'Hi\nFrom here\n>5 items'],
		['flowed', '> a \n> b\n>> c \n>> d \ne', '> a b\n>> c d \ne'],
		['"flowed"; delsp="yes"', '> a \n>  b\n>\n> -- \n> c', '> a b\n>\n> -- \n> c'],
		['fixed', 'a \nb', 'a \nb'],
	])('has whole lines where the sender wrapped them, %s: %j', async (format, wrapped, whole) => {
		const { json } = await read(typed(`text/plain; format=${format}`, wrapped));
		expect(json['text']).toBe(whole);
	});

	it('comes whole when Gmail keeps it apart', async () => {
		const long = 'ü'.repeat(200_000);
		expect((await read(plain(long))).json['text']).toBe(long);
		expect(mails.methods).toEqual(['messages.get', 'messages.attachments.get']);
	});
});

it('gives all headers, repeated ones too', async () => {
	const raw = 'Received: one\nReceived: two\nX-A: =?iso-8859-1?Q?=FC?=\n\nHi';
	const { json } = await read(raw, { includeHeaders: true });
	expect(json['headers']).toEqual([
		{ name: 'Received', value: 'one' },
		{ name: 'Received', value: 'two' },
		{ name: 'X-A', value: 'ü' },
	]);
});

describe('a conversation', () => {
	const seed = (subject: string, day: number, text: string, more = '', threadId?: string) =>
		mails.google.gmail.seed({
			raw: `Subject: ${subject}\r\nMessage-ID: <${day}@x.example>\r\n${more}${plain(text).replaceAll('\n', '\r\n')}`,
			date: new Date(Date.UTC(2026, 0, day)),
			threadId,
		});
	const answering = 'In-Reply-To: <1@x.example>\r\nReferences: <1@x.example>\r\n';
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
		const raw = mixed(plain('a'), file('a.pdf')).replaceAll('\n', '\r\n');
		const messageId = mails.google.gmail.seed({ raw });
		const read = { operation: 'read', messageId, downloadAttachments: true };
		const [item] = await mails.json({ ...read, wholeConversation: true });
		expect(item?.binary?.['attachment_0']).toMatchObject({ fileName: 'a.pdf' });
		const attachmentPrefix = 'file';
		const [prefixed] = await mails.json({ ...read, attachmentPrefix });
		expect(Object.keys(prefixed?.binary ?? {})).toEqual(['file0']);
	});
});

it('reads by the input object', async () => {
	const messageId = mails.google.gmail.seed({ subject: 'S' });
	const [item] = await mails.json({ operation: 'read', messageId });
	expect(item?.json).toMatchObject({ id: messageId, subject: 'S' });
});

describe('what is not there', () => {
	it.each([
		[
			'18c0ffee12345678',
			'404',
			/^Gmail: Requested entity was not found\.$/,
			'not in this mailbox',
		],
		['hello-world', '400', /./, '16 digits'],
	])('%s is named', async (messageId, code, words, advice) => {
		const { httpCode, message, description } = await mails.failure('read', { messageId });
		expect(httpCode).toBe(code);
		expect(message).toMatch(words);
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
		const { json, binary } = await read(raw);
		expect(json['attachments']).toMatchObject([
			{ fileName: 'logo.png', size: 17, inline: true, contentId: 'logo' },
			{ fileName: 'report.pdf', size: 19, inline: false, contentId: '' },
			{ fileName: '', mimeType: 'text/calendar', inline: false },
		]);
		expect(binary).toBeUndefined();
		expect(mails.methods).toEqual(['messages.get']);
	});

	it('are fetched two at once', async () => {
		const parts = ['a', 'b', 'c', 'd', 'e'].map((name) => file(`${name}.pdf`));
		mails.google.latencyMilliseconds = 5;
		mails.google.quotas.limits = { gmailAtOnce: 2 };
		const { binary } = await read(mixed(plain('x'), ...parts), { downloadAttachments: true });
		mails.google.latencyMilliseconds = 0;
		expect(Object.keys(binary ?? {})).toHaveLength(5);
		expect(mails.google.requests.map(({ status }) => status)).toEqual(Array(6).fill(200));
	});

	it('come as binary data on request', async () => {
		const { binary } = await read(raw, { downloadAttachments: true });
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
		const { json, binary } = await read(mixed(plain('x'), file('Offer 12/2026.pdf')), {
			downloadAttachments: true,
		});
		expect(json['attachments']).toMatchObject([{ fileName: 'Offer 12/2026.pdf' }]);
		expect(binary?.['attachment_0']).toMatchObject({ fileName: 'Offer 12_2026.pdf' });
		expect(binary?.['attachment_0']).not.toHaveProperty('directory');
	});

	it('have the name that their header gives, although Gmail gives none', async () => {
		const header = `Content-Disposition: attachment; filename*= "UTF-8''XYZ%20A6-1.pdf"\n`;
		const named = mixed(plain('x'), typed('application/pdf', 'bytes', header));
		const { json, binary } = await read(named, { downloadAttachments: true });
		expect(json['attachments']).toMatchObject([{ fileName: 'XYZ A6-1.pdf' }]);
		expect(binary?.['attachment_0']?.fileName).toBe('XYZ A6-1.pdf');
	});

	it('are asked for by each item on its own', async () => {
		const messageId = mails.google.gmail.seed({ raw: raw.replaceAll('\n', '\r\n') });
		const items = [false, true].map((wanted) => ({ json: { wanted } }));
		const options = { downloadAttachments: '={{ $json.wanted }}' };
		const output = await mails.run('read', { messageId }, options, items);
		expect(output.map(({ binary }) => Object.keys(binary ?? {}).length)).toEqual([0, 3]);
	});
});

const mailOf = (body: string) =>
	mails.google.gmail.seed({ raw: html(body).replaceAll('\n', '\r\n') });

describe('HTML that a stranger made up', () => {
	const inCell = '<table><tr><td><table><tr><td colspan=1e9 rowspan=1e9>x';

	it.each([
		['a cell over all rows that there could be', '<table><tr><td rowspan=100000000>x', 'x'],
		['a cell over many columns', '<table><tr><td colspan=40000>x', 'x'],
		['a cell over less than nothing', '<table><tr><td colspan=-1 rowspan=1e9>x<td>y', 'x\ty'],
		['a cell in a table in a cell', inCell, 'x'],
	])('%s is read', async (_what, body, text) => {
		const [item] = await mails.run('read', { messageId: mailOf(body) });
		expect(item?.json['text']).toBe(text);
	});

	const tags = ['div', 'blockquote', 'table><tr><td', 'ul><li', 'a href=x', 'b'];

	it.each(tags)('3,000 <%s> in each other spoil no list', async (tag) => {
		mailOf('<p>one</p>');
		mailOf(`<p>deep</p>${`<${tag}>`.repeat(3000)}x`);
		mailOf('<p>three</p>');
		const items = await mails.run('list', {}, { includeBody: true });
		const texts = items.map(({ json }) => json['text']);
		expect(texts).toEqual(['three', expect.stringMatching(/^deep/), 'one']);
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
		return { ...mail, hints: item.hints };
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
		const values = Array.from({ length: 18_000 }, (_, at) => `a${at}`);
		const headers = values.map((value) => ({ name: 'To', value }));
		const mail = await parse({ headers });
		expect([mail.headers.length, mail.hints]).toEqual([18_000, []]);
	});

	it('has more parts', async () => {
		const parts = Array.from({ length: 30_000 }, (_, at) => leaf(String(at)));
		const { text, hints } = await parse({ mimeType: 'multipart/related', parts });
		expect([text.split('\n').length, hints]).toEqual([30_000, []]);
	});

	it('has 1,000 levels of parts', async () => {
		let inner: gmail_v1.Schema$MessagePart = leaf('last');
		for (let level = 0; level <= 1_000; level++)
			inner = { mimeType: 'multipart/mixed', parts: [leaf(`${level}`), inner] };
		const { text, hints } = await parse(inner);
		expect([text.split('\n').length, hints]).toEqual([1_002, []]);
	});

	it.each([12_000_000])('%d letters of two bytes come whole', async (letters) => {
		const { text, hints } = await parse(leaf('У'.repeat(letters), 'koi8-r'));
		expect([text.length, hints]).toEqual([letters, []]);
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

/** The second of three emails has a response that would block n8n for seconds. */
function seed(): string[] {
	const ids = ['one', 'two', 'three'].map((subject) => mails.google.gmail.seed({ subject }));
	mails.google.fault({
		match: ({ path, query }) => path.endsWith(ids[1] ?? '') && query.get('format') === 'full',
		status: 200,
		body: `{"id":"${ids[1]}","payload":{"parts":[${'[],'.repeat(3_000_000)}[]]}}`,
	});
	return ids;
}

it('ends no list: it is there without its text, and the others with theirs', async () => {
	const ids = seed();
	const list = { operation: 'list', options: { includeBody: true } };
	const { items, hints } = await mails.hinted(list);
	expect(items.map(({ json }) => json['subject'])).toEqual(['three', 'two', 'one']);
	expect(items.map(({ json }) => json['text'] === '')).toEqual([false, true, false]);
	expect(hints).toEqual([
		`The content of the email ${ids[1]} could not be read: it has too many parts or is nested too deeply.`,
	]);
});

it('is refused by Read, before it is parsed', async () => {
	const [, messageId] = seed();
	const { message, httpCode } = await failureOf(mails.run('read', { messageId }));
	expect(message).toContain("Google's response has too many parts to read");
	expect(httpCode).toBe('502');
});
