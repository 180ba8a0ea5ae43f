import { NodeApiError, NodeOperationError, UserError, type INode } from 'n8n-workflow';

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

import { isNodeError, NodeError } from '../../../nodes/core/errors';
import type { RequestFacts } from '../../../nodes/Workspace/google/advice';
import {
	createResponseError,
	toGoogleFailure,
	toRequestError,
} from '../../../nodes/Workspace/google/errors';
import { BodyError } from '../../../nodes/http/body';
import { createTransport } from '../../../nodes/Workspace/google/transport';
import { basesAt, transportOptions } from '../client';
import { catchFailure } from '../catchFailure';
import { googleError, startScriptedServer } from '../scriptedServer';
import { type AttemptName, attempts } from '../../attempt';

const node: INode = {
	id: 'n1',
	name: 'N',
	type: 't',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
const bases = basesAt('http://127.0.0.1:9');
const url = 'https://gmail.googleapis.com/gmail/v1/users/me/messages/send';

/** What n8n's helper throws, handed to a POST. */
async function thrown(error: Error) {
	const options = transportOptions({ maxRetryWaitMilliseconds: 0 });
	const { request } = createTransport(() => Promise.reject(error), bases, options);
	return await catchFailure(request({ url, method: 'POST', data: { raw: 'canary' } }));
}

/** As axios throws it and n8n wraps it; the wrapped one holds the request with its token. */
function byAxios(code: string, more: object = {}): Error {
	const error = Object.assign(new Error(`${code} canary`), {
		name: 'AxiosError',
		code,
		config: {
			url: 'http://127.0.0.1:9/gmail/v1/users/me/messages/send',
			headers: { Authorization: 'Bearer canary' },
		},
		...more,
	});
	return new NodeApiError(node, error as never);
}

test.each<[string, object, object]>([
	['ETIMEDOUT', { syscall: 'connect' }, { code: 503, outcome: 'notDone' }],
	['ETIMEDOUT', {}, { code: 504, status: 'DEADLINE_EXCEEDED', outcome: 'unknown' }],
	['ECONNABORTED', {}, { code: 504, outcome: 'unknown' }],
	['EPIPE', {}, { code: 503, outcome: 'unknown' }],
])('%s %j of axios tells nothing of the request', async (code, more, expected) => {
	const failure = await thrown(byAxios(code, more));
	expect(failure).toMatchObject({ name: 'NodeError', ...expected });
	expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('canary');
});

test('a response that n8n throws as a stream, which refers to itself', async () => {
	const server = await startScriptedServer(googleError(403, 'Not for you'));
	const [data] = (await once(get(server.url), 'response')) as [IncomingMessage];
	expect(() => JSON.stringify(data)).toThrow('circular');
	const failure = await thrown(byAxios('ERR_BAD_REQUEST', { response: { status: 403, data } }));
	await server.close();
	expect(failure.code).toBe(403);
	expect(failure.message).toContain('Not for you');
});

test.each([
	new NodeApiError(
		node,
		new NodeOperationError(node, 'The credential "G" needs to be reconnected.') as never,
	),
	new NodeApiError(node, Object.assign(new Error('[object Object]'), { code: 'EAUTH' }) as never),
	new NodeApiError(node, new UserError('OAuth credentials not connected') as never),
])('a token that cannot be had: %s', async (error) => {
	expect(await thrown(error)).toMatchObject({
		code: 401,
		status: 'UNAUTHENTICATED',
		description: 'Open the credential and reconnect it: sign in to Google again.',
		outcome: 'notDone',
	});
});

test('n8n’s own policy of where requests may go', async () => {
	const blocked = Object.assign(
		new Error('The request was blocked because it resolves to a restricted IP address'),
		{ name: 'SsrfBlockedIpError', description: "The target '10.0.0.1' is not allowed." },
	);
	expect(await thrown(new NodeApiError(node, blocked as never))).toMatchObject({
		code: 503,
		message: 'No connection to 127.0.0.1:9: n8n does not allow connections to this address',
		description: expect.stringContaining('N8N_SSRF_ALLOWED_HOSTNAMES') as string,
		outcome: 'notDone',
	});
});

test('the log says where in the code a response could not be read, and not what it held', () => {
	const log: string[] = [];
	const failure = toGoogleFailure(
		new TypeError("Received 'canary of a response'\n    at canary"),
		(text) => log.push(text),
	);
	expect(failure).toMatchObject({
		code: 502,
		status: 'UNAVAILABLE',
		cause: expect.any(TypeError) as unknown,
	});
	expect(`${failure.message} ${failure.description}`).not.toContain('canary');
	expect(log).toEqual([
		expect.stringMatching(/^A response could not be read: TypeError at .*requestErrors\.test/),
	]);
	expect(log.join()).not.toContain('canary');
	expect(toGoogleFailure(failure, (text) => log.push(text))).toBe(failure);
});

test('other errors stay as they are', () => {
	const log: string[] = [];
	expect(toGoogleFailure(new Error('Other'), (text) => log.push(text))).toMatchObject({
		code: 500,
		message: 'Other',
	});
	expect(log).toEqual([]);
	expect(toGoogleFailure(new RangeError('Invalid'), (text) => log.push(text)).code).toBe(502);
	expect(log.join().match(/ at /g)).toHaveLength(3);
});

const call: RequestFacts = {
	api: 'mail',
	method: 'POST',
	url,
	signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' },
};
const answered = (status: number, body: unknown = {}, headers: object = {}) =>
	createResponseError(
		{ statusCode: status, headers: { ...headers }, body: Buffer.from(JSON.stringify(body)) },
		call,
	);

describe('what Google says', () => {
	test.each<[unknown, string]>([
		[{ error: { message: ' Bad\u0020' } }, 'Gmail: Bad'],
		[{ error: { message: ' ' } }, 'Gmail responded with HTTP 400'],
		[{ error: { message: 5 } }, 'Gmail responded with HTTP 400'],
		[{ error: 'invalid_grant' }, 'Gmail: invalid_grant'],
		[{ error: 'invalid_grant', error_description: 'Gone' }, 'Gmail: Gone'],
		[null, 'Gmail responded with HTTP 400'],
		[{ error: { message: 'x'.repeat(500) } }, `Gmail: ${'x'.repeat(500)}`],
		[{ error: { message: 'x'.repeat(501) } }, `Gmail: ${'x'.repeat(500)}…`],
	])('%j', (body, message) => {
		expect(answered(400, body).message).toBe(message);
	});

	test('a reason that is no text is none', () => {
		const errors = [{ reason: { toString: 1, valueOf: 1 } }, { reason: ['rateLimitExceeded'] }];
		expect(answered(403, { error: { message: 'No', errors } })).toMatchObject(attempts.final);
	});
});

describe('whether it was carried out, and when to come back', () => {
	const now = Date.parse('2026-01-02T03:04:05Z');
	beforeEach(() => jest.useFakeTimers({ now }));
	afterEach(() => jest.useRealTimers());
	const reason = (text: string) => ({ error: { message: 'No', errors: [{ reason: text }] } });

	test.each<[number, unknown, AttemptName, string]>([
		[429, {}, 'notDone', 'RESOURCE_EXHAUSTED'],
		[403, reason('userRateLimitExceeded'), 'notDone', 'RESOURCE_EXHAUSTED'],
		[403, reason('forbidden'), 'final', 'PERMISSION_DENIED'],
		[404, reason('rateLimitExceeded'), 'final', 'NOT_FOUND'],
		[503, reason('rateLimitExceeded'), 'unknown', 'UNAVAILABLE'],
		[429, { error: { status: 'ABORTED' } }, 'notDone', 'ABORTED'],
	])('HTTP %d %j: %s, %s', (status, body, kind, name) => {
		const error = answered(status, body, { 'retry-after': '7' });
		expect(error).toMatchObject({ code: status, status: name, ...attempts[kind] });
		expect(error.retryAfterMilliseconds).toBe(kind === 'final' ? undefined : 7000);
		expect(error.description?.includes('Google limits the number')).toBe(kind === 'notDone');
	});

	test.each<[Record<string, unknown>, string, number | undefined]>([
		[{}, 'Slow down', undefined],
		[{ 'retry-after': 'Fri, 02 Jan 2026 03:04:06 GMT' }, 'Slow down', 1000],
		[{ 'retry-after': ['1', '2'] }, 'Slow down', undefined],
		[{}, 'Retry after 2026-01-02T03:04:05.500Z', 500],
		[{}, 'Retry after 2026-01-02T03:04:04.999Z', 0],
		[{ 'retry-after': '3' }, 'Retry after 2026-01-02T03:04:05.500Z', 3000],
	])('%j and "%s": in %s ms', (headers, message, expected) => {
		expect(answered(429, { error: { message } }, headers).retryAfterMilliseconds).toBe(
			expected,
		);
	});
});

test('what is an error of a request already stays as it is', () => {
	const error = new NodeError({ code: 504, message: 'Late' });
	expect(toRequestError(error, call)).toBe(error);
});

test('the largest answer is named', () => {
	expect(toRequestError(new BodyError('tooLarge'), call)).toMatchObject({
		...attempts.finalUnknown,
		message: "Google's response is larger than 64 MiB",
	});
});

test.each<[number, AttemptName]>([
	[400, 'final'],
	[499, 'final'],
	[500, 'notDone'],
	[503, 'notDone'],
])('a token that the credential could not get with HTTP %d: %s', (code, kind) => {
	const own = new NodeError({ code, message: 'No token' });
	const error = toRequestError(new Error('wrapped', { cause: own }), call);
	expect(error).toMatchObject({ code, message: 'No token', ...attempts[kind] });
});

const tokenUrl = 'https://oauth2.googleapis.com/token';

test.each<[object, AttemptName, string]>([
	[{ response: { status: 400 } }, 'final', 'HTTP 400'],
	[{ response: { status: 429 } }, 'notDone', 'HTTP 429'],
	[{ response: { status: 499 } }, 'final', 'HTTP 499'],
	[{ response: { status: 500 } }, 'notDone', 'HTTP 500'],
	[{ code: 'ECONNRESET' }, 'notDone', 'ECONNRESET'],
])('a token that n8n could not refresh: %j is %s', (more, kind, why) => {
	const error = toRequestError(
		Object.assign(new Error('x'), { config: { url: tokenUrl } }, more),
		call,
	);
	expect(error).toMatchObject({
		...attempts[kind],
		code: 401,
		message: 'The credential has no valid token, and a new one could not be obtained',
	});
	const mayPass = kind === 'notDone' ? 'Try again later. If the problem persists: ' : '';
	expect(error.description).toBe(
		`${mayPass}Open the credential and reconnect it: sign in to Google again. (${why})`,
	);
});

const gone = JSON.stringify({ error: { message: 'Gone' } });

test.each<[string, unknown, string]>([
	['bytes', Buffer.from(gone), 'Gmail: Gone'],
	['an object', JSON.parse(gone), 'Gmail: Gone'],
	['nothing', undefined, 'Gmail responded with HTTP 503'],
])('an answer that n8n throws, with %s', async (_what, data, message) => {
	expect(await thrown(byAxios('x', { response: { status: 503, data } }))).toMatchObject({
		...attempts.unknown,
		code: 503,
		message,
	});
});

test.each<[unknown, AttemptName, number, string]>([
	[Object.assign(new Error('x'), { code: 'ESTATUS' }), 'final', 401, 'no valid token'],
	[new Error('Boom'), 'unknown', 503, 'Boom'],
	['Boom', 'unknown', 503, 'The request could not be completed'],
	[Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'unknown', 503, 'connection to gmail'],
])('%s without an answer is %s', (thrownError, kind, code, text) => {
	const error = toRequestError(thrownError, call);
	expect(error).toMatchObject({ code, ...attempts[kind] });
	expect(error.message).toContain(text);
	expect(isNodeError(error)).toBe(true);
});
