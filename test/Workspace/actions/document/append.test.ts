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
	expect(appended).toEqual({
		documentId: id,
		characterCount: 7,
		revisionId: calls.google.docs.revisionOf(id),
	});
	expect(calls.google.docs.text(id)).toBe('one 😀\ntwo\n');
});

test('in a paragraph of its own', async () => {
	const id = calls.document('one');
	expect(await calls.append(id, { content: 'two', newParagraph: true })).toMatchObject({
		characterCount: 4,
	});
	expect(calls.google.docs.text(id)).toBe('one\ntwo\n');
});

test('what Google takes out is not counted', async () => {
	const id = calls.document();
	expect(await calls.append(id, { content: 'a\u0001\r\nb\uf8ff' })).toMatchObject({
		characterCount: 3,
	});
	expect(calls.google.docs.text(id)).toBe('a\nb\n');
});

test.each([' ', '\n', '\t'])('white space counts as content: %j', async (content) => {
	const id = calls.document('one');
	await calls.append(id, { content });
	expect(calls.google.docs.text(id)).toBe(`one${content}\n`);
});

test.each(['', '\u0000'])('nothing to append is refused: %j', async (content) => {
	const id = calls.document('one');
	expect(await catchFailure(calls.append(id, { content }))).toMatchObject({
		code: 400,
		message: "'content' is empty",
	});
	expect(calls.sent).toEqual([]);
});

test('a tab by its id or its title', async () => {
	const id = calls.document('one', [{ title: 'Notes', tabId: 't.n' }]);
	await calls.append(id, { content: 'a', tab: 't.n' });
	await calls.append(id, { content: 'b', tab: 'Notes' });
	expect(calls.google.docs.text(id, 't.n')).toBe('ab\n');
	expect(calls.google.docs.text(id)).toBe('one\n');
});

test.each(['t.unknown', 'Unknown'])('an unknown tab is an error: %s', async (tab) => {
	const id = calls.document('one');
	expect(await catchFailure(calls.append(id, { content: 'a', tab }))).toMatchObject({
		code: 400,
	});
	expect(calls.google.docs.text(id)).toBe('one\n');
});

test('twenty executions at once wait for each other, so that Google refuses none of them', async () => {
	const id = calls.document('x');
	const numbers = Array.from({ length: 20 }, (_, number) => number);
	await Promise.all(numbers.map((number) => calls.append(id, { content: `[${number}]` })));
	expect(calls.methods).toHaveLength(2 * numbers.length);
	expect(calls.google.docs.text(id)).toBe(
		`x${numbers.map((number) => `[${number}]`).join('')}\n`,
	);
});

describe('Markdown', () => {
	const appended = async (before: string, content: string, newParagraph = false) => {
		const id = calls.document(before);
		const { characterCount } = await calls.append(id, {
			content,
			contentFormat: 'markdown',
			newParagraph,
		});
		const markdown = (await calls.read(id, { format: 'markdown' })).content;
		return { id, characterCount, markdown };
	};

	test('a plain first paragraph goes on in the last one', async () => {
		const { markdown, characterCount } = await appended('one', '**two**\n\nthree');
		expect(markdown).toBe('one**two**\n\nthree');
		expect(characterCount).toBe(9);
	});

	test('a plain first paragraph goes on in the last one, whatever follows it', async () => {
		expect((await appended('one', 'two\n\n# three')).markdown).toBe('onetwo\n\n# three');
	});

	test('each list gets bullets of its own', async () => {
		await appended('one', '- a\n\n1. b');
		const { requests } = calls.sent[1]?.body as {
			requests: Array<Record<string, { range?: object }>>;
		};
		const ranges = requests.flatMap(
			({ createParagraphBullets }) => createParagraphBullets?.range ?? [],
		);
		expect(ranges).toMatchObject([
			{ startIndex: 5, endIndex: 6 },
			{ startIndex: 7, endIndex: 8 },
		]);
	});

	test.each([
		['a heading', '# two', 'one\n\n# two'],
		['a list', '- a\n- b', 'one\n\n- a\n- b'],
		['a table', '| a |\n| - |\n| 1 |', 'one\n\n| a |\n| - |\n| 1 |'],
		['a quote', '> a', 'one\n\n> a'],
		['code', '```\na\n```', 'one\n\n```\na\n```'],
	])('%s begins a paragraph', async (_, content, expected) => {
		expect((await appended('one', content)).markdown).toBe(expected);
		expect((await appended('one', content, true)).markdown).toBe(expected);
	});

	test('an empty last paragraph is used', async () => {
		const { id, markdown } = await appended('one\n', '# two');
		expect(markdown).toBe('one\n\n# two');
		expect(calls.google.docs.text(id)).toBe('one\ntwo\n');
	});

	test('a new paragraph when it is asked for', async () => {
		const { id, markdown } = await appended('one', 'two', true);
		expect(markdown).toBe('one\n\ntwo');
		expect(calls.google.docs.text(id)).toBe('one\ntwo\n');
	});

	test('what follows a list is not in the list', async () => {
		const id = calls.document();
		const contentFormat = 'markdown';
		await calls.append(id, { content: '- a\n- b', contentFormat });
		await calls.append(id, { content: 'text\n\n1. c', contentFormat, newParagraph: true });
		await calls.append(id, { content: '## head', contentFormat });
		expect((await calls.read(id, { format: contentFormat })).content).toBe(
			'- a\n- b\n\ntext\n\n1. c\n\n## head',
		);
	});

	test('is guarded by the revision that was read', async () => {
		const { id } = await appended('one', 'two');
		expect(calls.methods.slice(0, 2)).toEqual(['get', 'batchUpdate']);
		expect(calls.sent[1]?.body).toHaveProperty('writeControl.requiredRevisionId');
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});
});
