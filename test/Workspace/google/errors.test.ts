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
	json,
	startScriptedServer,
	type Answer,
	type ScriptedServer,
} from '../scriptedServer';

describe('errors', () => {
	let server: ScriptedServer;

	afterEach(() => server.close());

	const id = '1Qm7xWc0aVbR2yKt4hL9';
	type Ask = (clients: Clients) => Promise<unknown>;
	const readSheet: Ask = ({ sheets }) =>
		sheets.spreadsheets.values.get({ spreadsheetId: id, range: 'A1' });
	const readDocument: Ask = ({ docs }) => docs.documents.get({ documentId: id });
	const readFile: Ask = ({ drive }) => drive.files.get({ fileId: id });
	const readMail: Ask = ({ gmail }) =>
		gmail.users.messages.get({ userId: 'me', id: '18c2f0a1b2c3d4e5' });
	const sendMail: Ask = ({ gmail }) =>
		gmail.users.messages.send({ userId: 'me', requestBody: { raw: 'a' } });

	async function ask(answer: Answer, call: Ask, options: Partial<TransportOptions> = {}) {
		server = await startScriptedServer(answer);
		return await catchFailure(
			call(testClients(server.url, 'token-1', { maxRetryWaitMilliseconds: 0, ...options })),
		);
	}

	describe('the message is what Google says, the code and the status are Google’s', () => {
		test.each<[string, Answer, Ask, object]>([
			[
				'Sheets',
				googleError(404, 'Requested entity was not found.', { status: 'NOT_FOUND' }),
				readSheet,
				{
					code: 404,
					status: 'NOT_FOUND',
					message: 'Google Sheets: Requested entity was not found.',
				},
			],
			[
				'Drive, which sends no status',
				googleError(404, `File not found: ${id}.`, {
					errors: [{ reason: 'notFound', location: 'fileId' }],
				}),
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
				googleError(403, 'Rate Limit Exceeded', {
					errors: [{ reason: 'rateLimitExceeded' }],
				}),
				readFile,
				{ code: 403, status: 'RESOURCE_EXHAUSTED' },
			],
			[
				'HTML',
				(response) =>
					response
						.writeHead(502, { 'content-type': 'text/html' })
						.end('<h1>Bad Gateway</h1>'),
				readMail,
				{ code: 502, status: 'UNAVAILABLE', message: 'Gmail responded with HTTP 502' },
			],
			[
				'nothing',
				(response) => response.writeHead(500).end(),
				readMail,
				{ code: 500, status: 'INTERNAL' },
			],
			[
				'a text as error',
				json({ error: 'invalid_request', error_description: 'Bad thing.' }, 400),
				readMail,
				{ code: 400, status: 'INVALID_ARGUMENT', message: 'Gmail: Bad thing.' },
			],
			[
				'a status that nobody knows',
				googleError(418, 'I am a teapot.'),
				readMail,
				{ status: 'UNKNOWN' },
			],
		])('%s', async (_, answer, call, expected) => {
			await expect(ask(answer, call)).resolves.toMatchObject(expected);
		});
	});

	describe('the description says what to do', () => {
		const forbidden = (reason: string) =>
			googleError(403, 'Forbidden.', { status: 'PERMISSION_DENIED', errors: [{ reason }] });
		const sheetsForbidden = (reason: string, metadata: Record<string, string> = {}) =>
			googleError(403, 'Forbidden.', {
				status: 'PERMISSION_DENIED',
				details: [{ reason, metadata }],
			});
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
				'https://www.googleapis.com/auth/spreadsheets. If the credential has Custom Scopes, add the scope there. Then reconnect',
			],
			[
				'the API to enable',
				forbidden('accessNotConfigured'),
				readDocument,
				'Enable the Google Docs API in',
			],
			[
				'where to enable it',
				sheetsForbidden('SERVICE_DISABLED', {
					activationUrl: 'https://console.developers.google.com/apis/x',
				}),
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
			[
				'the id that is missing',
				googleError(404, 'No.'),
				readDocument,
				`cannot find anything with the ID ${id}.`,
			],
		])('%s', async (_, answer, call, text) => {
			const { description } = await ask(answer, call, { signIn: appFiles });
			expect(description).toContain(text);
		});

		const hidden =
			'Google shows this sign-in only files that this app created. To use others, set Drive Access to All Files in the credential and reconnect (Switch account).';

		test('a 404 of Drive under App Files: Drive Access', async () => {
			const { description } = await ask(googleError(404, 'Not found.'), readFile, {
				signIn: appFiles,
			});
			expect(description).toContain(hidden);
		});

		test('a 404 of Drive for a service account under App Files: no account can be switched', async () => {
			const signIn = { ...appFiles, authentication: 'serviceAccount' } as const;
			const { description } = await ask(googleError(404, 'Not found.'), readFile, { signIn });
			expect(description).toContain(
				'set Drive Access to All Files in the credential and share the file with the service account.',
			);
			expect(description).not.toContain('reconnect');
		});

		test.each([readSheet, readDocument])(
			'a 404 of Sheets or Docs: sharing, not the access to Drive',
			async (call) => {
				const { description } = await ask(googleError(404, 'Not found.'), call, {
					signIn: appFiles,
				});
				expect(description).toContain('shared with the account');
				expect(description).not.toContain(hidden);
			},
		);

		test('but not for mail, and not with access to all files', async () => {
			expect(
				(await ask(googleError(404, 'No.'), readMail, { signIn: appFiles })).description,
			).not.toContain(hidden);
			await server.close();
			expect((await ask(googleError(404, 'No.'), readFile)).description).not.toContain(
				hidden,
			);
		});

		const copyFile: Ask = ({ drive }) =>
			drive.files.copy({ fileId: id, requestBody: { parents: ['1Folder2345'] } });
		const createFile: Ask = ({ drive }) =>
			drive.files.create({ requestBody: { parents: ['1Folder2345'] } });

		test.each<[string, string, Ask, RegExp, RegExp]>([
			['a template', `File not found: ${id}.`, copyFile, new RegExp(`ID ${id}`), /folder/],
			[
				'a folder beside a template',
				'File not found: 1Folder2345.',
				copyFile,
				/ID 1Folder2345\./,
				new RegExp(id),
			],
			[
				'a folder',
				'File not found: 1Folder2345.',
				createFile,
				/ID 1Folder2345\./,
				new RegExp(id),
			],
			[
				'a spreadsheet',
				'No.',
				readSheet,
				new RegExp(`ID ${id}.*another kind of file`),
				/folder/,
			],
			[
				'a title for a folder',
				'File not found: Invoices.',
				createFile,
				/ID Invoices\./,
				new RegExp(id),
			],
		])('what is missing by its own name: %s', async (_, message, call, told, misleading) => {
			const { description } = await ask(googleError(404, message), call, {
				signIn: appFiles,
			});
			expect(description).toMatch(told);
			expect(description).not.toMatch(misleading);
		});

		test('with the operation’s own advice after it', async () => {
			const { description } = await ask(googleError(404, 'No.'), readFile, {
				operationAdvice: { drive: { 404: 'Check the folder.' } },
			});
			expect(description).toMatch(/ Check the folder\.$/);
		});

		test('for a service account without storage', async () => {
			const signIn = { authentication: 'serviceAccount', driveAccess: 'allFiles' } as const;
			const { description } = await ask(forbidden('storageQuotaExceeded'), readFile, {
				signIn,
			});
			expect(description).toContain('A service account has no storage of its own');
		});
	});

	test('no failure holds the token, the request’s body or more than 500 characters of Google’s message', async () => {
		const failure = await ask(googleError(400, 'x'.repeat(5000)), ({ gmail }) =>
			gmail.users.messages.send({ userId: 'me', requestBody: { raw: 'canary-body' } }),
		);
		expect(failure.message.length).toBeLessThan(520);
		expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(
			/canary|token-1/,
		);
		expect(failure.cause).toBeUndefined();
	});
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

