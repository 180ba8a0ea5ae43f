import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { DocumentContent } from '../../../untrusted/document/blocks';
import { type Elements, getCells, getStoredLine } from '../../../untrusted/document/elements';
import { type ContentPlace, emptyPlace, hasOwnStyle } from './contentPlace';
import { type ContentPlan, type FilterContent, planReplacement } from './contentRequests';
import { type BodyState, getOuterText, summarizeTab } from './tabs';

/** Markdown that takes the place of every paragraph with this text. */
export interface ContentReplacement {
	readonly find: string;
	readonly parsed: DocumentContent;
}

/** Replaces placeholders with Markdown. @param isEveryTab or only in the body's tab @throws NodeError 400 if one shares a paragraph */
export function planContentReplacements(
	{ allTabs, tabId: ownId }: BodyState,
	isEveryTab: boolean,
	replacements: readonly ContentReplacement[],
	withPictures: FilterContent,
): ContentPlan {
	const tabs = allTabs.filter((tab) => isEveryTab || summarizeTab(tab).tabId === ownId);
	const places = tabs.flatMap((tab) => {
		const outer = getOuterText(tab);
		const outside = replacements.find(({ find }) => outer.includes(find));
		if (outside) throw createPlaceError(outside.find, 'is in a header, a footer or a footnote');
		// Replaces the last place first, so that the indexes of the others stay right.
		const content = tab.documentTab?.body?.content ?? [];
		return findPlaces(content, summarizeTab(tab).tabId, replacements).toReversed();
	});
	const plans = places.map(({ place, replacement }) =>
		planReplacement(withPictures(replacement.parsed), place),
	);
	const replaced = replacements.map((replacement) => {
		const count = places.filter((place) => place.replacement === replacement).length;
		return { find: replacement.find, count };
	});
	const requests = plans.flatMap((plan) => plan.requests);
	const characterCount = plans.reduce((sum, plan) => sum + plan.characterCount, 0);
	// Leaves the end of the document open, because nothing compares it after replacements.
	return { requests, characterCount, text: '', endIndex: 0, replaced };
}

/** The paragraphs that are placeholders, those in tables included. */
function findPlaces(
	content: Elements,
	tabId: string,
	replacements: readonly ContentReplacement[],
): Array<{ readonly place: ContentPlace; readonly replacement: ContentReplacement }> {
	return content.flatMap(({ paragraph, table, startIndex, endIndex }) => {
		if (!paragraph)
			return getCells(table).flatMap((cell) => findPlaces(cell.content ?? [], tabId, replacements));
		const text = getStoredLine(paragraph, '\ufffc');
		const replacement = replacements.find(({ find }) => text.trim() === find);
		const shared = replacement ? undefined : replacements.find(({ find }) => text.includes(find));
		if (shared) throw createPlaceError(shared.find, 'does not have a paragraph of its own');
		if (!replacement) return [];
		const index = startIndex ?? 0;
		const range = { startIndex: index, endIndex: (endIndex ?? 0) - 1, tabId };
		const before = [{ deleteContentRange: { range } }];
		const isStyled = hasOwnStyle(paragraph);
		return [{ replacement, place: { ...emptyPlace, index, tabId, isStyled, before } }];
	});
}

function createPlaceError(find: string, where: string) {
	return createRefusal(
		`'${shorten(find)}' ${where}`,
		`Nothing was replaced. Markdown takes the place of a whole paragraph: put the placeholder on a line of its own in the text of the document, or set its format in ${quoteField('replacements')} to Text.`,
	);
}
