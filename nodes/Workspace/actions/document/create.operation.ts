import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import * as createdFiles from '../createdFiles';
import { createRefusal } from '../../../core/errors';
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
import { planTextReplacements, prepareReplacements, type ReplacementPlan } from './replacements';
import { type BodyState, buildDocumentUrl, collectText, readBodyState } from './tabs';
import { type ContentPlace, emptyPlace, findSection, planPlace } from './contentPlace';
import { isEmpty, linkImages, parseContent, planWrite } from './contentRequests';
import * as fields from './fields';
import { buildChange, carryOutContent, repeatIfOutdated } from './revisionGuard';
import type { DocumentWriteResult } from './revisionGuard';

const createFields = [
	{ ...createdFiles.titleField, description: 'Title of the new document' },
	{
		displayName: 'Start From',
		name: 'from',
		type: 'options',
		onlyIn: 'fields',
		options: [
			{ name: 'Content', value: 'content', description: 'Text or Markdown, or nothing' },
			{ name: 'Template', value: 'template', description: 'A copy of another document' },
		],
		default: 'content',
		description: 'What the new document begins as',
	},
	{
		...fields.content,
		showWhen: { from: ['content'] },
		description: 'Content of the new document. Leave empty to create an empty document.',
	},
	{ ...fields.contentFormat, showWhen: { from: ['content'] } },
	{
		displayName: 'Template',
		name: 'templateId',
		...buildFileLocator('document', 'searchDocuments'),
		// It does not name the document that the operation is about.
		isId: undefined,
		required: true,
		showWhen: { from: ['template'] },
		description:
			'A document to copy. If this app did not create it, choose All Files as the Drive Access in the credential first.',
	},
	{
		...fields.fillFromInputOption,
		default: true,
		jsonDefault: false,
		// A form without a template has no placeholders.
		defaultWhen: { field: 'from', is: 'content', default: false },
		showWhen: { from: ['template'] },
	},
	{
		...fields.replacements,
		showWhen: { from: ['template'] },
		description:
			'Texts to find in the new document and what to put in their place. If Find contains {{ }}, set it to Fixed. Markdown takes the place of a whole paragraph.',
	},
	createdFiles.buildParentFolderField(
		'The folder to create the document in. Leave empty to use My Drive.',
	),
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
	fields.insertImagesOption,
] as const satisfies readonly Field[];

type CreateParams = InferParameters<typeof createFields, typeof createOptions>;

export const create = defineOperation({
	value: 'create',
	name: 'Create',
	action: 'Create document or fill template',
	description: 'Create an empty document, one with content, or a copy of a template',
	modelDescription: 'Create a Google document. Returns its ID and URL.',
	fields: createFields,
	options: createOptions,
	prepare: (params): CreateJob => ({ ...params, progress: { isCreated: false } }),
	async send(clients, job, item) {
		const plan = await planDocument(job, item);
		const { title, parentFolder: folder, templateId, keyHashes } = plan;
		// The Docs API cannot create a document in a folder or with a marker, and cannot copy a document.
		if (folder !== '' || templateId !== '' || keyHashes)
			return await createByDrive(clients, plan, item);
		const { data: created } = await clients.docs.documents.create({ requestBody: { title } });
		const documentId = created.documentId ?? '';
		job.progress.isCreated = true;
		item.recordCreated({ kind: 'document', id: documentId, url: buildDocumentUrl(documentId) });
		const replaced = await fillEmpty(clients, documentId, plan, item, created.revisionId);
		const unchanged = isEmpty(plan.parsedContent) ? created : undefined;
		return await readResult(clients, documentId, plan, replaced, unchanged);
	},
	async recover(clients, job, failure, item) {
		const { title, parentFolder, templateId, idempotencyKey, progress } = job;
		// Without a key, nothing in the document says which part of its content it already has.
		if (progress.isCreated && idempotencyKey === '') throw failure;
		if (idempotencyKey !== '' || parentFolder !== '' || templateId !== '') {
			const recoveredId = await createdFiles.findCreatedId(clients.drive, item);
			if (recoveredId !== undefined)
				return await createByDrive(
					clients,
					await planDocument(job, item),
					item,
					recoveredId,
				);
		}
		throw failure.with({
			message: `The document may have been created: ${failure.message}`,
			description: `It was not created again, to avoid duplicates. Look for '${title}' in Google Drive before you run this again.`,
			outcome: 'unknown',
		});
	},
	nameResult: ({ title, documentUrl }) => `document ${title ?? ''} (${documentUrl})`,
	adviceByStatus: { 404: createdFiles.missingFolderAdvice },
});

type CreateJob = CreateParams & {
	/** Whether the document exists, so that an unknown outcome is only that of its content. */
	readonly progress: { isCreated: boolean };
};
type DocumentPlan = Awaited<ReturnType<typeof planDocument>>;

