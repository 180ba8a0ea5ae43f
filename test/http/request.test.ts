import { getEventListeners } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { NodeError } from '../../nodes/core/errors';
import { BodyError } from '../../nodes/http/body';
import { MemoryReservation } from '../../nodes/http/responseMemory';
import {
	collectErrorChain,
	classifyNetworkError,
	formatNetworkMessage,
} from '../../nodes/http/networkErrors';
import {
	attemptRequest,
	convertBodyError,
	type FullResponse,
	rejectOnAbort,
} from '../../nodes/http/request';
import { RawResponse } from '../../nodes/http/rawResponse';
import { createStoppedRequestError } from '../../nodes/http/retry';
import { startScriptedServer } from '../Workspace/scriptedServer';
import { type AttemptName, attempts } from '../attempt';
import { getBytesInFlight } from '../sharedState';

describe('request', () => {
	const failure = (message: string) => new NodeError({ code: 500, message, ...attempts.unknown });
	const errors = {
		createStoppedError: createStoppedRequestError,
		createTimeoutError: () => failure('late'),
		toRequestError: (error: unknown) => failure(`thrown: ${String(error)}`),
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

		const limitsOf = (stop: AbortController) => ({
			timeoutMilliseconds: 5000,
			signal: stop.signal,
		});

		test('gives what was answered, and leaves neither a timer nor a listener', async () => {
			const stop = new AbortController();
			const tried = attemptRequest(() => Promise.resolve('answer'), limitsOf(stop), errors);
			expect([jest.getTimerCount(), listeners(stop)]).toEqual([1, 1]);
			expect(await tried).toBe('answer');
			expect([jest.getTimerCount(), listeners(stop)]).toEqual([0, 0]);
		});

		test('has an end at its deadline, not before', async () => {
			const stop = new AbortController();
			let isOver = false;
			const tried = attemptRequest(never, limitsOf(stop), errors).catch(
				(error: unknown) => error,
			);
			void tried.then(() => (isOver = true));
			await jest.advanceTimersByTimeAsync(4999);
			expect(isOver).toBe(false);
			await jest.advanceTimersByTimeAsync(1);
			expect(await tried).toMatchObject({ message: 'late' });
			expect(listeners(stop)).toBe(0);
		});

		test('ends with the execution, and then nobody knows what it did', async () => {
			const stop = new AbortController();
			const tried = attemptRequest(never, limitsOf(stop), errors).catch(
				(error: unknown) => error,
			);
			stop.abort();
			expect(await tried).toMatchObject({ outcome: 'unknown', status: 'CANCELLED' });
			expect(jest.getTimerCount()).toBe(0);
		});

		test('is not made in an execution that is over', async () => {
			const send = jest.fn(never);
			const tried = attemptRequest(
				send,
				{ timeoutMilliseconds: 5000, signal: AbortSignal.abort() },
				errors,
			);
			await expect(tried).rejects.toMatchObject({ outcome: 'notDone' });
			expect(send).not.toHaveBeenCalled();
		});

		test('says what was thrown', async () => {
			const tried = attemptRequest(
				() => Promise.reject(new Error('why')),
				limitsOf(new AbortController()),
				errors,
			);
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
			const sent = rejectOnAbort(promise, stop.signal);
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
			expect(await rejectOnAbort(Promise.resolve(answer), new AbortController().signal)).toBe(
				answer,
			);
			expect(answer.body.destroyed).toBe(false);
		});

		test('that fails after the deadline harms nobody', async () => {
			const stop = new AbortController();
			let reject: (error: Error) => void = () => {};
			const promise = new Promise<FullResponse>((_, fail) => (reject = fail));
			const sent = rejectOnAbort(promise, stop.signal);
			stop.abort();
			await expect(sent).rejects.toThrow('aborted');
			reject(new Error('late'));
			await new Promise(setImmediate);
		});
	});

	test.each([
		['cutShort', 'unknown', 502],
		['noMemory', 'unknown', 503],
		['tooLarge', 'finalUnknown', 502],
		['tooCostly', 'finalUnknown', 502],
	] as const)('a body that is %s: %s, status %d', (reason, attempt, code) => {
		const texts = {
			cutShort: ['a', 'b'],
			noMemory: ['a', 'b'],
			tooLarge: ['a', 'b'],
			tooCostly: ['a', 'b'],
		} as const;
		const error = convertBodyError(new BodyError(reason, 'ECONNRESET'), texts);
		expect(error).toMatchObject({ code, message: 'a', ...attempts[attempt] });
		expect(error.description).toContain('b');
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
			const server = await startScriptedServer((response) => {
				response
					.writeHead(200, encoding === undefined ? {} : { 'content-encoding': encoding })
					.end(sent);
			});
			try {
				const raw = new RawResponse();
				const answer = await raw.watch(
					() => new Promise<IncomingMessage>((resolve) => http.get(server.url, resolve)),
				);
				expect(answer.headers['content-encoding']).toBe(isOurs ? undefined : encoding);
				const memory = new MemoryReservation();
				expect(await raw.decompress(await buffer(answer), memory)).toEqual(whole);
				memory.release();
				expect(getBytesInFlight()).toBe(0);
			} finally {
				await server.close();
			}
		},
	);
});

