import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { markdownToBlocks } from '../../../../nodes/untrusted/markdown/markdownToBlocks';
import { getFootnotes } from '../../../../nodes/untrusted/document/elements';
import { documentTabsToText } from '../../../../nodes/untrusted/document/documentTabsToText';
import { documentTabsToMarkdown } from '../../../../nodes/untrusted/markdown/documentTabsToMarkdown';
import { get, service } from '../../../google/docsCalls';
import * as elements from './elements';
import { planIn, throughDocument, writeMarkdown } from './plans';

const { heading, item, numberedList, paragraph, picture, pictureAt, styled, table } = elements;

/** A tab of a document. */
const tabOf = (content: elements.Element[], more: docs_v1.Schema$DocumentTab = {}) => ({
	...{ ...more, body: { content } },
});
const markdownOf = (...parts: Parameters<typeof tabOf>) =>
	documentTabsToMarkdown([tabOf(...parts)]);
const plainTextOf = (...parts: Parameters<typeof tabOf>) => documentTabsToText([tabOf(...parts)]);

test.each([
	['the address of a picture', '![](http://a.example/&#xE000;x) **b**'],
	['an address that is no link', '![](x&#xE000;y) **b**'],
	['the name of a footnote', 'a[^x&#xE000;] **b**\n\n[^x&#xE000;]: c'],
	['a code', '`a\ue000b` **b**'],
])('a character that Google removes moves nothing in %s', (_, markdown) => {
	expect(throughDocument(markdown)).toContain('**b**');
});

test.each([
	['headings', '# One\n\n## Two\n\n###### Six\n\ntext'],
	['emphasis', 'a *b* **c** ***d*** ~~e~~ **f *g* h** end'],
	['code', 'use `x = 1`\n\n```\nif (a) {\n\n\tb();\n}\n```\n\nend'],
	['paragraphs of code only', '`a`\n\n`b`\n\n> `c`\n>\n> `d`\n\n`f`'],
	['paragraphs of code in an item', '- a\n\n  `b`\n\n  `c`'],
	['code in an item, then beside it', '- a\n\n  `b`\n\n`c`'],
	['two code blocks', '```\na\n```\n\n```\nb\n```'],
	['code at the end', 'a\n\n```\n```'],
	['links', '[docs](https://example.com/a?b=c) and **[bold](https://example.com/)**'],
	['hard breaks', 'one\\\ntwo'],
	['an empty last item', '- a\n-'],
	['an empty item before a text', '- a\n-\n\ntext'],
	['empty code in an item', '- a\n  ```\n  ```\n- b'],
	['bullets in numbers', '1. a\n   - x\n   - y\n2. b\n   - z\n3. c'],
	['numbers in bullets', '- a\n  1. x\n  2. y\n- b'],
	['symbols beyond U+FFFF', '*\u{1e2ff}* a **\u{1f600}** *\u{10400}* ~~\u{1e2ff}~~'],
	['two lists of numbers', '1. a\n\ntext\n\n1. b'],
	['two lists of numbers with nothing between them', '1. a\n2. b\n\n1) c\n2) d'],
	['two lists of numbers in an item', '- a\n  1. x\n  2. y\n  1) z\n- b'],
	['numbers, then numbers in a quote', '1. a\n\n> 1) b'],
	['three kinds deep', '- a\n  1. x\n     - deep\n  2. y\n- b'],
	['paragraphs in items', '1. a\n\n   more of a\n2. b'],
	['paragraphs in inner items', '- a\n  - b\n\n    more of b\n  - c'],
	['code in items', '1. a\n   ```\n   code();\n   ```\n2. b'],
	['quote in items', '1. a\n   > said\n2. b'],
	['a long quote in items', '1. a\n   > said\n   >\n   > more\n2. b'],
	['tasks', '- [ ] open\n- [x] done'],
	['tasks with marks', '- [ ] a **b** c\n- [x] **d** `e`\n  - [ ] f'],
	['bullets in tasks', '- [ ] a\n  - b\n- [x] c'],
	['tasks in bullets', '- a\n  - [ ] b\n  - [x] c\n- d'],
	['tasks, then bullets', '- [ ] a\n\n* b'],
	['a list in a quote in an item', '- a\n  > - b\n  > - c\n- d'],
	['lists in a quote in an item', '1. a\n   > b\n   >\n   > - c\n   >   - d\n   >\n   > e\n2. f'],
	['a list beside a quoted list', '- a\n\n> * b\n\n- c'],
	['list then text', '- a\n- b\n\ntext\n\n1. c\n2. d'],
	['quotes', '> one\n>\n> two\n\nout'],
	['quoted list', '> - a\n> - b'],
	['rule', 'a\n\n---\n\nb'],
	['rule at the end', 'a\n\n---'],
	['table between', 'before\n\n| a | b |\n| - | - |\n| **1** | `2` |\n\nafter'],
	['two tables', '| a |\n| - |\n| 1 |\n\n| b |\n| - |\n| 2 |'],
	['empty cells', '| a | b |\n| - | - |\n| | |'],
	['breaks in cells', '| a |\n| - |\n| x<br>y |'],
	['pairs', '# 😀\n\n- 👍🏽 **😀**\n\n| 😀 | b |\n| - | - |\n| x | 😀 |'],
	['bullets, then numbers', '- a\n\n1. b'],
	['the query of a link', '[a](https://example.com/?b=1&c=2)'],
	['the query of an address', '<https://example.com/?b=1&c=2&d>'],
	['ampersands', 'AT&T and R&D, a & b && c, R&D'],
	['character references that are none', String.raw`a \&amp; b \&#38; c \&copy;`],
	['an ampersand in code', '`a\\&b` & c'],
	['an ampersand in a code block', '```\na\\&b\n```'],
	['a backslash before an ampersand', String.raw`\\&x`],
	['a backslash at the end', 'x \\\\'],
])('%s', (_, markdown) => {
	expect(throughDocument(markdown)).toBe(markdown);
});

