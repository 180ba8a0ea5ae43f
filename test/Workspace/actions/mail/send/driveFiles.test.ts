import { randomBytes } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { folderType } from '../../../../../dev/google/drive/types';
import { findHeader } from '../../../../../dev/google/gmail/mime';
import { widestScopes } from '../../../../../dev/google/tokens';
import { failureOf } from '../../../../createExecuteContext';
import { binary, filesOf, Mails } from '../mails';

const mails = new Mails();

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'Hi Ann' };
const clientId = 'somebody-else';
const download = 'drive.files.get';
const exporting = 'drive.files.export';

const seedFile = (name: string, data: Buffer | string = 'hello', mimeType = 'text/plain') =>
	mails.google.drive.seedFile({ name, mimeType, clientId }, Buffer.from(data));
const seedGoogleFile = (kind: string, name: string) =>
	mails.google.files.add({ name, mimeType: `application/vnd.google-apps.${kind}`, clientId }).id;

async function send(options: IDataObject, parameters: IDataObject = {}, binaryFields = {}) {
	const items = [{ json: {}, binary: binaryFields }];
	return await mails.run('send', { ...mail, ...parameters }, options, items);
}

const pdf = { 'Content-Type': 'application/pdf' };
/** The files of the only email that was sent or saved. */
const attached = () => {
	const [mail, ...others] = [...mails.sent, ...mails.gmail.drafts];
	if (!mail || others.length > 0) throw new Error('not one email');
	return filesOf(mail).map(({ filename, mimeType, data }) => [
		...[filename, mimeType],
		data.toString('latin1'),
	]);
};

describe('files of Drive are attached', () => {
	it('byte for byte, by ID or URL, each one once, after those of the item', async () => {
		const data = randomBytes(300_000);
		const id = seedFile('Größe 😀.bin', data, 'application/x-own');
		const other = seedFile('No. 5 of May', 'n', 'text/plain');
		const url = `https://drive.google.com/file/d/${id}/view?usp=drivesdk`;
		const options = { attachments: 'data', driveFiles: `${url}\n${other}, ${id}` };
		await send(options, {}, { data: binary('x', 'x.txt') });
		expect(attached()).toEqual([
			['x.txt', 'text/plain', 'x'],
			['Größe 😀.bin', 'application/x-own', data.toString('latin1')],
			['No. 5 of May.txt', 'text/plain', 'n'],
		]);
	});

	it.each(['spreadsheet', 'presentation', 'drawing'])('a %s as PDF', async (kind) => {
		await send({ driveFiles: seedGoogleFile(kind, 'Plan 1.2') });
		const bytes = 'application/pdf\nPlan 1.2';
		expect(attached()).toEqual([['Plan 1.2.pdf', 'application/pdf', bytes]]);
	});

	it('a document as PDF, for an input object', async () => {
		const driveFiles = [mails.google.docs.seed({ title: 'Offer' })];
		await mails.json({ operation: 'send', ...mail, driveFiles });
		const bytes = expect.stringMatching(/^application.pdf/) as string;
		expect(attached()).toEqual([['Offer.pdf', 'application/pdf', bytes]]);
	});

	it('of a shared drive', async () => {
		const driveId = mails.google.drive.seedSharedDrive('Team');
		const place = { clientId, parents: [driveId], driveId };
		const file = { name: 'a.txt', mimeType: 'text/plain', ...place };
		await send({ driveFiles: mails.google.drive.seedFile(file, Buffer.from('a')) });
		expect(attached()).toEqual([['a.txt', 'text/plain', 'a']]);
	});

	it('to a reply that is saved as a draft', async () => {
		mails.signIn(widestScopes);
		const replyToMessageId = mails.gmail.seed({});
		const draft = { replyToMessageId, to: '', subject: '', sendAs: 'draft' };
		await send({ driveFiles: seedFile('a.txt') }, draft);
		expect(mails.sent).toEqual([]);
		expect(attached()).toEqual([['a.txt', 'text/plain', 'hello']]);
	});

	it('inline where the HTML names one', async () => {
		const html = { body: '<img src="cid:logo.png">', bodyFormat: 'html' };
		await send({ driveFiles: seedFile('logo.png', 'P', 'image/png') }, html);
		const [image] = filesOf(mails.only);
		expect(findHeader(image?.headers ?? [], 'Content-Disposition')).toMatch(/^inline/);
	});

	it('once with a key, although Google makes another PDF each time', async () => {
		const id = seedGoogleFile('spreadsheet', 'Plan');
		const options = { driveFiles: id, idempotencyKey: `drive-${id}` };
		await send(options);
		mails.google.fault({ match: exporting, body: 'another', headers: pdf });
		const [again] = await send(options);
		expect(again?.json).toMatchObject({ repeated: true });
		expect(mails.sent).toHaveLength(1);
		const failure = await failureOf(send({ ...options, driveFiles: seedFile('other.txt') }));
		expect(failure).toMatchObject({ httpCode: '409' });
	});

	it('and a key is not for a file whose bytes have changed', async () => {
		const id = seedFile('report.csv', 'old', 'text/csv');
		const options = { driveFiles: id, idempotencyKey: `drive-${id}` };
		await send(options);
		const described = { name: 'report.csv', mimeType: 'text/csv', size: '3' };
		mails.google.fault({ match: download, body: described });
		const isContent = ({ query }: { query: URLSearchParams }) => query.get('alt') === 'media';
		mails.google.fault({ match: isContent, body: Buffer.from('new') });
		expect(await failureOf(send(options))).toMatchObject({ httpCode: '409' });
		expect(mails.sent).toHaveLength(1);
	});
});

