import { expectNoViolations, startGoogle, type GoogleServer } from '../../../dev/google/server';
import { searchSpreadsheets } from '../../../nodes/Workspace/listSearch/spreadsheets';
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

test('spreadsheets by name, not what is in the trash, page by page', async () => {
	for (let at = 0; at < 120; at++) google.sheets.seed({ title: `Book ${at}` });
	google.sheets.seed({ title: 'Other' });
	google.sheets.seed({ title: 'Book in the trash', file: { trashed: true } });
	google.docs.seed({ title: 'Book' });
	const { drive } = testClients(google.url, google.tokens.issue());
	const picker = { drive, driveAccess: 'allFiles' as const };
	const first = await searchSpreadsheets(picker, 'Book');
	expect(first.results).toHaveLength(100);
	const second = await searchSpreadsheets(picker, 'Book', String(first.paginationToken));
	expect(second.results).toHaveLength(20);
	expect(second.paginationToken).toBeUndefined();
	const names = [...first.results, ...second.results].map(({ name }) => name);
	expect(names).not.toContain('Book in the trash');
	expect(first.results[0]).toMatchObject({ url: expect.stringContaining('/spreadsheets/d/') as string });
});

test('an empty list says what the sign-in does not see', async () => {
	google.sheets.seed({ title: 'Of somebody else', file: { clientId: 'other' } });
	const { drive } = testClients(google.url, google.tokens.issue({ scopes: ['drive.file'] }));
	await expect(searchSpreadsheets({ drive, driveAccess: 'appFiles' })).rejects.toMatchObject({
		message: 'Google shows this sign-in no spreadsheets',
		description: expect.stringContaining('set Drive Access to All Files') as string,
	});
});
