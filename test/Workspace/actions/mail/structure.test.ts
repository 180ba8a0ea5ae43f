import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { type MailInput, readMail } from '../../../../nodes/untrusted/mail/readMail';
import { Mails } from './mails';
import { alternative, file, html, mixed, multipart, plain, related, typed } from './parts';

const mails = new Mails();

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
const own = plain('own');
const made = '<p>own</p>';
const both = alternative(own, html(made));

/** What a mail is, its parts, its text, its HTML, and the name or type of each attachment. */
type Case = [of: string, raw: string, text: string, markup?: string, files?: string[]];

function itReads(cases: Case[]): void {
	it.each(cases)('%s', async (_of, raw, text, markup = '', files = []) => {
		const { json } = await mails.read(raw);
		const attachments = json['attachments'] as Array<{ fileName: string; mimeType: string }>;
		expect([json['text'], json['html']]).toEqual([text, markup]);
		expect(attachments.map(({ fileName, mimeType }) => fileName || mimeType)).toEqual(files);
	});
}

describe('one text in several forms', () => {
	const picture = file('a.png', 'Content-ID: <a>\n');
	const pictured = alternative(plain('own *text*'), related(html(made), picture));
	const nested = mixed(related(both, picture), file('b.pdf'));
	const apple = mixed(html('<b>one</b>'), file('a.pdf', inline), html('<b>two</b>'));
	const aroundFile = alternative(own, apple);
	const footed = alternative(own, mixed(html(made), plain('foot')));
	const empty = alternative(plain(''), html('<p>all</p>'));
	const blank = alternative(plain(' \n\u00a0\n'), related(html('<p>all</p>'), file('a.png')));
	const withFile = mixed(blank, file('b.pdf'));
	const nameless = typed('text/html; name="m.htm"', made, inline);
	const named = alternative(typed('text/plain; name="m.txt"', 'own'), nameless);
	const amp = alternative(own, typed('text/x-amp-html', '<html amp4email>'), html(made));
	const plainForm = 'Content-Type: TEXT/PLAIN; CHARSET=UTF-8\n\nown\n';
	const htmlForm = `Content-Type: Text/HTML\n\n${made}\n`;
	const capital = `Content-Type: MULTIPART/ALTERNATIVE; BOUNDARY=q\n\n--q\n${plainForm}--q\n${htmlForm}--q--`;

	itReads([
		['text and HTML with pictures', pictured, 'own *text*', made, ['a.png']],
		['forms in related parts in mixed parts', nested, 'own', made, ['a.png', 'b.pdf']],
		['HTML around a file', aroundFile, 'own', '<b>one</b>\n<b>two</b>', ['a.pdf']],
		['HTML with a text behind it', footed, 'own\nfoot', `${made}\n<div>foot</div>`],
		['an empty text beside full HTML', empty, 'all', '<p>all</p>'],
		['a blank text beside full HTML', withFile, 'all', '<p>all</p>', ['a.png', 'b.pdf']],
		['full text beside empty HTML', alternative(plain('all'), html('')), 'all'],
		['forms with names', named, 'own', made],
		['AMP beside HTML', amp, 'own', made, ['text/x-amp-html']],
		['types in capital letters', capital, 'own', made],
	]);

	const payLink = `<p>${bill}</p><p><a href="https://a.example/1">Pay</a></p>`;
	const payText = `${bill}\n\nPay [https://a.example/1]`;
	const placeholders = [
		'Your client does not support HTML messages.',
		'Diese Nachricht liegt nur in HTML vor. Bitte öffnen Sie sie im Browser: https://a.example/1',
		'このメールはHTML形式です。',
		'View this email online: https://news.example/abc',
		'_____\nAnnounce mailing list\nannounce@lists.example\nhttps://lists.example/announce',
		'-- \nYou get this because of your account.\nUnsubscribe',
	];

	it.each(placeholders)('a placeholder: %s', async (placeholder) => {
		const { json } = await mails.read(alternative(plain(placeholder), html(payLink)));
		expect([json['text'], json['html']]).toEqual([payText, payLink]);
	});

	const long = 'Your program cannot show HTML. Please use another one to read this message.';
	const code = '<p>Code: 1234</p>';
	const starred = `*${bill}*`;
	const more = `<p>View this email online</p><p>${bill}</p><p>Our shop, 1 Long Lane</p>`;
	const lines = 'お世話になっ\nております。会議の件\nですが';
	const oneLine = `<p>${lines.replaceAll('\n', '')}</p>`;
	const link = '<p>View online</p>';
	const beside = (text: string, markup: string) => alternative(plain(text), html(markup));

	itReads([
		['a short HTML beside a long placeholder', beside(long, code), 'Code: 1234', code],
		['text beside HTML that says a little more', beside(starred, more), starred, more],
		['lines in a language without spaces', beside(lines, oneLine), lines, oneLine],
		['a whole text beside HTML that has only a link', beside(bill, link), bill, link],
	]);
});

