import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { Failure } from '../../../core/errors';
import { type FileKey, findMade, madeOnce, makeInFolder, missingFolder } from '../createdFiles';
import { hashOf, idempotencyOption, markOf } from '../../idempotency';
import { defineOperation, type Clients, type Item } from '../../operation';
import { readBody } from './bodyState';
import { isEmpty, parse, planWhole, type Parsed } from './content';
import * as fields from './fields';
import { carryOut, changeOf, onLatest, readBack } from './guarded';
import { documentUrl } from './tabs';
import { parentFolder } from '../parentFolder';

const documentType = 'application/vnd.google-apps.document';

export const create = defineOperation({
	value: 'create',
	methods: {
		'docs.documents.create': 'documents',
		'docs.documents.get': 'documents',
		'docs.documents.batchUpdate': 'documents',
		'drive.files.create': 'drive.file',
		'drive.files.get': 'drive.file',
		'drive.files.list': 'drive.file',
		'drive.files.update': 'drive.file',
	},
	name: 'Create',
	action: 'Create document',
	description: 'Create an empty document or one with content',
	fields: [
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			required: true,
			description: 'Title of the new document',
		},
		parentFolder('The folder to create the document in. Leave empty to use My Drive.'),
		{
			...fields.content,
			description: 'Content of the new document. Leave empty to create an empty document.',
		},
	],
	options: [fields.contentFormat, idempotencyOption],
	async execute(clients, params, item) {
		const { title, parentFolder, content, contentFormat } = params;
		const parsed = await parse(content, contentFormat, item);
		const key = keyOf(params);
		if (key) return await createOnce(clients, { title, parentFolder, parsed, key }, item);
		if (parentFolder === '') {
			const { data } = await clients.docs.documents.create({ requestBody: { title } });
			return await filled(clients, data, parsed, item);
		}
		// Docs cannot create in a folder, Drive can; its answer has no content.
		const folder = { mimeType: documentType, title, folder: parentFolder };
		const documentId = await makeInFolder(clients.drive, folder, item);
		return await filled(clients, { documentId }, parsed, item);
	},
	async recover(clients, params, failure, item) {
		const { title, parentFolder, content, contentFormat } = params;
		const key = keyOf(params);
		const ownId = key && (await findMade(clients.drive, item));
		if (key && ownId !== undefined) {
			const parsed = await parse(content, contentFormat, item);
			return await createOnce(clients, { title, parentFolder, parsed, key, ownId }, item);
		}
		const written = await readBack(clients.docs, failure, item);
		if (written !== undefined) return await finished(clients, written.documentId);
		const documentId = parentFolder === '' ? undefined : await findMade(clients.drive, item);
		if (documentId !== undefined) {
			return await filled(clients, { documentId }, await parse(content, contentFormat, item), item);
		}
		throw new Failure({
			code: failure.code,
			status: failure.status,
			message: `The document may have been created: ${failure.message}`,
			description: `It was not created again, to avoid duplicates. Look for '${title}' in Google Drive before you run this again.`,
			ambiguous: true,
		});
	},
	errors: { 404: missingFolder },
});

interface Given {
	readonly idempotencyKey: string;
	readonly parentFolder: string;
	readonly title: string;
	readonly content: string;
	readonly contentFormat: string;
}

function keyOf(given: Given): FileKey | undefined {
	const { idempotencyKey: key, parentFolder: target, title, content, contentFormat } = given;
	const mark = markOf({ key, operation: 'document create', target });
	return mark === undefined ? undefined : { mark, content: hashOf([title, contentFormat, content]) };
}

interface Keyed {
	readonly title: string;
	readonly parentFolder: string;
	readonly parsed: Parsed;
	readonly key: FileKey;
	/** As in `madeOnce`. */
	readonly ownId?: string;
}

/** Through Drive, whose files can carry the key's mark. */
async function createOnce(clients: Clients, { title, parentFolder, parsed, key, ownId }: Keyed, item: Item) {
	const made = await madeOnce(clients.drive, 'id', {
		key,
		ownId,
		async make(appProperties) {
			const file = { mimeType: documentType, title, folder: parentFolder, appProperties };
			const id = await makeInFolder(clients.drive, file, item);
			item.made({ kind: 'document', id, url: documentUrl(id) });
			return { id, appProperties };
		},
		complete: async ({ id }) => {
			item.made({ kind: 'document', id: id ?? '', url: documentUrl(id ?? '') });
			await fillEmpty(clients, id ?? '', parsed, item);
		},
		result: async ({ id }) => await finished(clients, id ?? ''),
	});
	if (!made) throw new Error('No document was created');
	return made;
}

/** One atomic change that only works on an empty document: two concurrent executions fill it once. */
async function fillEmpty({ docs }: Clients, documentId: string, parsed: Parsed, item: Item): Promise<void> {
	if (isEmpty(parsed)) return;
	await onLatest(async () => {
		const body = await readBody(docs, documentId, '');
		if (body.endIndex > 2) return;
		await carryOut(docs, changeOf(planWhole(parsed, body), body, 1), item);
	}, item);
}

/** Inserts the content into a document that was just created. */
async function filled(clients: Clients, made: docs_v1.Schema$Document, parsed: Parsed, item: Item) {
	const documentId = made.documentId ?? '';
	item.made({ kind: 'document', id: documentId, url: documentUrl(documentId) });
	if (isEmpty(parsed) && made.body) return resultOf(made);
	if (!isEmpty(parsed)) {
		const revisionId = made.revisionId ?? (await revisionOf(clients, documentId));
		const plan = planWhole(parsed, { tabId: undefined, styled: false });
		await carryOut(clients.docs, changeOf(plan, { documentId, tabId: undefined, revisionId }, 1), item);
	}
	return await finished(clients, documentId);
}

async function revisionOf({ docs }: Clients, documentId: string): Promise<string> {
	const { data } = await docs.documents.get({ documentId, fields: 'revisionId' });
	return data.revisionId ?? '';
}

async function finished({ docs }: Clients, documentId: string) {
	const { data } = await docs.documents.get({ documentId, fields: 'documentId,title,body' });
	return resultOf(data);
}

function resultOf({ documentId, title, body }: docs_v1.Schema$Document) {
	return { documentId, documentUrl: documentUrl(documentId ?? ''), title, body };
}
