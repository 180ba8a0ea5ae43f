import type * as mdast from 'mdast';

import {
	type Block,
	cleanText,
	type DocumentContent,
	type ListRange,
	type TextMarks,
	buildParagraph,
	type ParagraphBlock,
	joinSpans,
	type SimplifiedKind,
	type Span,
} from '../document/blocks';
import { collectNodes, parseMarkdown } from './parseMarkdown';

/** Protocols that Docs links to. Any other address is written in parentheses after the text. */
const linkableProtocol = /^(?:https?|ftp|mailto|tel):/i;
const lineBreakTag = /^<br\s*\/?>$/i;

function nodeToSpans(node: mdast.PhrasingContent | mdast.RootContent, marks: TextMarks): Span[] {
	const readChildren = (children: readonly mdast.PhrasingContent[], added: TextMarks) =>
		children.flatMap((child) => nodeToSpans(child, { ...marks, ...added }));
	const readLink = (children: readonly mdast.PhrasingContent[], url: string): Span[] => {
		if (linkableProtocol.test(url)) return readChildren(children, { link: url });
		// Links within the Markdown, such as the entries of a table of contents, lead nowhere in a document.
		if (url.startsWith('#')) return readChildren(children, {});
		const spans = readChildren(children, {});
		const address = cleanText(url);
		return address === '' || address === joinSpans(spans)
			? spans
			: [...spans, { text: ` (${address})`, marks }];
	};
	if (node.type === 'text') return [{ text: toOneLine(node.value), marks }];
	if (node.type === 'strong') return readChildren(node.children, { bold: true });
	if (node.type === 'emphasis') return readChildren(node.children, { italic: true });
	if (node.type === 'delete') return readChildren(node.children, { strikethrough: true });
	if (node.type === 'inlineCode') return [{ text: toOneLine(node.value), marks: { ...marks, code: true } }];
	if (node.type === 'break') return [{ text: '\v', marks: {} }];
	if (node.type === 'link') return readLink(node.children, node.url);
	if (node.type === 'image') return [buildPictureSpan(node.alt, node.url, marks)];
	if (node.type === 'footnoteReference') return [{ text: `[${node.identifier}]`, marks }];
	if (node.type !== 'html') return [];
	return [{ text: lineBreakTag.test(node.value) ? '\v' : toOneLine(removeHtmlComments(node.value)), marks }];
}

/** A line break in a paragraph of Markdown is a space. */
const toOneLine = (text: string) => cleanText(text).replaceAll('\n', ' ');

/** HTML without its comments. One that does not end is text, so that nothing is lost. */
function removeHtmlComments(html: string): string {
	const end = html.lastIndexOf('-->') + 3;
	return html.slice(0, end).replace(/<!(?=--)[\s\S]*?-->/g, '') + html.slice(end);
}

/** Only Google fetches pictures, so only from public addresses. */
const fetchableProtocol = /^https:/i;

/** A picture as a link with its description as text. The picture can replace it. */
function buildPictureSpan(alt: string | null | undefined, url: string, marks: TextMarks): Span {
	const text = toOneLine(alt ?? '') || url;
	if (!linkableProtocol.test(url)) return { text, marks };
	return { text, marks: { ...marks, link: url }, ...(fetchableProtocol.test(url) && { picture: url }) };
}

/** Deepest list level in Google Docs, counted from 0. */
const maxListLevel = 8;

interface BlockContext {
	readonly quoteDepth: number;
	readonly level: number | undefined;
	readonly ordered: boolean | undefined;
}

/** Converts headings, lists, quotes, code, tables and inline marks. What a document cannot represent stays as text. */
export function markdownToBlocks(markdown: string): DocumentContent {
	const children = parseMarkdown(markdown);
	const all = collectNodes(children);
	resolveReferences(all);
	const reader = new BlockReader();
	reader.read(children, { quoteDepth: 0, level: undefined, ordered: undefined });
	const { blocks, lists } = reader;
	const simplified = [...listSimplifications(all), ...(reader.isRenumbered ? ['list numbers' as const] : [])];
	return { blocks, lists, ...(simplified.length > 0 && { simplified }) };
}

