import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import type { GoogleServer } from '../../dev/google/server';
import { StandIn } from '../Workspace/standIn';

const standIn = new StandIn();
let google: GoogleServer;
let token: string;

beforeEach(() => {
	google = standIn.google;
	token = google.tokens.issue();
});

/** Whatever the answer is; its keys do not collide. */
type Body = gmail_v1.Schema$Message &
	gmail_v1.Schema$MessagePartBody &
	gmail_v1.Schema$ListMessagesResponse;

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: Body }> {
	const answer = await fetch(`${google.url}${path}`, {
		...init,
		headers: {
			Authorization: `Bearer ${token}`,
			// A connection that was idle for 5 s may be reset when it is used again.
			connection: 'close',
			...(init.headers as Record<string, string>),
		},
	});
	return { status: answer.status, body: (await answer.json()) as Body };
}

async function list(query: Record<string, string>): Promise<gmail_v1.Schema$ListMessagesResponse> {
	const params = new URLSearchParams(query).toString();
	return (await ask(`/gmail/v1/users/me/messages?${params}`)).body;
}

async function read(id: string, query = ''): Promise<gmail_v1.Schema$Message> {
	const { body } = await ask(`/gmail/v1/users/me/messages/${id}${query}`);
	return body;
}

async function send(mail: string, more: object = {}) {
	const raw = Buffer.from(mail.replaceAll('\n', '\r\n')).toString('base64url');
	return await ask('/gmail/v1/users/me/messages/send', {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ raw, ...more }),
	});
}

const header = (message: gmail_v1.Schema$Message, name: string) =>
	message.payload?.headers?.filter((entry) => entry.name === name).map(({ value }) => value);

describe('list', () => {
	it('gives ids only, newest first, and no key when there is nothing', async () => {
		expect(await list({})).toEqual({ resultSizeEstimate: 0 });
		const first = google.gmail.seed({ date: new Date('2026-01-01') });
		const second = google.gmail.seed({ date: new Date('2026-01-02') });
		expect((await list({})).messages).toEqual([
			{ id: second, threadId: second },
			{ id: first, threadId: first },
		]);
	});

	it('pages with tokens that look like numbers of 20 digits', async () => {
		const ids = Array.from({ length: 5 }, (_, day) =>
			google.gmail.seed({ date: new Date(Date.UTC(2026, 0, 9 - day)) }),
		);
		const page = await list({ maxResults: '2' });
		expect(page.nextPageToken).toMatch(/^\d{20}$/);
		const rest = await list({ maxResults: '10', pageToken: page.nextPageToken ?? '' });
		const listed = [...(page.messages ?? []), ...(rest.messages ?? [])];
		expect(listed.map(({ id }) => id)).toEqual(ids);
		expect(rest).not.toHaveProperty('nextPageToken');
	});

	it.each([
		['from:ann', ['a']],
		['-from:ann', ['b', 'c']],
		['from:(ann OR bob)', ['a', 'b']],
		['{from:ann subject:report}', ['a', 'c']],
		['subject:"monthly report"', ['c']],
		['from:"Doe, John"', ['c']],
		['is:unread', ['a', 'b']],
		['is:read', ['c']],
		['after:2026/01/02', ['b', 'c']],
		[`before:${Date.UTC(2026, 0, 2) / 1000}`, ['a']],
		['has:attachment', ['c']],
		['filename:pdf', ['c']],
		['in:spam', ['d']],
		['word -bob', ['a']],
	])('%s', async (q, expected) => {
		const file =
			'Content-Type: application/pdf; name="x.pdf"\nContent-Disposition: attachment\n\nPDF';
		const on = (day: number) => ({ date: new Date(`2026-01-0${day}`) });
		const raw = `From: "Doe, John" <doe@x.org>\nSubject: c Monthly Report\nContent-Type: multipart/mixed; boundary=b\n\n--b\n${file}\n--b--\n`;
		google.gmail.seed({ from: 'Ann <ann@x.org>', subject: 'a', text: 'the word', ...on(1) });
		google.gmail.seed({ from: 'bob@x.org', subject: 'b', text: 'a word', ...on(3) });
		google.gmail.seed({ raw, labelIds: ['INBOX'], ...on(4) });
		google.gmail.seed({ subject: 'd', text: 'the word', labelIds: ['SPAM'], ...on(1) });
		const found = await list({ q });
		const subjects = await Promise.all(
			(found.messages ?? []).map(async ({ id }) =>
				header(await read(id ?? ''), 'Subject')?.[0]?.charAt(0),
			),
		);
		expect(subjects.sort()).toEqual(expected);
	});
});

