import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { AlignType, BlockContent, DefinitionContent, RootContent, Table } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Options, toMarkdown } from 'mdast-util-to-markdown';

import { joinSpans } from '../document/blocks';
import * as elements from '../document/elements';
import { type FlatBlock, nestBlocks, buildPhrasing } from './nesting';

type StructuralElement = elements.Elements[number];

/**
 * Google Docs' own code blocks have one paragraph per line. Their first and last characters are from the private use area, as seen in
 * https://github.com/Mr0grog/google-docs-to-markdown. Without those characters, consecutive lines in a fixed-width font form one block.
 */
const codeBlockStart = '\uec03';
const codeBlockEnd = '\uec02';
/** The spaces of code that one step of indentation in Docs stands for. */
const spacesPerIndent = 4;
/** A document may have any indentation, which would become any number of spaces. */
const maxIndentSpaces = 64;

/** Joins adjacent paragraphs that form one code block, and leaves all other elements as they are. */
function groupCodeLines(content: elements.Elements, tab: elements.DocumentTab) {
	const parts: Array<{ readonly element: StructuralElement } | FlatBlock> = [];
	const ends = findCodeBlockEnds(content);
	for (let at = 0; at < content.length;) {
		const marked = getRawText(content[at]).includes(codeBlockStart) ? ends[at] : undefined;
		const end = marked ?? findFixedWidthEnd(content, at, tab);
		const first = elements.getParagraphIndent(content[at]?.paragraph ?? {});
		// The indentation of Docs' own code blocks is not known, so it is ignored.
		const place = marked === undefined ? first : noIndent;
		const value = joinCodeLines(content.slice(at, end), first, tab);
		if (end > at) parts.push({ node: { type: 'code', value }, ...place });
		else parts.push({ element: content[at] ?? {} });
		at = Math.max(end, at + 1);
	}
	return parts;
}

const noIndent: elements.ParagraphIndent = { isQuoted: false, indentPoints: 0 };

/** For each position, finds the position after the next end of a code block, if there are only paragraphs up to there. */
function findCodeBlockEnds(content: elements.Elements): Array<number | undefined> {
	const ends = new Array<number | undefined>(content.length);
	for (let at = content.length - 1; at >= 0; at--) {
		if (!content[at]?.paragraph) ends[at] = undefined;
		else ends[at] = getRawText(content[at]).includes(codeBlockEnd) ? at + 1 : ends[at + 1];
	}
	return ends;
}

/** Finds the end of a block of lines in a fixed-width font. @returns `start` if no block of several lines begins there */
function findFixedWidthEnd(content: elements.Elements, start: number, tab: elements.DocumentTab): number {
	const first = elements.getParagraphIndent(content[start]?.paragraph ?? {});
	let end = start;
	for (let at = start; at < content.length; at++) {
		const pieces = readPlainLine(content[at], tab);
		if (pieces === undefined || !pieces.every(({ marks }) => marks.code)) break;
		// Empty lines belong to a block only if they are between other lines.
		if (pieces.length === 0) {
			if (at === start) break;
			continue;
		}
		if (!isIndentedWithin(elements.getParagraphIndent(content[at]?.paragraph ?? {}), first)) break;
		end = at + 1;
	}
	return end - start > 1 ? end : start;
}

/** A line belongs to the block if it is indented at least as far as the first one; in quotes, if it is quoted just as deeply. */
function isIndentedWithin(
	{ isQuoted, indentPoints }: elements.ParagraphIndent,
	first: elements.ParagraphIndent,
): boolean {
	if (isQuoted !== first.isQuoted) return false;
	const further = indentPoints - first.indentPoints;
	return isQuoted ? Math.abs(further) < 1 : further > -1;
}

/** Returns the pieces of an ordinary line; undefined for a heading, a list item, or what we wrote from Markdown, which has our spacing. */
function readPlainLine(element: StructuralElement | undefined, tab: elements.DocumentTab) {
	const { paragraph } = element ?? {};
	if (!paragraph || paragraph.bullet) return undefined;
	const { namedStyleType = 'NORMAL_TEXT', spaceBelow, spacingMode } = paragraph.paragraphStyle ?? {};
	if (namedStyleType !== 'NORMAL_TEXT') return undefined;
	const ours = elements.markdownParagraphSpacing;
	if (spacingMode === ours.spacingMode && spaceBelow?.magnitude === ours.spaceBelow.magnitude)
		return undefined;
	return elements.readPieces(paragraph, tab);
}

