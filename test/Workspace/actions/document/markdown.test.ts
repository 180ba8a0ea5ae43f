import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { markdownToBlocks } from '../../../../nodes/untrusted/markdown/markdownToBlocks';
import { getFootnotes } from '../../../../nodes/untrusted/document/elements';
import { documentTabsToText } from '../../../../nodes/untrusted/document/documentTabsToText';
import { documentTabsToMarkdown } from '../../../../nodes/untrusted/markdown/documentTabsToMarkdown';
import { planIn } from './planIn';
import { fresh, get, service, update } from '../../../google/docsCalls';

function throughDocument(markdown: string): string {
	const id = fresh();
	const plan = planIn(markdownToBlocks(markdown));
	update(id, [...plan.requests]);
	expect(service.text(id)).toBe(`${plan.text}\n`);
	const document = get(id);
	expect(document.body?.content?.at(-1)?.endIndex).toBe(2 + plan.growth);
	return documentTabsToMarkdown([document]);
}

test.each([
	['the address of a picture', '![](http://a.example/&#xE000;x) **b**'],
	['an address that is no link', '![](x&#xE000;y) **b**'],
	['the name of a footnote', 'a[^x&#xE000;] **b**\n\n[^x&#xE000;]: c'],
	['a code', '`a\ue000b` **b**'],
])('a character that Google removes moves nothing in %s', (_, markdown) => {
	expect(throughDocument(markdown)).toContain('**b**');
});

test.each([
	['paragraphs', 'one\n\ntwo'],
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
	['bullets', '- a\n- b\n- c'],
	['an empty last item', '- a\n-'],
	['an empty item before a text', '- a\n-\n\ntext'],
	['empty code in an item', '- a\n  ```\n  ```\n- b'],
	['numbers', '1. a\n2. b\n3. c'],
	['nested bullets', '- a\n  - b\n    - c\n- d'],
	['bullets in numbers', '1. a\n   - x\n   - y\n2. b\n   - z\n3. c'],
	['numbers in bullets', '- a\n  1. x\n  2. y\n- b'],
	['symbols beyond U+FFFF', '*\u{1e2ff}* a **\u{1f600}** *\u{10400}* ~~\u{1e2ff}~~'],
	['two lists of numbers', '1. a\n\ntext\n\n1. b'],
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
	['marks in tasks', '- [ ] a **b** c\n- [ ] **x** y'],
	['list then text', '- a\n- b\n\ntext\n\n1. c\n2. d'],
	['quotes', '> one\n>\n> two\n\nout'],
	['quoted list', '> - a\n> - b'],
	['rule', 'a\n\n---\n\nb'],
	['rule at the end', 'a\n\n---'],
	['table', '| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |'],
	['table between', 'before\n\n| a | b |\n| - | - |\n| **1** | `2` |\n\nafter'],
	['two tables', '| a |\n| - |\n| 1 |\n\n| b |\n| - |\n| 2 |'],
	['empty cells', '| a | b |\n| - | - |\n| | |'],
	['breaks in cells', '| a |\n| - |\n| x<br>y |'],
	['pairs', '# 😀\n\n- 👍🏽 **😀**\n\n| 😀 | b |\n| - | - |\n| x | 😀 |'],
])('%s', (_, markdown) => {
	expect(throughDocument(markdown)).toBe(markdown);
});

const indentedByTwo = '1. A\n   - b\n   - c\n2. D\n3. E';
const smallTable = '| x |\n| - |\n| y |';

