import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { expectNoViolations, startGoogle, type GoogleServer } from '../../../dev/google/server';
import { isFailure, type Failure } from '../../../nodes/items/failure';
import type { ResumableUploadRequest, UploadedFile } from '../../../nodes/Workspace/google/resumableUpload';
import type { Source } from '../../../nodes/Workspace/operation';
import { testClients } from '../client';
import { scriptedServer } from '../server';

const MiB = 1024 * 1024;
const chunk = 8 * MiB;
const size = 2 * chunk + 3 * MiB + 17;
const bytes = randomBytes(size);

let google: GoogleServer;
let reading: number;

beforeAll(async () => {
	google = await startGoogle();
});

afterAll(async () => {
	await google.close();
});

beforeEach(() => {
	// The shortest waits between two tries.
	jest.spyOn(Math, 'random').mockReturnValue(0);
	reading = 0;
});

afterEach(() => {
	expectNoViolations(google);
	google.reset();
});

/** The data in pieces, as n8n's modes give it: a file in small ones, a database row as one. */
function sourceOf(data: Buffer, pieceBytes = 64 * 1024, announced = data.length): Source {
	const pieces = function* () {
		for (let at = 0; at < data.length; at += pieceBytes) yield data.subarray(at, at + pieceBytes);
	};
	return {
		size: announced,
		open: () => {
			reading++;
			return Promise.resolve(Readable.from(pieces()));
		},
	};
}

async function upload(given: Partial<ResumableUploadRequest> = {}, maxTries = 5): Promise<UploadedFile> {
	const clients = testClients(google.url, google.tokens.issue(), { maxTries });
	return await clients.resumableUpload({
		metadata: { name: 'a.bin' },
		mimeType: 'application/octet-stream',
		source: sourceOf(bytes),
		fields: 'id,name,md5Checksum,size',
		signal: undefined,
		...given,
	});
}

async function failed(uploading: Promise<unknown>): Promise<Failure> {
	const error = await uploading.then(
		() => undefined,
		(reason: unknown) => reason,
	);
	if (!isFailure(error)) throw new Error('no Failure', { cause: error });
	return error;
}

const ranges = () =>
	google.requests.flatMap(({ method, headers }) =>
		method === 'upload.session' ? [String(headers['content-range']).replace('bytes ', '')] : [],
	);
const fileCount = () => google.files.all().length;
const sentBytes = () => google.drive.sessions.reduce((sum, session) => sum + session.receivedBytes, 0);

function expectWhole({ file, md5 }: UploadedFile): void {
	const wanted = createHash('md5').update(bytes).digest('hex');
	expect({ md5, checksum: file.md5Checksum, size: file.size, files: fileCount() }).toEqual({
		md5: wanted,
		checksum: wanted,
		size: String(size),
		files: 1,
	});
}

describe('a session', () => {
	test('starts with the metadata, type and length, and sends chunks of 8 MiB', async () => {
		const progress: number[] = [];
		const done = await upload({
			metadata: { name: 'ü.bin', description: 'd' },
			mimeType: 'image/png',
			onProgress: (sent, total) => progress.push(sent / total),
		});
		expectWhole(done);
		const [start] = google.requests;
		expect(start).toMatchObject({
			method: 'drive.files.create',
			body: { name: 'ü.bin', description: 'd' },
			headers: { 'x-upload-content-type': 'image/png', 'x-upload-content-length': String(size) },
		});
		expect(Object.fromEntries(start?.query ?? [])).toEqual({
			uploadType: 'resumable',
			supportsAllDrives: 'true',
			fields: 'id,name,md5Checksum,size',
		});
		expect(ranges()).toEqual([
			`0-${chunk - 1}/${size}`,
			`${chunk}-${2 * chunk - 1}/${size}`,
			`${2 * chunk}-${size - 1}/${size}`,
		]);
		expect(progress).toEqual([chunk / size, (2 * chunk) / size, 1]);
		expect(google.drive.content(done.file.id ?? '')?.data?.equals(bytes)).toBe(true);
	});

	test.each([1000, 3 * MiB, chunk, size])('cuts a source that comes in pieces of %d bytes', async (piece) => {
		expectWhole(await upload({ source: sourceOf(bytes, piece) }));
		expect(ranges()).toHaveLength(3);
		expect(reading).toBe(1);
	});

	test.each([undefined, 1000])('reads a file (pieces of %s bytes)', async (highWaterMark) => {
		const folder = await mkdtemp(path.join(tmpdir(), 'resumable-'));
		const file = path.join(folder, 'a.bin');
		await writeFile(file, bytes);
		const opened: ReadStream[] = [];
		const open = () => {
			opened.push(createReadStream(file, { highWaterMark }));
			return Promise.resolve(opened.at(-1) ?? Readable.from([]));
		};
		google.drive.faults.keepOnly = MiB;
		google.fault({ match: 'upload.session', nth: 2, status: 404 });
		expectWhole(await upload({ source: { size, open } }));
		expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true]);
		await rm(folder, { recursive: true });
		await expect(upload({ source: { size, open } })).rejects.toThrow('ENOENT');
	});

	test('an empty file is complete without a byte', async () => {
		const done = await upload({ source: sourceOf(Buffer.alloc(0)) });
		expect(done).toMatchObject({ file: { size: '0' }, md5: 'd41d8cd98f00b204e9800998ecf8427e' });
		expect(fileCount()).toBe(1);
	});

	test('a base with a path prefix', async () => {
		const behind = await startGoogle({ pathPrefix: '/gateway' });
		try {
			const { resumableUpload } = testClients(behind.url, behind.tokens.issue());
			const source = sourceOf(bytes);
			const request = { metadata: {}, mimeType: 'a/b', source, fields: 'id', signal: undefined };
			await resumableUpload(request);
			expect(behind.files.all()).toHaveLength(1);
			expectNoViolations(behind);
		} finally {
			await behind.close();
		}
	});
});

