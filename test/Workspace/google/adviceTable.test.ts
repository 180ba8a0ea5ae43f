import { adviceTable, type Api, type SignIn } from '../../../nodes/Workspace/google/advice';

import { errorOfAnswer } from '../../../nodes/Workspace/google/errors';

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
	advice?: Readonly<Record<number, string>>,
): string {
	const errors = reason === undefined ? undefined : [{ reason, message }];
	const body = Buffer.from(JSON.stringify({ error: { code: status, message, errors } }));
	const call = {
		api,
		method: id ? 'GET' : 'POST',
		url: `https://google.example${paths[api]}${id && `/${id}`}`,
		signIn: { ...signIn, ...own },
		advice,
	};
	return errorOfAnswer({ status, headers: {}, body }, call).failure.description ?? '';
}

/** Google's answers as they were reported, in the order of the rows. */
const reported: ReadonlyArray<readonly [message: string, reason?: string]> = [
	['This operation is not supported for this document'],
	[
		'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
	],
	['This action would increase the number of cells in the workbook above the limit of 10000000 cells.'],
	['Request payload size exceeds the limit: 10485760 bytes.'],
	['Precondition check failed.', 'failedPrecondition'],
	['Mail service not enabled', 'failedPrecondition'],
	['The caller does not have permission'],
	['The caller does not have permission', 'forbidden'],
	[
		'Service Accounts do not have storage quota. Leverage shared drives (https://developers.google.com/workspace/drive/api/guides/about-shareddrives), or use OAuth delegation (http://support.google.com/a/answer/7281227) instead.',
		'storageQuotaExceeded',
	],
	['The user has exceeded their Drive storage quota', 'storageQuotaExceeded'],
	['Daily Limit Exceeded', 'dailyLimitExceeded'],
	['The file limit for this shared drive has been exceeded.', 'teamDriveFileLimitExceeded'],
	['Increasing the number of parents is not allowed', 'cannotAddParent'],
	['The user has not granted the app 1234 read access to the file 1A.', 'appNotAuthorizedToFile'],
	['File not found: 1A.', 'notFound'],
	['File not found: 1A.', 'notFound'],
	['Requested entity was not found.'],
];

test.each(adviceTable.map((row, at) => [reported[at]?.[0] ?? '', row, reported[at]?.[1]] as const))(
	'%s',
	(message, { api = ['sheets'], status, advice, authentication, hidesFiles, creates }, reason) => {
		expect(reported).toHaveLength(adviceTable.length);
		const driveAccess = hidesFiles ? 'appFilesAndNames' : 'allFiles';
		const given = { authentication: authentication ?? 'oAuth2', driveAccess } as const;
		for (const one of api) {
			const id = creates ? '' : '1AbcDefGhij';
			const description = descriptionOf(one, status, { message, reason }, given, id);
			expect(description).toContain(advice);
		}
	},
);

test('what an operation advises for a status is left out where the words of Google say what it was', () => {
	const own = { 400: 'Check the addresses.' };
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
	[403, 'The user has not granted the app 1234 read access to the file 1AbcDefGhij.'],
	[404, 'File not found: 1AbcDefGhij.'],
])('%i of a file that another app made: App Files sees only files of this app', (status, message) => {
	for (const driveAccess of ['appFiles', 'appFilesAndNames'] as const) {
		const description = descriptionOf('drive', status, { message }, { driveAccess }, '1AbcDefGhij');
		expect(description).toContain('App Files sees only files of this app');
		expect(description).toContain('set Drive Access to All Files in the credential and reconnect');
	}
});

test('a service account that may not see an existing spreadsheet is not sent to a folder', () => {
	const refused = { message: 'The caller does not have permission' };
	const own = { authentication: 'serviceAccount' } as const;
	expect(descriptionOf('sheets', 403, refused, own, '1AbcDefGhij')).not.toContain('Parent Folder');
});

test.each(['mail', 'sheets', 'docs', 'drive'] as const)(
	'a service account that %s refuses is not sent to the button of a sign-in with Google',
	(api) => {
		const own = { authentication: 'serviceAccount' } as const;
		const scope = { message: 'Insufficient scopes.', reason: 'insufficientPermissions' };
		const advice = [401, 403, 404].map((status) => descriptionOf(api, status, scope, own, '1AbcDefGhij'));
		expect(advice.join(' ')).toMatch(/email and key.* Add it to the scopes of the credential/);
		expect(advice.join(' ')).not.toMatch(/Switch account|reconnect|sign in/i);
	},
);
