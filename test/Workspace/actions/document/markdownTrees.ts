import fc from 'fast-check';
import type { BlockContent, List, PhrasingContent, Root, RootContent, Table } from 'mdast';

/** What Markdown takes for its own, and letters that are none of ASCII. */
const symbols = [
	'😀',
	'Ünï',
	'*',
	'_x_',
	'# no',
	'1.',
	'a|b',
	'<b>',
	'[x]',
	'\\',
	'`',
	'日本',
	'!',
];
const letters = fc.stringMatching(/^[A-Za-z0-9]{1,8}$/);
const word = fc.oneof(letters, fc.constantFrom(...symbols, 'a&amp;b', '-', '~~'));

const textOf = (value: string): PhrasingContent => ({ type: 'text', value });
const some = <T>(part: fc.Arbitrary<T>, maxLength = 4) =>
	fc.array(part, { minLength: 1, maxLength });
const text = some(word).map((parts) => textOf(parts.join(' ')));
const plain = letters.map(textOf);
const space = textOf(' ');

const marked = (type: 'strong' | 'emphasis' | 'delete') =>
	plain.map((child): PhrasingContent => ({ type, children: [child] }));
const emphasisInStrong = fc
	.tuple(plain, marked('emphasis'))
	.map(([first, second]): PhrasingContent => ({
		type: 'strong',
		children: [first, space, second],
	}));
const inlineCode = fc
	.stringMatching(/^[a-z`*_]{1,6}$/)
	.map((value): PhrasingContent => ({ type: 'inlineCode', value }));
const url = 'https://example.com/?a=1&b=(2)';
const link = plain.map((child): PhrasingContent => ({ type: 'link', url, children: [child] }));
const phrase = fc.oneof(
	{ weight: 4, arbitrary: text },
	...[marked('strong'), marked('emphasis'), marked('delete')],
	...[emphasisInStrong, inlineCode, link],
);
const phrasing = some(phrase).map((nodes) =>
	nodes.flatMap((node, at) => (at > 0 ? [space, node] : [node])),
);

const paragraph = phrasing.map((children): BlockContent => ({ type: 'paragraph', children }));
const heading = fc
	.tuple(fc.constantFrom(1, 2, 3, 4, 5, 6), phrasing)
	.map(([depth, children]): BlockContent => ({ type: 'heading', depth, children }));
const code = some(fc.constantFrom('x = 1;', '\tindented', '', '😀', '```')).map(
	(lines): BlockContent => ({ type: 'code', value: lines.join('\n') }),
);
const rule = fc.constant<BlockContent>({ type: 'thematicBreak' });
const quote = some(fc.oneof(paragraph, heading), 3).map((children): BlockContent => ({
	type: 'blockquote',
	children,
}));

const alignment = fc.constantFrom(null, 'center' as const, 'right' as const);
const cell = fc.option(phrasing, { nil: [] });
const exactly = (length: number) => ({ minLength: length, maxLength: length });
const table = fc
	.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 2, max: 4 }))
	.chain(([columns, rows]) =>
		fc.tuple(
			fc.array(alignment, exactly(columns)),
			fc.array(fc.array(cell, exactly(columns)), exactly(rows)),
		),
	)
	.map(([align, rows]): Table => ({
		type: 'table',
		align,
		children: rows.map((row) => ({
			type: 'tableRow',
			children: row.map((children) => ({ type: 'tableCell', children })),
		})),
	}));

/** What an item has below its first paragraph. */
function innerBlocks(depth: number): fc.Arbitrary<BlockContent[]> {
	const nothing = fc.constant<BlockContent[]>([]);
	if (depth === 0) return nothing;
	const list = listUpTo(depth - 1);
	return fc.oneof(
		{ weight: 3, arbitrary: nothing },
		{ weight: 2, arbitrary: list.map((one): BlockContent[] => [one]) },
		{ weight: 1, arbitrary: fc.oneof(paragraph, code).map((block) => [block]) },
		{ weight: 1, arbitrary: fc.tuple(code, list).map((blocks): BlockContent[] => blocks) },
	);
}

function listUpTo(depth: number): fc.Arbitrary<List> {
	const item = fc.tuple(paragraph, innerBlocks(depth)).map(([first, others]) => ({
		type: 'listItem' as const,
		spread: false,
		children: [first, ...others],
	}));
	return fc.tuple(fc.boolean(), some(item)).map(([ordered, children]) => ({
		type: 'list',
		ordered,
		spread: false,
		...(ordered && { start: 1 }),
		children,
	}));
}

const block: fc.Arbitrary<RootContent> = fc.oneof(
	{ weight: 3, arbitrary: paragraph },
	{ weight: 2, arbitrary: heading },
	{ weight: 2, arbitrary: listUpTo(2) },
	{ weight: 2, arbitrary: table },
	...[code, rule, quote],
);
/** Documents of the part of Markdown that Google Docs can hold. */
export const markdownTrees = some(block, 7)
	// Two lists or quotes one after the other are one in a document.
	.map((blocks) =>
		blocks.filter((one, at) => one.type === 'table' || one.type !== blocks[at - 1]?.type),
	)
	.map((children): Root => ({ type: 'root', children }));
