import fc from 'fast-check';

import { withBinaryData } from '../../../createExecuteContext';
import { Mails } from './mails';

const mails = new Mails();
beforeAll(withBinaryData);

/** What people write: letters of any script, marks, emoji; no control characters. */
const line = fc.stringMatching(/^[\p{L}\p{N}\p{P}\p{S}\p{M} ]{1,60}$/u).map((text) => text.trim());
const filled = line.filter((text) => text !== '' && !text.includes('=?'));
const text = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n').trim());

/** As headers compare: spaces at a fold count as one. */
const squeezed = (value: unknown) => String(value).replaceAll(/\s+/g, ' ');

it('what is sent is what is read: subject, names, text and files in any letters', async () => {
	await fc.assert(
		fc.asyncProperty(
			filled,
			filled.filter((name) => !name.includes('\\')),
			text.filter((body) => body !== ''),
			filled.filter((name) => !/[\\/]/.test(name)),
			fc.uint8Array({ minLength: 1, maxLength: 200 }),
			async (subject, name, body, fileName, bytes) => {
				const to = [`"${name.replaceAll('"', '\\"')}" <ann@example.com>`];
				const attachments = [{ fileName, content: Buffer.from(bytes).toString('base64') }];
				// As text: in a form, a text that starts with = is an expression.
				const mail = { to, subject, body, attachments };
				const sending = JSON.stringify({ operation: 'send', ...mail });
				const [sent] = await mails.json(sending);
				const read = { operation: 'read', messageId: sent?.json['id'] };
				const [item] = await mails.json({ ...read, downloadAttachments: true });
				expect(squeezed(item?.json['subject'])).toBe(squeezed(subject));
				expect(item?.json['text']).toBe(body);
				expect(mails.google.gmail.sent.at(-1)?.recipients).toEqual(['ann@example.com']);
				expect(item?.json['attachments']).toMatchObject([{ size: bytes.length }]);
				expect(squeezed(item?.binary?.['attachment_0']?.fileName)).toBe(squeezed(fileName));
				const data = Buffer.from(item?.binary?.['attachment_0']?.data ?? '', 'base64');
				expect(data).toEqual(Buffer.from(bytes));
			},
		),
		{ numRuns: 100 },
	);
});
