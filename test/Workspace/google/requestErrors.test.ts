import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';

import { errorOfReading } from '../../../nodes/Workspace/google/errors';
import { blockedAdvice } from '../../../nodes/http/networkErrors';
import { createTransport } from '../../../nodes/Workspace/google/transport';
import { basesAt } from '../client';
import { failing } from '../failure';

const node: INode = { id: 'n1', name: 'N', type: 't', typeVersion: 1, position: [0, 0], parameters: {} };
const bases = basesAt('http://127.0.0.1:9');
const url = 'https://gmail.googleapis.com/gmail/v1/users/me/messages/send';

/** What n8n's helper throws, handed to a POST. */
async function thrown(error: Error) {
	const transport = createTransport(() => Promise.reject(error), bases, {
		maxTries: 1,
		maxRetryWaitMilliseconds: 0,
		timeoutMilliseconds: 5000,
		signal: undefined,
		credentialKey: 'test',
		signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' },
	});
	return await failing(transport({ url, method: 'POST', data: { raw: 'canary' } }));
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

test.each<[string, Error, object]>([
	[
		'a name that is not found',
		byAxios('ENOTFOUND', { hostname: 'gateway.example' }),
		{ code: 503, ambiguous: false },
	],
	['a network that is away', byAxios('ENETUNREACH', { syscall: 'connect' }), { code: 503, ambiguous: false }],
	[
		'a route that went away under a request that was out',
		byAxios('EHOSTUNREACH', { syscall: 'read' }),
		{ code: 503, ambiguous: true },
	],
	[
		'no answer to a connection',
		byAxios('ETIMEDOUT', { syscall: 'connect' }),
		{ code: 503, ambiguous: false },
	],
	[
		'no answer to a request',
		byAxios('ETIMEDOUT'),
		{ code: 504, status: 'DEADLINE_EXCEEDED', ambiguous: true },
	],
	['axios’ own timeout', byAxios('ECONNABORTED'), { code: 504, ambiguous: true }],
	['a broken pipe', byAxios('EPIPE'), { code: 503, ambiguous: true }],
	['a certificate', byAxios('DEPTH_ZERO_SELF_SIGNED_CERT'), { code: 503, ambiguous: false }],
	['a code that nobody knows', byAxios('EWHATEVER'), { code: 503, ambiguous: true }],
])('%s', async (_, error, expected) => {
	const failure = await thrown(error);
	expect(failure).toMatchObject({ name: 'NodeError', ...expected });
	expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('canary');
});

test('the host that has no name is named', async () => {
	const { message } = await thrown(byAxios('ENOTFOUND', { hostname: 'gateway.example' }));
	expect(message).toBe('No connection to gateway.example: the host name was not found');
});

test.each([
	new NodeApiError(
		node,
		new NodeOperationError(node, 'The credential "G" needs to be reconnected.') as never,
	),
	new NodeApiError(node, Object.assign(new Error('[object Object]'), { code: 'EAUTH' }) as never),
	new NodeApiError(node, new Error('Unable to sign without access token') as never),
	new NodeApiError(node, new Error('OAuth credentials not connected') as never),
])('a token that cannot be had: %s', async (error) => {
	expect(await thrown(error)).toMatchObject({
		code: 401,
		status: 'UNAUTHENTICATED',
		description: 'Open the credential and reconnect it: sign in to Google again.',
		ambiguous: false,
	});
});

test('n8n’s own policy of where requests may go', async () => {
	const blocked = Object.assign(
		new Error('The request was blocked because it resolves to a restricted IP address'),
		{
			name: 'SsrfBlockedIpError',
			description: "The target '10.0.0.1' is not allowed.",
		},
	);
	expect(await thrown(new NodeApiError(node, blocked as never))).toMatchObject({
		code: 503,
		message: 'No connection to 127.0.0.1:9: n8n does not allow it',
		description: `${blockedAdvice} n8n says: ${blocked.message}. ${blocked.description}`,
		ambiguous: false,
	});
});

test('the log says where in the code a response could not be read, and not what it held', () => {
	const log: string[] = [];
	const failure = errorOfReading(new TypeError("Received 'canary of a response'\n    at canary"), (text) =>
		log.push(text),
	);
	expect(failure).toMatchObject({ code: 502, cause: expect.any(TypeError) as unknown });
	expect(`${failure.message} ${failure.description}`).not.toContain('canary');
	expect(log).toEqual([
		expect.stringMatching(/^A response could not be read: TypeError at .*requestErrors\.test/),
	]);
	expect(log.join()).not.toContain('canary');
	expect(errorOfReading(failure, (text) => log.push(text))).toBe(failure);
});