const small = '| x |\n| - |\n| y |';
/** The same as a part of a list's item. */
const inner = small.replaceAll('\n', '\n   ');

test.each([
	['a comment', 'a\n\n<!-- hidden\n\nlines -->\n\nb <!-- too --> c', 'a\n\nb  c'],
	['a comment that does not end', 'a\n\n<!-- open', 'a\n\n\\<!-- open'],
	['a description of two lines', 'a ![two\nlines](p) b', 'a two lines b'],
	['a tag of two lines', 'a <b\nid="x"> c', 'a \\<b id="x"> c'],
	['an anchor', '- [Install](#install)', '- Install'],
	[
		'an address that Docs cannot open',
		'see [a](../plan.md#now) [x](x)',
		'see a (../plan.md#now) x',
	],
	['such an address in a definition', '[a][1]\n\n[1]: /docs/a', 'a (/docs/a)'],
	['definitions in front, of which the first counts', '[1]: /b\n[1]: /c\n\n[a][1]', 'a (/b)'],
	['a definition in an item', '- [1]: /b\n\n[a][1]', 'a (/b)'],
	['a number before code', '5. ```\n   x\n   ```', '5\\.\n\n```\nx\n```'],
	['two lists', '- a\n\n* b', '- a\n- b'],
	[
		'a picture in a link',
		'[![a](https://a.example/p)](https://b.example)',
		'[a](https://b.example)',
	],
	['a list that models indent by two', '1. A\n  - b\n1. D\n\n2. E', '1. A\n   - b\n2. D\n3. E'],
	['such lists between blank lines', '1. A\n\n  - b\n\n2. C\n\n- d', '1. A\n   - b\n2. C\n\n- d'],
	['tags of HTML', 'a <b>b *c*</b>', 'a \\<b>b *c*\\</b>'],
	['numbers that Docs cannot show', '5. a\n6. b', '5\\. a\n\n6\\. b'],
	['dates', '24. May\n   - a\n31. May\n\n   b', '24\\. May\n\n- a\n\n31\\. May\n\nb'],
	['dates in items', '- 24. May\n- a\n\n  31) May', '- 24\\. May\n- a\n\n  31\\) May'],
	['tasks from another number on', '- [ ] a\n\n  2. [x] b', '- [ ] a\n\n  2\\. ☑ b'],
	['a table in a step', `1. a\n\n   ${inner}\n1. b\n1. c`, `1. a\n\n${small}\n\n1. b\n2. c`],
	['a table between steps', `1. a\n\n${small}\n\n2. b`, `1. a\n\n${small}\n\n2\\. b`],
	['text between steps', '1. a\n\nt\n\n- x\n\n2. b\n3. c', '1. a\n\n   t\n   - x\n2. b\n3. c'],
	['a heading between steps', '1. a\n\n# One\n\n2. b', '1. a\n\n# One\n\n2\\. b'],
	['quoted steps', '> 1. a\n>\n> text\n>\n> 2. b', '> 1. a\n>\n>    text\n> 2. b'],
	['tasks beside other items', '- [ ] open\n- [x] done\n- none', '- ☐ open\n- ☑ done\n- none'],
	['numbered tasks', '1. [ ] open\n2. [x] done', '1. ☐ open\n2. ☑ done'],
	['a tab in code', '- a\n  ```\n  \tif (x)\n  ```', '- a\n  ```\n      if (x)\n  ```'],
	['a quote in a quote', '> one\n>\n> > two', '> one\n>\n> two'],
	['a row with too many cells', '| a |\n| - |\n| 1 | 2 |', '| a | |\n| - | - |\n| 1 | 2 |'],
	['a row with too few cells', '| a | b |\n| - | :-: |\n| 1 |', '| a | b |\n| - | - |\n| 1 | |'],
	[
		'two kinds of such rows',
		'| a |\n| - |\n| 1 | 2 |\n| 3 |',
		'| a | |\n| - | - |\n| 1 | 2 |\n| 3 | |',
	],
	['the titles of links', '[a](https://example.com "Title")', '[a](https://example.com)'],
	['the languages of code', '```js\n1\n```', '```\n1\n```'],
])('%s: what Docs has no place for comes out in another form', (_, markdown, shown) => {
	expect(throughDocument(markdown)).toBe(shown);
});

