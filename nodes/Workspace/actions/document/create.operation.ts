import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import * as createdFiles from '../createdFiles';
import { isNodeError, createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { idempotencyOption } from '../../idempotency';
import { buildFileLocator } from '../../locators';
import { type Clients, defineOperation, type Field, type Item, type InferParameters } from '../../operation';
import { appendContent } from './append.operation';
import { planMarkdownReplacements } from './placeholders';
import { addFillRequests, prepareReplacements } from './replacements';
import { type BodyState, buildDocumentUrl, collectTexts, readBodyState } from './tabs';
import { emptyPlace, findSection, planPlace } from './contentPlace';
import { isEmpty, parseContent, planWrite } from './contentRequests';
import * as fields from './fields';
import { buildChange, carryOutContent, recoverResult, repeatIfOutdated } from './revisionGuard';
import { type DocumentWriteResult, hasNewRevision } from './revisionGuard';

const createFields = [
	{ ...createdFiles.titleField, description: 'Title of the new document' },
	createdFiles.buildParentFolderField('The folder to create the document in. Leave empty to use My Drive.'),
	{ ...fields.content, description: 'Content of the new document. Leave empty to create an empty document.' },
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
	fields.fillFromInput,
	fields.insertImages,
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
	async execute(clients, params, item) {
		const document = await prepareDocument(params, item);
		const { title, parentFolder: folder, templateId, key } = document;
		// The Docs API cannot create a document in a folder or with a marker, and cannot copy a document.
		if (folder !== '' || templateId !== '' || key) return await createInDrive(clients, document, item);
		const { data: resource } = await clients.docs.documents.create({ requestBody: { title } });
		const documentId = resource.documentId ?? '';
		item.recordCreated({ kind: 'document', id: documentId, url: buildDocumentUrl(documentId) });
		const replaced = await fillEmpty(clients, documentId, document, item, resource.revisionId);
		const createdResource = isEmpty(document.parsedContent) ? resource : undefined;
		return await readResult(clients, documentId, params, replaced, createdResource);
	},
	async recover(clients, params, failure, item) {
		const { title, parentFolder, templateId, idempotencyKey } = params;
		let createdId = idempotencyKey ? await createdFiles.findCreatedId(clients.drive, item) : undefined;
		if (createdId === undefined) {
			const recovered = await recoverResult(clients.docs, failure, item);
			if (isNodeError(recovered)) return recovered;
			if (recovered !== undefined) return await readResult(clients, recovered.documentId, params, undefined);
			if (parentFolder !== '' || templateId !== '')
				createdId = await createdFiles.findCreatedId(clients.drive, item);
		}
		if (createdId !== undefined)
			return await createInDrive(clients, await prepareDocument(params, item), item, createdId);
		throw failure.with({
			message: `The document may have been created: ${failure.message}`,
			description: `It was not created again, to avoid duplicates. Look for '${title}' in Google Drive before you run this again.`,
			outcome: 'unknown',
		});
	},
	nameResult: ({ title, documentUrl }) => `document ${title ?? ''} (${documentUrl})`,
	adviceByStatus: { 404: createdFiles.missingFolderAdvice },
});

type NewDocument = Awaited<ReturnType<typeof prepareDocument>>;

/** Checks and parses the parameters, before anything is created. @throws NodeError with 400 */
async function prepareDocument(params: CreateDocumentParams, item: Item) {
	const { title, content, contentFormat, templateId, fillFromInput } = params;
	const replacementPlan = await prepareReplacements(params, item);
	const { requests, markdown } = replacementPlan;
	const keyParts: string[] = [title, contentFormat, content, templateId, JSON.stringify(requests)];
	if (fillFromInput) keyParts.push('fillFromInput');
	if (markdown.length > 0) keyParts.push(JSON.stringify(params.replacements));
	const key = createdFiles.hashFileKey('document create', params, keyParts);
	const parsedContent = await parseContent(params, item);
	const isReplacing = requests.length + markdown.length > 0 || fillFromInput;
	if (templateId === '' && (markdown.length > 0 || (isReplacing && isEmpty(parsedContent))))
		throw createRefusal(
			`${quoteField(fillFromInput ? 'fillFromInput' : 'replacements')} has no text to change`,
			`Nothing was created. Choose a document in ${quoteField('templateId')}, or enter ${quoteField('content')}. If one of them is an expression, check that the input item contains the data.`,
		);
	return { ...params, parsedContent, replacementPlan, key };
}

