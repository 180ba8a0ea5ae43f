import { setTimeout as sleep } from 'node:timers/promises';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { toError, type NodeError, isNodeError } from '../../../core/errors';
import { KeyedMutex } from '../../../core/keyedMutex';
import { getGlobalSingleton } from '../../../core/runtime';
import { flattenTabs, summarizeTab } from '../../../untrusted/document/tabList';
import type { Item } from '../../operation';
import type { DocsRequest } from './requestBuilder';
import { type BodyState, buildDocumentUrl, getStoredText, looksLikeTabId } from './tabs';

/** What to change. Google refuses the change if the document has another revision. The tab is undefined for the first tab. */
type Target = Pick<BodyState, 'documentId' | 'revisionId' | 'endIndex'> & {
	readonly tabId: string | undefined;
};

export interface Change {
	readonly requests: readonly DocsRequest[];
	/** The text that the tab contains after the change, with a newline after each paragraph and cell but the last one; absent if the document cannot show whether the change was carried out. */
	readonly text?: string;
	/** How many indexes the body of the tab gains. */
	readonly growth: number;
	/** Number of inserted UTF-16 units, without those of `replaceAllText`. */
	readonly characterCount: number;
}

type Response = docs_v1.Schema$BatchUpdateDocumentResponse;

/** Carries out a change. @param planChange plans it with links in place of the images that Google has refused so far */
export async function carryOut(
	docs: docs_v1.Docs,
	target: Target,
	planChange: (refusedUrls: ReadonlySet<string>) => Change,
	item: Item,
) {
	const refusedUrls = new Set<string>();
	for (;;) {
		const change = planChange(refusedUrls);
		try {
			const { writeControl, replies = [] } = await sendChange(docs, target, change, item);
			if (refusedUrls.size > 0)
				item.addHint(
					`Google could not fetch these images, so they became links: ${[...refusedUrls].join(', ')}`,
				);
			const revisionId = writeControl?.requiredRevisionId ?? '';
			return { characterCount: change.characterCount, revisionId, replies };
		} catch (error) {
			// Each refusal names only one image. After the second one, all images become links.
			const urls = findRefusedUrls(error, change.requests, refusedUrls.size > 0);
			if (urls.length === 0) throw toError(error);
			for (const url of urls) refusedUrls.add(url);
		}
	}
}

/** Finds the images to give up after a refusal: the one that Google names, or all. @returns none for another error */
function findRefusedUrls(error: unknown, requests: readonly DocsRequest[], wantsAll: boolean) {
	if (!isRefused(error)) return [];
	const urls = requests.map(({ insertInlineImage }) => insertInlineImage?.uri ?? '');
	const requestIndex = /requests\[(\d+)\]/.exec(error.message)?.[1];
	const namedUrl = urls[Number(requestIndex)];
	if (namedUrl && !wantsAll) return [namedUrl];
	return urls.filter((url) => url !== '');
}

/** Whether Google certainly refused a change. If the outcome is unknown, an earlier attempt may have carried out the change. */
const isRefused = (error: unknown): error is NodeError =>
	isNodeError(error) && error.code === 400 && error.outcome !== 'unknown';

/** Sends a change. If the answer does not arrive, the document shows whether the change was carried out. */
async function sendChange(
	docs: docs_v1.Docs,
	target: Target,
	change: Change,
	item: Item,
): Promise<Response> {
	try {
		return await sendRequests(docs, target, change.requests);
	} catch (error) {
		const isUnknown = isNodeError(error) && error.outcome === 'unknown';
		if (!isUnknown || item.signal?.aborted) throw toError(error);
		return await findOutcome(docs, target, change, error);
	}
}

/** Sends requests as one atomic change, unless there are none. The change is retryable: Google refuses it if the document has another revision. */
async function sendRequests(
	docs: docs_v1.Docs,
	{ documentId, revisionId }: Pick<Target, 'documentId' | 'revisionId'>,
	requests: readonly DocsRequest[],
): Promise<Response> {
	const writeControl = { requiredRevisionId: revisionId };
	if (requests.length === 0) return { writeControl };
	const requestBody = { requests: [...requests], writeControl };
	const options = { retryConfig: { httpMethodsToRetry: ['POST'] } };
	return (await docs.documents.batchUpdate({ documentId, requestBody }, options)).data;
}

