import { parseContent } from '../../../../nodes/Workspace/actions/document/content/parseContent';
import { expectLinear } from '../../../growth';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { asText, Calls } from './calls';

const calls = new Calls();
const urlOf = (id: string) => `https://docs.google.com/document/d/${id}/edit`;
const firstId = () => calls.google.files.listAll()[0]?.id ?? '';

test('a title is one request', async () => {
	const item = testItem();
	const created = await calls.create({ title: 'Bericht ü 😀' }, item);
	expect(calls.sent).toEqual([
		{ method: 'docs.documents.create', query: '', body: { title: 'Bericht ü 😀' } },
	]);
	const id = firstId();
	expect(created).toEqual({
		documentId: id,
		title: 'Bericht ü 😀',
		body: {
			content: [
				expect.objectContaining({ endIndex: 1 }),
				expect.objectContaining({ endIndex: 2 }),
			],
		},
		documentUrl: urlOf(id),
	});
	// The editor shows them in this order, and the body is long.
	expect(Object.keys(created).at(-1)).toBe('body');
	expect(item.things).toEqual([{ kind: 'document', id, url: urlOf(id) }]);
});

test('the body is what stands there after the content was written', async () => {
	const created = await calls.create({ content: 'one\r\ntwo' });
	expect(calls.methods).toEqual(['create', 'get', 'batchUpdate', 'get']);
	expect(calls.text(created.documentId)).toBe('one\ntwo\n');
	expect(created.body?.content?.at(-1)).toMatchObject({ startIndex: 5, endIndex: 9 });
});

test('in a folder Drive makes it', async () => {
	const mimeType = 'application/vnd.google-apps.folder';
	const folder = calls.google.files.add({ name: 'Folder', mimeType, clientId: 'other' }).id;
	const created = await calls.create({ parentFolder: folder, content: 'text' });
	expect(calls.methods).toEqual(['drive.files.create', 'get', 'batchUpdate', 'get']);
	expect(calls.google.requests[0]?.query.get('supportsAllDrives')).toBe('true');
	const { documentId } = created;
	const file = { name: 'Report', parents: [folder] };
	expect(calls.google.files.get(documentId)).toMatchObject(file);
	expect(created).toMatchObject({ title: 'Report', documentUrl: urlOf(documentId) });
	expect(calls.text(documentId)).toBe('text\n');
});

test('in a folder that is in the trash it fails, and is named', async () => {
	const mimeType = 'application/vnd.google-apps.folder';
	const folder = { name: 'Folder', mimeType, clientId: 'other', trashed: true };
	const parentFolder = calls.google.files.add(folder).id;
	const failure = await catchFailure(calls.create({ parentFolder, content: 'text' }));
	const id = calls.google.files.listAll().at(-1)?.id ?? '';
	const message = `The new file ${id} is in the trash of Google Drive, because its folder is there`;
	expect(failure).toMatchObject({ message, outcome: 'done' });
	expect(calls.methods).toEqual(['drive.files.create']);
});

test('in a folder without content its body is asked for', async () => {
	const created = await calls.create({ parentFolder: 'root' });
	expect(created.body?.content).toHaveLength(2);
	expect(calls.methods).toEqual(['drive.files.create', 'get']);
});

test('when the content fails, the document that exists is named', async () => {
	const item = testItem();
	calls.failChange({ status: 400 });
	await catchFailure(calls.create({ content: 'x' }, item));
	expect(item.things).toEqual([{ kind: 'document', id: firstId(), url: urlOf(firstId()) }]);
});

test('an answer to the content that was lost is found to be a success', async () => {
	calls.failChange({ connection: 'resetAfter' });
	const created = await calls.create({ content: 'text' });
	expect(created.body?.content?.at(-1)).toMatchObject({ endIndex: 6 });
	expect(calls.changes(created.documentId)).toBe(1);
	expect(calls.methods).toEqual(['create', 'get', 'batchUpdate', 'batchUpdate', 'get', 'get']);
});

test('a template whose answer cannot be read is not filled again', async () => {
	const templateId = calls.document('a');
	calls.failChange({ rewrite: () => ({ replies: null }) });
	const replacements = [asText('a', 'aa')];
	const failure = await catchFailure(calls.create({ templateId, replacements }));
	expect(failure).toMatchObject({ code: 502, outcome: 'unknown' });
	const [copy] = calls.google.files.listAll().filter(({ id }) => id !== templateId);
	expect(calls.text(copy?.id ?? '')).toBe('aa\n');
});

test.each([
	['docs.documents.create', 'resetAfter', '', 1],
	['drive.files.create', 'resetBefore', 'root', 0],
] as const)('a document is never created twice: %s, %s', async (...row) => {
	const [match, connection, parentFolder, count] = row;
	calls.google.fault({ match, connection });
	const failure = await catchFailure(calls.create({ parentFolder }));
	expect(failure.message).toMatch(/^The document may have been created: /);
	expect(failure.description).toContain("Look for 'Report' in Google Drive");
	expect(calls.google.files.listAll()).toHaveLength(count);
});

test('one that was made in a folder is found again, and filled', async () => {
	const item = testItem();
	calls.google.fault({ match: 'drive.files.create', connection: 'resetAfter' });
	const created = await calls.create({ parentFolder: 'root', content: 'text' }, item);
	expect(calls.google.files.listAll()).toHaveLength(1);
	expect(calls.text(created.documentId)).toBe('text\n');
	expect(item.things).toHaveLength(1);
});

test('without the body, the answer is what a list of documents needs, and does not read it again', async () => {
	const made = await calls.create({ content: 'text', includeBody: false });
	expect(calls.methods).toEqual(['create', 'get', 'batchUpdate']);
	const { documentId } = made;
	const shown = { documentId, documentUrl: urlOf(documentId), title: 'Report' };
	expect(JSON.stringify(made)).toBe(JSON.stringify(shown));
	const inFolder = await calls.create({ parentFolder: 'root', includeBody: false });
	expect(calls.methods.slice(3)).toEqual(['drive.files.create']);
	expect(Object.keys(inFolder)).toEqual(Object.keys(shown));
});

describe('plain text that looks like Markdown', () => {
	const given = { contentFormat: 'text' as const, insertImages: false };

	test('is written as it stands', async () => {
		const { documentId } = await calls.create({ content: '# Report\n**a**' });
		expect(calls.text(documentId)).toBe('# Report\n**a**\n');
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
	])('gets a hint: %j', async (content) => {
		const item = testItem();
		await parseContent({ ...given, content }, item);
		expect(item.hints).toEqual([
			"The content looks like Markdown, but was written as plain text. To format it, set 'contentFormat' to markdown.",
		]);
	});

	test.each([
		'#1 of 3',
		'2 ** 3 ** 4',
		'a * b',
		'- one thing\n\nand more',
		'a | b',
		'[1] see below (https://example.com)',
	])('is not %j', async (content) => {
		const item = testItem();
		await parseContent({ ...given, content }, item);
		expect(item.hints).toEqual([]);
	});

	test.each(['-', ' ', '|', '`a', '**a', '[a', '- a', '1', '\n', '- [', '> '])(
		'is found in the time of its length: %j',
		(unit) => {
			const textOf = (text: string) => `${text}\u0001`;
			// What is awaited comes later. This is done at once.
			const parse = (content: string) => void parseContent({ ...given, content }, testItem());
			expectLinear(unit, textOf, parse);
		},
	);
});
