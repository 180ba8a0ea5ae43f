import { expectNoViolations, startGoogle, type GoogleServer } from '../../../dev/google/server';
import { searchDocuments } from '../../../nodes/Workspace/listSearch/documents';
import { testClients } from '../client';

let google: GoogleServer;

beforeAll(async () => {
	google = await startGoogle();
});

afterAll(async () => {
	await google.close();
});

afterEach(() => {
	expectNoViolations(google);
	google.reset();
});

test('documents by name, not what is in the trash, page by page', async () => {
	for (let at = 0; at < 120; at++) google.docs.seed({ title: `Report ${at}` });
	google.docs.seed({ title: 'Other' });
	google.docs.seed({ title: 'Report in the trash', file: { trashed: true } });
	google.files.add({ name: 'Report', mimeType: 'text/plain', clientId: '' });
	const { drive } = testClients(google.url, google.tokens.issue());
	const picker = { drive, driveAccess: 'allFiles' as const };
	const first = await searchDocuments(picker, 'Report');
	expect(first.results).toHaveLength(100);
	const second = await searchDocuments(picker, 'Report', String(first.paginationToken));
	expect(second.results).toHaveLength(20);
	expect(second.paginationToken).toBeUndefined();
	const names = [...first.results, ...second.results].map(({ name }) => name);
	expect(names).not.toContain('Report in the trash');
	expect(first.results[0]).toMatchObject({ url: expect.stringContaining('/document/d/') as string });
});

test('an empty list says why', async () => {
	const { drive } = testClients(google.url, google.tokens.issue({ scopes: ['drive.file'] }));
	await expect(searchDocuments({ drive, driveAccess: 'appFiles' })).rejects.toThrow('no documents');
});
