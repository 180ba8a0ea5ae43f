import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { flattenTabs, type ListedTab, matchTabs } from './tabList';

/** What the worker thread gets beside Google's response. */
export interface DocumentInput {
	/** ID or title of the tab to read; '' for all tabs. */
	readonly tab: string;
	readonly format: 'text' | 'markdown';
}

/** Reads Google's response to a request for a document. */
export async function readDocument(bytes: Buffer, { tab, format }: DocumentInput) {
	const document = JSON.parse(bytes.toString('utf8')) as docs_v1.Schema$Document;
	const allTabs = flattenTabs(document.tabs);
	const chosenTabs = tab === '' ? allTabs : matchTabs(allTabs, tab);
	return {
		title: document.title ?? '',
		revisionId: document.revisionId ?? '',
		tabs: allTabs.map(({ tabId, title }) => ({ tabId, title })),
		content: await convertTabs(chosenTabs, format),
	};
}

async function convertTabs(chosenTabs: readonly ListedTab[], format: DocumentInput['format']) {
	// Without other tabs, a tab has no title in the text.
	const hasTitles = chosenTabs.length > 1;
	const tabs = chosenTabs.map(({ tab, title }) => {
		return { ...tab.documentTab, tabTitle: hasTitles ? title : '' };
	});
	if (format === 'text') {
		const { documentTabsToText } = await import('./documentTabsToText');
		return documentTabsToText(tabs);
	}
	const { documentTabsToMarkdown } = await import('../markdown/documentTabsToMarkdown');
	return documentTabsToMarkdown(tabs);
}
