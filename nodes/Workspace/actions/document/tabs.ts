import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { NodeError, refusal } from '../../../core/errors';

/** Every tab, nested ones after their parent. */
export function allTabs(document: docs_v1.Schema$Document): docs_v1.Schema$Tab[] {
	const flat = (tabs: readonly docs_v1.Schema$Tab[] | undefined): docs_v1.Schema$Tab[] =>
		(tabs ?? []).flatMap((tab) => [tab, ...flat(tab.childTabs)]);
	return flat(document.tabs);
}

export function tabSummary({ tabProperties }: docs_v1.Schema$Tab): { tabId: string; title: string } {
	return { tabId: tabProperties?.tabId ?? '', title: tabProperties?.title ?? '' };
}

/** The tab with an ID or a title. @throws NodeError 400 if there is none, or several have the title */
export function tabNamed(document: docs_v1.Schema$Document, name: string): docs_v1.Schema$Tab {
	const tabs = allTabs(document);
	const byId = tabs.find((tab) => tabSummary(tab).tabId === name);
	if (byId !== undefined) return byId;
	const [found, ...others] = tabs.filter((tab) => tabSummary(tab).title === name);
	const list = (some: readonly docs_v1.Schema$Tab[]) =>
		some.map((tab) => `'${tabSummary(tab).title}' (${tabSummary(tab).tabId})`).join(', ');
	if (found === undefined)
		throw refusal(`The document has no tab '${name}'`, `Tabs of the document: ${list(tabs)}.`);
	if (others.length > 0) {
		throw refusal(
			`Several tabs have the title '${name}'`,
			`Enter the ID of one of them: ${list([found, ...others])}.`,
		);
	}
	return found;
}

/** Whether a name looks like Google's tab IDs. A tab whose title looks like one can only be given by its ID. */
export function looksLikeTabId(name: string): boolean {
	return /^t\.[\w-]+$/.test(name);
}

export function documentUrl(documentId: string, tabId?: string): string {
	const query = tabId === undefined ? '' : `?tab=${encodeURIComponent(tabId)}`;
	return `https://docs.google.com/document/d/${documentId}/edit${query}`;
}

const inner = 'paragraph(paragraphStyle,bullet,elements(textRun(textStyle)))';
const fields = `revisionId,tabs(tabProperties(tabId,title),childTabs,documentTab(body(content(startIndex,endIndex,${inner})),namedRanges))`;

/** What a change needs to know about a tab's body. */
export interface BodyState {
	readonly documentId: string;
	readonly tabId: string;
	readonly revisionId: string;
	/** Index after the last newline. */
	readonly endIndex: number;
	readonly lastParagraphEmpty: boolean;
	/** Whether the first or last paragraph has a style of its own, which text that takes its place would keep. */
	readonly styled: boolean;
	/** Names of the tab's named ranges. */
	readonly rangeNames: readonly string[];
}

/** @param tab ID or title; empty for the first tab */
export async function readBody(docs: docs_v1.Docs, documentId: string, tab: string): Promise<BodyState> {
	const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
	const found = tab === '' ? allTabs(data)[0] : tabNamed(data, tab);
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
	const paragraphs = content.flatMap(({ paragraph }) => paragraph ?? []);
	return {
		documentId,
		tabId: tabSummary(found).tabId,
		revisionId: data.revisionId,
		endIndex: last.endIndex,
		lastParagraphEmpty: last.endIndex - (last.startIndex ?? 0) === 1,
		rangeNames,
		styled: [...paragraphs.slice(0, 1), ...paragraphs.slice(-1)].some(isStyled),
	};
}

const plainKeys = new Set(['namedStyleType', 'direction', 'headingId']);

function isStyled({ bullet, paragraphStyle, elements }: docs_v1.Schema$Paragraph): boolean {
	const ownStyle = Object.keys(paragraphStyle ?? {}).some((key) => !plainKeys.has(key));
	const textStyle = Object.keys(elements?.at(-1)?.textRun?.textStyle ?? {}).length > 0;
	const named = paragraphStyle?.namedStyleType ?? 'NORMAL_TEXT';
	return bullet !== undefined || ownStyle || textStyle || named !== 'NORMAL_TEXT';
}
