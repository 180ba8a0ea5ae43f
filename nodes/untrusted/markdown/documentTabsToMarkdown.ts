import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { AlignType, BlockContent, DefinitionContent, RootContent, Table } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Options, toMarkdown } from 'mdast-util-to-markdown';

import { getOrAdd } from '../../core/boundedMap';
import { joinSpans } from '../document/blocks';
import type {
	DocumentTab,
	Elements,
	Paragraph,
	ParagraphIndent,
	ParagraphPiece,
} from '../document/elements';
import * as elements from '../document/elements';
import { type FlatBlock, nestBlocks, buildPhrasing } from './nesting';

type StructuralElement = docs_v1.Schema$StructuralElement;

// The first and the last character of a code block that was made with Docs (https://github.com/Mr0grog/google-docs-to-markdown).
const codeBlockStart = '\uec03';
const codeBlockEnd = '\uec02';
/** Number of spaces for each step of a code line's indentation in Docs. */
const spacesPerIndent = 4;
/** The number of spaces follows from the indentation, which has no limit in a document. */
const maxIndentSpaces = 64;

/** Joins adjacent paragraphs that form a code block, which has one paragraph per line. Returns all other elements unchanged. */
function groupCodeLines(content: Elements, tab: DocumentTab) {
	const parts: Array<{ readonly element: StructuralElement } | FlatBlock> = [];
	const blockEnds = findCodeBlockEnds(content);
	for (let index = 0; index < content.length;) {
		const element = content[index] ?? {};
		const markedEnd = getRawText(element).includes(codeBlockStart)
			? blockEnds[index]
			: undefined;
		const end = markedEnd ?? findFixedWidthEnd(content, index, tab);
		if (end > index) {
			const value = joinCodeLines(content.slice(index, end), tab);
			// The indentation of Docs' own code blocks is not known, so it is ignored.
			const indent = markedEnd === undefined ? getIndent(element) : noIndent;
			parts.push({ node: { type: 'code', value }, ...indent });
			index = end;
		} else {
			parts.push({ element });
			index++;
		}
	}
	return parts;
}

const noIndent: ParagraphIndent = { isQuoted: false, indentPoints: 0 };

/** Finds for each element the index after the next code block; undefined if an element that is no paragraph comes before its end. */
function findCodeBlockEnds(content: Elements): Array<number | undefined> {
	const ends = new Array<number | undefined>(content.length);
	for (let index = content.length - 1; index >= 0; index--) {
		if (!content[index]?.paragraph) ends[index] = undefined;
		else
			ends[index] = getRawText(content[index]).includes(codeBlockEnd)
				? index + 1
				: ends[index + 1];
	}
	return ends;
}

/** Finds the end of a block of lines in a fixed-width font. @returns `start` if no block of several lines begins there */
function findFixedWidthEnd(content: Elements, start: number, tab: DocumentTab): number {
	const firstIndent = getIndent(content[start]);
	let end = start;
	for (let index = start; index < content.length; index++) {
		const pieces = readPlainLine(content[index], tab);
		if (pieces === undefined || !pieces.every(({ marks }) => marks.code)) break;
		// Empty lines belong to a block only if they are between other lines.
		if (pieces.length === 0) {
			if (index === start) break;
			continue;
		}
		if (!isIndentedWithin(getIndent(content[index]), firstIndent)) break;
		end = index + 1;
	}
	return end - start > 1 ? end : start;
}

/** Whether a line may belong to the block of the first line. In a quote, both indents must be equal. Elsewhere, the line may be indented further. */
function isIndentedWithin(indent: ParagraphIndent, firstIndent: ParagraphIndent): boolean {
	if (indent.isQuoted !== firstIndent.isQuoted) return false;
	const extraPoints = indent.indentPoints - firstIndent.indentPoints;
	return indent.isQuoted ? Math.abs(extraPoints) < 1 : extraPoints > -1;
}

/** @returns the pieces of an ordinary line; undefined for a heading, a list item, or text from Markdown, which has our spacing */
function readPlainLine(element: StructuralElement | undefined, tab: DocumentTab) {
	const { paragraph } = element ?? {};
	if (!paragraph || paragraph.bullet) return undefined;
	const {
		namedStyleType = 'NORMAL_TEXT',
		spaceBelow,
		spacingMode,
	} = paragraph.paragraphStyle ?? {};
	if (namedStyleType !== 'NORMAL_TEXT') return undefined;
	const spacing = elements.markdownParagraphSpacing;
	if (
		spacingMode === spacing.spacingMode &&
		spaceBelow?.magnitude === spacing.spaceBelow.magnitude
	)
		return undefined;
	return elements.readPieces(paragraph, tab);
}