/** Compares the document with a change. @returns a response if it was carried out @throws NodeError if it was not, or if that cannot be seen */
async function findOutcome(
	docs: docs_v1.Docs,
	{ documentId, tabId, revisionId, endIndex }: Target,
	{ text, growth }: Change,
	failure: NodeError,
): Promise<Response> {
	const unknownFailure = failure.with({
		message: `The content may have been written: ${failure.message}`,
		description: `Check ${buildDocumentUrl(documentId, tabId)} before you run this again.`,
		outcome: 'unknown',
		saysOutcome: true,
	});
	const reading = docs.documents.get({ documentId, includeTabsContent: true });
	const { data } = await reading.catch(() => {
		throw unknownFailure;
	});
	// Compares revisions first, because a change of formatting does not change the text.
	if (data.revisionId === revisionId)
		throw failure.with({
			message: `The document was not changed: ${failure.message}`,
			description: 'Nothing was written. You can safely run this again.',
			outcome: 'notDone',
		});
	const tabs = flattenTabs(data.tabs);
	const tab = tabs.find((one) => tabId === undefined || summarizeTab(one).tabId === tabId);
	const content = tab?.documentTab?.body?.content ?? [];
	const hasSameEnd = content.at(-1)?.endIndex === endIndex + growth;
	if (text === undefined || !hasSameEnd || !getStoredText(content).includes(text))
		throw unknownFailure;
	return { writeControl: { requiredRevisionId: data.revisionId ?? null } };
}

/** A change is planned at most so many times if somebody else edits the document meanwhile. */
const maxPlans = 6;
/** A pause has a random length, so that two executions do not meet again. The longest pause grows by this much with each plan. */
const pauseStepMilliseconds = 400;

/** The turns of the executions of this process that change a document. All versions of the package in this process share them. */
const turns = new KeyedMutex(
	getGlobalSingleton('documentTurns', () => new Map<string, Promise<unknown>>()),
);

/**
 * Carries out a change (read, plan, send) after the changes of other executions to the same document. Repeats it if somebody else changed
 * the document after the read. Google then refuses the change.
 */
export async function repeatIfOutdated<R>(
	documentId: string,
	changeOnce: () => Promise<R>,
	{ signal }: Pick<Item, 'signal'>,
): Promise<R> {
	return await turns.doInTurn(documentId, async () => {
		for (let planCount = 1; ; planCount++) {
			try {
				return await changeOnce();
			} catch (error) {
				const isOutdated = isRefused(error) && /required revision/i.test(error.message);
				if (planCount === maxPlans || !isOutdated) throw toError(error);
			}
			// If the run is canceled, the pause ends, and the next request throws.
			const pauseMilliseconds = Math.random() * pauseStepMilliseconds * planCount;
			await sleep(pauseMilliseconds, undefined, { signal }).catch(() => undefined);
		}
	});
}

/** Adds a tab unless the document has a tab with this title. If two executions add it at once, Google refuses the later change. */
export async function ensureTab(docs: docs_v1.Docs, documentId: string, tab: string, item: Item) {
	const title = tab.trim();
	if (title === '' || looksLikeTabId(title)) return;
	const addOnce = async () => {
		const fields = 'revisionId,tabs(tabProperties(tabId,title),childTabs)';
		const { data } = await docs.documents.get({ documentId, includeTabsContent: true, fields });
		const titles = flattenTabs(data.tabs).map((existingTab) => summarizeTab(existingTab).title);
		if (titles.includes(tab) || titles.includes(title)) return;
		const request = { addDocumentTab: { tabProperties: { title } } };
		await sendRequests(docs, { documentId, revisionId: data.revisionId ?? '' }, [request]);
	};
	await repeatIfOutdated(documentId, addOnce, item);
}