describe('get', () => {
	it('decodes headers, keeps repeated ones, escapes the snippet, cuts to the mask', async () => {
		const id = google.gmail.seed({
			subject: 'Grüße 😀',
			text: '<b> & "quotes"',
			headers: [
				'Received: one',
				'Received: two',
				'X-Name: =?iso-8859-1?Q?J=F6rg?=\r\n =?iso-8859-1?Q?_M=FCller?=',
			],
		});
		const message = await read(id);
		expect(header(message, 'Subject')).toEqual(['Grüße 😀']);
		expect(header(message, 'Received')).toEqual(['one', 'two']);
		expect(header(message, 'X-Name')).toEqual(['Jörg Müller']);
		expect(message.snippet).toBe('&lt;b&gt; &amp; &quot;quotes&quot;');
		expect(message.payload?.body?.data).toMatch(/=$/);
		expect(
			await read(id, '?format=metadata&metadataHeaders=subject&fields=id,payload/headers'),
		).toEqual({ id, payload: { headers: [{ name: 'Subject', value: 'Grüße 😀' }] } });
	});

	it('gives files by an id of their own that changes at every read', async () => {
		const bytes = Buffer.from([0, 255, 128, 10]);
		const id = google.gmail.seed({
			raw: [
				'Content-Type: multipart/mixed; boundary="x"',
				'',
				'--x',
				'Content-Type: text/plain; charset=iso-8859-1',
				'Content-Transfer-Encoding: quoted-printable',
				'',
				'Gr=FC=DFe=',
				'!',
				'--x',
				"Content-Type: application/octet-stream; name*=utf-8''%C3%BC.bin",
				'Content-Transfer-Encoding: base64',
				'',
				bytes.toString('base64'),
				'--x--',
			].join('\r\n'),
		});
		const [text, file] = (await read(id)).payload?.parts ?? [];
		expect(Buffer.from(text?.body?.data ?? '', 'base64url').toString()).toBe('Grüße!');
		expect(file).toMatchObject({ partId: '1', filename: 'ü.bin', body: { size: 4 } });
		const attachmentId = file?.body?.attachmentId ?? '';
		expect(attachmentId.length).toBeGreaterThan(300);
		expect((await read(id)).payload?.parts?.[1]?.body?.attachmentId).not.toBe(attachmentId);
		const { body } = await ask(`/gmail/v1/users/me/messages/${id}/attachments/${attachmentId}`);
		expect(Buffer.from(body.data ?? '', 'base64url')).toEqual(bytes);
	});

	it('tells malformed ids from unknown ones', async () => {
		expect((await ask('/gmail/v1/users/me/messages/hello')).status).toBe(400);
		expect((await ask('/gmail/v1/users/me/messages/18c0ffee')).status).toBe(404);
	});
});

describe('send', () => {
	it('answers three keys, notes all recipients, replaces Message-ID and a foreign sender', async () => {
		const { body } = await send(
			'Message-ID: <mine@x>\nFrom: other@x.org\nTo: "Doe, J" <a@x.org>\nBcc: b@x.org\nX-Mark: 1\n\nHi',
		);
		expect(body).toEqual({ id: body.id, threadId: body.threadId, labelIds: ['SENT'] });
		expect(google.gmail.sent[0]?.recipients).toEqual(['a@x.org', 'b@x.org']);
		const message = await read(body.id ?? '');
		expect(header(message, 'Message-ID')?.[0]).toMatch(/@mail\.gmail\.com>$/);
		expect(header(message, 'From')).toEqual(['someone@example.com']);
		expect(header(message, 'X-Mark')).toEqual(['1']);
	});

	it('lists a sent email only after a while', async () => {
		google.gmail.indexDelayMilliseconds = 60_000;
		const { body } = await send('To: a@x.org\n\nHi');
		expect((await list({ q: 'in:sent' })).messages).toBeUndefined();
		expect((await read(body.id ?? '')).id).toBe(body.id);
	});

	it('joins a thread only with reference and subject', async () => {
		const id = google.gmail.seed({ subject: 'Topic', headers: [] });
		const reference = header(await read(id), 'Message-ID')?.[0] ?? '';
		const reply = (subject: string, headers: string) =>
			send(`To: a@x.org\nSubject: ${subject}\n${headers}\nHi`, { threadId: id });
		expect((await reply('Re: Topic', `In-Reply-To: ${reference}\n`)).body.threadId).toBe(id);
		expect((await reply('Other', `In-Reply-To: ${reference}\n`)).body.threadId).not.toBe(id);
		expect((await reply('Re: Topic', '')).body.threadId).not.toBe(id);
		expect((await send('To: a@x.org\n\nHi', { threadId: '18c0ffee' })).status).toBe(404);
	});

	it('takes uploads up to its limit', async () => {
		const large = Buffer.alloc(36_700_161, 'x');
		large.write('To: a@x.org\r\n\r\nHi');
		const upload = async (bytes: Buffer) => {
			const path = '/upload/gmail/v1/users/me/messages/send?uploadType=media';
			const headers = { 'Content-Type': 'message/rfc822' };
			return (await ask(path, { method: 'POST', headers, body: new Uint8Array(bytes) }))
				.status;
		};
		expect([await upload(large.subarray(0, -1)), await upload(large)]).toEqual([200, 413]);
	});

	it.each([
		['Subject: x\n\nHi', 'Recipient address required'],
		['To: not an address\n\nHi', 'Invalid To header'],
	])('refuses %j', async (mail, message) => {
		const { status, body } = await send(mail);
		expect([status, body]).toMatchObject([
			400,
			{ error: { message, status: 'INVALID_ARGUMENT' } },
		]);
		expect(google.gmail.sent).toHaveLength(0);
	});
});

