import { randomBytes } from 'node:crypto';

import { testItem } from '../../client';
import { failing } from '../../failure';
import { base64, md5, MiB, Uploads } from './uploads';

const uploads = new Uploads();

const first = async (name = "Ann's \\ report.txt") => await uploads.run({ name, content: base64('old') });

test('replace keeps the file and its ID, and sends the new content', async () => {
	const { id } = await first();
	const result = await uploads.run({
		name: "Ann's \\ report.txt",
		content: base64('new'),
		onExisting: 'replace',
		description: 'second',
	});
	expect(result).toMatchObject({ id, md5Checksum: md5('new') });
	expect(uploads.files()).toHaveLength(1);
	expect(uploads.files()[0]).toMatchObject({ description: 'second' });
	expect(uploads.google.requests.at(-1)).toMatchObject({ method: 'drive.files.update', httpMethod: 'PATCH' });
});

test('replace of more than 5 MB goes on where a broken line left it', async () => {
	const { id } = await first('a.bin');
	const data = randomBytes(9 * MiB);
	uploads.google.fault({ match: 'upload.session', connection: 'resetAfter' });
	const item = testItem({ binary: { data: { data } } });
	const result = await uploads.run({ name: 'a.bin', contentSource: 'binary', onExisting: 'replace' }, item);
	expect(result).toMatchObject({ id, md5Checksum: md5(data) });
	expect(uploads.files()).toHaveLength(1);
});

test.each([{ connection: 'resetAfter' }, { status: 503, carriedOut: true }, { status: 503 }] as const)(
	'replace after %j is done, once',
	async (fault) => {
		const { id } = await first('a.txt');
		uploads.google.fault({ match: 'drive.files.update', ...fault });
		expect(await uploads.run({ content: base64('new'), onExisting: 'replace' })).toMatchObject({
			id,
			md5Checksum: md5('new'),
		});
		expect(uploads.files()).toHaveLength(1);
	},
);

test.each(['replace', 'skip', 'error'] as const)(
	'%s uploads where no file of that name is in the folder itself',
	async (onExisting) => {
		const { id } = await uploads.run({ name: 'top.txt', content: base64('old') });
		const folder = await uploads.client().drive.files.create({
			requestBody: { name: 'folder', mimeType: 'application/vnd.google-apps.folder' },
		});
		const result = await uploads.run({
			name: 'top.txt',
			content: base64('x'),
			parentFolder: folder.data.id ?? '',
			onExisting,
		});
		expect(result).toMatchObject({ name: 'top.txt', md5Checksum: md5('x'), parents: [folder.data.id] });
		expect(result.id).not.toBe(id);
	},
);

test('skip gives the file that is there and says so', async () => {
	const { id } = await first('a.txt');
	const item = testItem();
	const result = await uploads.run({ content: base64('new'), onExisting: 'skip' }, item);
	expect(result).toMatchObject({ id, md5Checksum: md5('old') });
	expect(item.hints).toHaveLength(1);
	expect(uploads.files()).toHaveLength(1);
});

test('error names the file that is there', async () => {
	const { id = '', webViewLink = '' } = await first('a.txt');
	const failure = await failing(uploads.run({ content: base64('new'), onExisting: 'error' }));
	expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
	expect(failure.message).toBe('The folder already has a file named "a.txt"');
	expect(failure.description).toBe(`Nothing was uploaded. The existing file is ${id} (${webViewLink}).`);
	expect(uploads.files()).toHaveLength(1);
});

test('replace is refused where it is not clear which file is meant, or its kind is another', async () => {
	await first('a.txt');
	await first('a.txt');
	const several = await failing(uploads.run({ content: base64('new'), onExisting: 'replace' }));
	expect(several).toMatchObject({ code: 409, message: expect.stringContaining('2 files') as string });
	const document = await uploads.run({ name: 'd.md', content: base64('# Hi'), convertTo: 'document' });
	const bytes = await failing(uploads.run({ name: 'd.md', content: base64('x'), onExisting: 'replace' }));
	expect(bytes).toMatchObject({
		code: 409,
		message: 'The existing file "d.md" has a different type (application/vnd.google-apps.document)',
	});
	const again = await uploads.run({
		name: 'd.md',
		content: base64('# Ho'),
		convertTo: 'document',
		onExisting: 'replace',
	});
	expect(again).toMatchObject({ id: document.id });
	expect(uploads.files()).toHaveLength(3);
});

test('a file in the trash, a folder and a name in other letters do not count', async () => {
	const { id } = await first('a.txt');
	const trashed = uploads.google.files.get(id ?? '');
	if (trashed) trashed.trashed = true;
	await first('A.txt');
	const result = await uploads.run({ content: base64('new'), onExisting: 'error' });
	expect(result.id).not.toBe(id);
});
