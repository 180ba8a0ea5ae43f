import type { AlignType } from 'mdast';

// Document content between Markdown and Google's requests. All text in it went through `cleanText`.

export interface TextMarks {
	readonly bold?: boolean;
	readonly italic?: boolean;
	readonly strikethrough?: boolean;
	readonly code?: boolean;
	/** Absolute address. */
	readonly link?: string;
}

/** Adjacent characters with the same formatting. A vertical tab is a line break inside the paragraph. */
export interface Span {
	readonly text: string;
	readonly marks: TextMarks;
	/** Address of a picture that can stand in place of the text. */
	readonly picture?: string;
}

export interface ParagraphBlock {
	readonly kind: 'paragraph';
	readonly spans: readonly Span[];
	/** `plain` is text as it was given: it may have line breaks, and gets no style. */
	readonly format: 'text' | 'plain' | 'code' | 'rule' | 1 | 2 | 3 | 4 | 5 | 6;
	/** Number of block quotes around it. */
	readonly quoteDepth: number;
	/** The level counts from 0. Only the first paragraph of an item has the bullet. */
	readonly list?: { readonly level: number; readonly bullet: boolean };
	/** Whether the paragraph is not part of a list but stands between items of one. */
	readonly isBetweenItems?: true;
}

export interface TableBlock {
	readonly kind: 'table';
	/** Rows of equal length. */
	readonly rows: ReadonlyArray<ReadonlyArray<readonly Span[]>>;
	readonly alignments: readonly AlignType[];
}

export type Block = ParagraphBlock | TableBlock;

/** A list, from its first to its last block, with inner lists. Only an inner list of the other kind also has a range of its own. */
export interface ListRange {
	readonly first: number;
	readonly last: number;
	readonly ordered: boolean;
}

/** Kinds of Markdown content that a document cannot represent as intended. */
export type SimplifiedKind =
	| 'list numbers'
	| 'link titles'
	| 'code languages'
	| 'images'
	| 'images without address'
	| 'footnotes'
	| 'relative links';

export interface DocumentContent {
	/** What is written in another form than intended; absent if there is none. */
	readonly simplified?: readonly SimplifiedKind[];
	readonly blocks: readonly Block[];
	/** Outer lists come before inner ones. */
	readonly lists: readonly ListRange[];
}

export function joinSpans(spans: readonly Span[]): string {
	return spans.map((span) => span.text).join('');
}

export const buildParagraph = (
	spans: readonly Span[],
	format: ParagraphBlock['format'] = 'text',
): ParagraphBlock => ({ kind: 'paragraph', spans, format, quoteDepth: 0 });

// Google removes these from inserted text: the private use area, and control characters except tab, newline and vertical tab.
const strippedCharacters = /[\u0000-\u0008\u000c-\u001f\ue000-\uf8ff]/g;

/** The text as the document will store it, so that its length equals the number of inserted UTF-16 units. */
export function cleanText(text: string): string {
	return text
		.replace(/\r\n?/g, '\n')
		.replace(strippedCharacters, '')
		.replace(/\p{Surrogate}/gu, '\ufffd');
}
