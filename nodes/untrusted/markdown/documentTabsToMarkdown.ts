import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { AlignType, BlockContent, DefinitionContent, RootContent, Table } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Options, toMarkdown } from 'mdast-util-to-markdown';

import { getOrAdd } from '../../core/boundedMap';
import { joinSpans } from '../document/blocks';
import type { DocumentTab, Elements, Paragraph, ParagraphPiece } from '../document/elements';
import type { TitledTab } from '../document/elements';
import * as elements from '../document/elements';
import { type FlatBlock, nestBlocks } from './nesting';
import { buildPhrasing } from './phrasing';

type StructuralElement = docs_v1.Schema$StructuralElement;

/** A backslash before an ampersand without a character reference, as in a URL. Backslashes in pairs before it are text. */
const needlessEscapePattern = /(?<!\\)((?:\\\\)*)\\&(?!#?[A-Za-z\d]*(?:;|$))/g;

/** Writes Markdown as the library does, but without the backslashes before ampersands that need no escape. */
const writeRoot: typeof defaultHandlers.root = (node, parent, state, info) => {
	const escape = state.safe.bind(state);
	state.safe = (text, config) => {
		// What follows may turn the ampersand into a character reference. A following ampersand is escaped itself.
		const nextText = config.after === '&' ? '' : config.after;
		const escapedText = escape(text, config) + nextText;
		const shortText = escapedText.replaceAll(needlessEscapePattern, '$1&');
		return shortText.slice(0, shortText.length - nextText.length);
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

/** Converts headers, bodies, footers and footnotes of tabs to Markdown without a final newline. A tab begins with its title, if it has one. */
export function documentTabsToMarkdown(tabs: readonly TitledTab[]): string {
	let footnoteCount = 0;
	const createLabel = () => String(++footnoteCount);
	const children: RootContent[] = [];
	for (const tab of tabs) {
		if (tab.tabTitle !== undefined) children.push(buildTitle(tab.tabTitle));
		children.push(...new MarkdownTreeBuilder(tab, createLabel).buildTab());
	}
	return toMarkdown({ type: 'root', children }, markdownOptions).replace(/\n$/, '');
}

const buildTitle = (value: string): RootContent => ({
	type: 'heading',
	depth: 1,
	children: [{ type: 'text', value }],
});

const noIndent = { isQuoted: false, indentPoints: 0 };

class MarkdownTreeBuilder {
	readonly #tab: DocumentTab;
	/** By footnote ID. */
	readonly #labels = new Map<string, string>();
	readonly #createLabel: () => string;
	readonly #glyphs: elements.GlyphCounter;

	/** @param createLabel returns the next label of a footnote. Labels count across all tabs */
	constructor(tab: DocumentTab, createLabel: () => string) {
		this.#tab = tab;
		this.#createLabel = createLabel;
		this.#glyphs = new elements.GlyphCounter(tab);
	}

	buildTab(): RootContent[] {
		const contents = elements.getTabContents(this.#tab);
		const blocks = contents.flatMap((content) => this.#buildBlocks(content));
		const footnotes = elements.getFootnotes(this.#tab).map(({ id, content }): RootContent => {
			const label = this.#getLabel(id);
			const children = this.#buildBlocks(content);
			return { type: 'footnoteDefinition', identifier: label, label, children };
		});
		return [...blocks, ...footnotes];
	}

	#getLabel = (footnoteId: string) => getOrAdd(this.#labels, footnoteId, this.#createLabel);

	#buildBlocks(content: Elements): Array<BlockContent | DefinitionContent> {
		return nestBlocks(this.#flatten(content));
	}

	#flatten(content: Elements): FlatBlock[] {
		const blocks: FlatBlock[] = [];
		for (let index = 0; index < content.length;) {
			const element = content[index] ?? {};
			const codeEnd = this.#findCodeEnd(content, index);
			if (codeEnd > index) {
				blocks.push(this.#buildCodeBlock(content.slice(index, codeEnd)));
				index = codeEnd;
			} else {
				blocks.push(...this.#flattenElement(element));
				index++;
			}
		}
		return blocks;
	}

	#flattenElement({ paragraph, table, tableOfContents }: StructuralElement): FlatBlock[] {
		if (paragraph) return this.#buildParagraphBlocks(paragraph);
		if (tableOfContents) return this.#flatten(tableOfContents.content ?? []);
		if (!table?.tableRows?.length) return [];
		const [cell, ...otherCells] = elements.getCells(table);
		// A table with a code block as its only cell is the frame of this code block.
		if (cell && otherCells.length === 0) {
			const content = cell.content ?? [];
			const codeEnd = this.#findCodeEnd(content, 0);
			if (codeEnd > 0 && codeEnd === content.length)
				return [{ ...this.#buildCodeBlock(content), ...noIndent }];
		}
		return [{ node: this.#buildTable(table.tableRows), ...noIndent }];
	}

	/** Finds the end of code with one paragraph per line. @returns `start` if no such code begins there */
	#findCodeEnd(content: Elements, start: number): number {
		const first = content[start]?.paragraph;
		if (!first) return start;
		const markedEnd = findMarkedCodeEnd(content, start);
		if (markedEnd > start) return markedEnd;
		if (!this.#isCodeLine(first) || getText(first) === '') return start;
		let end = start + 1;
		for (let index = end; index < content.length; index++) {
			const paragraph = content[index]?.paragraph;
			if (!paragraph || !this.#isCodeLine(paragraph)) break;
			if (getText(paragraph) === '') continue;
			if (getIndent(paragraph).isQuoted !== getIndent(first).isQuoted) break;
			end = index + 1;
		}
		// A single line is text in a fixed-width font.
		return end > start + 1 ? end : start;
	}

	/** Whether a paragraph is a line in a fixed-width font or empty, and was not written from Markdown. */
	#isCodeLine(paragraph: Paragraph): boolean {
		const {
			namedStyleType = 'NORMAL_TEXT',
			spaceBelow,
			spacingMode,
		} = paragraph.paragraphStyle ?? {};
		const spacing = elements.markdownParagraphSpacing;
		const isOurs =
			spacingMode === spacing.spacingMode &&
			spaceBelow?.magnitude === spacing.spaceBelow.magnitude;
		if (paragraph.bullet || namedStyleType !== 'NORMAL_TEXT' || isOurs) return false;
		return elements.readPieces(paragraph, this.#tab).every(({ marks }) => marks.code);
	}

	#buildCodeBlock(lines: Elements): FlatBlock {
		const [first = {}] = lines.map(({ paragraph }) => paragraph ?? {});
		const indent = getIndent(first);
		const texts = lines.map(({ paragraph = {} }) => {
			const text = joinSpans(elements.readPieces(paragraph, this.#tab));
			if (text === '' || indent.isQuoted) return text;
			const points = getIndent(paragraph).indentPoints - indent.indentPoints;
			const spaces = Math.round((points / elements.listIndentPoints) * spacesPerIndent);
			return ' '.repeat(Math.min(Math.max(0, spaces), maxIndentSpaces)) + text;
		});
		const node = { type: 'code', value: texts.join('\n').replaceAll('\v', '\n') } as const;
		// The indentation of Docs' own code blocks is not known, so it is ignored.
		const isMarked = getRawText(first).includes(codeBlockStart);
		return { node, ...(isMarked ? noIndent : indent) };
	}

	/** Reads the pieces of a paragraph, with labels in place of the IDs of footnotes. */
	#readLabeledPieces(paragraph: Paragraph): ParagraphPiece[] {
		return elements.readPieces(paragraph, this.#tab).map((piece) => {
			const { footnoteId: id } = piece;
			if (id === undefined) return piece;
			return { ...piece, footnoteId: this.#getLabel(id) };
		});
	}

	#buildParagraphBlocks(paragraph: Paragraph): FlatBlock[] {
		const allPieces = this.#readLabeledPieces(paragraph);
		const style = paragraph.paragraphStyle ?? {};
		const pieces = allPieces.filter((piece) => !piece.rule);
		const hasRule =
			allPieces.length > pieces.length ||
			(pieces.length === 0 && elements.isBorderVisible(style.borderBottom));
		const glyph = paragraph.bullet ? this.#glyphs.countItem(paragraph.bullet) : undefined;
		const { checked, text } = readTask(pieces, glyph);
		const placement = { ...getIndent(paragraph), glyph, checked };
		const blocks: FlatBlock[] = [];
		if (hasRule) blocks.push({ node: { type: 'thematicBreak' }, ...placement });
		const node = buildTextBlock(text, style);
		if (node) blocks.push({ node, ...placement });
		else if (glyph && !hasRule)
			blocks.push({ node: { type: 'paragraph', children: [] }, ...placement });
		return blocks;
	}

	/** Makes the first row the header. A cell of Markdown cannot contain lists and tables, so they become lines of the cell. */
	#buildTable(tableRows: readonly docs_v1.Schema$TableRow[]): Table {
		const rows = tableRows.map(({ tableCells = [] }) =>
			tableCells.map((cell) => this.#buildCellLines(cell.content ?? [])),
		);
		const [header = [], ...otherRows] = rows;
		const children = [removeBold(header), ...otherRows].map((row) => ({
			type: 'tableRow' as const,
			children: row.map((pieces) => ({
				type: 'tableCell' as const,
				children: buildPhrasing(pieces, { type: 'html', value: '<br>' }),
			})),
		}));
		const align = (tableRows[0]?.tableCells ?? []).map(getAlignment);
		return { type: 'table', align, children };
	}

	#buildCellLines(content: Elements): ParagraphPiece[] {
		const cellPieces: ParagraphPiece[] = [];
		const addLine = (pieces: readonly ParagraphPiece[]) => {
			if (pieces.length === 0) return;
			if (cellPieces.length > 0) cellPieces.push(lineBreak);
			cellPieces.push(...pieces);
		};
		for (const { paragraph, table } of content) {
			if (paragraph) addLine(this.#readCellLine(paragraph));
			for (const { tableCells = [] } of table?.tableRows ?? []) {
				const cells = tableCells.map((cell) => this.#buildCellLines(cell.content ?? []));
				addLine(
					cells.flatMap((pieces, index) =>
						index > 0 ? [cellSeparator, ...pieces] : pieces,
					),
				);
			}
		}
		return cellPieces;
	}

	#readCellLine(paragraph: Paragraph): ParagraphPiece[] {
		const pieces = this.#readLabeledPieces(paragraph);
		if (!paragraph.bullet) return pieces;
		const glyph = this.#glyphs.countItem(paragraph.bullet);
		return [{ text: `${glyph.text} `, marks: {} }, ...pieces];
	}
}

// The first and the last character of a code block that was made with Docs (https://github.com/Mr0grog/google-docs-to-markdown).
const codeBlockStart = '\uec03';
const codeBlockEnd = '\uec02';
/** Number of spaces for each step of a code line's indentation in Docs. */
const spacesPerIndent = 4;
/** The number of spaces follows from the indentation, which has no limit in a document. */
const maxIndentSpaces = 64;

const getRawText = elements.getStoredLine;
const getText = (paragraph: Paragraph) => getRawText(paragraph).trim();
const getIndent = elements.getParagraphIndent;

/** Finds the end of a code block that Docs has marked. @returns `start` if none begins there */
function findMarkedCodeEnd(content: Elements, start: number): number {
	if (!getRawText(content[start]?.paragraph ?? {}).includes(codeBlockStart)) return start;
	let end = start;
	for (let paragraph = content[end]?.paragraph; paragraph; paragraph = content[end]?.paragraph) {
		end++;
		if (getRawText(paragraph).includes(codeBlockEnd)) return end;
	}
	return start;
}

/** Reads whether the box of an item is ticked: a checkbox of Docs, or a character in a list that is no checklist. */
function readTask(pieces: readonly ParagraphPiece[], glyph: elements.Glyph | undefined) {
	const isBlank = pieces.every(({ text }) => text.trim() === '');
	// Markdown has no checkbox without text.
	if (glyph?.kind === 'checkbox' && isBlank) return { text: [{ text: glyph.text, marks: {} }] };
	if (glyph?.kind === 'checkbox') {
		const checked = elements.isTicked(pieces);
		const text = checked ? removeMark(pieces, 'strikethrough') : pieces;
		return { checked, text };
	}
	const [first, ...others] = pieces;
	if (!glyph || !first || !/^[☐☑] /u.test(first.text)) return { text: pieces };
	const text = [{ ...first, text: first.text.slice(2) }, ...others];
	return { checked: first.text.startsWith('☑'), text };
}

const removeMark = (pieces: readonly ParagraphPiece[], mark: 'strikethrough' | 'bold') =>
	pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, [mark]: undefined } }));

function buildTextBlock(
	pieces: readonly ParagraphPiece[],
	{ namedStyleType, shading }: docs_v1.Schema$ParagraphStyle,
): BlockContent | undefined {
	const isShaded = shading?.backgroundColor?.color !== undefined;
	if (isShaded && pieces.every((piece) => piece.marks.code))
		return { type: 'code', value: joinSpans(pieces).replaceAll('\v', '\n') };
	const depth = elements.getHeadingLevel(namedStyleType);
	const children = buildPhrasing(
		pieces,
		depth ? { type: 'text', value: ' ' } : { type: 'break' },
	);
	if (children.length === 0) return undefined;
	return depth ? { type: 'heading', depth, children } : { type: 'paragraph', children };
}

const lineBreak: ParagraphPiece = { text: '\v', marks: {} };
const cellSeparator: ParagraphPiece = { text: ' | ', marks: {} };

/** Removes bold from a header in which all text is bold, because Markdown shows a header in bold. */
function removeBold(header: readonly ParagraphPiece[][]): ParagraphPiece[][] {
	const filledPieces = header.flat().filter((piece) => piece.text.trim() !== '');
	const isBold = filledPieces.every((piece) => piece.marks.bold);
	return header.map((pieces) => (isBold ? removeMark(pieces, 'bold') : pieces));
}

function getAlignment({ content }: docs_v1.Schema$TableCell): AlignType {
	const alignment = content?.[0]?.paragraph?.paragraphStyle?.alignment;
	if (alignment === 'CENTER') return 'center';
	return alignment === 'END' ? 'right' : null;
}
