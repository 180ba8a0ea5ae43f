import fc from 'fast-check';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { toMarkdown } from 'mdast-util-to-markdown';

import {
	joinSpans,
	type Block,
	type DocumentContent,
	type Span,
} from '../../../../nodes/untrusted/document/blocks';
import { markdownToBlocks } from '../../../../nodes/untrusted/markdown/markdownToBlocks';
import { documentTabsToMarkdown } from '../../../../nodes/untrusted/markdown/documentTabsToMarkdown';

import { fresh, get, service, update } from '../../../google/docsCalls';
import { roundsOf } from '../../../growth';
import { markdownTrees } from './markdownTrees';
import { planIn } from './planIn';

describe('round trip', () => {
	function written(markdown: string): { id: string; content: DocumentContent } {
		const id = fresh();
		const content = markdownToBlocks(markdown);
		const plan = planIn(content);
		if (plan.requests.length > 0) update(id, [...plan.requests]);
		expect(service.text(id)).toBe(`${plan.text}\n`);
		expect(get(id).body?.content?.at(-1)?.endIndex).toBe(2 + plan.growth);
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

	function structureOf({ blocks, lists }: DocumentContent): unknown {
		return { blocks: blocks.map(blockOf), lists: [...lists] };
	}

	test('Markdown -> document -> Markdown keeps the structure', () => {
		fc.assert(
			fc.property(markdownTrees, (tree) => {
				const markdown = toMarkdown(tree, {
					extensions: [gfmToMarkdown()],
					bullet: '-',
					emphasis: '*',
				});
				const { id, content } = written(markdown);
				const back = documentTabsToMarkdown([get(id)]);
				expect(structureOf(markdownToBlocks(back))).toEqual(structureOf(content));
				expect(documentTabsToMarkdown([get(written(back).id)])).toBe(back);
			}),
			{ numRuns: roundsOf(500) },
		);
	});

	test('the text of any Markdown is what the plan says, and its length what it counts', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (markdown) => {
				const { content } = written(markdown);
				const plan = planIn(content);
				const own = content.blocks.map((one) =>
					one.kind === 'table'
						? one.rows.flat().map(joinSpans).join('')
						: joinSpans(one.spans),
				);
				expect((plan.text ?? '').replaceAll('\n', '')).toBe(own.join(''));
			}),
			{ numRuns: roundsOf(1000) },
		);
	});
});