/** @param createdId the document that an earlier attempt has created; only what it lacks is added */
async function createInDrive(clients: Clients, document: NewDocument, item: Item, createdId?: string) {
	const fill = (id: string) =>
		document.templateId
			? fillCopy(clients, id, document, item, createdId !== undefined)
			: fillEmpty(clients, id, document, item);
	const finish = async (id: string, isDone: boolean) => {
		const replaced = isDone ? undefined : await fill(id);
		return async () => await readResult(clients, id, document, replaced);
	};
	const mimeType = 'application/vnd.google-apps.document';
	const file = { ...document, kind: 'document', mimeType, buildUrl: buildDocumentUrl, finish } as const;
	const keys = { keyHashes: document.key, recoveredId: createdId };
	return await createdFiles.createInDrive(clients.drive, { ...file, ...keys }, item);
}

/**
 * Fills a document in one atomic change. With an idempotency key, fills only an empty document, which ends at 2, so that it is filled once.
 * @param newRevisionId the revision of a document that was just created, which is not read for the first plan @returns how often each text was replaced
 */
async function fillEmpty(
	{ docs }: Clients,
	id: string,
	document: NewDocument,
	item: Item,
	newRevisionId?: string | null,
) {
	const { parsedContent, key, replacementPlan: plan, content, fillFromInput } = document;
	if (isEmpty(parsedContent)) return undefined;
	const requests = fillFromInput ? addFillRequests(plan, content, item, true) : plan.requests;
	let revisionId = newRevisionId;
	return await repeatIfOutdated(async () => {
		const body = revisionId ? undefined : await readBodyState(docs, id, '');
		const base = body ?? { documentId: id, tabId: undefined, revisionId: revisionId ?? '' };
		revisionId = undefined;
		if (key && body && body.endIndex > 2) return undefined;
		const place = body ? planPlace(body, findSection(body, ''), false) : emptyPlace;
		const result = await carryOutContent(docs, item, (filterRefused) =>
			buildChange(planWrite(filterRefused(parsedContent), place), base, requests),
		);
		return result.replaced;
	}, item);
}

/** Fills a copy of a template, replacements first, so that they do not change the content. @param isRetry after an unknown outcome */
async function fillCopy({ docs }: Clients, id: string, document: NewDocument, item: Item, isRetry: boolean) {
	const { parsedContent, key, replacementPlan, fillFromInput } = document;
	const replace = async () => {
		const body = await readBodyState(docs, id, '', 'texts');
		const markerName = `n8n-agent-workspace/filled/${key?.keyHash ?? ''}`;
		// A second replacement could also change the texts that the first one inserted.
		if (key ? body.rangeNames.includes(markerName) : isRetry && hasNewRevision(item, body)) return undefined;
		const text = collectTexts(body, true, body.content);
		const requests = addFillRequests(replacementPlan, text, item, fillFromInput);
		const isFilling = requests.length + replacementPlan.markdown.length > 0;
		const markerRequests = key && isFilling ? [buildMarkerRequest(markerName, body)] : [];
		return await carryOutContent(docs, item, (filterRefused) => {
			const plan = planMarkdownReplacements(body, true, replacementPlan.markdown, filterRefused);
			return buildChange(plan, body, requests, markerRequests);
		});
	};
	const replaced = (await repeatIfOutdated(replace, item))?.replaced;
	if (!isEmpty(parsedContent)) {
		const target = { documentId: id, tab: '', heading: '', newParagraph: true };
		await appendContent(docs, { ...target, parsedContent, key }, item);
	}
	return replaced;
}

/** Builds the marker of a filled copy: a named range over the newline of a paragraph, which no replacement removes. */
function buildMarkerRequest(name: string, { content, tabId, endIndex }: BodyState): docs_v1.Schema$Request {
	const end = content.find(({ paragraph }) => paragraph)?.endIndex ?? endIndex;
	return { createNamedRange: { name, range: { startIndex: end - 1, endIndex: end, tabId } } };
}

/** @param resource Google's document, if Google has just returned it */
async function readResult(
	{ docs }: Clients,
	documentId: string,
	params: CreateDocumentParams,
	replaced: DocumentWriteResult['replaced'],
	resource?: docs_v1.Schema$Document,
) {
	const { includeBody } = params;
	const read = async () => (await docs.documents.get({ documentId, fields: 'title,body' })).data;
	const { title, body }: docs_v1.Schema$Document = resource ?? (includeBody ? await read() : params);
	const documentUrl = buildDocumentUrl(documentId);
	return { documentId, documentUrl, title, ...(includeBody && { body }), ...(replaced && { replaced }) };
}
