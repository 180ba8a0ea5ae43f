import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { TitledTab } from './elements';
import { flattenTabs, type ListedTab, matchTabs, type TabSummary } from './tabList';

/** What the thread gets beside Google's response. */
export interface DocumentInput {
	/** ID or title of the tab to read; '' for all tabs. */
	readonly tab: string;
	readonly format: 'text' | 'markdown';
}

export interface ReadDocument {
	readonly title: string;
	readonly revisionId: string;
	readonly tabs: readonly TabSummary[];
	/** Empty if not exactly one tab is the one to read. */
	readonly content: string;
}

/** Reads Google's response to a request for a document. */
export async function readDocument(
	bytes: Buffer,
	{ tab, format }: DocumentInput,
): Promise<ReadDocument> {
	const document = JSON.parse(bytes.toString('utf8')) as docs_v1.Schema$Document;
	const allTabs = flattenTabs(document.tabs);
	const chosenTabs = chooseTabs(allTabs, tab);
	return {
		title: document.title ?? '',
		revisionId: document.revisionId ?? '',
		tabs: allTabs.map(({ tabId, title }) => ({ tabId, title })),
		content: await convertTabs(chosenTabs.map(addTitle), format),
	};
}

function chooseTabs(allTabs: readonly ListedTab[], idOrTitle: string): readonly ListedTab[] {
	if (idOrTitle === '') return allTabs;
	const matches = matchTabs(allTabs, idOrTitle);
	return matches.length === 1 ? matches : [];
}

/** Without other tabs, a tab has no title in the text. */
const addTitle = ({ tab, title }: ListedTab, _: number, tabs: readonly ListedTab[]): TitledTab => ({
	...tab.documentTab,
	tabTitle: tabs.length > 1 ? title : '',
});

async function convertTabs(tabs: readonly TitledTab[], format: DocumentInput['format']) {
	if (format === 'text') {
		const { documentTabsToText } = await import('./documentTabsToText');
		return documentTabsToText(tabs);
	}
	const { documentTabsToMarkdown } = await import('../markdown/documentTabsToMarkdown');
	return documentTabsToMarkdown(tabs);
}
