import { Worker } from 'node:worker_threads';
import type { IDataObject } from 'n8n-workflow';

import { collectParts, findHeader } from '../../../../../dev/google/gmail/mime';
import type { MailSeed } from '../../../../../dev/google/gmail/seed';
import { failureOf } from '../../../../createExecuteContext';
import { headerOf, Mails, textOf } from '../mails';
import * as part from '../parts';

const mails = new Mails();

const ann = 'Ann <ann@example.com>';
const own = 'someone@example.com';
const newMail = { to: 'a@x.example', subject: 'S', body: 'Hello' };

/** Replies to an email and returns what went out. */
async function reply(original: MailSeed, options: IDataObject = {}, parameters: IDataObject = {}) {
	const replyToMessageId = mails.gmail.seed({ text: 'Shall we?', ...original });
	const given = { operation: 'send', body: 'Yes.', replyToMessageId, ...parameters };
	const { items, hints } = await mails.hinted({ ...given, options });
	const mail = mails.sent.at(-1) ?? mails.gmail.drafts.at(-1);
	if (!mail) throw new Error('nothing went out');
	const header = (name: string) => headerOf(mail, name) ?? '';
	const toAndCc = [header('To'), header('Cc')];
	const text = textOf(mail, 'text/plain')?.replaceAll('\r\n', '\n').trimEnd();
	const html = textOf(mail, 'text/html');
	return { header, toAndCc, text, html, ...mail, replyToMessageId, items, hints };
}

it.each([
	[['References: <a@x.org>', 'References: <b@x.org> <c@x.org>'], '<a@x.org> <b@x.org> <c@x.org>'],
	[['In-Reply-To: <first@example.com>'], '<first@example.com>'],
])('refers to all emails that the original does: %j', async (headers, earlier) => {
	const { header } = await reply({ headers });
	expect(header('In-Reply-To')).toMatch(/^<seed-\d+@example\.com>$/);
	expect(header('References')).toBe(`${earlier} ${header('In-Reply-To')}`);
});

it('to an original without a Message-ID goes out', async () => {
	const raw = 'From: ann@example.com\r\nTo: someone@example.com\r\nSubject: S\r\n\r\nHi';
	const { header } = await reply({ raw });
	expect(header('To')).toBe('ann@example.com');
});

it.each([1, 2, 3])(
	'is not sent if the thread that reads the original ends %d time(s)',
	async (times) => {
		const endThread = jest.spyOn(Worker.prototype, 'postMessage');
		for (let count = 0; count < times; count++)
			endThread.mockImplementationOnce(function (this: Worker) {
				void this.terminate();
			});
		const given = { to: 'eve@example.com', headers: ['Cc: bo@example.com'] };
		const answer = reply(given, { replyAll: true }, { to: 'eve@example.com' });
		await expect(answer).rejects.toThrow(/could not be read/);
		endThread.mockRestore();
		expect(mails.sent).toEqual([]);
	},
);

it('takes a subject that has many encoded words, up to 50,000 characters', async () => {
	const { header } = await reply({ subject: '=?x?q?=41?= '.repeat(60_000) });
	expect(header('Subject')).toMatch(/^Re: A{50000}$/);
});

