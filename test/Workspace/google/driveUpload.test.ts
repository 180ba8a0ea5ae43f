import { createReadStream, type ReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { expectNoViolations, startGoogle, type Fault } from '../../../dev/google/server';
import { testClients } from '../client';
import { catchFailure } from '../catchFailure';
import { startScriptedServer } from '../scriptedServer';
import { bytes, chunk, LargeUploads, MiB, size } from './largeUploads';

const uploads = new LargeUploads();

/** Lets a request to the session fail: a chunk, or the question what has arrived. */
const failAt = (nth: number, fault: Omit<Fault, 'match' | 'nth'>) => {
	uploads.google.fault({ match: 'upload.session', nth, ...fault });
};
/** As the stand-in of Drive confirms a part of the file. */
const confirmed = (range: string) => ({ status: 308, body: '', headers: { Range: range } });
const locatedAt = (address: string) => ({ status: 200, body: '', headers: { Location: address } });

describe('a session', () => {
	test('starts with the metadata, type and length, and sends chunks of 8 MiB', async () => {
		const done = await uploads.send({
			metadata: { name: 'ü.bin', description: 'd' },
			mimeType: 'image/png',
		});
		uploads.expectWhole(done);
		const [start] = uploads.google.requests;
		expect(start).toMatchObject({
			method: 'drive.files.create',
			body: { name: 'ü.bin', description: 'd' },
			headers: {
				'x-upload-content-type': 'image/png',
				'x-upload-content-length': String(size),
			},
		});
		expect(Object.fromEntries(start?.query ?? [])).toEqual({
			uploadType: 'resumable',
			supportsAllDrives: 'true',
			fields: 'id,name,md5Checksum,size',
		});
		expect(uploads.ranges()).toEqual([
			`0-${chunk - 1}/${size}`,
			`${chunk}-${2 * chunk - 1}/${size}`,
			`${2 * chunk}-${size - 1}/${size}`,
		]);
		expect(uploads.google.drive.content(done.file.id ?? '')?.data?.equals(bytes)).toBe(true);
	});

	test.each([1000, 3 * MiB, chunk, size])(
		'cuts a source that comes in pieces of %d bytes',
		async (piece) => {
			uploads.expectWhole(await uploads.send({ source: uploads.sourceOf(bytes, piece) }));
			expect(uploads.ranges()).toHaveLength(3);
			expect(uploads.opened).toBe(1);
		},
	);

	test.each([undefined, 1000])('reads a file (pieces of %s bytes)', async (highWaterMark) => {
		const folder = await mkdtemp(path.join(tmpdir(), 'resumable-'));
		const file = path.join(folder, 'a.bin');
		await writeFile(file, bytes);
		const opened: ReadStream[] = [];
		const open = () => {
			opened.push(createReadStream(file, { highWaterMark }));
			return Promise.resolve(opened.at(-1) ?? Readable.from([]));
		};
		uploads.google.drive.faults.keepOnly = MiB;
		uploads.expectWhole(await uploads.send({ source: { size, open } }));
		expect(opened.map(({ destroyed }) => destroyed)).toEqual([true]);
		await rm(folder, { recursive: true });
		await expect(uploads.send({ source: { size, open } })).rejects.toThrow('ENOENT');
	});

	test('an empty file is complete without a byte', async () => {
		const done = await uploads.send({ source: uploads.sourceOf(Buffer.alloc(0)) });
		expect(done).toMatchObject({
			file: { size: '0' },
			md5: 'd41d8cd98f00b204e9800998ecf8427e',
		});
		expect(uploads.fileCount()).toBe(1);
	});

	test('a base with a path prefix', async () => {
		const behind = await startGoogle({ pathPrefix: '/gateway' });
		try {
			const { uploadToDrive } = testClients(behind.url, behind.tokens.issue());
			const source = uploads.sourceOf(bytes);
			await uploadToDrive({ metadata: {}, mimeType: 'a/b', source, fields: 'id' });
			expect(behind.files.listAll()).toHaveLength(1);
			expectNoViolations(behind);
		} finally {
			await behind.close();
		}
	});
});

describe('Drive says what arrived, and that holds', () => {
	test.each([
		['a part of a chunk', MiB + 5, MiB],
		['nothing, by a 308 without Range', 1000, 0],
	])('%s was kept: it goes on from there', async (_what, keepOnly, from) => {
		uploads.google.drive.faults.keepOnly = keepOnly;
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges().slice(0, 2)).toEqual([
			`0-${chunk - 1}/${size}`,
			`${from}-${chunk - 1}/${size}`,
		]);
	});

	test.each([
		['bytes that Drive lost again', 2, 'bytes=0-262143'],
		['more than was sent', 1, `bytes=0-${chunk}`],
	])('%s: the upload ends', async (_what, nth, range) => {
		failAt(nth, confirmed(range));
		const failure = await catchFailure(uploads.send());
		expect(failure).toMatchObject({ code: 503, outcome: 'notDone' });
		expect(uploads.fileCount()).toBe(0);
	});
});