describe('several texts', () => {
	const apple = mixed(plain('before'), file('a.pdf', inline), plain('after'));
	const footer = plain('-- list <l@x>');
	const withFooter = `${made}\n<div>-- list &lt;l@x&gt;</div>`;
	const onlyHtml = mixed(alternative(html(made)), footer);

	itReads([
		['Apple Mail: text, file, text', apple, 'before\nafter', '', ['a.pdf']],
		['the footer of a list', mixed(both, footer), 'own\n-- list <l@x>', withFooter],
		['HTML alone with that footer', onlyHtml, 'own\n-- list <l@x>', withFooter],
	]);

	const report = (...parts: string[]) => multipart('report', ...parts);
	const lost = plain('not delivered');
	const bounce = report(lost, status, mail('lost', '\nthe lost mail'));
	const bounceText = `not delivered${below('Subject: lost', 'the lost mail')}`;
	const header = report(lost, status, typed('text/rfc822-headers', 'Subject: lost'));
	const receipt = typed('message/disposition-notification', 'Disposition: displayed');
	const read = report(plain('was read'), receipt);
	const digest = multipart('digest', '\nSubject: one\n\nfirst', '\nSubject: two\n\nsecond');
	const [first, second] = [below('Subject: one', 'first'), below('Subject: two', 'second')];
	const innermost = multipart('mixed', mail('innermost', '\ndeep')).replaceAll('mixed-x', 'i');
	const nested = below('Subject: inner', '') + below('Subject: innermost', 'deep').slice(2);
	const [date, subject] = [
		'Date: Mon, 5 Jan 2026 10:00:00 +0000',
		'Subject: Order\nTo: ann@x.example',
	];
	const orderParts = related(html('<p>two</p>'), file('a.pdf')).replaceAll('related-x', 'r');
	const order = `From: =?utf-8?q?J=C3=B6rg?= <j@x.example>\n${date}\n${subject}\n${orderParts}`;
	const forwarded = mixed(typed('message/rfc822; name=order.eml', order), file('b.pdf'));
	const orderText = below(`From: Jörg <j@x.example>\n${date}\n${subject}`, 'two').slice(2);
	const inMail = mixed(plain('outer'), mail('inner', innermost));
	const orderFiles = ['order.eml', 'a.pdf', 'b.pdf'];

	itReads([
		['a bounce', bounce, bounceText],
		['a bounce with the header only', header, 'not delivered', '', ['text/rfc822-headers']],
		['a read receipt', read, 'was read', '', ['message/disposition-notification']],
		['a digest', mixed(plain('contents'), digest), `contents${first}${second}`],
		['a mail in a mail in a mail', inMail, `outer${nested}`],
		['a mail as a file, with files itself', forwarded, orderText, '', orderFiles],
	]);
});

