import type { IDataObject } from 'n8n-workflow';

import { readMail } from '../../../../nodes/untrusted/mail/readMail';
import { withBinaryData } from '../../../createExecuteContext';
import { Mails } from './mails';
import { file, html, multipart, plain } from './parts';

const mails = new Mails();
beforeAll(withBinaryData);

async function read(raw: string, options: IDataObject = {}) {
	const messageId = mails.google.gmail.seed({ raw: raw.replaceAll('\n', '\r\n') });
	const [item] = await mails.run('read', { messageId }, options);
	if (!item) throw new Error('Read gives one item');
	return item;
}

const mail = (subject: string, body: string) =>
	`Content-Type: message/rfc822\n\nSubject: ${subject}\n${body}`;
const below = (header: string, text: string) =>
	`\n\n---------- Attached email ---------\n${header}\n\n${text}`;
const bill = 'Dear Ann, the bill for May is here. Please pay 20 EUR by Friday.';
const typed = (type: string, text: string, more = '') => `Content-Type: ${type}\n${more}\n${text}`;
const inline = 'Content-Disposition: inline\n';

interface Case {
	readonly of: string;
	readonly raw: string;
	readonly text: string;
	readonly html?: string;
	/** Name or type of each attachment. */
	readonly files?: string[];
}

