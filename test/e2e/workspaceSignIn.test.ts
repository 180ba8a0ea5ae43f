import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { buildEndpoints } from '../../dev/google/credential.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import type { Execution } from '../../dev/n8n/n8nApi.ts';
import type { Credential } from './credentials';
import { manualTrigger, node, useSharedN8n, type SharedN8n } from './startTestN8n';
import { inRow, workspaceType } from './workflows';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const robot = 'robot@project.example';

let google: GoogleServer;
let n8n: SharedN8n;

beforeAll(async () => {
	google = await startGoogle({
		pathPrefix: '/gateway',
		serviceAccounts: [
			{
				email: robot,
				publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
				delegates: ['someone@example.com', 'other@example.com'],
			},
		],
	});
	n8n = await useSharedN8n();
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

const endpoints = () => ({
	...buildEndpoints(google.url),
	// A slash at the end is allowed.
	driveApiBase: `${google.url}/drive/v3/`,
});

async function oAuth2(more: Record<string, unknown> = {}): Promise<Credential> {
	const client = { clientId: google.url, clientSecret: 'secret' };
	return await n8n.api.createCredential('workspaceOAuth2Api', 'Google', {
		...client,
		...endpoints(),
		...more,
	});
}

async function serviceAccount(more: Record<string, unknown> = {}): Promise<Credential> {
	return await n8n.api.createCredential('workspaceServiceAccountApi', 'Robot', {
		email: robot,
		privateKey: privateKey
			.export({ type: 'pkcs8', format: 'pem' })
			.toString()
			.replaceAll('\n', '\\n'),
		delegatedEmail: 'someone@example.com',
		driveAccess: 'allFiles',
		...endpoints(),
		...more,
	});
}

/** The consent page as a browser goes through it: n8n's address, the page, its form, back to n8n. */
async function signIn({ id }: Credential): Promise<URL> {
	const address = new URL(
		await n8n.api.request<string>('GET', `oauth2-credential/auth?id=${id}`),
	);
	const page = await (await fetch(address)).text();
	const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? '';
	const email = 'someone@example.com';
	const allowed = await fetch(new URL(action, google.url), {
		method: 'POST',
		redirect: 'manual',
		body: new URLSearchParams({ ...Object.fromEntries(address.searchParams), email }),
	});
	const back = allowed.headers.get('location') ?? '';
	const path = back.slice(back.indexOf('/rest/') + '/rest/'.length);
	// A page for people: n8n's other answers are JSON.
	await n8n.api.request('GET', path).catch((error: unknown) => {
		if (!(error instanceof SyntaxError)) throw error;
	});
	return address;
}

/** With `details` off, this is a single request. */
const list = {
	inputMode: 'json',
	inputObject: JSON.stringify({ operation: 'list', details: false, maxRetryWaitSeconds: 0 }),
};

function step(
	type: 'workspaceOAuth2Api' | 'workspaceServiceAccountApi',
	credential: Credential,
	parameters: object = list,
) {
	const authentication = type === 'workspaceOAuth2Api' ? 'oAuth2' : 'serviceAccount';
	return node(
		'Workspace',
		workspaceType,
		{ authentication, ...parameters },
		{ credentials: { [type]: credential } },
	);
}

async function run(last: ReturnType<typeof node>): Promise<Execution> {
	return await n8n.api.runOnce(inRow('sign-in', manualTrigger(), last));
}

const methods = () => google.requests.map(({ method }) => method);
const errorOf = ({ resultData }: Execution) => resultData.error;

test('connect on the consent page, call, expire, refresh; the next call uses the refreshed token', async () => {
	google.gmail.seed({ subject: 'One' });
	const credential = await oAuth2();
	const address = await signIn(credential);
	expect(address.searchParams.get('client_id')).toBe(google.url);
	expect(address.searchParams.get('access_type')).toBe('offline');
	expect(
		address.searchParams
			.get('scope')
			?.split(' ')
			.map((scope) => scope.split('/').at(-1)),
	).toEqual([
		'gmail.send',
		'gmail.readonly',
		'spreadsheets',
		'documents',
		'drive.file',
		'drive.metadata.readonly',
	]);

	const callList = async () => errorOf(await run(step('workspaceOAuth2Api', credential)));
	expect(await callList()).toBeUndefined();
	google.tokens.expire();
	const before = methods().length;
	expect(await callList()).toBeUndefined();
	expect(await callList()).toBeUndefined();
	const messages = 'gmail.users.messages.list';
	expect(methods().slice(before)).toEqual([messages, 'oauth.token', messages, messages]);
});

test('a sign-in with an app in Testing: the node and n8n’s log say two days before when it ends', async () => {
	google.gmail.seed({ subject: 'One' });
	google.oauth.signInSeconds = 47 * 3600;
	const inTwoDays = () => new Date(Date.now() + 47 * 3_600_000).toISOString().slice(0, 10);
	const days = [inTwoDays()];
	const credential = await oAuth2();
	await signIn(credential);
	days.push(inTwoDays());
	const hints = ({ resultData }: Execution) => resultData.runData['Workspace']?.[0]?.hints ?? [];
	const soon = expect.stringMatching(
		`^The Google sign-in of "[^"]+" ends on (${days.join('|')}) at .* Publish the app`,
	) as string;
	expect(hints(await run(step('workspaceOAuth2Api', credential)))).toMatchObject([
		{ message: soon },
	]);
	// The app is published, and n8n keeps what Google said of the sign-in before.
	google.oauth.signInSeconds = undefined;
	await signIn(credential);
	expect(errorOf(await run(step('workspaceOAuth2Api', credential)))).toBeUndefined();
	expect(hints(await run(step('workspaceOAuth2Api', credential)))).toEqual([]);
});

test('a revoked refresh token: reconnect the credential', async () => {
	const credential = await oAuth2();
	await signIn(credential);
	google.tokens.expire();
	google.tokens.revoke();
	expect(errorOf(await run(step('workspaceOAuth2Api', credential)))).toMatchObject({
		message: 'The credential has no valid token, and a new one could not be obtained',
		description: 'Open the credential and reconnect it: sign in to Google again.',
		httpCode: '401',
	});
});

test.each(['workspaceOAuth2Api', 'workspaceServiceAccountApi'] as const)(
	'n8n’s HTTP Request node is refused the token of %s',
	async (type) => {
		const credential = type === 'workspaceOAuth2Api' ? await oAuth2() : await serviceAccount();
		if (type === 'workspaceOAuth2Api') await signIn(credential);
		const before = google.requests.length;
		const request = node(
			'Request',
			'n8n-nodes-base.httpRequest',
			{
				url: `${google.url}/drive/v3/about?fields=user`,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: type,
			},
			{ typeVersion: 4.2, credentials: { [type]: credential } },
		);
		const error = errorOf(await run(request));
		expect(error?.message).toMatch(/not allow|prevent|domain/i);
		expect(google.requests).toHaveLength(before);
	},
);

describe('a service account', () => {
	test('acts for a user, and keeps its token over executions until it expires', async () => {
		google.gmail.seed({ subject: 'One' });
		const credential = await serviceAccount();
		const call = async () => errorOf(await run(step('workspaceServiceAccountApi', credential)));
		expect(await call()).toBeUndefined();
		expect(await call()).toBeUndefined();
		const messages = 'gmail.users.messages.list';
		expect(methods()).toEqual(['oauth.token', messages, messages]);
		google.tokens.expire();
		expect(await call()).toBeUndefined();
		expect(await call()).toBeUndefined();
		expect(methods().slice(3)).toEqual([messages, 'oauth.token', messages, messages]);
	});

	test('acts for another user as soon as the credential names this one', async () => {
		google.gmail.seed({ subject: 'One' });
		const credential = await serviceAccount();
		const call = async () => errorOf(await run(step('workspaceServiceAccountApi', credential)));
		expect(await call()).toBeUndefined();
		// As the editor saves a form: with n8n's marks in place of the secrets.
		const { id, name } = credential;
		const path = `credentials/${id}?includeData=true`;
		const { data } = await n8n.api.request<{ data: object }>('GET', path);
		const changed = { ...data, delegatedEmail: 'other@example.com' };
		const type = 'workspaceServiceAccountApi';
		await n8n.api.request('PATCH', `credentials/${id}`, { id, name, type, data: changed });
		const before = google.requests.length;
		expect(await call()).toBeUndefined();
		const users = google.requests
			.slice(before)
			.map(({ headers }) => google.tokens.find(String(headers.authorization).slice(7))?.user);
		expect(users).toEqual([undefined, 'other@example.com']);
		expect(await call()).toBeUndefined();
		expect(methods().filter((method) => method === 'oauth.token')).toHaveLength(2);
	});
});

async function tested(type: string, { id, name }: Credential, more: object = {}) {
	const path = `credentials/${id}?includeData=true`;
	const { data } = await n8n.api.request<{ data: object }>('GET', path);
	const credentials = { id, name, type, data: { ...data, ...more } };
	return await n8n.api.request<{ status: string; message: string }>('POST', 'credentials/test', {
		credentials,
	});
}

/** A server that answers every request in the same way and keeps what it was sent. */
async function answering(status: number, headers: Record<string, string> = {}) {
	const tokens: unknown[] = [];
	const server = createServer((request, response) => {
		tokens.push(request.headers.authorization);
		response
			.writeHead(status, { 'content-type': 'application/json', ...headers })
			.end('{"user":{}}');
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const close = () => {
		server.close().closeAllConnections();
	};
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens, close };
}

describe('the Test button of a signed-in account', () => {
	const oauthTokenData = {
		access_token: 'ya29.test',
		refresh_token: 'test',
		token_type: 'Bearer',
	};

	async function pressedAt(driveApiBase: string) {
		return await tested('workspaceOAuth2Api', await oAuth2({ driveApiBase }), {
			oauthTokenData,
		});
	}

	test('asks Drive who is signed in', async () => {
		const drive = await answering(200);
		expect(await pressedAt(drive.url)).toMatchObject({ status: 'OK' });
		expect(drive.tokens).toEqual(['Bearer ya29.test']);
		drive.close();
	});

	test.each([301, 302, 303, 307, 308])(
		'follows no redirect (%d): the token stays here',
		async (status) => {
			const elsewhere = await answering(200);
			const drive = await answering(status, { location: `${elsewhere.url}/about` });
			expect(await pressedAt(drive.url)).toMatchObject({ status: 'Error' });
			expect(drive.tokens).toEqual(['Bearer ya29.test']);
			expect(elsewhere.tokens).toEqual([]);
			drive.close();
			elsewhere.close();
		},
	);
});

describe('the Test button of the credential', () => {
	async function pressed(more: Record<string, unknown>) {
		return await tested('workspaceServiceAccountApi', await serviceAccount(more));
	}

	test('asks for a token', async () => {
		expect(await pressed({ delegatedEmail: '' })).toMatchObject({ status: 'OK' });
		expect(methods()).toEqual(['oauth.token']);
	});
});

describe('a picker in the editor', () => {
	/** As the editor asks when somebody opens the list. */
	async function pick(credential: Credential) {
		return await n8n.api.request<{ results: Array<{ name: string; value: string }> }>(
			'POST',
			'dynamic-node-parameters/resource-locator-results',
			{
				path: 'parameters.documentId',
				methodName: 'searchDocuments',
				nodeTypeAndVersion: { name: workspaceType, version: 1 },
				currentNodeParameters: {
					authentication: 'oAuth2',
					resource: 'document',
					operation: 'read',
					documentId: { __rl: true, mode: 'list', value: '' },
				},
				credentials: { workspaceOAuth2Api: credential },
			},
		);
	}

	test('lists what the sign-in may see, also after the token has expired', async () => {
		const credential = await oAuth2({ driveAccess: 'allFiles' });
		await signIn(credential);
		const id = google.docs.seed({ title: 'Report' });
		google.tokens.expire();
		expect((await pick(credential)).results).toMatchObject([{ name: 'Report', value: id }]);
	});
});
