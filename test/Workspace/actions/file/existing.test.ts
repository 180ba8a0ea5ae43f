import { randomBytes } from 'node:crypto';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { base64, md5, MiB, Uploads } from './uploads';

/** @returns its ID */
async function makeFolder(uploads: Uploads): Promise<string> {
	const requestBody = { name: 'folder', mimeType: 'application/vnd.google-apps.folder' };
	const { data } = await uploads.client().drive.files.create({ requestBody });
	return data.id ?? '';
}

describe('of the same name', () => {
	const uploads = new Uploads();

	const replacing = { content: base64('new'), onExisting: 'replace' } as const;
	const first = async (name = "Ann's \\ report.txt") =>
		await uploads.run({ name, content: base64('old') });

	test('replace keeps the file and its ID, and sends the new content', async () => {
		const { id } = await first();
		const params = { name: "Ann's \\ report.txt", ...replacing, description: 'second' };
		expect(await uploads.run(params)).toMatchObject({ id, md5Checksum: md5('new') });
		expect(uploads.files()).toMatchObject([{ description: 'second' }]);
		const update = { method: 'drive.files.update', httpMethod: 'PATCH' };
		expect(uploads.google.requests.at(-1)).toMatchObject(update);
	});

	test('replace of more than 5 MB goes on where a broken line left it', async () => {
		const { id } = await first('a.bin');
		const data = randomBytes(9 * MiB);
		uploads.google.fault({ match: 'upload.session', connection: 'resetAfter' });
		const item = testItem({ binary: { data: { data } } });
		const params = { name: 'a.bin', contentSource: 'binary', onExisting: 'replace' } as const;
		const result = await uploads.run(params, item);
		expect(result).toMatchObject({ id, md5Checksum: md5(data) });
		expect(uploads.files()).toHaveLength(1);
	});

	test.each([
		{ connection: 'resetAfter' },
		{ status: 503, carriedOut: true },
		{ status: 503 },
	] as const)('replace after %j is done, once', async (fault) => {
		const { id } = await first('a.txt');
		uploads.google.fault({ match: 'drive.files.update', ...fault });
		expect(await uploads.run(replacing)).toMatchObject({ id, md5Checksum: md5('new') });
		expect(uploads.files()).toHaveLength(1);
	});

	test.each(['replace', 'skip', 'error'] as const)(
		'%s uploads where no file of that name is in the folder itself',
		async (onExisting) => {
			const { id } = await uploads.run({ name: 'top.txt', content: base64('old') });
			const parentFolder = await makeFolder(uploads);
			const params = { name: 'top.txt', content: base64('x'), parentFolder, onExisting };
			const result = await uploads.run(params);
			const shown = { name: 'top.txt', md5Checksum: md5('x'), parents: [parentFolder] };
			expect(result).toMatchObject(shown);
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
		const running = uploads.run({ content: base64('new'), onExisting: 'error' });
		const failure = await catchFailure(running);
		expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
		expect(failure.message).toBe('The folder already has a file named "a.txt"');
		expect(failure.description).toContain(
			`Nothing was uploaded. The existing file is ${id} (${webViewLink}) of the type text/plain.`,
		);
		expect(uploads.files()).toHaveLength(1);
	});

	test('replace is refused where it is not clear which file is meant, or its kind is another', async () => {
		await first('a.txt');
		await first('a.txt');
		const several = await catchFailure(uploads.run(replacing));
		expect(several.code).toBe(409);
		expect(several.description).toContain('if it is the only one with this name');
		const document = { name: 'd.md', content: base64('# Hi'), convertTo: 'document' } as const;
		const { id } = await uploads.run(document);
		const bytes = await catchFailure(uploads.run({ ...replacing, name: 'd.md' }));
		const message = 'The folder already has a file named "d.md"';
		expect(bytes).toMatchObject({ code: 409, message });
		const again = await uploads.run({ ...document, ...replacing });
		expect(again.id).toBe(id);
		expect(uploads.files()).toHaveLength(3);
	});

	const searches = { match: 'drive.files.list', times: 10 };

	test.each(['replace', 'skip', 'error'] as const)(
		'%s uploads nothing if Google did not search all drives',
		async (onExisting) => {
			const rewrite = (body: unknown) => ({ ...(body as object), incompleteSearch: true });
			uploads.google.fault({ ...searches, rewrite });
			const failure = await catchFailure(uploads.run({ content: base64('new'), onExisting }));
			const message = 'Google Drive did not search all drives';
			expect(failure).toMatchObject({ code: 503, message, outcome: 'notDone' });
			expect(uploads.files()).toEqual([]);
		},
	);

	test('a page without files is not the end of a search', async () => {
		const { id } = await first('a.txt');
		uploads.google.fault({
			match: 'drive.files.list',
			rewrite(body, { query }) {
				const question = JSON.stringify([
					searches.match,
					query.get('q'),
					query.get('orderBy'),
				]);
				const token = Buffer.from(JSON.stringify([question, 0])).toString('base64url');
				return { ...(body as object), files: [], nextPageToken: token };
			},
		});
		const result = await uploads.run({ content: base64('new'), onExisting: 'skip' });
		expect(result).toMatchObject({ id, md5Checksum: md5('old') });
	});

	test('a file in the trash, a folder and a name in other letters do not count', async () => {
		const { id } = await first('a.txt');
		const trashed = uploads.google.files.get(id ?? '');
		if (trashed) trashed.trashed = true;
		await first('A.txt');
		const result = await uploads.run({ content: base64('new'), onExisting: 'error' });
		expect(result.id).not.toBe(id);
	});
});

