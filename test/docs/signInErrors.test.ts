// docs/sign-in.md helps people who search it for the text of an error: each text there is one that they really see.
import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { UserError } from 'n8n-workflow';

import { WorkspaceOAuth2Api } from '../../credentials/WorkspaceOAuth2Api.credentials';
import { createResponseError } from '../../nodes/Workspace/google/errors';
import { type Api, googleApiBases } from '../../nodes/Workspace/google/endpoints';
import type { SignIn } from '../../nodes/Workspace/google/scopes';
import { fetchAccessToken } from '../../nodes/Workspace/google/serviceAccount';
import { describeSignInEnd } from '../../nodes/Workspace/google/signInEnd';
import { createTransport } from '../../nodes/Workspace/google/transport';
import { catchFailure } from '../Workspace/catchFailure';
import { transportOptions } from '../Workspace/client';

const page = readFileSync(path.join(__dirname, '..', '..', 'docs', 'sign-in.md'), 'utf8');
const [, section = ''] = page.split('## The most common errors');
const [table = ''] = section.split('\n## ');
/** The first cell of each row, as a person reads it. */
const documented = [...table.matchAll(/^\| (?!error|-)(.+?)\s*\|/gm)].map(([, cell = '']) => cell);

const signInAs = (authentication: SignIn['authentication']) =>
	({ authentication, driveAccess: 'appFiles' }) as const;

/** A failed request. */
type Failed = readonly [api: Api, path: string, authentication?: SignIn['authentication']];
const mail: Failed = ['mail', '/users/me/messages'];
const hidden: Failed = ['drive', '/files/0123456789012345678901234'];
const unshared: Failed = ['sheets', '/0123456789012345678901234', 'serviceAccount'];
const upload: Failed = ['drive', '/files', 'serviceAccount'];

/** What the node shows for an answer of Google. */
function shown(status: number, reason: string, failed = mail, message = 'canary'): string {
	const [api, path, authentication = 'oAuth2'] = failed;
	const url = `${googleApiBases[api]}${path}`;
	const call = { api, method: 'GET', url, signIn: signInAs(authentication) };
	const error = { code: status, message, errors: [{ reason, message }] };
	const body = Buffer.from(JSON.stringify({ error }));
	const failure = createResponseError({ statusCode: status, headers: {}, body }, call);
	return `${failure.message} ${failure.description ?? ''}`;
}

/** What the node shows when n8n has no token to send. */
async function withoutToken(thrown: Error): Promise<string> {
	const options = transportOptions({ maxRetryWaitMilliseconds: 0, signIn: signInAs('oAuth2') });
	const { request } = createTransport(() => Promise.reject(thrown), googleApiBases, options);
	const url = `${googleApiBases.mail}/users/me/messages`;
	const { message, description } = await catchFailure(request({ url }));
	return `${message} ${description ?? ''}`;
}

/** What the node shows when Google issues no token for a service account. */
async function unauthorized(): Promise<string> {
	const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
	const account = {
		email: 'robot@project.example',
		privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
		delegatedEmail: 'someone@example.com',
		scope: 'a',
		tokenUrl: 'http://127.0.0.1:9/token',
	};
	const body = JSON.stringify({ error: 'unauthorized_client', error_description: 'Client is …' });
	const answer = { statusCode: 401, body: Readable.from([Buffer.from(body)]) };
	return (await catchFailure(fetchAccessToken(() => Promise.resolve(answer), account))).message;
}

/** Texts of Google's own pages, which no code of ours makes. */
const googles = [
	'`Error 400: redirect_uri_mismatch`',
	'`Error 403: access_denied`, "has not completed the Google verification process"',
	'`Error 401: invalid_client`',
	'`Error 400: invalid_scope`',
	'"Google hasn\'t verified this app"',
];

const nodes: Readonly<Record<string, () => string | Promise<string>>> = {
	'"The credential has no valid token, and a new one could not be obtained"': () =>
		withoutToken(new UserError('The credential "Google" needs to be reconnected.')),
	'"Google ends a sign-in after 7 days while the app is in Testing"': () =>
		describeSignInEnd('docs', { oauthTokenData: { refresh_token_expires_in: 3600 } }) ?? '',
	'"Google refused the test (403)"': () => {
		const rule = new WorkspaceOAuth2Api().test.rules?.find(
			({ properties }) => properties.value === 403,
		);
		return rule?.properties.message ?? '';
	},
	'"Enable the Gmail API in …"': () => shown(403, 'accessNotConfigured'),
	'"The credential lacks the scope …"': () => shown(403, 'insufficientPermissions'),
	'"Google shows this sign-in only files that this app created"': () =>
		shown(404, 'notFound', hidden),
	'"Share the file with the service account\'s email address"': () =>
		shown(403, 'forbidden', unshared, 'The caller does not have permission'),
	'"A service account has no storage of its own"': () =>
		shown(403, 'storageQuotaExceeded', upload),
	'"Google did not issue a token for the service account (unauthorized_client …"': unauthorized,
};

test('the page lists the errors of Google’s pages and those of the node', () => {
	expect([...documented].sort()).toEqual([...googles, ...Object.keys(nodes)].sort());
});

test.each(Object.entries(nodes))('%s is what the node shows', async (cell, show) => {
	const text = cell.replace(/^"/, '').replace(/( ?…)?"$/, '');
	expect(await show()).toContain(text);
});

test('a credential that was never connected shows the same text as one that has expired', async () => {
	expect(await withoutToken(new UserError('OAuth credentials not connected'))).toContain(
		'The credential has no valid token',
	);
});
