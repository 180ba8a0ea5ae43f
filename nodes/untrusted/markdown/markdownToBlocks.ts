import type * as mdast from 'mdast';

import { buildParagraph, cleanText, joinSpans } from '../document/blocks';
import type {
	Block,
	DocumentContent,
	ItemPlace,
	ListKind,
	ParagraphBlock,
	Span,
	TextMarks,
} from '../document/blocks';
import { joinLists } from './joinedLists';
import { brTagPattern, parseMarkdown } from './parseMarkdown';

/**
 * Protocols that work in a link of a document. Any other address is written in parentheses after
 * the text of its link.
 */
const linkablePattern = /^(?:https?|ftp|mailto|tel):/i;
/** Google fetches images itself, so they need a public https address. */
const fetchablePattern = /^https:/i;
const commentPattern = /<!--[\s\S]*?-->/g;
/** Deepest level of a list in Docs, counted from 0. */
const maxListLevel = 8;

/** The quotes and the lists around a block. */
interface BlockContext {
	readonly quoteDepth: number;
	/** Undefined outside of lists. */
	readonly list?: Omit<ItemPlace, 'hasBullet'>;
}

/**
 * Converts headings, lists, quotes, code, tables and inline marks. Content that a document cannot
 * represent stays as text.
 */
export function markdownToBlocks(markdown: string): DocumentContent {
	const nodes = parseMarkdown(markdown);
	const reader = new BlockReader(markdown, nodes);
	reader.read(nodes, { quoteDepth: 0 });
	const { blocks, listKinds, hasImages, simplified } = reader;
	return { blocks, listKinds, hasImages, simplified: [...simplified] };
}

/**
 * Finds the address of each definition, such as `[name]: https://…`. The first definition of an
 * identifier counts.
 */
function collectAddresses(
	nodes: readonly mdast.RootContent[],
	addresses = new Map<string, string>(),
) {
	for (const node of nodes) {
		if (node.type === 'definition' && !addresses.has(node.identifier))
			addresses.set(node.identifier, node.url);
		if ('children' in node) collectAddresses(node.children, addresses);
	}
	return addresses;
}

class BlockReader {
	readonly blocks: Block[] = [];
	readonly listKinds: ListKind[] = [];
	hasImages = false;
	readonly simplified = new Set<string>();
	readonly #addresses: ReadonlyMap<string, string>;
	readonly #markdown: string;
	/** Whether the next paragraph is the first paragraph of a list item. */
	#isItemStart = false;

	constructor(markdown: string, nodes: readonly mdast.RootContent[]) {
		this.#markdown = markdown;
		this.#addresses = collectAddresses(nodes);
	}

	read(nodes: readonly mdast.RootContent[], context: BlockContext): void {
		for (const node of joinLists(nodes)) this.#readBlock(node, context);
	}

