import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import type { AlignType, PhrasingContent, Table } from 'mdast';

import { piecesOf, type Piece } from '../document/elements';
import { Glyphs } from '../document/glyphs';

const lineBreak: Piece = { text: '\v', marks: {} };
const cellSeparator: Piece = { text: ' | ', marks: {} };

/**
 * A table whose first row is its header. Content for which a Markdown cell has no syntax becomes lines of the
 * cell.
 */
export function tableOf(
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
