import type {
	BlockContent,
	DefinitionContent,
	List,
	ListItem,
	PhrasingContent,
	RootContent,
	Table,
} from 'mdast';

import {
	type Block,
	cleanText,
	type Content,
	type ListRange,
	type Marks,
	paragraph,
	type ParagraphBlock,
	type Simplified,
	type Span,
} from '../document/blocks';
import { nodesIn, parseMarkdown } from './parseMarkdown';

/** Protocols that Docs links to. Any other address is written in parentheses after the text. */
const linkable = /^(?:https?|ftp|mailto|tel):/i;
const lineBreakTag = /^<br\s*\/?>$/i;

function spansIn(node: PhrasingContent | RootContent, marks: Marks): Span[] {
	const inside = (children: readonly PhrasingContent[], added: Marks) =>
		children.flatMap((child) => spansIn(child, { ...marks, ...added }));
	const linked = (children: readonly PhrasingContent[], url: string): Span[] => {
		if (linkable.test(url)) return inside(children, { link: url });
		// Links within the Markdown, such as the entries of a table of contents, lead nowhere in a document.
		if (url.startsWith('#')) return inside(children, {});
		const spans = inside(children, {});
		const text = spans.map((span) => span.text).join('');
		const address = cleanText(url);
		return address === '' || address === text ? spans : [...spans, { text: ` (${address})`, marks }];
	};
	switch (node.type) {
		case 'text':
			return [{ text: oneLine(node.value), marks }];
		case 'strong':
			return inside(node.children, { bold: true });
		case 'emphasis':
			return inside(node.children, { italic: true });
		case 'delete':
			return inside(node.children, { strikethrough: true });
		case 'inlineCode':
			return [{ text: oneLine(node.value), marks: { ...marks, code: true } }];
		case 'break':
			return [{ text: '\v', marks: {} }];
		case 'link':
			return linked(node.children, node.url);
		case 'image':
			return [picture(node.alt, node.url, marks)];
		case 'footnoteReference':
			return [{ text: `[${node.identifier}]`, marks }];
		case 'html':
			return [{ text: lineBreakTag.test(node.value) ? '\v' : oneLine(withoutComments(node.value)), marks }];
		default:
			return [];
	}
}

/** A line break in a paragraph of Markdown is a space. */
function oneLine(text: string): string {
	return cleanText(text).replaceAll('\n', ' ');
}

/** HTML without its comments. One that does not end is text, so that nothing is lost. */
function withoutComments(html: string): string {
	const end = html.lastIndexOf('-->') + 3;
	return html.slice(0, end).replace(/<!(?=--)[\s\S]*?-->/g, '') + html.slice(end);
}

/** Only Google fetches pictures, so only from public addresses. */
const fetchable = /^https:/i;

/** A picture as a link with its description as text. The picture can replace it. */
function picture(alt: string | null | undefined, url: string, marks: Marks): Span {
	const text = oneLine(alt ?? '') || url;
	if (!linkable.test(url)) return { text, marks };
	return { text, marks: { ...marks, link: url }, ...(fetchable.test(url) && { picture: url }) };
}

/** Deepest list level in Google Docs, counted from 0. */
const deepestLevel = 8;

interface Around {
	readonly quoteDepth: number;
	readonly level: number | undefined;
	readonly ordered: boolean | undefined;
}

/** Converts headings, lists, quotes, code, tables and inline marks. What a document cannot represent stays as text. */
export function contentOfMarkdown(markdown: string): Content {
	const children = parseMarkdown(markdown);
	const all = nodesIn(children);
	resolveReferences(all);
	const reader = new Reader();
	reader.read(children, { quoteDepth: 0, level: undefined, ordered: undefined });
	const { blocks, lists } = reader;
	const simplified = [...simplifiedIn(all), ...(reader.isRenumbered ? ['list numbers' as const] : [])];
	return { blocks, lists, ...(simplified.length > 0 && { simplified }) };
}

function simplifiedIn(nodes: readonly RootContent[]): Simplified[] {
	const found = new Set<Simplified>();
	for (const node of nodes) {
		if (node.type === 'image') found.add('images');
		if (node.type === 'image' && !fetchable.test(node.url)) found.add('images without address');
		if (node.type === 'footnoteReference') found.add('footnotes');
		const isRelative = node.type === 'link' && !node.url.startsWith('#') && !linkable.test(node.url);
		if (isRelative) found.add('relative links');
	}
	return [...found];
}

/** Turns references into the links and images that they stand for. */
function resolveReferences(nodes: readonly RootContent[]): void {
	const definitions = nodes.filter((node) => node.type === 'definition');
	// If an identifier is defined several times, its first definition counts.
	const addresses = new Map(definitions.toReversed().map(({ identifier, url }) => [identifier, url]));
	for (const node of nodes) {
		if (node.type !== 'linkReference' && node.type !== 'imageReference') continue;
		const type = node.type === 'linkReference' ? 'link' : 'image';
		Object.assign(node, { type, url: addresses.get(node.identifier) ?? '' });
	}
}

class Reader {
	readonly blocks: Block[] = [];
	readonly lists: ListRange[] = [];
	/** Whether a list gets other numbers than it has in the Markdown. */
	isRenumbered = false;
	/** The last numbered list that is not inside another. */
	private numbered:
		{ readonly place: number; readonly next: number; readonly quoteDepth: number } | undefined;
	/** True while the next paragraph is the first of a list item. */
	private bullet = false;

	read(nodes: readonly RootContent[], around: Around): void {
		for (const node of nodes) this.block(node, around);
	}

