import {
	agentApiCredential,
	agentSignatureCredential,
	identityOf,
} from '../../../nodes/Agent/session/credentials';
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

	it.each([
		[1_700_000_000, 'in seconds'],
		[1_700_000_000_123_456, 'too large'],
		[1_700_000_000_123.5, 'not a whole number'],
		['yesterday', 'not a whole number'],
		['', 'has no issued timestamp'],
		[undefined, 'has no issued timestamp'],
		[0, 'has no issued timestamp'],
		['0', 'Enter the timestamp that you received with the signature'],
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
		expect(failure.text).toMatch(/The (user ID|user public key|signature) is missing/);
	});
});

it('refuses a credential without an API key', () => {
	expect(failureOf(() => agentApiCredential({ apiKey: ' ' })).code).toBe(400);
});
