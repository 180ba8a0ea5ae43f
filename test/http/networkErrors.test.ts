import { networkErrorOf } from '../../nodes/http/networkErrors';

const error = (code: string, more: object = {}) => Object.assign(new Error('canary'), { code, ...more });
const connecting = { syscall: 'connect' };

test.each<[string, Error, string, string, number]>([
	['a refused connection', error('ECONNREFUSED', connecting), 'notConnected', 'notDone', 503],
	[
		'a name that is not found',
		error('ENOTFOUND', { syscall: 'getaddrinfo' }),
		'notConnected',
		'notDone',
		503,
	],
	['a name server that is away', error('EAI_AGAIN'), 'notConnected', 'notDone', 503],
	['a host that cannot be reached', error('EHOSTUNREACH', connecting), 'notConnected', 'notDone', 503],
	['a network that cannot be reached', error('ENETUNREACH', connecting), 'notConnected', 'notDone', 503],
	['a connection that is not answered', error('ETIMEDOUT', connecting), 'notConnected', 'notDone', 503],
	['a route lost under a request', error('EHOSTUNREACH', { syscall: 'read' }), 'lost', 'unknown', 503],
	['a request that is not answered', error('ETIMEDOUT'), 'timeout', 'unknown', 504],
	['the client’s own timeout', error('ECONNABORTED'), 'timeout', 'unknown', 504],
	['a reset', error('ECONNRESET', { syscall: 'read' }), 'lost', 'unknown', 503],
	[
		'a reset before TLS stood',
		Object.assign(
			new Error('Client network socket disconnected before secure TLS connection was established'),
			{ code: 'ECONNRESET' },
		),
		'notConnected',
		'notDone',
		503,
	],
	['a self-signed certificate', error('DEPTH_ZERO_SELF_SIGNED_CERT'), 'certificate', 'final', 503],
	['a name that the certificate lacks', error('ERR_TLS_CERT_ALTNAME_INVALID'), 'certificate', 'final', 503],
	['an issuer that is not known', error('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'certificate', 'final', 503],
	['plain HTTP where TLS was expected', error('ERR_SSL_WRONG_VERSION_NUMBER'), 'handshake', 'final', 503],
	['a code of no known kind', error('ESOMETHING'), 'unknown', 'unknown', 503],
	['an error without a code', new Error('canary'), 'unknown', 'unknown', 503],
	[
		'what n8n does not allow',
		Object.assign(new Error('blocked'), { name: 'SsrfBlockedIpError' }),
		'blocked',
		'final',
		503,
	],
])('%s', (_, thrown, what, kind, status) => {
	const plain = networkErrorOf(thrown);
	expect(plain).toMatchObject({ what, kind, status });
	expect(plain.reason).not.toMatch(/canary|E[A-Z]{4}/);
	// As n8n and axios wrap it.
	expect(networkErrorOf(new Error('wrapped', { cause: thrown }))).toMatchObject({ what, kind, status });
});

test('of a host with several addresses every connection counts', () => {
	const each = [error('ETIMEDOUT', connecting), error('ENETUNREACH', connecting)];
	const all = Object.assign(new AggregateError(each), { code: 'ETIMEDOUT' });
	expect(networkErrorOf(all)).toMatchObject({ what: 'notConnected', kind: 'notDone' });
});
