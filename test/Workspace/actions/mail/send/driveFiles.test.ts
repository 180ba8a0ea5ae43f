import { randomBytes } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { folderType } from '../../../../../dev/google/drive/types';
import { collectParts, findHeader } from '../../../../../dev/google/gmail/mime';
import { widestScopes } from '../../../../../dev/google/tokens';
import { failureOf, withBinaryData } from '../../../../createExecuteContext';
import { binary, Mails } from '../mails';

const mails = new Mails();
beforeAll(withBinaryData);
jest.setTimeout(60_000);

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
const clientId = 'somebody-else';
const download = 'drive.files.get';

const seedFile = (name: string, data: Buffer | string = 'hello', mimeType = 'text/plain') =>
	mails.google.drive.seedFile({ name, mimeType, clientId }, Buffer.from(data));
const seedGoogleFile = (kind: string, name: string) =>
	mails.google.files.add({ name, mimeType: `application/vnd.google-apps.${kind}`, clientId }).id;

async function send(options: IDataObject, parameters: IDataObject = {}, binaryFields = {}) {
	const items = [{ json: {}, binary: binaryFields }];
	return await mails.run('send', { ...mail, ...parameters }, options, items);
}

const attached = (
	messages: ReadonlyArray<{ mime: Parameters<typeof collectParts>[0] }> = mails.google.gmail.sent,
) =>
	messages.flatMap(({ mime }) =>
		collectParts(mime)
			.filter(({ filename }) => filename !== '')
			.map(({ filename, mimeType, data }) => [filename, mimeType, data.toString('latin1')]),
	);

it.each(['', ' \n'])(
	'an option that was added and left empty is refused: %j',
	async (driveFiles) => {
		expect(await mails.refused(send({ driveFiles }))).toMatch(/^'Drive Files' names no file/);
	},
);

describe('files of Drive are attached', () => {
	it('byte for byte, by ID or URL, each one once, after those of the item', async () => {
		const data = randomBytes(300_000);
		const id = seedFile('Größe 😀.bin', data, 'application/x-own');
		const other = seedFile('notes', 'n', 'text/plain');
		const url = `https://drive.google.com/file/d/${id}/view?usp=drivesdk`;
		await send(
			{ attachments: 'data', driveFiles: `${url}\n${other}, ${id}` },
			{},
			{ data: binary('x', 'x.txt') },
		);
		expect(attached()).toEqual([
			['x.txt', 'text/plain', 'x'],
			['Größe 😀.bin', 'application/x-own', data.toString('latin1')],
			['notes.txt', 'text/plain', 'n'],
		]);
	});

	it.each(['spreadsheet', 'presentation', 'drawing'])('a %s as PDF', async (kind) => {
		await send({ driveFiles: seedGoogleFile(kind, 'Plan 1.2') });
		expect(attached()).toEqual([
			['Plan 1.2.pdf', 'application/pdf', 'application/pdf\nPlan 1.2'],
		]);
	});

	it('a document as PDF, for an input object', async () => {
		const driveFiles = [mails.google.docs.seed({ title: 'Offer' })];
		await mails.json({ operation: 'send', ...mail, driveFiles });
		expect(attached()).toEqual([
			['Offer.pdf', 'application/pdf', expect.stringMatching(/^application.pdf/)],
		]);
	});

	it('of a shared drive', async () => {
		const driveId = mails.google.drive.seedSharedDrive('Team');
		const file = {
			name: 'a.txt',
			mimeType: 'text/plain',
			clientId,
			parents: [driveId],
			driveId,
		};
		await send({ driveFiles: mails.google.drive.seedFile(file, Buffer.from('a')) });
		expect(attached()).toEqual([['a.txt', 'text/plain', 'a']]);
	});

	it('to a reply that is saved as a draft', async () => {
		mails.signIn(widestScopes);
		const replyToMessageId = mails.google.gmail.seed({
			from: 'ann@example.com',
			subject: 'One',
		});
		await send(
			{ driveFiles: seedFile('a.txt') },
			{ replyToMessageId, to: '', subject: '', sendAs: 'draft' },
		);
		expect(mails.google.gmail.sent).toEqual([]);
		expect(attached(mails.google.gmail.drafts)).toEqual([['a.txt', 'text/plain', 'hello']]);
	});

	it('inline where the HTML names one', async () => {
		const body = '<img src="cid:logo.png">';
		await send(
			{ driveFiles: seedFile('logo.png', 'P', 'image/png') },
			{ body, bodyFormat: 'html' },
		);
		const image = mails.google.gmail.sent
			.flatMap(({ mime }) => collectParts(mime))
			.find((part) => part.filename);
		expect(findHeader(image?.headers ?? [], 'Content-Disposition')).toMatch(/^inline/);
	});

	it('once with a key, although Google makes another PDF each time', async () => {
		const id = seedGoogleFile('spreadsheet', 'Plan');
		const options = { driveFiles: id, idempotencyKey: `drive-${id}` };
		await send(options);
		mails.google.fault({
			match: 'drive.files.export',
			body: 'another',
			headers: { 'Content-Type': 'application/pdf' },
		});
		const [again] = await send(options);
		expect(again?.json).toMatchObject({ repeated: true });
		expect(mails.google.gmail.sent).toHaveLength(1);
		const failure = await failureOf(send({ ...options, driveFiles: seedFile('other.txt') }));
		expect(failure).toMatchObject({ httpCode: '409' });
	});

	it('and a key is not for a file whose bytes have changed', async () => {
		const id = seedFile('report.csv', 'old', 'text/csv');
		const options = { driveFiles: id, idempotencyKey: `drive-${id}` };
		await send(options);
		const [described, read] = [
			{ name: 'report.csv', mimeType: 'text/csv', size: '3' },
			Buffer.from('new'),
		];
		mails.google.fault({ match: download, body: described });
		mails.google.fault({ match: ({ query }) => query.get('alt') === 'media', body: read });
		expect(await failureOf(send(options))).toMatchObject({ httpCode: '409' });
		expect(mails.google.gmail.sent).toHaveLength(1);
	});
});

