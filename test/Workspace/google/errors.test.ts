import { quoteField } from '../../../nodes/fields/field';
import { adviceTable, type OperationAdvice } from '../../../nodes/Workspace/google/advice';
import type { Api } from '../../../nodes/Workspace/google/endpoints';
import type { SignIn } from '../../../nodes/Workspace/google/scopes';
import { createResponseError } from '../../../nodes/Workspace/google/errors';
import type { TransportOptions } from '../../../nodes/Workspace/google/transport';
import type { Clients } from '../../../nodes/Workspace/operation';
import { testClients } from '../client';
import { catchFailure } from '../catchFailure';
import {
	googleError,
	startScriptedServer,
	type Answer,
	type ScriptedServer,
} from '../scriptedServer';

let server: ScriptedServer;

afterEach(() => server.close());

const id = '1Qm7xWc0aVbR2yKt4hL9';
type Ask = (clients: Clients) => Promise<unknown>;
const readFile: Ask = ({ drive }) => drive.files.get({ fileId: id });
const readMail: Ask = ({ gmail }) =>
	gmail.users.messages.get({ userId: 'me', id: '18c2f0a1b2c3d4e5' });

async function ask(answer: Answer, call: Ask, options: Partial<TransportOptions> = {}) {
	server = await startScriptedServer(answer);
	return await catchFailure(
		call(testClients(server.url, 'token-1', { maxRetryWaitMilliseconds: 0, ...options })),
	);
}

test.each([
	['in HTML', 502, '<h1>Bad Gateway</h1>', 'UNAVAILABLE'],
	['without a body', 500, '', 'INTERNAL'],
])('an answer %s', async (_, code, body, status) => {
	const failure = await ask((response) => response.writeHead(code).end(body), readMail);
	const message = `Gmail responded with HTTP ${code}`;
	expect(failure).toMatchObject({ code, status, message });
});

const appFiles = { authentication: 'oAuth2', driveAccess: 'appFiles' } as const;

test('a 404 of Drive under App Files: Drive Access', async () => {
	const answer = googleError(404, 'Not found.');
	const { description } = await ask(answer, readFile, { signIn: appFiles });
	expect(description).toContain(
		'Google shows this sign-in only files that this app created. To use others, set Drive Access to All Files in the credential and reconnect (Switch account).',
	);
});

test('with the operation’s own advice after it', async () => {
	const { description } = await ask(googleError(404, 'No.'), readFile, {
		operationAdvice: { drive: { 404: 'Check the folder.' } },
	});
	expect(description).toMatch(/ Check the folder\.$/);
});

test('no failure holds the token or the request’s body', async () => {
	const failure = await ask(googleError(400, 'No.'), ({ gmail }) =>
		gmail.users.messages.send({ userId: 'me', requestBody: { raw: 'canary-body' } }),
	);
	expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(
		/canary|token-1/,
	);
	expect(failure.cause).toBeUndefined();
});

const signIn: SignIn = { authentication: 'oAuth2', driveAccess: 'appFiles' };
const paths: Readonly<Record<Api, string>> = {
	mail: '/gmail/v1/users/me/messages/send',
	sheets: '/v4/spreadsheets',
	docs: '/v1/documents',
	drive: '/drive/v3/files',
};

function descriptionOf(
	api: Api,
	status: number,
	{ message, reason }: { readonly message: string; readonly reason?: string },
	own: Partial<SignIn> = {},
	id = '',
	operationAdvice?: OperationAdvice,
): string {
	const errors = reason === undefined ? undefined : [{ reason, message }];
	const body = Buffer.from(JSON.stringify({ error: { code: status, message, errors } }));
	const call = {
		api,
		method: id ? 'GET' : 'POST',
		url: `https://google.example${paths[api]}${id && `/${id}`}`,
		signIn: { ...signIn, ...own },
		operationAdvice,
	};
	return createResponseError({ statusCode: status, headers: {}, body }, call).description ?? '';
}

type Reported = readonly [
	api: Api,
	status: number,
	message: string,
	reason: string | undefined,
	advice: string,
	own?: Partial<SignIn>,
];

