import fc from 'fast-check';
import type { BlockContent, List, PhrasingContent, Root, RootContent, Table } from 'mdast';

const word = fc.oneof(
	fc.stringMatching(/^[A-Za-z0-9]{1,8}$/),
	fc.constantFrom(
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
		'a&amp;b',
		'-',
		'~~',
	),
);
const words = fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' '));
const text = words.map((value): PhrasingContent => ({ type: 'text', value }));
const letters = fc
	.stringMatching(/^[A-Za-z0-9]{1,8}$/)
	.map((value): PhrasingContent => ({ type: 'text', value }));

const space: PhrasingContent = { type: 'text', value: ' ' };
const phrase: fc.Arbitrary<PhrasingContent> = fc.oneof(
	{ weight: 4, arbitrary: text },
	letters.map((child): PhrasingContent => ({ type: 'strong', children: [child] })),
	letters.map((child): PhrasingContent => ({ type: 'emphasis', children: [child] })),
	letters.map((child): PhrasingContent => ({ type: 'delete', children: [child] })),
	fc.tuple(letters, letters).map(([a, b]): PhrasingContent => ({
		type: 'strong',
		children: [a, space, { type: 'emphasis', children: [b] }],
	})),
	fc
		.stringMatching(/^[a-z`*_]{1,6}$/)
		.map((value): PhrasingContent => ({ type: 'inlineCode', value })),
	letters.map((child): PhrasingContent => ({
		type: 'link',
		url: 'https://example.com/?a=1&b=(2)',
		children: [child],
	})),
);
const phrasing = fc
	.array(phrase, { minLength: 1, maxLength: 4 })
	.map((nodes) => nodes.flatMap((node, at) => (at > 0 ? [space, node] : [node])));

const paragraph = phrasing.map((children): BlockContent => ({ type: 'paragraph', children }));
const heading = fc
	.tuple(fc.constantFrom(1, 2, 3, 4, 5, 6), phrasing)
	.map(([depth, children]): BlockContent => ({ type: 'heading', depth, children }));
const code = fc
	.array(fc.constantFrom('x = 1;', '\tindented', '', '😀', '```'), { minLength: 1, maxLength: 4 })
	.map((lines): BlockContent => ({ type: 'code', value: lines.join('\n') }));
const rule = fc.constant<BlockContent>({ type: 'thematicBreak' });
const table = fc
	.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 2, max: 4 }))
	.chain(([columns, rows]) =>
		fc.tuple(
			fc.array(fc.constantFrom(null, 'center' as const, 'right' as const), {
				minLength: columns,
				maxLength: columns,
			}),
			fc.array(
				fc.array(fc.option(phrasing, { nil: [] }), {
					minLength: columns,
					maxLength: columns,
				}),
				{ minLength: rows, maxLength: rows },
			),
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

function listUpTo(depth: number): fc.Arbitrary<List> {
	const inner: fc.Arbitrary<BlockContent[]> =
		depth === 0
			? fc.constant<BlockContent[]>([])
			: fc.oneof(
					{ weight: 3, arbitrary: fc.constant<BlockContent[]>([]) },
					{
						weight: 2,
						arbitrary: listUpTo(depth - 1).map((list): BlockContent[] => [list]),
					},
					{ weight: 1, arbitrary: fc.oneof(paragraph, code).map((block) => [block]) },
					{
						weight: 1,
						arbitrary: fc
							.tuple(code, listUpTo(depth - 1))
							.map((blocks): BlockContent[] => blocks),
					},
				);
	const item = fc.tuple(paragraph, inner).map(([first, others]) => ({
		type: 'listItem' as const,
		spread: false,
		children: [first, ...others],
	}));
	return fc
		.tuple(fc.boolean(), fc.array(item, { minLength: 1, maxLength: 4 }))
		.map(([ordered, children]) => ({
			type: 'list',
			ordered,
			spread: false,
			...(ordered && { start: 1 }),
			children,
		}));
}

const quote = fc
	.array(fc.oneof(paragraph, heading), { minLength: 1, maxLength: 3 })
	.map((children): BlockContent => ({ type: 'blockquote', children }));

const block: fc.Arbitrary<RootContent> = fc.oneof(
	{ weight: 3, arbitrary: paragraph },
	{ weight: 2, arbitrary: heading },
	{ weight: 2, arbitrary: listUpTo(2) },
	{ weight: 2, arbitrary: table },
	code,
	rule,
	quote,
);
/** Documents of the part of Markdown that Google Docs can hold. */
export const markdownTrees = fc
	.array(block, { minLength: 1, maxLength: 7 })
	// Two lists or quotes one after the other are one in a document.
	.map((blocks) =>
		blocks.filter((one, at) => one.type === 'table' || one.type !== blocks[at - 1]?.type),
	)
	.map((children): Root => ({ type: 'root', children }));