describe('created once', () => {
	const uploads = new Uploads();

	describe('a file is never created twice', () => {
		const faults = [
			{ status: 503, carriedOut: true },
			{ status: 503 },
			{ connection: 'resetAfter' },
			{ connection: 'resetBefore' },
			{ status: 429 },
		] as const;

		test.each(faults)('%j in one request', async (fault) => {
			uploads.google.fault({ match: 'drive.files.create', ...fault });
			const result = await uploads.run({ content: base64('hello') });
			expect(result).toMatchObject({ name: 'a.txt', md5Checksum: md5('hello') });
			expect(uploads.files()).toHaveLength(1);
		});

		test.each(faults)('%j in a conversion', async (fault) => {
			uploads.google.fault({ match: 'upload.session', ...fault });
			const document = { name: 'a.md', convertTo: 'document' } as const;
			const result = await uploads.run({ ...document, content: base64('# Hi') });
			expect(result.mimeType).toBe('application/vnd.google-apps.document');
			expect(uploads.files()).toHaveLength(1);
		});

		test.each(['none', 'document'] as const)(
			'the tries end after it was made (%s): it is found',
			async (convertTo) => {
				const match = convertTo === 'none' ? 'drive.files.create' : 'upload.session';
				uploads.google.fault({ match, times: 3, connection: 'resetAfter' });
				const item = testItem();
				const result = await uploads.run({ content: base64('hello'), convertTo }, item);
				expect(result).toMatchObject({ name: 'a.txt' });
				expect(uploads.files()).toHaveLength(1);
			},
		);

		test('the tries end and nothing was made: the failure stands', async () => {
			const match = 'drive.files.create';
			uploads.google.fault({ match, times: 4, connection: 'resetBefore' });
			const running = uploads.run({ content: base64('hello') }, testItem());
			const failure = await catchFailure(running);
			expect(failure).toMatchObject({ code: 503, outcome: 'unknown' });
			expect(uploads.files()).toEqual([]);
		});
	});

	describe('with an idempotency key', () => {
		test('nothing is uploaded if Google did not search all drives before, and once if only after', async () => {
			const fault = {
				match: 'drive.files.list',
				rewrite: (body: unknown) => ({ ...(body as object), incompleteSearch: true }),
			};
			uploads.google.fault(fault);
			const given = { content: base64('a'), idempotencyKey: 'k' };
			expect(await catchFailure(uploads.run(given))).toMatchObject({ code: 503 });
			expect(uploads.files()).toEqual([]);
			const rewrite = () => ({ files: [], incompleteSearch: true });
			uploads.google.fault({ ...fault, nth: 2, rewrite });
			await uploads.run(given);
			expect(uploads.files()).toHaveLength(1);
		});

		const keyed = { idempotencyKey: 'order 4711', content: base64('hello') };
		const kept = () => uploads.files().filter(({ trashed }) => !trashed);

		test('the same key gives the first file again and sends no bytes', async () => {
			const first = await uploads.run(keyed);
			expect(first).not.toHaveProperty('repeated');
			const before = uploads.google.requests.length;
			expect(await uploads.run(keyed)).toEqual({ ...first, repeated: true });
			expect(uploads.calls().slice(before)).toEqual(['drive.files.list']);
			expect(uploads.files()).toHaveLength(1);
		});

		test('the key itself is not stored', async () => {
			await uploads.run(keyed);
			expect(JSON.stringify(uploads.files())).not.toContain('4711');
		});

		test.each([
			['', 'root'],
			['root', ''],
		])('My Drive is one folder, chosen or not: first %j, then %j', async (first, later) => {
			await uploads.run({ ...keyed, parentFolder: first });
			const again = await uploads.run({ ...keyed, parentFolder: later });
			expect(again).toMatchObject({ repeated: true });
			expect(kept()).toHaveLength(1);
		});

		test('another key, another folder and no key make files of their own', async () => {
			const parentFolder = await makeFolder(uploads);
			const keys = [{ idempotencyKey: 'b' }, { idempotencyKey: '' }];
			for (const params of [{}, ...keys, { parentFolder }])
				expect(await uploads.run({ ...keyed, ...params })).not.toHaveProperty('repeated');
			expect(kept()).toHaveLength(5);
		});

		const document = { convertTo: 'document', name: 'a.md' } as const;

		test.each([
			[{}, { content: base64('other') }],
			[document, { ...document, content: base64('# Other') }],
			[{}, document],
		] as const)(
			'a key that was used for other content is refused: %j, then %j',
			async (one, other) => {
				await uploads.run({ ...keyed, ...one });
				const failure = await catchFailure(uploads.run({ ...keyed, ...other }));
				expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
				expect(kept()).toHaveLength(1);
			},
		);

		test.each([
			{ match: 'drive.files.create', times: 3, connection: 'resetAfter' },
			{ match: 'drive.files.create', times: 3, status: 503, carriedOut: true },
			{ match: 'drive.files.update', times: 3, status: 503 },
		] as const)('what a failure left behind is taken up by the next run: %j', async (fault) => {
			uploads.google.fault(fault);
			await uploads.run(keyed, testItem()).catch(() => undefined);
			const again = await uploads.run(keyed, testItem());
			expect(again).toMatchObject({ md5Checksum: md5('hello'), repeated: true });
			expect(kept()).toHaveLength(1);
		});

		test('an execution that was killed after it made the file: the next one confirms it', async () => {
			const lists = { match: 'drive.files.list', nth: 2, times: 4 };
			uploads.google.fault({ ...lists, connection: 'resetBefore' });
			await uploads.run(keyed, testItem()).catch(() => undefined);
			expect(await uploads.run(keyed, testItem())).toMatchObject({ repeated: true });
			expect(kept()).toHaveLength(1);
		});

		test.each(['none', 'document'] as const)(
			'a file whose answer was lost (%s) is its own',
			async (convertTo) => {
				const match = convertTo === 'none' ? 'drive.files.create' : 'upload.session';
				uploads.google.fault({ match, times: 3, connection: 'resetAfter' });
				const result = await uploads.run({ ...keyed, convertTo }, testItem());
				expect(result).not.toHaveProperty('repeated');
				const appProperties = { idempotencyState: 'done' };
				expect(kept()).toMatchObject([{ id: result.id, appProperties }]);
			},
		);

		test.each([true, false])(
			'another execution trashed the file first; its own is listed: %j',
			async (isListed) => {
				let lists = 0;
				let other: string | undefined;
				const match = ({ method }: { readonly method: string | undefined }) => {
					if (method !== 'drive.files.list' || ++lists !== 2) return false;
					const own = uploads.google.files.get(uploads.files()[0]?.id ?? '');
					if (!own) throw new Error('Nothing was uploaded');
					if (isListed) other = uploads.google.files.add({ ...own, id: undefined }).id;
					own.trashed = true;
					return false;
				};
				uploads.google.fault({ match, status: 500 });
				const run = uploads.run(keyed);
				if (isListed) expect(await run).toMatchObject({ id: other, repeated: true });
				else
					expect((await catchFailure(run)).message).toMatch(
						/^Another execution .* put the new file into the trash$/,
					);
				expect(kept()).toHaveLength(isListed ? 1 : 0);
			},
		);

		test('two executions at once leave one file and agree on it', async () => {
			for (let round = 0; round < 10; round++) {
				const params = { ...keyed, idempotencyKey: `race ${round}` };
				const run = () => uploads.run(params, testItem());
				const [one, other] = await Promise.all([run(), run()]);
				expect(one.id).toBe(other.id);
			}
			expect(kept()).toHaveLength(10);
		});

		test.each([
			['the older one, if both are unfinished', ['2 made', '1 made'], 1, [true, false]],
			['the complete one', ['1 made', '2 done'], 1, [true, false]],
			['the complete one, wherever it stands', ['1 done', '2 made'], 0, [false, true]],
			['the older one, if both are complete', ['1 done', '2 done'], 0, [false, false]],
		])('of two files with the key %s stays: %j', async (_what, files, kept, trashed) => {
			await uploads.run(keyed);
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
			expect(await uploads.run(keyed)).toMatchObject({ id: added[kept]?.id, repeated: true });
			expect(added.map(({ id }) => uploads.google.files.get(id)?.trashed)).toEqual(trashed);
		});

		test('with skip, a file that is there is left without a mark', async () => {
			const { id } = await uploads.run({ content: base64('old') });
			const result = await uploads.run({ ...keyed, onExisting: 'skip' });
			expect(result).toMatchObject({ id, md5Checksum: md5('old') });
			expect(uploads.files()).toMatchObject([{ appProperties: {} }]);
		});

		test('with skip, the key counts before the name', async () => {
			const params = { ...keyed, onExisting: 'skip' } as const;
			const { id } = await uploads.run(params);
			expect(await uploads.run(params)).toMatchObject({ id, repeated: true });
			const failure = await catchFailure(uploads.run({ ...params, content: base64('x') }));
			expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS' });
			expect(kept()).toHaveLength(1);
		});

		test('a new file is read once, while it is sent', async () => {
			const item = testItem({ binary: { data: { data: Buffer.from('hello') } } });
			const source = await item.getBinary('data');
			const open = jest.fn(source.open.bind(source));
			item.getBinary = () => Promise.resolve({ ...source, open });
			const params = { idempotencyKey: 'k', contentSource: 'binary' } as const;
			await uploads.run(params, item);
			expect(open).toHaveBeenCalledTimes(1);
		});

		test('with replace, the file is replaced once', async () => {
			const { id } = await uploads.run({ content: base64('old') });
			const params = { ...keyed, onExisting: 'replace' } as const;
			expect(await uploads.run(params)).toMatchObject({ id, md5Checksum: md5('hello') });
			expect(await uploads.run(params)).toMatchObject({ id, repeated: true });
			const updates = uploads.calls().filter((method) => method === 'drive.files.update');
			expect(updates).toHaveLength(2);
		});
	});
});
