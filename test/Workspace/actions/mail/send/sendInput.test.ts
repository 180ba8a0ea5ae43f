import { Readable } from 'node:stream';
import type { IBinaryData, IDataObject } from 'n8n-workflow';

import { findHeader, type MimePart } from '../../../../../dev/google/gmail/mime';
import { readFiles } from '../../../../../nodes/Workspace/actions/mail/send/files';
import {
	inlineLinkedFiles,
	repairHtml,
} from '../../../../../nodes/Workspace/actions/mail/send/bodies';
import { failureOf } from '../../../../createExecuteContext';
import { expectLinear } from '../../../../growth';
import { testItem, testClients } from '../../../client';
import { binary, filesOf, headerOf, Mails, textOf } from '../mails';

const mails = new Mails();

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };

async function send(parameters: IDataObject = {}, options: IDataObject = {}) {
	const items = [{ json: {}, binary: { data: binary('x', 'x.txt') } }];
	return await mails.run('send', { ...mail, ...parameters }, options, items);
}

describe('bad input is refused before anything is asked', () => {
	const xHeader = (name: string, value: string) => ({ headers: { header: [{ name, value }] } });
	const addresses = ['bcc', 'CC', 'To', 'From', 'Sender', 'Reply-To', 'Return-Path'];
	const resent = ['Resent-Bcc', 'resent-to', 'Resent-From', 'Apparently-To'];
	const others = ['Subject', 'Message-ID', 'MIME-Version', 'Content-Type'];
	const notHere = [...addresses, ...resent, ...others, 'X-Agent-Workspace-Id'];
	const formats = /'Body Format' must be one of: text, html, markdown/;

	type Refused = [string, IDataObject, IDataObject, RegExp];

	it.each<Refused>([
		['no recipient', { to: '={{ "" }}' }, {}, /'To' is required/],
		['commas only', { to: ' , ,' }, {}, /'To' is required/],
		['a bad address', { to: 'a@x.org, b@x, c@@x.org' }, {}, /'To' .*: c@@x\.org$/],
		['a header in a list', { to: 'a@x.org\nBcc: b@x.org' }, {}, /: Bcc: b@x\.org$/],
		['a bad copy', {}, { cc: 'nobody' }, /'CC' .*: nobody$/],
		['a long subject', { subject: 'Hi\r\nBcc: b@x' }, {}, /'Subject' contains a line break/],
		['a long name', {}, { senderName: 'A\nB' }, /'Sender Name' contains a line break/],
		['a header of two lines', {}, xHeader('X-A', 'a\r\nBcc: b@x.org'), /header 'X-A'/],
		['a bad header', {}, xHeader('X A', 'a'), /The header 'X A' cannot be set here/],
		...notHere.map((name): Refused => {
			const words = new RegExp(`'${name}' cannot be set here`);
			return [`the header ${name}`, {}, xHeader(name, 'b@x.org'), words];
		}),
		['an id with a slash', { replyToMessageId: 'a/b' }, {}, /'Message ID' is not an ID/],
		['a format that is none', { bodyFormat: 'rtf' }, {}, formats],
	])('%s', async (_what, parameters, options, words) => {
		expect(await mails.refused(send(parameters, options))).toMatch(words);
	});

	it('no recipient: the advice names no field that the form hides for a new email', async () => {
		const failure = await failureOf(send({ to: '' }));
		expect(failure.description).toMatch(/^It is empty\. .*A reply may leave it empty/);
		expect(failure.description).not.toContain("'Message ID'");
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
		const inForm = await mails.refused(send({}, { attachments } as IDataObject));
		expect(inForm).toMatch(/^'Attachments \(Field Names\)' names no file/);
		const inputObject = { operation: 'send', ...mail, attachments: inJson };
		const inObject = await mails.refused(mails.json(inputObject));
		expect(inObject).toMatch(/^'attachments' names no file/);
	});

	it.each<[string, unknown]>([
		['nothing typed', ''],
		['nothing from a model', "={{ $fromAI('attachments') || '' }}"],
	])('no attachments are wanted: %s', async (_what, attachments) => {
		await send({}, { attachments } as IDataObject);
		expect(mails.sent).toHaveLength(1);
	});

	it.each([null, []])('an input object has no attachments: %j', async (attachments) => {
		await mails.json({ operation: 'send', ...mail, attachments });
		expect(mails.sent).toHaveLength(1);
	});

	it.each<[string, IDataObject, IDataObject]>([
		['address', { to: '={{ $json.text }}' }, {}],
		['subject', { subject: '={{ $json.text }}' }, {}],
		['copy', {}, { cc: '={{ $json.text }}' }],
		['header', {}, xHeader('X-A', '={{ $json.text }}')],
	])('and no earlier item’s email leaves: %s', async (_what, parameters, options) => {
		const items = ['a@x.org', 'no\nbody'].map((text) => ({ json: { text } }));
		const sending = mails.run('send', { ...mail, ...parameters }, options, items);
		const message = await mails.refused(sending);
		expect(message).toMatch(/line break|not an email address/);
	});
});

