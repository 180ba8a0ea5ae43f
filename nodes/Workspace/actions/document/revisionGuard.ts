import { setTimeout as sleep } from 'node:timers/promises';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { systemClock, waitAtMost } from '../../../core/clock';
import { toError, type NodeError, isNodeError } from '../../../core/errors';
import { KeyedMutex } from '../../../core/keyedMutex';
import { getGlobalSingleton } from '../../../core/runtime';
import { flattenTabs, summarizeTab } from '../../../untrusted/document/tabList';
import type { Item } from '../../operation';
import type { ContentPlan, ReplacedCount } from './contentRequests';
import type { DocsRequest } from './tableRequests';
import { buildDocumentUrl, findTab, getStoredText, looksLikeTabId } from './tabs';
import type { BodyState } from './tabs';

export interface DocumentWriteResult {
	readonly documentId: string;
	/** Number of inserted UTF-16 units. */
	readonly characterCount: number;
	/** '' if Google does not return the revision. */
	readonly revisionId: string;
	/** Numbers of occurrences of each text to find; absent without replacements. */
	readonly replaced?: readonly ReplacedCount[];
}

/** Google refuses the change if the document has another revision. The tab is undefined for the first tab. */
type Target = Pick<BodyState, 'documentId' | 'revisionId'> & { readonly tabId: string | undefined };
type DocumentChange = ContentPlan & Target;

/** Joins a plan with the requests before and after it. @param requestsAfter any `replaceAllText` requests come last among them */
export function buildChange(
	plan: ContentPlan,
	{ documentId, tabId, revisionId }: Target,
	requestsAfter: readonly DocsRequest[],
	requestsBefore: readonly DocsRequest[] = [],
): DocumentChange {
	const requests = [...requestsBefore, ...plan.requests, ...requestsAfter];
	return { ...plan, documentId, tabId, revisionId, requests };
}

/** After so many refusals, all images become links, because each refusal may name only one image. */
const maxRefusedRequests = 5;

/** Carries out a change that inserts content. @param planChange plans it with links in place of the images that Google has refused so far */
export async function carryOutContent(
	docs: docs_v1.Docs,
	item: Item,
	planChange: (refusedUrls: ReadonlySet<string>) => DocumentChange,
): Promise<DocumentWriteResult> {
	const refusedUrls = new Set<string>();
	for (let sendCount = 1; ; sendCount++) {
		const change = planChange(refusedUrls);
		try {
			const result = await sendChange(docs, change, item);
			if (refusedUrls.size > 0)
				item.addHint(
					`Google could not fetch these images, so they became links: ${[...refusedUrls].join(', ')}`,
				);
			return result;
		} catch (error) {
			const newUrls = findRefusedUrls(error, change);
			if (newUrls.length === 0) throw toError(error);
			const urlsToLink = sendCount < maxRefusedRequests ? newUrls : getImageUrls(change);
			urlsToLink.forEach((url) => refusedUrls.add(url));
		}
	}
}

const getImageUrls = ({ requests }: DocumentChange) =>
	requests.flatMap(({ insertInlineImage }) => insertInlineImage?.uri ?? []);

/** Finds the addresses of images that Google could not fetch. @returns all addresses if Google names no image; none for another error */
function findRefusedUrls(error: unknown, change: DocumentChange): string[] {
	if (!isRefused(error)) return [];
	const requestIndex = /requests\[(\d+)\]\.insertInlineImage/.exec(error.message)?.[1];
	const url = change.requests[Number(requestIndex)]?.insertInlineImage?.uri;
	if (url) return [url];
	const isAboutImages = requestIndex !== undefined || /\bimage\b/i.test(error.message);
	return isAboutImages ? getImageUrls(change) : [];
}

/** Whether Google certainly refused a change. If the outcome is unknown, an earlier attempt may have carried out the change. */
const isRefused = (error: unknown): error is NodeError =>
	isNodeError(error) && error.code === 400 && error.outcome !== 'unknown';

/** Sends a change. If the answer does not arrive, the document shows whether the change was carried out. */
async function sendChange(
	docs: docs_v1.Docs,
	change: DocumentChange,
	item: Item,
): Promise<DocumentWriteResult> {
	const { documentId, requests, revisionId } = change;
	try {
		const response = await sendRequests(docs, documentId, requests, revisionId);
		return buildResult(change, response, item);
	} catch (error) {
		const isUnknown = isNodeError(error) && error.outcome === 'unknown';
		if (!isUnknown || item.signal?.aborted) throw toError(error);
		return await findOutcome(docs, change, error);
	}
}

/** Sends requests as one atomic change, unless there are none. The change is retryable: Google refuses it if the document has another revision. */
async function sendRequests(
	docs: docs_v1.Docs,
	documentId: string,
	requests: readonly DocsRequest[],
	requiredRevisionId: string | null | undefined,
): Promise<docs_v1.Schema$BatchUpdateDocumentResponse> {
	if (requests.length === 0) return { writeControl: { requiredRevisionId } };
	const requestBody = { requests: [...requests], writeControl: { requiredRevisionId } };
	const options = { retryConfig: { httpMethodsToRetry: ['POST'] } };
	return (await docs.documents.batchUpdate({ documentId, requestBody }, options)).data;
}

