import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import {
	createKeyReusedError,
	hashKeyUse,
	idempotencyOption,
	type KeyHashes,
} from '../../idempotency';
import { defineOperation } from '../../operation';
import { type Change, changeDocument, nameWrittenText } from './changeDocument';
import { planAppend } from './content/contentRequests';
import { type ContentJob, fitIntoDocument } from './content/fitContent';
import type { PictureTest } from './content/layout';
import { isEmpty, parseContent } from './content/parseContent';
import { type EditableTab, getRangeNames } from './documentState';
import * as fields from './fields';

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
		fields.underHeading,
	],
	getChangedId: ({ documentId }) => documentId,
	async send({ docs }, params, item) {
		const content = await parseContent(params, item);
		if (isEmpty(content))
			throw createRefusal(
				`${quoteField('content')} is empty`,
				'Nothing was written. Check the expression that provides the content.',
			);
		const { idempotencyKey: key, documentId: target, underHeading: section } = params;
		const use = { key, operation: 'document append', target };
		const keyHashes = hashKeyUse(use, [params.content, section]);
		return await appendContent({ ...params, docs, item, content, section, keyHashes });
	},
	nameResult: (result) => nameWrittenText(result),
});

interface AppendJob extends ContentJob {
	readonly newParagraph: boolean;
	readonly keyHashes: KeyHashes | undefined;
}

/** Appends content to a tab or section, unless that was already done with the same key. */
export async function appendContent(job: AppendJob) {
	const { change, result } = await changeDocument({
		...job,
		detail: job.section === '' ? 'outline' : 'texts',
		plan: (tab, isPicture) =>
			findEarlierAppend(job, tab) ?? planWithMarker(job, tab, isPicture),
	});
	return change.repeated ? { ...result, repeated: true } : result;
}

function planWithMarker(job: AppendJob, tab: EditableTab, isPicture: PictureTest): Change {
	const { place, content } = fitIntoDocument(job, tab, 'append');
	const change = planAppend(content, job.newParagraph, place, isPicture);
	if (!job.keyHashes) return change;
	const name = `${buildMarkerNameStart(job.keyHashes)}${change.characterCount}`;
	// The marker leaves out the last newline. It has at least one index, even if the content is a
	// rule without text.
	const endIndex = place.index + Math.max(change.growth, 1);
	const range = { startIndex: place.index, endIndex, tabId: tab.tabId };
	return { ...change, requests: [...change.requests, { createNamedRange: { name, range } }] };
}

/**
 * Builds the name of the marker of appended text up to the number of characters, which comes last.
 * Docs deletes the marker with the text.
 */
const buildMarkerNameStart = ({ keyHash, contentHash }: KeyHashes) =>
	`n8n-agent-workspace/${keyHash}/${contentHash}/`;

/**
 * Finds an earlier append with this key.
 * @returns a change that does nothing more
 * @throws NodeError 409 if that append had other content
 */
function findEarlierAppend(
	{ documentId, keyHashes }: AppendJob,
	tab: EditableTab,
): Change | undefined {
	if (!keyHashes) return undefined;
	const markerName = getRangeNames(tab).find((name) => name.split('/')[1] === keyHashes.keyHash);
	if (markerName === undefined) return undefined;
	const nameStart = buildMarkerNameStart(keyHashes);
	if (!markerName.startsWith(nameStart))
		throw createKeyReusedError(`text in the document ${documentId}`);
	const characterCount = Number(markerName.slice(nameStart.length));
	return { requests: [], growth: 0, characterCount, repeated: true };
}