describe('attachments', () => {
	const broken = 'of an attachment contains a line break';
	const notBase64 = "'content' of the attachment 'b' is not base64 text";

	it.each([
		[{ fileName: 'b', content: '%%' }, notBase64],
		[{ fileName: 'b\n', content: '' }, `'fileName' ${broken}`],
		[{ fileName: 'b', mimeType: 'a\n', content: '' }, `'mimeType' ${broken}`],
	])('%j is refused', async (attachment, words) => {
		const attachments = [{ fileName: 'a', content: 'aGk=' }, attachment];
		const sending = mails.json({ operation: 'send', ...mail, attachments });
		expect(await mails.refused(sending)).toContain(words);
	});

	it('are read only if they fit in base64 with its line breaks', async () => {
		const open = jest.fn(() => Promise.resolve(Readable.from([])));
		const read = async (size: number) => {
			const item = testItem({ binary: { data: { data: Buffer.alloc(0) } } });
			const getBinary = () => Promise.resolve({ fileName: 'a.bin', size, open });
			const clients = testClients('http://127.0.0.1:1', 'none');
			const given = { attachments: [{ field: 'data' }], driveFiles: [] };
			return await readFiles(given, clients, { ...item, getBinary });
		};
		expect(await read(27_525_120)).toHaveLength(1);
		expect(open).toHaveBeenCalledTimes(1);
		await expect(read(27_525_121)).rejects.toThrow('too large for Gmail: 35.0 MiB');
		expect(open).toHaveBeenCalledTimes(1);
	});
});

it('the input object takes lists as arrays, headers as an object and files as base64', async () => {
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
	const names = ['john', 'ann', 'boss'];
	expect(mails.only.recipients).toEqual(names.map((name) => `${name}@example.com`));
	expect(headerOf(mails.only, 'X-Campaign')).toBe('spring');
	expect(headerOf(mails.only, 'Constructor')).toBe('Ann');
	const [file, ...others] = filesOf(mails.only);
	expect([file?.filename, file?.data.toString(), others]).toEqual(['ü.txt', 'hello', []]);
});

const file = (filename: string, field?: string) => ({
	filename,
	field,
	contentType: 'image/png',
	size: 1,
	content: Buffer.from('x'),
});

describe('HTML', () => {
	const style = (image: string) => `<b style="background: ${image}">`;
	const outlook = (image: string) => `<!--[if mso]><img src="${image}"><![endif]-->`;

	it.each([
		['<img src="cid:logo">', '<img src="cid:CID">'],
		["<img src='cid:logo'>", "<img src='cid:CID'>"],
		['<img src=cid:logo>', '<img src=cid:logo>'],
		['<img SRC="CID:logo">', '<img SRC="CID:CID">'],
		[style('url(cid:logo)'), style('url(cid:logo)')],
		['<img src="cid:my%20logo.png">', '<img src="cid:CID">'],
		['<img src="cid:my logo.png">', '<img src="cid:CID">'],
		['<img src="cid:R&amp;D\'s (1).png">', '<img src="cid:CID">'],
		["<img src='cid:R&D&#39;s (1).png'>", "<img src='cid:CID'>"],
		['<a href="https://x.example/cid:logo">', '<a href="https://x.example/cid:logo">'],
		['cid:logo', 'cid:logo'],
		[outlook('cid:logo'), outlook('cid:CID')],
		['<img alt="a > b" src="cid:logo">', '<img alt="a > b" src="cid:CID">'],
		['<p>Write "cid:logo" or cid:logo</p>', '<p>Write "cid:logo" or cid:logo</p>'],
		['<p>a = cid:logo</p>', '<p>a = cid:logo</p>'],
		['<p title=\'say "cid:logo"\'>', '<p title=\'say "cid:logo"\'>'],
		['1 < 2 "cid:logo" > 0', '1 < 2 "cid:logo" > 0'],
	])('%s', (html, expected) => {
		const files = [
			file('other.png', 'other'),
			file('my logo.png', 'logo'),
			file("R&D's (1).png"),
			file('R', 'R'),
		];
		const { html: linked } = inlineLinkedFiles(html, files, 'mark');
		const marked = expected.replaceAll('CID', '1.mark@inline');
		expect(linked).toBe(marked.replace('SRC="1.mark@inline', 'SRC="CID'));
	});

	const tags = ['<a "', "<a '", '<style', '<style>', '<a =', '<a\t'];

	it.each([...tags, 'url(', '<a style="url(cid:'])('of %j takes linear time', (unit) => {
		const link = (text: string) => inlineLinkedFiles(text, [file('a.png', 'a')], 'm');
		expectLinear(unit, (text) => text, link);
	});

	it('of an escaped tag without an end takes linear time', () => {
		expectLinear(' ', (text) => `&lt;br${text}`, repairHtml);
	});

	it('names a file twice and gives it one id; others stay attached', () => {
		const files = [file('a.png', 'a'), file('b.png', 'b'), file('c.png', 'c')];
		const show = (...ids: string[]) => ids.map((id) => `<img src="cid:${id}">`).join('');
		const { html, files: inline } = inlineLinkedFiles(show('c', 'a', 'c.png'), files, 'm');
		expect(html).toBe(show('1.m@inline', '2.m@inline', '1.m@inline'));
		expect(inline.map(({ cid }) => cid)).toEqual(['2.m@inline', undefined, '1.m@inline']);
	});

	it('a field comes before a file of that name', () => {
		const named = [file('b', 'a'), file('x', 'b')];
		const { files } = inlineLinkedFiles('<img src="cid:b">', named, 'm');
		expect(files.map(({ cid }) => cid)).toEqual([undefined, '1.m@inline']);
	});
});