const getTextReplacements = ({ requests }: DocumentChange) =>
	requests.flatMap(({ replaceAllText }) => replaceAllText ?? []);

/** Counts what was inserted and replaced. A hint names the texts to replace that Google has not found. */
function buildResult(
	change: DocumentChange,
	response: docs_v1.Schema$BatchUpdateDocumentResponse,
	item: Item,
): DocumentWriteResult {
	const { documentId } = change;
	let { characterCount } = change;
	const replaced = [...(change.replaced ?? [])];
	const replacements = getTextReplacements(change);
	// `buildChange` puts the replacements last, so the last replies belong to them.
	const replies = (response.replies ?? []).slice(-replacements.length);
	for (const [index, { containsText, replaceText }] of replacements.entries()) {
		const count = replies[index]?.replaceAllText?.occurrencesChanged ?? 0;
		characterCount += count * (replaceText?.length ?? 0);
		replaced.push({ find: containsText?.text ?? '', count });
	}
	const missingTexts = replaced.filter(({ count }) => count === 0).map(({ find }) => `'${find}'`);
	if (missingTexts.length > 0)
		item.addHint(`Not found in the document, so not replaced: ${missingTexts.join(', ')}.`);
	const revisionId = response.writeControl?.requiredRevisionId ?? '';
	const result = { documentId, characterCount, revisionId };
	return replaced.length > 0 ? { ...result, replaced } : result;
}

/** Compares the document with a change. @returns its result if it was carried out @throws NodeError if it was not, or if that cannot be seen */
async function findOutcome(
	docs: docs_v1.Docs,
	change: DocumentChange,
	failure: NodeError,
): Promise<DocumentWriteResult> {
	const { documentId, characterCount, tabId } = change;
	const createUnknownError = (finding: string, message: string, cause = failure.cause) =>
		failure.with({
			message,
			description: `${finding} Check ${buildDocumentUrl(documentId, tabId)} before you run this again.`,
			outcome: 'unknown',
			saysOutcome: true,
			cause,
		});
	const unknownMessage = `The content may have been written: ${failure.message}`;
	const reading = docs.documents.get({ documentId, includeTabsContent: true });
	const { data } = await reading.catch((cause: unknown) => {
		const finding = 'The document could not be read afterwards.';
		throw createUnknownError(finding, unknownMessage, cause);
	});
	const revisionId = data.revisionId ?? '';
	// Compares revisions first, because a change of formatting does not change the text.
	if (revisionId === change.revisionId)
		throw failure.with({
			message: `The document was not changed: ${failure.message}`,
			description: 'Nothing was written. You can safely run this again.',
			outcome: 'notDone',
		});
	// The end of the body after replacements is not known in advance.
	if (getTextReplacements(change).length > 0 || change.replaced?.length)
		throw createUnknownError('The document was changed meanwhile.', unknownMessage);
	const tabs = flattenTabs(data.tabs);
	const tab = tabId === undefined ? tabs[0] : findTab(tabs, tabId);
	const content = tab?.documentTab?.body?.content ?? [];
	const hasSameEnd = content.at(-1)?.endIndex === change.endIndex;
	if (hasSameEnd && getStoredText(content).endsWith(change.text))
		return { documentId, characterCount, revisionId };
	throw createUnknownError(
		'The document does not contain the content as it was sent.',
		'Someone else changed the document while it was being written',
	);
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
 * A turn ends after so long, even if its change does not. A change may hang for many minutes, and nothing is lost if the next one begins
 * meanwhile: Google refuses whichever of them is outdated. Turns only make such refusals rare.
 */
const maxTurnMilliseconds = 10_000;

/**
 * Carries out a change (read, plan, send) after the changes of other executions to the same document. Repeats it if somebody else changed
 * the document after the read. Google then refuses the change.
 */
export async function repeatIfOutdated<R>(
	documentId: string,
	changeOnce: () => Promise<R>,
	item: Pick<Item, 'signal'>,
): Promise<R> {
	const endTurn = await takeTurn(documentId, item.signal);
	try {
		return await repeatChange(changeOnce, item.signal);
	} finally {
		endTurn();
	}
}

/** Waits for the turns before this one, unless the execution is stopped: then its next request throws. @returns a function that ends the turn */
async function takeTurn(documentId: string, signal: AbortSignal | undefined): Promise<() => void> {
	const turn = new AbortController();
	const endTurn = () => {
		turn.abort();
	};
	const ended = new Promise<void>((resolve) => {
		turn.signal.addEventListener('abort', () => {
			resolve();
		});
	});
	await new Promise<void>((resolve) => {
		const begin = () => {
			resolve();
		};
		if (signal?.aborted) begin();
		signal?.addEventListener('abort', begin, { signal: turn.signal });
		void turns.doInTurn(documentId, async () => {
			begin();
			await waitAtMost(systemClock, maxTurnMilliseconds, ended);
		});
	});
	return endTurn;
}

async function repeatChange<R>(
	changeOnce: () => Promise<R>,
	signal: AbortSignal | undefined,
): Promise<R> {
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
		await sendRequests(docs, documentId, [request], data.revisionId);
	};
	await repeatIfOutdated(documentId, addOnce, item);
}
