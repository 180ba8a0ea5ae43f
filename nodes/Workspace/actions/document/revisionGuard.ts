import { setTimeout as sleep } from 'node:timers/promises';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { toError, type NodeError, isNodeError } from '../../../core/errors';
import type { Item } from '../../operation';
import { type ContentPlan, type FilterContent, filterPictures, type ReplacedCount } from './contentRequests';
import type { DocsRequest } from './tableRequests';
import {
	type BodyState,
	flattenTabs,
	buildDocumentUrl,
	getStoredText,
	looksLikeTabId,
	findTab,
	summarizeTab,
} from './tabs';

/** The result of a write or an append. */
export interface DocumentWriteResult {
	readonly documentId: string;
	/** UTF-16 units that were inserted. */
	readonly characterCount: number;
	/** Empty if Google does not return it. */
	readonly revisionId: string;
	/** How often each text was found; absent without replacements. */
	readonly replaced?: readonly ReplacedCount[];
}

interface DocumentChange extends ContentPlan {
	readonly documentId: string;
	/** The first tab if undefined. */
	readonly tabId: string | undefined;
	/** The only revision that the change may follow. */
	readonly revisionId: string;
}

/** The change that each item sent last. After a failure whose outcome is unknown, the document is compared with it. */
const lastChanges = new WeakMap<Item, DocumentChange>();

/** Joins a plan and the requests before and after it. @param after ends with the replacements, if there are any */
export function buildChange(
	plan: ContentPlan,
	{ documentId, tabId, revisionId }: Omit<DocumentChange, keyof ContentPlan>,
	after: readonly DocsRequest[],
	before: readonly DocsRequest[] = [],
): DocumentChange {
	return { ...plan, documentId, tabId, revisionId, requests: [...before, ...plan.requests, ...after] };
}

/** Sends one atomic batch. It may be sent again, because Google refuses it if anything changed since the revision. */
async function sendBatch(
	docs: docs_v1.Docs,
	documentId: string,
	requests: readonly DocsRequest[],
	requiredRevisionId: string | null | undefined,
) {
	const requestBody = { requests: [...requests], writeControl: { requiredRevisionId } };
	const options = { retryConfig: { httpMethodsToRetry: ['POST'] } };
	return (await docs.documents.batchUpdate({ documentId, requestBody }, options)).data;
}

const getReplacements = ({ requests }: DocumentChange) =>
	requests.flatMap(({ replaceAllText }) => replaceAllText ?? []);

async function carryOutChange(docs: docs_v1.Docs, change: DocumentChange, item: Item) {
	const { documentId, characterCount, revisionId: readId, requests, replaced: contents = [] } = change;
	if (requests.length > 0) lastChanges.set(item, change);
	const { writeControl, replies }: docs_v1.Schema$BatchUpdateDocumentResponse =
		requests.length > 0
			? await sendBatch(docs, documentId, requests, readId)
			: { writeControl: { requiredRevisionId: readId } };
	const written = { documentId, characterCount, revisionId: writeControl?.requiredRevisionId ?? '' };
	const texts = getReplacements(change);
	if (texts.length + contents.length === 0) return written;
	const textReplies = (replies ?? []).slice(-texts.length);
	let inserted = characterCount;
	const replacedTexts = texts.map(({ containsText, replaceText }, at) => {
		const count = textReplies[at]?.replaceAllText?.occurrencesChanged ?? 0;
		inserted += count * (replaceText?.length ?? 0);
		return { find: containsText?.text ?? '', count };
	});
	const replaced = [...contents, ...replacedTexts];
	const missing = replaced.filter(({ count }) => count === 0).map(({ find }) => `'${find}'`);
	if (missing.length > 0) item.addHint(`Not found in the document, so not replaced: ${missing.join(', ')}.`);
	return { ...written, characterCount: inserted, replaced };
}

/** Each refusal of a picture costs a request, so after this many tries all pictures become links. */
const maxRefusals = 5;

/** Carries out a change that inserts content. Pictures that Google cannot fetch become links. */
export async function carryOutContent(
	docs: docs_v1.Docs,
	item: Item,
	planChange: (withPictures: FilterContent) => DocumentChange,
): Promise<DocumentWriteResult> {
	const refused = new Set<string>();
	for (let tries = 1; ; tries++) {
		const change = planChange((parsed) => filterPictures(parsed, (address) => !refused.has(address)));
		try {
			const written = await carryOutChange(docs, change, item);
			if (refused.size > 0) {
				item.addHint(`Google could not fetch these images, so they became links: ${[...refused].join(', ')}`);
			}
			return written;
		} catch (error) {
			const found = findRefusedPictures(error, change);
			if (found.length === 0) throw toError(error);
			for (const one of tries < maxRefusals ? found : getPictures(change)) refused.add(one);
		}
	}
}

