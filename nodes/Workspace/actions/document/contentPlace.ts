import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { joinSpans } from '../../../untrusted/document/blocks';
import { type Elements, getHeadingLevel, readPieces } from '../../../untrusted/document/elements';
import type { DocsRequest } from './tableRequests';
import { type BodyState, getStoredText } from './tabs';

/** Where to insert content: at the end of a paragraph. The paragraph keeps its text, is emptied first, or is added if there is none. */
export interface ContentPlace {
	/** Requests before the insertion. They delete old content, which empties the paragraph, or add the paragraph, or do both. */
	readonly preparingRequests: readonly DocsRequest[];
	/** Whether `preparingRequests` adds the paragraph, which then takes over the style of a heading next to it. */
	readonly addsParagraph: boolean;
	/** Where to insert after `preparingRequests`: the end of the text of a paragraph. */
	readonly index: number;
	readonly tabId: string | undefined;
	/** Whether the paragraph is empty after `preparingRequests`. */
	readonly isParagraphEmpty: boolean;
	/** Whether the paragraph may have a style that the inserted content would take over. */
	readonly mayInheritStyle: boolean;
	/** The text up to the end of the tab, and the number of indexes up to there. Tables and images have indexes, but no text. */
	readonly contentAfter: { readonly text: string; readonly indexCount: number };
}

/** The only paragraph of an empty document. */
export const emptyPlace: ContentPlace = {
	preparingRequests: [],
	addsParagraph: false,
	index: 1,
	tabId: undefined,
	isParagraphEmpty: true,
	mayInheritStyle: false,
	contentAfter: { text: '', indexCount: 0 },
};

/** The content under a heading or, without a heading, of a whole tab. */
export interface Section {
	/** Text of the heading; '' for the whole tab. */
	readonly heading: string;
	/** Level of the heading; 0 for the whole tab. */
	readonly level: number;
	readonly startIndex: number;
	readonly elements: Elements;
	readonly elementsAfter: Elements;
}

interface Heading {
	readonly text: string;
	readonly level: number;
	/** Position among the elements of the tab. */
	readonly position: number;
	readonly endIndex: number;
}

const maxListedHeadings = 30;
/** Most characters of a heading in an error message. */
const maxHeadingCharacters = 80;

/** Finds the section under a heading; '' means the whole tab. @throws NodeError 400 if no heading or several headings have this text */
export function findSection({ content }: BodyState, heading: string): Section {
	if (heading === '')
		return { heading, level: 0, startIndex: 1, elements: content, elementsAfter: [] };
	const headings = listHeadings(content);
	const { text, level, position, endIndex } = findHeading(headings, heading);
	const nextHeading = headings.find((other) => other.position > position && other.level <= level);
	let end = nextHeading?.position ?? content.length;
	// What follows a section break has pages or columns of its own, so the break that ends the section stays behind new content.
	while (content[end - 1]?.sectionBreak) end--;
	const elements = content.slice(position + 1, end);
	const elementsAfter = content.slice(end);
	return { heading: text, level, startIndex: endIndex, elements, elementsAfter };
}

export function listHeadings(content: Elements): Heading[] {
	const headings: Heading[] = [];
	for (const [position, { paragraph, endIndex }] of content.entries()) {
		const level = getHeadingLevel(paragraph?.paragraphStyle?.namedStyleType);
		if (paragraph === undefined || level === undefined) continue;
		const text = collapseBlanks(joinSpans(readPieces(paragraph, {})));
		if (text !== '') headings.push({ text, level, position, endIndex: endIndex ?? 0 });
	}
	return headings;
}