/** Google's answers as they were reported, in the order of the table, with words of the advice. */
const reported: ReadonlyArray<
	readonly [
		api: Api,
		status: number,
		message: string,
		reason: string | undefined,
		advice: string,
		own?: Partial<SignIn>,
	]
> = [
	['sheets', 400, 'This operation is not supported for this document', undefined, 'another kind'],
	['docs', 400, 'This operation is not supported for this document', undefined, 'another kind'],
	[
		'mail',
		400,
		'Precondition check failed.',
		'failedPrecondition',
		'Delegated Email',
		{ authentication: 'serviceAccount' },
	],
	['sheets', 400, 'Unable to parse range: Sheet9!A1', undefined, quoteField('range')],
	[
		'sheets',
		400,
		'Range (Sheet1!Z1:Z9) exceeds grid limits. Max rows: 1000, max columns: 26',
		undefined,
		quoteField('range'),
	],
	[
		'sheets',
		400,
		'Requested writing within range [Sheet1!A1], but tried writing to column [B]',
		undefined,
		quoteField('range'),
	],
	[
		'docs',
		400,
		"The required revision ID 'x' does not match the latest revision.",
		undefined,
		'changed in the meantime',
	],
	['mail', 401, 'Request had invalid authentication credentials.', undefined, 'reconnect it'],
	[
		'docs',
		403,
		'Not used before or disabled.',
		'accessNotConfigured',
		'Enable the Google Docs API',
	],
	['mail', 403, 'Insufficient scopes.', 'insufficientPermissions', 'lacks the scope'],
	[
		'docs',
		403,
		'The caller does not have permission',
		'forbidden',
		"Share the file with the service account's email address",
		{ authentication: 'serviceAccount' },
	],
	[
		'drive',
		403,
		'Service Accounts do not have storage quota.',
		'storageQuotaExceeded',
		'no storage of its own',
		{ authentication: 'serviceAccount' },
	],
	[
		'drive',
		403,
		'The specified parent is not a folder.',
		'parentNotAFolder',
		'is a file or a shortcut',
	],
	[
		'drive',
		403,
		'This file is too large to be exported.',
		'exportSizeLimitExceeded',
		'at most 10 MB',
	],
	[
		'drive',
		403,
		'The user has not granted the app 1234 read access to the file 1A.',
		'appNotAuthorizedToFile',
		'only files that this app created',
	],
	['drive', 403, 'Daily Limit Exceeded', 'dailyLimitExceeded', 'is used up'],
	[
		'sheets',
		429,
		"Quota exceeded for quota metric 'Read requests' and limit 'Read requests per day' of service 'sheets.googleapis.com'",
		'RATE_LIMIT_EXCEEDED',
		'Try again tomorrow',
	],
	['sheets', 403, 'The caller does not have permission', undefined, "doesn't have permission"],
	[
		'drive',
		404,
		'File not found: 1A.',
		'notFound',
		'share the file with the service account',
		{ authentication: 'serviceAccount' },
	],
	['drive', 404, 'File not found: 1A.', 'notFound', 'reconnect (Switch account)'],
	['sheets', 404, 'Requested entity was not found.', undefined, 'another kind of file'],
	['drive', 409, 'A file already exists with the provided ID.', 'fileIdInUse', 'in the meantime'],
	['docs', 409, 'The operation was aborted.', undefined, 'repeat the change'],
	['docs', 412, 'Precondition failed.', 'conditionNotMet', 'repeat the change'],
];
const others: typeof reported = [
	[
		'drive',
		403,
		'The user has exceeded their Drive storage quota',
		'storageQuotaExceeded',
		'The message says why',
	],
	['mail', 403, 'This is new.', 'somethingNew', 'The message says why'],
	['drive', 416, 'Request range not satisfiable', undefined, 'The message says why'],
	[
		'sheets',
		403,
		'Caller does not have required permission to use project a.',
		'USER_PROJECT_DENIED',
		'The message says why',
	],
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

test.each(['sheets', 'docs'] as const)('a 404 of %s never speaks of the access to Drive', (api) => {
	const description = descriptionOf(
		api,
		404,
		{ message: 'Requested entity was not found.' },
		{},
		'1AbcDefGhij',
	);
	expect(description).toContain('1AbcDefGhij');
	expect(description).toContain('shared with the account');
	expect(description).not.toContain('Drive Access');
});

test.each([
	[
		403,
		'The user has not granted the app 1234 read access to the file 1AbcDefGhij.',
		'appNotAuthorizedToFile',
	],
	[404, 'File not found: 1AbcDefGhij.', 'notFound'],
])(
	'%i of a file that another app made: Google shows this sign-in only files that this app created',
	(status, message, reason) => {
		for (const driveAccess of ['appFiles', 'appFilesAndNames'] as const) {
			const description = descriptionOf(
				'drive',
				status,
				{ message, reason },
				{ driveAccess },
				'1AbcDefGhij',
			);
			expect(description).toContain(
				'Google shows this sign-in only files that this app created',
			);
			expect(description).toContain(
				'set Drive Access to All Files in the credential and reconnect',
			);
		}
	},
);

test.each(['mail', 'sheets', 'docs', 'drive'] as const)(
	'a service account that %s refuses is not sent to the button of a sign-in with Google',
	(api) => {
		const own = { authentication: 'serviceAccount' } as const;
		const scope = { message: 'Insufficient scopes.', reason: 'insufficientPermissions' };
		const advice = [401, 403, 404].map((status) =>
			descriptionOf(api, status, scope, own, '1AbcDefGhij'),
		);
		expect(advice.join(' ')).toMatch(
			/email and key.* (In the credential, set Drive Access to All Files|If the credential has Custom Scopes)/,
		);
		expect(advice.join(' ')).not.toMatch(/Switch account|reconnect|sign in/i);
	},
);
