import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { type Span, type TableBlock, joinSpans } from '../../../untrusted/document/blocks';

export type DocsRequest = docs_v1.Schema$Request;

/** Where something stands: its first index, and the index after its last one. */
export type Extent = Readonly<Record<'start' | 'end', number>>;

/** The text of a paragraph or of a cell, where it will stand, up to its newline. */
export interface TextLine extends Extent {
	readonly spans: readonly Span[];
}

export interface PlacedTable {
	readonly block: TableBlock;
	/** Index at which to insert the table. The document then has the text of all paragraphs, but none of the tables before this one. */
	readonly insertAt: number;
	readonly cells: ReadonlyArray<readonly TextLine[]>;
}

/** A table, a row and a cell each begin with a unit of their own; a table also ends with one. The first row is a header. */
export function layOutCells({ rows }: TableBlock, start: number): TextLine[][] {
	let at = start + 1;
	return rows.map((row, rowAt) => {
		at += 1;
		return row.map((cell) => {
			const spans =
				rowAt > 0 ? cell : cell.map((span) => ({ ...span, marks: { ...span.marks, bold: true } }));
			const line = { spans, start: at + 1, end: at + 1 + joinSpans(cell).length };
			at = line.end + 1;
			return line;
		});
	});
}

/** Inserts a table and fills it from the last cell to the first, so that no insertion moves a cell that is still empty. */
export function buildTableRequests(
	{ block, insertAt }: PlacedTable,
	toLocation: (index: number) => docs_v1.Schema$Location,
): DocsRequest[] {
	const columns = block.alignments.length;
	const fills = block.rows.flatMap((row, rowAt) =>
		row.flatMap((spans, columnAt) => {
			const text = joinSpans(spans);
			// The table, each row and each cell begin with a unit of their own, and an empty cell is a newline.
			const index = insertAt + 4 + rowAt * (1 + 2 * columns) + 2 * columnAt;
			return text === '' ? [] : [{ insertText: { text, location: toLocation(index) } }];
		}),
	);
	return [
		{ insertTable: { rows: block.rows.length, columns, location: toLocation(insertAt) } },
		...fills.toReversed(),
	];
}
