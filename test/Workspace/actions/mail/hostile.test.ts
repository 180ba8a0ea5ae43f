import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { contentOf } from '../../../../nodes/Workspace/actions/mail/message';
import { testClients, testItem } from '../../client';
import { token } from '../../runNode';
import { Mails } from './mails';
import { html } from './parts';

const mails = new Mails();

const mailOf = (body: string) => mails.google.gmail.seed({ raw: html(body).replaceAll('\n', '\r\n') });

describe('HTML that a stranger made up', () => {
	it.each([
		['a cell over all rows that there could be', '<table><tr><td rowspan=100000000>x', 'x'],
		['a cell over many columns', '<table><tr><td colspan=40000>x', 'x'],
		['a cell over fewer than no columns', '<table><tr><td colspan=-1 rowspan=1e9>x<td>y', 'x\ty'],
		['a cell in a table in a cell', '<table><tr><td><table><tr><td colspan=1e9 rowspan=1e9>x', 'x'],
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
			expect(items.map(({ json }) => json['text'])).toEqual(['three', expect.stringMatching(/^deep/), 'one']);
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
	async function read(payload: gmail_v1.Schema$MessagePart, more: gmail_v1.Schema$Message = {}) {
		const item = testItem();
		const mail = await contentOf(clients(), { id: '18c', ...more, payload }, item);
		return { ...mail, hints: item.hints };
	}
	const cut = [
		'The message 18c has more parts or longer headers than emails usually have. Not all of them were read.',
	];

	it.each([4_400, 440_000])('has a subject of %d encoded words', async (words) => {
		const value = '=?a?q?=80?==?b?q?=80?='.repeat(words / 2);
		const { summary, hints } = await read({ headers: [{ name: 'Subject', value }] });
		expect(summary.subject.length).toBeLessThanOrEqual(10_000);
		expect(summary.subject).toMatch(/^(€)+/);
		expect(hints).toEqual(cut);
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
		['parts that are none', { mimeType: 'multipart/mixed', parts: [null, 5, 'x'], headers: [null, 1] }],
		['a name that is a number', { mimeType: 5, filename: 7, headers: [{ name: 1, value: { b: 2 } }] }],
	])('has %s, as a gateway may send it', async (_what, payload) => {
		const { summary, text } = await read(payload as gmail_v1.Schema$MessagePart);
		expect([summary.id, text]).toEqual(['18c', '']);
	});

	it('has more header fields', async () => {
		const headers = Array.from({ length: 18_000 }, (_, at) => ({ name: 'To', value: `a${at}` }));
		const mail = await read({ headers });
		expect(mail.headers).toHaveLength(1_000);
		expect(mail.hints).toEqual(cut);
	});

	it('has more parts', async () => {
		const parts = Array.from({ length: 30_000 }, (_, at) => leaf(String(at)));
		const { text, hints } = await read({ mimeType: 'multipart/related', parts });
		expect(text.split('\n')).toHaveLength(1_999);
		expect(hints).toEqual(cut);
	});

	it('is nested more deeply', async () => {
		let inner: gmail_v1.Schema$MessagePart = leaf('x'.repeat(10_000_000));
		for (let level = 0; level < 1_500; level++)
			inner = { mimeType: 'multipart/mixed', parts: [leaf(`${level}`), inner] };
		const { text, hints } = await read({ mimeType: 'multipart/mixed', parts: [leaf('first'), inner] });
		expect(text).toMatch(/^first\n1499\n/);
		expect(text.split('\n')).toHaveLength(49);
		expect(hints).toEqual(cut);
	});

	it.each([12_000_000])('%d letters of two bytes come whole', async (letters) => {
		const { text, hints } = await read(leaf('У'.repeat(letters), 'koi8-r'));
		expect([text.length, hints]).toEqual([letters, []]);
	});

	it('has a text that Gmail says is elsewhere, and more of it than can be read', async () => {
		const { text, summary, hints } = await read(
			{ ...leaf('x'.repeat(60_000_000)), headers: [{ name: 'Subject', value: '=?utf-8?q?=C3=BC?=' }] },
			{ labelIds: ['UNREAD'] },
		);
		expect([text, summary.subject, summary.status]).toEqual(['', 'ü', 'unread']);
		expect(hints).toEqual([
			'The content of the message 18c could not be read: it is longer than 70,000,000 characters.',
		]);
	});
});
