import fc from 'fast-check';
import type { RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

import {
	assertProportionate,
	markdownToHtml,
	parseMarkdown,
} from '../../nodes/untrusted/markdown/parseMarkdown';
import { expectLinear, roundsOf } from '../growth';

/** The reference: the parser itself, with the whole text. */
function parsedWhole(markdown: string): RootContent[] {
	return fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
		.children;
}

function withoutPositions(nodes: readonly RootContent[]): unknown {
	return JSON.parse(
		JSON.stringify(nodes, (key, value: unknown) => (key === 'position' ? undefined : value)),
	) as unknown;
}

const lines = fc.constantFrom(
	...[
		'',
		'',
		'',
		'text',
		'    indented',
		'  text',
		'---',
		'===',
		'# heading',
		'## heading [a] ![a] [^1]',
		'```',
		'   ```',
		'~~~',
		'  ~~~~',
		'\\[a]: x',
	],
	...[
		'- item',
		'  - inner',
		'1. one',
		'3) three',
		'> quote',
		'> > deep',
		'>',
		'> ```',
		'- ```',
		'<!-- open',
		'shut -->',
	],
	...[
		'<pre>',
		'</pre>',
		'<div>',
		'| a | b |',
		'| - | - |',
		'| [a] |',
		'[Speaker 1]: said',
		'[a]: https://a.example',
	],
	...[
		'[A ]: <x y> "t',
		'itle"',
		'[a',
		'b]: /two',
		'see [a] and [Speaker 1]',
		'![b][a b]',
		'note[^1]',
		'[^1]: the note',
	],
	...[
		'    more of it',
		'[^2]: > quoted',
		'[^n]:',
		'- [ ] [a]',
		'\ufefftext',
		'*a **b*',
		'a  ',
		'\\',
		'\tcode',
		'&#35; x',
		'[link](',
		')',
	],
);
const texts = fc.array(lines, { maxLength: 40 }).map((all) => all.join('\n'));

test('a text in pieces of any length has the blocks of the text parsed whole', () => {
	fc.assert(
		fc.property(texts, fc.integer({ min: 1, max: 60 }), (text, pieceLength) => {
			expect(withoutPositions(parseMarkdown(text, pieceLength))).toEqual(
				withoutPositions(parsedWhole(text)),
			);
		}),
		{ numRuns: roundsOf(1000) },
	);
});

const manyLines = (line: (at: number) => string, count: number) =>
	Array.from({ length: count }, (_, at) => line(at)).join('\n');
const sentence = 'Words that make the report as long as reports are, and then some.';

test.each([
	[
		'a report with a list of references',
		`${manyLines((at) => `${sentence} [${at}]\n`, 300)}\n${manyLines((at) => `[${at}]: https://example.com/${at}`, 300)}`,
	],
	['a transcript', manyLines((at) => `[Speaker ${at % 3}]: ${sentence}\n`, 300)],
	['definitions in code', manyLines(() => `\`\`\`\n[a]: ${sentence}\n\`\`\`\n\n[a]\n`, 200)],
	[
		'an indented fence',
		`${manyLines(() => `${sentence}\n`, 120)}\n  \`\`\`\n${manyLines((at) => `code\n\nline ${at}\n`, 600)}  \`\`\`\n\nend`,
	],
	[
		'a piece of headings and code alone',
		`# One [a]\n\n## Two ![b][a]\n\n\`\`\`\n${manyLines((at) => `code ${at}`, 2000)}\n\`\`\`\n\n${sentence}\n\n[a]: /a`,
	],
	[
		'footnotes',
		`${manyLines((at) => `${sentence}[^${at}]\n`, 200)}\n${manyLines((at) => `[^${at}]: Note ${at}`, 200)}`,
	],
])('%s in pieces has the blocks of the text parsed whole', (_, markdown) => {
	expect(markdown.length).toBeGreaterThan(16_000);
	expect(withoutPositions(parseMarkdown(markdown))).toEqual(
		withoutPositions(parsedWhole(markdown)),
	);
});

test('a long text without definitions is parsed in pieces', () => {
	const starts = parseMarkdown(manyLines(() => `${sentence}\n`, 300)).map(
		({ position }) => position?.start.offset,
	);
	expect(Math.max(...starts.map((start) => start ?? 0))).toBeLessThan(9_000);
});

test.each([
	['a table that a person wrote', `|a|b|c|\n|---|:-:|--:|\n${'|x|y|z|\n'.repeat(5000)}`],
	[
		'links that a person wrote',
		`${'See [the page][1] and [that][2].\n\n'.repeat(2000)}[1]: https://example.com/1\n[2]: /2 "b"`,
	],
	['brackets without definitions', ']'.repeat(30_000)],
	['many rules', '---\n'.repeat(50_000)],
])('%s is proportionate', (_what, markdown) => {
	expect(assertProportionate(markdown)).toBe(markdown);
});

test.each([
	[
		'a table that grows',
		`${'|a'.repeat(10_000)}\n${'|-'.repeat(10_000)}\n${'|x\n'.repeat(10_000)}`,
	],
	[
		'a table in a quote',
		`> ${'|a'.repeat(10_000)}\n> ${'|-'.repeat(10_000)}\n${'> |x\n'.repeat(10_000)}`,
	],
	[
		'a long address that is named often',
		`${'[a]'.repeat(13_000)}\n\n[a]: /${'u'.repeat(40_000)}`,
	],
])('%s is not', (_what, markdown) => {
	expect(() => assertProportionate(markdown)).toThrow('many times as long');
});

/** A definition and brackets in a text of this length. */
const mentions = (count: number, length: number) =>
	`[a]:${']'.repeat(count - 1)}`.padEnd(length, 'u');

test.each([
	['200,000 cells', `-|-\n${'a\n'.repeat(99_999)}`],
	['cells of two tables', `-|-\n${'a\n'.repeat(60_000)}\n${'a\n'.repeat(60_000)}`],
	['20,000,000 characters beyond 40 times the text', mentions(2039, 10_000)],
	['a long address behind a blank line', `${mentions(2039, 9_000)}\n\n${'u'.repeat(9_000)}`],
])('%s are read', (_what, markdown) => {
	expect(assertProportionate(markdown)).toBe(markdown);
});

test.each([
	['200,001 cells', `-|-|-\n${'a\n'.repeat(66_666)}`],
	['20,000,001 characters beyond 40 times the text', mentions(42, 6_666_667)],
	['brackets in a text that is longer by one', mentions(2039, 10_001)],
	['an address on several lines', `${mentions(2045, 6_000)}\n${'u'.repeat(6_000)}`],
])('%s are not', (_what, markdown) => {
	expect(() => assertProportionate(markdown)).toThrow('many times as long');
});

test.each(['| - ', '[a]: b\n', ' '])('looking costs no more than the length of %j', (unit) => {
	expectLinear(
		unit,
		(text) => text,
		(text) => {
			try {
				assertProportionate(text);
			} catch (error) {
				return error;
			}
			return undefined;
		},
	);
});

test.each([
	['```', 'a\n\n  b'],
	['~~~~', '\na\nb'],
	['```js', 'a\n'],
])('code of %s below the text of an item keeps its line breaks in HTML', (fence, code) => {
	const inItem = `${fence}\n${code}\n${fence.replace('js', '')}`.replaceAll('\n', '\n  ');
	expect(markdownToHtml(`- text\n  ${inItem}\n- next`)).toContain(`>${code}\n</code></pre>`);
});
