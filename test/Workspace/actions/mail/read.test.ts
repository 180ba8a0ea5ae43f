import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';
import type { IDataObject } from 'n8n-workflow';

import { parseMessage } from '../../../../nodes/Workspace/actions/mail/message';
import { failureOf, withBinaryData } from '../../../createExecuteContext';
import { testClients, testItem } from '../../client';
import { token } from '../../runNode';
import { Mails } from './mails';
import { file, html, multipart, plain } from './parts';

describe('read', () => {
	const mails = new Mails();

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
		const encoded = (charset: string | undefined, bytes: Buffer) =>
			Buffer.concat([
				Buffer.from(
					`Content-Type: text/plain${charset === undefined ? '' : `; charset="${charset}"`}\r\n\r\n`,
				),
				bytes,
			]);

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

		it.each<[string, string, string, string]>([
			[
				'plain before HTML',
				multipart('alternative', plain('plain'), html('<p>html</p>')),
				'plain',
				'<p>html</p>',
			],
			[
				'HTML alone',
				html('<p>One</p><p>Two &amp; <b>three</b></p>'),
				'One\n\nTwo & three',
				'<p>One</p><p>Two &amp; <b>three</b></p>',
			],
			[
				'deep nesting',
				multipart(
					'mixed',
					multipart(
						'related',
						multipart('alternative', plain('deep'), html('<i>deep</i>')),
						file('a.png'),
					),
					file('b.pdf'),
				),
				'deep',
				'<i>deep</i>',
			],
			[
				'a text with a footer',
				multipart('mixed', plain('body'), plain('footer')),
				'body\nfooter',
				'',
			],
			[
				'a text between HTML',
				multipart('mixed', html('<p>one</p>'), plain('two')),
				'one\ntwo',
				'<p>one</p>',
			],
			[
				'an attached text, which is no part of it',
				multipart(
					'mixed',
					plain('body'),
					'Content-Type: text/plain; name=n.txt\nContent-Disposition: attachment\n\nnote',
				),
				'body',
				'',
			],
			[
				'an attached mail, which goes below it',
				multipart(
					'mixed',
					plain('body'),
					`Content-Type: message/rfc822\n\nSubject: x\n\ninner`,
				),
				'body\n\n---------- Attached email ---------\nSubject: x\n\ninner',
				'',
			],
			['nothing at all', 'Subject: empty\n', '', ''],
		])('of %s', async (_what, raw, text, htmlText) => {
			const { json } = await read(raw);
			expect([json['text'], json['html']]).toEqual([text, htmlText]);
		});

		it('comes whole when Gmail keeps it apart', async () => {
			const long = 'ü'.repeat(200_000);
			expect((await read(plain(long))).json['text']).toBe(long);
			expect(mails.methods).toEqual(['messages.get', 'messages.attachments.get']);
		});
	});

	it('gives all headers, repeated ones too', async () => {
		const { json } = await read(
			'Received: one\nReceived: two\nX-A: =?iso-8859-1?Q?=FC?=\n\nHi',
			{ includeHeaders: true },
		);
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
		const quoting =
			'Yes.\n\nOn Thu, Jan 1, 2026 at 1:00 AM Ann <ann@example.com> wrote:\n> Shall I?';

		it('is read whole, oldest first, by any of its messages', async () => {
			const question = seed('Offer', 1, 'Shall I?');
			const answer = seed('Re: Offer', 2, quoting, answering, question);
			const items = await mails.run(
				'read',
				{ messageId: answer },
				{ wholeConversation: true, newTextOnly: true },
			);
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
			const messageId = mails.google.gmail.seed({
				raw: multipart('mixed', plain('a'), file('a.pdf')).replaceAll('\n', '\r\n'),
			});
			const [item] = await mails.json({
				operation: 'read',
				messageId,
				wholeConversation: true,
				downloadAttachments: true,
			});
			expect(item?.binary?.['attachment_0']).toMatchObject({ fileName: 'a.pdf' });
			const attachmentPrefix = 'file';
			const read = { operation: 'read', messageId, downloadAttachments: true };
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
		it('is named', async () => {
			const failure = await failureOf(mails.run('read', { messageId: '18c0ffee12345678' }));
			expect([failure.httpCode, failure.message]).toEqual([
				'404',
				'Gmail: Requested entity was not found.',
			]);
			expect(failure.description).toContain('not in this mailbox');
		});

		it('an id that is none says what one looks like', async () => {
			expect(
				(await failureOf(mails.run('read', { messageId: 'hello-world' }))).description,
			).toContain('16 digits');
		});

		it.each(['a/b', '..', '.', 'x?y', '={{ undefined }}'])(
			'%s is refused before anything is asked',
			async (messageId) => {
				expect(await mails.refused(mails.run('read', { messageId }))).toMatch(
					/'Message ID'/,
				);
			},
		);

		it('a missing scope is named', async () => {
			mails.signIn(['gmail.send']);
			const failure = await failureOf(mails.run('read', { messageId: '18c0ffee' }));
			expect(failure.description).toContain('https://www.googleapis.com/auth/gmail.readonly');
		});
	});

	beforeAll(withBinaryData);

	describe('attachments', () => {
		const raw = multipart(
			'mixed',
			multipart(
				'related',
				html('<img src="cid:logo">'),
				file('logo.png', 'Content-ID: <logo>\nContent-Disposition: inline\n'),
			),
			file('report.pdf', 'Content-Disposition: attachment\n'),
			'Content-Type: text/calendar\n\nBEGIN:VCALENDAR',
		);

		it('are always named', async () => {
			const { json, binary } = await read(raw);
			expect(json['attachments']).toEqual([
				expect.objectContaining({
					fileName: 'logo.png',
					size: 17,
					inline: true,
					contentId: 'logo',
				}),
				expect.objectContaining({
					fileName: 'report.pdf',
					size: 19,
					inline: false,
					contentId: '',
				}),
				expect.objectContaining({ fileName: '', mimeType: 'text/calendar', inline: false }),
			]);
			expect(binary).toBeUndefined();
			expect(mails.methods).toEqual(['messages.get']);
		});

		it('are fetched two at once', async () => {
			const parts = ['a', 'b', 'c', 'd', 'e'].map((name) => file(`${name}.pdf`));
			mails.google.latencyMilliseconds = 5;
			mails.google.quotas.limits = { gmailAtOnce: 2 };
			const { binary } = await read(multipart('mixed', plain('x'), ...parts), {
				downloadAttachments: true,
			});
			mails.google.latencyMilliseconds = 0;
			expect(Object.keys(binary ?? {})).toHaveLength(5);
			expect(mails.google.requests.map(({ status }) => status)).toEqual(Array(6).fill(200));
		});

		it('come as binary data on request', async () => {
			const { binary } = await read(raw, { downloadAttachments: true });
			const text = (field: string) =>
				Buffer.from(binary?.[field]?.data ?? '', 'base64').toString();
			expect(
				Object.entries(binary ?? {}).map(([field, { fileName, mimeType }]) => [
					field,
					fileName,
					mimeType,
				]),
			).toEqual([
				['attachment_0', 'logo.png', 'application/octet-stream'],
				['attachment_1', 'report.pdf', 'application/octet-stream'],
				['attachment_2', 'attachment_2.ics', 'text/calendar'],
			]);
			expect([text('attachment_0'), text('attachment_1'), text('attachment_2')]).toEqual([
				'bytes of logo.png',
				'bytes of report.pdf',
				'BEGIN:VCALENDAR',
			]);
		});

		it('are asked for by each item on its own', async () => {
			const messageId = mails.google.gmail.seed({ raw: raw.replaceAll('\n', '\r\n') });
			const items = [false, true].map((wanted) => ({ json: { wanted } }));
			const output = await mails.run(
				'read',
				{ messageId },
				{ downloadAttachments: '={{ $json.wanted }}' },
				items,
			);
			expect(output.map(({ binary }) => Object.keys(binary ?? {}).length)).toEqual([0, 3]);
		});
	});
});

