import { randomBytes } from 'node:crypto';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { md5, MiB, Uploads } from './uploads';

const uploads = new Uploads();

describe('one request', () => {
	test('carries metadata and bytes, with an id that Google reserved', async () => {
		const result = await uploads.upload('hello', { description: 'for tests' });
		expect(uploads.calls()).toEqual(['drive.files.generateIds', 'drive.files.create']);
		const [reserved, create] = uploads.google.requests;
		const reserving = { count: '50', fields: 'ids' };
		expect(Object.fromEntries(reserved?.query ?? [])).toEqual(reserving);
		expect(create?.body).toEqual({ id: result.id, name: 'a.txt', description: 'for tests' });
		expect(Object.fromEntries(create?.query ?? [])).toEqual({
			uploadType: 'multipart',
			supportsAllDrives: 'true',
			fields: 'id,name,mimeType,size,webViewLink,webContentLink,md5Checksum,parents,createdTime,trashed',
		});
		expect(Number(create?.headers['content-length'])).toBeGreaterThan(0);
		const { id = '', parents, createdTime, ...rest } = result;
		expect(rest).toEqual({
			name: 'a.txt',
			mimeType: 'text/plain',
			size: '5',
			webViewLink: `https://drive.google.com/file/d/${id}/view?usp=drivesdk`,
			webContentLink: `https://drive.google.com/uc?id=${id}&export=download`,
			md5Checksum: md5('hello'),
		});
		expect(parents).toHaveLength(1);
		expect(createdTime).toMatch(/Z$/);
	});

	test('holds bytes of every kind unchanged, and names beyond ASCII', async () => {
		const ends = Buffer.from('\r\n--x--\r\n');
		const data = Buffer.concat([ends, randomBytes(300_000), ends]);
		const item = testItem({ binary: { photo: { data, mimeType: 'image/x-own' } } });
		const params = { binaryPropertyName: ['photo'], name: 'Größe 😀' };
		const result = await uploads.run({ contentSource: 'binary', ...params }, item);
		expect(uploads.google.drive.content(result.id ?? '')?.data?.equals(data)).toBe(true);
		expect(result).toMatchObject({ name: 'Größe 😀', mimeType: 'image/x-own' });
	});

	test('an empty file', async () => {
		const item = testItem({ binary: { data: { data: Buffer.alloc(0) } } });
		const result = await uploads.run({ contentSource: 'binary' }, item);
		expect(result).toMatchObject({ size: '0', md5Checksum: md5('') });
		expect(item.hints).toEqual([]);
	});

	test('an empty text makes an empty file and a hint', async () => {
		const item = testItem();
		expect(await uploads.upload('', {}, item)).toMatchObject({ size: '0' });
		expect(item.hints).toHaveLength(1);
	});

	test('the items of a run share ids, which are reserved for fifty files at a time', async () => {
		const clients = uploads.client();
		const shared = testItem();
		for (let index = 0; index <= 50; index++)
			await uploads.run({}, { ...shared, index }, clients);
		const reserving = uploads.calls().filter((method) => method === 'drive.files.generateIds');
		expect(reserving).toHaveLength(2);
		expect(new Set(uploads.files().map(({ id }) => id)).size).toBe(51);
	});

	test('a token that expired: n8n renews it, and the body goes out again', async () => {
		uploads.google.fault({ match: 'drive.files.create', status: 401 });
		expect(await uploads.upload('hello')).toMatchObject({ size: '5' });
		expect(uploads.files()).toHaveLength(1);
	});
});

describe('more than 5 MB', () => {
	const data = randomBytes(9 * MiB);

	test('goes out in chunks of a session that has the id', async () => {
		const item = testItem({ binary: { data: { data } } });
		const result = await uploads.run({ contentSource: 'binary', name: 'a.zip' }, item);
		const chunks = ['upload.session', 'upload.session'];
		const start = ['drive.files.generateIds', 'drive.files.create'];
		expect(uploads.calls()).toEqual([...start, ...chunks]);
		expect(uploads.google.requests[1]?.body).toEqual({ id: result.id, name: 'a.zip' });
		const type = uploads.google.requests[1]?.headers['x-upload-content-type'];
		expect(type).toBe('application/zip');
		expect(result).toMatchObject({ size: String(9 * MiB), md5Checksum: md5(data) });
		expect(item.things).toEqual([{ kind: 'file', id: result.id, url: result.webViewLink }]);
	});

	test('5,000,000 bytes are one request, one more is a session', async () => {
		for (const size of [5_000_000, 5_000_001]) await uploads.uploadBytes(Buffer.alloc(size));
		expect(uploads.google.drive.sessions).toHaveLength(1);
	});

	test('the file exists although its session is gone: it is found by its id', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 2, connection: 'resetAfter' });
		uploads.google.fault({ match: 'upload.session', nth: 3, status: 404 });
		const result = await uploads.uploadBytes(data);
		expect(uploads.calls().slice(-2)).toEqual(['upload.session', 'drive.files.get']);
		expect(result).toMatchObject({ md5Checksum: md5(data) });
		expect(uploads.files()).toHaveLength(1);
	});
});

describe('conversion', () => {
	const office = 'application/vnd.openxmlformats-officedocument';

	test.each([
		['document', 'a.md', 'text/markdown'],
		['spreadsheet', 'a.csv', 'text/csv'],
		['presentation', 'a.pptx', `${office}.presentationml.presentation`],
	] as const)('to a Google %s', async (convertTo, name, mimeType) => {
		const item = testItem();
		const result = await uploads.upload('x', { name, convertTo }, item);
		const [start] = uploads.google.requests;
		expect(start?.body).toEqual({
			name,
			mimeType: `application/vnd.google-apps.${convertTo}`,
			appProperties: { creationToken: `${item.markerId}-0` },
		});
		expect(start?.headers['x-upload-content-type']).toBe(mimeType);
		const keys = ['createdTime', 'id', 'mimeType', 'name', 'parents', 'size', 'webViewLink'];
		expect(Object.keys(result).sort()).toEqual(keys);
	});

	test('of what Google cannot convert fails with what to do', async () => {
		const uploading = uploads.upload('x', { name: 'a.zip', convertTo: 'document' });
		const failure = await catchFailure(uploading);
		expect(failure.code).toBe(400);
		expect(failure.description).toContain("With 'convertTo'");
		expect(uploads.files()).toEqual([]);
	});
});

test('a file goes to a folder in a shared drive', async () => {
	const drive = uploads.google.drive.seedSharedDrive('Team');
	const mimeType = 'application/vnd.google-apps.folder';
	const inDrive = { parents: [drive], driveId: drive };
	const folder = uploads.google.files.add({ name: 'f', mimeType, clientId: 'x', ...inDrive });
	const result = await uploads.run({ parentFolder: folder.id });
	expect(result).toMatchObject({ parents: [folder.id] });
});

test('another checksum than that of the bytes fails, and the failure names the file', async () => {
	const body = { id: 'theFile', md5Checksum: md5('something else') };
	uploads.google.fault({ match: 'drive.files.create', status: 200, body });
	const item = testItem();
	const failure = await catchFailure(uploads.upload('hello', {}, item));
	expect(failure.code).toBe(500);
	expect(failure.message).toContain('theFile');
	expect(item.things).toEqual([{ kind: 'file', id: 'theFile', url: undefined }]);
});
