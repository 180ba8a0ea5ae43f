import type { AlignType } from 'mdast';

// The form that document content has between Markdown and the requests to Google. All its texts have passed through `cleanText`.

export interface TextMarks {
	readonly bold?: boolean;
	readonly italic?: boolean;
	readonly strikethrough?: boolean;
	/** Only written: Markdown has no sign for it. */
	readonly underline?: boolean;
	readonly code?: boolean;
	/** Absolute address. */
	readonly link?: string;
}

/** Consecutive characters with the same formatting. A vertical tab is a line break inside the paragraph. */
export interface Span {
	readonly text: string;
	readonly marks: TextMarks;
	/** Address of an image that may replace the text. */
	readonly imageUrl?: string;
	/** Whether the text is only needed until all styles are set, and is then deleted. */
	readonly isFiller?: true;
}

/** A text for a place that needs some while it gets its style. */
export const filler: Span = { text: '.', marks: {}, isFiller: true };

export interface ParagraphBlock {
	readonly kind: 'paragraph';
	readonly spans: readonly Span[];
	/** `plain` is text that is no Markdown. It may have line breaks and gets no style. Numbers are levels of headings. */
	readonly format: 'text' | 'plain' | 'code' | 'rule' | 1 | 2 | 3 | 4 | 5 | 6;
	/** Number of block quotes around the paragraph. */
	readonly quoteDepth: number;
	/** The level counts from 0. Only the first paragraph of an item has the bullet. */
	readonly list?: { readonly level: number; readonly hasBullet: boolean };
	/** Whether the paragraph stands between two items of a list without being part of the list. */
	readonly isBetweenItems?: true;
}

export interface TableBlock {
	readonly kind: 'table';
	/** Rows of equal length. */
	readonly rows: ReadonlyArray<ReadonlyArray<readonly Span[]>>;
	readonly alignments: readonly AlignType[];
}

export type Block = ParagraphBlock | TableBlock;

export type ListKind = 'bullet' | 'number' | 'checkbox';

/** Indexes of a list's first and last block. Docs gives a whole range one kind, so an inner list of another kind has its own range. */
export interface ListRange {
	readonly firstIndex: number;
	readonly lastIndex: number;
	readonly kind: ListKind;
}

/** Kinds of Markdown content that Docs cannot represent in the same way. */
export type SimplifiedKind =
	| 'listNumbers'
	| 'linkTitles'
	| 'codeLanguages'
	| 'images'
	| 'imagesWithoutHttps'
	| 'footnotes'
	| 'relativeLinks'
	| 'headingLinks'
	| 'htmlTags'
	| 'tickedTasks';

export interface DocumentContent {
	/** Kinds of content that the document gets in another form; absent without such content. */
	readonly simplified?: readonly SimplifiedKind[];
	readonly blocks: readonly Block[];
	/** Outer lists come before inner ones. */
	readonly lists: readonly ListRange[];
}

export const joinSpans = (spans: readonly Span[]) => spans.map((span) => span.text).join('');

export const buildParagraph = (
	spans: readonly Span[],
	format: ParagraphBlock['format'] = 'text',
): ParagraphBlock => ({ kind: 'paragraph', spans, format, quoteDepth: 0 });

// Google removes these from inserted text: the private use area, and control characters except tab, newline and vertical tab.
const strippedCharacterPattern = /[\u0000-\u0008\u000c-\u001f\ue000-\uf8ff]/g;

/** Returns the text that Google will store, so that indexes calculated from its length in UTF-16 units are right. */
export function cleanText(text: string): string {
	return text
		.replace(/\r\n?/g, '\n')
		.replace(strippedCharacterPattern, '')
		.replace(/\p{Surrogate}/gu, '\ufffd');
}
