import { generateKeyPairSync } from 'node:crypto';
import { CredentialTestContext } from 'n8n-core';

import { buildEndpoints } from '../../../dev/google/credential';
import { startGoogle, type GoogleServer } from '../../../dev/google/server';
import { checkServiceAccount } from '../../../nodes/Workspace/methods/checkServiceAccount';
import { LongAnswer } from '../../longAnswer';
import { startScriptedServer } from '../scriptedServer';

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

test('a new token is asked for each time, and then Drive who is signed in', async () => {
	expect(await check()).toEqual({
		status: 'OK',
		message: 'Google Drive accepts the service account',
	});
	expect(await check()).toMatchObject({ status: 'OK' });
	expect(methods()).toEqual(['oauth.token', 'drive.about.get', 'oauth.token', 'drive.about.get']);
	expect(google.violations).toEqual([]);
});

test('with scopes for mail only, Gmail is asked', async () => {
	expect(await check({ scope: `${auth}/gmail.readonly` })).toMatchObject({ status: 'OK' });
	expect(methods()).toEqual(['oauth.token', 'gmail.users.getProfile']);
});

const closed = 'http://127.0.0.1:1';

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
	[
		'a scope that is missing',
		{ scope: `${auth}/spreadsheets` },
		/lacks the scope \S+\/auth\/drive\.file\. In the credential, turn off Custom Scopes \(or add the scope /,
	],
	[
		'a Token URL that is none',
		{ tokenUrl: 'token' },
		/^'Token URL' in the credential is not a valid URL$/,
	],
	[
		'a base that is none',
		{ driveApiBase: 'drive' },
		/^'Drive API Base' in the credential is not a valid/,
	],
	[
		'nobody at the Token URL',
		{ tokenUrl: `${closed}/token` },
		/127\.0\.0\.1:1: the connection was refused/,
	],
	['nobody at the base', { driveApiBase: closed }, /127\.0\.0\.1:1: the connection was refused/],
	[
		'a key that is none',
		{ privateKey: 'canary' },
		/^The private key .* cannot be read\. Paste the full/,
	],
	[
		'a user that it may not act for',
		{ delegatedEmail: 'b@c.d' },
		/unauthorized_client.*Domain-wide deleg/,
	],
])('%s is named', async (_, more, text) => {
	const { status, message } = await check(more);
	expect(status).toBe('Error');
	expect(message).toMatch(text);
	expect(message).not.toContain('canary');
});

test.each<[string, Parameters<GoogleServer['fault']>[0], RegExp]>([
	[
		'an API that is not enabled',
		{ status: 403, reason: 'accessNotConfigured' },
		/Enable the Google Drive API in .* wait a few minutes/,
	],
	['any other refusal', { status: 403 }, /^Google Drive: .*permission/],
	['a token that is refused', { status: 401 }, /Check the service account's email and key/],
	[
		'a redirect',
		{ status: 302, body: '', headers: { Location: closed } },
		/redirect \(HTTP 302\).*not followed/,
	],
	[
		'a web page',
		{ status: 200, body: '<html>', headers: { 'Content-Type': 'text/html' } },
		/not JSON\. Check/,
	],
	['a limit', { status: 429 }, /^Google Drive: Quota exceeded.*Try again in a minute\.$/],
	['a connection that is cut', { connection: 'resetBefore' }, /the connection was reset/],
])('%s is named, and nothing is asked twice', async (_, fault, text) => {
	google.fault({ match: 'drive.about.get', ...fault });
	const { status, message } = await check();
	expect(status).toBe('Error');
	expect(message).toMatch(text);
	expect(google.requests.length).toBeLessThanOrEqual(2);
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

test.each<[string, string, number, RegExp]>([
	[
		'Token URL',
		'tokenUrl',
		16,
		/^Google did not issue a token for the service account \(HTTP 200\)/,
	],
	['Drive API Base', 'driveApiBase', 100, /larger than 64 MiB/],
])('an answer without an end is not read to the end: %s', async (_, field, mostMebibytes, text) => {
	const long = new LongAnswer();
	const server = await startScriptedServer(long.answer);
	try {
		const { status, message } = await check({ [field]: server.url });
		expect(status).toBe('Error');
		expect(message).toMatch(text);
		expect(long.sentMebibytes).toBeLessThan(mostMebibytes);
	} finally {
		await server.close();
	}
});
