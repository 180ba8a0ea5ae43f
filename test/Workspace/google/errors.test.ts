import { quoteField } from '../../../nodes/fields/field';
import { adviceTable, type Api, type SignIn } from '../../../nodes/Workspace/google/advice';
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
			call(
				testClients(server.url, 'token-1', {
					maxRetryWaitMilliseconds: 0,
					...options,
				}),
			),
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
				'https://www.googleapis.com/auth/spreadsheets. In the credential, choose the Mail Access or Drive Access that includes it (or add it under Custom Scopes), reconnect',
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
				'the storage',
				forbidden('storageQuotaExceeded'),
				readFile,
				'storage of this Google account is full',
			],
			[
				'the id that is missing',
				googleError(404, 'No.'),
				readDocument,
				`cannot find a document with the ID ${id}.`,
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
				'set Drive Access to All Files in the credential, and share the file with the service account.',
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
		const readTitle: Ask = ({ sheets }) => sheets.spreadsheets.get({ spreadsheetId: 'Sales' });
		const copyTitle: Ask = ({ drive }) => drive.files.copy({ fileId: 'Letter' });
		const folder = { adviceByStatus: { 404: 'Check the folder.' } };
		// One of 270 IDs of 33 characters is such.
		const lettersOnly = 'qWertZuiOpaSdfgHjklyXcvbnMqwEr_tz';
		const notID = 'is not an ID. If it is a title, enter the ID or the URL instead.';

		test.each<[string, string, Ask, RegExp, RegExp]>([
			[
				'a template',
				`File not found: ${id}.`,
				copyFile,
				new RegExp(`ID ${id}.* Check 'templateId'.$`),
				/folder/,
			],
			[
				'a folder beside a template',
				'File not found: 1Folder2345.',
				copyFile,
				/ID 1Folder2345\..*the folder\.$/,
				/templateId/,
			],
			[
				'a folder',
				'File not found: 1Folder2345.',
				createFile,
				/ID 1Folder2345\..*the folder\.$/,
				/templateId/,
			],
			[
				'a spreadsheet',
				'No.',
				readSheet,
				new RegExp(`a spreadsheet with the ID ${id}.*another kind of file`),
				/folder/,
			],
			[
				'a spreadsheet whose ID has no digit',
				'No.',
				({ sheets }) => sheets.spreadsheets.get({ spreadsheetId: lettersOnly }),
				new RegExp(`a spreadsheet with the ID ${lettersOnly}`),
				/is not an ID/,
			],
			[
				'a title for an ID',
				'No.',
				readTitle,
				new RegExp(`^'Sales' ${notID}$`),
				/folder|shared/,
			],
			[
				'a title for a template',
				'File not found: Letter.',
				copyTitle,
				new RegExp(`^'Letter' ${notID} Check 'templateId'.$`),
				/All Files/,
			],
			[
				'a title for a folder',
				'File not found: Invoices.',
				createFile,
				new RegExp(`^'Invoices' ${notID} Check the folder.$`),
				/All Files/,
			],
		])('what is missing by its own name: %s', async (_, message, call, told, misleading) => {
			const { description } = await ask(googleError(404, message), call, {
				signIn: appFiles,
				...folder,
			});
			expect(description).toMatch(told);
			expect(description).not.toMatch(misleading);
		});

		test('with the operation’s own advice after it', async () => {
			const { description } = await ask(googleError(404, 'No.'), readFile, {
				adviceByStatus: { 404: 'Check the folder.' },
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

describe('advice table', () => {
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
		adviceByStatus?: Readonly<Record<number, string>>,
	): string {
		const errors = reason === undefined ? undefined : [{ reason, message }];
		const body = Buffer.from(JSON.stringify({ error: { code: status, message, errors } }));
		const call = {
			api,
			method: id ? 'GET' : 'POST',
			url: `https://google.example${paths[api]}${id && `/${id}`}`,
			signIn: { ...signIn, ...own },
			adviceByStatus,
		};
		return (
			createResponseError({ statusCode: status, headers: {}, body }, call).description ?? ''
		);
	}

	const rows = Object.entries(adviceTable).flatMap(([status, ofStatus]) =>
		ofStatus.map(([when, advice]) => ({ when, status: Number(status), advice })),
	);
	const isByWordsAlone = ({ when: { pattern, ...more } }: (typeof rows)[number]) =>
		pattern !== undefined && Object.keys(more).length === 0;
	const otherRows = rows.filter((row) => !isByWordsAlone(row));

	/** Google's answers as they were reported, in the order of the rows that words alone do not decide. */
	const reported: ReadonlyArray<readonly [message: string, reason?: string]> = [
		['This operation is not supported for this document'],
		['This operation is not supported for this document'],
		['Precondition check failed.', 'failedPrecondition'],
		['The caller does not have permission'],
		['The caller does not have permission', 'forbidden'],
		[
			'Service Accounts do not have storage quota. Leverage shared drives (https://developers.google.com/workspace/drive/api/guides/about-shareddrives), or use OAuth delegation (http://support.google.com/a/answer/7281227) instead.',
			'storageQuotaExceeded',
		],
		['This file is too large to be exported.', 'exportSizeLimitExceeded'],
		[
			'The user has not granted the app 1234 read access to the file 1A.',
			'appNotAuthorizedToFile',
		],
		['File not found: 1A.', 'notFound'],
		['File not found: 1A.', 'notFound'],
		['Requested entity was not found.'],
	];

	test.each(
		otherRows.map((row, at) => [reported[at]?.[0] ?? '', row, reported[at]?.[1]] as const),
	)('%s', (message, { when, status, advice }, reason) => {
		const { api = ['sheets'], authentication, hidesFiles, creates } = when;
		expect(reported).toHaveLength(otherRows.length);
		const driveAccess = hidesFiles ? 'appFilesAndNames' : 'allFiles';
		const given = { authentication: authentication ?? 'oAuth2', driveAccess } as const;
		for (const one of api) {
			const id = creates ? '' : '1AbcDefGhij';
			const description = descriptionOf(one, status, { message, reason }, given, id);
			expect(description).toContain(advice);
		}
	});

	/** Google's answers as they were reported, with words of the advice. */
	const worded: ReadonlyArray<
		readonly [
			api: Api,
			status: number,
			message: string,
			reason: string | undefined,
			advice: string,
		]
	> = [
		['mail', 400, 'Mail service not enabled', 'failedPrecondition', 'has no Gmail mailbox'],
		[
			'drive',
			403,
			'The user has exceeded their Drive storage quota',
			'storageQuotaExceeded',
			'storage of this Google account is full',
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
			'sheets',
			400,
			'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
			undefined,
			'The cells are protected',
		],
		[
			'sheets',
			400,
			'This action would increase the number of cells in the workbook above the limit of 10000000 cells.',
			undefined,
			'10 million cells',
		],
		[
			'sheets',
			400,
			'Your input contains more than the maximum of 50000 characters in a single cell.',
			undefined,
			'Shorten the text',
		],
		[
			'docs',
			400,
			'Request payload size exceeds the limit: 10485760 bytes.',
			undefined,
			'Send less at once',
		],
		[
			'docs',
			400,
			"The required revision ID 'x' does not match the latest revision.",
			undefined,
			'changed in the meantime',
		],
		[
			'docs',
			400,
			'Invalid requests[3].insertInlineImage: There was a problem retrieving the image. The provided image should be publicly accessible, within size limit, and in supported formats.',
			undefined,
			'could not fetch an image',
		],
		[
			'drive',
			403,
			'The domain administrators have disabled Drive apps.',
			'domainPolicy',
			'administrator',
		],
		[
			'sheets',
			403,
			"Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: x",
			'SECURITY_POLICY_VIOLATED',
			'administrator',
		],
		[
			'drive',
			403,
			'Daily Limit for Unauthenticated Use Exceeded. Continued use requires signup.',
			'dailyLimitExceededUnreg',
			'without its token',
		],
		['drive', 403, 'Daily Limit Exceeded', 'dailyLimitExceeded', 'is used up'],
		[
			'drive',
			403,
			'The file limit for this shared drive has been exceeded.',
			'teamDriveFileLimitExceeded',
			'another folder',
		],
		[
			'drive',
			403,
			"The limit for this folder's number of children (files and folders) has been exceeded.",
			'numChildrenInNonRootLimitExceeded',
			'another folder',
		],
		[
			'drive',
			403,
			'This account has exceeded the creation limit.',
			'activeItemCreationLimitExceeded',
			'empty the trash',
		],
		[
			'drive',
			403,
			"A shared drive's hierarchy depth will exceed the limit.",
			'teamDriveHierarchyTooDeep',
			'levels of folders',
		],
		[
			'drive',
			403,
			'Your My Drive folder depth limit has been exceeded.',
			'myDriveHierarchyDepthLimitExceeded',
			'levels of folders',
		],
		[
			'drive',
			403,
			'The specified parent is not a folder.',
			'parentNotAFolder',
			'Choose the folder itself.',
		],
		[
			'drive',
			403,
			'Increasing the number of parents is not allowed',
			'cannotAddParent',
			'A file can be in one folder only',
		],
		[
			'mail',
			403,
			'Delegation denied for ann@example.com',
			'forbidden',
			'may not act for this mailbox',
		],
		[
			'mail',
			403,
			"Metadata scope does not support 'q' parameter",
			'forbidden',
			'gmail.metadata',
		],
		[
			'drive',
			403,
			'The resource body includes fields which are not directly writable.',
			'fieldNotWritable',
			'The message says why',
		],
		['mail', 403, 'This is new.', 'somethingNew', 'The message says why'],
		['docs', 403, '', undefined, 'Google gave no reason'],
		[
			'drive',
			409,
			'A file already exists with the provided ID.',
			'fileIdInUse',
			'already exists',
		],
		['mail', 413, '', undefined, 'Send less at once'],
		[
			'sheets',
			400,
			'Invalid requests[0].addSheet: A sheet with the name "a" already exists. Please enter another name.',
			undefined,
			'a name of its own',
		],
		[
			'sheets',
			403,
			"Permission denied: Consumer 'project:a' has been suspended.",
			'CONSUMER_SUSPENDED',
			'The message says why',
		],
		[
			'sheets',
			403,
			'Caller does not have required permission to use project a.',
			'USER_PROJECT_DENIED',
			'The message says why',
		],
		[
			'sheets',
			403,
			"Method doesn't allow unregistered callers (callers without established identity).",
			undefined,
			'without its token',
		],
		[
			'sheets',
			401,
			'Request is missing required authentication credential.',
			'CREDENTIALS_MISSING',
			'without its token',
		],
		[
			'sheets',
			429,
			"Quota exceeded for quota metric 'Read requests' and limit 'Read requests per day' of service 'sheets.googleapis.com'",
			'RATE_LIMIT_EXCEEDED',
			'Try again tomorrow',
		],
		[
			'mail',
			429,
			'Daily user sending limit exceeded.',
			'dailyLimitExceeded',
			'Try again tomorrow',
		],
		['mail', 429, 'Sorry, this looks like automated queries', undefined, 'IP address'],
		[
			'mail',
			400,
			'Message size exceeds fixed limit: 36700160',
			'invalidArgument',
			'Send less at once',
		],
		[
			'drive',
			416,
			'Request range not satisfiable',
			'requestedRangeNotSatisfiable',
			'The message says why',
		],
		['sheets', 404, '', undefined, 'Google gave no reason'],
		['sheets', 407, '', undefined, 'Google gave no reason'],
		['sheets', 408, '', undefined, 'a temporary problem'],
		[
			'sheets',
			400,
			"Cells of a connected sheet can't be edited.",
			undefined,
			'does not allow changes to a connected sheet. Use another tab.',
		],
		[
			'sheets',
			400,
			'You are trying to enter invalid data in a typed column.',
			undefined,
			'accepts only one type of value',
		],
	];

	test.each(worded)('%s %i: %s (%s)', (api, status, message, reason, advice) => {
		const description = descriptionOf(api, status, { message, reason }, {}, '1AbcDefGhij');
		expect(description).toContain(advice);
		expect(description).not.toMatch(/permission/);
		expect(description.includes(quoteField('range'))).toBe(advice === quoteField('range'));
	});

	test('each advice by words has a response that was reported', () => {
		const unused = rows
			.filter(isByWordsAlone)
			.filter(
				({ status, when: { pattern } }) =>
					!worded.some(
						([, code, message, reason]) =>
							code === status && pattern?.test(`${reason} ${message}`),
					),
			);
		expect(unused.map(({ when: { pattern } }) => pattern?.source)).toEqual([
			'automated queries',
		]);
	});

	test("Google's page for a blocked address, which is HTML, is known", () => {
		const page =
			'<html><title>Sorry...</title>but your computer may be sending automated queries.</html>';
		const call = {
			api: 'mail',
			method: 'GET',
			url: 'https://google.example/x',
			signIn,
		} as const;
		expect(
			createResponseError({ statusCode: 403, headers: {}, body: Buffer.from(page) }, call),
		).toMatchObject({
			message: 'Gmail: Sorry, this looks like automated queries',
			description: expect.stringContaining('temporarily blocks') as string,
		});
	});

	test('a request that Google aborted says nothing of an ID that exists', () => {
		const body = Buffer.from(
			JSON.stringify({ error: { message: 'Aborted.', status: 'ABORTED' } }),
		);
		const call = {
			api: 'sheets',
			method: 'POST',
			url: 'https://google.example/x',
			signIn,
		} as const;
		const { description } = createResponseError({ statusCode: 409, headers: {}, body }, call);
		expect(description).toBe(
			'Somebody changed the file or email in the meantime. Read it again and repeat the change.',
		);
	});

	test('what an operation advises for a status is left out where the words of Google say what it was', () => {
		const own = { 400: 'Check the addresses.' };
		const adviceTo = (message: string) =>
			descriptionOf('mail', 400, { message }, { authentication: 'serviceAccount' }, '', own);
		expect(adviceTo('Precondition check failed.')).toContain('Delegated Email');
		expect(adviceTo('Precondition check failed.')).not.toContain('Check the addresses.');
		expect(adviceTo('Invalid To header')).toBe('Check the addresses.');
	});

	test.each(['sheets', 'docs'] as const)(
		'a 404 of %s never speaks of the access to Drive',
		(api) => {
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
		},
	);

	test.each([
		[403, 'The user has not granted the app 1234 read access to the file 1AbcDefGhij.'],
		[404, 'File not found: 1AbcDefGhij.'],
	])(
		'%i of a file that another app made: Google shows this sign-in only files that this app created',
		(status, message) => {
			for (const driveAccess of ['appFiles', 'appFilesAndNames'] as const) {
				const description = descriptionOf(
					'drive',
					status,
					{ message },
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

	test('a service account that may not see an existing spreadsheet is not sent to a folder', () => {
		const refused = { message: 'The caller does not have permission' };
		const own = { authentication: 'serviceAccount' } as const;
		expect(descriptionOf('sheets', 403, refused, own, '1AbcDefGhij')).not.toContain(
			'Parent Folder',
		);
	});

	test.each(['mail', 'sheets', 'docs', 'drive'] as const)(
		'a service account that %s refuses is not sent to the button of a sign-in with Google',
		(api) => {
			const own = { authentication: 'serviceAccount' } as const;
			const scope = { message: 'Insufficient scopes.', reason: 'insufficientPermissions' };
			const advice = [401, 403, 404].map((status) =>
				descriptionOf(api, status, scope, own, '1AbcDefGhij'),
			);
			expect(advice.join(' ')).toMatch(
				/email and key.* In the credential, choose the Mail Access or Drive Access/,
			);
			expect(advice.join(' ')).not.toMatch(/Switch account|reconnect|sign in/i);
		},
	);
});