test.each<[string, string, string[]]>([
	['a link to a heading', '[Install](#install)', ['links without a full URL']],
	['a tag', 'a <u>b</u>', ['HTML tags']],
	['a block of HTML', '<div>\nb\n</div>', ['HTML tags']],
	['a ticked task', '- [x] a', ['ticked boxes']],
	['a table in a step', `1. a\n\n   ${inner}`, ['numbers of a list after a table']],
	['a title', '[a](https://a.example "Title")', ['titles of links']],
	['a language', '```js\n1\n```', ['languages of code blocks']],
	['a footnote', '![a](https://a.example/a.png) b[^1]\n\n[^1]: e', ['footnotes']],
	['a defined image', '![a][p]\n\n[p]: p.png', ['images without a public https address']],
	['a defined link', '[b][q]\n\n[q]: /q', ['links without a full URL']],
	['a definition that nothing uses', 'a\n\n[q]: /q', []],
	['a link in a heading', '# a [b](https://b.example)', []],
	['a line break', 'a<br>b <!-- c -->\n\n- [ ] d\n\n[e](https://e.example)', []],
])('%s is named in a hint unless it arrives', (_, markdown, kinds) => {
	expect(markdownToBlocks(markdown).simplified).toEqual(kinds);
});

test('a list needs no empty paragraph below a text', () => {
	const { id } = writeMarkdown('a\n\n1. b');
	expect(service.text(id)).toBe('a\nb\n');
});

