import type { SignIn } from '../../../nodes/Workspace/google/advice';
import { type Picker, searchFolders, searchSpreadsheets } from '../../../nodes/Workspace/methods/methods';
import { testClients } from '../client';
import { StandIn } from '../standIn';

const folderType = 'application/vnd.google-apps.folder';

const standIn = new StandIn();

const scopesOf = {
	appFiles: ['drive.file'],
	appFilesAndNames: ['drive.file', 'drive.metadata.readonly'],
	allFiles: ['drive'],
};

function picker(
	driveAccess: SignIn['driveAccess'],
	{ authentication = 'oAuth2', scopes = scopesOf[driveAccess] }: Partial<SignIn> & { scopes?: string[] } = {},
): Picker {
	const token = standIn.google.tokens.issue({ scopes, clientId: 'own' });
	return { drive: testClients(standIn.google.url, token).drive, signIn: { authentication, driveAccess } };
}

function seed(
	name: string,
	more: { clientId?: string; driveId?: string; trashed?: boolean; mimeType?: string } = {},
) {
	const { driveId } = more;
	const parents = driveId === undefined ? undefined : [driveId];
	return standIn.google.files.add({ mimeType: folderType, clientId: 'own', ...more, name, parents });
}

const names = ({ results }: { results: ReadonlyArray<{ name: string }> }) => results.map(({ name }) => name);

describe('with access to all files', () => {
	test('My Drive, shared drives, then folders by name, in My Drive and shared drives', async () => {
		const driveId = standIn.google.drive.seedSharedDrive('Team');
		seed('Folder 10', { clientId: 'somebody' });
		seed('Folder 9', { driveId });
		seed('Gone', { trashed: true });
		seed('No folder', { mimeType: 'text/plain' });
		const page = await searchFolders(picker('allFiles'));
		expect(names(page)).toEqual(['My Drive', 'Team', 'Folder 9', 'Folder 10']);
		expect(page.results.slice(0, 2)).toEqual([
			{ name: 'My Drive', value: 'root', url: 'https://drive.google.com/drive/my-drive' },
			{ name: 'Team', value: driveId, url: `https://drive.google.com/drive/folders/${driveId}` },
		]);
	});

	test('the filter acts on drives and folders, and is no query language', async () => {
		standIn.google.drive.seedSharedDrive("Jon's team");
		seed("Jon's folder");
		seed('Another');
		expect(names(await searchFolders(picker('allFiles'), " Jon's "))).toEqual(["Jon's team", "Jon's folder"]);
		expect(names(await searchFolders(picker('allFiles'), "' or name contains 'A"))).toEqual([]);
	});

	test('pages of a hundred; drives stand on the first one only', async () => {
		for (let at = 0; at < 120; at++) standIn.google.drive.seedSharedDrive(`Drive ${at}`);
		for (let at = 0; at < 150; at++) seed(`Folder ${at}`);
		const first = await searchFolders(picker('allFiles'));
		expect(first.results).toHaveLength(1 + 120 + 100);
		const second = await searchFolders(picker('allFiles'), undefined, String(first.paginationToken));
		expect(second.results).toHaveLength(50);
		expect(second.paginationToken).toBeUndefined();
	});
});

describe('with access to the own files of the app', () => {
	test('only what it made, and no question for shared drives', async () => {
		standIn.google.drive.seedSharedDrive('Team');
		seed('Own');
		seed('Foreign', { clientId: 'somebody' });
		expect(names(await searchFolders(picker('appFiles')))).toEqual(['My Drive', 'Own']);
		expect(standIn.google.requests.map(({ method }) => method)).toEqual(['drive.files.list']);
	});

	test('with the names of all others, only folders that something can be put into', async () => {
		standIn.google.drive.seedSharedDrive('Team');
		const own = seed('Own');
		const foreign = seed('Foreign', { clientId: 'somebody' });
		const { drive, signIn } = picker('appFilesAndNames');
		expect(names(await searchFolders({ drive, signIn }))).toEqual(['My Drive', 'Own']);
		const put = async (parent: string) =>
			await drive.files.create({ requestBody: { name: 'x', mimeType: 'text/plain', parents: [parent] } });
		await expect(put(own.id)).resolves.toMatchObject({ status: 200 });
		await expect(put(foreign.id)).rejects.toMatchObject({ code: 404 });
	});
});

describe('a picker of files', () => {
	const search = searchSpreadsheets;

	test('the last opened first, with a link', async () => {
		const mimeType = 'application/vnd.google-apps.spreadsheet';
		const old = { name: 'old', mimeType, clientId: 'own', createdTime: '2020-01-01T00:00:00.000Z' };
		const { id } = standIn.google.files.add(old);
		standIn.google.files.add({ ...old, name: 'new', createdTime: '2021-01-01T00:00:00.000Z' });
		const page = await search(picker('allFiles'));
		expect(names(page)).toEqual(['new', 'old']);
		expect(page.results[1]).toEqual({
			name: 'old',
			value: id,
			url: `https://docs.google.com/spreadsheets/d/${id}/edit?usp=drivesdk`,
		});
	});

	test('nothing that fits is an empty list: a failure would take the search box away', async () => {
		for (const access of ['allFiles', 'appFilesAndNames', 'appFiles'] as const) {
			expect(await search(picker(access), 'x')).toEqual({ results: [], paginationToken: undefined });
		}
	});

	test('shows the names of what other apps made, unless Drive Access is App Files', async () => {
		const mimeType = 'application/vnd.google-apps.spreadsheet';
		standIn.google.files.add({ name: 'Budget', mimeType, clientId: 'somebody' });
		expect(names(await search(picker('appFilesAndNames')))).toEqual(['Budget']);
		await expect(search(picker('appFiles'))).rejects.toThrow('Drive Access set to App Files');
	});

	test.each([
		['appFiles', {}, 'change Drive Access in the credential, save it, and click Switch account'],
		['appFilesAndNames', {}, 'save it and click Switch account'],
		['allFiles', { scopes: ['drive.file'] }, 'save it and click Switch account'],
		['allFiles', { authentication: 'serviceAccount' }, 'Share some with the email of the service account'],
	] as const)('that is empty says why: %s %j', async (access, more, advice) => {
		const { scopes, ...signIn } = { scopes: undefined, ...more };
		const given = picker(access, { ...signIn, scopes: scopes && [...scopes] });
		const failure: unknown = await search(given).catch((error: unknown) => error);
		const { code, message } = failure as { code: number; message: string };
		expect(code).toBe(404);
		expect(message).toContain('Google lists no spreadsheets for this account.');
		expect(message).toContain(advice);
		// n8n cuts the message of a list at every dash.
		expect(message).not.toMatch(/[-–—]/);
	});
});
