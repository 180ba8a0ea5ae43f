import type { IDataObject } from 'n8n-workflow';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { NodeError } from '../../../core/errors';
import { buildModelAnswer } from '../../../core/modelAnswer';
import { describeTextPart, startCharacterOption } from '../../../fields/commonOptions';
import type { DocumentInput } from '../../../untrusted/document/readDocument';
import { flattenTabs } from '../../../untrusted/document/tabList';
import { type Clients, defineOperation, type Item } from '../../operation';
import * as fields from './fields';
import { findTab } from './documentState';

export const read = defineOperation({
	value: 'read',
	name: 'Read',
	action: 'Read document or get it as PDF',
	description:
		'Get all text of a document, including tables, lists, headers, footers and footnotes',
	modelDescription: 'Read a Google document.',
	mayChange: () => false,
	fields: [
		fields.documentId,
		{
			displayName: 'Get As',
			name: 'format',
			type: 'options',
			options: [
				{ name: 'EPUB', value: 'epub', description: 'A file of up to 10 MB' },
				{
					name: 'Markdown',
					value: 'markdown',
					description: 'Text with headings, lists, tables and links',
				},
				{ name: 'OpenDocument', value: 'odt', description: 'A file of up to 10 MB' },
				{ name: 'PDF', value: 'pdf', description: 'A file of up to 10 MB' },
				{ name: 'Rich Text', value: 'rtf', description: 'A file of up to 10 MB' },
				{
					name: 'Structure',
					value: 'structure',
					description: "Google's document resource with its full structure",
				},
				{ name: 'Text', value: 'text', description: 'Plain text' },
				{ name: 'Word', value: 'docx', description: 'A file of up to 10 MB' },
			],
			default: 'text',
			description: 'What to return',
		},
	],
	options: [
		{
			displayName: 'Put Output File in Field',
			name: 'binaryPropertyName',
			onlyIn: 'json',
			type: 'string',
			showWhen: { format: ['pdf', 'docx', 'odt', 'rtf', 'epub'] },
			default: 'data',
			description: 'The binary field of the output item that gets the file',
		},
		{
			...fields.tab,
			showWhen: { format: ['text', 'markdown', 'structure'] },
			description:
				'Title or ID of the tab to read. Leave empty to read the tab in the URL of the document, or all tabs.',
		},
		{ ...startCharacterOption, showWhen: { format: ['text', 'markdown'] } },
	],
	async send(clients, params, item) {
		const { documentId, format, tab } = params;
		if (format === 'structure') return await readStructure(clients.docs, documentId, tab);
		if (format === 'text' || format === 'markdown')
			return await readText(clients.docs, { ...params, format }, item);
		return await exportFile(clients, documentId, format, item);
	},
	toModel(result, { startCharacter }) {
		if (!('content' in result)) return { items: [{ ...result, file: undefined }] };
		const { title, content, characterCount, tabs } = result;
		const facts: IDataObject = { title, characterCount };
		if (tabs.length > 1) facts['tabs'] = tabs.map((tab) => tab.title);
		return buildModelAnswer(facts, { name: 'content', text: content }, (shownLength) =>
			describeTextPart(shownLength, startCharacter, characterCount),
		);
	},
	toItems(result, { binaryPropertyName }) {
		if (!('file' in result)) return undefined;
		const { file, ...json } = result;
		return [{ json, binary: { [binaryPropertyName]: file } }];
	},
});

async function exportFile(clients: Clients, documentId: string, format: string, item: Item) {
	const { data } = await clients.docs.documents.get({ documentId, fields: 'title' });
	const fileName = `${data.title ?? ''}.${format}`;
	const mimeType = (await import('../mimeTypes')).findMimeType(fileName);
	const request = { fileId: documentId, mimeType };
	const response = await clients.drive.files.export(request, { responseType: 'arraybuffer' });
	if (/^(?:text\/html|application\/json)\b/.test(response.headers['content-type'] ?? ''))
		throw new NodeError({
			code: 502,
			message: 'Google Drive returned a page in place of the file',
			description: 'Check any proxy in between.',
		});
	const bytes = response.data as Buffer;
	const file = await item.store(bytes, fileName, mimeType);
	return { documentId, title: data.title ?? '', mimeType, fileSize: bytes.length, file };
}

async function readStructure(docs: docs_v1.Docs, documentId: string, idOrTitle: string) {
	const { data } = await docs.documents.get({ documentId, includeTabsContent: true });
	if (idOrTitle === '') return data;
	const { tab } = findTab(flattenTabs(data.tabs), idOrTitle);
	return { ...data, tabs: [tab] };
}

interface TextRequest extends DocumentInput {
	readonly documentId: string;
	readonly startCharacter: number;
}

async function readText(docs: docs_v1.Docs, request: TextRequest, item: Item) {
	const { title, content, revisionId, tabs } = await fetchText(docs, request, item);
	// Refuses a wrong tab, for which the worker thread returns an empty text.
	if (request.tab !== '') findTab(tabs, request.tab);
	return {
		documentId: request.documentId,
		title,
		content: content.slice(request.startCharacter),
		characterCount: content.length,
		revisionId,
		tabs,
	};
}

async function fetchText(docs: docs_v1.Docs, request: TextRequest, item: Item) {
	const query = {
		documentId: request.documentId,
		includeTabsContent: true,
		// Google's resource contains suggested changes, the text leaves them out.
		suggestionsViewMode: 'PREVIEW_WITHOUT_SUGGESTIONS',
	};
	// With `text`, our transport returns the bytes of the JSON, because only the worker thread may
	// parse it.
	const { data } = await docs.documents.get(query, { responseType: 'text' });
	const { runInWorker } = await import('../../../untrusted/runInWorker');
	const bytes = data as unknown as Buffer;
	const answer = await runInWorker('readDocument', request, item.signal, bytes);
	if ('result' in answer) return answer.result;
	throw new NodeError({
		code: 502,
		message: `The document ${request.documentId} cannot be read as ${request.format}: ${answer.problem}`,
		description: 'Read one tab, or get it as a file.',
	});
}
