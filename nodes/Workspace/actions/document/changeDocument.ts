import { setTimeout as sleep } from 'node:timers/promises';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { toError, type NodeError, isNodeError } from '../../../core/errors';
import { getGlobalMutex } from '../../../core/keyedMutex';
import { flattenTabs, matchTabs } from '../../../untrusted/document/tabList';
import type { Item } from '../../operation';
import type { PictureTest } from './content/layout';
import type { DocsRequest } from './content/requestBuilder';
import * as documentState from './documentState';

type Document = docs_v1.Schema$Document;
type Response = docs_v1.Schema$BatchUpdateDocumentResponse;

/** Requests that change a document in one step. */
export interface Change {
	readonly requests: readonly DocsRequest[];
	/**
	 * The text that the tab contains after the change, with a newline after each paragraph and cell
	 * but the last one; absent if the document cannot show whether the change was carried out.
	 */
	readonly text?: string;
	/** How many indexes the body of the tab gains. */
	readonly growth: number;
	/** Number of inserted UTF-16 units, without those of `replaceAllText`. */
	readonly characterCount: number;
	/** The document already had the change, made with the same idempotency key. */
	readonly repeated?: true;
}

/** What every change of a document needs. */
export interface DocumentJob {
	readonly docs: docs_v1.Docs;
	readonly item: Item;
	readonly documentId: string;
	/** ID or title of the tab; '' for the first tab, or for all tabs if texts are replaced. */
	readonly tab: string;
	/** Text of the heading of the section to change; '' or absent for the whole tab. */
	readonly section?: string;
	/** Whether to add the tab if there is none with its title. */
	readonly createTab?: boolean;
	/**
	 * Whether images become pictures, unless Google cannot fetch them. Otherwise they are links.
	 */
	readonly insertImages: boolean;
}

interface ChangeJob<C extends Change = Change> extends DocumentJob {
	readonly detail: documentState.Detail;
	plan(tab: documentState.EditableTab, isPicture: PictureTest): C;
}

/** A change is planned at most so many times if somebody else edits the document meanwhile. */
const maxPlans = 6;
/**
 * A pause has a random length, so that two executions do not meet again. The longest pause grows by
 * this much with each plan.
 */
const pauseStepMilliseconds = 400;

/**
 * The turns of the executions of this process that change a document. All versions of the package
 * in this process share them.
 */
const turns = getGlobalMutex('documentTurns');

/**
 * Reads a document, plans a change and carries it out, after the changes of other executions of
 * this process to the same document.
 */
export function changeDocument<C extends Change>(job: ChangeJob<C>) {
	return turns.doInTurn(job.documentId, () => repeatIfOutdated(job));
}

/**
 * Plans and sends a change. If Google refuses it because somebody edited the document after it was
 * read, reads and plans again.
 */
async function repeatIfOutdated<C extends Change>(job: ChangeJob<C>) {
	for (let planCount = 1; ; planCount++) {
		try {
			return await carryOut(job, await readTab(job));
		} catch (error) {
			if (planCount === maxPlans || !isOutdated(error)) throw toError(error);
		}
		// If the run is canceled, the pause ends, and the next request throws.
		const { signal } = job.item;
		const pauseMilliseconds = Math.random() * pauseStepMilliseconds * planCount;
		await sleep(pauseMilliseconds, undefined, { signal }).catch(() => undefined);
	}
}

/** Reads the tab, which may have to be added first. */
async function readTab(job: ChangeJob) {
	let document = await documentState.fetchDocument(job);
	const title = job.tab.trim();
	const mayBeTitle = title !== '' && !/^t\.[\w-]+$/.test(title);
	const hasTab = ({ tabs }: Document) => matchTabs(flattenTabs(tabs), job.tab).length > 0;
	// A new tab has no headings.
	if (mayBeTitle && job.createTab && !job.section && !hasTab(document)) {
		const request = { addDocumentTab: { tabProperties: { title } } };
		const sending = sendRequests(job, document.revisionId ?? '', [request]);
		const failure = await sending.then(() => undefined, toError);
		document = await documentState.fetchDocument(job);
		// If only the answer did not arrive, the document has the tab.
		if (failure && !hasTab(document)) throw failure;
	}
	return documentState.findEditableTab(document, job.tab);
}

