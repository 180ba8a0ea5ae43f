import fc from 'fast-check';

import { channelUrl } from '../../../nodes/Agent/session/urls';
import { agentApiCredential, identityOf, redact, secretsOf } from '../../../nodes/Agent/session/credentials';
import { canaries, signatureOf } from './fakeSession';

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
		expect(redact(text, secrets)).not.toMatch(leak);
	});

	it('leaves the rest', () => {
		expect(redact('status 401 from agent.example:3010 (session s1)', secrets)).toBe(
			'status 401 from agent.example:3010 (session s1)',
		);
		expect(redact('anything', [''])).toBe('anything');
	});

	it('hides any secret in any text', () => {
		const secret = fc.string({ minLength: 4, maxLength: 60, unit: 'binary' });
		fc.assert(
			fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
				fc.pre(value.trim().length >= 4 && !before.includes(value) && !after.includes(value));
				return !redact(`${before}${value}${after}`, [value]).includes(value);
			}),
		);
	});
});