const range = quoteField('range');
const serviceAccount = { authentication: 'serviceAccount' } as const;
const delegation = { authentication: 'delegation' } as const;
const denied = 'The caller does not have permission';
const unsupported = 'This operation is not supported for this document';
const precondition = 'Precondition check failed.';
const gridLimits = 'Range (Sheet1!Z1:Z9) exceeds grid limits. Max rows: 1000, max columns: 26';
const otherColumn = 'Requested writing within range [Sheet1!A1], but tried writing to column [B]';
const changed = "The required revision ID 'x' does not match the latest revision.";
const unauthenticated = 'Request had invalid authentication credentials.';
const shareWithAccount = "Share the file with the service account's email address";
const noStorage = 'Service Accounts do not have storage quota.';
const notGranted = 'The user has not granted the app 1234 read access to the file 1A.';
const perDay =
	"Quota exceeded for quota metric 'Read requests' and limit 'Read requests per day' of service 'sheets.googleapis.com'";
const unused = 'Not used before or disabled.';
const mayNotAdd = 'Insufficient permissions for the specified parent.';
const tooLarge = 'This file is too large to be exported.';
const noEntity = 'Requested entity was not found.';
const noFile = 'File not found: 1A.';
const fileExists = 'A file already exists with the provided ID.';
const fullDrive = 'The user has exceeded their Drive storage quota';
const lacksScope =
	'lacks the scope https://www.googleapis.com/auth/gmail.readonly. If the credential has Custom Scopes, add the scope there. Then reconnect (Switch account)';
const noProject = 'Caller does not have required permission to use project a.';

/** Google's answers as they were reported, in the order of the table, with words of the advice. */
const reported: readonly Reported[] = [
	['sheets', 400, unsupported, undefined, 'another kind'],
	['docs', 400, unsupported, undefined, 'another kind'],
	['mail', 400, precondition, 'failedPrecondition', 'Delegated Email', serviceAccount],
	['sheets', 400, 'Unable to parse range: Sheet9!A1', undefined, range],
	['sheets', 400, gridLimits, undefined, range],
	['sheets', 400, otherColumn, undefined, range],
	['docs', 400, changed, undefined, 'changed in the meantime'],
	['mail', 401, unauthenticated, undefined, 'reconnect it'],
	['docs', 403, unused, 'accessNotConfigured', 'Enable the Google Docs API'],
	['mail', 403, 'Insufficient scopes.', 'insufficientPermissions', lacksScope],
	['docs', 403, denied, 'forbidden', shareWithAccount, serviceAccount],
	['drive', 403, noStorage, 'storageQuotaExceeded', 'no storage of its own', serviceAccount],
	['drive', 403, tooLarge, 'exportSizeLimitExceeded', 'at most 10 MB'],
	['drive', 403, notGranted, 'appNotAuthorizedToFile', 'only files that this app created'],
	['drive', 403, 'Daily Limit Exceeded', 'dailyLimitExceeded', 'is used up'],
	['sheets', 429, perDay, 'RATE_LIMIT_EXCEEDED', 'Try again tomorrow'],
	['sheets', 403, denied, undefined, "doesn't have permission"],
	['drive', 403, mayNotAdd, 'insufficientParentPermissions', "doesn't have permission"],
	['drive', 404, noFile, 'notFound', 'share the file with the service account', serviceAccount],
	['drive', 404, noFile, 'notFound', 'allow its scope in the domain-wide', delegation],
	['drive', 404, noFile, 'notFound', 'reconnect (Switch account)'],
	['sheets', 404, noEntity, undefined, 'another kind of file'],
	['drive', 409, fileExists, 'fileIdInUse', 'in the meantime'],
	['docs', 409, 'The operation was aborted.', undefined, 'repeat the change'],
	['docs', 412, 'Precondition failed.', 'conditionNotMet', 'repeat the change'],
];
const others: readonly Reported[] = [
	['drive', 403, fullDrive, 'storageQuotaExceeded', 'The message says why'],
	['mail', 403, 'This is new.', 'somethingNew', 'The message says why'],
	['mail', 400, precondition, 'failedPrecondition', 'The message says why', delegation],
	['docs', 403, denied, 'forbidden', "This account doesn't have permission", delegation],
	['drive', 403, fullDrive, 'storageQuotaExceeded', 'The message says why', delegation],
	['drive', 416, 'Request range not satisfiable', undefined, 'The message says why'],
	['sheets', 403, noProject, 'USER_PROJECT_DENIED', 'The message says why'],
	['docs', 403, '', undefined, 'Google gave no reason'],
	['sheets', 404, '', undefined, 'Google gave no reason'],
	['sheets', 407, '', undefined, 'Google gave no reason'],
	['sheets', 408, '', undefined, 'a temporary problem'],
];

