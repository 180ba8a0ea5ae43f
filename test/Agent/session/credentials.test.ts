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
import { canaries } from './fakeSession';
import { isNodeError } from '../../../nodes/core/errors';

/** The refusal of an action: its code, its message and what to do. */
function refusalOf(action: () => unknown) {
	try {
		action();
	} catch (error) {
		if (!isNodeError(error)) throw error;
		return { code: error.code, text: `${error.message} | ${error.description ?? ''}` };
	}
	throw new Error('nothing was refused');
}

const now = 1_767_225_600_999;
const keys = { userId: '0xuser', userPublicKey: '0xpublic', signature: '0xsigned' };
const signed = parseAgentSignatureCredential({
	...{ ...keys, signature: ' 0xsigned\n' },
	timestampMode: 'current',
	allowedHosts: '',
});

describe('identityOf', () => {
	it('takes the time of the call', () => {
		jest.spyOn(Date, 'now').mockReturnValueOnce(now);
		expect(buildIdentity(signed)).toEqual({ ...keys, timestamp: now });
	});

	it.each([100_000_000_000, 1_700_000_000_123, '1700000000123', 99_999_999_999_999])(
		'takes the timestamp %p that came with the signature',
		(issuedTimestamp) => {
			const issued = { ...signed, timestampMode: 'issued' as const, issuedTimestamp };
			const { timestamp } = buildIdentity(issued);
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
		const issued = { ...signed, timestampMode: 'issued' as const, issuedTimestamp };
		const { code, text } = refusalOf(() => buildIdentity(issued));
		expect(code).toBe(400);
		expect(text).toContain(reason);
	});

	it('takes what the item brings, all of it', () => {
		const keys = { userPublicKey: '0xtheirs', signature: '0xtheir' };
		const override = { userId: ' 0xother', ...keys, timestamp: 1_700_000_000_123 };
		const issued = { ...signed, timestampMode: 'issued' as const, issuedTimestamp: 1 };
		expect(buildIdentity(issued, override)).toEqual({ ...override, userId: '0xother' });
		const inSeconds = { ...override, timestamp: 1_700_000_000 };
		expect(refusalOf(() => buildIdentity(signed, inSeconds)).text).toContain(
			"'Timestamp (Milliseconds)' is not a time in milliseconds",
		);
	});

	it.each(['userId', 'userPublicKey', 'signature'] as const)(
		'says that %s is missing',
		(field) => {
			const failure = refusalOf(() => buildIdentity({ ...signed, [field]: '' }));
			expect(failure).toMatchObject({ code: 400 });
			expect(failure.text).toMatch(/The (user ID|user public key|signature) is missing/);
		},
	);
});

it('refuses a credential without an API key', () => {
	expect(refusalOf(() => parseAgentApiCredential({ apiKey: ' ' })).code).toBe(400);
});

/** n8n's client would leave the character out, or throw, and the channel would send it. */
it.each(['canary\u200bkey', 'canary\nkey', 'canary…key'])(
	'refuses an API key with a character that a header cannot carry: %j',
	(apiKey) => {
		const { code, text } = refusalOf(() => parseAgentApiCredential({ apiKey }));
		expect(code).toBe(400);
		expect(text).toMatch(/contains a line break or a character that cannot be sent \|/);
		expect(text).not.toContain('canary');
	},
);

const api = parseAgentApiCredential({
	...canaries,
	apiKey: 'can ary+/=key',
	webSocketUrl: 'ws://agent.example',
});

const apiOf = (addresses: Partial<typeof api>) => ({ ...api, ...addresses });
const identity = { ...keys, ...canaries, timestamp: now };
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

	/** A node whose credentials are read as often as `reads` says. */
	function nodeWith(apiKeys: string[], agentApi = {}, agentSignatureApi = {}) {
		const clock = new FakeClock();
		jest.spyOn(performance, 'now').mockImplementation(() => clock.getMonotonicMilliseconds());
		const reads: string[] = [];
		const getCredentials = async (type: string) => {
			reads.push(type);
			await Promise.resolve();
			const [apiKey = ''] = apiKeys;
			const api = { webSocketUrl: 'wss://agent.example', apiKey, ...agentApi };
			return type === 'agentApi' ? api : { ...keys, allowedHosts: '', ...agentSignatureApi };
		};
		const readConnectRequest = createConnectRequestReader({ getCredentials, helpers: {} });
		/** @returns the API key that was read */
		const read = async () =>
			new URL((await readConnectRequest('s1')).url).searchParams.get('apiKey');
		return { clock, reads, read };
	}

	it('with Allowed Hosts and Ignore SSL Issues open no channel: any server could pass for the host', async () => {
		const readWith = (allowUnauthorizedCerts: boolean) =>
			nodeWith(['key'], { allowUnauthorizedCerts }, { allowedHosts: 'agent.example' }).read();
		await expect(readWith(true)).rejects.toMatchObject({ code: 400 });
		expect(await readWith(false)).toBe('key');
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
});

