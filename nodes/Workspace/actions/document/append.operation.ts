import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { refusal } from '../../../core/errors';
import { named } from '../../../fields/field';
import { hashOf, idempotencyOption, type KeyMark, markOf, usedBefore } from '../../idempotency';
import { defineOperation, type Item } from '../../operation';
import { isEmpty, parse, type Parsed, planEnd } from './content';
import * as fields from './fields';
import { carryOutContent, changeOf, ensureTab, onLatest, readBack, type Written } from './revisionGuard';
import { type BodyState, documentUrl, looksLikeTabId, readBody } from './tabs';

export const append = defineOperation({
	value: 'append',
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
		const key = mark === undefined ? undefined : { mark, content: hashOf([content]) };
		return await appendContent(docs, { documentId, tab, parsed, newParagraph, key }, item);
	},
	async recover({ docs }, { documentId, tab }, failure, item) {
		const written = await readBack(docs, failure, item);
		if (written !== undefined) return written;
		const url = documentUrl(documentId, looksLikeTabId(tab) ? tab : undefined);
		throw failure.with({
			message: `The content may have been appended: ${failure.message}`,
			description: `It was not sent again, to avoid duplicates. Check the end of ${url} before you run this again.`,
			outcome: 'unknown',
		});
	},
	left: ({ documentId, characterCount }) => `${characterCount} characters in document ${documentId}`,
	errors: {
		400: 'If the document was changed in the meantime, nothing was written. Run this again.',
	},
});

/** Appends text without reading the document first. No revision guards the request, so it is never repeated after a failure whose outcome is unknown. */
async function addText(docs: docs_v1.Docs, documentId: string, tab: string, text: string): Promise<Written> {
	const endOfSegmentLocation = tab === '' ? {} : { tabId: tab };
	const { data } = await docs.documents.batchUpdate({
		documentId,
		requestBody: { requests: [{ insertText: { text, endOfSegmentLocation } }] },
	});
	return { documentId, characterCount: text.length, revisionId: data.writeControl?.requiredRevisionId ?? '' };
}

interface Appended {
	readonly documentId: string;
	/** ID or title of the tab; empty for the first one. */
	readonly tab: string;
	readonly parsed: Parsed;
	readonly newParagraph: boolean;
	/** With a key, the content is appended only once. */
	readonly key: KeyMark | undefined;
}

/** Adds content at the end of a tab; at its new end if the document changes meanwhile. */
export async function appendContent(
	docs: docs_v1.Docs,
	{ documentId, tab, parsed, newParagraph, key }: Appended,
	item: Item,
): Promise<Written> {
	return await onLatest(async () => {
		const body = await readBody(docs, documentId, tab);
		const known = key && markedBefore(body, key);
		if (known) return known;
		const changeFor = (some: Parsed) => {
			const plan = planEnd(some, newParagraph, body);
			const range = { startIndex: body.endIndex - 1, endIndex: plan.endIndex - 1, tabId: body.tabId };
			const name = key && `${nameOf(key)}/${plan.characterCount}`;
			return changeOf(plan, body, name ? [{ createNamedRange: { name, range } }] : []);
		};
		return await carryOutContent(docs, parsed, changeFor, item);
	}, item);
}

/**
 * A named range over the appended text records its key. It is added and removed with the text, in the same atomic change, and its
 * name holds all that the result needs: the mark, the beginning of the content's hash, and then the number of characters.
 */
function nameOf({ mark, content }: KeyMark): string {
	return `n8n-agent-workspace/${mark}/${content.slice(0, 16)}`;
}

/** The result of an earlier append with the key. @throws NodeError 409 if it had other content */
function markedBefore(
	{ documentId, revisionId, rangeNames }: BodyState,
	key: KeyMark,
): (Written & { readonly repeated: true }) | undefined {
	for (const name of rangeNames) {
		const [, mark, , count] = name.split('/');
		if (mark !== key.mark) continue;
		if (!name.startsWith(`${nameOf(key)}/`)) throw usedBefore(`text in the document ${documentId}`);
		return { documentId, characterCount: Number(count), revisionId, repeated: true };
	}
	return undefined;
}
