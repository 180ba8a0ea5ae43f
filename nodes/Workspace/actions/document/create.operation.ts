import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import * as createdFiles from '../createdFiles';
import { isNodeError, createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { idempotencyOption } from '../../idempotency';
import { buildFileLocator } from '../../locators';
import {
	type Clients,
	defineOperation,
	type Field,
	type Item,
	type InferParameters,
} from '../../operation';
import { appendContent } from './append.operation';
import { planMarkdownReplacements } from './placeholders';
import { planTextReplacements, prepareReplacements } from './replacements';
import { type BodyState, buildDocumentUrl, collectText, readBodyState } from './tabs';
import { emptyPlace, findSection, planPlace } from './contentPlace';
import { isEmpty, linkImages, parseContent, planWrite } from './contentRequests';
import * as fields from './fields';
import { buildChange, carryOutContent, recoverResult, repeatIfOutdated } from './revisionGuard';
import { type DocumentWriteResult, hasNewRevision } from './revisionGuard';

const createFields = [
	{ ...createdFiles.titleField, description: 'Title of the new document' },
	createdFiles.buildParentFolderField(
		'The folder to create the document in. Leave empty to use My Drive.',
	),
	{
		...fields.content,
		description: 'Content of the new document. Leave empty to create an empty document.',
	},
	fields.contentFormat,
] as const satisfies readonly Field[];

const createOptions = [
	idempotencyOption,
	{
		displayName: 'Include Body',
		name: 'includeBody',
		type: 'boolean',
		default: false,
		onlyIn: 'fields',
		jsonDefault: true,
		description:
			"Whether to return the body of the document, too, as Google's structure of paragraphs and tables",
	},
	fields.fillFromInputOption,
	fields.insertImagesOption,
	{
		...fields.replacements,
		description:
			'Texts to find in the new document and what to put in their place, for example the placeholders of the template. If Find contains {{ }}, set it to Fixed. Markdown takes the place of a whole paragraph.',
	},
	{
		displayName: 'Template',
		name: 'templateId',
		...buildFileLocator('document', 'searchDocuments'),
		description:
			'A document to copy. The content is added at the end of the copy. If this app did not create it, choose All Files as the Drive Access in the credential first.',
	},
] as const satisfies readonly Field[];

type CreateDocumentParams = InferParameters<typeof createFields, typeof createOptions>;

export const create = defineOperation({
	value: 'create',
	name: 'Create',
	action: 'Create document or fill template',
	description: 'Create an empty document, one with content, or a copy of a template',
	modelDescription: 'Create a Google document. Returns its ID and URL.',
	fields: createFields,
	options: createOptions,
	async send(clients, params, item) {
		const prepared = await prepareParams(params, item);
		const { title, parentFolder: folder, templateId, keyHashes } = prepared;
		// The Docs API cannot create a document in a folder or with a marker, and cannot copy a document.
		if (folder !== '' || templateId !== '' || keyHashes)
			return await createByDrive(clients, prepared, item);
		const { data: response } = await clients.docs.documents.create({ requestBody: { title } });
		const documentId = response.documentId ?? '';
		item.recordCreated({ kind: 'document', id: documentId, url: buildDocumentUrl(documentId) });
		const emptyDocumentParams = { ...prepared, newRevisionId: response.revisionId };
		const replaced = await fillEmpty(clients, documentId, emptyDocumentParams, item);
		const unchangedResponse = isEmpty(prepared.parsedContent) ? response : undefined;
		return await readResult(clients, documentId, params, replaced, unchangedResponse);
	},
	async recover(clients, params, failure, item) {
		const { title, parentFolder, templateId, idempotencyKey } = params;
		let recoveredId = idempotencyKey
			? await createdFiles.findCreatedId(clients.drive, item)
			: undefined;
		if (recoveredId === undefined) {
			const recovered = await recoverResult(clients.docs, failure, item);
			if (isNodeError(recovered)) return recovered;
			if (recovered !== undefined)
				return await readResult(clients, recovered.documentId, params, undefined);
			if (parentFolder !== '' || templateId !== '')
				recoveredId = await createdFiles.findCreatedId(clients.drive, item);
		}
		if (recoveredId !== undefined)
			return await createByDrive(
				clients,
				await prepareParams(params, item),
				item,
				recoveredId,
			);
		throw failure.with({
			message: `The document may have been created: ${failure.message}`,
			description: `It was not created again, to avoid duplicates. Look for '${title}' in Google Drive before you run this again.`,
			outcome: 'unknown',
		});
	},
	nameResult: ({ title, documentUrl }) => `document ${title ?? ''} (${documentUrl})`,
	adviceByStatus: { 404: createdFiles.missingFolderAdvice },
});

type PreparedParams = Awaited<ReturnType<typeof prepareParams>>;

/** Checks and parses the parameters, before anything is created. @throws NodeError 400 */
async function prepareParams(params: CreateDocumentParams, item: Item) {
	const { title, content, contentFormat, templateId, fillFromInput } = params;
	const replacementPlan = await prepareReplacements(params, item);
	const { textRequests, markdownReplacements } = replacementPlan;
	const keyParts: string[] = [
		title,
		contentFormat,
		content,
		templateId,
		JSON.stringify(textRequests),
	];
	if (fillFromInput) keyParts.push('fillFromInput');
	// Only the values, so that the hash depends on no name in the code.
	if (markdownReplacements.length > 0)
		keyParts.push(
			JSON.stringify(params.replacements.map((row): unknown[] => Object.values(row))),
		);
	const keyHashes = createdFiles.hashFileKey('document create', params, keyParts);
	const parsedContent = await parseContent(params, item);
	// Text replacements need a template or content. Markdown replacements need a template, because they replace nothing in the content.
	const replacesText = textRequests.length > 0 || fillFromInput;
	const needsTemplate =
		markdownReplacements.length > 0 || (replacesText && isEmpty(parsedContent));
	if (needsTemplate && templateId === '')
		throw createRefusal(
			`${quoteField(fillFromInput ? 'fillFromInput' : 'replacements')} has no text to change`,
			`Nothing was created. Choose a document in ${quoteField('templateId')}, or enter ${quoteField('content')}. If one of them is an expression, check that the input item contains the data.`,
		);
	return { ...params, parsedContent, replacementPlan, keyHashes };
}

/** @param recoveredId the document that an earlier attempt has created. Only what the document lacks is added. */
async function createByDrive(
	clients: Clients,
	prepared: PreparedParams,
	item: Item,
	recoveredId?: string,
) {
	const copyParams = { ...prepared, isRetry: recoveredId !== undefined };
	const fillContent = (id: string) =>
		prepared.templateId
			? fillCopy(clients, id, copyParams, item)
			: fillEmpty(clients, id, prepared, item);
	const readCreatedDocument = async (id: string, replaced: DocumentWriteResult['replaced']) =>
		await readResult(clients, id, prepared, replaced);
	const mimeType = 'application/vnd.google-apps.document';
	const type = { kind: 'document', mimeType, buildUrl: buildDocumentUrl } as const;
	const file = {
		...prepared,
		...type,
		recoveredId,
		fillContent,
		readResult: readCreatedDocument,
	};
	return await createdFiles.createInDrive(clients.drive, file, item);
}

/** `newRevisionId` is the revision of a document that was just created. Such a document is only read if Google refuses this revision. */
type EmptyDocumentParams = PreparedParams & { readonly newRevisionId?: string | null | undefined };
/** Fills a document in one change. With an idempotency key, only an empty document is filled. @returns how often each text was replaced */
async function fillEmpty({ docs }: Clients, id: string, prepared: EmptyDocumentParams, item: Item) {
	const { parsedContent, keyHashes, replacementPlan, content, fillFromInput } = prepared;
	if (isEmpty(parsedContent)) return undefined;
	const requests = fillFromInput
		? planTextReplacements(replacementPlan, content, item, { fillFromInput })
		: replacementPlan.textRequests;
	let knownRevisionId = prepared.newRevisionId;
	return await repeatIfOutdated(async () => {
		const body = knownRevisionId ? undefined : await readBodyState(docs, id, '');
		const state = body ?? {
			documentId: id,
			tabId: undefined,
			revisionId: knownRevisionId ?? '',
		};
		knownRevisionId = undefined;
		// An empty document ends at the index 2.
		if (keyHashes && body && body.endIndex > 2) return undefined;
		const place = body ? planPlace(body, findSection(body, ''), 'append') : emptyPlace;
		const result = await carryOutContent(docs, item, (refusedUrls) =>
			buildChange(planWrite(linkImages(parsedContent, refusedUrls), place), state, requests),
		);
		return result.replaced;
	}, item);
}

type CopyParams = PreparedParams & { readonly isRetry: boolean };
/** Fills a copy of a template. Replaces texts before it adds the content, so that no replacement changes the content. */
async function fillCopy({ docs }: Clients, id: string, prepared: CopyParams, item: Item) {
	const { parsedContent, keyHashes, replacementPlan, fillFromInput, isRetry } = prepared;
	const { markdownReplacements } = replacementPlan;
	const replaceTexts = async () => {
		const body = await readBodyState(docs, id, '', 'texts');
		const markerName = `n8n-agent-workspace/filled/${keyHashes?.keyHash ?? ''}`;
		const hasMarker = body.rangeNames.includes(markerName);
		const isReplaced = keyHashes ? hasMarker : isRetry && hasNewRevision(item, body);
		// A second replacement could also change the texts that the first one inserted.
		if (isReplaced) return undefined;
		const text = collectText(body, 'allTabs', body.content);
		const requests = planTextReplacements(replacementPlan, text, item, { fillFromInput });
		const changesTexts = requests.length + markdownReplacements.length > 0;
		const markerRequests =
			keyHashes && changesTexts ? [buildMarkerRequest(markerName, body)] : [];
		return await carryOutContent(docs, item, (refusedUrls) => {
			const plan = planMarkdownReplacements(
				body,
				'allTabs',
				markdownReplacements,
				refusedUrls,
			);
			return buildChange(plan, body, requests, markerRequests);
		});
	};
	const replaced = (await repeatIfOutdated(replaceTexts, item))?.replaced;
	if (!isEmpty(parsedContent)) {
		const target = { documentId: id, tab: '', heading: '', newParagraph: true };
		await appendContent(docs, { ...target, parsedContent, keyHashes }, item);
	}
	return replaced;
}

/** Builds the marker of a filled copy: a named range over the newline of a paragraph, which no replacement removes. */
function buildMarkerRequest(
	name: string,
	{ content, tabId, endIndex }: BodyState,
): docs_v1.Schema$Request {
	const end = content.find(({ paragraph }) => paragraph)?.endIndex ?? endIndex;
	return { createNamedRange: { name, range: { startIndex: end - 1, endIndex: end, tabId } } };
}

/** @param response Google's response to the creation, if the document has not changed since */
async function readResult(
	{ docs }: Clients,
	documentId: string,
	params: CreateDocumentParams,
	replaced: DocumentWriteResult['replaced'],
	response?: docs_v1.Schema$Document,
) {
	const { includeBody } = params;
	const readDocument = async () =>
		(await docs.documents.get({ documentId, fields: 'title,body' })).data;
	const { title, body }: docs_v1.Schema$Document =
		response ?? (includeBody ? await readDocument() : params);
	const documentUrl = buildDocumentUrl(documentId);
	return {
		documentId,
		documentUrl,
		title,
		...(includeBody && { body }),
		...(replaced && { replaced }),
	};
}
