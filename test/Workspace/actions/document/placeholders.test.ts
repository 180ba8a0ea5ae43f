import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { asMarkdown, asText, Calls } from './calls';
import { item as bullet, paragraph, pictureAt, table } from './elements';

const calls = new Calls();

const answer = '## Done\n\n- *a*\n- b\n\n| x |\n| - |\n| 1 |';
const shown = ['## Done', '- *a*\n- b', '| x |\n| - |\n| 1 |'];
const place = paragraph('{{a}}');

describe('Markdown in place of a placeholder', () => {
	test('takes its paragraph, in one request that is guarded by the revision', async () => {
		const id = calls.document('Dear\n{{answer}}\nYours');
		const requiredRevisionId = calls.google.docs.revisionOf(id);
		const replacements = [asMarkdown('{{answer}}', '**yes**')];
		const written = await calls.write(id, { replacements });
		const range = { startIndex: 6, endIndex: 9 };
		expect(calls.sent[1]?.body).toMatchObject({
			requests: [
				{ deleteContentRange: { range: { startIndex: 6, endIndex: 16, tabId: 't.0' } } },
				{ insertText: { text: 'yes', location: { index: 6, tabId: 't.0' } } },
				{ deleteParagraphBullets: {} },
				{ updateParagraphStyle: {} },
				{ updateTextStyle: {} },
				{ updateParagraphStyle: {} },
				{ updateTextStyle: { range, textStyle: { bold: true } } },
			],
			writeControl: { requiredRevisionId },
		});
		expect(written).toEqual({
			documentId: id,
			characterCount: 3,
			revisionId: calls.google.docs.revisionOf(id),
			replaced: [{ find: '{{answer}}', count: 1 }],
		});
		expect(await calls.blocks(id)).toEqual(['Dear', '**yes**', 'Yours']);
	});

	test('several times, at the beginning, in a cell, in a list and at the end, in every tab', async () => {
		const body = [place, table([['{{a}}'], ['cell']]), bullet(' {{a}} '), place];
		const tabs = [
			{ title: 'One', body, lists: { 'kix.b': {} } },
			{ title: 'Two', tabId: 't.two', body: [paragraph('[x]'), place, paragraph('y')] },
		];
		const id = calls.google.docs.seed({ title: 'T', tabs });
		const replacements = [asMarkdown('{{a}}', '# new\n\ntext')];
		const { replaced } = await calls.write(id, { replacements });
		expect(replaced).toEqual([{ find: '{{a}}', count: 5 }]);
		expect(calls.changes(id)).toBe(1);
		expect(calls.text(id)).toBe(`new\ntext\nnew\ntext\ncell\nnew\ntext\nnew\ntext\n`);
		expect(await calls.blocks(id, 'Two')).toEqual(['\\[x]', '# new', 'text', 'y']);
		const others = [asMarkdown('[x]', answer), asMarkdown('[', '')];
		await calls.write(id, { tab: 'Two', replacements: others });
		expect(await calls.blocks(id, 'Two')).toEqual([...shown, '# new', 'text', 'y']);
	});

	test('goes with texts, which are replaced afterwards', async () => {
		const id = calls.document('Dear {{name}},\n{{a}}\n{{b}}');
		const item = testItem({ json: { b: 'bye' } });
		const markdowns = [asMarkdown('{{a}}', answer), asMarkdown('{{c}}', 'c')];
		const replacements = [asText('{{name}}', 'Ann'), ...markdowns];
		const { replaced } = await calls.write(id, { replacements, fillFromInput: true }, item);
		expect(replaced).toEqual([
			{ find: '{{a}}', count: 1 },
			{ find: '{{c}}', count: 0 },
			{ find: '{{name}}', count: 1 },
			{ find: '{{b}}', count: 1 },
		]);
		expect(item.hints).toEqual(["Not found in the document, so not replaced: '{{c}}'."]);
		expect(await calls.blocks(id)).toEqual(['Dear Ann,', ...shown, 'bye']);
	});

	test('that is not there leaves the document alone', async () => {
		const item = testItem();
		const replacements = [asMarkdown('{{a}}', 'x')];
		const written = await calls.write(calls.document('text'), { replacements }, item);
		const replaced = [{ find: '{{a}}', count: 0 }];
		expect(written).toMatchObject({ characterCount: 0, replaced });
		expect(item.hints).toHaveLength(1);
		expect(calls.methods).toEqual(['get']);
	});

	test('may be empty', async () => {
		const id = calls.document('a\n{{a}}\nb');
		await calls.write(id, { replacements: [asMarkdown('{{a}}', '')] });
		expect(calls.text(id)).toBe('a\n\nb\n');
	});

	test.each([
		['beside other text', { body: [paragraph('Answer: {{a}}')] }],
		['beside a line break', { body: [paragraph('x\v{{a}}')] }],
		['beside a picture', { body: [paragraph(['{{a}}', pictureAt('kix.p')])] }],
		['beside a place of its own', { body: [place, paragraph('and {{a}}')] }],
		['in headers', { body: [place], headers: { h: [place] } }],
		['in footers', { body: [place], footers: { h: [place] } }],
		['in footnotes', { body: [place], footnotes: { h: [place] } }],
	])('is refused %s', async (_where, tab) => {
		const id = calls.google.docs.seed({ title: 'T', tabs: [tab] });
		const replacements = [asText('x', 'y'), asMarkdown('{{a}}', 'b')];
		expect(await catchFailure(calls.write(id, { replacements }))).toMatchObject({
			code: 400,
			message: "'{{a}}' does not have a paragraph of its own in the text of the document",
			description:
				"Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own, or set its format in 'replacements' to Text.",
		});
		expect(calls.methods).toEqual(['get']);
	});

	test('becomes a link where Google cannot fetch a picture', async () => {
		const id = calls.document('{{a}}\n{{b}}');
		const item = testItem();
		const replacements = [
			asMarkdown('{{a}}', 'x ![a](https://a.example.com/a.png)'),
			asMarkdown('{{b}}', '![b](https://b.invalid/b.png)'),
		];
		await calls.write(id, { replacements, insertImages: true }, item);
		expect(item.hints).toEqual([
			'Google could not fetch these images, so they became links: https://b.invalid/b.png',
		]);
		expect(await calls.blocks(id)).toEqual([
			'x ![](https://a.example.com/a.png)',
			'[b](https://b.invalid/b.png)',
		]);
	});
});

describe('in a template', () => {
	test.each([asMarkdown('a', '# c'), asText('a', '# b')])(
		'a key that was used for other Markdown is refused: %j',
		async (other) => {
			const params = { templateId: calls.document('a'), idempotencyKey: 'letter' };
			await calls.create({ ...params, replacements: [asMarkdown('a', '# b')] });
			const failure = await catchFailure(calls.create({ ...params, replacements: [other] }));
			expect(failure).toMatchObject({ code: 409 });
		},
	);

	test('is needed: a new document has no placeholders', async () => {
		const replacements = [asMarkdown('a', '# b')];
		const failure = await catchFailure(calls.create({ content: 'a', replacements }));
		expect(failure.message).toMatch(/^'replacements' and 'fillFromInput' have no text/);
		expect(failure).toMatchObject({ code: 400 });
		expect(failure.description).toContain('Nothing was created. Choose a document');
		expect(calls.sent).toEqual([]);
	});
});
