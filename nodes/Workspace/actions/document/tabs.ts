import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { refusal } from '../../../core/errors';

/** Every tab, nested ones after their parent. */
export function allTabs(document: docs_v1.Schema$Document): docs_v1.Schema$Tab[] {
	const flat = (tabs: readonly docs_v1.Schema$Tab[] | undefined): docs_v1.Schema$Tab[] =>
		(tabs ?? []).flatMap((tab) => [tab, ...flat(tab.childTabs)]);
	return flat(document.tabs);
}

export function tabSummary({ tabProperties }: docs_v1.Schema$Tab): { tabId: string; title: string } {
	return { tabId: tabProperties?.tabId ?? '', title: tabProperties?.title ?? '' };
}

/**
 * The tab with an id or a title.
 * @throws Failure 400 when there is none, or several have the title
 */
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

/** Google's ids of tabs; a title that looks like one has to be given as its id. */
export function looksLikeTabId(name: string): boolean {
	return /^t\.[\w-]+$/.test(name);
}

export function documentUrl(documentId: string, tabId?: string): string {
	const query = tabId === undefined ? '' : `?tab=${encodeURIComponent(tabId)}`;
	return `https://docs.google.com/document/d/${documentId}/edit${query}`;
}
