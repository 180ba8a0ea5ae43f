import { randomBytes } from 'node:crypto';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { md5, MiB, Uploads } from './uploads';

const uploads = new Uploads();
const kept = () => uploads.files().filter(({ trashed }) => !trashed);
/** As Google says it when it did not search all drives. */
const searchIncompletely = (body: unknown) => ({ ...(body as object), incompleteSearch: true });
const documentType = 'application/vnd.google-apps.document';

/** @returns its ID */
async function makeFolder(): Promise<string> {
	const requestBody = { name: 'folder', mimeType: 'application/vnd.google-apps.folder' };
	const { data } = await uploads.client().drive.files.create({ requestBody });
	return data.id ?? '';
}

describe('of the same name', () => {
	test('replace keeps the file and its ID, and sends the new content', async () => {
		const name = "Ann's \\ report.txt";
		const { id } = await uploads.upload('old', { name });
		const params = { name, onExisting: 'replace', description: 'second' } as const;
		expect(await uploads.upload('new', params)).toMatchObject({ id, md5Checksum: md5('new') });
		expect(uploads.files()).toMatchObject([{ description: 'second' }]);
		const update = { method: 'drive.files.update', httpMethod: 'PATCH' };
		expect(uploads.google.requests.at(-1)).toMatchObject(update);
	});

	test('replace makes no second file if Google does not say which one exists', async () => {
		await uploads.upload('old');
		const rewrite = () => ({ files: [{ name: 'a.txt', mimeType: 'text/plain' }] });
		uploads.google.fault({ match: 'drive.files.list', rewrite });
		const failure = await catchFailure(uploads.upload('new', { onExisting: 'replace' }));
		expect(failure).toMatchObject({ code: 502 });
		expect(uploads.files()).toHaveLength(1);
	});

	test('replace of more than 5 MB goes on where a broken line left it', async () => {
		const { id } = await uploads.upload('old');
		const data = randomBytes(9 * MiB);
		uploads.google.fault({ match: 'upload.session', connection: 'resetAfter' });
		const result = await uploads.uploadBytes(data, { onExisting: 'replace' });
		expect(result).toMatchObject({ id, md5Checksum: md5(data) });
		expect(uploads.files()).toHaveLength(1);
	});

	test.each([
		{ connection: 'resetAfter' },
		{ status: 503, carriedOut: true },
		{ status: 503 },
	] as const)('replace after %j is done, once', async (fault) => {
		const { id } = await uploads.upload('old');
		uploads.google.fault({ match: 'drive.files.update', ...fault });
		const result = await uploads.upload('new', { onExisting: 'replace' });
		expect(result).toMatchObject({ id, md5Checksum: md5('new') });
		expect(uploads.files()).toHaveLength(1);
	});

	describe.each(['replace', 'skip', 'error'] as const)('%s', (onExisting) => {
		test('uploads where no file of that name is in the folder itself', async () => {
			const { id } = await uploads.upload('old');
			const parentFolder = await makeFolder();
			const result = await uploads.upload('x', { parentFolder, onExisting });
			const shown = { name: 'a.txt', md5Checksum: md5('x'), parents: [parentFolder] };
			expect(result).toMatchObject(shown);
			expect(result.id).not.toBe(id);
		});

		test('uploads nothing if Google did not search all drives', async () => {
			const searches = { match: 'drive.files.list', times: 10 };
			uploads.google.fault({ ...searches, rewrite: searchIncompletely });
			const failure = await catchFailure(uploads.upload('new', { onExisting }));
			const message = 'Google Drive did not search all drives';
			expect(failure).toMatchObject({ code: 503, message, outcome: 'notDone' });
			expect(uploads.files()).toEqual([]);
		});
	});

	test('skip gives the file that is there and says so', async () => {
		const { id } = await uploads.upload('old');
		const item = testItem();
		const result = await uploads.upload('new', { onExisting: 'skip' }, item);
		expect(result).toMatchObject({ id, md5Checksum: md5('old') });
		expect(item.hints).toHaveLength(1);
		expect(uploads.files()).toHaveLength(1);
	});

	test('error names the file that is there', async () => {
		const { id = '', webViewLink = '' } = await uploads.upload('old');
		const failure = await catchFailure(uploads.upload('new', { onExisting: 'error' }));
		expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
		expect(failure.message).toBe('The folder already has a file named "a.txt"');
		expect(failure.description).toContain(
			`Nothing was uploaded. The existing file is ${id} (${webViewLink}) of the type text/plain.`,
		);
		expect(uploads.files()).toHaveLength(1);
	});

	test('replace is refused where several files have the name', async () => {
		await uploads.upload('old');
		await uploads.upload('old');
		const several = await catchFailure(uploads.upload('new', { onExisting: 'replace' }));
		expect(several.code).toBe(409);
		expect(several.description).toContain('if it is the only one with this name');
	});

	test('replace is refused where the file is of another kind', async () => {
		const converted = { name: 'd.md', convertTo: 'document' } as const;
		const { id } = await uploads.upload('# Hi', converted);
		const replacing = { name: 'd.md', onExisting: 'replace' } as const;
		const message = 'The folder already has a file named "d.md"';
		const bytes = await catchFailure(uploads.upload('new', replacing));
		expect(bytes).toMatchObject({ code: 409, message });
		const again = await uploads.upload('new', { ...replacing, ...converted });
		expect(again.id).toBe(id);
		expect(uploads.files()).toHaveLength(1);
	});

	test('a page without files is not the end of a search', async () => {
		const { id } = await uploads.upload('old');
		const match = 'drive.files.list';
		uploads.google.fault({
			match,
			rewrite(body, { query }) {
				const question = JSON.stringify([match, query.get('q'), query.get('orderBy')]);
				const token = Buffer.from(JSON.stringify([question, 0])).toString('base64url');
				return { ...(body as object), files: [], nextPageToken: token };
			},
		});
		const result = await uploads.upload('new', { onExisting: 'skip' });
		expect(result).toMatchObject({ id, md5Checksum: md5('old') });
	});

	test('a name that was cut in the middle of an emoji is found again', async () => {
		const name = 'Invoice 🧾'.slice(0, -1);
		const { id } = await uploads.upload('old', { name });
		const params = { name, onExisting: 'replace' } as const;
		expect(await uploads.upload('new', params)).toMatchObject({ id, name: 'Invoice \ufffd' });
	});

	test('a file in the trash, a folder and a name in other letters do not count', async () => {
		const { id } = await uploads.upload('old');
		const trashed = uploads.google.files.get(id ?? '');
		if (trashed) trashed.trashed = true;
		await uploads.upload('old', { name: 'A.txt' });
		const result = await uploads.upload('new', { onExisting: 'error' });
		expect(result.id).not.toBe(id);
	});
});

