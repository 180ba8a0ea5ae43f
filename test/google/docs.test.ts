import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { TabSeed } from '../../dev/google/docs/document';
import { createDocsService, documentType } from '../../dev/google/docs/service';
import { FileRegistry } from '../../dev/google/files';
import { ApiError, type Call } from '../../dev/google/service';

const files = new FileRegistry();
const service = createDocsService({ files });

type Requests = docs_v1.Schema$Request[];

function call<T>(method: string, documentId?: string, params: Call['params'] = {}, body?: unknown): T {
	const reply = service.methods[method]?.({
		method,
		params: { ...(documentId !== undefined && { documentId }), ...params },
		body,
		user: 'someone@example.com',
		clientId: 'client',
		scopes: ['https://www.googleapis.com/auth/documents'],
		headers: {},
	});
	if (reply === undefined || reply instanceof Promise) throw new Error(`no answer to ${method}`);
	return reply.body as T;
}

function get(documentId: string, params: Call['params'] = {}): docs_v1.Schema$Document {
	return call('docs.documents.get', documentId, params);
}

function update(documentId: string, requests: Requests, writeControl?: docs_v1.Schema$WriteControl) {
	const body = { requests, ...(writeControl && { writeControl }) };
	return call<docs_v1.Schema$BatchUpdateDocumentResponse>('docs.documents.batchUpdate', documentId, {}, body);
}

function fresh(text = ''): string {
	const id =
		call<docs_v1.Schema$Document>('docs.documents.create', undefined, {}, { title: 'T' }).documentId ?? '';
	if (text !== '') update(id, [{ insertText: { text, location: { index: 1 } } }]);
	return id;
}

function refused(documentId: string, ...requests: Requests): string {
	const before = get(documentId);
	try {
		update(documentId, requests);
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		expect(error.code).toBe(400);
		expect(get(documentId)).toEqual(before);
		return error.message;
	}
	throw new Error('was not refused');
}

function paragraphs(documentId: string): docs_v1.Schema$Paragraph[] {
	return (get(documentId).body?.content ?? []).flatMap((element) =>
		element.paragraph ? [element.paragraph] : [],
	);
}

const range = (startIndex: number, endIndex: number) => ({ startIndex, endIndex });
const erase = (startIndex: number, endIndex: number) => ({
	deleteContentRange: { range: range(startIndex, endIndex) },
});
const insert = (text: string, index: number) => ({ insertText: { text, location: { index } } });
const table = (index: number) => ({ insertTable: { rows: 2, columns: 2, location: { index } } });

