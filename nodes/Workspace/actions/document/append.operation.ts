import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import {
	createKeyReusedError,
	hashIdempotencyKey,
	hashParts,
	idempotencyOption,
} from '../../idempotency';
import type { KeyHashes } from '../../idempotency';
import { defineOperation } from '../../operation';
import { type Change, changeDocument, type DocumentTarget } from './changeDocument';
import { type Content, fitIntoSection, isEmpty, parseContent, planAppend } from './contentRequests';
import { findSection, findPlace } from './contentPlace';
import * as fields from './fields';
import { type BodyState, getRangeNames, mentionFirstTab } from './tabs';

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
		const content = await parseContent(params, item);
		if (isEmpty(content))
			throw createRefusal(
				`${quoteField('content')} is empty`,
				'Nothing was written. Check the expression that provides the content.',
			);
		return await appendContent({ ...params, docs, item, content, keyHashes: hashKey(params) });
	},
	nameResult: ({ documentId, characterCount }) =>
		`${characterCount} characters in document ${documentId}`,
});

interface AppendParams {
	readonly documentId: string;
	readonly idempotencyKey: string;
	readonly content: string;
	readonly section: string;
}

function hashKey({ documentId, idempotencyKey, content, section }: AppendParams) {
	const use = { key: idempotencyKey, operation: 'document append', target: documentId };
	const keyHash = hashIdempotencyKey(use);
	return keyHash === undefined
		? undefined
		: { keyHash, contentHash: hashParts([content, section]) };
}

interface AppendJob extends DocumentTarget {
	readonly section: string;
	readonly content: Content;
	readonly newParagraph: boolean;
	readonly keyHashes: KeyHashes | undefined;
}

/** Appends content to a tab or section, unless that was already done with the same key. */
export async function appendContent(job: AppendJob) {
	let isRepeated = false;
	const { result } = await changeDocument({
		...job,
		detail: job.section === '' ? 'outline' : 'texts',
		plan(body, refusedUrls) {
			const earlierAppend =
				job.keyHashes && findEarlierAppend(job.documentId, body, job.keyHashes);
			isRepeated = earlierAppend !== undefined;
			return earlierAppend ?? planAppended(job, body, refusedUrls);
		},
	});
	return isRepeated ? { ...result, repeated: true } : result;
}

function planAppended(job: AppendJob, body: BodyState, refusedUrls: ReadonlySet<string>): Change {
	const section = findSection(body, job.section);
	const place = findPlace(body.tabId, section, 'append');
	const content = fitIntoSection(job.content, section);
	const change = planAppend(content, job.newParagraph, place, refusedUrls);
	mentionFirstTab(body, job.tab, job.item);
	if (!job.keyHashes) return change;
	const name = `${buildMarkerNameStart(job.keyHashes)}${change.characterCount}`;
	// The marker leaves out the last newline. It has at least one index, even if the content is a rule without text.
	const endIndex = place.index + Math.max(change.growth, 1);
	const range = { startIndex: place.index, endIndex, tabId: body.tabId };
	return { ...change, requests: [...change.requests, { createNamedRange: { name, range } }] };
}

/** Builds the name of the marker of appended text up to the number of characters, which comes last. Docs deletes the marker with the text. */
const buildMarkerNameStart = ({ keyHash, contentHash }: KeyHashes) =>
	`n8n-agent-workspace/${keyHash}/${contentHash.slice(0, 16)}/`;

/** Finds an earlier append with this key. @returns a change that does nothing more @throws NodeError 409 if that append had other content */
function findEarlierAppend(documentId: string, body: BodyState, keyHashes: KeyHashes) {
	const markerName = getRangeNames(body).find((name) => name.split('/')[1] === keyHashes.keyHash);
	if (markerName === undefined) return undefined;
	const nameStart = buildMarkerNameStart(keyHashes);
	if (!markerName.startsWith(nameStart))
		throw createKeyReusedError(`text in the document ${documentId}`);
	return { requests: [], growth: 0, characterCount: Number(markerName.slice(nameStart.length)) };
}
