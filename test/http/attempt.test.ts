import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';

import { NodeError } from '../../nodes/core/errors';
import { BodyError } from '../../nodes/http/body';
import { collectErrorChain, classifyNetworkError } from '../../nodes/http/networkErrors';
import {
	attemptRequest,
	awaitResponse,
	convertBodyError,
	type FullResponse,
} from '../../nodes/http/attempt';
import { type AttemptName, attempts } from '../attempt';

const url = 'https://service.example/';

const failure = (message: string) => new NodeError({ code: 500, message, ...attempts.unknown });
const settings = {
	texts: { service: 'The service', nothingDone: 'Not sent.', mayBeDone: 'Look.' },
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
		...settings,
		timeoutMilliseconds: 5000,
		signal: stop.signal,
	});

	test('gives what was answered, and leaves neither a timer nor a listener', async () => {
		const stop = new AbortController();
		const tried = attemptRequest(() => Promise.resolve('answer'), limitsOf(stop));
		expect([jest.getTimerCount(), listeners(stop)]).toEqual([1, 1]);
		expect(await tried).toBe('answer');
		expect([jest.getTimerCount(), listeners(stop)]).toEqual([0, 0]);
	});

	test('has an end at its deadline, not before', async () => {
		const stop = new AbortController();
		let isOver = false;
		const tried = attemptRequest(never, limitsOf(stop)).catch((error: unknown) => error);
		void tried.then(() => (isOver = true));
		await jest.advanceTimersByTimeAsync(4999);
		expect(isOver).toBe(false);
		await jest.advanceTimersByTimeAsync(1);
		expect(await tried).toMatchObject({
			message: 'The service did not respond within 5 s',
			...attempts.unknown,
		});
		expect(listeners(stop)).toBe(0);
	});

	test('ends with the execution, and then nobody knows what it did', async () => {
		const stop = new AbortController();
		const tried = attemptRequest(never, limitsOf(stop)).catch((error: unknown) => error);
		stop.abort();
		expect(await tried).toMatchObject({ outcome: 'unknown', status: 'CANCELLED' });
		expect(jest.getTimerCount()).toBe(0);
	});

	test('is not made in an execution that is over', async () => {
		const send = jest.fn(never);
		const tried = attemptRequest(send, {
			...settings,
			timeoutMilliseconds: 5000,
			signal: AbortSignal.abort(),
		});
		await expect(tried).rejects.toMatchObject({ outcome: 'notDone' });
		expect(send).not.toHaveBeenCalled();
	});

	test('says what was thrown', async () => {
		const tried = attemptRequest(
			() => Promise.reject(new Error('why')),
			limitsOf(new AbortController()),
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
		const sent = awaitResponse(() => promise, url, stop.signal);
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
		const { signal } = new AbortController();
		expect(await awaitResponse(() => Promise.resolve(answer), url, signal)).toMatchObject(
			answer,
		);
		expect(answer.body.destroyed).toBe(false);
	});

	test('that fails after the deadline harms nobody', async () => {
		const stop = new AbortController();
		let reject: (error: Error) => void = () => {};
		const promise = new Promise<FullResponse>((_, fail) => (reject = fail));
		const sent = awaitResponse(() => promise, url, stop.signal);
		stop.abort();
		await expect(sent).rejects.toThrow('aborted');
		reject(new Error('late'));
		await new Promise(setImmediate);
	});
});

test.each([
	['cutShort', 'unknown', 502],
	['tooLarge', 'finalUnknown', 502],
	['tooCostly', 'finalUnknown', 502],
] as const)('a body that is %s: %s, status %d', (reason, attempt, code) => {
	const advice = { cutShort: 'b', tooLarge: 'b', tooCostly: 'b' };
	const texts = { service: 'The service', nothingDone: '' };
	const error = convertBodyError(new BodyError(reason, 'ECONNRESET'), texts, advice);
	expect(error).toMatchObject({ code, ...attempts[attempt] });
	expect(error.message).toMatch(/^The service's response /);
	expect(error.description).toContain('b');
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
			error('ECONNRESET', { request: { socket: { secureConnecting: true } } }),
			'notConnected',
			'notDone',
			503,
		],
		[
			'a fault of TLS after it stood',
			error('EPROTO', { request: { socket: { secureConnecting: false } } }),
			'lost',
			'unknown',
			503,
		],
		[
			'a server that wants a certificate of the client',
			error('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', {
				request: { socket: { secureConnecting: false } },
			}),
			'lost',
			'unknown',
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
