import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { plainTextOf } from '../../../foreign/document/plainText';
import { defineOperation, type Item } from '../../operation';
import * as fields from './fields';
import { allTabs, tabNamed, tabSummary } from './tabs';

export const read = defineOperation({
	value: 'read',
	methods: {
		'docs.documents.get': 'documents',
	},
	name: 'Read',
	action: 'Read document',
	description: 'Get all text of a document, including tables, lists, headers, footers and footnotes',
	readsOnly: true,
	fields: [fields.documentId],
	options: [
		{ ...fields.contentFormat, description: 'Format to return the content in' },
		{ ...fields.tab, description: 'ID or title of the tab to read. Leave empty to read all tabs.' },
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{ name: 'Text', value: 'text', description: 'Text or Markdown, with the title and the list of tabs' },
				{
					name: 'Document',
					value: 'document',
					description: "Google's document resource with its full structure",
				},
			],
			default: 'text',
			description: 'What to return',
		},
	],
	async execute({ docs }, { documentId, contentFormat, tab, output }, item) {
		// Suggested changes are part of the resource, not of the text.
		const view = output === 'text' ? { suggestionsViewMode: 'PREVIEW_WITHOUT_SUGGESTIONS' } : {};
		const { data } = await docs.documents.get({ documentId, includeTabsContent: true, ...view });
		const chosen = tab === '' ? undefined : tabNamed(data, tab);
		if (output === 'document') return { ...data, ...(chosen && { tabs: [chosen] }) };
		const tabs = (chosen ? [chosen] : allTabs(data)).flatMap(({ documentTab }) => documentTab ?? []);
		const content = contentFormat === 'text' ? textOf(tabs) : await markdownOf(tabs, documentId, item);
		return {
			documentId: data.documentId ?? documentId,
			title: data.title ?? '',
			content,
			characterCount: content.length,
			revisionId: data.revisionId ?? '',
			tabs: allTabs(data).map(tabSummary),
		};
	},
});

/** A blank line between tabs; an empty tab adds none. */
function textOf(tabs: readonly docs_v1.Schema$DocumentTab[]): string {
	return tabs
		.map(plainTextOf)
		.filter((text) => text !== '')
		.join('\n\n');
}

async function markdownOf(
	tabs: readonly docs_v1.Schema$DocumentTab[],
	documentId: string,
	item: Item,
): Promise<string> {
	const { readForeign } = await import('../../../foreign/readForeign');
	const answer = await readForeign('markdownOfTabs', JSON.stringify(tabs), item.signal);
	if ('text' in answer) return answer.text;
	item.hint(
		`The document ${documentId} cannot be converted to Markdown: ${answer.trouble}. The content was left empty. Read the document as text instead.`,
	);
	return '';
}