/** Carries out a change, with links in place of the images that Google refuses. */
async function carryOut<C extends Change>(job: ChangeJob<C>, tab: documentState.EditableTab) {
	const refusedUrls = new Set<string>();
	const isPicture: PictureTest = (url) =>
		job.insertImages && url !== undefined && !refusedUrls.has(url);
	for (;;) {
		const change = job.plan(tab, isPicture);
		try {
			const { writeControl, replies = [] } = await sendChange(job, tab, change);
			if (refusedUrls.size > 0)
				job.item.addHint(
					`Google could not fetch these images, so they became links: ${[...refusedUrls].join(', ')}`,
				);
			return {
				change,
				replies,
				result: {
					documentId: job.documentId,
					characterCount: change.characterCount,
					revisionId: writeControl?.requiredRevisionId ?? '',
				},
			};
		} catch (error) {
			giveUpImages(error, change, refusedUrls);
		}
	}
}

/** Says what was written, and where. */
export const nameWrittenText = (result: {
	readonly documentId: string;
	readonly characterCount: number;
}) => `${result.characterCount} characters in document ${result.documentId}`;

/**
 * Gives up the image that Google names in a refusal. A refusal names only one image, so the second
 * refusal gives up all of them.
 * @throws any other error
 */
function giveUpImages(error: unknown, { requests }: Change, refusedUrls: Set<string>): void {
	const urls = requests.map(({ insertInlineImage }) => insertInlineImage?.uri ?? '');
	if (!isRefused(error) || isOutdated(error) || !urls.some(Boolean)) throw error;
	const requestIndex = /requests\[(\d+)\]/.exec(error.message)?.[1];
	const namedUrl = urls[Number(requestIndex)];
	const givenUpUrls = namedUrl && refusedUrls.size === 0 ? [namedUrl] : urls.filter(Boolean);
	for (const url of givenUpUrls) refusedUrls.add(url);
}

/**
 * Whether Google certainly refused a change. If the outcome is unknown, an earlier attempt may have
 * carried out the change.
 */
const isRefused = (error: unknown): error is NodeError =>
	isNodeError(error) && error.code === 400 && error.outcome !== 'unknown';

/** Whether Google refused a change because somebody edited the document after it was read. */
const isOutdated = (error: unknown) => isRefused(error) && /required revision/i.test(error.message);

/**
 * Sends a change. If the answer does not arrive, the document shows whether the change was carried
 * out.
 */
async function sendChange(job: ChangeJob, tab: documentState.EditableTab, change: Change) {
	try {
		return await sendRequests(job, tab.revisionId, change.requests);
	} catch (error) {
		if (!isNodeError(error) || error.outcome !== 'unknown') throw toError(error);
		return await findOutcome(job, tab, change, error);
	}
}

/**
 * Sends requests as one atomic change, unless there are none. The change is retryable: Google
 * refuses it if the document has another revision.
 */
async function sendRequests(
	{ docs, documentId }: ChangeJob,
	requiredRevisionId: string,
	requests: readonly DocsRequest[],
): Promise<Response> {
	const writeControl = { requiredRevisionId };
	if (requests.length === 0) return { writeControl };
	const requestBody = { requests: [...requests], writeControl };
	const options = { retryConfig: { httpMethodsToRetry: ['POST'] } };
	return (await docs.documents.batchUpdate({ documentId, requestBody }, options)).data;
}

/**
 * Compares the document with a change.
 * @returns a response if it was carried out
 * @throws NodeError if it was not, or if that cannot be seen
 */
async function findOutcome(
	{ docs, documentId }: ChangeJob,
	tab: documentState.EditableTab,
	change: Change,
	failure: NodeError,
): Promise<Response> {
	const reading = documentState.fetchDocument({ docs, documentId, detail: 'texts' });
	const document = await reading.catch(() => undefined);
	// Compares revisions first, because a change of formatting does not change the text.
	if (document?.revisionId === tab.revisionId)
		throw failure.with({
			message: `The document was not changed: ${failure.message}`,
			description: 'Nothing was written. You can safely run this again.',
			outcome: 'notDone',
		});
	if (document && showsChange(document, tab, change))
		return { writeControl: { requiredRevisionId: document.revisionId ?? null } };
	throw failure.with({
		message: `The content may have been written: ${failure.message}`,
		description: `Check ${documentState.buildDocumentUrl(documentId, tab.tabId)} before you run this again.`,
		saysOutcome: true,
	});
}

function showsChange(
	{ tabs }: Document,
	{ tabId, endIndex }: documentState.EditableTab,
	change: Change,
): boolean {
	const changedTab = flattenTabs(tabs).find((tab) => tab.tabId === tabId);
	const content = documentState.getBody(changedTab?.tab);
	const hasSameEnd = content.at(-1)?.endIndex === endIndex + change.growth;
	if (change.text === undefined || !hasSameEnd) return false;
	return documentState.getStoredText(content).includes(change.text);
}
