import { adviceTable, hiddenFile, type SignIn } from '../../../nodes/Workspace/google/advice';
import type { Api } from '../../../nodes/Workspace/google/baseUrls';
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
	{ advice, path = paths[api] }: { advice?: Readonly<Record<number, string>>; path?: string } = {},
): string {
	const errors = reason === undefined ? undefined : [{ reason, message }];
	const body = Buffer.from(JSON.stringify({ error: { code: status, message, errors } }));
	const call = {
		api,
		method: id ? 'GET' : 'POST',
		url: `https://google.example${path}${id && `/${id}`}`,
		signIn: { ...signIn, ...own },
		methods: {},
		advice,
	};
	return errorOfAnswer({ status, headers: {}, body }, call).failure.description ?? '';
}

test.each(adviceTable.map((row) => [row.reported.message, row] as const))(
	'%s',
	(_message, { api = ['sheets'], status, reported, advice, authentication, hidesFiles, creates, path }) => {
		const driveAccess = hidesFiles ? 'appFilesAndNames' : 'allFiles';
		const given = { authentication: authentication ?? 'oAuth2', driveAccess } as const;
		for (const one of api) {
			const description = descriptionOf(one, status, reported, given, creates ? '' : '1AbcDefGhij', {
				path,
			});
			const expected = one === 'drive' && hidesFiles ? hiddenFile : advice;
			expect(description).toContain(expected);
		}
	},
);

test('what an operation advises for a status is left out where the words of Google say what it was', () => {
	const own = { 400: 'Check the addresses.' };
	const adviceTo = (message: string) =>
		descriptionOf('mail', 400, { message }, { authentication: 'serviceAccount' }, '', {
			advice: own,
		});
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

test('a service account that may not see an existing spreadsheet is not sent to a folder', () => {
	const refused = { message: 'The caller does not have permission' };
	const own = { authentication: 'serviceAccount' } as const;
	expect(descriptionOf('sheets', 403, refused, own, '1AbcDefGhij')).not.toContain('Parent Folder');
});
