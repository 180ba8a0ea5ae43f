import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { Failure } from '../../../items/failure';
import { findMade, makeInFolder } from '../../google/madeInFolder';
import { defineOperation, type Clients, type Item } from '../../operation';
import { isEmpty, parse, planWhole, type Parsed } from './content';
import * as fields from './fields';
import { carryOut, changeOf, readBack } from './guarded';
import { documentUrl } from './tabs';

const documentType = 'application/vnd.google-apps.document';

export const create = defineOperation({
	value: 'create',
	name: 'Create',
	action: 'Create document',
	description: 'Create a document, with or without content',
	fields: [
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			required: true,
			description: 'Title of the new document',
		},
		{
			displayName: 'Parent Folder',
			name: 'parentFolder',
			type: 'resourceLocator',
			default: { __rl: true, mode: 'list', value: '' },
			holds: 'fileId',
			searchListMethod: 'searchFolders',
			description: 'The folder that the document goes into. Empty: My Drive.',
		},
	],
	options: [{ ...fields.content, description: 'What the document is to hold' }, fields.contentFormat],
	async execute(clients, { title, parentFolder, content, contentFormat }, item) {
		const parsed = await parse(content, contentFormat);
		if (parentFolder === '') {
			const { data } = await clients.docs.documents.create({ requestBody: { title } });
			return await filled(clients, data, parsed, item);
		}
		// Docs cannot create in a folder, Drive can; its answer has no content.
		const folder = { mimeType: documentType, title, folder: parentFolder };
		const documentId = await makeInFolder(clients.drive, folder, item);
		return await filled(clients, { documentId }, parsed, item);
	},
	async recover(clients, { title, parentFolder, content, contentFormat }, failure, item) {
		const written = await readBack(clients.docs, failure, item);
		if (written !== undefined) return await finished(clients, written.documentId);
		const documentId = parentFolder === '' ? undefined : await findMade(clients.drive, item);
		if (documentId !== undefined) {
			return await filled(clients, { documentId }, await parse(content, contentFormat), item);
		}
		throw new Failure({
			code: failure.code,
			status: failure.status,
			message: `It is not known whether the document was created: ${failure.message}`,
			description: `It was not created again, because there might then be two. Look for '${title}' in Google Drive before running this again.`,
			ambiguous: true,
		});
	},
});

/** Puts the content into a document that was just made. */
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
	return { documentId, title, body, documentUrl: documentUrl(documentId ?? '') };
}
