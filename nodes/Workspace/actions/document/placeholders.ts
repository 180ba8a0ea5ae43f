import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { DocumentContent } from '../../../untrusted/document/blocks';
import { type Elements, getCells, getStoredLine } from '../../../untrusted/document/elements';
import { type ContentPlace, emptyPlace, hasOwnStyle } from './contentPlace';
import { type ContentPlan, linkImages, planWrite } from './contentRequests';
import { type BodyState, getOuterText, summarizeTab, type TabScope } from './tabs';

/** Markdown that replaces every paragraph that consists of the text to find. */
export interface MarkdownReplacement {
	readonly find: string;
	readonly content: DocumentContent;
}

/** Plans Markdown in place of its placeholders. @throws NodeError 400 if one shares its paragraph with other text, or is not in the body */
export function planMarkdownReplacements(
	{ allTabs, tabId: chosenTabId }: BodyState,
	tabScope: TabScope,
	replacements: readonly MarkdownReplacement[],
	refusedUrls: ReadonlySet<string>,
): ContentPlan {
	const tabs = allTabs.filter(
		(tab) => tabScope === 'allTabs' || summarizeTab(tab).tabId === chosenTabId,
	);
	const placeholders = tabs.flatMap((tab) => {
		const outerText = getOuterText(tab);
		const misplaced = replacements.find(({ find }) => outerText.includes(find));
		if (misplaced)
			throw createMisplacedRefusal(misplaced.find, 'is in a header, a footer or a footnote');
		// The last place comes first, so that the indexes of the other places stay right.
		const content = tab.documentTab?.body?.content ?? [];
		return findPlaceholders(content, summarizeTab(tab).tabId, replacements).toReversed();
	});
	const plans = placeholders.map(({ place, replacement }) =>
		planWrite(linkImages(replacement.content, refusedUrls), place),
	);
	const replacedCounts = replacements.map((replacement) => {
		const count = placeholders.filter(
			(placeholder) => placeholder.replacement === replacement,
		).length;
		return { find: replacement.find, count };
	});
	const requests = plans.flatMap((plan) => plan.requests);
	const characterCount = plans.reduce((sum, plan) => sum + plan.characterCount, 0);
	// After replacements, `recoverResult` compares neither `text` nor `endIndex`, so neither is calculated.
	return { requests, characterCount, text: '', endIndex: 0, replaced: replacedCounts };
}

/** Finds the paragraphs that are placeholders, also in tables. */
function findPlaceholders(
	content: Elements,
	tabId: string,
	replacements: readonly MarkdownReplacement[],
): Array<{ readonly place: ContentPlace; readonly replacement: MarkdownReplacement }> {
	return content.flatMap(({ paragraph, table, startIndex, endIndex }) => {
		if (!paragraph)
			return getCells(table).flatMap((cell) =>
				findPlaceholders(cell.content ?? [], tabId, replacements),
			);
		// U+FFFC stands for each image, because a paragraph with an image is no placeholder.
		const text = getStoredLine(paragraph, '\ufffc');
		const replacement = replacements.find(({ find }) => text.trim() === find);
		if (!replacement) {
			const misplaced = replacements.find(({ find }) => text.includes(find));
			if (misplaced)
				throw createMisplacedRefusal(
					misplaced.find,
					'does not have a paragraph of its own',
				);
			return [];
		}
		const index = startIndex ?? 0;
		const range = { startIndex: index, endIndex: (endIndex ?? 0) - 1, tabId };
		const preparingRequests = [{ deleteContentRange: { range } }];
		const mayInheritStyle = hasOwnStyle(paragraph);
		return [
			{
				replacement,
				place: { ...emptyPlace, index, tabId, mayInheritStyle, preparingRequests },
			},
		];
	});
}

function createMisplacedRefusal(find: string, problem: string) {
	return createRefusal(
		`'${shorten(find)}' ${problem}`,
		`Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own in the text of the document, or set its format in ${quoteField('replacements')} to Text.`,
	);
}
