import { joinSpans, type Span } from '../../../../untrusted/document/blocks';
import type { Block, ParagraphBlock, TableBlock } from '../../../../untrusted/document/blocks';
import type { Extent } from './requestBuilder';

/** The text of a paragraph or a cell, without its newline, and the indexes that it will have. */
interface TextLine extends Extent {
	/** A span with an image address is a picture, which has one index and no text. */
	readonly spans: ReadonlyArray<Span & Extent>;
	readonly isCell?: true;
	/** The size of the table that begins with this cell. */
	readonly newTable?: { readonly rows: number; readonly columns: number };
}

export interface PlacedParagraph extends TextLine {
	readonly block: ParagraphBlock;
}

/** Whether the image with an address becomes a picture. Otherwise it is a link. */
export type PictureTest = (imageUrl: string | undefined) => boolean;

export type Layout = ReturnType<typeof layOut>;

/**
 * Calculates the indexes that content will have. Its text is inserted first, and then its tables
 * and pictures, from first to last.
 */
export function layOut(blocks: readonly Block[], startIndex: number, isPicture: PictureTest) {
	/** Text of all paragraphs, for a single `insertText`. */
	let text = '';
	/** Index of the next block once everything before it is inserted. */
	let nextIndex = startIndex;
	const paragraphs: PlacedParagraph[] = [];
	/** Lines of paragraphs and cells in the order of the document. */
	const lines: TextLine[] = [];
	for (const block of blocks) {
		if (block.kind === 'table') {
			lines.push(...placeCells(block, nextIndex, isPicture));
			// After the last cell come its newline and the end of the table.
			nextIndex = (lines.at(-1)?.end ?? nextIndex) + 2;
		} else {
			// A newline separates neighboring paragraphs. After a table, `insertTable` has already
			// added it.
			if (paragraphs.at(-1)?.end === nextIndex - 1) text += '\n';
			const line = placeLine(block.spans, nextIndex, isPicture);
			paragraphs.push({ ...line, block });
			lines.push(line);
			text += joinSpans(line.spans);
			nextIndex = line.end + 1;
		}
	}
	return { text, paragraphs, lines, start: startIndex, end: nextIndex - 1 };
}

function placeLine(spans: readonly Span[], start: number, isPicture: PictureTest): TextLine {
	const placedSpans: Array<Span & Extent> = [];
	let end = start;
	for (const { text, marks, imageUrl } of spans) {
		const spanStart = end;
		if (isPicture(imageUrl)) {
			end += 1;
			placedSpans.push({ text: '', marks: {}, imageUrl, start: spanStart, end });
		} else {
			end += text.length;
			placedSpans.push({ text, marks, start: spanStart, end });
		}
	}
	return { spans: placedSpans, start, end };
}

/**
 * Calculates the indexes of cells. A table, a row and a cell each begin with an index of their own.
 * The first row becomes bold.
 */
function placeCells({ rows }: TableBlock, start: number, isPicture: PictureTest): TextLine[] {
	const lines: TextLine[] = [];
	let index = start + 1;
	const [header = [], ...otherRows] = rows;
	const size = { rows: rows.length, columns: header.length };
	for (const row of [header.map(makeBold), ...otherRows]) {
		index += 1;
		for (const cell of row) {
			const line = placeLine(cell, index + 1, isPicture);
			lines.push({ ...line, isCell: true, newTable: lines.length === 0 ? size : undefined });
			index = line.end + 1;
		}
	}
	return lines;
}

const makeBold = (cell: readonly Span[]) =>
	cell.map((span) => ({ ...span, marks: { ...span.marks, bold: true } }));
