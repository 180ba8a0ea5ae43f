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
import { emptyPlace } from './contentPlace';
import { isEmpty, parseContent, planWrite } from './contentRequests';
import * as fields from './fields';
import { prepareReplacements, type ReplacementResult, replaceTexts } from './replacements';
import { carryOut, repeatIfOutdated } from './revisionGuard';
import { buildDocumentUrl, readBodyState } from './tabs';

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
		if (isEmpty(plan.parsedContent))
			return await readResult(clients, documentId, plan, created);
		await fillEmpty(clients, documentId, plan, item, created.revisionId);
		return await readResult(clients, documentId, plan);
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
	const { title, content, contentFormat, templateId, fillFromInput, replacements } = job;
	if ((replacements.length > 0 || fillFromInput) && templateId === '')
		throw createRefusal(
			`${quoteField('replacements')} and ${quoteField('fillFromInput')} have no text to change`,
			`Nothing was created. Choose a document in ${quoteField('templateId')}. If it is an expression, check that the input item contains the data.`,
		);
	const preparedReplacements = await prepareReplacements(job, item);
	const parsedContent = await parseContent(job, item);
	// Drive stores a hash of what the document is made from.
	const source = [title, contentFormat, content, templateId, fillFromInput, replacements];
	const keyHashes = createdFiles.hashFileKey('document create', job, [JSON.stringify(source)]);
	return { ...job, parsedContent, preparedReplacements, keyHashes };
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
			if (plan.templateId) return await fillCopy(clients, id, plan, item);
			await fillEmpty(clients, id, plan, item);
			return undefined;
		},
		readResult: async (id: string, replaced: ReplacementResult['replaced']) => {
			const result = await readResult(clients, id, plan);
			return replaced ? { ...result, replaced } : result;
		},
	};
	return await createdFiles.createInDrive(clients.drive, file, item);
}

/**
 * Fills a document in one change. With an idempotency key, only an empty document is filled.
 * @param newRevisionId the revision of a document that was just created. Such a document is only read if Google refuses this revision
 */
async function fillEmpty(
	{ docs }: Clients,
	documentId: string,
	{ parsedContent, keyHashes }: DocumentPlan,
	item: Item,
	newRevisionId?: string | null,
): Promise<void> {
	if (isEmpty(parsedContent)) return;
	let revisionId = newRevisionId;
	const fillOnce = async () => {
		const newBody = { documentId, tabId: undefined, revisionId: revisionId ?? '', endIndex: 2 };
		const body = revisionId ? newBody : await readBodyState(docs, documentId, '', 'outline');
		revisionId = undefined;
		// An empty document ends at the index 2.
		if (keyHashes && body.endIndex > 2) return;
		const index = body.endIndex - 1;
		const place = { ...emptyPlace, index, deletedEnd: index, tabId: body.tabId };
		await carryOut(docs, body, (urls) => planWrite(parsedContent, place, urls), item);
	};
	await repeatIfOutdated(documentId, fillOnce, item);
}

/** Fills a copy of a template. Replaces texts before it adds the content, so that no replacement changes the content. */
async function fillCopy({ docs }: Clients, documentId: string, plan: DocumentPlan, item: Item) {
	const { preparedReplacements: replacements, fillFromInput, keyHashes } = plan;
	const markerName = keyHashes && `n8n-agent-workspace/filled/${keyHashes.keyHash}`;
	const job = { documentId, tab: '', replacements, fillFromInput, markerName };
	const fillOnce = async () => await replaceTexts(docs, job, item);
	const result = await repeatIfOutdated(documentId, fillOnce, item);
	const content = plan.parsedContent;
	if (!isEmpty(content)) {
		const target = { documentId, tab: '', section: '', newParagraph: true };
		await appendContent(docs, { ...target, content, keyHashes }, item);
	}
	return result.replaced;
}

/** @param created Google's response to the creation, if the document has not changed since */
async function readResult(
	{ docs }: Clients,
	documentId: string,
	{ includeBody, title }: CreateParams,
	created?: docs_v1.Schema$Document,
): Promise<CreateResult> {
	const documentUrl = buildDocumentUrl(documentId);
	if (!includeBody) return { documentId, documentUrl, title };
	const readDocument = async () =>
		(await docs.documents.get({ documentId, fields: 'title,body' })).data;
	const document = created ?? (await readDocument());
	return { documentId, documentUrl, title: document.title, body: document.body };
}

interface CreateResult extends Pick<ReplacementResult, 'documentId' | 'replaced'> {
	readonly documentUrl: string;
	readonly title: docs_v1.Schema$Document['title'];
	readonly body?: docs_v1.Schema$Body | undefined;
}
