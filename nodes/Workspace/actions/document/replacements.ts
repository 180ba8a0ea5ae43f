import type { IDataObject } from 'n8n-workflow';

import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { listNames, shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { findValueAtPath } from '../../../fields/values';
import { cleanText, type DocumentContent } from '../../../untrusted/document/blocks';
import { type Elements, getParagraphs, getStoredLine } from '../../../untrusted/document/elements';
import type { ListedTab } from '../../../untrusted/document/tabList';
import type { Item } from '../../operation';
import { changeDocument, type DocumentJob } from './changeDocument';
import type { ContentPlace } from './content/contentPlace';
import { planContent } from './content/contentRequests';
import type { PictureTest } from './content/layout';
import { readMarkdown } from './content/parseContent';
import type { DocsRequest } from './content/requestBuilder';
import {
	type EditableTab,
	getBody,
	getOuterText,
	getRangeNames,
	getStoredText,
} from './documentState';

/** A text to find, and the new text in its place, as in a row of the form. */
export interface Replacement {
	readonly find: string;
	readonly replace: string;
	readonly format: 'text' | 'markdown';
}

type TextReplacement = Omit<Replacement, 'format'>;

/** Markdown that replaces every paragraph that consists of the text to find. */
interface MarkdownReplacement {
	readonly find: string;
	readonly content: DocumentContent;
}

type PreparedReplacements = Awaited<ReturnType<typeof prepareReplacements>>;

/** @throws NodeError 400 for Markdown that cannot be read */
export async function prepareReplacements(
	params: { readonly replacements: readonly Replacement[]; readonly insertImages: boolean },
	item: Item,
) {
	const texts: TextReplacement[] = [];
	const markdowns: MarkdownReplacement[] = [];
	for (const { find: rawFind, replace, format } of params.replacements) {
		const find = cleanText(rawFind);
		if (format === 'text') {
			texts.push({ find, replace: cleanText(replace) });
			continue;
		}
		const content = await readMarkdown(replace, 'replacements', params.insertImages, item);
		// The paragraph may have spaces around the text.
		markdowns.push({ find: find.trim(), content });
	}
	return { texts, markdowns };
}

/** Whether texts of the document are to be replaced. */
export const changesTexts = (params: {
	readonly replacements: readonly unknown[];
	readonly fillFromInput: boolean;
}) => params.replacements.length > 0 || params.fillFromInput;

interface ReplacementJob extends DocumentJob {
	readonly replacements: PreparedReplacements;
	/** Whether fields of the input item fill placeholders. */
	readonly fillFromInput: boolean;
	/**
	 * Name of a named range that shows that the document has been filled; absent without an
	 * idempotency key.
	 */
	readonly markerName?: string;
}

export interface ReplacementResult {
	readonly documentId: string;
	/** Number of inserted UTF-16 units. */
	readonly characterCount: number;
	readonly revisionId: string;
	/** Absent if nothing was to be replaced. */
	readonly replaced?: ReadonlyArray<{ readonly find: string; readonly count: number }>;
}

export type Replaced = NonNullable<ReplacementResult['replaced']>;

/**
 * Replaces texts, and leaves everything else as it is. A document with the marker stays as it is.
 */
export async function replaceTexts(job: ReplacementJob): Promise<ReplacementResult> {
	const { change, replies, result } = await changeDocument({
		...job,
		createTab: false,
		detail: 'texts',
		plan: (tab, isPicture) => planReplacements(job, tab, isPicture),
	});
	const counted = countTexts(change.texts, replies);
	const replaced = [...change.replaced, ...counted.replaced];
	if (replaced.length === 0) return result;
	mentionMissing(replaced, job.item);
	const characterCount = result.characterCount + counted.characterCount;
	return { ...result, characterCount, replaced };
}

function mentionMissing(replaced: Replaced, item: Item): void {
	const missing = replaced.filter(({ count }) => count === 0).map(({ find }) => find);
	if (missing.length > 0)
		item.addHint(`Not found in the document, so not replaced: ${listNames(missing)}.`);
}

/** Counts the texts that were replaced, and the UTF-16 units that were inserted for them. */
function countTexts(texts: readonly TextReplacement[], replies: docs_v1.Schema$Response[]) {
	const replaced: Array<Replaced[number]> = [];
	let characterCount = 0;
	// The replacements come last, so the last replies belong to them.
	const textReplies = replies.slice(replies.length - texts.length);
	for (const [index, { find, replace }] of texts.entries()) {
		const count = textReplies[index]?.replaceAllText?.occurrencesChanged ?? 0;
		characterCount += count * replace.length;
		replaced.push({ find, count });
	}
	return { replaced, characterCount };
}

/** Plans the requests: the marker, then Markdown in place of paragraphs, then texts. */
function planReplacements(job: ReplacementJob, tab: EditableTab, isPicture: PictureTest) {
	// A second replacement could also change the texts that the first one inserted.
	if (job.markerName && getRangeNames(tab).includes(job.markerName))
		return { requests: [], growth: 0, characterCount: 0, replaced: [], texts: [] };
	const { markdowns } = job.replacements;
	const tabs = job.tab === '' ? tab.allTabs : [tab.chosenTab];
	const paragraphs = tabs.flatMap((one) => findMarkdownParagraphs(one, markdowns));
	const texts = [...job.replacements.texts, ...planPlaceholders(tabs, job)];
	const plan = planMarkdowns(paragraphs, isPicture);
	const tabIds = job.tab === '' ? undefined : [tab.tabId];
	plan.requests.push(...texts.map((text) => buildTextRequest(text, tabIds)));
	if (job.markerName && plan.requests.length > 0)
		plan.requests.unshift(buildMarkerRequest(job.markerName, tab));
	return { ...plan, texts, replaced: countMarkdownParagraphs(paragraphs, markdowns) };
}

function planMarkdowns(paragraphs: readonly MarkdownParagraph[], isPicture: PictureTest) {
	const requests: DocsRequest[] = [];
	let characterCount = 0;
	for (const { place, content } of paragraphs) {
		const change = planContent(content, place, isPicture);
		requests.push(...change.requests);
		characterCount += change.characterCount;
	}
	return { requests, growth: 0, characterCount };
}

const countMarkdownParagraphs = (
	paragraphs: readonly MarkdownParagraph[],
	markdowns: readonly MarkdownReplacement[],
) =>
	markdowns.map(({ find }) => {
		return { find, count: paragraphs.filter((one) => one.find === find).length };
	});

const buildTextRequest = ({ find, replace }: TextReplacement, tabIds?: string[]): DocsRequest => ({
	replaceAllText: {
		containsText: { text: find, matchCase: true },
		replaceText: replace,
		tabsCriteria: tabIds && { tabIds },
	},
});

/**
 * Builds the marker of a filled document: a named range over the newline of a paragraph, which no
 * replacement removes.
 */
function buildMarkerRequest(name: string, { content, tabId, endIndex }: EditableTab): DocsRequest {
	const end = content.find(({ paragraph }) => paragraph)?.endIndex ?? endIndex;
	return { createNamedRange: { name, range: { startIndex: end - 1, endIndex: end, tabId } } };
}

const placeholderPattern = /\{\{[^{}\n\v]{1,200}\}\}/g;

/**
 * Plans the replacements of placeholders such as `{{name}}` by fields. A hint names those that stay
 * in the text.
 */
function planPlaceholders(tabs: readonly ListedTab[], job: ReplacementJob): TextReplacement[] {
	const fields = job.fillFromInput ? job.item.json : {};
	const filled: TextReplacement[] = [];
	const unfilled: string[] = [];
	for (const find of collectPlaceholders(tabs, job.replacements)) {
		const replace = findValue(fields, find.slice(2, -2).trim());
		if (replace === undefined) unfilled.push(find);
		else filled.push({ find, replace: cleanText(replace) });
	}
	if (unfilled.length > 0)
		job.item.addHint(
			`These placeholders were not filled: ${listNames(unfilled)}. Add them to ${quoteField('replacements')}, or let ${quoteField('fillFromInput')} find fields with these names in the input item.`,
		);
	// Values with placeholders come last, because each later request fills its field into them.
	const hasBraces = ({ replace }: TextReplacement) => replace.includes('{{');
	return [...filled.filter((text) => !hasBraces(text)), ...filled.filter(hasBraces)];
}

/** Collects the placeholders of tabs, without those that are in a text to replace. */
function collectPlaceholders(
	tabs: readonly ListedTab[],
	{ texts, markdowns }: PreparedReplacements,
): Set<string> {
	let text = '';
	for (const { tab } of tabs) text += getStoredText(getBody(tab)) + getOuterText(tab);
	for (const { find } of [...texts, ...markdowns]) text = text.replaceAll(find, '');
	return new Set(text.match(placeholderPattern));
}

/**
 * Finds a field by its name, or by a path such as `customer.city`.
 * @returns the value as text; undefined if there is no such field
 */
function findValue(fields: IDataObject, name: string): string | undefined {
	const value = findValueAtPath(fields, name);
	if (value === undefined) return undefined;
	// JSON turns a date into its ISO text, and what is no date or no number into null.
	const data: unknown = JSON.parse(JSON.stringify(value));
	if (data === null) return '';
	return typeof data === 'string' ? data : JSON.stringify(data);
}

/** A paragraph that Markdown replaces. */
type MarkdownParagraph = MarkdownReplacement & { readonly place: ContentPlace };

/**
 * Finds the paragraphs of a tab that Markdown replaces, from last to first, so that the indexes of
 * the others stay right.
 */
function findMarkdownParagraphs(
	{ tab, tabId }: ListedTab,
	markdowns: readonly MarkdownReplacement[],
): MarkdownParagraph[] {
	const paragraphs: MarkdownParagraph[] = [];
	refuseMisplacedMarkdown(getOuterText(tab), markdowns);
	for (const element of getParagraphs(getBody(tab))) {
		// U+FFFC stands for each image, because Markdown does not replace an image.
		const text = getStoredLine(element.paragraph, '\ufffc');
		const markdown = markdowns.find(({ find }) => text.trim() === find);
		if (markdown) paragraphs.push({ ...markdown, place: buildPlace(element, tabId) });
		else refuseMisplacedMarkdown(text, markdowns);
	}
	return paragraphs.toReversed();
}

const buildPlace = ({ startIndex, endIndex }: Elements[number], tabId: string): ContentPlace => ({
	index: startIndex ?? 0,
	deletedEnd: (endIndex ?? 0) - 1,
	tabId,
	isParagraphEmpty: true,
});

/** @throws NodeError 400 if a text to replace by Markdown is only a part of this text */
function refuseMisplacedMarkdown(text: string, markdowns: readonly MarkdownReplacement[]): void {
	const misplaced = markdowns.find(({ find }) => text.includes(find));
	if (misplaced === undefined) return;
	throw createRefusal(
		`'${shorten(misplaced.find)}' does not have a paragraph of its own in the text of the document`,
		`Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own, or set its format in ${quoteField('replacements')} to Text.`,
	);
}
