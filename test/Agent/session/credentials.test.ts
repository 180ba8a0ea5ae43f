import { Sanitizer } from '../../../nodes/core/sanitizer';
import {
	parseAgentApiCredential,
	parseAgentSignatureCredential,
	buildIdentity,
	listSecrets,
	buildChannelUrl,
	buildChannelBaseUrl,
	buildExecuteUrl,
	checkAllowedHost,
} from '../../../nodes/Agent/session/credentials';
import { createConnectRequestReader } from '../../../nodes/Agent/session/connectRequest';
import { FakeClock } from './fakeClock';
import { canaries, signatureOf } from './fakeSession';
import { failureOf } from './refused';

const now = 1_767_225_600_999;
const keys = { userId: '0xuser', userPublicKey: '0xpublic', signature: '0xsigned' };
const signed = parseAgentSignatureCredential({
	...{ ...keys, signature: ' 0xsigned\n' },
	timestampMode: 'current',
	allowedHosts: '',
});

describe('identityOf', () => {
	it('takes the time of the call', () => {
		expect(buildIdentity(signed, undefined, now)).toEqual({ ...keys, timestamp: now });
		expect(buildIdentity(signed).timestamp).toBeGreaterThan(now - 1e12);
	});

	it.each([100_000_000_000, 1_700_000_000_123, '1700000000123', 99_999_999_999_999])(
		'takes the timestamp %p that came with the signature',
		(issuedTimestamp) => {
			const issued = { ...signed, timestampMode: 'issued' as const, issuedTimestamp };
			const { timestamp } = buildIdentity(issued, undefined, now);
			expect(timestamp).toBe(Number(issuedTimestamp));
		},
	);

	const noTime = 'is not a time in milliseconds';
	const currentInstead =
		"received no timestamp with the signature, set 'Timestamp' in the credential to 'Current'";

	it.each([
		[1_700_000_000, 'Enter the milliseconds since 1970: 13 digits'],
		[99_999_999_999, noTime],
		[100_000_000_000_000, noTime],
		[1_700_000_000_123_456, noTime],
		[1_700_000_000_123.5, noTime],
		['yesterday', noTime],
		['', noTime],
		[undefined, noTime],
		[0, noTime],
		['0', currentInstead],
		[-1, noTime],
	])('refuses the issued timestamp %p: %s', (issuedTimestamp, reason) => {
		const failure = failureOf(() =>
			buildIdentity({ ...signed, timestampMode: 'issued', issuedTimestamp }, undefined, now),
		);
		expect(failure.code).toBe(400);
		expect(failure.text).toContain(reason);
	});

	it('takes what the item brings, all of it', () => {
		const keys = { userPublicKey: '0xtheirs', signature: '0xtheir' };
		const override = { userId: ' 0xother', ...keys, timestamp: 1_700_000_000_123 };
		const issued = { ...signed, timestampMode: 'issued' as const, issuedTimestamp: 1 };
		expect(buildIdentity(issued, override)).toEqual({ ...override, userId: '0xother' });
		const inSeconds = { ...override, timestamp: 1_700_000_000 };
		expect(failureOf(() => buildIdentity(signed, inSeconds)).text).toContain(
			"'Timestamp (Milliseconds)' is not a time in milliseconds",
		);
	});

	it.each(['userId', 'userPublicKey', 'signature'] as const)(
		'says that %s is missing',
		(field) => {
			const failure = failureOf(() => buildIdentity({ ...signed, [field]: '' }));
			expect(failure).toMatchObject({ code: 400 });
			expect(failure.text).toMatch(/The (user ID|user public key|signature) is missing/);
		},
	);
});

it('refuses a credential without an API key', () => {
	expect(failureOf(() => parseAgentApiCredential({ apiKey: ' ' })).code).toBe(400);
});

const api = parseAgentApiCredential({
	...canaries,
	apiKey: 'can ary+/=key',
	webSocketUrl: 'ws://agent.example',
});