function listSimplifications(nodes: readonly mdast.RootContent[]): SimplifiedKind[] {
	const found = new Set<SimplifiedKind>();
	for (const node of nodes) {
		if (node.type === 'image') found.add('images');
		if (node.type === 'image' && !fetchableProtocol.test(node.url)) found.add('images without address');
		if (node.type === 'footnoteReference') found.add('footnotes');
		if (node.type === 'link' && node.title) found.add('link titles');
		if (node.type === 'code' && node.lang) found.add('code languages');
		const isRelative = node.type === 'link' && !node.url.startsWith('#') && !linkableProtocol.test(node.url);
		if (isRelative) found.add('relative links');
	}
	return [...found];
}

/** Turns references into the links and images that they stand for. */
function resolveReferences(nodes: readonly mdast.RootContent[]): void {
	const definitions = nodes.filter((node) => node.type === 'definition');
	// If an identifier is defined several times, its first definition counts.
	const addresses = new Map(definitions.toReversed().map(({ identifier, url }) => [identifier, url]));
	for (const node of nodes) {
		if (node.type !== 'linkReference' && node.type !== 'imageReference') continue;
		const type = node.type === 'linkReference' ? 'link' : 'image';
		Object.assign(node, { type, url: addresses.get(node.identifier) ?? '' });
	}
}

class BlockReader {
	readonly blocks: Block[] = [];
	readonly lists: ListRange[] = [];
	/** Whether a list gets other numbers than it has in the Markdown. */
	isRenumbered = false;
	/** The last numbered list that is not inside another. */
	#lastNumberedList:
		{ readonly place: number; readonly next: number; readonly quoteDepth: number } | undefined;
	/** True while the next paragraph is the first of a list item. */
	#isItemStart = false;

	read(nodes: readonly mdast.RootContent[], around: BlockContext): void {
		for (const node of nodes) this.#readBlock(node, around);
	}

