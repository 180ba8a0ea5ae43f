import fc from 'fast-check';

import { cleanText } from '../../../../nodes/untrusted/document/blocks';
import { roundsOf } from '../../../growth';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();
const bullet = { listId: 'kix.1' };
const oldLook = /bullet"|HEADING|indentStart/;

test('one batch deletes and inserts, guarded by the revision that was read', async () => {
	const id = calls.document('old text');
	const requiredRevisionId = calls.google.docs.revisionOf(id);
	const written = await calls.write(id, { content: 'new 😀' });
	expect(calls.methods).toEqual(['get', 'batchUpdate']);
	const range = { startIndex: 1, endIndex: 7, tabId: 't.0' };
	expect(calls.sent[1]?.body).toEqual({
		requests: [
			{ deleteContentRange: { range: { startIndex: 1, endIndex: 9, tabId: 't.0' } } },
			{ insertText: { text: 'new 😀', location: { index: 1, tabId: 't.0' } } },
			{ deleteParagraphBullets: { range } },
			{ updateParagraphStyle: expect.objectContaining({ range }) as unknown },
			{ updateTextStyle: { range, textStyle: {}, fields: '*' } },
		],
		writeControl: { requiredRevisionId },
	});
	expect(written).toEqual({
		documentId: id,
		characterCount: 6,
		revisionId: calls.google.docs.revisionOf(id),
	});
	expect(calls.google.docs.text(id)).toBe('new 😀\n');
});

test('an empty document is only written to', async () => {
	const id = calls.document();
	await calls.write(id, { content: 'a' });
	expect(JSON.stringify(calls.sent[1]?.body)).not.toContain('deleteContentRange');
});

test('a document that is one table', async () => {
	const cells = [{ content: [line('a')] }, { content: [line('b')] }];
	const id = calls.google.docs.seed({
		title: 'T',
		tabs: [{ body: [{ table: { tableRows: [{ tableCells: cells }] } }] }],
	});
	await calls.write(id, { content: 'text' });
	expect(calls.google.docs.text(id)).toBe('text\n');
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
	expect(calls.google.docs.text(id)).toBe(stored);
});

test('a long text', async () => {
	const id = calls.document('x');
	const content = 'A line of some length, with an ü.\n'.repeat(roundsOf(31_000));
	expect(await calls.write(id, { content })).toMatchObject({ characterCount: content.length });
	expect((await calls.read(id)).content).toBe(content);
});

test('a long text in Markdown', async () => {
	const id = calls.document('x');
	const content = Array.from(
		{ length: roundsOf(12_500) },
		() => 'Words of a long paragraph, with an ü and a 😀, that go on and on until it ends.',
	).join('\n\n');
	expect(await calls.write(id, { content, contentFormat: 'markdown' })).toMatchObject({
		characterCount: content.replaceAll('\n\n', '\n').length,
	});
	expect((await calls.read(id)).content).toBe(content.replaceAll('\n\n', '\n'));
});

test('an empty content is refused before any request', async () => {
	const id = calls.document('kept');
	for (const content of ['', '\u0000', '\ue000\r'.slice(0, 1)]) {
		expect(await catchFailure(calls.write(id, { content }))).toMatchObject({
			code: 400,
			message: "'content' is empty",
		});
	}
	expect(
		await catchFailure(calls.write(id, { content: ' \n ', contentFormat: 'markdown' })),
	).toMatchObject({
		code: 400,
		description: expect.stringContaining("Only an input object with 'allowEmpty'") as string,
	});
	expect(calls.sent).toEqual([]);
	expect(calls.google.docs.text(id)).toBe('kept\n');
});

test('an empty content wipes when that is allowed', async () => {
	const id = calls.document('gone');
	expect(await calls.write(id, { allowEmpty: true })).toMatchObject({ characterCount: 0 });
	expect(calls.google.docs.text(id)).toBe('\n');
	expect(await calls.write(id, { allowEmpty: true })).toMatchObject({ characterCount: 0 });
	expect(calls.google.docs.text(id)).toBe('\n');
});

