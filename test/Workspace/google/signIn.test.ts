import { Readable } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';

import { createClients } from '../../../nodes/Workspace/google/clients';
import { basesAt } from '../client';
import { failing } from '../failure';
import { oAuthSender, type OAuthSender } from '../oAuthSender';
import { googleError, json, scriptedServer, type Answer, type ScriptedServer } from '../server';

let server: ScriptedServer;
let sender: OAuthSender;

const unauthenticated = googleError(401, 'Request had invalid authentication credentials.', {
	status: 'UNAUTHENTICATED',
});
const tokens = { access_token: 'old-token', refresh_token: 'canary-refresh-token', token_type: 'Bearer' };

/** The API takes the fresh token only; the token endpoint answers as told. */
async function clientsWith(tokenAnswer: Answer, oauthTokenData: IDataObject | undefined = tokens) {
	server = await scriptedServer((response, request) => {
		if (request.url === '/token') tokenAnswer(response, request);
		else if (request.headers.authorization === 'Bearer fresh-token') json({ id: 'm1' })(response, request);
		else unauthenticated(response, request);
	});
	sender = oAuthSender(`${server.url}/token`, oauthTokenData);
	return createClients(sender.send, basesAt(server.url), {
		maxTries: 2,
		maxRetryWaitMilliseconds: 1000,
		timeoutMilliseconds: 5000,
		signal: undefined,
		account: 'test',
		credentialKey: 'test',
		signIn: { authentication: 'oAuth2', driveAccess: 'appFiles' },
	});
}

afterEach(() => server.close());

const send = { userId: 'me', requestBody: { raw: 'abc' } };
const urls = () => server.received.map(({ url }) => url);

test('an expired token is refreshed, stored and used, also for a POST, which goes out once with each token', async () => {
	const clients = await clientsWith(json({ access_token: 'fresh-token', expires_in: 3599 }));
	await expect(clients.gmail.users.messages.send(send)).resolves.toMatchObject({ data: { id: 'm1' } });
	const path = '/gmail/v1/users/me/messages/send';
	expect(urls()).toEqual([path, '/token', path]);
	expect(JSON.parse(String(server.received[2]?.body))).toEqual({ raw: 'abc' });
	expect(sender.stored.oauthTokenData).toMatchObject({
		access_token: 'fresh-token',
		refresh_token: 'canary-refresh-token',
	});
	await clients.gmail.users.messages.get({ userId: 'me', id: 'm1' });
	expect(urls()).toHaveLength(4);
});

test('an upload beside JSON is sent whole with the fresh token, too', async () => {
	const clients = await clientsWith(json({ access_token: 'fresh-token', expires_in: 3599 }));
	const media = { mimeType: 'message/rfc822', body: Readable.from([Buffer.from('Subject: S')]) };
	await clients.gmail.users.messages.send({ userId: 'me', requestBody: { threadId: 't1' }, media });
	const [refused, , taken] = server.received;
	expect(String(taken?.body)).toContain('Subject: S');
	expect(taken?.body).toEqual(refused?.body);
});

test.each([
	['revoked', json({ error: 'invalid_grant', error_description: 'Token has been revoked.' }, 400)],
	['refused', json({ error: 'invalid_client' }, 401)],
	['in trouble', json({ error: 'internal_failure' }, 503)],
])('a refresh that is %s gives 401 and says to reconnect', async (_, answer) => {
	const clients = await clientsWith(answer);
	const failure = await failing(clients.gmail.users.messages.send(send));
	expect(failure).toMatchObject({
		name: 'NodeError',
		code: 401,
		status: 'UNAUTHENTICATED',
		ambiguous: false,
	});
	expect(failure.description).toContain('Open the credential and reconnect it: sign in to Google again.');
	expect(`${failure.message} ${failure.description ?? ''}`).not.toContain('canary');
});

test('a token that Google refuses even when it is fresh gives 401 with what Google says', async () => {
	const clients = await clientsWith(json({ access_token: 'still-bad' }));
	const failure = await failing(clients.docs.documents.get({ documentId: 'd1' }));
	expect(failure).toMatchObject({
		code: 401,
		status: 'UNAUTHENTICATED',
		message: 'Google Docs: Request had invalid authentication credentials.',
	});
	expect(urls()).toHaveLength(3);
});

test('a credential that was never connected gives 401 and no request', async () => {
	const clients = await clientsWith(json({}), undefined);
	const never = oAuthSender(`${server.url}/token`);
	const failure = await failing(
		createClients(never.send, basesAt(server.url), {
			maxTries: 2,
			maxRetryWaitMilliseconds: 1000,
			timeoutMilliseconds: 5000,
			signal: undefined,
			account: 'test',
			credentialKey: 'test',
			signIn: { authentication: 'oAuth2', driveAccess: 'appFiles' },
		}).drive.files.list({}),
	);
	expect(clients).toBeDefined();
	expect(failure).toMatchObject({ code: 401, description: expect.stringContaining('reconnect') as unknown });
	expect(server.received).toHaveLength(0);
});