describe('network errors', () => {
	const error = (code: string, more: object = {}) =>
		Object.assign(new Error('canary'), { code, ...more });
	const connecting = { syscall: 'connect' };

	test.each<[string, Error, string, AttemptName, number]>([
		['a refused connection', error('ECONNREFUSED', connecting), 'notConnected', 'notDone', 503],
		[
			'a name that is not found',
			error('ENOTFOUND', { syscall: 'getaddrinfo' }),
			'notConnected',
			'notDone',
			503,
		],
		['a name server that is away', error('EAI_AGAIN'), 'notConnected', 'notDone', 503],
		[
			'a host that cannot be reached',
			error('EHOSTUNREACH', connecting),
			'notConnected',
			'notDone',
			503,
		],
		[
			'a network that cannot be reached',
			error('ENETUNREACH', connecting),
			'notConnected',
			'notDone',
			503,
		],
		[
			'a connection that is not answered',
			error('ETIMEDOUT', connecting),
			'notConnected',
			'notDone',
			503,
		],
		[
			'a route lost under a request',
			error('EHOSTUNREACH', { syscall: 'read' }),
			'lost',
			'unknown',
			503,
		],
		['a request that is not answered', error('ETIMEDOUT'), 'timeout', 'unknown', 504],
		['the client’s own timeout', error('ECONNABORTED'), 'timeout', 'unknown', 504],
		['a reset', error('ECONNRESET', { syscall: 'read' }), 'lost', 'unknown', 503],
		[
			'a reset before TLS stood',
			Object.assign(
				new Error(
					'Client network socket disconnected before secure TLS connection was established',
				),
				{ code: 'ECONNRESET' },
			),
			'notConnected',
			'notDone',
			503,
		],
		[
			'a self-signed certificate',
			error('DEPTH_ZERO_SELF_SIGNED_CERT'),
			'certificate',
			'final',
			503,
		],
		[
			'a name that the certificate lacks',
			error('ERR_TLS_CERT_ALTNAME_INVALID'),
			'certificate',
			'final',
			503,
		],
		[
			'an issuer that is not known',
			error('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
			'certificate',
			'final',
			503,
		],
		[
			'plain HTTP where TLS was expected',
			error('ERR_SSL_WRONG_VERSION_NUMBER'),
			'handshake',
			'final',
			503,
		],
		['a code of no known kind', error('ESOMETHING'), 'unknown', 'unknown', 503],
		['an error without a code', new Error('canary'), 'unknown', 'unknown', 503],
		[
			'what n8n does not allow',
			Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' }),
			'blocked',
			'final',
			503,
		],
	])('%s', (_, thrown, what, attempt, statusCode) => {
		const expected = { category: what, statusCode, ...attempts[attempt] };
		const plain = classifyNetworkError(thrown);
		expect(plain).toMatchObject(expected);
		expect(plain.reason).not.toMatch(/canary|E[A-Z]{4}/);
		// As n8n and axios wrap it.
		expect(classifyNetworkError(new Error('wrapped', { cause: thrown }))).toMatchObject(
			expected,
		);
	});

	test('an empty code or a status is none', () => {
		const refused = error('ECONNREFUSED', connecting);
		for (const code of ['', '502']) {
			expect(classifyNetworkError(error(code, { cause: refused }))).toMatchObject({
				errorCode: 'ECONNREFUSED',
			});
		}
	});

	test('of a host with several addresses every connection counts', () => {
		const each = [error('ETIMEDOUT', connecting), error('ENETUNREACH', connecting)];
		const all = Object.assign(new AggregateError(each), { code: 'ETIMEDOUT' });
		expect(classifyNetworkError(all)).toMatchObject({
			category: 'notConnected',
			...attempts.notDone,
		});
	});

	describe('the place that could not be reached', () => {
		const refused = error('ECONNREFUSED', connecting);
		const placeOf = (more: object, url = 'https://service.example/path') => {
			const thrown = new Error('wrapped', {
				cause: Object.assign(error('ECONNREFUSED', connecting), more),
			});
			return formatNetworkMessage(classifyNetworkError(refused), thrown, url).replace(
				/^No connection to (.*): .*$/,
				'$1',
			);
		};

		test.each<[string, object, string | undefined, string]>([
			['is the host of the request', {}, undefined, 'service.example'],
			['with its port', {}, 'http://service.example:8080/', 'service.example:8080'],
			[
				'whatever its address',
				{ address: '10.0.0.1', port: 443 },
				undefined,
				'service.example',
			],
			[
				'also without TLS',
				{ address: '10.0.0.1', port: 80 },
				'http://service.example/',
				'service.example',
			],
			[
				'also at its own port',
				{ address: '::1', port: 81 },
				'http://service.example:81',
				'service.example:81',
			],
			[
				'or a proxy by its port',
				{ address: '10.0.0.1', port: 3128 },
				undefined,
				'10.0.0.1:3128',
			],
			['or a proxy by its name', { hostname: 'proxy.example' }, undefined, 'proxy.example'],
			[
				'but not the host again',
				{ hostname: 'service.example' },
				'https://service.example:1',
				'service.example:1',
			],
			['nor a port without an address', { port: 3128 }, undefined, 'service.example'],
			[
				'nor an address without a port',
				{ address: '10.0.0.1' },
				undefined,
				'service.example',
			],
		])('%s: %j', (_, more, url, place) => {
			expect(placeOf(more, url)).toBe(place);
		});
	});

	test('causes are followed once each, and sixteen at most', () => {
		const circle = new Error('a');
		circle.cause = new Error('b', { cause: circle });
		expect(collectErrorChain(circle)).toEqual([circle, circle.cause]);
		let long = new Error('innermost');
		for (let links = 1; links < 20; links++) long = new Error('outer', { cause: long });
		expect(collectErrorChain(long)).toHaveLength(16);
		expect(collectErrorChain(new Error('a', { cause: null }))).toHaveLength(1);
		expect(collectErrorChain('text')).toEqual([]);
	});
});