describe('nothing is sent', () => {
	afterEach(() => {
		expect(mails.google.gmail.sent).toEqual([]);
	});

	async function refused(driveFiles: string, scopes?: readonly string[]) {
		if (scopes) mails.signIn(scopes);
		const { message, description, httpCode } = await failureOf(send({ driveFiles }));
		return [httpCode, `${message} – ${String(description)}`];
	}

	it('with a file that does not exist, which is named', async () => {
		const [code, text] = await refused(`${seedFile('a.txt')}, 1missing`);
		expect(code).toBe('404');
		expect(text).toMatch(/1missing.*set Drive Access to All Files/);
		// That is about the email that is answered.
		expect(text).not.toContain('Message ID');
	});

	it('with something else in place of what the file is', async () => {
		const id = seedFile('a.txt');
		mails.google.fault({ match: download, times: 2, body: {} });
		expect(await refused(id)).toEqual(['502', expect.stringContaining('Nothing was sent')]);
	});

	it('with a file that the sign-in does not see or may not open', async () => {
		const id = seedFile('a.txt');
		for (const scopes of [['drive.file'], ['drive.file', 'drive.metadata.readonly']]) {
			const [code, text] = await refused(id, ['gmail.send', 'gmail.readonly', ...scopes]);
			expect([code, text]).toEqual([
				'404',
				expect.stringContaining('set Drive Access to All Files'),
			]);
		}
	});

	it.each(['folder', 'shortcut', 'form'])('with a %s', async (kind) => {
		const id =
			kind === 'folder'
				? mails.google.files.add({ name: 'A', mimeType: folderType, clientId }).id
				: seedGoogleFile(kind, 'A');
		expect(await refused(`${id}, ${seedFile('a.txt')}`)).toEqual([
			'400',
			expect.stringMatching(
				`^"A" in 'Drive Files' is a ${kind}, which cannot be attached.*Nothing was sent\\.`,
			),
		]);
		expect(mails.methods).not.toContain('drive.files.export');
	});

	it('with more than an email holds, before any of it is read', async () => {
		const ids = [
			seedFile('a.bin', Buffer.alloc(20_000_000)),
			seedFile('b.bin', Buffer.alloc(8_000_000)),
		];
		const [code, text] = await refused(ids.join());
		expect([code, text]).toEqual([
			'400',
			expect.stringMatching(/too large for Gmail: 35\.6 MiB/),
		]);
		expect(mails.queries.join()).not.toContain('alt=media');
	});

	it('with PDFs that turn out too large together', async () => {
		const ids = ['A', 'B', 'C'].map((name) => seedGoogleFile('spreadsheet', name));
		const headers = { 'Content-Type': 'application/pdf' };
		mails.google.fault({
			match: 'drive.files.export',
			times: 3,
			body: Buffer.alloc(10_000_000),
			headers,
		});
		expect(await refused(ids.join())).toEqual([
			'400',
			expect.stringContaining('too large for Gmail'),
		]);
	});

	it('with an empty PDF', async () => {
		const headers = { 'Content-Type': 'application/pdf' };
		mails.google.fault({ match: 'drive.files.export', body: Buffer.alloc(0), headers });
		expect(await refused(seedGoogleFile('spreadsheet', 'Plan'))).toEqual([
			'502',
			expect.stringContaining('Nothing was sent'),
		]);
	});

	it.each([
		[
			'a page in place of a PDF',
			'drive.files.export',
			() => seedGoogleFile('spreadsheet', 'Plan'),
		],
		['other bytes', download, () => seedFile('Plan')],
	])('with %s', async (_what, method, seed) => {
		const id = seed();
		const isContent = (request: { method?: string; query: URLSearchParams }) =>
			request.method === method &&
			(method !== download || request.query.get('alt') === 'media');
		const headers = { 'Content-Type': 'text/html' };
		mails.google.fault({ match: isContent, body: Buffer.from('<html>'), headers });
		expect(await refused(id)).toEqual([
			'502',
			expect.stringMatching(/something other than the file \S{20,}.*Nothing was sent/),
		]);
	});

	it.each([
		['https://example.com/a.pdf', /^'Drive Files' is not a Google Drive or Google Docs URL/],
		['my report', /^'Drive Files' is not an ID: my report/],
	])('with %s, which is no file', async (driveFiles, words) => {
		expect(await mails.refused(send({ driveFiles }))).toMatch(words);
	});

	it('with an expression that names no file', async () => {
		expect(await mails.refused(send({ driveFiles: '={{ $json.file }}' }))).toMatch(
			/'Drive Files' names no file/,
		);
	});

	it('to somebody who is not allowed', async () => {
		const replyToMessageId = mails.google.gmail.seed({ from: 'evil@evil.example' });
		const parameters = { replyToMessageId, to: '', allowedRecipients: 'example.com' };
		const failure = await failureOf(send({ driveFiles: seedFile('a.txt') }, parameters));
		expect(failure.message).toContain('does not include evil@evil.example');
	});
});
