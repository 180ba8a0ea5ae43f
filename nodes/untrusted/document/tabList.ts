import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

/** Returns all tabs in one list, each child tab after its parent. */
export const flattenTabs = (tabs?: readonly docs_v1.Schema$Tab[]): docs_v1.Schema$Tab[] =>
	(tabs ?? []).flatMap((tab) => [tab, ...flattenTabs(tab.childTabs)]);

export const summarizeTab = ({ tabProperties }: docs_v1.Schema$Tab) => ({
	tabId: tabProperties?.tabId ?? '',
	title: tabProperties?.title ?? '',
});

export type TabSummary = ReturnType<typeof summarizeTab>;

/** Finds tabs by their ID or title. The exact text comes before the trimmed text, and an ID before a title. */
export function matchTabs(
	allTabs: readonly docs_v1.Schema$Tab[],
	idOrTitle: string,
): docs_v1.Schema$Tab[] {
	for (const text of [idOrTitle, idOrTitle.trim()]) {
		const tabWithId = allTabs.find((tab) => summarizeTab(tab).tabId === text);
		if (tabWithId) return [tabWithId];
		const tabsWithTitle = allTabs.filter((tab) => summarizeTab(tab).title === text);
		if (tabsWithTitle.length > 0) return tabsWithTitle;
	}
	return [];
}
