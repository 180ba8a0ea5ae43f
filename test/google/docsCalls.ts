import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createDocsService } from '../../dev/google/docs/service';
import { FileRegistry } from '../../dev/google/files';
import { ApiError, type Call } from '../../dev/google/service';

export const files = new FileRegistry();
export const service = createDocsService({ files });

export type Requests = docs_v1.Schema$Request[];

function call(
	method: string,
	documentId?: string,
	params: Call['params'] = {},
	body?: unknown,
): unknown {
	const reply = service.methods[method]?.({
		method,
		params: { ...(documentId !== undefined && { documentId }), ...params },
		body,
		user: 'someone@example.com',
		clientId: 'client',
		scopes: ['https://www.googleapis.com/auth/documents'],
		headers: {},
	});
	if (reply === undefined || reply instanceof Promise) throw new Error(`no answer to ${method}`);
	return reply.body;
}

export function create(document: docs_v1.Schema$Document): docs_v1.Schema$Document {
	return call('docs.documents.create', undefined, {}, document) as docs_v1.Schema$Document;
}

export function get(documentId: string, params: Call['params'] = {}): docs_v1.Schema$Document {
	return call('docs.documents.get', documentId, params) as docs_v1.Schema$Document;
}

export function update(
	documentId: string,
	requests: Requests,
	writeControl?: docs_v1.Schema$WriteControl,
) {
	const body = { requests, ...(writeControl && { writeControl }) };
	return call(
		'docs.documents.batchUpdate',
		documentId,
		{},
		body,
	) as docs_v1.Schema$BatchUpdateDocumentResponse;
}

export function fresh(text = ''): string {
	const id = create({ title: 'T' }).documentId ?? '';
	if (text !== '') update(id, [{ insertText: { text, location: { index: 1 } } }]);
	return id;
}

export function refused(documentId: string, ...requests: Requests): string {
	const before = get(documentId);
	try {
		update(documentId, requests);
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		expect(error.code).toBe(400);
		expect(get(documentId)).toEqual(before);
		return error.message;
	}
	throw new Error('was not refused');
}

export function paragraphs(documentId: string): docs_v1.Schema$Paragraph[] {
	return (get(documentId).body?.content ?? []).flatMap((element) =>
		element.paragraph ? [element.paragraph] : [],
	);
}

export const range = (startIndex: number, endIndex: number) => ({ startIndex, endIndex });
export const erase = (startIndex: number, endIndex: number) => ({
	deleteContentRange: { range: range(startIndex, endIndex) },
});
export const insert = (text: string, index: number) => ({
	insertText: { text, location: { index } },
});
export const table = (index: number) => ({
	insertTable: { rows: 2, columns: 2, location: { index } },
});

export function line(text: string): docs_v1.Schema$StructuralElement {
	return { paragraph: { elements: [{ textRun: { content: `${text}\n` } }] } };
}

export function styled(startIndex: number, endIndex: number): docs_v1.Schema$Request {
	return {
		updateTextStyle: {
			range: range(startIndex, endIndex),
			textStyle: { bold: true },
			fields: 'bold',
		},
	};
}

export function bullets(startIndex: number, endIndex: number): docs_v1.Schema$Request {
	return {
		createParagraphBullets: {
			range: range(startIndex, endIndex),
			bulletPreset: 'BULLET_DISC_CIRCLE_SQUARE',
		},
	};
}