test.each(['plain', 'ends with a newline\n', 'many\n\nlines'])(
	'the style of the old text goes: %j',
	async (content) => {
		const lists = { 'kix.1': {} };
		const id = calls.google.docs.seed({
			title: 'T',
			tabs: [{ body: [line('before'), styledLine('item')], lists }],
		});
		expect(await calls.write(id, { content })).toMatchObject({
			characterCount: content.length,
		});
		expect(JSON.stringify(await calls.read(id, { format: 'structure' }))).not.toMatch(oldLook);
		expect((await calls.read(id)).content).toBe(content);
		const { content: markdown } = await calls.read(id, { format: 'markdown' });
		expect(markdown).toBe(content.trim().replace(/\n+/g, '\n\n'));
	},
);

test('the style of a first paragraph goes, too', async () => {
	const body = [styledLine('item'), line('between'), line('after')];
	const id = calls.google.docs.seed({ title: 'T', tabs: [{ body, lists: { 'kix.1': {} } }] });
	await calls.write(id, { content: 'a' });
	expect(JSON.stringify(await calls.read(id, { format: 'structure' }))).not.toMatch(oldLook);
});

test.each([{}, { tabs: [{}] }, { tabs: [{ documentTab: { body: { content: [{}] } } }] }])(
	'a document without a body is a bad gateway: %j',
	async (body) => {
		calls.google.fault({ match: 'docs.documents.get', status: 200, body });
		expect(await catchFailure(calls.write('1document', { content: 'a' }))).toMatchObject({
			code: 502,
			message: 'Google returned a document without a body',
		});
	},
);

test('the style of the old text goes under a last table, too', async () => {
	const id = calls.google.docs.seed({
		title: 'T',
		tabs: [{ body: [styledLine('item')], lists: { 'kix.1': {} } }],
	});
	await calls.write(id, { content: '| a |\n| - |\n| 1 |', contentFormat: 'markdown' });
	expect(JSON.stringify(await calls.read(id, { format: 'structure' }))).not.toMatch(oldLook);
});

test('a wiped document keeps no style either', async () => {
	const id = calls.google.docs.seed({ title: 'T', tabs: [{ body: [styledLine('')] }] });
	await calls.write(id, { allowEmpty: true });
	expect(JSON.stringify(await calls.read(id, { format: 'structure' }))).not.toMatch(oldLook);
	expect(JSON.stringify(calls.sent)).not.toContain('COLLAPSE_LISTS');
});

test('a tab by title or id, nested too; the others stay', async () => {
	const id = calls.document('first', [
		{ title: 'Notes', tabId: 't.n', children: [{ title: 'Deep', body: [line('x')] }] },
	]);
	await calls.write(id, { content: 'deep', tab: 'Deep' });
	await calls.write(id, { content: 'notes', tab: 't.n' });
	expect((await calls.read(id)).content).toBe('Tab 1\n\nfirst\n\nNotes\n\nnotes\n\nDeep\n\ndeep');
});

test('an unknown tab is an error, never the first one', async () => {
	const id = calls.document('first', [{ title: 'Notes', tabId: 't.n' }]);
	expect(await catchFailure(calls.write(id, { content: 'x', tab: 'Other' }))).toMatchObject({
		code: 400,
		message: "The document has no tab 'Other'",
		description: "Enter the ID of a tab: 'Tab 1' (t.0), 'Notes' (t.n).",
	});
	expect(calls.methods).toEqual(['get']);
});

test('of two tabs with one title the id decides', async () => {
	const twins = [
		{ title: 'Twin', tabId: 't.a' },
		{ title: 'Twin', tabId: 't.b' },
	];
	const id = calls.document('', twins);
	const { message, description } = await catchFailure(
		calls.write(id, { content: 'x', tab: 'Twin' }),
	);
	expect(message).toBe("The document has more than one tab 'Twin'");
	expect(description).toContain("'Twin' (t.a), 'Twin' (t.b).");
});

test('reading gives back what was written', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
			async (content) => {
				const clean = cleanText(content).replaceAll('\v', '\n');
				fc.pre(clean !== '');
				const id = calls.document('x');
				expect(await calls.write(id, { content })).toMatchObject({
					characterCount: clean.length,
				});
				expect((await calls.read(id)).content).toBe(clean);
			},
		),
		{ numRuns: roundsOf(100) },
	);
});

function line(text: string) {
	return { paragraph: { elements: [{ textRun: { content: `${text}\n` } }] } };
}

function styledLine(text: string) {
	const elements = [{ textRun: { content: `${text}\n`, textStyle: { bold: true } } }];
	return {
		paragraph: {
			elements,
			bullet,
			paragraphStyle: { namedStyleType: 'HEADING_1', indentStart: { magnitude: 36 } },
		},
	};
}
