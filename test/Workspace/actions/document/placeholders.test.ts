import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();

const text = (content: string): docs_v1.Schema$StructuralElement => ({
	paragraph: { elements: [{ textRun: { content: `${content}\n` } }] },
});

const markdown = (find: string, replace: string) => ({
	find,
	replace,
	format: 'markdown' as const,
});
const plain = (find: string, replace: string) => ({ find, replace, format: 'text' as const });

/** The document as Markdown shows it, one line for each block. */
async function blocks(id: string, tab = ''): Promise<string[]> {
	const { content = '' } = await calls.read(id, { format: 'markdown', tab });
	return content.split(/\n\n+/);
}

const answer = '## Done\n\n- *a*\n- b\n\n| x |\n| - |\n| 1 |';
const shown = ['## Done', '- *a*\n- b', '| x |\n| - |\n| 1 |'];

describe('Markdown in place of a placeholder', () => {
	test('takes its paragraph, in one request that is guarded by the revision', async () => {
		const id = calls.document('Dear\n{{answer}}\nYours');
		const requiredRevisionId = calls.google.docs.revisionOf(id);
		const written = await calls.write(id, {
			replacements: [markdown('{{answer}}', '**yes**')],
		});
		expect(calls.sent[1]?.body).toMatchObject({
			requests: [
				{ deleteContentRange: { range: { startIndex: 6, endIndex: 16, tabId: 't.0' } } },
				{ insertText: { text: 'yes', location: { index: 6, tabId: 't.0' } } },
				{ deleteParagraphBullets: {} },
				{ updateParagraphStyle: {} },
				{ updateTextStyle: {} },
				{ updateParagraphStyle: {} },
				{
					updateTextStyle: {
						range: { startIndex: 6, endIndex: 9 },
						textStyle: { bold: true },
					},
				},
			],
			writeControl: { requiredRevisionId },
		});
		expect(written).toEqual({
			documentId: id,
			characterCount: 3,
			revisionId: calls.google.docs.revisionOf(id),
			replaced: [{ find: '{{answer}}', count: 1 }],
		});
		expect(await blocks(id)).toEqual(['Dear', '**yes**', 'Yours']);
	});

	test('several times, at the beginning, in a cell, in a list and at the end, in every tab', async () => {
		const cell = { content: [text('{{a}}')] };
		const item = {
			paragraph: {
				elements: [{ textRun: { content: ' {{a}} \n' } }],
				bullet: { listId: 'kix.1' },
			},
		};
		const body = [
			text('{{a}}'),
			{
				table: {
					tableRows: [
						{ tableCells: [cell] },
						{ tableCells: [{ content: [text('cell')] }] },
					],
				},
			},
			item,
			text('{{a}}'),
		];
		const lists = { 'kix.1': {} };
		const tabs = [
			{ title: 'One', body, lists },
			{ title: 'Two', tabId: 't.two', body: [text('[x]'), text('{{a}}'), text('y')] },
		];
		const id = calls.google.docs.seed({ title: 'T', tabs });
		const { replaced } = await calls.write(id, {
			replacements: [markdown('{{a}}', '# new\n\ntext')],
		});
		expect(replaced).toEqual([{ find: '{{a}}', count: 5 }]);
		expect(calls.google.docs.batchesOf(id)).toBe(1);
		expect(calls.google.docs.text(id)).toBe(
			`new\ntext\nnew\ntext\ncell\nnew\ntext\nnew\ntext\n`,
		);
		expect(await blocks(id, 'Two')).toEqual(['\\[x]', '# new', 'text', 'y']);
		await calls.write(id, {
			tab: 'Two',
			replacements: [markdown('[x]', answer), markdown('[', '')],
		});
		expect(await blocks(id, 'Two')).toEqual([...shown, '# new', 'text', 'y']);
	});

	test('goes with texts, which are replaced afterwards', async () => {
		const id = calls.document('Dear {{name}},\n{{a}}\n{{b}}');
		const item = testItem({ json: { b: 'bye' } });
		const replacements = [
			plain('{{name}}', 'Ann'),
			markdown('{{a}}', answer),
			markdown('{{c}}', 'c'),
		];
		const { replaced } = await calls.write(id, { replacements, fillFromInput: true }, item);
		expect(replaced).toEqual([
			{ find: '{{a}}', count: 1 },
			{ find: '{{c}}', count: 0 },
			{ find: '{{name}}', count: 1 },
			{ find: '{{b}}', count: 1 },
		]);
		expect(item.hints).toEqual(["Not found in the document, so not replaced: '{{c}}'."]);
		expect(await blocks(id)).toEqual(['Dear Ann,', ...shown, 'bye']);
	});

	test('that is not there leaves the document alone', async () => {
		const id = calls.document('text');
		const item = testItem();
		const written = await calls.write(id, { replacements: [markdown('{{a}}', 'x')] }, item);
		expect(written).toMatchObject({
			characterCount: 0,
			replaced: [{ find: '{{a}}', count: 0 }],
		});
		expect(item.hints).toHaveLength(1);
		expect(calls.methods).toEqual(['get']);
	});

	test('may be empty', async () => {
		const id = calls.document('a\n{{a}}\nb');
		await calls.write(id, { replacements: [markdown('{{a}}', '')] });
		expect(calls.google.docs.text(id)).toBe('a\n\nb\n');
	});

	test.each([
		['other text', [text('Answer: {{a}}')]],
		['a line break', [text('x\v{{a}}')]],
		[
			'a picture',
			[
				{
					paragraph: {
						elements: [{ textRun: { content: '{{a}}' } }, { inlineObjectElement: {} }],
					},
				},
			],
		],
		['another place of its own', [text('{{a}}'), text('and {{a}}')]],
	])('is refused where it shares its paragraph with %s', async (_what, body) => {
		const id = calls.google.docs.seed({ title: 'T', tabs: [{ body }] });
		const replacements = [plain('x', 'y'), markdown('{{a}}', 'b')];
		const failure = await catchFailure(calls.write(id, { replacements }));
		expect(failure).toMatchObject({
			code: 400,
			message: "'{{a}}' does not have a paragraph of its own in the text of the document",
			description:
				"Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own, or set its format in 'replacements' to Text.",
		});
		expect(calls.methods).toEqual(['get']);
	});

	test.each(['headers', 'footers', 'footnotes'])('is refused in %s', async (part) => {
		const tabs = [{ body: [text('{{a}}')], [part]: { 'kix.h': [text('{{a}}')] } }];
		const id = calls.google.docs.seed({ title: 'T', tabs });
		const failure = await catchFailure(
			calls.write(id, { replacements: [markdown('{{a}}', 'b')] }),
		);
		expect(failure.message).toMatch(
			/^'\{\{a\}\}' does not have a paragraph of its own in the text/,
		);
		expect(calls.methods).toEqual(['get']);
	});

	test('becomes a link where Google cannot fetch a picture', async () => {
		const id = calls.document('{{a}}\n{{b}}');
		const item = testItem();
		const replacements = [
			markdown('{{a}}', 'x ![a](https://a.example.com/a.png)'),
			markdown('{{b}}', '![b](https://b.invalid/b.png)'),
		];
		await calls.write(id, { replacements, insertImages: true }, item);
		expect(item.hints).toEqual([
			'Google could not fetch these images, so they became links: https://b.invalid/b.png',
		]);
		expect(await blocks(id)).toEqual([
			'x ![](https://a.example.com/a.png)',
			'[b](https://b.invalid/b.png)',
		]);
	});

	test('whose answer is lost is not put in again, and the failure says so', async () => {
		const id = calls.document('a');
		calls.google.fault({ match: 'docs.documents.batchUpdate', connection: 'resetAfter' });
		const failure = await catchFailure(calls.write(id, { replacements: [markdown('a', 'a')] }));
		expect(failure).toMatchObject({ outcome: 'unknown' });
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});

	test('that somebody else comes before is put into the newer document', async () => {
		const id = calls.document('a\n{{a}}');
		const message = "The required revision ID 'x' does not match the latest revision.";
		calls.google.fault({ match: 'docs.documents.batchUpdate', status: 400, message });
		await calls.write(id, { replacements: [markdown('{{a}}', '# b')] });
		expect(await blocks(id)).toEqual(['a', '# b']);
	});
});