describe('Drive says what arrived, and that holds', () => {
	test('a chunk of which only a part was kept goes on from there', async () => {
		google.drive.faults.keepOnly = MiB + 5;
		expectWhole(await upload());
		expect(ranges().slice(0, 2)).toEqual([`0-${chunk - 1}/${size}`, `${MiB}-${chunk - 1}/${size}`]);
	});

	test('a 308 without Range means that nothing arrived', async () => {
		google.drive.faults.keepOnly = 1000;
		expectWhole(await upload());
		expect(ranges().slice(0, 2)).toEqual([`0-${chunk - 1}/${size}`, `0-${chunk - 1}/${size}`]);
	});

	test('bytes that Drive lost again are read again', async () => {
		google.fault({
			match: 'upload.session',
			nth: 2,
			status: 308,
			body: '',
			headers: { Range: 'bytes=0-262143' },
		});
		expectWhole(await upload());
		expect(ranges()[2]).toBe(`262144-${chunk - 1}/${size}`);
		expect(reading).toBe(2);
	});

	test('more than was sent is an error', async () => {
		google.fault({ match: 'upload.session', status: 308, body: '', headers: { Range: `bytes=0-${chunk}` } });
		expect(await failed(upload())).toMatchObject({ code: 502 });
	});

	test('nothing taken again and again ends after the tries', async () => {
		google.fault({ match: 'upload.session', times: 100, status: 308, body: '' });
		const failure = await failed(upload({}, 3));
		expect(failure).toMatchObject({ code: 503, ambiguous: false });
		expect(ranges()).toHaveLength(3);
	});
});

describe('after a failure Drive is asked first', () => {
	test('a reset in the middle of a chunk', async () => {
		google.drive.faults.resetAt.push(chunk + 5 * MiB);
		expectWhole(await upload());
		expect(ranges()[2]).toBe(`*/${size}`);
		expect(sentBytes()).toBeLessThanOrEqual(size + chunk);
	});

	test('a reset in each tenth of the file', async () => {
		for (let tenth = 0; tenth < 10; tenth++)
			google.drive.faults.resetAt.push(Math.floor(((tenth + 0.5) * size) / 10));
		expectWhole(await upload());
		expect(ranges().filter((range) => range.startsWith('*'))).toHaveLength(10);
	});

	test.each([500, 502, 503, 504, 429, 408])('HTTP %d', async (status) => {
		google.fault({ match: 'upload.session', nth: 2, status });
		expectWhole(await upload());
		expect(ranges()[2]).toBe(`*/${size}`);
		expect(sentBytes()).toBe(size);
	});

	test('the answer to the last chunk is lost: the file is there once', async () => {
		google.fault({ match: 'upload.session', nth: 3, connection: 'resetAfter' });
		expectWhole(await upload());
		expect(ranges()).toHaveLength(4);
	});

	test('the question fails too', async () => {
		google.fault({ match: 'upload.session', nth: 2, times: 3, connection: 'resetBefore' });
		expectWhole(await upload());
		expect(ranges().slice(1, 5)).toEqual([
			`${chunk}-${2 * chunk - 1}/${size}`,
			`*/${size}`,
			`*/${size}`,
			`*/${size}`,
		]);
	});

	test('the tries end: nothing was made, and the failure says so', async () => {
		google.fault({ match: 'upload.session', nth: 2, times: 100, status: 503 });
		expect(await failed(upload({}, 3))).toMatchObject({ code: 503, ambiguous: false });
		expect(fileCount()).toBe(0);
	});

	test('the tries end with the last chunk: nobody knows', async () => {
		google.fault({ match: 'upload.session', nth: 3, times: 100, connection: 'resetAfter' });
		expect(await failed(upload({}, 2))).toMatchObject({ code: 503, ambiguous: true });
	});

	test('what is refused is not sent again', async () => {
		google.fault({ match: 'upload.session', nth: 2, status: 403, reason: 'storageQuotaExceeded' });
		expect(await failed(upload())).toMatchObject({ code: 403, ambiguous: false });
		expect(ranges()).toHaveLength(2);
	});

	test('a token that expired in the middle is renewed by n8n', async () => {
		google.fault({ match: 'upload.session', nth: 2, status: 401 });
		expectWhole(await upload());
		expect(ranges()).toHaveLength(4);
	});
});

