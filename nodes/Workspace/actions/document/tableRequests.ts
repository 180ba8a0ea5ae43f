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
	/** Index for the insertion of the table. The text of all paragraphs is inserted before it, and the tables in front of it after it. */
	readonly insertIndex: number;
	readonly cells: ReadonlyArray<readonly TextLine[]>;
}

/** Calculates the indexes of cells. In Docs, a table, a row and a cell each begin with an index of their own. The first row is a header. */
export function layOutCells({ rows }: TableBlock, start: number): TextLine[][] {
	let index = start + 1;
	return rows.map((row, rowIndex) => {
		index += 1;
		return row.map((cell) => {
			const spans =
				rowIndex > 0 ? cell : cell.map((span) => ({ ...span, marks: { ...span.marks, bold: true } }));
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
	const fills = block.rows.flatMap((row, rowIndex) =>
		row.flatMap((spans, columnIndex) => {
			const text = joinSpans(spans);
			// The table, each row and each cell begin with an index of their own, and an empty cell has a newline.
			const index = insertIndex + 4 + rowIndex * (1 + 2 * columnCount) + 2 * columnIndex;
			return text === '' ? [] : [{ insertText: { text, location: toLocation(index) } }];
		}),
	);
	return [
		{ insertTable: { rows: block.rows.length, columns: columnCount, location: toLocation(insertIndex) } },
		...fills.toReversed(),
	];
}
