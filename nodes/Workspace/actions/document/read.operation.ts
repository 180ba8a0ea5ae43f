import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { plainTextOf } from '../../../untrusted/document/plainText';
import { asFailure } from '../../../core/nodeErrors';
import { refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
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
		if (output === 'document') {
			refuseTooDeep(data);
			return { ...data, ...(chosen && { tabs: [chosen] }) };
		}
		const tabs = (chosen ? [chosen] : allTabs(data)).flatMap(({ documentTab }) => documentTab ?? []);
		const content = contentFormat === 'text' ? textOf(tabs, item) : await markdownOf(tabs, documentId, item);
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

/** Levels of JSON. n8n copies and stores items with functions that call themselves for each level. */
const deepestItem = 1000;

/** @throws Failure for a document that n8n cannot store */
function refuseTooDeep(document: docs_v1.Schema$Document): void {
	let level: unknown[] = [document];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > deepestItem) {
			throw refusal(
				'The tables of the document are nested too deeply to be output as a document',
				`Set ${named('output')} to text.`,
			);
		}
		level = level.flatMap((value): unknown[] =>
			typeof value === 'object' && value !== null ? Object.values(value) : [],
		);
	}
}

/** A blank line between tabs; an empty tab adds none. */
function textOf(tabs: readonly docs_v1.Schema$DocumentTab[], item: Item): string {
	const texts = unlessTooDeep(() => tabs.map(plainTextOf));
	if (texts === undefined)
		item.hint('The tables of the document are nested too deeply. The content was left empty.');
	return (texts ?? []).filter((text) => text !== '').join('\n\n');
}

/** Tables can stand in each other a thousand times, in a document that somebody made up; nobody's call stack holds that. */
function unlessTooDeep<T>(walk: () => T): T | undefined {
	try {
		return walk();
	} catch (error) {
		if (error instanceof RangeError) return undefined;
		throw asFailure(error);
	}
}

async function markdownOf(
	tabs: readonly docs_v1.Schema$DocumentTab[],
	documentId: string,
	item: Item,
): Promise<string> {
	const { runInWorker } = await import('../../../untrusted/runInWorker');
	const json = unlessTooDeep(() => JSON.stringify(tabs));
	const answer =
		json === undefined
			? { trouble: 'its tables are nested too deeply' }
			: await runInWorker('markdownOfTabs', json, item.signal);
	if ('result' in answer) return answer.result;
	item.hint(
		`The document ${documentId} cannot be converted to Markdown: ${answer.trouble}. The content was left empty. Read the document as text instead.`,
	);
	return '';
}
