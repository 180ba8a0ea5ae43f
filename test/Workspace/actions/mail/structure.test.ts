import type { IDataObject } from 'n8n-workflow';

import { readMail } from '../../../../nodes/untrusted/mail/readMail';
import { withBinaryData } from '../../../createExecuteContext';
import { Mails } from './mails';
import { alternative, file, html, mixed, multipart, plain, related, typed } from './parts';

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
const inline = 'Content-Disposition: inline\n';
const attached = 'Content-Disposition: attachment\n';
const base64 = 'Content-Transfer-Encoding: base64\n';
const calendar = typed('text/calendar; method=REQUEST', 'BEGIN:VCALENDAR');
const status = typed('message/delivery-status', 'Reporting-MTA: dns; x.example\n\nFinal: a@x');
const made = '<p>own</p>';
const both = alternative(plain('own'), html(made));

/** What a mail is, its parts, its text, its HTML, and the name or type of each attachment. */
type Case = [of: string, raw: string, text: string, markup?: string, files?: string[]];

describe('one text in several forms', () => {
	const withPicture = related(html(made), file('a.png', 'Content-ID: <a>\n'));
	const apple = mixed(html('<b>one</b>'), file('a.pdf', inline), html('<b>two</b>'));
	const blank = alternative(plain(' \n\u00a0\n'), related(html('<p>all</p>'), file('a.png')));
	const nameless = typed('text/html; name="m.htm"', made, inline);
	const named = alternative(typed('text/plain; name="m.txt"', 'own'), nameless);
	const amp = alternative(plain('own'), typed('text/x-amp-html', '<html amp4email>'), html(made));
	const capital = 'Content-Type: MULTIPART/ALTERNATIVE; BOUNDARY=q\n\n';
	const forms =
		'Content-Type: TEXT/PLAIN; CHARSET=UTF-8\n\nown\n--q\nContent-Type: Text/HTML\n\n';
	const encoding = 'Content-Transfer-Encoding: quoted-printable\n';
	const russian = '<meta charset=3D"windows-1251"><p>=CF=F0=E8</p>';

	itReads([
		[
			'own text and HTML with pictures',
			alternative(plain('own *text*'), withPicture),
			'own *text*',
			made,
			['a.png'],
		],
		[
			'Apple Mail, HTML around a file',
			alternative(plain('own'), apple),
			'own',
			'<b>one</b>\n<b>two</b>',
			['a.pdf'],
		],
		[
			'HTML with a text of its own behind it',
			alternative(plain('own'), mixed(html(made), plain('foot'))),
			'own',
			`${made}\n<div>foot</div>`,
		],
		[
			'an empty text beside full HTML',
			alternative(plain(''), html('<p>all</p>')),
			'all',
			'<p>all</p>',
		],
		[
			'a text of white space beside full HTML',
			mixed(blank, file('b.pdf')),
			'all',
			'<p>all</p>',
			['a.png', 'b.pdf'],
		],
		['full text beside empty HTML', alternative(plain('all'), html('')), 'all'],
		['forms with names', named, 'own', made],
		['AMP beside HTML', amp, 'own', made, ['text/x-amp-html']],
		['types in capital letters', `${capital}--q\n${forms}${made}\n--q--`, 'own', made],
		[
			'HTML that names its charset itself',
			typed('text/html', russian, encoding),
			'При',
			'<meta charset="windows-1251"><p>При</p>',
		],
	]);

	const payLink = `<p>${bill}</p><p><a href="https://a.example/1">Pay</a></p>`;
	const payText = `${bill}\n\nPay [https://a.example/1]`;

	itReads(
		[
			'Your client does not support HTML messages.',
			'Diese Nachricht liegt nur in HTML vor. Bitte öffnen Sie sie im Browser: https://a.example/1',
			'このメールはHTML形式です。',
			'View this email online: https://news.example/abc',
			'_____\nAnnounce mailing list\nannounce@lists.example\nhttps://lists.example/announce',
			'-- \nYou get this because of your account.\nUnsubscribe',
		].map((text) => [
			`a placeholder: ${text}`,
			alternative(plain(text), html(payLink)),
			payText,
			payLink,
		]),
	);

	const long = 'Your program cannot show HTML. Please use another one to read this message.';
	const code = '<p>Code: 1234</p>';
	const more = `<p>View this email online</p><p>${bill}</p><p>Our shop, 1 Long Lane</p>`;
	const lines = 'お世話になっ\nております。会議の件\nですが';
	const oneLine = `<p>${lines.replaceAll('\n', '')}</p>`;
	const link = '<p>View online</p>';

	itReads([
		[
			'a short HTML beside a long placeholder',
			alternative(plain(long), html(code)),
			'Code: 1234',
			code,
		],
		[
			'own text beside HTML that says a little more',
			alternative(plain(`*${bill}*`), html(more)),
			`*${bill}*`,
			more,
		],
		[
			'lines in a language without spaces',
			alternative(plain(lines), html(oneLine)),
			lines,
			oneLine,
		],
		[
			'a whole text beside HTML that has only a link',
			alternative(plain(bill), html(link)),
			bill,
			link,
		],
	]);
});

