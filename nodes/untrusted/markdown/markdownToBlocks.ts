import type * as mdast from 'mdast';

import {
	buildParagraph,
	cleanText,
	joinSpans,
	type Span,
	type TextMarks,
} from '../document/blocks';
import type {
	Block,
	DocumentContent,
	ListRange,
	ParagraphBlock,
	SimplifiedKind,
} from '../document/blocks';
import { maxListLevel } from '../document/elements';
import { collectNodes, parseMarkdown } from './parseMarkdown';

/** Protocols that work in a link of a document. Any other address is written in parentheses after the text of its link. */
const linkablePattern = /^(?:https?|ftp|mailto|tel):/i;
const brTagPattern = /^<br\s*\/?>$/i;

function convertNode(node: mdast.PhrasingContent | mdast.RootContent, marks: TextMarks): Span[] {
	const readChildren = (children: readonly mdast.PhrasingContent[], addedMarks: TextMarks) =>
		children.flatMap((child) => convertNode(child, { ...marks, ...addedMarks }));
	const readLink = (children: readonly mdast.PhrasingContent[], url: string): Span[] => {
		if (linkablePattern.test(url)) return readChildren(children, { link: url });
		const spans = readChildren(children, {});
		const address = cleanText(url);
		// Links to a heading, as in a table of contents, have no target in a document.
		const isAddressNeeded =
			address !== '' && !url.startsWith('#') && address !== joinSpans(spans);
		return isAddressNeeded ? [...spans, { text: ` (${address})`, marks }] : spans;
	};
	if (node.type === 'text') return [{ text: toOneLine(node.value), marks }];
	if (node.type === 'strong') return readChildren(node.children, { bold: true });
	if (node.type === 'emphasis') return readChildren(node.children, { italic: true });
	if (node.type === 'delete') return readChildren(node.children, { strikethrough: true });
	if (node.type === 'inlineCode')
		return [{ text: toOneLine(node.value), marks: { ...marks, code: true } }];
	if (node.type === 'break') return [{ text: '\v', marks: {} }];
	if (node.type === 'link') return readLink(node.children, node.url);
	if (node.type === 'image') return [buildImageSpan(node.alt, node.url, marks)];
	if (node.type === 'footnoteReference') return [{ text: `[${node.identifier}]`, marks }];
	if (node.type !== 'html') return [];
	return [
		{
			text: brTagPattern.test(node.value) ? '\v' : toOneLine(removeHtmlComments(node.value)),
			marks,
		},
	];
}

/** Replaces line breaks by spaces, because a line break in a paragraph of Markdown means a space. */
const toOneLine = (text: string) => cleanText(text).replaceAll('\n', ' ');

/** Removes comments from HTML, even `<!-->`, in which start and end share the dashes. A comment without an end stays, so no text is lost. */
function removeHtmlComments(html: string): string {
	const end = html.lastIndexOf('-->') + 3;
	return html.slice(0, end).replace(/<!(?=--)[\s\S]*?-->/g, '') + html.slice(end);
}

/** Google fetches images itself, so they need a public https address. */
const fetchablePattern = /^https:/i;

/** Builds a link with the image's description, or text if no link can have this address. Another step may insert the image instead. */
function buildImageSpan(alt: string | null | undefined, url: string, marks: TextMarks): Span {
	const text = toOneLine(alt ?? '') || toOneLine(url);
	if (!linkablePattern.test(url)) return { text, marks };
	return {
		text,
		marks: { ...marks, link: url },
		...(fetchablePattern.test(url) && { imageUrl: url }),
	};
}

/** The quotes and the list around a block. */
interface BlockContext {
	readonly quoteDepth: number;
	readonly level: number | undefined;
	readonly ordered: boolean | undefined;
}

/** Converts headings, lists, quotes, code, tables and inline marks. Content that a document cannot represent stays as text. */
export function markdownToBlocks(markdown: string): DocumentContent {
	const children = parseMarkdown(markdown);
	const nodes = collectNodes(children);
	resolveReferences(nodes);
	const reader = new BlockReader();
	reader.read(children, { quoteDepth: 0, level: undefined, ordered: undefined });
	const simplified = collectSimplifications(nodes);
	if (reader.isRenumbered) simplified.push('listNumbers');
	return {
		blocks: reader.blocks,
		lists: reader.lists,
		...(simplified.length > 0 && { simplified }),
	};
}

