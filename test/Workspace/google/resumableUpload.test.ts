import { createReadStream, type ReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { expectNoViolations, startGoogle } from '../../../dev/google/server';
import { testClients } from '../client';
import { failing } from '../failure';
import { bytes, chunk, LargeUploads, MiB, size } from './largeUploads';

const uploads = new LargeUploads();

describe('a session', () => {
	test('starts with the metadata, type and length, and sends chunks of 8 MiB', async () => {
		const progress: number[] = [];
		const done = await uploads.send({
			metadata: { name: 'ü.bin', description: 'd' },
			mimeType: 'image/png',
			onProgress: (sent, total) => progress.push(sent / total),
		});
		uploads.expectWhole(done);
		const [start] = uploads.google.requests;
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
		expect(uploads.ranges()).toEqual([
			`0-${chunk - 1}/${size}`,
			`${chunk}-${2 * chunk - 1}/${size}`,
			`${2 * chunk}-${size - 1}/${size}`,
		]);
		expect(progress).toEqual([chunk / size, (2 * chunk) / size, 1]);
		expect(uploads.google.drive.content(done.file.id ?? '')?.data?.equals(bytes)).toBe(true);
	});

	test.each([1000, 3 * MiB, chunk, size])('cuts a source that comes in pieces of %d bytes', async (piece) => {
		uploads.expectWhole(await uploads.send({ source: uploads.sourceOf(bytes, piece) }));
		expect(uploads.ranges()).toHaveLength(3);
		expect(uploads.opened).toBe(1);
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
		uploads.google.drive.faults.keepOnly = MiB;
		uploads.google.fault({ match: 'upload.session', nth: 2, status: 404 });
		uploads.expectWhole(await uploads.send({ source: { size, open } }));
		expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true]);
		await rm(folder, { recursive: true });
		await expect(uploads.send({ source: { size, open } })).rejects.toThrow('ENOENT');
	});

	test('an empty file is complete without a byte', async () => {
		const done = await uploads.send({ source: uploads.sourceOf(Buffer.alloc(0)) });
		expect(done).toMatchObject({ file: { size: '0' }, md5: 'd41d8cd98f00b204e9800998ecf8427e' });
		expect(uploads.fileCount()).toBe(1);
	});

	test('a base with a path prefix', async () => {
		const behind = await startGoogle({ pathPrefix: '/gateway' });
		try {
			const { resumableUpload } = testClients(behind.url, behind.tokens.issue());
			const source = uploads.sourceOf(bytes);
			const request = { metadata: {}, mimeType: 'a/b', source, fields: 'id' };
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
		uploads.google.drive.faults.keepOnly = MiB + 5;
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges().slice(0, 2)).toEqual([`0-${chunk - 1}/${size}`, `${MiB}-${chunk - 1}/${size}`]);
	});

	test('a 308 without Range means that nothing arrived', async () => {
		uploads.google.drive.faults.keepOnly = 1000;
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges().slice(0, 2)).toEqual([`0-${chunk - 1}/${size}`, `0-${chunk - 1}/${size}`]);
	});

	test('bytes that Drive lost again are read again', async () => {
		uploads.google.fault({
			match: 'upload.session',
			nth: 2,
			status: 308,
			body: '',
			headers: { Range: 'bytes=0-262143' },
		});
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()[2]).toBe(`262144-${chunk - 1}/${size}`);
		expect(uploads.opened).toBe(2);
	});

	test('more than was sent is an error', async () => {
		uploads.google.fault({
			match: 'upload.session',
			status: 308,
			body: '',
			headers: { Range: `bytes=0-${chunk}` },
		});
		expect(await failing(uploads.send())).toMatchObject({ code: 502 });
	});

	test('nothing taken again and again ends after the tries', async () => {
		uploads.google.fault({ match: 'upload.session', times: 100, status: 308, body: '' });
		const failure = await failing(uploads.send({}, 3));
		expect(failure).toMatchObject({ code: 503, ambiguous: false });
		expect(uploads.ranges()).toHaveLength(3);
	});
});
