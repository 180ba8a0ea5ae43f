import type { IDataObject } from 'n8n-workflow';

import {
	collectParts,
	findHeader,
	readText,
	type MimePart,
} from '../../../../../dev/google/gmail/mime';
import { deliverMail } from '../../../../../nodes/Workspace/actions/mail/send/deliver';
import { toDeliveredMail } from '../../../../../nodes/Workspace/actions/mail/send/mailFolder';
import { Workspace } from '../../../../../nodes/Workspace/Workspace.node';
import { failureOf, withBinaryData } from '../../../../createExecuteContext';
import { testClients } from '../../../client';
import { createNodeContext, runNode } from '../../../runNode';
import { binary, Mails } from '../mails';

const mails = new Mails();
beforeAll(withBinaryData);
// The largest mails take a while on a busy machine.
jest.setTimeout(60_000);

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };

async function send(parameters: IDataObject = {}, options: IDataObject = {}, binaryFields = {}) {
	const items = [{ json: {}, binary: binaryFields }];
	const [item] = await mails.run('send', { ...mail, ...parameters }, options, items);
	return item?.json;
}

function sent() {
	const [only, ...more] = mails.google.gmail.sent;
	if (!only || more.length > 0)
		throw new Error(`${mails.google.gmail.sent.length} mails were sent`);
	return only;
}

const header = (name: string) => findHeader(sent().mime.headers, name);
const part = (mimeType: string): MimePart | undefined =>
	collectParts(sent().mime).find((each) => each.mimeType === mimeType);
const files = () => collectParts(sent().mime).filter(({ filename }) => filename !== '');