	#readBlock(node: mdast.RootContent, context: BlockContext): void {
		switch (node.type) {
			case 'heading':
				this.#addParagraph(this.#readSpans(node.children), context, node.depth);
				break;
			case 'code':
				if (node.lang) this.simplified.add('languages of code blocks');
				this.#addParagraph([buildCodeSpan(node.value, context)], context, 'code');
				break;
			case 'thematicBreak':
				this.#addParagraph([], context, 'rule');
				break;
			case 'html': {
				const html = this.#readHtml(node.value).trim();
				if (html !== '') this.#addParagraph([{ text: toBreaks(html), marks: {} }], context);
				break;
			}
			case 'blockquote':
				this.read(node.children, { ...context, quoteDepth: context.quoteDepth + 1 });
				break;
			case 'list':
				this.#readList(node, context);
				break;
			case 'table':
				// Docs allows no table in a list, and begins the numbers after it anew.
				if (context.list?.kind === 'number')
					this.simplified.add('numbers of a list after a table');
				this.#readTable(node);
				break;
			case 'footnoteDefinition':
				// The text of a footnote stays where it stands, because one change cannot insert a
				// footnote and its text.
				prependText(node.children, `[${node.identifier}] `);
				this.read(node.children, context);
				break;
			case 'definition':
				break;
			default:
				this.#addParagraph(
					this.#readSpans('children' in node ? node.children : [node]),
					context,
				);
		}
	}

	#readSpans(nodes: readonly mdast.RootContent[], marks: TextMarks = {}): Span[] {
		const spans = nodes.flatMap((node) => this.#readInline(node, marks));
		return spans.filter(({ text }) => text !== '');
	}

	#readInline(node: mdast.RootContent, marks: TextMarks): Span[] {
		switch (node.type) {
			case 'text':
				return [{ text: toInlineText(node.value), marks }];
			case 'inlineCode':
				return [{ text: toInlineText(node.value), marks: { ...marks, code: true } }];
			case 'break':
				return [{ text: '\v', marks: {} }];
			case 'strong':
				return this.#readSpans(node.children, { ...marks, bold: true });
			case 'emphasis':
				return this.#readSpans(node.children, { ...marks, italic: true });
			case 'delete':
				return this.#readSpans(node.children, { ...marks, strikethrough: true });
			case 'link':
			case 'linkReference':
				return this.#readLink(node.children, this.#getAddress(node), marks);
			case 'image':
			case 'imageReference':
				return [this.#readImage(node.alt, this.#getAddress(node), marks)];
			case 'footnoteReference':
				this.simplified.add('footnotes');
				return [{ text: toInlineText(`[${node.identifier}]`), marks }];
			case 'html':
				return [{ text: toInlineText(this.#readHtml(node.value)), marks }];
			default:
				return [];
		}
	}

	#getAddress(node: mdast.Resource | mdast.Association): string {
		if ('identifier' in node) return this.#addresses.get(node.identifier) ?? '';
		if (node.title) this.simplified.add('titles of links');
		return node.url;
	}

	#readLink(children: readonly mdast.RootContent[], url: string, marks: TextMarks): Span[] {
		if (linkablePattern.test(url)) return this.#readSpans(children, { ...marks, link: url });
		this.simplified.add('links without a full URL');
		const spans = this.#readSpans(children, marks);
		const address = toInlineText(url);
		// The target of a link to a heading is an ID that Google only gives after the change.
		const isShown = url === '' || url.startsWith('#') || address === joinSpans(spans);
		return isShown ? spans : [...spans, { text: ` (${address})`, marks }];
	}

	/**
	 * Builds a link with the image's description, or text if no link can have this address. The
	 * layout may replace it by the picture. An image in a link only keeps that link.
	 */
	#readImage(alt: string | null | undefined, url: string, marks: TextMarks): Span {
		const text = toInlineText(alt || url);
		if (marks.link !== undefined) return { text, marks };
		if (fetchablePattern.test(url)) {
			this.hasImages = true;
			return { text, marks: { ...marks, link: url }, imageUrl: url };
		}
		this.simplified.add('images without a public https address');
		return { text, marks: linkablePattern.test(url) ? { ...marks, link: url } : marks };
	}

	/** Leaves out comments. Other HTML stays as text, so that nothing is lost. */
	#readHtml(html: string): string {
		if (brTagPattern.test(html)) return '\v';
		const text = html.replace(commentPattern, '');
		if (text.trim() !== '') this.simplified.add('HTML tags');
		return text;
	}

	#addParagraph(
		spans: readonly Span[],
		{ quoteDepth, list }: BlockContext,
		format: ParagraphBlock['format'] = 'text',
	) {
		const place = list && { ...list, hasBullet: this.#isItemStart };
		this.#isItemStart = false;
		this.blocks.push({ kind: 'paragraph', spans, format, quoteDepth, list: place });
	}

	#readList(list: mdast.List, context: BlockContext): void {
		const outerList = context.list;
		const kind = getListKind(list);
		for (const item of list.children) this.#markTask(item, kind);
		if (isTextList(list)) {
			for (const item of list.children) {
				prependText(item.children, this.#getNumber(item));
				this.read(item.children, context);
			}
			return;
		}
		const level = Math.min((outerList?.level ?? -1) + 1, maxListLevel);
		let listIndexes = outerList?.listIndexes ?? [];
		if (kind !== outerList?.kind) {
			const last = this.blocks.at(-1);
			// Docs would continue the numbers of a list that ends right before this one.
			if (kind === 'number' && last?.kind === 'paragraph' && last.list?.kind === kind)
				this.#addParagraph([], context);
			listIndexes = [...listIndexes, this.listKinds.push(kind) - 1];
		}
		for (const item of list.children)
			this.#readItem(item, { ...context, list: { level, listIndexes, kind } });
	}

	/** Returns the number of an item as it is written, such as the day of a date. */
	#getNumber({ position }: mdast.ListItem): string {
		const number = /\d+[.)]/.exec(this.#markdown.slice(position?.start.offset));
		return number ? `${number[0]} ` : '';
	}

	#readItem({ children }: mdast.ListItem, context: BlockContext): void {
		this.#isItemStart = true;
		const [first] = children;
		// If the number of an item had no paragraph, the next item would get it.
		const isNumberOfList =
			context.list?.kind === 'number' && first?.type === 'list' && !isTextList(first);
		if (!first || isNumberOfList) this.#addParagraph([], context);
		this.read(children, context);
		// An item may have no paragraph, but only a table or a comment.
		this.#isItemStart = false;
	}

	/**
	 * Google's API cannot tick a checkbox, and shows a ticked one as text that is struck through.
	 */
	#markTask({ children, checked }: mdast.ListItem, kind: ListKind): void {
		if (typeof checked !== 'boolean') return;
		const [first] = children;
		if (kind !== 'checkbox') prependText(children, checked ? '☑ ' : '☐ ');
		else if (checked && first?.type === 'paragraph') {
			this.simplified.add('ticked boxes');
			first.children = [{ type: 'delete', children: first.children }];
		}
	}

	#readTable({ children }: mdast.Table): void {
		// A document always has a paragraph between two tables.
		if (this.blocks.at(-1)?.kind === 'table') this.blocks.push(buildParagraph([], 'plain'));
		const width = children.reduce((widest, row) => Math.max(widest, row.children.length), 0);
		const rows = children.map((row) =>
			Array.from({ length: width }, (_, column) =>
				this.#readSpans(row.children[column]?.children ?? []),
			),
		);
		this.blocks.push({ kind: 'table', rows });
	}
}

