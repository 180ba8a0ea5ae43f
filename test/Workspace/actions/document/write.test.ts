import fc from 'fast-check';

import { cleanText } from '../../../../nodes/untrusted/document/blocks';
import { roundsOf } from '../../../growth';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';
import { type Element, paragraph, styled, table } from './elements';

const calls = new Calls();

test('one batch deletes and inserts, guarded by the revision that was read', async () => {
	const id = calls.document('old text');
	const requiredRevisionId = calls.google.docs.revisionOf(id);
	const written = await calls.write(id, { content: 'new 😀' });
	expect(calls.methods).toEqual(['get', 'batchUpdate']);
	const range = { startIndex: 1, endIndex: 7, tabId: 't.0' };
	expect(calls.sent[1]?.body).toEqual({
		requests: [
			{ deleteContentRange: { range: { ...range, endIndex: 9 } } },
			{ insertText: { text: 'new 😀', location: { index: 1, tabId: 't.0' } } },
			{ deleteParagraphBullets: { range } },
			{ updateParagraphStyle: expect.objectContaining({ range }) as unknown },
			{ updateTextStyle: { range, textStyle: {}, fields: '*' } },
		],
		writeControl: { requiredRevisionId },
	});
	const revisionId = calls.google.docs.revisionOf(id);
	expect(written).toEqual({ documentId: id, characterCount: 6, revisionId });
	expect(calls.text(id)).toBe('new 😀\n');
});

test('an empty document is only written to', async () => {
	await calls.write(calls.document(), { content: 'a' });
	expect(JSON.stringify(calls.sent[1]?.body)).not.toContain('deleteContentRange');
});

test('a document that is one table', async () => {
	const id = calls.seed(table([['a', 'b']]));
	await calls.write(id, { content: 'text' });
	expect(calls.text(id)).toBe('text\n');
});

test.each([
	['line ends', 'a\r\nb\rc', 'a\nb\nc\n', 5],
	['characters that Google takes out', 'a\u0000b\ue000c\u001fd', 'abcd\n', 4],
	['half a pair', 'a\ud83d', 'a\ufffd\n', 2],
	['pairs', '😀👍🏽', '😀👍🏽\n', 6],
	['a last newline', 'a\n', 'a\n\n', 2],
])('%s', async (_, content, stored, characterCount) => {
	const id = calls.document('x');
	expect(await calls.write(id, { content })).toMatchObject({ characterCount });
	expect(calls.text(id)).toBe(stored);
});

test('a long text in Markdown', async () => {
	const id = calls.document('x');
	const line = 'Words of a long paragraph, with an ü and a 😀, that go on and on until it ends.';
	const lines = Array.from({ length: roundsOf(12_500) }, () => line);
	const content = lines.join('\n\n');
	const text = lines.join('\n');
	const written = await calls.write(id, { content, contentFormat: 'markdown' });
	expect(written).toMatchObject({ characterCount: text.length });
	expect((await calls.read(id)).content).toBe(text);
});

test.each([
	['', 'text'],
	['\u0000', 'text'],
	['\ue000', 'text'],
	[' \n ', 'markdown'],
] as const)(
	'an empty content is refused before any request: %j',
	async (content, contentFormat) => {
		const writing = calls.write(calls.document('kept'), { content, contentFormat });
		const failure = await catchFailure(writing);
		expect(failure).toMatchObject({ code: 400, message: "'content' is empty" });
		expect(failure.description).toContain("Only an input object with 'allowEmpty'");
		expect(calls.sent).toEqual([]);
	},
);

test('an empty content wipes when that is allowed', async () => {
	const id = calls.document('gone');
	for (let times = 0; times < 2; times++) {
		expect(await calls.write(id, { allowEmpty: true })).toMatchObject({ characterCount: 0 });
		expect(calls.text(id)).toBe('\n');
	}
});

