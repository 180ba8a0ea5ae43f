import {
	convertNetworkError,
	type CloseReason,
	type UpgradeResponse,
	createChannelError,
	explainCloseReason,
	convertCredentialError,
	type RetryDecision,
	decideRetry,
} from '../../../nodes/Agent/session/closeReason';
import { networkReason } from './fakeSocket';

describe('errors', () => {
	const channel = { sessionId: 's1', host: 'agent.example:3010', wasOpen: false };
	const told = (closeReason: CloseReason, more = {}) =>
		createChannelError(closeReason, { ...channel, ...more });
	const answer = (statusCode: number, more: Partial<UpgradeResponse> = {}): CloseReason => ({
		kind: 'response',
		response: {
			statusCode,
			retryAfterMilliseconds: undefined,
			body: '',
			isFromProxy: false,
			...more,
		},
	});
	const network = networkReason;

	/** CloseReason, code of the failure, what the message says, what the description says. */
	const table: [CloseReason, number, string, string][] = [
		[
			{ kind: 'closeFrame', code: 1008, reason: 'no' },
			503,
			'closed by the server with code 1008 (no)',
			'team that operates',
		],
		[{ kind: 'closeFrame', code: 1005, reason: '' }, 503, 'code 1005', 'team that operates'],
		[{ kind: 'dropped' }, 503, 'was lost', 'is running'],
		[{ kind: 'connectTimeout' }, 504, 'in time', 'is running'],
		[{ kind: 'silent', milliseconds: 45_000 }, 504, 'stopped responding', 'is running'],
		[{ kind: 'tooLarge' }, 502, 'limit of 16 MiB', 'smaller messages'],
		[{ kind: 'invalidUpgrade', message: 'No.' }, 502, 'not valid (No.)', 'team that operates'],
		[
			{ kind: 'malformed', code: 'WS_ERR_INVALID_UTF8' },
			502,
			'WS_ERR_INVALID_UTF8',
			'team that operates',
		],
		[
			{ kind: 'credentials', message: 'gone', needsUser: false },
			400,
			'credentials could not be read: gone',
			'check them',
		],
		[
			{ kind: 'credentials', message: 'no key', needsUser: true },
			400,
			'credentials could not be read: no key',
			'check them',
		],
		[
			{ kind: 'credentials', message: 'access to env vars denied', needsUser: true },
			400,
			'access to env vars denied',
			'N8N_BLOCK_ENV_ACCESS_IN_NODE',
		],
		[network('ECONNREFUSED'), 503, 'refused', 'is running'],
		[network('ENOTFOUND'), 503, 'host name was not found', 'is running'],
		[network('ECONNRESET'), 503, 'reset', 'is running'],
		[network('DEPTH_ZERO_SELF_SIGNED_CERT'), 503, 'certificate', 'NODE_EXTRA_CA_CERTS'],
		[network('CERT_HAS_EXPIRED'), 503, 'certificate', 'Renew the certificate'],
		[network(undefined, 'Invalid Upgrade header'), 503, 'Invalid Upgrade header', 'is running'],
		[answer(299), 299, 'status 299', "adds '/ws'"],
		[answer(300), 300, 'status 300', 'follows no redirect'],
		[answer(399), 399, 'status 399', 'follows no redirect'],
		[answer(400), 400, 'status 400', 'signature'],
		[answer(401), 401, 'status 401', 'signature'],
		[answer(403), 403, 'status 403', 'signature'],
		[answer(404), 404, 'status 404', "adds '/ws'"],
		[answer(408), 408, 'status 408', 'busy'],
		[answer(410), 410, 'status 410', 'the session exists'],
		[answer(425), 425, 'status 425', 'busy'],
		[answer(429), 429, 'status 429', 'busy'],
		[answer(499), 499, 'status 499', "adds '/ws'"],
		[answer(500), 500, 'status 500', 'busy'],
		[answer(503), 503, 'status 503', 'busy'],
		[answer(200), 200, 'status 200', "adds '/ws'"],
		[answer(407, { isFromProxy: true }), 407, 'the proxy responded', 'NO_PROXY'],
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
			expect(failure.message).not.toMatch(
				/ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|Authorization/,
			);
		});

		it("quotes the server's own words, but no web page", () => {
			const body = '{"error":\n"signature expired"}';
			expect(told(answer(401, { body })).description).toContain(
				'The server said: {"error": "signature expired"}',
			);
			expect(told(answer(401, { body: 'x'.repeat(1000) })).description).toMatch(/x{300}…$/);
			expect(told(answer(401, { body: ' <html>hi' })).description).not.toContain('said');
		});

		it('holds no secret of what n8n says of the credentials', () => {
			const sanitize = (text: string) => text.replaceAll('canary', 'hidden');
			const unreadable = convertCredentialError(new Error('no vault for canary'), sanitize);
			expect(told(unreadable).message).toMatch(/no vault for hidden$/);
		});

		it('says nothing of a host that is not known', () => {
			const failure = told({ kind: 'dropped' }, { host: undefined });
			expect(failure.message).toBe(
				'The channel of session s1 is not open: the connection was lost',
			);
		});

		it('tells a channel that did not stay open from one that never was, and names no more of an id than fits', () => {
			const opened = { sessionId: 'x'.repeat(200), wasOpen: true };
			expect(told({ kind: 'dropped' }, opened).message).toBe(
				`The channel of session ${'x'.repeat(100)}… to agent.example:3010 did not stay open: the connection was lost`,
			);
		});
	});

	it('tells the Retry-After of an answer', () => {
		const { retryAfterMilliseconds } = told(answer(503, { retryAfterMilliseconds: 7000 }));
		expect(retryAfterMilliseconds).toBe(7000);
		expect(explainCloseReason({ kind: 'dropped' }).reason).toBe('the connection was lost');
	});
});

