/** What content consists of, between a text format and Google's requests. All text is clean: see `cleanText`. */

export interface Marks {
	readonly bold?: boolean;
	readonly italic?: boolean;
	readonly strikethrough?: boolean;
	readonly code?: boolean;
	/** Absolute address. */
	readonly link?: string;
}

/** Characters of one look; a vertical tab is a line break inside the paragraph. */
export interface Span {
	readonly text: string;
	readonly marks: Marks;
}

export interface ParagraphBlock {
	readonly kind: 'paragraph';
	readonly spans: readonly Span[];
	readonly look: 'text' | 'code' | 'rule' | 1 | 2 | 3 | 4 | 5 | 6;
	/** Block quotes around it. */
	readonly quoteDepth: number;
	/** Level counts from 0; only an item's first paragraph has the bullet. */
	readonly list?: { readonly level: number; readonly bullet: boolean };
}

export type Alignment = 'left' | 'center' | 'right' | null;

export interface TableBlock {
	readonly kind: 'table';
	/** Rows of equal length. */
	readonly rows: ReadonlyArray<ReadonlyArray<readonly Span[]>>;
	readonly alignments: readonly Alignment[];
}

export type Block = ParagraphBlock | TableBlock;

/** A list with all that is in it, by the positions of its first and last block. An inner list of the outer's kind is part of it. */
export interface ListRange {
	readonly first: number;
	readonly last: number;
	readonly ordered: boolean;
}

/** What a document cannot hold as Markdown means it. */
export type Simplified = 'images' | 'footnotes' | 'relative links';

export interface Content {
	/** What comes out in another form; absent when nothing does. */
	readonly simplified?: readonly Simplified[];
	readonly blocks: readonly Block[];
	/** Outer lists come before inner ones. */
	readonly lists: readonly ListRange[];
}

export function textOf(spans: readonly Span[]): string {
	return spans.map((span) => span.text).join('');
}

export function paragraph(spans: readonly Span[], quoteDepth = 0): ParagraphBlock {
	return { kind: 'paragraph', spans, look: 'text', quoteDepth };
}

// Google takes control characters but tab, newline and vertical tab, and the private use area, out of inserted text.
const stripped = /[\u0000-\u0008\u000c-\u001f\ue000-\uf8ff]/g;

/** Text as the document will hold it, so that its length is the number of UTF-16 units that go in. */
export function cleanText(text: string): string {
	return text
		.replace(/\r\n?/g, '\n')
		.replace(stripped, '')
		.replace(/\p{Surrogate}/gu, '\ufffd');
}