test.each([
	['a comment', 'a\n\n<!-- hidden\n\nlines -->\n\nb <!-- too --> c', 'a\n\nb  c'],
	['a comment that does not end', 'a\n\n<!-- open', 'a\n\n\\<!-- open'],
	['a description of two lines', 'a ![two\nlines](p) b', 'a two lines b'],
	['a tag of two lines', 'a <b\nid="x"> c', 'a \\<b id="x"> c'],
	['an anchor', '- [Install](#install)', '- Install'],
	['a list that models indent by two', '1. A\n  - b\n  - c\n1. D\n\n2. E', indentedByTwo],
	['such lists between blank lines', '1. A\n\n  - b\n\n2. C\n\n- d', '1. A\n   - b\n2. C\n\n- d'],
	['tags of HTML', 'a <b>b *c*</b>', 'a \\<b>b *c*\\</b>'],
	['numbers that Docs cannot show', '5. a\n6. b', '5\\. a\n\n6\\. b'],
	['dates', '24. May\n   - a\n31. May\n\n   b', '24\\. May\n\n- a\n\n31\\. May\n\nb'],
	['dates in items', '- 24. May\n- a\n\n  31) May', '- 24\\. May\n- a\n\n  31\\) May'],
	['tasks from another number on', '- [ ] a\n\n  2. [x] b', '- [ ] a\n\n  2\\. ☑ b'],
	[
		'steps with a table in one',
		`1. a\n\n   ${smallTable.replaceAll('\n', '\n   ')}\n1. b\n1. c`,
		`1. a\n\n${smallTable}\n\n1. b\n2. c`,
	],
	[
		'steps with a table between',
		`1. a\n\n${smallTable}\n\n2. b`,
		`1. a\n\n${smallTable}\n\n2\\. b`,
	],
	[
		'steps with text between',
		'1. a\n\nt\n\n- x\n\n2. b\n3. c',
		'1. a\n\n   t\n   - x\n2. b\n3. c',
	],
	['steps with a heading between', '1. a\n\n# One\n\n2. b', '1. a\n\n# One\n\n2\\. b'],
	['quoted steps', '> 1. a\n>\n> text\n>\n> 2. b', '> 1. a\n>\n>    text\n> 2. b'],
	['tasks beside other items', '- [ ] open\n- [x] done\n- none', '- ☐ open\n- ☑ done\n- none'],
	['numbered tasks', '1. [ ] open\n2. [x] done', '1. ☐ open\n2. ☑ done'],
	[
		'a tab at the start of code',
		'- a\n  ```\n  \tif (x)\n  ```',
		'- a\n  ```\n      if (x)\n  ```',
	],
	['a quote in a quote', '> one\n>\n> > two', '> one\n>\n> two'],
])('%s', (_, markdown, shown) => {
	expect(throughDocument(markdown)).toBe(shown);
});

test.each<[string, string, string[]]>([
	['a link to a heading', '[Install](#install)', ['links without a full URL']],
	['a tag', 'a <u>b</u>', ['HTML tags']],
	['a block of HTML', '<div>\nb\n</div>', ['HTML tags']],
	['a ticked task', '- [x] a', ['ticked boxes']],
	[
		'a table in a step',
		`1. a\n\n   ${smallTable.replaceAll('\n', '\n   ')}`,
		['numbers of a list after a table'],
	],
	['a line break', 'a<br>b <!-- c -->\n\n- [ ] d\n\n[e](https://e.example)', []],
])('%s is named in a hint unless it arrives', (_, markdown, kinds) => {
	expect(markdownToBlocks(markdown).simplified).toEqual(kinds);
});

test('a checklist is one of Docs, whose boxes only people can tick', () => {
	const id = fresh();
	update(id, [...planIn(markdownToBlocks('- [ ] open\n- [x] done')).requests]);
	const document = get(id);
	expect(service.text(id)).toBe('open\ndone\n');
	const lists = Object.values(document.lists ?? {});
	expect(lists).toHaveLength(1);
	const levels = lists[0]?.listProperties?.nestingLevels ?? [];
	expect(levels.map(({ glyphType }) => glyphType)).toContain('GLYPH_TYPE_UNSPECIFIED');
	expect(documentTabsToText([document])).toBe('☐ open\n☑ done');
});

