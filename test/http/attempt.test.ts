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
		const stop = new AbortController();
		stop.abort();
		const tried = attemptRequest(send, limitsOf(stop));
		await expect(tried).rejects.toMatchObject({ outcome: 'notDone' });
		expect(send).not.toHaveBeenCalled();
	});

	test('says what was thrown', async () => {
		const fail = () => Promise.reject(new Error('why'));
		const tried = attemptRequest(fail, limitsOf(new AbortController()));
		await expect(tried).rejects.toMatchObject({ message: 'thrown: Error: why' });
	});
});

describe('an answer', () => {
	const answer = (): FullResponse & { readonly body: Readable } => ({
		statusCode: 200,
		headers: {},
		body: new Readable({ read() {} }),
	});

	/** Awaits an answer until the deadline. @returns what gives the answer afterwards */
	async function missDeadline() {
		const stop = new AbortController();
		let give: (late: FullResponse | Promise<FullResponse>) => void = () => {};
		const promise = new Promise<FullResponse>((resolve) => (give = resolve));
		const sent = awaitResponse(() => promise, url, stop.signal);
		stop.abort();
		await expect(sent).rejects.toThrow('aborted');
		return give;
	}

	test('that comes after the deadline is discarded', async () => {
		const give = await missDeadline();
		const late = answer();
		give(late);
		await new Promise(setImmediate);
		expect(late.body.destroyed).toBe(true);
	});

	test('that fails after the deadline harms nobody', async () => {
		const give = await missDeadline();
		give(Promise.reject(new Error('late')));
		await new Promise(setImmediate);
	});

	test('that has come is left to its reader', async () => {
		const come = answer();
		const { signal } = new AbortController();
		const response = await awaitResponse(() => Promise.resolve(come), url, signal);
		expect(response).toMatchObject(come);
		expect(come.body.destroyed).toBe(false);
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
	const inSocket = (code: string, secureConnecting: boolean) =>
		error(code, { request: { socket: { secureConnecting } } });
	const blocked = Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' });
	const certificateWanted = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
	const noName = error('ENOTFOUND', { syscall: 'getaddrinfo' });
	const noIssuer = error('UNABLE_TO_VERIFY_LEAF_SIGNATURE');

	type Class = readonly [category: string, attempt: AttemptName, statusCode: number];
	const notConnected: Class = ['notConnected', 'notDone', 503];
	const lost: Class = ['lost', 'unknown', 503];
	const timeout: Class = ['timeout', 'unknown', 504];
	const certificate: Class = ['certificate', 'final', 503];
	const unknown: Class = ['unknown', 'unknown', 503];

	test.each<[string, Error, Class]>([
		['a refused connection', error('ECONNREFUSED', connecting), notConnected],
		['a name that is not found', noName, notConnected],
		['a name server that is away', error('EAI_AGAIN'), notConnected],
		['a host that cannot be reached', error('EHOSTUNREACH', connecting), notConnected],
		['a network that cannot be reached', error('ENETUNREACH', connecting), notConnected],
		['a connection that is not answered', error('ETIMEDOUT', connecting), notConnected],
		['a route lost under a request', error('EHOSTUNREACH', { syscall: 'read' }), lost],
		['a request that is not answered', error('ETIMEDOUT'), timeout],
		['the client’s own timeout', error('ECONNABORTED'), timeout],
		['a reset', error('ECONNRESET', { syscall: 'read' }), lost],
		['a reset before TLS stood', inSocket('ECONNRESET', true), notConnected],
		['a fault of TLS after it stood', inSocket('EPROTO', false), lost],
		[
			'a server that wants a certificate of the client',
			inSocket(certificateWanted, false),
			lost,
		],
		['a self-signed certificate', error('DEPTH_ZERO_SELF_SIGNED_CERT'), certificate],
		['a name that the certificate lacks', error('ERR_TLS_CERT_ALTNAME_INVALID'), certificate],
		['an issuer that is not known', noIssuer, certificate],
		['plain HTTP', error('ERR_SSL_WRONG_VERSION_NUMBER'), ['handshake', 'final', 503]],
		['a code of no known kind', error('ESOMETHING'), unknown],
		['an error without a code', new Error('canary'), unknown],
		['what n8n does not allow', blocked, ['blocked', 'final', 503]],
	])('%s', (_, thrown, [category, attempt, statusCode]) => {
		const expected = { category, statusCode, ...attempts[attempt] };
		const plain = classifyNetworkError(thrown);
		expect(plain).toMatchObject(expected);
		expect(plain.reason).not.toMatch(/canary|E[A-Z]{4}/);
		// As n8n and axios wrap it.
		const wrapped = new Error('wrapped', { cause: thrown });
		expect(classifyNetworkError(wrapped)).toMatchObject(expected);
	});

	test('only of a failure with a code, it is said that it was of the connection', () => {
		const { reason } = classifyNetworkError(error('ESOMETHING'));
		expect(reason).toBe('the connection failed');
		expect(classifyNetworkError(error('')).reason).toBe('the request failed');
	});

	test('an empty code or a status is none', () => {
		const refused = error('ECONNREFUSED', connecting);
		for (const code of ['', '502']) {
			const { errorCode } = classifyNetworkError(error(code, { cause: refused }));
			expect(errorCode).toBe('ECONNREFUSED');
		}
	});

	test('of a host with several addresses every connection counts', () => {
		const each = [error('ETIMEDOUT', connecting), error('ENETUNREACH', connecting)];
		const all = Object.assign(new AggregateError(each), { code: 'ETIMEDOUT' });
		const expected = { category: 'notConnected', ...attempts.notDone };
		expect(classifyNetworkError(all)).toMatchObject(expected);
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
