import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { type Span, type TableBlock, joinSpans } from '../../../untrusted/document/blocks';

export type DocsRequest = docs_v1.Schema$Request;

/** The first index of some content, and the index after its last character. */
export type Extent = Readonly<Record<'start' | 'end', number>>;

/** The text of a paragraph or a cell, without its newline, and the indexes that it will have. */
export interface TextLine extends Extent {
	readonly spans: readonly Span[];
}

export interface PlacedTable {
	readonly block: TableBlock;
	/** Where to insert the table once the document contains the text of all paragraphs, but none of the tables before this one. */
	readonly insertIndex: number;
	readonly cells: ReadonlyArray<readonly TextLine[]>;
}

/** Calculates the indexes of cells. A table, a row and a cell each begin with an index of their own. The first row becomes bold. */
export function layOutCells({ rows }: TableBlock, start: number): TextLine[][] {
	let index = start + 1;
	return rows.map((row, rowIndex) => {
		index += 1;
		return row.map((cell) => {
			const spans =
				rowIndex > 0
					? cell
					: cell.map((span) => ({ ...span, marks: { ...span.marks, bold: true } }));
			const line = { spans, start: index + 1, end: index + 1 + joinSpans(cell).length };
			index = line.end + 1;
			return line;
		});
	});
}

/** Builds requests that insert a table, and fill it from the last cell to the first, so that no text moves a cell to fill later. */
export function buildTableRequests(
	{ block, insertIndex }: PlacedTable,
	toLocation: (index: number) => docs_v1.Schema$Location,
): DocsRequest[] {
	const columnCount = block.alignments.length;
	// An empty row has an index of its own. Each of its cells has two: its own and that of its newline.
	const indexesPerRow = 1 + 2 * columnCount;
	const fills = block.rows.flatMap((row, rowIndex) =>
		row.flatMap((spans, columnIndex) => {
			const text = joinSpans(spans);
			// The 4 indexes before the first cell's text: the newline before the table, the table, its first row and first cell.
			const index = insertIndex + 4 + rowIndex * indexesPerRow + 2 * columnIndex;
			return text === '' ? [] : [{ insertText: { text, location: toLocation(index) } }];
		}),
	);
	return [
		{
			insertTable: {
				rows: block.rows.length,
				columns: columnCount,
				location: toLocation(insertIndex),
			},
		},
		...fills.toReversed(),
	];
}
