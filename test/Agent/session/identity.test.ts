import { isFailure } from '../../../nodes/items/failure';
import {
	agentApiCredential,
	agentSignatureCredential,
	channelBase,
	channelUrl,
	executeUrl,
	identityOf,
} from '../../../nodes/Agent/session/identity';

const now = 1_767_225_600_999;
const api = agentApiCredential({
	deploymentUrl: 'https://agent.example/v1/',
	webSocketUrl: 'ws://agent.example:3010',
	apiKey: 'key+/=',
	timestampUnit: 'seconds',
	allowUnauthorizedCerts: false,
});
const signed = agentSignatureCredential({
	userId: '0xuser',
	userPublicKey: '0xpublic',
	signature: ' 0xsigned\n',
	timestampMode: 'current',
});

/** The Failure that an action throws. */
function failureOf(action: () => unknown) {
	try {
		action();
	} catch (error) {
		if (isFailure(error)) return { code: error.code, text: `${error.message} | ${error.description ?? ''}` };
		throw error;
	}
	throw new Error('nothing was refused');
}

describe('identityOf', () => {
	it('takes the time of the call', () => {
		expect(identityOf(signed, {}, now)).toEqual({
			userId: '0xuser',
			userPublicKey: '0xpublic',
			signature: '0xsigned',
			timestamp: now,
		});
		expect(identityOf(signed).timestamp).toBeGreaterThan(now - 1e12);
	});

	it('takes the timestamp that came with the signature, as a number or as digits', () => {
		const issued = { ...signed, timestampMode: 'issued' as const };
		expect(identityOf({ ...issued, issuedTimestamp: 1_700_000_000_123 }, {}, now).timestamp).toBe(
			1_700_000_000_123,
		);
		expect(identityOf({ ...issued, issuedTimestamp: '1700000000123' }, {}, now).timestamp).toBe(
			1_700_000_000_123,
		);
	});

	it.each([
		[1_700_000_000, 'in seconds'],
		[1_700_000_000_123_456, 'too late'],
		[1_700_000_000_123.5, 'not a whole number'],
		['yesterday', 'not a whole number'],
		['', 'not a whole number'],
		[undefined, 'not a whole number'],
		[-1, 'not a whole number'],
	])('refuses the issued timestamp %p: %s', (issuedTimestamp, reason) => {
		const failure = failureOf(() =>
			identityOf({ ...signed, timestampMode: 'issued', issuedTimestamp }, {}, now),
		);
		expect(failure.code).toBe(400);
		expect(failure.text).toContain(reason);
	});

	it('prefers what the item brings, and the credential where the item brings nothing', () => {
		const overrides = { userId: '0xother', userPublicKey: '', signature: '  ', timestamp: 1_700_000_000_123 };
		expect(identityOf(signed, overrides, now)).toEqual({
			userId: '0xother',
			userPublicKey: '0xpublic',
			signature: '0xsigned',
			timestamp: 1_700_000_000_123,
		});
		expect(failureOf(() => identityOf(signed, { timestamp: 1_700_000_000 })).text).toContain(
			"option 'Timestamp'",
		);
	});

	it.each(['userId', 'userPublicKey', 'signature'] as const)('says that %s is missing', (field) => {
		const failure = failureOf(() => identityOf({ ...signed, [field]: '' }));
		expect(failure).toMatchObject({ code: 400 });
		expect(failure.text).toMatch(/There is no (user ID|user public key|signature)/);
	});
});

it('refuses a credential without an API key', () => {
	expect(failureOf(() => agentApiCredential({ apiKey: ' ' })).code).toBe(400);
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
	const identity = identityOf(signed, {}, now);

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

	it('refuses an empty session', () => {
		expect(failureOf(() => channelUrl(api, '', identity)).text).toContain('session ID');
	});
});
