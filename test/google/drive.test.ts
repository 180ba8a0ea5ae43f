import {
	allFiles,
	appFiles,
	create,
	files,
	found,
	generateIds,
	get,
	list,
	media,
	refused,
	service,
} from './driveCalls';

const folderType = 'application/vnd.google-apps.folder';
const documentType = 'application/vnd.google-apps.document';

beforeEach(() => {
	files.clear();
	service.reset();
});

describe('files', () => {
	test('the standard answer is kind, id, name and type; a mask reaches into lists and objects', () => {
		const { id } = create({ name: 'a', properties: { k: 'v', l: 'w' } });
		expect(
			Object.keys(get(id ?? '', { params: { fields: 'kind,id,name,mimeType' } })).sort(),
		).toEqual(Object.keys(list({}).files?.[0] ?? {}).sort());
		expect(list({ fields: 'files(name,properties/k)' })).toEqual({
			files: [{ name: 'a', properties: { k: 'v' } }],
		});
		expect(refused(() => get(id ?? '', { params: { fields: 'files(' } }))).toContain(
			'400 invalidParameter',
		);
	});

	test('a converted file has the type that was asked for and neither checksum nor download link', () => {
		const file = create({ name: 'a', mimeType: documentType }, media('text/markdown', '# Hi'));
		expect(file.mimeType).toBe(documentType);
		expect(file).not.toHaveProperty('md5Checksum');
		expect(file).not.toHaveProperty('webContentLink');
		expect(file.webViewLink).toBe(
			`https://docs.google.com/document/d/${file.id ?? ''}/edit?usp=drivesdk`,
		);
	});

	test('what cannot be converted is refused, and no file is made', () => {
		const metadata = { name: 'a', mimeType: documentType };
		expect(refused(() => create(metadata, media('application/zip', 'PK')))).toContain(
			'400 conversionUnsupportedConversionPath',
		);
		expect(files.listAll()).toEqual([]);
	});
});

describe('generated ids', () => {
	test('an id that nobody generated is refused', () => {
		expect(refused(() => create({ id: 'made-up-by-myself', name: 'a' }))).toBe(
			'400 invalid: The provided file ID is not usable.',
		);
	});

	test('folders take one, files of the editors do not, nor does a conversion', () => {
		const [one, two, three] = generateIds(3);
		expect(create({ id: one, name: 'f', mimeType: folderType }).id).toBe(one);
		const refusedId = '403 generatedIdNotSupported';
		expect(refused(() => create({ id: two, name: 'd', mimeType: documentType }))).toContain(
			refusedId,
		);
		expect(
			refused(() =>
				create({ id: three, name: 'd', mimeType: documentType }, media('text/plain', 'x')),
			),
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
		const caller = { user: 'someone@example.com', clientId: 'client', scopes };
		expect(files.isVisibleTo({ ...caller, method: 'drive.files.get' }, sheet)).toBe(false);
		expect(files.isVisibleTo({ ...caller, method: 'sheets.spreadsheets.get' }, sheet)).toBe(
			true,
		);
		expect(files.isVisibleTo({ ...caller, method: 'docs.documents.get' }, sheet)).toBe(false);
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
