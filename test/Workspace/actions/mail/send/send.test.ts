import type { IDataObject } from 'n8n-workflow';

import { readText } from '../../../../../dev/google/gmail/mime';
import { deliverMail } from '../../../../../nodes/Workspace/actions/mail/send/deliver';
import { toDeliveredMail } from '../../../../../nodes/Workspace/actions/mail/send/mailFolder';
import { Workspace } from '../../../../../nodes/Workspace/Workspace.node';
import { failureOf } from '../../../../createExecuteContext';
import { testClients } from '../../../client';
import { createNodeContext, runNode, token } from '../../../runNode';
import { binary, filesOf, headerOf, Mails, textOf } from '../mails';

const mails = new Mails();

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };

async function send(parameters: IDataObject = {}, options: IDataObject = {}, binaryFields = {}) {
	const items = [{ json: {}, binary: binaryFields }];
	const [item] = await mails.run('send', { ...mail, ...parameters }, options, items);
	return item?.json;
}

/** Both forms of an email that goes out with a body, with \n at the end of lines. */
async function sendBody(bodyFormat: string, body: string) {
	await send({ bodyFormat, body });
	const [text = '', html = ''] = ['text/plain', 'text/html'].map((type) =>
		textOf(mails.only, type)?.replaceAll('\r\n', '\n').trim(),
	);
	return { mimeType: mails.only.mime.mimeType, text, html };
}

const header = (name: string) => headerOf(mails.only, name);
const headersOf = (name: string) => mails.sent.map((each) => headerOf(each, name));
const fileNames = () => filesOf(mails.only).map(({ filename }) => filename);
const lookUp = 'settings.sendAs.list';
const lookUpMethod = `gmail.users.${lookUp}`;
const twoItems = [{ json: {} }, { json: {} }];

