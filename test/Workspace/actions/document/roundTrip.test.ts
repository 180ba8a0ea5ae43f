import fc from 'fast-check';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { type Options, toMarkdown } from 'mdast-util-to-markdown';

import {
	joinSpans,
	type Block,
	type DocumentContent,
	type Span,
} from '../../../../nodes/untrusted/document/blocks';
import { markdownToBlocks } from '../../../../nodes/untrusted/markdown/markdownToBlocks';
import { documentTabsToMarkdown } from '../../../../nodes/untrusted/markdown/documentTabsToMarkdown';
import { get } from '../../../google/docsCalls';
import { roundsOf } from '../../../growth';
import { type Element, paragraph, styled, table } from './elements';
import { markdownTrees } from './markdownTrees';
import { throughDocument, writeMarkdown } from './plans';

describe('round trip', () => {
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
		if (one.kind !== 'table') return { ...one, spans: spansOf(one.spans) };
		const [header = [], ...rows] = one.rows;
		// A header is bold by itself.
		const bold = header.map((cell) =>
			cell.map((span) => ({ ...span, marks: { ...span.marks, bold: true } })),
		);
		return { ...one, rows: [bold, ...rows].map((row) => row.map(spansOf)) };
	}

	const structureOf = ({ blocks, listKinds }: DocumentContent) => ({
		...{ blocks: blocks.map(blockOf), listKinds: [...listKinds] },
	});

	test('Markdown -> document -> Markdown keeps the structure', () => {
		const style: Options = { extensions: [gfmToMarkdown()], bullet: '-', emphasis: '*' };
		fc.assert(
			fc.property(markdownTrees, (tree) => {
				const { id, content } = writeMarkdown(toMarkdown(tree, style));
				const back = documentTabsToMarkdown([get(id)]);
				expect(structureOf(markdownToBlocks(back))).toEqual(structureOf(content));
				expect(throughDocument(back)).toBe(back);
			}),
			{ numRuns: roundsOf(500) },
		);
	});

	test('the text of any Markdown is what the plan says, and its length what it counts', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (markdown) => {
				const { content, text } = writeMarkdown(markdown);
				const own = content.blocks.map((one) =>
					one.kind === 'table'
						? one.rows.flat().map(joinSpans).join('')
						: joinSpans(one.spans),
				);
				expect(text.replaceAll('\n', '')).toBe(own.join(''));
			}),
			{ numRuns: roundsOf(1000) },
		);
	});
});