describe('nothing is sent', () => {
	afterEach(() => {
		expect(mails.sent).toEqual([]);
	});

	async function refused(driveFiles: string, scopes?: readonly string[]) {
		if (scopes) mails.signIn(scopes);
		const { message, description, httpCode } = await failureOf(send({ driveFiles }));
		return `${httpCode}: ${message} – ${String(description)}`;
	}

	it('with a file that does not exist, which is named', async () => {
		const text = await refused(`${seedFile('a.txt')}, 1missing`);
		expect(text).toMatch(/^404: .*1missing.*set Drive Access to All Files/);
		// That is about the email that is answered.
		expect(text).not.toContain('Message ID');
	});

	it('with something else in place of what the file is', async () => {
		const id = seedFile('a.txt');
		mails.google.fault({ match: download, times: 2, body: {} });
		expect(await refused(id)).toMatch(/^502: .*Nothing was sent/);
	});

	it.each(['drive.file', 'drive.metadata.readonly'])('with a hidden file: %s', async (scope) => {
		const scopes = ['gmail.send', 'gmail.readonly', 'drive.file', scope];
		const text = await refused(seedFile('a.txt'), scopes);
		expect(text).toMatch(/^404: .*set Drive Access to All Files/);
	});

	it.each(['folder', 'shortcut', 'form'])('with a %s', async (kind) => {
		const addFolder = () =>
			mails.google.files.add({ name: 'A', mimeType: folderType, clientId }).id;
		const id = kind === 'folder' ? addFolder() : seedGoogleFile(kind, 'A');
		const why = `"A" in 'Drive Files' is a ${kind}, which cannot be attached.*Nothing was sent\\.`;
		expect(await refused(`${id}, ${seedFile('a.txt')}`)).toMatch(new RegExp(`^400: ${why}`));
		expect(mails.methods).not.toContain('drive.files.export');
	});

	it('with more than an email holds, before any of it is read', async () => {
		const sizes = [20_000_000, 8_000_000];
		const ids = sizes.map((size) => seedFile(`${size}.bin`, Buffer.alloc(size)));
		expect(await refused(ids.join())).toMatch(/^400: .*too large for Gmail: 35\.6 MiB/);
		expect(mails.queries.join()).not.toContain('alt=media');
	});

	it('with PDFs that turn out too large together', async () => {
		const ids = ['A', 'B', 'C'].map((name) => seedGoogleFile('spreadsheet', name));
		const body = Buffer.alloc(10_000_000);
		mails.google.fault({ match: exporting, times: 3, body, headers: pdf });
		expect(await refused(ids.join())).toMatch(/^400: .*too large for Gmail/);
	});

	const something = /^502: .*something other than the file \S{20,}.*Nothing was sent/;
	const page = { 'Content-Type': 'text/html' };

	it.each([
		['an empty PDF', exporting, '', pdf, /^502: .*Nothing was sent/],
		['a page in place of a PDF', exporting, '<html>', page, something],
		['other bytes', download, '<html>', page, something],
	])('with %s', async (_what, method, body, headers, words) => {
		const isExport = method === exporting;
		const id = isExport ? seedGoogleFile('spreadsheet', 'Plan') : seedFile('Plan');
		const match = (request: { method?: string; query: URLSearchParams }) =>
			request.method === method && (isExport || request.query.get('alt') === 'media');
		mails.google.fault({ match, body: Buffer.from(body), headers });
		expect(await refused(id)).toMatch(words);
	});

	const notOurs = /^'Drive Files' is not a Google Drive or Google Docs URL/;

	it.each([
		['https://example.com/a.pdf', notOurs],
		['my report', /^'Drive Files' is not an ID: my report/],
		['', /^'Drive Files' names no file/],
		[' \n', /^'Drive Files' names no file/],
		['={{ $json.file }}', /'Drive Files' names no file/],
		["={{ ['1Qm7xWc0aVbR2yKt4hL9', $json.file] }}", /'Drive Files' names no file/],
	])('with %j, which is no file', async (driveFiles, words) => {
		expect(await mails.refused(send({ driveFiles }))).toMatch(words);
	});
});
