import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import {
	bullets,
	erase,
	fresh,
	get,
	insert,
	line,
	paragraphs,
	range,
	service,
	styled,
	table,
	update,
} from './docsCalls';

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
			paragraphStyle: { namedStyleType: 'HEADING_2' },
			elements: [
				{ startIndex: 5, endIndex: 6, textRun: { content: 't', textStyle: {} } },
				{
					startIndex: 6,
					endIndex: 7,
					textRun: { content: 'w', textStyle: { bold: true } },
				},
				{ startIndex: 7, endIndex: 9, textRun: { content: 'o\n' } },
			],
		},
	]);
	update(id, [{ updateTextStyle: { range: range(6, 7), fields: 'bold' } }]);
	expect(paragraphs(id)[1]?.elements).toHaveLength(1);
});

test('a heading that a newline splits stays the one that links lead to; the new one is another', () => {
	const paragraphStyle = { namedStyleType: 'HEADING_1', headingId: 'h.old' };
	const body = [{ ...line('head'), paragraph: { ...line('head').paragraph, paragraphStyle } }];
	const id = service.seed({ title: 'T', tabs: [{ body }] });
	update(id, [insert('\n', 1)]);
	const ids = paragraphs(id).map((one) => one.paragraphStyle?.headingId);
	expect(ids).toEqual([expect.stringMatching(/^h\.(?!old)/), 'h.old']);
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

test('a footnote goes with its reference', () => {
	const elements = [
		{ textRun: { content: 'a' } },
		{ footnoteReference: { footnoteId: 'f', footnoteNumber: '1' } },
	];
	const id = service.seed({
		title: 'T',
		tabs: [{ body: [{ paragraph: { elements } }], footnotes: { f: [line('n')] } }],
	});
	expect(get(id).footnotes).toHaveProperty('f.content');
	update(id, [erase(2, 3)]);
	expect(get(id)).not.toHaveProperty('footnotes');
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
	expect(runs(get(id, { suggestionsViewMode: 'PREVIEW_WITHOUT_SUGGESTIONS' }))).toEqual([
		'old',
		'\n',
	]);
	expect(() => get(id, { suggestionsViewMode: 'PREVIEW_SUGGESTIONS_ACCEPTED' })).toThrow();
});
