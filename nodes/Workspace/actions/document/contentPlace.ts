import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { joinSpans } from '../../../untrusted/document/blocks';
import { type Elements, getHeadingDepth, readPieces } from '../../../untrusted/document/elements';
import type { DocsRequest } from './tableRequests';
import { type BodyState, getStoredText } from './tabs';

/** Where content goes in a tab, and what stands after it. */
export interface ContentPlace {
	/** Inside a paragraph, at the end of its text. */
	readonly index: number;
	readonly tabId: string | undefined;
	readonly isParagraphEmpty: boolean;
	/** Whether the paragraph has a style of its own, which new paragraphs would take over. */
	readonly isStyled: boolean;
	/** Requests to send first. They add the paragraph, or empty it. */
	readonly before: readonly DocsRequest[];
	/** Whether `before` adds the paragraph, which then takes over the style of the heading. */
	readonly isMade: boolean;
	readonly rest: { readonly text: string; readonly units: number };
}

/** The only paragraph of an empty document. */
export const emptyPlace: ContentPlace = {
	index: 1,
	tabId: undefined,
	isParagraphEmpty: true,
	isStyled: false,
	before: [],
	isMade: false,
	rest: { text: '', units: 0 },
};

/** What stands under a heading, or in the whole tab. */
export interface Section {
	/** Its text; empty for the whole tab. */
	readonly heading: string;
	/** Level of the heading; 0 for the whole tab. */
	readonly level: number;
	readonly startIndex: number;
	readonly elements: Elements;
	readonly rest: Elements;
}

/** How many headings an error lists, and how many characters of each. */
const maxListedHeadings = 30;
const maxNameLength = 80;

/** @param heading its text; empty for the whole tab @throws NodeError 400 unless exactly one heading has the text */
export function findSection({ content }: BodyState, heading: string): Section {
	if (heading === '') return { heading, level: 0, startIndex: 1, elements: content, rest: [] };
	const headings = content.flatMap(({ paragraph = {}, endIndex }, at) => {
		const level = getHeadingDepth(paragraph.paragraphStyle?.namedStyleType ?? '');
		const text = level === undefined ? '' : joinBlanks(joinSpans(readPieces(paragraph, {})));
		return level === undefined || text === '' ? [] : [{ at, level, text, startIndex: endIndex ?? 0 }];
	});
	const wanted = joinBlanks(heading);
	const [own, ...others] = headings.filter(({ text }) => text === wanted);
	if (own === undefined || others.length > 0) {
		const name = shorten(wanted, maxNameLength);
		const names = headings.slice(0, maxListedHeadings).map(({ text }) => `'${shorten(text, maxNameLength)}'`);
		if (headings.length > maxListedHeadings) names.push('…');
		throw createRefusal(
			own ? `Several headings read '${name}'` : `The document has no heading '${name}'`,
			`Nothing was written. ${own ? 'Rename all but one of them. ' : ''}${names.length > 0 ? `Headings of the tab: ${names.join(', ')}.` : 'The tab has no headings.'}`,
		);
	}
	const next = headings.find(({ at, level }) => at > own.at && level <= own.level)?.at ?? content.length;
	const elements = content.slice(own.at + 1, next);
	return { heading, level: own.level, startIndex: own.startIndex, elements, rest: content.slice(next) };
}

export const joinBlanks = (text: string) => text.replace(/\s+/g, ' ').trim();

/** A place at the end of a section. @param replaces whether the content that stands there is removed */
export function planPlace(body: BodyState, section: Section, replaces: boolean): ContentPlace {
	const { startIndex, elements, rest } = section;
	const { tabId } = body;
	const last = elements.at(-1);
	const endIndex = last?.endIndex ?? startIndex;
	const after = { text: getStoredText(rest), units: body.endIndex - endIndex };
	// Keeps the newline of the last paragraph, because Google does not delete the last newline of a tab.
	const keptIndex = last?.paragraph ? endIndex - 1 : endIndex;
	const range = { startIndex, endIndex: keptIndex, tabId };
	const before: DocsRequest[] = replaces && keptIndex > startIndex ? [{ deleteContentRange: { range } }] : [];
	const index = replaces ? startIndex : keptIndex;
	if (last?.paragraph) {
		const paragraphs = elements.flatMap(({ paragraph }) => paragraph ?? []);
		const isStyled = [...paragraphs.slice(0, 1), ...paragraphs.slice(-1)].some(hasOwnStyle);
		const isParagraphEmpty = replaces || endIndex - (last.startIndex ?? 0) === 1;
		return { index, tabId, isParagraphEmpty, isStyled, before, isMade: false, rest: after };
	}
	// Adds a paragraph before the next heading, which stays as it is. At the end of a tab, text can only go before the last newline.
	const location = { index: rest.length > 0 ? index : index - 1, tabId };
	before.push({ insertText: { text: '\n', location } });
	return { index, tabId, isParagraphEmpty: true, isStyled: true, before, isMade: true, rest: after };
}

const plainKeys = new Set(['namedStyleType', 'direction', 'headingId']);

/** Whether a paragraph has a style that text in its place would take over. */
export function hasOwnStyle({ bullet, paragraphStyle, elements }: docs_v1.Schema$Paragraph): boolean {
	const ownStyle = Object.keys(paragraphStyle ?? {}).some((key) => !plainKeys.has(key));
	const textStyle = Object.keys(elements?.at(-1)?.textRun?.textStyle ?? {}).length > 0;
	const namedStyle = paragraphStyle?.namedStyleType ?? 'NORMAL_TEXT';
	return bullet !== undefined || ownStyle || textStyle || namedStyle !== 'NORMAL_TEXT';
}