describe('texts of old charsets', () => {
	const koi8 = Buffer.from([0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4]);
	const jis = Buffer.from('\u001b$B$3$s\u001b(B');
	it.each([
		['decoded', 'koi8-r', koi8, 'Привет'],
		['decoded', 'iso-2022-jp', jis, jis.toString()],
		['allDecoded', 'iso-2022-jp', jis, 'こん'],
		['asSent', 'koi8-r', koi8, koi8.toString()],
	] as const)('%s: %s', async (bodies, charset, bytes, handedOver) => {
		google.gmail.bodies = bodies;
		const type = `text/plain; charset=${charset}`;
		const raw = Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n\r\n`), bytes]);
		const { payload } = await read(google.gmail.seed({ raw }));
		expect(Buffer.from(payload?.body?.data ?? '', 'base64url').toString()).toBe(handedOver);
		expect(payload?.headers).toEqual([{ name: 'Content-Type', value: type }]);
	});
});

it('an empty file and an email within an email have no id', async () => {
	const parts = [
		'Content-Type: application/pdf; name=a.pdf\n\n',
		'Content-Type: message/rfc822\n\nSubject: inner\n\nHi',
	];
	const raw = `Content-Type: multipart/mixed; boundary=b\n\n--b\n${parts.join('\n--b\n')}\n--b--`;
	const { payload } = await read(google.gmail.seed({ raw }));
	expect(payload?.parts).toMatchObject([
		{ filename: 'a.pdf', body: { size: 0, data: '' } },
		{ filename: '', body: { size: 0 }, parts: [{ partId: '1.0', mimeType: 'text/plain' }] },
	]);
	expect(payload?.parts?.map(({ body }) => body?.attachmentId)).toEqual([undefined, undefined]);
});

describe('drafts', () => {
	const create = async (mail: string, threadId?: string) =>
		await ask('/gmail/v1/users/me/drafts', {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({
				message: { raw: Buffer.from(mail).toString('base64url'), threadId },
			}),
		});

	beforeEach(() => {
		token = google.tokens.issue({ scopes: ['gmail.compose', 'gmail.readonly'] });
	});

	it('is not allowed with the scopes for sending and reading', async () => {
		token = google.tokens.issue();
		expect((await create('Subject: S\r\n\r\nx')).status).toBe(403);
	});

	it('is kept with its label, without a recipient, and listed with its own ID', async () => {
		const { body } = await create('Subject: S\r\n\r\nx');
		const [draft] = google.gmail.drafts;
		const { id, threadId } = draft ?? {};
		expect(body).toEqual({
			id: draft?.draftId,
			message: { id, threadId, labelIds: ['DRAFT'] },
		});
		expect(google.gmail.sent).toEqual([]);
		const { body: found } = await ask('/gmail/v1/users/me/drafts?q=subject:S');
		expect(found).toEqual({
			drafts: [{ id: draft?.draftId, message: { id, threadId } }],
			resultSizeEstimate: 1,
		});
		expect((await ask('/gmail/v1/users/me/drafts?q=subject:Other')).body).toEqual({
			resultSizeEstimate: 0,
		});
	});

	it('joins a conversation under the rules of a sent email', async () => {
		const original = google.gmail.seed({ subject: 'Topic' });
		const id = header(await read(original), 'Message-ID')?.[0] ?? '';
		for (const [subject, threadId] of [
			['Re: Topic', original],
			['Other', undefined],
		]) {
			await create(`Subject: ${subject}\r\nIn-Reply-To: ${id}\r\n\r\nx`, original);
			const draft = google.gmail.drafts.at(-1);
			expect(draft?.threadId).toBe(threadId ?? draft?.id);
		}
	});

	it('with an address that is none is refused', async () => {
		expect((await create('To: a@@b\r\nSubject: S\r\n\r\nx')).status).toBe(400);
	});
});