	private block(node: RootContent, around: Around): void {
		switch (node.type) {
			case 'heading':
				this.add(this.spans(node.children), around, node.depth);
				break;
			case 'paragraph':
				this.add(this.spans(node.children), around);
				break;
			case 'code':
				this.add([span(node.value, { code: true })], around, 'code');
				break;
			case 'thematicBreak':
				this.add([], around, 'rule');
				break;
			case 'html': {
				const visible = withoutComments(node.value).trim();
				if (visible !== '' || node.value.trim() === '') this.add([span(visible)], around);
				break;
			}
			case 'blockquote':
				this.read(node.children, { ...around, quoteDepth: around.quoteDepth + 1 });
				break;
			case 'list':
				this.list(node, around);
				break;
			case 'table':
				this.table(node);
				break;
			case 'footnoteDefinition':
				this.footnote(node.identifier, node.children, around);
				break;
			case 'definition':
				break;
			default:
				this.add(this.spans([node]), around);
		}
	}

	private spans(nodes: ReadonlyArray<PhrasingContent | RootContent>): Span[] {
		return nodes.flatMap((node) => spansIn(node, {})).filter(({ text }) => text !== '');
	}

	private add(spans: readonly Span[], around: Around, format: ParagraphBlock['format'] = 'text'): void {
		const { quoteDepth, level } = around;
		const list = level === undefined ? undefined : { level, bullet: this.bullet };
		this.bullet = false;
		const kept = list === undefined ? spans : withoutLeadingTabs(spans);
		this.blocks.push({ kind: 'paragraph', spans: kept, format, quoteDepth, ...(list && { list }) });
	}

	private list(list: List, around: Around): void {
		const ordered = list.ordered ?? false;
		const level = around.level === undefined ? 0 : Math.min(around.level + 1, deepestLevel);
		const first = this.blocks.length;
		const own = around.level === undefined || ordered !== around.ordered;
		const place = this.lists.length;
		for (const item of list.children) this.item(item, { ...around, level, ordered });
		const last = this.blocks.length - 1;
		if (own && last >= first && !this.continueList(list, first, around)) {
			this.lists.splice(place, 0, { first, last, ordered });
			if (ordered && around.level === undefined) {
				this.numbered = { place, next: list.children.length + 1, quoteDepth: around.quoteDepth };
			}
		}
	}

	/**
	 * Continues the previous list if its numbers go on here, such as steps with other text between them. Docs begins every new list at 1.
	 * @returns whether it did
	 */
	private continueList(list: List, first: number, { level, quoteDepth }: Around): boolean {
		const start = list.start ?? 1;
		if (!list.ordered || start === 1) return false;
		const { numbered } = this;
		const range = numbered && this.lists[numbered.place];
		const between = this.blocks.slice((range?.last ?? first) + 1, first);
		const isNext = level === undefined && start === numbered?.next && quoteDepth === numbered.quoteDepth;
		if (!range || !isNext || between.some(({ kind }) => kind === 'table')) {
			this.isRenumbered = true;
			return false;
		}
		for (const [at, block] of between.entries()) {
			if (block.kind !== 'paragraph' || block.list) continue;
			const spans = withoutLeadingTabs(block.spans);
			this.blocks[range.last + 1 + at] = { ...block, spans, between: true };
		}
		this.lists[numbered.place] = { ...range, last: this.blocks.length - 1 };
		this.numbered = { ...numbered, next: start + list.children.length };
		return true;
	}

	private item(item: ListItem, around: Around): void {
		this.bullet = true;
		const at = this.blocks.length;
		const first: BlockContent | DefinitionContent | undefined = item.children[0];
		if (first === undefined || first.type === 'list' || first.type === 'table') this.add([], around);
		this.read(item.children, around);
		this.bullet = false;
		if (typeof item.checked === 'boolean') this.begin(at, item.checked ? '☑ ' : '☐ ');
	}

	private table({ children, align }: Table): void {
		// A document always has a paragraph between two tables.
		if (this.blocks.at(-1)?.kind === 'table') this.blocks.push(paragraph([]));
		const columns = children[0]?.children.length ?? 0;
		const rows = children.map((row) =>
			Array.from({ length: columns }, (_, at) => this.spans(row.children[at]?.children ?? [])),
		);
		const alignments = Array.from({ length: columns }, (_, at) => align?.[at] ?? null);
		this.blocks.push({ kind: 'table', rows, alignments });
	}

	/** A footnote cannot be inserted in the same batch as the rest, so its text goes where it was written. */
	private footnote(name: string, children: readonly RootContent[], around: Around): void {
		const at = this.blocks.length;
		this.read(children, around);
		this.begin(at, `[${name}] `);
	}

	/** Puts a text at the beginning of a paragraph. */
	private begin(at: number, text: string): void {
		const block = this.blocks[at];
		if (block?.kind === 'paragraph') this.blocks[at] = { ...block, spans: [span(text), ...block.spans] };
	}
}

/** Inside a list, Google would read leading tabs as levels. */
function withoutLeadingTabs([first, ...others]: readonly Span[]): Span[] {
	if (first === undefined) return [];
	const text = first.text.replace(/^\t+/, (tabs) => '    '.repeat(tabs.length));
	return [{ ...first, text }, ...others];
}

/** Makes a span of a text, whose line breaks become line breaks inside the paragraph. */
function span(text: string, marks: Marks = {}): Span {
	return { text: cleanText(text).replaceAll('\n', '\v'), marks };
}
