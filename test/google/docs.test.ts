import type { TabSeed } from '../../dev/google/docs/document';
import {
	create,
	erase,
	fresh,
	get,
	insert,
	line,
	range,
	refused,
	service,
	styled,
	table,
	update,
	type Requests,
} from './docsCalls';

test('a new document is a section break and an empty paragraph; only the title counts', () => {
	const body = {
		content: [{ paragraph: { elements: [{ textRun: { content: 'ignored\n' } }] } }],
	};
	const made = create({ title: 'T', body });
	expect(made.title).toBe('T');
	expect(typeof made.revisionId).toBe('string');
	expect(made.body?.content).toMatchObject([
		{ endIndex: 1, sectionBreak: {} },
		{
			startIndex: 1,
			endIndex: 2,
			paragraph: { elements: [{ textRun: { content: '\n' } }] },
		},
	]);
	expect(made.body?.content?.[0]).not.toHaveProperty('startIndex');
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
	[
		'index 0',
		'abc',
		[insert('x', 0)],
		/^Invalid requests\[0\]\.insertText: .*greater than or equal to 1/,
	],
	[
		'past the end',
		'abc',
		[insert('x', 5)],
		/Index 5 must be less than the end index of the referenced segment, 5\./,
	],
	['inside a pair', '😀', [insert('x', 2)], /inside the bounds of an existing paragraph/],
	['empty range', 'abc', [erase(2, 2)], /The range should not be empty/],
	[
		'last newline',
		'abc',
		[erase(1, 5)],
		/cannot include the newline character at the end of the segment/,
	],
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
	[
		'unknown tab',
		'abc',
		[{ insertText: { text: 'x', location: { index: 1, tabId: 't.x' } } }],
		/tab/,
	],
	[
		'no field mask',
		'abc',
		[{ updateTextStyle: { range: range(1, 2), textStyle: {} } }],
		/At least one field/,
	],
	[
		'unknown field',
		'abc',
		[{ updateTextStyle: { range: range(1, 2), fields: 'bald' } }],
		/Invalid field/,
	],
	['no text', 'abc', [insert('', 1)], /must not be empty/],
	[
		'two kinds in one request',
		'abc',
		[{ ...insert('x', 1), ...erase(1, 2) }],
		/Exactly one request kind/,
	],
])('refused: %s', (_, text, requests, message) => {
	expect(refused(fresh(text), ...requests)).toMatch(message);
});

test('a batch is all or nothing, and says which request was refused', () => {
	const id = fresh('abc');
	expect(refused(id, insert('x', 1), erase(1, 1))).toMatch(
		/^Invalid requests\[1\]\.deleteContentRange: /,
	);
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
		{
			tabProperties: { title: 'B' },
			childTabs: [{ tabProperties: { title: 'C', nestingLevel: 1 } }],
		},
	]);
});

test.each(['*', 'tabs', 'tabs(childTabs)', 'tabs/documentTab', 'tabs(childTabs(documentTab(*)))'])(
	'a mask of whole tabs is refused, because they have comments: %s',
	(fields) => {
		expect(() => get(fresh(), { fields })).toThrow(/cannot retrieve comment-specific fields/);
	},
);

test('a mask of parts of tabs is none of the first tab alone', () => {
	const fields = 'title,tabs(tabProperties(tabId),childTabs(documentTab(body)))';
	expect(get(fresh(), { fields, includeTabsContent: 'true' }).tabs).toHaveLength(1);
	expect(() => get(fresh(), { fields: `${fields},body` })).toThrow(/legacy text-level fields/);
});
