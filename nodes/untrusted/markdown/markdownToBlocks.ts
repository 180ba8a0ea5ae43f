import type * as mdast from 'mdast';

import { buildParagraph, cleanText, filler, joinSpans } from '../document/blocks';
import type {
	Block,
	DocumentContent,
	ListKind,
	ListRange,
	ParagraphBlock,
	SimplifiedKind,
	Span,
	TextMarks,
} from '../document/blocks';
import { maxListLevel } from '../document/elements';
import { nestIndentedLists } from './indentedLists';
import { parseMarkdown } from './parseMarkdown';

/** Protocols that work in a link of a document. Any other address is written in parentheses after the text of its link. */
const linkablePattern = /^(?:https?|ftp|mailto|tel):/i;
/** Google fetches images itself, so they need a public https address. */
const fetchablePattern = /^https:/i;
const brTagPattern = /^<br\s*\/?>$/i;
const commentPattern = /<!--[\s\S]*?-->/g;

/** The tags of HTML that become formatting. Models write them where Markdown has no sign. */
const marksByTag: Readonly<Record<string, TextMarks>> = {
	b: { bold: true },
	strong: { bold: true },
	i: { italic: true },
	em: { italic: true },
	u: { underline: true },
	ins: { underline: true },
	s: { strikethrough: true },
	del: { strikethrough: true },
};

type InlineNode = mdast.PhrasingContent | mdast.RootContent;

/** The quotes and the list around a block. */
interface BlockContext {
	readonly quoteDepth: number;
	/** Undefined outside of lists. */
	readonly level?: number;
	readonly kind?: ListKind;
}

/** Converts headings, lists, quotes, code, tables and inline marks. Content that a document cannot represent stays as text. */
export function markdownToBlocks(markdown: string): DocumentContent {
	const nodes = parseMarkdown(markdown);
	const reader = new BlockReader(nodes);
	reader.read(nodes, { quoteDepth: 0 });
	const { blocks, lists } = reader;
	const simplified = [...reader.simplified];
	return simplified.length > 0 ? { blocks, lists, simplified } : { blocks, lists };
}