const apiOf = (addresses: Partial<typeof api>) => ({ ...api, ...addresses });
const identity = buildIdentity(signatureOf(canaries.signature));
const secrets = listSecrets(api, identity);
const leak = /canary|can(%20|\+| )ary/i;

describe('the sanitizer', () => {
	it('hides the secrets of the whole address', () => {
		const text = `Invalid URL: ${buildChannelUrl(api, 's1', identity)}`;
		expect(new Sanitizer(secrets).sanitizeText(text)).not.toMatch(leak);
	});
});

describe('the credentials of a node', () => {
	afterEach(() => jest.restoreAllMocks());

	function nodeWith(apiKeys: string[]) {
		const clock = new FakeClock();
		jest.spyOn(performance, 'now').mockImplementation(() => clock.getMonotonicMilliseconds());
		const reads: string[] = [];
		const context = {
			getCredentials: async (type: string) => {
				reads.push(type);
				await Promise.resolve();
				const [apiKey = ''] = apiKeys;
				const api = { webSocketUrl: 'wss://agent.example', apiKey };
				return type === 'agentApi' ? api : { ...keys, allowedHosts: '' };
			},
			helpers: {},
		};
		const readConnectRequest = createConnectRequestReader(context);
		/** @returns the API key that was read */
		const read = async () =>
			new URL((await readConnectRequest('s1')).url).searchParams.get('apiKey');
		return { clock, reads, read };
	}

	it('with Allowed Hosts and Ignore SSL Issues open no channel: any server could pass for the host', async () => {
		const agentApi = { webSocketUrl: 'wss://agent.example', apiKey: 'key' };
		const agentSignatureApi = { ...keys, allowedHosts: 'agent.example' };
		const readWith = async (allowUnauthorizedCerts: boolean) => {
			const getCredentials = (type: string) =>
				Promise.resolve(
					type === 'agentApi'
						? { ...agentApi, allowUnauthorizedCerts }
						: agentSignatureApi,
				);
			return await createConnectRequestReader({ getCredentials, helpers: {} })('s1');
		};
		await expect(readWith(true)).rejects.toMatchObject({ code: 400 });
		const { baseUrl: base } = await readWith(false);
		expect(base.href).toBe('wss://agent.example/ws');
	});

	it('are read once for all sessions that connect within a second', async () => {
		const { clock, reads, read } = nodeWith(['key']);
		await Promise.all(Array.from({ length: 100 }, read));
		await clock.advance(999);
		await read();
		expect(reads).toEqual(['agentApi', 'agentSignatureApi']);
	});

	it('are read again at once after a reading that failed', async () => {
		const keys = [''];
		const { read } = nodeWith(keys);
		await expect(Promise.all([read(), read()])).rejects.toThrow('no API key');
		keys[0] = 'key';
		expect(await read()).toBe('key');
	});

	it('are read again after a second, which is sooner than the attempt after a refusal', async () => {
		const keys = ['old', 'new'];
		const { clock, read } = nodeWith(keys);
		expect(await read()).toBe('old');
		keys.shift();
		await clock.advance(1000);
		expect(await read()).toBe('new');
	});

	it('that could not be read are read again', async () => {
		const keys: string[] = [];
		const { clock, read } = nodeWith(keys);
		await expect(read()).rejects.toThrow('no API key');
		keys.push('key');
		await clock.advance(1000);
		expect(await read()).toBe('key');
	});
});