describe('hostile emails', () => {
	const mails = new Mails();

	const mailOf = (body: string) =>
		mails.google.gmail.seed({ raw: html(body).replaceAll('\n', '\r\n') });

	describe('HTML that a stranger made up', () => {
		it.each([
			['a cell over all rows that there could be', '<table><tr><td rowspan=100000000>x', 'x'],
			['a cell over many columns', '<table><tr><td colspan=40000>x', 'x'],
			[
				'a cell over fewer than no columns',
				'<table><tr><td colspan=-1 rowspan=1e9>x<td>y',
				'x\ty',
			],
			[
				'a cell in a table in a cell',
				'<table><tr><td><table><tr><td colspan=1e9 rowspan=1e9>x',
				'x',
			],
		])('%s is read', async (_what, body, text) => {
			const [item] = await mails.run('read', { messageId: mailOf(body) });
			expect(item?.json['text']).toBe(text);
		});

		it.each(['div', 'blockquote', 'table><tr><td', 'ul><li', 'a href=x', 'b'])(
			'3,000 <%s> in each other spoil no list',
			async (tag) => {
				mailOf('<p>one</p>');
				mailOf(`<p>deep</p>${`<${tag}>`.repeat(3000)}x`);
				mailOf('<p>three</p>');
				const items = await mails.run('list', {}, { includeBody: true });
				expect(items.map(({ json }) => json['text'])).toEqual([
					'three',
					expect.stringMatching(/^deep/),
					'one',
				]);
			},
		);
	});

	describe('a mail that is larger than any', () => {
		const clients = () => testClients(mails.google.url, token);
		const leaf = (text: string, charset = 'utf-8'): gmail_v1.Schema$MessagePart => ({
			mimeType: 'text/plain',
			headers: [{ name: 'Content-Type', value: `text/plain; charset=${charset}` }],
			body: { data: Buffer.from(text).toString('base64url') },
		});
		async function read(
			payload: gmail_v1.Schema$MessagePart,
			more: gmail_v1.Schema$Message = {},
		) {
			const item = testItem();
			const mail = await parseMessage(clients(), { id: '18c', ...more, payload }, item);
			return { ...mail, hints: item.hints };
		}
		it.each([4_400, 440_000])('has a subject of %d encoded words', async (words) => {
			const value = '=?a?q?=80?==?b?q?=80?='.repeat(words / 2);
			const { summary, hints } = await read({ headers: [{ name: 'Subject', value }] });
			expect([summary.subject, hints]).toEqual(['€'.repeat(words), []]);
		});

		it('has a date that is none, and names charsets that there are not', async () => {
			const value = Array.from({ length: 400 }, (_, at) => `=?x${at}?q?=80?=`).join('');
			const { summary, hints } = await read(
				{ headers: [{ name: 'Subject', value }] },
				{ internalDate: '1e30' },
			);
			expect([summary.date, summary.subject, hints]).toEqual(['', '€'.repeat(400), []]);
		});

		it.each<[string, unknown]>([
			['headers that are an object', { headers: { a: 1 } }],
			['parts that are a text', { mimeType: 'multipart/mixed', parts: 'xyz' }],
			[
				'parts that are none',
				{ mimeType: 'multipart/mixed', parts: [null, 5, 'x'], headers: [null, 1] },
			],
			[
				'a name that is a number',
				{ mimeType: 5, filename: 7, headers: [{ name: 1, value: { b: 2 } }] },
			],
		])('has %s, as a gateway may send it', async (_what, payload) => {
			const { summary, text } = await read(payload as gmail_v1.Schema$MessagePart);
			expect([summary.id, text]).toEqual(['18c', '']);
		});

		it('has more header fields', async () => {
			const headers = Array.from({ length: 18_000 }, (_, at) => ({
				name: 'To',
				value: `a${at}`,
			}));
			const mail = await read({ headers });
			expect([mail.headers.length, mail.hints]).toEqual([18_000, []]);
		});

		it('has more parts', async () => {
			const parts = Array.from({ length: 30_000 }, (_, at) => leaf(String(at)));
			const { text, hints } = await read({ mimeType: 'multipart/related', parts });
			expect([text.split('\n').length, hints]).toEqual([30_000, []]);
		});

		it('has 1,000 levels of parts', async () => {
			let inner: gmail_v1.Schema$MessagePart = leaf('last');
			for (let level = 0; level <= 1_000; level++)
				inner = { mimeType: 'multipart/mixed', parts: [leaf(`${level}`), inner] };
			const { text, hints } = await read(inner);
			expect([text.split('\n').length, hints]).toEqual([1_002, []]);
		});

		it.each([12_000_000])('%d letters of two bytes come whole', async (letters) => {
			const { text, hints } = await read(leaf('У'.repeat(letters), 'koi8-r'));
			expect([text.length, hints]).toEqual([letters, []]);
		});

		it('has a text that Gmail says is elsewhere, and more of it than can be read', async () => {
			const { text, summary, hints } = await read(
				{
					...leaf('x'.repeat(76_000_000)),
					headers: [{ name: 'Subject', value: '=?utf-8?q?=C3=BC?=' }],
				},
				{ labelIds: ['UNREAD'] },
			);
			expect([text, summary.subject, summary.status]).toEqual(['', 'ü', 'unread']);
			expect(hints).toEqual([
				'The content of the email 18c could not be read: it is longer than 100,000,000 characters.',
			]);
		});
	});
});

describe('an email with more parts than n8n can parse', () => {
	const mails = new Mails();

	/** The second of three emails has a response that would block n8n for seconds. */
	function seed(): string[] {
		const ids = ['one', 'two', 'three'].map((subject) => mails.google.gmail.seed({ subject }));
		mails.google.fault({
			match: ({ path, query }) =>
				path.endsWith(ids[1] ?? '') && query.get('format') === 'full',
			status: 200,
			body: `{"id":"${ids[1]}","payload":{"parts":[${'[],'.repeat(3_000_000)}[]]}}`,
		});
		return ids;
	}

	it('ends no list: it is there without its text, and the others with theirs', async () => {
		const ids = seed();
		const { items, hints } = await mails.hinted({
			operation: 'list',
			options: { includeBody: true },
		});
		expect(items.map(({ json }) => [json['subject'], json['text'] === ''])).toEqual([
			['three', false],
			['two', true],
			['one', false],
		]);
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
});