describe('the style of the old text goes', () => {
	const looks = {
		bullet: { listId: 'kix.b' },
		paragraphStyle: { namedStyleType: 'HEADING_1', indentStart: { magnitude: 36 } },
	};
	const item = (text: string) => paragraph(styled(text, { bold: true }), looks);
	const line = paragraph('line');
	const cell = '| a |\n| - |\n| 1 |';

	test.each<[string, Element[], Parameters<typeof calls.write>[1], string]>([
		['from a line', [line, item('item')], { content: 'plain' }, 'plain'],
		['from a line that ends', [line, item('item')], { content: 'plain\n' }, 'plain'],
		['from several lines', [line, item('item')], { content: 'a\n\nb' }, 'a\n\nb'],
		['of a first paragraph, too', [item('item'), line, line], { content: 'a' }, 'a'],
		['below a last table', [item('item')], { content: cell, contentFormat: 'markdown' }, cell],
		['where nothing is written', [item('')], { allowEmpty: true }, ''],
	])('%s', async (_where, body, params, shown) => {
		const id = calls.seed(...body);
		await calls.write(id, params);
		const structure = JSON.stringify(await calls.read(id, { format: 'structure' }));
		expect(structure).not.toMatch(/bullet"|HEADING|indentStart/);
		expect(await calls.markdown(id)).toBe(shown);
	});

	test('a wiped document collapses no lists', async () => {
		await calls.write(calls.seed(item('')), { allowEmpty: true });
		expect(JSON.stringify(calls.sent)).not.toContain('COLLAPSE_LISTS');
	});
});

test.each([{}, { tabs: [{}] }, { tabs: [{ documentTab: { body: { content: [{}] } } }] }])(
	'a document without a body is a bad gateway: %j',
	async (body) => {
		calls.failRead({ status: 200, body });
		const failure = await catchFailure(calls.write('1document', { content: 'a' }));
		const message = 'Google returned a document without a body';
		expect(failure).toMatchObject({ code: 502, message });
	},
);

test('a tab by title or id, nested too; the others stay', async () => {
	const deepest = { title: 'Deepest', body: [paragraph('y')] };
	const deep = { title: 'Deep', body: [paragraph('x')], children: [deepest] };
	const id = calls.document('first', [{ title: 'Notes', tabId: 't.n', children: [deep] }]);
	await calls.write(id, { content: 'deep', tab: 'Deep' });
	await calls.write(id, { content: 'notes', tab: 't.n' });
	await calls.append(id, { content: 'z', tab: 'Deepest' });
	const content = 'Tab 1\n\nfirst\n\nNotes\n\nnotes\n\nDeep\n\ndeep\n\nDeepest\n\nyz';
	expect(await calls.read(id)).toMatchObject({ content });
});

const notes = { title: 'Notes', tabId: 't.n' };
const twins = ['t.a', 't.b'].map((tabId) => ({ title: 'Twin', tabId }));

test.each([
	['an unknown tab', [notes], 'Other', 'no tab', "'Notes' (t.n)"],
	[
		'a title that two tabs have',
		twins,
		'Twin',
		'more than one tab',
		"'Twin' (t.a), 'Twin' (t.b)",
	],
])('%s is refused, and the tabs are named', async (_what, tabs, tab, problem, others) => {
	const writing = calls.write(calls.document('first', tabs), { content: 'x', tab });
	expect(await catchFailure(writing)).toMatchObject({
		code: 400,
		message: `The document has ${problem} '${tab}'`,
		description: `Enter the ID of a tab: 'Tab 1' (t.0), ${others}.`,
	});
	expect(calls.methods).toEqual(['get']);
});

test('reading gives back what was written', async () => {
	const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
	const check = async (content: string) => {
		const clean = cleanText(content).replaceAll('\v', '\n');
		fc.pre(clean !== '');
		const id = calls.document('x');
		const characterCount = clean.length;
		expect(await calls.write(id, { content })).toMatchObject({ characterCount });
		expect((await calls.read(id)).content).toBe(clean);
	};
	await fc.assert(fc.asyncProperty(anyText, check), { numRuns: roundsOf(100) });
});
