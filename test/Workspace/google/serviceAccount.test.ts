// What a service account may do with and without delegation, and the next step that a refusal names.
import { expectNoViolations, type GoogleServer, startGoogle } from '../../../dev/google/server';
import { folderType } from '../../../dev/google/drive/types';
import { upload } from '../../../nodes/Workspace/actions/file';
import * as documents from '../../../nodes/Workspace/actions/document';
import * as spreadsheets from '../../../nodes/Workspace/actions/spreadsheet';
import { isNodeError } from '../../../nodes/core/errors';
import { fieldsOf, type Operation } from '../../../nodes/Workspace/operation';
import { paramsOf } from '../../../nodes/fields/params';
import { testClients, testItem } from '../client';
import { failing } from '../failure';
import { outcomesOf } from '../performed';

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

async function run(operation: Operation, given: Record<string, unknown>, user = robot): Promise<unknown> {
	const token = google.tokens.issue({ user, clientId: robot });
	const clients = testClients(google.url, token, {
		maxTries: 1,
		signIn: { authentication: 'serviceAccount', driveAccess: 'allFiles' },
		advice: operation.errors,
	});
	const params = paramsOf(fieldsOf(operation), given, { mode: 'json', timezone: 'Europe/Berlin' });
	const [outcome] = await outcomesOf(operation, [{ params, item: testItem() }], clients);
	if (isNodeError(outcome)) throw outcome;
	return outcome;
}

const refusal = async (operation: Operation, given: Record<string, unknown>) =>
	await failing(run(operation, given));

const sharedFolder = () => {
	const driveId = google.drive.seedSharedDrive('Team');
	return google.files.add({ name: 'In', mimeType: folderType, clientId: '', parents: [driveId], driveId }).id;
};
const usersFolder = () =>
	google.files.add({ name: 'Mine', mimeType: folderType, clientId: '', sharedWith: [robot] }).id;

const text = { content: 'aGVsbG8=', contentSource: 'base64', name: 'a.txt' };
const ofOthers: Record<string, (file?: object) => string> = {
	spreadsheet: (file) => google.sheets.seed({ title: 'Theirs', file }),
	document: (file) => google.docs.seed({ title: 'Theirs', file }),
};
const reads: Array<[string, Operation, (id: string) => Record<string, unknown>]> = [
	['spreadsheet', spreadsheets.read, (spreadsheetId) => ({ spreadsheetId, range: 'Sheet1' })],
	['document', documents.read, (documentId) => ({ documentId })],
];

describe.each(reads)('a %s of others', (kind, read, given) => {
	test('that is not shared: says with whom to share it', async () => {
		const failure = await refusal(read, given(ofOthers[kind]?.() ?? ''));
		expect(failure).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' });
		expect(failure.description).toContain("Share the file with the service account's email address");
		expect(failure.description).toContain('Delegated Email');
	});

	test('that is shared is read', async () => {
		await run(read, given(ofOthers[kind]?.({ sharedWith: [robot] }) ?? ''));
	});

	test('is read for a user', async () => {
		await run(read, given(ofOthers[kind]?.() ?? ''), 'someone@example.com');
	});
});

describe.each<[string, Operation, Record<string, unknown>]>([
	['spreadsheet', spreadsheets.create, { title: 'New' }],
	['document', documents.create, { title: 'New' }],
	['file', upload, text],
])('a new %s', (_kind, create, given) => {
	test('needs a shared drive or a user', async () => {
		const failure = await refusal(create, given);
		expect(failure).toMatchObject({ code: 403 });
		expect(failure.description).toMatch(/service account has no (?:Drive|storage) of its own/);
		expect(failure.description).toMatch(/shared drive.*Delegated Email/);
		expect(google.files.all()).toEqual([]);
	});

	test('in the folder of a user does, too', async () => {
		const failure = await refusal(create, { ...given, parentFolder: usersFolder() });
		expect(failure).toMatchObject({ code: 403 });
		expect(failure.description).toMatch(/no storage of its own.*shared drive.*Delegated Email/);
		expect(google.files.all()).toHaveLength(1);
	});

	test('comes into a shared drive', async () => {
		const parentFolder = sharedFolder();
		await run(create, { ...given, parentFolder });
		expect(google.files.all().map(({ parents }) => parents)).toContainEqual([parentFolder]);
	});

	test('comes into the Drive of the user that it acts for', async () => {
		await run(create, given, 'someone@example.com');
		expect(google.files.all()).toMatchObject([{ parents: ['root'] }]);
	});
});

test('a folder that is not shared cannot be found', async () => {
	const { id } = google.files.add({ name: 'Theirs', mimeType: folderType, clientId: '' });
	const failure = await refusal(upload, { ...text, parentFolder: id });
	expect(failure).toMatchObject({ code: 404 });
	expect(failure.description).toContain('shared with the account of the credential');
});
