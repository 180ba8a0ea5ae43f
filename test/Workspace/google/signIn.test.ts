import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';

import { folderType } from '../../../dev/google/drive/types';
import { expectNoViolations, type GoogleServer, startGoogle } from '../../../dev/google/server';
import { isNodeError } from '../../../nodes/core/errors';
import { Sanitizer } from '../../../nodes/core/sanitizer';
import { readParameters } from '../../../nodes/fields/params';
import * as documents from '../../../nodes/Workspace/actions/document';
import { upload } from '../../../nodes/Workspace/actions/file';
import * as spreadsheets from '../../../nodes/Workspace/actions/spreadsheet';
import type { Api } from '../../../nodes/Workspace/google/endpoints';
import { findNeededScope } from '../../../nodes/Workspace/google/scopes';
import { createClients } from '../../../nodes/Workspace/google/clients';
import { readGoogleCredential } from '../../../nodes/Workspace/google/googleCredential';
import { getAllFields, type Operation } from '../../../nodes/Workspace/operation';
import { basesAt, testClients, testItem, transportOptions } from '../client';
import { catchFailure } from '../catchFailure';
import { oAuthSender, type OAuthSender } from '../oAuthSender';
import { performTogether } from '../performOperation';
import { createNodeContext } from '../runNode';
import {
	googleError,
	json,
	startScriptedServer,
	type Answer,
	type ScriptedServer,
} from '../scriptedServer';

describe('sign in', () => {
	let server: ScriptedServer;
	let sender: OAuthSender;

	const unauthenticated = googleError(401, 'Request had invalid authentication credentials.', {
		status: 'UNAUTHENTICATED',
	});
	type OAuthTokens = OAuthSender['stored'];
	const tokens: OAuthTokens = {
		oauthTokenData: {
			access_token: 'old-token',
			refresh_token: 'canary-refresh-token',
			token_type: 'Bearer',
		},
	};

	/** The API takes the fresh token only; the token endpoint answers as told. */
	async function clientsWith(tokenAnswer: Answer, stored: OAuthTokens = tokens) {
		server = await startScriptedServer((response, request) => {
			if (request.url === '/token') tokenAnswer(response, request);
			else if (request.headers.authorization === 'Bearer fresh-token')
				json({ id: 'm1' })(response, request);
			else unauthenticated(response, request);
		});
		sender = oAuthSender(`${server.url}/token`, stored.oauthTokenData);
		return createClients(sender.send, basesAt(server.url), {
			credentialHash: 'test',
			...transportOptions({ maxRetryWaitMilliseconds: 1000 }),
		});
	}

	afterEach(() => server.close());

	const send = { userId: 'me', requestBody: { raw: 'abc' } };
	const urls = () => server.received.map(({ url }) => url);

	test('an expired token is refreshed, stored and used, also for a POST, which goes out once with each token', async () => {
		const clients = await clientsWith(json({ access_token: 'fresh-token', expires_in: 3599 }));
		await expect(clients.gmail.users.messages.send(send)).resolves.toMatchObject({
			data: { id: 'm1' },
		});
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
		const media = {
			mimeType: 'message/rfc822',
			body: Readable.from([Buffer.from('Subject: S')]),
		};
		await clients.gmail.users.messages.send({
			userId: 'me',
			requestBody: { threadId: 't1' },
			media,
		});
		const [refused, , taken] = server.received;
		expect(String(taken?.body)).toContain('Subject: S');
		expect(taken?.body).toEqual(refused?.body);
	});

	test.each([
		[
			'revoked',
			json({ error: 'invalid_grant', error_description: 'Token has been revoked.' }, 400),
		],
		['refused', json({ error: 'invalid_client' }, 401)],
		['in trouble', json({ error: 'internal_failure' }, 503)],
	])('a refresh that is %s gives 401 and says to reconnect', async (_, answer) => {
		const clients = await clientsWith(answer);
		const failure = await catchFailure(clients.gmail.users.messages.send(send));
		expect(failure).toMatchObject({
			name: 'NodeError',
			code: 401,
			status: 'UNAUTHENTICATED',
			outcome: 'notDone',
		});
		expect(failure.description).toContain(
			'Open the credential and reconnect it: sign in to Google again.',
		);
		expect(`${failure.message} ${failure.description ?? ''}`).not.toContain('canary');
	});

	test('a token that Google refuses even when it is fresh gives 401 with what Google says', async () => {
		const clients = await clientsWith(json({ access_token: 'still-bad' }));
		const failure = await catchFailure(clients.docs.documents.get({ documentId: 'd1' }));
		expect(failure).toMatchObject({
			code: 401,
			status: 'UNAUTHENTICATED',
			message: 'Google Docs: Request had invalid authentication credentials.',
		});
		expect(urls()).toHaveLength(3);
	});

	test('a credential that was never connected gives 401 and no request', async () => {
		const clients = await clientsWith(json({}), {});
		const failure = await catchFailure(clients.drive.files.list({}));
		expect(failure).toMatchObject({
			code: 401,
			description: expect.stringContaining('reconnect') as unknown,
		});
		expect(server.received).toHaveLength(0);
	});
});

