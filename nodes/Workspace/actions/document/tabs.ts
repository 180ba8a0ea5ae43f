import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { NodeError, createRefusal } from '../../../core/errors';
import { type Elements, getParagraphs, getStoredLine } from '../../../untrusted/document/elements';
import { flattenTabs, matchTabs, summarizeTab } from '../../../untrusted/document/tabList';
import type { Item } from '../../operation';

/** Finds a tab by its ID or title. @throws NodeError 400 if no tab or several tabs match */
export function findTab(allTabs: readonly docs_v1.Schema$Tab[], idOrTitle: string) {
	const tabList = allTabs.map(summarizeTab).map(({ title, tabId }) => `'${title}' (${tabId})`);
	const advice = `Enter the ID of a tab: ${tabList.join(', ')}.`;
	return pickOne(matchTabs(allTabs, idOrTitle), `tab '${idOrTitle.trim()}'`, advice);
}

/** @returns the only match @throws NodeError 400 if there is none, or several */
export function pickOne<T>(matches: readonly T[], name: string, advice: string): T {
	const [match, ...otherMatches] = matches;
	if (match !== undefined && otherMatches.length === 0) return match;
	const problem = match === undefined ? 'has no' : 'has more than one';
	throw createRefusal(`The document ${problem} ${name}`, advice);
}

/** Adds a hint that names the tab that was taken if a document has several tabs and none was chosen. */
export function mentionFirstTab({ allTabs }: BodyState, chosenTab: string, item: Item): void {
	const [firstTab] = allTabs;
	if (chosenTab !== '' || firstTab === undefined || allTabs.length === 1) return;
	const { title } = summarizeTab(firstTab);
	item.addHint(
		`The document has ${allTabs.length} tabs. The content was written to the first one: '${title}'.`,
	);
}

/** Whether a text has the form of Google's tab IDs. A tab with such a title can only be chosen by its ID. */
export const looksLikeTabId = (text: string) => /^t\.[\w-]+$/.test(text);

export function buildDocumentUrl(documentId: string, tabId?: string): string {
	const query = tabId === undefined ? '' : `?tab=${encodeURIComponent(tabId)}`;
	return `https://docs.google.com/document/d/${documentId}/edit${query}`;
}

/** The fields of every level of detail, with brackets that the level closes. */
const fieldsStart = 'revisionId,tabs(tabProperties(tabId,title),childTabs,documentTab(namedRanges';

/** The fields to read: where the paragraphs are, or all text. */
const fieldsByDetail = {
	outline: `${fieldsStart},body(content(startIndex,endIndex,paragraph(paragraphStyle)))))`,
	texts: `${fieldsStart},body,headers,footers,footnotes))`,
} as const;

/** Reads the body of a tab for a write. @param tab its ID or title; '' for the first tab @throws NodeError 403 if the account may not edit */
export async function readBodyState(
	docs: docs_v1.Docs,
	documentId: string,
	tab: string,
	detail: keyof typeof fieldsByDetail,
) {
	const fields = fieldsByDetail[detail];
	const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
	return toBodyState(documentId, data, tab);
}

/** @param document may be Google's response to its creation, which has the body of its only tab in place of tabs */
export function toBodyState(documentId: string, document: docs_v1.Schema$Document, tab = '') {
	const { revisionId, body, tabs = [{ documentTab: { body } }] } = document;
	const allTabs = flattenTabs(tabs);
	const chosenTab = tab === '' ? allTabs[0] : findTab(allTabs, tab);
	const content = chosenTab?.documentTab?.body?.content ?? [];
	const endIndex = content.at(-1)?.endIndex;
	if (chosenTab === undefined || !endIndex)
		throw new NodeError({ code: 502, message: 'Google returned a document without a body' });
	// Google returns a revision ID only to accounts that may edit the document.
	if (!revisionId)
		throw new NodeError({
			code: 403,
			message: 'This account can read the document but not edit it',
			description: 'Share the document with the account of the credential as an editor.',
		});
	const tabId = chosenTab.tabProperties?.tabId ?? undefined;
	const rangeNames = Object.keys(chosenTab.documentTab?.namedRanges ?? {});
	return { documentId, tabId, revisionId, endIndex, rangeNames, content, allTabs, chosenTab };
}

/** What a change needs to know of a document and the chosen tab. `endIndex` is the index after the last newline of the tab's body. */
export type BodyState = ReturnType<typeof toBodyState>;

/** Returns the stored text of elements in the order of their indexes. */
export const getStoredText = (content: Elements): string =>
	Array.from(getParagraphs(content), ({ paragraph }) => getStoredLine(paragraph)).join('');

export const getTabText = (tab: docs_v1.Schema$Tab) =>
	getStoredText(tab.documentTab?.body?.content ?? []) + getOuterText(tab);

/** Returns the text of a tab's headers, footers and footnotes. */
export function getOuterText({ documentTab }: docs_v1.Schema$Tab): string {
	const { headers, footers, footnotes } = documentTab ?? {};
	const segments = Object.values({ ...headers, ...footers, ...footnotes });
	return segments.map(({ content = [] }) => getStoredText(content)).join('');
}