	#readBlock(node: mdast.RootContent, around: BlockContext): void {
		if (node.type === 'heading') this.#addParagraph(this.#readSpans(node.children), around, node.depth);
		else if (node.type === 'code')
			this.#addParagraph([textToSpan(node.value, { code: true })], around, 'code');
		else if (node.type === 'thematicBreak') this.#addParagraph([], around, 'rule');
		else if (node.type === 'html') {
			const visible = removeHtmlComments(node.value).trim();
			if (visible !== '' || node.value.trim() === '') this.#addParagraph([textToSpan(visible)], around);
		} else if (node.type === 'blockquote')
			this.read(node.children, { ...around, quoteDepth: around.quoteDepth + 1 });
		else if (node.type === 'list') this.#readList(node, around);
		else if (node.type === 'table') this.#readTable(node);
		else if (node.type === 'footnoteDefinition') this.#readFootnote(node.identifier, node.children, around);
		else if (node.type !== 'definition')
			this.#addParagraph(this.#readSpans(node.type === 'paragraph' ? node.children : [node]), around);
	}

	#readSpans(nodes: ReadonlyArray<mdast.PhrasingContent | mdast.RootContent>): Span[] {
		return nodes.flatMap((node) => nodeToSpans(node, {})).filter(({ text }) => text !== '');
	}

	#addParagraph(spans: readonly Span[], around: BlockContext, format: ParagraphBlock['format'] = 'text') {
		const { quoteDepth, level } = around;
		const list = level === undefined ? undefined : { level, bullet: this.#isItemStart };
		this.#isItemStart = false;
		const kept = list === undefined ? spans : replaceLeadingTabs(spans);
		this.blocks.push({ kind: 'paragraph', spans: kept, format, quoteDepth, ...(list && { list }) });
	}

	#readList(list: mdast.List, around: BlockContext): void {
		const ordered = list.ordered ?? false;
		const level = around.level === undefined ? 0 : Math.min(around.level + 1, maxListLevel);
		const first = this.blocks.length;
		const hasOwnRange = around.level === undefined || ordered !== around.ordered;
		const place = this.lists.length;
		for (const item of list.children) this.#readItem(item, { ...around, level, ordered });
		const last = this.blocks.length - 1;
		if (hasOwnRange && last >= first && !this.#continueList(list, first, around)) {
			this.lists.splice(place, 0, { first, last, ordered });
			if (ordered && around.level === undefined) {
				this.#lastNumberedList = { place, next: list.children.length + 1, quoteDepth: around.quoteDepth };
			}
		}
	}

	/**
	 * Continues the previous list if its numbers go on here, such as steps with other text between them. Docs begins every new list at 1.
	 * @returns whether it did
	 */
	#continueList(list: mdast.List, first: number, { level, quoteDepth }: BlockContext): boolean {
		const start = list.start ?? 1;
		if (!list.ordered || start === 1) return false;
		const numbered = this.#lastNumberedList;
		const range = numbered && this.lists[numbered.place];
		const between = this.blocks.slice((range?.last ?? first) + 1, first);
		const isNext = level === undefined && start === numbered?.next && quoteDepth === numbered.quoteDepth;
		if (!range || !isNext || between.some(({ kind }) => kind === 'table')) {
			this.isRenumbered = true;
			return false;
		}
		for (const [at, block] of between.entries()) {
			if (block.kind !== 'paragraph' || block.list) continue;
			const spans = replaceLeadingTabs(block.spans);
			this.blocks[range.last + 1 + at] = { ...block, spans, isBetweenItems: true };
		}
		this.lists[numbered.place] = { ...range, last: this.blocks.length - 1 };
		this.#lastNumberedList = { ...numbered, next: start + list.children.length };
		return true;
	}

	#readItem(item: mdast.ListItem, around: BlockContext): void {
		this.#isItemStart = true;
		const at = this.blocks.length;
		const first: mdast.BlockContent | mdast.DefinitionContent | undefined = item.children[0];
		if (first === undefined || first.type === 'list' || first.type === 'table')
			this.#addParagraph([], around);
		this.read(item.children, around);
		this.#isItemStart = false;
		if (typeof item.checked === 'boolean') this.#prependText(at, item.checked ? '☑ ' : '☐ ');
	}

	#readTable({ children, align }: mdast.Table): void {
		// A document always has a paragraph between two tables.
		if (this.blocks.at(-1)?.kind === 'table') this.blocks.push(buildParagraph([]));
		const columns = children[0]?.children.length ?? 0;
		const rows = children.map((row) =>
			Array.from({ length: columns }, (_, at) => this.#readSpans(row.children[at]?.children ?? [])),
		);
		const alignments = Array.from({ length: columns }, (_, at) => align?.[at] ?? null);
		this.blocks.push({ kind: 'table', rows, alignments });
	}

	/** A footnote cannot be inserted in the same batch as the rest, so its text goes where it was written. */
	#readFootnote(name: string, children: readonly mdast.RootContent[], around: BlockContext): void {
		const at = this.blocks.length;
		this.read(children, around);
		this.#prependText(at, `[${name}] `);
	}

	/** Puts a text at the beginning of a paragraph. */
	#prependText(at: number, text: string): void {
		const block = this.blocks[at];
		if (block?.kind === 'paragraph')
			this.blocks[at] = { ...block, spans: [textToSpan(text), ...block.spans] };
	}
}

/** Inside a list, Google would read leading tabs as levels. */
function replaceLeadingTabs([first, ...others]: readonly Span[]): Span[] {
	if (first === undefined) return [];
	const text = first.text.replace(/^\t+/, (tabs) => '    '.repeat(tabs.length));
	return [{ ...first, text }, ...others];
}

/** Makes a span of a text, whose line breaks become line breaks inside the paragraph. */
function textToSpan(text: string, marks: TextMarks = {}): Span {
	return { text: cleanText(text).replaceAll('\n', '\v'), marks };
}
