import type { IDataObject } from 'n8n-workflow';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal, NodeError, toNodeError } from '../../../core/errors';
import { buildModelAnswer, describeTextPart } from '../../../core/modelAnswer';
import { mentionChoice, quoteField } from '../../../fields/field';
import { startCharacterOption } from '../../../fields/params';
import { defineOperation, type Item } from '../../operation';
import * as fields from './fields';
import { flattenTabs, findTab, summarizeTab } from './tabs';

export const read = defineOperation({
	value: 'read',
	name: 'Read',
	action: 'Read document or get it as PDF',
	description:
		'Get all text of a document, including tables, lists, headers, footers and footnotes',
	modelDescription: 'Read a Google document.',
	isReadOnlyByDefault: true,
	fields: [fields.documentId],
	options: [
		{
			displayName: 'File Format',
			name: 'fileFormat',
			type: 'options',
			showWhen: { output: ['file'] },
			options: [
				{ name: 'EPUB', value: 'epub' },
				{ name: 'Markdown', value: 'markdown' },
				{ name: 'OpenDocument', value: 'odt' },
				{ name: 'PDF', value: 'pdf' },
				{ name: 'Rich Text', value: 'rtf' },
				{ name: 'Text', value: 'txt' },
				{ name: 'Word', value: 'docx' },
			],
			default: 'pdf',
			description: 'Format of the file',
		},
		{
			displayName: 'Put Output File in Field',
			name: 'binaryPropertyName',
			type: 'string',
			showWhen: { output: ['file'] },
			default: 'data',
			description: 'The binary field of the output item that gets the file',
		},
		{ ...fields.contentFormat, description: 'Format to return the content in' },
		{
			...fields.tab,
			description:
				'Title or ID of the tab to read. Leave empty to read the tab in the URL of the document, or all tabs.',
		},
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{
					name: 'File',
					value: 'file',
					description: 'The whole document as a PDF, Word or other file of up to 10 MB',
				},
				{
					name: 'Text',
					value: 'text',
					description: 'Text or Markdown, with the title and the list of tabs',
				},
				{
					name: 'Document',
					value: 'document',
					description: "Google's document resource with its full structure",
				},
			],
			default: 'text',
			description: 'What to return',
		},
		{ ...startCharacterOption, showWhen: { output: ['text'] } },
	],
	async send({ docs, drive }, params, item) {
		const { documentId, contentFormat, tab, output, fileFormat, startCharacter } = params;
		if (output === 'file') {
			const fields = 'title,tabs(tabProperties(tabId,title),childTabs)';
			const { data } = await docs.documents.get({
				documentId,
				includeTabsContent: true,
				fields,
			});
			const title = data.title ?? '';
			if (tab !== '' && flattenTabs(data.tabs).length > 1)
				item.addHint(
					`A file always contains all tabs of the document, so ${quoteField('tab')} was not used.`,
				);
			const fileName = `${title}.${fileFormat === 'markdown' ? 'md' : fileFormat}`;
			const mimeType = (await import('../mimeTypes')).findMimeType(fileName);
			const fileRequest = { fileId: documentId, mimeType };
			const { data: bytes, headers } = await drive.files.export(fileRequest, {
				responseType: 'arraybuffer',
			});
			const contentType = headers['content-type'] ?? '';
			if (
				!Buffer.isBuffer(bytes) ||
				/^(?:text\/html|application\/json)\b/.test(contentType)
			) {
				const message = 'Google Drive returned a page in place of the file';
				throw new NodeError({
					code: 502,
					message,
					description: 'Check any proxy in between.',
				});
			}
			const file = await item.store(bytes, fileName, mimeType);
			return { documentId, title, mimeType, fileSize: bytes.length, file };
		}
		// The text leaves out suggested changes. Google's resource contains them.
		const viewParameters =
			output === 'text' ? { suggestionsViewMode: 'PREVIEW_WITHOUT_SUGGESTIONS' } : {};
		const { data } = await docs.documents.get({
			documentId,
			includeTabsContent: true,
			...viewParameters,
		});
		const allTabs = flattenTabs(data.tabs);
		const chosenTab = tab === '' ? undefined : findTab(allTabs, tab);
		if (output === 'document') {
			refuseDeepNesting(data);
			return { ...data, ...(chosenTab && { tabs: [chosenTab] }) };
		}
		const tabs = (chosenTab ? [chosenTab] : allTabs).flatMap(
			({ documentTab }) => documentTab ?? [],
		);
		const content = await convertTabs(tabs, documentId, contentFormat, item);
		return {
			documentId,
			title: data.title ?? '',
			content: content.slice(startCharacter),
			characterCount: content.length,
			revisionId: data.revisionId ?? '',
			tabs: allTabs.map(summarizeTab),
		};
	},
	toModel(result, { startCharacter }) {
		if (!('content' in result) || result.content === undefined)
			return { items: [{ ...result, file: undefined }] };
		const { title, content, characterCount, tabs } = result;
		const facts: IDataObject = { title, characterCount };
		if (tabs.length > 1) facts['tabs'] = tabs.map((tab) => tab.title);
		return buildModelAnswer(facts, { name: 'content', text: content }, (shownLength) =>
			describeTextPart(
				shownLength,
				startCharacter,
				characterCount,
				quoteField('startCharacter'),
			),
		);
	},
	toItems(result, { binaryPropertyName }) {
		if (!('file' in result) || result.file === undefined) return undefined;
		const { file, ...json } = result;
		return [{ json, binary: { [binaryPropertyName]: file } }];
	},
});