test.each(['', 'k'])(
	'a file in a folder that is in the trash fails, with the key "%s" too',
	async (idempotencyKey) => {
		const parentFolder = await makeFolder();
		const folder = uploads.google.files.get(parentFolder);
		if (folder) folder.trashed = true;
		const failure = await catchFailure(uploads.upload('x', { parentFolder, idempotencyKey }));
		const { id = '' } = uploads.files().at(-1) ?? {};
		const message = `The new file ${id} is in the trash of Google Drive, because its folder is there`;
		expect(failure).toMatchObject({ code: 412, message, outcome: 'done' });
	},
);

describe('a file is never created twice', () => {
	const ways = [
		['none', 'drive.files.create'],
		['document', 'upload.session'],
	] as const;

	describe.each(ways)('converted to %s', (convertTo, match) => {
		const shown =
			convertTo === 'none' ? { md5Checksum: md5('# Hi') } : { mimeType: documentType };

		test.each([
			{ status: 503, carriedOut: true },
			{ status: 503 },
			{ connection: 'resetAfter' },
			{ connection: 'resetBefore' },
			{ status: 429 },
		] as const)('%j', async (fault) => {
			uploads.google.fault({ match, ...fault });
			expect(await uploads.upload('# Hi', { name: 'a.md', convertTo })).toMatchObject(shown);
			expect(uploads.files()).toHaveLength(1);
		});
	});

	test.each(ways)(
		'the tries end after it was made (%s): it is found',
		async (convertTo, match) => {
			uploads.google.fault({ match, times: 99, connection: 'resetAfter' });
			expect(await uploads.upload('hello', { convertTo })).toMatchObject({ name: 'a.txt' });
			expect(uploads.files()).toHaveLength(1);
		},
	);

	test('the tries end and nothing was made: the failure stands', async () => {
		const match = 'drive.files.create';
		uploads.google.fault({ match, times: 99, connection: 'resetBefore' });
		const failure = await catchFailure(uploads.upload('hello'));
		expect(failure).toMatchObject({ code: 503, outcome: 'unknown' });
		expect(uploads.files()).toEqual([]);
	});
});

