import fc from 'fast-check';

import {
	agentApiCredential,
	agentSignatureCredential,
	channelUrl,
	identityOf,
	redactorOf,
	requestReader,
	secretsOf,
} from '../../../nodes/Agent/session/credentials';
import { FakeClock } from './fakeClock';
import { canaries, signatureOf } from './fakeSession';
import { failureOf } from './refused';

const now = 1_767_225_600_999;
const signed = agentSignatureCredential({
	userId: '0xuser',
	userPublicKey: '0xpublic',
	signature: ' 0xsigned\n',
	timestampMode: 'current',
});

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

	it.each([100_000_000_000, 99_999_999_999_999])('takes the timestamp %d', (issuedTimestamp) => {
		const issued = { ...signed, timestampMode: 'issued' as const, issuedTimestamp };
		expect(identityOf(issued, {}, now).timestamp).toBe(issuedTimestamp);
	});

	it.each([
		[1_700_000_000, 'The node converts them to seconds'],
		[99_999_999_999, 'is not a time in milliseconds'],
		[100_000_000_000_000, 'is not a time in milliseconds'],
		[1_700_000_000_123_456, 'is not a time in milliseconds'],
		[1_700_000_000_123.5, 'is not a time in milliseconds'],
		['yesterday', 'is not a time in milliseconds'],
		['', 'is not a time in milliseconds'],
		[undefined, 'is not a time in milliseconds'],
		[0, 'is not a time in milliseconds'],
		['0', "received no timestamp with the signature, set 'Timestamp' to 'Current'"],
		[-1, 'is not a time in milliseconds'],
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
			"option 'Timestamp (Milliseconds)'",
		);
	});

	it.each(['userId', 'userPublicKey', 'signature'] as const)('says that %s is missing', (field) => {
		const failure = failureOf(() => identityOf({ ...signed, [field]: '' }));
		expect(failure).toMatchObject({ code: 400 });
		expect(failure.text).toMatch(/The (user ID|user public key|signature) is missing/);
	});
});

it('refuses a credential without an API key', () => {
	expect(failureOf(() => agentApiCredential({ apiKey: ' ' })).code).toBe(400);
});

const api = agentApiCredential({ ...canaries, apiKey: 'can ary+/=key', webSocketUrl: 'ws://agent.example' });
const identity = identityOf(signatureOf(canaries.signature));
const secrets = secretsOf(api, identity);
const leak = /canary|can(%20|\+| )ary/i;

describe('redact', () => {
	it.each([
		['the whole address', `Invalid URL: ${channelUrl(api, 's1', identity)}`],
		['the value itself', 'bad key can ary+/=key!'],
		['in capitals', `SIGNATURE ${canaries.signature.toUpperCase()} EXPIRED`],
		['percent-encoded', `key ${encodeURIComponent('can ary+/=key')}`],
		['as JSON', JSON.stringify({ apiKey: 'can ary+/=key', nested: canaries })],
		['twice', `${canaries.signature} ${canaries.signature}`],
		['cut off at the end', `unknown signature ${canaries.signature.slice(0, 12)}`],
		['cut off with dots', `unknown signature ${canaries.signature.slice(0, 12)}…`],
		['credentials of a proxy', 'connect to http://canaryuser:canarypass@proxy.example:8080 failed'],
		['a credential that is not known', 'GET /ws?sessionId=s&apiKey=othercanary&signature=canary2'],
	])('hides %s', (_name, text) => {
		expect(redactorOf(secrets)(text)).not.toMatch(leak);
	});

	it('leaves the rest', () => {
		expect(redactorOf(secrets)('status 401 from agent.example:3010 (session s1)')).toBe(
			'status 401 from agent.example:3010 (session s1)',
		);
		expect(redactorOf([''])('anything')).toBe('anything');
	});

	it('leaves no more of a text than is ever shown', () => {
		const [whole, long] = ['x'.repeat(16_384), 'x'.repeat(16_385)].map(redactorOf(secrets));
		expect([whole, long]).toEqual(['x'.repeat(16_384), `${'x'.repeat(16_384)}…`]);
	});

	it('hides any secret in any text', () => {
		const secret = fc.string({ minLength: 4, maxLength: 60, unit: 'binary' });
		fc.assert(
			fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
				fc.pre(value.trim().length >= 4 && !before.includes(value) && !after.includes(value));
				return !redactorOf([value])(`${before}${value}${after}`).includes(value);
			}),
		);
	});
});

describe('the credentials of a node', () => {
	function nodeWith(keys: string[]) {
		const clock = new FakeClock();
		const reads: string[] = [];
		const context = {
			getCredentials: async (type: string) => {
				reads.push(type);
				await Promise.resolve();
				const signer = { userId: '0xuser', userPublicKey: '0xpublic', signature: '0xsigned' };
				const [apiKey = ''] = keys;
				return type === 'agentApi' ? { webSocketUrl: 'wss://agent.example', apiKey } : signer;
			},
			helpers: {},
		};
		const readRequest = requestReader(context, {}, clock);
		/** @returns the API key that was read */
		const read = async () => new URL((await readRequest('s1')).url).searchParams.get('apiKey');
		return { clock, reads, read };
	}

	it('with Allowed Hosts and Ignore SSL Issues open no channel: any server could pass for the host', async () => {
		const values = {
			agentApi: { webSocketUrl: 'wss://agent.example', apiKey: 'key', allowUnauthorizedCerts: true },
			agentSignatureApi: {
				userId: '0xuser',
				userPublicKey: '0xpublic',
				signature: '0xsigned',
				allowedHosts: 'agent.example',
			},
		};
		const getCredentials = (type: string) => Promise.resolve(values[type as keyof typeof values]);
		await expect(requestReader({ getCredentials, helpers: {} })('s1')).rejects.toMatchObject({ code: 400 });
		values.agentApi.allowUnauthorizedCerts = false;
		const { base } = await requestReader({ getCredentials, helpers: {} })('s1');
		expect(base.href).toBe('wss://agent.example/ws');
	});

	it('are read once for all sessions that connect within a second', async () => {
		const { clock, reads, read } = nodeWith(['key']);
		await Promise.all(Array.from({ length: 100 }, read));
		await clock.advance(999);
		await read();
		expect(reads).toEqual(['agentApi', 'agentSignatureApi']);
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