/** Most levels of JSON in an item, because n8n copies and stores items with recursive functions. */
const maxItemDepth = 1000;

/** @throws NodeError 400 for a document that n8n cannot store */
function refuseDeepNesting(document: docs_v1.Schema$Document): void {
	let values: unknown[] = [document];
	for (let depth = 0; values.length > 0; depth++) {
		if (depth > maxItemDepth)
			throw createRefusal(
				'The tables of the document are nested too deeply to be output as a document',
				`Set ${quoteField('output')} to ${mentionChoice('output', 'text')}.`,
			);
		values = values.flatMap((value): unknown[] =>
			typeof value === 'object' && value !== null ? Object.values(value) : [],
		);
	}
}

const conversions = {
	text: { task: 'documentTabsToText', name: 'plain text', advice: '' },
	markdown: {
		task: 'documentTabsToMarkdown',
		name: 'Markdown',
		advice: 'Read the document as text instead.',
	},
} as const;

/** Converts tabs in the thread for untrusted text. @returns '' if the conversion fails; the item then gets a hint */
async function convertTabs(
	tabs: readonly docs_v1.Schema$DocumentTab[],
	documentId: string,
	format: keyof typeof conversions,
	item: Item,
): Promise<string> {
	const { runInWorker } = await import('../../../untrusted/runInWorker');
	const { task, name, advice } = conversions[format];
	const json = stringifyTabs(tabs);
	const tooDeepAnswer = { problem: 'its tables are nested too deeply' };
	const answer = json === undefined ? tooDeepAnswer : await runInWorker(task, json, item.signal);
	if ('result' in answer) return answer.result;
	const summary = `The document ${documentId} cannot be converted to ${name}: ${answer.problem}. The content was left empty.`;
	item.addHint(advice === '' ? summary : `${summary} ${advice}`);
	return '';
}

/** @returns undefined if tables are nested too deeply for the call stack, as in a document that somebody made with the API */
function stringifyTabs(tabs: readonly docs_v1.Schema$DocumentTab[]): string | undefined {
	try {
		return JSON.stringify(tabs);
	} catch (error) {
		if (error instanceof RangeError) return undefined;
		throw toNodeError(error);
	}
}