// No visible character is lost or added between Markdown and a document, in either direction, wherever marks and addresses begin and end.
describe('visible text', () => {
	/** Beyond U+FFFF, in several code points, and what Markdown takes for punctuation or for its own. */
	const symbols = [
		'\u{1e2ff}',
		'\u{1f600}',
		'\u{10400}',
		'\u{1f44d}\u{1f3fd}',
		'\u{1f1e9}\u{1f1ea}',
		'«',
		'*',
		'`',
	];

	type Run = readonly [text: string, style: object];

	const code = { weightedFontFamily: { fontFamily: 'Courier New' } };
	const around: readonly object[] = [
		{},
		{ bold: true },
		{ link: { url: 'https://link.example/' } },
	];
	const styles: readonly object[] = [
		...around,
		{ italic: true },
		{ strikethrough: true },
		{ bold: true, italic: true },
		code,
	];

	/** The paragraph of some runs, as different parts of a document. */
	const places: Readonly<Record<string, (runs: readonly Run[]) => object>> = {
		paragraph: (runs) => paragraphOf(runs),
		heading: (runs) => paragraphOf(runs, { paragraphStyle: { namedStyleType: 'HEADING_2' } }),
		item: (runs) => paragraphOf(runs, { bullet: { listId: 'list' } }),
		cell: (runs) => ({
			table: {
				tableRows: [[['header', {}] as const], runs].map((cell) => ({
					tableCells: [{ content: [paragraphOf(cell)] }],
				})),
			},
		}),
	};

	function paragraphOf(runs: readonly Run[], more: object = {}): object {
		const elements = [...runs, ['\n', {}] as const].map(([content, textStyle]) => ({
			textRun: { content, textStyle },
		}));
		return { paragraph: { elements, ...more } };
	}

	/** Each character that is not white space, with its marks. */
	function shown(spans: readonly Span[]): Array<[string, string]> {
		return spans.flatMap(({ text, marks }) =>
			Array.from(text.replace(/\s/g, ''), (one): [string, string] => [
				one,
				JSON.stringify(Object.entries(marks).sort()),
			]),
		);
	}

	function spansOfRuns(runs: readonly Run[]): Span[] {
		return runs.map(([text, style]) => {
			const { link, weightedFontFamily, ...marks } = style as Record<string, { url: string }>;
			return {
				text,
				marks: {
					...marks,
					...(link && { link: link.url }),
					...(weightedFontFamily && { code: true }),
				},
			};
		});
	}

	function spansIn({ blocks }: DocumentContent): readonly Span[] {
		expect(blocks).toHaveLength(1);
		const [block] = blocks;
		return (block?.kind === 'table' ? block.rows.at(-1)?.[0] : block?.spans) ?? [];
	}

	const readBack = (content: object) =>
		spansIn(markdownToBlocks(documentTabsToMarkdown([{ body: { content: [content] } }])));

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
		])('the address %s stays whole', (address) => {
			for (const [left, right] of [
				['', ''],
				['x ', ' y'],
				['(', ').'],
				['"', '"'],
				['<', '>'],
				['[', '](x)'],
				['', '\vnext'],
				['', '\v<'],
			]) {
				// prettier-ignore
				const [text, before] = [`${left}${address}${right}`, `${left}${address}`];
				const all: Run[][] = [
				[[text, {}]],
				[[before, {}], [right || 'r', { bold: true }]],
				[[before, { bold: true }], [right || 'r', {}]],
				[[before, {}], [right || 'r', code]],
				[['x', { bold: true }], [text, { italic: true }]],
			]; // prettier-ignore
				for (const runs of all) {
					const bold = ({ marks }: Span) => marks.bold === true;
					const [given, back] = [spansOfRuns(runs), readBack(place(runs))];
					expect(joinSpans(back).replace(/\s+/g, '')).toBe(
						joinSpans(given).replace(/\s+/g, ''),
					);
					expect(joinSpans(back.filter(bold)).trim()).toBe(
						joinSpans(given.filter(bold)).trim(),
					);
				}
			}
		});
	});

	test('an address without a link becomes one, without the punctuation after it', () => {
		const text = 'See https://a.example/a_b, (https://a.example/x) and https://a.example.';
		expect(documentTabsToMarkdown([{ body: { content: [paragraphOf([[text, {}]])] } }])).toBe(
			'See <https://a.example/a_b>, (<https://a.example/x>) and <https://a.example>.',
		);
	});

	test.each(symbols.slice(0, 5))(
		'Markdown -> document -> Markdown keeps %s in and beside emphasis',
		(symbol) => {
			for (const mark of ['*', '**', '~~']) {
				for (const inner of [symbol, `${symbol}a`, `a${symbol}b`, `a ${symbol}`]) {
					const marked = `${mark}${inner}${mark}`;
					const all = [marked, `x ${marked} y`, `${symbol}${marked}${symbol}`, `a${marked}b`, `# ${marked}`, `- (${marked})`, `[${marked}](https://link.example/)`, `| h |\n| - |\n| ${marked} |`]; // prettier-ignore
					for (const markdown of all) {
						const content = markdownToBlocks(markdown);
						const id = fresh();
						const plan = planIn(content);
						update(id, [...plan.requests]);
						expect(service.text(id)).toBe(`${plan.text}\n`);
						expect(
							shown(spansIn(markdownToBlocks(documentTabsToMarkdown([get(id)])))),
						).toEqual(shown(spansIn(content)));
						expect(plan.text).toContain(symbol);
					}
				}
			}
		},
	);
});