describe('in a template', () => {
	test('takes the place of its placeholder, and the content follows', async () => {
		const templateId = calls.document('{{a}}\nend {{name}}');
		const replacements = [markdown('{{a}}', answer), plain('{{name}}', 'Ann')];
		const made = await calls.create({
			title: 'Letter',
			templateId,
			replacements,
			content: 'more',
		});
		expect(made.replaced).toEqual([
			{ find: '{{a}}', count: 1 },
			{ find: '{{name}}', count: 1 },
		]);
		expect(await blocks(made.documentId)).toEqual([...shown, 'end Ann', 'more']);
		expect(calls.google.docs.text(templateId)).toBe('{{a}}\nend {{name}}\n');
	});

	test.each([
		{ match: 'drive.files.copy', connection: 'resetAfter' },
		{ match: 'docs.documents.batchUpdate', times: 9, connection: 'resetBefore' },
		{ match: 'docs.documents.batchUpdate', times: 9, connection: 'resetAfter' },
		{ match: 'docs.documents.get', nth: 2, times: 9, status: 503 },
		{ match: 'drive.files.update', times: 9, status: 503 },
	] as const)(
		'with a key, an execution that was cut does not put it in twice: %j',
		async (fault) => {
			const params = {
				templateId: calls.document('a\nend'),
				replacements: [markdown('a', 'x\n\na\n\ny')],
				idempotencyKey: 'letter',
			};
			calls.google.fault(fault);
			await calls.create(params).catch(() => undefined);
			calls.google.heal();
			const { documentId } = await calls.create(params, testItem());
			expect(calls.google.docs.text(documentId)).toBe('x\na\ny\nend\n');
		},
	);

	test('a key that was used for other Markdown is refused', async () => {
		const params = { templateId: calls.document('a'), idempotencyKey: 'letter' };
		await calls.create({ ...params, replacements: [markdown('a', '# b')] });
		for (const other of [markdown('a', '# c'), plain('a', '# b')]) {
			const failure = await catchFailure(calls.create({ ...params, replacements: [other] }));
			expect(failure).toMatchObject({ code: 409 });
		}
	});

	test('is needed: a new document has no placeholders', async () => {
		const replacements = [markdown('a', '# b')];
		const failure = await catchFailure(
			calls.create({ title: 'T', content: 'a', replacements }),
		);
		expect(failure.message).toMatch(/^'replacements' and 'fillFromInput' have no text/);
		expect(calls.sent).toEqual([]);
	});
});