describe('to whom', () => {
	const desk = 'Desk <desk@example.com>';
	const addresses = 'Reply-To: a@x.example, b@x.example, A@x.example';
	const headers = ['Reply-To: a@x.example', 'reply-to: B, C <b@x.example>'];
	const byMe = { from: 'Sam <Someone@example.com>', headers: ['Reply-To: desk@example.com'] };
	const encoded = '=?utf-8?Q?M=C3=BCller,_J=C3=B6rg?= <j@x.example>';
	const contactForm = { from: own, to: `${own}, Sales@x.example`, headers: [`Reply-To: ${ann}`] };
	const toTeam = { ...contactForm, to: `sales@x.example, b@x.example` };
	const inQuotes = '=?utf-8?Q?=D0=9E=D0=9E=D0=9E_=22=D0=9C=D0=B8=D1=80=22?= <m@x.example>';
	const withColon = '=?utf-8?Q?Support=3A_M=C3=BCnchen?= <s@x.example>';
	const nested = '"Doe, "JJ", Jane" <j@x.example>';

	it.each<[string, MailSeed, string]>([
		['the sender', { from: 'Ann Example <ann@example.com>' }, 'Ann Example <ann@example.com>'],
		['an address alone', { from: 'ann@example.com' }, 'ann@example.com'],
		['where the sender wants replies', { headers: [`Reply-To: ${desk}`] }, desk],
		['several such addresses', { headers: [addresses] }, 'a@x.example, b@x.example'],
		['each header of such addresses', { headers }, 'a@x.example, "B, C" <b@x.example>'],
		['the sender, where Reply-To is empty', { headers: ['Reply-To: '] }, ann],
		['a name of other letters with a comma', { from: encoded }, 'Müller, Jörg <j@x.example>'],
		['a name with quotes of other letters', { from: inQuotes }, 'ООО Мир <m@x.example>'],
		['a name with a colon', { from: withColon }, 'Support: München <s@x.example>'],
		['a bare colon', { from: 'Acme: Help <h@x.example>' }, '"Acme: Help" <h@x.example>'],
		['a nickname', { from: 'Jane "JJ" Doe <j@x.example>' }, 'Jane JJ Doe <j@x.example>'],
		['a desk', { from: '"Ann Lee" via Desk <d@x.example>' }, 'Ann Lee via Desk <d@x.example>'],
		['quotes in quotes', { from: nested }, '"Doe, JJ, Jane" <j@x.example>'],
		['whom an own email went to', { ...byMe, to: 'B <b@x.example>' }, 'B <b@x.example>'],
		['a sender who stands there twice', { from: `${ann}, ann@example.com`, to: own }, ann],
		['the account itself, for a note to itself', { from: own }, own],
		['whom an alias wrote to', { from: 'SALES@x.example', to: 'b@x.example' }, 'b@x.example'],
		['whom an own contact form names', contactForm, ann],
		['the others whom an own contact form went to', toTeam, 'b@x.example'],
	])('%s', async (_what, original, to) => {
		mails.gmail.aliases = ['sales@x.example'];
		const { toAndCc, hints } = await reply(original);
		expect([toAndCc, hints]).toEqual([[to, ''], []]);
	});

	it('works although the settings cannot be read', async () => {
		mails.google.fault({ match: 'gmail.users.settings.sendAs.list', status: 403, times: 99 });
		const byMe = { from: own, to: 'bo@example.com' };
		const { header } = await reply(byMe, { replyAll: true });
		expect(header('To')).toBe('bo@example.com');
	});

	it.each([
		['', 'undisclosed-recipients:;'],
		['nobody', 'x'],
	])('an original from %j cannot be answered', async (from) => {
		const id = mails.gmail.seed({ from });
		const failure = await mails.failure('send', { body: 'x', replyToMessageId: id });
		expect(failure.httpCode).toBe('400');
		expect(failure.description).toContain("'To'");
		expect(mails.sent).toEqual([]);
	});

	it('an original that is not there cannot be answered', async () => {
		const given = { ...newMail, replyToMessageId: '18c0ffee' };
		const failure = await mails.failure('send', given);
		expect(failure.httpCode).toBe('404');
		expect(failure.description).toContain('Message ID');
		expect(mails.sent).toEqual([]);
	});
});