describe('files', () => {
	const signature = typed('application/pgp-signature; name=signature.asc', 'SIG');
	const signed = multipart('signed', both, signature);
	const smime = typed('application/pkcs7-signature; name="smime.p7s"', 'U0lH', base64);
	const version = typed('application/pgp-encrypted', 'Version: 1');
	const pgp = typed('application/octet-stream; name=encrypted.asc', 'PGP');
	const encrypted = multipart('encrypted', version, pgp);
	const encryptedFiles = ['application/pgp-encrypted', 'encrypted.asc'];
	const enveloped = 'application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"';
	const ics = typed('application/ics; name="invite.ics"', 'BEGIN:VCALENDAR');
	const google = mixed(alternative(own, html(made), calendar), ics);
	const picture = typed('image/png; name=scan.png', 'iVBO', base64);
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
		['a signed mail', signed, 'own', made, ['signature.asc']],
		['S/MIME: a signed text', multipart('signed', own, smime), 'own', '', ['smime.p7s']],
		['an encrypted mail', encrypted, '', '', encryptedFiles],
		['S/MIME: one encrypted file', typed(enveloped, 'AAAA', base64), '', '', ['smime.p7m']],
		['an invitation from Google', google, 'own', made, ['text/calendar', 'invite.ics']],
		['one from Outlook, which is all', calendar, '', '', ['text/calendar']],
		['a picture alone', picture, '', '', ['scan.png']],
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

it('an attached email without an ID of its own is text, and its files are listed', async () => {
	const inner = `Subject: inner\n${mixed(plain('the inner mail'), file('a.pdf'))}`;
	const digest = multipart('digest', `\n${inner}`);
	const { json, binary } = await mails.read(digest, { downloadAttachments: true });
	expect(json['text']).toContain('Subject: inner\n\nthe inner mail');
	expect(json['attachments']).toMatchObject([{ fileName: 'a.pdf' }]);
	expect(Object.keys(binary ?? {})).toEqual(['attachment_0']);
});

it('the report of a bounce, which Gmail returns without its bytes, is no empty file', async () => {
	const report = multipart('report', plain('not delivered'), status);
	const { json, binary } = await mails.read(report, { downloadAttachments: true });
	expect([json['text'], json['attachments'], binary]).toEqual(['not delivered', [], undefined]);
});

describe('parts as no email should have them', () => {
	const body = { size: 2, data: 'SGk' };
	const read = (payload: gmail_v1.Schema$MessagePart, more: Partial<MailInput> = {}) => {
		const input = { message: { payload }, withText: true, separateTexts: {}, ...more };
		const { content, missingTextIds } = readMail(input);
		return { ...content, missingTextIds };
	};

	it.each([
		['a multipart without parts', { mimeType: 'multipart/mixed', body }, 'Hi'],
		['no type', { body }, 'Hi'],
		['a type with parameters', { mimeType: 'text/plain; charset=gbk', body }, 'Hi'],
		['no parts of parts', { mimeType: 'multipart/alternative', parts: [], body }, 'Hi'],
		['nothing at all', {}, ''],
	])('%s: what they say is the text', (_what, payload, text) => {
		expect(read(payload)).toMatchObject({ text, attachments: [] });
	});

	it('an empty text that Gmail stores separately is the stored one', () => {
		const payload = { mimeType: 'text/plain', body: { data: '', attachmentId: 'A' } };
		expect(read(payload)).toMatchObject({ text: '', missingTextIds: ['A'] });
		const stored = read(payload, { separateTexts: { A: 'SGk' } });
		expect(stored).toMatchObject({ text: 'Hi', missingTextIds: [] });
	});

	const part = (mimeType: string, text: string) => ({
		mimeType,
		body: { data: Buffer.from(text).toString('base64url') },
	});
	const inRelated = (...parts: object[]) => ({ mimeType: 'multipart/related', parts });
	const [a, b, c] = [part('text/plain', 'a'), part('text/html', 'b'), part('text/plain', 'c')];
	const pages = ['<p>a</p>', '<p>b</p>'].map((text) => part('text/html', text));

	it.each([
		['a text, HTML and a text', [a, b, c], 'a\nb\nc', '<div>a</div>\nb\n<div>c</div>'],
		['two pages', pages, 'a\n\nb', '<p>a</p>\n<p>b</p>'],
		['two texts', [a, c], 'a\nc', ''],
	])('all is read where pictures should be: %s', (_what, parts, text, markup) => {
		expect(read(inRelated(...parts))).toMatchObject({ text, html: markup });
	});

	it('a picture of the text is inline, and without the text no text is missing', () => {
		const headers = [{ name: 'Content-ID', value: '<a>' }];
		const stored = { mimeType: 'text/html', body: { attachmentId: 'A' } };
		const payload = inRelated(stored, { ...part('image/png', 'x'), headers });
		expect(read(payload, { withText: false })).toMatchObject({
			text: '',
			missingTextIds: [],
			attachments: [{ contentId: 'a', inline: true }],
		});
	});

	it.each([
		['', '', ''],
		['attachment; filename="a;b.pdf"', 'application/pdf; name=c.pdf', 'a;b.pdf'],
		['attachment; filename*0*=iso-8859-1\'\'Gr%FC; filename*1="ße.pdf"', '', 'Grüße.pdf'],
		[`attachment; filename*= "UTF-8''XYZ%20A6-1.pdf"`, '', 'XYZ A6-1.pdf'],
		['inline', 'application/pdf; name="=?utf-8?Q?Gr=C3=BC=C3=9Fe=2Epdf?="', 'Grüße.pdf'],
	])('a file without a name has the one of its headers: %s; %s', (disposition, type, name) => {
		const headers = [
			{ name: 'content-disposition', value: disposition },
			{ name: 'Content-Type', value: type },
		];
		const { attachments } = read({ mimeType: 'application/pdf', filename: '', headers });
		expect(attachments).toMatchObject([{ fileName: name }]);
	});
});
