import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { NodeError, createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { type Elements, getParagraphs, getStoredLine } from '../../../untrusted/document/elements';
import { flattenTabs, matchTabs, type TabSummary } from '../../../untrusted/document/tabList';

/** Finds a tab by its ID or title. @throws NodeError 400 if no tab or several tabs match */
export function findTab<T extends TabSummary>(allTabs: readonly T[], idOrTitle: string): T {
	const tabList = allTabs
		.slice(0, 20)
		.map(({ title, tabId }) => `'${shorten(title, 60)}' (${tabId})`);
	const end = allTabs.length > tabList.length ? ' …' : '.';
	const advice = `Enter the ID of a tab: ${tabList.join(', ')}${end}`;
	return pickOne(matchTabs(allTabs, idOrTitle), `tab '${idOrTitle.trim()}'`, advice);
}

/** @returns the only match @throws NodeError 400 if there is none, or several */
export function pickOne<T>(matches: readonly T[], name: string, advice: string): T {
	const [match, ...otherMatches] = matches;
	if (match === undefined) throw createRefusal(`The document has no ${name}`, advice);
	if (otherMatches.length === 0) return match;
	throw createRefusal(`The document has more than one ${name}`, advice);
}

export function buildDocumentUrl(documentId: string, tabId?: string): string {
	const url = `https://docs.google.com/document/d/${documentId}/edit`;
	return tabId === undefined ? url : `${url}?tab=${encodeURIComponent(tabId)}`;
}

const nameFields = 'tabProperties(tabId,title)';
const paragraphFields = 'body(content(startIndex,endIndex,paragraph(paragraphStyle)))';
/** What to fetch of a tab. */
const tabParts = {
	/** ID and title. */
	names: nameFields,
	/** Also the indexes and styles of the paragraphs. */
	outline: `${nameFields},documentTab(namedRanges,${paragraphFields})`,
	/** Also all text, with headers, footers and footnotes. */
	texts: `${nameFields},documentTab(namedRanges,body,headers,footers,footnotes)`,
} as const;

export type Detail = keyof typeof tabParts;

/** Fetches what a change needs to know of a document. */
export async function fetchDocument({ docs, documentId, detail }: DocumentToFetch) {
	// Docs has three levels of tabs. The parts are listed, because Google refuses the mask `tabs`:
	// it would include comments.
	const tab = tabParts[detail];
	const fields = `revisionId,tabs(${tab},childTabs(${tab},childTabs(${tab})))`;
	return (await docs.documents.get({ documentId, includeTabsContent: true, fields })).data;
}

interface DocumentToFetch {
	readonly docs: docs_v1.Docs;
	readonly documentId: string;
	readonly detail: Detail;
}

/**
 * Finds a tab with its body.
 * @param idOrTitle '' for the first tab
 * @throws NodeError 403 if the account may not edit
 */
export function findEditableTab(document: docs_v1.Schema$Document, idOrTitle = '') {
	const { revisionId } = document;
	const allTabs = flattenTabs(document.tabs);
	const chosenTab = idOrTitle === '' ? allTabs[0] : findTab(allTabs, idOrTitle);
	const content = getBody(chosenTab?.tab);
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
	return { revisionId, allTabs, chosenTab, tabId: chosenTab.tabId, content, endIndex };
}

/**
 * What a change needs to know of a document and the chosen tab. `endIndex` is the index after the
 * last newline of the tab's body.
 */
export type EditableTab = ReturnType<typeof findEditableTab>;

export const getBody = (tab: docs_v1.Schema$Tab | undefined): Elements =>
	tab?.documentTab?.body?.content ?? [];

/** Returns the names of the ranges of all tabs, among them the markers of earlier changes. */
export const getRangeNames = ({ allTabs }: EditableTab) =>
	allTabs.flatMap(({ tab }) => Object.keys(tab.documentTab?.namedRanges ?? {}));

/** Returns the stored text of elements in the order of their indexes. */
export const getStoredText = (content: Elements): string =>
	Array.from(getParagraphs(content), ({ paragraph }) => getStoredLine(paragraph)).join('');

/** Returns the text of a tab's headers, footers and footnotes. */
export function getOuterText({ documentTab }: docs_v1.Schema$Tab): string {
	const { headers, footers, footnotes } = documentTab ?? {};
	const segments = Object.values({ ...headers, ...footers, ...footnotes });
	return getStoredText(segments.flatMap(({ content = [] }) => content));
}
