import { createHash } from 'node:crypto';

import { failing } from '../failure';
import { bytes, chunk, LargeUploads, MiB, size } from './largeUploads';

const uploads = new LargeUploads();

describe('after a failure Drive is asked first', () => {
	test('a reset in the middle of a chunk', async () => {
		uploads.google.drive.faults.resetAt.push(chunk + 5 * MiB);
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()[2]).toBe(`*/${size}`);
		expect(uploads.sentBytes()).toBeLessThanOrEqual(size + chunk);
	});

	test('a reset in each tenth of the file', async () => {
		for (let tenth = 0; tenth < 10; tenth++)
			uploads.google.drive.faults.resetAt.push(Math.floor(((tenth + 0.5) * size) / 10));
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges().filter((range) => range.startsWith('*'))).toHaveLength(10);
	});

	test('more resets in one chunk than there are tries, as long as something arrives', async () => {
		for (let at = 1; at <= 10; at++) uploads.google.drive.faults.resetAt.push(at * 0.7 * MiB);
		uploads.expectWhole(await uploads.send({}, 2));
	});

	test.each([500, 502, 503, 504, 429, 408])('HTTP %d', async (status) => {
		uploads.google.fault({ match: 'upload.session', nth: 2, status });
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()[2]).toBe(`*/${size}`);
		expect(uploads.sentBytes()).toBe(size);
	});

	test('the answer to the last chunk is lost: the file is there once', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 3, connection: 'resetAfter' });
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()).toHaveLength(4);
	});

	test('the question fails too', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 2, times: 3, connection: 'resetBefore' });
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges().slice(1, 5)).toEqual([
			`${chunk}-${2 * chunk - 1}/${size}`,
			`*/${size}`,
			`*/${size}`,
			`*/${size}`,
		]);
	});

	test('the tries end: nothing was made, and the failure says so', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 2, times: 100, status: 503 });
		expect(await failing(uploads.send({}, 3))).toMatchObject({ code: 503, ambiguous: false });
		expect(uploads.fileCount()).toBe(0);
	});

	test('the tries end with the last chunk: nobody knows', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 3, times: 100, connection: 'resetAfter' });
		expect(await failing(uploads.send({}, 2))).toMatchObject({ code: 503, ambiguous: true });
	});

	test('what is refused is not sent again', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 2, status: 403, reason: 'storageQuotaExceeded' });
		const failure = await failing(uploads.send());
		expect(failure).toMatchObject({ code: 403, ambiguous: false });
		// All APIs of the stand-in are on one host, as behind a gateway.
		expect(failure.message).toMatch(/^Google Drive: /);
		expect(uploads.ranges()).toHaveLength(2);
	});

	test('a token that expired in the middle is renewed by n8n', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 2, status: 401 });
		uploads.expectWhole(await uploads.send());
		expect(uploads.ranges()).toHaveLength(4);
	});
});

describe('a session that is gone', () => {
	test.each([404, 410] as const)('%d starts a new one', async (status) => {
		uploads.google.fault({ match: 'upload.session', nth: 2, status });
		uploads.expectWhole(await uploads.send());
		expect(uploads.google.drive.sessions).toHaveLength(2);
		expect(uploads.opened).toBe(2);
	});

	test('again and again ends after the tries', async () => {
		uploads.google.fault({ match: 'upload.session', times: 100, status: 404 });
		expect(await failing(uploads.send({}, 3))).toMatchObject({ code: 503, ambiguous: false });
		expect(uploads.google.drive.sessions).toHaveLength(3);
		expect(uploads.fileCount()).toBe(0);
	});

	test('after the last chunk: the file is looked up before anything is sent anew', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 3, connection: 'resetAfter' });
		uploads.google.fault({ match: 'upload.session', nth: 4, status: 404 });
		const findExisting = () => Promise.resolve({ id: 'found', md5Checksum: '' });
		const { file, md5 } = await uploads.send({ findExisting });
		expect(file.id).toBe('found');
		expect(md5).toBe(createHash('md5').update(bytes).digest('hex'));
		expect({ sessions: uploads.google.drive.sessions.length, files: uploads.fileCount() }).toEqual({
			sessions: 1,
			files: 1,
		});
	});

	test('after the last chunk, and nothing is found: it is not sent again', async () => {
		uploads.google.fault({ match: 'upload.session', nth: 3, connection: 'resetAfter' });
		uploads.google.fault({ match: 'upload.session', nth: 4, status: 404 });
		const failure = await failing(uploads.send({ findExisting: () => Promise.resolve(undefined) }));
		expect(failure).toMatchObject({ code: 503, ambiguous: true });
		expect({ sessions: uploads.google.drive.sessions.length, files: uploads.fileCount() }).toEqual({
			sessions: 1,
			files: 1,
		});
	});
});
