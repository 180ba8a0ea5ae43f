import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

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
	requireId,
} from '../../operation';
import * as createdFiles from '../createdFiles';
import { buildParentFolderField, titleField } from '../newFileFields';
import { appendContent } from './append.operation';
import { isEmpty, parseContent } from './content/parseContent';
import { buildDocumentUrl } from './documentState';
import * as fields from './fields';
import {
	changesTexts,
	prepareReplacements,
	type Replaced,
	type ReplacementResult,
	replaceTexts,
} from './replacements';

const createFields = [
	{ ...titleField, description: 'Title of the new document' },
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
		// With an empty text as the template, the document would be empty.
		refusesEmptyKey: true,
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
	{ ...fields.replacements, showWhen: { from: ['template'] } },
	buildParentFolderField('The folder to create the document in. Leave empty to use My Drive.'),
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
	async send(clients, params, item) {
		const plan = await planDocument(clients, params, item);
		if (needsDrive(params)) return await createByDrive(plan);
		const { title } = params;
		const { data } = await clients.docs.documents.create({ requestBody: { title } });
		const documentId = requireId(data.documentId);
		item.recordCreated({ kind: 'document', id: documentId, url: buildDocumentUrl(documentId) });
		if (isEmpty(plan.content)) return await readResult(plan, documentId, { created: data });
		await fillDocument(plan, documentId);
		return await readResult(plan, documentId);
	},
	async recover(clients, params, failure, item) {
		// The document exists, and only its content may be missing. Without a key, nothing in it
		// says which part of the content it already has.
		if (item.hasCreated && params.idempotencyKey === '') throw failure;
		const createdId =
			needsDrive(params) && (await createdFiles.findCreatedId(clients.drive, item));
		if (createdId)
			return await createByDrive(await planDocument(clients, params, item), createdId);
		throw createdFiles.explainUnknownCreation(failure, 'document', params.title);
	},
	nameResult: ({ title, documentUrl }) => `document ${title ?? ''} (${documentUrl})`,
});

/**
 * Whether Drive must create the document, because the Docs API knows neither folders nor keys, and
 * cannot copy a document.
 */
const needsDrive = ({ parentFolder, templateId, idempotencyKey }: CreateParams) =>
	parentFolder !== '' || templateId !== '' || idempotencyKey !== '';

type DocumentPlan = Awaited<ReturnType<typeof planDocument>>;

/** Parses the content and the replacements, before anything is created. @throws NodeError 400 */
async function planDocument(clients: Clients, params: CreateParams, item: Item) {
	const { templateId, fillFromInput } = params;
	if (changesTexts(params) && templateId === '')
		throw createRefusal(
			`${quoteField('replacements')} and ${quoteField('fillFromInput')} have no text to change`,
			`Nothing was created. Choose a document in ${quoteField('templateId')}. If it is an expression, check that the input item contains the data.`,
		);
	const replacements = await prepareReplacements(params, item);
	const content = await parseContent(params, item);
	// Drive stores a hash of what the document is made from.
	const source = JSON.stringify([
		params.title,
		params.contentFormat,
		params.content,
		templateId,
		fillFromInput,
		params.replacements,
	]);
	const keyHashes = createdFiles.hashFileKey('document create', params, [source]);
	// Without a tab, texts are replaced in all of them, and the content goes to the first one.
	return { ...params, ...clients, item, content, replacements, keyHashes, tab: '' };
}

/**
 * @param recoveredId the document that an earlier attempt has created. Only what the document lacks
 * is added.
 */
async function createByDrive(plan: DocumentPlan, recoveredId?: string) {
	const newFile = {
		...plan,
		kind: 'document' as const,
		buildUrl: buildDocumentUrl,
		recoveredId,
	};
	const { id, file, isRepeated } = await createdFiles.createInDrive(
		plan.drive,
		newFile,
		plan.item,
	);
	const replaced = createdFiles.isFinished(file) ? undefined : await fillDocument(plan, id);
	// Before the result is read: if that fails, the next run must not replace a template's
	// placeholders again.
	await createdFiles.markFinished(plan.drive, file);
	const result = await readResult(plan, id, { replaced });
	return isRepeated ? { ...result, repeated: true } : result;
}

type Document = docs_v1.Schema$Document;

/**
 * Fills a new document. Replaces the texts of a template before it adds the content, so that no
 * replacement changes the content.
 */
async function fillDocument(plan: DocumentPlan, documentId: string) {
	const { content, keyHashes, templateId } = plan;
	let replaced: Replaced | undefined;
	if (templateId !== '') {
		const markerName = keyHashes && `n8n-agent-workspace/filled/${keyHashes.keyHash}`;
		({ replaced } = await replaceTexts({ ...plan, documentId, markerName }));
	}
	if (!isEmpty(content))
		await appendContent({ ...plan, documentId, section: '', newParagraph: true });
	return replaced;
}

/** @param created Google's response to the creation, if the document stayed empty */
async function readResult(
	{ docs, title, includeBody }: DocumentPlan,
	documentId: string,
	{ replaced, created }: { readonly replaced?: Replaced; readonly created?: Document } = {},
): Promise<CreateResult> {
	const base = { documentId, documentUrl: buildDocumentUrl(documentId), title };
	const result = replaced ? { ...base, replaced } : base;
	if (!includeBody) return result;
	const document =
		created ?? (await docs.documents.get({ documentId, fields: 'title,body' })).data;
	return { ...result, title: document.title, body: document.body };
}

interface CreateResult extends Pick<ReplacementResult, 'documentId' | 'replaced'> {
	readonly documentUrl: string;
	readonly title: Document['title'];
	readonly body?: docs_v1.Schema$Body;
}
