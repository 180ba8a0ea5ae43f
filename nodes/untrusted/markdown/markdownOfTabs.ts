import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { AlignType, BlockContent, DefinitionContent, RootContent, Table } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { type Options, toMarkdown } from 'mdast-util-to-markdown';

import {
	contentsOf,
	footnotesOf,
	Glyphs,
	isVisible,
	listIndentPoints,
	ownSpacing,
	type Piece,
	piecesOf,
	type Place,
	placeOf,
} from '../document/elements';
import { type FlatBlock, nestBlocks, phrasingOf } from './nesting';

type Element = docs_v1.Schema$StructuralElement;
type Content = readonly Element[];

/**
 * Google Docs' own code blocks have one paragraph per line. Their first and last characters are from the private use area, as seen in
 * https://github.com/Mr0grog/google-docs-to-markdown. Without those characters, consecutive lines in a fixed-width font form one block.
 */
const blockStart = '\uec03';
const blockEnd = '\uec02';
/** The spaces of code that one step of indentation in Docs stands for. */
const spacesPerIndent = 4;
/** A document may have any indentation, which would become any number of spaces. */
const mostSpaces = 64;

/** Joins adjacent paragraphs that form one code block, and leaves all other elements as they are. */
function withCodeBlocks(content: Content, tab: docs_v1.Schema$DocumentTab) {
	const parts: Array<{ readonly element: Element } | FlatBlock> = [];
	const ends = blockEnds(content);
	for (let at = 0; at < content.length;) {
		const marked = rawText(content[at]).includes(blockStart) ? ends[at] : undefined;
		const end = marked ?? fixedWidthEnd(content, at, tab);
		const first = placeOf(content[at]?.paragraph ?? {});
		// The indentation of Docs' own code blocks is not known, so it is ignored.
		const place = marked === undefined ? first : topLevel;
		if (end > at) parts.push(codeBlock(codeOf(content.slice(at, end), first, tab), place));
		else parts.push({ element: content[at] ?? {} });
		at = Math.max(end, at + 1);
	}
	return parts;
}

const topLevel: Place = { quoted: false, indentPoints: 0 };

function codeBlock(value: string, place: Place): FlatBlock {
	return { node: { type: 'code', value }, ...place, glyph: undefined };
}

/** For each position, finds the position after the next end of a code block, if there are only paragraphs up to there. */
function blockEnds(content: Content): Array<number | undefined> {
	const ends = new Array<number | undefined>(content.length);
	for (let at = content.length - 1; at >= 0; at--) {
		if (!content[at]?.paragraph) ends[at] = undefined;
		else ends[at] = rawText(content[at]).includes(blockEnd) ? at + 1 : ends[at + 1];
	}
	return ends;
}

/** Finds the end of a block of lines in a fixed-width font. @returns `start` if no block of several lines begins there */
function fixedWidthEnd(content: Content, start: number, tab: docs_v1.Schema$DocumentTab): number {
	const first = placeOf(content[start]?.paragraph ?? {});
	let end = start;
	for (let at = start; at < content.length; at++) {
		const pieces = plainLine(content[at], tab);
		if (pieces === undefined || !pieces.every(({ marks }) => marks.code)) break;
		// Empty lines belong to a block only if they are between other lines.
		if (pieces.length === 0) {
			if (at === start) break;
			continue;
		}
		if (!isWithin(placeOf(content[at]?.paragraph ?? {}), first)) break;
		end = at + 1;
	}
	return end - start > 1 ? end : start;
}

/** A line belongs to the block if it is indented at least as far as the first one; in quotes, if it is quoted just as deeply. */
function isWithin({ quoted, indentPoints }: Place, first: Place): boolean {
	if (quoted !== first.quoted) return false;
	const further = indentPoints - first.indentPoints;
	return quoted ? Math.abs(further) < 1 : further > -1;
}

/** Returns the pieces of an ordinary line; undefined for a heading, a list item, or what we wrote as a shaded code block or spaced paragraph. */
function plainLine(element: Element | undefined, tab: docs_v1.Schema$DocumentTab): Piece[] | undefined {
	const { paragraph } = element ?? {};
	if (!paragraph || paragraph.bullet) return undefined;
	const { namedStyleType = 'NORMAL_TEXT', shading, spaceBelow, spacingMode } = paragraph.paragraphStyle ?? {};
	if (namedStyleType !== 'NORMAL_TEXT' || shading?.backgroundColor?.color) return undefined;
	const { pointsBelow, mode } = ownSpacing;
	if (spacingMode === mode && spaceBelow?.magnitude === pointsBelow) return undefined;
	return piecesOf(paragraph, tab);
}

