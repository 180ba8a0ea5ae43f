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
import { isEmpty, parseContent } from './contentRequests';
import * as fields from './fields';
import { prepareReplacements, type ReplacementResult, replaceTexts } from './replacements';
import { repeatIfOutdated } from './revisionGuard';
import { buildDocumentUrl } from './tabs';

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
		await fillDocument(clients, documentId, plan, item, created);
		const unchanged = isEmpty(plan.content) ? created : undefined;
		return await readResult(clients, documentId, plan, undefined, unchanged);
	},
	async recover(clients, job, failure, item) {
		const { title, parentFolder, templateId, idempotencyKey, progress } = job;
		// Without a key, nothing in the document says which part of its content it already has.
		if (progress.isCreated && idempotencyKey === '') throw failure;
		if (idempotencyKey !== '' || parentFolder !== '' || templateId !== '') {
			const id = await createdFiles.findCreatedId(clients.drive, item);
			if (id !== undefined)
				return await createByDrive(clients, await planDocument(job, item), item, id);
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
	const { title, contentFormat, templateId, fillFromInput, replacements } = job;
	if ((replacements.length > 0 || fillFromInput) && templateId === '')
		throw createRefusal(
			`${quoteField('replacements')} and ${quoteField('fillFromInput')} have no text to change`,
			`Nothing was created. Choose a document in ${quoteField('templateId')}. If it is an expression, check that the input item contains the data.`,
		);
	const preparedReplacements = await prepareReplacements(job, item);
	const content = await parseContent(job, item);
	// Drive stores a hash of what the document is made from.
	const source = [title, contentFormat, job.content, templateId, fillFromInput, replacements];
	const keyHashes = createdFiles.hashFileKey('document create', job, [JSON.stringify(source)]);
	return { ...job, content, preparedReplacements, keyHashes };
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
			return await fillDocument(clients, id, plan, item);
		},
		readResult: async (id: string, replaced: Replaced) =>
			await readResult(clients, id, plan, replaced),
	};
	return await createdFiles.createInDrive(clients.drive, file, item);
}

type Replaced = ReplacementResult['replaced'];

/** Fills a new document. Replaces the texts of a template before it adds the content, so that no replacement changes the content. */
async function fillDocument(
	{ docs }: Clients,
	documentId: string,
	plan: DocumentPlan,
	item: Item,
	created?: docs_v1.Schema$Document,
): Promise<Replaced> {
	const { content, keyHashes } = plan;
	const target = { documentId, tab: '' };
	const replaced = plan.templateId ? await fillTemplate(docs, target, plan, item) : undefined;
	if (!isEmpty(content)) {
		const place = { ...target, section: '', newParagraph: true };
		await appendContent(docs, { ...place, content, keyHashes, created }, item);
	}
	return replaced;
}

async function fillTemplate(
	docs: docs_v1.Docs,
	target: Readonly<Record<'documentId' | 'tab', string>>,
	{ preparedReplacements: replacements, fillFromInput, keyHashes }: DocumentPlan,
	item: Item,
): Promise<Replaced> {
	const markerName = keyHashes && `n8n-agent-workspace/filled/${keyHashes.keyHash}`;
	const job = { ...target, replacements, fillFromInput, markerName };
	const fillOnce = async () => await replaceTexts(docs, job, item);
	return (await repeatIfOutdated(target.documentId, fillOnce, item)).replaced;
}

/** @param created Google's response to the creation, if the document has not changed since */
async function readResult(
	{ docs }: Clients,
	documentId: string,
	{ includeBody, title }: Pick<CreateParams, 'includeBody' | 'title'>,
	replaced: Replaced,
	created?: docs_v1.Schema$Document,
): Promise<CreateResult> {
	const base = { documentId, documentUrl: buildDocumentUrl(documentId), title };
	const result = replaced ? { ...base, replaced } : base;
	if (!includeBody) return result;
	const readDocument = async () =>
		(await docs.documents.get({ documentId, fields: 'title,body' })).data;
	const document = created ?? (await readDocument());
	return { ...result, title: document.title, body: document.body };
}

interface CreateResult extends Pick<ReplacementResult, 'documentId' | 'replaced'> {
	readonly documentUrl: string;
	readonly title: docs_v1.Schema$Document['title'];
	readonly body?: docs_v1.Schema$Body | undefined;
}