describe('URLs', () => {
	const api = parseAgentApiCredential({
		deploymentUrl: 'https://agent.example/v1/',
		webSocketUrl: 'ws://agent.example:3010',
		apiKey: 'key+/=',
		timestampUnit: 'seconds',
		allowUnauthorizedCerts: false,
	});

	const identity = { ...keys, timestamp: now };
	const channelUrlOf = (webSocketUrl: string) =>
		buildChannelUrl(apiOf({ webSocketUrl }), 's', identity);

	it.each([
		['https://agent.example', 'https://agent.example/execute'],
		['https://agent.example/', 'https://agent.example/execute'],
		['http://127.0.0.1:3000/a/b//', 'http://127.0.0.1:3000/a/b/execute'],
		['https://[::1]:8443/v1', 'https://[::1]:8443/v1/execute'],
	])('the Deployment URL %s leads to %s', (deploymentUrl, expected) => {
		expect(buildExecuteUrl(apiOf({ deploymentUrl }))).toBe(expected);
	});

	it.each([
		['wss://agent.example', 'wss://agent.example/ws'],
		['ws://agent.example:3010/', 'ws://agent.example:3010/ws'],
		['http://agent.example/prefix', 'ws://agent.example/prefix/ws'],
		['https://agent.example/prefix/', 'wss://agent.example/prefix/ws'],
	])('the WebSocket URL %s leads to %s', (webSocketUrl, expected) => {
		expect(buildChannelBaseUrl(apiOf({ webSocketUrl })).href).toBe(expected);
		expect(channelUrlOf(webSocketUrl).split('?')[0]).toBe(expected);
	});

	const httpSchemes = 'Enter a URL that starts with https://, http://, without';
	const channelSchemes = 'that starts with wss://, ws://, https://, http://, without';
	const bothWrong = ['', 'agent.example', 'agent.example:3010', 'ftp://agent.example'];
	const httpWrong = ['/relative', 'localhost:3000', 'ws://agent.example', 'http://'];
	const secretPlaces = ['user:canary@x', 'x/?key=canary', 'x/#canary', 'canary host'];

	it.each([...bothWrong, ...httpWrong, ...secretPlaces.map((place) => `https://${place}`)])(
		'refuses %p as Deployment URL without repeating it',
		(deploymentUrl) => {
			const { code, text } = refusalOf(() => buildExecuteUrl(apiOf({ deploymentUrl })));
			expect(code).toBe(400);
			expect(text).toContain('Deployment URL');
			expect(text).toContain(httpSchemes);
			expect(text).not.toContain('canary');
		},
	);

	it.each([...bothWrong, 'ws://', ...secretPlaces.map((place) => `ws://${place}`)])(
		'refuses %p as WebSocket URL without repeating it',
		(webSocketUrl) => {
			const { text } = refusalOf(() => channelUrlOf(webSocketUrl));
			expect(text).toContain('WebSocket URL');
			expect(text).toContain(channelSchemes);
			expect(text).not.toMatch(/canary|0xsigned|key\+/);
		},
	);

	it('carries the five parameters, the timestamp in seconds', () => {
		expect(buildChannelUrl(api, 'a b+c/ä&', identity)).toBe(
			'ws://agent.example:3010/ws?sessionId=a%20b%2Bc%2F%C3%A4%26&userPublicKey=0xpublic&signature=0xsigned' +
				'&timestamp=1767225600&apiKey=key%2B%2F%3D',
		);
	});

	it('sends milliseconds when the credential says so', () => {
		const inMilliseconds = { ...api, timestampUnit: 'milliseconds' as const };
		const { searchParams } = new URL(buildChannelUrl(inMilliseconds, 's', identity));
		expect(searchParams.get('timestamp')).toBe(String(now));
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