describe('several texts', () => {
	const appleText = mixed(plain('before'), file('a.pdf', inline), plain('after'));
	const list = plain('-- list');

	itReads([
		['Apple Mail: text, file, text', appleText, 'before\nafter', '', ['a.pdf']],
		[
			'an HTML mail with the footer of a mailing list',
			mixed(both, list),
			'own\n-- list',
			`${made}\n<div>-- list</div>`,
		],
		[
			'HTML alone with that footer',
			mixed(alternative(html(made)), list),
			'own\n-- list',
			`${made}\n<div>-- list</div>`,
		],
	]);

	const report = (...parts: string[]) => multipart('report', ...parts);
	const lost = plain('not delivered');
	const bounce = report(lost, status, mail('lost', '\nthe lost mail'));
	const header = report(lost, status, typed('text/rfc822-headers', 'Subject: lost'));
	const receipt = typed('message/disposition-notification', 'Disposition: displayed');
	const digest = multipart('digest', '\nSubject: one\n\nfirst', '\nSubject: two\n\nsecond');
	const [first, second] = [below('Subject: one', 'first'), below('Subject: two', 'second')];
	const innermost = `Content-Type: multipart/mixed; boundary=i\n\n--i\n${mail('innermost', '\ndeep')}\n--i--`;
	const nested = below('Subject: inner', '') + below('Subject: innermost', 'deep').slice(2);
	const [date, subject] = [
		'Date: Mon, 5 Jan 2026 10:00:00 +0000',
		'Subject: Order\nTo: ann@x.example',
	];
	const orderParts = related(html('<p>two</p>'), file('a.pdf')).replaceAll('related-x', 'r');
	const order = `From: =?utf-8?q?J=C3=B6rg?= <j@x.example>\n${date}\n${subject}\n${orderParts}`;
	const forwarded = mixed(typed('message/rfc822; name=order.eml', order), file('b.pdf'));
	const orderText = below(`From: Jörg <j@x.example>\n${date}\n${subject}`, 'two').slice(2);

	itReads([
		[
			'a bounce',
			bounce,
			`not delivered${below('Subject: lost', 'the lost mail')}`,
			'',
			['message/delivery-status'],
		],
		[
			'a bounce with the header only',
			header,
			'not delivered',
			'',
			['message/delivery-status', 'text/rfc822-headers'],
		],
		[
			'a read receipt',
			report(plain('was read'), receipt),
			'was read',
			'',
			['message/disposition-notification'],
		],
		['a digest', mixed(plain('contents'), digest), `contents${first}${second}`],
		[
			'a mail in a mail in a mail',
			mixed(plain('outer'), mail('inner', innermost)),
			`outer${nested}`,
		],
		[
			'a mail as a file, with files itself',
			forwarded,
			orderText,
			'',
			['order.eml', 'a.pdf', 'b.pdf'],
		],
	]);
});

describe('files', () => {
	const own = plain('own');
	const signature = typed('application/pgp-signature; name=signature.asc', 'SIG');
	const smime = typed('application/pkcs7-signature; name="smime.p7s"', 'U0lH', base64);
	const version = typed('application/pgp-encrypted', 'Version: 1');
	const pgp = typed('application/octet-stream; name=encrypted.asc', 'PGP');
	const enveloped = 'application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"';
	const ics = typed('application/ics; name="invite.ics"', 'BEGIN:VCALENDAR');
	const google = mixed(alternative(plain('invited'), html('<p>invited</p>'), calendar), ics);
	const log = typed('text/plain; name=log.txt', 'log', inline);
	const page = typed('text/html; name=page.html', '<p>', attached);
	const texts = mixed(own, log, typed('text/csv', 'a,b'), page);
	const noBytes = typed('text/plain; name=empty.txt', '', attached);
	const noName = typed('application/octet-stream', 'x', attached);
	const fork = typed('application/applefile; name="a.jpg"', 'x');
	const double = multipart('appledouble', fork, typed('image/jpeg; name="a.jpg"', 'x'));
	const winmail = typed('application/ms-tnef; name="winmail.dat"', 'x');
	const named = typed('text/plain; name="mail.txt"; charset=utf-8', 'all of it');
	const uuencoded = 'see below\nbegin 644 a.txt\n#86)C\n`\nend';
	const noEnd = 'Content-Type: multipart/mixed; boundary=q\n\n--q\n\nown\n--q\n';
	const pdf = typed('application/pdf; name=a.pdf', 'PDF\n');

	itReads([
		['a signed mail', multipart('signed', both, signature), 'own', made, ['signature.asc']],
		['S/MIME: a signed text', multipart('signed', own, smime), 'own', '', ['smime.p7s']],
		[
			'an encrypted mail',
			multipart('encrypted', version, pgp),
			'',
			'',
			['application/pgp-encrypted', 'encrypted.asc'],
		],
		['S/MIME: one encrypted file', typed(enveloped, 'AAAA', base64), '', '', ['smime.p7m']],
		[
			'an invitation from Google',
			google,
			'invited',
			'<p>invited</p>',
			['text/calendar', 'invite.ics'],
		],
		['one from Outlook, which is all', calendar, '', '', ['text/calendar']],
		[
			'a picture alone',
			typed('image/png; name=scan.png', 'iVBO', base64),
			'',
			'',
			['scan.png'],
		],
		['a text with a name, which is the mail', named, 'all of it'],
		['texts that are files', texts, 'own', '', ['log.txt', 'text/csv', 'page.html']],
		['a file of no bytes', mixed(own, noBytes), 'own', '', ['empty.txt']],
		['a file without a name', mixed(own, noName), 'own', '', ['application/octet-stream']],
		['a mail without a Content-Type', 'Subject: bare\n\nall of it', 'all of it'],
		['parts without the last delimiter', noEnd + pdf, 'own', '', ['a.pdf']],
		['text of another kind', typed('text/enriched', 'own'), 'own'],
		['a file in uuencode, which stays as it is', plain(uuencoded), uuencoded],
		['a file from a Mac', mixed(own, double), 'own', '', ['a.jpg', 'a.jpg']],
		['a winmail.dat', mixed(own, winmail), 'own', '', ['winmail.dat']],
	]);
});

