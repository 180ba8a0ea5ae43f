import { searchDocuments, searchSpreadsheets } from '../../../nodes/Workspace/methods/methods';
import { testClients } from '../client';
import { StandIn } from '../standIn';

const standIn = new StandIn();

const kinds = [
	{ noun: 'documents', search: searchDocuments, own: 'docs', other: 'sheets', path: '/document/d/' },
	{
		noun: 'spreadsheets',
		search: searchSpreadsheets,
		own: 'sheets',
		other: 'docs',
		path: '/spreadsheets/d/',
	},
] as const;

describe.each(kinds)('$noun', ({ search, own, other, path }) => {
	test('are found by name, but for those in the trash, page by page', async () => {
		for (let at = 0; at < 120; at++) standIn.google[own].seed({ title: `Report ${at}` });
		standIn.google[own].seed({ title: 'Other' });
		standIn.google[own].seed({ title: 'Report in the trash', file: { trashed: true } });
		standIn.google[other].seed({ title: 'Report of another kind' });
		standIn.google.files.add({ name: 'Report', mimeType: 'text/plain', clientId: '' });
		const { drive } = testClients(standIn.google.url, standIn.google.tokens.issue());
		const picker = { drive, signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' } as const };
		const first = await search(picker, 'Report');
		expect(first.results).toHaveLength(100);
		const second = await search(picker, 'Report', String(first.paginationToken));
		expect(second.results).toHaveLength(20);
		expect(second.paginationToken).toBeUndefined();
		const names = [...first.results, ...second.results].map(({ name }) => name);
		expect(names.filter((name) => !/^Report \d+$/.test(name))).toEqual([]);
		expect(first.results[0]).toMatchObject({ url: expect.stringContaining(path) as string });
	});
});
