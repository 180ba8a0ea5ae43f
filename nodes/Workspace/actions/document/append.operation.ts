import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { Failure, refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import { defineOperation } from '../../operation';
import { appendContent } from './appendContent';
import { ensureTab } from './bodyState';
import { isEmpty, parse } from './content';
import * as fields from './fields';
import { idempotencyOption, markOf } from '../../idempotency';
import { readBack, type Written } from './revisionGuard';
import { documentUrl, looksLikeTabId } from './tabs';

export const append = defineOperation({
	value: 'append',
	methods: {
		'docs.documents.get': 'documents',
		'docs.documents.batchUpdate': 'documents',
	},
	name: 'Append',
	action: 'Append text to document',
	description: 'Add content to the end of a document or of one of its tabs',
	fields: [
		fields.documentId,
		{
			...fields.content,
			required: true,
			requiredInForm: false,
			description: 'Content to add, unchanged',
		},
	],
	options: [
		fields.contentFormat,
		idempotencyOption,
		fields.tab,
		fields.createTab,
		fields.insertImages,
		{
			displayName: 'New Paragraph',
			name: 'newParagraph',
			type: 'boolean',
			default: true,
			jsonDefault: false,
			description: 'Whether to start a new paragraph instead of continuing the last line',
		},
	],
	changes: ({ documentId }) => documentId,
	async execute({ docs }, params, item) {
		const { documentId, content, tab, newParagraph } = params;
		const parsed = await parse(params, item);
		if (isEmpty(parsed)) {
			throw refusal(
				`${named('content')} is empty`,
				'Nothing was written. Check the expression that provides the content.',
			);
		}
		if (params.createTab) await ensureTab(docs, params, item);
		const mark = markOf({ key: params.idempotencyKey, operation: 'document append', target: documentId });
		if (typeof parsed === 'string' && (tab === '' || looksLikeTabId(tab)) && !newParagraph && !mark) {
			return await addText(docs, documentId, tab, parsed);
		}
		return await appendContent(docs, { documentId, tab, parsed, newParagraph, mark, content }, item);
	},
	async recover({ docs }, { documentId, tab }, failure, item) {
		const written = await readBack(docs, failure, item);
		if (written !== undefined) return written;
		const url = documentUrl(documentId, looksLikeTabId(tab) ? tab : undefined);
		throw new Failure({
			code: failure.code,
			status: failure.status,
			message: `The content may have been appended: ${failure.message}`,
			description: `It was not sent again, to avoid duplicates. Check the end of ${url} before you run this again.`,
			ambiguous: true,
		});
	},
	errors: {
		400: 'If the document was changed in the meantime, nothing was written. Run this again.',
	},
});

/** Without reading first, and so without a guard: never repeated after an ambiguous failure. */
async function addText(docs: docs_v1.Docs, documentId: string, tab: string, text: string): Promise<Written> {
	const endOfSegmentLocation = tab === '' ? {} : { tabId: tab };
	const { data } = await docs.documents.batchUpdate({
		documentId,
		requestBody: { requests: [{ insertText: { text, endOfSegmentLocation } }] },
	});
	return { documentId, characterCount: text.length, revisionId: data.writeControl?.requiredRevisionId ?? '' };
}
