import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';
import { paragraph, picture, pictureAt, richTabs, table } from './elements';

const calls = new Calls();

const rich = () => calls.google.docs.seed({ title: 'Rich', tabs: richTabs });

const wholeText = `Main

The header

Contents entry
Chapter
Text with bold and a link and a note[1].
Ada Lovelace met bob@example.com on Sep 9, 2026 about Plan
• first
  • inner
1. one
2. two
  1. two a
    1. two a i
3. three
Head\tOther
cell\ttwo lines
n1 n2 n3 n4\t• in cell
line one
line twoA chart

Last[2]

Page 

[1] First note

[2] Second note

Appendix

Appendix text

Details

Detail
x = 1`;

const wholeMarkdown = `# Main

The header

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
| n1<br>n2<br>n3<br>n4 | • in cell |

line one\\
line two![A chart](https://example.com/chart.png)

---

Last[^2]

Page

[^1]: First note

[^2]: Second note

# Appendix

Appendix text

# Details

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
	expect(await calls.markdown(rich())).toBe(wholeMarkdown);
});

test.each([
	['t.app', 'Appendix text'],
	['Appendix', 'Appendix text'],
	[' Appendix\n', 'Appendix text'],
	[' t.app ', 'Appendix text'],
	['Details', 'Detail\nx = 1'],
])('one tab: %s', async (tab, content) => {
	const result = await calls.read(rich(), { tab });
	expect(result).toMatchObject({ content, characterCount: content.length });
	expect(result.tabs).toHaveLength(3);
});

test('an unknown tab is an error, although the text is read in a thread that finds none', async () => {
	const failure = await catchFailure(calls.read(rich(), { tab: 'Main tab' }));
	const message = "The document has no tab 'Main tab'";
	expect(failure).toMatchObject({ code: 400, message });
});

test('a tab whose title is exactly the given one comes before one without the spaces', async () => {
	const titles = ['Plan', ' Plan '];
	const tabs = titles.map((title) => ({ title, body: [paragraph(`in '${title}'`)] }));
	const id = calls.google.docs.seed({ title: 'T', tabs });
	for (const tab of titles) expect((await calls.read(id, { tab })).content).toBe(`in '${tab}'`);
	expect((await calls.read(id, { tab: 'Plan  ' })).content).toBe("in 'Plan'");
});

test("Google's resource, of all tabs or of one", async () => {
	const id = rich();
	const whole = await calls.read(id, { format: 'structure' });
	const tabs = [{ documentTab: { body: {} } }, {}];
	expect(whole).toMatchObject({ documentId: id, title: 'Rich', tabs });
	expect(whole).not.toHaveProperty('content');
	const one = await calls.read(id, { format: 'structure', tab: 'Details' });
	expect(one.tabs).toMatchObject([{ tabProperties: { tabId: 't.det' } }]);
	expect(one.tabs).toHaveLength(1);
});

test('an empty document', async () => {
	const id = calls.document();
	expect(await calls.read(id)).toMatchObject({ content: '', characterCount: 0 });
	expect(await calls.markdown(id)).toBe('');
});

test('a document in which Google leaves fields out, such as the revision for who may only read', async () => {
	const id = calls.document('x');
	calls.failRead({ status: 200, body: { tabs: [{}] } });
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
	const suggested = paragraph([
		{ textRun: { content: 'old', suggestedDeletionIds: ['s.1'] } },
		{ textRun: { content: 'new', suggestedInsertionIds: ['s.1'] } },
	]);
	const id = calls.seed(suggested);
	expect((await calls.read(id)).content).toBe('old');
	expect(JSON.stringify(await calls.read(id, { format: 'structure' }))).toContain('"new"');
});

test("marks of Docs' own in the text are left out", async () => {
	expect((await calls.read(calls.document('a\ue907b\uec03c'))).content).toBe('abc');
});

describe('a document that a stranger made up', () => {
	/** What Google is made to answer. */
	function answer(text: string) {
		const headers = { 'content-type': 'application/json' };
		calls.failRead({ body: Buffer.from(text), headers });
	}
	const resourceOf = (documentId: string, documentTab: object) => {
		const tabs = [{ tabProperties: { tabId: 't', title: 'Tab', index: 0 }, documentTab }];
		return JSON.stringify({ documentId, title: 'Made up', revisionId: 'r', tabs });
	};

	test.each(['text', 'markdown'] as const)('with 80,000 spaces is read as %s', async (format) => {
		const spaces = ' '.repeat(80_000);
		const id = calls.document(`a${spaces}b${spaces}`);
		const { content } = await calls.read(id, { format });
		expect(content?.trimEnd()).toBe(`a${spaces}b`);
	});

	test('in which one picture with a long description stands everywhere is refused', async () => {
		const pictures = Array.from({ length: 2_000 }, () => pictureAt('kix.p'));
		const imageProperties = { contentUri: 'https://a.b' };
		const long = picture({ description: 'd'.repeat(20_000), imageProperties });
		const id = calls.document('x');
		const body = { content: [paragraph(pictures)] };
		answer(resourceOf(id, { body, inlineObjects: { 'kix.p': long } }));
		const message = `The document ${id} cannot be read as text: the result is too long`;
		expect(await catchFailure(calls.read(id))).toMatchObject({ code: 502, message });
	});

	test.each(['text', 'markdown'] as const)(
		'with very many paragraphs is not parsed in the thread of n8n, read as %s',
		async (format) => {
			const id = calls.document('x');
			const body = Array.from({ length: 20_000 }, (_, at) => paragraph(`Paragraph ${at}`));
			const resource = resourceOf(id, { body: { content: body } });
			answer(resource);
			const parse = jest.spyOn(JSON, 'parse');
			const { content } = await calls.read(id, { format });
			const lengths = parse.mock.calls.map(([text]) => text.length);
			parse.mockRestore();
			expect(content).toMatch(/^Paragraph 0\n[^]*\nParagraph 19999$/);
			expect(lengths.filter((length) => length > resource.length / 2)).toEqual([]);
		},
	);

	test.each(['{"tabs":7}', '{"tabs":[{]}', '[{}'])(
		'that is no document is refused: %s',
		async (json) => {
			const id = calls.document('x');
			answer(`${json} }`);
			expect((await catchFailure(calls.read(id))).code).toBe(502);
		},
	);

	/** Too deep for JSON.stringify. */
	function nested(depth: number): string {
		const id = calls.document('x');
		const mark = JSON.stringify(paragraph('@'));
		const [before = '', after = ''] = JSON.stringify(table([[[paragraph('@')]]])).split(mark);
		const deep = before.repeat(depth) + JSON.stringify(paragraph('x')) + after.repeat(depth);
		answer(resourceOf(id, { body: { content: ['deep'] } }).replace('"deep"', deep));
		return id;
	}

	test.each([
		['text', 20_000],
		['markdown', 20_000],
		['structure', 5000],
	] as const)(
		'with tables that are nested too deeply for n8n is refused as %s',
		async (format, depth) => {
			const failure = await catchFailure(calls.read(nested(depth), { format }));
			expect(failure.code).toBe(502);
			expect(failure.message).toContain('nested too deeply');
			expect(await calls.read(nested(50), { format })).toMatchObject({ title: 'Made up' });
		},
	);
});
