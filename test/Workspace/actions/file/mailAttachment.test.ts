import { randomBytes } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { failureOf, withBinaryData } from '../../../createExecuteContext';
import { catchFailure } from '../../catchFailure';
import { runNode, token } from '../../runNode';
import { file, multipart, plain } from '../mail/parts';
import { Uploads } from './uploads';

const uploads = new Uploads();
beforeAll(withBinaryData);

const seed = (...parts: string[]) => {
	const body = multipart('mixed', plain('Hi'), ...parts);
	const raw = `From: ann@example.com\nSubject: Invoice\n${body}`;
	return uploads.google.gmail.seed({ raw: raw.replaceAll('\n', '\r\n') });
};
const contentSource = 'mailAttachment';
const take = async (messageId: string, attachment: string, more: object = {}) =>
	await uploads.run({ contentSource, name: '', messageId, attachment, ...more });
/** The node with the form, or with other parameters. */
const runWith = async (given: IDataObject) => {
	uploads.google.tokens.issue({ token });
	const parameters = { resource: 'file', operation: 'upload', contentSource, ...given };
	return await runNode({ url: uploads.google.url, parameters });
};
const content = ({ id }: { id?: string | null }) =>
	uploads.google.drive.content(id ?? '')?.data?.toString();

/** The attachment IDs that Gmail gives for an email now; others than those of any other time. */
async function readIds(messageId: string): Promise<string[]> {
	const { messages } = uploads.client().gmail.users;
	const { data } = await messages.get({ userId: 'me', id: messageId });
	return (data.payload?.parts ?? []).flatMap(({ body }) => body?.attachmentId ?? []);
}

describe('an attachment of an email is uploaded', () => {
	test('by its file name, with its name and type', async () => {
		const id = seed(file('a.pdf'), file('Größe.bin'));
		const made = await take(id, 'a.pdf');
		expect(made).toMatchObject({ name: 'a.pdf', mimeType: 'application/pdf' });
		expect(content(made)).toBe('bytes of a.pdf');
		const other = { name: 'Größe.bin', mimeType: 'application/octet-stream' };
		expect(await take(id, ' Größe.bin ')).toMatchObject(other);
		const reading = ['gmail.users.messages.get', 'gmail.users.messages.attachments.get'];
		const once = [...reading, 'drive.files.generateIds', 'drive.files.create'];
		expect(uploads.calls()).toEqual([...once, ...once]);
	});

	test('by its file name, also if it is in an attached email', async () => {
		const parts = multipart('related', plain('Order'), file('a.pdf'));
		const inner = `Subject: Order\n${parts.replaceAll('related-x', 'r')}`;
		const id = seed(`Content-Type: message/rfc822\n\n${inner}`, file('b.pdf'));
		expect(content(await take(id, 'a.pdf'))).toBe('bytes of a.pdf');
	});

	test('by an ID that Read gave earlier, with the name of what has its size', async () => {
		const id = seed(file('a.pdf'), file('other.txt'));
		const [, second = ''] = await readIds(id);
		const made = await take(id, second);
		expect([made.name, content(made)]).toEqual(['other.txt', 'bytes of other.txt']);
	});

	test('by its ID where two have its name and size', async () => {
		const id = seed(file('a.txt'), file('a.txt'));
		const [first = ''] = await readIds(id);
		expect((await take(id, first)).name).toBe('attachment');
		const own = { name: 'mine.csv', mimeType: 'text/x-own' };
		expect(await take(id, first, own)).toMatchObject(own);
	});

	test('without a word about an empty file', async () => {
		const empty =
			'Content-Type: text/x-log; name="a.log"\nContent-Disposition: attachment; filename="a.log"\n\n';
		expect(await take(seed(empty), 'a.log')).toMatchObject({ name: 'a.log', size: '0' });
	});

	test('with an input object, which needs no binary data', async () => {
		const mail = { contentSource, messageId: seed(file('a.pdf')), attachment: 'a.pdf' };
		const inputObject = { operation: 'upload', ...mail };
		const [item] = await runWith({ inputMode: 'json', inputObject });
		expect(item?.json).toMatchObject({ name: 'a.pdf' });
	});
});

describe('nothing is uploaded', () => {
	afterEach(() => {
		expect(uploads.files()).toEqual([]);
	});

	const refuse = async (id: string, attachment: string) => {
		const { code, message, description = '' } = await catchFailure(take(id, attachment));
		return [code, message, description];
	};

	test.each([
		['the email has no such attachment', ['a.pdf', 'b.pdf'], 'c.pdf'],
		['two have the name', ['a.pdf', 'a.pdf'], 'a.pdf'],
	])('where %s: those that it has are named', async (_what, [one = '', other = ''], name) => {
		expect(await refuse(seed(file(one), file(other)), name)).toEqual([
			400,
			`The email does not have exactly one attachment '${name}'`,
			`Nothing was uploaded. In 'attachment', enter the name of an attachment, or its attachmentId from Read. The email has: '${one}', '${other}'`,
		]);
	});

	test('where an ID is unknown, or of another email', async () => {
		const [elsewhere = ''] = await readIds(seed(file('x.pdf')));
		for (const id of [elsewhere, randomBytes(60).toString('hex')])
			expect(await refuse(seed(file('a.pdf')), id)).toEqual([
				400,
				expect.stringContaining('not have exactly one attachment'),
				expect.stringContaining("The email has: 'a.pdf'"),
			]);
	});

	test('of many attachments, some are named', async () => {
		const many = Array.from({ length: 250 }, (_, at) => file(`${at}.pdf`));
		const [, , description = ''] = await refuse(seed(...many), 'x');
		expect(description).toContain("'0.pdf', '1.pdf', '2.pdf'");
		expect(String(description).length).toBeLessThan(1200);
	});

	test('where there is no such email; the advice is about the email, not about the folder', async () => {
		const mail = { messageId: '18c3f0a1b2d4e5f6', attachment: 'a.pdf' };
		const failure = await failureOf(runWith(mail));
		expect(failure.httpCode).toBe('404');
		expect(failure.description).toBe('The message says why Google refused this.');
	});

	test.each([
		[{ messageId: '', attachment: 'a.pdf' }, "'Message ID' is required"],
		[{ messageId: 'abc', attachment: ' ' }, "'Attachment' is required"],
		[{ messageId: 'My bill', attachment: 'a' }, "'Message ID' is not an ID: My bill"],
	])('where a field is missing or wrong: %j', async (given, message) => {
		const failure = await failureOf(runWith(given));
		expect([failure.message, uploads.calls()]).toEqual([message, []]);
	});
});
