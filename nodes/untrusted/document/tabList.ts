import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

export interface TabSummary {
	readonly tabId: string;
	readonly title: string;
}

/** A tab with what names it. */
export interface ListedTab extends TabSummary {
	readonly tab: docs_v1.Schema$Tab;
}

/** Returns all tabs in one list, each child tab after its parent. */
export function flattenTabs(tabs?: readonly docs_v1.Schema$Tab[]): ListedTab[] {
	const listedTabs: ListedTab[] = [];
	for (const tab of tabs ?? []) {
		const { tabId, title } = tab.tabProperties ?? {};
		listedTabs.push({ tabId: tabId ?? '', title: title ?? '', tab });
		listedTabs.push(...flattenTabs(tab.childTabs));
	}
	return listedTabs;
}

/**
 * Finds tabs by their ID or title. The exact text comes before the trimmed text, and an ID before a
 * title.
 */
export function matchTabs<T extends TabSummary>(allTabs: readonly T[], idOrTitle: string): T[] {
	for (const text of [idOrTitle, idOrTitle.trim()]) {
		const tabWithId = allTabs.find(({ tabId }) => tabId === text);
		if (tabWithId) return [tabWithId];
		const tabsWithTitle = allTabs.filter(({ title }) => title === text);
		if (tabsWithTitle.length > 0) return tabsWithTitle;
	}
	return [];
}