test('a checklist is one of Docs, whose boxes only people can tick', () => {
	const { id } = writeMarkdown('- [ ] open\n- [x] done');
	const document = get(id);
	expect(service.text(id)).toBe('open\ndone\n');
	const lists = Object.values(document.lists ?? {});
	expect(lists).toHaveLength(1);
	const levels = lists[0]?.listProperties?.nestingLevels ?? [];
	expect(levels.map(({ glyphType }) => glyphType)).toContain('GLYPH_TYPE_UNSPECIFIED');
	expect(documentTabsToText([document])).toBe('☐ open\n☑ done');
});

test.each([
	['a character reference', 'a&amp;b', String.raw`a\&amp;b`],
	['a backslash before an ampersand', '\\&x', String.raw`\\&x`],
	['a backslash at the end', 'x \\', 'x \\\\'],
])('%s in the text of a document keeps its meaning', (_what, text, written) => {
	expect(markdownOf([paragraph(text)])).toBe(written);
});

test('an equation is named, and struck text in part ticks no box', () => {
	const bullet = { listId: 'l' };
	const struck = (text: string) => styled(text, { strikethrough: true });
	const task = (...runs: docs_v1.Schema$ParagraphElement[]) => ({
		paragraph: { elements: runs, bullet },
	});
	const content = [task(styled('a', {}), struck('b\n')), task({ equation: {} }, struck('\n'))];
	const lists = { l: elements.listOf({ glyphType: 'GLYPH_TYPE_UNSPECIFIED' }) };
	expect(plainTextOf(content, { lists })).toBe('☐ ab\n☐ [equation]');
	expect(markdownOf(content, { lists })).toBe('- [ ] a~~b~~\n- [ ] \\[equation]');
});

const paragraphs = (range: string) => [
	`deleteParagraphBullets ${range}`,
	`updateParagraphStyle ${range}`,
];

test.each([
	['a\n\nb', false, false, []],
	['a\n\nb', true, false, []],
	['a\n\nb', false, true, [...paragraphs('5-8'), 'updateTextStyle 5-8']],
	['a\n\nb', true, true, [...paragraphs('7-8'), 'updateTextStyle 5-8']],
	['a', true, true, ['updateTextStyle 5-6']],
])(
	'%j (continues: %j) loses an old style (%j) by %j',
	(markdown, continues, resetsStyle, expected) => {
		const { requests } = planIn(markdownToBlocks(markdown), {
			...{ index: 5, deletedEnd: 5 },
			...{ isParagraphEmpty: !continues, keepsStyle: !resetsStyle },
		});
		type Ranged = Record<string, { range?: docs_v1.Schema$Range; fields?: string }>;
		const styled = requests
			.flatMap((request) => Object.entries(request as Ranged))
			.filter(([, { range, fields }]) => range && fields !== 'spaceBelow,spacingMode')
			.map(([kind, { range }]) => `${kind} ${range?.startIndex}-${range?.endIndex}`);
		expect(styled).toEqual(expected);
	},
);

/** What the requests for a Markdown do, as "kind start-end" with the style. */
function requestsFor(markdown: string, wanted: string) {
	const { requests } = planIn(markdownToBlocks(markdown));
	return requests.flatMap((request) => (request as Record<string, unknown>)[wanted] ?? []);
}

test('the first row of a table is bold', () => {
	const table = '| a | b |\n| - | -: |\n| 1 | 2 |';
	expect(requestsFor(table, 'updateTextStyle')).toMatchObject([
		{ range: { startIndex: 5, endIndex: 6 }, textStyle: { bold: true } },
		{ range: { startIndex: 8, endIndex: 9 }, textStyle: { bold: true } },
	]);
});

test('a list goes on behind a table with bullets of its own', () => {
	const list = '- a\n\n  | x |\n  | - |\n\n- b';
	expect(requestsFor(list, 'createParagraphBullets')).toHaveLength(2);
});

