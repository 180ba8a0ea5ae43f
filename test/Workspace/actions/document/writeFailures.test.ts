import { storedText } from '../../../../nodes/Workspace/actions/document/revisionGuard';
import { failing } from '../../failure';
import { Calls } from './calls';

const calls = new Calls();
const batchUpdate = 'docs.documents.batchUpdate';

describe.each(['text', 'markdown'] as const)('%s', (contentFormat) => {
	const content = '# One\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n1. x\n2. y';

	test('a write whose answer was lost is found to be done, and happens once', async () => {
		const id = calls.document('old');
		calls.google.fault({ match: batchUpdate, connection: 'resetAfter' });
		const written = await calls.write(id, { content, contentFormat });
		expect(written.revisionId).toBe(calls.google.docs.revisionOf(id));
		expect(written.characterCount).toBeGreaterThan(0);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'get']);
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});

	test('an append that was read first, too', async () => {
		const id = calls.document('old', [{ title: 'Notes', tabId: 't.n' }]);
		calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
		await calls.append(id, { content, contentFormat, tab: 'Notes', newParagraph: true });
		expect(calls.google.docs.batchesOf(id)).toBe(1);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'get']);
	});
});

describe('a revision that Google does not name is empty in the result', () => {
	const nothing = { match: batchUpdate, status: 200, body: {} };

	test('after a write or an append', async () => {
		const id = calls.document('old');
		calls.google.fault({ ...nothing, times: 2 });
		expect(await calls.write(id, { content: 'new' })).toHaveProperty('revisionId', '');
		expect(await calls.append(id, { content: 'new' })).toHaveProperty('revisionId', '');
	});

	test('after a write whose answer was lost', async () => {
		const id = calls.document();
		calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
		const paragraph = { elements: [{ textRun: { content: 'new\n' } }] };
		const content = [{ endIndex: 1 }, { startIndex: 1, endIndex: 5, paragraph }];
		const tabs = [{ tabProperties: { tabId: 't.0' }, documentTab: { body: { content } } }];
		calls.google.fault({ match: 'docs.documents.get', nth: 2, status: 200, body: { tabs } });
		expect(await calls.write(id, { content: 'new' })).toHaveProperty('revisionId', '');
	});
});

test('a write that did not happen at first is repeated', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, retryAfter: 0, times: 2 });
	await calls.write(id, { content: 'new' });
	expect(calls.google.docs.text(id)).toBe('new\n');
	expect(calls.google.docs.batchesOf(id)).toBe(1);
});

test.each([
	['longer', ' theirs'],
	['as long as ours', '!'],
	['with the same end', ' ours'],
])('somebody else was faster, and their text is %s: a clear error, and it stays', async (_what, theirs) => {
	const id = calls.document('old');
	calls.google.fault({
		match: (request) => {
			if (request.method !== batchUpdate) return false;
			if (calls.google.docs.text(id) === 'old\n') calls.google.docs.type(id, theirs);
			return true;
		},
		status: 503,
	});
	const failure = await failing(calls.write(id, { content: 'ours' }));
	expect(failure.message).toBe('Someone else changed the document while it was being written');
	expect(failure.description).toContain(`https://docs.google.com/document/d/${id}/edit?tab=t.0`);
	expect(calls.google.docs.text(id)).toBe(`old${theirs}\n`);
});

test('so is a document that Google gives back without a body', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
	calls.google.fault({
		match: 'docs.documents.get',
		nth: 2,
		status: 200,
		body: { tabs: [{ tabProperties: { tabId: 't.0' } }] },
	});
	const failure = await failing(calls.write(id, { content: 'ours' }));
	expect(failure.message).toBe('Someone else changed the document while it was being written');
});

test('the stored text is that of all elements that have one', () => {
	const run = (content?: string) => ({ textRun: { content } });
	expect(
		storedText([
			{},
			{ paragraph: {} },
			{ paragraph: { elements: [{}, run(), run('a'), run('b\n')] } },
			{
				table: {
					tableRows: [{}, { tableCells: [{}, { content: [{ paragraph: { elements: [run('c\n')] } }] }] }],
				},
			},
			{ table: {} },
		]),
	).toBe('ab\nc\n');
});

test.each([
	{ status: 400, message: 'No.' },
	{ status: 409, message: 'The required revision ID does not match.' },
])('only a change to an older revision is planned again, not after %j', async (fault) => {
	calls.google.fault({ match: batchUpdate, ...fault });
	expect(
		await failing(calls.append(calls.document('x'), { content: 'y', newParagraph: true })),
	).toMatchObject({ code: fault.status });
	expect(calls.methods).toEqual(['get', 'batchUpdate']);
});

test('a write that never happened says so', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, times: 5 });
	const failure = await failing(calls.write(id, { content: 'ours' }));
	expect(failure).toMatchObject({ code: 503, ambiguous: false });
	expect(failure.message).toMatch(/^The document was not changed: /);
	expect(failure.description).toMatch(/safely run this again/);
});

test.each([
	['', ''],
	['t.n', '?tab=t.n'],
])(
	'an append of plain text to the tab %j is never sent twice, and says where to look',
	async (tab, query) => {
		const id = calls.document('old', [{ title: 'Notes', tabId: 't.n' }]);
		calls.google.fault({ match: batchUpdate, connection: 'resetAfter' });
		const failure = await failing(calls.append(id, { content: '!', tab }));
		expect(failure.message).toMatch(/^The content may have been appended: /);
		expect(failure.description).toContain(
			`end of https://docs.google.com/document/d/${id}/edit${query} before`,
		);
		expect(failure.ambiguous).toBe(true);
		expect(calls.methods).toEqual(['batchUpdate']);
		expect(calls.google.docs.text(id, tab || undefined)).toBe(tab ? '!\n' : 'old!\n');
	},
);

test('a rate limit is waited for: nothing was done', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 429, retryAfter: 0 });
	await calls.append(id, { content: '!' });
	expect(calls.methods).toEqual(['batchUpdate', 'batchUpdate']);
	expect(calls.google.docs.text(id)).toBe('old!\n');
});

test('who may only read is told so', async () => {
	const id = calls.document('old');
	calls.google.fault({
		match: 'docs.documents.get',
		body: {
			tabs: [{ tabProperties: { tabId: 't.0' }, documentTab: { body: { content: [{ endIndex: 2 }] } } }],
		},
	});
	expect(await failing(calls.write(id, { content: 'x' }))).toMatchObject({
		code: 403,
		message: 'This account can read the document but not edit it',
	});
});

test('a document that is not there', async () => {
	expect(await failing(calls.write('1missing_document_id', { content: 'x' }))).toMatchObject({
		code: 404,
		status: 'NOT_FOUND',
	});
});

test('where the document cannot be read afterwards, the outcome is unknown', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
	calls.google.fault({ match: 'docs.documents.get', nth: 2, status: 500, times: 9 });
	const failure = await failing(calls.write(id, { content: 'ours' }));
	expect(failure.message).toMatch(/^The content may have been written: /);
	expect(failure.description).toMatch(/^The document could not be read afterwards\./);
	expect(failure.description).toContain(`https://docs.google.com/document/d/${id}/edit?tab=t.0`);
	expect(failure.ambiguous).toBe(true);
});