const getRawText = (element?: StructuralElement) => elements.getStoredLine(element?.paragraph ?? {});

function joinCodeLines(
	lines: elements.Elements,
	first: elements.ParagraphIndent,
	tab: elements.DocumentTab,
): string {
	return lines
		.map(({ paragraph = {} }) => {
			const text = joinSpans(elements.readPieces(paragraph, tab)).replaceAll('\v', '\n');
			const further = first.isQuoted
				? 0
				: elements.getParagraphIndent(paragraph).indentPoints - first.indentPoints;
			const spaces = text === '' ? 0 : Math.round((further / elements.listIndentPoints) * spacesPerIndent);
			return ' '.repeat(Math.min(Math.max(0, spaces), maxIndentSpaces)) + text;
		})
		.join('\n');
}

/** A backslash before an ampersand that begins no character reference, as in the query of a URL. */
const needlessEscape = /(?<!\\)((?:\\\\)*)\\&(?!#?[A-Za-z\d]*(?:;|$))/g;

/** Escapes as the library does, except ampersands that need no escape. */
const writeRoot: typeof defaultHandlers.root = (node, parent, state, info) => {
	const safe = state.safe.bind(state);
	state.safe = (text, place) => {
		// Includes what follows, which may make the ampersand a reference, but no further ampersand: its backslash belongs to other text.
		const next = place.after === '&' ? '' : place.after;
		const written = (safe(text, place) + next).replaceAll(needlessEscape, '$1&');
		return written.slice(0, written.length - next.length);
	};
	return defaultHandlers.root(node, parent, state, info);
};

/** GitHub Flavored Markdown, except that text that merely looks like an address is not escaped: only extensions with handlers are used. */
const markdownOptions: Options = {
	bullet: '-',
	emphasis: '*',
	listItemIndent: 'one',
	rule: '-',
	handlers: { root: writeRoot },
	extensions: (gfmToMarkdown({ tablePipeAlign: false }).extensions ?? []).filter(
		(extension) => extension.handlers !== undefined,
	),
};

/** Converts headers, body, footers and footnotes of the tabs to Markdown without a final newline. */
export function documentTabsToMarkdown(tabs: readonly elements.DocumentTab[]): string {
	/** Numbers of the footnotes, counted across all tabs. */
	const labels = new Map<string, string>();
	const getLabel = (key: string) => {
		const label = labels.get(key) ?? String(labels.size + 1);
		labels.set(key, label);
		return label;
	};
	const children = tabs.flatMap((tab, at) =>
		new MarkdownTreeBuilder(tab, (id) => getLabel(`${at} ${id}`)).buildTab(),
	);
	return toMarkdown({ type: 'root', children }, markdownOptions).replace(/\n$/, '');
}

class MarkdownTreeBuilder {
	readonly #document: elements.DocumentTab;
	/** Returns the label of the footnote with this ID. */
	readonly #getLabel: (footnoteId: string) => string;
	readonly #glyphs: elements.GlyphCounter;

	constructor(document: elements.DocumentTab, label: (footnoteId: string) => string) {
		this.#document = document;
		this.#getLabel = label;
		this.#glyphs = new elements.GlyphCounter(document);
	}

	buildTab(): RootContent[] {
		const parts = elements.getTabContents(this.#document).flatMap((content) => this.#buildBlocks(content));
		const footnotes = elements.getFootnotes(this.#document).map(({ id, content }): RootContent => {
			const label = this.#getLabel(id);
			return { type: 'footnoteDefinition', identifier: label, label, children: this.#buildBlocks(content) };
		});
		return [...parts, ...footnotes];
	}

	#buildBlocks(content: elements.Elements): Array<BlockContent | DefinitionContent> {
		const parts = groupCodeLines(content, this.#document);
		return nestBlocks(
			parts.flatMap((part) => ('element' in part ? this.#flattenElement(part.element) : part)),
		);
	}

	#flattenElement({ paragraph, table, tableOfContents }: StructuralElement): FlatBlock[] {
		if (paragraph) return this.#buildParagraphBlocks(paragraph);
		if (tableOfContents)
			return (tableOfContents.content ?? []).flatMap((element) => this.#flattenElement(element));
		if (!table?.tableRows?.length) return [];
		const [cell, ...others] = elements.getCells(table);
		const [part, ...more] = groupCodeLines(cell?.content ?? [], this.#document);
		// A table whose only cell is a code block is that block's frame.
		const isCode = others.length === 0 && more.length === 0 && part && 'node' in part;
		return [{ node: isCode ? part.node : this.#buildTable(table.tableRows), ...noIndent }];
	}

	/** Reads a paragraph's pieces, with labels of footnotes in place of their IDs. */
	#readLabeledPieces(paragraph: elements.Paragraph): elements.ParagraphPiece[] {
		return elements
			.readPieces(paragraph, this.#document)
			.map((piece) =>
				piece.footnoteId === undefined ? piece : { ...piece, footnoteId: this.#getLabel(piece.footnoteId) },
			);
	}

	#buildParagraphBlocks(paragraph: elements.Paragraph): FlatBlock[] {
		const pieces = this.#readLabeledPieces(paragraph);
		const style = paragraph.paragraphStyle ?? {};
		const text = pieces.filter((piece) => !piece.rule);
		const isRuled =
			pieces.length > text.length || (text.length === 0 && elements.isBorderVisible(style.borderBottom));
		const glyph = paragraph.bullet ? this.#glyphs.countItem(paragraph.bullet) : undefined;
		const around = { ...elements.getParagraphIndent(paragraph), glyph };
		const nodes: FlatBlock[] = isRuled ? [{ node: { type: 'thematicBreak' }, ...around }] : [];
		const node = this.#buildTextBlock(text, style);
		if (node !== undefined || (glyph !== undefined && !isRuled)) {
			nodes.push({ node: node ?? { type: 'paragraph', children: [] }, ...around });
		}
		return nodes;
	}

	#buildTextBlock(
		pieces: readonly elements.ParagraphPiece[],
		style: docs_v1.Schema$ParagraphStyle,
	): BlockContent | undefined {
		const isShaded = style.shading?.backgroundColor?.color !== undefined;
		if (isShaded && pieces.every((piece) => piece.marks.code)) {
			return { type: 'code', value: joinSpans(pieces).replaceAll('\v', '\n') };
		}
		const depth = elements.getHeadingDepth(style.namedStyleType ?? '');
		const children = buildPhrasing(pieces, depth ? { type: 'text', value: ' ' } : { type: 'break' });
		if (children.length === 0) return undefined;
		return depth ? { type: 'heading', depth, children } : { type: 'paragraph', children };
	}

	/** Makes the first row the header. Lists and tables in a cell, for which Markdown has no syntax there, become lines of the cell. */
	#buildTable(tableRows: readonly docs_v1.Schema$TableRow[]): Table {
		const [header = [], ...others] = tableRows.map((row) =>
			(row.tableCells ?? []).map((cell) => this.#buildCellLines(cell.content ?? [])),
		);
		const children = [removeBold(header), ...others].map((row) => ({
			type: 'tableRow' as const,
			children: row.map((pieces) => ({
				type: 'tableCell' as const,
				children: buildPhrasing(pieces, { type: 'html', value: '<br>' }),
			})),
		}));
		return { type: 'table', align: (tableRows[0]?.tableCells ?? []).map(getAlignment), children };
	}

	#buildCellLines(content: elements.Elements): elements.ParagraphPiece[] {
		const lines = content.flatMap(({ paragraph, table }) => {
			if (paragraph) {
				const { bullet } = paragraph;
				const glyph = bullet ? [{ text: `${this.#glyphs.countItem(bullet).text} `, marks: {} }] : [];
				return [[...glyph, ...this.#readLabeledPieces(paragraph)]];
			}
			return (table?.tableRows ?? []).map((row) =>
				(row.tableCells ?? []).flatMap((cell, at) => [
					...(at > 0 ? [cellSeparator] : []),
					...this.#buildCellLines(cell.content ?? []),
				]),
			);
		});
		const written = lines.filter((line) => line.length > 0);
		return written.flatMap((line, at) => (at > 0 ? [lineBreak, ...line] : line));
	}
}

const lineBreak: elements.ParagraphPiece = { text: '\v', marks: {} };
const cellSeparator: elements.ParagraphPiece = { text: ' | ', marks: {} };

/** Removes bold from headers, because they are bold anyway. */
function removeBold(header: readonly elements.ParagraphPiece[][]): elements.ParagraphPiece[][] {
	const written = header.flat().filter((piece) => piece.text.trim() !== '');
	if (!written.every((piece) => piece.marks.bold)) return [...header];
	return header.map((pieces) =>
		pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, bold: undefined } })),
	);
}

function getAlignment(cell: docs_v1.Schema$TableCell): AlignType {
	const alignment = cell.content?.[0]?.paragraph?.paragraphStyle?.alignment;
	if (alignment === 'CENTER') return 'center';
	return alignment === 'END' ? 'right' : null;
}