/** Finds the address of each definition, such as `[name]: https://…`. The first definition of an identifier counts. */
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
	readonly lists: ListRange[] = [];
	readonly simplified = new Set<SimplifiedKind>();
	readonly #addresses: ReadonlyMap<string, string>;
	/** The last numbered list that is not inside another list, with its index in `lists` and the number of an item that would continue it. */
	#lastNumberedList:
		| { readonly listIndex: number; readonly nextNumber: number; readonly quoteDepth: number }
		| undefined;
	/** Whether the next paragraph is the first paragraph of a list item. */
	#isItemStart = false;

	constructor(nodes: readonly mdast.RootContent[]) {
		this.#addresses = collectAddresses(nodes);
	}

	read(nodes: readonly mdast.RootContent[], context: BlockContext): void {
		for (const node of nestIndentedLists(nodes)) this.#readBlock(node, context);
	}

	#readBlock(node: mdast.RootContent, context: BlockContext): void {
		switch (node.type) {
			case 'heading':
				this.#addParagraph(this.#readSpans(node.children), context, node.depth);
				break;
			case 'code':
				if (node.lang) this.simplified.add('codeLanguages');
				this.#addParagraph([buildTextSpan(node.value, { code: true })], context, 'code');
				break;
			case 'thematicBreak':
				this.#addParagraph([], context, 'rule');
				break;
			case 'html': {
				const html = this.#readHtml(node.value).trim();
				if (html !== '') this.#addParagraph([buildTextSpan(html)], context);
				break;
			}
			case 'blockquote':
				this.read(node.children, { ...context, quoteDepth: context.quoteDepth + 1 });
				break;
			case 'list':
				this.#readList(node, context);
				break;
			case 'table':
				this.#readTable(node);
				break;
			case 'footnoteDefinition':
				this.#readFootnote(node, context);
				break;
			case 'definition':
				break;
			default:
				this.#addParagraph(
					this.#readSpans(node.type === 'paragraph' ? node.children : [node]),
					context,
				);
		}
	}

	#readSpans(nodes: readonly InlineNode[], marks: TextMarks = {}): Span[] {
		const spans: Span[] = [];
		for (let index = 0; index < nodes.length; index++) {
			const element = findHtmlElement(nodes, index);
			if (element === undefined) spans.push(...this.#readInline(nodes[index], marks));
			else {
				const children = nodes.slice(index + 1, element.endIndex);
				spans.push(...this.#readSpans(children, { ...marks, ...element.marks }));
				index = element.endIndex;
			}
		}
		return spans.filter(({ text }) => text !== '');
	}

	#readInline(node: InlineNode | undefined, marks: TextMarks): Span[] {
		switch (node?.type) {
			case 'text':
				return [{ text: toOneLine(node.value), marks }];
			case 'inlineCode':
				return [{ text: toOneLine(node.value), marks: { ...marks, code: true } }];
			case 'break':
				return [{ text: '\v', marks: {} }];
			case 'strong':
				return this.#readSpans(node.children, { ...marks, bold: true });
			case 'emphasis':
				return this.#readSpans(node.children, { ...marks, italic: true });
			case 'delete':
				return this.#readSpans(node.children, { ...marks, strikethrough: true });
			case 'link':
				if (node.title) this.simplified.add('linkTitles');
				return this.#readLink(node.children, node.url, marks);
			case 'linkReference':
				return this.#readLink(node.children, this.#findAddress(node), marks);
			case 'image':
				return [this.#readImage(node.alt, node.url, marks)];
			case 'imageReference':
				return [this.#readImage(node.alt, this.#findAddress(node), marks)];
			case 'footnoteReference':
				this.simplified.add('footnotes');
				return [{ text: `[${node.identifier}]`, marks }];
			case 'html':
				return [{ text: toOneLine(this.#readHtml(node.value)), marks }];
			default:
				return [];
		}
	}

	#findAddress = ({ identifier }: mdast.Association) => this.#addresses.get(identifier) ?? '';

	#readLink(children: readonly InlineNode[], url: string, marks: TextMarks): Span[] {
		if (linkablePattern.test(url)) return this.#readSpans(children, { ...marks, link: url });
		const spans = this.#readSpans(children, marks);
		// The target of a link to a heading is an ID that Google only gives after the change.
		this.simplified.add(url.startsWith('#') ? 'headingLinks' : 'relativeLinks');
		const address = cleanText(url);
		const isShown = address === '' || url.startsWith('#') || address === joinSpans(spans);
		return isShown ? spans : [...spans, { text: ` (${address})`, marks }];
	}

	/** Builds a link with the image's description, or text if no link can have this address. Another step may insert the image instead. */
	#readImage(alt: string | null | undefined, url: string, marks: TextMarks): Span {
		const isFetchable = fetchablePattern.test(url);
		this.simplified.add('images');
		if (!isFetchable) this.simplified.add('imagesWithoutHttps');
		const text = toOneLine(alt ?? '') || toOneLine(url);
		if (!linkablePattern.test(url)) return { text, marks };
		const span = { text, marks: { ...marks, link: url } };
		return isFetchable ? { ...span, imageUrl: url } : span;
	}

	/** Leaves out comments. Other HTML stays as text, so that nothing is lost. */
	#readHtml(html: string): string {
		if (brTagPattern.test(html)) return '\v';
		const text = html.replace(commentPattern, '');
		if (text.trim() !== '') this.simplified.add('htmlTags');
		return text;
	}

	#addParagraph(
		spans: readonly Span[],
		{ quoteDepth, level }: BlockContext,
		format: ParagraphBlock['format'] = 'text',
	) {
		const block: ParagraphBlock = { kind: 'paragraph', spans, format, quoteDepth };
		const list = { level: level ?? 0, hasBullet: this.#isItemStart };
		this.#isItemStart = false;
		this.blocks.push(level === undefined ? block : { ...block, spans: guardTabs(spans), list });
	}

	#readList(list: mdast.List, context: BlockContext): void {
		const kind = getListKind(list);
		const level = context.level === undefined ? 0 : Math.min(context.level + 1, maxListLevel);
		const firstIndex = this.blocks.length;
		const listIndex = this.lists.length;
		for (const item of list.children) this.#readItem(item, { ...context, level, kind });
		const lastIndex = this.blocks.length - 1;
		const hasOwnRange = context.level === undefined || kind !== context.kind;
		if (!hasOwnRange || this.#continueList(list, firstIndex, context)) return;
		this.lists.splice(listIndex, 0, { firstIndex, lastIndex, kind });
		if (kind !== 'number' || context.level !== undefined) return;
		const nextNumber = list.children.length + 1;
		this.#lastNumberedList = { listIndex, nextNumber, quoteDepth: context.quoteDepth };
	}

	/** Continues the previous numbered list if this list has its next number, because Docs begins new lists at 1. @returns whether it did so */
	#continueList(
		list: mdast.List,
		firstIndex: number,
		{ level, quoteDepth }: BlockContext,
	): boolean {
		const start = list.start ?? 1;
		if (!list.ordered || start === 1) return false;
		const previous = this.#lastNumberedList;
		const range = previous && this.lists[previous.listIndex];
		const blocksBetween = this.blocks.slice((range?.lastIndex ?? 0) + 1, firstIndex);
		const isNext =
			level === undefined &&
			start === previous?.nextNumber &&
			quoteDepth === previous.quoteDepth &&
			blocksBetween.every(({ kind }) => kind === 'paragraph');
		if (!range || !isNext) {
			this.simplified.add('listNumbers');
			return false;
		}
		for (const [index, block] of blocksBetween.entries()) {
			if (block.kind !== 'paragraph' || block.list) continue;
			const spans = guardTabs(block.spans);
			this.blocks[range.lastIndex + 1 + index] = { ...block, spans, isBetweenItems: true };
		}
		this.lists[previous.listIndex] = { ...range, lastIndex: this.blocks.length - 1 };
		this.#lastNumberedList = { ...previous, nextNumber: start + list.children.length };
		return true;
	}

	#readItem(item: mdast.ListItem, context: BlockContext): void {
		this.#isItemStart = true;
		const index = this.blocks.length;
		const firstType = item.children[0]?.type ?? 'list';
		if (firstType === 'list' || firstType === 'table') this.#addParagraph([], context);
		this.read(item.children, context);
		// An item may hold only a comment.
		if (this.blocks.length === index) this.#addParagraph([], context);
		if (typeof item.checked !== 'boolean') return;
		if (context.kind !== 'checkbox') this.#prependText(index, item.checked ? '☑ ' : '☐ ');
		else if (item.checked) this.#strikeThrough(index);
	}

	/** Google's API cannot tick a checkbox, and shows a ticked one as text that is struck through. */
	#strikeThrough(index: number): void {
		this.simplified.add('tickedTasks');
		const block = this.blocks[index];
		if (block?.kind !== 'paragraph') return;
		const spans = block.spans.map((span) => ({
			...span,
			marks: { ...span.marks, strikethrough: true },
		}));
		this.blocks[index] = { ...block, spans };
	}

	#readTable({ children, align }: mdast.Table): void {
		// A document always has a paragraph between two tables.
		if (this.blocks.at(-1)?.kind === 'table') this.blocks.push(buildParagraph([]));
		const columns = (children[0]?.children ?? []).map((_, column) => column);
		const rows = children.map((row) =>
			columns.map((column) => this.#readSpans(row.children[column]?.children ?? [])),
		);
		const alignments = columns.map((column) => align?.[column] ?? null);
		this.blocks.push({ kind: 'table', rows, alignments });
	}

	/** Adds the text of a footnote where it stands in the Markdown, because one change cannot insert a footnote and its text. */
	#readFootnote({ identifier, children }: mdast.FootnoteDefinition, context: BlockContext): void {
		const index = this.blocks.length;
		this.read(children, context);
		this.#prependText(index, `[${identifier}] `);
	}

	#prependText(index: number, text: string): void {
		const block = this.blocks[index];
		if (block?.kind === 'paragraph')
			this.blocks[index] = { ...block, spans: [buildTextSpan(text), ...block.spans] };
	}
}

