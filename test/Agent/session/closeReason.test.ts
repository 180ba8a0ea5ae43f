import {
	convertNetworkError,
	type CloseReason,
	type UpgradeResponse,
	createChannelError,
	explainCloseReason,
	convertCredentialError,
} from '../../../nodes/Agent/session/closeReason';
import { decideRetry, type RetryDecision } from '../../../nodes/Agent/session/reconnect';
import { Sanitizer } from '../../../nodes/core/sanitizer';
import { networkReason } from './fakeSocket';

const answer = (statusCode: number, more: Partial<UpgradeResponse> = {}): CloseReason => {
	const unsaid = { retryAfterMilliseconds: undefined, body: '' };
	return { kind: 'response', response: { statusCode, ...unsaid, ...more } };
};
const close = (code: number): CloseReason => ({ kind: 'closeFrame', code, reason: '' });
const unreadable = (message: string, needsUser = true): CloseReason => ({
	kind: 'credentials',
	message,
	needsUser,
});
const silent: CloseReason = { kind: 'silent', milliseconds: 45_000 };
const busy: CloseReason = { kind: 'closeFrame', code: 1008, reason: 'no' };

const channel = { sessionId: 's1', host: 'agent.example:3010' };
const told = (closeReason: CloseReason, more = {}) =>
	createChannelError(closeReason, { ...channel, ...more });

/** CloseReason, code of the failure, what the message says, what the description says. */
const table: [CloseReason, number, string, string][] = [
	[busy, 503, 'closed by the server with code 1008 (no)', 'team that operates'],
	[close(1005), 503, 'code 1005', 'team that operates'],
	[{ kind: 'dropped' }, 503, 'was lost', 'is running'],
	[{ kind: 'connectTimeout' }, 504, 'in time', 'is running'],
	[silent, 504, 'stopped responding', 'is running'],
	[{ kind: 'tooLarge' }, 502, 'limit of 16 MiB', 'smaller messages'],
	[networkReason('WS_ERR_INVALID_UTF8'), 503, '(WS_ERR_INVALID_UTF8)', 'is running'],
	[unreadable('gone', false), 400, 'credentials could not be read: gone', 'check them'],
	[unreadable('no key'), 400, 'credentials could not be read: no key', 'check them'],
	[unreadable('denied'), 400, 'denied', 'N8N_BLOCK_ENV_ACCESS_IN_NODE'],
	[networkReason('ECONNREFUSED'), 503, 'refused', 'is running'],
	[networkReason('ENOTFOUND'), 503, 'host name was not found', 'is running'],
	[networkReason('ECONNRESET'), 503, 'reset', 'is running'],
	[networkReason('DEPTH_ZERO_SELF_SIGNED_CERT'), 503, 'certificate', 'NODE_EXTRA_CA_CERTS'],
	[networkReason('CERT_HAS_EXPIRED'), 503, 'certificate', 'Renew the certificate'],
	[
		networkReason(undefined, 'Invalid Upgrade header'),
		503,
		'Invalid Upgrade header',
		'is running',
	],
	[answer(299), 502, 'status 299', "adds '/ws'"],
	[answer(300), 502, 'status 300', 'follows no redirect'],
	[answer(399), 502, 'status 399', 'follows no redirect'],
	[answer(400), 400, 'status 400', 'signature'],
	[answer(401), 401, 'status 401', 'signature'],
	[answer(403), 403, 'status 403', 'signature'],
	[answer(403), 403, 'or a proxy before it', 'the proxy allows this address'],
	[answer(404), 404, 'status 404', "adds '/ws'"],
	[answer(408), 408, 'status 408', 'busy'],
	[answer(410), 410, 'status 410', 'the session exists'],
	[answer(425), 425, 'status 425', 'busy'],
	[answer(429), 429, 'status 429', 'busy'],
	[answer(499), 499, 'status 499', "adds '/ws'"],
	[answer(500), 500, 'status 500', 'busy'],
	[answer(503), 503, 'status 503', 'busy'],
	[answer(200), 502, 'status 200', "adds '/ws'"],
	[answer(407), 407, 'the server, or a proxy before it, responded', 'NO_PROXY'],
];