function rawText(element: Element | undefined): string {
	return (element?.paragraph?.elements ?? []).map(({ textRun }) => textRun?.content ?? '').join('');
}

function codeOf(lines: Content, first: Place, tab: docs_v1.Schema$DocumentTab): string {
	return lines
		.map(({ paragraph = {} }) => {
			const text = piecesOf(paragraph, tab).map((piece) => piece.text);
			const further = first.quoted ? 0 : placeOf(paragraph).indentPoints - first.indentPoints;
			const spaces = text.length === 0 ? 0 : Math.round((further / listIndentPoints) * spacesPerIndent);
			return ' '.repeat(Math.min(Math.max(0, spaces), mostSpaces)) + text.join('').replaceAll('\v', '\n');
		})
		.join('\n');
}

/** GitHub Flavored Markdown, except that text that merely looks like an address is not escaped: only extensions with handlers are used. */
const options: Options = {
	bullet: '-',
	emphasis: '*',
	listItemIndent: 'one',
	rule: '-',
	extensions: (gfmToMarkdown({ tablePipeAlign: false }).extensions ?? []).filter(
		(extension) => extension.handlers !== undefined,
	),
};

/** Converts headers, body, footers and footnotes of the tabs to Markdown without a final newline. */
export function markdownOfTabs(tabs: readonly docs_v1.Schema$DocumentTab[]): string {
	/** Numbers of the footnotes, counted across all tabs. */
	const labels = new Map<string, string>();
	const labelOf = (key: string) => {
		const label = labels.get(key) ?? String(labels.size + 1);
		labels.set(key, label);
		return label;
	};
	const children = tabs.flatMap((tab, at) => new Printer(tab, (id) => labelOf(`${at} ${id}`)).tab());
	return toMarkdown({ type: 'root', children }, options).replace(/\n$/, '');
}

class Printer {
	private readonly document: docs_v1.Schema$DocumentTab;
	/** Returns the label of the footnote with this ID. */
	private readonly label: (footnoteId: string) => string;
	private readonly glyphs: Glyphs;

	constructor(document: docs_v1.Schema$DocumentTab, label: (footnoteId: string) => string) {
		this.document = document;
		this.label = label;
		this.glyphs = new Glyphs(document);
	}

	tab(): RootContent[] {
		const parts = contentsOf(this.document).flatMap((content) => this.blocks(content));
		const footnotes = footnotesOf(this.document).map(({ id, content }): RootContent => {
			const label = this.label(id);
			return { type: 'footnoteDefinition', identifier: label, label, children: this.blocks(content) };
		});
		return [...parts, ...footnotes];
	}

	private blocks(content: Content): Array<BlockContent | DefinitionContent> {
		const parts = withCodeBlocks(content, this.document);
		return nestBlocks(parts.flatMap((part) => ('element' in part ? this.flat(part.element) : part)));
	}

	private flat({ paragraph, table, tableOfContents }: Element): FlatBlock[] {
		if (paragraph) return this.paragraph(paragraph);
		if (tableOfContents) return (tableOfContents.content ?? []).flatMap((element) => this.flat(element));
		if (!table?.tableRows?.length) return [];
		const [cell, ...others] = table.tableRows.flatMap((row) => row.tableCells ?? []);
		const [part, ...more] = withCodeBlocks(cell?.content ?? [], this.document);
		// A table whose only cell is a code block is that block's frame.
		const isCode = others.length === 0 && more.length === 0 && part && 'node' in part;
		return [{ node: isCode ? part.node : this.table(table.tableRows), ...topLevel, glyph: undefined }];
	}

	/** Reads a paragraph's pieces, with labels of footnotes in place of their IDs. */
	private pieces(paragraph: docs_v1.Schema$Paragraph): Piece[] {
		return piecesOf(paragraph, this.document).map((piece) =>
			piece.footnoteId === undefined ? piece : { ...piece, footnoteId: this.label(piece.footnoteId) },
		);
	}