for (const [api, status, message, reason, advice, own] of [...reported, ...others])
	test(`${api} ${status}: ${message} (${reason})`, () => {
		const description = descriptionOf(api, status, { message, reason }, own, '1AbcDefGhij');
		expect(description).toContain(advice);
		expect(description.includes(quoteField('range'))).toBe(advice === quoteField('range'));
	});

test('each row of the table has a response that was reported', () => {
	const unused = adviceTable.filter(
		({ statusCodes, apis, pattern, authentication }) =>
			!reported.some(
				([api, code, message, reason, , own]) =>
					statusCodes.includes(code) &&
					(apis?.includes(api) ?? true) &&
					(pattern?.test(`${reason} ${message}`) ?? true) &&
					(authentication ?? 'oAuth2') === (own?.authentication ?? 'oAuth2'),
			),
	);
	expect(unused).toEqual([]);
});

test('what an operation advises for a status is left out where the words of Google say what it was', () => {
	const own = { mail: { 400: 'Check the addresses.' } };
	const adviceTo = (message: string) =>
		descriptionOf('mail', 400, { message }, { authentication: 'serviceAccount' }, '', own);
	expect(adviceTo('Precondition check failed.')).toContain('Delegated Email');
	expect(adviceTo('Precondition check failed.')).not.toContain('Check the addresses.');
	expect(adviceTo('Invalid To header')).toBe('Check the addresses.');
});

test.each<[Api, Partial<SignIn>]>([
	['sheets', {}],
	['docs', {}],
	['drive', { driveAccess: 'allFiles' }],
])('a 404 of %s with the sign-in %j does not speak of the access to Drive', (api, own) => {
	const description = descriptionOf(api, 404, { message: noEntity }, own, '1AbcDefGhij');
	expect(description).toContain('shared with the account');
	expect(description).not.toContain('Drive Access');
});

test.each([
	['appFiles', 403, notGranted, 'appNotAuthorizedToFile'],
	['appFilesAndNames', 403, notGranted, 'appNotAuthorizedToFile'],
	['appFiles', 404, noFile, 'notFound'],
	['appFilesAndNames', 404, noFile, 'notFound'],
] as const)(
	'a file that another app made: under %s, %i says that Google shows only files of this app',
	(driveAccess, status, message, reason) => {
		const error = { message, reason };
		const description = descriptionOf('drive', status, error, { driveAccess }, '1AbcDefGhij');
		expect(description).toContain('Google shows this sign-in only files that this app created');
		expect(description).toContain(
			'set Drive Access to All Files in the credential and reconnect',
		);
	},
);

test.each(
	(['mail', 'sheets', 'docs', 'drive'] as const).flatMap((api) => [
		[api, 'for itself', serviceAccount] as const,
		[api, 'for a user', delegation] as const,
	]),
)(
	'a service account that %s refuses %s is not sent to the button of a sign-in with Google',
	(api, _whom, own) => {
		const scope = { message: 'Insufficient scopes.', reason: 'insufficientPermissions' };
		const advice = [401, 403, 404]
			.map((status) => descriptionOf(api, status, scope, own, '1AbcDefGhij'))
			.join(' ');
		expect(advice).toMatch(
			/email and key.* (In the credential, set Drive Access to All Files|If the credential has Custom Scopes)/,
		);
		expect(advice).not.toMatch(/Switch account|reconnect|sign in/i);
	},
);