describe('recorded facts', () => {
	test('a new document is a section break and an empty paragraph; only the title counts', () => {
		const body = { content: [{ paragraph: { elements: [{ textRun: { content: 'ignored\n' } }] } }] };
		const made = call<docs_v1.Schema$Document>('docs.documents.create', undefined, {}, { title: 'T', body });
		expect(made).toMatchObject({
			title: 'T',
			documentId: expect.any(String),
			revisionId: expect.any(String),
		});
		expect(made.body?.content).toMatchObject([
			{ endIndex: 1, sectionBreak: {} },
			{ startIndex: 1, endIndex: 2, paragraph: { elements: [{ textRun: { content: '\n' } }] } },
		]);
		expect(made.body?.content?.[0]).not.toHaveProperty('startIndex');
	});

	test('a document that Drive makes has the same shape', () => {
		const { id } = files.add({ name: 'D', mimeType: documentType, clientId: 'client' });
		expect(get(id).body?.content).toEqual(get(fresh()).body?.content);
	});

	test('an answer to a batch has one empty reply a request and the new revision', () => {
		const id = fresh();
		expect(update(id, [insert('a', 1), insert('b', 1)])).toEqual({
			documentId: id,
			replies: [{}, {}],
			writeControl: { requiredRevisionId: service.revisionOf(id) },
		});
	});

	test('text at the end goes before the last newline', () => {
		const id = fresh('one');
		update(id, [{ insertText: { text: '\ntwo', endOfSegmentLocation: {} } }]);
		expect(service.text(id)).toBe('one\ntwo\n');
	});

	test('indexes are UTF-16 units', () => {
		const id = fresh('😀a');
		expect(get(id).body?.content?.[1]).toMatchObject({ startIndex: 1, endIndex: 5 });
	});

	test.each([
		['control characters', 'a\u0000\u0008\u000c\u001fb\rc', 'abc\n'],
		['private use', 'a\ue000\uf8ffb', 'ab\n'],
		['not tab, newline, vertical tab', 'a\tb\nc\u000bd', 'a\tb\nc\u000bd\n'],
	])('stripped: %s', (_, text, stored) => {
		expect(service.text(fresh(text))).toBe(stored);
	});

	test.each<[string, string, Requests, RegExp]>([
		['index 0', 'abc', [insert('x', 0)], /^Invalid requests\[0\]\.insertText: .*greater than or equal to 1/],
		[
			'past the end',
			'abc',
			[insert('x', 5)],
			/Index 5 must be less than the end index of the referenced segment, 5\./,
		],
		['inside a pair', '😀', [insert('x', 2)], /inside the bounds of an existing paragraph/],
		['empty range', 'abc', [erase(2, 2)], /The range should not be empty/],
		['last newline', 'abc', [erase(1, 5)], /cannot include the newline character at the end of the segment/],
		['beyond the end', 'abc', [erase(1, 9)], /must be less than the end index/],
		['section break', 'abc', [erase(0, 2)], /greater than or equal to 1/],
		['half a pair', 'a😀b', [erase(1, 3)], /surrogate pair/],
		['start of a table', 'ab', [table(2), erase(3, 5)], /Invalid deletion range/],
		['part of a table', 'ab', [table(2), erase(1, 5)], /Invalid deletion range/],
		['newline before a table', 'ab', [table(2), erase(2, 3)], /Invalid deletion range/],
		['newline of a cell', 'ab', [table(2), erase(6, 7)], /Invalid deletion range/],
		['end of a table', 'ab', [table(2), erase(14, 16)], /Invalid deletion range/],
		['at the start of a table', 'ab', [table(2), insert('x', 3)], /inside the bounds/],
		['style over the last newline', 'abc', [styled(1, 5)], /must be less than the end index/],
		['unknown tab', 'abc', [{ insertText: { text: 'x', location: { index: 1, tabId: 't.x' } } }], /tab/],
		[
			'no field mask',
			'abc',
			[{ updateTextStyle: { range: range(1, 2), textStyle: {} } }],
			/At least one field/,
		],
		['unknown field', 'abc', [{ updateTextStyle: { range: range(1, 2), fields: 'bald' } }], /Invalid field/],
		['no text', 'abc', [insert('', 1)], /must not be empty/],
		['two kinds in one request', 'abc', [{ ...insert('x', 1), ...erase(1, 2) }], /Exactly one request kind/],
	])('refused: %s', (_, text, requests, message) => {
		expect(refused(fresh(text), ...requests)).toMatch(message);
	});

	test('a batch is all or nothing, and says which request was refused', () => {
		const id = fresh('abc');
		expect(refused(id, insert('x', 1), erase(1, 1))).toMatch(/^Invalid requests\[1\]\.deleteContentRange: /);
		expect(service.text(id)).toBe('abc\n');
	});

	test('a stale revision is refused, the current one accepted', () => {
		const id = fresh('abc');
		const requiredRevisionId = service.revisionOf(id);
		service.type(id, '!');
		expect(() => update(id, [insert('x', 1)], { requiredRevisionId })).toThrow(
			/does not match the latest revision/,
		);
		update(id, [insert('x', 1)], { requiredRevisionId: service.revisionOf(id) });
		expect(service.text(id)).toBe('xabc!\n');
		expect(service.batchesOf(id)).toBe(2);
	});

	test('without the flag there is the first tab alone, with it no top-level body', () => {
		const tabs: TabSeed[] = [
			{ title: 'A', body: [line('a')] },
			{ title: 'B', children: [{ title: 'C' }] },
		];
		const id = service.seed({ title: 'T', tabs });
		expect(get(id)).not.toHaveProperty('tabs');
		expect(get(id).body?.content).toHaveLength(2);
		const whole = get(id, { includeTabsContent: 'true' });
		expect(whole).not.toHaveProperty('body');
		expect(whole.tabs).toMatchObject([
			{ tabProperties: { tabId: 't.0', title: 'A', index: 0 }, documentTab: { body: {} } },
			{ tabProperties: { title: 'B' }, childTabs: [{ tabProperties: { title: 'C', nestingLevel: 1 } }] },
		]);
	});

	test('a document of somebody else is not found under drive.file', () => {
		const { id } = files.add({ name: 'D', mimeType: documentType, clientId: 'other' });
		const scopes = ['https://www.googleapis.com/auth/drive.file'];
		const ask = { method: '', params: { documentId: id }, body: undefined, user: '', scopes, headers: {} };
		const handler = service.methods['docs.documents.get'];
		expect(() => handler?.({ ...ask, clientId: 'client' })).toThrow('Requested entity was not found.');
		expect(handler?.({ ...ask, clientId: 'other' })).toBeDefined();
	});
});

