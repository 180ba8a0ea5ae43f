import { causesOf, networkErrorOf, networkMessage } from '../../nodes/http/networkErrors';

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

test('an empty code or a status is none', () => {
	const refused = error('ECONNREFUSED', connecting);
	for (const code of ['', '502']) {
		expect(networkErrorOf(error(code, { cause: refused }))).toMatchObject({ code: 'ECONNREFUSED' });
	}
});

test('of a host with several addresses every connection counts', () => {
	const each = [error('ETIMEDOUT', connecting), error('ENETUNREACH', connecting)];
	const all = Object.assign(new AggregateError(each), { code: 'ETIMEDOUT' });
	expect(networkErrorOf(all)).toMatchObject({ what: 'notConnected', kind: 'notDone' });
});

describe('the place that could not be reached', () => {
	const refused = error('ECONNREFUSED', connecting);
	const placeOf = (more: object, url = 'https://service.example/path') => {
		const thrown = new Error('wrapped', { cause: Object.assign(error('ECONNREFUSED', connecting), more) });
		return networkMessage(networkErrorOf(refused), thrown, url).replace(/^No connection to (.*): .*$/, '$1');
	};

	test.each<[string, object, string | undefined, string]>([
		['is the host of the request', {}, undefined, 'service.example'],
		['with its port', {}, 'http://service.example:8080/', 'service.example:8080'],
		['whatever its address', { address: '10.0.0.1', port: 443 }, undefined, 'service.example'],
		['also without TLS', { address: '10.0.0.1', port: 80 }, 'http://service.example/', 'service.example'],
		['also at its own port', { address: '::1', port: 81 }, 'http://service.example:81', 'service.example:81'],
		['or a proxy by its port', { address: '10.0.0.1', port: 3128 }, undefined, '10.0.0.1:3128'],
		['or a proxy by its name', { hostname: 'proxy.example' }, undefined, 'proxy.example'],
		[
			'but not the host again',
			{ hostname: 'service.example' },
			'https://service.example:1',
			'service.example:1',
		],
		['nor a port without an address', { port: 3128 }, undefined, 'service.example'],
		['nor an address without a port', { address: '10.0.0.1' }, undefined, 'service.example'],
	])('%s: %j', (_, more, url, place) => {
		expect(placeOf(more, url)).toBe(place);
	});
});

test('causes are followed once each, and sixteen at most', () => {
	const circle = new Error('a');
	circle.cause = new Error('b', { cause: circle });
	expect(causesOf(circle)).toEqual([circle, circle.cause]);
	let long = new Error('innermost');
	for (let links = 1; links < 20; links++) long = new Error('outer', { cause: long });
	expect(causesOf(long)).toHaveLength(16);
	expect(causesOf(new Error('a', { cause: null }))).toHaveLength(1);
	expect(causesOf('text')).toEqual([]);
});