test.each([
	['- | x |\n  | - |', 1],
	['- <!-- x -->', 0],
	['- - a', 1],
	['-', 1],
])('only an empty item gets a bullet without text: %j', (list, blockCount) => {
	const { blocks } = markdownToBlocks(`${list}\n\nb`);
	expect(blocks).toHaveLength(blockCount + 1);
	expect(blocks.at(-1)).toMatchObject({ format: 'text', list: undefined });
});

test.each(['1. a\n2.\n   - b\n3. c', '1. 24. Dezember\n2. b'])(
	'an item keeps its number if the item before it begins with a list: %j',
	(list) => {
		expect(throughDocument(list).replaceAll('\\', '')).toBe(list);
	},
);

test('a paragraph after an inner item without text has no bullet', () => {
	const { blocks } = markdownToBlocks('- a\n  - <!-- x -->\n\n  b');
	expect(blocks.at(-1)).toMatchObject({ list: { level: 0, hasBullet: false } });
});

test('a quote has a line at its left, and a rule one below it', () => {
	const { requests } = planIn(markdownToBlocks('> a\n\n---'));
	const borders = requests.flatMap(({ updateParagraphStyle }) => {
		const { borderLeft, borderBottom } = updateParagraphStyle?.paragraphStyle ?? {};
		return [borderLeft ?? [], borderBottom ?? []].flat();
	});
	expect(borders.map(({ width, padding }) => [width?.magnitude, padding?.magnitude])).toEqual([
		[3, 6],
		[1, 1],
	]);
});

test('what is drawn is of a gray and a weight that Google takes', () => {
	const { requests } = planIn(markdownToBlocks('> `a`\n\n---\n\n```\nb\n```'));
	const numbersIn = (pattern: RegExp) =>
		[...JSON.stringify(requests).matchAll(pattern)].map(([, found]) => Number(found));
	const shares = numbersIn(/"red":([\d.]+)/g);
	expect(shares).toHaveLength(3);
	for (const share of shares) expect(share).toBeLessThanOrEqual(1);
	const weights = numbersIn(/"weight":(\d+)/g);
	expect(weights.map((weight) => weight % 100)).toEqual([0, 0]);
});

const mono = { weightedFontFamily: { fontFamily: 'Roboto Mono', weight: 400 } };

test('a script font is not one of fixed width', () => {
	const cursive = { weightedFontFamily: { fontFamily: 'Monotype Corsiva', weight: 400 } };
	expect(markdownOf([paragraph([styled('a', cursive), styled('b', mono)])])).toBe('a`b`');
});

test('code in a table of one cell keeps its lines', () => {
	const lines = ['if (a) {', '  b();', '}'].map((line) => paragraph(styled(line, mono)));
	const content = [table([[lines]])];
	expect(markdownOf(content)).toBe('`if (a) {`\n\n`  b();`\n\n`}`');
	expect(plainTextOf(content)).toBe('if (a) {\n  b();\n}');
});

