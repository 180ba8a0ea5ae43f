import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import {
	createThroughDrive,
	fileKeyOf,
	findMade,
	missingFolder,
	parentFolder,
	titleField,
} from '../createdFiles';
import { isNodeError, refusal } from '../../../core/errors';
import { named } from '../../../fields/field';
import { idempotencyOption, type KeyMark } from '../../idempotency';
import { type Clients, defineOperation, type Field, type Item, type ParamsOf } from '../../operation';
import { appendContent } from './append.operation';
import { documentUrl, readBody } from './tabs';
import { emptyPlan, isEmpty, parse, type Parsed, planWhole } from './content';
import * as fields from './fields';
import {
	carryOut,
	carryOutContent,
	changeOf,
	hasMoved,
	onLatest,
	readBack,
	type Written,
} from './revisionGuard';

const createFields = [
	titleField('Title of the new document'),
	parentFolder('The folder to create the document in. Leave empty to use My Drive.'),
	{
		...fields.content,
		description: 'Content of the new document. Leave empty to create an empty document.',
	},
] as const satisfies readonly Field[];

const createOptions = [
	fields.contentFormat,
	idempotencyOption,
	fields.insertImages,
	{
		...fields.replacements,
		description:
			'Texts to find in the new document and what to put in their place, for example the placeholders of the template',
	},
	{
		displayName: 'Template',
		name: 'templateId',
		type: 'resourceLocator',
		default: { __rl: true, mode: 'list', value: '' },
		format: 'fileId',
		searchListMethod: 'searchDocuments',
		description: 'A document to copy. The content is added at the end of the copy.',
	},
] as const satisfies readonly Field[];

type Params = ParamsOf<typeof createFields, typeof createOptions>;

export const create = defineOperation({
	value: 'create',
	name: 'Create',
	action: 'Create document',
	description: 'Create an empty document, one with content, or a copy of a template',
	fields: createFields,
	options: createOptions,
	async execute(clients, params, item) {
		const given = await givenIn(params, item);
		const { title, parentFolder: folder, templateId, key } = given;
		// Docs can neither create in a folder nor copy.
		if (folder !== '' || templateId !== '' || key) return await throughDrive(clients, given, item);
		const { data: made } = await clients.docs.documents.create({ requestBody: { title } });
		const documentId = made.documentId ?? '';
		item.made({ kind: 'document', id: documentId, url: documentUrl(documentId) });
		const replaced = await fillEmpty(clients, documentId, given, item, made.revisionId);
		return isEmpty(given.parsed) ? resultOf(documentId, made) : await finished(clients, documentId, replaced);
	},
	async recover(clients, params, failure, item) {
		const { title, parentFolder, templateId, idempotencyKey } = params;
		let ownId = idempotencyKey ? await findMade(clients.drive, item) : undefined;
		if (ownId === undefined) {
			const written = await readBack(clients.docs, failure, item);
			if (isNodeError(written)) return written;
			if (written !== undefined) return await finished(clients, written.documentId);
			if (parentFolder !== '' || templateId !== '') ownId = await findMade(clients.drive, item);
		}
		if (ownId !== undefined) return await throughDrive(clients, await givenIn(params, item), item, ownId);
		throw failure.with({
			message: `The document may have been created: ${failure.message}`,
			description: `It was not created again, to avoid duplicates. Look for '${title}' in Google Drive before you run this again.`,
			outcome: 'unknown',
		});
	},
	left: ({ title, documentUrl }) => `document ${title ?? ''} (${documentUrl})`,
	errors: { 404: `${missingFolder} The same goes for ${named('templateId')}.` },
});

interface Given extends Params {
	readonly parsed: Parsed;
	readonly replacing: ReturnType<typeof fields.replacing>;
	readonly key: KeyMark | undefined;
}

/** @throws NodeError 400 before anything is created */
async function givenIn(params: Params, item: Item): Promise<Given> {
	const { title, content, contentFormat, templateId } = params;
	const replacing = fields.replacing(params.replacements);
	const made = [title, contentFormat, content, templateId, JSON.stringify(replacing)];
	const key = fileKeyOf('document create', params, made);
	const parsed = await parse(params, item);
	if (replacing.length > 0 && templateId === '' && isEmpty(parsed)) {
		throw refusal(
			`${named('replacements')} has no text to change`,
			`Nothing was created. Choose a document in ${named('templateId')}, or enter ${named('content')}. If one of them is an expression, check that the input item contains the data.`,
		);
	}
	return { ...params, parsed, replacing, key };
}

async function throughDrive(clients: Clients, given: Given, item: Item, ownId?: string) {
	const fill = async (id: string) =>
		given.templateId
			? await fillCopy(clients, id, given, item, ownId !== undefined)
			: await fillEmpty(clients, id, given, item);
	const finish = async (id: string, isDone: boolean) => {
		const replaced = isDone ? undefined : await fill(id);
		return async () => await finished(clients, id, replaced);
	};
	const mimeType = 'application/vnd.google-apps.document';
	const file = { ...given, kind: 'document', mimeType, urlOf: documentUrl, ownId, finish } as const;
	return await createThroughDrive(clients.drive, file, item);
}

/** Fills a document in one atomic change; with a key only an empty one, so that two executions fill it once. @param known its revision when empty */
async function fillEmpty(
	{ docs }: Clients,
	documentId: string,
	given: Given,
	item: Item,
	known?: string | null,
) {
	const { parsed, key, replacing } = given;
	if (isEmpty(parsed)) return undefined;
	let revisionId = known;
	return await onLatest(async () => {
		const body = revisionId
			? { documentId, tabId: undefined, revisionId, endIndex: 2, styled: false }
			: await readBody(docs, documentId, '');
		revisionId = undefined;
		if (key && body.endIndex > 2) return undefined;
		const changeFor = (some: Parsed) => changeOf(planWhole(some, body), body, replacing);
		return (await carryOutContent(docs, parsed, changeFor, item)).replaced;
	}, item);
}

/** Fills a copy of a template. Texts are replaced first, so that the content stays unchanged. */
async function fillCopy(
	{ docs }: Clients,
	documentId: string,
	given: Given,
	item: Item,
	isRecovery: boolean,
) {
	const { parsed, key, replacing } = given;
	const replace = async () => {
		const body = await readBody(docs, documentId, '');
		// Replacing again would also change the replacements themselves.
		if (isRecovery && hasMoved(item, body)) return undefined;
		return await carryOut(docs, changeOf(emptyPlan, body, replacing), item);
	};
	const replaced = replacing.length > 0 ? (await onLatest(replace, item))?.replaced : undefined;
	if (!isEmpty(parsed)) {
		await appendContent(docs, { documentId, tab: '', parsed, newParagraph: true, key }, item);
	}
	return replaced;
}

async function finished({ docs }: Clients, documentId: string, replaced?: Written['replaced']) {
	const { data } = await docs.documents.get({ documentId, fields: 'title,body' });
	return resultOf(documentId, data, replaced);
}

function resultOf(documentId: string, made: docs_v1.Schema$Document, replaced?: Written['replaced']) {
	const { title, body } = made;
	return { documentId, documentUrl: documentUrl(documentId), title, body, ...(replaced && { replaced }) };
}