// No visible character is lost or added between Markdown and a document, in either direction, wherever marks and addresses begin and end.
describe('visible text', () => {
	/** Beyond U+FFFF, in several code points, and what Markdown takes for punctuation or for its own. */
	const several = ['\u{1f44d}\u{1f3fd}', '\u{1f1e9}\u{1f1ea}'];
	const symbols = ['\u{1e2ff}', '\u{1f600}', '\u{10400}', ...several, '«', '*', '`'];

	type Run = readonly [text: string, style: object];

	const plain = {};
	const bold = { bold: true };
	const italic = { italic: true };
	const code = { weightedFontFamily: { fontFamily: 'Courier New' } };
	const around: readonly object[] = [plain, bold, { link: { url: 'https://link.example/' } }];
	const styles = [...around, italic, { strikethrough: true }, { ...bold, ...italic }, code];

	/** The paragraph of some runs, as different parts of a document. */
	const places: Readonly<Record<string, (runs: readonly Run[]) => Element>> = {
		paragraph: (runs) => paragraphOf(runs),
		heading: (runs) => paragraphOf(runs, { paragraphStyle: { namedStyleType: 'HEADING_2' } }),
		item: (runs) => paragraphOf(runs, { bullet: { listId: 'list' } }),
		cell: (runs) => table([['header'], [[paragraphOf(runs)]]]),
	};

	function paragraphOf(runs: readonly Run[], more: object = {}) {
		return paragraph(
			runs.map(([text, style]) => styled(text, style)),
			more,
		);
	}

	const marksOf = ({ marks }: Span) => JSON.stringify(Object.entries(marks).sort());

	/** Each character that is not white space, with its marks. */
	const shown = (spans: readonly Span[]) =>
		spans.flatMap((span) =>
			Array.from(span.text.replace(/\s/g, ''), (one) => [one, marksOf(span)]),
		);

	function spansOfRuns(runs: readonly Run[]): Span[] {
		return runs.map(([text, style]) => {
			const { link, weightedFontFamily, ...marks } = style as Record<string, { url: string }>;
			const ownMarks = {
				...(link && { link: link.url }),
				...(weightedFontFamily && { code: true }),
			};
			return { text, marks: { ...marks, ...ownMarks } };
		});
	}

	/** The spans of the only block, or of the last cell of a table. */
	function spansIn({ blocks }: DocumentContent): readonly Span[] {
		expect(blocks).toHaveLength(1);
		const [block] = blocks;
		return (block?.kind === 'table' ? block.rows.at(-1)?.[0] : block?.spans) ?? [];
	}

	const markdownOf = (content: Element) =>
		documentTabsToMarkdown([{ body: { content: [content] } }]);
	const readBack = (content: Element) => spansIn(markdownToBlocks(markdownOf(content)));

	describe.each(Object.entries(places))('document -> Markdown, in a %s', (_, place) => {
		test.each(symbols)('%s keeps its marks and neighbors', (symbol) => {
			for (const own of styles) {
				for (const other of around) {
					const all: Run[][] = [
						[[symbol, own]],
						[['a', other], [symbol, own], ['b', other]],
						[['a ', other], [symbol, own], [' b', other]],
						[[symbol, other], ['a', own], [symbol, other]],
						[[`a${symbol}`, other], [`${symbol}a`, own], [`b${symbol}`, other]],
					]; // prettier-ignore
					for (const runs of all)
						expect(shown(readBack(place(runs)))).toEqual(shown(spansOfRuns(runs)));
				}
			}
		});

		test.each([
			'https://a.example',
			'https://a.example/?a=1&b=2',
			'https://a.example/*x*/_y_/~z',
			'https://a.example/(x)/[y]/`z`',
			'https://a.example/ab&copy;',
			'http://',
			'www.a.example',
			'www.a.example/*x*/_y_/~z',
			'www.a.example/(x)/[y]/`z`',
		])('the address %s stays whole', (address) => {
			const textOf = (spans: readonly Span[]) => joinSpans(spans).replace(/\s+/g, '');
			const boldOf = (spans: readonly Span[]) =>
				joinSpans(spans.filter(({ marks }) => marks.bold === true)).trim();
			for (const [left, right] of [
				['', ''],
				['x ', ' y'],
				['(', ').'],
				['"', '"'],
				['<', '>'],
				['[', '](x)'],
				['', '\vnext'],
				['', '\v<'],
			] as const) {
				const before = `${left}${address}`;
				const text = `${before}${right}`;
				const all: Run[][] = [
					[[text, plain]],
					[[before, plain], [right || 'r', bold]],
					[[before, bold], [right || 'r', plain]],
					[[before, plain], [right || 'r', code]],
					[['x', bold], [text, italic]],
				]; // prettier-ignore
				for (const runs of all) {
					const [given, back] = [spansOfRuns(runs), readBack(place(runs))];
					expect([textOf(back), boldOf(back)]).toEqual([textOf(given), boldOf(given)]);
				}
			}
		});
	});

	test('an address without a link becomes one, without the punctuation after it', () => {
		const text = 'See https://a.example/a_b, (https://a.example/x) and https://a.example.';
		expect(markdownOf(paragraph(text))).toBe(
			'See <https://a.example/a_b>, (<https://a.example/x>) and <https://a.example>.',
		);
		expect(markdownOf(paragraph('(WWW.a.example/~b). awww.a'))).toBe(
			'([WWW.a.example/\\~b](http://WWW.a.example/~b)). awww.a',
		);
	});
});
