import { Readable } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';

import {
	findHeader,
	collectParts,
	readText,
	type MimePart,
} from '../../../../../dev/google/gmail/mime';
import { readFiles } from '../../../../../nodes/Workspace/actions/mail/send/files';
import { inlineLinkedFiles } from '../../../../../nodes/Workspace/actions/mail/send/bodies';
import { failureOf, withBinaryData } from '../../../../createExecuteContext';
import { expectLinear } from '../../../../growth';
import { testItem, testClients } from '../../../client';
import { binary, Mails } from '../mails';

describe('send input', () => {
	const mails = new Mails();
	beforeAll(withBinaryData);

	const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };

	async function send(parameters: IDataObject = {}, options: IDataObject = {}) {
		const items = [{ json: {}, binary: { data: binary('x', 'x.txt') } }];
		return await mails.run('send', { ...mail, ...parameters }, options, items);
	}

	describe('bad input is refused before anything is asked', () => {
		it.each<[string, IDataObject, IDataObject, RegExp]>([
			['no recipient', { to: '={{ "" }}' }, {}, /'To' is required/],
			['commas only', { to: ' , ,' }, {}, /'To' is required/],
			[
				'a bad address among good ones',
				{ to: 'a@x.org, b@x, c@@x.org' },
				{},
				/'To' .*: c@@x\.org$/,
			],
			[
				'a header in an address list',
				{ to: 'a@x.org\nBcc: b@x.org' },
				{},
				/: Bcc: b@x\.org$/,
			],
			['a bad copy', {}, { cc: 'nobody' }, /'CC' .*: nobody$/],
			[
				'a line break in the subject',
				{ subject: 'Hi\r\nBcc: b@x.org' },
				{},
				/'Subject' contains a line break/,
			],
			[
				'a line break in the name',
				{},
				{ senderName: 'A\nB' },
				/'Sender Name' contains a line break/,
			],
			[
				'a line break in a header',
				{},
				{ headers: { header: [{ name: 'X-A', value: 'a\r\nBcc: b@x.org' }] } },
				/header 'X-A'/,
			],
			[
				'a bad header name',
				{},
				{ headers: { header: [{ name: 'X A', value: 'a' }] } },
				/The header 'X A' cannot be set here/,
			],
			...[
				...[
					'bcc',
					'CC',
					'To',
					'From',
					'Sender',
					'Subject',
					'Reply-To',
					'Return-Path',
					'Message-ID',
				],
				...[
					'Resent-Bcc',
					'resent-to',
					'Resent-From',
					'Apparently-To',
					'MIME-Version',
					'Content-Type',
				],
				'X-Agent-Workspace-Id',
			].map((name): [string, IDataObject, IDataObject, RegExp] => [
				`the header ${name}`,
				{},
				{ headers: { header: [{ name, value: 'b@x.org' }] } },
				new RegExp(`'${name}' cannot be set here`),
			]),
			['a missing binary field', {}, { attachments: 'invoice' }, /invoice/],
			['an id with a slash', { replyToMessageId: 'a/b' }, {}, /'Message ID' is not an ID/],
			[
				'a format that is none',
				{ bodyFormat: 'rtf' },
				{},
				/'Body Format' must be one of: text, html, markdown/,
			],
		])('%s', async (_what, parameters, options, words) => {
			expect(await mails.refused(send(parameters, options))).toMatch(words);
		});

		it('a subject as an ID is told where IDs come from', async () => {
			const failure = await failureOf(send({ replyToMessageId: 'Hello Ann' }));
			expect(failure.description).toContain('List and Search return it as id');
		});

		it('a missing binary field is named with those that exist', async () => {
			const failure = await failureOf(send({}, { attachments: 'data, invoice' }));
			expect(`${failure.message} ${String(failure.description)}`).toMatch(/'invoice'.*data/s);
			expect(mails.methods).toEqual([]);
		});

		it.each<[string, unknown, unknown]>([
			['an undefined expression', '={{ $json.missing }}', undefined],
			['an empty text', '={{ "" }}', ''],
			['null in a list', '={{ [null] }}', [null]],
			['an empty entry in a list', '={{ ["data", ""] }}', ['data', '']],
			['one of two names', '=data,{{ $json.missing }}', 'data, '],
		])('attachments that come out empty: %s', async (_what, attachments, inJson) => {
			expect(await mails.refused(send({}, { attachments } as IDataObject))).toMatch(
				/^'Attachments \(Field Names\)' names no file/,
			);
			const inputObject = { operation: 'send', ...mail, attachments: inJson };
			expect(await mails.refused(mails.json(inputObject))).toMatch(
				/^'attachments' names no file/,
			);
		});

		it.each<[string, unknown]>([
			['nothing typed', ''],
			['nothing from a model', "={{ $fromAI('attachments') || '' }}"],
		])('no attachments are wanted: %s', async (_what, attachments) => {
			await send({}, { attachments } as IDataObject);
			expect(mails.google.gmail.sent).toHaveLength(1);
		});

		it.each([null, []])(
			'an input object says that there are no attachments by %j',
			async (attachments) => {
				await mails.json({ operation: 'send', ...mail, attachments });
				expect(mails.google.gmail.sent).toHaveLength(1);
			},
		);

		it.each<[string, IDataObject, IDataObject]>([
			['address', { to: '={{ $json.text }}' }, {}],
			['subject', { subject: '={{ $json.text }}' }, {}],
			['copy', {}, { cc: '={{ $json.text }}' }],
			['header', {}, { headers: { header: [{ name: 'X-A', value: '={{ $json.text }}' }] } }],
		])('and no earlier item’s email leaves: %s', async (_what, parameters, options) => {
			const items = ['a@x.org', 'no\nbody'].map((text) => ({ json: { text } }));
			const message = await mails.refused(
				mails.run('send', { ...mail, ...parameters }, options, items),
			);
			expect(message).toMatch(/line break|not an email address/);
		});

		it('and the other items go on', async () => {
			const items = ['a@x.org', 'nobody', 'c@x.org'].map((to) => ({ json: { to } }));
			const parameters = { ...mail, to: '={{ $json.to }}' };
			const output = await mails.run('send', parameters, {}, items, {
				onError: 'continueRegularOutput',
			});
			expect(
				output.map(({ json, pairedItem }) => [
					json['labelIds'] ?? json['error'],
					pairedItem,
				]),
			).toEqual([
				[['SENT'], { item: 0 }],
				[
					{
						code: 400,
						message: expect.stringMatching(
							/^'To' has an entry that is not an email address: nobody\. ./,
						) as string,
						status: 'INVALID_ARGUMENT',
					},
					{ item: 1 },
				],
				[['SENT'], { item: 2 }],
			]);
		});
	});

	describe('attachments', () => {
		const clients = testClients('http://127.0.0.1:1', 'none');

		it.each([
			[
				{ fileName: 'b', content: '%%' },
				"'content' of the attachment 'b' is not base64 text",
			],
			[{ fileName: 'b\n', content: '' }, "'fileName' of an attachment contains a line break"],
			[
				{ fileName: 'b', mimeType: 'a\n', content: '' },
				"'mimeType' of an attachment contains a line break",
			],
		])('%j is refused', async (attachment, words) => {
			const good = { fileName: 'a', mimeType: 'a/b', content: 'aGk=' };
			await expect(
				readFiles({ attachments: [good, attachment], driveFiles: [] }, clients, testItem()),
			).rejects.toThrow(words);
			expect(
				await readFiles({ attachments: [good], driveFiles: [] }, clients, testItem()),
			).toMatchObject([{ filename: 'a', contentType: 'a/b', content: Buffer.from('hi') }]);
		});

		it('are read only if they fit in base64 with its line breaks', async () => {
			const open = jest.fn(() => Promise.resolve(Readable.from([])));
			const attach = async (size: number) => {
				const source = { fileName: 'a.bin', size, open };
				return await readFiles(
					{ attachments: [{ field: 'data' }], driveFiles: [] },
					clients,
					{
						...testItem({ binary: { data: { data: Buffer.alloc(0) } } }),
						getBinary: () => Promise.resolve(source),
					},
				);
			};
			expect(await attach(27_525_120)).toHaveLength(1);
			expect(open).toHaveBeenCalledTimes(1);
			await expect(attach(27_525_121)).rejects.toThrow('too large for Gmail: 35.0 MiB');
			expect(open).toHaveBeenCalledTimes(1);
		});
	});

	describe('the input object', () => {
		it('takes lists as arrays, headers as an object and files as base64', async () => {
			const content = Buffer.from('hello').toString('base64');
			await mails.json({
				operation: 'send',
				to: ['"Doe, John" <john@example.com>', 'ann@example.com'],
				subject: 'Hi',
				body: 'Text',
				bcc: ['boss@example.com'],
				headers: { 'X-Campaign': 'spring', Constructor: 'Ann' },
				attachments: [{ fileName: 'ü.txt', mimeType: 'text/plain', content }],
			});
			const [sent] = mails.google.gmail.sent;
			expect(sent?.recipients).toEqual([
				'john@example.com',
				'ann@example.com',
				'boss@example.com',
			]);
			expect(findHeader(sent?.mime.headers ?? [], 'X-Campaign')).toBe('spring');
			expect(findHeader(sent?.mime.headers ?? [], 'Constructor')).toBe('Ann');
			const files = sent
				? collectParts(sent.mime).filter(({ filename }) => filename !== '')
				: [];
			expect(files.map(({ filename, data }) => [filename, data.toString()])).toEqual([
				['ü.txt', 'hello'],
			]);
		});

		it.each([
			[
				{ operation: 'send', to: 'a@x.org', subject: 'x', body: 'x', cci: 'b@x.org' },
				/'cci'/,
			],
			[{ operation: 'send', to: 'a@x.org', subject: 'x' }, /'body' is required/],
			[
				{
					operation: 'send',
					to: 'a@x.org',
					subject: 'x',
					body: 'x',
					attachments: [{ fileName: 'x', content: '%%' }],
				},
				/base64/,
			],
			[[{ operation: 'send' }], /must be an object, not an array/],
		])('refuses %j', async (inputObject, words) => {
			expect(await mails.refused(mails.json(inputObject))).toMatch(words);
		});
	});
});