const getRawText = (element?: StructuralElement) =>
	elements.getStoredLine(element?.paragraph ?? {});
const getIndent = (element?: StructuralElement) =>
	elements.getParagraphIndent(element?.paragraph ?? {});

/** Joins the lines of a code block. A line outside of quotes gets spaces for its indentation beyond that of the first line. */
function joinCodeLines(lines: Elements, tab: DocumentTab): string {
	const firstIndent = getIndent(lines[0]);
	const texts = lines.map((line) => {
		const text = joinSpans(elements.readPieces(line.paragraph ?? {}, tab)).replaceAll(
			'\v',
			'\n',
		);
		if (firstIndent.isQuoted || text === '') return text;
		const extraPoints = getIndent(line).indentPoints - firstIndent.indentPoints;
		const spaces = Math.round((extraPoints / elements.listIndentPoints) * spacesPerIndent);
		return ' '.repeat(Math.min(Math.max(0, spaces), maxIndentSpaces)) + text;
	});
	return texts.join('\n');
}

/** A backslash before an ampersand without a character reference, as in a URL. Backslashes in pairs before it are text. */
const needlessEscapePattern = /(?<!\\)((?:\\\\)*)\\&(?!#?[A-Za-z\d]*(?:;|$))/g;

/** Writes Markdown as the library does, but without the backslashes before ampersands that need no escape. */
const writeRoot: typeof defaultHandlers.root = (node, parent, state, info) => {
	const escape = state.safe.bind(state);
	state.safe = (text, config) => {
		// The next text may turn the ampersand into a character reference, so it is checked, too. If it begins with an ampersand itself, it
		// is left out, because a backslash at the end of this text is no escape of that ampersand.
		const nextText = config.after === '&' ? '' : config.after;
		const escapedText = (escape(text, config) + nextText).replaceAll(
			needlessEscapePattern,
			'$1&',
		);
		return escapedText.slice(0, escapedText.length - nextText.length);
	};
	return defaultHandlers.root(node, parent, state, info);
};

/** GitHub Flavored Markdown. Extensions without handlers are left out, because they only escape text that looks like an address. */
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

/** Converts headers, bodies, footers and footnotes of tabs to Markdown without a final newline. */
export function documentTabsToMarkdown(tabs: readonly DocumentTab[]): string {
	/** Labels of footnotes, by tab index and footnote ID: numbers that count across all tabs. */
	const labels = new Map<string, string>();
	const getLabel = (footnoteKey: string) =>
		getOrAdd(labels, footnoteKey, () => String(labels.size + 1));
	const children = tabs.flatMap((tab, tabIndex) =>
		new MarkdownTreeBuilder(tab, (id) => getLabel(`${tabIndex} ${id}`)).buildTab(),
	);
	return toMarkdown({ type: 'root', children }, markdownOptions).replace(/\n$/, '');
}

class MarkdownTreeBuilder {
	readonly #tab: DocumentTab;
	readonly #getLabel: (footnoteId: string) => string;
	readonly #glyphs: elements.GlyphCounter;

	constructor(tab: DocumentTab, getLabel: (footnoteId: string) => string) {
		this.#tab = tab;
		this.#getLabel = getLabel;
		this.#glyphs = new elements.GlyphCounter(tab);
	}

	buildTab(): RootContent[] {
		const blocks = elements
			.getTabContents(this.#tab)
			.flatMap((content) => this.#buildBlocks(content));
		const footnotes = elements.getFootnotes(this.#tab).map(({ id, content }): RootContent => {
			const label = this.#getLabel(id);
			return {
				type: 'footnoteDefinition',
				identifier: label,
				label,
				children: this.#buildBlocks(content),
			};
		});
		return [...blocks, ...footnotes];
	}

	#buildBlocks(content: Elements): Array<BlockContent | DefinitionContent> {
		const parts = groupCodeLines(content, this.#tab);
		const blocks = parts.flatMap((part) =>
			'element' in part ? this.#flattenElement(part.element) : part,
		);
		return nestBlocks(blocks);
	}

	#flattenElement({ paragraph, table, tableOfContents }: StructuralElement): FlatBlock[] {
		if (paragraph) return this.#buildParagraphBlocks(paragraph);
		if (tableOfContents)
			return (tableOfContents.content ?? []).flatMap((element) =>
				this.#flattenElement(element),
			);
		if (!table?.tableRows?.length) return [];
		const [cell, ...otherCells] = elements.getCells(table);
		const [part, ...otherParts] = groupCodeLines(cell?.content ?? [], this.#tab);
		// A table with a code block as its only cell is the frame of this code block.
		const isCode = otherCells.length === 0 && otherParts.length === 0 && part && 'node' in part;
		return [{ node: isCode ? part.node : this.#buildTable(table.tableRows), ...noIndent }];
	}

	/** Reads the pieces of a paragraph, with labels in place of the IDs of footnotes. */
	#readLabeledPieces(paragraph: Paragraph): ParagraphPiece[] {
		return elements.readPieces(paragraph, this.#tab).map((piece) => {
			const { footnoteId: id } = piece;
			return id === undefined ? piece : { ...piece, footnoteId: this.#getLabel(id) };
		});
	}

	#buildParagraphBlocks(paragraph: Paragraph): FlatBlock[] {
		const pieces = this.#readLabeledPieces(paragraph);
		const style = paragraph.paragraphStyle ?? {};
		const textPieces = pieces.filter((piece) => !piece.rule);
		const hasRule =
			pieces.length > textPieces.length ||
			(textPieces.length === 0 && elements.isBorderVisible(style.borderBottom));
		const glyph = paragraph.bullet ? this.#glyphs.countItem(paragraph.bullet) : undefined;
		const placement = { ...elements.getParagraphIndent(paragraph), glyph };
		const blocks: FlatBlock[] = hasRule
			? [{ node: { type: 'thematicBreak' }, ...placement }]
			: [];
		const node = this.#buildTextBlock(textPieces, style);
		if (node !== undefined || (glyph !== undefined && !hasRule))
			blocks.push({ node: node ?? { type: 'paragraph', children: [] }, ...placement });
		return blocks;
	}

	#buildTextBlock(
		pieces: readonly ParagraphPiece[],
		style: docs_v1.Schema$ParagraphStyle,
	): BlockContent | undefined {
		const isShaded = style.shading?.backgroundColor?.color !== undefined;
		if (isShaded && pieces.every((piece) => piece.marks.code))
			return { type: 'code', value: joinSpans(pieces).replaceAll('\v', '\n') };
		const depth = elements.getHeadingLevel(style.namedStyleType ?? '');
		const children = buildPhrasing(
			pieces,
			depth ? { type: 'text', value: ' ' } : { type: 'break' },
		);
		if (children.length === 0) return undefined;
		return depth ? { type: 'heading', depth, children } : { type: 'paragraph', children };
	}

	/** Makes the first row the header. A cell of Markdown cannot contain lists and tables, so they become lines of the cell. */
	#buildTable(tableRows: readonly docs_v1.Schema$TableRow[]): Table {
		const [header = [], ...otherRows] = tableRows.map((row) =>
			(row.tableCells ?? []).map((cell) => this.#buildCellLines(cell.content ?? [])),
		);
		const children = [removeBold(header), ...otherRows].map((row) => ({
			type: 'tableRow' as const,
			children: row.map((pieces) => ({
				type: 'tableCell' as const,
				children: buildPhrasing(pieces, { type: 'html', value: '<br>' }),
			})),
		}));
		return {
			type: 'table',
			align: (tableRows[0]?.tableCells ?? []).map(getAlignment),
			children,
		};
	}

	#buildCellLines(content: Elements): ParagraphPiece[] {
		const lines = content.flatMap(({ paragraph, table }) => {
			if (paragraph) {
				const { bullet } = paragraph;
				const glyph = bullet
					? [{ text: `${this.#glyphs.countItem(bullet).text} `, marks: {} }]
					: [];
				return [[...glyph, ...this.#readLabeledPieces(paragraph)]];
			}
			return (table?.tableRows ?? []).map((row) =>
				(row.tableCells ?? []).flatMap((cell, index) => [
					...(index > 0 ? [cellSeparator] : []),
					...this.#buildCellLines(cell.content ?? []),
				]),
			);
		});
		const filledLines = lines.filter((line) => line.length > 0);
		return filledLines.flatMap((line, index) => (index > 0 ? [lineBreak, ...line] : line));
	}
}

const lineBreak: ParagraphPiece = { text: '\v', marks: {} };
const cellSeparator: ParagraphPiece = { text: ' | ', marks: {} };

/** Removes bold from a header in which all text is bold, because Markdown shows a header in bold. */
function removeBold(header: readonly ParagraphPiece[][]): ParagraphPiece[][] {
	const filledPieces = header.flat().filter((piece) => piece.text.trim() !== '');
	if (!filledPieces.every((piece) => piece.marks.bold)) return [...header];
	return header.map((pieces) =>
		pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, bold: undefined } })),
	);
}

function getAlignment(cell: docs_v1.Schema$TableCell): AlignType {
	const alignment = cell.content?.[0]?.paragraph?.paragraphStyle?.alignment;
	if (alignment === 'CENTER') return 'center';
	return alignment === 'END' ? 'right' : null;
}
