import { isSameIgnoringCase, joinLines, listNames, shorten } from '../../../../core/text';
import { joinSpans } from '../../../../untrusted/document/blocks';
import {
	type Elements,
	getHeadingLevel,
	readPieces,
} from '../../../../untrusted/document/elements';
import { type EditableTab, pickOne } from '../documentState';

/**
 * Where to insert content: at the end of a paragraph. The paragraph keeps its text, is emptied
 * first, or is added if there is none.
 */
export interface ContentPlace {
	/**
	 * Where to insert: the end of the text of a paragraph, once the paragraph is emptied or added.
	 */
	readonly index: number;
	/** Old content from `index` up to here is deleted first. */
	readonly deletedEnd: number;
	/** The index at which to add the paragraph after that; undefined if there is one. */
	readonly newParagraphIndex?: number;
	readonly tabId: string;
	/**
	 * Whether the paragraph has no text when the content is inserted. Otherwise the content
	 * continues it, with its style.
	 */
	readonly isParagraphEmpty: boolean;
	/** Whether the paragraph is a heading or a title. */
	readonly isHeading?: boolean;
	/** Whether the content takes over the style of the paragraph. */
	readonly keepsStyle?: boolean;
}

/** The content under a heading or, without a heading, of a whole tab. */
export interface Section {
	/** Text of the heading; '' for the whole tab. */
	readonly headingText: string;
	/** Level of the heading; 0 for the whole tab. */
	readonly level: number;
	readonly startIndex: number;
	readonly elements: Elements;
	/** Whether a paragraph comes right after the section. */
	readonly isBeforeParagraph: boolean;
}

interface Heading {
	readonly text: string;
	readonly level: number;
	/** Position among the elements of the tab. */
	readonly position: number;
	readonly endIndex: number;
}

/**
 * Finds the section under a heading; '' means the whole tab.
 * @throws NodeError 400 if no heading or several headings have this text
 */
export function findSection({ content }: EditableTab, headingText: string): Section {
	if (headingText === '')
		return {
			headingText,
			level: 0,
			startIndex: 1,
			elements: content,
			isBeforeParagraph: false,
		};
	const headings = listHeadings(content);
	const heading = findHeading(headings, headingText);
	const next = headings.find(
		(other) => other.position > heading.position && other.level <= heading.level,
	);
	let end = next?.position ?? content.length;
	// What follows a section break has pages or columns of its own, so the break that ends the
	// section stays behind new content.
	while (content[end - 1]?.sectionBreak) end--;
	return {
		headingText: heading.text,
		level: heading.level,
		startIndex: heading.endIndex,
		elements: content.slice(heading.position + 1, end),
		isBeforeParagraph: content[end]?.paragraph !== undefined,
	};
}

export function listHeadings(content: Elements): Heading[] {
	const headings: Heading[] = [];
	for (const [position, { paragraph = {}, endIndex }] of content.entries()) {
		const level = getHeadingLevel(paragraph);
		const text = joinLines(joinSpans(readPieces(paragraph, {})));
		if (level && text !== '') headings.push({ text, level, position, endIndex: endIndex ?? 0 });
	}
	return headings;
}

/** Finds the heading with a text. Another case counts if no heading has the same case. */
function findHeading(headings: readonly Heading[], wantedText: string): Heading {
	const wanted = joinLines(wantedText);
	let matches = headings.filter(({ text }) => text === wanted);
	if (matches.length === 0)
		matches = headings.filter(({ text }) => isSameIgnoringCase(text, wanted));
	const texts = listNames(headings.map(({ text }) => text));
	const advice = `Nothing was written. Headings of the tab: ${texts || 'none'}.`;
	return pickOne(matches, `heading '${shorten(wanted)}'`, advice);
}

/** Finds where to write in a section: at its end, or in place of its content. */
export function findPlace(
	tabId: string,
	{ elements, startIndex, isBeforeParagraph }: Section,
	mode: 'append' | 'replace',
): ContentPlace {
	const last = elements.at(-1);
	const lastParagraph = last?.paragraph;
	let deletedEnd = last?.endIndex ?? startIndex;
	// The last newline of the section stays, because Google refuses to delete the last newline of a
	// tab.
	if (lastParagraph) deletedEnd -= 1;
	const index = mode === 'replace' ? startIndex : deletedEnd;
	const place = { index, deletedEnd, tabId };
	if (lastParagraph) {
		const isHeading = getHeadingLevel(lastParagraph) !== undefined;
		const isParagraphEmpty = mode === 'replace' || index === last.startIndex;
		return { ...place, isParagraphEmpty, isHeading };
	}
	// A section that is empty or ends with a table has no last paragraph. Google only inserts text
	// into a paragraph.
	const newParagraphIndex = isBeforeParagraph ? index : index - 1;
	return { ...place, newParagraphIndex, isParagraphEmpty: true };
}
