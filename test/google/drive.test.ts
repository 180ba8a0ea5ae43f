import {
	about,
	allFiles,
	appFiles,
	create,
	drives,
	files,
	found,
	generateIds,
	get,
	list,
	media,
	refused,
	service,
	update,
} from './driveCalls';

const folderType = 'application/vnd.google-apps.folder';
const documentType = 'application/vnd.google-apps.document';

beforeEach(() => {
	files.clear();
	service.reset();
});

describe('files', () => {
	test('a binary file has its size as text, its checksum and both links', () => {
		const file = create({ name: 'a.txt' }, media('text/plain', 'hello'));
		expect(file).toMatchObject({
			kind: 'drive#file',
			name: 'a.txt',
			mimeType: 'text/plain',
			size: '5',
			md5Checksum: '5d41402abc4b2a76b9719d911017c592',
			webViewLink: `https://drive.google.com/file/d/${file.id ?? ''}/view?usp=drivesdk`,
			webContentLink: `https://drive.google.com/uc?id=${file.id ?? ''}&export=download`,
			trashed: false,
		});
		expect(file.parents).toEqual([expect.stringMatching(/^0A/)]);
		expect(service.content(file.id ?? '')?.data?.toString()).toBe('hello');
	});

	test('the standard answer is kind, id, name and type; a mask reaches into lists and objects', () => {
		const { id } = create({ name: 'a', properties: { k: 'v', l: 'w' } });
		expect(Object.keys(get(id ?? '', { params: { fields: 'kind,id,name,mimeType' } })).sort()).toEqual(
			Object.keys(list({}).files?.[0] ?? {}).sort(),
		);
		expect(list({ fields: 'files(name,properties/k)' })).toEqual({
			files: [{ name: 'a', properties: { k: 'v' } }],
		});
		expect(refused(() => get(id ?? '', { params: { fields: 'files(' } }))).toContain('400 invalidParameter');
	});

	test('a converted file has the type that was asked for and neither checksum nor download link', () => {
		const file = create({ name: 'a', mimeType: documentType }, media('text/markdown', '# Hi'));
		expect(file.mimeType).toBe(documentType);
		expect(file).not.toHaveProperty('md5Checksum');
		expect(file).not.toHaveProperty('webContentLink');
		expect(file.webViewLink).toBe(`https://docs.google.com/document/d/${file.id ?? ''}/edit?usp=drivesdk`);
	});

	test('what cannot be converted is refused, and no file is made', () => {
		const metadata = { name: 'a', mimeType: documentType };
		expect(refused(() => create(metadata, media('application/zip', 'PK')))).toContain(
			'400 conversionUnsupportedConversionPath',
		);
		expect(files.all()).toEqual([]);
	});

	test('update changes what is given and moves', () => {
		const folder = create({ name: 'f', mimeType: folderType });
		const { id } = create({ name: 'a', description: 'd', properties: { k: 'v' } });
		const changed = update(
			id ?? '',
			{ name: 'b', properties: { l: 'w' } },
			{ params: { addParents: folder.id ?? '' }, ...media('text/plain', 'x') },
		);
		expect(changed).toMatchObject({
			name: 'b',
			description: 'd',
			properties: { k: 'v', l: 'w' },
			parents: [folder.id],
			size: '1',
		});
	});

	test('about needs a field mask', () => {
		expect(refused(() => about())).toContain('400 required');
		expect(about({ fields: 'user(emailAddress)' })).toEqual({
			user: { emailAddress: 'someone@example.com' },
		});
	});
});

describe('generated ids', () => {
	test('an id makes a file once; the second time is a conflict', () => {
		const [id] = generateIds(3);
		expect(create({ id, name: 'a' }, media('text/plain', 'x')).id).toBe(id);
		expect(refused(() => create({ id, name: 'a' }, media('text/plain', 'x')))).toBe(
			'409 fileIdInUse: A file already exists with the provided ID.',
		);
		expect(files.all()).toHaveLength(1);
	});

	test('an id that nobody generated is refused', () => {
		expect(refused(() => create({ id: 'made-up-by-myself', name: 'a' }))).toBe(
			'400 invalid: The provided file ID is not usable.',
		);
	});

	test('folders take one, files of the editors do not, nor does a conversion', () => {
		const [one, two, three] = generateIds(3);
		expect(create({ id: one, name: 'f', mimeType: folderType }).id).toBe(one);
		const refusedId = '403 generatedIdNotSupported';
		expect(refused(() => create({ id: two, name: 'd', mimeType: documentType }))).toContain(refusedId);
		expect(
			refused(() => create({ id: three, name: 'd', mimeType: documentType }, media('text/plain', 'x'))),
		).toContain(refusedId);
	});
});