const cases: Case[] = [
	{
		of: "the sender's own text beside HTML with pictures",
		raw: multipart(
			'alternative',
			plain('own *text*'),
			multipart('related', html('<p>own</p>'), file('a.png', 'Content-ID: <a>\n')),
		),
		text: 'own *text*',
		html: '<p>own</p>',
		files: ['a.png'],
	},
	{
		of: "Apple Mail: the sender's own text beside HTML around a file",
		raw: multipart(
			'alternative',
			plain('own text'),
			multipart('mixed', html('<b>one</b>'), file('a.pdf', inline), html('<b>two</b>')),
		),
		text: 'own text',
		html: '<b>one</b>\n<b>two</b>',
		files: ['a.pdf'],
	},
	{
		of: 'Apple Mail: text, file, text',
		raw: multipart('mixed', plain('before'), file('a.pdf', inline), plain('after')),
		text: 'before\nafter',
		files: ['a.pdf'],
	},
	{
		of: 'an alternative whose last form has a text of its own behind the HTML',
		raw: multipart(
			'alternative',
			plain('own'),
			multipart('mixed', html('<p>made</p>'), plain('footer')),
		),
		text: 'own',
		html: '<p>made</p>',
	},
	{
		of: 'an empty text beside full HTML',
		raw: multipart('alternative', plain(''), html('<p>all of it</p>')),
		text: 'all of it',
		html: '<p>all of it</p>',
	},
	{
		of: 'a text of white space beside full HTML with a picture and a file',
		raw: multipart(
			'mixed',
			multipart(
				'alternative',
				plain(' \n\u00a0\n'),
				multipart('related', html('<p>all</p>'), file('a.png')),
			),
			file('b.pdf'),
		),
		text: 'all',
		html: '<p>all</p>',
		files: ['a.png', 'b.pdf'],
	},
	{
		of: 'full text beside empty HTML',
		raw: multipart('alternative', plain('all'), html('')),
		text: 'all',
		html: '',
	},
	{
		of: 'a mailing list: an HTML mail with the footer of the list',
		raw: multipart(
			'mixed',
			multipart('alternative', plain('own'), html('<p>own</p>')),
			plain('-- list'),
		),
		text: 'own\n-- list',
		html: '<p>own</p>',
	},
	{
		of: 'a mailing list: HTML alone and the footer',
		raw: multipart('mixed', multipart('alternative', html('<p>own</p>')), plain('-- list')),
		text: 'own\n-- list',
		html: '<p>own</p>',
	},
	{
		of: 'a signed mail',
		raw: multipart(
			'signed',
			multipart('alternative', plain('own'), html('<p>own</p>')),
			typed('application/pgp-signature; name=signature.asc', 'SIG'),
		),
		text: 'own',
		html: '<p>own</p>',
		files: ['signature.asc'],
	},
	{
		of: 'S/MIME: a signed text',
		raw: multipart(
			'signed',
			plain('own'),
			typed(
				'application/pkcs7-signature; name="smime.p7s"',
				'U0lH',
				'Content-Transfer-Encoding: base64\n',
			),
		),
		text: 'own',
		files: ['smime.p7s'],
	},
	{
		of: 'an encrypted mail',
		raw: multipart(
			'encrypted',
			typed('application/pgp-encrypted', 'Version: 1'),
			typed('application/octet-stream; name=encrypted.asc', 'PGP'),
		),
		text: '',
		files: ['application/pgp-encrypted', 'encrypted.asc'],
	},
	{
		of: 'S/MIME: a mail that is one encrypted file',
		raw: typed(
			'application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"',
			'AAAA',
			'Content-Transfer-Encoding: base64\n',
		),
		text: '',
		files: ['smime.p7m'],
	},
	{
		of: 'an invitation from Google Calendar',
		raw: multipart(
			'mixed',
			multipart(
				'alternative',
				plain('invited'),
				html('<p>invited</p>'),
				typed('text/calendar; method=REQUEST', 'BEGIN:VCALENDAR'),
			),
			typed('application/ics; name="invite.ics"', 'BEGIN:VCALENDAR'),
		),
		text: 'invited',
		html: '<p>invited</p>',
		files: ['text/calendar', 'invite.ics'],
	},
	{
		of: 'an invitation from Outlook, which has nothing else',
		raw: typed('text/calendar; method=REQUEST; charset=utf-8', 'BEGIN:VCALENDAR'),
		text: '',
		files: ['text/calendar'],
	},
	{
		of: 'a bounce',
		raw: multipart(
			'report',
			plain('not delivered'),
			typed(
				'message/delivery-status',
				'Reporting-MTA: dns; x.example\n\nFinal-Recipient: rfc822; a@x.example',
			),
			mail('lost', '\nthe lost mail'),
		),
		text: `not delivered${below('Subject: lost', 'the lost mail')}`,
		files: ['message/delivery-status'],
	},
	{
		of: 'a bounce with the header only',
		raw: multipart(
			'report',
			plain('not delivered'),
			typed('message/delivery-status', 'x'),
			typed('text/rfc822-headers', 'Subject: lost'),
		),
		text: 'not delivered',
		files: ['message/delivery-status', 'text/rfc822-headers'],
	},
	{
		of: 'a read receipt',
		raw: multipart(
			'report',
			plain('was read'),
			typed('message/disposition-notification', 'Disposition: displayed'),
		),
		text: 'was read',
		files: ['message/disposition-notification'],
	},
	{
		of: 'a digest',
		raw: multipart(
			'mixed',
			plain('contents'),
			multipart('digest', '\nSubject: one\n\nfirst', '\nSubject: two\n\nsecond'),
		),
		text: `contents${below('Subject: one', 'first')}${below('Subject: two', 'second')}`,
	},
	{
		of: 'a mail within a mail within a mail',
		raw: multipart(
			'mixed',
			plain('outer'),
			mail(
				'inner',
				`Content-Type: multipart/mixed; boundary=i\n\n--i\n${mail('innermost', '\ndeep')}\n--i--`,
			),
		),
		text: `outer${below('Subject: inner', '')}${below('Subject: innermost', 'deep').slice(2)}`,
	},
	{
		of: 'a mail that is forwarded as a file and has files itself',
		raw: multipart(
			'mixed',
			`Content-Type: message/rfc822; name=order.eml\n\nFrom: =?utf-8?q?J=C3=B6rg?= <j@x.example>\nDate: Mon, 5 Jan 2026 10:00:00 +0000\nSubject: Order\nTo: ann@x.example\n${multipart('related', html('<p>two</p>'), file('a.pdf')).replaceAll('related-x', 'r')}`,
			file('b.pdf'),
		),
		text: below(
			'From: Jörg <j@x.example>\nDate: Mon, 5 Jan 2026 10:00:00 +0000\nSubject: Order\nTo: ann@x.example',
			'two',
		).slice(2),
		files: ['order.eml', 'a.pdf', 'b.pdf'],
	},
	...[
		'Your client does not support HTML messages.',
		'Diese Nachricht liegt nur in HTML vor. Bitte öffnen Sie sie im Browser: https://a.example/1',
		'このメールはHTML形式です。',
		'View this email online: https://news.example/abc',
		'_____\nAnnounce mailing list\nannounce@lists.example\nhttps://lists.example/announce',
		'-- \nYou get this because of your account.\nUnsubscribe',
	].map((placeholder) => ({
		of: `HTML beside a placeholder: ${placeholder}`,
		raw: multipart(
			'alternative',
			plain(placeholder),
			html(`<p>${bill}</p><p><a href="https://a.example/1">Pay</a></p>`),
		),
		text: `${bill}\n\nPay [https://a.example/1]`,
		html: `<p>${bill}</p><p><a href="https://a.example/1">Pay</a></p>`,
	})),
	{
		of: 'a short HTML beside a long placeholder',
		raw: multipart(
			'alternative',
			plain('Your program cannot show HTML. Please use another one to read this message.'),
			html('<p>Code: 1234</p>'),
		),
		text: 'Code: 1234',
		html: '<p>Code: 1234</p>',
	},
	{
		of: "the sender's own text beside HTML that says a little more",
		raw: multipart(
			'alternative',
			plain(`*${bill}*`),
			html(`<p>View this email online</p><p>${bill}</p><p>Our shop, 1 Long Lane</p>`),
		),
		text: `*${bill}*`,
		html: `<p>View this email online</p><p>${bill}</p><p>Our shop, 1 Long Lane</p>`,
	},
	{
		of: 'the same text in a language without spaces, with lines of its own',
		raw: multipart(
			'alternative',
			plain('お世話になっ\nております。会議の件\nですが'),
			html('<p>お世話になっております。会議の件ですが</p>'),
		),
		text: 'お世話になっ\nております。会議の件\nですが',
		html: '<p>お世話になっております。会議の件ですが</p>',
	},
	{
		of: 'a whole text beside HTML that has only a link',
		raw: multipart('alternative', plain(bill), html('<p>View online</p>')),
		text: bill,
		html: '<p>View online</p>',
	},
	{
		of: 'a picture alone',
		raw: typed('image/png; name=scan.png', 'iVBO', 'Content-Transfer-Encoding: base64\n'),
		text: '',
		files: ['scan.png'],
	},
	{
		of: 'a text with a name, which is the mail',
		raw: typed('text/plain; name="mail.txt"; charset=utf-8', 'all of it'),
		text: 'all of it',
	},
	{
		of: 'forms with names',
		raw: multipart(
			'alternative',
			typed('text/plain; name="m.txt"', 'own'),
			typed('text/html; name="m.htm"', '<p>own</p>', inline),
		),
		text: 'own',
		html: '<p>own</p>',
	},
	{
		of: 'texts that are files',
		raw: multipart(
			'mixed',
			plain('own'),
			typed('text/plain; name=log.txt', 'log', inline),
			typed('text/csv', 'a,b'),
			typed('text/html; name=page.html', '<p>', 'Content-Disposition: attachment\n'),
		),
		text: 'own',
		files: ['log.txt', 'text/csv', 'page.html'],
	},
	{
		of: 'a file of no bytes',
		raw: multipart(
			'mixed',
			plain('own'),
			'Content-Type: text/plain; name=empty.txt\nContent-Disposition: attachment\n\n',
		),
		text: 'own',
		files: ['empty.txt'],
	},
	{
		of: 'a file without a name',
		raw: multipart(
			'mixed',
			plain('own'),
			typed('application/octet-stream', 'x', 'Content-Disposition: attachment\n'),
		),
		text: 'own',
		files: ['application/octet-stream'],
	},
	{ of: 'a mail without a Content-Type', raw: 'Subject: bare\n\nall of it', text: 'all of it' },
	{
		of: 'types in capital letters',
		raw: `Content-Type: MULTIPART/ALTERNATIVE; BOUNDARY=q\n\n--q\nContent-Type: TEXT/PLAIN; CHARSET=UTF-8\n\nown\n--q\nContent-Type: Text/HTML\n\n<p>own</p>\n--q--`,
		text: 'own',
		html: '<p>own</p>',
	},
	{
		of: 'parts without the last delimiter',
		raw: 'Content-Type: multipart/mixed; boundary=q\n\n--q\n\nown\n--q\nContent-Type: application/pdf; name=a.pdf\n\nPDF\n',
		text: 'own',
		files: ['a.pdf'],
	},
	{ of: 'text of another kind', raw: typed('text/enriched', 'own'), text: 'own' },
	{
		of: 'a file in uuencode, which stays as it is',
		raw: plain('see below\nbegin 644 a.txt\n#86)C\n`\nend'),
		text: 'see below\nbegin 644 a.txt\n#86)C\n`\nend',
	},
	{
		of: 'a file from a Mac',
		raw: multipart(
			'mixed',
			plain('own'),
			multipart(
				'appledouble',
				typed('application/applefile; name="a.jpg"', 'x'),
				typed('image/jpeg; name="a.jpg"', 'x'),
			),
		),
		text: 'own',
		files: ['a.jpg', 'a.jpg'],
	},
	{
		of: 'a winmail.dat',
		raw: multipart(
			'mixed',
			plain('own'),
			typed('application/ms-tnef; name="winmail.dat"', 'x'),
		),
		text: 'own',
		files: ['winmail.dat'],
	},
	{
		of: 'AMP beside HTML',
		raw: multipart(
			'alternative',
			plain('own'),
			typed('text/x-amp-html', '<html amp4email>'),
			html('<p>own</p>'),
		),
		text: 'own',
		html: '<p>own</p>',
		files: ['text/x-amp-html'],
	},
	{
		of: 'HTML that names its charset itself',
		raw: 'Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<meta charset=3D"windows-1251"><p>=CF=F0=E8</p>',
		text: 'При',
		html: '<meta charset="windows-1251"><p>При</p>',
	},
];

