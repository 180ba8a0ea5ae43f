import { joinSpans, type Span } from '../../../untrusted/document/blocks';
import type { Block, ParagraphBlock, TableBlock } from '../../../untrusted/document/blocks';
import type { Extent } from './requestBuilder';

/** The text of a paragraph or a cell, without its newline, and the indexes that it will have. */
interface TextLine extends Extent {
	readonly spans: readonly Span[];
}

export interface PlacedParagraph extends TextLine {
	readonly block: ParagraphBlock;
}

export interface PlacedTable {
	readonly block: TableBlock;
	/** Where to insert the table once the document contains the text of all paragraphs, but none of the tables before this one. */
	readonly insertIndex: number;
	readonly cells: ReadonlyArray<readonly TextLine[]>;
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
	for (const [position, block] of blocks.entries()) {
		if (block.kind === 'table') {
			const cells = placeCells(block, nextIndex);
			tables.push({ block, insertIndex: startIndex + text.length, cells });
			lines.push(...cells.flat());
			// After the last cell come its newline and the end of the table.
			nextIndex = (lines.at(-1)?.end ?? nextIndex) + 2;
		} else {
			const line = placeLine(block.spans, nextIndex);
			paragraphs.push({ ...line, block });
			lines.push(line);
			text += joinSpans(block.spans);
			// `insertTable` adds a newline before the table, so none is inserted there.
			if (blocks[position + 1]?.kind === 'paragraph') text += '\n';
			nextIndex = line.end + 1;
		}
	}
	return { text, paragraphs, tables, lines, start: startIndex, end: nextIndex - 1 };
}

function placeLine(spans: readonly Span[], start: number): TextLine {
	return { spans, start, end: start + joinSpans(spans).length };
}

/** Calculates the indexes of cells. A table, a row and a cell each begin with an index of their own. The first row becomes bold. */
function placeCells({ rows }: TableBlock, start: number): TextLine[][] {
	let index = start + 1;
	return rows.map((row, rowIndex) => {
		index += 1;
		return row.map((cell) => {
			const line = placeLine(rowIndex === 0 ? cell.map(makeBold) : cell, index + 1);
			index = line.end + 1;
			return line;
		});
	});
}

const makeBold = (span: Span) => ({ ...span, marks: { ...span.marks, bold: true } });

export function placeSpans({ lines }: Pick<Layout, 'lines'>): Array<Span & Extent> {
	return lines.flatMap(({ spans, start: lineStart }) => {
		let end = lineStart;
		return spans.map((span) => {
			const start = end;
			end += span.text.length;
			return { ...span, start, end };
		});
	});
}