const getPictures = ({ requests }: DocumentChange) =>
	requests.flatMap(({ insertInlineImage }) => insertInlineImage?.uri ?? []);

/** Addresses of the pictures that Google could not fetch: all, if it does not say which; none for any other error. */
function findRefusedPictures(error: unknown, change: DocumentChange): string[] {
	if (!isRefused(error)) return [];
	const position = /requests\[(\d+)\]\.insertInlineImage/.exec(error.message)?.[1];
	const address = change.requests[Number(position)]?.insertInlineImage?.uri;
	if (address) return [address];
	return position !== undefined || /\bimage\b/i.test(error.message) ? getPictures(change) : [];
}

/** Whether Google certainly refused a change. If the outcome is unknown, an earlier attempt may have carried it out. */
const isRefused = (error: unknown): error is NodeError =>
	isNodeError(error) && error.code === 400 && error.outcome !== 'unknown';

/** How often a change is planned again if somebody else changed the document meanwhile. */
const maxPlans = 6;
/** A pause is random, so that others who wait as well do not come back at the same time. */
const maxPauseMilliseconds = 400;

/** Repeats an attempt (read, plan, send) if somebody changed the document after the read, because Google then did nothing. */
export async function repeatIfOutdated<R>(attempt: () => Promise<R>, item: Item): Promise<R> {
	for (let plans = 1; ; plans++) {
		try {
			return await attempt();
		} catch (error) {
			const isOutdated = isRefused(error) && /required revision/i.test(error.message);
			if (plans === maxPlans || !isOutdated) throw toError(error);
		}
		const pause = Math.random() * maxPauseMilliseconds * plans;
		await sleep(pause, undefined, { signal: item.signal }).catch(() => undefined);
	}
}

/** Adds a tab with this title if there is none. Of two executions at once, one adds it: Google refuses the second change of a revision. */
export async function ensureTab(docs: docs_v1.Docs, documentId: string, tab: string, item: Item) {
	const trimmed = tab.trim();
	if (trimmed === '' || looksLikeTabId(trimmed)) return;
	await repeatIfOutdated(async () => {
		const fields = 'revisionId,tabs(tabProperties(tabId,title),childTabs)';
		const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
		if (flattenTabs(data.tabs).some((one) => [tab, trimmed].includes(summarizeTab(one).title))) return;
		const request = { addDocumentTab: { tabProperties: { title: trimmed } } };
		await sendBatch(docs, documentId, [request], data.revisionId);
	}, item);
}

/** Whether a document has another revision than the item's change required. If nobody else edits it, the change was carried out. */
export function hasNewRevision(item: Item, { documentId, revisionId }: BodyState) {
	const change = lastChanges.get(item);
	return change?.documentId === documentId && change.revisionId !== revisionId;
}

/**
 * Looks in the document whether an item's change was carried out; undefined if the item has sent none.
 * @returns the result of the change, or the failure if certainly nothing was written
 * @throws NodeError if the document does not show either
 */
export async function recoverResult(
	docs: docs_v1.Docs,
	failure: NodeError,
	item: Item,
): Promise<DocumentWriteResult | NodeError | undefined> {
	const change = lastChanges.get(item);
	if (change === undefined) return undefined;
	const { documentId, characterCount, tabId } = change;
	const where = `Check ${buildDocumentUrl(documentId, tabId)} before you run this again.`;
	const createUnknownError = (
		what: string,
		cause: unknown = failure.cause,
		message = `The content may have been written: ${failure.message}`,
	) => failure.with({ message, description: `${what} ${where}`, outcome: 'unknown', cause });
	const { data } = await docs.documents
		.get({ documentId, includeTabsContent: true })
		.catch((cause: unknown) => {
			throw createUnknownError('The document could not be read afterwards.', cause);
		});
	const tabs = flattenTabs(data.tabs);
	const tab = tabId === undefined ? tabs[0] : findTab(tabs, tabId);
	const content = tab?.documentTab?.body?.content ?? [];
	const { revisionId } = data;
	// Compares revisions before texts, because a change of formatting alone leaves the text as it was.
	if (revisionId === change.revisionId) {
		const message = `The document was not changed: ${failure.message}`;
		const description = 'Nothing was written. You can safely run this again.';
		return failure.with({ message, description, outcome: 'notDone' });
	}
	// What the body ends with after replacements is not known.
	const isKnown = getReplacements(change).length === 0 && !change.replaced?.length;
	if (!isKnown) throw createUnknownError('The document was changed meanwhile.');
	if (content.at(-1)?.endIndex === change.endIndex && getStoredText(content).endsWith(change.text))
		return { documentId, characterCount, revisionId: revisionId ?? '' };
	const what = 'The document does not contain the content as it was sent.';
	const message = 'Someone else changed the document while it was being written';
	throw createUnknownError(what, undefined, message);
}
