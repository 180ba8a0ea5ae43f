import { scriptedServer } from '../server';
import { failing } from '../failure';
import { bytes, LargeUploads, size } from './largeUploads';

const uploads = new LargeUploads();

describe('what the token may reach', () => {
	test('an upload address on another host gets no request', async () => {
		const stranger = await scriptedServer();
		const headers = { Location: `${stranger.url}/upload/drive/v3/files?upload_id=x` };
		uploads.google.fault({ match: 'drive.files.create', status: 200, body: '', headers });
		const failure = await failing(uploads.send());
		expect(failure).toMatchObject({ code: 502, ambiguous: false });
		expect(stranger.received).toEqual([]);
		await stranger.close();
	});

	test.each(['', 'not an address', 'https://www.googleapis.com/upload/drive/v3/files?upload_id=x'])(
		'no usable address: %s',
		async (address) => {
			uploads.google.fault({
				match: 'drive.files.create',
				status: 200,
				body: '',
				headers: { Location: address },
			});
			expect(await failing(uploads.send())).toMatchObject({ code: 502 });
			expect(uploads.google.requests).toHaveLength(1);
		},
	);
});

describe('a source that changes while it is read', () => {
	test.each([1, -1])('by %d byte makes no file', async (difference) => {
		const source = uploads.sourceOf(bytes, 64 * 1024, size + difference);
		expect(await failing(uploads.send({ source }))).toMatchObject({ code: 400 });
		expect(uploads.fileCount()).toBe(0);
	});

	test('in one request too', async () => {
		const metadata = { id: 'whatever' };
		const source = uploads.sourceOf(bytes.subarray(0, 100), 64, 101);
		expect(await failing(uploads.send({ metadata, source }))).toMatchObject({ code: 400 });
		expect(uploads.google.requests).toEqual([]);
	});
});
