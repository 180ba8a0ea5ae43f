import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import {
	createKeyReusedError,
	hashIdempotencyKey,
	hashParts,
	idempotencyOption,
} from '../../idempotency';
import type { KeyHashes } from '../../idempotency';
import { defineOperation, type Item } from '../../operation';
import { type Content, fitIntoSection, isEmpty, parseContent, planAppend } from './contentRequests';
import { findSection, planPlace } from './contentPlace';
import * as fields from './fields';
import { carryOut, ensureTab, repeatIfOutdated } from './revisionGuard';
import { type BodyState, mentionFirstTab, readBodyState, toBodyState } from './tabs';

export const append = defineOperation({
	value: 'append',
	name: 'Append',
	action: 'Append text to document',
	description:
		'Add content to the end of a document, of one of its tabs or of the section under a heading',
	modelDescription: 'Add content to a Google document.',
	fields: [
		fields.documentId,
		{
			...fields.content,
			required: true,
			requiredInForm: false,
			description: 'Content to add, unchanged',
		},
		fields.contentFormat,
	],
	options: [
		idempotencyOption,
		fields.tab,
		fields.createTabOption,
		fields.insertImagesOption,
		{
			displayName: 'New Paragraph',
			name: 'newParagraph',
			onlyIn: 'json',
			type: 'boolean',
			default: true,
			jsonDefault: false,
			description: 'Whether to start a new paragraph instead of continuing the last line',
		},
		fields.sectionToAppendTo,
	],
	getChangedId: ({ documentId }) => documentId,
	async send({ docs }, params, item) {
		const { documentId, tab, section, newParagraph, idempotencyKey: key } = params;
		const content = await parseContent(params, item);
		if (isEmpty(content))
			throw createRefusal(
				`${quoteField('content')} is empty`,
				'Nothing was written. Check the expression that provides the content.',
			);
		// A new tab has no headings.
		if (params.createTab && section === '') await ensureTab(docs, documentId, tab, item);
		const target = documentId;
		const keyHash = hashIdempotencyKey({ key, operation: 'document append', target });
		const contentHash = hashParts([params.content, section]);
		const keyHashes = keyHash === undefined ? undefined : { keyHash, contentHash };
		const job = { documentId, tab, section, content, newParagraph, keyHashes };
		return await appendContent(docs, job, item);
	},
	nameResult: ({ documentId, characterCount }) =>
		`${characterCount} characters in document ${documentId}`,
});

interface AppendJob {
	readonly documentId: string;
	/** ID or title of the tab; '' for the first tab. */
	readonly tab: string;
	/** Text of the heading of the section to append to; '' for the end of the tab. */
	readonly section: string;
	readonly content: Content;
	readonly newParagraph: boolean;
	readonly keyHashes: KeyHashes | undefined;
	/** What Google returned for a document that was just created, which is then not read. */
	readonly created?: docs_v1.Schema$Document | undefined;
}

/** Appends content to a tab or section. If the document changes before the write, finds the end of the tab or section again. */
export async function appendContent(docs: docs_v1.Docs, job: AppendJob, item: Item) {
	const { documentId, tab, keyHashes } = job;
	const detail = job.section === '' ? 'outline' : 'texts';
	let { created } = job;
	const appendOnce = async () => {
		const body = created?.revisionId
			? toBodyState(documentId, created)
			: await readBodyState(docs, documentId, tab, detail);
		created = undefined;
		const earlierResult = keyHashes && findEarlierAppend(body, keyHashes);
		if (earlierResult) return earlierResult;
		const section = findSection(body, job.section);
		mentionFirstTab(body, tab, item);
		const place = planPlace(body, section, 'append');
		const content = fitIntoSection(job.content, section);
		const planChange = (refusedUrls: ReadonlySet<string>) => {
			const plan = planAppend(content, job.newParagraph, place, refusedUrls);
			if (!keyHashes) return plan;
			const name = `${buildMarkerNameStart(keyHashes)}${plan.characterCount}`;
			// The marker leaves out the last newline. It has at least one index, even if the content is a rule without text.
			const endIndex = place.index + Math.max(plan.growth, 1);
			const range = { startIndex: place.index, endIndex, tabId: body.tabId };
			return { ...plan, requests: [...plan.requests, { createNamedRange: { name, range } }] };
		};
		const { characterCount, revisionId } = await carryOut(docs, body, planChange, item);
		return { documentId, characterCount, revisionId };
	};
	return await repeatIfOutdated(documentId, appendOnce, item);
}

/** Builds the name of the marker of appended text up to the number of characters, which comes last. Docs deletes the marker with the text. */
function buildMarkerNameStart({ keyHash, contentHash }: KeyHashes): string {
	return `n8n-agent-workspace/${keyHash}/${contentHash.slice(0, 16)}/`;
}

/** Finds the result of an earlier append with this key. @throws NodeError 409 if that append had other content */
function findEarlierAppend(
	{ documentId, revisionId, rangeNames }: BodyState,
	keyHashes: KeyHashes,
) {
	const name = rangeNames.find((rangeName) => rangeName.split('/')[1] === keyHashes.keyHash);
	if (name === undefined) return undefined;
	const nameStart = buildMarkerNameStart(keyHashes);
	if (!name.startsWith(nameStart))
		throw createKeyReusedError(`text in the document ${documentId}`);
	const characterCount = Number(name.slice(nameStart.length));
	return { documentId, characterCount, revisionId, repeated: true };
}