test('an equation is named, and struck text in part ticks no box', () => {
	const bullet = { listId: 'l' };
	const strikethrough = { strikethrough: true };
	const paragraph = (elements: docs_v1.Schema$ParagraphElement[]) => ({
		paragraph: { elements, bullet },
	});
	const struck = (content: string) => ({ textRun: { content, textStyle: strikethrough } });
	const nestingLevels = [{ glyphType: 'GLYPH_TYPE_UNSPECIFIED' }];
	const inPart = paragraph([{ textRun: { content: 'a' } }, struck('b\n')]);
	const content = [inPart, paragraph([{ equation: {} }, struck('\n')])];
	const tab = { lists: { l: { listProperties: { nestingLevels } } }, body: { content } };
	expect(documentTabsToText([tab])).toBe('☐ ab\n☐ [equation]');
	expect(documentTabsToMarkdown([tab])).toBe('- [ ] a~~b~~\n- [ ] \\[equation]');
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
		type Ranged = { range?: docs_v1.Schema$Range; fields?: string };
		const ranges: string[] = [];
		for (const request of requests)
			for (const [kind, { range, fields }] of Object.entries(
				request as Record<string, Ranged>,
			))
				if (range && fields !== 'spaceBelow,spacingMode')
					ranges.push(`${kind} ${range.startIndex}-${range.endIndex}`);
		expect(ranges).toEqual(expected);
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

test('code in a table of one cell keeps its lines', () => {
	const mono = { weightedFontFamily: { fontFamily: 'Roboto Mono', weight: 400 } };
	const lines = ['if (a) {', '  b();', '}'].map((text) => ({
		paragraph: { elements: [{ textRun: { content: `${text}\n`, textStyle: mono } }] },
	}));
	const tab = {
		body: { content: [{ table: { tableRows: [{ tableCells: [{ content: lines }] }] } }] },
	};
	expect(documentTabsToMarkdown([tab])).toBe('`if (a) {`\n\n`  b();`\n\n`}`');
	expect(documentTabsToText([tab])).toBe('if (a) {\n  b();\n}');
});

describe('text that was written in Google Docs', () => {
	type Run = readonly [text: string, style?: object];
	const mono = { weightedFontFamily: { fontFamily: 'Roboto Mono', weight: 400 } };
	const styled = (paragraphStyle: object, ...runs: Run[]) => ({
		paragraph: {
			elements: runs.map(([content, textStyle]) => ({ textRun: { content, textStyle } })),
			paragraphStyle: { namedStyleType: 'NORMAL_TEXT', ...paragraphStyle },
		},
	});
	const line = (...runs: Run[]) => styled({}, ...runs);
	const read = (...content: object[]) => documentTabsToMarkdown([{ body: { content } }]);

	test('a code block is a line of code for each of its lines', () => {
		const text = read(
			line(['before\n']),
			styled({}, ['\uec03', mono], ['const', { ...mono, bold: true }], [' a = 1;\n', mono]),
			line(['\n', mono]),
			line(['  b();', { ...mono, italic: true }], ['\uec02\n', mono]),
			line(['after\n']),
		);
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
		expect(read(line(...runs))).toBe(expected);
	});

	test('pictures and footnotes between spaces and marks', () => {
		const imageProperties = { contentUri: 'https://a.example/c' };
		const embeddedObject = { title: 'T', imageProperties };
		const elements = [
			{ textRun: { content: 'a ', textStyle: bold } },
			{ inlineObjectElement: { inlineObjectId: 'p' } },
			{ footnoteReference: { footnoteId: 'f', footnoteNumber: '1' } },
			{ textRun: { content: ' b', textStyle: bold } },
		];
		const tab = {
			inlineObjects: { p: { inlineObjectProperties: { embeddedObject } } },
			footnotes: { f: { content: [line(['note\n'])] } },
			body: { content: [{ paragraph: { elements } }] },
		};
		const shown = '**a** ![T](https://a.example/c)[^1] **b**\n\n[^1]: note';
		expect(documentTabsToMarkdown([tab, tab])).toBe(`${shown}\n\n${shown}`);
	});

	test('one such line alone stays inline', () => {
		const text = read(line(['a\n']), line(['npm test\n', mono]), line(['b\n']));
		expect(text).toBe('a\n\n`npm test`\n\nb');
	});
});

describe('what is indented after an item', () => {
	const quote = { borderLeft: { width: { magnitude: 1, unit: 'PT' } } };
	const readAfterItem = (magnitude: number, style: object, ...more: object[]) => {
		const block = (content: string, paragraph: object) => ({
			paragraph: { elements: [{ textRun: { content } }], ...paragraph },
		});
		const item = block('a', { bullet: { listId: 'l' } });
		const indented = block('b', { paragraphStyle: { indentStart: { magnitude }, ...style } });
		return documentTabsToMarkdown([
			{ body: { content: [item, indented, ...more.map((one) => block('c', one))] } },
		]);
	};

	test.each([
		['a point less than a level', 35, {}, '- a\n\n  b'],
		['far more than a level', 200, {}, '- a\n\n  b'],
		['too little', 34.9, {}, '- a\n\nb'],
		['a quote', 53, quote, '- a\n  > b'],
		['a quote beside it', 52.9, quote, '- a\n\n> b'],
		['a quote on the left', 0, quote, '- a\n\n> b'],
	])('%s', (_what, points, style, expected) => {
		expect(readAfterItem(points, style)).toBe(expected);
	});

	test('ends with what is not', () => {
		const indented = { paragraphStyle: { indentStart: { magnitude: 36 } } };
		expect(readAfterItem(0, {}, indented)).toBe('- a\n\nb\n\nc');
	});
});

test('an address that Google Docs cannot open stays readable', () => {
	expect(throughDocument('see [the plan](../plan.md#now) and [x](x)')).toBe(
		'see the plan (../plan.md#now) and x',
	);
	expect(throughDocument('[a][1]\n\n[1]: /docs/a')).toBe('a (/docs/a)');
});

test('what comes out in another form is told', () => {
	expect(
		markdownToBlocks('![a](https://a.example/a.png) b[^1] [c](d)\n\n[^1]: e').simplified,
	).toEqual(['footnotes', 'links without a full URL']);
	expect(markdownToBlocks('# a [b](https://b.example)').simplified).toEqual([]);
	expect(markdownToBlocks('![a][p] [b][q]\n\n[p]: p.png\n[q]: /q').simplified).toEqual([
		'images without a public https address',
		'links without a full URL',
	]);
	expect(markdownToBlocks('a\n\n[q]: /q').simplified).toEqual([]);
});

test('lists deeper than those of Docs stay on its deepest level', () => {
	const item = (depth: number) => `${'  '.repeat(depth)}- ${depth}`;
	const markdown = Array.from({ length: 11 }, (_, depth) => item(depth)).join('\n');
	const levels = markdownToBlocks(markdown).blocks.map(
		(block) => block.kind === 'paragraph' && block.list?.level,
	);
	expect(levels).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]);
});

