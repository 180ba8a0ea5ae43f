import { parseContent } from '../../../../nodes/Workspace/actions/document/contentRequests';
import { expectLinear } from '../../../growth';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();
const batchUpdate = 'docs.documents.batchUpdate';

test('a title is one request', async () => {
	const item = testItem();
	const created = await calls.create({ title: 'Bericht ü 😀' }, item);
	expect(calls.sent).toEqual([
		{ method: 'docs.documents.create', query: '', body: { title: 'Bericht ü 😀' } },
	]);
	expect(created).toEqual({
		documentId: calls.google.files.listAll()[0]?.id,
		title: 'Bericht ü 😀',
		body: {
			content: [
				expect.objectContaining({ endIndex: 1 }),
				expect.objectContaining({ endIndex: 2 }),
			],
		},
		documentUrl: `https://docs.google.com/document/d/${created.documentId}/edit`,
	});
	// The editor shows them in this order, and the body is long.
	expect(Object.keys(created).at(-1)).toBe('body');
	expect(item.things).toEqual([
		{ kind: 'document', id: created.documentId, url: created.documentUrl },
	]);
});

test('the body is what stands there after the content was written', async () => {
	const created = await calls.create({ content: 'one\r\ntwo' });
	expect(calls.methods).toEqual(['create', 'batchUpdate', 'get']);
	expect(calls.sent[1]?.body).toMatchObject({
		requests: expect.arrayContaining([
			{ insertText: { text: 'one\ntwo', location: { index: 1 } } },
		]) as unknown,
	});
	expect(created.body?.content?.at(-1)).toMatchObject({ startIndex: 5, endIndex: 9 });
});

test('Markdown', async () => {
	const content = '# Title\n\n- a\n- b\n\n| x | y |\n| - | - |\n| 1 | 2 |';
	const created = await calls.create({ content, contentFormat: 'markdown' });
	expect(created.body?.content?.some((element) => element.table)).toBe(true);
	const back = await calls.read(created.documentId, { format: 'markdown' });
	expect(back.content).toBe(content);
});

test('in a folder Drive makes it', async () => {
	const { id: folder } = calls.google.files.add({
		name: 'Folder',
		mimeType: 'application/vnd.google-apps.folder',
		clientId: 'other',
	});
	const created = await calls.create({ parentFolder: folder, content: 'text' });
	expect(calls.methods).toEqual(['drive.files.create', 'get', 'batchUpdate', 'get']);
	expect(calls.google.requests[0]?.query.get('supportsAllDrives')).toBe('true');
	expect(calls.google.files.get(created.documentId)).toMatchObject({
		name: 'Report',
		parents: [folder],
	});
	expect(created).toMatchObject({
		title: 'Report',
		documentUrl: expect.stringContaining('/edit') as string,
	});
	expect(calls.google.docs.text(created.documentId)).toBe('text\n');
});

test('in a folder without content its body is asked for', async () => {
	const created = await calls.create({ parentFolder: 'root' });
	expect(created.body?.content).toHaveLength(2);
	expect(calls.methods).toEqual(['drive.files.create', 'get']);
});

test('when the content fails, the document that exists is named', async () => {
	const item = testItem();
	calls.google.fault({ match: batchUpdate, status: 400 });
	await catchFailure(calls.create({ content: 'x' }, item));
	expect(item.things).toEqual([
		{
			kind: 'document',
			id: calls.google.files.listAll()[0]?.id,
			url: expect.stringContaining('https://') as string,
		},
	]);
});

test('an answer to the content that was lost is found to be a success', async () => {
	calls.google.fault({ match: batchUpdate, connection: 'resetAfter' });
	const created = await calls.create({ content: 'text' });
	expect(created.body?.content?.at(-1)).toMatchObject({ endIndex: 6 });
	expect(calls.google.docs.batchesOf(created.documentId)).toBe(1);
	expect(calls.methods).toEqual(['create', 'batchUpdate', 'batchUpdate', 'get', 'get']);
});

