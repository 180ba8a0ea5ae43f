import {
	paragraph,
	textOf,
	type Block,
	type Content,
	type ListRange,
	type ParagraphBlock,
	type TableBlock,
} from '../../../untrusted/document/blocks';

export interface PlacedParagraph {
	readonly block: ParagraphBlock;
	readonly start: number;
	/** End of its text; its newline is the unit at that index. */
	readonly end: number;
}

export interface PlacedTable {
	readonly block: TableBlock;
	/** Where the table is put while the document has the text of all paragraphs, but none of the tables after it. */
	readonly insertAt: number;
	/** First index of each cell's text once everything stands. */
	readonly cells: ReadonlyArray<ReadonlyArray<number>>;
}

type Placed = PlacedParagraph | PlacedTable;

export interface Layout {
	readonly placed: readonly Placed[];
	readonly lists: readonly ListRange[];
	/** Text of all paragraphs, as one insertion. */
	readonly text: string;
	/** Index after the last paragraph's text. */
	readonly end: number;
}

export function isParagraph(placed: Placed): placed is PlacedParagraph {
	return placed.block.kind === 'paragraph';
}

/** A table stands between paragraphs: Google puts a newline before it, and a segment ends with a paragraph. */
function surroundTables({ blocks, lists }: Content): Content {
	const surrounded: Block[] = [];
	const moved = blocks.map((block) => {
		if (block.kind === 'table' && surrounded.at(-1)?.kind !== 'paragraph') surrounded.push(paragraph([]));
		return surrounded.push(block) - 1;
	});
	if (surrounded.at(-1)?.kind !== 'paragraph') surrounded.push(paragraph([]));
	const place = (position: number) => moved[position] ?? position;
	return {
		blocks: surrounded,
		lists: lists.map((list) => ({ ...list, first: place(list.first), last: place(list.last) })),
	};
}

/** Where everything will stand when the content goes in at an index inside a paragraph. */
export function layOut(content: Content, index: number): Layout {
	const { blocks, lists } = surroundTables(content);
	const placed: Placed[] = [];
	let text = '';
	let at = index;
	for (const [position, block] of blocks.entries()) {
		if (block.kind === 'paragraph') {
			const own = textOf(block.spans);
			placed.push({ block, start: at, end: at + own.length });
			text += blocks[position + 1]?.kind === 'paragraph' ? `${own}\n` : own;
			at += own.length + 1;
		} else {
			const { cells, end } = cellsOf(block, at);
			placed.push({ block, insertAt: index + text.length, cells });
			at = end;
		}
	}
	return { placed, lists, text, end: at - 1 };
}

/** A table, a row and a cell each begin with a unit of their own; a table also ends with one. */
function cellsOf(block: TableBlock, start: number): { cells: number[][]; end: number } {
	let at = start + 1;
	const cells = block.rows.map((row) => {
		at += 1;
		return row.map((spans) => {
			const first = at + 1;
			at = first + textOf(spans).length + 1;
			return first;
		});
	});
	return { cells, end: at + 1 };
}

/** Index of an empty cell's text in a table that was just put in. */
export function emptyCell(insertedAt: number, columns: number, row: number, column: number): number {
	const tableStart = insertedAt + 1;
	return tableStart + 1 + row * (1 + 2 * columns) + 1 + 2 * column + 1;
}