function prependText(nodes: mdast.ListItem['children'], value: string): void {
	const text = { type: 'text' as const, value };
	const [first] = nodes;
	if (first?.type === 'paragraph') first.children.unshift(text);
	else nodes.unshift({ type: 'paragraph', children: [text] });
}

/** Whether a list becomes text with its numbers: Google's API cannot choose the first number. */
const isTextList = ({ ordered, start }: mdast.List) => ordered && start !== 1;

/** Docs has checkboxes only for whole lists. */
function getListKind({ ordered, children }: mdast.List): ListKind {
	if (ordered) return 'number';
	return children.every(({ checked }) => typeof checked === 'boolean') ? 'checkbox' : 'bullet';
}

/** Replaces line breaks and tabs by spaces, which is what they mean in a paragraph of Markdown. */
const toInlineText = (text: string) => cleanText(text).replaceAll(/[\n\t]/g, ' ');

/** Line breaks become vertical tabs, which are line breaks inside a paragraph. */
const toBreaks = (text: string) => cleanText(text).replaceAll('\n', '\v');

function buildCodeSpan(code: string, { list }: BlockContext): Span {
	const text = toBreaks(code);
	// Google takes tabs at the start of an item for its level.
	return { text: list ? text.replaceAll('\t', '    ') : text, marks: { code: true } };
}