describe('close reason', () => {
	const answer = (statusCode: number): CloseReason => ({
		kind: 'response',
		response: {
			statusCode,
			retryAfterMilliseconds: undefined,
			body: '',
			isFromProxy: false,
		},
	});
	const close = (code: number): CloseReason => ({ kind: 'closeFrame', code, reason: '' });
	const network = networkReason;

	/** What it is called; the ending; the verdict the first time; the verdict when the same comes again. */
	const table: [string, CloseReason, RetryDecision, RetryDecision][] = [
		...[408, 425, 429, 500, 501, 502, 503, 504, 599].map(
			(status): [string, CloseReason, RetryDecision, RetryDecision] => [
				`status ${status}`,
				answer(status),
				'backoff',
				'backoff',
			],
		),
		...[200, 299, 300, 302, 308, 399, 400, 401, 403, 404, 405, 410, 426, 451].map(
			(status): [string, CloseReason, RetryDecision, RetryDecision] => [
				`status ${status}`,
				answer(status),
				'freshCredentials',
				'longBackoff',
			],
		),
		...[1000, 1001, 1005, 1009, 1011, 1012, 1013, 1014, 1015, 3000, 4000, 4399, 4500, 4999].map(
			(code): [string, CloseReason, RetryDecision, RetryDecision] => [
				`close ${code}`,
				close(code),
				'backoff',
				'backoff',
			],
		),
		...[1002, 1003, 1007, 1008, 1010].map(
			(code): [string, CloseReason, RetryDecision, RetryDecision] => [
				`close ${code}`,
				close(code),
				'longBackoff',
				'longBackoff',
			],
		),
		...[4400, 4401, 4403, 4404, 4499].map(
			(code): [string, CloseReason, RetryDecision, RetryDecision] => [
				`close ${code}`,
				close(code),
				'freshCredentials',
				'longBackoff',
			],
		),
		...[4408, 4425, 4429].map((code): [string, CloseReason, RetryDecision, RetryDecision] => [
			`close ${code}`,
			close(code),
			'backoff',
			'backoff',
		]),
		['no close frame', { kind: 'dropped' }, 'backoff', 'backoff'],
		[
			'an invalid upgrade',
			{ kind: 'invalidUpgrade', message: '' },
			'longBackoff',
			'longBackoff',
		],
		['a message too large', { kind: 'tooLarge' }, 'backoff', 'backoff'],
		['a malformed message', { kind: 'malformed', code: '' }, 'backoff', 'backoff'],
		['refused connection', network('ECONNREFUSED'), 'backoff', 'backoff'],
		['unknown host', network('ENOTFOUND'), 'backoff', 'backoff'],
		['untrusted certificate', network('DEPTH_ZERO_SELF_SIGNED_CERT'), 'backoff', 'backoff'],
		['not open in time', { kind: 'connectTimeout' }, 'backoff', 'backoff'],
		['no answer to pings', { kind: 'silent', milliseconds: 45_000 }, 'backoff', 'backoff'],
		[
			'a mistake in the credentials',
			{ kind: 'credentials', message: '', needsUser: true },
			'longBackoff',
			'longBackoff',
		],
		[
			'what n8n does not allow',
			convertNetworkError(
				Object.assign(new Error(''), { name: 'SsrfBlockedIpError' }),
				String,
			),
			'longBackoff',
			'longBackoff',
		],
		[
			'unreadable credentials',
			{ kind: 'credentials', message: '', needsUser: false },
			'backoff',
			'backoff',
		],
	];

	describe('retryDecisionOf', () => {
		it.each(table)('%s', (_name, closeReason, first, again) => {
			expect(decideRetry(closeReason, false)).toBe(first);
			expect(decideRetry(closeReason, true)).toBe(again);
		});
	});
});