describe('what goes out', () => {
	it('is one request after a look at the name, and three keys come back', async () => {
		const json = await send();
		expect(mails.methods).toEqual(['settings.sendAs.list', 'messages.send']);
		expect(json).toEqual({ id: sent().id, threadId: sent().threadId, labelIds: ['SENT'] });
		expect(readText(sent().mime).trim()).toBe('Hi Ann');
	});

	it('keeps names with commas, brackets and any letters, and everybody gets it', async () => {
		await send(
			{
				to: '"Doe, John" <john@example.com>, Jörg Müller <joerg@example.com>\nann@example.com',
			},
			{
				cc: 'Support (Europe) <support@example.com>',
				bcc: 'boss@example.com, 😀 Smile <smile@example.com>',
			},
		);
		expect(sent().recipients).toEqual([
			'john@example.com',
			'joerg@example.com',
			'ann@example.com',
			'support@example.com',
			'boss@example.com',
			'smile@example.com',
		]);
		expect(header('To')).toBe(
			'"Doe, John" <john@example.com>, Jörg Müller <joerg@example.com>, ann@example.com',
		);
		expect(header('Cc')).toContain('Support (Europe)');
	});

	it('reaches domains in any letters', async () => {
		await send({ to: 'info@müller.example' });
		expect(sent().recipients).toEqual(['info@xn--mller-kva.example']);
	});

	it('has subject, body and file names in any letters', async () => {
		const subject = 'Grüße aus Köln – 你好 😀 '.repeat(8).trim();
		await send(
			{ subject, body: 'Zeile eins\nÜber 😀' },
			{ attachments: 'data' },
			{ data: binary('x', 'Übersicht 2026 – 資料.pdf', 'application/pdf') },
		);
		expect(header('Subject')).toBe(subject);
		expect(readText(part('text/plain') ?? sent().mime).trim()).toBe('Zeile eins\r\nÜber 😀');
		expect(files().map(({ filename }) => filename)).toEqual(['Übersicht 2026 – 資料.pdf']);
	});

	it('has a text beside HTML', async () => {
		await send({
			bodyFormat: 'html',
			body: '<h1>Grüße</h1><p>See <a href="https://x.org">this</a> &amp; that</p>',
		});
		expect(sent().mime.mimeType).toBe('multipart/alternative');
		expect(readText(part('text/html') ?? sent().mime)).toContain('<h1>Grüße</h1>');
		expect(readText(part('text/plain') ?? sent().mime)).toBe(
			'Grüße\r\n\r\nSee this [https://x.org] & that',
		);
	});

	it.each<[string, string, RegExp]>([
		[
			'escaped as a whole',
			'&lt;p&gt;Tom &amp;amp; Ann&lt;/p&gt;',
			/^<p>Tom &amp; Ann<\/p>\s*$/,
		],
		['with escaped line breaks', 'Hi,&lt;br/&gt;Ann', /^Hi,<br\/>Ann\s*$/],
		[
			'text with line breaks',
			'Hi Ann,\n\nFirst &amp; last.',
			/^Hi Ann,<br>\r\n<br>\r\nFirst &amp; last\.\s*$/,
		],
		[
			'text with line breaks and tags inside lines',
			'Hi <b>Ann</b>,\n\nsee <a\nhref="https://x.org">this</a> &lt;/p&gt;.\rBye',
			/^Hi <b>Ann<\/b>,<br>\r\n<br>\r\nsee <a\r\nhref="https:\/\/x.org">this<\/a> &lt;\/p&gt;\.<br>\r\nBye\s*$/,
		],
		[
			'text with line breaks between signs that enclose no tag',
			'If a <3\nand c > 1: <b>yes</b>',
			/^If a <3<br>\r\nand c > 1: <b>yes<\/b>\s*$/,
		],
		['with line breaks of its own', 'Hi<br>\n<b>Ann</b>', /^Hi<br>\r\n<b>Ann<\/b>\s*$/],
		[
			'with escaped code',
			'<p>Write</p>\n<code>&lt;/p&gt;</code>',
			/^<p>Write<\/p>\r\n<code>&lt;\/p&gt;<\/code>\s*$/,
		],
		['that names an escaped tag', 'Use &lt;p&gt; here', /^Use &lt;p&gt; here\s*$/],
	])('shows HTML as it is meant: %s', async (_what, body, expected) => {
		await send({ bodyFormat: 'html', body });
		expect(readText(part('text/html') ?? sent().mime)).toMatch(expected);
	});

	it.each([
		['a<br>b<br/>c', '<p>a<br>b<br>c</p>'],
		['a\n\n<br>\n\nb', '<p>a</p>\r\n<br>\r\n<p>b</p>'],
		['<b>a</b> `<br>`', '<p>&lt;b&gt;a&lt;/b&gt; <code>&lt;br&gt;</code></p>'],
	])('breaks the line of Markdown where a tag does: %s', async (body, expected) => {
		await send({ bodyFormat: 'markdown', body });
		expect(readText(part('text/html') ?? sent().mime).trim()).toBe(expected);
	});

	it.each([
		['# \u05e9\u05dc\u05d5\u05dd Ann', true],
		['**\u0645\u0631\u062d\u0628\u0627**', true],
		['Hi \u05e9\u05dc\u05d5\u05dd', false],
	])('runs Markdown from right to left if it begins so: %s', async (body, isRightToLeft) => {
		await send({ bodyFormat: 'markdown', body });
		const html = readText(part('text/html') ?? sent().mime);
		expect(html.startsWith('<div dir="rtl">')).toBe(isRightToLeft);
	});

	it.each(['text', 'html', 'markdown'])(
		'has the line breaks of an email in %s',
		async (bodyFormat) => {
			await send({ bodyFormat, body: 'a\nb\rc\r\nd' });
			expect(sent().raw.toString().replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
		},
	);

	it('renders Markdown, and shows HTML inside it as text', async () => {
		const body = '# Title\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n<script>alert(1)</script>';
		await send({ bodyFormat: 'markdown', body });
		const html = readText(part('text/html') ?? sent().mime);
		expect(html).toContain('<h1>Title</h1>');
		expect(html).toContain('<strong>2</strong>');
		expect(html).not.toContain('<script>');
		expect(readText(part('text/plain') ?? sent().mime).replaceAll('\r', '')).toBe(body);
	});

	it('attaches several files from several fields, byte for byte', async () => {
		const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
		await send(
			{},
			{ attachments: 'one, two\nthree' },
			{
				one: binary(bytes, 'one.bin', 'application/octet-stream'),
				two: binary('two', 'two.txt'),
				three: binary('{}', undefined, 'application/json'),
			},
		);
		expect(files().map(({ filename, data }) => [filename, data.length])).toEqual([
			['one.bin', 1000],
			['two.txt', 3],
			['three.json', 2],
		]);
		expect(files()[0]?.data).toEqual(bytes);
	});

	it.each(['*', 'two, *', '*, one'])(
		'attaches all files of the item, each one once: %s',
		async (attachments) => {
			const fields = { one: binary('1', 'one.txt'), two: binary('2', 'two.txt') };
			await send({}, { attachments }, fields);
			expect(
				files()
					.map(({ filename }) => filename)
					.toSorted(),
			).toEqual(['one.txt', 'two.txt']);
		},
	);

	it('attaches only files with the names that are wanted, in upper or lower case', async () => {
		const fields = {
			one: binary('1', 'Invoice 1.PDF'),
			two: binary('2', 'logo.png'),
			three: binary('3', 'terms.pdf'),
		};
		await send({}, { attachments: '*', onlyFiles: '*.pdf, *nv*' }, fields);
		expect(
			files()
				.map(({ filename }) => filename)
				.toSorted(),
		).toEqual(['Invoice 1.PDF', 'terms.pdf']);
		mails.google.reset();
		const options = { attachments: '*', onlyFiles: 'logo' };
		const items = [{ json: {}, binary: fields }];
		const failure = await failureOf(mails.run('send', mail, options, items));
		expect(failure.message).toBe('The item has no file to use');
		expect(failure.description).toContain('logo.png');
		expect(mails.google.gmail.sent).toEqual([]);
	});

	it.each<[IDataObject, string]>([
		[{ body: 'Dear {{Customer}}, {{ $json.x }}' }, '{{Customer}}'],
		[{ subject: '{{ order.id }}' }, '{{ order.id }}'],
	])('names placeholders that stay in it: %j', async (parameters, names) => {
		const { hints } = await mails.hinted({ operation: 'send', ...mail, ...parameters });
		expect(hints).toEqual([expect.stringContaining(`The email contains ${names}.`)]);
	});

	it.each([
		[
			'=Dear {{ $json.name }}, {{ $json["your order"].id }} {{ $json.none }}',
			{},
			['$json.none'],
		],
		['=Dear {{$json.name}}', { name: '' }, ['$json.name']],
		['=Total {{ $json.total * 2 }} {{ $json.zero }}', { zero: 0 }, []],
		['Dear {{ $json.none }}', {}, undefined],
	])('names what an expression of the body leaves empty: %j', async (body, more, names) => {
		const json = { name: 'Ann', 'your order': { id: 7 }, ...more };
		const { hints } = await mails.hinted({ operation: 'send', ...mail, body }, [{ json }]);
		const expected = names?.map(
			(name) => `'Body' inserts ${name}, which is empty for an item.`,
		);
		if (expected) expect(hints).toEqual(expected);
		else expect(hints).toEqual([expect.stringContaining('The email contains')]);
	});

	it('does not send without files where all of them were wanted', async () => {
		expect(await mails.refused(mails.run('send', mail, { attachments: '*' }))).toBe(
			'The item has no file to use',
		);
	});

	it('takes a name, an alias, answers to elsewhere and headers', async () => {
		mails.google.gmail.aliases = ['sales@example.com'];
		await send(
			{},
			{
				senderName: 'Ann (Sales), Inc.',
				fromAlias: 'sales@example.com',
				replyTo: 'Desk <desk@example.com>',
				headers: {
					header: [
						{ name: 'List-Unsubscribe', value: '<https://x.org/u>' },
						{ name: 'X-A', value: 'ü' },
					],
				},
			},
		);
		expect(mails.methods).toEqual(['settings.sendAs.list', 'messages.send']);
		expect(header('From')).toBe('"Ann (Sales), Inc." <sales@example.com>');
		expect(header('Reply-To')).toBe('Desk <desk@example.com>');
		expect(header('List-Unsubscribe')).toBe('<https://x.org/u>');
		expect(header('X-A')).toBe('ü');
	});

	it('asks for the own address once when only a name is given', async () => {
		await mails.run('send', mail, { senderName: 'Ann' }, [{ json: {} }, { json: {} }]);
		expect(mails.methods).toEqual(['settings.sendAs.list', 'messages.send', 'messages.send']);
		expect(mails.google.gmail.sent.map(({ mime }) => findHeader(mime.headers, 'From'))).toEqual(
			['Ann <someone@example.com>', 'Ann <someone@example.com>'],
		);
	});

	it('names no machine, and no two emails have the same mark', async () => {
		await mails.run('send', mail, {}, [{ json: {} }, { json: {} }]);
		const marks = mails.google.gmail.sent.map(({ mime }) =>
			findHeader(mime.headers, 'X-Agent-Workspace-Id'),
		);
		expect(new Set(marks).size).toBe(2);
		const ids = mails.google.gmail.sent.map(({ mime }) =>
			findHeader(mime.headers, 'Message-ID'),
		);
		expect(ids).toEqual(marks.map((mark) => `<${String(mark)}@example.com>`));
	});
});

it('what Gmail leaves out of its answer is empty', () => {
	expect(toDeliveredMail({})).toEqual({ id: '', threadId: '', labelIds: [] });
	expect(toDeliveredMail({}, null)).toEqual({ id: '', threadId: '', labelIds: [] });
	expect(toDeliveredMail({ id: 'm' }, 'd')).toEqual({
		id: 'm',
		threadId: '',
		labelIds: [],
		draftId: 'd',
	});
});

describe('large emails', () => {
	const file = (bytes: number) => ({
		data: binary(Buffer.alloc(bytes, 7), 'file.bin', 'application/octet-stream'),
	});

	it('go to the upload address above 5 MB', async () => {
		await send({}, { attachments: 'data' }, file(3_000_000));
		await send({}, { attachments: 'data' }, file(5_000_000));
		expect(mails.google.gmail.sent.map(({ via }) => via)).toEqual(['json', 'upload']);
		const sends = mails.google.requests.filter(
			({ method }) => method === 'gmail.users.messages.send',
		);
		expect(sends.map(({ path }) => path)).toEqual([
			'/gmail/v1/users/me/messages/send',
			'/upload/gmail/v1/users/me/messages/send',
		]);
	});

	it.each([
		[5_000_000, 'json'],
		[5_000_001, 'upload'],
	])('of %d bytes go by %s', async (bytes, via) => {
		const clients = testClients(mails.google.url, mails.google.tokens.issue());
		const head = 'To: ann@example.com\r\nSubject: S\r\n\r\n';
		const raw = Buffer.from(head.padEnd(bytes, 'x'));
		await deliverMail(clients, raw, 'sent');
		expect([sent().via, sent().raw.length]).toEqual([via, bytes]);
	});

	it('are sent up to 36,700,160 bytes and refused above', async () => {
		await send({}, { attachments: 'data' }, file(26_800_000));
		expect(sent().raw.length).toBeGreaterThan(36_600_000);
		mails.google.reset();
		const refusedMail = await failureOf(send({}, { attachments: 'data' }, file(27_000_000)));
		expect(refusedMail.message).toMatch(
			/too large for Gmail: 3\d\.\d MiB, with a limit of 35 MiB/,
		);
		expect(mails.methods).toEqual([]);
	});

	it('thread as answers, too', async () => {
		const id = mails.google.gmail.seed({ subject: 'Topic' });
		await send(
			{ subject: 'Re: Topic', replyToMessageId: id },
			{ attachments: 'data' },
			file(5_000_000),
		);
		expect([sent().via, sent().threadId]).toEqual(['upload', id]);
	});

	it('that thread are sent again, whole, once the quota allows it', async () => {
		const id = mails.google.gmail.seed({ subject: 'Topic' });
		mails.google.fault({ match: 'gmail.users.messages.send', status: 429 });
		const options = {
			attachments: 'data',
			timeLimits: { limits: { maxRetryWaitSeconds: 10, timeoutSeconds: 5 } },
		};
		await send({ subject: 'Re: Topic', replyToMessageId: id }, options, file(5_000_000));
		expect(mails.google.gmail.sent.map(({ threadId }) => threadId)).toEqual([id]);
		expect(sent().raw.length).toBeGreaterThan(6_000_000);
	});
});

describe('an answer', () => {
	it('has the thread, both reference headers and goes into the conversation', async () => {
		const id = mails.google.gmail.seed({
			subject: 'Topic',
			headers: ['References: <first@x.org> <second@x.org>'],
		});
		await send({ subject: 'Re: Topic', replyToMessageId: id });
		expect(sent().threadId).toBe(id);
		const original = header('In-Reply-To') ?? '';
		expect(original).toMatch(/^<seed-\d+@example\.com>$/);
		expect(header('References')).toBe(`<first@x.org> <second@x.org> ${original}`);
	});

	it('goes out with another subject as given', async () => {
		const id = mails.google.gmail.seed({ subject: 'Topic' });
		await send({ subject: 'Something else', replyToMessageId: id });
		expect(header('Subject')).toBe('Something else');
		expect(sent().threadId).not.toBe(id);
	});

	it('to an email that is not there sends nothing', async () => {
		const failure = await failureOf(send({ replyToMessageId: '18c0ffee' }));
		expect(failure.httpCode).toBe('404');
		expect(failure.description).toContain('Message ID');
		expect(mails.google.gmail.sent).toEqual([]);
	});
});

describe('From', () => {
	const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
	const froms = () => mails.google.gmail.sent.map(({ mime }) => findHeader(mime.headers, 'From'));

	async function from(options: IDataObject = {}) {
		await mails.run('send', mail, options);
		return froms().at(-1);
	}

	describe('the sender', () => {
		it.each<[string, IDataObject, string]>([
			['the name in the settings', {}, 'Sam Someone <someone@example.com>'],
			[
				'the name in the settings of an alias',
				{ fromAlias: 'Sales@example.com' },
				'"Sales, Inc." <sales@example.com>',
			],
			[
				'the name of the account for an alias without one',
				{ fromAlias: 'help@example.com' },
				'Sam Someone <help@example.com>',
			],
			['the name that the user gives', { senderName: 'Ann' }, 'Ann <someone@example.com>'],
			[
				'the name that the user gives an alias',
				{ fromAlias: 'Desk <sales@example.com>' },
				'Desk <sales@example.com>',
			],
		])('has %s', async (_what, options, expected) => {
			mails.google.gmail.aliases = ['sales@example.com', 'help@example.com'];
			mails.google.gmail.displayNames = {
				'someone@example.com': 'Sam Someone',
				'sales@example.com': 'Sales, Inc.',
			};
			expect(await from(options)).toBe(expected);
		});

		it('without a name anywhere is named alone', async () => {
			mails.google.gmail.displayNames = {};
			mails.google.gmail.aliases = ['sales@example.com'];
			expect([await from(), await from({ fromAlias: 'sales@example.com' })]).toEqual([
				'someone@example.com',
				'sales@example.com',
			]);
			const [id] = mails.google.gmail.sent.map(({ mime }) =>
				findHeader(mime.headers, 'Message-ID'),
			);
			expect(id).toMatch(/^<[0-9a-f-]{36}@example\.com>$/);
		});

		it.each<[string, IDataObject, string]>([
			['name', {}, 'Sales, Inc.'],
			['name that the user gives', { senderName: 'Ann' }, 'Ann'],
		])('is the default address of the account, with its %s', async (_what, options, name) => {
			const address = 'sales@example.com';
			mails.google.gmail.aliases = [address, 'help@example.com'];
			mails.google.gmail.defaultAlias = address;
			mails.google.gmail.displayNames = { [address]: 'Sales, Inc.' };
			mails.google.gmail.signatures = { [address]: '<i>Sales</i>' };
			expect(await from({ ...options, includeSignature: true })).toContain(name);
			expect(header('From')).toMatch(/ <sales@example\.com>$/);
			expect(readText(sent().mime)).toMatch(/-- \r?\nSales/);
		});

		it('is the default address without a name, too', async () => {
			mails.google.gmail.aliases = ['help@example.com'];
			mails.google.gmail.defaultAlias = 'help@example.com';
			mails.google.gmail.displayNames = {};
			expect(await from()).toBe('help@example.com');
		});

		it.each(['sale@example.com', 'Soon@example.com'])(
			'%s, which the account lacks or has not confirmed, is refused before anything is sent',
			async (fromAlias) => {
				mails.google.gmail.aliases = ['sales@example.com'];
				mails.google.gmail.pendingAliases = ['soon@example.com'];
				const failure = await failureOf(
					mails.run('send', mail, { fromAlias, senderName: 'A' }),
				);
				expect(failure.httpCode).toBe('400');
				expect(failure.message).toContain(`cannot send from ${fromAlias}`);
				expect(failure.description).toContain(
					"Set 'From Alias' to one of: someone@example.com, sales@example.com.",
				);
				expect(mails.google.gmail.sent).toEqual([]);
			},
		);

		it('of an alias that was added a moment ago is looked up again', async () => {
			await from();
			mails.google.gmail.aliases = ['new@example.com'];
			expect(await from({ fromAlias: 'new@example.com' })).toBe(
				'Sam Someone <new@example.com>',
			);
		});

		it('has a name of any letters, on one line', async () => {
			mails.google.gmail.displayNames = {
				'someone@example.com': 'Jörg\r\nBcc: evil@example.com 山田',
			};
			expect(await from()).toBe('Jörg Bcc: evil@example.com 山田 <someone@example.com>');
			expect(mails.google.gmail.sent[0]?.recipients).toEqual(['ann@example.com']);
		});

		it('is looked up once for an account', async () => {
			const sent = (times: number) => Array<string>(times).fill('messages.send');
			await mails.run('send', mail, {}, [{ json: {} }, { json: {} }, { json: {} }]);
			await mails.run('send', mail);
			expect(mails.methods).toEqual(['settings.sendAs.list', ...sent(4)]);
		});

		it('is looked up again after ten minutes', async () => {
			let now = 1_000_000;
			const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
			for (const milliseconds of [0, 599_999, 1]) {
				now += milliseconds;
				await mails.run('send', mail);
			}
			clock.mockRestore();
			const looks = mails.methods.map((method) => method === 'settings.sendAs.list');
			expect(looks).toEqual([true, false, false, true, false]);
		});

		it('is left to Gmail when the settings name no address', async () => {
			mails.google.fault({
				match: 'gmail.users.settings.sendAs.list',
				status: 200,
				body: {},
			});
			expect(await from()).toBeUndefined();
		});

		it('is looked up again for another sign-in', async () => {
			mails.google.gmail.displayNames = { 'someone@example.com': 'Sam Someone' };
			await mails.run('send', mail);
			mails.google.gmail.displayNames = { 'someone@example.com': 'Somebody Else' };
			const parameters = { resource: 'mail', operation: 'send', ...mail };
			const credential = { oauthTokenData: { access_token: 'of somebody else' } };
			await runNode({ url: mails.google.url, parameters, credential });
			expect(froms()).toEqual([
				'Sam Someone <someone@example.com>',
				'Somebody Else <someone@example.com>',
			]);
		});

		it('is looked up again after a failure', async () => {
			mails.google.gmail.displayNames = { 'someone@example.com': 'Sam Someone' };
			mails.google.fault({ match: 'gmail.users.settings.sendAs.list', status: 503 });
			expect([await from(), await from()]).toEqual([
				undefined,
				'Sam Someone <someone@example.com>',
			]);
		});

		it('does not go out without the name that the user gives, if the settings cannot be read', async () => {
			mails.google.fault({ match: 'gmail.users.settings.sendAs.list', status: 403 });
			const options = { senderName: 'Ann' };
			expect((await failureOf(send({}, options))).httpCode).toBe('403');
			expect(mails.google.gmail.sent).toEqual([]);
		});

		it('leaves no secret in n8n’s log when the look-up repeats one', async () => {
			const secret = 'canary-client-secret';
			mails.google.fault({
				match: 'gmail.users.settings.sendAs.list',
				status: 403,
				message: `No ${secret}`,
			});
			const parameters = { resource: 'mail', operation: 'send', ...mail };
			const context = createNodeContext({
				url: mails.google.url,
				parameters,
				credential: { clientSecret: secret },
			});
			const info = jest.spyOn(context.logger, 'info');
			await new Workspace().execute.call(context);
			expect(info.mock.calls.map(([text]) => text).join(' ')).toMatch(
				/Could not get the addresses that the account sends from: .*No •••/,
			);
		});

		it.each<[string, () => void]>([
			[
				'the scope is missing',
				() => {
					mails.google.reset();
					mails.signIn(['gmail.send']);
				},
			],
			[
				'Gmail is down',
				() => {
					mails.google.fault({
						match: 'gmail.users.settings.sendAs.list',
						status: 503,
						times: 9,
					});
				},
			],
			[
				'Gmail limits the rate',
				() => {
					mails.google.fault({ match: 'gmail.users.settings.sendAs.list', status: 429 });
				},
			],
			[
				'the connection breaks',
				() => {
					mails.google.fault({
						match: 'gmail.users.settings.sendAs.list',
						connection: 'resetAfter',
					});
				},
			],
		])('is left to Gmail when %s: the mail goes out after one look', async (_what, spoil) => {
			spoil();
			expect(await from()).toBeUndefined();
			expect(mails.methods).toEqual(['settings.sendAs.list', 'messages.send']);
		});
	});

	it('a service account without delegation has no mailbox, and nothing is sent', async () => {
		mails.google.reset();
		mails.google.tokens.issue({
			token: 'canary-access-token',
			user: 'robot@project.iam.gserviceaccount.com',
		});
		const failure = await failureOf(mails.run('send', mail));
		expect(failure.message).toContain('Precondition check failed');
		expect(mails.google.gmail.sent).toEqual([]);
	});
});
