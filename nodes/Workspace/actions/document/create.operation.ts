import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import * as createdFiles from '../createdFiles';
import { isNodeError, createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { idempotencyOption } from '../../idempotency';
import { buildFileLocator } from '../../locators';
import { type Clients, defineOperation, type Field, type Item, type InferParameters } from '../../operation';
import { appendContent } from './append.operation';
import { planContentReplacements } from './placeholders';
import { planFill, prepareReplacements } from './replacements';
import { type BodyState, buildDocumentUrl, collectTexts, readBodyState } from './tabs';
import { emptyPlace, findSection, planPlace } from './contentPlace';
import { isEmpty, parseContent, planReplacement } from './contentRequests';
import * as fields from './fields';
import {
	carryOutContent,
	buildChange,
	hasNewRevision,
	repeatIfOutdated,
	recoverResult,
	type DocumentWriteResult,
} from './revisionGuard';

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
		const given = await prepareDocument(params, item);
		const { title, parentFolder: folder, templateId, key } = given;
		// Docs can neither create in a folder nor copy.
		if (folder !== '' || templateId !== '' || key) return await createDocumentInDrive(clients, given, item);
		const { data: made } = await clients.docs.documents.create({ requestBody: { title } });
		const documentId = made.documentId ?? '';
		item.recordCreated({ kind: 'document', id: documentId, url: buildDocumentUrl(documentId) });
		const replaced = await fillEmpty(clients, documentId, given, item, made.revisionId);
		return await readResult(clients, documentId, params, replaced, isEmpty(given.parsed) ? made : undefined);
	},
	async recover(clients, params, failure, item) {
		const { title, parentFolder, templateId, idempotencyKey } = params;
		let ownId = idempotencyKey ? await createdFiles.findCreatedId(clients.drive, item) : undefined;
		if (ownId === undefined) {
			const written = await recoverResult(clients.docs, failure, item);
			if (isNodeError(written)) return written;
			if (written !== undefined) return await readResult(clients, written.documentId, params, undefined);
			if (parentFolder !== '' || templateId !== '')
				ownId = await createdFiles.findCreatedId(clients.drive, item);
		}
		if (ownId !== undefined)
			return await createDocumentInDrive(clients, await prepareDocument(params, item), item, ownId);
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

/** @throws NodeError 400 before anything is created */
async function prepareDocument(params: CreateDocumentParams, item: Item) {
	const { title, content, contentFormat, templateId, fillFromInput } = params;
	const replacing = await prepareReplacements(params, item);
	const { texts, contents } = replacing;
	const made: string[] = [title, contentFormat, content, templateId, JSON.stringify(texts)];
	if (fillFromInput) made.push('fillFromInput');
	if (contents.length > 0) made.push(JSON.stringify(params.replacements));
	const key = createdFiles.hashFileKey('document create', params, made);
	const parsed = await parseContent(params, item);
	const isReplacing = texts.length + contents.length > 0 || fillFromInput;
	if (templateId === '' && (contents.length > 0 || (isReplacing && isEmpty(parsed)))) {
		throw createRefusal(
			`${quoteField(fillFromInput ? 'fillFromInput' : 'replacements')} has no text to change`,
			`Nothing was created. Choose a document in ${quoteField('templateId')}, or enter ${quoteField('content')}. If one of them is an expression, check that the input item contains the data.`,
		);
	}
	return { ...params, parsed, replacing, key };
}

async function createDocumentInDrive(clients: Clients, given: NewDocument, item: Item, ownId?: string) {
	const fill = (id: string) =>
		given.templateId
			? fillCopy(clients, id, given, item, ownId !== undefined)
			: fillEmpty(clients, id, given, item);
	const finish = async (id: string, isDone: boolean) => {
		const replaced = isDone ? undefined : await fill(id);
		return async () => await readResult(clients, id, given, replaced);
	};
	const mimeType = 'application/vnd.google-apps.document';
	const file = { ...given, kind: 'document', mimeType, buildUrl: buildDocumentUrl, ownId, finish } as const;
	return await createdFiles.createInDrive(clients.drive, file, item);
}

/** Fills a document in one atomic change; with a key, only while it is empty, so that it is filled once. @param known revision, if new */
async function fillEmpty(
	{ docs }: Clients,
	id: string,
	given: NewDocument,
	item: Item,
	known?: string | null,
) {
	const { parsed, key, replacing, content, fillFromInput } = given;
	if (isEmpty(parsed)) return undefined;
	const texts = fillFromInput ? planFill(replacing, content, item, true) : replacing.texts;
	let revisionId = known;
	return await repeatIfOutdated(async () => {
		const body = revisionId ? undefined : await readBodyState(docs, id, '');
		const base = body ?? { documentId: id, tabId: undefined, revisionId: revisionId ?? '' };
		revisionId = undefined;
		if (key && body && body.endIndex > 2) return undefined;
		const place = body ? planPlace(body, findSection(body, ''), false) : emptyPlace;
		const written = await carryOutContent(docs, item, (withPictures) =>
			buildChange(planReplacement(withPictures(parsed), place), base, texts),
		);
		return written.replaced;
	}, item);
}

/** Fills a copy of a template. Replaces texts before it appends the content, so that no replacement changes the content. */
async function fillCopy({ docs }: Clients, id: string, given: NewDocument, item: Item, isRecovery: boolean) {
	const { parsed, key, replacing, fillFromInput } = given;
	const replace = async () => {
		const body = await readBodyState(docs, id, '', 'texts');
		const name = `n8n-agent-workspace/filled/${key?.mark ?? ''}`;
		// Replacing again would also change the replacements themselves.
		if (key ? body.rangeNames.includes(name) : isRecovery && hasNewRevision(item, body)) return undefined;
		const texts = planFill(replacing, collectTexts(body, true, body.content), item, fillFromInput);
		const marker =
			key && texts.length + replacing.contents.length > 0 ? [buildMarkerRequest(name, body)] : [];
		return await carryOutContent(docs, item, (withPictures) => {
			const plan = planContentReplacements(body, true, replacing.contents, withPictures);
			return buildChange(plan, body, texts, marker);
		});
	};
	const replaced = (await repeatIfOutdated(replace, item))?.replaced;
	if (!isEmpty(parsed)) {
		const atEnd = { documentId: id, tab: '', heading: '', newParagraph: true };
		await appendContent(docs, { ...atEnd, parsed, key }, item);
	}
	return replaced;
}

/** Marks the copy as filled, in the same atomic change: a named range over the end of a paragraph, which no replacement removes. */
function buildMarkerRequest(name: string, { content, tabId, endIndex }: BodyState): docs_v1.Schema$Request {
	const end = content.find(({ paragraph }) => paragraph)?.endIndex ?? endIndex;
	return { createNamedRange: { name, range: { startIndex: end - 1, endIndex: end, tabId } } };
}

/** @param made the document, if it was just returned */
async function readResult(
	{ docs }: Clients,
	documentId: string,
	params: CreateDocumentParams,
	replaced: DocumentWriteResult['replaced'],
	made?: docs_v1.Schema$Document,
) {
	const { includeBody } = params;
	const read = async () => (await docs.documents.get({ documentId, fields: 'title,body' })).data;
	const { title, body }: docs_v1.Schema$Document = made ?? (includeBody ? await read() : params);
	const documentUrl = buildDocumentUrl(documentId);
	return { documentId, documentUrl, title, ...(includeBody && { body }), ...(replaced && { replaced }) };
}