describe('who sees what', () => {
	test('drive.file shows only what the same client made', () => {
		const own = create({ name: 'own' });
		const foreign = create({ name: 'foreign' }, { clientId: 'another' });
		expect(found('', { scopes: appFiles })).toEqual(['own']);
		expect(found('', { scopes: allFiles })).toEqual(['foreign', 'own']);
		expect(get(own.id ?? '', { scopes: appFiles }).name).toBe('own');
		const missing = refused(() => get(foreign.id ?? '', { scopes: appFiles }));
		expect(missing).toBe(`404 notFound: File not found: ${foreign.id ?? ''}.`);
	});

	test('a scope of another API shows nothing here', () => {
		const sheet = files.add({
			name: 's',
			mimeType: 'application/vnd.google-apps.spreadsheet',
			clientId: 'x',
		});
		const scopes = ['https://www.googleapis.com/auth/spreadsheets'];
		const caller = { clientId: 'client', scopes };
		expect(files.visibleTo({ ...caller, method: 'drive.files.get' }, sheet)).toBe(false);
		expect(files.visibleTo({ ...caller, method: 'sheets.spreadsheets.get' }, sheet)).toBe(true);
		expect(files.visibleTo({ ...caller, method: 'docs.documents.get' }, sheet)).toBe(false);
	});

	test('private properties show only to the client that set them', () => {
		const { id } = create({ name: 'a', appProperties: { token: 't' } });
		expect(get(id ?? '').appProperties).toEqual({ token: 't' });
		expect(get(id ?? '', { clientId: 'another' })).not.toHaveProperty('appProperties');
	});

	test('a folder that is not there, not seen, or not a folder', () => {
		const foreign = create({ name: 'f', mimeType: folderType }, { clientId: 'another' });
		const file = create({ name: 'a' });
		const into = (parent: string | null | undefined) =>
			refused(() => create({ name: 'b', parents: [parent ?? ''] }, { scopes: appFiles }));
		expect(into('nowhere')).toContain('404 notFound: File not found: nowhere.');
		expect(into(foreign.id)).toContain('404 notFound');
		expect(into(file.id)).toContain('403 parentNotAFolder');
	});
});

describe('search', () => {
	beforeEach(() => {
		const folder = create({ name: 'Reports', mimeType: folderType });
		create({ name: "Jon's notes", parents: [folder.id ?? ''] });
		create({ name: 'HelloWorld', properties: { team: 'a' }, appProperties: { token: 't1' } });
		const gone = create({ name: 'gone' });
		update(gone.id ?? '', { trashed: true });
	});

	test.each([
		['trashed = true', ['gone']],
		[`mimeType = '${folderType}' and trashed = false`, ['Reports']],
		[`mimeType != '${folderType}' and not trashed = true`, ['HelloWorld', "Jon's notes"]],
		["name = 'Jon\\'s notes'", ["Jon's notes"]],
		["name contains 'hello'", ['HelloWorld']],
		["name contains 'World'", []],
		["name contains 'notes'", ["Jon's notes"]],
		["(name = 'gone' or name = 'HelloWorld') and trashed = false", ['HelloWorld']],
		["appProperties has { key='token' and value='t1' }", ['HelloWorld']],
		["appProperties has { key='token' and value='t2' }", []],
		["properties has { key='team' and value='a' }", ['HelloWorld']],
		["'root' in parents and trashed = false", ['HelloWorld', 'Reports']],
	])('%s', (q, names) => {
		expect(found(q)).toEqual(names);
	});

	test.each(["name = 'a", 'name = a', 'size > 3', "name 'a'", "name = 'a' and", 'trashed', "owner = 'x'"])(
		'%s is refused',
		(q) => {
			expect(refused(() => found(q))).toBe('400 invalid: Invalid Value');
		},
	);

	test('pages come in order; a token is good for its own question only', () => {
		const question = { orderBy: 'name_natural', pageSize: '2', q: 'trashed = false' };
		const first = list(question);
		expect(first.files?.map(({ name }) => name)).toEqual(['HelloWorld', "Jon's notes"]);
		const second = list({ ...question, pageToken: first.nextPageToken ?? '' });
		expect(second.files?.map(({ name }) => name)).toEqual(['Reports']);
		expect(second).not.toHaveProperty('nextPageToken');
		const other = { ...question, q: 'trashed = true', pageToken: first.nextPageToken ?? '' };
		expect(refused(() => list(other))).toContain('400 invalid');
		expect(refused(() => list({ orderBy: 'size' }))).toContain('400 invalid');
	});
});

describe('shared drives', () => {
	test('a file in one is there only for those who say that they support it', () => {
		const drive = service.seedSharedDrive('Team');
		expect(
			refused(() => create({ name: 'a', parents: [drive] }, { params: { supportsAllDrives: 'false' } })),
		).toContain('404 notFound');
		const file = create({ name: 'a', parents: [drive] });
		expect(file).toMatchObject({ driveId: drive, parents: [drive] });
		expect(refused(() => get(file.id ?? ''))).toContain('404 notFound');
		expect(get(file.id ?? '', { params: { supportsAllDrives: 'true' } }).name).toBe('a');
	});

	test('a search covers them only when all three parameters say so', () => {
		create({ name: 'a', parents: [service.seedSharedDrive('Team')] });
		expect(list({}).files).toEqual([]);
		expect(refused(() => list({ corpora: 'allDrives' }))).toContain('400 invalid');
		const all = { corpora: 'allDrives', includeItemsFromAllDrives: 'true', supportsAllDrives: 'true' };
		expect(list(all).files).toHaveLength(1);
	});

	test('they are listed page by page', () => {
		for (const name of ['A', 'B', 'C']) service.seedSharedDrive(name);
		const first = drives({ pageSize: '2' });
		const rest = drives({ pageSize: '2', pageToken: first.nextPageToken ?? '' });
		expect([...(first.drives ?? []), ...(rest.drives ?? [])].map(({ name }) => name)).toEqual([
			'A',
			'B',
			'C',
		]);
	});
});
