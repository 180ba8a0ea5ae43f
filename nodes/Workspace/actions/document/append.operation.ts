import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { type DocumentContent } from '../../../untrusted/document/blocks';
import {
	createKeyReusedError,
	hashIdempotencyKey,
	hashParts,
	idempotencyOption,
} from '../../idempotency';
import type { KeyHashes } from '../../idempotency';
import { defineOperation, type Item } from '../../operation';
import { fitIntoSection, isEmpty, linkImages, parseContent, planAppend } from './contentRequests';
import { findSection, planPlace } from './contentPlace';
import * as fields from './fields';
import { buildChange, carryOutContent, ensureTab, repeatIfOutdated } from './revisionGuard';
import type { DocumentWriteResult } from './revisionGuard';
import { type BodyState, mentionFirstTab, readBodyState } from './tabs';

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
		const {
			documentId,
			content,
			tab,
			newParagraph,
			section: heading,
			idempotencyKey: key,
		} = params;
		const parsedContent = await parseContent(params, item);
		if (isEmpty(parsedContent))
			throw createRefusal(
				`${quoteField('content')} is empty`,
				'Nothing was written. Check the expression that provides the content.',
			);
		// A new tab has no headings.
		if (params.createTab && heading === '') await ensureTab(docs, documentId, tab, item);
		const keyHash = hashIdempotencyKey({
			key,
			operation: 'document append',
			target: documentId,
		});
		const hashedTexts = heading === '' ? [content] : [content, heading];
		const keyHashes =
			keyHash === undefined ? undefined : { keyHash, contentHash: hashParts(hashedTexts) };
		const contentToAppend = {
			documentId,
			tab,
			heading,
			parsedContent,
			newParagraph,
			keyHashes,
		};
		return await appendContent(docs, contentToAppend, item);
	},
	nameResult: ({ documentId, characterCount }) =>
		`${characterCount} characters in document ${documentId}`,
});

interface ContentToAppend {
	readonly documentId: string;
	/** ID or title of the tab; '' for the first tab. */
	readonly tab: string;
	/** Text of the heading of the section to append to; '' for the end of the tab. */
	readonly heading: string;
	readonly parsedContent: DocumentContent;
	readonly newParagraph: boolean;
	readonly keyHashes: KeyHashes | undefined;
}

/** Appends content to a tab or section. If the document changes before the write, finds the end of the tab or section again. */
export async function appendContent(
	docs: docs_v1.Docs,
	{ documentId, tab, heading, parsedContent, newParagraph, keyHashes }: ContentToAppend,
	item: Item,
): Promise<DocumentWriteResult> {
	const appendOnce = async () => {
		const body = await readBodyState(
			docs,
			documentId,
			tab,
			heading === '' ? 'outline' : 'bodies',
		);
		const earlierResult = keyHashes && findEarlierAppend(body, keyHashes);
		if (earlierResult) return earlierResult;
		const section = findSection(body, heading);
		mentionFirstTab(body, tab, item);
		const place = planPlace(body, section, 'append');
		const fittedContent = fitIntoSection(parsedContent, section);
		return await carryOutContent(docs, item, (refusedUrls) => {
			const plan = planAppend(linkImages(fittedContent, refusedUrls), newParagraph, place);
			// The marker leaves out the last newline. It has at least one index, even if the content is a rule without text.
			const endIndex = Math.max(
				plan.endIndex - place.contentAfter.indexCount - 1,
				place.index + 1,
			);
			const range = { startIndex: place.index, endIndex, tabId: body.tabId };
			const name = keyHashes && `${buildMarkerNameStart(keyHashes)}${plan.characterCount}`;
			return buildChange(plan, body, name ? [{ createNamedRange: { name, range } }] : []);
		});
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
	return {
		documentId,
		characterCount: Number(name.slice(nameStart.length)),
		revisionId,
		repeated: true,
	};
}
