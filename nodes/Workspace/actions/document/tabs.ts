import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { NodeError, createRefusal } from '../../../core/errors';
import { type Elements, getCells, getStoredLine } from '../../../untrusted/document/elements';

/** Every tab, nested ones after their parent. */
export const flattenTabs = (tabs?: readonly docs_v1.Schema$Tab[]): docs_v1.Schema$Tab[] =>
	(tabs ?? []).flatMap((tab) => [tab, ...flattenTabs(tab.childTabs)]);

export const summarizeTab = ({ tabProperties }: docs_v1.Schema$Tab) => ({
	tabId: tabProperties?.tabId ?? '',
	title: tabProperties?.title ?? '',
});

/** The tab with an ID or a title. @throws NodeError 400 if there is none, or several have the title */
export function findTab(allTabs: readonly docs_v1.Schema$Tab[], name: string): docs_v1.Schema$Tab {
	const tabs = allTabs.map((tab) => ({ ...summarizeTab(tab), tab }));
	const matches = [name, name.trim()].flatMap((wanted) => [
		tabs.filter(({ tabId }) => tabId === wanted).slice(0, 1),
		tabs.filter(({ title }) => title === wanted),
	]);
	const found = matches.find(({ length }) => length > 0);
	if (found?.[0] && found.length === 1) return found[0].tab;
	const list = (found ?? tabs).map(({ title, tabId }) => `'${title}' (${tabId})`).join(', ');
	throw found
		? createRefusal(`Several tabs have the title '${name}'`, `Enter the ID of one of them: ${list}.`)
		: createRefusal(`The document has no tab '${name.trim()}'`, `Tabs of the document: ${list}.`);
}

/** Whether a name has the form of Google's tab IDs. A tab with such a title can be chosen by its ID only. */
export const looksLikeTabId = (name: string) => /^t\.[\w-]+$/.test(name);

export function buildDocumentUrl(documentId: string, tabId?: string): string {
	const query = tabId === undefined ? '' : `?tab=${encodeURIComponent(tabId)}`;
	return `https://docs.google.com/document/d/${documentId}/edit${query}`;
}

const tabFields = 'revisionId,tabs(tabProperties(tabId,title),childTabs,documentTab(namedRanges';
const styleFields = 'paragraph(paragraphStyle,bullet,elements(textRun(textStyle)))';

/** How much to read of a document: where its paragraphs are, all bodies, or also headers, footers and footnotes. */
const fieldsByExtent = {
	outline: `${tabFields},body(content(startIndex,endIndex,${styleFields}))))`,
	bodies: `${tabFields},body))`,
	texts: `${tabFields},body,headers,footers,footnotes))`,
} as const;

/** @param tab ID or title; empty for the first tab */
export async function readBodyState(
	docs: docs_v1.Docs,
	documentId: string,
	tab: string,
	extent: keyof typeof fieldsByExtent = 'outline',
) {
	const fields = fieldsByExtent[extent];
	const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
	const allTabs = flattenTabs(data.tabs);
	const found = tab === '' ? allTabs[0] : findTab(allTabs, tab);
	const content = found?.documentTab?.body?.content ?? [];
	const last = content.at(-1);
	if (found === undefined || !last?.endIndex) {
		throw new NodeError({ code: 502, message: 'Google returned a document without a body' });
	}
	if (!data.revisionId) {
		throw new NodeError({
			code: 403,
			message: 'This account can read the document but not edit it',
			description: 'Share the document with the account of the credential as an editor.',
		});
	}
	const { tabId } = summarizeTab(found);
	const rangeNames = Object.keys(found.documentTab?.namedRanges ?? {});
	// The end is the index after the last newline.
	return {
		documentId,
		tabId,
		revisionId: data.revisionId,
		endIndex: last.endIndex,
		rangeNames,
		content,
		allTabs,
	};
}

/** What a change needs to know about a tab's body. */
export type BodyState = Awaited<ReturnType<typeof readBodyState>>;

/** The stored content of a body, in the order of its indexes. Compared before and after a write, it shows whether that happened. */
export function getStoredText(content: Elements): string {
	const read = ({ paragraph, table }: docs_v1.Schema$StructuralElement): string =>
		paragraph
			? getStoredLine(paragraph)
			: getCells(table)
					.map((cell) => getStoredText(cell.content ?? []))
					.join('');
	return content.map(read).join('');
}

/** The text of a tab's headers, footers and footnotes. */
export function getOuterText({ documentTab }: docs_v1.Schema$Tab): string {
	const parts = Object.values({
		...documentTab?.headers,
		...documentTab?.footers,
		...documentTab?.footnotes,
	});
	return parts.map(({ content = [] }) => getStoredText(content)).join('');
}

/** Joins the texts of a tab, or of all tabs, with headers, footers and footnotes. @param content the part of the tab's body to include */
export function collectTexts({ tabId, allTabs }: BodyState, isEveryTab: boolean, content: Elements): string {
	const texts = allTabs.map((tab) => {
		const isOwn = summarizeTab(tab).tabId === tabId;
		const body = isOwn ? content : (tab.documentTab?.body?.content ?? []);
		return isOwn || isEveryTab ? getStoredText(body) + getOuterText(tab) : '';
	});
	return texts.join('');
}
