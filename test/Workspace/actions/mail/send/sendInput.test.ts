import { Readable } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';

import { headerOf, allParts } from '../../../../../dev/google/gmail/mime';
import { failureOf, withBinaryData } from '../../../../executeContext';
import { attachedFiles } from '../../../../../nodes/Workspace/actions/mail/send/attachments';
import { testItem } from '../../../client';
import { binary, Mails } from '../mails';

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
		['commas only', { to: ' , ,' }, {}, /'To' has no address/],
		['a bad address among good ones', { to: 'a@x.org, b@x, c@@x.org' }, {}, /'To' .*: c@@x\.org$/],
		['names that could be several people', { to: 'Ann, Bob, Cleo <c@x.org>' }, {}, /: Ann$/],
		['a group', { to: 'all: a@x.org, b@x.org;' }, {}, /'To' .* not an email address/],
		['a header in an address list', { to: 'a@x.org\nBcc: b@x.org' }, {}, /: Bcc: b@x\.org$/],
		['a bad copy', {}, { cc: 'nobody' }, /'CC' .*: nobody$/],
		['two aliases', {}, { fromAlias: 'a@x.org, b@x.org' }, /'From Alias' has more than one/],
		['a line break in the subject', { subject: 'Hi\r\nBcc: b@x.org' }, {}, /'Subject' contains a line break/],
		['a line break in the name', {}, { senderName: 'A\nB' }, /'Sender Name' contains a line break/],
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
			/'X A' is not a header name/,
		],
		...[
			...['bcc', 'CC', 'To', 'From', 'Sender', 'Subject', 'Reply-To', 'Return-Path', 'Message-ID'],
			...['Resent-Bcc', 'resent-to', 'Resent-From', 'Apparently-To', 'MIME-Version', 'Content-Type'],
			'X-Agent-Workspace-Id',
		].map((name): [string, IDataObject, IDataObject, RegExp] => [
			`the header ${name}`,
			{},
			{ headers: { header: [{ name, value: 'b@x.org' }] } },
			new RegExp(`'${name}' cannot be set here`),
		]),
		['a missing binary field', {}, { attachments: 'invoice' }, /invoice/],
		['an id with a slash', {}, { replyToMessageId: 'a/b' }, /'Reply to Message ID' is not an ID/],
		[
			'a format that is none',
			{ bodyFormat: 'rtf' },
			{},
			/'Body Format' must be one of: text, html, markdown/,
		],
	])('%s', async (_what, parameters, options, words) => {
		expect(await mails.refused(send(parameters, options))).toMatch(words);
	});

	it('a missing binary field is named with those that exist', async () => {
		const failure = await failureOf(send({}, { attachments: 'data, invoice' }));
		expect(`${failure.message} ${String(failure.description)}`).toMatch(/'invoice'.*data/s);
		expect(mails.methods).toEqual([]);
	});

	it.each<[string, IDataObject, IDataObject]>([
		['address', { to: '={{ $json.text }}' }, {}],
		['subject', { subject: '={{ $json.text }}' }, {}],
		['copy', {}, { cc: '={{ $json.text }}' }],
		['header', {}, { headers: { header: [{ name: 'X-A', value: '={{ $json.text }}' }] } }],
	])('and no earlier item’s email leaves: %s', async (_what, parameters, options) => {
		const items = ['a@x.org', 'no\nbody'].map((text) => ({ json: { text } }));
		const message = await mails.refused(mails.run('send', { ...mail, ...parameters }, options, items));
		expect(message).toMatch(/line break|not an email address/);
	});

	it('and the other items go on', async () => {
		const items = ['a@x.org', 'nobody', 'c@x.org'].map((to) => ({ json: { to } }));
		const parameters = { ...mail, to: '={{ $json.to }}' };
		const output = await mails.run('send', parameters, {}, items, { onError: 'continueRegularOutput' });
		expect(output.map(({ json, pairedItem }) => [json['labelIds'] ?? json['error'], pairedItem])).toEqual([
			[['SENT'], { item: 0 }],
			[
				{
					code: 400,
					message: "'To' has an entry that is not an email address: nobody",
					status: 'INVALID_ARGUMENT',
				},
				{ item: 1 },
			],
			[['SENT'], { item: 2 }],
		]);
	});
});

describe('attachments', () => {
	it.each([
		[{ fileName: 'b', content: '%%' }, "'content' of attachment 2 is not base64 text"],
		[{ fileName: 'b\n', content: '' }, "'fileName' of attachment 2 contains a line break"],
		[{ fileName: 'b', mimeType: 'a\n', content: '' }, "'mimeType' of attachment 2 contains a line break"],
	])('%j is named by its place', async (attachment, words) => {
		const good = { fileName: 'a', mimeType: 'a/b', content: 'aGk=' };
		await expect(attachedFiles([good, attachment], testItem())).rejects.toThrow(words);
		expect(await attachedFiles([good], testItem())).toEqual([
			{ filename: 'a', contentType: 'a/b', size: 2, content: Buffer.from('hi') },
		]);
	});

	it('are read only if they fit in base64 with its line breaks', async () => {
		const open = jest.fn(() => Promise.resolve(Readable.from([])));
		const attach = async (size: number) => {
			const source = { fileName: 'a.bin', size, open };
			return await attachedFiles([{ field: 'data' }], {
				...testItem(),
				binary: () => Promise.resolve(source),
			});
		};
		expect(await attach(26_819_346)).toHaveLength(1);
		expect(open).toHaveBeenCalledTimes(1);
		await expect(attach(26_819_347)).rejects.toThrow(
			'35.0 MiB (36700162 bytes), with a limit of 35.0 MiB (36700160',
		);
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
		expect(sent?.recipients).toEqual(['john@example.com', 'ann@example.com', 'boss@example.com']);
		expect(headerOf(sent?.mime.headers ?? [], 'X-Campaign')).toBe('spring');
		expect(headerOf(sent?.mime.headers ?? [], 'Constructor')).toBe('Ann');
		const files = sent ? allParts(sent.mime).filter(({ filename }) => filename !== '') : [];
		expect(files.map(({ filename, data }) => [filename, data.toString()])).toEqual([['ü.txt', 'hello']]);
	});

	it.each([
		[{ operation: 'send', to: 'a@x.org', subject: 'x', body: 'x', cci: 'b@x.org' }, /'cci'/],
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