describe('text that was written in Google Docs', () => {
	type Run = readonly [text: string, style?: object];
	const line = (...runs: Run[]) => ({
		paragraph: { elements: runs.map(([text, style = {}]) => styled(text, style)) },
	});

	test('a code block is a line of code for each of its lines', () => {
		const text = markdownOf([
			line(['before\n']),
			line(['\uec03', mono], ['const', { ...mono, bold: true }], [' a = 1;\n', mono]),
			line(['\n', mono]),
			line(['  b();', { ...mono, italic: true }], ['\uec02\n', mono]),
			line(['after\n']),
		]);
		expect(text).toBe('before\n\n**`const`**` a = 1;`\n\n*`  b();`*\n\nafter');
	});

	const bold = { bold: true };
	const both = { bold: true, italic: true };
	const linked = { ...bold, link: { url: 'https://a.example/' } };
	const inBold = (text: string): Run => [text, bold];
	const twoKinds: Run[] = [inBold('a '), ['b', both], inBold(' c')];
	const withLink: Run[] = [inBold('a'), [' b ', linked], inBold('c')];
	const withCode: Run[] = [inBold('a '), ['b', { ...mono, ...bold }]];
	test.each<[string, Run[], string]>([
		['spaces at the ends of bold text', [['a'], [' b ', bold], ['c']], 'a **b** c'],
		['spaces between two kinds of bold text', twoKinds, '**a *b* c**'],
		['a bold space alone', [['a'], [' ', bold], ['b']], 'a b'],
		['spaces of a link', withLink, '**a [b](https://a.example/) c**'],
		['spaces at the ends of code', [['a'], [' b\v ', mono], ['c']], 'a`  b   `c'],
		['a break in bold text', [['a\vb', bold], ['\v\n']], '**a\\\nb**'],
		['code in bold text', withCode, '**a `b`**'],
	])('%s', (_what, runs, expected) => {
		expect(markdownOf([line(...runs)])).toBe(expected);
	});

	test('pictures and footnotes between spaces and marks', () => {
		const footnoteReference = { footnoteId: 'f', footnoteNumber: '1' };
		const marked = [styled('a ', bold), pictureAt('p'), { footnoteReference }];
		const tab = tabOf([paragraph([...marked, styled(' b', bold)])], {
			inlineObjects: {
				p: picture({ title: 'T', imageProperties: { contentUri: 'https://a.example/c' } }),
			},
			footnotes: { f: { content: [line(['note\n'])] } },
		});
		const shown = '**a** ![T](https://a.example/c)[^1] **b**\n\n[^1]: note';
		expect(documentTabsToMarkdown([tab, tab])).toBe(`${shown}\n\n${shown}`);
	});

	test('one such line alone stays inline', () => {
		const text = markdownOf([line(['a\n']), line(['npm test\n', mono]), line(['b\n'])]);
		expect(text).toBe('a\n\n`npm test`\n\nb');
	});
});

describe('what is indented after an item', () => {
	const quote = { borderLeft: { width: { magnitude: 1, unit: 'PT' } } };
	const indented = (text: string, magnitude: number, style: object = {}) =>
		paragraph(text, { paragraphStyle: { indentStart: { magnitude }, ...style } });

	test.each([
		['a point less than a level', 35, {}, '- a\n\n  b'],
		['far more than a level', 200, {}, '- a\n\n  b'],
		['too little', 34.9, {}, '- a\n\nb'],
		['a quote', 53, quote, '- a\n  > b'],
		['a quote beside it', 52.9, quote, '- a\n\n> b'],
		['a quote on the left', 0, quote, '- a\n\n> b'],
	])('%s', (_what, points, style, expected) => {
		expect(markdownOf([item('a'), indented('b', points, style)])).toBe(expected);
	});

	test('ends with what is not', () => {
		const content = [item('a'), indented('b', 0), indented('c', 36)];
		expect(markdownOf(content)).toBe('- a\n\nb\n\nc');
	});
});

test('lists deeper than those of Docs stay on its deepest level', () => {
	const markdown = Array.from({ length: 11 }, (_, depth) => `${'  '.repeat(depth)}- x`).join(
		'\n',
	);
	const levels = markdownToBlocks(markdown).blocks.map(
		(block) => block.kind === 'paragraph' && block.list?.level,
	);
	expect(levels).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]);
});

describe('the numbers of a list', () => {
	const lists = { l: numberedList, m: numberedList };
	const x = item('x', 'l');

	test('that goes on in a table are those of its plain text', () => {
		const content = [x, table([[[x]]]), x];
		expect(plainTextOf(content, { lists })).toBe('1. x\n2. x\n3. x');
		expect(markdownOf(content, { lists })).toBe('1. x\n2. x\n3. x');
	});

	test('that goes on below a heading stay when it is written back', () => {
		const markdown = markdownOf([x, heading('b'), x], { lists });
		expect(markdown).toBe('1. x\n\n# b\n\n2. x');
		expect(throughDocument(markdown)).toBe('1. x\n\n# b\n\n2\\. x');
	});

	test('begin anew in another list', () => {
		const content = [x, x, item('c', 'm')];
		expect(plainTextOf(content, { lists })).toBe('1. x\n2. x\n1. c');
		expect(markdownOf(content, { lists })).toBe('1. x\n2. x\n\n1) c');
	});
});