/** Finds the heading with a text. Another case counts if no heading has the same case. */
function findHeading(headings: readonly Heading[], wantedText: string): Heading {
	const wanted = collapseBlanks(wantedText);
	const exactMatches = headings.filter(({ text }) => text === wanted);
	const matches =
		exactMatches.length > 0
			? exactMatches
			: headings.filter(({ text }) => haveSameLetters(text, wanted));
	const [match] = matches;
	if (match && matches.length === 1) return match;
	const name = shorten(wanted, maxHeadingCharacters);
	const list = describeHeadings(headings);
	throw match
		? createRefusal(
				`Several headings read '${name}'`,
				`Nothing was written. Rename all but one of them. ${list}`,
			)
		: createRefusal(`The document has no heading '${name}'`, `Nothing was written. ${list}`);
}

function describeHeadings(headings: readonly Heading[]): string {
	if (headings.length === 0) return 'The tab has no headings.';
	const listedHeadings = headings.slice(0, maxListedHeadings);
	const texts = listedHeadings.map(({ text }) => `'${shorten(text, maxHeadingCharacters)}'`);
	if (headings.length > maxListedHeadings) texts.push('…');
	return `Headings of the tab: ${texts.join(', ')}.`;
}

/** Whether texts differ at most in upper and lower case. */
export const haveSameLetters = (left: string, right: string) =>
	left.toLowerCase() === right.toLowerCase();

export const collapseBlanks = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Plans where to write in a section: at its end, or in place of its content. */
export function planPlace(
	body: BodyState,
	section: Section,
	mode: 'append' | 'replace',
): ContentPlace {
	const { startIndex, elements, elementsAfter } = section;
	const { tabId } = body;
	const lastElement = elements.at(-1);
	const endIndex = lastElement?.endIndex ?? startIndex;
	const contentAfter = {
		text: getStoredText(elementsAfter),
		indexCount: body.endIndex - endIndex,
	};
	// The last newline of the section stays, because Google refuses to delete the last newline of a tab.
	const contentEnd = lastElement?.paragraph ? endIndex - 1 : endIndex;
	const preparingRequests: DocsRequest[] = [];
	const replacesContent = mode === 'replace';
	const range = { startIndex, endIndex: contentEnd, tabId };
	if (replacesContent && contentEnd > startIndex)
		preparingRequests.push({ deleteContentRange: { range } });
	const index = replacesContent ? startIndex : contentEnd;
	const commonPart = { index, tabId, preparingRequests, contentAfter };
	if (lastElement?.paragraph) {
		// A deletion joins the first and the last paragraph. The joined paragraph may have the style of either.
		const firstParagraph = elements.find(({ paragraph }) => paragraph)?.paragraph ?? {};
		const mayInheritStyle = hasOwnStyle(firstParagraph) || hasOwnStyle(lastElement.paragraph);
		const isParagraphEmpty = replacesContent || endIndex - (lastElement.startIndex ?? 0) === 1;
		return { ...commonPart, isParagraphEmpty, mayInheritStyle, addsParagraph: false };
	}
	// A section that is empty or ends with a table has no last paragraph. Google only inserts text into a paragraph.
	const isBeforeParagraph = elementsAfter[0]?.paragraph !== undefined;
	const location = { index: isBeforeParagraph ? index : index - 1, tabId };
	preparingRequests.push({ insertText: { text: '\n', location } });
	return { ...commonPart, isParagraphEmpty: true, mayInheritStyle: true, addsParagraph: true };
}

/** Style properties that any paragraph may have. The named style is compared by its value. */
const ordinaryStyleKeys = new Set(['namedStyleType', 'direction', 'headingId']);

/** Whether a paragraph, or the text at its end, has a style that other text in its place would take over. */
export function hasOwnStyle({
	bullet,
	paragraphStyle,
	elements,
}: docs_v1.Schema$Paragraph): boolean {
	const hasParagraphStyle = Object.keys(paragraphStyle ?? {}).some(
		(key) => !ordinaryStyleKeys.has(key),
	);
	const hasTextStyle = Object.keys(elements?.at(-1)?.textRun?.textStyle ?? {}).length > 0;
	const namedStyle = paragraphStyle?.namedStyleType ?? 'NORMAL_TEXT';
	return (
		bullet !== undefined || hasParagraphStyle || hasTextStyle || namedStyle !== 'NORMAL_TEXT'
	);
}
