import type { IDataObject } from 'n8n-workflow';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { isRecord } from '../../../fields/values';
import { cleanText } from '../../../untrusted/document/blocks';
import { getCells, getStoredLine } from '../../../untrusted/document/elements';
import type { Elements, Paragraph } from '../../../untrusted/document/elements';
import { summarizeTab } from '../../../untrusted/document/tabList';
import type { Item } from '../../operation';
import { type ContentPlace, emptyPlace } from './contentPlace';
import { type Content, planWrite, readMarkdown } from './contentRequests';
import type { DocsRequest } from './requestBuilder';
import { carryOut } from './revisionGuard';
import { type BodyState, getOuterText, getStoredText, readBodyState } from './tabs';

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
	readonly content: Content;
}

export type PreparedReplacements = Awaited<ReturnType<typeof prepareReplacements>>;

/** @throws NodeError 400 for a text to find without characters, or for Markdown that cannot be read */
export async function prepareReplacements(
	params: { readonly replacements: readonly Replacement[]; readonly insertImages: boolean },
	item: Item,
) {
	const texts: TextReplacement[] = [];
	const markdowns: MarkdownReplacement[] = [];
	for (const row of params.replacements) {
		const find = cleanText(row.find);
		if (find.trim() === '')
			throw createRefusal(
				`${quoteField('replacements')} has an empty text to find`,
				'Nothing was written. Enter the text to find, or remove the row. If it contains {{ }}, set it to Fixed. Otherwise n8n evaluates it as an expression.',
			);
		if (row.format === 'text') texts.push({ find, replace: cleanText(row.replace) });
		else {
			const content = await readMarkdown(
				row.replace,
				'replacements',
				params.insertImages,
				item,
			);
			// The paragraph of a placeholder may have spaces around it.
			markdowns.push({ find: find.trim(), content });
		}
	}
	return { texts, markdowns };
}

interface ReplacementJob {
	readonly documentId: string;
	/** ID or title of the tab; '' for all tabs. */
	readonly tab: string;
	readonly replacements: PreparedReplacements;
	readonly fillFromInput: boolean;
	/** Name of a named range that shows that the document has been filled; absent without an idempotency key. */
	readonly markerName?: string | undefined;
}

export interface ReplacementResult {
	readonly documentId: string;
	/** Number of inserted UTF-16 units. */
	readonly characterCount: number;
	readonly revisionId: string;
	/** Absent if nothing was to be replaced. */
	readonly replaced?: ReadonlyArray<{ readonly find: string; readonly count: number }>;
}

/** Replaces texts, and leaves everything else as it is. A document with the marker stays as it is. */
export async function replaceTexts(
	docs: docs_v1.Docs,
	job: ReplacementJob,
	item: Item,
): Promise<ReplacementResult> {
	const { documentId, tab, fillFromInput, markerName } = job;
	const { markdowns } = job.replacements;
	const body = await readBodyState(docs, documentId, tab, 'texts');
	// A second replacement could also change the texts that the first one inserted.
	if (markerName && body.rangeNames.includes(markerName))
		return { documentId, characterCount: 0, revisionId: body.revisionId };
	const tabs = tab === '' ? body.allTabs : [body.chosenTab];
	const placeholders = tabs.flatMap((one) => findPlaceholdersInTab(one, markdowns));
	const fields = fillFromInput ? item.json : {};
	const texts = [...job.replacements.texts, ...fillPlaceholders(tabs, job, fields, item)];
	const tabsCriteria = tab === '' ? undefined : { tabIds: [body.tabId] };
	const textRequests = texts.map(({ find, replace }) => ({
		replaceAllText: {
			containsText: { text: find, matchCase: true },
			replaceText: replace,
			tabsCriteria,
		},
	}));
	let markdownLength = 0;
	const planChange = (refusedUrls: ReadonlySet<string>) => {
		const plans = placeholders.map(({ place, content }) =>
			planWrite(content, place, refusedUrls),
		);
		markdownLength = plans.reduce((sum, { text }) => sum + text.length, 0);
		const requests = [...plans.flatMap((plan) => plan.requests), ...textRequests];
		if (markerName && requests.length > 0)
			requests.unshift(buildMarkerRequest(markerName, body));
		return { requests, text: undefined, growth: 0 };
	};
	const { revisionId, replies } = await carryOut(docs, body, planChange, item);
	let characterCount = markdownLength;
	const replaced = markdowns.map(({ find }) => ({
		find,
		count: placeholders.filter((placeholder) => placeholder.find === find).length,
	}));
	// The replacements come last, so the last replies belong to them.
	const textReplies = replies.slice(replies.length - texts.length);
	for (const [index, { find, replace }] of texts.entries()) {
		const count = textReplies[index]?.replaceAllText?.occurrencesChanged ?? 0;
		characterCount += count * replace.length;
		replaced.push({ find, count });
	}
	const missingTexts = replaced.filter(({ count }) => count === 0).map(({ find }) => `'${find}'`);
	if (missingTexts.length > 0)
		item.addHint(`Not found in the document, so not replaced: ${missingTexts.join(', ')}.`);
	const result = { documentId, characterCount, revisionId };
	return replaced.length > 0 ? { ...result, replaced } : result;
}

