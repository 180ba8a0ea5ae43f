import { getEventListeners } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { BodyError, bytesInFlight, MemoryBudget } from '../../nodes/http/body';
import { NodeError } from '../../nodes/core/errors';
import {
	attempt,
	errorOfBody,
	type FullResponse,
	RawResponse,
	unlessAborted,
} from '../../nodes/http/request';
import { RequestError, stoppedRequest } from '../../nodes/http/retry';
import { scriptedServer } from '../Workspace/server';

const failure = (message: string) => new RequestError('unknown', new NodeError({ code: 500, message }));
const errors = {
	stopped: stoppedRequest,
	timedOut: () => failure('late'),
	thrown: (error: unknown) => failure(`thrown: ${String(error)}`),
};
const never = (signal: AbortSignal) =>
	new Promise<never>((_, reject) => {
		signal.addEventListener('abort', () => {
			reject(new Error('aborted'));
		});
	});
const listeners = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

describe('a try', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const limitsOf = (stop: AbortController) => ({ timeoutMilliseconds: 5000, signal: stop.signal });

	test('gives what was answered, and leaves neither a timer nor a listener', async () => {
		const stop = new AbortController();
		const tried = attempt(() => Promise.resolve('answer'), limitsOf(stop), errors);
		expect([jest.getTimerCount(), listeners(stop)]).toEqual([1, 1]);
		expect(await tried).toBe('answer');
		expect([jest.getTimerCount(), listeners(stop)]).toEqual([0, 0]);
	});

	test('has an end at its deadline, not before', async () => {
		const stop = new AbortController();
		let isOver = false;
		const tried = attempt(never, limitsOf(stop), errors).catch((error: unknown) => error);
		void tried.then(() => (isOver = true));
		await jest.advanceTimersByTimeAsync(4999);
		expect(isOver).toBe(false);
		await jest.advanceTimersByTimeAsync(1);
		expect(await tried).toMatchObject({ message: 'late' });
		expect(listeners(stop)).toBe(0);
	});

	test('ends with the execution, and then nobody knows what it did', async () => {
		const stop = new AbortController();
		const tried = attempt(never, limitsOf(stop), errors).catch((error: unknown) => error);
		stop.abort();
		expect(await tried).toMatchObject({ kind: 'unknown', failure: { status: 'CANCELLED' } });
		expect(jest.getTimerCount()).toBe(0);
	});

	test('is not made in an execution that is over', async () => {
		const send = jest.fn(never);
		const tried = attempt(send, { timeoutMilliseconds: 5000, signal: AbortSignal.abort() }, errors);
		await expect(tried).rejects.toMatchObject({ kind: 'notDone' });
		expect(send).not.toHaveBeenCalled();
	});

	test('says what was thrown', async () => {
		const tried = attempt(() => Promise.reject(new Error('why')), limitsOf(new AbortController()), errors);
		await expect(tried).rejects.toMatchObject({ message: 'thrown: Error: why' });
	});
});

describe('an answer', () => {
	const silent = (): FullResponse & { readonly body: Readable } => ({
		statusCode: 200,
		headers: {},
		body: new Readable({ read() {} }),
	});

	test('that comes after the deadline is discarded', async () => {
		const stop = new AbortController();
		let resolve: (answer: FullResponse) => void = () => {};
		const promise = new Promise<FullResponse>((done) => (resolve = done));
		const sent = unlessAborted(promise, stop.signal);
		stop.abort();
		await expect(sent).rejects.toThrow('aborted');
		const late = silent();
		resolve(late);
		await promise;
		await new Promise(setImmediate);
		expect(late.body.destroyed).toBe(true);
	});

	test('that has come is left to its reader', async () => {
		const answer = silent();
		expect(await unlessAborted(Promise.resolve(answer), new AbortController().signal)).toBe(answer);
		expect(answer.body.destroyed).toBe(false);
	});

	test('that fails after the deadline harms nobody', async () => {
		const stop = new AbortController();
		let reject: (error: Error) => void = () => {};
		const promise = new Promise<FullResponse>((_, fail) => (reject = fail));
		const sent = unlessAborted(promise, stop.signal);
		stop.abort();
		await expect(sent).rejects.toThrow('aborted');
		reject(new Error('late'));
		await new Promise(setImmediate);
	});
});

test.each([
	['cutShort', 'unknown', 502, false],
	['noMemory', 'unknown', 503, false],
	['tooLarge', 'final', 502, true],
	['tooCostly', 'final', 502, true],
] as const)('a body that is %s: %s, status %d', (reason, kind, code, ambiguous) => {
	const texts = {
		cutShort: ['a', 'b'],
		noMemory: ['a', 'b'],
		tooLarge: ['a', 'b'],
		tooCostly: ['a', 'b'],
	} as const;
	const error = errorOfBody(new BodyError(reason, 'ECONNRESET'), texts);
	expect(error).toMatchObject({ kind, failure: { code, message: 'a', ambiguous } });
	expect(error.failure.description).toContain('b');
});

const text = Buffer.from('a text, a text');

test.each([
	['gzip', gzipSync(text), text, true],
	['X-GZIP', gzipSync(text), text, true],
	['br', brotliCompressSync(text), text, true],
	['deflate', deflateSync(text), text, true],
	['deflate', deflateRawSync(text), text, true],
	['gzip', Buffer.alloc(0), Buffer.alloc(0), true],
	['own', text, text, false],
	[undefined, text, text, false],
])(
	'an answer whose encoding is %s is unpacked by us, or not at all',
	async (encoding, sent, whole, isOurs) => {
		const server = await scriptedServer((response) => {
			response.writeHead(200, encoding === undefined ? {} : { 'content-encoding': encoding }).end(sent);
		});
		try {
			const raw = new RawResponse();
			const answer = await raw.watch(
				() => new Promise<IncomingMessage>((resolve) => http.get(server.url, resolve)),
			);
			expect(answer.headers['content-encoding']).toBe(isOurs ? undefined : encoding);
			const memory = new MemoryBudget();
			expect(await raw.whole(await buffer(answer), memory)).toEqual(whole);
			memory.release();
			expect(bytesInFlight()).toBe(0);
		} finally {
			await server.close();
		}
	},
);
