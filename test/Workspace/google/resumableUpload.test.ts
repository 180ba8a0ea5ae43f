// What a session sends, and what it makes of Drive's answers, with a transport that plays them.
import { Readable } from 'node:stream';
import timers from 'node:timers/promises';
import { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { NodeError, type Outcome } from '../../../nodes/core/errors';
import {
	uploadToDrive,
	type DriveUploadRequest,
} from '../../../nodes/Workspace/google/driveUpload';
import { chunkBytes } from '../../../nodes/Workspace/byteSource';
import {
	googleApiBases,
	googleRetryWords,
	type Transport,
} from '../../../nodes/Workspace/google/transport';
import { classifyStatus } from '../../../nodes/http/retry';
import { ResumableUpload } from '../../../nodes/Workspace/google/resumableUpload';
import { catchFailure } from '../catchFailure';

/** How many bytes Drive has, a file that is complete, or a failure. */
type Played = number | 'file' | NodeError;

/** As the transport throws it. */
function failure(
	code: number,
	more: { readonly status?: string; readonly outcome?: Outcome } = {},
) {
	const retryable = more.status === 'RESOURCE_EXHAUSTED' || classifyStatus(code).retryable;
	return new NodeError({ code, message: `HTTP ${code}`, retryable, ...more });
}
const lostAnswer = failure(503, { outcome: 'unknown' });

const address = 'https://drive.example/session';

beforeEach(() => {
	// The session waits through this function alone.
	jest.spyOn(timers, 'setTimeout').mockImplementation(async () => {
		await timers.setImmediate();
	});
});
afterEach(() => jest.restoreAllMocks());

/** A session of ten bytes, in two chunks of six and four. */
function sessionOf(played: Played[], maxAttempts = 3) {
	const ranges: string[] = [];
	const sent: string[] = [];
	const session = new ResumableUpload(
		async (call) => {
			await timers.setImmediate();
			expect(call).toMatchObject({ url: address, method: 'PUT', retryConfig: { retry: 0 } });
			expect(
				[199, 200, 299, 300, 307, 308, 309].filter((status) =>
					call.validateStatus?.(status),
				),
			).toEqual([200, 299, 308]);
			ranges.push(String((call.headers as Record<string, string>)['content-range']));
			if (Buffer.isBuffer(call.data)) sent.push(call.data.toString());
			const answer = played.shift();
			if (answer instanceof NodeError) throw answer;
			if (typeof answer !== 'number') return { status: 200, headers: {}, data: { id: 'f1' } };
			const headers = answer === 0 ? {} : { range: `bytes=0-${answer - 1}` };
			return { status: 308, headers, data: undefined };
		},
		address,
		10,
		{
			words: googleRetryWords,
			maxAttempts,
			maxRetryWaitMilliseconds: 60_000,
			signal: undefined,
		},
	);
	const first = () => session.send(Buffer.from('abcdef'), 0);
	const second = () => session.send(Buffer.from('ghij'), 6);
	return { session, ranges, sent, first, second };
}

test('each chunk goes out once, and the last one brings the file', async () => {
	const { session, ranges, sent, first, second } = sessionOf([6, 'file']);
	expect([await first(), session.storedBytes, await second(), session.storedBytes]).toEqual([
		true,
		6,
		true,
		10,
	]);
	expect(await session.finish()).toEqual({ id: 'f1' });
	expect([ranges, sent]).toEqual([
		['bytes 0-5/10', 'bytes 6-9/10'],
		['abcdef', 'ghij'],
	]);
});

test.each<[string, Played[], string[]]>([
	['only what Drive does not have', [4, 6], ['bytes 0-5/10', 'bytes 4-5/10']],
	['nothing that arrived in spite of a failure', [lostAnswer, 6], ['bytes 0-5/10', 'bytes */10']],
	['the rest of it', [lostAnswer, 2, 6], ['bytes 0-5/10', 'bytes */10', 'bytes 2-5/10']],
	[
		'all of it, if nothing arrived',
		[lostAnswer, 0, 6],
		['bytes 0-5/10', 'bytes */10', 'bytes 0-5/10'],
	],
	[
		'nothing before Drive said what it has',
		[lostAnswer, lostAnswer, 6],
		['bytes 0-5/10', 'bytes */10', 'bytes */10'],
	],
])('of a chunk is sent again: %s', async (_what, played, expected) => {
	const { ranges, first } = sessionOf(played);
	expect(await first()).toBe(true);
	expect(ranges).toEqual(expected);
});

test('once Drive said what it has, it is not asked again', async () => {
	const { ranges, first, second } = sessionOf([lostAnswer, 6, 'file']);
	await first();
	await second();
	expect(ranges).toEqual(['bytes 0-5/10', 'bytes */10', 'bytes 6-9/10']);
});

test.each<[string, Played[], string]>([
	['as an answer to bytes', [6, 5], 'bytes 6-9/10'],
	['as an answer to a question', [6, lostAnswer, 5], 'bytes */10'],
])('bytes from before the chunk are asked for, %s', async (_when, played, last) => {
	const { session, ranges, first, second } = sessionOf(played);
	await first();
	expect(await second()).toBe(false);
	expect(session.storedBytes).toBe(5);
	expect(ranges.at(-1)).toBe(last);
});

test('tries begin anew as long as something arrives', async () => {
	const { first } = sessionOf([lostAnswer, 1, lostAnswer, 2, lostAnswer, 3, 6], 2);
	expect(await first()).toBe(true);
});

test.each([0, 3])('nothing taken after %d bytes ends after the tries', async (stored) => {
	const { ranges, first } = sessionOf(stored === 0 ? [0, 0, 0, 6] : [3, 3, 3, 3, 6]);
	expect(await catchFailure(first())).toMatchObject({
		code: 503,
		outcome: 'notDone',
		message: 'Google Drive did not store any of the bytes that were sent',
	});
	expect(ranges).toHaveLength(stored === 0 ? 3 : 4);
});

test('more than was sent is an error', async () => {
	expect(await catchFailure(sessionOf([7]).first())).toMatchObject({
		code: 502,
		outcome: 'unknown',
		message: 'Google Drive reported 7 stored bytes, but 6 were sent',
	});
});

test('the tries end: only with the last chunk a file may have been made', async () => {
	const fails = () => Array<Played>(9).fill(lostAnswer);
	expect(await catchFailure(sessionOf(fails()).first())).toMatchObject({
		code: 503,
		outcome: 'notDone',
	});
	const { ranges, first, second } = sessionOf([6, ...fails()]);
	await first();
	expect(await catchFailure(second())).toMatchObject({ code: 503, outcome: 'unknown' });
	expect(ranges).toHaveLength(1 + 3);
});

test.each([
	[404, 1],
	[410, 1],
	[400, 1],
	[403, 1],
	[407, 1],
	[408, 3],
	[409, 1],
	[499, 1],
	[500, 3],
	[503, 3],
])('HTTP %d: %d requests', async (code, count) => {
	const { session, ranges, first } = sessionOf(Array<Played>(9).fill(failure(code)));
	await catchFailure(first());
	expect(ranges).toHaveLength(count);
	expect(session.isLost).toBe(code === 404 || code === 410);
});

test.each([
	[403, 'RESOURCE_EXHAUSTED', 3],
	[403, 'PERMISSION_DENIED', 1],
])('HTTP %d %s: %d requests', async (code, status, count) => {
	const { ranges, first } = sessionOf(Array<Played>(9).fill(failure(code, { status })));
	await catchFailure(first());
	expect(ranges).toHaveLength(count);
});

test('a session that ends before the last chunk made no file; after it, it may have', async () => {
	expect(await catchFailure(sessionOf([failure(404)]).first())).toMatchObject({
		code: 503,
		outcome: 'notDone',
	});
	const { first, second } = sessionOf([6, failure(410)]);
	await first();
	const lost = await catchFailure(second());
	expect(lost).toMatchObject({ code: 503, outcome: 'unknown' });
	expect(lost.description).toContain('may still exist');
});

test('an empty file, or one whose answer was lost, is asked for at the end', async () => {
	const { session, ranges } = sessionOf(['file']);
	expect(await session.finish()).toEqual({ id: 'f1' });
	expect(ranges).toEqual(['bytes */10']);
	const silent = sessionOf(Array<Played>(9).fill(lostAnswer)).session;
	expect(await catchFailure(silent.finish())).toMatchObject({ code: 503, outcome: 'unknown' });
});

test('all bytes and still no file is a failure', async () => {
	const { session, first, second } = sessionOf([6, 10, 10]);
	await first();
	await second();
	expect(await catchFailure(session.finish())).toMatchObject({
		code: 502,
		outcome: 'unknown',
		message: 'Google Drive stored 10 of 10 bytes but did not complete the file',
	});
});

test('what is no failure of Google is passed on as it is', async () => {
	const fault = new TypeError('a fault');
	const session = new ResumableUpload(() => Promise.reject(fault), address, 1, {
		words: googleRetryWords,
		maxAttempts: 3,
		maxRetryWaitMilliseconds: 0,
		signal: undefined,
	});
	await expect(session.send(Buffer.from('a'), 0)).rejects.toBe(fault);
});

describe('an upload', () => {
	/** Drive, which has what a function makes of the end of the bytes that came. */
	function drive(storedOf: (end: number) => number | NodeError = (end) => end, maxAttempts = 3) {
		const calls: Array<Parameters<Transport>[0]> = [];
		const transport: Transport = async (call) => {
			await timers.setImmediate();
			calls.push(call);
			const headers = { location: 'https://www.googleapis.com/session' };
			const [, end = '', total] =
				/(\d+)\/(\d+)$/.exec(
					(call.headers as Record<string, string>)['content-range'] ?? '',
				) ?? [];
			if (end === '') return { status: 200, headers, data: { id: 'f1' } };
			const stored = storedOf(Number(end) + 1);
			if (stored instanceof NodeError) throw stored;
			if (stored === Number(total)) return { status: 201, headers, data: { id: 'f1' } };
			return { status: 308, headers: { range: `bytes=0-${stored - 1}` }, data: undefined };
		};
		const clientOptions = {
			version: 'v3',
			auth: { request: transport },
		} as unknown as drive_v3.Options;
		const client = new drive_v3.Drive(clientOptions);
		const options = {
			...{
				maxAttempts,
				maxRetryWaitMilliseconds: 60_000,
				timeoutMilliseconds: 1000,
				signal: undefined,
			},
			...{
				credentialKey: 'c',
				signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' } as const,
			},
		};
		const upload = async (
			bytes: number,
			{
				announced = bytes,
				...more
			}: Partial<DriveUploadRequest> & { announced?: number } = {},
		) => {
			const open = () => Promise.resolve(Readable.from([Buffer.alloc(bytes)]));
			const source = { size: announced, open };
			const request = {
				metadata: { id: 'own' },
				mimeType: 'a/b',
				source,
				fields: 'id',
				...more,
			};
			return await uploadToDrive(
				{ drive: client, transport, bases: googleApiBases, options },
				request,
			);
		};
		return { calls, upload };
	}

	test.each([
		['of 5 MB with an ID', 5_000_000, {}, 'multipart', 'POST'],
		['of more', 5_000_001, {}, 'resumable', 'POST'],
		['that replaces a file', 10, { metadata: {}, replacedId: 'old' }, 'multipart', 'PATCH'],
		['without an ID', 10, { metadata: {} }, 'resumable', 'POST'],
	])('%s', async (_what, bytes, more, type, method) => {
		const { calls, upload } = drive();
		const progress: number[][] = [];
		const onProgress = (...given: number[]) => progress.push(given);
		expect((await upload(bytes, { ...more, onProgress })).file).toEqual({ id: 'f1' });
		const [start] = calls;
		expect(start).toMatchObject({
			method,
			retryConfig: { httpMethodsToRetry: ['POST', 'PATCH'] },
		});
		expect(start?.params).toEqual({ uploadType: type, supportsAllDrives: true, fields: 'id' });
		const place = 'replacedId' in more ? '/old' : '';
		expect(String(start?.url)).toBe(`https://www.googleapis.com/upload/drive/v3/files${place}`);
		expect(calls).toHaveLength(type === 'multipart' ? 1 : 2);
		expect(progress).toEqual([[bytes, bytes]]);
	});

	test.each([
		['shorter by a chunk', chunkBytes, chunkBytes + 1],
		['shorter by a byte', chunkBytes - 1, chunkBytes],
		['longer', chunkBytes + 2, chunkBytes + 1],
		['not empty', 1, 0],
		['longer, in one request', 101, 100],
		['shorter, in one request', 99, 100],
	])('of a source that is %s makes no file', async (_what, bytes, announced) => {
		const stored = jest.fn((end: number) => end);
		const outcome = drive(stored).upload(bytes, { announced });
		expect(await catchFailure(outcome)).toMatchObject({ code: 400, outcome: 'notDone' });
		for (const [end] of stored.mock.calls) expect(end).toBeLessThan(announced);
	});

	test('of a source that grows after its last whole chunk may have made a file', async () => {
		const grown = drive().upload(chunkBytes + 1, { announced: chunkBytes });
		expect(await catchFailure(grown)).toMatchObject({ code: 400, outcome: 'done' });
		const shrunk = drive().upload(chunkBytes, { announced: chunkBytes + 1 });
		expect(await catchFailure(shrunk)).toMatchObject({ code: 400, outcome: 'notDone' });
	});

	test('whose session is lost each time ends after as many sessions as tries', async () => {
		const { calls, upload } = drive(() => failure(404));
		expect(await catchFailure(upload(chunkBytes + 1))).toMatchObject({
			code: 503,
			outcome: 'notDone',
		});
		expect(calls.filter(({ method }) => method === 'POST')).toHaveLength(3);
	});

	test('whose bytes Drive loses each time ends after as many passes as tries', async () => {
		const ends: number[] = [];
		const { calls, upload } = drive((end) => (ends.push(end), end === chunkBytes ? end : 1));
		expect(await catchFailure(upload(chunkBytes + 1))).toMatchObject({
			code: 503,
			outcome: 'notDone',
		});
		expect(ends.filter((end) => end > chunkBytes)).toHaveLength(3);
		expect(calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
	});
});
