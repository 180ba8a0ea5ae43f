import {
	agentApiCredential,
	agentSignatureCredential,
	channelBase,
	channelUrl,
	checkAllowedHost,
	executeUrl,
} from '../../../nodes/Agent/session/credentials';
import { failureOf } from './refused';

const now = 1_767_225_600_999;
const api = agentApiCredential({
	deploymentUrl: 'https://agent.example/v1/',
	webSocketUrl: 'ws://agent.example:3010',
	apiKey: 'key+/=',
	timestampUnit: 'seconds',
	allowUnauthorizedCerts: false,
});

describe('executeUrl', () => {
	it.each([
		['https://agent.example', 'https://agent.example/execute'],
		['https://agent.example/', 'https://agent.example/execute'],
		['http://127.0.0.1:3000/a/b//', 'http://127.0.0.1:3000/a/b/execute'],
		['https://[::1]:8443/v1', 'https://[::1]:8443/v1/execute'],
	])('%s -> %s', (deploymentUrl, expected) => {
		expect(executeUrl({ deploymentUrl })).toBe(expected);
	});

	it('says how an address begins', () => {
		const text = 'Enter a complete URL that starts with http:// or https://.';
		expect(failureOf(() => executeUrl({ deploymentUrl: '' })).text).toContain(text);
	});

	it.each([
		'',
		'/relative',
		'agent.example',
		'localhost:3000',
		'ws://agent.example',
		'ftp://agent.example',
		'https://user:canary@agent.example',
		'https://agent.example/?key=canary',
		'https://agent.example/#canary',
		'http://',
		'https://canary host',
	])('refuses %p without repeating it', (deploymentUrl) => {
		const failure = failureOf(() => executeUrl({ deploymentUrl }));
		expect(failure.code).toBe(400);
		expect(failure.text).toContain('Deployment URL');
		expect(failure.text).not.toContain('canary');
	});
});

describe('channelUrl', () => {
	const identity = { userId: '0xuser', userPublicKey: '0xpublic', signature: '0xsigned', timestamp: now };

	it('carries the five parameters, the timestamp in seconds', () => {
		expect(channelUrl(api, 'a b+c/ä&', identity)).toBe(
			'ws://agent.example:3010/ws?sessionId=a%20b%2Bc%2F%C3%A4%26&userPublicKey=0xpublic&signature=0xsigned' +
				'&timestamp=1767225600&apiKey=key%2B%2F%3D',
		);
	});

	it('sends milliseconds when the credential says so', () => {
		const url = new URL(channelUrl({ ...api, timestampUnit: 'milliseconds' }, 's', identity));
		expect(url.searchParams.get('timestamp')).toBe(String(now));
	});

	it.each([
		['wss://agent.example', 'wss://agent.example/ws'],
		['ws://agent.example:3010/', 'ws://agent.example:3010/ws'],
		['http://agent.example/prefix', 'ws://agent.example/prefix/ws'],
		['https://agent.example/prefix/', 'wss://agent.example/prefix/ws'],
	])('%s -> %s', (webSocketUrl, expected) => {
		expect(channelBase({ webSocketUrl }).href).toBe(expected);
		expect(channelUrl({ ...api, webSocketUrl }, 's', identity).split('?')[0]).toBe(expected);
	});

	it.each([
		'',
		'agent.example:3010',
		'ftp://x',
		'ws://user:canary@x',
		'ws://x/?a=canary',
		'ws://x/#canary',
		'ws://',
	])('refuses %p without repeating it', (webSocketUrl) => {
		const failure = failureOf(() => channelUrl({ ...api, webSocketUrl }, 's', identity));
		expect(failure.text).toContain('WebSocket URL');
		expect(failure.text).not.toMatch(/canary|0xsigned|key\+/);
	});

	it('says how an address begins', () => {
		const text = 'that starts with ws://, wss://, http:// or https://.';
		expect(failureOf(() => channelBase({ webSocketUrl: 'x' })).text).toContain(text);
	});
});

const check = (allowedHosts: unknown, url: string, isVerified?: boolean) => () => {
	checkAllowedHost(agentSignatureCredential({ allowedHosts }), new URL(url), isVerified);
};

test.each([
	['', 'https://anywhere.example'],
	[undefined, 'wss://anywhere.example/ws'],
	['agent.example.com', 'https://agent.example.com/execute'],
	['agent.example.com', 'wss://agent.example.com:3010/ws'],
	[' other.example,\nAgent.Example.Com. ', 'https://agent.example.com./execute'],
	['agent.example.com:3010', 'wss://agent.example.com:3010/ws'],
	['agent.example.com:443', 'https://agent.example.com/execute'],
	['http://agent.example.com:80', 'ws://agent.example.com/ws'],
	['ws://*.example.com', 'http://agent.example.com/execute'],
	['http://agent.example.com', 'https://agent.example.com/execute'],
	['https://agent.example.com/', 'https://agent.example.com/execute'],
	['*.example.com', 'https://a.b.example.com'],
	['bücher.example', 'https://xn--bcher-kva.example'],
	['[::1]:8080', 'http://[::1]:8080/execute'],
	['127.0.0.1', 'http://127.1/execute'],
])('%j allows %s', (hosts, url) => {
	expect(check(hosts, url)).not.toThrow();
});

test.each([
	['agent.example.com', 'https://agent.example.com.evil.example/execute'],
	['agent.example.com', 'https://evil-agent.example.com/execute'],
	['example.com', 'https://agent.example.com/execute'],
	['*.example.com', 'https://example.com'],
	['*.example.com', 'https://evilexample.com'],
	['agent.example.com:3010', 'wss://agent.example.com:3011/ws'],
	['agent.example.com:443', 'http://agent.example.com/execute'],
	['127.0.0.1', 'http://localhost/execute'],
])('%j refuses %s', (hosts, url) => {
	expect(check(hosts, url)).toThrow('is not allowed for');
});

test.each(['ftp://agent.example.com', 'agent.example.com/x', 'a b', '*', 'a.*.example', '@evil.example'])(
	'%j is no host name, and allows nothing',
	(hosts) => {
		expect(check(hosts, 'https://agent.example.com')).toThrow('which is not a host name');
	},
);

describe('a host that is allowed', () => {
	const refused = 'is not allowed for agent.example.com without a verified encrypted connection';

	test.each([
		['agent.example.com', 'http://agent.example.com/execute'],
		['agent.example.com:80', 'ws://agent.example.com/ws'],
		['https://agent.example.com, other.example', 'ws://agent.example.com/ws'],
	])('in %j is reached encrypted only: not by %s', (hosts, url) => {
		expect(check(hosts, url)).toThrow(refused);
	});

	test('is reached with a valid certificate only, unless the owner wrote http://', () => {
		const url = 'wss://agent.example.com/ws';
		expect(check('agent.example.com', url, false)).toThrow(refused);
		expect(check('http://agent.example.com', url, false)).not.toThrow();
	});
});
