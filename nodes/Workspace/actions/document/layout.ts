import { joinSpans, type Span } from '../../../untrusted/document/blocks';
import type { Block, ParagraphBlock, TableBlock } from '../../../untrusted/document/blocks';
import type { Extent } from './requestBuilder';

export type PlacedSpan = Span & Extent;

/** The text of a paragraph or a cell, without its newline, and the indexes that it will have. */
interface TextLine extends Extent {
	readonly spans: readonly PlacedSpan[];
}

export interface PlacedParagraph extends TextLine {
	readonly block: ParagraphBlock;
}

export interface PlacedTable {
	readonly block: TableBlock;
	/** Where to insert the table once the document contains the text of all paragraphs, but none of the tables before this one. */
	readonly insertIndex: number;
}

export type Layout = ReturnType<typeof layOut>;

/** Calculates the indexes that content will have. Its text is inserted first, and then its tables, from last to first. */
export function layOut(blocks: readonly Block[], startIndex: number) {
	/** Text of all paragraphs, for a single `insertText`. */
	let text = '';
	/** Index of the next block once all tables before it are inserted. */
	let nextIndex = startIndex;
	const paragraphs: PlacedParagraph[] = [];
	const tables: PlacedTable[] = [];
	/** Lines of paragraphs and cells in the order of the document. */
	const lines: TextLine[] = [];
	for (const block of blocks) {
		if (block.kind === 'table') {
			tables.push({ block, insertIndex: startIndex + text.length });
			lines.push(...placeCells(block, nextIndex));
			// After the last cell come its newline and the end of the table.
			nextIndex = (lines.at(-1)?.end ?? nextIndex) + 2;
		} else {
			// `insertTable` adds a newline before the table, so there is only one between two paragraphs.
			if (paragraphs.at(-1)?.end === nextIndex - 1) text += '\n';
			const line = placeLine(block.spans, nextIndex);
			paragraphs.push({ ...line, block });
			lines.push(line);
			text += joinSpans(block.spans);
			nextIndex = line.end + 1;
		}
	}
	return { text, paragraphs, tables, lines, start: startIndex, end: nextIndex - 1 };
}

function placeLine(spans: readonly Span[], start: number): TextLine {
	const placedSpans: PlacedSpan[] = [];
	let end = start;
	for (const span of spans) {
		const spanStart = end;
		end += span.text.length;
		placedSpans.push({ ...span, start: spanStart, end });
	}
	return { spans: placedSpans, start, end };
}

/** Calculates the indexes of cells. A table, a row and a cell each begin with an index of their own. The first row becomes bold. */
function placeCells({ rows }: TableBlock, start: number): TextLine[] {
	const lines: TextLine[] = [];
	let index = start + 1;
	for (const row of rows) {
		index += 1;
		for (const cell of row) {
			const spans = row === rows[0] ? cell.map(makeBold) : cell;
			const line = placeLine(spans, index + 1);
			lines.push(line);
			index = line.end + 1;
		}
	}
	return lines;
}

const makeBold = (span: Span) => ({ ...span, marks: { ...span.marks, bold: true } });
