import type { IDataObject } from 'n8n-workflow';

import { withBinaryData } from '../../../../executeContext';
import { Mails } from '../mails';
import { file, html, multipart } from '../parts';

const mails = new Mails();
beforeAll(withBinaryData);

async function read(raw: string | Buffer, options: IDataObject = {}) {
	const messageId = mails.google.gmail.seed({
		raw: typeof raw === 'string' ? raw.replaceAll('\n', '\r\n') : raw,
	});
	const [item, ...more] = await mails.run('read', { messageId }, options);
	if (!item || more.length > 0) throw new Error('Read gives one item');
	return item;
}

describe('attachments', () => {
	const raw = multipart(
		'mixed',
		multipart(
			'related',
			html('<img src="cid:logo">'),
			file('logo.png', 'Content-ID: <logo>\nContent-Disposition: inline\n'),
		),
		file('report.pdf', 'Content-Disposition: attachment\n'),
		'Content-Type: text/calendar\n\nBEGIN:VCALENDAR',
	);

	it('are always named', async () => {
		const { json, binary } = await read(raw);
		expect(json['attachments']).toEqual([
			expect.objectContaining({ fileName: 'logo.png', size: 17, inline: true, contentId: 'logo' }),
			expect.objectContaining({ fileName: 'report.pdf', size: 19, inline: false, contentId: '' }),
			expect.objectContaining({ fileName: '', mimeType: 'text/calendar', inline: false }),
		]);
		expect(binary).toBeUndefined();
		expect(mails.methods).toEqual(['messages.get']);
	});

	it('come as binary data on request', async () => {
		const { binary } = await read(raw, { downloadAttachments: true, attachmentPrefix: 'file' });
		const text = (field: string) => Buffer.from(binary?.[field]?.data ?? '', 'base64').toString();
		expect(
			Object.entries(binary ?? {}).map(([field, { fileName, mimeType }]) => [field, fileName, mimeType]),
		).toEqual([
			['file0', 'logo.png', 'application/octet-stream'],
			['file1', 'report.pdf', 'application/octet-stream'],
			['file2', 'attachment_2.ics', 'text/calendar'],
		]);
		expect([text('file0'), text('file1'), text('file2')]).toEqual([
			'bytes of logo.png',
			'bytes of report.pdf',
			'BEGIN:VCALENDAR',
		]);
	});

	it('are asked for by each item on its own', async () => {
		const messageId = mails.google.gmail.seed({ raw: raw.replaceAll('\n', '\r\n') });
		const items = [false, true].map((wanted) => ({ json: { wanted } }));
		const output = await mails.run(
			'read',
			{ messageId },
			{ downloadAttachments: '={{ $json.wanted }}' },
			items,
		);
		expect(output.map(({ binary }) => Object.keys(binary ?? {}).length)).toEqual([0, 3]);
	});
});
