import { generateKeyPairSync } from 'node:crypto';
import { CredentialTestContext } from 'n8n-core';

import { buildEndpoints } from '../../../dev/google/credential';
import { startGoogle, type GoogleServer } from '../../../dev/google/server';
import { checkServiceAccount } from '../../../nodes/Workspace/methods/checkServiceAccount';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const email = 'robot@project.example';
const auth = 'https://www.googleapis.com/auth';

let google: GoogleServer;
beforeAll(async () => {
	const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
	google = await startGoogle({
		serviceAccounts: [{ email, publicKey: publicPem, delegates: [] }],
	});
});
beforeEach(() => {
	google.reset();
});
afterAll(() => google.close());

const check = async (more: Readonly<Record<string, string>> = {}) =>
	await checkServiceAccount(new CredentialTestContext().helpers, {
		email,
		privateKey: pem,
		delegatedEmail: '',
		driveAccess: 'appFiles',
		scope: `${auth}/drive.file`,
		...buildEndpoints(google.url),
		...more,
	});
const methods = () => google.requests.map(({ method }) => method);

test('a new token is asked for each time', async () => {
	expect(await check()).toEqual({ status: 'OK', message: 'Google accepts the service account' });
	expect(await check()).toMatchObject({ status: 'OK' });
	expect(methods()).toEqual(['oauth.token', 'oauth.token']);
	expect(google.violations).toEqual([]);
});

test('white space around the Token URL does not count', async () => {
	const { tokenUrl } = buildEndpoints(google.url);
	expect(await check({ tokenUrl: ` ${tokenUrl} ` })).toMatchObject({ status: 'OK' });
	expect(google.violations).toEqual([]);
});

const closed = 'http://127.0.0.1:1';
const noKey = /^The private key .* cannot be read\. Paste the full/;

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
	['a Token URL that is none', { tokenUrl: 'token' }, /^'Token URL' .* is not a valid URL$/],
	['nobody there', { tokenUrl: `${closed}/token` }, /127\.0\.0\.1:1: the connection was refused/],
	['a key that is none', { privateKey: 'canary' }, noKey],
])('%s is named', async (_, more, text) => {
	const { status, message } = await check(more);
	expect(status).toBe('Error');
	expect(message).toMatch(text);
	expect(message).not.toContain('canary');
});

test.each<[string, Parameters<GoogleServer['fault']>[0], RegExp]>([
	[
		'a redirect',
		{ status: 302, body: '', headers: { Location: closed } },
		/^Google did not issue a token for the service account \(HTTP 302\)/,
	],
	['a connection that is cut', { connection: 'resetBefore' }, /the connection was reset/],
])('%s is named, and nothing is asked twice', async (_, fault, text) => {
	google.fault({ match: 'oauth.token', ...fault });
	const { status, message } = await check();
	expect(status).toBe('Error');
	expect(message).toMatch(text);
	expect(google.requests.length).toBeLessThanOrEqual(1);
});

test('no secret is shown that an answer repeats', async () => {
	const body = { error: 'no', error_description: pem };
	google.fault({ match: 'oauth.token', status: 400, body });
	const { status, message } = await check();
	expect([status, message]).toEqual([
		'Error',
		expect.stringContaining('Google did not issue a token'),
	]);
	for (const line of pem.split('\n').slice(1, 4)) expect(message).not.toContain(line);
});