describe('URLs', () => {
	const now = 1_767_225_600_999;
	const api = parseAgentApiCredential({
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
			expect(buildExecuteUrl(apiOf({ deploymentUrl }))).toBe(expected);
		});

		it('says how an address begins', () => {
			const text = 'Enter a URL that starts with https://, http://, without';
			expect(failureOf(() => buildExecuteUrl(apiOf({ deploymentUrl: '' }))).text).toContain(
				text,
			);
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
			const failure = failureOf(() => buildExecuteUrl(apiOf({ deploymentUrl })));
			expect(failure.code).toBe(400);
			expect(failure.text).toContain('Deployment URL');
			expect(failure.text).not.toContain('canary');
		});
	});

	describe('channelUrl', () => {
		const identity = { ...keys, timestamp: now };

		it('carries the five parameters, the timestamp in seconds', () => {
			expect(buildChannelUrl(api, 'a b+c/ä&', identity)).toBe(
				'ws://agent.example:3010/ws?sessionId=a%20b%2Bc%2F%C3%A4%26&userPublicKey=0xpublic&signature=0xsigned' +
					'&timestamp=1767225600&apiKey=key%2B%2F%3D',
			);
		});

		it('sends milliseconds when the credential says so', () => {
			const url = new URL(
				buildChannelUrl({ ...api, timestampUnit: 'milliseconds' }, 's', identity),
			);
			expect(url.searchParams.get('timestamp')).toBe(String(now));
		});

		it.each([
			['wss://agent.example', 'wss://agent.example/ws'],
			['ws://agent.example:3010/', 'ws://agent.example:3010/ws'],
			['http://agent.example/prefix', 'ws://agent.example/prefix/ws'],
			['https://agent.example/prefix/', 'wss://agent.example/prefix/ws'],
		])('%s -> %s', (webSocketUrl, expected) => {
			expect(buildChannelBaseUrl(apiOf({ webSocketUrl })).href).toBe(expected);
			const url = buildChannelUrl({ ...api, webSocketUrl }, 's', identity);
			expect(url.split('?')[0]).toBe(expected);
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
			const failure = failureOf(() =>
				buildChannelUrl({ ...api, webSocketUrl }, 's', identity),
			);
			expect(failure.text).toContain('WebSocket URL');
			expect(failure.text).not.toMatch(/canary|0xsigned|key\+/);
		});

		it('says how an address begins', () => {
			const text = 'that starts with wss://, ws://, https://, http://, without';
			expect(
				failureOf(() => buildChannelBaseUrl(apiOf({ webSocketUrl: 'x' }))).text,
			).toContain(text);
		});
	});

	const check =
		(allowedHosts: unknown, url: string, isCertificateChecked = true) =>
		() => {
			checkAllowedHost(
				parseAgentSignatureCredential({ allowedHosts }),
				{ ...api, allowUnauthorizedCerts: !isCertificateChecked },
				new URL(url),
			);
		};

	test.each([
		['', 'https://anywhere.example'],
		['agent.example.com', 'https://agent.example.com/execute'],
		['agent.example.com', 'wss://agent.example.com:3010/ws'],
		[' other.example,\nAgent.Example.Com ', 'https://agent.example.com/execute'],
		['http://agent.example.com', 'ws://agent.example.com/ws'],
		['ws://agent.example.com', 'http://agent.example.com/execute'],
		['http://agent.example.com', 'https://agent.example.com/execute'],
		['https://agent.example.com/', 'https://agent.example.com/execute'],
		['bücher.example', 'https://xn--bcher-kva.example'],
		['[::1]', 'http://[::1]:8080/execute'],
		['127.0.0.1', 'http://127.1/execute'],
	])('%j allows %s', (hosts, url) => {
		expect(check(hosts, url)).not.toThrow();
	});

	test.each([
		['agent.example.com', 'https://agent.example.com.evil.example/execute'],
		['agent.example.com', 'https://evil-agent.example.com/execute'],
		['example.com', 'https://agent.example.com/execute'],
		['127.0.0.1', 'http://localhost/execute'],
	])('%j refuses %s', (hosts, url) => {
		expect(check(hosts, url)).toThrow('is not allowed for');
	});

	test.each([
		'ftp://agent.example.com',
		'agent.example.com/x',
		'a b',
		'*',
		'*.example.com',
		'agent.example.com:3010',
		'a.*.example',
		'@evil.example',
	])('%j is no host name, and allows nothing', (hosts) => {
		expect(check(hosts, 'https://agent.example.com')).toThrow('which is not a host name');
	});

	describe('a host that is allowed', () => {
		const refused = 'is not allowed for agent.example.com';

		test.each([
			['agent.example.com', 'http://agent.example.com/execute'],
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
});