describe('after a failure Drive is asked first', () => {
	test('a reset in the middle of a chunk', async () => {
		uploads.google.drive.faults.resetAt.push(chunk + 5 * MiB);
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()[2]).toBe(`*/${size}`);
		expect(uploads.sentBytes()).toBeLessThanOrEqual(size + chunk);
	});

	test('more resets in one chunk than there are tries, as long as something arrives', async () => {
		for (let at = 1; at <= 10; at++) uploads.google.drive.faults.resetAt.push(at * 0.7 * MiB);
		uploads.expectWhole(await uploads.send({}, 2));
	});

	test.each([500, 502, 503, 504, 429, 408])('HTTP %d', async (status) => {
		failAt(2, { status });
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()[2]).toBe(`*/${size}`);
		expect(uploads.sentBytes()).toBe(size);
	});

	test.each([
		['the answer to the last chunk is lost', 3, { connection: 'resetAfter' }],
		['a token that expired in the middle is renewed by n8n', 2, { status: 401 }],
	] as const)('%s: the file is there once', async (_what, nth, fault) => {
		failAt(nth, fault);
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()).toHaveLength(4);
	});

	test('the question fails too', async () => {
		failAt(2, { times: 3, connection: 'resetBefore' });
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges().slice(1, 5)).toEqual([
			`${chunk}-${2 * chunk - 1}/${size}`,
			...Array<string>(3).fill(`*/${size}`),
		]);
	});

	test.each<[string, Fault, requests: number]>([
		['of the start', { match: 'drive.files.create', status: 503 }, 0],
		['of the start, unheard', { match: 'drive.files.create', connection: 'resetAfter' }, 0],
		['of a chunk', { match: 'upload.session', nth: 2, status: 503 }, 3],
		['of a chunk that is not taken', { match: 'upload.session', status: 308, body: '' }, 2],
	])(
		'the tries %s end: nothing was made, and the failure says so',
		async (_what, fault, count) => {
			uploads.google.fault({ ...fault, times: 100 });
			const failure = await catchFailure(uploads.send({}, 3));
			expect(failure).toMatchObject({ code: 503, outcome: 'notDone' });
			expect(uploads.ranges()).toHaveLength(count);
			expect(uploads.fileCount()).toBe(0);
		},
	);

	test('the tries end with the last chunk: nobody knows', async () => {
		failAt(3, { times: 100, connection: 'resetAfter' });
		const failure = await catchFailure(uploads.send({}, 2));
		expect(failure).toMatchObject({ code: 503, outcome: 'unknown' });
	});

	test('what is refused is not sent again', async () => {
		failAt(2, { status: 403, reason: 'storageQuotaExceeded' });
		const failure = await catchFailure(uploads.send());
		expect(failure).toMatchObject({ code: 403, outcome: 'notDone' });
		// All APIs of the stand-in are on one host, as behind a gateway.
		expect(failure.message).toMatch(/^Google Drive: /);
		expect(uploads.ranges()).toHaveLength(2);
	});
});

describe('a session that is gone', () => {
	test.each([404, 410])('%d: nothing was made, and the failure says so', async (status) => {
		failAt(2, { status });
		const failure = await catchFailure(uploads.send());
		expect(failure).toMatchObject({ code: 503, outcome: 'notDone' });
		expect(failure.description).toBe('Try again later.');
		expect(uploads.google.drive.sessions).toHaveLength(1);
		expect(uploads.fileCount()).toBe(0);
	});

	test('after the last chunk: nobody knows, and nothing is sent again', async () => {
		failAt(3, { connection: 'resetAfter' });
		failAt(4, { status: 404 });
		const failure = await catchFailure(uploads.send());
		expect(failure).toMatchObject({ code: 503, outcome: 'unknown' });
		expect(failure.description).toMatch(/^The file may still exist\./);
		expect([uploads.google.drive.sessions.length, uploads.fileCount()]).toEqual([1, 1]);
	});
});

describe('what the token may reach', () => {
	test('an upload address on another host gets no request', async () => {
		const stranger = await startScriptedServer();
		const address = `${stranger.url}/upload/drive/v3/files?upload_id=x`;
		uploads.google.fault({ match: 'drive.files.create', ...locatedAt(address) });
		const failure = await catchFailure(uploads.send());
		expect(failure).toMatchObject({ code: 502, outcome: 'notDone' });
		expect(stranger.received).toEqual([]);
		await stranger.close();
	});

	test.each([
		'',
		'not an address',
		'https://www.googleapis.com/upload/drive/v3/files?upload_id=x',
	])('no usable address: %s', async (address) => {
		uploads.google.fault({ match: 'drive.files.create', ...locatedAt(address) });
		expect(await catchFailure(uploads.send())).toMatchObject({ code: 502 });
		expect(uploads.google.requests).toHaveLength(1);
	});
});

describe('a source that changes while it is read', () => {
	test.each([1, -1])('by %d byte makes no file', async (difference) => {
		const source = uploads.sourceOf(bytes, 64 * 1024, size + difference);
		expect(await catchFailure(uploads.send({ source }))).toMatchObject({ code: 400 });
		expect(uploads.fileCount()).toBe(0);
	});

	test.each([
		['more follows after all announced bytes', 2 * chunk + 1, 2 * chunk, 'done'],
		['it ends with a whole chunk, too early', 2 * chunk, 2 * chunk + 1, 'notDone'],
	])('a whole chunk is the last one: %s', async (_, length, announced, outcome) => {
		const source = uploads.sourceOf(bytes.subarray(0, length), 64 * 1024, announced);
		expect(await catchFailure(uploads.send({ source }))).toMatchObject({ outcome });
		expect(uploads.fileCount()).toBe(outcome === 'done' ? 1 : 0);
	});

	test.each([
		[100, 101],
		[201, 100],
	])('in one request too: %d bytes in place of %d', async (length, announced) => {
		const source = uploads.sourceOf(bytes.subarray(0, length), 64, announced);
		const failure = await catchFailure(uploads.send({ metadata: { id: 'any' }, source }));
		expect(failure.code).toBe(400);
		expect(uploads.google.requests).toEqual([]);
	});
});
