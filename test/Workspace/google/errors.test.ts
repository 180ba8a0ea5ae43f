import type { Clients } from '../../../nodes/Workspace/operation';
import type { TransportOptions } from '../../../nodes/Workspace/google/transport';
import { testClients } from '../client';
import { failing } from '../failure';
import { googleError, json, scriptedServer, type Answer, type ScriptedServer } from '../server';

let server: ScriptedServer;

afterEach(() => server.close());

const id = '1Qm7xWc0aVbR2yKt4hL9';
type Ask = (clients: Clients) => Promise<unknown>;
const readSheet: Ask = ({ sheets }) => sheets.spreadsheets.values.get({ spreadsheetId: id, range: 'A1' });
const readDocument: Ask = ({ docs }) => docs.documents.get({ documentId: id });
const readFile: Ask = ({ drive }) => drive.files.get({ fileId: id });
const readMail: Ask = ({ gmail }) => gmail.users.messages.get({ userId: 'me', id: '18c2f0a1b2c3d4e5' });
const sendMail: Ask = ({ gmail }) => gmail.users.messages.send({ userId: 'me', requestBody: { raw: 'a' } });

async function ask(answer: Answer, call: Ask, options: Partial<TransportOptions> = {}) {
	server = await scriptedServer(answer);
	return await failing(
		call(testClients(server.url, 'token-1', { maxTries: 1, maxRetryWaitMilliseconds: 0, ...options })),
	);
}

describe('the message is what Google says, the code and the status are Google’s', () => {
	test.each<[string, Answer, Ask, object]>([
		[
			'Sheets',
			googleError(404, 'Requested entity was not found.', { status: 'NOT_FOUND' }),
			readSheet,
			{ code: 404, status: 'NOT_FOUND', message: 'Google Sheets: Requested entity was not found.' },
		],
		[
			'Drive, which sends no status',
			googleError(404, `File not found: ${id}.`, { errors: [{ reason: 'notFound', location: 'fileId' }] }),
			readFile,
			{ code: 404, status: 'NOT_FOUND', message: `Google Drive: File not found: ${id}.` },
		],
		[
			'a status of its own',
			googleError(409, 'The operation was aborted.', { status: 'ABORTED' }),
			readDocument,
			{ code: 409, status: 'ABORTED' },
		],
		[
			'a rate limit as 403 without a status',
			googleError(403, 'Rate Limit Exceeded', { errors: [{ reason: 'rateLimitExceeded' }] }),
			readFile,
			{ code: 403, status: 'RESOURCE_EXHAUSTED' },
		],
		[
			'HTML',
			(response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>'),
			readMail,
			{ code: 502, status: 'UNAVAILABLE', message: 'Gmail responded with HTTP 502' },
		],
		['nothing', (response) => response.writeHead(500).end(), readMail, { code: 500, status: 'INTERNAL' }],
		[
			'a text as error',
			json({ error: 'invalid_request', error_description: 'Bad thing.' }, 400),
			readMail,
			{ code: 400, status: 'INVALID_ARGUMENT', message: 'Gmail: Bad thing.' },
		],
		['a status that nobody knows', googleError(418, 'I am a teapot.'), readMail, { status: 'UNKNOWN' }],
	])('%s', async (_, answer, call, expected) => {
		await expect(ask(answer, call)).resolves.toMatchObject(expected);
	});
});

describe('the description says what to do', () => {
	const forbidden = (reason: string) =>
		googleError(403, 'Forbidden.', { status: 'PERMISSION_DENIED', errors: [{ reason }] });
	const sheetsForbidden = (reason: string, metadata: Record<string, string> = {}) =>
		googleError(403, 'Forbidden.', { status: 'PERMISSION_DENIED', details: [{ reason, metadata }] });
	const appFiles = { authentication: 'oAuth2', driveAccess: 'appFiles' } as const;

	test.each<[string, Answer, Ask, string]>([
		[
			'the scope of a send',
			forbidden('insufficientPermissions'),
			sendMail,
			'the scope https://www.googleapis.com/auth/gmail.send.',
		],
		[
			'the scope of Sheets',
			sheetsForbidden('ACCESS_TOKEN_SCOPE_INSUFFICIENT'),
			readSheet,
			'https://www.googleapis.com/auth/spreadsheets. Add it to the scopes of the credential (Custom Scopes), reconnect',
		],
		['the API to enable', forbidden('accessNotConfigured'), readDocument, 'Enable the Google Docs API in'],
		[
			'where to enable it',
			sheetsForbidden('SERVICE_DISABLED', { activationUrl: 'https://console.developers.google.com/apis/x' }),
			readSheet,
			'Enable the Google Sheets API in https://console.developers.google.com/apis/x',
		],
		[
			'the id that is not shared',
			forbidden('forbidden'),
			readDocument,
			`doesn't have permission to do that with ${id}.`,
		],
		['the quota', forbidden('dailyLimitExceeded'), readFile, 'is used up'],
		['the storage', forbidden('storageQuotaExceeded'), readFile, 'storage of this Google account is full'],
		[
			'the id that is missing',
			googleError(404, 'No.'),
			readDocument,
			`cannot find anything with the ID ${id}`,
		],
	])('%s', async (_, answer, call, text) => {
		const { description } = await ask(answer, call, { signIn: appFiles });
		expect(description).toContain(text);
	});

	const hidden =
		'Google does not show this file to this sign-in; set Drive Access to All Files in the credential and reconnect (Switch account).';

	test('a 404 of Drive under App Files: Drive Access', async () => {
		const { description } = await ask(googleError(404, 'Not found.'), readFile, { signIn: appFiles });
		expect(description).toContain(hidden);
	});

	test('a 404 of Drive for a service account under App Files: no account can be switched', async () => {
		const signIn = { ...appFiles, authentication: 'serviceAccount' } as const;
		const { description } = await ask(googleError(404, 'Not found.'), readFile, { signIn });
		expect(description).toContain('set Drive Access to All Files in the credential');
		expect(description).not.toContain('reconnect');
	});

	test.each([readSheet, readDocument])(
		'a 404 of Sheets or Docs: sharing, not the access to Drive',
		async (call) => {
			const { description } = await ask(googleError(404, 'Not found.'), call, { signIn: appFiles });
			expect(description).toContain('shared with the account');
			expect(description).not.toContain(hidden);
		},
	);

	test('but not for mail, and not with access to all files', async () => {
		expect((await ask(googleError(404, 'No.'), readMail, { signIn: appFiles })).description).not.toContain(
			hidden,
		);
		await server.close();
		expect((await ask(googleError(404, 'No.'), readFile)).description).not.toContain(hidden);
	});

	test('with the operation’s own advice after it', async () => {
		const { description } = await ask(googleError(404, 'No.'), readFile, {
			advice: { 404: 'Check the folder.' },
		});
		expect(description).toMatch(/ Check the folder\.$/);
	});

	test('for a service account without storage', async () => {
		const signIn = { authentication: 'serviceAccount', driveAccess: 'allFiles' } as const;
		const { description } = await ask(forbidden('storageQuotaExceeded'), readFile, { signIn });
		expect(description).toContain('A service account has no storage of its own');
	});
});

test('no failure holds the token, the request’s body or more than 500 characters of Google’s message', async () => {
	const failure = await ask(googleError(400, 'x'.repeat(5000)), ({ gmail }) =>
		gmail.users.messages.send({ userId: 'me', requestBody: { raw: 'canary-body' } }),
	);
	expect(failure.message.length).toBeLessThan(520);
	expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(/canary|token-1/);
	expect(failure.cause).toBeUndefined();
});