describe('inline images', () => {
	const mails = new Mails();
	beforeAll(withBinaryData);

	const file = (filename: string, field?: string) => ({
		filename,
		field,
		contentType: 'image/png',
		size: 1,
		content: Buffer.from('x'),
	});

	describe('HTML', () => {
		it.each([
			['<img src="cid:logo">', '<img src="cid:CID">'],
			["<img src='cid:logo'>", "<img src='cid:CID'>"],
			['<img src=cid:logo>', '<img src=cid:CID>'],
			['<img SRC="CID:logo">', '<img SRC="CID:CID">'],
			['<b style="background: url(cid:logo)">', '<b style="background: url(cid:CID)">'],
			['<img src="cid:my%20logo.png">', '<img src="cid:CID">'],
			['<img src="cid:my logo.png">', '<img src="cid:CID">'],
			['<a href="https://x.example/cid:logo">', '<a href="https://x.example/cid:logo">'],
			['cid:logo', 'cid:logo'],
			[
				'<b style="background: url(\'cid:logo\')">',
				'<b style="background: url(\'cid:CID\')">',
			],
			[
				'<b style="background: url(&quot;cid:logo&quot;)">',
				'<b style="background: url(&quot;cid:CID&quot;)">',
			],
			[
				'<style>p { background: url(cid:logo) }</style>',
				'<style>p { background: url(cid:CID) }</style>',
			],
			[
				'<!--[if mso]><img src="cid:logo"><![endif]-->',
				'<!--[if mso]><img src="cid:CID"><![endif]-->',
			],
			['<img alt="a > b" src="cid:logo">', '<img alt="a > b" src="cid:CID">'],
			['<p>Write "cid:logo" or cid:logo</p>', '<p>Write "cid:logo" or cid:logo</p>'],
			['<p>a = cid:logo</p>', '<p>a = cid:logo</p>'],
			['<p title=\'say "cid:logo"\'>', '<p title=\'say "cid:logo"\'>'],
			['1 < 2 "cid:logo" > 0', '1 < 2 "cid:logo" > 0'],
		])('%s', (html, expected) => {
			const files = [file('other.png', 'other'), file('my logo.png', 'logo')];
			const { html: linked } = inlineLinkedFiles(html, files, 'mark');
			expect(linked).toBe(
				expected
					.replaceAll('CID', '1.mark@inline')
					.replace('SRC="1.mark@inline', 'SRC="CID'),
			);
		});

		it.each([
			'<a "',
			"<a '",
			'<style',
			'<style>',
			'<a =',
			'url(',
			'<a style="url(cid:',
			'<a\t',
		])('of %j takes linear time', (unit) => {
			expectLinear(
				unit,
				(text) => text,
				(text) => inlineLinkedFiles(text, [file('a.png', 'a')], 'm'),
			);
		});

		it('names a file twice and gives it one id; others stay attached', () => {
			const files = [file('a.png', 'a'), file('b.png', 'b'), file('c.png', 'c')];
			const { html, files: inline } = inlineLinkedFiles(
				'<img src="cid:c"><img src="cid:a"><img src="cid:c.png">',
				files,
				'm',
			);
			expect(html).toBe(
				'<img src="cid:1.m@inline"><img src="cid:2.m@inline"><img src="cid:1.m@inline">',
			);
			expect(inline.map(({ cid }) => cid)).toEqual(['2.m@inline', undefined, '1.m@inline']);
		});

		it('a field comes before a file of that name', () => {
			const { files } = inlineLinkedFiles(
				'<img src="cid:b">',
				[file('b', 'a'), file('x', 'b')],
				'm',
			);
			expect(files.map(({ cid }) => cid)).toEqual([undefined, '1.m@inline']);
		});
	});

	it('pictures go beside the HTML that shows them, other files behind the email', async () => {
		const body = '<p>Hi</p><img src="cid:logo"><img src="cid:chart.png">';
		await mails.run(
			'send',
			{ to: 'ann@example.com', subject: 'S', body, bodyFormat: 'html' },
			{ attachments: 'logo, report, chart' },
			[
				{
					json: {},
					binary: {
						logo: binary('LOGO', 'firm logo.png', 'image/png'),
						report: binary('PDF', 'r.pdf', 'application/pdf'),
						chart: binary('CHART', 'chart.png', 'image/png'),
					},
				},
			],
		);
		const { mime } = mails.google.gmail.sent[0] ?? {};
		if (!mime) throw new Error('nothing was sent');
		const shape = (part: MimePart): unknown =>
			part.parts.length > 0
				? { [part.mimeType]: part.parts.map(shape) }
				: part.filename || part.mimeType;
		expect(shape(mime)).toEqual({
			'multipart/mixed': [
				{
					'multipart/alternative': [
						'text/plain',
						{ 'multipart/related': ['text/html', 'firm logo.png', 'chart.png'] },
					],
				},
				'r.pdf',
			],
		});
		const html = collectParts(mime).find(({ mimeType }) => mimeType === 'text/html');
		const linked = [...(html ? readText(html) : '').matchAll(/cid:([^"]+)/g)].map(
			([, cid]) => `<${String(cid)}>`,
		);
		const pictures = collectParts(mime).filter(({ mimeType }) => mimeType === 'image/png');
		expect(pictures.map(({ headers }) => findHeader(headers, 'Content-Id'))).toEqual(linked);
		expect(
			pictures.map(
				({ headers }) => findHeader(headers, 'Content-Disposition')?.split(';')[0],
			),
		).toEqual(['inline', 'inline']);
		// And comes back as what it is.
		const [item] = await mails.run('read', { messageId: mails.google.gmail.sent[0]?.id });
		expect(item?.json['attachments']).toMatchObject([
			{ fileName: 'firm logo.png', inline: true },
			{ fileName: 'chart.png', inline: true },
			{ fileName: 'r.pdf', inline: false },
		]);
	});

	it('a Markdown body shows them too, and no other protocol gets in with them', async () => {
		const body =
			'![Logo](cid:logo) ![c][c] `](cid:logo)` [x](javascript:alert(1)) ![y](data:text/html,1)\n\n[c]: CID:my%20chart.png "Chart"';
		await mails.run(
			'send',
			{ to: 'ann@example.com', subject: 'S', body, bodyFormat: 'markdown' },
			{ attachments: 'logo, chart' },
			[
				{
					json: {},
					binary: {
						logo: binary('LOGO', 'firm logo.png', 'image/png'),
						chart: binary('CHART', 'my chart.png', 'image/png'),
					},
				},
			],
		);
		const { mime } = mails.google.gmail.sent[0] ?? {};
		const parts = mime ? collectParts(mime) : [];
		const html = parts.find(({ mimeType }) => mimeType === 'text/html');
		const text = html ? readText(html) : '';
		const ids = parts
			.filter(({ mimeType }) => mimeType === 'image/png')
			.map(({ headers }) => findHeader(headers, 'Content-Id')?.slice(1, -1));
		expect(
			[...text.matchAll(/<img src="cid:([^"]+)" alt="(\w+)"/g)].map(([, id, alt]) => [
				id,
				alt,
			]),
		).toEqual([
			[ids[0], 'Logo'],
			[ids[1], 'c'],
		]);
		expect(text).toContain('<code>](cid:logo)</code>');
		expect(text).not.toMatch(/javascript:|data:|cid[0-9a-f]{24}/);
	});
});