describe('a session that is gone', () => {
	test.each([404, 410] as const)('%d starts a new one', async (status) => {
		google.fault({ match: 'upload.session', nth: 2, status });
		expectWhole(await upload());
		expect(google.drive.sessions).toHaveLength(2);
		expect(reading).toBe(2);
	});

	test('again and again ends after the tries', async () => {
		google.fault({ match: 'upload.session', times: 100, status: 404 });
		expect(await failed(upload({}, 3))).toMatchObject({ code: 503, ambiguous: false });
		expect(google.drive.sessions).toHaveLength(3);
		expect(fileCount()).toBe(0);
	});

	test('after the last chunk: the file is looked up before anything is sent anew', async () => {
		google.fault({ match: 'upload.session', nth: 3, connection: 'resetAfter' });
		google.fault({ match: 'upload.session', nth: 4, status: 404 });
		const findExisting = () => Promise.resolve({ id: 'found', md5Checksum: '' });
		const { file, md5 } = await upload({ findExisting });
		expect(file.id).toBe('found');
		expect(md5).toBe(createHash('md5').update(bytes).digest('hex'));
		expect({ sessions: google.drive.sessions.length, files: fileCount() }).toEqual({ sessions: 1, files: 1 });
	});

	test('after the last chunk, and nothing is found: it is not sent again', async () => {
		google.fault({ match: 'upload.session', nth: 3, connection: 'resetAfter' });
		google.fault({ match: 'upload.session', nth: 4, status: 404 });
		const failure = await failed(upload({ findExisting: () => Promise.resolve(undefined) }));
		expect(failure).toMatchObject({ code: 503, ambiguous: true });
		expect({ sessions: google.drive.sessions.length, files: fileCount() }).toEqual({ sessions: 1, files: 1 });
	});
});

describe('what the token may reach', () => {
	test('an upload address on another host gets no request', async () => {
		const stranger = await scriptedServer();
		const headers = { Location: `${stranger.url}/upload/drive/v3/files?upload_id=x` };
		google.fault({ match: 'drive.files.create', status: 200, body: '', headers });
		const failure = await failed(upload());
		expect(failure).toMatchObject({ code: 502, ambiguous: false });
		expect(stranger.received).toEqual([]);
		await stranger.close();
	});

	test.each(['', 'not an address', 'https://www.googleapis.com/upload/drive/v3/files?upload_id=x'])(
		'no usable address: %s',
		async (address) => {
			google.fault({ match: 'drive.files.create', status: 200, body: '', headers: { Location: address } });
			expect(await failed(upload())).toMatchObject({ code: 502 });
			expect(google.requests).toHaveLength(1);
		},
	);
});

describe('a source that changes while it is read', () => {
	test.each([1, -1])('by %d byte makes no file', async (difference) => {
		const source = sourceOf(bytes, 64 * 1024, size + difference);
		expect(await failed(upload({ source }))).toMatchObject({ code: 400 });
		expect(fileCount()).toBe(0);
	});

	test('in one request too', async () => {
		const metadata = { id: 'whatever' };
		const source = sourceOf(bytes.subarray(0, 100), 64, 101);
		expect(await failed(upload({ metadata, source }))).toMatchObject({ code: 400 });
		expect(google.requests).toEqual([]);
	});
});