	private paragraph(paragraph: docs_v1.Schema$Paragraph): FlatBlock[] {
		const pieces = this.pieces(paragraph);
		const style = paragraph.paragraphStyle ?? {};
		const text = pieces.filter((piece) => !piece.rule);
		const ruled = pieces.length > text.length || (text.length === 0 && isVisible(style.borderBottom));
		const glyph = paragraph.bullet ? this.glyphs.next(paragraph.bullet) : undefined;
		const around = { ...placeOf(paragraph), glyph };
		const nodes: FlatBlock[] = ruled ? [{ node: { type: 'thematicBreak' }, ...around }] : [];
		const node = this.textBlock(text, style);
		if (node !== undefined || (glyph !== undefined && !ruled)) {
			nodes.push({ node: node ?? { type: 'paragraph', children: [] }, ...around });
		}
		return nodes;
	}

	private textBlock(
		pieces: readonly Piece[],
		style: docs_v1.Schema$ParagraphStyle,
	): BlockContent | undefined {
		const shaded = style.shading?.backgroundColor?.color !== undefined;
		if (shaded && pieces.every((piece) => piece.marks.code)) {
			const value = pieces.map((piece) => piece.text).join('');
			return { type: 'code', value: value.replaceAll('\v', '\n') };
		}
		const depth = headingDepth(style.namedStyleType ?? '');
		const children = phrasingOf(pieces, depth ? { type: 'text', value: ' ' } : { type: 'break' });
		if (children.length === 0) return undefined;
		return depth ? { type: 'heading', depth, children } : { type: 'paragraph', children };
	}

	/** Makes the first row the header. Lists and tables in a cell, for which Markdown has no syntax there, become lines of the cell. */
	private table(tableRows: readonly docs_v1.Schema$TableRow[]): Table {
		const [header = [], ...others] = tableRows.map((row) =>
			(row.tableCells ?? []).map((cell) => this.lines(cell.content ?? [])),
		);
		const children = [withoutBold(header), ...others].map((row) => ({
			type: 'tableRow' as const,
			children: row.map((pieces) => ({
				type: 'tableCell' as const,
				children: phrasingOf(pieces, { type: 'html', value: '<br>' }),
			})),
		}));
		return { type: 'table', align: (tableRows[0]?.tableCells ?? []).map(alignmentOf), children };
	}

	private lines(content: Content): Piece[] {
		const lines = content.flatMap(({ paragraph, table }) => {
			if (paragraph) {
				const glyph = paragraph.bullet && { text: `${this.glyphs.next(paragraph.bullet).text} `, marks: {} };
				return [[...(glyph ? [glyph] : []), ...this.pieces(paragraph)]];
			}
			return (table?.tableRows ?? []).map((row) =>
				(row.tableCells ?? []).flatMap((cell, at) => [
					...(at > 0 ? [cellSeparator] : []),
					...this.lines(cell.content ?? []),
				]),
			);
		});
		return lines
			.filter((line) => line.length > 0)
			.flatMap((line, at) => (at > 0 ? [lineBreak, ...line] : line));
	}
}

function headingDepth(namedStyle: string): 1 | 2 | 3 | 4 | 5 | 6 | undefined {
	if (namedStyle === 'TITLE') return 1;
	if (namedStyle === 'SUBTITLE') return 2;
	return ([1, 2, 3, 4, 5, 6] as const).find((depth) => namedStyle === `HEADING_${depth}`);
}

const lineBreak: Piece = { text: '\v', marks: {} };
const cellSeparator: Piece = { text: ' | ', marks: {} };

/** Removes bold from headers, because they are bold anyway. */
function withoutBold(header: readonly Piece[][]): Piece[][] {
	const written = header.flat().filter((piece) => piece.text.trim() !== '');
	if (!written.every((piece) => piece.marks.bold)) return [...header];
	return header.map((pieces) =>
		pieces.map((piece) => ({ ...piece, marks: { ...piece.marks, bold: undefined } })),
	);
}

function alignmentOf(cell: docs_v1.Schema$TableCell): AlignType {
	const alignment = cell.content?.[0]?.paragraph?.paragraphStyle?.alignment;
	if (alignment === 'CENTER') return 'center';
	return alignment === 'END' ? 'right' : null;
}