/** Parses the content and the replacements, before anything is created. @throws NodeError 400 */
async function planDocument(job: CreateJob, item: Item) {
	const replacementPlan = await prepareReplacements(job, item);
	const parsedContent = await parseContent(job, item);
	const { textRequests, markdownReplacements } = replacementPlan;
	// Text replacements need a template or content. Markdown replacements need a template, because they replace nothing in the content.
	const replacesText = textRequests.length > 0 || job.fillFromInput;
	const needsTemplate =
		markdownReplacements.length > 0 || (replacesText && isEmpty(parsedContent));
	if (needsTemplate && job.templateId === '')
		throw createRefusal(
			`${quoteField(job.fillFromInput ? 'fillFromInput' : 'replacements')} has no text to change`,
			`Nothing was created. Choose a document in ${quoteField('templateId')}, or enter ${quoteField('content')}. If one of them is an expression, check that the input item contains the data.`,
		);
	const keyParts = listKeyParts(job, replacementPlan);
	const keyHashes = createdFiles.hashFileKey('document create', job, keyParts);
	return { ...job, parsedContent, replacementPlan, keyHashes };
}

/** Lists what the document is made from. Drive stores a hash of it, so it depends on no name in the code. */
function listKeyParts(job: CreateJob, { textRequests, markdownReplacements }: ReplacementPlan) {
	const { title, content, contentFormat, templateId, fillFromInput, replacements } = job;
	const parts: string[] = [title, contentFormat, content, templateId];
	parts.push(JSON.stringify(textRequests));
	if (fillFromInput) parts.push('fillFromInput');
	if (markdownReplacements.length > 0)
		parts.push(JSON.stringify(replacements.map((row): unknown[] => Object.values(row))));
	return parts;
}

/** @param recoveredId the document that an earlier attempt has created. Only what the document lacks is added. */
async function createByDrive(
	clients: Clients,
	plan: DocumentPlan,
	item: Item,
	recoveredId?: string,
) {
	const file = {
		...plan,
		kind: 'document' as const,
		mimeType: 'application/vnd.google-apps.document',
		buildUrl: buildDocumentUrl,
		recoveredId,
		async fillContent(id: string) {
			plan.progress.isCreated = true;
			const fill = plan.templateId ? fillCopy : fillEmpty;
			return await fill(clients, id, plan, item);
		},
		readResult: async (id: string, replaced: DocumentWriteResult['replaced']) =>
			await readResult(clients, id, plan, replaced),
	};
	return await createdFiles.createInDrive(clients.drive, file, item);
}

/**
 * Fills a document in one change. With an idempotency key, only an empty document is filled.
 * @param newRevisionId the revision of a document that was just created. Such a document is only read if Google refuses this revision
 * @returns how often each text was replaced
 */
async function fillEmpty(
	{ docs }: Clients,
	id: string,
	plan: DocumentPlan,
	item: Item,
	newRevisionId?: string | null,
) {
	const { parsedContent, keyHashes, replacementPlan, content, fillFromInput } = plan;
	if (isEmpty(parsedContent)) return undefined;
	const requests = fillFromInput
		? planTextReplacements(replacementPlan, content, item, { fillFromInput })
		: replacementPlan.textRequests;
	const send = async (place: ContentPlace, revisionId: string) => {
		const target = { documentId: id, tabId: place.tabId, revisionId };
		const result = await carryOutContent(docs, item, (refusedUrls) =>
			buildChange(planWrite(linkImages(parsedContent, refusedUrls), place), target, requests),
		);
		return result.replaced;
	};
	let knownRevisionId = newRevisionId;
	const fillOnce = async () => {
		if (knownRevisionId) {
			const revisionId = knownRevisionId;
			knownRevisionId = undefined;
			return await send(emptyPlace, revisionId);
		}
		const body = await readBodyState(docs, id, '');
		// An empty document ends at the index 2.
		if (keyHashes && body.endIndex > 2) return undefined;
		return await send(planPlace(body, findSection(body, ''), 'append'), body.revisionId);
	};
	return await repeatIfOutdated(id, fillOnce, item);
}

/** Fills a copy of a template. Replaces texts before it adds the content, so that no replacement changes the content. */
async function fillCopy({ docs }: Clients, id: string, plan: DocumentPlan, item: Item) {
	const { parsedContent, keyHashes } = plan;
	const result = await repeatIfOutdated(id, () => replaceInCopy(docs, id, plan, item), item);
	if (!isEmpty(parsedContent)) {
		const target = { documentId: id, tab: '', heading: '', newParagraph: true };
		await appendContent(docs, { ...target, parsedContent, keyHashes }, item);
	}
	return result?.replaced;
}

async function replaceInCopy(docs: docs_v1.Docs, id: string, plan: DocumentPlan, item: Item) {
	const { keyHashes, replacementPlan, fillFromInput } = plan;
	const { markdownReplacements } = replacementPlan;
	const body = await readBodyState(docs, id, '', 'texts');
	const markerName = `n8n-agent-workspace/filled/${keyHashes?.keyHash ?? ''}`;
	// A second replacement could also change the texts that the first one inserted.
	if (keyHashes && body.rangeNames.includes(markerName)) return undefined;
	const text = collectText(body, 'allTabs', body.content);
	const requests = planTextReplacements(replacementPlan, text, item, { fillFromInput });
	const changesTexts = requests.length + markdownReplacements.length > 0;
	const markerRequests = keyHashes && changesTexts ? [buildMarkerRequest(markerName, body)] : [];
	return await carryOutContent(docs, item, (refusedUrls) => {
		const change = planMarkdownReplacements(body, 'allTabs', markdownReplacements, refusedUrls);
		return buildChange(change, body, requests, markerRequests);
	});
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
	params: CreateParams,
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