test('the numbers of a list that goes on in a table are those of its plain text', () => {
	const item = {
		paragraph: { elements: [{ textRun: { content: 'x\n' } }], bullet: { listId: 'l' } },
	};
	const table = { table: { tableRows: [{ tableCells: [{ content: [item] }] }] } };
	const nestingLevels = [{ glyphType: 'DECIMAL', glyphFormat: '%0.' }];
	const lists = { l: { listProperties: { nestingLevels } } };
	const tab = { body: { content: [item, table, item] }, lists };
	expect(documentTabsToText([tab])).toBe('1. x\n2. x\n3. x');
	expect(documentTabsToMarkdown([tab])).toBe('1. x\n2. x\n3. x');
});

test('the numbers of a list that goes on below a heading stay when it is written back', () => {
	const line = (content: string, more: docs_v1.Schema$Paragraph) => ({
		paragraph: { elements: [{ textRun: { content } }], ...more },
	});
	const item = { bullet: { listId: 'l' } };
	const heading = { paragraphStyle: { namedStyleType: 'HEADING_1' } };
	const nestingLevels = [{ glyphType: 'DECIMAL', glyphFormat: '%0.' }];
	const lists = { l: { listProperties: { nestingLevels } } };
	const content = [line('a\n', item), line('b\n', heading), line('c\n', item)];
	const markdown = documentTabsToMarkdown([{ lists, body: { content } }]);
	expect(markdown).toBe('1. a\n\n# b\n\n2. c');
	expect(throughDocument(markdown)).toBe('1. a\n\n# b\n\n2\\. c');
});

test('a list whose numbers begin anew is another list', () => {
	const item = (content: string, listId: string) => ({
		paragraph: { elements: [{ textRun: { content } }], bullet: { listId } },
	});
	const list = {
		listProperties: { nestingLevels: [{ glyphType: 'DECIMAL', glyphFormat: '%0.' }] },
	};
	const content = [item('a\n', 'l'), item('b\n', 'l'), item('c\n', 'm')];
	const tab = { body: { content }, lists: { l: list, m: list } };
	expect(documentTabsToText([tab])).toBe('1. a\n2. b\n1. c');
	expect(documentTabsToMarkdown([tab])).toBe('1. a\n2. b\n\n1) c');
});

test('a picture is fetched from a public address only; any other is a link, or its text', () => {
	const spanOf = (markdown: string) => {
		const [block] = markdownToBlocks(markdown).blocks;
		return block?.kind === 'paragraph' && block.spans[0];
	};
	const imageUrl = 'https://a.example/p';
	const picture = { text: 'a', marks: { link: imageUrl }, imageUrl };
	expect(spanOf(`![a](${imageUrl})`)).toEqual(picture);
	const link = 'http://a.example/p';
	expect(spanOf(`![](${link})`)).toEqual({ text: link, marks: { link } });
	expect(spanOf('![a](p.png)')).toEqual({ text: 'a', marks: {} });
});