it.each(cases)('$of', async ({ raw, text, html: markup = '', files = [] }) => {
	const { json } = await read(raw);
	const attachments = json['attachments'] as Array<{ fileName: string; mimeType: string }>;
	expect([json['text'], json['html']]).toEqual([text, markup]);
	expect(attachments.map(({ fileName, mimeType }) => fileName || mimeType)).toEqual(files);
});

it('an attached email without an ID of its own is text, and its files are listed', async () => {
	const inner = `Subject: inner\n${multipart('mixed', plain('the inner mail'), file('a.pdf'))}`;
	const { json, binary } = await read(multipart('digest', `\n${inner}`), {
		downloadAttachments: true,
	});
	expect(json['text']).toContain('Subject: inner\n\nthe inner mail');
	expect(json['attachments']).toMatchObject([{ fileName: 'a.pdf' }]);
	expect(Object.keys(binary ?? {})).toEqual(['attachment_0']);
});

describe('parts as no email should have them', () => {
	it.each([
		[
			'a multipart without parts',
			{ mimeType: 'multipart/mixed', body: { size: 2, data: 'SGk' } },
		],
		['no type', { body: { size: 2, data: 'SGk' } }],
		[
			'a type with parameters',
			{ mimeType: 'text/plain; charset=gbk', body: { size: 2, data: 'SGk' } },
		],
		[
			'no parts of parts',
			{ mimeType: 'multipart/alternative', parts: [], body: { size: 2, data: 'SGk' } },
		],
	])('%s: what they say is the text', (_what, part) => {
		expect(
			readMail({ message: { payload: part }, withText: true, separateTexts: {} }),
		).toMatchObject({ text: 'Hi', attachments: [] });
	});

	it('an empty text that Gmail stores separately is the stored one', () => {
		const payload = { mimeType: 'text/plain', body: { data: '', attachmentId: 'A' } };
		const read = (separateTexts: Record<string, string>) =>
			readMail({ message: { payload }, withText: true, separateTexts });
		expect(read({})).toMatchObject({ text: '', missingTextIds: ['A'] });
		expect(read({ A: 'SGk' })).toMatchObject({ text: 'Hi', missingTextIds: [] });
	});

	const part = (mimeType: string, text: string) => ({
		mimeType,
		body: { data: Buffer.from(text).toString('base64url') },
	});
	const related = (...parts: object[]) => ({ payload: { mimeType: 'multipart/related', parts } });

	it.each([
		[['text/plain a', 'text/html b', 'text/plain c'], 'a\nb\nc', 'b'],
		[['text/html <p>a</p>', 'text/html <p>b</p>'], 'a\n\nb', '<p>a</p>\n<p>b</p>'],
		[['text/plain a', 'text/plain b'], 'a\nb', ''],
	])(
		'whatever else stands where the pictures should be is all read: %j',
		(bodies, text, html) => {
			const message = related(
				...bodies.map((body) => {
					const [type = '', content = ''] = body.split(' ');
					return part(type, content);
				}),
			);
			expect(readMail({ message, withText: true, separateTexts: {} })).toMatchObject({
				text,
				html,
			});
		},
	);

	it('a picture that belongs to the text is inline, and without the text no text is missing', () => {
		const headers = [{ name: 'Content-ID', value: '<a>' }];
		const stored = { mimeType: 'text/html', body: { attachmentId: 'A' } };
		const message = related(stored, { ...part('image/png', 'x'), headers });
		expect(readMail({ message, withText: false, separateTexts: {} })).toMatchObject({
			text: '',
			missingTextIds: [],
			attachments: [{ contentId: 'a', inline: true }],
		});
	});

	it('nothing at all says nothing', () => {
		expect(
			readMail({ message: { payload: {} }, withText: true, separateTexts: {} }),
		).toMatchObject({ text: '', attachments: [] });
	});
});
