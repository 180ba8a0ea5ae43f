import { create, drives, files, found, get, list, refused, service, update } from './driveCalls';

const folderType = 'application/vnd.google-apps.folder';

beforeEach(() => {
	files.clear();
	service.reset();
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

	test('a folder in the trash has there what is in it, and what is made in it later', () => {
		const [folder] = list({ q: "name = 'Reports'", fields: '*' }).files ?? [];
		update(folder?.id ?? '', { trashed: true });
		create({ name: 'later', parents: [folder?.id ?? ''] });
		expect(found('trashed = true')).toEqual(["Jon's notes", 'Reports', 'gone', 'later']);
		const later = list({ q: "name = 'later'", fields: '*' }).files;
		expect(later).toMatchObject([{ trashed: true, explicitlyTrashed: false }]);
	});

	test.each([
		"name = 'a",
		'name = a',
		'size > 3',
		"name 'a'",
		"name = 'a' and",
		'trashed',
		"owner = 'x'",
	])('%s is refused', (q) => {
		expect(refused(() => found(q))).toBe('400 invalid: Invalid Value');
	});

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
			refused(() =>
				create({ name: 'a', parents: [drive] }, { params: { supportsAllDrives: 'false' } }),
			),
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
		const all = {
			corpora: 'allDrives',
			includeItemsFromAllDrives: 'true',
			supportsAllDrives: 'true',
		};
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