test('a template whose answer cannot be read is not filled again', async () => {
	const templateId = calls.document('a');
	calls.google.fault({ match: batchUpdate, rewrite: () => ({ replies: null }) });
	const replacements = [{ find: 'a', replace: 'aa', format: 'text' as const }];
	const failure = await catchFailure(calls.create({ templateId, replacements }));
	expect(failure).toMatchObject({ code: 502, outcome: 'unknown' });
	const [copy] = calls.google.files.listAll().filter(({ id }) => id !== templateId);
	expect(calls.google.docs.text(copy?.id ?? '')).toBe('aa\n');
});

test('a document is never created twice', async () => {
	calls.google.fault({ match: 'docs.documents.create', connection: 'resetAfter' });
	const failure = await catchFailure(calls.create({}));
	expect(failure.message).toMatch(/^The document may have been created: /);
	expect(failure.description).toContain("Look for 'Report' in Google Drive");
	expect(calls.google.files.listAll()).toHaveLength(1);
});

test('one that was made in a folder is found again, and filled', async () => {
	const item = testItem();
	calls.google.fault({ match: 'drive.files.create', connection: 'resetAfter' });
	const created = await calls.create({ parentFolder: 'root', content: 'text' }, item);
	expect(calls.google.files.listAll()).toHaveLength(1);
	expect(calls.google.docs.text(created.documentId)).toBe('text\n');
	expect(item.things).toHaveLength(1);
});

test('one that was not made in a folder is not made again', async () => {
	calls.google.fault({ match: 'drive.files.create', connection: 'resetBefore' });
	const failure = await catchFailure(calls.create({ parentFolder: 'root' }));
	expect(failure.message).toMatch(/^The document may have been created: /);
	expect(calls.google.files.listAll()).toHaveLength(0);
});

test('without the body, the answer is what a list of documents needs, and does not read it again', async () => {
	const made = await calls.create({ content: 'text', includeBody: false });
	expect(calls.methods).toEqual(['create', 'batchUpdate']);
	const documentUrl = `https://docs.google.com/document/d/${made.documentId}/edit`;
	expect(JSON.stringify(made)).toBe(
		JSON.stringify({ documentId: made.documentId, documentUrl, title: 'Report' }),
	);
	const inFolder = await calls.create({ parentFolder: 'root', includeBody: false });
	expect(calls.methods.slice(2)).toEqual(['drive.files.create']);
	expect(Object.keys(inFolder)).toEqual(['documentId', 'documentUrl', 'title']);
});

test.each([
	'# Quarterly report',
	'due **today**',
	'see [the plan](https://example.com/plan)',
	'```js\n1\n```',
	'- [x] done',
	'Buy:\n- milk\n- bread',
	'1. one\n\n2) two',
	'| a | b |\n| - | :-: |\n| 1 | 2 |',
	'a | b\n--- | ---\n1 | 2',
	'> said',
	'run `npm test` first',
])(
	'plain text that looks like Markdown is written as it stands, with a hint: %j',
	async (content) => {
		const item = testItem();
		const { documentId } = await calls.create({ content }, item);
		expect(calls.google.docs.text(documentId)).toBe(`${content}\n`);
		expect(item.hints).toEqual([
			"The content looks like Markdown, but was written as plain text. To format it, set 'contentFormat' to markdown.",
		]);
	},
);

test.each(['-', ' ', '|', '`a', '**a', '[a', '- a', '1', '\n', '- [', '> '])(
	'whether plain text looks like Markdown is found in the time of its length: %j',
	(unit) => {
		const given = { contentFormat: 'text' as const, insertImages: false };
		// What is awaited comes later. This is done at once.
		expectLinear(
			unit,
			(text) => `${text}\u0001`,
			(content) => void parseContent({ ...given, content }, testItem()),
		);
	},
);

test.each([
	'#1 of 3',
	'2 ** 3 ** 4',
	'a * b',
	'- one thing\n\nand more',
	'a | b',
	'[1] see below (https://example.com)',
])('text is not taken for Markdown: %j', async (content) => {
	const item = testItem();
	await calls.create({ content }, item);
	expect(item.hints).toEqual([]);
});