function collectSimplifications(nodes: readonly mdast.RootContent[]): SimplifiedKind[] {
	const kinds = new Set<SimplifiedKind>();
	for (const node of nodes) {
		if (node.type === 'image') kinds.add('images');
		if (node.type === 'image' && !fetchablePattern.test(node.url))
			kinds.add('imagesWithoutHttps');
		if (node.type === 'footnoteReference') kinds.add('footnotes');
		if (node.type === 'link' && node.title) kinds.add('linkTitles');
		if (node.type === 'code' && node.lang) kinds.add('codeLanguages');
		const isUnlinkable =
			node.type === 'link' && !node.url.startsWith('#') && !linkablePattern.test(node.url);
		if (isUnlinkable) kinds.add('relativeLinks');
	}
	return [...kinds];
}

/** Turns references such as `[text][name]` into links and images, in place. */
function resolveReferences(nodes: readonly mdast.RootContent[]): void {
	const definitions = nodes.filter((node) => node.type === 'definition');
	// The first definition of an identifier counts.
	const addresses = new Map(
		definitions.toReversed().map(({ identifier, url }) => [identifier, url]),
	);
	for (const node of nodes) {
		if (node.type !== 'linkReference' && node.type !== 'imageReference') continue;
		const type = node.type === 'linkReference' ? 'link' : 'image';
		Object.assign(node, { type, url: addresses.get(node.identifier) ?? '' });
	}
}

class BlockReader {
	readonly blocks: Block[] = [];
	readonly lists: ListRange[] = [];
	/** Whether the document numbers any list differently from the Markdown. */
	isRenumbered = false;
	/** The last numbered list that is not inside another list, with its index in `lists` and the number of an item that would continue it. */
	#lastNumberedList:
		| { readonly listIndex: number; readonly nextNumber: number; readonly quoteDepth: number }
		| undefined;
	/** Whether the next paragraph is the first paragraph of a list item. */
	#isItemStart = false;

	read(nodes: readonly mdast.RootContent[], context: BlockContext): void {
		for (const node of nodes) this.#readBlock(node, context);
	}

