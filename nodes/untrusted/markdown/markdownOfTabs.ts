import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { AlignType, BlockContent, DefinitionContent, PhrasingContent, RootContent, Table } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { type Options, toMarkdown } from 'mdast-util-to-markdown';

import { contentsOf, footnotesOf, type Piece, piecesOf } from '../document/elements';
import { Glyphs } from '../document/glyphs';
import { isVisible, placeOf } from '../document/indents';
import { withCodeBlocks } from './codeBlocks';
import { type FlatBlock, nestBlocks } from './nest';
import { phrasingOf } from './phrasing';

type Content = readonly docs_v1.Schema$StructuralElement[];

/** GFM, but text that merely looks like an address is not escaped. */
const options: Options = {
	bullet: '-',
	emphasis: '*',
	listItemIndent: 'one',
	rule: '-',
	extensions: (gfmToMarkdown({ tablePipeAlign: false }).extensions ?? []).filter(
		(extension) => extension.handlers !== undefined,
	),
};

/** Headers, body, footers and footnotes of the tabs, without the final newline. */
export function markdownOfTabs(tabs: readonly docs_v1.Schema$DocumentTab[]): string {
	const labels = new Map<string, string>();
	const children = tabs.flatMap((tab, at) => new Printer(tab, `${at}`, labels).tab());
	return toMarkdown({ type: 'root', children }, options).replace(/\n$/, '');
}

class Printer {
	private readonly document: docs_v1.Schema$DocumentTab;
	private readonly key: string;
	/** Footnote numbers, counted across all tabs. */
	private readonly labels: Map<string, string>;
	private readonly glyphs: Glyphs;

	constructor(document: docs_v1.Schema$DocumentTab, key: string, labels: Map<string, string>) {
		this.document = document;
		this.key = key;
		this.labels = labels;
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

	private label(footnoteId: string): string {
		const key = `${this.key} ${footnoteId}`;
		const label = this.labels.get(key) ?? String(this.labels.size + 1);
		this.labels.set(key, label);
		return label;
	}

	private blocks(content: Content): Array<BlockContent | DefinitionContent> {
		const parts = withCodeBlocks(content, this.document);
		return nestBlocks(
			parts.flatMap((part) =>
				'element' in part
					? this.flat(part.element)
					: { node: { type: 'code', value: part.code }, ...part.place, glyph: undefined },
			),
		);
	}

	private flat({ paragraph, table, tableOfContents }: docs_v1.Schema$StructuralElement): FlatBlock[] {
		if (paragraph) return this.paragraph(paragraph);
		if (tableOfContents) return (tableOfContents.content ?? []).flatMap((element) => this.flat(element));
		if (!table) return [];
		const code = this.codeIn(table);
		if (code) return code;
		const node = tableOf(table, this.document, (pieces) =>
			this.phrasing(pieces, { type: 'html', value: '<br>' }),
		);
		return node === undefined ? [] : [{ node, quoted: false, indentPoints: 0, glyph: undefined }];
	}

	/** The lines of a code block for which a table of one cell is the frame. */
	private codeIn({ tableRows = [] }: docs_v1.Schema$Table): FlatBlock[] | undefined {
		const [cell, ...others] = tableRows.flatMap((row) => row.tableCells ?? []);
		if (!cell || others.length > 0) return undefined;
		const [part, ...more] = withCodeBlocks(cell.content ?? [], this.document);
		if (!part || 'element' in part || more.length > 0) return undefined;
		return [{ node: { type: 'code', value: part.code }, quoted: false, indentPoints: 0, glyph: undefined }];
	}

	private phrasing(pieces: readonly Piece[], lineBreak: Parameters<typeof phrasingOf>[1]) {
		return phrasingOf(pieces, lineBreak, (id) => this.label(id));
	}

	private paragraph(paragraph: docs_v1.Schema$Paragraph): FlatBlock[] {
		const pieces = piecesOf(paragraph, this.document);
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
			return {
				type: 'code',
				value: pieces
					.map((piece) => piece.text)
					.join('')
					.replaceAll('\v', '\n'),
			};
		}
		const depth = headingDepth(style.namedStyleType ?? '');
		if (depth === undefined) {
			const children = this.phrasing(pieces, { type: 'break' });
			return children.length > 0 ? { type: 'paragraph', children } : undefined;
		}
		const children = this.phrasing(pieces, { type: 'text', value: ' ' });
		return children.length > 0 ? { type: 'heading', depth, children } : undefined;
	}
}

function headingDepth(namedStyle: string): 1 | 2 | 3 | 4 | 5 | 6 | undefined {
	if (namedStyle === 'TITLE') return 1;
	if (namedStyle === 'SUBTITLE') return 2;
	const depth = Number(/^HEADING_([1-6])$/.exec(namedStyle)?.[1]);
	return depth === 1 || depth === 2 || depth === 3 || depth === 4 || depth === 5 || depth === 6
		? depth
		: undefined;
}

const lineBreak: Piece = { text: '\v', marks: {} };
const cellSeparator: Piece = { text: ' | ', marks: {} };

/**
 * A table whose first row is its header. Content for which a Markdown cell has no syntax becomes lines of the
 * cell.
 */
function tableOf(
	table: docs_v1.Schema$Table,
	tab: docs_v1.Schema$DocumentTab,
	phrasing: (pieces: readonly Piece[]) => PhrasingContent[],
): Table | undefined {
	const glyphs = new Glyphs(tab);
	const rows = (table.tableRows ?? []).map((row) =>
		(row.tableCells ?? []).map((cell) => linesOf(cell.content ?? [], tab, glyphs)),
	);
	const [header, ...others] = rows;
	if (header === undefined) return undefined;
	const align = (table.tableRows?.[0]?.tableCells ?? []).map(alignmentOf);
	const children = [withoutBold(header), ...others].map((row) => ({
		type: 'tableRow' as const,
		children: row.map((pieces) => ({ type: 'tableCell' as const, children: phrasing(pieces) })),
	}));
	return { type: 'table', align, children };
}

function linesOf(
	content: readonly docs_v1.Schema$StructuralElement[],
	tab: docs_v1.Schema$DocumentTab,
	glyphs: Glyphs,
): Piece[] {
	const lines = content.flatMap(({ paragraph, table }) => {
		if (paragraph) {
			const glyph = paragraph.bullet ? [{ text: `${glyphs.next(paragraph.bullet).text} `, marks: {} }] : [];
			return [[...glyph, ...piecesOf(paragraph, tab)]];
		}
		return (table?.tableRows ?? []).map((row) =>
			(row.tableCells ?? []).flatMap((cell, at) => [
				...(at > 0 ? [cellSeparator] : []),
				...linesOf(cell.content ?? [], tab, glyphs),
			]),
		);
	});
	return lines
		.filter((line) => line.length > 0)
		.flatMap((line, at) => (at > 0 ? [lineBreak, ...line] : line));
}

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