/** Finds the end of an element such as `<b>…</b>`, if one begins at the index. */
function findHtmlElement(nodes: readonly InlineNode[], startIndex: number) {
	const tag = getHtml(nodes[startIndex])?.slice(1, -1) ?? '';
	const marks = Object.hasOwn(marksByTag, tag) ? marksByTag[tag] : undefined;
	if (marks === undefined) return undefined;
	const endIndex = nodes.findIndex(
		(node, index) => index > startIndex && getHtml(node) === `</${tag}>`,
	);
	return endIndex < 0 ? undefined : { endIndex, marks };
}

const getHtml = (node: InlineNode | undefined) =>
	node?.type === 'html' ? node.value.toLowerCase() : undefined;

/** Docs has checkboxes only for whole lists. */
function getListKind({ ordered, children }: mdast.List): ListKind {
	if (ordered) return 'number';
	return children.every(({ checked }) => typeof checked === 'boolean') ? 'checkbox' : 'bullet';
}

/** Replaces line breaks by spaces, because a line break in a paragraph of Markdown means a space. */
const toOneLine = (text: string) => cleanText(text).replaceAll('\n', ' ');

/** Puts a filler before leading tabs, because Google takes them in a list for its levels. */
const guardTabs = (spans: readonly Span[]) =>
	spans[0]?.text.startsWith('\t') ? [filler, ...spans] : spans;

/** Builds a span. Line breaks become vertical tabs, which are line breaks inside a paragraph. */
function buildTextSpan(text: string, marks: TextMarks = {}): Span {
	return { text: cleanText(text).replaceAll('\n', '\v'), marks };
}