test('a picture in a link is that link, and keeps it when it is read', () => {
	const url = 'https://a.example/buy';
	const markdown = `[![a](https://a.example/p)](${url})`;
	expect(throughDocument(markdown)).toBe(`[a](${url})`);
	expect(markdownToBlocks(markdown).hasImages).toBe(false);
	const textStyle = { link: { url } };
	const imageProperties = { sourceUri: 'https://a.example/p' };
	const embeddedObject = { title: 'a', imageProperties };
	const elements = [{ inlineObjectElement: { inlineObjectId: 'p', textStyle } }];
	const body = { content: [{ paragraph: { elements } }] };
	const inlineObjects = { p: { inlineObjectProperties: { embeddedObject } } };
	expect(documentTabsToMarkdown([{ inlineObjects, body }])).toBe(markdown);
});

test('a row of a table that has too many cells makes it wider', () => {
	const shown = throughDocument('| a |\n| - |\n| 1 | 2 |\n| 3 |');
	expect(shown).toBe('| a | |\n| - | - |\n| 1 | 2 |\n| 3 | |');
});

test('a row of a table that has too few cells is filled', () => {
	const [table] = markdownToBlocks('| a | b |\n| - | :-: |\n| 1 |').blocks;
	const header = [[{ text: 'a' }], [{ text: 'b' }]];
	expect(table).toMatchObject({ kind: 'table', rows: [header, [[{ text: '1' }], []]] });
});

describe('a document in which Google leaves fields out', () => {
	const reference = (footnoteId?: string, footnoteNumber?: string) => ({
		paragraph: { elements: [{ footnoteReference: { footnoteId, footnoteNumber } }] },
	});

	test('footnotes come in the order of their references, wherever these are', () => {
		const contents = { tableOfContents: { content: [reference('b', '1')] } };
		const row = { tableCells: [{}, { content: [reference('a', '2')] }] };
		const table = { table: { tableRows: [{}, row] } };
		const content = [contents, table, reference('gone'), reference(undefined, '4')];
		const footnotes = { lost: { content: [] }, a: { content: [reference()] }, b: {} };
		const tab = { footnotes, body: { content } };
		expect(getFootnotes(tab)).toEqual([
			{ number: '1', content: [] },
			{ number: '2', content: [reference()] },
		]);
		expect(getFootnotes({})).toEqual([]);
	});

	const read = (
		elements: docs_v1.Schema$ParagraphElement[],
		tab: docs_v1.Schema$DocumentTab = {},
	) => documentTabsToMarkdown([{ ...tab, body: { content: [{ paragraph: { elements } }] } }]);

	test('what has no text of its own is left out', () => {
		const elements = [
			...[{ textRun: {} }, { person: {} }, { richLink: {} }, { dateElement: {} }],
			...[{ inlineObjectElement: {} }, { inlineObjectElement: { inlineObjectId: 'gone' } }],
			...[{ pageBreak: {} }, { footnoteReference: {} }, { textRun: { content: '\n' } }],
		];
		expect(read(elements)).toBe('\\[]');
		expect(read([{ horizontalRule: {} }])).toBe('---');
		expect(read([])).toBe('');
	});

	test.each([
		[{ person: { personProperties: { email: 'a@b.example' } } }, '<a@b.example>'],
		[{ person: { personProperties: { name: 'Ann' } } }, 'Ann'],
		[{ richLink: { richLinkProperties: { uri: 'https://a.example' } } }, '<https://a.example>'],
		[{ dateElement: { dateElementProperties: { timestamp: '2026-01-01' } } }, '2026-01-01'],
	])('people, links and dates are shown by what there is: %j', (element, shown) => {
		expect(read([element])).toBe(shown);
	});

	test('a picture without a description is shown by its title', () => {
		const imageProperties = { contentUri: 'https://a.example/c' };
		const embeddedObject = { title: 'T', imageProperties };
		const tab = { inlineObjects: { p: { inlineObjectProperties: { embeddedObject } } } };
		const elements = [{ inlineObjectElement: { inlineObjectId: 'p' } }];
		expect(read(elements, tab)).toBe('![T](https://a.example/c)');
	});
});
