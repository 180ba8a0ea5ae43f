import { testItem } from '../../client';
import { failing } from '../../failure';
import { base64, md5, Uploads } from './uploads';

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
		expect(await uploads.run({ content: base64('hello') })).toMatchObject({
			name: 'a.txt',
			md5Checksum: md5('hello'),
		});
		expect(uploads.files()).toHaveLength(1);
	});

	test.each(faults)('%j in a conversion', async (fault) => {
		uploads.google.fault({ match: 'upload.session', ...fault });
		const result = await uploads.run({ content: base64('# Hi'), name: 'a.md', convertTo: 'document' });
		expect(result).toMatchObject({ mimeType: 'application/vnd.google-apps.document' });
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
		uploads.google.fault({ match: 'drive.files.create', times: 3, connection: 'resetBefore' });
		const failure = await failing(uploads.run({ content: base64('hello') }, testItem()));
		expect(failure).toMatchObject({ code: 503, ambiguous: true });
		expect(uploads.files()).toEqual([]);
	});
});