function itReads(cases: Case[]): void {
	it.each(cases)('%s', async (_of, raw, text, markup = '', files = []) => {
		const { json } = await read(raw);
		const attachments = json['attachments'] as Array<{ fileName: string; mimeType: string }>;
		expect([json['text'], json['html']]).toEqual([text, markup]);
		expect(attachments.map(({ fileName, mimeType }) => fileName || mimeType)).toEqual(files);
	});
}

it('an attached email without an ID of its own is text, and its files are listed', async () => {
	const inner = `Subject: inner\n${multipart('mixed', plain('the inner mail'), file('a.pdf'))}`;
	const digest = multipart('digest', `\n${inner}`);
	const { json, binary } = await read(digest, { downloadAttachments: true });
	expect(json['text']).toContain('Subject: inner\n\nthe inner mail');
	expect(json['attachments']).toMatchObject([{ fileName: 'a.pdf' }]);
	expect(Object.keys(binary ?? {})).toEqual(['attachment_0']);
});

describe('parts as no email should have them', () => {
	const body = { size: 2, data: 'SGk' };

	it.each([
		['a multipart without parts', { mimeType: 'multipart/mixed', body }],
		['no type', { body }],
		['a type with parameters', { mimeType: 'text/plain; charset=gbk', body }],
		['no parts of parts', { mimeType: 'multipart/alternative', parts: [], body }],
	])('%s: what they say is the text', (_what, payload) => {
		const read = readMail({ message: { payload }, withText: true, separateTexts: {} });
		expect(read).toMatchObject({ text: 'Hi', attachments: [] });
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
	const inRelated = (...parts: object[]) => ({
		payload: { mimeType: 'multipart/related', parts },
	});

	it.each([
		[
			['text/plain a', 'text/html b', 'text/plain c'],
			'a\nb\nc',
			'<div>a</div>\nb\n<div>c</div>',
		],
		[['text/html <p>a</p>', 'text/html <p>b</p>'], 'a\n\nb', '<p>a</p>\n<p>b</p>'],
		[['text/plain a', 'text/plain b'], 'a\nb', ''],
	])('all is read where pictures should be: %j', (bodies, text, markup) => {
		const parts = bodies.map((body) => {
			const [type = '', content = ''] = body.split(' ');
			return part(type, content);
		});
		const message = inRelated(...parts);
		const read = readMail({ message, withText: true, separateTexts: {} });
		expect(read).toMatchObject({ text, html: markup });
	});

	it('a picture that belongs to the text is inline, and without the text no text is missing', () => {
		const headers = [{ name: 'Content-ID', value: '<a>' }];
		const stored = { mimeType: 'text/html', body: { attachmentId: 'A' } };
		const message = inRelated(stored, { ...part('image/png', 'x'), headers });
		expect(readMail({ message, withText: false, separateTexts: {} })).toMatchObject({
			text: '',
			missingTextIds: [],
			attachments: [{ contentId: 'a', inline: true }],
		});
	});

	it.each([
		['', '', ''],
		['attachment; filename="a;b.pdf"', 'application/pdf; name=c.pdf', 'a;b.pdf'],
		['attachment; filename*0*=iso-8859-1\'\'Gr%FC; filename*1="ße.pdf"', '', 'Grüße.pdf'],
		['inline', 'application/pdf; name="=?utf-8?Q?Gr=C3=BC=C3=9Fe=2Epdf?="', 'Grüße.pdf'],
	])('a file without a name has the one of its headers: %s; %s', (disposition, type, name) => {
		const headers = [
			{ name: 'content-disposition', value: disposition },
			{ name: 'Content-Type', value: type },
		];
		const message = inRelated({ mimeType: 'application/pdf', filename: '', headers });
		const { attachments } = readMail({ message, withText: true, separateTexts: {} });
		expect(attachments).toMatchObject([{ fileName: name }]);
	});

	it('nothing at all says nothing', () => {
		const read = readMail({ message: { payload: {} }, withText: true, separateTexts: {} });
		expect(read).toMatchObject({ text: '', attachments: [] });
	});
});
