import fc from 'fast-check';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { toMarkdown } from 'mdast-util-to-markdown';

import { textOf, type Block, type Content, type Span } from '../../../../nodes/untrusted/document/blocks';
import { contentOfMarkdown } from '../../../../nodes/untrusted/markdown/contentOfMarkdown';
import { markdownOfTabs } from '../../../../nodes/untrusted/markdown/markdownOfTabs';
import { planContent } from '../../../../nodes/Workspace/actions/document/content';
import { fresh, get, service, update } from '../../../google/docsCalls';
import { roundsOf } from '../../../growth';
import { markdownTrees } from './markdownTrees';

function written(markdown: string): { id: string; content: Content } {
	const id = fresh();
	const content = contentOfMarkdown(markdown);
	const plan = planContent(content, { index: 1, tabId: undefined, continues: false, styled: false });
	if (plan.requests.length > 0) update(id, [...plan.requests]);
	expect(service.text(id)).toBe(plan.text);
	expect(get(id).body?.content?.at(-1)?.endIndex).toBe(plan.endIndex);
	return { id, content };
}

/** The marks of each word: how they were nested, and what a space between words has, does not matter. */
function spansOf(spans: readonly Span[]): Array<[string, string]> {
	const joined: Array<[string, string]> = [];
	for (const { text: whole, marks } of spans) {
		for (const part of whole.split(/(\s+)/).filter((one) => one !== '')) {
			const key = part.trim() === '' ? '' : JSON.stringify(Object.entries(marks).sort());
			const last = joined.at(-1);
			if (last?.[1] === key) last[0] += part;
			else joined.push([part, key]);
		}
	}
	return joined;
}

function blockOf(one: Block): unknown {
	if (one.kind === 'table') {
		const [header = [], ...rows] = one.rows;
		// A header is bold by itself.
		const bold = header.map((cell) =>
			cell.map((span) => ({ ...span, marks: { ...span.marks, bold: true } })),
		);
		return { ...one, rows: [bold, ...rows].map((row) => row.map(spansOf)) };
	}
	return { ...one, spans: spansOf(one.spans) };
}

function structureOf({ blocks, lists }: Content): unknown {
	return { blocks: blocks.map(blockOf), lists: [...lists] };
}

test('Markdown -> document -> Markdown keeps the structure', () => {
	fc.assert(
		fc.property(markdownTrees, (tree) => {
			const markdown = toMarkdown(tree, { extensions: [gfmToMarkdown()], bullet: '-', emphasis: '*' });
			const { id, content } = written(markdown);
			const back = markdownOfTabs([get(id)]);
			expect(structureOf(contentOfMarkdown(back))).toEqual(structureOf(content));
			expect(markdownOfTabs([get(written(back).id)])).toBe(back);
		}),
		{ numRuns: roundsOf(500) },
	);
});

test('the text of any Markdown is what the plan says, and its length what it counts', () => {
	fc.assert(
		fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (markdown) => {
			const { content } = written(markdown);
			const plan = planContent(content, { index: 1, tabId: undefined, continues: false, styled: false });
			const own = content.blocks.map((one) =>
				one.kind === 'table' ? one.rows.flat().map(textOf).join('') : textOf(one.spans),
			);
			expect(plan.text.replaceAll('\n', '')).toBe(own.join(''));
		}),
		{ numRuns: roundsOf(1000) },
	);
});