describe('with an idempotency key', () => {
	test('a file whose bytes arrived damaged is refused again, and not returned as uploaded', async () => {
		const damage = (file: unknown) => ({ ...(file as object), md5Checksum: md5('hellp') });
		uploads.google.fault({ match: 'drive.files.create', rewrite: damage });
		const upload = () => uploads.upload('hello', { idempotencyKey: 'k' });
		expect(await catchFailure(upload())).toMatchObject({ code: 500, outcome: 'done' });
		const damageFound = (body: unknown) => ({
			files: (body as { files: unknown[] }).files.map(damage),
		});
		uploads.google.fault({ match: 'drive.files.list', rewrite: damageFound });
		expect(await catchFailure(upload())).toMatchObject({ code: 500, outcome: 'done' });
		expect(uploads.files()).toHaveLength(1);
	});

	const keyed = { idempotencyKey: 'order 4711' };
	const upload = (params: Parameters<typeof uploads.run>[0] = {}) =>
		uploads.upload('hello', { ...keyed, ...params });

	test('nothing is uploaded if Google did not search all drives before, and once if only after', async () => {
		const searches = { match: 'drive.files.list' };
		uploads.google.fault({ ...searches, rewrite: searchIncompletely });
		expect(await catchFailure(upload())).toMatchObject({ code: 503 });
		expect(uploads.files()).toEqual([]);
		const rewrite = () => ({ files: [], incompleteSearch: true });
		uploads.google.fault({ ...searches, nth: 2, rewrite });
		await upload();
		expect(uploads.files()).toHaveLength(1);
	});

	test('the same key gives the first file again and sends no bytes', async () => {
		const first = await upload();
		expect(first).not.toHaveProperty('repeated');
		const before = uploads.google.requests.length;
		expect(await upload()).toEqual({ ...first, repeated: true });
		expect(uploads.calls().slice(before)).toEqual(['drive.files.list']);
		expect(uploads.files()).toHaveLength(1);
	});

	test('the key itself is not stored', async () => {
		await upload();
		expect(JSON.stringify(uploads.files())).not.toContain('4711');
	});

	test.each([
		['', 'root'],
		['root', ''],
	])('My Drive is one folder, chosen or not: first %j, then %j', async (first, later) => {
		await upload({ parentFolder: first });
		expect(await upload({ parentFolder: later })).toMatchObject({ repeated: true });
		expect(kept()).toHaveLength(1);
	});

	test('another key, another folder and no key make files of their own', async () => {
		const parentFolder = await makeFolder();
		const keys = [{ idempotencyKey: 'b' }, { idempotencyKey: '' }];
		for (const params of [{}, ...keys, { parentFolder }])
			expect(await upload(params)).not.toHaveProperty('repeated');
		expect(kept()).toHaveLength(5);
	});

	const document = { convertTo: 'document', name: 'a.md' } as const;

	test.each([
		[{}, 'other', {}],
		[document, '# Other', document],
		[{}, 'hello', document],
	])('a key that was used for other content is refused: %j, then %s %j', async (...row) => {
		const [first, text, later] = row;
		await upload(first);
		const failure = await catchFailure(uploads.upload(text, { ...keyed, ...later }));
		expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
		expect(kept()).toHaveLength(1);
	});

	test.each([
		{ match: 'drive.files.create', times: 99, connection: 'resetAfter' },
		{ match: 'drive.files.create', times: 99, status: 503, carriedOut: true },
		{ match: 'drive.files.update', times: 99, status: 503 },
		{ match: 'drive.files.list', nth: 2, times: 99, connection: 'resetBefore' },
	] as const)('what a failure left behind is taken up by the next run: %j', async (fault) => {
		uploads.google.fault(fault);
		await upload().catch(() => undefined);
		uploads.google.heal();
		expect(await upload()).toMatchObject({ md5Checksum: md5('hello'), repeated: true });
		expect(kept()).toHaveLength(1);
	});

	test.each(['none', 'document'] as const)(
		'a file whose answer was lost (%s) is its own',
		async (convertTo) => {
			const match = convertTo === 'none' ? 'drive.files.create' : 'upload.session';
			uploads.google.fault({ match, times: 99, connection: 'resetAfter' });
			const result = await upload({ convertTo });
			expect(result).not.toHaveProperty('repeated');
			const appProperties = { idempotencyState: 'done' };
			expect(kept()).toMatchObject([{ id: result.id, appProperties }]);
		},
	);

	/** Another execution moves the file of this one to the trash before its second search. */
	function trashOwnFile({ makesAnother }: { makesAnother: boolean }) {
		let searches = 0;
		const other: { id?: string } = {};
		const match = ({ method }: { readonly method: string | undefined }) => {
			if (method !== 'drive.files.list' || ++searches !== 2) return false;
			const [own] = uploads.files();
			if (!own) throw new Error('Nothing was uploaded');
			if (makesAnother) other.id = uploads.google.files.add({ ...own, id: undefined }).id;
			own.trashed = true;
			return false;
		};
		uploads.google.fault({ match, status: 500 });
		return other;
	}

	test('another execution trashed the file first: that of the other counts', async () => {
		const other = trashOwnFile({ makesAnother: true });
		const result = await upload();
		expect(result).toMatchObject({ id: other.id, repeated: true });
		expect(kept()).toHaveLength(1);
	});

	test('another execution trashed the file first, and its own is not listed yet', async () => {
		trashOwnFile({ makesAnother: false });
		expect((await catchFailure(upload())).message).toMatch(
			/^Another execution .* put the new file into the trash$/,
		);
		expect(kept()).toEqual([]);
	});

	test.each([
		['the older one, if both are unfinished', ['2 made', '1 made'], 1, [true, false]],
		['the complete one', ['1 made', '2 done'], 1, [true, false]],
		['the complete one, wherever it stands', ['1 done', '2 made'], 0, [false, true]],
		['the older one, if both are complete', ['1 done', '2 done'], 0, [false, false]],
	])('of two files with the key %s stays: %j', async (_what, files, stays, trashed) => {
		await upload();
		const appProperties = uploads.files()[0]?.appProperties;
		uploads.google.reset();
		const added = files.map((one) => {
			const [day = '', idempotencyState = ''] = one.split(' ');
			return uploads.google.files.add({
				name: 'a.txt',
				mimeType: 'text/plain',
				clientId: 'stand-in-client',
				createdTime: `2026-01-0${day}T00:00:00.000Z`,
				appProperties: { ...appProperties, idempotencyState },
			});
		});
		expect(await upload()).toMatchObject({ id: added[stays]?.id, repeated: true });
		expect(added.map(({ id }) => uploads.google.files.get(id)?.trashed)).toEqual(trashed);
	});

	test('with skip, a file that is there is left without a mark', async () => {
		const { id } = await uploads.upload('old');
		const result = await upload({ onExisting: 'skip' });
		expect(result).toMatchObject({ id, md5Checksum: md5('old') });
		expect(uploads.files()).toMatchObject([{ appProperties: {} }]);
	});

	test('with skip, the key counts before the name', async () => {
		const params = { ...keyed, onExisting: 'skip' } as const;
		const { id } = await upload(params);
		expect(await upload(params)).toMatchObject({ id, repeated: true });
		const failure = await catchFailure(uploads.upload('x', params));
		expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
		expect(kept()).toHaveLength(1);
	});

	test('with replace, the file is replaced once', async () => {
		const { id } = await uploads.upload('old');
		const replaced = await upload({ onExisting: 'replace' });
		expect(replaced).toMatchObject({ id, md5Checksum: md5('hello') });
		expect(await upload({ onExisting: 'replace' })).toMatchObject({ id, repeated: true });
		const updates = uploads.calls().filter((method) => method === 'drive.files.update');
		expect(updates).toHaveLength(2);
	});
});
