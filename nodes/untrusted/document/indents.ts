import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

/** Points of indentation per list level, as in Docs' own presets. */
export const listIndentPoints = 36;
/** Half a list level, so that a quote inside an item can be distinguished from a deeper item. */
export const quoteIndentPoints = 18;
/** Space after the paragraphs that are written from Markdown, but not between the items of a list. */
export const ownSpacing = { pointsBelow: 8, mode: 'COLLAPSE_LISTS' } as const;

/** Where a paragraph stands in its document: all that Docs shows of lists' continuations and quotes. */
export interface Place {
	/** Whether it has a line on its left. */
	readonly quoted: boolean;
	readonly indentPoints: number;
}

export function placeOf({ paragraphStyle }: docs_v1.Schema$Paragraph): Place {
	return {
		quoted: isVisible(paragraphStyle?.borderLeft),
		indentPoints: paragraphStyle?.indentStart?.magnitude ?? 0,
	};
}

export function isVisible(border: docs_v1.Schema$ParagraphBorder | undefined): boolean {
	return (border?.width?.magnitude ?? 0) > 0;
}
