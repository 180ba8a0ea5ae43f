import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { NodeError, createRefusal } from '../../../core/errors';

/** Every tab, nested ones after their parent. */
export function flattenTabs(document: docs_v1.Schema$Document): docs_v1.Schema$Tab[] {
	const flatten = (tabs: readonly docs_v1.Schema$Tab[] | undefined): docs_v1.Schema$Tab[] =>
		(tabs ?? []).flatMap((tab) => [tab, ...flatten(tab.childTabs)]);
	return flatten(document.tabs);
}

export function summarizeTab({ tabProperties }: docs_v1.Schema$Tab): { tabId: string; title: string } {
	return { tabId: tabProperties?.tabId ?? '', title: tabProperties?.title ?? '' };
}

/** The tab with an ID or a title. @throws NodeError 400 if there is none, or several have the title */
export function findTab(document: docs_v1.Schema$Document, name: string): docs_v1.Schema$Tab {
	const tabs = flattenTabs(document);
	const byId = tabs.find((tab) => summarizeTab(tab).tabId === name);
	if (byId !== undefined) return byId;
	const [found, ...others] = tabs.filter((tab) => summarizeTab(tab).title === name);
	const listTabs = (some: readonly docs_v1.Schema$Tab[]) =>
		some.map((tab) => `'${summarizeTab(tab).title}' (${summarizeTab(tab).tabId})`).join(', ');
	if (found === undefined && name !== name.trim()) return findTab(document, name.trim());
	if (found === undefined)
		throw createRefusal(`The document has no tab '${name}'`, `Tabs of the document: ${listTabs(tabs)}.`);
	if (others.length > 0) {
		throw createRefusal(
			`Several tabs have the title '${name}'`,
			`Enter the ID of one of them: ${listTabs([found, ...others])}.`,
		);
	}
	return found;
}

/** Whether a name looks like Google's tab IDs. A tab whose title looks like one can only be given by its ID. */
export function looksLikeTabId(name: string): boolean {
	return /^t\.[\w-]+$/.test(name);
}

export function buildDocumentUrl(documentId: string, tabId?: string): string {
	const query = tabId === undefined ? '' : `?tab=${encodeURIComponent(tabId)}`;
	return `https://docs.google.com/document/d/${documentId}/edit${query}`;
}

const tabFields = 'revisionId,tabs(tabProperties(tabId,title),childTabs,documentTab(namedRanges';
const styleFields = 'paragraph(paragraphStyle,bullet,elements(textRun(textStyle)))';

/** What is read of a document: where its paragraphs are; all of its bodies; or these and the other texts of the tabs. */
const fieldsByExtent = {
	outline: `${tabFields},body(content(startIndex,endIndex,${styleFields}))))`,
	bodies: `${tabFields},body))`,
	texts: `${tabFields},body,headers,footers,footnotes))`,
} as const;

/** What a change needs to know about a tab's body. */
export interface BodyState {
	readonly documentId: string;
	readonly tabId: string;
	readonly revisionId: string;
	/** Index after the last newline. */
	readonly endIndex: number;
	/** Names of the tab's named ranges. */
	readonly rangeNames: readonly string[];
	readonly content: docs_v1.Schema$StructuralElement[];
	readonly allTabs: readonly docs_v1.Schema$Tab[];
}

/** @param tab ID or title; empty for the first tab */
export async function readBodyState(
	docs: docs_v1.Docs,
	documentId: string,
	tab: string,
	extent: keyof typeof fieldsByExtent = 'outline',
): Promise<BodyState> {
	const fields = fieldsByExtent[extent];
	const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
	const allTabs = flattenTabs(data);
	const found = tab === '' ? allTabs[0] : findTab(data, tab);
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
	const rangeNames = Object.keys(found.documentTab?.namedRanges ?? {});
	return {
		documentId,
		tabId: summarizeTab(found).tabId,
		revisionId: data.revisionId,
		endIndex: last.endIndex,
		rangeNames,
		content,
		allTabs,
	};
}

/** The stored content of a body, in the order of its indexes. It shows whether a write happened. */
export function getStoredText(content: readonly docs_v1.Schema$StructuralElement[]): string {
	return content
		.map(({ paragraph, table }) => {
			if (paragraph)
				return (paragraph.elements ?? []).map((element) => element.textRun?.content ?? '').join('');
			const cells = (table?.tableRows ?? []).flatMap((row) => row.tableCells ?? []);
			return cells.map((cell) => getStoredText(cell.content ?? [])).join('');
		})
		.join('');
}

/** The texts of a tab, or of all tabs, with headers, footers and footnotes. @param content what counts of the tab's body */
export function collectTexts(
	{ tabId, allTabs }: BodyState,
	isEveryTab: boolean,
	content: BodyState['content'],
): string {
	const texts = allTabs.flatMap((tab) => {
		const { body, headers = {}, footers = {}, footnotes = {} } = tab.documentTab ?? {};
		const isOwn = summarizeTab(tab).tabId === tabId;
		const others = Object.values({ ...headers, ...footers, ...footnotes });
		return isOwn || isEveryTab
			? [isOwn ? content : body?.content, ...others.map((part) => part.content)]
			: [];
	});
	return texts.map((part = []) => getStoredText(part)).join('');
}