	#readBlock(node: mdast.RootContent, context: BlockContext): void {
		if (node.type === 'heading')
			this.#addParagraph(this.#readSpans(node.children), context, node.depth);
		else if (node.type === 'code')
			this.#addParagraph([buildTextSpan(node.value, { code: true })], context, 'code');
		else if (node.type === 'thematicBreak') this.#addParagraph([], context, 'rule');
		else if (node.type === 'html') {
			const html = removeHtmlComments(node.value).trim();
			if (html !== '' || node.value.trim() === '')
				this.#addParagraph([buildTextSpan(html)], context);
		} else if (node.type === 'blockquote')
			this.read(node.children, { ...context, quoteDepth: context.quoteDepth + 1 });
		else if (node.type === 'list') this.#readList(node, context);
		else if (node.type === 'table') this.#readTable(node);
		else if (node.type === 'footnoteDefinition')
			this.#readFootnote(node.identifier, node.children, context);
		else if (node.type !== 'definition')
			this.#addParagraph(
				this.#readSpans(node.type === 'paragraph' ? node.children : [node]),
				context,
			);
	}

	#readSpans(nodes: ReadonlyArray<mdast.PhrasingContent | mdast.RootContent>): Span[] {
		return nodes.flatMap((node) => convertNode(node, {})).filter(({ text }) => text !== '');
	}

	#addParagraph(
		spans: readonly Span[],
		context: BlockContext,
		format: ParagraphBlock['format'] = 'text',
	) {
		const { quoteDepth, level } = context;
		const list = level === undefined ? undefined : { level, hasBullet: this.#isItemStart };
		this.#isItemStart = false;
		const untabbedSpans = list === undefined ? spans : replaceLeadingTabs(spans);
		this.blocks.push({
			kind: 'paragraph',
			spans: untabbedSpans,
			format,
			quoteDepth,
			...(list && { list }),
		});
	}

	#readList(list: mdast.List, context: BlockContext): void {
		const ordered = list.ordered ?? false;
		const level = context.level === undefined ? 0 : Math.min(context.level + 1, maxListLevel);
		const firstIndex = this.blocks.length;
		const hasOwnRange = context.level === undefined || ordered !== context.ordered;
		const listIndex = this.lists.length;
		for (const item of list.children) this.#readItem(item, { ...context, level, ordered });
		const lastIndex = this.blocks.length - 1;
		if (!hasOwnRange || lastIndex < firstIndex || this.#continueList(list, firstIndex, context))
			return;
		this.lists.splice(listIndex, 0, { firstIndex, lastIndex, ordered });
		if (!ordered || context.level !== undefined) return;
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
		const previousList = this.#lastNumberedList;
		const range = previousList && this.lists[previousList.listIndex];
		const blocksBetween = this.blocks.slice((range?.lastIndex ?? firstIndex) + 1, firstIndex);
		const isNext =
			level === undefined &&
			start === previousList?.nextNumber &&
			quoteDepth === previousList.quoteDepth;
		if (!range || !isNext || blocksBetween.some(({ kind }) => kind === 'table')) {
			this.isRenumbered = true;
			return false;
		}
		for (const [index, block] of blocksBetween.entries()) {
			if (block.kind !== 'paragraph' || block.list) continue;
			const spans = replaceLeadingTabs(block.spans);
			this.blocks[range.lastIndex + 1 + index] = { ...block, spans, isBetweenItems: true };
		}
		this.lists[previousList.listIndex] = { ...range, lastIndex: this.blocks.length - 1 };
		this.#lastNumberedList = { ...previousList, nextNumber: start + list.children.length };
		return true;
	}

	#readItem(item: mdast.ListItem, context: BlockContext): void {
		this.#isItemStart = true;
		const index = this.blocks.length;
		const firstChild: mdast.BlockContent | mdast.DefinitionContent | undefined =
			item.children[0];
		if (firstChild === undefined || firstChild.type === 'list' || firstChild.type === 'table')
			this.#addParagraph([], context);
		this.read(item.children, context);
		this.#isItemStart = false;
		if (typeof item.checked === 'boolean') this.#prependText(index, item.checked ? '☑ ' : '☐ ');
	}

	#readTable({ children, align }: mdast.Table): void {
		// A document always has a paragraph between two tables.
		if (this.blocks.at(-1)?.kind === 'table') this.blocks.push(buildParagraph([]));
		const width = children[0]?.children.length ?? 0;
		const rows = children.map((row) =>
			Array.from({ length: width }, (_, column) =>
				this.#readSpans(row.children[column]?.children ?? []),
			),
		);
		const alignments = Array.from({ length: width }, (_, column) => align?.[column] ?? null);
		this.blocks.push({ kind: 'table', rows, alignments });
	}

	/** Adds the text of a footnote where it stands in the Markdown, because one change cannot insert a footnote and its text. */
	#readFootnote(
		label: string,
		children: readonly mdast.RootContent[],
		context: BlockContext,
	): void {
		const index = this.blocks.length;
		this.read(children, context);
		this.#prependText(index, `[${label}] `);
	}

	#prependText(index: number, text: string): void {
		const block = this.blocks[index];
		if (block?.kind === 'paragraph')
			this.blocks[index] = { ...block, spans: [buildTextSpan(text), ...block.spans] };
	}
}

/** Replaces leading tabs by spaces, because Google takes tabs in a list for its levels. */
function replaceLeadingTabs([firstSpan, ...otherSpans]: readonly Span[]): Span[] {
	if (firstSpan === undefined) return [];
	const text = firstSpan.text.replace(/^\t+/, (tabs) => '    '.repeat(tabs.length));
	return [{ ...firstSpan, text }, ...otherSpans];
}

/** Builds a span. Line breaks become vertical tabs, which are line breaks inside a paragraph. */
function buildTextSpan(text: string, marks: TextMarks = {}): Span {
	return { text: cleanText(text).replaceAll('\n', '\v'), marks };
}
