import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();

test('exactly the text, at the end, guarded by the revision that was read', async () => {
	const id = calls.document('one');
	const requiredRevisionId = calls.google.docs.revisionOf(id);
	const appended = await calls.append(id, { content: ' 😀\ntwo' });
	expect(calls.methods).toEqual(['get', 'batchUpdate']);
	const insertText = { text: ' 😀\ntwo', location: { index: 4, tabId: 't.0' } };
	expect(calls.sent[1]?.body).toEqual({
		requests: [{ insertText }],
		writeControl: { requiredRevisionId },
	});
	const revisionId = calls.google.docs.revisionOf(id);
	expect(appended).toEqual({ documentId: id, characterCount: 7, revisionId });
	expect(calls.text(id)).toBe('one 😀\ntwo\n');
});

test.each([' ', '\n', '\t'])('white space counts as content: %j', async (content) => {
	const id = calls.document('one');
	await calls.append(id, { content });
	expect(calls.text(id)).toBe(`one${content}\n`);
});

test.each(['', '\u0000'])('nothing to append is refused: %j', async (content) => {
	const failure = await catchFailure(calls.append(calls.document('one'), { content }));
	expect(failure).toMatchObject({ code: 400, message: "'content' is empty" });
	expect(calls.sent).toEqual([]);
});

test('twenty executions at once wait for each other, so that Google refuses none of them', async () => {
	const id = calls.document('x');
	const numbers = Array.from({ length: 20 }, (_, number) => `[${number}]`);
	await Promise.all(numbers.map((content) => calls.append(id, { content })));
	expect(calls.methods).toHaveLength(2 * numbers.length);
	expect(calls.text(id)).toBe(`x${numbers.join('')}\n`);
});

describe('Markdown', () => {
	const contentFormat = 'markdown';

	test.each([
		['continues the last paragraph', 'one', '**two**\n\n3', false, 'one**two**\n\n3', 5],
		['does so before a heading, too', 'one', 'two\n\n# 3', false, 'onetwo\n\n# 3', 5],
		['begins a paragraph if that is wanted', 'one', 'two', true, 'one\n\ntwo', 4],
		['uses an empty last paragraph', 'one\n', '# two', false, 'one\n\n# two', 3],
		['uses that of an empty document', '', 'one', true, 'one', 3],
	])(
		'what is appended %s',
		async (_what, before, content, newParagraph, shown, characterCount) => {
			const id = calls.document(before);
			const appended = await calls.append(id, { content, contentFormat, newParagraph });
			expect(appended).toMatchObject({ characterCount });
			expect(await calls.markdown(id)).toBe(shown);
		},
	);

	test.each([
		['a heading', '# two'],
		['a list', '- a\n- b'],
		['a table', '| a |\n| - |\n| 1 |'],
		['a quote', '> a'],
		['code', '```\na\n```'],
	])('%s begins a paragraph', async (_, content) => {
		for (const newParagraph of [false, true]) {
			const id = calls.document('one');
			await calls.append(id, { content, contentFormat, newParagraph });
			expect(await calls.markdown(id)).toBe(`one\n\n${content}`);
		}
	});

	test('what follows a list is not in the list', async () => {
		const id = calls.document();
		await calls.append(id, { content: '- a\n- b', contentFormat });
		await calls.append(id, { content: 'text\n\n1. c', contentFormat, newParagraph: true });
		await calls.append(id, { content: '## head', contentFormat });
		expect(await calls.markdown(id)).toBe('- a\n- b\n\ntext\n\n1. c\n\n## head');
	});
});