/** Builds the marker of a filled document: a named range over the newline of a paragraph, which no replacement removes. */
function buildMarkerRequest(name: string, { content, tabId, endIndex }: BodyState): DocsRequest {
	const end = content.find(({ paragraph }) => paragraph)?.endIndex ?? endIndex;
	return { createNamedRange: { name, range: { startIndex: end - 1, endIndex: end, tabId } } };
}

const placeholderPattern = /\{\{[^{}\n\v]{1,200}\}\}/g;
/** Most placeholders that a hint names, because a document may have any number of them. */
const maxNamedPlaceholders = 20;

/** Finds the placeholders such as `{{name}}` that fields fill. A hint names those that stay in the text. */
function fillPlaceholders(
	tabs: readonly docs_v1.Schema$Tab[],
	{ replacements: { texts, markdowns } }: ReplacementJob,
	fields: IDataObject,
	item: Item,
): TextReplacement[] {
	let text = tabs
		.map((tab) => getStoredText(tab.documentTab?.body?.content ?? []) + getOuterText(tab))
		.join('');
	for (const { find } of [...texts, ...markdowns]) text = text.replaceAll(find, '');
	const filled: TextReplacement[] = [];
	const unfilled: string[] = [];
	for (const find of new Set(text.match(placeholderPattern))) {
		const replace = findValue(fields, find.slice(2, -2).trim());
		if (replace === undefined) unfilled.push(`'${find}'`);
		else filled.push({ find, replace: cleanText(replace) });
	}
	if (unfilled.length > 0)
		item.addHint(
			`These placeholders were not filled: ${unfilled.slice(0, maxNamedPlaceholders).join(', ')}. Add them to ${quoteField('replacements')}, or turn on ${quoteField('fillFromInput')} and check that the input item has fields with these names.`,
		);
	// Values with placeholders come last, so that no later request fills a field into the value of another field.
	const hasBraces = ({ replace }: TextReplacement) => Number(replace.includes('{{'));
	return filled.toSorted((left, right) => hasBraces(left) - hasBraces(right));
}

/** Finds a field by its name, or by a path such as `customer.city`. @returns the value as text; undefined if there is no such field */
function findValue(fields: IDataObject, name: string): string | undefined {
	const path = Object.hasOwn(fields, name) ? [name] : name.split('.');
	let value: unknown = fields;
	for (const key of path)
		value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
	if (typeof value === 'string' || value === undefined) return value;
	return value === null ? '' : JSON.stringify(value);
}

type Placeholder = MarkdownReplacement & { readonly place: ContentPlace };

/** Finds the placeholders of a tab. The last one comes first, so that the indexes of the others stay right. @throws NodeError 400 */
function findPlaceholdersInTab(
	tab: docs_v1.Schema$Tab,
	markdowns: readonly MarkdownReplacement[],
): Placeholder[] {
	const outerText = getOuterText(tab);
	for (const { find } of markdowns)
		if (outerText.includes(find)) throw createMisplacedRefusal(find);
	const content = tab.documentTab?.body?.content ?? [];
	return findPlaceholders(content, summarizeTab(tab).tabId, markdowns).toReversed();
}

/** Finds the paragraphs that are placeholders, also in tables. @throws NodeError 400 if a placeholder is only a part of its paragraph */
function findPlaceholders(
	content: Elements,
	tabId: string,
	markdowns: readonly MarkdownReplacement[],
): Placeholder[] {
	const placeholders: Placeholder[] = [];
	for (const { paragraph, table, startIndex, endIndex } of content) {
		for (const cell of getCells(table))
			placeholders.push(...findPlaceholders(cell.content ?? [], tabId, markdowns));
		const markdown = paragraph && findMarkdown(paragraph, markdowns);
		if (!markdown) continue;
		const index = startIndex ?? 0;
		const place = { ...emptyPlace, index, deletedEnd: (endIndex ?? 0) - 1, tabId };
		placeholders.push({ ...markdown, place });
	}
	return placeholders;
}

function findMarkdown(paragraph: Paragraph, markdowns: readonly MarkdownReplacement[]) {
	// U+FFFC stands for each image, because a paragraph with an image is no placeholder.
	const text = getStoredLine(paragraph, '\ufffc');
	const markdown = markdowns.find(({ find }) => text.trim() === find);
	const misplaced = markdowns.find(({ find }) => text.includes(find));
	if (misplaced && !markdown) throw createMisplacedRefusal(misplaced.find);
	return markdown;
}

function createMisplacedRefusal(find: string) {
	return createRefusal(
		`'${shorten(find)}' does not have a paragraph of its own in the text of the document`,
		`Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own, or set its format in ${quoteField('replacements')} to Text.`,
	);
}