describe('pictures', () => {
	const logo = binary('LOGO', 'firm logo.png', 'image/png');

	/** Sends a body with files. @returns the ID of each picture */
	async function sendFiles(bodyFormat: string, body: string, files: Record<string, IBinaryData>) {
		const options = { attachments: Object.keys(files).join() };
		const items = [{ json: {}, binary: files }];
		await mails.run('send', { ...mail, body, bodyFormat }, options, items);
		const pictures = filesOf(mails.only).filter(({ mimeType }) => mimeType === 'image/png');
		return {
			html: textOf(mails.only, 'text/html') ?? '',
			ids: pictures.map(({ headers }) => findHeader(headers, 'Content-Id')?.slice(1, -1)),
			places: pictures.map(({ headers }) => findHeader(headers, 'Content-Disposition')),
		};
	}

	it('go beside the HTML that shows them, other files behind the email', async () => {
		const body = '<p>Hi</p><img src="cid:logo"><img src="cid:chart.png">';
		const report = binary('PDF', 'r.pdf', 'application/pdf');
		const chart = binary('CHART', 'chart.png', 'image/png');
		const { html, ids, places } = await sendFiles('html', body, { logo, report, chart });
		const shape = ({ mimeType, filename, parts }: MimePart): unknown =>
			parts.length > 0 ? { [mimeType]: parts.map(shape) } : filename || mimeType;
		const shown = { 'multipart/related': ['text/html', 'firm logo.png', 'chart.png'] };
		const text = { 'multipart/alternative': ['text/plain', shown] };
		expect(shape(mails.only.mime)).toEqual({ 'multipart/mixed': [text, 'r.pdf'] });
		expect([...html.matchAll(/cid:([^"]+)/g)].map(([, cid]) => cid)).toEqual(ids);
		expect(places.map((place) => place?.split(';')[0])).toEqual(['inline', 'inline']);
		// And comes back as what it is.
		const [item] = await mails.run('read', { messageId: mails.only.id });
		expect(item?.json['attachments']).toMatchObject([
			{ fileName: 'firm logo.png', inline: true },
			{ fileName: 'chart.png', inline: true },
			{ fileName: 'r.pdf', inline: false },
		]);
	});

	it('are shown by a Markdown body, too, and no other protocol gets in with them', async () => {
		const pictures = '![Logo](cid:logo) ![c][c] `](cid:logo)`';
		const others = '[x](javascript:alert(1)) ![y](data:text/html,1)';
		const body = `${pictures} ${others}\n\n[c]: CID:my%20chart.png "Chart"`;
		const chart = binary('CHART', 'my chart.png', 'image/png');
		const { html, ids } = await sendFiles('markdown', body, { logo, chart });
		const images = [...html.matchAll(/<img src="cid:([^"]+)" alt="(\w+)"/g)];
		expect(images.map(([, id]) => id)).toEqual(ids);
		expect(images.map(([, , alt]) => alt)).toEqual(['Logo', 'c']);
		expect(html).toContain('<code>](cid:logo)</code>');
		expect(html).not.toMatch(/javascript:|data:|cid[0-9a-f]{24}/);
	});
});
