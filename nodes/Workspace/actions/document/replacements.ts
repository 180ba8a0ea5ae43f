import type { IDataObject } from 'n8n-workflow';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import { isRecord } from '../../../fields/values';
import { cleanText } from '../../../untrusted/document/blocks';
import { getParagraphs, getStoredLine } from '../../../untrusted/document/elements';
import { summarizeTab } from '../../../untrusted/document/tabList';
import type { Item } from '../../operation';
import type { ContentPlace } from './contentPlace';
import { type Content, planWrite, readMarkdown } from './contentRequests';
import type { DocsRequest } from './requestBuilder';
import { carryOut } from './revisionGuard';
import { type BodyState, getOuterText, getTabText, readBodyState } from './tabs';

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
	const { documentId, tab, markerName } = job;
	const body = await readBodyState(docs, documentId, tab, 'texts');
	// A second replacement could also change the texts that the first one inserted.
	if (markerName && body.rangeNames.includes(markerName))
		return { documentId, characterCount: 0, revisionId: body.revisionId };
	const tabs = tab === '' ? body.allTabs : [body.chosenTab];
	const placeholders = tabs.flatMap((one) => findPlaceholders(one, job.replacements.markdowns));
	const texts = [...job.replacements.texts, ...fillPlaceholders(tabs, job, item)];
	const textRequests = buildTextRequests(texts, tab === '' ? undefined : body.tabId);
	const hasChanges = placeholders.length + texts.length > 0;
	const markerRequests = markerName && hasChanges ? [buildMarkerRequest(markerName, body)] : [];
	const planChange = (refusedUrls: ReadonlySet<string>) => {
		const requests = [...markerRequests];
		let characterCount = 0;
		for (const { place, content } of placeholders) {
			const plan = planWrite(content, place, refusedUrls);
			requests.push(...plan.requests);
			characterCount += plan.characterCount;
		}
		requests.push(...textRequests);
		return { requests, growth: 0, characterCount };
	};
	const { replies, revisionId, ...change } = await carryOut(docs, body, planChange, item);
	let { characterCount } = change;
	const replaced = job.replacements.markdowns.map(({ find }) => ({
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
	mentionMissing(replaced, item);
	const result = { documentId, characterCount, revisionId };
	return replaced.length > 0 ? { ...result, replaced } : result;
}

function buildTextRequests(texts: readonly TextReplacement[], tabId?: string): DocsRequest[] {
	return texts.map(({ find: text, replace: replaceText }) => ({
		replaceAllText: {
			containsText: { text, matchCase: true },
			replaceText,
			tabsCriteria: tabId === undefined ? undefined : { tabIds: [tabId] },
		},
	}));
}

function mentionMissing(replaced: NonNullable<ReplacementResult['replaced']>, item: Item): void {
	const missing = replaced.filter(({ count }) => count === 0).map(({ find }) => `'${find}'`);
	if (missing.length > 0)
		item.addHint(`Not found in the document, so not replaced: ${missing.join(', ')}.`);
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
	{ replacements: { texts, markdowns }, fillFromInput }: ReplacementJob,
	item: Item,
): TextReplacement[] {
	const fields = fillFromInput ? item.json : {};
	let text = tabs.map(getTabText).join('');
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

/** Finds the paragraphs of a tab that are placeholders, from last to first, so that the indexes of the others stay right. */
function findPlaceholders(
	tab: docs_v1.Schema$Tab,
	markdowns: readonly MarkdownReplacement[],
): Placeholder[] {
	const { tabId } = summarizeTab(tab);
	const placeholders: Placeholder[] = [];
	refuseMisplacedPlaceholders(getOuterText(tab), markdowns);
	for (const element of getParagraphs(tab.documentTab?.body?.content ?? [])) {
		// U+FFFC stands for each image, because a paragraph with an image is no placeholder.
		const text = getStoredLine(element.paragraph, '\ufffc');
		const markdown = markdowns.find(({ find }) => text.trim() === find);
		if (markdown) {
			const index = element.startIndex ?? 0;
			const deletedEnd = (element.endIndex ?? 0) - 1;
			placeholders.push({
				...markdown,
				place: { index, deletedEnd, tabId, isParagraphEmpty: true },
			});
		} else refuseMisplacedPlaceholders(text, markdowns);
	}
	return placeholders.toReversed();
}

/** @throws NodeError 400 if a text that no Markdown can replace as a whole has a placeholder */
function refuseMisplacedPlaceholders(
	text: string,
	markdowns: readonly MarkdownReplacement[],
): void {
	const misplaced = markdowns.find(({ find }) => text.includes(find));
	if (misplaced === undefined) return;
	throw createRefusal(
		`'${shorten(misplaced.find)}' does not have a paragraph of its own in the text of the document`,
		`Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own, or set its format in ${quoteField('replacements')} to Text.`,
	);
}