describe('a picture', () => {
	const imageUrl = 'https://a.example/p';
	const link = 'http://a.example/p';

	test.each([
		[`![a](${imageUrl})`, { text: 'a', marks: { link: imageUrl }, imageUrl }],
		[`![](${link})`, { text: link, marks: { link } }],
		['![a](p.png)', { text: 'a', marks: {} }],
	])('is fetched from a public address only; any other is a link, or its text: %s', (...row) => {
		const [markdown, span] = row;
		const [block] = markdownToBlocks(markdown).blocks;
		expect(block).toMatchObject({ kind: 'paragraph' });
		expect(block?.kind === 'paragraph' && block.spans[0]).toEqual(span);
	});

	test('in a link is not fetched, and keeps the link when it is read', () => {
		const url = 'https://a.example/buy';
		const markdown = `[![a](${imageUrl})](${url})`;
		expect(markdownToBlocks(markdown).hasImages).toBe(false);
		const textStyle = { link: { url } };
		const content = [paragraph({ inlineObjectElement: { inlineObjectId: 'p', textStyle } })];
		const imageProperties = { sourceUri: imageUrl };
		const inlineObjects = { p: picture({ title: 'a', imageProperties }) };
		expect(markdownOf(content, { inlineObjects })).toBe(markdown);
	});
});

describe('a document in which Google leaves fields out', () => {
	const reference = (footnoteId?: string, footnoteNumber?: string) =>
		paragraph({ footnoteReference: { footnoteId, footnoteNumber } });

	test('footnotes come in the order of their references, wherever these are', () => {
		const contents = { tableOfContents: { content: [reference('b', '1')] } };
		const row = { tableCells: [{}, { content: [reference('a', '2')] }] };
		const rows = { table: { tableRows: [{}, row] } };
		const content = [contents, rows, reference('gone'), reference(undefined, '4')];
		const footnotes = { lost: { content: [] }, a: { content: [reference()] }, b: {} };
		expect(getFootnotes(tabOf(content, { footnotes }))).toEqual([
			{ number: '1', content: [] },
			{ number: '2', content: [reference()] },
		]);
		expect(getFootnotes({})).toEqual([]);
	});

	const read = (...runs: docs_v1.Schema$ParagraphElement[]) =>
		markdownOf([{ paragraph: { elements: runs } }]);

	test('what has no text of its own is left out', () => {
		const withoutText = [
			...[{ textRun: {} }, { person: {} }, { richLink: {} }, { dateElement: {} }],
			...[{ inlineObjectElement: {} }, pictureAt('gone')],
			...[{ pageBreak: {} }, { footnoteReference: {} }, { textRun: { content: '\n' } }],
		];
		expect(read(...withoutText)).toBe('\\[]');
		expect(read({ horizontalRule: {} })).toBe('---');
		expect(read()).toBe('');
	});

	test.each([
		[{ person: { personProperties: { email: 'a@b.example' } } }, '<a@b.example>'],
		[{ person: { personProperties: { name: 'Ann' } } }, 'Ann'],
		[{ richLink: { richLinkProperties: { uri: 'https://a.example' } } }, '<https://a.example>'],
		[{ dateElement: { dateElementProperties: { timestamp: '2026-01-01' } } }, '2026-01-01'],
	])('people, links and dates are shown by what there is: %j', (element, shown) => {
		expect(read(element)).toBe(shown);
	});

	test('a picture without a description is shown by its title', () => {
		const image = { title: 'T', imageProperties: { contentUri: 'https://a.example/c' } };
		const inlineObjects = { p: picture(image) };
		const shown = markdownOf([paragraph(pictureAt('p'))], { inlineObjects });
		expect(shown).toBe('![T](https://a.example/c)');
	});
});