describe('what goes out', () => {
	it('is one request after a look at the name, and three keys come back', async () => {
		const json = await send();
		expect(mails.methods).toEqual([lookUp, 'messages.send']);
		expect(json).toEqual({
			id: mails.only.id,
			threadId: mails.only.threadId,
			labelIds: ['SENT'],
		});
		expect(readText(mails.only.mime).trim()).toBe('Hi Ann');
	});

	it('keeps names with commas, brackets and any letters, and everybody gets it', async () => {
		const to =
			'"Doe, John" <john@example.com>, Jörg Müller <joerg@example.com>\nann@example.com';
		const cc = 'Support (Europe) <support@example.com>';
		await send({ to }, { cc, bcc: 'boss@example.com, 😀 Smile <smile@example.com>' });
		const names = ['john', 'joerg', 'ann', 'support', 'boss', 'smile'];
		expect(mails.only.recipients).toEqual(names.map((name) => `${name}@example.com`));
		expect(header('To')).toBe(to.replace('\n', ', '));
		expect(header('Cc')).toContain('Support (Europe)');
	});

	it('has a long subject and file names in any letters', async () => {
		const subject = 'Grüße aus Köln – 你好 😀 '.repeat(8).trim();
		const fileName = 'Übersicht 2026 – 資料.pdf';
		await send({ subject }, { attachments: 'data' }, { data: binary('x', fileName) });
		expect(header('Subject')).toBe(subject);
		expect(fileNames()).toEqual([fileName]);
	});

	it('has a text beside HTML', async () => {
		const body = '<h1>Grüße</h1><p>See <a href="https://x.org">this</a> &amp; that</p>';
		const { mimeType, html, text } = await sendBody('html', body);
		expect(mimeType).toBe('multipart/alternative');
		expect(html).toContain('<h1>Grüße</h1>');
		expect(text).toBe('Grüße\n\nSee this [https://x.org] & that');
	});

	const lines = '<b>Ann</b>,\n\nsee <a\nhref="x.org">this</a> &lt;/p&gt;.\rBye';
	const broken = lines.replace('\n\n', '<br>\n<br>\n').replace('\r', '<br>\n');
	const signs = 'a <3\nc > 1: <b>y</b>';
	const code = '<p>Write</p>\n<code>&lt;/p&gt;</code>';

	it.each([
		['escaped as a whole', '&lt;p&gt;Tom &amp;amp; Ann&lt;/p&gt;', '<p>Tom &amp; Ann</p>'],
		['with escaped line breaks', 'Hi,&lt;br/&gt;Ann', 'Hi,<br/>Ann'],
		['text with line breaks', 'Hi,\n\nA &amp; b.', 'Hi,<br>\n<br>\nA &amp; b.'],
		['text with line breaks and tags inside lines', lines, broken],
		['lines around a picture', 'a\n<img src="x">\nb', 'a<br>\n<img src="x"><br>\nb'],
		['lines between signs that enclose no tag', signs, signs.replace('\n', '<br>\n')],
		['with line breaks of its own', 'Hi<br>\n<b>Ann</b>', 'Hi<br>\n<b>Ann</b>'],
		['with escaped code', code, code],
		['that names an escaped tag', 'Use &lt;p&gt; here', 'Use &lt;p&gt; here'],
	])('shows HTML as it is meant: %s', async (_what, body, expected) => {
		expect((await sendBody('html', body)).html).toBe(expected);
	});

	it.each([
		['a<br>b<br/>c', '<p>a<br>b<br>c</p>'],
		['a\n\n<br>\n\nb', '<p>a</p>\n<br>\n<p>b</p>'],
		['a\n\n <br>  \n\nb', '<p>a</p>\n<br>\n<p>b</p>'],
		['<b>a</b> `<br>`', '<p>&lt;b&gt;a&lt;/b&gt; <code>&lt;br&gt;</code></p>'],
	])('breaks the line of Markdown where a tag does: %s', async (body, expected) => {
		expect((await sendBody('markdown', body)).html).toBe(expected);
	});

	it.each([
		['# \u05e9\u05dc\u05d5\u05dd Ann', true],
		['**\u0645\u0631\u062d\u0628\u0627**', true],
		['Hi \u05e9\u05dc\u05d5\u05dd', false],
	])('runs Markdown from right to left if it begins so: %s', async (body, isRightToLeft) => {
		const { html } = await sendBody('markdown', body);
		expect(html.startsWith('<div dir="rtl">')).toBe(isRightToLeft);
	});

	it.each(['text', 'html', 'markdown'])('has line breaks of emails in %s', async (format) => {
		await sendBody(format, 'a\nb\rc\r\nd');
		expect(mails.only.raw.toString().replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
	});

	it('renders Markdown, and shows HTML inside it as text', async () => {
		const body = '# Title\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n<script>alert(1)</script>';
		const { html, text } = await sendBody('markdown', body);
		expect(html).toContain('<h1>Title</h1>');
		expect(html).toContain('<strong>2</strong>');
		expect(html).not.toContain('<script>');
		expect(text).toBe(body);
	});

	it('attaches several files from several fields, byte for byte', async () => {
		const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
		const fields = {
			one: binary(bytes, 'one.bin', 'application/octet-stream'),
			two: binary('two', 'two.txt'),
			three: binary('{}', undefined, 'application/json'),
		};
		await send({}, { attachments: 'one, two\nthree' }, fields);
		const files = filesOf(mails.only).map(({ filename, data }) => [filename, data]);
		expect(files).toEqual([
			['one.bin', bytes],
			['two.txt', Buffer.from('two')],
			['three.json', Buffer.from('{}')],
		]);
	});

	it('attaches a web page that a browser calls multipart as one file', async () => {
		const page = binary('From: Blink', 'page.mhtml', 'multipart/related; boundary="b"');
		await send({}, { attachments: 'page' }, { page });
		expect(filesOf(mails.only)).toMatchObject([
			{ filename: 'page.mhtml', mimeType: 'application/octet-stream' },
		]);
	});

	it.each(['*', 'two, *', '*, one'])('attaches each file once: %s', async (attachments) => {
		const fields = { one: binary('1', 'one.txt'), two: binary('2', 'two.txt') };
		await send({}, { attachments }, fields);
		expect(fileNames().toSorted()).toEqual(['one.txt', 'two.txt']);
	});

	it('attaches only files with the names that are wanted, in upper or lower case', async () => {
		const names = ['Invoice 1.PDF', 'logo.png', 'terms.pdf', 'Ma\u0308rz.doc'];
		const fields = Object.fromEntries(names.map((name, at) => [`f${at}`, binary('x', name)]));
		const failure = await failureOf(send({}, { attachments: '*', onlyFiles: 'logo' }, fields));
		expect(failure.message).toBe('The item has no file to use');
		expect(failure.description).toContain('logo.png');
		expect(mails.sent).toEqual([]);
		await send({}, { attachments: '*', onlyFiles: '*.pdf, *nv*, m\u00e4*' }, fields);
		expect(fileNames().toSorted()).toEqual(['Invoice 1.PDF', 'Ma\u0308rz.doc', 'terms.pdf']);
	});

	it('does not send without files where all of them were wanted', async () => {
		const message = await mails.refused(mails.run('send', mail, { attachments: '*' }));
		expect(message).toBe('The item has no file to use');
	});

	it('takes a name, an alias, answers to elsewhere and headers', async () => {
		mails.gmail.aliases = ['sales@example.com'];
		const unsubscribe = { name: 'List-Unsubscribe', value: '<https://x.org/u>' };
		const headers = { header: [unsubscribe, { name: 'X-A', value: 'ü' }] };
		const sender = { senderName: 'Ann (Sales), Inc.', fromAlias: 'sales@example.com' };
		await send({}, { ...sender, replyTo: 'Desk <desk@example.com>', headers });
		expect(mails.methods).toEqual([lookUp, 'messages.send']);
		expect(header('From')).toBe('"Ann (Sales), Inc." <sales@example.com>');
		expect(header('Reply-To')).toBe('Desk <desk@example.com>');
		expect(header('List-Unsubscribe')).toBe('<https://x.org/u>');
		expect(header('X-A')).toBe('ü');
	});

	it('asks for the own address once when only a name is given', async () => {
		await mails.run('send', mail, { senderName: 'Ann' }, twoItems);
		expect(mails.methods).toEqual([lookUp, 'messages.send', 'messages.send']);
		const from = 'Ann <someone@example.com>';
		expect(headersOf('From')).toEqual([from, from]);
	});

	it('names no machine, and no two emails have the same mark', async () => {
		await mails.run('send', mail, {}, twoItems);
		const marks = headersOf('X-Agent-Workspace-Id');
		expect(new Set(marks).size).toBe(2);
		const ids = marks.map((mark) => `<${String(mark)}@example.com>`);
		expect(headersOf('Message-ID')).toEqual(ids);
	});
});

it('what Gmail leaves out of its answer is empty', () => {
	const nothing = { id: 'm', threadId: '', labelIds: [] };
	expect(toDeliveredMail({ id: 'm' }, null)).toEqual(nothing);
	expect(toDeliveredMail({ id: 'm' }, 'd')).toEqual({ ...nothing, draftId: 'd' });
});

describe('large emails', () => {
	const file = (bytes: number) => ({
		data: binary(Buffer.alloc(bytes, 7), 'file.bin', 'application/octet-stream'),
	});

	it.each([
		[5_000_000, 'json'],
		[5_000_001, 'upload'],
	])('of %d bytes go by %s', async (bytes, via) => {
		const clients = testClients(mails.google.url, mails.google.tokens.issue());
		const head = 'To: ann@example.com\r\nSubject: S\r\n\r\n';
		await deliverMail(clients, Buffer.from(head.padEnd(bytes, 'x')), 'sent');
		expect([mails.only.via, mails.only.raw.length]).toEqual([via, bytes]);
	});

	it('are sent up to 36,700,160 bytes and refused above', async () => {
		await send({}, { attachments: 'data' }, file(26_800_000));
		expect(mails.only.raw.length).toBeGreaterThan(36_600_000);
		mails.google.reset();
		const sending = send({}, { attachments: 'data' }, file(27_000_000));
		const { message } = await failureOf(sending);
		expect(message).toMatch(/too large for Gmail: 3\d\.\d MiB, with a limit of 35 MiB/);
		expect(mails.methods).toEqual([]);
	});

	it('that thread are sent again, whole, once the quota allows it', async () => {
		const id = mails.gmail.seed({ subject: 'Topic' });
		mails.google.fault({ match: 'gmail.users.messages.send', status: 429 });
		const timeLimits = { limits: { maxRetryWaitSeconds: 10, timeoutSeconds: 60 } };
		const options = { attachments: 'data', timeLimits };
		await send({ subject: 'Re: Topic', replyToMessageId: id }, options, file(5_000_000));
		expect([mails.only.via, mails.only.threadId]).toEqual(['upload', id]);
		expect(mails.only.raw.length).toBeGreaterThan(6_000_000);
	});
});

describe('From', () => {
	const address = 'sales@example.com';
	const own = 'someone@example.com';
	const help = 'help@example.com';

	async function from(options: IDataObject = {}) {
		await mails.run('send', mail, options);
		return headersOf('From').at(-1);
	}

	it.each<[string, IDataObject, string]>([
		['the name in the settings', {}, 'Sam Someone <someone@example.com>'],
		['that of an alias', { fromAlias: 'Sales@example.com' }, `"Sales, Inc." <${address}>`],
		['the account’s for an alias without one', { fromAlias: help }, `Sam Someone <${help}>`],
		['the name that the user gives', { senderName: 'Ann' }, 'Ann <someone@example.com>'],
		['the one given to an alias', { fromAlias: `Desk <${address}>` }, `Desk <${address}>`],
	])('has %s', async (_what, options, expected) => {
		mails.gmail.aliases = [address, help];
		mails.gmail.displayNames = { [own]: 'Sam Someone', [address]: 'Sales, Inc.' };
		expect(await from(options)).toBe(expected);
	});

	it('without a name anywhere is named alone', async () => {
		mails.gmail.displayNames = {};
		mails.gmail.aliases = [address];
		expect([await from(), await from({ fromAlias: address })]).toEqual([own, address]);
		expect(headersOf('Message-ID')[0]).toMatch(/^<[0-9a-f-]{36}@example\.com>$/);
	});

	it.each<[string, IDataObject, string]>([
		['name', {}, 'Sales, Inc.'],
		['name that the user gives', { senderName: 'Ann' }, 'Ann'],
	])('is the default address of the account, with its %s', async (_what, options, name) => {
		mails.gmail.aliases = [address, help];
		mails.gmail.defaultAlias = address;
		mails.gmail.displayNames = { [address]: 'Sales, Inc.' };
		mails.gmail.signatures = { [address]: '<i>Sales</i>' };
		expect(await from({ ...options, includeSignature: true })).toContain(name);
		expect(header('From')).toMatch(/ <sales@example\.com>$/);
		expect(readText(mails.only.mime)).toMatch(/-- \r?\nSales/);
	});

	it('is the default address without a name, too', async () => {
		mails.gmail.aliases = [help];
		mails.gmail.defaultAlias = help;
		mails.gmail.displayNames = {};
		expect(await from()).toBe(help);
	});

	const unusable = ['sale@example.com', 'Soon@example.com'];

	it.each(unusable)('%s, which is lacking or not confirmed, is refused', async (fromAlias) => {
		mails.gmail.aliases = [address];
		mails.gmail.pendingAliases = ['soon@example.com'];
		const failure = await mails.failure('send', mail, { fromAlias, senderName: 'A' });
		expect(failure.httpCode).toBe('400');
		expect(failure.message).toContain(`cannot send from ${fromAlias}`);
		expect(failure.description).toContain(`Set 'From Alias' to one of: ${own}, ${address}.`);
		expect(mails.sent).toEqual([]);
	});

	it('has a name of any letters, on one line', async () => {
		const name = 'Jörg\r\nBcc: evil@example.com 山田';
		mails.gmail.displayNames = { [own]: name };
		expect(await from()).toBe('Jörg Bcc: evil@example.com 山田 <someone@example.com>');
		expect(mails.only.recipients).toEqual(['ann@example.com']);
	});

	describe('the settings', () => {
		const isLookUp = () => mails.methods.map((method) => method === lookUp);

		it('are looked up again for an alias that was added a moment ago', async () => {
			await from();
			mails.gmail.aliases = ['new@example.com'];
			const found = await from({ fromAlias: 'new@example.com' });
			expect(found).toBe('Sam Someone <new@example.com>');
		});

		it('are looked up once for an account, and again after ten minutes', async () => {
			let now = 1_000_000;
			const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
			for (const milliseconds of [0, 599_999, 1]) {
				now += milliseconds;
				await mails.run('send', mail);
			}
			clock.mockRestore();
			expect(isLookUp()).toEqual([true, false, false, true, false]);
		});

		it('are looked up again for another sign-in', async () => {
			mails.gmail.displayNames = { [own]: 'Sam Someone' };
			await mails.run('send', mail);
			mails.gmail.displayNames = { [own]: 'Somebody Else' };
			const parameters = { resource: 'mail', operation: 'send', ...mail };
			const credential = { oauthTokenData: { access_token: 'of somebody else' } };
			await runNode({ url: mails.google.url, parameters, credential });
			expect(headersOf('From')).toEqual([`Sam Someone <${own}>`, `Somebody Else <${own}>`]);
		});

		it('are looked up again after a failure', async () => {
			mails.gmail.displayNames = { [own]: 'Sam Someone' };
			mails.google.fault({ match: lookUpMethod, status: 503 });
			expect([await from(), await from()]).toEqual([undefined, `Sam Someone <${own}>`]);
		});

		it('that cannot be read let no email out without the name that the user gives', async () => {
			mails.google.fault({ match: lookUpMethod, status: 403 });
			expect((await mails.failure('send', mail, { senderName: 'Ann' })).httpCode).toBe('403');
			expect(mails.sent).toEqual([]);
		});

		it('leave no secret in n8n’s log when the look-up repeats one', async () => {
			const secret = 'canary-client-secret';
			mails.google.fault({ match: lookUpMethod, status: 403, message: `No ${secret}` });
			const parameters = { resource: 'mail', operation: 'send', ...mail };
			const credential = { clientSecret: secret };
			const context = createNodeContext({ url: mails.google.url, parameters, credential });
			const info = jest.spyOn(context.logger, 'info');
			await new Workspace().execute.call(context);
			const told = /Could not get the addresses that the account sends from: .*No •••/;
			expect(info.mock.calls.map(([text]) => text).join(' ')).toMatch(told);
		});

		const spoil = (fault: object) => () => {
			mails.google.fault({ match: lookUpMethod, ...fault });
		};
		const narrowScopes = () => {
			mails.google.reset();
			mails.signIn(['gmail.send']);
		};

		it.each<[string, () => void]>([
			['the scope is missing', narrowScopes],
			['they name no address', spoil({ status: 200, body: {} })],
			['Gmail is down', spoil({ status: 503, times: 99 })],
			['Gmail limits the rate', spoil({ status: 429 })],
			['the connection breaks', spoil({ connection: 'resetAfter' })],
		])('leave the sender to Gmail after one look when %s', async (_what, prepare) => {
			prepare();
			expect(await from()).toBeUndefined();
			expect(mails.methods).toEqual([lookUp, 'messages.send']);
		});
	});

	it('a service account without delegation has no mailbox, and nothing is sent', async () => {
		mails.google.reset();
		mails.google.tokens.issue({ token, user: 'robot@project.iam.gserviceaccount.com' });
		const failure = await mails.failure('send', mail);
		expect(failure.message).toContain('Precondition check failed');
		expect(mails.sent).toEqual([]);
	});
});
