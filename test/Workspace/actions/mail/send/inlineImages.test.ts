import { allParts, headerOf, textOf, type MimePart } from '../../../../../dev/google/gmail/mime';
import { withImages } from '../../../../../nodes/Workspace/actions/mail/send/attachments';
import { withBinaryData } from '../../../../executeContext';
import { testClients, testItem } from '../../../client';
import { send } from '../../../../../nodes/Workspace/actions/mail/send.operation';
import { expectLinear } from '../../../../growth';
import { binary, Mails } from '../mails';

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
		['<b style="background: url(\'cid:logo\')">', '<b style="background: url(\'cid:CID\')">'],
		['<b style="background: url(&quot;cid:logo&quot;)">', '<b style="background: url(&quot;cid:CID&quot;)">'],
		['<style>p { background: url(cid:logo) }</style>', '<style>p { background: url(cid:CID) }</style>'],
		['<!--[if mso]><img src="cid:logo"><![endif]-->', '<!--[if mso]><img src="cid:CID"><![endif]-->'],
		['<img alt="a > b" src="cid:logo">', '<img alt="a > b" src="cid:CID">'],
		['<p>Write "cid:logo" or url(cid:logo)</p>', '<p>Write "cid:logo" or url(cid:logo)</p>'],
		['<p>a = cid:logo</p>', '<p>a = cid:logo</p>'],
		['<p title=\'say "cid:logo"\'>', '<p title=\'say "cid:logo"\'>'],
		['1 < 2 "cid:logo" > 0', '1 < 2 "cid:logo" > 0'],
	])('%s', (html, expected) => {
		const files = [file('other.png', 'other'), file('my logo.png', 'logo')];
		const { html: linked, unknown } = withImages(html, files, 'mark');
		expect(linked).toBe(
			expected.replaceAll('CID', '1.mark@inline').replace('SRC="1.mark@inline', 'SRC="CID'),
		);
		expect(unknown).toEqual([]);
	});

	it.each(['<a "', "<a '", '<style', '<style>', '<a =', 'url(', '<a style="url(cid:', '<a\t'])(
		'of %j takes linear time',
		(unit) => {
			expectLinear(
				unit,
				(text) => text,
				(text) => withImages(text, [file('a.png', 'a')], 'm'),
			);
		},
	);

	it('names a file twice and gives it one id; others stay attached', () => {
		const files = [file('a.png', 'a'), file('b.png', 'b'), file('c.png', 'c')];
		const { html, files: inline } = withImages(
			'<img src="cid:c"><img src="cid:a"><img src="cid:c.png">',
			files,
			'm',
		);
		expect(html).toBe('<img src="cid:1.m@inline"><img src="cid:2.m@inline"><img src="cid:1.m@inline">');
		expect(inline.map(({ cid }) => cid)).toEqual(['2.m@inline', undefined, '1.m@inline']);
	});

	it('a field comes before a file of that name', () => {
		const { files } = withImages('<img src="cid:b">', [file('b', 'a'), file('x', 'b')], 'm');
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
		part.parts.length > 0 ? { [part.mimeType]: part.parts.map(shape) } : part.filename || part.mimeType;
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
	const html = allParts(mime).find(({ mimeType }) => mimeType === 'text/html');
	const linked = [...(html ? textOf(html) : '').matchAll(/cid:([^"]+)/g)].map(
		([, cid]) => `<${String(cid)}>`,
	);
	const pictures = allParts(mime).filter(({ mimeType }) => mimeType === 'image/png');
	expect(pictures.map(({ headers }) => headerOf(headers, 'Content-Id'))).toEqual(linked);
	expect(pictures.map(({ headers }) => headerOf(headers, 'Content-Disposition')?.split(';')[0])).toEqual([
		'inline',
		'inline',
	]);
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
	const parts = mime ? allParts(mime) : [];
	const html = parts.find(({ mimeType }) => mimeType === 'text/html');
	const text = html ? textOf(html) : '';
	const ids = parts
		.filter(({ mimeType }) => mimeType === 'image/png')
		.map(({ headers }) => headerOf(headers, 'Content-Id')?.slice(1, -1));
	expect([...text.matchAll(/<img src="cid:([^"]+)" alt="(\w+)"/g)].map(([, id, alt]) => [id, alt])).toEqual([
		[ids[0], 'Logo'],
		[ids[1], 'c'],
	]);
	expect(text).toContain('<code>](cid:logo)</code>');
	expect(text).not.toMatch(/javascript:|data:|cid[0-9a-f]{24}/);
});

it('a picture that nobody attached leaves a hint', async () => {
	const clients = testClients(mails.google.url, mails.google.tokens.issue());
	const item = testItem();
	const params = {
		...{
			to: 'ann@example.com',
			subject: 'S',
			body: '<img src="cid:none">',
			bodyFormat: 'html' as const,
			cc: '',
			bcc: '',
		},
		...{
			replyTo: '',
			senderName: '',
			fromAlias: '',
			attachments: [],
			headers: [],
			replyToMessageId: '',
			replyAll: false,
			quoteOriginal: false,
			includeSignature: false,
			saveAsDraft: false,
			idempotencyKey: '',
		},
	};
	await send.execute(clients, params, item);
	expect(item.hints).toEqual([expect.stringContaining('cid:none')]);
});