// What a service account may do with and without delegation, and the next step that a refusal names.
describe('service account', () => {
	const robot = 'robot@project.iam.gserviceaccount.com';
	let google: GoogleServer;

	beforeAll(async () => {
		google = await startGoogle();
	});
	beforeEach(() => {
		google.reset();
	});
	afterEach(() => {
		expectNoViolations(google);
	});
	afterAll(async () => {
		await google.close();
	});

	async function run(operation: Operation, given: Record<string, unknown>): Promise<unknown> {
		const token = google.tokens.issue({ user: robot, clientId: robot });
		const clients = testClients(google.url, token, {
			signIn: { authentication: 'serviceAccount', driveAccess: 'allFiles' },
			operationAdvice: operation.advice,
		});
		const context = { mode: 'json', timezone: 'Europe/Berlin' } as const;
		const params = readParameters(getAllFields(operation), given, context);
		const [outcome] = await performTogether(operation, [{ params, item: testItem() }], clients);
		if (isNodeError(outcome)) throw outcome;
		return outcome;
	}

	const refusal = async (operation: Operation, given: Record<string, unknown>) =>
		await catchFailure(run(operation, given));

	const sharedFolder = () => {
		const driveId = google.drive.seedSharedDrive('Team');
		return google.files.add({
			name: 'In',
			mimeType: folderType,
			clientId: '',
			parents: [driveId],
			driveId,
		}).id;
	};
	const usersFolder = () =>
		google.files.add({ name: 'Mine', mimeType: folderType, clientId: '', sharedWith: [robot] })
			.id;

	const text = { content: 'aGVsbG8=', contentSource: 'base64', name: 'a.txt' };
	test.each<[string, Operation, () => Record<string, unknown>]>([
		[
			'spreadsheet',
			spreadsheets.read,
			() => ({ spreadsheetId: google.sheets.seed({ title: 'Theirs' }), range: 'Sheet1' }),
		],
		['document', documents.read, () => ({ documentId: google.docs.seed({ title: 'Theirs' }) })],
	])('a %s that is not shared: says with whom to share it', async (_kind, read, given) => {
		const failure = await refusal(read, given());
		expect(failure).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' });
		expect(failure.description).toContain(
			"Share the file with the service account's email address",
		);
		expect(failure.description).toContain('Delegated Email');
	});

	describe.each<[string, Operation, Record<string, unknown>]>([
		['spreadsheet', spreadsheets.create, { title: 'New' }],
		['document', documents.create, { title: 'New' }],
		['file', upload, text],
	])('a new %s', (_kind, create, given) => {
		test('needs a shared drive or a user', async () => {
			const failure = await refusal(create, given);
			expect(failure).toMatchObject({ code: 403 });
			expect(failure.description).toMatch(
				/service account has no (?:Drive|storage) of its own/,
			);
			expect(failure.description).toMatch(/shared drive.*Delegated Email/);
			expect(google.files.listAll()).toEqual([]);
		});

		test('in the folder of a user does, too', async () => {
			const failure = await refusal(create, { ...given, parentFolder: usersFolder() });
			expect(failure).toMatchObject({ code: 403 });
			expect(failure.description).toMatch(
				/no storage of its own.*shared drive.*Delegated Email/,
			);
			expect(google.files.listAll()).toHaveLength(1);
		});

		test('comes into a shared drive', async () => {
			const parentFolder = sharedFolder();
			await run(create, { ...given, parentFolder });
			expect(google.files.listAll().map(({ parents }) => parents)).toContainEqual([
				parentFolder,
			]);
		});
	});

	test.each([
		['', 'serviceAccount'],
		[' ', 'serviceAccount'],
		['someone@example.com', 'delegation'],
	])('with %j as Delegated Email, advice is about %s', async (delegatedEmail, authentication) => {
		const context = createNodeContext({ url: google.url, parameters: {} });
		jest.spyOn(context, 'getCredentials').mockResolvedValue({ delegatedEmail });
		const credential = await readGoogleCredential(context, 'serviceAccount', new Sanitizer());
		expect(credential.signIn).toMatchObject({ authentication });
	});

	test('a folder that is not shared cannot be found', async () => {
		const { id } = google.files.add({ name: 'Theirs', mimeType: folderType, clientId: '' });
		const failure = await refusal(upload, { ...text, parentFolder: id });
		expect(failure).toMatchObject({ code: 404 });
		expect(failure.description).toContain('shared with the account of the credential');
	});
});

describe('scopes', () => {
	interface Method {
		readonly httpMethod: string;
		readonly path: string;
		readonly scopes: readonly string[];
	}

	interface Contract {
		readonly rootUrl: string;
		readonly servicePath: string;
		readonly methods: Readonly<Record<string, Method>>;
	}

	const contracts: Readonly<Record<Api, string>> = {
		mail: 'gmail.v1',
		sheets: 'sheets.v4',
		docs: 'docs.v1',
		drive: 'drive.v3',
	};

	const methods = (Object.keys(contracts) as Api[]).flatMap((api) => {
		const file = path.join(__dirname, `../../contract/${contracts[api]}.json`);
		const contract = JSON.parse(readFileSync(file, 'utf8')) as Contract;
		return Object.entries(contract.methods).map(([id, { httpMethod, path, scopes }]) => {
			const url = `${contract.rootUrl}${contract.servicePath}${path.replaceAll(/\{\+?(\w+)\}/g, '$1')}`;
			return [id, { api, method: httpMethod, url }, scopes] as const;
		});
	});

	test.each(methods)('Google allows %s with the scope that advice names', (_, call, scopes) => {
		for (const driveAccess of ['appFiles', 'allFiles'] as const) {
			expect(scopes).toContain(
				findNeededScope({ ...call, signIn: { authentication: 'oAuth2', driveAccess } }),
			);
		}
	});
});
