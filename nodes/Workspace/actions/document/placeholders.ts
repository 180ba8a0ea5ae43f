import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { DocumentContent } from '../../../untrusted/document/blocks';
import { getCells, getStoredLine } from '../../../untrusted/document/elements';
import type { Elements, Paragraph } from '../../../untrusted/document/elements';
import { summarizeTab } from '../../../untrusted/document/tabList';
import { type ContentPlace, emptyPlace, hasOwnStyle } from './contentPlace';
import { type ContentPlan, linkImages, planWrite } from './contentRequests';
import type { DocsRequest } from './tableRequests';
import { type BodyState, getOuterText, type TabScope } from './tabs';

/** Markdown that replaces every paragraph that consists of the text to find. */
export interface MarkdownReplacement {
	readonly find: string;
	readonly content: DocumentContent;
}

interface Placeholder {
	readonly place: ContentPlace;
	readonly replacement: MarkdownReplacement;
}

/** Plans Markdown in place of its placeholders. @throws NodeError 400 if one shares its paragraph with other text, or is not in the body */
export function planMarkdownReplacements(
	{ allTabs, tabId: chosenTabId }: BodyState,
	tabScope: TabScope,
	replacements: readonly MarkdownReplacement[],
	refusedUrls: ReadonlySet<string>,
): ContentPlan {
	const placeholders: Placeholder[] = [];
	for (const tab of allTabs) {
		const isInScope = tabScope === 'allTabs' || summarizeTab(tab).tabId === chosenTabId;
		if (isInScope) placeholders.push(...findPlaceholdersInTab(tab, replacements));
	}
	const requests: DocsRequest[] = [];
	let characterCount = 0;
	for (const { place, replacement } of placeholders) {
		const plan = planWrite(linkImages(replacement.content, refusedUrls), place);
		requests.push(...plan.requests);
		characterCount += plan.characterCount;
	}
	const replaced = replacements.map((replacement) => ({
		find: replacement.find,
		count: placeholders.filter((found) => found.replacement === replacement).length,
	}));
	// After replacements, nobody compares `text` and `endIndex` with the document, so they are not calculated.
	return { requests, characterCount, text: '', endIndex: 0, replaced };
}

/** Finds the placeholders of a tab. The last one comes first, so that the indexes of the others stay right. */
function findPlaceholdersInTab(
	tab: docs_v1.Schema$Tab,
	replacements: readonly MarkdownReplacement[],
): Placeholder[] {
	const outerText = getOuterText(tab);
	const misplaced = replacements.find(({ find }) => outerText.includes(find));
	if (misplaced)
		throw createMisplacedRefusal(misplaced.find, 'is in a header, a footer or a footnote');
	const content = tab.documentTab?.body?.content ?? [];
	return findPlaceholders(content, summarizeTab(tab).tabId, replacements).toReversed();
}

/** Finds the paragraphs that are placeholders, also in tables. */
function findPlaceholders(
	content: Elements,
	tabId: string,
	replacements: readonly MarkdownReplacement[],
): Placeholder[] {
	const placeholders: Placeholder[] = [];
	for (const { paragraph, table, startIndex, endIndex } of content) {
		for (const cell of getCells(table))
			placeholders.push(...findPlaceholders(cell.content ?? [], tabId, replacements));
		const replacement = paragraph && findReplacement(paragraph, replacements);
		if (!replacement) continue;
		const index = startIndex ?? 0;
		const range = { startIndex: index, endIndex: (endIndex ?? 0) - 1, tabId };
		const preparingRequests = [{ deleteContentRange: { range } }];
		const mayInheritStyle = hasOwnStyle(paragraph);
		const place = { ...emptyPlace, index, tabId, mayInheritStyle, preparingRequests };
		placeholders.push({ place, replacement });
	}
	return placeholders;
}

/** Finds the replacement whose placeholder is the whole paragraph. @throws NodeError 400 if a placeholder is only a part of it */
function findReplacement(paragraph: Paragraph, replacements: readonly MarkdownReplacement[]) {
	// U+FFFC stands for each image, because a paragraph with an image is no placeholder.
	const text = getStoredLine(paragraph, '\ufffc');
	const replacement = replacements.find(({ find }) => text.trim() === find);
	if (replacement) return replacement;
	const misplaced = replacements.find(({ find }) => text.includes(find));
	if (misplaced)
		throw createMisplacedRefusal(misplaced.find, 'does not have a paragraph of its own');
	return undefined;
}

function createMisplacedRefusal(find: string, problem: string) {
	return createRefusal(
		`'${shorten(find)}' ${problem}`,
		`Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own in the text of the document, or set its format in ${quoteField('replacements')} to Text.`,
	);
}