describe('errorOf', () => {
	it.each(table)('%j', (closeReason, code, message, description) => {
		const failure = told(closeReason);
		expect(failure.code).toBe(code);
		expect(failure.message).toContain('agent.example:3010');
		expect(failure.message).toContain(message);
		expect(failure.description).toContain(description);
		expect(`${failure.message}${failure.description ?? ''}`).not.toContain('canary');
		// n8n puts texts of its own in the place of a message that holds one of these.
		expect(failure.message).not.toMatch(/ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|Authorization/);
	});

	it('quotes the response, but no web page', () => {
		const body = '{"error":\n"signature expired"}';
		expect(told(answer(401, { body })).description).toContain(
			'The response: {"error": "signature expired"}',
		);
		expect(told(answer(401, { body: 'x'.repeat(1000) })).description).toMatch(/x{300}…$/);
		expect(told(answer(401, { body: ' <html>hi' })).description).not.toContain('response');
	});

	it('holds no secret of what n8n says of the credentials', () => {
		const sanitizer = new Sanitizer(['canary']);
		const reason = convertCredentialError(new Error('no vault for canary'), sanitizer);
		expect(told(reason).message).toMatch(/no vault for •••$/);
	});

	it('says nothing of a host that is not known', () => {
		const { message } = told({ kind: 'dropped' }, { host: undefined });
		expect(message).toBe('The channel of session s1 is not open: the connection was lost');
	});

	it('names no more of an id than fits', () => {
		expect(told({ kind: 'dropped' }, { sessionId: 'x'.repeat(200) }).message).toBe(
			`The channel of session ${'x'.repeat(100)}… to agent.example:3010 is not open: the connection was lost`,
		);
	});
});

it('tells the Retry-After of an answer', () => {
	const { retryAfterMilliseconds } = told(answer(503, { retryAfterMilliseconds: 7000 }));
	expect(retryAfterMilliseconds).toBe(7000);
	expect(explainCloseReason({ kind: 'dropped' }).reason).toBe('the connection was lost');
});

describe('the decision how to try again', () => {
	const blocked = Object.assign(new Error(''), { name: 'SsrfBlockedIpError' });
	const busyStatuses = [408, 425, 429, 500, 501, 502, 503, 504, 599];
	const refusals = [200, 299, 300, 302, 308, 399, 400, 401, 403, 404, 405, 410, 426, 451];
	const kinds = ['dropped', 'tooLarge', 'connectTimeout'] as const;
	const unreachable = ['ECONNREFUSED', 'ENOTFOUND'].map((code) => networkReason(code));

	it.each<[RetryDecision, CloseReason[]]>([
		['backoff', busyStatuses.map((code) => answer(code))],
		['freshCredentials', refusals.map((code) => answer(code))],
		['backoff', [1000, 1001, 1005, 1009, 1011, 1012, 1013, 1014, 1015].map(close)],
		['backoff', [3000, 4000, 4401, 4999].map(close)],
		['longBackoff', [1002, 1003, 1007, 1008, 1010].map(close)],
		['backoff', kinds.map((kind) => ({ kind }))],
		[
			'backoff',
			[networkReason('WS_ERR_INVALID_UTF8'), silent, unreadable('', false), ...unreachable],
		],
		['longBackoff', [unreadable(''), convertNetworkError(blocked, new Sanitizer())]],
		['freshCredentials', [networkReason('DEPTH_ZERO_SELF_SIGNED_CERT')]],
	])('is %s after each of these', (decision, closeReasons) => {
		for (const closeReason of closeReasons)
			expect([closeReason, decideRetry(closeReason)]).toEqual([closeReason, decision]);
	});
});
