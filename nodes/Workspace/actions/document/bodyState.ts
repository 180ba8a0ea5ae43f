import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { Failure } from '../../../core/errors';
import type { Item } from '../../operation';
import { onLatest } from './revisionGuard';
import { allTabs, looksLikeTabId, tabNamed, tabSummary } from './tabs';

const inner = 'paragraph(paragraphStyle,bullet,elements(textRun(textStyle)))';
const fields = `revisionId,tabs(tabProperties(tabId,title),childTabs,documentTab(body(content(startIndex,endIndex,${inner})),namedRanges))`;

/** Facts about a tab's body that a change needs. */
export interface BodyState {
	readonly documentId: string;
	readonly tabId: string;
	readonly revisionId: string;
	/** After the last newline. */
	readonly endIndex: number;
	readonly lastParagraphEmpty: boolean;
	/** Whether the first or last paragraph has a look of its own, which text that takes its place would keep. */
	readonly styled: boolean;
	/** Names of the tab's named ranges. */
	readonly rangeNames: readonly string[];
}

/** @param tab id or title; empty: the first */
export async function readBody(docs: docs_v1.Docs, documentId: string, tab: string): Promise<BodyState> {
	const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
	const found = tab === '' ? allTabs(data)[0] : tabNamed(data, tab);
	const content = found?.documentTab?.body?.content ?? [];
	const last = content.at(-1);
	if (found === undefined || !last?.endIndex) {
		throw new Failure({ code: 502, message: 'Google returned a document without a body' });
	}
	if (!data.revisionId) {
		throw new Failure({
			code: 403,
			message: 'This account can read the document but not edit it',
			description: 'Share the document with the account of the credential as an editor.',
		});
	}
	const rangeNames = Object.keys(found.documentTab?.namedRanges ?? {});
	const paragraphs = content.flatMap(({ paragraph }) => paragraph ?? []);
	return {
		documentId,
		tabId: tabSummary(found).tabId,
		revisionId: data.revisionId,
		endIndex: last.endIndex,
		lastParagraphEmpty: last.endIndex - (last.startIndex ?? 0) === 1,
		rangeNames,
		styled: [paragraphs[0], paragraphs.at(-1)].some(
			(paragraph) => paragraph !== undefined && isStyled(paragraph),
		),
	};
}

/**
 * Adds a tab of this title unless there is one. Two executions at once add one: Google refuses the second change of a revision.
 */
export async function ensureTab(
	docs: docs_v1.Docs,
	{ documentId, tab }: { readonly documentId: string; readonly tab: string },
	item: Item,
): Promise<void> {
	if (tab === '' || looksLikeTabId(tab)) return;
	await onLatest(async () => {
		const fields = 'revisionId,tabs(tabProperties(tabId,title),childTabs)';
		const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
		if (allTabs(data).some((one) => tabSummary(one).title === tab)) return;
		const requests = [{ addDocumentTab: { tabProperties: { title: tab } } }];
		const writeControl = { requiredRevisionId: data.revisionId ?? '' };
		await docs.documents.batchUpdate(
			{ documentId, requestBody: { requests, writeControl } },
			{ retryConfig: { httpMethodsToRetry: ['POST'] } },
		);
	}, item);
}

const plainKeys = new Set(['namedStyleType', 'direction', 'headingId']);

function isStyled({ bullet, paragraphStyle, elements }: docs_v1.Schema$Paragraph): boolean {
	const look = Object.keys(paragraphStyle ?? {}).some((key) => !plainKeys.has(key));
	const textLook = Object.keys(elements?.at(-1)?.textRun?.textStyle ?? {}).length > 0;
	const named = paragraphStyle?.namedStyleType ?? 'NORMAL_TEXT';
	return bullet !== undefined || look || textLook || named !== 'NORMAL_TEXT';
}