describe('Reply All', () => {
	const toMany = {
		from: ann,
		to: 'Sam <someone@example.com>, "Lee, Bo" <bo@example.com>, sales@example.com',
		headers: ['Cc: cy@example.com, Bo@example.com, SOMEONE@example.com, Ann <ann@example.com>'],
	};
	const copies = { cc: 'di@example.com', bcc: 'cy@example.com' };
	const withCopies = [ann, 'di@example.com, "Lee, Bo" <bo@example.com>'];
	const byMe = { from: own, to: 'a@x.example', headers: ['Cc: b@x.example'] };
	const headers = [`Reply-To: ${ann}`, 'Cc: b@x.example, sales@example.com'];
	const form = { from: own, to: 'sales@example.com', headers };
	const toTeam = { ...form, to: 'sales@example.com, a@x.example' };
	const repeats = ['To: bo@example.com', 'Cc: cy@example.com', 'Cc: di@example.com'];
	const repeated = { from: ann, to: own, headers: repeats };
	const others = 'bo@example.com, cy@example.com, di@example.com';
	const eve = 'eve@example.com';
	const encoded = '=?utf-8?Q?=D0=9C_=22=D0=A0=22=2C?= <m@x.example>';
	const signs = [`Cc: ${encoded}, "L, B" via Desk <d@x.example>, b@x.example`];
	const names = 'М Р, <m@x.example>, "L, B via Desk" <d@x.example>, b@x.example';

	it.each<[string, MailSeed, toAndCc: string[], IDataObject?, IDataObject?]>([
		['the other recipients, none twice, and not the account', toMany, withCopies, copies],
		['the same people as an own email', byMe, ['a@x.example', 'b@x.example']],
		['whom an own form names', form, [ann, 'b@x.example']],
		['the others whom that form went to', toTeam, ['a@x.example', `${ann}, b@x.example`]],
		['those of each header', repeated, [ann, others]],
		['the sender, too, if To is given', repeated, [eve, `${ann}, ${others}`], {}, { to: eve }],
		['each name, whatever signs it has', { headers: signs }, [ann, names]],
	])('reaches %s', async (_what, original, toAndCc, options = {}, parameters = {}) => {
		mails.gmail.aliases = ['sales@example.com'];
		const answer = await reply(original, { replyAll: true, ...options }, parameters);
		expect([answer.toAndCc, answer.hints]).toEqual([toAndCc, []]);
	});

	it('is refused if the original has more recipients than can be read at once', async () => {
		const addresses = Array.from({ length: 4000 }, (_, at) => `person${at}@x.example`);
		const headers = [`Cc: ${addresses.join(', ')}`];
		const tooMany = 'The original email has too many recipients for a reply';
		await expect(reply({ headers }, { replyAll: true })).rejects.toThrow(tooMany);
		expect(mails.sent).toEqual([]);
		const { header } = await reply({ headers });
		expect(header('Cc')).toBe('');
	});

	it('reaches the addresses of the headers below one whose quotes are never closed', async () => {
		const headers = ['To: "Lee, Bo <bo@example.com>', 'To: cy@example.com'];
		const raw = ['From: ann@example.com', ...headers, '', 'Hi'].join('\r\n');
		const { toAndCc, hints } = await reply({ raw }, { replyAll: true });
		expect(toAndCc).toEqual(['ann@example.com', 'cy@example.com']);
		expect(hints).toEqual([expect.stringMatching(/Bo <\u200b?bo@example\.com>"$/)]);
	});

	it('leaves out what is no address, and says so', async () => {
		const headers = ['Cc: b@x.example, broken@@x.example, Team: ;'];
		const { header, hints } = await reply({ headers }, { replyAll: true });
		expect(header('Cc')).toBe('b@x.example');
		expect(hints).toEqual([expect.stringContaining('broken@@x.example')]);
	});
});

describe('the subject', () => {
	it.each([
		['Topic', 'Re: Topic'],
		['Re: Topic', 'Re: Topic'],
		['RE: Topic', 'RE: Topic'],
		['Re[2]: Topic', 'Re[2]: Topic'],
		['Re : Topic', 'Re : Topic'],
		['Fwd: Topic', 'Re: Fwd: Topic'],
		['Report', 'Re: Report'],
		['Größe 😀', 'Re: Größe 😀'],
		['Hi\r\nBcc: evil@example.com', 'Re: Hi Bcc: evil@example.com'],
	])('of %j is %j', async (subject, expected) => {
		const answer = await reply({ subject });
		expect([answer.header('Subject'), answer.header('Bcc')]).toEqual([expected, '']);
		expect(answer.hints).toEqual([]);
		if (!subject.includes('\n')) expect(answer.threadId).toBe(answer.replyToMessageId);
	});

	it('of white space is the original’s, like an empty one', async () => {
		const { header } = await reply({ subject: 'Topic' }, {}, { subject: ' ' });
		expect(header('Subject')).toBe('Re: Topic');
	});

	it.each([
		['Hello', 1],
		['Re: Topic', 0],
		['AW: re: Topic', 0],
		['Re : Topic', 0],
		['Re : Fwd[2]\u00a0: Topic', 0],
	])('%j to an email about Topic goes out as it is, with %i hints', async (subject, count) => {
		const given = { to: 'a@x.example', subject };
		const { header, hints } = await reply({ subject: 'Topic' }, {}, given);
		expect([header('To'), header('Subject')]).toEqual([given.to, subject]);
		expect(hints).toHaveLength(count);
	});
});

describe('Quote Original', () => {
	const date = new Date('2026-11-23T10:15:00Z');
	const quoteOriginal = { quoteOriginal: true };
	const asHtml = { bodyFormat: 'html', body: '<p>Yes.</p>' };
	const rawOf = (part: string) =>
		`From: ${ann}\nTo: someone@example.com\nSubject: S\n${part}`.replaceAll('\n', '\r\n');

	it('puts the text below the body, as Gmail does', async () => {
		const original = { date, text: 'Hi,\n\n> older\nshall we?' };
		const { text, html } = await reply(original, quoteOriginal);
		const said = 'On Mon, 23 Nov 2026 10:15:00 GMT, Ann <ann@example.com> wrote:';
		expect(text).toBe(`Yes.\n\n${said}\n\n> Hi,\n>\n>> older\n> shall we?`);
		expect(html).toBeUndefined();
	});

	it('quotes HTML in HTML, without the page around it', async () => {
		const head = '<!DOCTYPE html><html><head><style>p{color:red}</style></head>';
		const page = `${head}<BODY class="a"><p>Shall <b>we</b>?</p></BODY></html>`;
		const raw = rawOf(part.html(page));
		const body = '<html><body><!-- </body> --><p>Yes.</p></body></html>';
		const answer = await reply({ raw, date }, quoteOriginal, { ...asHtml, body });
		expect(answer.html).toMatch(
			/^<html><body><!-- <\/body> --><p>Yes\.<\/p><br><br><div class="gmail_quote[^]*On Mon, 23 Nov 2026 10:15:00 GMT, Ann &lt;ann@example\.com&gt; wrote:[^]*<blockquote class="gmail_quote"[^>]*><p>Shall <b>we<\/b>\?<\/p><\/blockquote><\/div><\/body><\/html>\s*$/,
		);
		expect(answer.html).not.toContain('color:red');
		expect(answer.text).toMatch(/^Yes\.[^]*> Shall we\?/);
	});

	it('quotes all pages of an email, one below the other', async () => {
		const page = (text: string) =>
			part.html(`<html><head><title>t</title></head><body>${text}</body></html>`);
		const raw = rawOf(part.mixed(page('<p>1</p>'), part.plain('2'), page('<p>3</p>')));
		const answer = await reply({ raw }, quoteOriginal, asHtml);
		const pages = /<blockquote[^>]*><p>1<\/p>\s*<div>2<\/div>\s*<p>3<\/p><\/blockquote>/;
		expect(answer.html).toMatch(pages);
	});

	it.each(['html', 'markdown'])('of a text in %s is escaped', async (bodyFormat) => {
		const original = { text: 'a < b & "c"\nd', from: '"<b>Ann</b>" <ann@example.com>' };
		const { html, text } = await reply(original, quoteOriginal, { bodyFormat });
		expect(html).toContain('a &lt; b &amp; &quot;c&quot;<br>\r\nd</blockquote>');
		expect(html).toContain('&lt;b&gt;Ann&lt;/b&gt;&quot; &lt;ann@example.com&gt; wrote:');
		expect(text).toContain('> a < b & "c"');
	});

	it('brings the pictures that the HTML shows, and no other file', async () => {
		const pixel = Buffer.from('pixel').toString('base64');
		const image = (id: string) => {
			const more = `Content-Transfer-Encoding: base64\nContent-ID: <${id}>\n`;
			return part.typed('image/png; name=p.png', pixel, more);
		};
		const escaped = '<img src="cid:a%20b%40x"><img src="cid:c%40x">';
		const page = part.html(`<p><img src="cid:logo@x">Hi</p>${escaped}`);
		const shown = ['logo@x', 'a b@x', 'c%40x'].map(image);
		const raw = rawOf(part.related(page, ...shown, image('other@x')));
		const { mime } = await reply({ raw }, quoteOriginal, asHtml);
		const images = collectParts(mime).filter(({ mimeType }) => mimeType === 'image/png');
		const ids = images.map(({ headers }) => findHeader(headers, 'Content-ID'));
		expect(ids).toEqual(['<logo@x>', '<a b@x>', '<c%40x>']);
		expect(images[0]?.data.toString()).toBe('pixel');
		const { mime: other } = await reply({ raw }, quoteOriginal);
		expect(collectParts(other).map(({ mimeType }) => mimeType)).toEqual(['text/plain']);
	});
});

describe('Include Signature', () => {
	beforeEach(() => {
		mails.gmail.aliases = ['sales@example.com'];
		mails.gmail.signatures = {
			[own]: '<b>Sam</b><br>Example Ltd.',
			'sales@example.com': '<i>Sales</i>',
		};
	});

	it('puts it between the body and the quotation', async () => {
		const options = { includeSignature: true, quoteOriginal: true };
		const { text } = await reply({ text: 'Shall we?' }, options);
		expect(text).toMatch(/^Yes\.\n\n-- \nSam\nExample Ltd\.\n\nOn .* wrote:\n\n> Shall we\?/);
		const { html } = await reply({}, options, { bodyFormat: 'html', body: '<p>Yes</p>' });
		const inOrder = /<p>Yes<\/p>[^]*-- [^]*<b>Sam<\/b><br>Example Ltd\.<\/div>[^]*<blockquote/;
		expect(html).toMatch(inOrder);
	});

	it('is marked in HTML as Gmail does, which else adds a second one to a draft that is opened', async () => {
		const { html } = await reply({}, { includeSignature: true }, { bodyFormat: 'html' });
		expect(html).toContain('data-smartmail="gmail_signature"><b>Sam</b>');
	});

	it('is the one of the alias, in an email that is no reply, too', async () => {
		const options = { includeSignature: true, fromAlias: 'Sales@example.com' };
		await mails.run('send', newMail, options);
		const text = textOf(mails.only, 'text/plain')?.trimEnd();
		expect(text).toMatch(/^Hello\r?\n\r?\n-- \r?\nSales$/);
	});

	it('that does not exist is left out with a hint', async () => {
		mails.gmail.signatures = {};
		const { text, hints } = await reply({}, { includeSignature: true });
		expect(text).toBe('Yes.');
		expect(hints).toEqual([expect.stringContaining('no signature')]);
	});

	it('that cannot be read fails the item before anything is sent', async () => {
		const match = 'gmail.users.settings.sendAs.list';
		mails.google.fault({ match, status: 400, message: 'Bad', times: Infinity });
		await mails.failure('send', newMail, { includeSignature: true });
		expect(mails.sent).toEqual([]);
	});
});

describe('a reply needs an original, and what only a reply can do is refused without one', () => {
	it.each<[IDataObject, RegExp]>([
		[{ replyAll: true }, /'replyToMessageId' is required/],
		[{ quoteOriginal: true }, /'replyToMessageId' is required/],
		[{ replyToMessageId: '' }, /'replyToMessageId' is empty/],
		[{ replyToMessageId: ' \n' }, /'replyToMessageId' is empty/],
		[{ replyToMessageId: undefined }, /'replyToMessageId' is empty/],
	])('in an input object: %j', async (keys, words) => {
		const inputObject = { operation: 'send', ...newMail, ...keys };
		expect(await mails.refused(mails.json(inputObject))).toMatch(words);
	});

	it.each<[IDataObject, RegExp]>([
		[{ to: '' }, /'To' is required/],
		[{ subject: ' ' }, /'Subject' is required/],
		[{ subject: '', sendAs: 'draft' }, /'Subject' is required/],
		[{ email: 'reply' }, /'Message ID' is required/],
		[{ replyToMessageId: '' }, /'Message ID' is required/],
		[{ replyToMessageId: '={{ $json.missing }}' }, /'Message ID' is required/],
		[{ replyToMessageId: '={{ $json.missing }} ' }, /'Message ID' is required/],
	])('in the form: %j', async (parameters, words) => {
		const sending = mails.run('send', { ...newMail, ...parameters });
		expect(await mails.refused(sending)).toMatch(words);
	});
});

describe('Save as Draft', () => {
	beforeEach(() => {
		mails.signIn(['gmail.compose', 'gmail.readonly']);
	});
	const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
	const asDraft = { ...mail, sendAs: 'draft' };
	const create = 'gmail.users.drafts.create';
	const draft = () => {
		const [only, ...others] = mails.gmail.drafts;
		if (only && others.length === 0) return only;
		throw new Error(`${mails.gmail.drafts.length} drafts were saved`);
	};
	/** The result for the only draft. */
	const resultOf = (threadId?: string) => {
		const { id, draftId } = draft();
		return { id, threadId: threadId ?? id, labelIds: ['DRAFT'], draftId };
	};

	it('saves a reply in its conversation and sends nothing', async () => {
		const answer = await reply({ subject: 'Topic' }, {}, { sendAs: 'draft' });
		expect(answer.items.map(({ json }) => json)).toEqual([resultOf(answer.replyToMessageId)]);
		expect([answer.header('To'), answer.header('Subject')]).toEqual([ann, 'Re: Topic']);
		expect(mails.sent).toEqual([]);
	});

	it('is asked for by one key of an input object, and the other name of it is refused', async () => {
		const refused = mails.json({ operation: 'send', ...asDraft });
		expect(await mails.refused(refused)).toMatch(/Unknown key 'sendAs'/);
		await mails.json({ operation: 'send', ...mail, saveAsDraft: true });
		expect([mails.gmail.drafts.length, mails.sent]).toEqual([1, []]);
	});

	it('carries plain text as HTML, too, because Gmail’s page breaks the lines of plain text', async () => {
		await mails.run('send', { ...asDraft, body: 'a < b &\n  c' });
		expect(textOf(draft(), 'text/plain')?.trimEnd()).toBe('a < b &\r\n  c');
		expect(textOf(draft(), 'text/html')?.trimEnd()).toBe('a &lt; b &amp;<br>\r\n&nbsp; c');
	});

	it('needs no recipient', async () => {
		await mails.run('send', { ...asDraft, to: '' });
		expect(draft().recipients).toEqual([]);
	});

	it.each([
		['a new email', false],
		['a reply', true],
	])('takes large files, in %s', async (_what, isReply) => {
		const content = Buffer.alloc(5_000_000).toString('base64');
		const replyToMessageId = isReply ? mails.gmail.seed({ subject: 'Hello' }) : undefined;
		const attachments = [{ fileName: 'a.bin', content }];
		const given = { ...mail, attachments, saveAsDraft: true };
		await mails.json({ operation: 'send', ...given, ...(isReply && { replyToMessageId }) });
		expect([draft().via, draft().threadId]).toEqual(['upload', replyToMessageId ?? draft().id]);
	});

	it('without the scope, the error says which one to add and where', async () => {
		mails.signIn(['gmail.send']);
		const failure = await mails.failure('send', asDraft);
		expect(failure.httpCode).toBe('403');
		expect(failure.description).toMatch(/auth\/gmail\.compose\. .*Custom Scopes.*reconnect/);
	});

	it('that may have been saved is found, and not saved twice', async () => {
		mails.google.fault({ match: create, connection: 'resetAfter' });
		const [item] = await mails.run('send', asDraft);
		expect(item?.json).toEqual(resultOf());
		expect(mails.count('drafts.create')).toBe(1);
	});

	it('that is not found may have been saved', async () => {
		mails.google.fault({ match: create, connection: 'resetBefore' });
		const failure = await mails.failure('send', asDraft);
		expect(failure.message).toMatch(/^The draft may have been saved/);
		expect(failure.description).toMatch(/Look into the mailbox/);
		expect(mails.count('drafts.create')).toBe(1);
	});

	it('with a key is saved once, and not again after it was sent', async () => {
		const options = { idempotencyKey: 'draft-1' };
		const save = async () => (await mails.run('send', asDraft, options))[0]?.json;
		const first = await save();
		expect(await save()).toEqual({ ...first, repeated: true });
		const { id: draftId, raw } = draft();
		mails.gmail.remove(draftId);
		const id = mails.gmail.seed({ raw, labelIds: ['SENT'] });
		expect(await save()).toEqual({ id, threadId: id, labelIds: ['SENT'], repeated: true });
		expect(mails.count('drafts.create')).toBe(1);
		const other = mails.run('send', { ...asDraft, body: 'Other' }, options);
		expect((await failureOf(other)).httpCode).toBe('409');
	});
});
