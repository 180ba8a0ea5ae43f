// The form that document content has between Markdown and the requests to Google. All its texts
// have passed through `cleanText`.
import { replaceHalfCharacters } from '../../core/text';

export interface TextMarks {
	readonly bold?: boolean;
	readonly italic?: boolean;
	readonly strikethrough?: boolean;
	readonly code?: boolean;
	/** Absolute address. */
	readonly link?: string;
}

/**
 * Consecutive characters with the same formatting. A vertical tab is a line break inside the
 * paragraph.
 */
export interface Span {
	readonly text: string;
	readonly marks: TextMarks;
	/** Address of an image that may replace the text. */
	readonly imageUrl?: string;
}

export interface ParagraphBlock {
	readonly kind: 'paragraph';
	readonly spans: readonly Span[];
	/**
	 * `plain` is text that is no Markdown. It may have line breaks and gets no style. Numbers are
	 * levels of headings.
	 */
	readonly format: 'text' | 'plain' | 'code' | 'rule' | 1 | 2 | 3 | 4 | 5 | 6;
	/** Number of block quotes around the paragraph. */
	readonly quoteDepth: number;
	readonly list?: ItemPlace;
}

/** What a paragraph is in lists. */
export interface ItemPlace {
	/** Counts from 0. */
	readonly level: number;
	/** Only the first paragraph of an item has the bullet. */
	readonly hasBullet: boolean;
	/**
	 * Indexes in `listKinds` of the lists that the paragraph is in, from the outermost to the
	 * innermost.
	 */
	readonly listIndexes: readonly number[];
	/** The kind of the innermost list. */
	readonly kind: ListKind;
}

export interface TableBlock {
	readonly kind: 'table';
	/** Rows of equal length. */
	readonly rows: ReadonlyArray<ReadonlyArray<readonly Span[]>>;
}

export type Block = ParagraphBlock | TableBlock;

export type ListKind = 'bullet' | 'number' | 'checkbox';

export interface DocumentContent {
	readonly blocks: readonly Block[];
	/**
	 * The kind of each list. Docs gives all paragraphs of a list one kind, so an inner list of
	 * another kind is a list of its own. Outer lists come first.
	 */
	readonly listKinds: readonly ListKind[];
	/** Whether any image has an address that Google can fetch. */
	readonly hasImages: boolean;
	/** Names of parts that the document gets in another form. */
	readonly simplified: readonly string[];
}

export const joinSpans = (spans: readonly Span[]) => spans.map((span) => span.text).join('');

export const buildParagraph = (
	spans: readonly Span[],
	format: ParagraphBlock['format'] = 'text',
): ParagraphBlock => ({ kind: 'paragraph', spans, format, quoteDepth: 0 });

// Google removes these from inserted text: the private use area, and control characters except tab,
// newline and vertical tab.
const strippedCharacterPattern = /[\u0000-\u0008\u000c-\u001f\ue000-\uf8ff]/g;

/**
 * Returns the text that Google will store, so that indexes calculated from its length in UTF-16
 * units are right.
 */
export function cleanText(text: string): string {
	const keptText = text.replace(/\r\n?/g, '\n').replace(strippedCharacterPattern, '');
	return replaceHalfCharacters(keptText);
}

/** Points of indentation per list level, as in the bullet presets of Docs. */
export const listIndentPoints = 36;
/**
 * Points of indentation per quote. This is half a list level, so that a quote in a list item does
 * not look like a deeper list item.
 */
export const quoteIndentPoints = 18;
/**
 * Spacing of paragraphs that we write from Markdown. `COLLAPSE_LISTS` leaves no space between the
 * items of a list.
 */
export const markdownParagraphSpacing = {
	spaceBelow: { magnitude: 8, unit: 'PT' },
	spacingMode: 'COLLAPSE_LISTS',
};
