import { failing } from '../../failure';
import { Calls } from './calls';
import { paragraph, richTabs } from './richDocument';

const calls = new Calls();

function rich(): string {
	return calls.google.docs.seed({ title: 'Rich', tabs: richTabs });
}

const wholeText = `The header

Contents entry
Chapter
Text with bold and a link and a note[1].
Ada Lovelace met bob@example.com on Sep 9, 2026 about Plan
● first
  ○ inner
1. one
2. two
  a. two a
    2.i) two a i
3. three
Head\tOther
cell\ttwo lines
n1 | n2 n3 | n4\t● in cell
line one
line twoA chart

Last[2]

Page 

[1] First note

[2] Second note

Appendix text

Detail
x = 1`;

const wholeMarkdown = `The header

Contents entry

# Chapter

Text with **bold** and a [link](https://example.com/) and a note[^1].

[Ada Lovelace](mailto:ada@example.com) met <bob@example.com> on Sep 9, 2026 about [Plan](https://docs.google.com/spreadsheets/d/1)

- first
  - inner

1. one
2. two
   1. two a
      1. two a i
3. three

| Head | Other |
| - | - |
| cell | two<br>lines |
| n1 \\| n2<br>n3 \\| n4 | ● in cell |

line one\\
line two![A chart](https://example.com/chart.png)

---

Last[^2]

Page

[^1]: First note

[^2]: Second note

Appendix text

## Detail

x = 1`;

test('all text of a document, in order, with one request', async () => {
	const id = rich();
	expect(await calls.read(id)).toEqual({
		documentId: id,
		title: 'Rich',
		content: wholeText,
		characterCount: wholeText.length,
		revisionId: calls.google.docs.revisionOf(id),
		tabs: [
			{ tabId: 't.0', title: 'Main' },
			{ tabId: 't.app', title: 'Appendix' },
			{ tabId: 't.det', title: 'Details' },
		],
	});
	expect(calls.methods).toEqual(['get']);
	expect(calls.google.requests[0]?.query.get('includeTabsContent')).toBe('true');
});

test('as Markdown', async () => {
	expect((await calls.read(rich(), { contentFormat: 'markdown' })).content).toBe(wholeMarkdown);
});

test.each([
	['t.app', 'Appendix text'],
	['Appendix', 'Appendix text'],
	['Details', 'Detail\nx = 1'],
])('one tab: %s', async (tab, content) => {
	const result = await calls.read(rich(), { tab });
	expect(result).toMatchObject({ content, characterCount: content.length });
	expect(result.tabs).toHaveLength(3);
});

test('an unknown tab is an error that names those that exist', async () => {
	expect(await failing(calls.read(rich(), { tab: 'Main tab' }))).toMatchObject({
		code: 400,
		message: "The document has no tab 'Main tab'",
		description: "Tabs of the document: 'Main' (t.0), 'Appendix' (t.app), 'Details' (t.det).",
	});
});

test("Google's resource, of all tabs or of one", async () => {
	const id = rich();
	const whole = await calls.read(id, { output: 'document' });
	expect(whole).toMatchObject({ documentId: id, title: 'Rich', tabs: [{ documentTab: { body: {} } }, {}] });
	expect(whole).not.toHaveProperty('content');
	const one = await calls.read(id, { output: 'document', tab: 'Details' });
	expect(one.tabs).toMatchObject([{ tabProperties: { tabId: 't.det' } }]);
	expect(one.tabs).toHaveLength(1);
});

test('an empty document', async () => {
	const id = calls.document();
	expect(await calls.read(id)).toMatchObject({ content: '', characterCount: 0 });
	expect((await calls.read(id, { contentFormat: 'markdown' })).content).toBe('');
});

test('a document in which Google leaves fields out, such as the revision for who may only read', async () => {
	const id = calls.document('x');
	calls.google.fault({ match: 'docs.documents.get', status: 200, body: { tabs: [{}] } });
	expect(await calls.read(id)).toEqual({
		documentId: id,
		title: '',
		content: '',
		characterCount: 0,
		revisionId: '',
		tabs: [{ tabId: '', title: '' }],
	});
});

test('suggested changes are not in the text', async () => {
	const suggestedInsertionIds = ['s.1'];
	const suggestedDeletionIds = ['s.1'];
	const body = [
		paragraph([
			{ textRun: { content: 'old', suggestedDeletionIds } },
			{ textRun: { content: 'new', suggestedInsertionIds } },
		]),
	];
	const id = calls.google.docs.seed({ title: 'T', tabs: [{ body }] });
	expect((await calls.read(id)).content).toBe('old');
	expect(JSON.stringify(await calls.read(id, { output: 'document' }))).toContain('"new"');
});

test("marks of Docs' own in the text are left out", async () => {
	expect((await calls.read(calls.document('a\ue907b\uec03c'))).content).toBe('abc');
});

test('a document that is not there', async () => {
	expect(await failing(calls.read('1missing_document_id'))).toMatchObject({
		code: 404,
		status: 'NOT_FOUND',
	});
});