describe('structure', () => {
	test('a table goes in after a newline of its own, and its units are counted', () => {
		const id = fresh('beforeafter');
		update(id, [table(7), insert('cell', 18), insert('x', 11)]);
		const content = get(id).body?.content ?? [];
		expect(content.map(({ startIndex, endIndex }) => [startIndex, endIndex])).toEqual([
			[undefined, 1],
			[1, 8],
			[8, 25],
			[25, 31],
		]);
		const rows = content[2]?.table?.tableRows ?? [];
		expect(rows.map(({ startIndex, endIndex }) => [startIndex, endIndex])).toEqual([
			[9, 15],
			[15, 24],
		]);
		expect(service.text(id)).toBe('before\nx\n\n\ncell\nafter\n');
	});

	test('all content can be replaced at once, also where it is one table', () => {
		const cells = [{ content: [line('a')] }, { content: [line('b')] }];
		const body = [{ table: { tableRows: [{ tableCells: cells }] } }];
		const id = service.seed({ title: 'T', tabs: [{ body }] });
		const end = get(id).body?.content?.at(-1)?.endIndex ?? 0;
		update(id, [erase(1, end - 1), insert('new', 1)]);
		expect(service.text(id)).toBe('new\n');
	});

	test('styles apply to what a range touches and fall back to the default', () => {
		const id = fresh('one\ntwo');
		update(id, [
			{
				updateParagraphStyle: {
					range: range(5, 6),
					paragraphStyle: { namedStyleType: 'HEADING_2' },
					fields: 'namedStyleType',
				},
			},
			styled(6, 7),
		]);
		expect(paragraphs(id)).toMatchObject([
			{ paragraphStyle: { namedStyleType: 'NORMAL_TEXT' } },
			{
				paragraphStyle: { namedStyleType: 'HEADING_2', headingId: expect.any(String) },
				elements: [
					{ startIndex: 5, endIndex: 6, textRun: { content: 't', textStyle: {} } },
					{ startIndex: 6, endIndex: 7, textRun: { content: 'w', textStyle: { bold: true } } },
					{ startIndex: 7, endIndex: 9, textRun: { content: 'o\n' } },
				],
			},
		]);
		update(id, [{ updateTextStyle: { range: range(6, 7), fields: 'bold' } }]);
		expect(paragraphs(id)[1]?.elements).toHaveLength(1);
	});

	test('a link brings its look', () => {
		const id = fresh('link');
		const link = { url: 'https://example.com/' };
		update(id, [{ updateTextStyle: { range: range(1, 5), textStyle: { link }, fields: 'link' } }]);
		const style = paragraphs(id)[0]?.elements?.[0]?.textRun?.textStyle;
		expect(style).toMatchObject({ link, underline: true, foregroundColor: {} });
	});

	test('bullets take their level from tabs, which go, and join the list before them', () => {
		const id = fresh('a\n\tb\nc\nd');
		update(id, [bullets(1, 4), bullets(6, 7)]);
		const [a, b, c, d] = paragraphs(id);
		expect(b?.bullet).toEqual({ listId: a?.bullet?.listId, nestingLevel: 1, textStyle: {} });
		expect(c?.bullet).toEqual({ listId: a?.bullet?.listId, textStyle: {} });
		expect(d).not.toHaveProperty('bullet');
		expect(service.text(id)).toBe('a\nb\nc\nd\n');
		const glyphs = get(id).lists?.[a?.bullet?.listId ?? '']?.listProperties?.nestingLevels;
		expect(glyphs?.slice(0, 2)).toMatchObject([{ glyphSymbol: '●' }, { glyphSymbol: '○' }]);
	});

	test('a text typed after a list goes on with the list until its bullets are deleted', () => {
		const id = fresh('a\nb');
		update(id, [bullets(1, 2), { insertText: { text: '\nc', location: { index: 2 } } }]);
		expect(paragraphs(id).map((one) => one.bullet !== undefined)).toEqual([true, true, false]);
		update(id, [{ deleteParagraphBullets: { range: range(3, 4) } }]);
		expect(paragraphs(id).map((one) => one.bullet !== undefined)).toEqual([true, false, false]);
	});

	test('what is left of a deletion over paragraphs is the last one', () => {
		const id = fresh('a\nb\nc');
		update(id, [bullets(5, 6), erase(2, 5)]);
		expect(service.text(id)).toBe('ac\n');
		expect(paragraphs(id)).toHaveLength(1);
		expect(paragraphs(id)[0]).toHaveProperty('bullet');
	});

	test('suggestions stand in the text, and go with the view without them', () => {
		const elements = [
			{ textRun: { content: 'old', suggestedDeletionIds: ['s.1'] } },
			{ textRun: { content: 'new', suggestedInsertionIds: ['s.1'] } },
		];
		const id = service.seed({ title: 'T', tabs: [{ body: [{ paragraph: { elements } }] }] });
		const runs = (document: docs_v1.Schema$Document) =>
			document.body?.content?.[1]?.paragraph?.elements?.map((one) => one.textRun?.content);
		expect(runs(get(id))).toEqual(['old', 'new', '\n']);
		expect(runs(get(id, { suggestionsViewMode: 'PREVIEW_WITHOUT_SUGGESTIONS' }))).toEqual(['old', '\n']);
	});

	test('a megabyte of lines', () => {
		const text = 'some words in a line\n'.repeat(50_000);
		const id = fresh(text);
		expect(get(id).body?.content?.at(-1)?.endIndex).toBe(text.length + 2);
	});
});

function line(text: string): docs_v1.Schema$StructuralElement {
	return { paragraph: { elements: [{ textRun: { content: `${text}\n` } }] } };
}

function styled(startIndex: number, endIndex: number): docs_v1.Schema$Request {
	return {
		updateTextStyle: { range: range(startIndex, endIndex), textStyle: { bold: true }, fields: 'bold' },
	};
}

function bullets(startIndex: number, endIndex: number): docs_v1.Schema$Request {
	return {
		createParagraphBullets: { range: range(startIndex, endIndex), bulletPreset: 'BULLET_DISC_CIRCLE_SQUARE' },
	};
}
