import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { checkCreates, type FileRegistry, type StoredFile } from '../files.ts';
import { ApiError, type Call, type Service } from '../service.ts';
import {
	readBodyText,
	renderDocument,
	createId,
	createTab,
	findTab,
	type StoredDocument,
	type TabSeed,
} from './document.ts';
import { insertText } from './edits.ts';
import { checkMask } from './mask.ts';
import { apply } from './requests.ts';
import { getEnd } from './segment.ts';

export const documentType = 'application/vnd.google-apps.document';

export interface DocumentSeed {
	readonly title: string;
	readonly tabs?: readonly TabSeed[];
	readonly file?: Partial<StoredFile>;
}

export interface DocsService extends Service {
	/** @returns the new document's ID */
	seed(document: DocumentSeed): string;
	/** All text of a tab's body as stored, with its final newline. */
	text(documentId: string, tabId?: string): string;
	/** Simulates another user who types at the end of the first tab. */
	type(documentId: string, text: string): void;
	revisionOf(documentId: string): string;
	/** Number of batches carried out. */
	batchesOf(documentId: string): number;
}

/**
 * Documents, stored with the files of all services, so that a document created through Drive also exists
 * here.
 */
export function createDocsService({ files }: { files: FileRegistry }): DocsService {
	const documents = new Map<string, StoredDocument>();
	const createRevision = () => createId('AJ');

	function keep({ id, name }: StoredFile, tabs: readonly TabSeed[] = [{}]): void {
		documents.set(id, {
			id,
			title: name,
			revisionId: createRevision(),
			tabs: tabs.map((tab, index) => createTab(tab, index)),
			batches: 0,
		});
	}

	function getDocument(id: string): StoredDocument {
		const document = documents.get(id);
		if (document === undefined)
			throw new ApiError(404, 'Requested entity was not found.', { status: 'NOT_FOUND' });
		return document;
	}

	function getRequestedDocument(call: Call): StoredDocument {
		const id = String(call.params['documentId'] ?? '');
		const file = files.get(id);
		if (file) files.checkShared(call, file);
		files.checkType(call, file, documentType);
		const visible = file !== undefined && files.isVisibleTo(call, file);
		return getDocument(visible ? id : '');
	}

	files.onCreated.push((file) => {
		if (file.mimeType === documentType) keep(file);
	});

	files.onCopied.push((originalFile, copiedFile) => {
		const original = documents.get(originalFile.id);
		const copy = documents.get(copiedFile.id);
		if (original && copy) copy.tabs = structuredClone(original.tabs);
	});

	files.textReaders.push((id) => {
		const document = documents.get(id);
		return document?.tabs.map(readBodyText).join('');
	});

	return {
		methods: {
			'docs.documents.create': (call) => {
				const { title } = readBody(call);
				checkCreates(call);
				const name = title ?? 'Untitled document';
				const { id } = files.add({ name, mimeType: documentType, clientId: call.clientId });
				return { body: renderDocument(getDocument(id), false, 'SUGGESTIONS_INLINE') };
			},
			'docs.documents.get': (call) => {
				const { fields } = call.params;
				if (typeof fields === 'string') checkMask(fields);
				const usual = 'DEFAULT_FOR_CURRENT_ACCESS';
				const view = String(call.params['suggestionsViewMode'] ?? usual);
				if (view === 'PREVIEW_SUGGESTIONS_ACCEPTED')
					throw new ApiError(501, 'The stand-in does not model this view.');
				const shownView = view === usual ? 'SUGGESTIONS_INLINE' : view;
				const withTabs = call.params['includeTabsContent'] === 'true';
				return { body: renderDocument(getRequestedDocument(call), withTabs, shownView) };
			},
			'docs.documents.batchUpdate': (call) => ({
				body: batchUpdate(getRequestedDocument(call), readBody(call), createRevision),
			}),
		},
		seed({ title, tabs, file }) {
			const own = { name: title, mimeType: documentType };
			const stored = files.add({ clientId: '', ...file, ...own });
			if (tabs !== undefined) keep(stored, tabs);
			return stored.id;
		},
		text: (documentId, tabId) => readBodyText(findTab(getDocument(documentId), tabId)),
		type(documentId, text) {
			const document = getDocument(documentId);
			const { body } = findTab(document, undefined);
			insertText(body, getEnd(body) - 1, text);
			document.revisionId = createRevision();
		},
		revisionOf: (documentId) => getDocument(documentId).revisionId,
		batchesOf: (documentId) => getDocument(documentId).batches,
		reset() {
			documents.clear();
		},
	};
}

/** Copies the body, which the front has already checked against the contract. */
function readBody(call: Call): docs_v1.Schema$Document & docs_v1.Schema$BatchUpdateDocumentRequest {
	return structuredClone(call.body ?? {});
}

/** Carries out all requests or none. */
function batchUpdate(
	document: StoredDocument,
	{ requests = [], writeControl }: docs_v1.Schema$BatchUpdateDocumentRequest,
	newRevision: () => string,
): docs_v1.Schema$BatchUpdateDocumentResponse {
	const required = writeControl?.requiredRevisionId;
	if (required && required !== document.revisionId) {
		const message = `The required revision ID '${required}' does not match the latest revision.`;
		throw new ApiError(400, message, { status: 'FAILED_PRECONDITION' });
	}
	const backup = structuredClone(document.tabs);
	let replies: docs_v1.Schema$Response[];
	try {
		replies = requests.map((request, position) => apply(document, request, position));
	} catch (error) {
		document.tabs = backup;
		throw error;
	}
	if (requests.length > 0) {
		document.revisionId = newRevision();
		document.batches++;
	}
	const { id: documentId, revisionId: requiredRevisionId } = document;
	return { documentId, replies, writeControl: { requiredRevisionId } };
}
